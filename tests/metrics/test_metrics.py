"""What every metric of the list promises: axioms, and the same distance for two forms and many."""

from __future__ import annotations

import itertools
import math
import re
from fractions import Fraction
from functools import partial

import naive_distances as naive
import pandas as pd
import pytest
from checks import refused
from hypothesis import example, given
from hypothesis import strategies as st
from paths import ROOT

from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.metrics import (
    METRICS,
    AddOrRemoveDistance,
    ExtendedDistance,
    GroupsDistance,
    IdDistance,
    L1Distance,
    L2Distance,
    Metric,
    OwnDistance,
    SharedIdDistance,
    SymmetricDistance,
    as_metric,
)
from sensitivity_lab.metrics.cells import encode, key_of, signed_key, table_key
from sensitivity_lab.metrics.lists import InsertDeleteDistance

NAN = math.nan
RECORDS = st.lists(st.integers(0, 2), max_size=5)
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.fractions(-2, 2, max_denominator=6),
    st.sampled_from([2**62, -(2**70), 0.1, 1e300, 5e-324, 10**400]),
)
VECTORS = st.tuples(NUMBERS, NUMBERS)
ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), max_size=4)
TABLES = ROWS.map(lambda rows: pd.DataFrame(rows, columns=["id", "n"], dtype="int64"))
GROUPS = st.fixed_dictionaries({"a": RECORDS, "b": RECORDS})

OF_DATA: dict[str, tuple[Metric, st.SearchStrategy]] = {
    **{
        name: (metric, {"records": RECORDS, "numbers": VECTORS, "data": RECORDS}[metric.sees])
        for name, metric in METRICS.items()
    },
    "absolute": (METRICS["absolute"], NUMBERS),
    **{
        f"{name} of all": (
            ExtendedDistance(METRICS[name]),
            st.lists(st.one_of(NUMBERS, st.sampled_from([NAN, math.inf, -math.inf])), max_size=3),
        )
        for name in ("L1", "L2", "Linf", "Linf_monotonic")
    },
    "ids": (IdDistance("id"), TABLES),
    "shared ids": (SharedIdDistance("id"), st.tuples(TABLES, TABLES)),
    "groups, L1": (GroupsDistance(L1Distance()), GROUPS),
    "groups, L2": (GroupsDistance(L2Distance()), GROUPS),
    "own": (OwnDistance(lambda x, y: abs(len(x) - len(y))), RECORDS),
}
"""Every metric, with the data that it compares."""


def forms_of(name, data, number):
    """Draw some forms of a metric."""
    metric, items = OF_DATA[name]
    drawn = data.draw(st.lists(items, min_size=number[0], max_size=number[1]))
    return metric, [metric.form(item) for item in drawn]


def real(distance):
    """Return what a metric returns as audits compare it."""
    if distance == math.inf:
        return math.inf
    if isinstance(distance, Root):
        return Difference(distance.square, Fraction(0), root=True)
    return Difference(Fraction(distance), Fraction(0))


def squared(distance):
    """Return the square of a distance, which is rational."""
    return distance.square if isinstance(distance, Root) else distance * distance


@pytest.mark.parametrize("name", OF_DATA)
@given(data=st.data())
def test_many_forms_are_measured_as_two(name, data):
    """Each row of the batched form, its limits, and what its entries stand for."""
    metric, forms = forms_of(name, data, (1, 6))
    limit = data.draw(st.sampled_from([0, 1, 2, Fraction(5, 2), 2**61]))
    measured = metric.among(forms)
    within = measured.limit(limit)
    for k, form in enumerate(forms):
        row = measured.row(k)
        assert row.shape == (len(forms) - k - 1,)
        expected = [metric.between(form, other) for other in forms[k + 1 :]]
        assert [measured.truth(entry) for entry in row.tolist()] == list(map(real, expected))
        assert [bool(entry <= within) for entry in row.tolist()] == [
            distance <= limit for distance in expected
        ]


@pytest.mark.parametrize("name", OF_DATA)
@given(data=st.data())
def test_equal_forms_are_at_no_distance_and_order_does_not_matter(name, data):
    metric, (a, b) = forms_of(name, data, (2, 2))
    assert metric.between(a, a) == metric.between(b, b) == 0
    assert metric.between(a, b) == metric.between(b, a)
    assert metric.between(a, b) >= 0
    if name != "own":
        assert (metric.between(a, b) == 0) == (a == b)


@pytest.mark.parametrize("name", sorted(set(OF_DATA) - {"add_or_remove"}))
@given(data=st.data())
def test_a_detour_is_no_shorter(name, data):
    metric, (a, b, c) = forms_of(name, data, (3, 3))
    one, two, direct = metric.between(a, b), metric.between(b, c), metric.between(a, c)
    if math.inf in (one, two):
        return
    # sqrt(p) + sqrt(q) >= sqrt(r) if r - p - q <= 0, or else if its square is at most 4 p q.
    p, q, r = squared(one), squared(two), squared(direct)
    assert r - p - q <= 0 or (r - p - q) ** 2 <= 4 * p * q


def test_records_that_are_added_or_removed_have_no_such_detours():
    """Why relations of one direction are no balls of a metric."""
    metric = AddOrRemoveDistance()
    assert metric.distance([1], []) + metric.distance([], [2]) == 2
    assert metric.distance([1], [2]) == math.inf


@pytest.mark.parametrize("name", sorted(set(METRICS) - {"absolute"}))
@given(data=st.data())
def test_two_forms_are_as_far_apart_as_the_definition_says(name, data):
    metric, items = OF_DATA[name]
    x, y = data.draw(items), data.draw(items)
    found = metric.distance(x, y)
    if name == "L2":
        assert squared(found) == naive.l2_squared(x, y)
    else:
        assert found == naive.DISTANCE[name](x, y)


@given(x=RECORDS, y=RECORDS)
@example(x=[0, 1, 0], y=[1, 0, 1])
@example(x=[], y=[1, 0])
def test_entries_that_are_inserted_and_deleted(x, y):
    assert InsertDeleteDistance().distance(x, y) == naive.insert_delete(x, y)


def test_which_cells_are_equal():
    """The table of `metrics/cells.py`, column by column."""
    pairs = [(1, 1.0), (1, True), (0.0, -0.0), (NAN, float("nan")), (NAN, None), ([1], (1,))]
    told = {
        key.__name__: [key(one) == key(other) for one, other in pairs]
        for key in (encode, signed_key, key_of, table_key)
    }
    assert told == {
        "encode": [True, True, True, True, True, False],
        "signed_key": [True, True, False, True, False, True],
        "key_of": [True, True, True, True, False, True],
        "table_key": [True, True, True, True, True, False],
    }


@pytest.mark.parametrize("name", [name for name in METRICS if METRICS[name].sees != "numbers"])
def test_the_caller_says_which_cells_are_equal(name):
    metric = METRICS[name]
    x, y = [0.0, 1], [-0.0, 1]
    assert metric.distance(x, y) == 0
    found = metric.between(metric.form_by(signed_key, x), metric.form_by(signed_key, y))
    expected = {"symmetric": 2, "insert_delete": 2, "add_or_remove": math.inf}
    assert found == expected.get(name, 1)


def test_a_mapping_says_how_often_each_record_occurs():
    assert SymmetricDistance().distance({"a": 2, "b": 1}, ["a", "c"]) == 3
    assert SymmetricDistance().distance({None: 1, NAN: 1}, [None]) == 1
    refused(
        lambda: SymmetricDistance().distance({"a": 0.5}, []),
        "cannot measure (rows added or removed) the distance of {'a': 0.5} and []: TypeError: "
        "'float' object cannot be interpreted as an integer",
    )


@pytest.mark.parametrize("name", [name for name, one in METRICS.items() if one.sees == "records"])
@given(x=RECORDS, y=RECORDS)
def test_which_metrics_ignore_order_and_what_a_step_does_to_the_size(name, x, y):
    metric = METRICS[name]
    if metric.unordered:
        assert metric.distance(x, y) == metric.distance(sorted(x), y[::-1])
    if metric.distance(x, y) == 1:
        assert (len(x) != len(y)) == metric.resizes


def test_order_counts_for_the_others():
    told = {n: m.distance([0, 1], [1, 0]) for n, m in METRICS.items() if m.sees == "records"}
    assert {name for name, apart in told.items() if not apart} == {
        name for name, metric in METRICS.items() if metric.unordered
    }


@pytest.mark.parametrize("name", METRICS)
def test_which_distances_metrics_take(name):
    metric = METRICS[name]
    whole = {"L0", "symmetric", "change_one", "add_or_remove", "hamming", "insert_delete"}
    assert metric.real == (name not in whole | {"discrete"})
    assert metric.check(2) == 2
    if metric.real:
        assert metric.check(0.5) == Fraction(1, 2)
        return
    refused(
        lambda: metric.check(0.5),
        f"d_in must be a whole number (at least 0: {metric}), got 0.5 (float)",
    )


def test_a_name_or_a_function_is_a_metric():
    assert all(as_metric("inputs", name) is metric for name, metric in METRICS.items())
    assert as_metric("inputs", max) == OwnDistance(max)


@pytest.mark.parametrize(
    ("given", "end"),
    [
        ("nearest", "got 'nearest'"),
        (3, "got 3"),
        (None, "got None"),
        ("bounded", "got 'bounded'; did you mean 'change_one'?"),
        ("unbounded", "got 'unbounded'; did you mean 'add_or_remove'?"),
        ("symmetric_difference", "got 'symmetric_difference'; did you mean 'symmetric'?"),
    ],
)
def test_an_unknown_metric_is_told_which_there_are(given, end):
    refused(
        lambda: as_metric("inputs", given),
        "inputs must be one of 'absolute', 'L0', 'L1', 'L2', 'Linf', 'Linf_monotonic', "
        "'symmetric', 'change_one', 'add_or_remove', 'hamming', 'insert_delete', 'discrete', or a "
        f"function of two items that returns their distance, {end}",
    )


def test_a_distance_of_ones_own():
    metric = OwnDistance(lambda x, y: {"near": True, "far": False}.get(x, y))
    assert metric.distance("near", 0) == 1
    assert metric.distance("far", 0) == metric.distance("", math.inf) == math.inf
    assert metric.distance("", 0.5) == Fraction(1, 2)
    for wrong in (-1, NAN, "a", None):
        refused(
            partial(metric.distance, "", wrong),
            f"the distance of '' and {wrong!r} must be a number of at least 0, math.inf, or True "
            f"or False for neighbors, got {wrong!r}",
            QueryError,
        )
    refused(
        lambda: OwnDistance(lambda x, y: x / y).distance(1, 0),
        "the distance of 1 and 0 raised ZeroDivisionError: division by zero",
        QueryError,
    )


@pytest.mark.parametrize("name", ["L1", "L2", "Linf", "Linf_monotonic"])
def test_vectors_of_two_lengths_are_refused_or_infinitely_far_apart(name):
    metric = METRICS[name]
    forms = [metric.form([1]), metric.form([1, 2])]
    for measure in (lambda: metric.between(*forms), lambda: metric.among(forms)):
        refused(measure, "vectors must have one length, got 1 and 2 coordinates")
    assert metric.extended().between(*forms) == math.inf
    assert metric.extended().among(forms).truth(metric.extended().among(forms).row(0)[0]) == (
        math.inf
    )


@pytest.mark.parametrize("name", ["L1", "L2", "Linf", "Linf_monotonic", "absolute"])
def test_distances_beyond_64_bits_are_exact(name):
    metric = METRICS[name]
    numbers = (0, 1, 2**80) if name == "absolute" else ((0,), (1,), (2**80,))
    measured = metric.among([metric.form(item) for item in numbers])
    found = [measured.truth(entry) for k in range(3) for entry in measured.row(k)]
    assert [gap.exact for gap in found] == [
        Fraction(abs(a - b)) for a, b in itertools.combinations((0, 1, 2**80), 2)
    ]


def test_the_table_of_metrics_has_every_name():
    table = (ROOT / "docs" / "reference" / "tables.md").read_text("utf-8").split("## Metrics")[1]
    rows = [line.split("|")[1] for line in table.split("## ")[0].splitlines() if line[:1] == "|"]
    assert {name for row in rows for name in re.findall(r'`"(\w+)"`', row)} == set(METRICS)
