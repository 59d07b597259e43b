"""The range of an expression over columns with public bounds."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from .normal_form import Aggregate, NormalForm, SourceColumn, Term

Range = tuple[Fraction, Fraction]


def value_range(term: Term, bounds: Mapping[SourceColumn, Range]) -> Range | None:
    """Return the least and the largest value of an expression; None if nothing bounds it.

    Bounds of columns, numbers, +, -, * and the condition of FILTER bound an expression. A column
    that occurs twice counts as two columns, so the range can be too wide, never too narrow.

    Examples
    --------
    >>> price = SourceColumn("orders", "price")
    >>> column = Term(price.sql, "column", column=price)
    >>> doubled = Term(f"({column.sql} * -2)", "*", (column, Term("-2", "literal")))
    >>> [int(end) for end in value_range(doubled, {price: (Fraction(0), Fraction(5))})]
    [-10, 0]
    """
    if term.column is not None:
        return bounds.get(term.column)
    if term.kind == "literal":
        return _literal(term.sql)
    if term.kind == "when":
        # Where the condition is not met the value is NULL, and adds nothing.
        return value_range(term.arguments[1], bounds) if len(term.arguments) > 1 else _literal("1")
    if term.kind not in ("+", "-", "*"):
        return None
    sides = [value_range(argument, bounds) for argument in term.arguments]
    known = [side for side in sides if side is not None]
    if len(known) < len(sides):
        return None
    if len(known) == 1:  # a sign
        [(low, high)] = known
        return -high, -low
    (a, b), (c, d) = known
    if term.kind == "*":
        corners = (a * c, a * d, b * c, b * d)
        return min(corners), max(corners)
    return (a + c, b + d) if term.kind == "+" else (a - d, b - c)


def _literal(sql: str) -> Range | None:
    """Return the range of a number."""
    try:
        return Fraction(sql), Fraction(sql)
    except ValueError:
        return None


def per_result(form: NormalForm, aggregate: Aggregate) -> Range | None:
    """Return the least and the largest number that one result adds; None if nothing bounds it."""
    if aggregate.kind != "sum" or aggregate.value is None:
        return Fraction(0), Fraction(1)
    return value_range(aggregate.value, form.bounds)
