"""The table of all neighbors: the published picture, the oracle's word on every row, both reprs."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import FrozenInstanceError, dataclass
from fractions import Fraction
from html import unescape
from html.parser import HTMLParser
from itertools import groupby
from types import SimpleNamespace

import numpy as np
import oracle
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
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


def blocks_of(table):
    return {x: list(rows) for x, rows in groupby(table, key=lambda row: row.x)}


def by_mark(table, mark):
    return [row for row in table if getattr(row, mark)]


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


@pytest.mark.representative("family")
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
        assert sorted(as_fractions(row.y) for row in rows) == sorted(asked.neighbors(x))
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
    change, _ = oracle._largest_change(query, [(as_fractions(row.x), as_fractions(row.y))])
    if isinstance(change, Fraction):
        assert (row.exact, row.difference) == (change, change.numerator / change.denominator)
        assert row.local == (change == local)
    else:
        assert row.exact is None
        assert row.difference == pytest.approx(float(change), rel=1e-15)
        # Equal differences of roots may differ in the oracle's last digits.
        assert row.local == (local - change <= local.scaleb(-55))


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
    assert set(seen.values()) == {1}
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


class Balanced(HTMLParser):
    """Reads HTML, and fails where a tag is not closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.rows, self.text = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag == "br":
            return
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append(SimpleNamespace(text="", **dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data.split()
        if "td" in self.open:
            self.rows[-1][-1].text += data


def read(html):
    reader = Balanced()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def test_html_has_a_row_per_neighbor_and_a_block_per_dataset():
    table = sl.neighbor_table(PICTURE, "median", size=3, neighbors=sl.SymmetricDifference(2))
    html = table.to_html()
    rows = read(html).rows[1:]
    assert len(rows) == len(table)
    starts = [row for row in rows if len(row) == 8]
    assert all(len(row) in (6, 8) for row in rows)
    assert [(row[0].text, int(row[0].rowspan)) for row in starts] == [
        (str(x), len(block)) for x, block in blocks_of(table).items()
    ]
    colors = {
        row[-6].text: re.search("background:(#[0-9a-f]{6})", row[-6].style)[1] for row in rows
    }
    assert list(colors) == ["- removed", "+ added", "~ replaced"]
    assert len(set(colors.values())) == 3
    assert [row[-1].text for row in rows] == [
        ", ".join(["local"] * row.local + ["global *"] * row.attains_global) for row in table
    ]
    assert html.count("<b>local") == len(by_mark(table, "local"))


def test_text_tells_the_same_as_html():
    table = sl.neighbor_table(PICTURE, "var", size=3, neighbors=sl.Unbounded(1))
    cells = [[cell.text for cell in row] for row in read(table.to_html()).rows[1:]]
    lines = [line for line in table.to_text().splitlines() if re.match("  [-+~] ", line)]
    for line, row in zip(lines, cells, strict=True):
        change, records, y, query_y, difference, marks = row[-6:]
        written = (
            f"{change} {records} y = {y} f(y) = {query_y} |f(x) - f(y)| = {difference} {marks}"
        )
        assert line.split() == written.split()
    caption = read(table.to_html()).text
    for line in table.to_text().splitlines()[:3]:
        assert " ".join(line.split()) in " ".join(caption)


def test_text_is_aligned():
    text = sl.neighbor_table(PICTURE, "mean", size=3, neighbors=sl.Unbounded(1)).to_text()
    rows = [line for line in text.splitlines() if re.match("  [-+~] ", line)]
    for mark in ("y = ", "f(y) = ", "|f(x) - f(y)| = "):
        assert len({line.index(mark) for line in rows}) == 1
    assert all(line == line.rstrip() for line in text.splitlines())


def test_records_that_are_no_numbers_are_escaped():
    records = pd.DataFrame({"<i>": ["<b>a</b>", "b & c", "b & c", '"d"']})
    table = sl.neighbor_table(
        sl.TableUniverse.from_dataset(records),
        sl.Histogram("<i>", ["b & c"]),
        size=2,
        neighbors=sl.Bounded(1),
    )
    html = table.to_html()
    cells = {cell.text for row in read(html).rows for cell in row}
    assert "(('<b>a</b>',), ('b & c',))" in cells
    assert "('<b>a</b>',) by ('b & c',)" in cells
    assert "<b>a" not in html
    assert "<i>" not in html
    assert "b & c" not in html
    assert "b & c" in unescape(html)


@pytest.mark.parametrize(
    ("neighbors", "norm", "value"),
    [
        (sl.Unbounded(1), "L1", 1),
        (sl.Unbounded(1), "L2", 1),
        (sl.Bounded(1), "L1", 2),
        (sl.Bounded(1), "L2", 2**0.5),
        (sl.Bounded(1), "Linf", 1),
    ],
)
def test_a_histogram_of_rows_with_missing_values(neighbors, norm, value):
    """Add or remove one: L1 = L2 = 1; replace one: L1 = 2, L2 = sqrt 2 (published)."""
    rows = pd.DataFrame({"sex": ["f", "m", None, "m"], "age": [20, 30, 40, np.nan]})
    universe = sl.TableUniverse.from_dataset(rows, allow_missing=True)
    query = sl.Histogram("sex", ["f", "m", None])
    asked = {"size": 2, "neighbors": neighbors, "norm": norm}
    table = sl.neighbor_table(universe, query, **asked)
    result = sl.global_sensitivity(universe, query, **asked)
    assert (table.value, table.exact) == (result.value, result.exact)
    assert table.value == value
    first = next(iter(table))
    assert first.query_x == tuple(
        float(sum(row[0] == category for row in first.x)) for category in ("f", "m", None)
    )
    for x, block in blocks_of(table).items():
        expected = Counter(sl.neighboring_datasets(x, universe, neighbors))
        assert Counter(row.y for row in block) == expected


def test_datasets_that_are_shown_alike_have_blocks_of_their_own():
    universe = sl.Universe.from_dataset(range(20))
    table = sl.neighbor_table(universe, "sum", size=19, neighbors=sl.Bounded(1))
    starts = [row for row in read(table.to_html()).rows[1:] if len(row) == 8]
    assert len(starts) == 20
    assert table.to_text().count("\nx = ") == 20


def test_a_repr_leaves_out_most_of_a_long_table_but_not_the_global_rows():
    universe = sl.Universe.from_dataset([*range(9), 1000])
    table = sl.neighbor_table(universe, "min", size=4, neighbors=sl.Unbounded(1))
    assert len(table) == 2100
    text = repr(table)
    assert text.count("\nx = ") == 21
    assert "\nx = (0, 7, 8, 1000), f(x) = 0\n" in text
    assert "global *" in text.split("\nx = ", 1)[1]
    note = "(1,890 more rows; all are in .to_frame(), .to_text() and .to_html())"
    assert text.endswith(f"\n\n{note}")
    html = table._repr_html_()
    assert html.endswith(f"<p>{note}</p>")
    assert len(read(html).rows) == 211
    assert table.to_text().count("\nx = ") == 210


ADVICE = (
    "choose a smaller universe, size or k, or a larger row_limit, or ask global_sensitivity for "
    "the largest change alone"
)


@pytest.mark.parametrize(
    ("universe", "asked", "message"),
    [
        (
            sl.Universe.from_dataset(range(20)),
            {"size": 10, "neighbors": sl.Bounded(2)},
            "the table would have more than 5,000 rows: 184,756 datasets x (size 10; universe of "
            "20 records), and the first, (0, 1, 2, 3, 4, 5, 6, 7, 8, 9), alone has 2,125 neighbors "
            f"(bounded, at most 2); {ADVICE}",
        ),
        (
            PICTURE,
            {"size": [2, 3], "neighbors": sl.Unbounded(1), "row_limit": 99},
            "the table would have more than 99 rows: 20 datasets x (size any of (2, 3); universe "
            "of 5 records), and the first, (1, 2), alone has 5 neighbors (unbounded, at most 1); "
            f"{ADVICE}",
        ),
        (
            sl.Universe.from_domain(range(4000)),
            {"size": 1, "neighbors": "bounded"},
            "the table would have more than 5,000 rows: 4,000 datasets x (size 1; domain of 4,000 "
            "values, unlimited copies), and the first, (0,), alone has 4,000 neighbors (bounded, "
            f"at most 1); {ADVICE}",
        ),
    ],
    ids=["datasets", "sizes", "neighbors"],
)
def test_too_many_rows(universe, asked, message):
    def never(x):
        raise AssertionError(f"the rows are counted first, but the query saw {x}")

    with pytest.raises(sl.TooLargeError) as caught:
        sl.neighbor_table(universe, never, **asked)
    assert str(caught.value) == message


def test_the_limit_itself_is_allowed():
    asked = {"size": 3, "neighbors": sl.Unbounded(1)}
    assert len(sl.neighbor_table(PICTURE, "mean", **asked, row_limit=50)) == 50
    with pytest.raises(sl.TooLargeError):
        sl.neighbor_table(PICTURE, "mean", **asked, row_limit=49)


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        (
            {"universe": [1, 2]},
            sl.InputError,
            "universe must be a Universe, got list; make one with Universe.from_dataset(records) "
            "or Universe.from_domain(values)",
        ),
        (
            {"size": 6},
            sl.InputError,
            "size must be at most the universe's number of records, 5; got 6",
        ),
        ({"norm": "L3"}, sl.InputError, "norm must be one of 'L1', 'L2', 'Linf', got 'L3'"),
        (
            {"neighbors": sl.Bounded(4)},
            sl.InputError,
            "bounded, at most 4 is not feasible for datasets of size 3 in a universe of 5 records: "
            "replacing needs k <= size and at least one record outside x; the largest feasible k "
            "is 3",
        ),
        (
            {"query": sl.Var(ddof=2), "neighbors": sl.Unbounded(1)},
            sl.InputError,
            "var_ddof_2 needs at least 3 records, but datasets of size 2 occur among x and y; "
            "choose a larger size or a smaller k",
        ),
        (
            {"row_limit": 0},
            sl.InputError,
            "row_limit must be a number of rows, at least 1, got 0",
        ),
        (
            {"query": sl.from_function(lambda x: 1 / int(x[0] - 1), name="f")},
            sl.QueryError,
            "query 'f' on the dataset (1, 2, 3) raised ZeroDivisionError: division by zero",
        ),
        (
            {"universe": sl.Universe([10**200, *range(4)]), "query": "var"},
            sl.InputError,
            "var, bounded, at most 1: an answer of about 1e399 is beyond the range of floats "
            "(about 1.8e308); divide the records by a constant",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_what_is_not_accepted(changed, error, message):
    asked = {"universe": PICTURE, "query": "mean", "size": 3, "neighbors": sl.Bounded(1), **changed}
    with pytest.raises(error) as caught:
        sl.neighbor_table(asked.pop("universe"), asked.pop("query"), **asked)
    assert str(caught.value) == message
