"""Norms and distances that audits, pipelines and searches share, against their definitions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import naive_distances as naive
import numpy as np
import pytest
from checks import refused
from hypothesis import given
from hypothesis import strategies as st

from sensitivity_lab.checks import NORMS
from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.difference import Difference, rational_root
from sensitivity_lab.metrics import METRICS
from sensitivity_lab.metrics.metric import INFINITE
from sensitivity_lab.metrics.vectors import POWERS, distance, norm_of, powered

FRACTIONS = st.fractions(-9, 9, max_denominator=5)
PAIRS = st.integers(0, 3).flatmap(
    lambda d: st.tuples(*[st.lists(FRACTIONS, min_size=d, max_size=d)] * 2)
)
RECORDS = st.lists(st.integers(0, 2), max_size=5)


@given(pair=PAIRS)
def test_distances_of_vectors_are_those_of_the_definition(pair):
    first, second = pair
    expected = {
        "L1": Difference(naive.DISTANCE["L1"](first, second), Fraction(0)),
        "L2": Difference(naive.l2_squared(first, second), Fraction(0), root=True),
        "Linf": Difference(naive.DISTANCE["Linf"](first, second), Fraction(0)),
    }
    assert {norm: distance(first, second, norm) for norm in NORMS} == expected
    assert [distance(first, second, norm).root for norm in NORMS] == [False, True, False]


@pytest.mark.parametrize("norm", NORMS)
@given(vectors=st.lists(st.tuples(*[st.integers(-99, 99)] * 2), min_size=1, max_size=5))
def test_many_vectors_are_measured_as_each_alone(norm, vectors):
    for dtype in (np.int64, object):
        found = powered(np.array(vectors, dtype=dtype), norm)
        assert found.shape == (len(vectors),)
        alone = [norm_of(vector, norm) for vector in vectors]
        assert [Fraction(int(entry)) for entry in found] == [one.first for one in alone]
        assert {one.root for one in alone} == {POWERS[norm] == 2}


def test_vectors_of_two_lengths_have_no_distance():
    refused(
        lambda: distance([Fraction(1)], [Fraction(1), Fraction(2)], "L1"),
        "a query returned 1 numbers on one dataset and 2 on another; it returns a number, or an "
        "array of one fixed length",
        QueryError,
    )


@given(datasets=st.lists(RECORDS, min_size=2, max_size=4))
def test_distances_of_datasets_follow_from_the_records_that_one_of_them_has(datasets):
    for x, y in itertools.combinations(datasets, 2):
        added = sum(max(y.count(record) - x.count(record), 0) for record in {*x, *y})
        removed = sum(max(x.count(record) - y.count(record), 0) for record in {*x, *y})
        for name in ("symmetric", "change_one", "add_or_remove"):
            measure = METRICS[name].apart
            expected = naive.DISTANCE[name](x, y)
            expected = INFINITE if expected == float("inf") else expected
            assert int(measure(added, removed)) == expected
            assert measure(np.array([added, 1]), np.array([removed, 0]))[0] == expected


def test_a_difference_of_roots_is_not_the_root_of_a_fraction():
    """Why `Root`, which has a square, does not take the place of `Difference`."""
    # The square of sqrt 3 - sqrt 2 is x = 5 - 2 sqrt 6, for which (5 - x)**2 = 24.
    difference = Difference(Fraction(3), Fraction(2), root=True)
    low, high = difference.bracket()
    assert (5 - high**2) ** 2 < 24 < (5 - low**2) ** 2
    assert rational_root(Fraction(24)) is None
