"""Measure how far apart a query's answers on two datasets are: the source of every value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from sensitivity_lab.exact.difference import Difference, rational_of
from sensitivity_lab.metrics.norms import Norm, distance
from sensitivity_lab.queries import Answer, Answered, Query
from sensitivity_lab.queries.base import as_floats
from sensitivity_lab.universes.relations import Multiplicities
from sensitivity_lab.universes.universe import FiniteUniverse

ExactAnswer = Fraction | tuple[Fraction, ...]
"""An answer as a rational number (its square, if the query is a root), or a tuple of several."""


@dataclass(frozen=True)
class Measurement:
    """The answers of a query on a pair of datasets, and how far apart they are.

    `arithmetic` is "exact" if no answer is a float that a caller's function returned.
    """

    query_x: Answer
    query_y: Answer
    value: float
    exact: Fraction | None
    upper: float | None
    arithmetic: Literal["exact", "float"]


def measure(
    query: Query,
    universe: FiniteUniverse,
    x: Multiplicities,
    y: Multiplicities,
    norm: Norm = "L1",
    answers: tuple[Answered, Answered] | None = None,
) -> Measurement:
    """Return how far a query's answers on x and y are apart.

    Parameters
    ----------
    query : Query
        The query.
    universe : FiniteUniverse
        The records that x and y are drawn from.
    x : ndarray of int64, shape (m,)
        A dataset, by multiplicities.
    y : ndarray of int64, shape (m,)
        Another.
    norm : {"L1", "L2", "Linf"}, default "L1"
        For answers that are vectors.
    answers : tuple of two answers, optional
        The answers of a caller's function if they are known, to save the calls.
    """
    first, second = query.exactly(universe, x), query.exactly(universe, y)
    if first is None or second is None:
        returned = answers or (query.answered(universe, x), query.answered(universe, y))
        first, second = map(rationals_of, returned)
        if not all(map(_is_exact, returned)):
            floats = as_floats(first, False), as_floats(second, False)
            gap = difference_of(first, second, norm).nearest()
            return Measurement(*floats, gap, None, None, "float")
    difference = difference_of(first, second, norm, query.root)
    return Measurement(
        as_floats(first, query.root),
        as_floats(second, query.root),
        difference.nearest(),
        difference.exact,
        difference.upper(),
        "exact",
    )


def difference_of(
    first: ExactAnswer, second: ExactAnswer, norm: Norm, root: bool = False
) -> Difference:
    """Return how far two answers are apart; numbers are the squares of the answers if `root`."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        return distance(first, second, norm, root)
    if isinstance(first, Fraction) and isinstance(second, Fraction):
        return Difference(first, second, root)
    raise TypeError(f"{first!r} and {second!r} are no answers of one query")


def exact_answer(query: Query, universe: FiniteUniverse, data: Multiplicities) -> ExactAnswer:
    """Return what `difference_of` compares: the exact answer, or what the answer's floats are."""
    exact = query.exactly(universe, data)
    return rationals_of(query.answered(universe, data)) if exact is None else exact


def answer_of(
    query: Query, universe: FiniteUniverse, data: Multiplicities
) -> tuple[Answer, ExactAnswer]:
    """Return the answer in floats, and as what differences are measured between."""
    exact = exact_answer(query, universe, data)
    return as_floats(exact, query.root), exact


def rationals_of(answer: Answered) -> ExactAnswer:
    """Return the rational numbers that an answer is, floats included."""
    if isinstance(answer, tuple):
        return tuple(map(rational_of, answer))
    return rational_of(answer)


def _is_exact(answer: Answered) -> bool:
    """Tell whether an answer of a caller's function holds no float."""
    numbers = answer if isinstance(answer, tuple) else (answer,)
    return all(isinstance(number, Fraction) for number in numbers)
