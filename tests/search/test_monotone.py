"""Monotone queries: weights as runs of ranks, against the definition and against `ranks`."""

from __future__ import annotations

import random
from fractions import Fraction
from unittest import mock

import numpy as np
import oracle
import pandas as pd
import pytest
from checks import refused
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import RELATIONS, as_fractions, problems

import sensitivity_lab as sl
from sensitivity_lab.problem import LocalProblem, Problem
from sensitivity_lab.search.crossing import Crossing
from sensitivity_lab.search.engine import Options, Plan
from sensitivity_lab.search.layouts import SortedArray, SortedMultiset
from sensitivity_lab.search.monotone import global_max, local_max
from sensitivity_lab.universes.relations import repeated

MOST = 14
"""No dataset of these problems has more records."""


def trimmed(q):
    """Weights of a trimmed mean, by its definition."""

    def weights(n):
        cut = int(q * n)
        return [Fraction(cut <= rank < n - cut, n - 2 * cut) for rank in range(n)]

    return weights


def winsorized(q):
    """Weights of a winsorized mean: what a record counts that is moved to the nearest one kept."""

    def weights(n):
        cut = int(q * n)
        places = [min(max(rank, cut), n - cut - 1) for rank in range(n)]
        return [Fraction(places.count(rank), n) for rank in range(n)]

    return weights


def midrange(n):
    return [Fraction((rank == 0) + (rank == n - 1), 2) for rank in range(n)]


BY_RANK = [
    *((sl.TrimmedMean(q), trimmed(q)) for q in (Fraction(1, 3), Fraction(1, 4), Fraction(2, 5))),
    *((sl.WinsorizedMean(q), winsorized(q)) for q in (Fraction(1, 3), Fraction(2, 5))),
    (sl.Midrange(), midrange),
    (sl.Mean(), trimmed(Fraction(0))),
]
"""Our query, and the weights of its definition."""


@st.composite
def l_statistics(draw):
    """A query with weights of a few runs, not negative, and these weights."""
    some = st.lists(st.sampled_from([0, 0, 1, 1, 2, 5]), min_size=MOST, max_size=MOST)
    table = {n: [Fraction(one, n) for one in draw(some)[:n]] for n in range(1, MOST + 1)}
    if draw(st.booleans()):
        table = {n: sorted(weights) for n, weights in table.items()}
    return sl.LStatistic(table.__getitem__), table.__getitem__


queries = st.one_of(st.sampled_from(BY_RANK), l_statistics())

each_relation = pytest.mark.parametrize("family", RELATIONS)
each_meaning = pytest.mark.parametrize("exactly", [False, True])


def answer(weights, dataset) -> Fraction:
    return sum(map(Fraction.__mul__, weights(len(dataset)), sorted(dataset)), Fraction(0))


def cross_once(weights, size, removed, added) -> bool:
    """Whether negative net weights precede positive ones, for both signs of the difference."""
    x, y = weights(size), weights(size - removed + added)
    found = []
    for upper, lower, moved in ((x, y, added), (y, x, removed)):
        core = range(size - removed)
        net = [upper[rank] - lower[rank + moved] for rank in core]
        found.append(not any(a > 0 > b for at, a in enumerate(net) for b in net[at + 1 :]))
    return all(found)


@each_relation
@each_meaning
@pytest.mark.representative("family")
@given(data=st.data())
def test_all_pairs_by_definition_and_by_rank(family, exactly, data):
    asked = data.draw(problems(family, exactly))
    query, weights = data.draw(queries)
    assume(max(asked.sizes) + asked.relation.k <= MOST)
    problem = Problem(asked.universe, (query,), (asked.relation,), tuple(set(asked.sizes)))
    changes = problem.changes(asked.relation)
    plan = global_max.Monotone().plan(problem, Options())
    assert isinstance(plan, Plan) == all(cross_once(weights, n, *change) for n, change in changes)
    if not isinstance(plan, Plan):
        return
    options = {"size": asked.size, "neighbors": asked.relation}
    with mock.patch.object(global_max, "_PIECES", data.draw(st.sampled_from([1, 1 << 14]))):
        found = sl.global_sensitivity(asked.universe, query, method="monotone", **options)
    x, y = as_fractions(found.witness.x), as_fractions(found.witness.y)
    assert y in asked.neighbors(x)
    assert found.exact == abs(answer(weights, x) - answer(weights, y))
    assert found.exact == max(
        abs(answer(weights, one) - answer(weights, other))
        for size in set(asked.sizes)
        for one, other in oracle.pairs(asked.records, size, **asked.oracle_relation)
        if len(other) >= query.least_size
    )
    if query.weights(1) is not None:
        by_rank = sl.global_sensitivity(asked.universe, query, method="ranks", **options)
        assert by_rank.exact == found.exact
    found.verify()


@each_meaning
@pytest.mark.parametrize("family", ["symmetric difference", "edit"])
def test_what_is_refused_names_a_relation_that_is_not_covered(family, exactly):
    """Of several at once, some may be covered; blocks of pairs stand for both orders of x and y."""
    relations = tuple(RELATIONS[family][0](k, exactly) for k in (1, 2, 3, 4))
    universe, number = sl.Universe.from_dataset(range(MOST)), 0
    for seed in range(60):
        rng = random.Random(seed)
        table = {n: [Fraction(rng.choice([0, 1, 1, 2]), n) for _ in range(n)] for n in range(1, 10)}
        query, weights = sl.LStatistic(table.__getitem__), table.__getitem__
        problem = Problem(universe, (query,), relations, (rng.choice([3, 4, 5]),))
        with mock.patch.object(global_max, "_PIECES", rng.choice([1, 1 << 14])):
            plan = global_max.Monotone().plan(problem, Options())
        if isinstance(plan, Plan):
            continue
        (named,) = (relation for relation in relations if f", {relation}: " in plan.reason)
        assert not all(cross_once(weights, n, *pair) for n, pair in problem.changes(named))
        number += named.k > 1
    assert number


@each_relation
@each_meaning
@pytest.mark.representative("family")
@given(data=st.data())
def test_both_ends_of_what_a_neighbor_can_answer(family, exactly, data):
    asked = data.draw(problems(family, exactly))
    query, weights = data.draw(queries)
    size = asked.sizes[0]
    x = tuple(sorted(data.draw(st.permutations(asked.records))[:size]))
    values = list(map(Fraction, asked.universe.values))
    counts = np.array([x.count(value) for value in values])
    problem = LocalProblem(asked.universe, query, asked.relation, counts)
    with mock.patch.object(local_max, "_PIECES", data.draw(st.sampled_from([1, 1 << 15]))):
        both = local_max.both_ends(problem)
        found = list(both.of_changes)
    some = (y for y in asked.neighbors(x) if len(y) >= query.least_size)
    answers = {y: answer(weights, y) for y in some}
    assert both.of_x == answer(weights, x)
    assert tuple((ends.removed, ends.added) for ends in found) == problem.changes
    assert min(ends.lower.answer for ends in found) == min(answers.values())
    assert max(ends.upper.answer for ends in found) == max(answers.values())
    for end in (end for ends in found for end in (ends.lower, ends.upper)):
        assert answers[tuple(repeated(values, end.y()))] == end.answer
    plan = local_max.LocalMonotone().plan(problem, Options())
    furthest = plan.solve().y
    assert abs(answers[tuple(repeated(values, furthest))] - both.of_x) == max(
        abs(one - both.of_x) for one in answers.values()
    )


@given(
    st.sampled_from([sl.TrimmedMean(0.3), sl.TrimmedMean(0.49), sl.Percentile(30), sl.Mean()]),
    *(st.integers(0, 30) for _ in range(3)),
)
def test_what_is_said_to_cross_once_does(query, core, removed, added):
    assume(core + removed and core + added)
    assert query.crosses_once
    pair = [np.array([number], dtype=np.int64) for number in (core, removed, added)]
    assert Crossing.of(query, *pair).crosses.all()
    assert not Crossing.of(query, *pair).has_negative_weights.any()


@pytest.mark.parametrize("query", ["mean", "trimmed_mean_10", "median"])
def test_a_trimmed_mean_looks_up_as_few_records_as_a_mean(query):
    """Cost is counted: the positions that are looked up do not grow with the size."""
    looked_up = {}
    for size in (100, 20_000):
        records = sl.Universe.from_dataset(np.arange(2.0 * size))
        positions = []

        def counting(function, positions=positions):
            return lambda self, at, *power: (
                positions.append(np.size(at)) or function(self, at, *power)
            )

        with (
            mock.patch.object(SortedArray, "record", counting(SortedMultiset.record), create=True),
            mock.patch.object(SortedArray, "total", counting(SortedMultiset.total), create=True),
        ):
            found = sl.global_sensitivity(
                records, query, size=size, neighbors=sl.Unbounded(1, direction="add")
            )
        assert found.method == "monotone"
        looked_up[size] = sum(positions)
    assert 0 < looked_up[100] == looked_up[20_000] <= 40


def test_trimmed_means_of_millions_weigh_no_rank_by_itself():
    """A dataset of 20 million records: its weights are one run."""
    found = sl.global_sensitivity(
        sl.Universe.from_domain([0, 1]), "trimmed_mean_10", size=20_000_000, neighbors="bounded"
    )
    assert (found.exact, found.method) == (Fraction(1, 16_000_000), "monotone")


@pytest.mark.exhaustive
@pytest.mark.parametrize("q", [Fraction(1, 3), Fraction(2**70 + 1, 2**72), 1e-300])
def test_fractions_that_int64_does_not_hold(q):
    universe = sl.Universe.from_dataset([Fraction(value, 7) for value in range(-40, 40)])
    query, neighbors = sl.TrimmedMean(q), sl.SymmetricDifference(3)
    found = sl.global_sensitivity(universe, query, size=30, neighbors=neighbors)
    by_rank = sl.global_sensitivity(universe, query, size=30, neighbors=neighbors, method="ranks")
    assert found.method == "monotone"
    assert found.exact == by_rank.exact


@pytest.mark.parametrize("size", [10**6, 3 * 10**9, 10**10])
def test_products_of_sizes_that_int64_does_not_hold(size):
    """f(x) - f(y) is over the product of both sizes, for a mean of billions of records."""
    pair = Crossing.of(sl.Mean(), *(np.array([one], dtype=np.int64) for one in (size, 0, 1)))
    assert pair.below.tolist() == [size * (size + 1)]
    assert pair.crosses.all()


def test_rows_are_refused():
    universe = sl.TableUniverse.from_dataset(pd.DataFrame({"v": [1, 2, 3]}))
    refused(
        lambda: sl.global_sensitivity(
            universe, "count", size=1, neighbors="bounded", method="monotone"
        ),
        "no engine accepts count here: monotone covers numbers, not rows",
        sl.errors.NoEngineError,
    )
