"""Queries of one's own: what they declare is held to what is proved."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import ClassVar

import pytest

import sensitivity_lab as sl
from sensitivity_lab.queries import ExactQuery


@dataclass(frozen=True)
class Midrange(ExactQuery):
    """Half of the smallest and half of the largest record: weights, but no quantile."""

    name: ClassVar[str] = "midrange"

    def weights(self, size):
        half = Fraction(1, 2)
        return ((0, half), (size - 1, half)) if size > 1 else ((0, Fraction(1)),)

    def evaluate(self, rows):
        return rows[:, 0] + rows[:, -1]

    def denominator(self, size):
        return Fraction(2)

    def magnitude(self, size, largest):
        return 2 * largest


@dataclass(frozen=True)
class SumOfSquares(ExactQuery):
    """A polynomial that a constant added to the records changes."""

    name: ClassVar[str] = "sum_of_squares"
    degree: ClassVar[int] = 2

    def evaluate(self, rows):
        return (rows * rows).sum(axis=1)

    def denominator(self, size):
        return Fraction(1)

    def magnitude(self, size, largest):
        return size * largest**2


def test_a_mixture_of_ranks_goes_to_the_ranks():
    universe = sl.Universe.from_dataset([1, 8, 12, 13, 16, 24, 27, 28, 30])
    result = sl.global_sensitivity(universe, Midrange(), size=6, neighbors=sl.Bounded(1))
    assert (result.exact, result.method) == (7, "ranks")


@pytest.mark.parametrize("universes", [30, pytest.param(100, marks=pytest.mark.exhaustive)])
def test_no_engine_takes_weights_for_more_than_they_are(universes):
    rng = Random(0)
    for _ in range(universes):
        universe = sl.Universe.from_dataset([rng.randint(0, 20) for _ in range(7)])
        neighbors = rng.choice([sl.Bounded(1), sl.Unbounded(1), sl.SymmetricDifference(2)])
        size = rng.randint(2, 5)
        auto, listed = (
            sl.global_sensitivity(
                universe, Midrange(), size=size, neighbors=neighbors, method=method
            )
            for method in ("auto", "enumeration")
        )
        assert auto.exact == listed.exact


@pytest.mark.parametrize(
    ("neighbors", "expected"),
    [(sl.Unbounded(1), 80**2), (sl.Bounded(1), 80**2 - 10**2)],
    ids=str,
)
def test_a_polynomial_is_not_centred_unless_it_says_so(neighbors, expected):
    universe = sl.Universe.from_dataset(range(10, 81, 10))
    result = sl.global_sensitivity(universe, SumOfSquares(), size=4, neighbors=neighbors)
    assert result.exact == expected


def test_a_vectorized_result_is_stated_for_one_dataset():
    rng = Random(1)
    universe = sl.Universe.from_dataset([rng.random() for _ in range(12)])
    weights = [rng.random() for _ in range(6)]
    query = sl.from_function(lambda rows: rows @ weights, vectorized=True, name="weighted")
    result = sl.global_sensitivity(universe, query, size=6, neighbors=sl.Bounded(2))
    result.verify()
