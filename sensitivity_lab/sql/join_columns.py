"""The columns that a join makes equal."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain
from typing import TypeVar

from .answers import WHOLE
from .normal_form import Equality, NormalForm, SourceColumn

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
