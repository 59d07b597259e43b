"""Plans: what is measured and follows, how private it is, what is refused; published once."""

from __future__ import annotations

import copy
import datetime
import json
import math
import random
import re
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sensitivity_lab as sl
from sensitivity_lab.errors import InputError
from sensitivity_lab.noise.scales import ratio
from sensitivity_lab.releases.measurements import CentredSquares
from sensitivity_lab.releases.opendp_noise import measurement
from sensitivity_lab.releases.rows import number_of_cell, text_of_cell

PERSON = sl.releases.Person("id", max_rows=2)
LARGE = pytest.mark.filterwarnings("ignore:(epsilon|delta) .* is large")

ALL = {
    "n": "count",
    "sum": ("v", "sum"),
    "mean": ("v", "mean"),
    "var": ("v", "var"),
    "std": ("v", "std"),
    "median": ("v", "median"),
    "p10": ("v", "percentile_10"),
    "p90": ("v", sl.Percentile(90)),
}


def plan(**given: Any) -> sl.releases.Plan:
    asked = {"person": PERSON, "epsilon": 1, "bounds": {"v": range(25)}, "agg": ALL, **given}
    return sl.releases.plan(asked.pop("person"), **asked)


def table(rng: random.Random, rows: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": range(rows),
            "g": [rng.choice("abc") for _ in range(rows)],
            "v": [rng.choice([0, 1, 1, 2, 3, 5, 8, 13, 24]) for _ in range(rows)],
        }
    )


def by_pandas(data: pd.DataFrame) -> pd.DataFrame:
    of = data.groupby("g")["v"]
    found = of.agg(["count", "sum", "mean", "var", "std", "median"])
    return found.assign(p10=of.quantile(0.1), p90=of.quantile(0.9))


@pytest.mark.parametrize("rows", [1, 2, 7, 60])
@pytest.mark.parametrize("bounds", [range(25), (0, 24), range(-100, 200), (3.3, 9)], ids=str)
def test_without_noise_it_is_what_pandas_computes(rows, bounds):
    data = table(random.Random(rows), rows)
    found = plan(groupby={"g": list("abcd")}, bounds={"v": bounds}).without_noise(data).to_frame()
    expected = by_pandas(data).reindex(list("abcd"))
    for name, other in zip(ALL, expected.columns, strict=True):
        want = expected[other].fillna(0) if name in ("n", "sum") else expected[other]
        np.testing.assert_allclose(found[name], want, rtol=1e-12, atol=1e-12)


@LARGE
def test_percentiles_from_bins_are_inside_their_bin():
    made = plan(
        epsilon=1e5,
        bounds={"v": (0, 1000)},
        bins={"v": [0, 10, 100, 500]},
        step={"v": 1},
        agg={
            "median": ("v", "median"),
            "p0": ("v", "percentile_0"),
            "p100": ("v", "percentile_100"),
        },
    )
    data = pd.DataFrame({"id": range(4), "v": [12, 14, 90, 600]})
    found = made.rehearse(data).to_frame()
    assert found[["median", "p0", "p100"]].iloc[0].tolist() == [70, 10, 1000]
    assert found[["median_low", "median_high"]].iloc[0].tolist() == [10, 1000]


def test_histograms_have_the_public_bins_and_whole_numbers():
    made = plan(
        bounds={"v": (0, 30)}, bins={"v": [0, 10, 20]}, step={"v": 1}, agg={"h": ("v", "histogram")}
    )
    data = pd.DataFrame({"id": range(5), "v": [-5, 9.4, 9.5, 30, 77]})
    [found] = made.without_noise(data).histograms.values()
    assert found.columns.tolist() == ["0 to below 10", "10 to below 20", "20 to 30"]
    assert found.iloc[0].tolist() == [2, 1, 2]
    assert plan(agg={"h": ("v", "histogram")}).without_noise(data).histograms["h"].shape == (1, 25)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"agg": {"n": "count"}, "bounds": None}, ["count"]),
        ({"agg": {"m": ("v", "mean")}}, ["count", "sum of v"]),
        ({"agg": {"m": ("v", "mean"), "n": "count", "s": ("v", "sum")}}, ["count", "sum of v"]),
        ({"agg": ALL}, ["histogram of v"]),
        # 25 noisy bins make a count five times as wrong as one that is measured.
        ({"agg": {"s": ("v", "std"), "n": "count"}}, ["count", "sum of v", "squares of v"]),
        (
            {"agg": ALL, "bounds": {"v": (0, 1)}},
            ["count", "histogram of v", "sum of v", "squares of v"],
        ),
        ({"agg": {"m": ("v", "median")}, "bounds": {"v": (0, 1)}}, ["histogram of v"]),
        (
            {
                "agg": {"m": ("v", "median"), "w": ("w", "mean"), "n": ("w", "count")},
                "bounds": {"v": range(3), "w": (0, 1)},
            },
            ["count", "histogram of v", "sum of w"],
        ),
    ],
    ids=str,
)
def test_as_little_as_possible_is_measured_and_each_thing_once(given, names):
    assert plan(**given).to_frame()["name"].tolist() == names


def test_sensitivities_of_the_design():
    """Centred sums move by half of the range for each row, squares by an eighth of its square."""
    found = plan(bounds={"v": (10, 50)}, agg={"s": ("v", "std")}, step={"v": 0.1}).to_frame()
    assert found["sensitivity"].tolist() == [2, 2 * 20, 2 * 200]
    joint = plan(
        bounds={"v": (10, 50)},
        agg={"s": ("v", "std")},
        step={"v": 0.1},
        delta=1e-6,
        split=[1, 1, 1],
    )
    v, scales = 20, joint.to_frame()["scale"]
    r = ratio(Fraction(1), Fraction(1e-6))
    needed = [2 * r * math.sqrt(3) * by for by in (1, v, v**2 / 2)]
    np.testing.assert_allclose(scales, needed, rtol=1e-4)
    # One mechanism: the squares of sensitivity over scale add up to 1 / r**2.
    spent = sum((by * 2 / scale) ** 2 for by, scale in zip((1, v, v**2 / 2), scales, strict=True))
    assert spent <= 1 / r**2 <= spent * 1.001


@LARGE
@pytest.mark.opendp
@pytest.mark.parametrize("delta", [None, 1e-6, 0.3])
@pytest.mark.parametrize("epsilon", [1e-3, 1, Fraction(1, 3), 17])
@pytest.mark.parametrize("rows", [1, 5, 1000])
def test_the_map_of_each_noise_is_at_most_its_share(epsilon, delta, rows):
    """OpenDP's own map of the very measurement that draws: the shares add up to the whole."""
    pytest.importorskip("opendp.prelude")
    made = plan(
        person=sl.releases.Person("id", max_rows=rows),
        epsilon=epsilon,
        delta=delta,
        bounds={"v": (0, 7)},
        split={"count": 1, "histogram of v": 3, "sum of v": 2, "squares of v": Fraction(1, 3)},
    )
    whole = Fraction(0)
    for noise in made.noise.values():
        step = noise.finer
        made_by_opendp = measurement(noise)
        d_in = int(noise.sensitivity) if delta is None else float(noise.sensitivity) * step
        assert Fraction(made_by_opendp.map(d_in)) <= noise.share
        assert noise.scale * step >= (1024 if delta else 0)
        whole += noise.share
    budget = (
        Fraction(epsilon)
        if delta is None
        else 1 / (2 * Fraction(ratio(Fraction(epsilon), Fraction(delta))) ** 2)
    )
    assert whole <= budget <= whole * (1 + Fraction(1, 2**38))


@pytest.mark.opendp
@pytest.mark.parametrize("delta", [None, 1e-6])
def test_what_is_drawn_has_the_scale_of_the_plan(delta):
    """The mean size of the noise on 4,000 counts of nobody, within five standard errors."""
    pytest.importorskip("opendp.prelude")
    made = plan(
        bounds=None, agg={"n": "count"}, groupby={"g": list(map(str, range(4000)))}, delta=delta
    )
    drawn = made.publish(pd.DataFrame({"id": [], "g": []})).to_frame()["n"]
    [expected] = made.to_frame()["expected_error"]
    assert drawn.dtype == np.int64
    assert abs(drawn.abs().mean() - expected) < 5 * drawn.abs().std() / math.sqrt(4000) + 0.2
    rehearsed = made.errors(pd.DataFrame({"id": [], "g": []}), times=1).error.to_numpy().mean()
    assert abs(rehearsed - expected) < 0.05 * expected + 0.1


@pytest.mark.opendp
def test_a_plan_is_published_once(tmp_path):
    pytest.importorskip("opendp.prelude")
    data, made = table(random.Random(1), 50), plan(epsilon=2)
    with pytest.raises(InputError, match="unknown column 'v'"):
        made.publish(data.drop(columns="v"))
    assert not made.published
    made.save(tmp_path / "before.json")
    released = made.publish(data)
    assert made.published
    assert made.plot(data)
    refused = (
        "this plan was published before. To publish it again would cost its epsilon again, 4 in "
        "all: if that is what you want, make a new plan"
    )
    with pytest.raises(InputError, match="File exists; name a new one, since"):
        plan().publish(data, tmp_path)
    written = released.save(tmp_path / "new")
    assert [path.name for path in written] == ["statistics.csv", "plan.json", "privacy.txt"]
    for again in (made, copy.copy(made), sl.releases.load(tmp_path / "new" / "plan.json")):
        with pytest.raises(InputError) as caught:
            again.publish(data)
        assert str(caught.value) == refused
    assert not sl.releases.load(tmp_path / "before.json").published
    with pytest.raises(InputError, match="since nothing is overwritten"):
        released.save(tmp_path / "new")
    assert (tmp_path / "new" / "privacy.txt").read_text() == f"{made}\n"


@pytest.mark.parametrize("delta", [None, Fraction(1, 10**6)])
def test_a_saved_plan_is_the_same_plan(delta, tmp_path):
    made = plan(
        person=sl.releases.Person("id", max_groups=2, max_rows_per_group=3),
        epsilon=Fraction(1, 3),
        delta=delta,
        bounds={"v": (0, 7), "w": range(3)},
        bins={"v": [0, 1.5, 7]},
        step={"v": 0.5},
        groupby={"g": ["a", 3], "h": [True]},
        agg={**ALL, "h": ("w", "histogram"), "third": ("v", sl.Percentile(Fraction(100, 3)))},
        split=[1, 2, 3, 4, Fraction(1, 3)],
    )
    made.save(tmp_path / "plan.json")
    again = sl.releases.load(tmp_path / "plan.json")
    assert repr(again) == repr(made)
    assert again.to_dict() == made.to_dict()
    assert again.noise == made.noise
    assert json.loads((tmp_path / "plan.json").read_text())["published"] is False


def test_rehearsals_repeat_and_say_what_they_are():
    data, made = table(random.Random(2), 300), plan(groupby={"g": list("abc")})
    first, second, other = (made.rehearse(data, seed=seed) for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(first.to_frame(), second.to_frame())
    assert not first.to_frame().equals(other.to_frame())
    assert not made.published
    for result, title in (
        (first, "A rehearsal with made-up rows: never publish these numbers"),
        (
            made.without_noise(data),
            "Exact and private, of the rows that count: never publish these numbers",
        ),
    ):
        assert repr(result).startswith(title)
        assert title in result._repr_html_()
        with pytest.raises(InputError, match="only what was published can be saved"):
            result.save("x")


def test_the_noise_hides_what_is_divided_by_few_rows():
    data = pd.DataFrame({"id": range(5), "v": 3})
    made = plan(agg={"n": "count", "mean": ("v", "mean")}, bounds={"v": (0, 10)}, epsilon=0.01)
    drafts = [made.rehearse(data, seed=seed).to_frame().iloc[0] for seed in range(50)]
    assert sum(math.isnan(draft["mean"]) for draft in drafts) > 45
    assert all(0 <= draft["mean"] <= 10 for draft in drafts if not math.isnan(draft["mean"]))
    errors = made.errors(data, times=50)
    assert errors.hidden.loc["all rows", "mean"] > 0.9
    assert errors.hidden.loc["all rows", "n"] == 0


@pytest.mark.further
def test_errors_on_the_table_of_the_guide():
    """Visits of randhie, five plans, five rows a person, epsilon 1: means over plans."""
    from statsmodels.datasets import randhie

    data = randhie.load_pandas().data
    costs = (np.exp(data["lncoins"]) - 1).round().astype(int)
    visits = pd.DataFrame({"plan": costs, "visits": data["mdvis"]})
    made = sl.releases.plan(
        sl.releases.Person(max_rows=5),
        epsilon=1,
        bounds={"visits": range(25)},
        groupby={"plan": ["0", "25", "50", "95", "100"]},
        agg={name: ("visits", name) for name in ("mean", "std", "median")},
    )
    errors = made.errors(visits, seed=0, times=200)
    noise = errors.parts["noise"].mean()
    assert noise["mean"] <= 0.15
    assert noise["std"] <= 0.4
    assert noise["median"] <= 0.1
    # A few of 20,190 rows have more than 24 visits, which count as 24.
    assert errors.parts["bounds"]["mean"].max() <= 0.1
    assert errors.error["mean"].mean() <= noise["mean"] + errors.parts["bounds"]["mean"].mean()


@pytest.mark.parametrize("kind", ["polars", "csv", "semicolons", "parquet"])
def test_frames_and_files_are_read_by_one_set_of_rules(kind, tmp_path):
    data = pd.DataFrame(
        {
            "id": ["007", "7", "NA", None, "x y", "7", "7"],
            "g": ["a", "NA", "a", "a", "b", "NA", "NA"],
            "v": [1.0, 2.5, math.nan, 3.0, 4.0, 9.0, 7.0],
        }
    )
    given: Any = tmp_path / "t.csv"
    if kind == "polars":
        given = pytest.importorskip("polars").from_pandas(data)
    elif kind == "parquet":
        pytest.importorskip("pyarrow")
        pytest.importorskip("duckdb")
        given = tmp_path / "t.parquet"
        data.to_parquet(given)
    elif kind == "csv":
        data.to_csv(given, index=False)
    else:
        data.to_csv(given, index=False, sep=";", decimal=",")
    made = plan(groupby={"g": ["a", "NA", "b"]}, bounds={"v": (0, 10)}, step={"v": 0.5})
    pd.testing.assert_frame_equal(
        made.without_noise(given).to_frame(), made.without_noise(data).to_frame()
    )
    assert made.without_noise(data).to_frame()["n"].tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ((50, 50.0, "50", "50.0", " 50 ", np.int8(50), np.float32(50)), "50"),
        ((0, 0.0, -0.0, "-0", "0.00", "-0.0"), "0"),
        ((2.5, "2.50", np.float64(2.5)), "2.5"),
        (("007",), "007"),
        (("12E4",), "12E4"),
        (("NA",), "NA"),
        (("None",), "None"),
        ((True, np.True_), "True"),
        (
            (pd.Timestamp("2024-02-01"), pd.Timestamp("2024-02-01").date(), "2024-02-01"),
            "2024-02-01",
        ),
        ((None, math.nan, pd.NA, pd.NaT, "", "  "), None),
        ((1e-7, "0.0000001"), "0.0000001"),
        ((2**60, str(2**60)), str(2**60)),
    ],
    ids=str,
)
def test_ids_and_keys_are_texts(cells, text):
    assert {text_of_cell(cell) for cell in cells} == {text}


@pytest.mark.parametrize(
    ("cells", "number"),
    [
        ((3, 3.0, "3", " 3.0 ", "3e0", np.int8(3), Fraction(3)), 3),
        ((True, "true", 1), 1),
        ((math.inf, "inf", "Infinity", 10**400), math.inf),
        ((math.nan, None, pd.NA, pd.NaT, "", "NA", "n/a", "x", "1_000", [1], 1j), math.nan),
        ((2**53 + 1, float(2**53 + 1), str(2**53 + 1)), 2.0**53),
    ],
    ids=str,
)
def test_cells_with_bounds_are_numbers(cells, number):
    assert {repr(number_of_cell(cell)) for cell in cells} == {repr(float(number))}


def test_a_cell_that_is_an_array_is_unreadable():
    cells = pd.Series([np.array([1, 2]), [1], 3], dtype=object)
    made = plan(person=sl.releases.Person(max_rows=1), agg={"n": ("v", "count")})
    found = made.check(pd.DataFrame({"v": cells})).tally
    assert (found.used, found.unreadable) == (1, {"v": 2})


def test_whose_rows_are_kept_does_not_depend_on_the_ids_of_others():
    """A text among them turns a column of whole numbers into one of objects."""
    ids = [10**18 + 1, 2 * 10**18, 2**63 - 1, -(2**63), 7]
    values = [*range(10)] * len(ids)
    rows = pd.DataFrame({"id": np.repeat(ids, 10), "v": values})
    more = pd.DataFrame({"id": [*rows["id"].tolist(), "x"], "v": [*values, 24]})
    made = plan(agg={"sum": ("v", "sum")})
    alone, beside = (made.without_noise(one).to_frame()["sum"].item() for one in (rows, more))
    assert beside == alone + 24


def test_equal_times_in_two_zones_are_two_groups_whoever_comes_first():
    noon = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)
    later = noon.astimezone(datetime.timezone(datetime.timedelta(hours=1)))
    made = plan(
        person=sl.releases.Person(max_rows=1),
        groupby={"g": [noon.isoformat(), later.isoformat()]},
        **COUNT,
    )
    for cells, expected in (([later], [0, 1]), ([noon, later], [1, 1]), ([later, noon], [1, 1])):
        data = pd.DataFrame({"g": pd.Series(cells, dtype=object)})
        assert made.without_noise(data).to_frame()["n"].tolist() == expected


@pytest.mark.parametrize("steps", [1, 2, 7, 2**16, 2**17 - 1, 2**17, 10**7, 2**24 - 1, 2**24])
def test_squares_move_by_their_sensitivity_at_most_and_fit_into_64_bits(steps):
    made = plan(
        person=sl.releases.Person(max_rows=1),
        bounds={"v": range(steps + 1)},
        agg={"std": ("v", "std")},
    )
    squares = CentredSquares(made.source.grids["v"])
    places = {0, steps // 2, (steps + 1) // 2, steps}
    rows = [made.source.read(pd.DataFrame({"v": [place]})) for place in places]
    moved = [abs(squares.exact(one, 1).item()) for one in rows]
    assert max(moved) <= squares.most <= 2**34
    assert max(moved) * squares.unit == pytest.approx(steps**2 / 8)


@LARGE
@pytest.mark.opendp
def test_the_std_of_many_large_numbers_is_not_cut_off():
    values = np.random.default_rng(0).lognormal(10.5, 0.6, 100_000).astype(int)
    made = plan(
        person=sl.releases.Person(max_rows=1),
        epsilon=1000,
        bounds={"v": range(10**7 + 1)},
        agg={"std": ("v", "std")},
    )
    found = made.publish(pd.DataFrame({"v": values})).to_frame()["std"].item()
    assert found == pytest.approx(np.std(values, ddof=1), rel=0.05)


DATA = pd.DataFrame({"id": [1, 1, 2], "g": ["a", "b", "a"], "v": [1, 2, 3]})
COUNT = {"agg": {"n": "count"}, "bounds": None}
REFUSED = {
    # argument, kind, reason
    "no limit": (lambda: sl.releases.Person("id"), "give max_rows="),
    "both limits": (lambda: sl.releases.Person("id", max_rows=1, max_groups=2), "give max_rows="),
    "half a limit": (lambda: sl.releases.Person("id", max_groups=2), "give max_rows="),
    "limits by group of nobody": (
        lambda: sl.releases.Person(max_groups=2, max_rows_per_group=1),
        "max_groups= needs the column that says whose a row is",
    ),
    "no noise": (lambda: plan(epsilon=math.inf), "make a plan and take its without_noise"),
    "a large epsilon with delta": (
        lambda: plan(epsilon=1000, delta=1e-6),
        "epsilon must be a number from 1e-9 to 100",
    ),
    "bounds of the data": (
        lambda: plan(bounds={"v": (DATA.v.min(), DATA.v.max())}),
        "bounds['v'] comes from an array or a table",
    ),
    "bounds of nothing": (lambda: plan(bounds={"v": (3, 3)}), "two different numbers"),
    "bounds in the wrong order": (lambda: plan(bounds={"v": (3, 1)}), "bounds['v'] must be two"),
    "no bounds": (lambda: plan(bounds=None), "give bounds={'v': (lowest, highest)}"),
    "bounds of no statistic": (
        lambda: plan(bounds={"v": range(3), "w": range(3)}),
        "bounds names 'w', of which agg asks for nothing",
    ),
    "groups of the data": (
        lambda: plan(groupby={"g": DATA.g.unique()}, **COUNT),
        "which groups occur there is private",
    ),
    "groups as a column": (
        lambda: plan(groupby={"g": DATA.g}, **COUNT),
        "which groups occur there is private",
    ),
    "open groups": (lambda: plan(groupby={"g": None}, **COUNT), "must list the groups to publish"),
    "groups without an order": (
        lambda: plan(groupby={"g": {"a", "b"}}, **COUNT),
        "must list the groups to publish",
    ),
    "groups that no cell can be in": (
        lambda: plan(groupby={"g": ["a", 1e300]}, **COUNT),
        "each once and none empty",
    ),
    "bounds beyond floats": (
        lambda: plan(bounds={"v": (-1e308, 1e308)}),
        "neither beyond 1e100",
    ),
    "bounds beyond floats as a range": (
        lambda: plan(bounds={"v": range(0, 10**400, 10**399)}),
        "neither beyond 1e100",
    ),
    "groups as one text": (lambda: plan(groupby={"g": "ab"}, **COUNT), "must list the groups"),
    "a group twice": (lambda: plan(groupby={"g": [1, "1.0"]}, **COUNT), "each once and none empty"),
    "no groups": (lambda: plan(groupby={"g": []}, **COUNT), "each once and none empty"),
    "the largest value": (
        lambda: plan(agg={"m": ("v", "max")}),
        "it follows one person; take a high percentile, such as 'percentile_95'",
    ),
    "a statistic that is none": (lambda: plan(agg={"m": ("v", "mode")}), "publish a 'histogram'"),
    "a percentile beyond 100": (
        lambda: plan(agg={"m": ("v", "percentile_101")}),
        "a percentile is from 0 to 100, got 'percentile_101'",
    ),
    "several statistics of a column": (
        lambda: plan(agg={"v": ["mean", "std"]}),
        "one for each number, got ['mean', 'std']; write {'v_mean': ('v', 'mean')}",
    ),
    "a limit of the data": (
        lambda: sl.releases.Person("id", max_rows=DATA.groupby("id").size().max()),
        "max_rows comes from an array or a table",
    ),
    "a histogram in the file of the others": (
        lambda: plan(agg={"Statistics": ("v", "histogram"), "n": "count"}),
        "'statistics' is another one's; give it another name",
    ),
    "two histograms in one file": (
        lambda: plan(agg={"a?": ("v", "histogram"), "a!": ("v", "histogram")}),
        "'a_' is another one's; give it another name",
    ),
    "ids as the index": (
        lambda: plan().without_noise(DATA.set_index("id")),
        "is the table's index; call reset_index() first",
    ),
    "a statistic without a column": (lambda: plan(agg={"m": "mean"}), "or a pair (column"),
    "nothing asked": (lambda: plan(agg={}), "agg is empty"),
    "two roles": (lambda: plan(groupby={"v": ["1"]}), "the column 'v' has two roles"),
    "a person as a group": (lambda: plan(groupby={"id": ["1"]}, **COUNT), "'id' has two roles"),
    "a step that does not fit": (lambda: plan(step={"v": 7}), "step must divide the range of 'v'"),
    "a step of no column": (lambda: plan(step={"w": 7}), "step names 'w', which bounds does not"),
    "bins off the grid": (lambda: plan(bins={"v": [0, 0.5]}), "bins['v'] must list ascending"),
    "bins of the data": (
        lambda: plan(bins={"v": np.quantile(DATA.v, [0, 0.5])}),
        "bins['v'] comes from an array or a table",
    ),
    "a split of other names": (lambda: plan(split={"n": 1}), "the names are 'histogram of v'"),
    "too many numbers": (
        lambda: plan(groupby={"g": list(map(str, range(10**6)))}),
        "the plan would publish 25,000,000 numbers",
    ),
    "a seed for what is published": (lambda: plan().publish(DATA, seed=1), "seed"),
    "no table": (lambda: plan().without_noise([1, 2]), "table must be a DataFrame of pandas"),
    "a missing column": (
        lambda: plan().without_noise(DATA[["v"]]),
        "unknown column 'id'; the columns are 'v'",
    ),
    "two columns of one name": (
        lambda: plan().without_noise(pd.concat([DATA, DATA], axis=1)),
        "two columns of the table have one name",
    ),
    "ids that floats do not tell apart": (
        lambda: plan().publish(DATA.assign(id=2.0**53)),
        "a tenth or more of the column 'id' cannot be read",
    ),
    "ids that are no texts": (
        lambda: plan().publish(DATA.assign(id=[[1], [2], [3]])),
        "a tenth or more of the column 'id' cannot be read; plan.check(table) says how much",
    ),
    "a file that is not there": (lambda: plan().without_noise("no.csv"), "cannot read 'no.csv'"),
    "a seed that is none": (lambda: plan().rehearse(DATA, seed=-1), "seed must be a whole number"),
    "no plan": (lambda: sl.releases.load("README.md"), "'README.md' is no plan of a release"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refusals(what):
    call, reason = REFUSED[what]
    with pytest.raises((InputError, TypeError)) as caught:
        call()
    assert reason in str(caught.value)


def test_errors_show_no_cell():
    secret = DATA.assign(id=["x", ["secret"], "y"], v=["secret", "z", 1])
    with pytest.raises(InputError) as caught:
        plan().publish(secret)
    assert "secret" not in str(caught.value) + repr(plan().check(secret))
    assert plan().without_noise(secret.assign(id=1)).to_frame()["n"].tolist() == [1]


@pytest.mark.further
def test_each_row_of_a_person_has_the_same_chance_to_count():
    """Nine rows of 0 and one of 10: of 2,000 people some 200 keep the 10."""
    people = np.repeat(range(2000), 10)
    values = ([0] * 9 + [10]) * 2000
    rows = pd.DataFrame({"id": people, "v": values, "g": list("a" * 9 + "b") * 2000})
    made = plan(
        person=sl.releases.Person("id", max_rows=1),
        groupby={"g": ["a", "b"]},
        agg={"n": "count", "sum": ("v", "sum")},
    )
    found = made.without_noise(rows).to_frame()
    assert found["n"].sum() == 2000
    assert 140 < found.loc["b", "n"] < 260
    assert found.loc["b", "sum"] == 10 * found.loc["b", "n"]


@LARGE
def test_errors_are_those_of_all_rows_with_what_the_limit_drops():
    rows = pd.DataFrame({"id": np.repeat(range(100), 3), "v": 2})
    made = plan(epsilon=1000, agg={"n": "count", "sum": ("v", "sum")})
    errors = made.errors(rows, times=20)
    assert errors.exact.iloc[0].tolist() == [300, 600]
    assert errors.error.iloc[0].round(0).tolist() == [100, 200]


@pytest.mark.parametrize("column", ["id", "patient_id", "Customer", "e-mail", "name"])
def test_a_column_of_people_that_the_plan_leaves_out_is_named(column, tmp_path):
    made = plan(person=sl.releases.Person(max_rows=5), agg={"n": "count"}, bounds=None)
    data = pd.DataFrame({column: [1, 1, 2], "ward": list("aab")})
    data.to_csv(tmp_path / "visits.csv", index=False)
    told = re.escape(f"Person without a column, and the table has {column!r}: if that says whose a")
    files = [tmp_path / "visits.csv", str(tmp_path / "visits.csv")]
    if find_spec("pyarrow") and find_spec("duckdb"):
        files.append(tmp_path / "visits.parquet")
        data.to_parquet(files[-1])
    for given in (data, *files):
        with pytest.warns(UserWarning, match=told):
            found = made.without_noise(given)
        assert found.to_frame()["n"].tolist() == [3]


@pytest.mark.parametrize(
    "column", ["row", "Unnamed: 0", "index", "row_id", "visit_id", "timestamp"]
)
def test_a_person_that_numbers_rows_is_named(column):
    with pytest.warns(UserWarning, match="mostly tells rows apart, and then it limits nobody"):
        plan(person=sl.releases.Person(column, max_rows=1))


def test_other_names_of_columns_give_no_warning(recwarn):
    data = pd.DataFrame({"plan": [1], "visits": [2], "width": [3], "paid": [1], "v": [4]})
    made = plan(person=sl.releases.Person(max_rows=1), agg={"n": "count"}, bounds=None)
    made.without_noise(data)
    plan(person=sl.releases.Person("borrower", max_rows=1))
    assert not recwarn.list


def test_a_picture_of_errors_ends_where_numbers_do_and_names_what_it_leaves_out():
    """A standard deviation near 0 whose error is larger: its bar ends at 0, not at -1."""
    data = pd.DataFrame({"id": range(60), "v": [0] * 59 + [1]})
    errors = plan(
        agg={"s": ("v", "std"), "n": "count", "h": ("v", "histogram")}, bounds={"v": range(4)}
    ).errors(data)
    assert (errors.exact["s"] < errors.error["s"]).all()
    figure = errors.plot()
    assert figure.get_suptitle().endswith("\nnot drawn: h")
    spread, counts = figure.axes
    [bar] = spread.collections[0].get_segments()
    assert bar[0][0] >= 0
    assert bar[1][0] == pytest.approx((errors.exact["s"] + errors.error["s"]).item())
    assert all(one == round(one) for one in counts.get_xticks())


def test_a_picture_of_errors_writes_large_numbers_out():
    data = pd.DataFrame({"id": range(500), "v": [500_000] * 500})
    errors = plan(agg={"s": ("v", "sum")}, bounds={"v": (0, 500_000)}).errors(data)
    figure = errors.plot()
    figure.canvas.draw()
    [axis] = figure.axes
    written = [label.get_text() for label in axis.get_xticklabels()]
    assert all(one.replace(",", "").lstrip("−-").isdecimal() for one in written)
    assert axis.xaxis.get_offset_text().get_text() == ""
