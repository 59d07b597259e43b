"""Certified bounds of functions of sums, at any number of records."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from box_functions import FORTY

import sensitivity_lab as sl
from sensitivity_lab.bounds.few_sums import Curve, FromSums, Moments, form_of, of_sums
from sensitivity_lab.bounds.reading_functions import read
from sensitivity_lab.bounds.traced import NotFollowedError

UNIT = sl.Universe.from_interval(0, 1)


def theil(x):
    return np.mean(x / x.mean() * np.log(x / x.mean()))


def atkinson(x):
    return 1 - np.exp(np.log(x).mean()) / x.mean()


def softmax_mean(x):
    e = np.exp(x - x.max())
    return (x * e).sum() / e.sum()


def plain_python(x):
    mean = sum(x) / len(x)
    return float(max(mean, 0.3)) ** 2


def relative_risk(x):
    return (0.1 + np.mean(x > 0.5)) / (1.1 - np.mean(x > 0.5))


def hill_number(x):
    p = x / x.sum()
    return 1 / np.dot(p, p)


MORE = {
    "theil": (theil, 0.1),
    "atkinson": (atkinson, 0.1),
    "stable softmax": (softmax_mean, 0),
    "plain python": (plain_python, 0),
    "relative risk": (relative_risk, 0),
    "hill number": (hill_number, 0.1),
    "t statistic": (lambda x: x.mean() / (0.2 + x.std(ddof=1) / np.sqrt(len(x))), 0),
    "sharpe": (lambda x: (x.mean() - 0.1) / (0.05 + x.std()), 0),
    "fano": (lambda x: x.var(ddof=1) / (0.1 + x.mean()), 0),
    "log odds": (lambda x: np.log((0.1 + x.mean()) / (1.1 - x.mean())), 0),
    "effective size": (lambda x: x.sum() ** 2 / (x**2).sum(), 0.1),
    "weighted mean": (lambda x: np.average(x, weights=1 + x), 0),
    "kernel density": (lambda x: np.exp(-((x - 0.4) ** 2) / 0.02).mean(), 0),
    "log-likelihood": (lambda x: (x * np.log(0.3) + (1 - x) * np.log(0.7)).sum(), 0),
    "poisson deviance": (lambda x: 2 * (x * np.log(x / 0.5) - (x - 0.5)).sum(), 0.1),
    "softplus": (lambda x: np.log1p(np.exp(x)).mean(), 0),
    "gamma shape": (lambda x: x.mean() ** 2 / (0.01 + x.var()), 0),
    "beta moments": (lambda x: x.mean() * (x.mean() * (1 - x.mean()) / (0.1 + x.var()) - 1), 0),
    "norm": (np.linalg.norm, 0),
    "product": (lambda x: np.prod(0.5 + x / 2) ** (1 / len(x)), 0),
    "log of squares": (lambda x: np.var(np.log(x)), 0.1),
    "constant": (lambda x: 3.0 + 0 * x.sum(), 0),
    "size": (lambda x: x.size / (1 + x.size), 0),
}
OF_SUMS = {
    name: FORTY[name]
    for name in [
        *("mean", "std", "variance", "shifted variation", "index of dispersion", "geometric mean"),
        *("signal to noise", "harmonic mean", "root mean square", "power mean", "softmax mean"),
        *("log-sum-exp", "soft maximum", "entropy", "Herfindahl", "Simpson", "clipped sum"),
        *("ratio of sums", "share above", "huber loss", "log variance", "third central moment"),
        *("skewness", "kurtosis", "coefficient of variation"),
    ]
} | MORE
GAPS = {"skewness": 0.5, "kurtosis": 1.0}
"""What of the lower bound the gap may be where the time is short, of others 2e-3."""


def bounds_of(f, n, least=0.0, neighbors="bounded", **options):
    universe = sl.Universe.from_interval(least, 1)
    return sl.bounds.sensitivity_bounds(universe, f, size=n, neighbors=neighbors, **options)


def furthest(f, n, least, neighbors, random):
    """The furthest of random pairs of few distinct records, as numpy answers them."""
    far = 0.0
    added = n + (neighbors == "unbounded")
    for _ in range(300 if n <= 1000 else 2):
        number = int(random.integers(1, 4))
        values = least + (1 - least) * random.random(number)
        values = np.where(random.random(number) < 0.6, random.choice([least, 1.0], number), values)
        share = random.dirichlet(np.full(number, 0.5))
        x = np.repeat(values, random.multinomial(added, share))
        place = int(random.integers(added))
        y = np.delete(x, place)
        if neighbors == "bounded":
            y = np.append(y, random.choice([least, 1.0, least + (1 - least) * random.random()]))
        far = max(far, abs(float(f(np.sort(x))) - float(f(np.sort(y)))))
    return far


@pytest.mark.parametrize("neighbors", ["bounded", "unbounded"])
@pytest.mark.parametrize("n", [3, 5, 20, 1000, pytest.param(10**6, marks=pytest.mark.stress)])
@pytest.mark.parametrize(
    "name",
    [
        name if place % 4 == 0 else pytest.param(name, marks=pytest.mark.stress)
        for place, name in enumerate(OF_SUMS)
    ],
)
@pytest.mark.representative("name", quick=["n"])
def test_no_pair_is_above_and_the_bounds_are_close(name, n, neighbors):
    f, least = OF_SUMS[name]
    if name == "product" and n == 10**6:
        return  # a test of its own
    found = bounds_of(f, n, least, neighbors, rtol=0.1 if n <= 8 else 1e-3, time_limit=15)
    assert found.sums or n <= 8
    far = furthest(f, n, least, neighbors, np.random.default_rng(0))
    rounding = 1e-9 * max(1.0, abs(found.witness.query_x))
    assert far <= found.upper + rounding
    if n > 8:
        assert found.gap <= GAPS.get(name, 0.01) * found.lower + rounding
    found.verify()
    assert found.check() >= 1


ENGINES = [(np.mean, "mean"), (np.var, "var"), (np.std, "std"), (np.sum, "sum")]


@pytest.mark.parametrize(("f", "name"), ENGINES)
@pytest.mark.parametrize("n", [5, 20, 1000, 10**6])
@pytest.mark.parametrize(
    "neighbors", ["bounded", "unbounded", sl.Bounded(5), sl.SymmetricDifference(2), sl.Edit(2)]
)
def test_what_engines_know_is_between_the_bounds(f, name, n, neighbors):
    exact = sl.global_sensitivity(UNIT, name, size=n, neighbors=neighbors)
    found = bounds_of(f, n, 0, neighbors, rtol=0.02, time_limit=15)
    assert found.lower <= math.nextafter(exact.value, math.inf)
    assert exact.value <= math.nextafter(found.upper, math.inf)
    if n > 5 or found.neighbors.k == 1:
        assert found.gap <= 0.05 * found.lower


def test_a_pole_of_many_records_is_told():
    found = bounds_of(lambda x: 1 / (x.mean() - 0.25), 100, time_limit=15)
    assert found.upper == math.inf
    assert found.pole == "the sums x leave function without a bound"


def test_several_sizes_at_once():
    found = bounds_of(np.var, [2, 10, 500], 0, "unbounded")
    exact = sl.global_sensitivity(UNIT, "var", size=[2, 10, 500], neighbors="unbounded").exact
    assert Fraction(found.lower) <= exact <= Fraction(found.upper)
    assert found.reached


def test_separable_answers_are_exact():
    universe = sl.Universe.from_interval(-1, 3)
    for neighbors, true in (("unbounded", 5), ("bounded", 9)):
        found = sl.bounds.sensitivity_bounds(
            universe, lambda x: (x**2 - 5).sum(), size=3, neighbors=neighbors
        )
        assert found.lower == pytest.approx(true, abs=1e-8)
        assert true <= found.upper <= true + 1e-8
        assert found.boxes <= 4


@pytest.mark.parametrize("name", ["shifted variation", "softmax mean", "third central moment"])
def test_sums_and_records_overlap(name):
    f, least = FORTY[name]

    def opaque(x):
        return f(x[:])[()] if isinstance(x, np.ndarray) else f(x[0:])  # places: not of sums

    of_sums_, by_records = (bounds_of(one, 3, least) for one in (f, opaque))
    assert of_sums_.sums
    assert not by_records.sums
    assert of_sums_.lower <= by_records.upper * (1 + 1e-9)
    assert by_records.lower <= of_sums_.upper * (1 + 1e-9)


# What sums are possible: every dataset is a point of its form.


@pytest.mark.parametrize("seed", range(40))
def test_every_dataset_is_a_point_of_its_form(seed):
    """The answer from the variables of both groups, computed here, is the function's own."""
    random = np.random.default_rng(seed)
    f, least = (FORTY["kurtosis"], FORTY["skewness"], FORTY["variance"], FORTY["softmax mean"])[
        seed % 4
    ]
    common, own = int(random.integers(1, 7)), int(random.integers(1, 4))
    poly = read(f).poly
    form = form_of(poly, float(least), 1.0)
    groups = [
        np.where(random.random(size) < 0.4, random.integers(0, 2, size), random.random(size))
        for size in (common, own)
    ]
    z = [1.0]
    for group in groups:
        variables = variables_of(form, group)
        for variable, (low, high) in zip(variables, form.ends, strict=True):
            assert low - 1e-3 <= variable <= high + 1e-3
        z += [float(len(group)), *variables]
    widths = (len(form.ends),) * 2
    with np.errstate(all="ignore"):
        told = float(FromSums(form.rewritten(poly), form, widths)(np.array(z)))
    assert told == pytest.approx(float(f(np.concatenate(groups))), rel=1e-4, abs=1e-4)


def variables_of(form, group):
    """The variables of records: the mean and canonical moments, or a record and a share."""
    if isinstance(form, Curve):
        first, second = (
            float(np.mean(base.value({"t": group}, 1.0) + 0 * group)) for base in form.bases
        )
        grid = np.linspace(form.lower, form.upper, 200_001)
        on_first, on_second = (base.value({"t": grid}, 1.0) for base in form.bases)
        at = int(np.argmin(np.abs(on_first - first)))
        slope = (on_second[-1] - on_second[0]) / (on_first[-1] - on_first[0])
        chord = on_second[0] + slope * (on_first[at] - on_first[0])
        apart = chord - on_second[at]
        return [
            float(grid[at]),
            float((second - on_second[at]) / apart) if abs(apart) > 1e-9 else 0,
        ]
    assert isinstance(form, Moments)
    mean, share = group.mean(), []
    far = group - mean
    above, below = mean - form.around[0], form.around[1] - mean
    var = (far**2).mean()
    share.append(var / (above * below) if above * below > 1e-12 else 0.0)
    if form.degree > 2:
        width, step = form.around[1] - form.around[0], (far**3).mean() / var if var > 1e-12 else 0.0
        room = (1 - share[0]) * width
        third = (step - share[0] * below + above) / room if room > 1e-9 and var > 1e-12 else 0.0
        share.append(third)
    if form.degree > 3:
        last = (far**4).mean() / var - step**2 - var if var > 1e-12 else 0.0
        room = width**2 * (1 - share[0]) * share[1] * (1 - share[1])
        share.append(last / room if room > 1e-9 else 0.0)
    return [float(mean), *map(float, share)]


# Reading.

TOLD = {
    "x": lambda x: x.mean() * 2,
    "x, x**2": lambda x: x.std() / (1 + x.mean()),
    "x, x**2, x**3": FORTY["third central moment"][0],
    "log(x)": lambda x: np.exp(np.log(x).mean()),
    "x, log(x) * x": FORTY["entropy"][0],
    "x**-1": FORTY["harmonic mean"][0],
    "where(less(x, 0.5), x**2, -0.25 + x)": FORTY["huber loss"][0],
    "logical_and(greater(x, 0.2), less(x, 0.8))": lambda x: np.mean((x > 0.2) & (x < 0.8)),
}


@pytest.mark.parametrize("told", TOLD)
def test_a_result_says_which_sums(told):
    found = bounds_of(TOLD[told], 30, 0.1)
    assert ", ".join(found.sums) == told
    number = len(found.sums)
    assert f"; of {number} sum{'s' * (number > 1)}: {told}" in str(found)


def alias(x):
    y = x
    y -= 0.5
    return (x**2).sum()


def assigned(x):
    x[0] = 0
    return x.sum()


TRAPS = [
    (lambda x: (x[::-1] * x).sum(), "picks records by their places or values"),
    (alias, "calls numpy.subtract, out=, which is not followed"),
    (assigned, "changes records in place"),
    (lambda x: x.astype(np.float16).sum(), "turns numbers into float16"),
    (
        lambda x: (x * np.arange(len(x))).sum(),
        "turns records into an array",
    ),
    (lambda x: (x * np.linspace(0, 1, 40)).sum(), "computes with ndarray, which is no number"),
    (lambda x: np.prod(x), "sums log(x), which is not defined everywhere"),
    (lambda x: (1 / x).sum(), "sums x**-1, which is not defined everywhere"),
    (lambda x: np.count_nonzero(x), "counts numbers that are not 0"),
    (np.median, "calls numpy.median"),
    (lambda x: x.max() - x.min(), "asks for the largest or smallest record"),
    (
        lambda x: np.abs(x - x.mean()).sum(),
        "takes numpy.absolute of what mixes a record with an answer",
    ),
    (lambda x: np.exp(x * x.mean()).sum(), "takes numpy.exp of a record times an answer"),
    (lambda x: (x > x.mean()).sum(), "takes numpy.greater of what mixes a record with an answer"),
    (
        lambda x: math.sqrt(x.mean()),
        "turns an answer into a float, so that it is no longer followed",
    ),
    (lambda x: sum(v**2 for v in x), "goes through the records one by one"),
    (lambda x: x.mean() if x.mean() > 0.5 else 0.0, "branches on data"),
    (
        lambda x: np.sin(x).sum() + np.cos(5 * x).sum() ** 2 + np.exp(x).sum() * np.tanh(x).sum(),
        "sums with no form that is known",
    ),
    (lambda x: (x**2).mean() + np.floor(x).sum(), "calls numpy.floor"),
]


@pytest.mark.parametrize(("f", "reason"), TRAPS)
def test_what_is_not_of_sums_is_told_where_records_are_too_many(f, reason):
    with pytest.raises(NotFollowedError):
        of_sums(f, [(99, 1, 1)], (0.0, 1.0))
    with pytest.raises(sl.errors.TooLargeError) as caught:
        bounds_of(f, 100)
    assert reason in str(caught.value)
    assert "write it with sums of functions of one record" in str(caught.value)


def test_a_divisor_that_cancels_is_not_forgotten():
    """x.sum() / x.sum() is 1 but where it is NaN, so that a comparison with it is open."""

    def f(x):
        with np.errstate(invalid="ignore"):
            return np.where(x.sum() / x.sum() > 0.5, 0.0, x.mean() + 1)

    assert bounds_of(f, 100, rtol=0.5, time_limit=5).upper >= 1


CANCELLED = [
    lambda x: (x / x).sum(),
    lambda x: (x**2 / x).sum(),
    lambda x: (0 * np.log(x) + x).mean(),
    lambda x: (np.log(x) - np.log(x) + x).mean(),
]


@pytest.mark.parametrize("f", CANCELLED)
def test_what_cancels_in_each_record_is_to_be_defined(f):
    with pytest.raises(sl.errors.TooLargeError, match="which is not defined everywhere"):
        bounds_of(f, 100)
    assert bounds_of(f, 100, 0.1).upper < 1


def test_what_cancels_in_an_answer_is_no_sum_that_is_not_known():
    assert bounds_of(lambda x: x.sum() / x.sum(), 100, 0.1).upper < 1e-9


def test_random_functions_and_those_that_tell_arrays_apart_are_refused():
    random = np.random.default_rng(0)
    for f in (
        lambda x: x.mean() + random.random(),
        lambda x: x.mean() * (2 if isinstance(x, np.ndarray) else 1),
    ):
        with pytest.raises(sl.errors.QueryError, match="it is random, or asks what kind of array"):
            bounds_of(f, 100)


def test_agreement_up_to_19_records_is_none_for_20():
    """p1 / (1 + p2) moves by 1 / 2 for up to 19 records, and by more for 21."""

    def ratio(x):
        return x.sum() / (1 + (x**2).sum())

    fewer, more = (bounds_of(ratio, n, rtol=0.01) for n in (19, 21))
    assert more.lower > 0.5 >= fewer.lower
    assert more.sums == ("x", "x**2")


def test_constants_of_many_digits_are_exact():
    """0.4**2 / 0.02 is a fraction of 165 bits, which no two floats add up to."""
    found = bounds_of(lambda x: np.exp(-((x - 0.4) ** 2) / 0.02).mean(), 20)
    assert found.lower == pytest.approx((1 - math.exp(-(0.6**2) / 0.02)) / 20)
    assert found.reached


def test_a_million_records_are_few_numbers():
    found = bounds_of(np.std, 10**6)
    assert len(found.witness.x) == 10**6
    assert "(x999,999)" in str(found)
    assert found.boxes < 2000


def guarded(x):
    x = np.asarray(x, dtype=float)
    if len(x) < 2:
        return 0.0
    return np.var(x, ddof=1) / (1 + np.mean(x))


def test_arrays_are_made_and_a_branch_on_the_size_takes_the_way_of_all_sizes():
    found = bounds_of(guarded, (2, 1000))
    plain = bounds_of(lambda x: x.var(ddof=1) / (1 + x.mean()), (2, 1000))
    assert found.upper == plain.upper
    assert found.sums == ("x", "x**2")
    found.verify()
    with pytest.raises(sl.errors.TooLargeError, match="branches on the number of records, which"):
        bounds_of(guarded, (1, 1000))


@pytest.mark.further
def test_a_power_with_a_half_is_one_of_the_root():
    found = bounds_of(lambda x: np.mean((x - x.mean()) ** 3) / (0.05 + x.var() ** 1.5), 1000)
    plain = bounds_of(lambda x: np.mean((x - x.mean()) ** 3) / (0.05 + x.std() ** 3), 1000)
    assert found.upper == pytest.approx(plain.upper, rel=2e-3)
    assert found.gap <= 2e-3 * found.lower


def around_a_constant(x):
    return 1 - np.sum((x - x.mean()) ** 2) / (0.2 + np.sum((x - 0.25) ** 2))


@pytest.mark.further
def test_squares_around_a_constant_are_never_negative():
    found = bounds_of(around_a_constant, 20, time_limit=15)
    assert math.isfinite(found.upper)  # 0.2 + a sum of squares is not 0
    assert found.gap <= 2e-3 * found.lower
    assert found.check() >= 1


@pytest.mark.further
def test_a_million_records_are_bounded_as_a_thousand_are():
    found = bounds_of(lambda x: x.std() / (1 + x.mean()), 10**6)
    assert found.sums == ("x", "x**2")
    assert found.gap <= 1e-3 * found.lower
    assert found.check() >= 1


def test_numbers_that_leave_the_range_of_floats_are_told():
    f, least = OF_SUMS["product"]  # numpy's own product of a million halves is 0
    with pytest.raises(sl.errors.QueryError, match="a number in it leaves the range of floats"):
        bounds_of(f, 10**6, least)
