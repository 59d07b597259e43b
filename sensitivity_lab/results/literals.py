"""Datasets and answers as text: in full, for Python to read back, or short, for people."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.checks import check_choice, is_finite, number_text, shown, unboxed
from sensitivity_lab.errors import printable
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics.cells import key_of, multiset
from sensitivity_lab.universes.relations import SHOWN, show, show_ends

_SHORT = 24
"""A number of at most so many characters is shown as it is."""

_LONG_TEXT = 120
"""Of a longer text only the beginning is shown."""


def literal(value: Any) -> str:
    """Return a value as text that Python reads back, on one line.

    Examples
    --------
    >>> literal([Fraction(1, 3), Fraction(4), np.float64(0.1), math.inf])
    "[Fraction(1, 3), 4, 0.1, float('inf')]"
    >>> literal({"a": np.arange(2, dtype="int8")})
    "{'a': np.array([0, 1], dtype='int8')}"
    """
    if isinstance(value, pd.DataFrame | pd.Series) or _is_polars(value):
        return _table_literal(value)
    if isinstance(value, np.ndarray):
        return f"np.array({literal(value.tolist())}, dtype={str(value.dtype)!r})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{literal(k)}: {literal(v)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))}{',' * (len(value) == 1)})"
    if isinstance(value, set | frozenset):
        inner = f"{{{', '.join(sorted(map(literal, value)))}}}" if value else ""
        return f"{type(value).__name__}({inner})"
    number = unboxed(value)
    if isinstance(number, Fraction) and number.denominator == 1:
        return repr(number.numerator)
    if not is_finite(number):
        return f"float('{number}')"
    try:
        return one_line(repr(number))
    except Exception:  # noqa: BLE001 - the caller's class, or a number of very many digits
        return shown(number)


def _table_literal(table: Any) -> str:
    """Return a table or a column as a literal."""
    if isinstance(table, pd.DataFrame):
        return f"pd.DataFrame({literal(table.to_dict('list'))})"
    if isinstance(table, pd.Series):
        return f"pd.Series({literal(table.tolist())})"
    columns = literal(_collected(table).to_dict(as_series=False))
    return f"pl.{'LazyFrame' if hasattr(table, 'collect') else 'DataFrame'}({columns})"


def _is_polars(value: Any) -> bool:
    """Tell whether a value is a table of Polars, which need not be installed."""
    return type(value).__module__.startswith("polars.") and hasattr(value, "lazy")


def _collected(table: Any) -> Any:
    """Return a table of Polars with its rows."""
    return table.collect() if hasattr(table, "collect") else table


def decimals(number: Fraction) -> str:
    """Return the first ten digits of a fraction.

    Examples
    --------
    >>> decimals(Fraction(10, 7))
    '1.428571429'
    """
    return f"{Decimal(number.numerator) / Decimal(number.denominator):.10g}"


def with_decimals(value: Any, between: str = " = ") -> str:
    """Return a value as a literal; a fraction also gets its decimals.

    Examples
    --------
    >>> with_decimals(Fraction(10, 7)), with_decimals(2.5)
    ('Fraction(10, 7) = 1.428571429', '2.5')
    """
    text = literal(value)
    fraction = isinstance(value, Fraction) and text.startswith("Fraction(")
    return f"{text}{between}{decimals(value)}" if fraction else text


def one_line(text: str) -> str:
    """Return a text without line breaks.

    Examples
    --------
    >>> one_line("mean of" + chr(10) + "ages")
    'mean of ages'
    """
    return text if text.isprintable() else printable(" ".join(text.split()))


def brief(value: Any) -> str:
    """Return a dataset or an answer as text, without the middle of a long one.

    Examples
    --------
    >>> brief((np.float64(0.5), "a", range(3)))
    "(0.5, 'a', range(0, 3))"
    >>> brief({k: k * k for k in range(5000)})
    '{0: 0, 1: 1, 2: 4, 3: 9, 4: 16, 5: 25, 6: 36, 7: 49, ... and 4,992 more}'
    """
    if isinstance(value, pd.DataFrame):
        columns = brief(list(map(str, value.columns)))
        rows = brief(list(value.head(SHOWN // 2).itertuples(index=False, name=None)))
        if len(value) <= SHOWN:
            rows = brief(list(value.itertuples(index=False, name=None)))
            return f"table {rows} of {columns}"
        return f"table {rows} of {columns}, the first of {len(value):,} rows"
    if _is_polars(value):
        table = _collected(value)
        return f"table {brief(table.rows())} of {brief(table.columns)}"
    if isinstance(value, pd.Series | np.ndarray):
        return brief(tuple(value.tolist())) if value.ndim else brief(value.tolist())
    if isinstance(value, Mapping):
        items = [f"{brief(k)}: {brief(v)}" for k, v in islice(value.items(), SHOWN)]
        return f"{{{', '.join(_head(items, len(value)))}}}"
    if isinstance(value, AbstractSet):
        some = [brief(one) for one in islice(value, SHOWN)]
        return f"{{{', '.join(_head(some, len(value)))}}}"
    if isinstance(value, tuple | list):
        return show(value, "in all", brief)
    number = unboxed(value)
    if isinstance(number, Number) and not isinstance(number, bool):
        return str(number) if isinstance(number, float) else plain(number)
    text = literal(number)
    return text if len(text) <= _LONG_TEXT else f"{text[:_LONG_TEXT]}... ({len(text):,} characters)"


def short_literal(value: Any) -> str:
    """Return a value as a literal, or if that is long, as `brief` does; for errors."""
    text = literal(value)
    return text if len(text) <= _LONG_TEXT else brief(value)


def _head(texts: Sequence[str], number: int) -> list[str]:
    """Return the texts, or if there are more things than are shown, the first ones and a count."""
    if number <= SHOWN:
        return list(texts)
    first = list(texts[: SHOWN // 2])
    return [*first, f"... and {number - len(first):,} more"]


def brief_pair(x: Any, y: Any) -> tuple[str, str]:
    """Return two datasets as text; of long ones the records that differ, then some of the rest.

    Examples
    --------
    >>> for text in brief_pair((0,) * 5000, (0,) * 4999 + (7,)):
    ...     print(text)
    (changed: 0; shared: 0, 0, 0, 0, 0, 0, 0, 0, ... and 4,991 more)
    (changed: 7; shared: 0, 0, 0, 0, 0, 0, 0, 0, ... and 4,991 more)
    """
    listed = isinstance(x, tuple | list) and isinstance(y, tuple | list)
    if not listed or max(len(x), len(y)) <= SHOWN:
        return brief(x), brief(y)
    common = multiset(x) & multiset(y)
    (of_x, shared), (of_y, _) = _split(x, common), _split(y, common)
    if not of_x and not of_y:  # two orders of the same records
        return brief(x), brief(y)
    rest = ", ".join(_head(list(map(brief, shared[:SHOWN])), len(shared))) or "none"
    first, second = (
        f"(changed: {', '.join(_head(list(map(brief, own[:SHOWN])), len(own))) or 'none'}; "
        f"shared: {rest})"
        for own in (of_x, of_y)
    )
    return first, second


def _split(data: Sequence[Any], common: Mapping[Any, int]) -> tuple[list[Any], list[Any]]:
    """Return the records of a dataset beyond the common ones, and the common ones."""
    left = dict(common)
    own, shared = [], []
    for record in data:
        key = key_of(record)
        if left.get(key, 0):
            left[key] -= 1
            shared.append(record)
        else:
            own.append(record)
    return own, shared


def is_short(witness: Any) -> bool:
    """Tell whether datasets are to be short, or full; raise InputError for anything else."""
    return check_choice("witness", witness, ("short", "full")) == "short"


def short(value: Any) -> Any:
    """Return a tuple of more than 16 entries as text; the rest as it is."""
    return brief(value) if isinstance(value, tuple) and len(value) > SHOWN else value


def short_ends(ends: Sequence[Any], size: int) -> Any:
    """Do the work of `short` for a tuple with known first and last entries only.

    Examples
    --------
    >>> short_ends((1, 2), 2), short_ends((*range(8), *range(92, 100)), 100)
    ((1, 2), '(0, 1, 2, 3, 4, 5, 6, 7, ..., 92, 93, 94, 95, 96, 97, 98, 99; 100 in all)')
    """
    if size <= SHOWN:
        return tuple(ends)
    return show_ends(list(map(brief, ends)), size, "in all")


def plain(value: Number) -> str:
    """Return a number as text: whole ones without a fraction, others with ten digits.

    Examples
    --------
    >>> plain(Fraction(10**400, 3)), plain(Decimal("0.25")), plain(1 / 3)
    ('3.333333333e+399', '0.25', '0.3333333333')
    """
    # The digits of an integer that is too long for Python to write are not asked for.
    if isinstance(value, int | Fraction):
        short = value.numerator.bit_length() + value.denominator.bit_length() <= 4 * _SHORT
        decimal = Decimal(value.numerator) / Decimal(value.denominator)
    else:
        short, decimal = isinstance(value, Decimal), Decimal(value)
    if short and len(str(value)) <= _SHORT:
        return str(value)
    number = float(decimal)
    return (
        f"{decimal.normalize():.10g}"
        if math.isinf(number) and decimal.is_finite()
        else f"{number:.10g}"
    )


def json_ready(value: Any) -> Any:
    """Return a value in the types of JSON.

    Numbers and texts are themselves; fractions, decimals and floats that are not finite are texts,
    as are dates and other values without a type in JSON; datasets and vectors are lists.

    Examples
    --------
    >>> json_ready({"x": (Fraction(1, 3), np.int8(2), math.inf), 1: None})
    {'x': ['1/3', 2, 'inf'], '1': None}
    """
    if isinstance(value, pd.DataFrame):
        return [json_ready(row) for row in value.to_dict("records")]
    if isinstance(value, pd.Series | np.ndarray):
        return json_ready(value.tolist())
    if _is_polars(value):
        return [json_ready(row) for row in _collected(value).to_dicts()]
    if isinstance(value, Mapping):
        return {str(json_ready(name)): json_ready(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(inner) for inner in value]
    if isinstance(value, AbstractSet):
        return sorted((json_ready(inner) for inner in value), key=str)
    return _json_single(unboxed(value))


def _json_single(value: Any) -> Any:
    """Return what is neither a sequence nor a mapping in a type of JSON."""
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else number_text(value)
    if isinstance(value, Decimal | date | time):
        return str(value)
    if not is_finite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    return literal(value)
