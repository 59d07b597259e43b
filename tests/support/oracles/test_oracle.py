"""The oracle against NumPy, the definition done slowly, and published values."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product
from math import isclose

import numpy as np
import oracle
import pytest
from oracle import evaluate, global_sensitivity, local_sensitivity, pairs

F = Fraction
YEARS, DAYS = [1, 2, 3, 4], [1, 2, 3, 10]  # Lee and Clifton's two universes


@pytest.mark.parametrize(
    "sizes",
    [
        (2, 5),
        pytest.param((1, 3, 4, 9), marks=pytest.mark.exhaustive),
        pytest.param(range(5, 26), marks=pytest.mark.stress),
    ],
    ids=["two sizes", "a few sizes", "all sizes"],
)
@pytest.mark.parametrize("method", oracle.METHODS)
def test_percentile_is_numpys(method, sizes):
    """At every q, unless NumPy's own rounding of q/100 decides on which side of a jump it falls.

    Where q/100 is a dyadic fraction NumPy's positions are exact, and nothing is left out.
    """
    if method == "closest_observation" and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("before 2.0 NumPy took a half to the odd rank, not to the even one")
    rng = np.random.default_rng(20240601)
    for n in sizes:
        data = [int(v) for v in rng.choice(1000, size=n, replace=False)]
        for q in [*range(101), 0.5, 12.5, 37.5, 62.5, 87.5, 99.9]:
            value = float(np.percentile(data, q, method=method))
            expected = evaluate(("percentile", q, method), data)
            around = [
                evaluate(("percentile", min(max(F(q) + step, F(0)), F(100)), method), data)
                for step in (F(-1, 10**10), F(1, 10**10))
            ]
            jumps = abs(around[0] - around[1]) > F(1, 1000)
            if jumps and F(q) / 100 != F(q / 100):  # else q/100 is a float, with few bits
                assert any(isclose(value, v, abs_tol=1e-6) for v in (expected, *around))
            else:
                assert isclose(value, expected, rel_tol=1e-12, abs_tol=1e-9), (n, q)


@pytest.mark.parametrize(
    ("method", "at_quarter", "at_half"),
    [
        ("inverted_cdf", 10, 20),
        ("averaged_inverted_cdf", 15, 30),
        ("closest_observation", 10, 20),
        ("interpolated_inverted_cdf", 10, 20),
        ("hazen", 15, 30),
        ("weibull", F(25, 2), 30),
        ("linear", F(35, 2), 30),
        ("median_unbiased", F(85, 6), 30),
        ("normal_unbiased", F(115, 8), 30),
        ("lower", 10, 20),
        ("higher", 20, 40),
        ("midpoint", 15, 30),
        ("nearest", 20, 40),
    ],
)
def test_percentile_by_hand(method, at_quarter, at_half):
    data = [80, 10, 40, 20]
    assert evaluate(("percentile", 25, method), data) == at_quarter
    assert evaluate(("percentile", 50, method), data) == at_half
    assert evaluate(("percentile", 0, method), data) == 10
    assert evaluate(("percentile", 100, method), data) == 80


def test_other_queries_by_hand():
    data = [F(1, 2), 4, 1.5, Decimal("2")]
    names = ("mean", "median", "sum", "count", "min", "max")
    assert [evaluate((name,), data) for name in names] == [2, F(7, 4), 8, 4, F(1, 2), 4]
    assert evaluate(("var", 0), data) == F(13, 8)
    assert evaluate(("var", 1), data) == F(13, 6)
    assert evaluate(("sum",), [0.1, 0.2]) == F(0.1) + F(0.2) != F(0.1 + 0.2)


@pytest.mark.parametrize(
    ("query", "records"),
    [(("mean",), []), (("var", 1), [3]), (("mode",), [3]), (("std", 0), [3])]
    + [(("percentile", q, method), [3]) for q, method in ((101, "linear"), (50, "cubic"))],
)
def test_undefined_queries_are_errors(query, records):
    with pytest.raises(ValueError, match=r"undefined|between 0 and 100|no percentile|no rational"):
        evaluate(query, records)


def test_root_difference_does_not_cancel():
    """sqrt(a^2 + 2 a e + e^2) - a is e, here forty digits below a."""
    a, e = F(10) ** 20, F(1, 3 * 10**20)
    found = oracle.root_difference((a + e) ** 2, a**2)
    assert abs(F(found) / e - 1) < F(1, 10**58)
    assert oracle.root_difference(F(2), F(2)) == 0
    assert str(oracle.root_difference(F(2), F(0))).startswith(
        "1.41421356237309504880168872420969807"
    )


def labeled_pairs(universe, n, relation, k, exactly):
    """The definition with no shortcut: all pairs of sets of positions, by how they differ."""
    labels = range(len(universe))
    subsets = [set(s) for size in range(len(universe) + 1) for s in combinations(labels, size)]
    for x, y in product(subsets, subsets):
        removed, added = len(x - y), len(y - x)
        distance = {
            "bounded": removed if removed == added else 0,
            "unbounded": removed + added if not removed or not added else 0,
            "symmetric_difference": removed + added,
            "edit": max(removed, added),
        }[relation]
        if len(x) == n and (distance == k or (not exactly and 1 <= distance <= k)):
            yield tuple(sorted(universe[i] for i in x)), tuple(sorted(universe[i] for i in y))


@pytest.mark.representative("relation")
@pytest.mark.parametrize("universe", [[1, 2, 3, 4, 5], [1, 1, 2, 2, 3], [7, 7, 7, 7]])
@pytest.mark.parametrize("relation", ["bounded", "unbounded", "symmetric_difference", "edit"])
@pytest.mark.parametrize("exactly", [False, True])
def test_pairs_are_the_labeled_pairs(universe, relation, exactly):
    for n, k in product(range(len(universe) + 1), range(1, 6)):
        found = list(pairs(universe, n, relation, k, exactly))
        assert len(found) == len(set(found))
        assert set(found) == set(labeled_pairs(universe, n, relation, k, exactly))


def test_direction_splits_the_unbounded_relation():
    for exactly in (False, True):
        both = set(pairs(DAYS, 2, "unbounded", 2, exactly))
        add, remove = (
            set(pairs(DAYS, 2, "unbounded", 2, exactly, direction=d)) for d in ("add", "remove")
        )
        assert both == add | remove
        assert all(len(y) > 2 for _, y in add)
        assert {len(y) for _, y in remove} == ({0} if exactly else {0, 1})


def test_a_record_replaced_by_an_equal_one_is_a_neighbor():
    assert global_sensitivity([2, 2], 1, ("mean",), "bounded", 1) == (0, ((2,), (2,)))


@pytest.mark.parametrize(
    "arguments",
    [
        (4, ("mean",), "bounded", 1),  # nothing to replace a record by
        (1, ("mean",), "unbounded", 1, True, "remove"),  # nothing would be left
        (4, ("mean",), "unbounded", 1, False, "add"),
        (3, ("mean",), "bounded", 2, True),
        (5, ("mean",), "unbounded", 1),
        (0, ("mean",), "unbounded", 1),
    ],
)
def test_no_pair_is_an_error(arguments):
    with pytest.raises(ValueError, match="no pair"):
        global_sensitivity(YEARS, *arguments)


def test_wrong_relations_are_errors():
    for arguments in [("hamming", 1), ("bounded", 1, False, "add"), ("bounded", 0)]:
        with pytest.raises(ValueError, match=r"no neighbor relation|distance"):
            global_sensitivity(YEARS, 2, ("mean",), *arguments)
    with pytest.raises(ValueError, match="not in list"):
        local_sensitivity(YEARS, (1, 1), ("mean",), "bounded", 1)


def test_functions_are_compared_as_they_answer():
    found = global_sensitivity(DAYS, 3, lambda x: max(x) - min(x), "unbounded", 1)
    assert found == (9.0 - 1.0, ((1, 2, 10), (1, 2)))
    with pytest.raises(ValueError, match="no answer"):
        global_sensitivity(DAYS, 3, lambda _: float("nan"), "unbounded", 1)
