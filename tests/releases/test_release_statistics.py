"""What a release says of its own errors: intervals, the errors of a plan, and the layout.

Noise is drawn by a rehearsal, which has the scales of a publication. Truths are pandas'.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

import sensitivity_lab as sl
from sensitivity_lab.releases.grid import grid_of
from sensitivity_lab.releases.layout import layout_of
from sensitivity_lab.releases.measurements import Bins, CentredSquares, CentredSum, RowCount
from sensitivity_lab.releases.statistics import Sums

STATISTICS = {
    "n": "count",
    "sum": ("v", "sum"),
    "mean": ("v", "mean"),
    "std": ("v", "std"),
    "median": ("v", "median"),
    "p90": ("v", "percentile_90"),
}


def records(shape, rows, rng):
    if shape == "skewed":
        return np.minimum(rng.geometric(0.3, rows) - 1, 60)
    return rng.integers(0, 61, rows)


SETTINGS = list(product((5, 40, 300, 5000), ("skewed", "even"), (0.2, 0.5, 1, 2, 5)))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("rows", "shape", "epsilon"), SETTINGS)
def test_intervals_hold_in_85_of_100_releases(rows, shape, epsilon):
    """Of the numbers that are shown and of those that are not: an empty one rules nothing out."""
    rng = np.random.default_rng(rows)
    data = pd.DataFrame({"v": records(shape, rows, rng)})
    made = sl.releases.plan(
        sl.releases.Person(max_rows=1), epsilon=epsilon, bounds={"v": range(61)}, agg=STATISTICS
    )
    truth = made.without_noise(data).to_frame().iloc[0]
    held = dict.fromkeys(STATISTICS, 0)
    times = 150
    for seed in range(times):
        found = made.rehearse(data, seed=seed).to_frame().iloc[0]
        for name in STATISTICS:
            low, high = found[f"{name}_low"], found[f"{name}_high"]
            held[name] += bool(np.isnan(low) or low - 1e-9 <= truth[name] <= high + 1e-9)
    # 90 of 100, less three deviations of 150 trials: 82.6; the least that is asked for is 85.
    assert min(held.values()) / times >= 0.826, held
    assert np.mean(list(held.values())) / times >= 0.87, held


@pytest.mark.further
def test_few_rows_do_not_show_lucky_noise():
    """41 rows of mean 0.44: where a mean is shown, its interval has the true one."""
    data = pd.DataFrame({"v": [0] * 30 + [1] * 6 + [2] * 4 + [4]})
    made = sl.releases.plan(
        sl.releases.Person(max_rows=1),
        epsilon=0.5,
        bounds={"v": range(61)},
        agg={"mean": ("v", "mean"), "median": ("v", "median")},
    )
    drafts = pd.concat([made.rehearse(data, seed=seed).to_frame() for seed in range(400)])
    shown = drafts.dropna()
    truth = data["v"].mean()
    held = (shown["mean_low"] <= truth) & (truth <= shown["mean_high"])
    assert held.mean() >= 0.85
    assert drafts["mean"].isna().mean() < 0.5 or (shown["mean"] - truth).abs().median() < 5


@pytest.mark.parametrize("seed", range(5))
def test_errors_are_those_of_many_publications(seed):
    """Against all rows, as pandas computes them; each part by its name."""
    rng = np.random.default_rng(seed)
    rows = 400
    data = pd.DataFrame({"id": rng.integers(0, 150, rows), "v": rng.gamma(2, 6, rows).round(1)})
    data.loc[::40, "v"] = np.nan
    made = sl.releases.plan(
        sl.releases.Person("id", max_rows=3),
        epsilon=2,
        bounds={"v": [(0, 20), range(30)][seed % 2]},
        agg=STATISTICS,
    )
    errors = made.errors(data, times=150, seed=1)
    of = data["v"].dropna()
    truth = [len(of), of.sum(), of.mean(), of.std(), of.median(), of.quantile(0.9)]
    np.testing.assert_allclose(errors.exact.iloc[0], truth)
    drafts = pd.concat([made.rehearse(data, seed=900 + one).to_frame() for one in range(300)])
    off = (drafts[list(STATISTICS)] - errors.exact.iloc[0]).abs().mean()
    np.testing.assert_allclose(errors.error.iloc[0], off, rtol=0.25)
    assert list(errors.parts) == ["dropped", "bounds", "bins", "noise"]
    kept = made.without_noise(data).to_frame().iloc[0]
    dropped = (kept - errors.exact.iloc[0]).abs()
    np.testing.assert_allclose(errors.parts["dropped"].iloc[0], dropped)
    together = sum(part.iloc[0] for part in errors.parts.values())
    assert (errors.error.iloc[0] <= together + 1e-9).all()


ASKED = [
    {"mean": ("v", "mean"), "median": ("v", "median")},
    {"n": "count", "mean": ("v", "mean")},
    {"std": ("v", "std"), "p90": ("v", "percentile_90")},
    {"n": "count", "sum": ("v", "sum"), "median": ("v", "median")},
    {"n": "count", "mean": ("v", "mean"), "std": ("v", "std")},
    {"h": ("v", "histogram"), "mean": ("v", "mean")},
    {"n": "count", "median": ("v", "median")},
    STATISTICS,
]


def planned(agg, bounds):
    return sl.releases.plan(
        sl.releases.Person(max_rows=1), epsilon=1, bounds={"v": bounds}, agg=agg
    )


def named(agg, bounds):
    made = planned(agg, bounds)
    return {one.name: share for one, share in zip(made.measured, made.shares, strict=True)}


def test_layouts_of_a_prototype():
    """What was found by hand to be best."""
    both = {"mean": ("v", "mean"), "median": ("v", "median")}
    assert list(named(both, range(25))) == ["histogram of v"]
    assert list(named(both, range(100))) == ["count", "histogram of v", "sum of v"]
    assert list(named(ASKED[1], range(25))) == ["count", "sum of v"]
    assert list(named(ASKED[2], range(100))) == ["histogram of v"]


WAYS = [
    ("histogram of v",),
    ("count", "histogram of v"),
    ("count", "sum of v"),
    ("count", "sum of v", "squares of v"),
    ("count", "histogram of v", "sum of v"),
    ("count", "histogram of v", "sum of v", "squares of v"),
]


class Drawn:
    """Errors of statistics by drawn noise, over means that are spread evenly over the bounds.

    In units of half the width: records d from -1 to 1, a person moves a sum by 1 and squares, about
    their middle, by 1; the number of rows is 1, since ratios do not depend on it.
    """

    def __init__(self, bounds):
        rng = np.random.default_rng(5)
        times, bins = 4000, len(bounds)
        self.m = rng.uniform(-1, 1, times)
        self.unit = {name: rng.laplace(size=times) for name in WAYS[5] if "histogram" not in name}
        self.offset = (bounds[0] + bounds[-1]) / (bounds[-1] - bounds[0])
        d, noise = np.linspace(-1, 1, bins), rng.laplace(size=(times, bins))
        apart = d[None, :] - self.m[:, None]
        weights = {"count": 1, "mean": apart, "sum": d + self.offset, "std": apart**2 - 1 / 6}
        self.of_bins = {kind: (weight * noise).sum(axis=1) for kind, weight in weights.items()}

    def error(self, kind, shares):
        """The root mean square of a statistic's error; infinite where it is not measured."""
        sums = {
            name: self.unit[name] / share for name, share in shares.items() if name in self.unit
        }
        share = shares.get("histogram of v")
        if kind in ("percentile", "histogram"):
            return np.inf if share is None else 1 / share
        if kind == "count" and "count" in sums:
            off = sums["count"]
        elif kind != "count" and "sum of v" in sums:
            count, total = sums["count"], sums["sum of v"]
            squares = sums.get("squares of v", np.inf)
            off = {
                "mean": lambda: total - self.m * count,
                "sum": lambda: total + self.offset * count,
                "std": lambda: squares / 2 - 2 * self.m * total + (0.5 + self.m**2 - 1 / 6) * count,
            }[kind]()
        elif share is None:
            return np.inf
        else:
            off = self.of_bins[kind] / share
        return float(np.sqrt(np.mean(np.square(off))))


def shared(ways, parts):
    """Every way to measure, with all shares in so many parts."""
    for way in ways:
        for numbers in product(range(1, parts), repeat=len(way)):
            if sum(numbers) == parts:
                yield {name: number / parts for name, number in zip(way, numbers, strict=True)}


@pytest.mark.exhaustive
@pytest.mark.parametrize("bounds", [range(10), range(40), range(75), range(100)], ids=str)
@pytest.mark.parametrize("place", range(len(ASKED)))
def test_the_layout_is_near_the_best_of_a_grid(place, bounds):
    """Within 5 % of the best of all ways to measure and all shares in sixteenths."""
    kinds = [one if isinstance(one, str) else str(one[1]) for one in ASKED[place].values()]
    kinds = ["percentile" if one in ("median", "percentile_90") else one for one in kinds]
    drawn = Drawn(bounds)
    every = [*list(shared(WAYS, 16)), {"histogram of v": 1.0}]
    alone = [min(drawn.error(kind, shares) for shares in every) for kind in kinds]

    def ratio(shares):
        return np.mean(
            [drawn.error(kind, shares) / least for kind, least in zip(kinds, alone, strict=False)]
        )

    ours = {name: float(share) for name, share in named(ASKED[place], bounds).items()}
    assert ratio(ours) <= 1.05 * min(map(ratio, every))


def errors_of(asked, bounds):
    data = pd.DataFrame({"v": np.repeat(np.arange(bounds[0], bounds[-1] + 1), 40)})
    return planned(asked, bounds).errors(data, times=120, seed=3).error.iloc[0]


@pytest.mark.parametrize("asked", ASKED, ids=lambda one: " ".join(one))
def test_a_value_more_does_not_make_errors_jump(asked):
    """No statistic gets half as bad again, or better, from 100 values to 101."""
    if "h" in asked:
        return
    one, other = (errors_of(asked, range(number)) for number in (100, 101))
    assert (one <= 1.6 * other + 0.5).all()
    assert (other <= 1.6 * one + 0.5).all()


def test_shares_of_gaussian_noise_add_up():
    made = sl.releases.plan(
        sl.releases.Person(max_rows=1),
        epsilon=1,
        delta=1e-6,
        bounds={"v": range(101)},
        agg={"n": "count", "mean": ("v", "mean"), "median": ("v", "median")},
    )
    assert sum(made.shares) == 1
    assert len(made.shares) == len(made.measured) == 3
    _, laplace = layout_of(list(made.source.statistics.values()), made.source.grids, 2)
    assert sum(laplace) == 1


@pytest.mark.parametrize("measured", ["sums", "histogram"])
@pytest.mark.parametrize("power", [1, 2])
def test_moments_have_their_value_and_variances(measured, power):
    """F and C are linear in what is measured: its variances follow from their derivatives."""
    grid, about = grid_of("v", range(-2, 5), None, None), 1.5
    data = np.array([-2, 0, 0, 1, 4, 4, 4])
    d = 2.0 * (data + 2) - grid.steps
    deviation = {RowCount(): 1.5, CentredSum(grid): 7.0, CentredSquares(grid): 20.0}
    numbers = {
        RowCount(): [len(d)],
        CentredSum(grid): [d.sum()],
        CentredSquares(grid): [(2 * d**2 - grid.steps**2).sum()],
    }
    if measured == "histogram":
        numbers = {Bins(grid): np.bincount(data + 2, minlength=7)}
        deviation = {Bins(grid): 2.5}

    def line(moved=None, by=0.0):
        given = {
            one: np.array([[x + by * (moved == (one, at)) for at, x in enumerate(of)]])
            for one, of in numbers.items()
        }
        return Sums(given, deviation).moment(grid, power, about)

    found = line()
    assert (found.first[0], found.count[0]) == (((d - about) ** power).sum(), len(d))
    slopes = []
    for one, of in numbers.items():
        for at in range(len(of)):
            moved = line((one, at), 1.0)
            change = moved.first[0] - found.first[0], moved.count[0] - found.count[0]
            slopes.append(deviation[one] * np.array(change))
    f, c = np.array(slopes).T
    variances = [np.ravel(part)[0] for part in (found.a, found.b, found.c)]
    assert variances == pytest.approx([f @ f, f @ c, c @ c])
