"""The pictures of two neighboring graphs, sequences and datasets of a caller's own."""

from __future__ import annotations

from dataclasses import replace

import pytest
from checks import refused_with
from matplotlib.figure import Figure

from sensitivity_lab import spaces

DAYS = spaces.sequences(["home", "work"], 4, "insert_delete")
WORDS = spaces.Space(["tea", "t" * 500], lambda a, b: int(a != b))


def drawn(marks):
    """How many lines or boxes of each kind are drawn."""
    labels = [mark.get_label() for mark in marks]
    return {label: labels.count(label) for label in set(labels)}


def test_the_changed_edges_are_marked():
    found = spaces.global_sensitivity(
        spaces.graphs(5, "edge"), "triangles", neighbors=spaces.Within(1)
    )
    ax = found.plot()
    assert drawn(ax.get_lines()) == {"in both": 12, "only in y": 1}
    assert ax.get_title() == "f = triangles\nedge neighbors, at most 1 edge added or removed"
    [side] = ax.child_axes
    assert [label.get_text() for label in side.get_yticklabels()] == ["f(x) = 0", "f(y) = 3"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        *("edge in both", "edge only in y")
    ]


def test_vectors_stand_below_their_graphs():
    found = spaces.global_sensitivity(
        spaces.graphs(5, "node"), "degree_histogram", neighbors=spaces.Within(1)
    )
    ax = Figure().add_subplot()
    assert found.plot(ax=ax) is ax
    numbers = [text.get_text() for text in ax.texts if text.get_text().isdigit()]
    assert (numbers.count("0"), numbers.count("4")) == (2, 2)
    assert len(ax.collections) == 10
    written = [text.get_text() for text in ax.texts if text.get_text().startswith("f(")]
    assert len(written) == 2
    assert ax.get_title().startswith("f = degree_histogram, |f(x) − f(y)| = 10 in L1\n")


def test_sequences_are_written_as_text():
    found = spaces.global_sensitivity(DAYS, "changes", neighbors=spaces.Within(1))
    ax = found.plot()
    assert [text.get_text() for text in ax.texts] == [
        *("('home', 'home')", "('home', 'work', 'home')", "x", "y")
    ]
    assert ax.get_title() == "f = changes\nat most 1 entry inserted or deleted"


@pytest.mark.parametrize(
    ("space", "query"), [(DAYS, "length"), (spaces.graphs(3, "edge"), "max_degree")]
)
def test_two_empty_datasets(space, query):
    found = spaces.local_sensitivity(space, query, dataset=[], neighbors=spaces.Within(1))
    empty = replace(found, witness=replace(found.witness, y=()))
    assert empty.plot().get_legend() is None
    refused_with(lambda: found.plot(ax=3), r"^ax: got 3; pass a matplotlib Axes")


def test_datasets_are_written_as_text_and_long_ones_cut():
    found = spaces.global_sensitivity(WORDS, len, neighbors=spaces.Within())
    ax = found.plot()
    short, long, *names = [text.get_text() for text in ax.texts]
    assert (short, names) == ("'tea'", ["x", "y"])
    assert long.startswith("'ttt")
    assert max(map(len, long.split("\n"))) <= 44
    assert len(long) < 200
    assert ax.get_title() == "f = len\ndistance at most 1 by the metric"
    [side] = ax.child_axes
    assert [label.get_text() for label in side.get_yticklabels()] == ["f(x) = 3", "f(y) = 500"]


def test_vectors_stand_beside_datasets():
    found = spaces.global_sensitivity(
        WORDS, lambda word: [len(word), 1], neighbors=spaces.Within(), norm="L2"
    )
    ax = Figure().add_subplot()
    assert found.plot(ax=ax) is ax
    written = [text.get_text() for text in ax.texts if text.get_text().startswith("f(")]
    assert written == ["f(x) = (3, 1)", "f(y) = (500, 1)"]
    assert ax.get_title().startswith("f = function, |f(x) − f(y)| = 497 in L2\n")
