"""The comparison of errors: every row is the mechanism that the other calls describe."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import matplotlib.pyplot as plt
import pytest
from checks import refused, refused_with
from pictures import assert_nothing_cut_off, callers_axes

import sensitivity_lab as sl
from sensitivity_lab.errors import DatasetUniverseWarning
from sensitivity_lab.noise.clipped_noise import ClippedNoise

DAYS = sl.Universe.from_domain(range(61))
STAYS = [round(60 * (i / 200) ** 3) for i in range(201)]
EPSILON, DELTA = 1.5, 1e-5
CHOICES: dict[str, Any] = {
    "dataset": STAYS,
    "epsilon": EPSILON,
    "delta": DELTA,
    "range": (0, 60),
    "step": 0.5,
    "bound": 3,
    "clip": (2, 30),
}


@pytest.fixture(scope="module", params=[1, 3], ids=["one row", "three rows"])
def compared(request: pytest.FixtureRequest) -> tuple[sl.Bounded, sl.noise.ErrorComparison]:
    neighbors = sl.Bounded(request.param)
    return neighbors, sl.noise.compare(DAYS, "median", neighbors=neighbors, **CHOICES)


def errors_of(found: sl.noise.ErrorComparison) -> dict[str, Any]:
    return {row.mechanism: row for row in found}


def noisy(noise: str, scale: float, before: float) -> ClippedNoise:
    return ClippedNoise(noise, scale, before - 8, 0 - 8, 60 - 8)


def test_every_row_is_that_of_its_own_call(
    compared: tuple[sl.Bounded, sl.noise.ErrorComparison],
) -> None:
    neighbors, found = compared
    k = neighbors.k
    assert (found.answer, found.size, len(found)) == (8, 201, 7)
    rows = errors_of(found)
    everywhere = sl.global_sensitivity(DAYS, "median", size=201, neighbors=neighbors)
    between = sl.Universe.from_domain(range(2, 31))
    clipped = sl.global_sensitivity(between, "median", size=201, neighbors=neighbors)
    smooth = {
        delta: sl.smooth_sensitivity(
            DAYS,
            "median",
            dataset=STAYS,
            neighbors=neighbors,
            beta=sl.noise.smooth_beta(EPSILON, delta, k=k),
        )
        for delta in (None, DELTA)
    }
    scales = {
        "global Laplace": ("Laplace", sl.noise.laplace_scale(everywhere, EPSILON)),
        "global Gaussian": (
            "Gaussian",
            sl.noise.analytic_gaussian_scale(everywhere, EPSILON, DELTA),
        ),
        "clipped Laplace": ("Laplace", sl.noise.laplace_scale(clipped, EPSILON)),
        "smooth Cauchy": ("Cauchy", sl.noise.smooth_cauchy_scale(smooth[None], EPSILON)),
        "smooth Laplace": (
            "Laplace",
            sl.noise.smooth_laplace_scale(smooth[DELTA], EPSILON, DELTA),
        ),
    }
    for name, (noise, scale) in scales.items():
        expected = noisy(noise, scale, 8)
        assert rows[name].errors == expected, name
        assert rows[name].expected_error == expected.expected_error
        assert rows[name].error_quantile(0.9) == expected.error_quantile(0.9)
        assert rows[name].chance_of_answer == 1
    proposed = sl.noise.propose_test_release(
        DAYS,
        "median",
        dataset=STAYS,
        bound=3,
        test_epsilon=EPSILON / 2,
        noise_epsilon=EPSILON / 2,
        delta=DELTA,
        neighbors=neighbors,
    )
    row = rows["propose-test-release"]
    assert row.errors == noisy("Laplace", proposed.scale, 8)
    assert row.chance_of_answer == proposed.chance_of_answer
    reach = sl.reach(
        DAYS,
        "median",
        dataset=STAYS,
        neighbors="bounded",
        distances=math.ceil(2 * k * (math.log(121) + 14) / EPSILON),
    )
    grid = [Fraction(i, 2) for i in range(121)]
    law = sl.noise.inverse_sensitivity(reach, epsilon=EPSILON, grid=grid, k=k)
    assert rows["inverse sensitivity"].expected_error == law.expected_error
    assert rows["inverse sensitivity"].median_error == law.median_error
    assert rows["inverse sensitivity"].errors.r == law.r


def test_records_that_are_clipped_have_another_answer() -> None:
    found = sl.noise.compare(
        DAYS,
        "mean",
        dataset=[0, 0, 60],
        epsilon=1,
        range=(0, 60),
        clip=(0, 30),
        neighbors="bounded",
    )
    row = errors_of(found)["clipped Laplace"]
    # The mean is 20, that of clipped records 10; one of three changes it by up to 10.
    assert row.errors == ClippedNoise("Laplace", 10.0, -10.0, -20.0, 40.0)


@pytest.mark.exhaustive
def test_intervals_and_sizes() -> None:
    hours = sl.Universe.from_interval(0, 100)
    data = [10.0, 20.0, 30.0, 40.0]
    given: dict[str, Any] = {"dataset": data, "epsilon": 1, "delta": 0.1, "range": (0, 100)}
    found = sl.noise.compare(hours, "mean", neighbors="bounded", clip=(0, 50), bound=1, **given)
    reasons = {row.mechanism: row.reason for row in found if row.reason}
    assert reasons == {
        "smooth Cauchy": "smooth sensitivity is for finite universes",
        "smooth Laplace": "smooth sensitivity is for finite universes",
        "propose-test-release": "the distance to instability is for finite universes",
    }
    assert errors_of(found)["clipped Laplace"].errors.scale == 12.5
    private = sl.noise.compare(DAYS, "mean", neighbors="unbounded", **given | {"delta": None})
    row = errors_of(private)["global Laplace"]
    assert row.reason.startswith("the number of records is private: pass size=")
    assert math.isnan(row.expected_error)
    sized = sl.noise.compare(
        DAYS, "mean", neighbors="unbounded", size=range(1, 50), **given | {"delta": None}
    )
    # From one record to two, a mean moves by half of the range.
    assert errors_of(sized)["global Laplace"].errors.scale == 30
    # A sum has one sensitivity at all sizes.
    sums = sl.noise.compare(DAYS, "sum", neighbors="unbounded", **given | {"range": (0, 6000)})
    assert errors_of(sums)["global Laplace"].errors.scale == 60


def test_without_delta_and_bounds_rows_are_left_out_with_a_reason() -> None:
    found = sl.noise.compare(
        DAYS, "median", dataset=STAYS, epsilon=[2, 1], range=(0, 60), step=1, neighbors="bounded"
    )
    frame = found.to_frame()
    assert frame["epsilon"].tolist() == [1.0] * 7 + [2.0] * 7
    assert set(frame.loc[frame["reason"] == "", "mechanism"]) == {
        *("global Laplace", "smooth Cauchy", "inverse sensitivity"),
    }
    assert frame.loc[frame["reason"] == "", "guarantee"].unique().tolist() == ["epsilon-DP"]
    assert frame.loc[frame["reason"] != "", "expected_error"].isna().all()
    text = repr(found)
    assert "left out   global Gaussian, smooth Laplace: needs a delta" in text
    assert "chance_of_answer" not in text
    for told in (text, found._repr_html_()):
        assert (
            "choosing a mechanism, a bound, a range or a width by private data is itself a release "
            "that no epsilon covers" in told
        )
        assert "universe, relation, range; step, farthest, width" in told


def test_an_epsilon_that_a_mechanism_does_not_support_is_a_reason() -> None:
    found = sl.noise.compare(
        DAYS, "median", dataset=STAYS, epsilon=4, delta=0.1, range=(0, 60), neighbors="bounded"
    )
    row = errors_of(found)["smooth Laplace"]
    assert row.reason.startswith("epsilon must be a number from 1e-9 to 3 where a delta is given")


def test_listed_records_must_be_public() -> None:
    listed = sl.Universe.from_dataset(STAYS)
    given: dict[str, Any] = {"dataset": STAYS[:100], "epsilon": 1, "range": (0, 60)}
    given["neighbors"] = "bounded"
    with pytest.warns(DatasetUniverseWarning, match="^universe: the universe is a list") as told:
        sl.noise.compare(listed, "median", **given)
    assert [one.filename for one in told] == [__file__]
    sl.noise.compare(listed, "median", public_universe=True, **given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"range": (5, 5)}, "range must be two different numbers, got (5, 5)"),
        (
            {"step": 7},
            "step must be a number of which the width of the range, 60, is a multiple, and at most "
            "99,999 times as large, got 7",
        ),
        (
            {"neighbors": sl.Unbounded(1, direction="add")},
            "neighbors: unbounded (add), at most 1 is not compared, because some mechanisms need "
            "the distance between all datasets, and all of them neighbors at most k apart; use a "
            "relation that replaces, or that adds and removes, with exactly=False",
        ),
        (
            {"neighbors": sl.Bounded(2, exactly=True)},
            "neighbors: bounded, exactly 2 is not compared, because some mechanisms need the "
            "distance between all datasets, and all of them neighbors at most k apart; use a "
            "relation that replaces, or that adds and removes, with exactly=False",
        ),
        (
            {"size": 201},
            "size is for relations that add or remove; under bounded, at most 1 it is the public "
            "number of records of the dataset: leave it out",
        ),
        (
            {"query": lambda x: x.mean() / 3},
            "query: function has answers in floats, whose rounding errors are not known; use a "
            "built-in query or an ExactQuery",
        ),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    given = {"query": "median", "neighbors": "bounded", **CHOICES, **arguments}
    query = given.pop("query")
    refused(lambda: sl.noise.compare(DAYS, query, **given), message)


def test_vectors_are_refused() -> None:
    rows = sl.TableUniverse.from_domain({"a": ["x", "y"]})
    refused_with(
        lambda: sl.noise.compare(
            rows,
            sl.Histogram("a", ["x", "y"]),
            dataset=[("x",), ("y",)],
            epsilon=1,
            range=(0, 2),
            neighbors="bounded",
        ),
        "has 2 answers, and errors are compared of one number",
    )


@pytest.mark.exhaustive
def test_picture_has_a_line_per_mechanism_and_says_where_no_answer_is_likely() -> None:
    found = sl.noise.compare(
        DAYS,
        "median",
        neighbors="bounded",
        **CHOICES | {"epsilon": [0.1, 0.5, 2], "bound": Fraction(1, 2)},
    )
    figure = found.plot("days")
    [ax] = figure.axes
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[:7] == list(dict.fromkeys(row.mechanism for row in found))
    assert labels[7:] == ["an answer is unlikely"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("epsilon", "expected error (days)")
    lines = [line for line in ax.get_lines() if line.get_linestyle() != "None"]
    looks = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines}
    assert len(looks) == len(lines) == 7
    drawn = dict(zip(labels, lines, strict=False))
    frame = found.to_frame()
    for name, line in drawn.items():
        assert (
            line.get_ydata().tolist()
            == frame.loc[frame["mechanism"] == name, "expected_error"].tolist()
        )
    assert_nothing_cut_off(figure)
    _, mine = callers_axes()
    assert found.plot(ax=mine, error="error_90", title="") is mine
    assert mine.get_ylabel() == "error that 9 of 10 releases do not exceed"
    refused_with(
        lambda: found.plot(error="mean"), r"^error must be one of 'expected_error', 'median_"
    )
    plt.close("all")


def test_a_step_stands_for_the_decimal_that_python_prints() -> None:
    asked: dict[str, Any] = {"dataset": STAYS, "epsilon": 1, "neighbors": "bounded"}
    for outputs, step, exact in (
        ((0, 60), 0.05, Fraction(1, 20)),
        ((0, 60.6), 0.1, Fraction(1, 10)),
    ):
        found, other = (
            sl.noise.compare(DAYS, "median", range=outputs, step=one, **asked)
            for one in (step, exact)
        )
        assert found.to_frame().equals(other.to_frame())
