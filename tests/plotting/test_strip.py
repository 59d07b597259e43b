"""The strip of a result: the sorted universe in blocks, and what the picture of them says."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import matplotlib as mpl
import pytest
from checks import refused
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from pictures import assert_nothing_cut_off, settle
from strategies import QUERIES, RELATIONS, problems

import sensitivity_lab as sl
from sensitivity_lab.plotting.pair import plot_strip

pytestmark = pytest.mark.exhaustive

NUMBERS = {
    "ordinary": [("B", 1, 1, 1), ("C", 5, 2, 7), ("O", 3, 7, 9), ("A", 1, 20, 20)],
    "tiny among many": [("A", 1, -5, -5), ("C", 123_456, 0, 1), ("O", 2_500_000, 1, 9)],
    "long numbers": [("C", 3, -123456.789, 1e-7), ("A", 2, 1.23456789e12, 9.87654321e15)],
    "many blocks": [("ACOB"[at % 4], 1 + at, at, at) for at in range(16)],
    "more than can be named": [("ACOB"[at % 4], 1 + at, at, at) for at in range(60)],
    "unlimited": [("C", 3, 0, 0), ("O", math.inf, 0, 1), ("A", 2, 1, 1)],
    "nothing finite": [("O", math.inf, 0, 1)],
}
each_strip = pytest.mark.parametrize("blocks", NUMBERS.values(), ids=NUMBERS)


def result_of(universe: sl.Universe, query="var", size=3, neighbors=None) -> sl.results.Sensitivity:
    return sl.global_sensitivity(
        universe, query, size=size, neighbors=neighbors or sl.Unbounded(1, direction="remove")
    )


@pytest.fixture
def result() -> sl.results.Sensitivity:
    return result_of(sl.Universe.from_dataset([1, 2, 3, 10]))


def in_blocks(ax: Axes) -> list[str]:
    """What is written into the blocks."""
    return [text.get_text() for text in ax.texts if text.get_text()[0] in "ABCO"]


# Blocks.


@pytest.mark.parametrize("family", RELATIONS)
@given(data=st.data())
def test_blocks_tell_where_every_record_is(family, data):
    asked = data.draw(problems(family, data.draw(st.booleans())))
    ours, _ = QUERIES[data.draw(st.sampled_from(["mean", "median", "var"]))]
    result = result_of(asked.universe, ours, asked.size, asked.relation)
    witness, blocks = result.witness, result.blocks
    numbers: Counter[str] = Counter()
    for part, number, first, last in blocks:
        assert part in "ABCO"
        assert number >= 1
        assert first <= last
        assert first in asked.universe
        assert last in asked.universe
        numbers[part] += number
    assert sum(numbers.values()) == asked.universe.size
    assert numbers["C"] == len(witness.shared)
    assert numbers["A"] == len(witness.only_x)
    assert numbers["B"] == len(witness.only_y)
    # In order: a block ends at most where the next one begins, and no two neighbors are alike.
    for (part, _, _, last), (following, _, first, _) in pairwise(blocks):
        assert last <= first
        assert part != following


def test_blocks_of_a_dataset(result):
    assert (result.witness.x, result.witness.y) == ((1, 2, 10), (1, 2))
    assert result.blocks == [("C", 2, 1, 2), ("O", 1, 3, 3), ("A", 1, 10, 10)]


@pytest.mark.parametrize(
    ("neighbors", "y", "blocks"),
    [
        # One 5 is shared and two are outside: the shared one continues the block of the 1.
        (sl.Unbounded(1), (1, 5), [("C", 2, 1, 5), ("O", 2, 5, 5), ("A", 1, 9, 9)]),
        # Two 5s are outside and one is A's, as the 9 is: A's 5 stands beside it.
        (
            sl.Unbounded(2, exactly=True, direction="remove"),
            *((1,), [("C", 1, 1, 1), ("O", 2, 5, 5), ("A", 2, 5, 9)]),
        ),
    ],
)
def test_equal_records_stand_beside_their_block(neighbors, y, blocks):
    result = result_of(sl.Universe([1, 5, 9], [1, 3, 1]), "sum", 3, neighbors)
    assert (result.witness.x, result.witness.y) == ((1, 5, 9), y)
    assert result.blocks == blocks


def test_unlimited_copies_are_infinitely_many_outside():
    domain = sl.Universe.from_domain([0, 1])
    result = result_of(domain, "mean", 2, sl.Bounded(1))
    outside = [number for part, number, _, _ in result.blocks if part == "O"]
    assert outside
    assert all(number == math.inf for number in outside)
    inside = {part: number for part, number, _, _ in result.blocks if part != "O"}
    assert inside == {"C": 1, "A": 1, "B": 1}


# The picture.


def test_a_result_draws_its_strip(result):
    ax = result.plot()
    settle(ax.figure)
    assert isinstance(ax, Axes)
    assert ax.get_title() == "var: sensitivity 15.9723 (unbounded (remove), at most 1, size 3)"
    assert ax.get_xlabel() == "records of the universe, ascending"
    assert in_blocks(ax) == ["C\n2", "O\n1", "A\n1"]


def test_options_reach_the_strip(result):
    ax = result.plot("strip", title="A $5 title", unit="$")
    settle(ax.figure)
    assert ax.get_title() == "A $5 title"
    assert ax.get_xlabel() == "records of the universe, ascending ($)"


def test_a_result_draws_its_witness_with_its_own_names(result):
    ax = result.plot("witness")
    settle(ax.figure)
    said = " ".join(
        [ax.get_title(loc) for loc in ("left", "center", "right")]
        + [text.get_text() for text in ax.figure.findobj(mpl.text.Text)]
    )
    assert "var" in said
    assert "unbounded (remove), at most 1" in said


def test_another_kind_of_picture_is_refused(result):
    refused(
        lambda: result.plot("pie"),
        "kind must be None or one of 'strip', 'witness', 'answers', got 'pie'",
    )


@pytest.mark.representative
@each_strip
def test_nothing_is_cut_off(blocks):
    assert_nothing_cut_off(plot_strip(blocks, title="a title", unit="US dollars").figure)


@each_strip
def test_blocks_stand_side_by_side_over_the_whole_strip(blocks):
    ax = plot_strip(blocks)
    assert len(ax.patches) == len(blocks)
    low, high = ax.get_xlim()
    edge = low
    for patch in ax.patches:
        assert patch.get_x() == pytest.approx(edge)
        assert patch.get_width() > 0
        edge += patch.get_width()
    assert edge == pytest.approx(high)


def test_width_is_in_proportion_to_the_records():
    two, six = plot_strip([("C", 20, 0, 1), ("A", 60, 2, 3)]).patches
    assert six.get_width() == pytest.approx(3 * two.get_width())


def test_a_single_record_among_millions_is_seen():
    ax = plot_strip(NUMBERS["tiny among many"])
    widths = [patch.get_width() for patch in ax.patches]
    assert widths[0] > 0.05 * sum(widths)


def test_numbers_of_records_are_whole():
    ax = plot_strip(NUMBERS["ordinary"])
    assert in_blocks(ax) == ["B\n1", "C\n5", "O\n3", "A\n1"]
    assert in_blocks(plot_strip(NUMBERS["unlimited"])) == ["C\n3", "O\nany", "A\n2"]
    assert in_blocks(plot_strip([("C", 9_999, 0, 1), ("O", 12_000, 2, 3)])) == ["C\n9999", "O\n12k"]


def test_the_records_at_both_ends_of_a_block_are_told():
    said = [text.get_text() for text in plot_strip(NUMBERS["ordinary"]).texts]
    assert [text for text in said if not text[0].isalpha()] == ["1", "2\nto 7", "7\nto 9", "20"]


def test_parts_differ_in_hatch_as_well_as_in_color():
    patches = plot_strip(NUMBERS["ordinary"]).patches
    looks = [(patch.get_facecolor(), patch.get_hatch() or "") for patch in patches]
    assert len({color for color, _ in looks}) == 4
    of_b, of_c, of_o, of_a = (hatch for _, hatch in looks)
    assert of_a != of_b
    assert (of_c, of_o) == ("", "")


def test_the_legend_names_the_parts_that_are_there():
    for blocks, expected in (
        (
            NUMBERS["ordinary"],
            ["in both (C)", "only in x (A)", "only in y (B)", "outside both (O)"],
        ),
        (NUMBERS["nothing finite"], ["outside both (O)"]),
    ):
        legend = plot_strip(blocks).get_legend()
        assert [text.get_text() for text in legend.get_texts()] == expected


def test_a_callers_axes_is_drawn_on_and_others_are_left_alone(result):
    figure = Figure(figsize=(11, 6), layout="constrained")
    FigureCanvasAgg(figure)
    upper, lower = figure.subplots(2)
    lower.set_ylabel("mine")
    assert result.plot(ax=lower) is lower
    assert lower.get_ylabel() == "mine"
    assert len(lower.patches) == 3
    assert not upper.has_data()
    assert_nothing_cut_off(figure)


def test_something_else_than_axes_is_refused(result):
    refused(
        lambda: result.plot(ax="here"),
        "ax: got 'here'; pass a matplotlib Axes or a sequence of them",
    )


def test_settings_are_left_alone(result):
    before = dict(mpl.rcParams)
    result.plot()
    assert dict(mpl.rcParams) == before
