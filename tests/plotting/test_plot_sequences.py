"""The picture of two neighboring sequences."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from sensitivity_lab import spaces
from sensitivity_lab.errors import InputError
from sensitivity_lab.spaces import sequences

DAYS = sequences.SequenceUniverse(["home", "work"], longest=4)


def drawn(ax):
    """How many boxes of each kind are drawn."""
    labels = [patch.get_label() for patch in ax.patches]
    return {label: labels.count(label) for label in set(labels)}


def test_the_inserted_entry_stands_alone():
    found = spaces.global_sensitivity(DAYS, "changes", neighbors=sequences.InsertDelete())
    ax = found.plot()
    assert drawn(ax) == {"in both": 4, "only in y": 1}
    assert ax.get_title() == "f = changes\nat most 1 entry inserted or deleted"
    [side] = ax.child_axes
    assert [label.get_text() for label in side.get_yticklabels()] == ["f(x) = 0", "f(y) = 2"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        *("entry in both", "entry only in y")
    ]
    columns = {round(box.get_x(), 2) for box in ax.patches if box.get_y() > 0}
    assert columns == {-0.43, 1.57}  # x has a gap where y has its new entry
    assert ax._repr_png_().startswith(b"\x89PNG")


def test_replaced_entries_stand_one_above_the_other():
    found = spaces.global_sensitivity(DAYS, "counts", neighbors=sequences.Hamming(2))
    ax = Figure().add_subplot()
    assert found.plot(ax=ax) is ax
    kinds = drawn(ax)
    assert kinds["only in x"] == kinds["only in y"] == 2
    written = [text.get_text() for text in ax.texts if text.get_text().startswith("f(")]
    assert written == ["f(x) = (2, 0)", "f(y) = (0, 2)"]
    assert ax.get_title().startswith("f = counts, |f(x) − f(y)| = 4 in L1\n")


def test_two_empty_sequences():
    found = spaces.local_sensitivity(DAYS, "length", dataset=[], neighbors=sequences.Hamming())
    assert found.value == 0
    assert found.plot().get_legend() is None
    with pytest.raises(InputError, match=r"^ax: got 3; pass a matplotlib Axes"):
        found.plot(ax=3)
