"""Measured stability: it is the definition's, and never above the map of our own steps."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import oracle_pipelines as oracle
import pandas as pd
import pytest
from checks import refused
from hypothesis import given
from hypothesis import strategies as st
from measured_cases import JOIN, rows_of

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import QueryError
from sensitivity_lab.running import pool

COLUMNS = {"id": "int64", "page": "str", "n": "int64"}
TABLE_ROWS = st.tuples(st.integers(1, 2), st.sampled_from("ab"), st.integers(0, 2))
UNIVERSES = st.lists(TABLE_ROWS, min_size=1, max_size=4)
NUMBERS = st.lists(
    st.one_of(st.integers(-3, 3), st.sampled_from([0.5, 10**9, -7, Fraction(1, 3)])),
    min_size=1,
    max_size=6,
)
ROWS, IDS = pl.SymmetricDistance(), pl.IdDistance("id")


def table_of(rows) -> pd.DataFrame:
    columns = {
        name: pd.Series([row[at] for row in rows], dtype=dtype)
        for at, (name, dtype) in enumerate(COLUMNS.items())
    }
    return pd.DataFrame(columns)


def twice_if_odd(row):
    return [row] * (1 + row["n"] % 2)


PUBLIC = pd.DataFrame({"page": ["a", "a", "b"], "topic": ["x", "y", "x"]})
TABLE_STEPS = {
    "filter_": pl.filter_(lambda row: row["n"] > 0),
    "map_": pl.map_(lambda row: {**row, "n": row["n"] // 2}),
    "flat_map": pl.flat_map(twice_if_odd, 2),
    "join_public": pl.join_public(PUBLIC, on="page"),
}
FROM_IDS = {
    "max_rows_per_id": pl.max_rows_per_id(2),
    "max_groups_per_id": pl.max_groups_per_id(1, "page"),
    "max_rows_per_group_per_id": pl.max_rows_per_group_per_id(1, "page"),
    "both limits": pl.max_groups_per_id(1, "page") >> pl.max_rows_per_group_per_id(2, "page"),
}
NUMBER_STEPS = {
    "sum_": pl.sum_(-1, 2),
    "count": pl.count(),
    "histogram": pl.histogram([-1, 0, 2]),
    "map_": pl.map_(lambda x: x * x),
    "filter_": pl.filter_(lambda x: x > 0),
}


def check(t, universe, d_in, records, metric, distance, evaluate):
    """Measured is the oracle's, and not above the map; returns the result."""
    result = pl.measured_stability(t, universe, d_in)
    expected, inputs, pairs = oracle.measure([records], [metric], [d_in], evaluate, distance)
    assert (result.measured, result.inputs, result.pairs) == (expected, inputs, pairs)
    assert result.measured <= result.bound == t.map(d_in)
    assert t.input_metric.distance(result.witness.x, result.witness.y) <= d_in
    return result


def two_keys(rows) -> bool:
    return len({page for _, page, _ in rows}) == 2


STARTS = {
    "added": (ROWS, oracle.symmetric_difference),
    "replaced": (pl.ChangeOneDistance(), oracle.change_one),
    "ids": (IDS, oracle.ids(0)),
}


@pytest.mark.parametrize(
    ("start", "step"),
    [
        *(("added", step) for step in TABLE_STEPS),
        *(("ids", step) for step in [*TABLE_STEPS, *FROM_IDS]),
        *(pytest.param("replaced", step, marks=pytest.mark.exhaustive) for step in TABLE_STEPS),
    ],
)
@given(rows=UNIVERSES.filter(two_keys), d_in=st.integers(1, 2))
def test_steps_on_tables(start, step, rows, d_in):
    metric, change = STARTS[start]
    t = pl.Start(pl.Table(), metric) >> {**TABLE_STEPS, **FROM_IDS}[step]
    forgets = step == "max_rows_per_id" or (start == "replaced" and step != "map_")
    out = oracle.symmetric_difference if forgets else change
    check(t, table_of(rows), d_in, rows, change, out, lambda x: rows_of(t(table_of(x))))


def test_the_groups_of_replaced_rows():
    start = pl.Start(pl.Table(), pl.ChangeOneDistance())
    for norm in (pl.L1Distance(), pl.L2Distance()):
        groups = start >> pl.group_by("page", "ab", norm)
        universe = [{"page": "a", "n": 1}, {"page": "a", "n": 2}]
        assert pl.measured_stability(groups, universe, 1).verdict == "tight"


@pytest.mark.representative("step")
@pytest.mark.parametrize("metric", [ROWS, pl.ChangeOneDistance()], ids=["added", "replaced"])
@pytest.mark.parametrize("step", NUMBER_STEPS)
@given(records=NUMBERS.filter(lambda records: len(set(records)) > 1), d_in=st.integers(1, 2))
def test_steps_on_numbers(step, metric, records, d_in):
    clamped = pl.Start(pl.Numbers(), metric) >> pl.clamp(-1, 2)
    t = clamped >> NUMBER_STEPS[step]
    change = oracle.symmetric_difference if metric == ROWS else oracle.change_one
    out = {"sum_": oracle.absolute, "count": oracle.absolute, "histogram": oracle.l1}.get(step)
    if out is None:
        out = change if step == "map_" else oracle.symmetric_difference
    check(t, records, d_in, records, change, out, t)


@pytest.mark.parametrize("metric", [ROWS, pl.ChangeOneDistance()], ids=["added", "replaced"])
@given(records=st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=4, max_size=7), size=st.just(3))
def test_steps_on_a_public_number_of_numbers(metric, records, size):
    start = pl.Start(pl.Numbers(size=size, bounds=(-1, 2)), metric)
    change, d_in = (oracle.symmetric_difference, 2) if metric == ROWS else (oracle.change_one, 1)
    if len(set(records)) == 1:
        return
    for step in (pl.sum_(-1, 2), pl.mean(-1, 2, size), pl.count()):
        t = start >> step
        result = pl.measured_stability(t, records, d_in)
        expected, inputs, pairs = oracle.measure(
            [records], [change], [d_in], t, oracle.absolute, [[size]]
        )
        assert (result.measured, result.inputs, result.pairs) == (expected, inputs, pairs)
        assert result.measured <= result.bound


def test_a_wrong_map_is_found_out():
    number, distance = pl.Scalar(), pl.AbsoluteDistance()
    total = pl.Transformation("total", sum, pl.Numbers(), ROWS, number, distance, lambda d_in: d_in)
    result = pl.measured_stability(total, [1, 2, 3], 1)
    assert (result.measured, result.bound, result.verdict) == (3, 1, "exceeds the map")
    assert not result.tight


def test_a_witness_of_nothing_is_still_a_pair_of_neighbors():
    number, distance = pl.Scalar(), pl.AbsoluteDistance()
    t = pl.Transformation(
        "zero", lambda data: 0 * len(data), pl.Values(), ROWS, number, distance, abs
    )
    result = pl.measured_stability(t, "ab", 1)
    assert (result.measured, result.witness.x, result.witness.y) == (0, [], ["a"])


def test_what_is_no_function_is_found_out():
    calls = iter(range(100))
    number, distance = pl.Scalar(), pl.AbsoluteDistance()
    t = pl.Transformation(
        "random",
        lambda data: len(data) + next(calls) ** 2,
        pl.Values(),
        ROWS,
        number,
        distance,
        abs,
    )
    refused(
        lambda: pl.measured_stability(t, "ab", 1),
        "random gave another output when the same input came again; a transformation must be a "
        "function of its input alone",
        QueryError,
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_each_distinct_input_is_evaluated_once(n_jobs, monkeypatch):
    # So little work pays for no workers, unless another test has left some that are alive.
    monkeypatch.setattr(pool, "must_start", lambda _: True)
    seen = Counter()

    def counted(data):
        seen[tuple(data)] += 1
        return len(data)

    number, distance = pl.Scalar(), pl.AbsoluteDistance()
    t = pl.Transformation("size", counted, pl.Values(), ROWS, number, distance, lambda d_in: d_in)
    result = pl.measured_stability(t, ["a", "a", "b", None], 1, n_jobs=n_jobs)
    assert (result.measured, result.inputs) == (1, 12)
    witness = {tuple(result.witness.x), tuple(result.witness.y)}
    assert list(seen.values()) == [1 + (data in witness) for data in seen]
    assert len(seen) == 12  # in this process, as workers do not pay


def test_both_parts_of_a_search_show_their_progress(capsys):
    arguments = (JOIN, (KEYS.assign(left=1), KEYS), (1, 1))
    pl.measured_stability(*arguments)
    assert capsys.readouterr().err == ""
    pl.measured_stability(*arguments, progress=True)
    shown = capsys.readouterr().err
    assert "/16.0 [" in shown
    assert "datasets/s]" in shown
    assert "distances/s]" in shown


def test_each_pair_of_outputs_is_measured_once():
    """Counts of neighbors differ by 0 (from 1 to 4 rows), 1 or 2; then the witness, once more."""
    measured = []

    class Counted(pl.AbsoluteDistance):
        def between(self, a, b):
            measured.append((a, b))
            return super().between(a, b)

    t = pl.Transformation("size", len, pl.Values(), ROWS, pl.Scalar(), Counted(), lambda d_in: d_in)
    result = pl.measured_stability(t, range(5), 2)
    assert len(set(measured)) == 4 + 5 + 4
    assert result.pairs > len(measured) == 4 + 5 + 4 + 1


@pytest.mark.parametrize("block", [1, 3, 10**6])
def test_pairs_in_many_blocks_have_the_same_farthest_pair(block, monkeypatch):
    """The distance grows from block to block, and the fewest rows attain it."""
    monkeypatch.setattr("sensitivity_lab.pipelines.measuring._BLOCK", block)
    clipped = (pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(0, 7) >> pl.sum_(0, 7)
    for d_in, most, few in ((1, 7, 1), (2, 14, 2)):
        found = pl.measured_stability(clipped, [1, 3, 7, 9], d_in)
        assert found.measured == most
        assert len(found.witness.x) + len(found.witness.y) == few


def test_sizes():
    t = (pl.Numbers(), ROWS) >> pl.clamp(0, 5) >> pl.sum_(0, 5)
    assert pl.measured_stability(t, [1, 2, 5], 1, sizes=[0, 1]).witness.y == [5]
    assert pl.measured_stability(t, [1, 2, 5], 2, sizes=2).measured == 4
    assert pl.measured_stability(t, range(60), 1, sizes=(59, 60)).inputs == 61
    assert pl.measured_stability(t, sl.Universe([1, 5], [2, 1]), 1).inputs == 6
    small = (pl.Numbers(max_size=1), ROWS) >> pl.clamp(0, 5) >> pl.sum_(0, 5)
    assert pl.measured_stability(small, [1, 2, 5], 1).inputs == 4


def test_two_tables_have_sizes_each():
    left, right = pd.DataFrame({"key": [1, 2]}), pd.DataFrame({"key": [1, 2, 3]})
    start = pl.start(pl.AddMaxRows(1), pl.AddMaxRows(1))
    t = start >> pl.join_private("key", pl.DropExcess(1), pl.DropExcess(1)) >> pl.count()
    assert pl.measured_stability(t, (left, right), (1, 1), sizes=(None, [0, 3])).inputs == 4 * 2


def test_the_result_tells_one_story():
    t = pl.start(pl.AddRowsWithID("id")) >> pl.max_rows_per_id(1)
    result = pl.measured_stability(t, [{"id": 1, "page": "a"}, {"id": 1, "page": "b"}], 1)
    assert repr(result) == (
        "Measured stability of max_rows_per_id(1): 1 (tight)\n"
        "  map        1\n"
        "  neighbors  at most 1 id in 'id' added or removed with all its rows\n"
        "  witness x  []  to []\n"
        "  witness y  [(1, a)]  to [(1, a)]\n"
        "  searched   4 inputs, 3 pairs; universe of 2 rows"
    )
    html = result._repr_html_()
    assert "<caption>Measured stability of max_rows_per_id(1): 1 (tight)</caption>" in html
    for _, text in result.facts():
        assert text.replace("'", "&#x27;") in html
    facts = result.to_dict()
    assert (facts["measured"], facts["map"], facts["verdict"]) == ("1", "1", "tight")
    assert (facts["x"], facts["y"]) == ([], [{"id": 1, "page": "a"}])
    assert float(result) == 1


def test_a_root_is_shown_with_its_size():
    t = (pl.Values(), pl.ChangeOneDistance()) >> pl.histogram("ab", pl.L2Distance())
    result = pl.measured_stability(t, "ab", 1)
    assert "  map        sqrt(2) (about 1.41422)\n" in repr(result)


KEYS = pd.DataFrame({"key": [1, 2]})
