"""L-statistics: weighted sums of the records by rank, against their definition in rationals."""

from __future__ import annotations

import dataclasses
import itertools
import math
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from functools import partial
from unittest.mock import patch

import numpy as np
import oracle
import pandas as pd
import pytest
from checks import refused
from doses import dose, for_long
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import RELATIONS, problems

import sensitivity_lab as sl
from sensitivity_lab.queries import as_query
from sensitivity_lab.search.ranks import all_ranks, few_runs, global_max, local_max

KINDS = ("ties", "clusters", "heavy tails", "tenths", "fractions", "offset", "beyond 2**53")


def answer(weights, dataset) -> Fraction:
    """A weighted sum by its definition."""
    return sum(map(Fraction.__mul__, map(Fraction, weights), sorted(dataset)), Fraction(0))


QUERIES = {
    name: (ours, partial(oracle.evaluate, theirs))
    for name, ours, theirs in [
        ("range", sl.Range(), ("range",)),
        ("midrange", sl.Midrange(), ("midrange",)),
        ("iqr", sl.InterquartileRange(), ("iqr",)),
        ("gini", sl.GiniMeanDifference(), ("gini",)),
        ("trimmed", sl.TrimmedMean(Fraction(1, 3)), ("trimmed", Fraction(1, 3))),
        ("winsorized", sl.WinsorizedMean(0.25), ("winsorized", Fraction(1, 4))),
    ]
}
"""By name: our query, and what it is, without ranks and weights."""


@st.composite
def l_statistics(draw):
    """A query with weights of its own, most of them or few not 0, and its definition."""
    numbers = st.integers(-4, 4) if draw(st.booleans()) else st.sampled_from([0, 0, 0, 1, -2])
    weights = {
        n: [Fraction(one, n) for one in draw(st.lists(numbers, min_size=n, max_size=n))]
        for n in range(1, 15)
    }
    return sl.LStatistic(weights.__getitem__), lambda x: answer(weights[len(x)], x)


queries = st.one_of(st.sampled_from(list(QUERIES.values())), l_statistics())

FEW = {
    (global_max, "enough_copies"): lambda *_: 0,
    (global_max, "_FEW_STATES"): 10**6,
    (global_max, "_DEARER"): 10**9,
}
ALL = {(global_max, "enough_copies"): lambda *_: 0, (global_max, "_FEW_STATES"): -1}

PATHS = {
    "as it comes": {},
    "few runs": FEW,
    "few runs, large sums": {**FEW, (few_runs, "SAFE"): 1},
    "all ranks": ALL,
    "all ranks, large sums": {**ALL, (all_ranks, "SAFE"): 1},
    "all ranks, small table": {**ALL, (all_ranks, "_TABLE"): 8},
    "all ranks, row by row": {**ALL, (all_ranks, "_AT_A_TIME"): 1},
}
"""By name: what to set so that a problem takes this way of solving it."""


BEST = few_runs.RunSearch.best


@contextmanager
def taking(path):
    """Solve by one way, and count how often each of the two was taken."""
    with ExitStack() as stack:
        for where, value in PATHS[path].items():
            stack.enter_context(patch.object(*where, value))
        few = stack.enter_context(
            patch.object(few_runs.RunSearch, "best", autospec=True, side_effect=BEST)
        )
        every = stack.enter_context(
            patch.object(global_max, "best_labels", wraps=all_ranks.best_labels)
        )
        yield few, every


def brute(define, pairs) -> Fraction:
    answers = {}
    best = Fraction(0)
    for x, y in pairs:
        for one in (x, y):
            if one not in answers:
                answers[one] = define(one)
        best = max(best, abs(answers[x] - answers[y]))
    return best


def check_global(asked, query, define, path) -> None:
    """The value, and the witness, against all pairs of neighbors."""
    pairs = [
        pair
        for size in set(asked.sizes)
        for pair in oracle.pairs(asked.records, size, **asked.oracle_relation)
    ]
    if query.least_size > min(len(one) for pair in pairs for one in pair):
        return
    with taking(path) as (few, every):
        result = sl.global_sensitivity(
            asked.universe, query, size=asked.size, neighbors=asked.relation, method="ranks"
        )
    x, y = (tuple(map(Fraction, one)) for one in (result.witness.x, result.witness.y))
    assert result.exact == brute(define, pairs)
    assert abs(define(x) - define(y)) == result.exact
    assert (x, y) in pairs or (y, x) in pairs
    if path != "as it comes":
        wanted, other = (few, every) if path.startswith("few") else (every, few)
        assert wanted.call_count > other.call_count == 0


each_path = pytest.mark.parametrize("path", PATHS)
each_relation = pytest.mark.parametrize("family", RELATIONS)
each_meaning = pytest.mark.parametrize("exactly", [False, True])


@each_path
@each_relation
@each_meaning
@pytest.mark.representative("path")
@settings(max_examples=2 * settings.default.max_examples)
@given(st.data())
def test_global(path, family, exactly, data):
    check_global(data.draw(problems(family, exactly, KINDS)), *data.draw(queries), path)


test_many_global = for_long(test_global, dose(1_000), st.data())


def check_local(asked, query, define, draw) -> None:
    """The local sensitivity of some dataset, against all its neighbors."""
    records = asked.records
    size = asked.sizes[0]
    x = tuple(sorted(draw(st.permutations(records))[:size]))
    pairs = [(x, y) for y in oracle.neighbors(records, x, **asked.oracle_relation)]
    if query.least_size > min(len(one) for pair in pairs for one in pair):
        return
    result = sl.local_sensitivity(
        asked.universe, query, dataset=x, neighbors=asked.relation, method="ranks"
    )
    y = tuple(map(Fraction, result.witness.y))
    assert result.exact == brute(define, pairs) == abs(define(x) - define(y))
    assert (x, y) in pairs


@each_relation
@each_meaning
@pytest.mark.representative("family")
@settings(max_examples=3 * settings.default.max_examples)
@given(st.data())
def test_local(family, exactly, data):
    check_local(data.draw(problems(family, exactly, KINDS)), *data.draw(queries), data.draw)


X = list(range(100, 112))
ITSELF, TABLE = sl.Universe.from_dataset(X), sl.TableUniverse.from_dataset(pd.DataFrame({"v": X}))
Z = [-93, -93, -91, -90, -89, -86, -84, -83, -80, -78, -77]
OTHERS = [-100, -95, -92, -91, -90, -88, -88, -87, -86, -84, -82, -74]


@pytest.mark.parametrize("exactly", [False, True])
@pytest.mark.parametrize(
    ("x", "universe", "query", "relation", "truth"),
    [
        (X, ITSELF, "range", sl.Unbounded(9, direction="remove"), 9),
        (X, ITSELF, "iqr", sl.Unbounded(9, direction="remove"), Fraction(9, 2)),
        (X, ITSELF, "range", sl.SymmetricDifference(9), 9),
        (X, ITSELF, "iqr", sl.SymmetricDifference(9), Fraction(9, 2)),
        (
            pd.DataFrame({"v": X}),
            TABLE,
            sl.ColumnQuery("v", "range"),
            sl.Unbounded(9, direction="remove"),
            9,
        ),
        # All records are replaced by ones between the bounds.
        (X, sl.Universe.from_interval(100, 111), "range", sl.Bounded(12), 11),
        (X, sl.Universe.from_interval(90, 111), "range", sl.Bounded(12), 11),
        (X, sl.Universe.from_interval(90, 140), "range", sl.Bounded(12), 39),
        (
            X,
            sl.Universe.from_interval(90, 140),
            "iqr",
            sl.Unbounded(9, direction="remove"),
            Fraction(9, 2),
        ),
        # 9 * 107 - (100 + .. + 106), and 9 * 107 where 107 is all that is left.
        (
            X[:8],
            sl.Universe.from_dataset(X[:8]),
            sl.LStatistic(lambda n: [-1] * (n - 1) + [9]),
            sl.Unbounded(7, direction="remove"),
            sum(range(100, 107)),
        ),
        (Z, sl.Universe.from_dataset(Z + OTHERS), "range", sl.Bounded(9), 10),
    ],
)
def test_local_with_few_records_kept(x, universe, query, relation, truth, exactly):
    """A state of the walk that no choice reaches never counts, however large the records are."""
    relation = dataclasses.replace(relation, exactly=exactly)
    result = sl.local_sensitivity(universe, query, dataset=x, neighbors=relation)
    assert result.exact == truth
    result.verify()


test_many_local = for_long(test_local, dose(4_000), st.data())


def scipy_stats():
    """SciPy's statistics, which take a second to import: only where they are asked."""
    return pytest.importorskip("scipy.stats")


@pytest.mark.further
@pytest.mark.parametrize(
    ("name", "theirs"),
    {
        "range": np.ptp,
        "midrange": lambda x: (x.min() + x.max()) / 2,
        "iqr": lambda x: scipy_stats().iqr(x),
        "gini_mean_difference": lambda x: np.abs(x[:, None] - x).sum() / (len(x) * (len(x) - 1)),
        "trimmed_mean_10": lambda x: scipy_stats().trim_mean(x, 0.1),
        "winsorized_mean_10": lambda x: np.mean(scipy_stats().mstats.winsorize(x, (0.1, 0.1))),
    }.items(),
)
@pytest.mark.parametrize("size", [2, 9, 10, 25])
def test_names_mean_what_they_mean_elsewhere(name, theirs, size):
    records = np.random.default_rng(size).normal(size=size)
    query = as_query(name)
    assert query(records) == pytest.approx(theirs(records), rel=1e-12)
    assert query.name == name


@pytest.mark.parametrize("query", ["range", "midrange", "iqr", "trimmed_mean_10"])
@pytest.mark.parametrize("neighbors", [sl.Bounded(2), sl.Unbounded(2)])
def test_hundreds_of_records(query, neighbors):
    """Shifting and scaling the records shifts and scales the answers, on both ways."""
    numbers = np.random.default_rng(1).integers(0, 1000, 300).tolist()
    found = [
        sl.global_sensitivity(
            sl.Universe.from_dataset(records), query, size=150, neighbors=neighbors
        ).exact
        for records in (numbers, [10**9 - 3 * one for one in numbers])
    ]
    assert 3 * found[0] == found[1] > 0


@pytest.mark.parametrize(
    ("query", "replacing", "removing", "of_one"),
    [
        ("trimmed_mean_10", "monotone", "monotone", "monotone"),
        ("midrange", "ranks", "monotone", "monotone"),
        ("winsorized_mean_10", "ranks", "ranks", "monotone"),
        ("range", "ranks", "ranks", "ranks"),
    ],
)
def test_the_engine_that_the_tables_name(query, replacing, removing, of_one):
    """Without negative weights `monotone` is first, if its condition holds."""
    universe = sl.Universe.from_dataset(range(20))
    for neighbors, engine in ((sl.Bounded(1), replacing), (sl.Unbounded(1), removing)):
        everywhere = sl.global_sensitivity(universe, query, size=10, neighbors=neighbors)
        here = sl.local_sensitivity(universe, query, dataset=range(10), neighbors=neighbors)
        assert (everywhere.method, here.method) == (engine, of_one)


@pytest.mark.exhaustive
def test_the_range_of_thousands_is_quick():
    """Few keys at any size: no step for every record, rank and change."""
    universe = sl.Universe.from_dataset(range(0, 100_000, 2))
    with taking("as it comes") as (few, every):
        result = sl.global_sensitivity(universe, "range", size=25_000, neighbors=sl.Unbounded(3))
    assert (result.exact, result.method) == (99_998 - 2 * 24_996, "ranks")
    assert (few.call_count > 0, every.call_count) == (True, 0)


@pytest.mark.parametrize("path", PATHS)
def test_progress_ends_at_what_was_announced(path):
    """The bar counts states, or a share of them, until about as many as were planned."""
    universe = sl.Universe.from_dataset(range(40))
    told, announced = [], []

    @contextmanager
    def counter(unit, progress, total):
        assert (unit, progress) == ("states", True)
        announced.append(total)
        yield told.append

    with taking(path), patch.object(global_max.running, "counter", counter):
        sl.global_sensitivity(
            universe, "iqr", size=20, neighbors=sl.Bounded(2), method="ranks", progress=True
        )
    assert len(announced) == 1
    assert len(told) > 20
    if "few" not in path:  # of these, many states count as one
        assert 0 < announced[0] / 2 <= sum(told) <= announced[0]


@pytest.mark.parametrize("path", PATHS)
def test_no_weight_at_all(path):
    """The sums are 0, and the records, in units of 2**-69, are beyond int64."""
    universe = sl.Universe.from_dataset([0.0, 1e-05, 1.0, 2.0])
    with taking(path):
        result = sl.global_sensitivity(
            universe, sl.LStatistic(lambda n: [0] * n), size=2, neighbors="bounded", method="ranks"
        )
    assert result.exact == 0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (lambda n: [1] * (n - 1), "are 2; return one for each record"),
        (lambda _: itertools.count(), "are more than 3; return one for each record"),
        (lambda _: [1, math.nan, 2], "have nan among them; return finite numbers"),
        (lambda n: n / 0, "raised ZeroDivisionError: division by zero"),
        (lambda _: 1, "raised TypeError: 'int' object is not iterable"),
    ],
)
def test_bad_weights(weights, message):
    refused(
        lambda: sl.global_sensitivity(
            sl.Universe.from_dataset(range(5)), sl.LStatistic(weights), size=3, neighbors="bounded"
        ),
        f"the weights of 'l_statistic' for 3 records {message}",
        sl.errors.QueryError,
    )


def test_too_many_weights():
    size = 20_000_000
    refused(
        lambda: sl.global_sensitivity(
            sl.Universe.from_domain([0, 1]), sl.GiniMeanDifference(), size=size, neighbors="bounded"
        ),
        "gini_mean_difference weighs each of 20,000,000 records, more than 10,000,000; choose a "
        "smaller size",
        sl.errors.TooLargeError,
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"query": "var", "size": 3},
            sl.errors.NoEngineError,
            "ranks covers L-statistics (weighted sums of the records by rank), not var",
        ),
        (
            {"query": "gini_mean_difference", "size": 5_000, "neighbors": sl.Bounded(99)},
            sl.errors.TooLargeError,
            "ranks would look at 1,000,000,000,000 states, more than 20,000,000,000; choose fewer "
            "records, or a smaller size or distance",
        ),
        (
            {"query": "iqr", "size": 5_000, "run": sl.Run(memory_limit=2**20)},
            sl.errors.TooLargeError,
            "ranks would need about 3.2 MiB, more than the memory limit of 1.0 MiB; choose a "
            "smaller size or distance, a coarser universe with fewer distinct values, or a larger "
            "run=Run(memory_limit=...)",
        ),
    ],
)
def test_refusals(options, error, message):
    universe = sl.Universe.from_dataset(range(10_000))
    refused(
        lambda: sl.global_sensitivity(
            universe, **{"neighbors": "bounded", "method": "ranks"} | options
        ),
        f"no engine accepts {options['query']} here: {message}",
        error,
    )


def test_smooth_sensitivity_of_what_is_no_quantile_is_enumerated():
    """Two neighboring ranks are not enough: their weights must be those of a mean."""
    universe, x = sl.Universe.from_domain([0, 1, 5]), [0, 1, 5]
    for weights in ([0, 1, -1], [0, 0, 0], [1, 0, 1]):
        query = sl.LStatistic(lambda _, w=weights: w)
        with pytest.raises(sl.errors.NoEngineError, match="not a mean of two neighboring ranks"):
            sl.smooth_sensitivity(
                universe, query, dataset=x, neighbors="bounded", beta=1, method="monotone"
            )
        result = sl.smooth_sensitivity(universe, query, dataset=x, neighbors="bounded", beta=1)
        assert result.method == "enumeration"


@pytest.mark.parametrize(
    ("neighbors", "states"),
    [
        (sl.Bounded(1), 2 * 8 * 4),
        (sl.Bounded(3), 2 * 8 * 16),
        (sl.Bounded(3, exactly=True), 2 * 8 * 16),
        (sl.Unbounded(2), 2 * 8 * 2 * (2 + 3)),
        (sl.Unbounded(2, direction="remove"), 2 * 4 * (2 + 3)),
        (sl.SymmetricDifference(2), 2 * 8 * (2 * 2 + 2 * 3 + 4)),
    ],
    ids=str,
)
def test_the_states_of_a_local_search_are_counted_before_it_starts(neighbors, states):
    """For both signs and every size of y, the records times what may be removed and added.

    The records are those of the universe, or of x where none are added.
    """
    ask = partial(
        sl.local_sensitivity,
        sl.Universe.from_dataset(range(8)),
        "iqr",
        dataset=[0, 1, 2, 3],
        neighbors=neighbors,
        method="ranks",
    )
    with patch.object(local_max, "MAX_STEPS", states):
        assert ask().method == "ranks"
    with (
        patch.object(local_max, "MAX_STEPS", states - 1),
        pytest.raises(sl.errors.TooLargeError) as error,
    ):
        ask()
    assert str(error.value) == (
        f"no engine accepts iqr here: ranks would look at {states:,} states, more than "
        f"{states - 1:,}; choose fewer records, or a smaller distance"
    )


def test_a_state_that_no_records_reach_is_never_the_best():
    """The sums of both neighbors are negative, and their first record counts much by itself."""
    query = sl.LStatistic({1: [5], 2: [1, -1]}.__getitem__)
    result = sl.local_sensitivity(
        sl.Universe.from_dataset([-100, 50, 60]),
        query,
        dataset=[-100],
        neighbors=sl.Unbounded(1, direction="add"),
        method="ranks",
    )
    # f(x) is -500; with 50 it is -100 - 50, with 60 it is -100 - 60.
    assert (result.exact, result.witness.y) == (350, (-100, 50))
