"""Bounds of sensitivities: what they say, what they rest on, and what is not accepted."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from checks import refused, refused_with

import sensitivity_lab as sl

pytestmark = pytest.mark.exhaustive

UNIVERSE = sl.Universe.from_domain(range(101))
LIMITS = {"time_limit": math.inf, "evaluations": 1500, "seed": 7}


def spread_of_gaps(x):
    return np.ptp(np.diff(x))


def bounds(query=spread_of_gaps, universe=UNIVERSE, size=20, neighbors="bounded", **options):
    found = sl.bounds.sensitivity_bounds(
        universe, query, size=size, neighbors=neighbors, **{**LIMITS, **options}
    )
    found.verify()
    return found


def test_a_seed_gives_the_same_bounds_again():
    assert bounds().to_dict() == bounds().to_dict()


def test_without_a_declaration_nothing_is_known_from_above():
    found = bounds()
    assert found.status == "bounds"
    assert (found.lower, found.upper) == (100.0, math.inf)
    assert found.reason == "nothing is declared that would bound it"
    assert repr(found).splitlines()[0] == "Sensitivity of spread_of_gaps: at least 100 (bounds)"
    assert "upper      unknown: nothing is declared that would bound it" in repr(found)
    json.dumps(found.to_dict())


@pytest.mark.parametrize(
    ("query", "declared", "neighbors", "upper", "reason"),
    [
        (
            spread_of_gaps,
            {"value_range": (0, 100)},
            sl.Bounded(1),
            100.0,
            "answers are declared to be from 0 to 100",
        ),
        (
            np.sum,
            {"per_record": 100},
            sl.Unbounded(3),
            300.0,
            "one changed record is declared to change the answer by at most 100",
        ),
        (
            np.sum,
            {"per_record": 100},
            sl.Edit(3),
            300.0,
            "one changed record is declared to change the answer by at most 100",
        ),
        (
            np.sum,
            {"per_record": Fraction(1, 3) + 100, "value_range": (0, 10**9)},
            sl.Bounded(3),
            301.0,
            "one changed record is declared to change the answer by at most 100.333",
        ),
        (
            np.median,
            {"monotone": True},
            sl.Bounded(2),
            math.nextafter(100.0, math.inf),
            "the query is declared monotone, an assumption that was checked on 64 pairs of each "
            "size",
        ),
    ],
)
def test_what_is_declared_bounds_it_from_above(query, declared, neighbors, upper, reason):
    found = bounds(query, neighbors=neighbors, evaluations=400, **declared)
    assert (found.upper, found.reason) == (upper, reason)
    assert found.lower <= found.upper


@pytest.mark.parametrize(("norm", "upper"), [("L1", 300.0), ("L2", 300 / 3**0.5), ("Linf", 100.0)])
def test_a_range_of_vectors_is_that_of_each_coordinate(norm, upper):
    def three(x):
        return np.array([x.min(), x.max(), np.median(x)])

    found = bounds(three, norm=norm, value_range=(0, 100))
    assert upper <= found.upper <= math.nextafter(upper * (1 + 1e-15), math.inf)
    exact = sl.global_sensitivity(
        sl.Universe.from_domain([0, 50, 100]), three, size=4, neighbors="bounded", norm=norm
    )
    small = bounds(three, sl.Universe.from_domain([0, 50, 100]), size=4, norm=norm)
    assert small.lower == exact.value


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "relation", [sl.Bounded(2, exactly=True), sl.Unbounded(2), sl.Bounded(7), sl.Edit(2)]
)
def test_rows_of_a_table_and_few_records_are_searched_too(relation):
    """Of 8 records, 7 replaced is more than there are outside: A and B have some in common."""
    table = pd.DataFrame({"a": [1, 2, 3, 4, 5, 6, 7, 8], "b": list("xxyyzzww")})
    universe = sl.TableUniverse.from_dataset(table)

    def largest_group(rows):
        return rows.groupby("b")["a"].sum().max()

    k = relation if relation.k < 7 else sl.Bounded(3)
    size = 4 if relation.k < 7 else 5
    found = bounds(largest_group, universe, size=size, neighbors=k, evaluations=600)
    exact = sl.global_sensitivity(universe, largest_group, size=size, neighbors=k)
    assert found.lower == exact.value


@pytest.mark.parametrize("records", [[1, 1, 1], [0, 0, 5], [0, 0, 5, 5], [1, 2, 2, 2, 9]])
@pytest.mark.parametrize("relation", [sl.Bounded, sl.SymmetricDifference, sl.Edit])
def test_exactly_k_exchanges_equal_records_where_there_are_no_others(records, relation):
    """Else no start is found, and the search for one does not end, whatever the time limit."""
    universe = sl.Universe.from_dataset(records)
    neighbors = relation(1 if relation is sl.Bounded else 2, exactly=True)
    for size in range(2, len(records)):
        found = bounds("mean", universe, size=size, neighbors=neighbors, evaluations=400)
        exact = sl.global_sensitivity(universe, "mean", size=size, neighbors=neighbors)
        assert found.lower == exact.value
        found.verify()


def test_noise_needs_an_upper_bound():
    refused(
        lambda: sl.noise.laplace_scale(bounds(), epsilon=1),
        "sensitivity: the result has only a lower bound, and the sensitivity can be larger; bound "
        "it from above with value_range, per_record or monotone of "
        "sl.bounds.sensitivity_bounds; on an interval give that more time, or a function whose "
        "answers are bounded",
    )
    assert sl.noise.laplace_scale(bounds(value_range=(0, 100)), epsilon=2) == 50.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"value_range": (0, 5)},
            r"value_range says that answers are from 0 to 5, but spread_of_gaps is \d+\.?\d* on "
            r"\(.*; widen the range, or clip the query's answers to it",
        ),
        (
            {"per_record": 1},
            r"spread_of_gaps changes by 100 between \(.*\) and \(.*\), more than the upper bound "
            r"1: one changed record is declared to change the answer by at most 1",
        ),
        (
            {"monotone": True},
            r"monotone=True says that spread_of_gaps never falls when records rise, but it is "
            r"\[.*\] on \(.*\) and \[.*\] on \(.*\)",
        ),
        ({"value_range": (0, 10**400)}, "an answer of about 1e400 is beyond the range of floats"),
    ],
)
def test_what_is_not_accepted(arguments, message):
    refused_with(lambda: bounds(**arguments), message)


def test_bounds_that_do_not_hold_are_found_out():
    found = bounds()
    refused_with(
        lambda: replace(found, lower=99.0).verify(),
        "the lower bound of spread_of_gaps is st",
        sl.errors.VerificationError,
    )
    refused_with(
        lambda: replace(found, upper=50.0).verify(),
        r"the lower bound 100\.0 of spread_of_gaps is",
        sl.errors.VerificationError,
    )
