"""The numbers of an answer: per result, added up exactly.

Everything is added up in whole numbers of 127 bits (HUGEINT), over a common denominator, so that no
order of the rows changes a sum: whole numbers as they are, decimals times a power of ten, floats
times a power of two. A float stands for one rational; the sums of these rationals are exact, while
the database's own SUM rounds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sensitivity_lab.errors import QueryError

from .database import Session
from .normal_form import Aggregate, NormalForm
from .statements import place_of, statement

_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "BOOLEAN")
_UNSIGNED = ("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT")
WHOLE = (*_WHOLE, *_UNSIGNED)
"""Types whose sums are whole numbers."""

FLOATS = ("FLOAT", "DOUBLE")
"""Types whose values are floats."""

DECIMAL = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")
"""A decimal type: its digits, and how many of them stand behind the point."""

_BITS = 120
"""Sums stay below two to this; a HUGEINT has seven bits more."""


@dataclass(frozen=True)
class Weighing:
    """How much each result adds to an aggregate, as a whole number.

    Attributes
    ----------
    row : str
        The SQL of a result's whole number, never NULL.
    denominator : int
        What it is divided by.
    rough : str
        The SQL of whether a result's number is rounded, which it must not be; "" if none can be.
    name : str
        The aggregate's name.
    """

    row: str
    denominator: int = 1
    rough: str = ""
    name: str = ""

    @property
    def total(self) -> str:
        """The SQL of the sum over results."""
        return "COUNT(*)" if self.row == "1" else f"SUM({self.row})"

    @property
    def is_rough(self) -> str:
        """The SQL of whether the number of any of several results is rounded."""
        return f"BOOL_OR({self.rough or 'FALSE'})"

    def check(self, rough: Any) -> None:
        """Raise QueryError if a number was rounded."""
        if rough:
            raise QueryError(
                f"{self.name}: the floats that are added up span too many orders of magnitude for "
                "exact sums of 127 bits; cast them in the query, such as SUM(CAST(price AS "
                "DECIMAL(18, 4)))"
            )


def weigh(
    form: NormalForm,
    aggregate: Aggregate,
    session: Session,
) -> Weighing:
    """Return how much each result of a query adds to a count or a sum (see `weigh_over`)."""
    return weigh_over(aggregate, lambda select: session.rows(statement(form, select)))


def weigh_over(
    aggregate: Aggregate, ask: Callable[[Sequence[str]], list[tuple[Any, ...]]]
) -> Weighing:
    """Return how much each row of a relation adds to a count or a sum.

    Parameters
    ----------
    aggregate : Aggregate
        What is counted or added up.
    ask : callable
        Selects numbers from the relation; of floats, the largest one is needed.

    Raises
    ------
    QueryError
        If a float is infinite or NaN, or floats are too large for sums of 127 bits.
    """
    name = aggregate.name
    if aggregate.value is None:
        return Weighing("1", name=name)
    value = aggregate.value.sql
    if aggregate.kind == "count":
        row = f"CASE WHEN {value} IS NULL THEN 0 ELSE 1 END"
        return Weighing(row, name=name)
    if aggregate.type in WHOLE:
        return Weighing(f"COALESCE(CAST({value} AS HUGEINT), 0)", name=name)
    decimal = DECIMAL.fullmatch(aggregate.type)
    if decimal:
        return _weigh_decimal(value, int(decimal[1]), int(decimal[2]), name)
    # frexp(largest)[1] is the number of bits before the point of the largest value,
    # results.bit_length() those that adding up so many of them takes at most.
    number = f"CAST({value} AS DOUBLE)"
    [(largest, results)] = ask([f"MAX(ABS({number}))", "COUNT(*)"])
    if not largest:
        return Weighing("CAST(0 AS HUGEINT)", name=name)
    if not math.isfinite(largest):
        way = "" if aggregate.bounded else ", or give the column bounds"
        if any(term.kind == "/" for term in aggregate.value.walk()):
            way += "; if it comes from a division by 0, write NULLIF(..., 0) around the divisor"
        raise QueryError(
            f"{name}: a value that is added up is {largest}, which no finite sum has; leave it out "
            f"with WHERE{way}"
        )
    # As many bits behind the point as the sum of all leaves room for.
    shift = min(_BITS - math.frexp(largest)[1] - results.bit_length(), 1000)
    if shift < 0:
        raise QueryError(
            f"{name}: the floats that are added up have sums beyond 127 bits; divide them in the "
            "query, or give the column bounds"
        )
    scaled = f"(COALESCE({number}, 0) * CAST('{2.0**shift!r}' AS DOUBLE))"
    # A value with bits behind the last place that is kept would be rounded; it is refused.
    rough = f"{scaled} <> FLOOR({scaled})"
    return Weighing(f"CAST({scaled} AS HUGEINT)", 1 << shift, rough, name)


def _weigh_decimal(value: str, digits: int, scale: int, name: str) -> Weighing:
    """Return the weighing of decimals: all their digits, without the point."""
    power = 10**scale
    # The product has the digits of the value and one more than the scale. If they are too many for
    # a DECIMAL, the point is taken out of the text: 12.50 becomes 1250.
    if digits + scale + 1 <= 38:  # so many digits has a DECIMAL
        scaled = f"{value} * CAST({power} AS DECIMAL({scale + 1}, 0))"
    else:
        scaled = f"REPLACE(CAST({value} AS VARCHAR), '.', '')"
    return Weighing(f"COALESCE(CAST({scaled} AS HUGEINT), 0)", power, name=name)


def answers(form: NormalForm, session: Session) -> list[tuple[Any, ...]]:
    """Return the aggregates of each group, in the order of the keys; those of nothing are 0."""
    select = [place_of(form), *(call_of(one) for one in form.aggregates)]
    text = statement(form, select, group_by=["1"])
    # Groups without results have no row in SQL, and a public key has one here all the same.
    found = {row[0]: row[1:] for row in session.rows(text)}
    nothing = (0,) * len(form.aggregates)
    return [found.get(place, nothing) for place in range(len(form.keys))]


def call_of(aggregate: Aggregate) -> str:
    """Return an aggregate as SQL; a sum of nothing is 0."""
    if aggregate.value is None:
        return "COUNT(*)"
    value = aggregate.value.sql
    if aggregate.kind == "sum":
        whole = aggregate.type in WHOLE
        return f"COALESCE(SUM({f'CAST({value} AS HUGEINT)' if whole else value}), 0)"
    return f"COUNT({'DISTINCT ' * (aggregate.kind == 'distinct')}{value})"
