"""Numbers, datasets, domains and intervals as users type them, read exactly."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from sensitivity_lab.checks import shown, steps_to
from sensitivity_lab.errors import InputError
from sensitivity_lab.results.literals import literal
from sensitivity_lab.universes.finite import AnyUniverse
from sensitivity_lab.universes.universe import Universe

MOST_VALUES = 1_000_000
"""The most values that a range may have."""

_FORMS = "write the values, 1,2,3, or a range, first:last or first:last:step, such as 0:120"


class Domain(NamedTuple):
    """A public domain: its universe, and the Python that makes it."""

    universe: AnyUniverse
    expression: str


def number(text: str, what: str) -> int | Decimal:
    """Return a number as typed: whole numbers as int, others as Decimal.

    Examples
    --------
    >>> number(" 20 ", "value"), number("0.1", "value")
    (20, Decimal('0.1'))
    """
    try:
        read = Decimal(text.strip().replace("_", "x"))  # 1_000 is no number here
    except ArithmeticError:
        read = Decimal("NaN")
    if not read.is_finite() or abs(read.adjusted()) > 400:
        raise InputError(f"{what} must be a finite number such as 20 or 0.5, got {shown(text)}")
    return int(read) if read == read.to_integral_value() else read


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
    return sorted(number(part, "a record") for part in parts)


def interval(text: str) -> Domain:
    """Return the typed interval, of every number between two.

    Examples
    --------
    >>> interval("0:2.5").expression
    "sl.Universe.from_interval(0, Decimal('2.5'))"
    """
    ends = [number(part, "an end of the interval") for part in text.split(":")]
    if len(ends) != 2:
        raise InputError(f"an interval is written lower:upper, such as 0:100, got {shown(text)}")
    code = f"sl.Universe.from_interval({literal(ends[0])}, {literal(ends[1])})"
    return Domain(Universe.from_interval(*ends), code)


@lru_cache(maxsize=4)
def domain(text: str) -> Domain:
    """Return the typed domain; made once, since many values take seconds.

    Examples
    --------
    >>> domain("1, 2, 0.5").expression
    "sl.Universe.from_domain([1, 2, Decimal('0.5')])"
    >>> domain("0:120").expression
    'sl.Universe.from_domain(range(0, 121))'
    """
    if ":" not in text:
        values = [number(part, "a value of the domain") for part in text.split(",")]
        return Domain(Universe.from_domain(values), f"sl.Universe.from_domain({literal(values)})")
    parts = [number(part, "an end of the domain") for part in text.split(":")]
    first, last, step = (*parts, 1)[:3]
    if len(parts) > 3 or step <= 0 or last < first:
        raise InputError(f"the domain {shown(text)} is not a range with a positive step; {_FORMS}")
    count = steps_to(last, first, step, shown(text)) + 1
    if count > MOST_VALUES:
        raise InputError(
            f"the domain {shown(text)} has {count:,} values, more than {MOST_VALUES:,}; "
            "take a larger step"
        )
    if all(isinstance(part, int) for part in (first, last, step)):
        whole = range(int(first), int(last) + 1, int(step))
        return Domain(Universe.from_domain(whole), f"sl.Universe.from_domain({whole!r})")
    # Fractions, since a sum of Decimals is rounded to 28 digits.
    start, gap = Fraction(first), Fraction(step)
    grid = [start + place * gap for place in range(count)]
    made = f"[Fraction('{first}') + i * Fraction('{step}') for i in range({count})]"
    return Domain(Universe.from_domain(grid), f"sl.Universe.from_domain({made})")
