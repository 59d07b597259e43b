"""Queries of one's own: what they declare is held to what is proved."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import ClassVar

import pytest
from checks import refused_with

import sensitivity_lab as sl
from sensitivity_lab.queries import NAMED, ExactQuery, as_query


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


@pytest.mark.exhaustive
def test_no_engine_takes_weights_for_more_than_they_are():
    rng = Random(0)
    for _ in range(100):
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


def test_the_queries_of_the_package_keep_their_promises():
    asked = {query for query in map(as_query, (*NAMED, "percentile_37")) if query.on_numbers}
    exact = [query for query in asked if isinstance(query, ExactQuery)]
    assert len(exact) > 10
    for query in exact:
        query.check_promises()


class Ratio(SumOfSquares):
    """No polynomial: it says that it is one of degree 0."""

    degree = 0

    def evaluate(self, rows):
        return rows[:, -1] / rows[:, 0]


class Rounded(Ratio):
    def evaluate(self, rows):
        return rows.sum(axis=1) // 7


class Small(SumOfSquares):
    def magnitude(self, size, largest):
        return largest


class Skewed(Midrange):
    def weights(self, size):
        return ((0, Fraction(1)),)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (Ratio(), r"is not a homogeneous polynomial of degree 0: `evaluate` returned "),
        (Rounded(), r"three times these records, not 3\*\*0 times as much; declare another"),
        (Small(), r"more than its magnitude\(\d, 1000\) of 1000; override `magnitude`"),
        (Skewed(), r"which is not what its `weights` give; mend them, or declare none"),
    ],
    ids=lambda one: getattr(type(one), "__name__", "")[:7],
)
def test_a_class_that_breaks_its_promises_is_refused(query, reason):
    """An ExactQuery like these had a wrong sensitivity, which was called exact."""
    universe = sl.Universe.from_domain([2, 3, Decimal("7.5")])
    refused_with(
        lambda: sl.global_sensitivity(universe, query, size=3, neighbors=sl.Bounded(1)),
        reason,
        sl.errors.QueryError,
    )
    with pytest.raises(sl.errors.QueryError):
        sl.audit(universe, query, 2, size=3, neighbors="bounded", distances=1)
