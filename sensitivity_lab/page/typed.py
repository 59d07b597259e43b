"""Datasets, domains and intervals as users type them, with the Python that makes them."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from sensitivity_lab.checks import shown
from sensitivity_lab.csv_files import MOST_VALUES, written_number, written_values
from sensitivity_lab.errors import InputError
from sensitivity_lab.results.literals import literal
from sensitivity_lab.universes.finite import AnyUniverse
from sensitivity_lab.universes.universe import Universe

_SPELLED_OUT = 30
"""The most values of a domain that the code lists."""


def dataset(text: str) -> list[int | Decimal]:
    """Return the records of a typed dataset, in ascending order; commas, blanks and lines end one.

    Examples
    --------
    >>> dataset("3, 1, 0.5")
    [Decimal('0.5'), 1, 3]
    """
    parts = re.split(r"[,;\s]+", text.strip(" ,;\t\r\n"))
    if len(parts) > MOST_VALUES:
        raise InputError(f"a dataset has at most {MOST_VALUES:,} typed records, got {len(parts):,}")
    return sorted(map(written_number, parts))


def interval(text: str) -> tuple[AnyUniverse, str]:
    """Return the typed interval, of every number between two.

    Examples
    --------
    >>> interval("0:2.5")[1]
    "sl.Universe.from_interval(0, Decimal('2.5'))"
    """
    ends = [written_number(part) for part in text.split(":")]
    if len(ends) != 2:
        raise InputError(f"an interval is written lower:upper, such as 0:100, got {shown(text)}")
    code = f"sl.Universe.from_interval({literal(ends[0])}, {literal(ends[1])})"
    return Universe.from_interval(*ends), code


@lru_cache(maxsize=4)
def domain(text: str) -> tuple[AnyUniverse, str]:
    """Return the typed domain; made once, since many values take seconds.

    Examples
    --------
    >>> domain("1, 2, 0.5")[1]
    "sl.Universe.from_domain([1, 2, Decimal('0.5')])"
    >>> domain("0:120")[1]
    'sl.Universe.from_domain(range(0, 121))'
    """
    values = written_values(text, text)
    first, step = values[0], values[min(1, len(values) - 1)] - values[0]
    spelled = literal(values)
    whole = range(int(first), int(values[-1]) + 1)
    # So many are listed only if they can be all: a range of three values may be very long.
    if 2 < len(values) == whole.stop - whole.start and values == [*whole]:
        spelled = repr(whole)
    elif ":" in text and len(values) > _SPELLED_OUT:
        # Fractions, since a sum of Decimals is rounded to 28 digits.
        each = f"Fraction('{first}') + i * Fraction('{step}')"
        spelled = f"[{each} for i in range({len(values)})]"
    return Universe.from_domain(values), f"sl.Universe.from_domain({spelled})"
