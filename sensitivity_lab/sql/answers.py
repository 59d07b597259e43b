"""The numbers of an answer: per result, added up exactly.

Everything is added up in whole numbers of 127 bits (HUGEINT), over a common denominator, so that no
order of the rows changes a sum: whole numbers as they are, decimals times a power of ten, floats
times a power of two. A float stands for one rational; the sums of these rationals are exact, while
the database's own SUM rounds.

The columns that a join makes equal have one value in every result.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

from sensitivity_lab.errors import QueryError

from .database import Session
from .normal_form import Aggregate, Equality, NormalForm, SourceColumn, place_of, statement

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


Node = TypeVar("Node")

_INTEGERS = frozenset(WHOLE) - {"BOOLEAN"}


def join_equalities(form: NormalForm) -> tuple[Equality, ...]:
    """Return the equalities that hold between values, not between what a cast makes of them.

    A whole number and a float are compared as floats, where several whole numbers can equal one
    float, so it does not make their persons one.
    """
    return tuple(
        one for one in form.equalities if _values(form, one.left) == _values(form, one.right)
    )


def _values(form: NormalForm, column: SourceColumn) -> str:
    return values_of_type(form.type_of(column))


def values_of_type(type_: str) -> str:
    """Return a name for the values of a type: columns of types with one name compare exactly."""
    return "INTEGER" if type_ in _INTEGERS else type_


def types_apart(form: NormalForm) -> str:
    """Return a sentence about equal columns of two types, for messages; "" if there are none.

    A frame of pandas with a missing key has floats in place of whole numbers.
    """
    for one in sorted(set(form.equalities) - set(join_equalities(form)), key=str):
        left, right = (
            f"{form.source(column.alias).table.name}.{column.name} ({form.type_of(column)})"
            for column in (one.left, one.right)
        )
        return (
            f". {left} and {right} have two types, so that equal ones need not be the same: give "
            "them one, in pandas by astype('Int64')"
        )
    return ""


def connected(nodes: Iterable[Node], ties: Iterable[Collection[Node]]) -> list[frozenset[Node]]:
    """Return the connected components of nodes, where each tie connects all nodes in it.

    Examples
    --------
    >>> [sorted(one) for one in connected("abcd", [("a", "c"), "d"])]
    [['b'], ['a', 'c'], ['d']]
    """
    found = [frozenset((node,)) for node in dict.fromkeys(nodes)]
    for tie in ties:
        # A tie merges all components that it touches into one.
        touched = [one for one in found if not one.isdisjoint(tie)]
        if touched:
            found = [one for one in found if one not in touched]
            found.append(frozenset().union(*touched))
    return found


def classes(equalities: Iterable[Equality]) -> tuple[frozenset[SourceColumn], ...]:
    """Return the sets of columns that are equal in every result: the variables of the join.

    Examples
    --------
    >>> a, b, c = (SourceColumn(alias, "key") for alias in "abc")
    >>> [sorted(map(str, one)) for one in classes([Equality(a, b), Equality(b, c)])]
    [['a.key', 'b.key', 'c.key']]
    """
    pairs = [(one.left, one.right) for one in equalities]
    return tuple(connected(chain.from_iterable(pairs), pairs))


def one_person_per_result(form: NormalForm) -> bool:
    """Tell whether every result refers to exactly one person, in every database.

    It does if one source is private, or if the join makes the persons of all private sources equal.
    """
    persons = {source.owner for source in form.private}
    # Persons that the join makes equal are one person, whatever the data are.
    return len(persons) == 1 or any(
        persons <= variable for variable in classes(join_equalities(form))
    )
