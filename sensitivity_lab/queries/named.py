"""The queries that have a name, as listed in their files."""

from __future__ import annotations

from decimal import Decimal

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError

from . import l_statistics, multiplicities, order_statistics, power_sums
from .base import Query

NAMED: dict[str, Query] = {
    query.name: query
    for file in (power_sums, order_statistics, l_statistics, multiplicities)
    for query in file.QUERIES
}
"""By name, except percentile_0 to percentile_100; functions get other names."""


def by_name(name: str) -> Query | None:
    """Return the named query, None if there is none; InputError for a bad percentage."""
    prefix, _, number = name.partition("_")
    if name in NAMED or prefix != "percentile" or not number:
        return NAMED.get(name)
    try:
        return order_statistics.Percentile(int(number) if number.isdecimal() else Decimal(number))
    except (ValueError, ArithmeticError) as error:
        raise InputError(
            f"a percentile must be a number from 0 to 100, got {shown(name)}; "
            "write for example 'percentile_25'"
        ) from error
