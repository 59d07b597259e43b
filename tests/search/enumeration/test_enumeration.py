"""The enumeration engine: what it adds to the contract, and its seams."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from fractions import Fraction
from itertools import combinations
from math import comb
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from checks import calls_of, refused_with
from hypothesis import given
from hypothesis import strategies as st
from strategies import QUERIES, RELATIONS, Asked, as_fractions, problems

import sensitivity_lab as sl
from sensitivity_lab.calls.sensitivity import conclude
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import DEFAULT_QUERIES, as_query
from sensitivity_lab.search import lattice
from sensitivity_lab.search.engine import Options
from sensitivity_lab.search.enumeration import core_pairs as finders
from sensitivity_lab.search.enumeration import evaluate as evaluation
from sensitivity_lab.search.enumeration import too_large
from sensitivity_lab.search.enumeration.global_max import Enumeration
from sensitivity_lab.search.enumeration.too_large import Levels
from sensitivity_lab.search.enumeration.vector_pairs import VectorFinder

RECORDS = [1, 2, 2, 2, 5, 5, 7, 8, 9, 9]

ALL_RELATIONS = tuple(
    relation(k, exactly, **parameters)
    for relation, parameters in RELATIONS.values()
    for k in (1, 2, 3)
    for exactly in (False, True)
)


def solve(universe, queries, relations, sizes, **options) -> list[list[sl.results.Sensitivity]]:
    """Solve several queries and relations in one search."""
    problem = Problem(universe, tuple(map(as_query, queries)), tuple(relations), tuple(sizes))
    found = Enumeration().plan(problem, Options(**options)).solve()
    return [
        [
            conclude(problem, query, relation, "enumeration", finding)
            for relation, finding in zip(problem.neighbors, findings, strict=True)
        ]
        for query, findings in zip(problem.queries, found, strict=True)
    ]


def tiny_constants() -> ExitStack:
    """Cut everything into the smallest pieces, so that every seam between pieces is crossed."""
    stack = ExitStack()
    for module, name, value in (
        (lattice, "TABLE", 96),
        (evaluation, "_BATCH_ROWS", 2),
        (evaluation, "_CHUNKS", 5),
        (finders, "_CORES_AT_ONCE", 3),
        (too_large, "_COLUMNS", 2),
    ):
        stack.enter_context(mock.patch.object(module, name, value))
    evaluation.lattice_of.cache_clear()
    stack.callback(evaluation.lattice_of.cache_clear)
    return stack


@pytest.mark.exhaustive
def test_many_queries_and_relations_in_one_search_are_as_one_by_one():
    universe = sl.Universe.from_dataset(RECORDS)
    together = solve(universe, DEFAULT_QUERIES, ALL_RELATIONS, [4])
    for name, results in zip(DEFAULT_QUERIES, together, strict=True):
        for relation, result in zip(ALL_RELATIONS, results, strict=True):
            alone = sl.global_sensitivity(
                universe, name, size=[4], neighbors=relation, method="enumeration"
            )
            assert result == alone
            result.verify()


@pytest.mark.exhaustive
@pytest.mark.parametrize("sizes", [[4], pytest.param([4, 5], marks=pytest.mark.exhaustive)])
def test_where_the_work_is_cut_makes_no_difference(sizes):
    universe = sl.Universe.from_dataset(RECORDS)
    whole = solve(universe, DEFAULT_QUERIES, ALL_RELATIONS, sizes)
    with tiny_constants():
        pieces = solve(universe, DEFAULT_QUERIES, ALL_RELATIONS, sizes)
    assert pieces == whole


@pytest.mark.parametrize("family", RELATIONS)
@given(data=st.data())
def test_pieces_agree_with_the_definition(family, data):
    asked = data.draw(problems(family, data.draw(st.booleans()), ["ties", "clusters"]))
    name = data.draw(st.sampled_from(["mean", "median", "sum", "var"]))
    with tiny_constants():
        result = sl.global_sensitivity(
            asked.universe,
            name,
            size=asked.size,
            neighbors=asked.relation,
            method="enumeration",
        )
    assert result.exact == asked.sensitivity(QUERIES[name][1])
    assert as_fractions(result.witness.y) in asked.neighbors(result.witness.x)


def test_little_memory_means_fewer_queries_at_a_time():
    universe = sl.Universe.from_dataset(RECORDS)
    plan = Levels(Problem(universe, (sl.Mean(),), (sl.Bounded(2),), (5,)))
    found = solve(
        universe,
        DEFAULT_QUERIES,
        [sl.Bounded(2)],
        [5],
        run=sl.Run(memory_limit=plan.bytes_per_query),
    )
    assert found == solve(universe, DEFAULT_QUERIES, [sl.Bounded(2)], [5])


@pytest.mark.parametrize("short_of", [0, 1])
def test_the_memory_limit_is_a_limit(short_of):
    universe = sl.Universe.from_dataset(RECORDS)
    plan = Levels(Problem(universe, (sl.Mean(),), (sl.Bounded(2),), (5,)))
    limit = plan.bytes_per_query - short_of
    ask = {
        "size": 5,
        "neighbors": sl.Bounded(2),
        "method": "enumeration",
        "run": sl.Run(memory_limit=limit),
    }
    if short_of:
        refused_with(
            lambda: sl.global_sensitivity(universe, "mean", **ask),
            "enumeration would evaluate 60 datasets",
            sl.errors.NoEngineError,
        )
    else:
        assert sl.global_sensitivity(universe, "mean", **ask).datasets_evaluated == 60


@pytest.mark.parametrize(
    ("relation", "sizes"),
    [
        (sl.Bounded(3), [6]),
        (sl.Unbounded(2), [4, 5, 6, 7, 8]),
        (sl.Unbounded(2, exactly=True), [4, 6, 8]),
        (sl.Unbounded(2, direction="remove"), [4, 5, 6]),
        (sl.SymmetricDifference(2), [4, 5, 6, 7, 8]),
        (sl.SymmetricDifference(2, exactly=True), [4, 6, 8]),
    ],
    ids=str,
)
def test_the_plan_counts_the_datasets_before_any_work(relation, sizes):
    universe = sl.Universe.from_dataset(range(12))
    plan = Levels(Problem(universe, (sl.Mean(),), (relation,), (6,)))
    assert plan.datasets == sum(comb(12, size) for size in sizes)
    result = sl.global_sensitivity(
        universe, "mean", size=6, neighbors=relation, method="enumeration"
    )
    assert result.datasets_evaluated == plan.datasets


@pytest.mark.exhaustive
@pytest.mark.parametrize("k", [2, 3])
def test_levels_too_large_for_tables(k):
    """C(16, 8) = 12870 datasets, by closed forms of the ends of 0..15."""
    universe = sl.Universe.from_dataset(range(16))
    relations = [sl.Bounded(k), sl.Bounded(k, exactly=True), sl.Unbounded(k, direction="add")]
    ((mean, mean_exactly, _), (total, total_exactly, added)) = solve(
        universe, ["mean", "sum"], relations, [8]
    )
    top, bottom = sum(range(16 - k, 16)), sum(range(k))
    assert mean.exact * 8 == mean_exactly.exact * 8 == top - bottom
    assert total.exact == total_exactly.exact == top - bottom
    assert added.exact == top


def test_a_large_domain_with_unlimited_copies():
    """8 values, size 8: 6435 datasets."""
    universe = sl.Universe.from_domain(range(8))
    for query, expected in (("mean", 7 / 8), ("var", 49 * 7 / 64), ("median", 3.5)):
        result = sl.global_sensitivity(
            universe, query, size=8, neighbors="bounded", method="enumeration"
        )
        assert result.value == expected
        assert result.datasets_evaluated == comb(15, 8)


def test_exactly_k_replaced_needs_more_copies_than_a_dataset_holds():
    """x = (0, 0, 0) and y = (0, 0, 1) are 2 apart: C = (0), A = (0, 0), B = (0, 1)."""
    answers = {0: 0.0, 1: 1.0, 2: 0.5, 3: 0.5}
    for universe in (sl.Universe.from_domain([0, 1]), sl.Universe([0, 1], [4, 3])):
        result = sl.global_sensitivity(
            universe,
            lambda x: answers[int(x.sum())],
            size=3,
            neighbors=sl.Bounded(2, exactly=True),
        )
        assert result.value == 1.0
        result.verify()
    # With 3 records of value 0, A and B would share one of them.
    result = sl.global_sensitivity(
        sl.Universe([0, 1], [3, 3]),
        lambda x: answers[int(x.sum())],
        size=3,
        neighbors=sl.Bounded(2, exactly=True),
    )
    assert result.value == 0.5


def test_exactly_is_not_at_most():
    """With every record replaced, y is what x leaves."""
    universe = sl.Universe.from_dataset([0, 1, 2, 10])
    weights = {(0, 1): 5.0, (0, 2): 0.0, (1, 2): 1.0, (0, 10): 1.0, (1, 10): 1.0, (2, 10): 4.0}
    query = lambda x: weights[tuple(x.tolist())]  # noqa: E731
    at_most = sl.global_sensitivity(universe, query, size=2, neighbors=sl.Bounded(2))
    exactly = sl.global_sensitivity(universe, query, size=2, neighbors=sl.Bounded(2, exactly=True))
    assert at_most.value == 5.0
    assert exactly.value == 1.0


@pytest.mark.exhaustive
def test_several_sizes_are_their_maximum():
    universe = sl.Universe.from_dataset(RECORDS)
    apart = [
        sl.global_sensitivity(universe, np.std, size=size, neighbors=sl.Unbounded(1)).value
        for size in (3, 5, 7)
    ]
    together = sl.global_sensitivity(universe, np.std, size=[7, 3, 5, 3], neighbors=sl.Unbounded(1))
    assert together.value == max(apart)
    assert together.size == (3, 5, 7)
    asked = Asked(universe, sl.Unbounded(1), [3, 5, 7])
    assert as_fractions(together.witness.y) in asked.neighbors(together.witness.x)


def test_rows_are_sorted_and_typed_as_the_universe():
    seen = []

    def function(x):
        seen.append((x.dtype.kind, tuple(x.tolist())))
        return 0.0

    sl.global_sensitivity(
        sl.Universe.from_dataset([3, 1, 2]),
        sl.from_function(function, order="sorted"),
        size=2,
        neighbors="bounded",
    )
    # The sample that is asked for again is all of them here.
    assert sorted(set(seen)) == [("i", pair) for pair in combinations([1, 2, 3], 2)]


def test_all_records_but_one():
    """67 datasets: each lacks one of the records 0..66, so sums differ by at most 66."""
    universe = sl.Universe.from_dataset(range(67))
    for relation in (sl.Bounded(1), sl.Bounded(1, exactly=True)):
        result = sl.global_sensitivity(
            universe, lambda x: int(x.sum()), size=66, neighbors=relation
        )
        assert result.value == 66
        assert result.datasets_evaluated == 67
        result.verify()


@pytest.mark.exhaustive
def test_all_rows_but_one():
    """80 rows; the covariance is that of the definition, over the 80 datasets of 79."""
    rows = [(float(i), float(i * i % 83)) for i in range(80)]
    universe = sl.TableUniverse.from_dataset(pd.DataFrame(rows, columns=["a", "b"]))
    result = sl.global_sensitivity(
        universe, sl.Covariance("a", "b"), size=79, neighbors=sl.Bounded(1)
    )

    def covariance(left_out):
        kept = [tuple(map(Fraction, row)) for place, row in enumerate(rows) if place != left_out]
        sums = [sum(column) for column in zip(*kept, strict=True)]
        return Fraction(sum(a * b for a, b in kept), 79) - sums[0] * sums[1] / 79**2

    answers = [covariance(left_out) for left_out in range(80)]
    assert result.exact == max(answers) - min(answers)


@pytest.mark.exhaustive
def test_two_values_and_many_records():
    universe = sl.Universe.from_domain([0, 1])
    result = sl.global_sensitivity(
        universe, lambda x: int(x.sum()) ** 2, size=1000, neighbors=sl.Bounded(1)
    )
    assert result.value == 1000**2 - 999**2
    assert result.datasets_evaluated == 1001


@pytest.mark.exhaustive
def test_pairs_of_many_values_are_not_cubic():
    """Over a core of one record are all values: the pair takes the ends. Few steps of Python."""
    universe = sl.Universe.from_dataset(range(600))
    span = sl.from_function(lambda rows: rows[:, 1] * 1.0, vectorized=True)
    calls = calls_of(lambda: sl.global_sensitivity(universe, span, size=2, neighbors=sl.Bounded(1)))
    assert calls.result.value == 598
    assert calls.result.datasets_evaluated == comb(600, 2)
    # A few hundred calls of Python or C per value; 600**2 are 360,000.
    assert calls.number < 120_000


@pytest.mark.parametrize("norm", ["L1", "L2", "Linf"])
def test_few_pairs_of_vectors_are_compared_exactly(norm):
    """Of 33,264 pairs of datasets those that rounding leaves open, as the furthest do in L1."""
    universe = sl.Universe.from_dataset(np.random.default_rng(1).normal(size=12))
    query = sl.from_function(lambda rows: rows[:, :3] / 3, vectorized=True)
    pairs = mock.Mock(side_effect=VectorFinder.pair_of)
    with mock.patch.object(VectorFinder, "pair_of", lambda *of: pairs(*of)):
        sl.global_sensitivity(universe, query, size=6, neighbors="bounded", norm=norm)
    assert 1 <= pairs.call_count <= 200


def test_answers_of_one_size_are_whole_and_of_the_other_are_not():
    """Both distances round to 2**50; whole answers alone would need no exact comparison."""
    answers = {(0, 1): (2**50, 0.05), (2, 3): (2**50, 0.1)}
    query = sl.from_function(lambda x: np.array(answers.get(tuple(sorted(x.tolist())), (0, 0.0))))
    result = sl.global_sensitivity(
        sl.Universe.from_dataset(range(4)), query, size=2, neighbors=sl.Unbounded(1)
    )
    assert result.witness.x == (2, 3)


@pytest.mark.skipif(sys.platform == "wasi", reason="WebAssembly has no interval timers")
def test_a_vectorized_function_is_asked_of_many_datasets_at_once_under_a_timeout_too():
    """Of 924 datasets, in batches, and of some alone to compare: not of each by itself."""
    asked = []

    def total(rows):
        asked.append(len(rows))
        return rows.sum(axis=1)

    query = sl.from_function(total, vectorized=True, order="sorted")
    universe, limits = sl.Universe.from_dataset(range(12)), sl.Run(timeout=60)
    sl.global_sensitivity(universe, query, size=6, neighbors="bounded", run=limits)
    assert max(asked) > 100
    assert len(asked) < 100
