"""Values, bytes and lines of the caller's code as text in messages: short, and without failing."""

from __future__ import annotations

import linecache
import math
import sys
from collections.abc import Callable, Collection, Iterable
from decimal import ROUND_CEILING, Context, Decimal
from difflib import get_close_matches
from fractions import Fraction
from html import escape
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

from sensitivity_lab.checks.values import MOST_DIGITS, as_python, is_long
from sensitivity_lab.errors import printable

_SHOWN = 200
"""The largest number of characters that are shown of a value or a name."""

_NAMES = 20
"""The largest number of names that are shown of a list, and of cells of an array."""


def shown(value: Any) -> str:
    """Return a value as an error message shows it: its repr, on one line and not too long.

    Tables, columns and long arrays may hold the data of people, also within a list or a mapping, so
    they are named by their type and size.

    Examples
    --------
    >>> shown("a"), shown(10**5000)
    ("'a'", 'about 1e5000 (numbers have at most 4,000 digits)')
    >>> import numpy as np, pandas as pd
    >>> shown(np.eye(2)), shown({"a": pd.Series([40, 50])})
    ('array([[1., 0.], [0., 1.]])', "{'a': <Series of shape (2,)>}")
    """
    value = as_python(value)
    if has_dots(value):
        return f"{value!r} (replace the dots)"
    if is_long(value):
        return f"about {magnitude(value)} (numbers have at most {MOST_DIGITS:,} digits)"
    try:
        text = _without_cells(value) or repr(value)
    except Exception:  # noqa: BLE001 - the caller's class; the message is about something else
        return f"<{type(value).__name__}>"
    if "\n" in text:
        text = " ".join(text.split())
    return cut(printable(text))


def _without_cells(value: Any, depth: int = 3) -> str:
    """Return the text of a value that is a table or holds one, without cells; "" for all others."""
    kind = type(value)
    if hasattr(kind, "__array__") or hasattr(kind, "__arrow_c_stream__"):
        shape = getattr(value, "shape", None)
        lone = kind.__module__ == "numpy" and getattr(value, "size", 0) <= _NAMES
        return "" if lone else f"<{kind.__name__}{f' of shape {shape}' if shape else ''}>"
    if kind not in _HOLDERS or not depth:
        return ""
    items = value.items() if kind is dict else zip(value, value, strict=True)
    held = [(key, one, _without_cells(one, depth - 1)) for key, one in islice(items, _NAMES + 1)]
    if not any(text for *_, text in held):
        return ""
    start, stop = _HOLDERS[kind]
    texts = [f"{key!r}: " * (kind is dict) + (text or repr(one)) for key, one, text in held]
    return f"{start}{', '.join(texts)}{stop}"


_HOLDERS: dict[type, tuple[str, str]] = {
    dict: ("{", "}"),
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
}
"""By type of what may hold a table: how its repr begins and ends."""


def has_dots(value: Any) -> bool:
    """Tell whether a value is, or a tuple contains, the dots of an exercise that is not solved."""
    return any(one is ... for one in (value if isinstance(value, tuple) else (value,)))


def named(name: Any) -> str:
    r"""Return a name as people see it: on one line, without control characters, not too long.

    Every name that a caller chooses, of a query, a column, a step or a file, passes here before it
    is shown. Where it is quoted, `shown` does the same.

    Examples
    --------
    >>> print(named("a\x1b[31m\nb"), named("x" * 100_000)[95:110], named(7))
    a\x1b[31m\nb xxxxx ... xxxxx 7
    """
    return cut(text_of(name))


def html_text(value: Any) -> str:
    r"""Return a value as a page of HTML shows it: without markup and control characters.

    The lines of a text, such as code, stay lines.

    Examples
    --------
    >>> print(html_text("<b>\x1b"), html_text("a = 1\nb = 2"))
    &lt;b&gt;\x1b a = 1
    b = 2
    """
    text = printable(value, lines=True) if isinstance(value, str) else text_of(value)
    return escape(text)


def names_of(values: Collection[Any], text: Callable[[Any], str] = shown) -> str:
    """Return a list of names as text; of many, the first ones and their number.

    Examples
    --------
    >>> names_of("abc"), names_of([]), names_of(range(10**6))[-36:]
    ("'a', 'b', 'c'", 'none', '16, 17, 18, 19, ... 1,000,000 in all')
    """
    if len(values) > _NAMES:
        return f"{', '.join(map(text, islice(values, _NAMES)))}, ... {len(values):,} in all"
    return ", ".join(map(text, values)) or "none"


def cut(text: str) -> str:
    """Return a text, or of a long one the beginning and the end.

    Examples
    --------
    >>> cut("a" * 100 + "b" * 10**6)[95:110]
    'aaaaa ... bbbbb'
    """
    if len(text) <= _SHOWN:
        return text
    return f"{text[: _SHOWN // 2]} ... {text[-_SHOWN // 4 :]}"


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """Return the end of a message about an unknown name: the known one that is most like it.

    Examples
    --------
    >>> did_you_mean("medain", ["mean", "median"]), did_you_mean("mode", ["mean", "median"])
    ("; did you mean 'median'?", '')
    """
    texts = [text for text in known if isinstance(text, str)]
    # Long texts are no names, and comparing them takes long.
    usable = isinstance(name, str) and len(name) <= _SHOWN
    alike = get_close_matches(name, texts, n=1, cutoff=0.7) if usable else []
    return f"; did you mean {shown(alike[0])}?" if alike else ""


def no_column(name: Any, known: Collection[Any]) -> str:
    """Return the message about a column that a table does not have.

    Examples
    --------
    >>> no_column("agee", ["id", "age"])
    "unknown column 'agee'; the columns are 'id', 'age'; did you mean 'age'?"
    """
    columns = f"the columns are {names_of(known)}"
    return f"unknown column {shown(name)}; {columns}{did_you_mean(name, known)}"


def text_of(value: Any) -> str:
    """Return a value as `str` writes it, or as `shown` does where that fails; none obeyed."""
    try:
        return printable(_without_cells(value) or str(value))
    except Exception:  # noqa: BLE001 - the caller's class, or a number of very many digits
        return shown(value)


def magnitude(value: int | Fraction | Decimal) -> str:
    """Return the order of magnitude of a number, as a power of ten, without writing its digits.

    Examples
    --------
    >>> magnitude(10**5000), magnitude(-(10**5000)), magnitude(Fraction(1, 10**5000))
    ('1e5000', '-1e5000', '1e-5000')
    """
    sign = "-" if value < 0 else ""
    if isinstance(value, Decimal):
        return f"{sign}1e{value.adjusted()}"
    above, below = abs(value.numerator), value.denominator
    if above == 0:
        return "0"
    return f"{sign}1e{_floor_log10(above, below)}"


def _floor_log10(above: int, below: int) -> int:
    """Return the largest p with ``10**p <= above / below``."""
    power = math.floor((above.bit_length() - below.bit_length() - 1) * math.log10(2))
    while above * 10 ** max(-power - 1, 0) >= below * 10 ** max(power + 1, 0):
        power += 1
    return power


def number_text(value: int | Fraction) -> str:
    """Return a rational as text, however many digits it has: `str` writes at most 4,300.

    Examples
    --------
    >>> number_text(Fraction(-7, 2)), len(number_text(10**9000))
    ('-7/2', 9001)
    """
    below = "" if value.denominator == 1 else f"/{_digits(value.denominator)}"
    return f"{'-' if value < 0 else ''}{_digits(abs(value.numerator))}{below}"


def _digits(number: int) -> str:
    """Return the digits of a number that is not negative."""
    parts = []
    while number >= 10**MOST_DIGITS:
        number, last = divmod(number, 10**MOST_DIGITS)
        parts.append(str(last).zfill(MOST_DIGITS))
    return str(number) + "".join(reversed(parts))


def rounded_up(upper: float, exact: Fraction | None = None, digits: int = 10) -> str:
    """Return a sensitivity as text with a number of digits, rounded up.

    Parameters
    ----------
    upper : float
        Its upper bound, or a float answer. The text, read as a float, is not below it.
    exact : Fraction, optional
        The sensitivity if it is rational; then only the text must not be below it.
    digits : int, default 10
        How many significant digits, at most 15.

    Examples
    --------
    >>> rounded_up(1.0888355431377), rounded_up(0.1), rounded_up(3.0), rounded_up(2 / 3, digits=3)
    ('1.088835544', '0.1', '3', '0.667')

    No float is 7.1, and the nearest one is below it:

    >>> rounded_up(7.100000000000001, Fraction(71, 10))
    '7.1'
    """
    number = float(upper)
    text = f"{number:.{digits}g}"
    if not math.isfinite(number) or float(text) >= number:
        return text
    if exact is not None and Fraction(text) >= exact:
        return text
    above = Context(digits, ROUND_CEILING).create_decimal(repr(number))
    # Close to the largest float, what is rounded up is none.
    return f"{float(above):.{digits}g}" if math.isfinite(float(above)) else f"{above:e}"


MORE_MEMORY = "a larger run=Run(memory_limit=...)"
"""What to ask for, where the limit is what a search lacks."""

_UNITS = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def in_words(number: float, digits: int = 1) -> str:
    """Return a number of bytes in words.

    Parameters
    ----------
    number : float
        Of bytes, at least 0.
    digits : int, default 1
        How many digits follow the point.

    Examples
    --------
    >>> in_words(10 * 2**30), in_words(100), in_words(2**20, digits=3)
    ('10.0 GiB', '100 bytes', '1.000 MiB')
    """
    if number >= 2**50:
        return f"{number / 2**30:.{digits - 1}e} GiB" if number < math.inf else _ENDLESS
    for unit, size in _UNITS:
        if number >= size:
            return f"{number / size:,.{digits}f} {unit}"
    return f"{number:.0f} bytes"


_ENDLESS = "more than 1e300 bytes"


def told_apart(needed: float, room: float) -> tuple[str, str]:
    """Return two numbers of bytes in words, with as many digits as tell them apart.

    Examples
    --------
    >>> told_apart(2**30 + 2**21, 2**30), told_apart(2**20 + 1, 2**20)
    (('1.002 GiB', '1.000 GiB'), ('1048577 bytes', '1048576 bytes'))
    """
    for digits in (1, 2, 3):
        words = in_words(needed, digits), in_words(room, digits)
        if words[0] != words[1]:
            return words
    return f"{needed:.0f} bytes", f"{room:.0f} bytes"


def exceeding(needed: float, memory_limit: float) -> str:
    """Return what needs more memory than there may be, and the limit, in words.

    Examples
    --------
    >>> exceeding(471 * 2**20, 2**24)
    '471.0 MiB, more than the memory limit of 16.0 MiB'
    """
    need, limit = told_apart(needed, memory_limit)
    return f"{need}, more than the memory limit of {limit}"


_TOOLS = frozenset(sys.stdlib_module_names) | {"numpy", "pandas", "polars", "sensitivity_lab"}
"""Packages whose code a caller's code only calls."""


def is_callers(frame: FrameType) -> bool:
    """Tell whether a frame runs the caller's own code."""
    return frame.f_globals.get("__name__", "").partition(".")[0] not in _TOOLS


def shown_source(file: str, line: int) -> tuple[str, str]:
    """Return a file's name, or that it is a cell of a notebook, and a line's source if known."""
    name = "a cell" if "ipykernel_" in file else Path(file).name
    return name, linecache.getline(file, line).strip()
