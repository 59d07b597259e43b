"""The table of all neighbors: the published picture, and the oracle's word on every row."""

from __future__ import annotations

from collections import Counter
from dataclasses import FrozenInstanceError, dataclass
from fractions import Fraction
from itertools import groupby

import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighbor_rows import blocks_of, by_mark
from strategies import QUERIES, RELATIONS, as_fractions, problems

import sensitivity_lab as sl
from sensitivity_lab.queries import Query

PICTURE = sl.Universe.from_dataset([1, 2, 3, 10, 11])
EVERYTHING = 10**6


@dataclass(frozen=True)
class Frequencies(Query):
    """How often each value of the universe occurs: an exact vector."""

    arithmetic = "exact"
    name = "frequencies"

    def exactly(self, universe, data):
        return tuple(map(Fraction, data.tolist()))

    def on(self, universe, data):
        return tuple(map(float, data.tolist()))

    def evaluate(self, rows):
        raise NotImplementedError

    def __call__(self, x):
        raise NotImplementedError


@dataclass(frozen=True)
class Ends(Query):
    """The smallest and the largest record, as floats of unknown origin."""

    arithmetic = "float"
    name = "ends"

    def evaluate(self, rows):
        return rows[:, [0, -1]]

    def __call__(self, x):
        return float(x[0]), float(x[-1])


def test_the_pictures_unbounded_rows():
    """Universe {1,2,3,10,11}, size 3, median, k = 1: 4.5 at {1,2,11} and {1,10,11} (published)."""
    table = sl.neighbor_table(PICTURE, "median", size=3, neighbors=sl.Unbounded(1))
    assert (table.value, table.exact, len(table)) == (4.5, Fraction(9, 2), 50)
    assert [(row.x, row.removed, row.y) for row in by_mark(table, "attains_global")] == [
        ((1, 2, 11), (1,), (2, 11)),
        ((1, 10, 11), (11,), (1, 10)),
    ]
    block = blocks_of(table)[1, 2, 11]
    assert [(r.change, r.removed, r.added, r.y, r.query_y, r.exact, r.local) for r in block] == [
        ("removed", (1,), (), (2, 11), 6.5, Fraction(9, 2), True),
        ("removed", (2,), (), (1, 11), 6, Fraction(4), False),
        ("removed", (11,), (), (1, 2), 1.5, Fraction(1, 2), False),
        ("added", (), (3,), (1, 2, 3, 11), 2.5, Fraction(1, 2), False),
        ("added", (), (10,), (1, 2, 10, 11), 6, Fraction(4), False),
    ]
    assert {row.query_x for row in block} == {2}


def test_the_pictures_bounded_rows():
    """The same universe: 8 where a record is replaced (published)."""
    table = sl.neighbor_table(PICTURE, "median", size=3, neighbors=sl.Bounded(1))
    assert (table.value, table.exact, len(table)) == (8, Fraction(8), 60)
    assert {row.change for row in table} == {"replaced"}
    assert {row.x for row in by_mark(table, "attains_global")} == {
        *((1, 2, 10), (1, 2, 11), (1, 10, 11), (2, 10, 11)),
    }
    first = blocks_of(table)[1, 2, 10][1]
    assert (first.removed, first.added, first.y, first.exact) == ((1,), (11,), (2, 10, 11), 8)


@pytest.mark.representative
@pytest.mark.parametrize("exactly", [False, True])
@pytest.mark.parametrize("family", RELATIONS)
@given(data=st.data())
def test_every_row_is_the_oracles(family, exactly, data):
    asked = data.draw(problems(family, exactly, ("ties", "clusters", "fractions", "offset")))
    name = data.draw(st.sampled_from(["mean", "median", "sum", "var", "std"]))
    query, of_oracle = QUERIES[name]
    table = sl.neighbor_table(
        asked.universe, query, size=asked.size, neighbors=asked.relation, row_limit=EVERYTHING
    )
    blocks = blocks_of(table)
    assert set(map(as_fractions, blocks)) == {
        x for size in asked.sizes for x in oracle.datasets(asked.records, size)
    }
    for x, rows in blocks.items():
        wanted, _ = oracle.local_sensitivity(
            asked.records, as_fractions(x), of_oracle, **asked.oracle_relation
        )
        answered = [y for y in asked.neighbors(x) if len(y) >= oracle.least(of_oracle)]
        assert sorted(as_fractions(row.y) for row in rows) == sorted(answered)
        for row in rows:
            check_row(row, of_oracle, wanted)
    result = sl.global_sensitivity(asked.universe, query, size=asked.size, neighbors=asked.relation)
    assert (table.value, table.exact) == (result.value, result.exact)
    globals_ = by_mark(table, "attains_global")
    assert globals_
    assert all(row.local and row.difference == result.value for row in globals_)


def check_row(row, query, local):
    """One row against the oracle: its records, its change, its difference and its local mark."""
    x, y = Counter(as_fractions(row.x)), Counter(as_fractions(row.y))
    assert Counter(as_fractions(row.removed)) == x - y
    assert Counter(as_fractions(row.added)) == y - x
    names = {(True, False): "removed", (False, True): "added"}
    assert row.change == names.get((bool(row.removed), bool(row.added)), "replaced")
    change, _ = oracle.largest_change(query, [(as_fractions(row.x), as_fractions(row.y))])
    if isinstance(change, Fraction):
        assert (row.exact, row.difference) == (change, change.numerator / change.denominator)
        assert row.local == (change == local)
    else:
        assert row.exact is None
        assert row.difference == pytest.approx(float(change), rel=1e-15)
        # Equal differences of roots may differ in the oracle's last digits.
        assert row.local == (local - change <= local.scaleb(-55))


@pytest.mark.exhaustive
@given(data=st.data())
def test_neighbors_are_grouped_by_change(data):
    asked = data.draw(problems("symmetric difference", False))
    table = sl.neighbor_table(
        asked.universe, "sum", size=asked.size, neighbors=asked.relation, row_limit=EVERYTHING
    )
    for rows in blocks_of(table).values():
        changes = [change for change, _ in groupby(row.change for row in rows)]
        assert changes == [c for c in ("removed", "added", "replaced") if c in changes]


@pytest.mark.parametrize(
    ("norm", "value", "exact"), [("L1", 4, 4), ("L2", 8**0.5, None), ("Linf", 2, 2)]
)
def test_an_exact_vector_in_every_norm(norm, value, exact):
    universe = sl.Universe.from_domain([0, 1, 2])
    table = sl.neighbor_table(universe, Frequencies(), size=2, neighbors=sl.Bounded(2), norm=norm)
    assert (table.value, table.exact, table.norm) == (value, exact, norm)
    marked = {(row.query_x, row.query_y) for row in by_mark(table, "attains_global")}
    corners = [(2.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 2.0)]
    two_values = {(one, two) for one in corners for two in corners if one != two}
    assert two_values <= marked
    assert (marked == two_values) == (norm == "L2")
    assert f"|f(x) - f(y)| in {norm} of its x" in repr(table)
    assert f"f = frequencies, {norm} norm: global sensitivity" in repr(table)


def test_a_callers_function_in_floats():
    def middle(x):
        return x[len(x) // 2] / 3

    table = sl.neighbor_table(PICTURE, middle, size=3, neighbors="bounded")
    result = sl.global_sensitivity(PICTURE, middle, size=3, neighbors="bounded")
    assert (table.value, table.exact) == (result.value, None)
    assert all(row.exact is None for row in table)
    assert set(table.to_frame()["exact"]) == {""}
    assert repr(table).startswith(
        f"Neighbors, f = middle: global sensitivity {result.value:.10g} (float answers)\n"
    )


def test_a_vector_in_floats():
    table = sl.neighbor_table(PICTURE, Ends(), size=3, neighbors=sl.Unbounded(1), norm="Linf")
    assert table.value == 9
    assert {(row.x, row.y) for row in by_mark(table, "attains_global")} == {
        ((1, 10, 11), (10, 11)),
    } | {((1, 2, 11), (1, 2))}


def test_the_query_is_evaluated_once_per_dataset():
    seen = Counter()

    def count(x):
        seen[tuple(x)] += 1
        return 0

    sl.neighbor_table(PICTURE, count, size=3, neighbors=sl.Unbounded(1))
    # Once, and all of them again: they are no more than the sample that is asked for again.
    assert Counter(seen.values()) == {2: 25}
    assert len(seen) == 10 + 10 + 5


def test_records_that_are_replaced_by_equal_ones():
    universe = sl.Universe.from_dataset([1, 2, 2])
    table = sl.neighbor_table(universe, "sum", size=2, neighbors=sl.Bounded(1))
    same = [row for row in table if row.x == row.y]
    assert [(row.x, row.change, row.removed, row.added) for row in same] == [
        ((1, 2), "replaced", (), ())
    ]
    assert "~ replaced  a record by an equal one  y = (1, 2)" in repr(table)


def test_several_sizes():
    table = sl.neighbor_table(PICTURE, "sum", size=[3, 1], neighbors=sl.Bounded(1))
    assert {len(row.x) for row in table} == {1, 3}
    assert table.size == (1, 3)
    assert "size any of (1, 3); universe of 5 records; 15 datasets x, 80 rows" in repr(table)


def test_frame():
    table = sl.neighbor_table(PICTURE, "mean", size=2, neighbors=sl.Unbounded(1))
    frame = table.to_frame()
    assert list(frame) == [
        *("x", "query_x", "change", "removed", "added", "y", "query_y", "difference", "exact"),
        *("local", "global"),
    ]
    assert len(frame) == len(table) == 50
    assert frame.loc[frame["global"], "exact"].unique().tolist() == ["5"]
    local = frame[frame["local"]].groupby("x")["difference"].nunique()
    assert (local == 1).all()
    assert len(local) == 10
    frame["x"] = 0
    assert table.to_frame()["x"].iloc[0] == (1, 2)


def test_tables_are_frozen_and_compare():
    asked = {"size": 2, "neighbors": sl.Bounded(1)}
    table = sl.neighbor_table(PICTURE, "mean", **asked)
    assert table == sl.neighbor_table(PICTURE, sl.Mean(), **asked)
    assert hash(table) == hash(sl.neighbor_table(PICTURE, sl.Mean(), **asked))
    assert table != sl.neighbor_table(PICTURE, "median", **asked)
    with pytest.raises(FrozenInstanceError):
        table.rows = ()
