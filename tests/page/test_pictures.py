"""The pictures: what they draw, where, and what they do not draw."""

from __future__ import annotations

import math
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from sensitivity_lab.explorer import pictures
from sensitivity_lab.explorer.fan import Fan
from sensitivity_lab.explorer.pair import Pair, Rug

PAIR = Pair(("1", "9"), ("1", "2"), ("9",), ("2",), 2, 2, 1, 5.0, 1.5)
BLOCKS = [("B", 1, 1, 1), ("C", 5, 2, 6), ("O", math.inf, 7, 15), ("A", 1, 20, 20)]


FAN = Fan((30.0, 20.0, 20.0, 10.0), (30.0, 40.0, 50.0, 50.0), "20", "50", "10", "20", "bounded")


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    return [one.text for one in parsed(svg).iter("text")]


def numbers(svg: str, tag: str, attribute: str, role: str = "") -> list[float]:
    found = [
        one for one in parsed(svg).iter(tag) if role in one.get("class", "").split() or not role
    ]
    return [float(one.get(attribute)) for one in found]


def inside(svg: str) -> bool:
    """Whether all that has a place is within the picture."""
    _, _, width, height = map(float, parsed(svg).get("viewBox").split())
    return all(
        -0.1 <= float(value) <= (width if name.startswith(("x", "cx")) else height) + 0.1
        for one in parsed(svg).iter()
        for name, value in one.items()
        if name in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy")
    )


def test_a_curve_has_its_points_from_zero_and_a_mark_at_k():
    svg = pictures.curve([(1, 2.0), (2, 4.0), (3, 4.0)], 2, "mean")
    heights = numbers(svg, "circle", "cy")
    assert heights[1] == heights[2] < heights[0]
    (marked,) = numbers(svg, "circle", "cx", "chosen")
    assert marked == numbers(svg, "circle", "cx")[1]
    assert texts(svg) == [*"01234", *"123", "Hamming distance k (at most)"]
    (baseline,) = numbers(svg, "line", "y1", "axis")
    # Half of the largest value is half as high.
    assert baseline - heights[0] == pytest.approx((baseline - heights[1]) / 2, abs=0.2)
    assert inside(svg)


@pytest.mark.parametrize("values", [[0.0], [1e-300], [1e300, 2e300], [0.1] * 50])
def test_a_curve_of_any_size_is_drawn(values):
    svg = pictures.curve(list(enumerate(values, 1)), 1, "<sum>")
    assert len(numbers(svg, "circle", "cx")) == len(values)
    assert "nan" not in svg
    assert inside(svg)


def test_a_reach_goes_outward_from_the_answer_with_its_moves_at_k():
    svg = pictures.reach(FAN, 2, 20.0, "20", "median")
    # f(x) = 30 is where both ends begin; what lies twice as far from it is twice as far away.
    across, heights = numbers(svg, "circle", "cx", "dot"), numbers(svg, "circle", "cy", "dot")
    upper, lower = heights[:4], heights[4:]
    assert across[:4] == across[4:] == sorted(across[:4])
    assert upper[0] == lower[0] > upper[1] > upper[2] == upper[3]
    assert (lower[0] - lower[2]) / (upper[0] - upper[2]) == pytest.approx(-1 / 2, abs=0.01)
    assert numbers(svg, "circle", "cx", "chosen") == [across[2]] * 2
    assert numbers(svg, "circle", "cy", "chosen") == [upper[2], lower[2]]
    written = texts(svg)
    assert {"+20", "−10", "±20", "f(x)", "local at k"} <= set(written)
    assert "Hamming distance k from x (at most)" in written
    bar, *_ = (one for one in parsed(svg).iter("polyline") if one.get("class") == "local")
    below, above = (float(point.split(",")[1]) for point in bar.get("points").split())
    assert above == pytest.approx(upper[2], abs=0.11)  # the local sensitivity is the larger move
    assert below - upper[0] == pytest.approx(upper[0] - above, abs=0.11)
    assert inside(svg)


@pytest.mark.parametrize(
    ("lower", "upper", "local"),
    [
        ((7.0, 7.0), (7.0, 7.0), 0.0),
        ((1e300, -1e300), (1e300, 1e300), 2e300),
        ((1e9, 1e9 - 1), (1e9, 1e9 + 2), 2.0),
        ((0.0, *[-1e-300] * 50), (0.0, *[0.0] * 50), 1e-300),
    ],
)
def test_a_reach_of_any_size_is_drawn(lower, upper, local):
    fan = Fan(lower, upper, "a", "b", "1.23457e+300", "1.23457e+300", "bounded")
    svg = pictures.reach(fan, 1, local, "1.23457e+300", "<sum>")
    assert len(numbers(svg, "circle", "cx", "dot")) == 2 * len(lower)
    assert "nan" not in svg
    ticks = [one.text for one in parsed(svg).iter("text") if one.get("text-anchor") == "end"]
    assert len(set(ticks)) == len(ticks)
    for one in parsed(svg).iter("text"):  # a character has at most 9 of the picture's units
        wide, place = 9 * len(one.text), float(one.get("x"))
        shift = {"start": 0, "middle": wide / 2, "end": wide}[one.get("text-anchor")]
        assert place - shift >= -9
        assert place - shift + wide <= pictures.WIDTH + 9
    assert inside(svg)


def test_a_strip_names_its_blocks_and_widens_narrow_ones():
    svg = pictures.strip(BLOCKS)
    assert texts(svg)[:8] == ["B", "1", "C", "5", "O", "any", "A", "1"]
    assert texts(svg)[8:] == ["1", "2 to 6", "7 to 15", "20"]
    widths = numbers(svg, "rect", "width")
    assert widths[1] == pytest.approx(5 * widths[0], abs=0.6)
    assert pictures.to_scale(BLOCKS[:2])
    assert not pictures.to_scale([("B", 1, 1, 1), ("C", 10**6, 2, 6)])
    assert inside(svg)


def test_labels_of_a_strip_do_not_meet():
    blocks = [("A", 1, 10**9 + i, 10**9 + i) for i in range(12)]
    svg = pictures.strip(blocks)
    places = [
        (float(one.get("y")), float(one.get("x")), len(one.text))
        for one in parsed(svg).iter("text")
        if one.text.startswith("100")
    ]
    assert len(places) == 12
    for (y, x, length), (other_y, other_x, _) in zip(
        sorted(places), sorted(places)[1:], strict=False
    ):
        assert y != other_y or other_x - x >= 6 * length
    assert inside(svg)


def test_noise_stands_on_the_axis_of_the_records():
    svg = pictures.noise(PAIR, 2.0, Rug(1, 9, (1, 2, 9)), "mean")
    assert len(numbers(svg, "line", "x1", "rug")) == 3
    assert texts(svg)[:2] == ["f(x) = 5", "f(y) = 1.5"]
    assert texts(svg)[-1] == "records (ticks) and noisy answers"
    (at_x,), (at_y,) = (numbers(svg, "line", "x1", f"answer {role}".split()[1]) for role in "AB")
    ticks = numbers(svg, "line", "x1", "rug")
    assert (at_x - at_y) / (5 - 1.5) == pytest.approx((ticks[2] - ticks[0]) / 8, rel=0.01)
    assert inside(svg)


def test_a_wider_noise_is_wider():
    def width(scale):
        polygon = next(parsed(pictures.noise(PAIR, scale, Rug(1, 900), "mean")).iter("polygon"))
        places = [float(point.split(",")[0]) for point in polygon.get("points").split()]
        return max(places) - min(places)

    assert width(20.0) > 3 * width(2.0)


def test_the_noise_falls_as_that_of_laplace_does():
    """One scale from the answer, 1/e of the height; two scales, 1/e²; symmetric."""
    svg = pictures.noise(PAIR, 2.0, Rug(1, 9, (1, 5, 9)), "mean")
    first = next(parsed(svg).iter("polygon"))
    points = [tuple(map(float, point.split(","))) for point in first.get("points").split()]
    base = points[0][1]
    ticks = numbers(svg, "line", "x1", "rug")
    unit = (ticks[2] - ticks[0]) / 8
    for scales in (-2, -1, 0, 1, 2):
        place = ticks[1] + 2 * scales * unit  # the middle tick is at f(x) = 5
        _, height = min(points[1:-1], key=lambda point: abs(point[0] - place))
        top = min(y for _, y in points)
        assert (base - height) / (base - top) == pytest.approx(math.exp(-abs(scales)), abs=0.03)


@pytest.mark.parametrize(
    ("query", "answers"), [("var", (5.0, 1.5)), ("count", (5.0, 4.0)), ("sum", (500.0, 400.0))]
)
def test_answers_that_are_no_places_among_records_have_an_axis_of_their_own(query, answers):
    pair = replace(PAIR, answer_x=answers[0], answer_y=answers[1])
    svg = pictures.noise(pair, 2.0, Rug(1, 9, (1, 2, 9)), query)
    assert numbers(svg, "line", "x1", "rug") == []
    assert texts(svg)[-1] == f"noisy answer of {query}"


def test_without_noise_there_is_a_sentence():
    assert "sensitivity is 0" in pictures.noise(PAIR, 0.0, None, "mean")
    assert "beyond the floats" in pictures.noise(PAIR, math.inf, None, "mean")
    assert "beyond the floats" in pictures.curve([(1, math.inf)], 1, "mean")
    assert "beyond the floats" in pictures.reach(FAN, 1, math.inf, "inf", "mean")
