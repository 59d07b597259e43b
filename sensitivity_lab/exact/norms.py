"""Norms of the difference of two answers, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, cast

from sensitivity_lab.checks import check_choice
from sensitivity_lab.errors import QueryError

from .difference import Difference

Norm = Literal["L1", "L2", "Linf"]
"""For a single number all three are the absolute value."""

NORMS: tuple[Norm, ...] = ("L1", "L2", "Linf")


def check_norm(norm: Any) -> Norm:
    """Return a norm, or raise InputError with the choices."""
    return cast(Norm, check_choice("norm", norm, NORMS))


def distance(first: Sequence[Fraction], second: Sequence[Fraction], norm: Norm) -> Difference:
    """Return how far two vectors are apart.

    Parameters
    ----------
    first, second : sequence of Fraction, shape (d,)
        The vectors.
    norm : {"L1", "L2", "Linf"}
        The sum of the coordinates' distances, the root of the sum of their squares, or the largest.

    Returns
    -------
    Difference
        Compares exactly with others; for L2 a root.

    Examples
    --------
    >>> distance([Fraction(3), Fraction(0)], [Fraction(0), Fraction(4)], "L2").nearest()
    5.0
    """
    if len(first) != len(second):
        raise QueryError(
            f"a query returned {len(first)} numbers on one dataset and {len(second)} on another; "
            "it returns a number, or an array of one fixed length"
        )
    gaps = [abs(one - other) for one, other in zip(first, second, strict=True)]
    if norm == "L2":
        return Difference(sum((gap * gap for gap in gaps), Fraction(0)), Fraction(0), root=True)
    total = sum(gaps, Fraction(0)) if norm == "L1" else max(gaps)
    return Difference(total, Fraction(0))
