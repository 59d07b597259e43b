"""How far a query's answers on two datasets are apart: where every reported value comes from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .arithmetic import Difference, nearest
from .neighbors import Multiplicities
from .norms import Norm, distance
from .queries import Answer, Query
from .universe import Universe

ExactAnswer = Fraction | tuple[Fraction, ...]
"""An answer as a rational number (its square, if the query is a root), or a tuple of several."""


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
        gap = difference_of(rationals_of(query_x), rationals_of(query_y), norm)
        return Measurement(query_x, query_y, gap.nearest(), None, None)
    difference = difference_of(first, second, norm, query.root)
    return Measurement(
        _as_floats(first, query.root),
        _as_floats(second, query.root),
        difference.nearest(),
        difference.exact,
        difference.upper(),
    )


def difference_of(
    first: ExactAnswer, second: ExactAnswer, norm: Norm, root: bool = False
) -> Difference:
    """Return how far two answers are apart; numbers are the squares of the answers if `root`."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        return distance(first, second, norm)
    if isinstance(first, Fraction) and isinstance(second, Fraction):
        return Difference(first, second, root)
    raise TypeError(f"{first!r} and {second!r} are no answers of one query")


def exact_answer(query: Query, universe: Universe, data: Multiplicities) -> ExactAnswer:
    """Return what `difference_of` compares: the exact answer, or what the answer's floats are."""
    exact = query.exactly(universe, data)
    return rationals_of(query.on(universe, data)) if exact is None else exact


def rationals_of(answer: Answer) -> ExactAnswer:
    """Return the rational numbers that the floats of an answer are."""
    return tuple(map(Fraction, answer)) if isinstance(answer, tuple) else Fraction(answer)


def _as_floats(answer: Fraction | tuple[Fraction, ...], root: bool) -> Answer:
    """Return an exact answer as the nearest floats."""
    if isinstance(answer, tuple):
        return tuple(map(nearest, answer))
    return Difference(answer, Fraction(0), root=True).nearest() if root else nearest(answer)
