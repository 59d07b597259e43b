"""Local sensitivity agrees with its definition, whatever the engine."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import oracle
import pytest
from checks import check_value
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import CHOSEN, NUMPY_KINDS, QUERIES, RELATIONS, as_fractions, percentiles, problems

import sensitivity_lab as sl
from sensitivity_lab.search import engines_for
from sensitivity_lab.search.engine import Options
from sensitivity_lab.search.monotone.local_max import LocalMonotone

FAMILIES = pytest.mark.parametrize(
    ("family", "exactly"), [*product(RELATIONS, (False, True))], ids=str
)
LARGE = sl.Universe.from_dataset(range(1, 201))


@st.composite
def asked_of_one(draw, family, exactly, **options):
    """A problem, and one dataset of its universe."""
    asked = draw(problems(family, exactly, **options))
    size = draw(st.sampled_from(asked.sizes))
    limits = asked.universe.multiplicities(size).tolist()
    records = [
        value
        for value, limit in zip(asked.universe.values, limits, strict=True)
        for _ in range(limit)
    ]
    x = draw(st.permutations(records))[:size]
    return asked, x


def expected_of(asked, x, query):
    try:
        return oracle.local_sensitivity(
            asked.records, as_fractions(x), query, **asked.oracle_relation
        )[0]
    except ValueError:
        assume(False)
        raise


def check(asked, x, ours, theirs, method):
    expected = expected_of(asked, x, theirs)
    result = sl.local_sensitivity(
        asked.universe, ours, dataset=x, neighbors=asked.relation, method=method
    )
    check_value(result, expected)
    witness = as_fractions(result.witness.x), as_fractions(result.witness.y)
    assert witness[0] == tuple(sorted(as_fractions(x)))
    assert witness[1] in asked.neighbors(x)
    assert (result.kind, result.status, result.size) == ("local", "exact", len(x))
    result.verify()
    return result


@pytest.mark.representative("name")
@FAMILIES
@pytest.mark.parametrize("name", QUERIES)
@given(data=st.data())
def test_agrees_with_the_definition(name, family, exactly, data):
    asked, x = data.draw(asked_of_one(family, exactly))
    method = data.draw(st.sampled_from(["auto", CHOSEN[name], "enumeration"]))
    result = check(asked, x, *QUERIES[name], method)
    assert result.method == (CHOSEN[name] if method == "auto" else method)


@pytest.mark.representative("family")
@FAMILIES
@given(data=st.data())
def test_percentiles_agree_with_the_definition(family, exactly, data):
    asked, x = data.draw(asked_of_one(family, exactly))
    ours, theirs = data.draw(percentiles())
    check(asked, x, ours, theirs, data.draw(st.sampled_from(["monotone", "enumeration"])))


@pytest.mark.representative("family")
@FAMILIES
@given(data=st.data())
def test_functions_agree_with_the_definition(family, exactly, data):
    def third_moment(dataset):
        return math.fsum((float(record) - 1) ** 3 for record in dataset)

    asked, x = data.draw(asked_of_one(family, exactly, kinds=NUMPY_KINDS))
    result = sl.local_sensitivity(asked.universe, third_moment, dataset=x, neighbors=asked.relation)
    assert result.value == expected_of(asked, x, third_moment)
    assert (result.exact, result.upper, result.arithmetic) == (None, None, "float")
    assert result.method == "enumeration"
    result.verify()


@pytest.mark.parametrize(
    ("query", "value"),
    [("median", 0.5), ("mean", 2), ("std", 2.719037)],
)
def test_published_local_values(query, value):
    """Lee and Clifton's release {1, 2, 3} of {1, 2, 3, 10}, as the article replicates it."""
    universe = sl.Universe.from_dataset([1, 2, 3, 10])
    result = sl.local_sensitivity(universe, query, dataset=[1, 2, 3], neighbors=sl.Unbounded(1))
    assert result.value == pytest.approx(value, abs=5e-7)


@pytest.mark.further
@pytest.mark.representative("query")
@pytest.mark.parametrize("query", ["median", "var", "std", "percentile_90", "sum", "mean"])
@pytest.mark.parametrize("relation", [sl.Bounded(2), sl.Unbounded(3), sl.SymmetricDifference(2)])
def test_listing_gives_what_the_quick_engines_give_on_more_records(query, relation):
    random = np.random.default_rng(4)
    records = random.lognormal(3, 1.5, 24).round().tolist()
    universe = sl.Universe.from_dataset(records)
    x = random.permutation(records)[:13]
    quick = sl.local_sensitivity(universe, query, dataset=x, neighbors=relation)
    listed = sl.local_sensitivity(
        universe, query, dataset=x, neighbors=relation, method="enumeration"
    )
    assert (quick.value, quick.exact, quick.upper) == (listed.value, listed.exact, listed.upper)
    assert quick.datasets_evaluated == 0
    assert listed.datasets_evaluated == 1 + sl.universes.count_neighbors(universe, x, relation)


def test_each_neighbor_is_evaluated_once():
    seen = []

    def largest(records):
        seen.append(tuple(records))
        return records[-1]

    universe, relation = sl.Universe.from_dataset([1, 2, 2, 3, 7]), sl.Bounded(2)
    query = sl.from_function(largest, order="sorted")
    result = sl.local_sensitivity(universe, query, dataset=[2, 1, 3], neighbors=relation)
    number = sl.universes.count_neighbors(universe, [1, 2, 3], relation)
    assert result.datasets_evaluated == number + 1
    assert number < 32
    # All neighbors are in the sample that is asked for again. Then the witness: once to see that
    # the function keeps no state, and once for the answers that the result states.
    assert len(set(seen[1 : number + 1])) == number
    assert len(seen) == number + 1 + number + 2 + 2


def test_many_copies_are_not_written_out():
    universe = sl.Universe.from_domain([0, 1, 10**6], copies=10**12)
    result = sl.local_sensitivity(
        universe, "var", dataset=[0, 0, 1, 10**6], neighbors=sl.Bounded(1)
    )
    few = oracle.universe_of([0, 1, 10**6], [5, 5, 5])
    assert (
        result.exact == oracle.local_sensitivity(few, (0, 0, 1, 10**6), ("var", 0), "bounded", 1)[0]
    )


def test_a_query_with_answers_in_ties_keeps_a_neighbor_as_witness():
    universe = sl.Universe.from_dataset([7, 7, 7])
    for query in ("median", "var", "mean", np.median):
        result = sl.local_sensitivity(universe, query, dataset=[7, 7], neighbors=sl.Bounded(1))
        assert (result.value, result.witness.y) == (0.0, (7, 7))
        result.verify()


@pytest.mark.exhaustive
def test_parallel_listing_gives_the_same():
    universe = sl.Universe.from_dataset(range(12))
    one, two = (
        sl.local_sensitivity(
            universe,
            np.ptp,
            dataset=range(6),
            neighbors=sl.Bounded(2),
            n_jobs=n_jobs,
            progress=False,
        )
        for n_jobs in (1, 2)
    )
    assert (one.value, one.witness) == (two.value, two.witness)


def test_the_methods_are_those_of_the_global_engines():
    assert [engine.name for engine in engines_for("local")] == [
        engine.name
        for engine in engines_for("global")
        if engine.name not in ("stacks", "workloads")
    ]


def message(error, call):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_too_many_neighbors_are_refused_with_their_number():
    assert message(
        sl.errors.TooLargeError,
        lambda: sl.local_sensitivity(
            LARGE, np.median, dataset=range(1, 101), neighbors=sl.Bounded(3)
        ),
    ) == (
        "no engine accepts median (function) here: enumeration would evaluate 26,171,402,500 "
        "neighbors, more than the limit of 1,000,000; choose a smaller distance, or a coarser "
        "universe with fewer distinct values;\n"
        "  monotone, variance, ranks, multiplicities, row_sums, one_column, groups do not cover it "
        "(the error's `reasons` say why)"
    )


def test_the_memory_limit_lowers_the_number_of_neighbors():
    text = message(
        sl.errors.TooLargeError,
        lambda: sl.local_sensitivity(
            LARGE,
            np.ptp,
            dataset=range(1, 101),
            neighbors=sl.Bounded(1),
            run=sl.Run(memory_limit=25_600),
        ),
    )
    assert "enumeration would evaluate 10,000 neighbors, more than the limit of 100;" in text


def test_a_dataset_of_another_universe_is_an_error():
    universe = sl.Universe.from_dataset([1, 2, 3])
    assert (
        message(
            sl.errors.InputError,
            lambda: sl.local_sensitivity(universe, "mean", dataset=[1, 5], neighbors=sl.Bounded(1)),
        )
        == "the record 5 is not in the universe: Universe of 3 records: 1, 2, 3"
    )
    assert message(
        sl.errors.InputError,
        lambda: sl.local_sensitivity(universe, "mean", dataset=[1, 2, 3], neighbors=sl.Bounded(1)),
    ) == (
        "bounded, at most 1 is not feasible for datasets of size 3 in a universe of 3 records: "
        "replacing needs a record of x and at least one record outside x; no distance is feasible; "
        "choose a smaller size, or use a domain as the universe, "
        "Universe.from_domain(values)"
    )


def test_an_order_statistic_with_a_negative_weight_is_taken_by_rank():
    spread = sl.LStatistic(lambda n: [-1, *[0] * (n - 2), 1], name="spread")
    universe = sl.Universe.from_dataset([0, 3, 4, 5, 9])
    result = sl.local_sensitivity(universe, spread, dataset=[3, 4, 5], neighbors=sl.Bounded(1))
    assert (result.method, result.value) == ("ranks", 4.0)
    problem = sl.problem.LocalProblem(universe, spread, sl.Bounded(1), np.array([0, 1, 1, 1, 0]))
    assert LocalMonotone().plan(problem, Options()).reason == (
        "monotone does not cover spread: it has a negative weight"
    )


def test_local_curves_are_the_local_sensitivities():
    universe, x = sl.Universe.from_dataset([1, 2, 3, 10, 11]), [1, 2, 3]
    curves = sl.local_curves(
        universe,
        ["median", "sum"],
        dataset=x,
        distances=[1, 2],
        neighbors=["bounded", "unbounded"],
        column="days",
    )
    frame = curves.to_frame()
    assert set(frame["kind"]) == {"local"}
    assert set(frame["column"]) == {"days"}
    assert len(frame) == 8
    for _, point in curves:
        alone = sl.local_sensitivity(universe, point.query, dataset=x, neighbors=point.neighbors)
        assert (point.value, point.witness) == (alone.value, alone.witness)
    assert repr(curves).startswith("Local sensitivity by Hamming distance k, size 3\n")


def test_local_curves_check_everything_first():
    universe = sl.Universe.from_dataset([1, 2, 3])
    assert (
        message(
            sl.errors.InputError,
            lambda: sl.local_curves(universe, [], dataset=[1, 2], distances=1, neighbors="bounded"),
        )
        == "queries must name at least one query, got none"
    )
