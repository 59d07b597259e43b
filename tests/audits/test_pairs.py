"""Distances between datasets or answers, and the worst pair of an audit."""

from __future__ import annotations

import itertools
import math
import sys
from collections import Counter
from fractions import Fraction

import naive_distances as naive
import pytest
from checks import refused
from hypothesis import example, given
from hypothesis import strategies as st

from sensitivity_lab.audits import audit_opendp, pairs
from sensitivity_lab.audits import question as vectors
from sensitivity_lab.audits.pairs import Answered, check_compared, distances, worst_pairs
from sensitivity_lab.errors import InputError, MissingExtraError, QueryError, TooLargeError
from sensitivity_lab.metrics import METRICS

NAN = float("nan")
SEQUENCES = st.lists(st.lists(st.integers(0, 2), max_size=4), min_size=2, max_size=8)
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.integers(-(2**70), 2**70),
    st.floats(-10, 10),
    st.sampled_from([1e300, 1e-300, 1e9 + 0.5, 0.1, Fraction(1, 3), True]),
)
VECTORS = st.integers(0, 3).flatmap(
    lambda n: st.lists(st.lists(NUMBERS, min_size=n, max_size=n), min_size=2, max_size=6)
)
MAPPINGS = st.lists(
    st.dictionaries(st.sampled_from("abc"), NUMBERS, max_size=3), min_size=2, max_size=6
)


def matrix(metric, items):
    """Every entry of every row as a real number."""
    measured = distances(METRICS[metric], items)
    return [measured.truth(entry) for k in range(len(items)) for entry in measured.row(k).tolist()]


@pytest.mark.parametrize("metric", ["L0", "L1", "Linf", "Linf_monotonic"])
@given(items=st.one_of(VECTORS, MAPPINGS))
@example(items=[{"a": 2**63}, {"b": -(2**63)}])
def test_distances_between_vectors_are_exact(metric, items):
    expected = [naive.DISTANCE[metric](a, b) for a, b in itertools.combinations(items, 2)]
    assert [gap.exact for gap in matrix(metric, items)] == expected


def test_vectors_of_unequal_length_have_no_distance():
    refused(
        lambda: distances(METRICS["L1"], [[1], [1, 2]]),
        "answers with 1 and with 2 entries have no distance",
        QueryError,
    )


@given(answers=st.lists(st.integers(-5, 5), min_size=8, max_size=8))
def test_the_pair_is_one_with_the_answers_farthest_apart(answers):
    datasets = [list(x) for x in itertools.product([0, 1], repeat=3)]
    items = list(zip(datasets, answers, strict=True))
    found = worst_pairs(
        [Answered(*item) for item in items], METRICS["change_one"], METRICS["absolute"], [1]
    ).farthest[1]
    assert found.truth.exact == max(
        abs(p - q)
        for (x, p), (y, q) in itertools.combinations(items, 2)
        if naive.change_one(x, y) <= 1
    )
    x, y = found.evidence.x, found.evidence.y
    assert naive.change_one(x, y) <= 1
    assert abs(answers[datasets.index(x)] - answers[datasets.index(y)]) == found.truth.exact
    assert datasets.index(x) < datasets.index(y)


@pytest.mark.exhaustive
def test_each_row_of_distances_is_made_once(monkeypatch):
    made = []
    kind = type(distances(METRICS["symmetric"], [[0]]))
    row = kind.row
    monkeypatch.setattr(kind, "row", lambda self, k: made.append(k) or row(self, k))
    answered = [Answered([0] * size, size) for size in range(1000)]
    worst_pairs(answered, METRICS["symmetric"], METRICS["absolute"], [1])
    assert made == list(range(999))


def test_datasets_without_close_others_are_paired_with_themselves():
    found = worst_pairs(
        [Answered([0], 3), Answered([1], 5)], METRICS["change_one"], METRICS["absolute"], [0]
    ).farthest
    assert found[0].truth.exact == 0
    assert found[0].evidence.x == found[0].evidence.y == [0]


def test_orders_of_the_same_records_are_compared_once(monkeypatch):
    """27 vectors have 10 multisets, and so at most 45 pairs when order makes no difference."""
    datasets = [list(x) for x in itertools.product(range(3), repeat=3)]
    answered = [Answered(x, sorted(Counter(x).values())[:1]) for x in datasets]
    monkeypatch.setattr(pairs, "PAIR_LIMIT", 45)
    assert (
        worst_pairs(answered, METRICS["symmetric"], METRICS["L1"], [2]).farthest[2].truth.exact == 2
    )
    monkeypatch.setattr(pairs, "PAIR_LIMIT", 44)
    refused(
        lambda: worst_pairs(answered, METRICS["symmetric"], METRICS["L1"], [2]),
        "10 datasets with answers of their own make 45 pairs, more than the 44 that are compared; "
        "take fewer values or smaller sizes",
        TooLargeError,
    )


@pytest.mark.parametrize("metric", ["hamming", "L1"])
def test_answers_of_different_sizes_are_infinitely_far_apart(metric):
    answered = [Answered([0], [1]), Answered([1], [])]
    found = worst_pairs(answered, METRICS["change_one"], METRICS[metric], [1])
    assert found.farthest[1].truth == math.inf


def test_every_metric_is_tested():
    assert set(METRICS) == set(naive.DISTANCE) | {"L2"}


@pytest.mark.parametrize("every_order", [True, False])
def test_vectors_are_counted_before_they_are_made(monkeypatch, every_order):
    number = len(vectors.vectors((0, 1, 2), (0, 1, 3), every_order))
    monkeypatch.setattr(vectors, "VECTOR_LIMIT", number)
    assert number == (31 if every_order else 14)
    assert len(vectors.vectors((0, 1, 2), (0, 1, 3), every_order)) == number
    monkeypatch.setattr(vectors, "VECTOR_LIMIT", number - 1)
    with pytest.raises(TooLargeError) as caught:
        vectors.vectors((0, 1, 2), (0, 1, 3), every_order)
    ways = " or every_order=False" if every_order else ""
    assert str(caught.value) == (
        f"3 values make {number} vectors of sizes 0 to 3, more than the {number - 1} that are "
        f"tried; take fewer values, smaller sizes{ways}"
    )


@pytest.mark.parametrize("values", [[], "ab", 3])
def test_a_universe_needs_values(values):
    with pytest.raises(InputError) as caught:
        vectors.check_values(values)
    way_out = "; pass a list of values, such as ['a', 'b']" if values == "ab" else ""
    assert str(caught.value) == (
        f"universe must be the entries that datasets are made of, at least one, got {values!r}"
        f"{way_out}"
    )


def test_values_are_taken_once_but_types_are_kept():
    assert vectors.check_values([1, 1, 1.0, -0.0, 0.0, None]) == (1, 1.0, -0.0, 0.0, None)


def test_sizes_are_whole_numbers():
    assert vectors.check_several("size", [3, 1, 3], "a size, at least 0") == (1, 3)
    refused(
        lambda: vectors.check_several("size", [], "a size, at least 0"),
        "size must be a whole number or several of them, got none",
    )
    refused(
        lambda: vectors.check_several("size", -1, "a size, at least 0"),
        "size must be a whole number (a size, at least 0), got -1, below 0",
    )


def test_without_opendp_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.mod", None)
    refused(
        lambda: audit_opendp(None, [0], 1),
        "audit_opendp needs OpenDP; install the extra: pip install '.[opendp]' in a checkout",
        MissingExtraError,
    )


@pytest.mark.parametrize("outputs", ["absolute", "discrete"])
def test_limits_at_which_nothing_is_compared_are_told(outputs):
    def alone(*datasets, limits):
        answered = [Answered(x, n) for n, x in enumerate(datasets)]
        found = worst_pairs(answered, METRICS["symmetric"], METRICS[outputs], limits)
        assert set(found.farthest) == set(limits)
        return found.alone

    for far in ([(0, 1), (1, 0), (1, 1)], [(0,)]):
        assert alone(*far, limits=[0, 1]) == [1]
        assert alone(*far, limits=[0]) == []
        with pytest.raises(
            InputError, match=r"no two datasets of size . are neighbors at distance"
        ):
            check_compared([1], far, METRICS["symmetric"])
    assert alone((0, 1), (1, 0), (1,), limits=[1]) == []
    check_compared([], [(0,)], METRICS["symmetric"])
