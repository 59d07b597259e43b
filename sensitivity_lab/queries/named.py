"""The queries that have a name, as listed in their files."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import finite_number, shown
from sensitivity_lab.errors import InputError

from . import l_statistics, moments, multiplicities, order_statistics
from .base import Query

NAMED: dict[str, Query] = {
    query.name: query
    for file in (moments, order_statistics, l_statistics, multiplicities)
    for query in file.QUERIES
}
"""By name, except those of a percentage, such as percentile_25; functions get other names."""

_BELOW_HALF = "the percentage of a name must be a number from 0 to below 50"

_OF_A_PERCENTAGE: dict[str, tuple[Callable[[Any], Query], int, str]] = {
    "percentile": (order_statistics.Percentile, 1, "a percentile must be a number from 0 to 100"),
    "trimmed_mean": (l_statistics.TrimmedMean, 100, _BELOW_HALF),
    "winsorized_mean": (l_statistics.WinsorizedMean, 100, _BELOW_HALF),
}
"""By the name before the percentage: the query, what to divide by, and what is accepted."""


def by_name(name: str) -> Query | None:
    """Return the named query, None if there is none; InputError for a bad percentage."""
    kind = next((kind for kind in _OF_A_PERCENTAGE if name.startswith(f"{kind}_")), name)
    number = name[len(kind) + 1 :]
    if name in NAMED or not number:
        return NAMED.get(name)
    make, whole, accepted = _OF_A_PERCENTAGE[kind]
    try:
        q: Any = finite_number(int(number) if number.isdecimal() else Decimal(number))
        return make(q if whole == 1 or q is None else Fraction(q) / whole)
    except (ValueError, ArithmeticError) as error:
        raise InputError(f"{accepted}, got {shown(name)}; write for example '{kind}_25'") from error
