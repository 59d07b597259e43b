"""The columns that a join makes equal, as bounds, truncation and pipelines see them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import TypeVar

from .answers import WHOLE
from .normal_form import Equality, NormalForm, Source, SourceColumn, Term, quoted

Node = TypeVar("Node")

_INTEGERS = frozenset(WHOLE) - {"BOOLEAN"}


def join_equalities(form: NormalForm) -> tuple[Equality, ...]:
    """Return the equalities that hold between values, not between what a cast makes of them.

    A whole number and a float are compared as floats, where several whole numbers can equal one
    float. No count of the most frequent value bounds how many rows such an equality finds, so the
    bounds take it for a predicate.
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


def predicates(form: NormalForm) -> tuple[Term, ...]:
    """Return the conditions that are no `join_equalities`."""
    joins = {frozenset((one.left, one.right)) for one in join_equalities(form)}
    return tuple(
        term
        for term in form.conditions
        if not (term.kind == "=" and frozenset(one.column for one in term.arguments) in joins)
    )


def connected(nodes: Iterable[Node], ties: Iterable[Collection[Node]]) -> list[frozenset[Node]]:
    """Return the connected components of nodes, where each tie connects all nodes in it.

    Examples
    --------
    >>> [sorted(one) for one in connected("abcd", [("a", "c"), "d"])]
    [['b'], ['a', 'c'], ['d']]
    """
    found = [frozenset((node,)) for node in dict.fromkeys(nodes)]
    for tie in ties:
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
    return len(persons) == 1 or any(
        persons <= variable for variable in classes(join_equalities(form))
    )


def one_of_each_kind(
    source: Source, relation: str, values: Sequence[str], read: Iterable[Term], where: Iterable[str]
) -> str:
    """Return a source restricted to values of which no two find the same rows.

    Where a largest count is searched over values of two sources that a chain of conditions ties
    together, the pairs of values are as many as a product. But two values of some columns differ
    only in the rows that they find, and these only in what is read of them elsewhere. So of all
    values that find the same rows, as often, one stands for all.

    Parameters
    ----------
    source : Source
        Whose rows are found.
    relation : str
        Its table, or what stands for it so far.
    values : sequence of str
        The columns that are chosen, as SQL.
    read : iterable of Term
        What reads the source elsewhere.
    where : iterable of str
        Conditions on the source alone, which need not be in `read`.
    """
    names = sorted({one for term in read for one in term.columns if one.alias == source.alias})
    types = {source.table.columns[one.name] for one in names}
    if not types <= _INTEGERS | {"VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN"}:
        return relation  # two floats that are equal can still be two, as 0.0 and -0.0
    found = f"LIST_SORT(LIST(ROW({', '.join(one.sql for one in names)})))" if names else "COUNT(*)"
    fields = ", ".join(f"v{place} := {value}" for place, value in enumerate(values))
    chosen = values[0] if len(values) == 1 else f"STRUCT_PACK({fields})"
    here = f"{relation} AS {quoted(source.alias)}"
    known = " AND ".join(where) or "TRUE"
    kinds = f"SELECT {chosen} AS chosen, {found} AS found FROM {here} WHERE {known} GROUP BY 1"
    kept = f"SELECT MIN(chosen) FROM ({kinds}) GROUP BY found"
    return f"(SELECT * FROM {here} WHERE {chosen} IN ({kept}))"
