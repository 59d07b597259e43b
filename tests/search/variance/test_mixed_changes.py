"""Variance and standard deviation where some records are removed and another number added."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import oracle
import pytest
from checks import check_value
from hypothesis import example, given
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab.search.layouts import Shape
from sensitivity_lab.search.variance import branch, curve
from sensitivity_lab.search.variance import words as word_search
from sensitivity_lab.search.variance.comparing import Spread
from sensitivity_lab.search.variance.curve import family_of
from sensitivity_lab.search.variance.float_prefix_sums import SortedRecords
from sensitivity_lab.search.variance.patterns import PatternSearch
from sensitivity_lab.search.variance.words import any_at_ends, core_at_ends

RELATIONS = {"symmetric_difference": sl.SymmetricDifference, "edit": sl.Edit}

FEW = [0, 1, 2, 30, 31, 100]

POOLS = [
    st.sampled_from(FEW),
    st.integers(-9, 9),
    st.integers(-9, 9).map(lambda number: number**3),
    st.builds(lambda center, by: center + by, st.sampled_from([-99, 0, 99]), st.integers(-3, 3)),
]


@st.composite
def problems(draw):
    """A small universe, a query and a relation; offsets, ties, clusters, few records kept."""
    records = draw(st.one_of([st.lists(pool, min_size=4, max_size=7) for pool in POOLS]))
    offset, name = draw(st.sampled_from([0, 10**9])), draw(st.sampled_from([*RELATIONS]))
    size, k = draw(st.integers(2, len(records) - 1)), draw(st.integers(2, 4))
    query = draw(st.sampled_from(["var", "std"])), draw(st.sampled_from([0, 1]))
    return [offset + record for record in records], size, query, name, k, draw(st.booleans())


WAYS = {
    "all are left": [],
    "bisection": [(word_search, "FEW", 0)],
    "bounds": [(word_search, "FEW", 0), (branch, "FEW", 0), (branch, "START", 1)],
}


def searched(problem):
    """The result, or None if the relation is not feasible, or a root is not proved."""
    records, size, query, name, k, exactly = problem
    refused = "undefined|not proved" if query[0] == "std" else "undefined"
    try:
        return sl.global_sensitivity(
            sl.Universe.from_dataset(records),
            (sl.Std if query[0] == "std" else sl.Var)(query[1]),
            size=size,
            neighbors=RELATIONS[name](k, exactly=exactly),
            method="variance",
        )
    except sl.errors.InputError:
        return None
    except sl.errors.NoEngineError as error:
        if re.search(refused, str(error)):
            return None
        raise


@pytest.mark.exhaustive
@pytest.mark.representative("way")
@pytest.mark.parametrize("way", WAYS)
@given(problem=problems())
@example(problem=([0, 0, 0, 1, 1, 50], 3, ("var", 0), "symmetric_difference", 3, True))
@example(problem=([-1, -1, 0, 0, 1, 1], 3, ("var", 1), "edit", 2, True))
def test_mixed_changes_against_the_definition(way, problem):
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in WAYS[way]:
            patch.setattr(module, name, value)
        result = searched(problem)
    if result is not None:
        records, size, query, name, k, exactly = problem
        expected, _ = oracle.global_sensitivity(records, size, query, name, k, exactly=exactly)
        check_value(result, expected)
        result.verify()


def records_of(values: list[int]) -> SortedRecords:
    middle, distinct = sorted(values)[len(values) // 2], sorted(set(values))
    centered = np.array([value - middle for value in distinct], dtype=object)
    return SortedRecords(centered, [values.count(value) for value in distinct])


def read(search: PatternSearch, total: int) -> str:
    """The label of each record."""
    labels = ["O"] * total
    for label in "ABC":
        for start, stop in search.best.ranges(label):
            labels[start:stop] = label * (stop - start)
    return "".join(labels)


ROWS = [82, 86, 117, 258, 779, 1626, 1657, 1938, 1992, 2357, 2360, 14408]
"""The optimum has a record of A between the core and a record outside both datasets."""


@pytest.mark.parametrize("few", [0, 2048])
@pytest.mark.parametrize("turned", [False, True])
def test_o_may_lie_between_two_records_of_a(few, turned, monkeypatch):
    monkeypatch.setattr(word_search, "FEW", few)
    values, shape = [-row for row in ROWS] if turned else ROWS, Shape(6, 2, 3, 12)
    search = PatternSearch(records_of(values), Spread(Fraction(0), root=False), any_at_ends(shape))
    core_at_ends(search, shape)
    word = read(search, 12)
    assert (word[::-1] if turned else word) == "CCCCCCBBBAOA"
    # Of x = C + A and y = C + B, from the definition.
    x, y = (
        [row for row, label in zip(ROWS, "CCCCCCBBBAOA", strict=True) if label in own]
        for own in ("CA", "CB")
    )
    expected = oracle.evaluate(("var", 0), x) - oracle.evaluate(("var", 0), y)
    assert search.value.bracket()[0] <= expected <= search.value.bracket()[1]


@pytest.mark.exhaustive
def test_that_pair_is_the_worst_of_all():
    relation = sl.SymmetricDifference(5, exactly=True)
    universe = sl.Universe.from_dataset(ROWS)
    result = sl.global_sensitivity(universe, "var", size=8, neighbors=relation, method="variance")
    listed = sl.global_sensitivity(
        universe, "var", size=8, neighbors=relation, method="enumeration"
    )
    assert result.exact == listed.exact


def two_clusters(number: int) -> list[float]:
    draw = np.random.default_rng(0)
    return (draw.choice([-1, 1], number) + draw.normal(size=number) / 100).tolist()


def test_a_root_without_a_proof_is_refused_with_the_reason():
    with pytest.raises(sl.errors.NoEngineError) as caught:
        sl.global_sensitivity(
            sl.Universe.from_dataset(two_clusters(60)),
            "std",
            size=55,
            neighbors=sl.SymmetricDifference(3, exactly=True),
            method="variance",
        )
    assert str(caught.value) == (
        "no engine accepts std here: variance does not cover std, symmetric difference, exactly 3: "
        "not proved for 1 record of one dataset and 2 of the other, where the smaller dataset may "
        "have the larger standard deviation; ask for var, or choose a smaller universe, which can "
        "be enumerated"
    )


def test_a_root_without_a_proof_is_enumerated_where_few_records_are():
    records = [-(7**6), -(7**5), -(7**4), -49, -7, -7, 7**5, 7**7]
    universe, relation = sl.Universe.from_dataset(records), sl.Edit(5, exactly=True)
    one, other = (
        sl.global_sensitivity(universe, query, size=6, neighbors=relation)
        for query in ("std", "var")
    )
    assert (one.method, other.method) == ("enumeration", "variance")
    one.verify()


def test_the_best_pair_whose_larger_set_is_more_spread_may_be_proof_enough():
    universe = sl.Universe.from_dataset([*range(-106, -99), *range(100, 107)])
    relation = sl.SymmetricDifference(3, exactly=True)
    found, listed = (
        sl.global_sensitivity(universe, "std", size=12, neighbors=relation, method=method)
        for method in ("variance", "enumeration")
    )
    assert found.upper == listed.upper


@pytest.mark.parametrize("query", ["var", "std"])
def test_a_bound_leaves_out_what_the_smaller_set_reaches(query, monkeypatch):
    """Of a large universe, only pairs whose larger set is more spread are looked at."""
    asked = []
    monkeypatch.setattr(curve, "core_at_ends", lambda *of: asked.append(of))
    records = np.random.default_rng(1).lognormal(size=5_000)
    result = sl.global_sensitivity(
        sl.Universe.from_dataset(records),
        query,
        size=2_500,
        neighbors=sl.SymmetricDifference(4),
        method="variance",
    )
    result.verify()
    assert not asked


@pytest.mark.exhaustive
def test_what_skips_the_smaller_set_is_a_bound():
    """No pair whose smaller set is more spread reaches more than `most` says."""
    draw, close = np.random.default_rng(3), 0
    for trial in range(60):
        values = np.sort(draw.integers(-99, 99, 9) ** draw.choice([1, 3])).tolist()
        core, of_a = int(draw.integers(1, 5)), int(draw.integers(0, 3))
        root = bool(trial % 2)
        shape, spread = Shape(core, 0 if root else of_a, of_a + 1, 9), Spread(Fraction(0), root)
        if core + 2 * of_a + 1 > 9:
            continue
        records = records_of(values)
        search = PatternSearch(records, spread, any_at_ends(shape))
        core_at_ends(search, shape)
        larger = Shape(core, shape.only_y, shape.only_x, 9)
        most = family_of(records, (larger,), (spread,)).most[0][0]
        assert search.floor() <= most or shape.of_x == 1
        close += search.floor() > most / 2
    assert close


def test_the_bound_of_the_root_counts_pairs_of_earlier_shapes():
    records = records_of([round(1000 * record) for record in two_clusters(60)])
    spread, shape = (Spread(Fraction(0), root=True),), Shape(54, 2, 1, 60)
    assert family_of(records, (shape,), spread).unproved(0) == shape
    # Another shape, at the same level, reaches more.
    assert family_of(records, (Shape(15, 40, 0, 60), shape), spread, (0, 0)).unproved(0) is None
    assert family_of(records, (Shape(15, 40, 0, 60), shape), spread).unproved(0) == shape
    # Without a core, or records outside both, there is nothing to exclude.
    assert family_of(records, (Shape(57, 2, 1, 60),), spread).unproved(0) is None
    assert family_of(records, (Shape(0, 2, 1, 60),), spread).unproved(0) is None


@pytest.mark.parametrize("query", ["std", "var"])
def test_records_of_very_different_sizes(query):
    """Integers in the unit of the smallest record exceed the range of floats."""
    universe = sl.Universe.from_dataset([0.0, 0.0, 0.0, 0.0, 1.0, 1.4272652227082345e-294])
    found, listed = (
        sl.global_sensitivity(universe, query, size=4, neighbors=sl.Edit(2), method=method)
        for method in ("variance", "enumeration")
    )
    assert found.value == listed.value
