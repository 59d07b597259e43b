"""Check arguments, convert them to Python's values, and show them in messages.

What a caller passes can be anything: arrays that have no truth value, numbers of a million digits,
objects that fail when they are compared or printed. Nothing here compares, prints or converts a
value before its type says that this is safe and quick, and nothing raises anything but InputError.

First come values, as the numbers of Python that they stand for; then their text in messages, which
is short; then sequences, tables and columns, as lists and as those of pandas. Last come the *kinds*
of arguments: what each accepts, in words, how it is read, and its one message.
"""

from __future__ import annotations

import linecache
import math
import os
import sys
from collections.abc import Callable, Collection, Hashable, Iterable, Sized
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache
from html import escape
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, Generic, Literal, TypeVar, cast

import numpy as np
import pandas as pd

from sensitivity_lab.errors import InputError, printable

Number = int | float | Fraction | Decimal
"""The types of records; each value stands for exactly one rational."""

MOST_DIGITS = 4_000
"""The largest number of decimal digits of a number, and of its denominator."""

_MOST_BITS: int = (10**MOST_DIGITS).bit_length()
"""By bits, a number with one digit more can pass; Python writes 4,300 digits."""


def is_long(value: Any) -> bool:
    """Tell whether a number has more than `MOST_DIGITS` digits; False for anything else."""
    if isinstance(value, int | Fraction):
        longest = max(value.numerator.bit_length(), value.denominator.bit_length())
        return longest > _MOST_BITS
    if isinstance(value, Decimal) and value.is_finite():
        _, digits, exponent = value.as_tuple()
        return len(digits) + max(int(exponent), 0) > MOST_DIGITS or -int(exponent) > MOST_DIGITS
    return False


def unboxed(value: Any) -> Any:
    """Return a scalar of NumPy, or an array of a single one, as a value of Python.

    Texts and points of time are converted too. Long doubles stay as they are, since Python has
    none (see `as_python`), and so does everything else.

    Examples
    --------
    >>> unboxed(np.float32(0.5)), unboxed(np.str_("a")), unboxed([3])
    (0.5, 'a', [3])
    """
    single = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return value.item() if single else value


def as_python(value: Any) -> Any:
    """Return a number of NumPy, or an array of a single one, as a number of Python.

    A long double becomes a float where that is lossless, else a Fraction. Everything else stays as
    it is.

    Examples
    --------
    >>> as_python(np.int8(3)), as_python(np.longdouble(0.5)), as_python("3")
    (3, 0.5, '3')
    """
    if type(value) is np.ndarray and value.ndim == 0:
        value = value[()]
    if not isinstance(value, np.generic) or value.dtype.kind not in "biuf":
        return value
    if isinstance(value, np.longdouble) and np.isfinite(value):
        exact = Fraction(*value.as_integer_ratio())
        close = float(value)
        return close if math.isfinite(close) and Fraction(close) == exact else exact
    return float(value) if isinstance(value, np.longdouble) else value.item()


def finite_number(value: Any) -> Number | None:
    """Return a finite number with at most `MOST_DIGITS` digits as Python's; None for anything else.

    Examples
    --------
    >>> finite_number(np.float32(0.5)), finite_number(True), finite_number(float("inf"))
    (0.5, None, None)
    >>> finite_number(Decimal("1e99999999")) is None
    True
    """
    kind = type(value)
    if kind is float:  # the usual types first: millions of records pass here
        return value if math.isfinite(value) else None
    if kind is int:
        return None if value.bit_length() > _MOST_BITS else value
    number = value if kind in (Fraction, Decimal) else as_python(value)
    if isinstance(number, bool) or not isinstance(number, Number):
        return None
    if isinstance(number, float):
        return number if math.isfinite(number) else None
    if isinstance(number, Decimal) and not number.is_finite():
        return None
    return None if is_long(number) else number


def is_finite(number: Any) -> bool:
    """Tell whether a value is anything but an infinite float or NaN, however large it is.

    Examples
    --------
    >>> is_finite(10**400), is_finite(0.5), is_finite(float("nan"))
    (True, True, False)
    """
    return not isinstance(number, float) or math.isfinite(number)


def plainest(number: Fraction) -> int | float | Fraction:
    """Return a fraction as an int or a float that is equal to it, if there is one.

    Examples
    --------
    >>> plainest(Fraction(4)), plainest(Fraction(1, 8)), plainest(Fraction(1, 3))
    (4, 0.125, Fraction(1, 3))
    """
    if number.denominator == 1:
        return number.numerator
    try:
        close = float(number)
    except OverflowError:
        return number
    return close if close == number else number


def steps_to(last: int | Decimal, first: int | Decimal, step: int | Decimal, text: str) -> int:
    """Return how many steps lead from the first value of a domain to its last; a domain has both.

    Examples
    --------
    >>> steps_to(Decimal("0.3"), 0, Decimal("0.1"), "'0:0.3:0.1'")
    3
    """
    steps, left = divmod(Fraction(last) - Fraction(first), Fraction(step))
    if left:
        below, above = (first + number * step for number in (steps, steps + 1))
        raise InputError(
            f"the domain {text} ends at {last}, which steps of {step} from {first} do not meet; "
            f"end it at {below} or {above}"
        )
    return steps


def whole_number(value: Any) -> int | None:
    """Return a whole number as an int of Python; None for anything else, truth values included.

    Examples
    --------
    >>> whole_number(np.int8(3)), whole_number(np.array(3)), whole_number(3.0), whole_number(True)
    (3, 3, None, None)
    """
    number = as_python(value)
    return int(number) if isinstance(number, int) and not isinstance(number, bool) else None


def is_of_data(given: Any) -> bool:
    """Tell whether numbers or names were computed by numpy or pandas: most likely from the data."""
    several = list(given) if isinstance(given, tuple | list) else []
    return any(
        type(one).__module__.partition(".")[0] in ("numpy", "pandas", "polars")
        for one in [given, *several]
    )


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


_OURS = ("builtins", "numpy", "pandas", "sensitivity_lab")
"""Packages whose values need no conversion."""


def as_pandas(given: Any) -> Any:
    """Return a table as a DataFrame and a column as a list, if they are of another library.

    Everything else is returned as it is. Missing values become None, and whole numbers beside them
    stay whole: pandas' own conversion makes floats of them, which have no more than 53 bits.

    Examples
    --------
    >>> as_pandas([1, 2]), as_pandas("text")
    ([1, 2], 'text')
    """
    if type(given).__module__.partition(".")[0] in _OURS:
        return given
    if _is_arrow_array(given):
        return given.to_pylist()
    import narwhals as nw

    try:
        read = nw.from_native(given, pass_through=True, allow_series=True)
        if isinstance(read, nw.LazyFrame):
            read = read.collect()
        if isinstance(read, nw.Series):
            return _values(read)
        if isinstance(read, nw.DataFrame):
            return pd.DataFrame({name: _series(read[name]) for name in read.columns})
    except Exception:  # noqa: BLE001 - the caller's class; what cannot be read is refused by others
        return given
    return given


def _is_arrow_array(given: Any) -> bool:
    """Tell whether a value is an array of Arrow, which Narwhals does not read."""
    return type(given).__module__.startswith("pyarrow") and not hasattr(given, "columns")


def _values(series: Any) -> Any:
    """Return the values of a column: an array where that is lossless, else a list."""
    kind = series.dtype
    narrow = kind.is_integer() and not str(kind).endswith("128")  # numpy has none so wide
    if (narrow or kind.is_float() or str(kind) == "Boolean") and not series.is_null().any():
        return series.to_numpy()
    return series.to_list()


def _series(series: Any) -> pd.Series[Any]:
    values = _values(series)
    return pd.Series(values, dtype=object if isinstance(values, list) else None)


_MOST_ITEMS = 2**31
"""Sequences that claim to be longer are not read."""

MOST_UNSIZED = 10_000_000
"""So many items are read of what does not know its length, as a generator, which may be endless."""


_FINITE = (list, tuple, range, dict, set, frozenset, np.ndarray)
"""What has an end, of these very classes: it is listed at once."""


def one_or_several(values: Any, wrong: str) -> list[Any]:
    """Return the items of a sequence or an iterable, or a single value as the only item.

    Examples
    --------
    >>> one_or_several(3, "sizes"), one_or_several((3, 4), "sizes"), one_or_several("ab", "sizes")
    ([3], [3, 4], ['ab'])
    """
    single = isinstance(values, str | bytes) or not isinstance(values, Iterable)
    single = single or getattr(values, "shape", None) == ()  # an array of a single number
    return [values] if single else listed(values, wrong)


def listed(values: Any, wrong: str, *, text: bool = False) -> list[Any]:
    """Return the items of a sequence or an iterable as a list.

    Parameters
    ----------
    values : object
        The argument; texts and single values are not sequences.
    wrong : str
        The beginning of the message, such as "bins must be a sequence"; the value is added.
    text : bool, default False
        Whether a text counts as the list of its characters.

    Raises
    ------
    InputError
        If the argument is not iterable, claims to be too long, raises when it is read, or does not
        know its length and has more than `MOST_UNSIZED` items, as one without an end has.
    """
    is_text = isinstance(values, str | bytes) and not text
    if is_text or not isinstance(values, Iterable):
        raise InputError(f"{wrong}, got {shown(values)}")
    try:
        if isinstance(values, range) and len(values) > _MOST_ITEMS:
            raise OverflowError
        if type(values) in _FINITE:
            return list(values)
        known = len(values) if isinstance(values, Sized) else 0
        items = list(islice(values, max(known, MOST_UNSIZED) + 1))
    except (OverflowError, MemoryError):
        raise InputError(f"{wrong}; these are too many: {shown(values)}") from None
    except Exception as error:
        raise InputError(
            f"{wrong}, got {shown(values)}, which raised {type(error).__name__}: {text_of(error)}"
        ) from error
    if len(items) > max(known, MOST_UNSIZED):
        raise InputError(
            f"{wrong}, got more than {MOST_UNSIZED:,} items of {shown(values)}, which may have no "
            "end; give a list or an array"
        )
    return items


T = TypeVar("T")

_WHOLE_BELOW = 2**62
"""Whole numbers and their sums are int64 in arrays."""

_MOST_JOBS = 10_000


@dataclass(frozen=True)
class Kind(Generic[T]):
    """What an argument of a kind can be; calling it checks one.

    Every message is ``<name> must be <accepted>, got <value><advice>``.

    Parameters
    ----------
    accepted : str
        What is accepted, such as "True or False".
    read : callable
        Returns what an accepted value stands for, and None for everything else. It gets anything,
        and must not raise.
    advice : callable
        Returns the end of the message about a value: what is wrong with it, and what to do.

    Examples
    --------
    >>> even = Kind("an even number", lambda value: value if value in (0, 2, 4) else None)
    >>> even("size", 2), even.or_none("size", None)
    (2, None)
    >>> even.or_none("size", 3)
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: size must be None or an even number, got 3
    """

    accepted: str
    read: Callable[[Any], T | None]
    advice: Callable[[Any], str] = lambda _: ""

    def __call__(self, name: str, value: Any) -> T:
        """Return what an argument stands for, or raise InputError."""
        found = self.read(value)
        if found is None:
            raise self._refusal(name, value, self.accepted)
        return found

    def or_none(self, name: str, value: Any) -> T | None:
        """Return what an argument stands for that can also be None, or raise InputError."""
        if value is None:
            return None
        found = self.read(value)
        if found is None:
            # None, True or False; but: None or a whole number (1 or 2)
            joint = "," if " or " in self.accepted.partition("(")[0] else " or"
            raise self._refusal(name, value, f"None{joint} {self.accepted}")
        return found

    def several(self, name: str, values: Any) -> list[T]:
        """Return what one value stands for, or each of several, at least one; or raise InputError.

        Examples
        --------
        >>> check_distance.several("distances", range(1, 4)), check_distance.several("k", 2)
        ([1, 2, 3], [2])
        """
        wrong = f"{name} must be {self.accepted}"
        items = one_or_several(values, wrong)
        if not items:
            raise InputError(f"{wrong}, got none; give one or several")
        return [self(name, item) for item in items]

    def _refusal(self, name: str, value: Any, accepted: str) -> InputError:
        kind = f"an object of the type {type(value).__name__}"
        got = kind if _has_lines(value) else shown(value)
        return InputError(f"{name} must be {accepted}, got {got}{self.advice(value)}")


def _has_lines(value: Any) -> bool:
    """Tell whether a value, such as a table or a result, is printed on several lines."""
    try:
        return "\n" in repr(value)
    except Exception:  # noqa: BLE001 - the caller's class, or a number of very many digits
        return False


def in_brackets(value: Any) -> str:
    """Return the type of a value that is none of those accepted, for the end of a message.

    It is empty where the value is not shown, and for dots, about which `shown` says what to do.

    Examples
    --------
    >>> in_brackets("3"), in_brackets(...)
    (' (str)', '')
    """
    told = _has_lines(value) or has_dots(value)
    return "" if told else f" ({type(as_python(value)).__name__})"


def whole_kind(meaning: str, *, least: int = 1, most: float | None = None) -> Kind[int]:
    """Return a kind of whole numbers, in words; truth values and floats are none.

    Parameters
    ----------
    meaning : str
        What the number is and its range, such as "a number of records, at least 1".
    least, most : int
        The ends of the range; without `most`, numbers are below 2**62; math.inf for no end.

    Examples
    --------
    >>> size = whole_kind("a number of records, at least 1")
    >>> size("size", np.int8(3))
    3
    >>> size("size", 3.0)
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: size must be a whole number (a number of records, at least \
1), got 3.0 (float)
    """
    largest = _WHOLE_BELOW - 1 if most is None else most

    def read(value: Any) -> int | None:
        number = whole_number(value)
        return None if number is None or not least <= number <= largest else number

    def advice(value: Any) -> str:
        number = whole_number(value)
        if number is None:
            return in_brackets(value)
        if number < least:
            return f", below {least}"
        return "; give one below 2**62" if most is None and number > largest else ""

    return Kind(f"a whole number ({meaning})", read, advice)


def number_kind(
    accepted: str = "a finite number", inside: Callable[[Fraction], bool] | None = None
) -> Kind[Fraction]:
    """Return a kind of finite numbers, in words and as a test; truth values are none.

    It is read as the rational that it stands for: all of these compare, and none is rounded.

    Examples
    --------
    >>> positive = number_kind("a finite number above 0", lambda given: given > 0)
    >>> positive("epsilon", 0.5)
    Fraction(1, 2)
    >>> positive("epsilon", "x")
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: epsilon must be a finite number above 0, got 'x' (str); \
give an int, float, Fraction or Decimal
    """

    def read(value: Any) -> Fraction | None:
        given = finite_number(value)
        if given is None:
            return None
        exact = Fraction(given)
        return exact if inside is None or inside(exact) else None

    return Kind(accepted, read, _no_number)


def _no_number(value: Any) -> str:
    """Return what to add about a value that is not of a class of numbers."""
    given = as_python(value)
    if isinstance(given, Number) and not isinstance(given, bool):
        return ""
    return f"{in_brackets(value)}; give an int, float, Fraction or Decimal"


def choice_kind(choices: Collection[str]) -> Kind[str]:
    """Return the kind of a few texts to choose from.

    Examples
    --------
    >>> choice_kind(("L1", "L2"))("norm", "l1")
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: norm must be one of 'L1', 'L2', got 'l1'
    """
    return _choice(tuple(choices))


@lru_cache(maxsize=256)
def _choice(choices: tuple[str, ...]) -> Kind[str]:
    """Make the kind of some choices once: every call checks a few, and the names take a while."""

    def read(value: Any) -> str | None:
        return str(value) if isinstance(value, str) and value in choices else None

    return Kind(f"one of {names_of(choices)}", read, lambda value: did_you_mean(value, choices))


def _bounds(value: Any) -> tuple[Number, Number] | None:
    try:
        low, high = map(finite_number, listed(value, "bounds"))
    except (InputError, ValueError):  # not a sequence, or not of two
        return None
    if low is None or high is None:
        return None
    return (low, high) if Fraction(low) <= Fraction(high) else None


def _flag(value: Any) -> bool | None:
    return bool(value) if isinstance(value, bool | np.bool_) else None


def _jobs(value: Any) -> int | None:
    jobs = whole_number(value)
    return jobs if jobs and abs(jobs) <= _MOST_JOBS else None


def _many_jobs(value: Any) -> str:
    jobs = whole_number(value)
    return f"; give at most {_MOST_JOBS:,}" if jobs and abs(jobs) > _MOST_JOBS else ""


def _path(value: Any) -> Path | None:
    try:
        path = Path(value)
        os.fsencode(path)  # fails for halves of surrogate pairs that stand for no byte
        return path if str(value) != "" and "\0" not in str(path) else None
    except Exception:  # noqa: BLE001 - the caller's class; whatever it raises, it is no path
        return None


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str) and _has_text(value) else None


def _column(value: Any) -> tuple[Any] | None:
    """Return the name of a column, which can be None or anything else that has a hash."""
    usable = is_hashable(value) and not is_long(value) and _has_text(value)
    return (value,) if usable else None


def _has_text(value: Any) -> bool:
    """Tell whether a value can be printed."""
    try:
        # Tables cannot hold halves of surrogate pairs.
        return bool((str(value) or repr(value)).encode())
    except Exception:  # noqa: BLE001 - the caller's class; whatever it raises, it has no text
        return False


def is_hashable(value: Any) -> bool:
    """Tell whether a value can be hashed; a tuple cannot if one of its items cannot."""
    if not isinstance(value, Hashable):
        return False
    try:
        hash(value)
    except Exception:  # noqa: BLE001 - the caller's class; whatever it raises, it has no hash
        return False
    return True


check_flag = Kind("True or False", _flag)

check_path = Kind("the path of a file or a folder", _path)
"""Whether there is such a file, only the system can say."""

check_column = Kind("the name of one column, such as 'age'", _column)

check_text_column = Kind(check_column.accepted, _text)
"""The columns of tables in pipelines are called by texts."""

check_number = number_kind()

check_positive = number_kind("a finite number above 0", lambda given: given > 0)

check_not_negative = number_kind("a finite number of at least 0", lambda given: given >= 0)

check_seconds = number_kind(
    "a positive number of seconds, at most 1,000,000", lambda given: 0 < given <= 10**6
)

check_bounds = Kind("two finite numbers (lower, upper), in order", _bounds)

check_distance = whole_kind("a Hamming distance, at least 1")

check_records = whole_kind("a number of records, at least 1")

_check_jobs = Kind("a whole number other than 0 (-1 for all processors)", _jobs, _many_jobs)


def check_running(n_jobs: Any, progress: Any) -> None:
    """Raise InputError unless `n_jobs` and `progress` are values that `running` takes."""
    _check_jobs.or_none("n_jobs", n_jobs)
    check_flag.or_none("progress", progress)


def check_whole(name: str, value: Any, meaning: str, least: int = 1) -> int:
    """Return a whole number of at least `least`, or raise InputError (see `whole_kind`)."""
    return whole_kind(meaning, least=least)(name, value)


def check_rational(name: str, value: Any, accepted: str) -> Fraction:
    """Return the rational that a number stands for, or raise InputError (see `number_kind`)."""
    return number_kind(accepted)(name, value)


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Return one of a few texts, or raise InputError that lists them (see `choice_kind`)."""
    return choice_kind(choices)(name, value)


def check_text(name: str, value: Any, meaning: str) -> str:
    """Return a text, or raise InputError that says what the text is."""
    return Kind(meaning, _text)(name, value)


def check_kind(name: str, value: Any, classes: Any, accepted: str, way_out: str = "") -> Any:
    """Return an instance of one of some classes, or raise InputError that ends with a way out."""
    kind = Kind(accepted, lambda given: given if isinstance(given, classes) else None)
    return replace(kind, advice=lambda _: way_out)(name, value)


def check_callable(name: str, value: Any, accepted: str) -> None:
    """Raise InputError unless a value can be called."""
    Kind(accepted, lambda given: callable(given) or None)(name, value)


Norm = Literal["L1", "L2", "Linf"]
"""For a single number all three are the absolute value."""

NORMS: tuple[Norm, ...] = ("L1", "L2", "Linf")


def check_norm(norm: Any) -> Norm:
    """Return a norm, or raise InputError with the choices."""
    return cast(Norm, check_choice("norm", norm, NORMS))
