"""The range of an expression over columns with public bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from .answers import DECIMAL, WHOLE
from .normal_form import Aggregate, NormalForm, SourceColumn, Term

Range = tuple[Fraction, Fraction]


def value_range(term: Term, bounds: Mapping[SourceColumn, Range]) -> Range | None:
    """Return the least and the largest value of an expression; None if nothing bounds it.

    Bounds of columns, numbers, +, -, *, CASE, COALESCE, casts to numbers and the condition of
    FILTER bound an expression. A column that occurs twice counts as two columns, so the range can
    be too wide, never too narrow.

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
    if term.kind == "when" and len(term.arguments) == 1:
        return _literal("1")
    choices = term.kind in ("when", "case", "coalesce")
    if not (choices or term.kind in ("+", "-", "*") or term.kind.startswith("cast to ")):
        return None
    # A value that is NULL adds nothing.
    sides = [
        value_range(argument, bounds)
        for at, argument in enumerate(term.arguments)
        if at not in term.conditions and not (choices and argument.sql == "NULL")
    ]
    known = [side for side in sides if side is not None]
    # One part without bounds leaves the whole without.
    if not known or len(known) < len(sides):
        return None
    # The value is one of the parts, whichever condition holds; one without ELSE is NULL, and adds
    # nothing.
    if choices:
        return min(low for low, _ in known), max(high for _, high in known)
    if term.kind.startswith("cast to "):
        return _cast(known[0], term.kind.removeprefix("cast to "))
    if len(known) == 1:  # a sign
        [(low, high)] = known
        return -high, -low
    (a, b), (c, d) = known
    if term.kind == "*":
        # The least and the largest product of two intervals stand at corners.
        corners = (a * c, a * d, b * c, b * d)
        return min(corners), max(corners)
    return (a + c, b + d) if term.kind == "+" else (a - d, b - c)


def _cast(of: Range, type_: str) -> Range | None:
    """Return the range of numbers that are cast to a type, which rounds them."""
    if type_ in ("DOUBLE", "FLOAT"):  # the nearest, so that it keeps the order
        kind = np.float64 if type_ == "DOUBLE" else np.float32
        low, high = (float(kind(float(end))) for end in of)
        return (Fraction(low), Fraction(high)) if np.isfinite([low, high]).all() else None
    if type_ == "BOOLEAN" or not (type_ in WHOLE or type_.startswith("DECIMAL")):
        return None
    decimal = DECIMAL.fullmatch(type_)
    # A cast rounds to the nearest, which is between the floor and the ceiling of both ends.
    power = 10 ** int(decimal[2]) if decimal else 1  # wide enough for a finer scale, too
    return Fraction(math.floor(of[0] * power), power), Fraction(math.ceil(of[1] * power), power)


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
