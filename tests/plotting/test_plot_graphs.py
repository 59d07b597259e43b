"""The picture of two neighboring graphs."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from sensitivity_lab import spaces
from sensitivity_lab.errors import InputError
from sensitivity_lab.spaces import graphs

FIVE = graphs.GraphUniverse(5)


def drawn(ax):
    """How many edges of each kind are drawn."""
    labels = [line.get_label() for line in ax.get_lines()]
    return {label: labels.count(label) for label in set(labels)}


def test_the_changed_edges_are_marked():
    found = spaces.global_sensitivity(FIVE, "triangles", neighbors=graphs.EdgeNeighbors())
    ax = found.plot()
    assert drawn(ax) == {"in both": 12, "only in y": 1}
    assert ax.get_title() == "f = triangles\nedge neighbors, at most 1 edge added or removed"
    [side] = ax.child_axes
    assert [label.get_text() for label in side.get_yticklabels()] == ["f(x) = 0", "f(y) = 3"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        *("edge in both", "edge only in y")
    ]
    assert ax._repr_png_().startswith(b"\x89PNG")


def test_a_node_that_is_gone_has_no_number():
    found = spaces.global_sensitivity(
        FIVE, "degree_histogram", neighbors=graphs.NodeNeighbors(change="remove")
    )
    ax = Figure().add_subplot()
    assert found.plot(ax=ax) is ax
    numbers = [text.get_text() for text in ax.texts if text.get_text().isdigit()]
    assert (numbers.count("0"), numbers.count("4")) == (1, 2)
    assert len(ax.collections) == 10
    written = [text.get_text() for text in ax.texts if text.get_text().startswith("f(")]
    assert len(written) == 2
    assert ax.get_title().startswith("f = degree_histogram, |f(x) − f(y)| = 9 in L1\n")


def test_two_graphs_without_edges():
    found = spaces.global_sensitivity(
        graphs.GraphUniverse(3, []), "edges", neighbors=graphs.NodeNeighbors(change="remove")
    )
    assert found.value == 0
    assert found.plot().get_legend() is None
    with pytest.raises(InputError, match=r"^ax: got 3; pass a matplotlib Axes"):
        found.plot(ax=3)
