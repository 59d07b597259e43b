"""How far a query's answers on two datasets are apart: where every reported value comes from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .arithmetic import Difference, nearest
from .errors import QueryError
from .neighbors import Multiplicities
from .norms import Norm, distance
from .queries import Answer, Query
from .universe import Universe

ExactAnswer = Fraction | tuple[Fraction, ...]
"""An answer without rounding, or its square."""


@dataclass(frozen=True)
class Measurement:
    """The answers of a query on a pair of datasets, and how far apart they are."""

    query_x: Answer
    query_y: Answer
    value: float
    exact: Fraction | None
    upper: float | None


def measure(
    query: Query,
    universe: Universe,
    x: Multiplicities,
    y: Multiplicities,
    norm: Norm = "L1",
    answers: tuple[Answer, Answer] | None = None,
) -> Measurement:
    """Return how far a query's answers on x and y are apart.

    Parameters
    ----------
    query : Query
        The query.
    universe : Universe
        What x and y are drawn from.
    x : ndarray of int64, shape (m,)
        A dataset, by multiplicities.
    y : ndarray of int64, shape (m,)
        Another.
    norm : {"L1", "L2", "Linf"}, default "L1"
        For answers that are vectors.
    answers : tuple of two answers, optional
        The answers of a caller's function, where they are known, to spare it the calls.
    """
    first, second = query.exactly(universe, x), query.exactly(universe, y)
    if first is None or second is None:
        query_x, query_y = answers or (query.on(universe, x), query.on(universe, y))
        gap = difference(query_x, query_y, norm)
        return Measurement(query_x, query_y, gap.nearest(), None, None)
    gap = difference(first, second, norm, root=query.root)
    return Measurement(
        as_floats(first, query.root),
        as_floats(second, query.root),
        gap.nearest(),
        gap.exact,
        gap.upper(),
    )


def difference(
    first: Answer | ExactAnswer,
    second: Answer | ExactAnswer,
    norm: Norm,
    *,
    root: bool = False,
) -> Difference:
    """Return how far two answers are apart; floats count as the rationals that they are.

    Parameters
    ----------
    first, second : number or tuple of numbers
        The answers, or their squares if `root`.
    norm : {"L1", "L2", "Linf"}
        For answers that are vectors.
    root : bool, default False
        Whether the answers are the square roots of `first` and `second`.

    Examples
    --------
    >>> difference((0.5, 1.0), (1.0, 2.0), "L1").exact
    Fraction(3, 2)
    """
    if isinstance(first, tuple) and isinstance(second, tuple):
        return distance(tuple(map(Fraction, first)), tuple(map(Fraction, second)), norm)
    if isinstance(first, tuple) or isinstance(second, tuple):
        raise QueryError(f"one answer is a number and the other a vector: {first}, {second}")
    return Difference(Fraction(first), Fraction(second), root)


def as_floats(answer: ExactAnswer, root: bool) -> Answer:
    """Return an exact answer as the nearest floats."""
    if isinstance(answer, tuple):
        return tuple(map(nearest, answer))
    return Difference(answer, Fraction(0), root=True).nearest() if root else nearest(answer)
