"""The picture of two answers, coordinate by coordinate, and which pictures a result has."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from checks import refused
from pictures import assert_nothing_cut_off, callers_axes

import sensitivity_lab as sl
from sensitivity_lab.plotting.pair import plot_answers

UNIVERSE = sl.Universe.from_dataset([1, 2, 3, 10])


def pair(first, second):
    return SimpleNamespace(query_x=first, query_y=second)


def heights(ax):
    return [[bar.get_height() for bar in bars] for bars in ax.containers]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def ticks(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def vector_result(norm="L1"):
    scalar = sl.global_sensitivity(UNIVERSE, "mean", size=3, neighbors=sl.Bounded(1))
    witness = replace(scalar.witness, query_x=(2.0, 0.0), query_y=(1.0, 1.0))
    return replace(scalar, witness=witness, value=2.0, upper=2.0, norm=norm)


@pytest.mark.exhaustive
def test_a_pair_of_bars_per_coordinate():
    ax = plot_answers(pair((2, 0, 1), (1, 1, 1)), ["red", "green", "$blue$"], unit="records")
    assert heights(ax) == [[2, 0, 1], [1, 1, 1]]
    assert ticks(ax) == ["red", "green", "$blue$"]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("answer (records)", "")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["f(x)", "f(y)"]
    assert_nothing_cut_off(ax.figure)


def test_only_differences_are_marked_each_over_its_pair():
    ax = plot_answers(pair((2, 5, -3), (1, 5, 1)))
    assert [(text.get_text(), text.xy) for text in ax.texts] == [("−1", (0, 2)), ("+4", (2, 1))]
    assert ax.get_legend().get_title().get_text() == "above: f(y) − f(x)"
    assert ax.get_ylim()[0] < -3
    assert ax.get_ylim()[1] > 5


def test_bars_start_at_zero_and_are_told_apart_without_color():
    ax = plot_answers(pair((1000, 7), (1001, 7)))
    assert ax.get_ylim()[0] == 0
    first, second = ax.containers
    assert (first[0].get_hatch(), second[0].get_hatch()) == ("", "////")
    lightness = [sum(bars[0].get_facecolor()[:3]) for bars in ax.containers]
    assert lightness[1] - lightness[0] > 1


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (1 / 3, 1, "+0.666667"),
        (1e9, 1e9 - 3, "−3"),
        (0.1 + 0.2, 0.3, "−6e-17"),
        (1e16, 1e16 + 2, "+2"),
        (0.0, 12345.678, "+12345.7"),
        (0.0, 1 / 3, "+0.333334"),  # away from 0, as a sensitivity is,
    ],
)
def test_differences_have_the_digits_that_the_answers_have(first, second, text):
    ax = plot_answers(pair((first, 1), (second, 1)))
    assert [one for part in (ax, *ax.child_axes) for one in texts(part)] == [text]


@pytest.mark.exhaustive
def test_a_small_change_of_large_answers_has_bars_of_its_own():
    ax = plot_answers(pair((1000, 950, 1100), (1000, 945, 1105)), unit="records")
    [above] = ax.child_axes
    assert heights(above) == [[0, -5, 5]]
    assert texts(above) == ["−5", "+5"]
    assert texts(ax) == []
    assert above.get_ylabel() == "f(y) − f(x)"
    assert_nothing_cut_off(ax.figure)
    _, mine = callers_axes()
    before = mine.get_position()
    assert plot_answers(pair((1000, 7), (1001, 7)), ax=mine) is mine
    assert mine.get_position().height < before.height


def test_of_many_coordinates_those_that_differ_are_drawn():
    first = tuple(range(1000))
    ax = plot_answers(pair(first, (5, *first[1:70], 0, *first[71:])))
    assert heights(ax) == [[0, 70], [5, 0]]
    assert ticks(ax) == ["0", "70"]
    assert ax.get_xlabel() == "the 2 of 1,000 coordinates that differ"


def test_an_answer_that_is_one_number():
    ax = plot_answers(pair(3.0, 2.0), title="mean")
    assert heights(ax) == [[3], [2]]
    assert (ax.get_title(), ticks(ax), texts(ax)) == ("mean", ["0"], ["−1"])


def test_equal_answers():
    ax = plot_answers(pair((0, 0), (0, 0)))
    assert texts(ax) == []
    assert ax.get_legend().get_title().get_text() == ""


def test_a_long_title_is_broken_and_its_lines_are_kept():
    ax = plot_answers(pair((0, 0), (0, 1)), title=f"two\nlines, {'the second is long ' * 3}")
    first, *rest = ax.get_title().split("\n")
    assert first == "two"
    assert len(rest) == 2


@pytest.mark.exhaustive
def test_many_coordinates():
    ax = plot_answers(pair(tuple(range(100)), tuple(range(1, 101))))
    assert ticks(ax) == [str(place) for place in range(0, 100, 5)]
    assert ax.get_xlabel() == "coordinate of f"
    assert texts(ax) == []
    one = plot_answers(pair((0,) * 100, (0,) * 99 + (1,)), [f"category {i}" for i in range(100)])
    assert texts(one) == ["+1"]
    assert ticks(one) == ["category 99"]
    assert_nothing_cut_off(one.figure)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ["a"]}, "labels: got 1 for answers of 2 coordinates; give 2"),
        ({"ax": 3}, "ax: got 3; pass a matplotlib Axes or a sequence of them"),
    ],
)
def test_what_is_not_accepted(options, message):
    refused(lambda: plot_answers(pair((1, 2), (2, 1)), **options), message)


@pytest.mark.parametrize("kind", [None, "answers"])
def test_a_results_vectors_are_drawn(kind):
    ax = vector_result("L2").plot(kind, labels=["low", "high"], unit="records")
    title = "mean: sensitivity 2 in L2 (bounded, at most 1, size 3)"
    assert ax.get_title().replace("\n", " ") == title
    assert heights(ax) == [[2, 0], [1, 1]]
    assert ticks(ax) == ["low", "high"]


def test_a_results_numbers_are_drawn_on_request():
    result = sl.global_sensitivity(UNIVERSE, "mean", size=3, neighbors=sl.Bounded(1))
    ax = result.plot("answers")
    assert heights(ax) == [[5], [2]]
    third = sl.global_sensitivity([0, 0, 0, 1], "mean", size=3, neighbors=sl.Bounded(1))
    assert texts(third.plot("answers")) == ["−0.333334"]
    assert "sensitivity 0.333334 " in third.plot().get_title()
    title = "mean: sensitivity 3 (bounded, at most 1, size 3)"
    assert ax.get_title().replace("\n", " ") == title


@pytest.mark.exhaustive
def test_a_histogram_of_a_table():
    table = sl.TableUniverse.from_domain({"sex": ["f", "m", "x"]})
    query = sl.Histogram("sex", ["f", "m", "x"])
    result = sl.global_sensitivity(table, query, size=3, neighbors=sl.Bounded(1))
    ax = result.plot(labels=query.categories, unit="records")
    title = "histogram of sex: sensitivity 2 in L1 (bounded, at most 1, size 3)"
    assert ax.get_title().replace("\n", " ") == title
    assert sorted(texts(ax)) == ["+1", "−1"]
    assert all(tick == int(tick) for tick in ax.get_yticks())
    assert_nothing_cut_off(ax.figure)


@pytest.mark.parametrize("kind", ["strip", "witness"])
def test_other_pictures_refuse_vectors(kind):
    refused(
        lambda: vector_result().plot(kind),
        f"kind {kind!r} cannot show answers that are vectors; use plot('answers')",
    )


@pytest.mark.parametrize("kind", ["strip", "witness"])
def test_other_pictures_refuse_records_that_are_no_numbers(kind):
    scalar = sl.global_sensitivity(UNIVERSE, "count", size=3, neighbors=sl.Unbounded(1))
    words = replace(scalar, universe=sl.TableUniverse.from_domain({"sex": ["f", "m"]}))
    refused(
        lambda: words.plot(kind),
        f"kind {kind!r} cannot show records that are not numbers; use plot('answers')",
    )
    assert len(words.plot().containers) == 2


@pytest.mark.further
@pytest.mark.parametrize("letters", [33, 60])
def test_names_of_many_letters_are_not_cut_off(letters):
    names = [(word * 10)[:letters] for word in ("aaaaaa ", "bbbbbb ")]
    column = "diagnosis at the time of discharge"
    universe = sl.TableUniverse.from_domain({column: names})
    asked = {"size": 20, "neighbors": "bounded", "norm": "L2"}
    found = sl.global_sensitivity(universe, sl.Histogram(column, names), **asked)
    assert_nothing_cut_off(found.plot().figure)


def test_a_difference_that_is_rounded_up_says_so():
    said = {17633.41: "= 17633.5\n(rounded up)", 17633.5: "= 17633.5"}
    for most, text in said.items():
        universe = sl.Universe.from_domain([0, most])
        found = sl.global_sensitivity(universe, "max", size=3, neighbors="bounded")
        [side] = found.plot("witness").child_axes
        assert side.get_title(loc="left") == f"|f(x) − f(y)|\n{text}"
