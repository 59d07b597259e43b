"""The table of all neighbors as text and as HTML."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from neighbor_rows import blocks_of, by_mark

import sensitivity_lab as sl

PICTURE = sl.Universe.from_dataset([1, 2, 3, 10, 11])


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
    html = table._repr_html_()
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
    cells = [[cell.text for cell in row] for row in read(table._repr_html_()).rows[1:]]
    lines = [line for line in repr(table).splitlines() if re.match("  [-+~] ", line)]
    for line, row in zip(lines, cells, strict=True):
        change, records, y, query_y, difference, marks = row[-6:]
        written = (
            f"{change} {records} y = {y} f(y) = {query_y} |f(x) - f(y)| = {difference} {marks}"
        )
        assert line.split() == written.split()
    caption = read(table._repr_html_()).text
    for line in repr(table).splitlines()[:3]:
        assert " ".join(line.split()) in " ".join(caption)


def test_text_is_aligned():
    text = repr(sl.neighbor_table(PICTURE, "mean", size=3, neighbors=sl.Unbounded(1)))
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
    html = table._repr_html_()
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
        expected = Counter(sl.neighboring_datasets(universe, x, neighbors))
        assert Counter(row.y for row in block) == expected


@pytest.mark.exhaustive
def test_datasets_that_are_shown_alike_have_blocks_of_their_own():
    universe = sl.Universe.from_dataset(range(20))
    added = sl.Unbounded(1, direction="add")
    table = sl.neighbor_table(universe, "sum", size=19, neighbors=added)
    starts = [row for row in read(table._repr_html_()).rows[1:] if len(row) == 8]
    assert len(starts) == 20
    assert repr(table).count("\nx = ") == 20


@pytest.mark.exhaustive
def test_a_repr_leaves_out_most_of_a_long_table_but_not_the_global_rows():
    universe = sl.Universe.from_dataset([*range(9), 1000])
    table = sl.neighbor_table(universe, "min", size=4, neighbors=sl.Unbounded(1))
    assert len(table) == 2100
    text = repr(table)
    assert text.count("\nx = ") == 21
    assert "\nx = (0, 7, 8, 1000), f(x) = 0\n" in text
    assert "global *" in text.split("\nx = ", 1)[1]
    note = "(1,890 more rows; all are in .to_frame())"
    assert text.endswith(f"\n\n{note}")
    html = table._repr_html_()
    assert html.endswith(f"<p>{note}</p>")
    assert len(read(html).rows) == 211
