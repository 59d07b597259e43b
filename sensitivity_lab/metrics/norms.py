"""The norms L1, L2 and Linf of the difference of two answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import check_choice
from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.exact.root_sums import norm_of_roots

Norm = Literal["L1", "L2", "Linf"]
"""For a single number all three are the absolute value."""

NORMS: tuple[Norm, ...] = ("L1", "L2", "Linf")

POWERS: dict[Norm, int] = {"L1": 1, "L2": 2, "Linf": 1}
"""The power at which a norm of a rational vector is rational; `powered` returns it."""


def check_norm(norm: Any) -> Norm:
    """Return a norm, or raise InputError with the choices."""
    return cast(Norm, check_choice("norm", norm, NORMS))


def powered(vectors: NDArray[Any], norm: Norm) -> NDArray[Any]:
    """Return the norms of many vectors, squared for L2, so that no root is taken.

    Parameters
    ----------
    vectors : ndarray of int64, Python ints, Fractions or floats, shape (..., d)
        The vectors, along the last axis; d can be 0. Of int64, what is added up has to fit; floats
        are rounded.
    norm : {"L1", "L2", "Linf"}
        The sum of the absolute values, the root of the sum of squares, or the largest absolute
        value.

    Returns
    -------
    ndarray, shape (...)
        The L1 and Linf norms, and the squares of the L2 norms.

    Examples
    --------
    >>> vectors = np.array([[3, 0, -4], [1, 1, 1]])
    >>> [powered(vectors, norm).tolist() for norm in NORMS]
    [[7, 3], [25, 3], [4, 1]]
    """
    if norm == "L2":
        return np.asarray((vectors * vectors).sum(axis=-1))
    sizes = np.abs(vectors)
    return np.asarray(sizes.sum(axis=-1) if norm == "L1" else sizes.max(axis=-1, initial=0))


def norm_of(vector: Iterable[Fraction | int], norm: Norm) -> Difference:
    """Return the norm of one vector, as a difference from 0; for L2 a root.

    Examples
    --------
    >>> norm_of([3, Fraction(1, 2)], "L1").exact
    Fraction(7, 2)
    """
    entries = np.array(list(vector), dtype=object)
    return Difference(Fraction(powered(entries, norm).item()), Fraction(0), POWERS[norm] == 2)


def distance(
    first: Sequence[Fraction], second: Sequence[Fraction], norm: Norm, root: bool = False
) -> Difference:
    """Return the distance of two vectors in a norm.

    Parameters
    ----------
    first, second : sequence of Fraction, shape (d,)
        The vectors.
    norm : {"L1", "L2", "Linf"}
        The sum of the coordinates' distances, the root of the sum of their squares, or the largest.
    root : bool, default False
        Whether the coordinates are the square roots of the numbers.

    Returns
    -------
    Difference
        Compares exactly with others; for L2 a root.

    Raises
    ------
    QueryError
        If the vectors have different lengths.

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
    if root:
        pairs = zip(first, second, strict=True)
        return norm_of_roots([Difference(one, other, root=True) for one, other in pairs], norm)
    return norm_of((one - other for one, other in zip(first, second, strict=True)), norm)
