"""Certified bounds on an interval, against random pairs, exact engines and Fractions."""

from __future__ import annotations

import ast
import decimal
import math
import pathlib
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from box_functions import FORTY

import sensitivity_lab as sl
from sensitivity_lab.bounds import checker
from sensitivity_lab.bounds.float_intervals import Interval

UNIT = sl.Universe.from_interval(0, 1)


def bounds_of(f, n, neighbors="bounded", least=0, **options):
    universe = sl.Universe.from_interval(least, 1)
    return sl.bounds.sensitivity_bounds(universe, f, size=n, neighbors=neighbors, **options)


# Interval arithmetic, against exact numbers.

EXACT = {
    "plus": (2, lambda a, b: a + b, lambda a, b: a + b, checker.plus),
    "minus": (2, lambda a, b: a - b, lambda a, b: a - b, checker.minus),
    "times": (2, lambda a, b: a * b, lambda a, b: a * b, checker.times),
    "over": (
        *(2, lambda a, b: a / b if b else None, lambda a, b: a / b),
        lambda a, b: checker.times(a, checker.inverse(b)),
    ),
    "cube": (1, lambda a: a**3, lambda a: a.to_power(3), lambda a: checker.power(a, 3)),
    "square": (1, lambda a: a**2, lambda a: a.square(), lambda a: checker.power(a, 2)),
}


def random_intervals(random, number):
    """Intervals of many sizes, with ends at 0 and without width among them."""
    ends = random.normal(size=(2, number)) * 10.0 ** random.integers(-9, 9, (2, number))
    ends[:, random.random(number) < 0.2] = 0
    ends[1] = np.where(random.random(number) < 0.2, ends[0], ends[1])
    ends[0] = np.where(random.random(number) < 0.1, 0, ends[0])
    return np.sort(ends, axis=0)


@pytest.mark.parametrize("name", EXACT)
def test_what_intervals_compute_contains_what_is_true(name):
    """10,000 intervals of each operation, at their ends and in between, in both programs."""
    random = np.random.default_rng(len(name))
    number, exactly, ours, theirs = EXACT[name]
    given = [random_intervals(random, 10_000) for _ in range(number)]
    with np.errstate(all="ignore"):
        found = ours(*(Interval(lo, hi) for lo, hi in given)), theirs(*map(tuple, given))
    for lo, hi in ((found[0].lo, found[0].hi), found[1]):
        for share in (0, 1, 0.37):
            points = [np.clip(a + share * (b - a), a, b) for a, b in given]
            for at in range(10_000):
                true = exactly(*(Fraction(float(one[at])) for one in points))
                if true is not None:
                    assert math.isinf(hi[at]) or true <= Fraction(float(hi[at]))
                    assert math.isinf(lo[at]) or Fraction(float(lo[at])) <= true


@pytest.mark.parametrize("name", ["exp", "ln", "sqrt"])
def test_functions_of_intervals_contain_what_decimals_of_40_digits_say(name):
    random = np.random.default_rng(1)
    points = np.abs(random.normal(size=2000)) * 10.0 ** random.integers(-3, 2, 2000)
    numpy_name = {"ln": "log"}.get(name, name)
    with np.errstate(all="ignore"):
        if name == "sqrt":
            ours, theirs = Interval.of(points).sqrt(), checker.root((points, points))
        else:
            function = getattr(np, numpy_name)
            ours = Interval.of(points).rising(function)
            theirs = checker.rising((points, points), function)
    with decimal.localcontext(prec=40):
        for at, point in enumerate(points):
            true = getattr(Decimal(float(point)), name)()
            for lo, hi in ((ours.lo, ours.hi), theirs):
                assert Decimal(float(lo[at])) <= true <= Decimal(float(hi[at]))


# A function's enclosures, against the function itself at random pairs of random boxes.


# Bounds, against what is known and against random pairs.


def best_pair(f, n, least, random, pairs):
    """The largest |f(x) - f(y)| among random pairs, many of which have records at the ends."""
    x = least + (1 - least) * random.random((pairs, n))
    at_ends = random.random((pairs, n)) < random.random((pairs, 1))
    x = np.where(at_ends, np.where(random.random((pairs, n)) < 0.5, least, 1.0), x)
    y = x.copy()
    y[:, 0] = least + (1 - least) * random.random(pairs)
    y[:, 0] = np.where(random.random(pairs) < 0.5, np.where(x[:, 0] > 0.5, least, 1.0), y[:, 0])
    return max(abs(f(np.sort(a)) - f(np.sort(b))) for a, b in zip(x, y, strict=True))


SLOW = {"skewness", "kurtosis", "correlation", "autocovariance"}


@pytest.mark.parametrize("name", [name for name in FORTY if name not in SLOW])
def test_no_pair_is_above_and_the_bounds_are_close(name):
    f, least = FORTY[name]
    found = bounds_of(f, 3, least=least, time_limit=60)
    found.verify()
    assert found.reached
    assert found.gap <= 1e-3 * found.lower + 1e-300
    assert best_pair(f, 3, least, np.random.default_rng(0), 2000) <= found.upper
    assert found.check() >= 1


@pytest.mark.stress
@pytest.mark.parametrize("n", [3, 4, 5, 6])
@pytest.mark.parametrize("name", FORTY)
def test_a_million_random_pairs(name, n):
    f, least = FORTY[name]
    found = bounds_of(f, n, least=least)
    assert best_pair(f, n, least, np.random.default_rng(n), 1_000_000) <= found.upper


KNOWN = [
    (np.mean, "mean"),
    (np.var, "var"),
    (np.std, "std"),
    (lambda x: x.var(ddof=1), sl.Var(ddof=1)),
    (np.median, "median"),
    (np.sum, "sum"),
    (np.max, "max"),
    (lambda x: np.percentile(x, 25), "percentile_25"),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("f", "query"), KNOWN)
@pytest.mark.parametrize(
    "neighbors", ["bounded", "unbounded", sl.Bounded(2), sl.SymmetricDifference(2)]
)
def test_what_engines_know_is_between_the_bounds(f, query, neighbors):
    exact = sl.global_sensitivity(UNIT, query, size=4, neighbors=neighbors).value
    found = bounds_of(f, 4, neighbors)
    # The engine's float is the nearest one: the number itself can be half a unit above it.
    assert found.lower <= math.nextafter(exact, math.inf)
    assert exact <= found.upper
    assert found.reached


@pytest.mark.exhaustive
@pytest.mark.parametrize(("f", "query"), KNOWN)
@pytest.mark.parametrize("neighbors", ["bounded", "unbounded", sl.SymmetricDifference(2)])
def test_what_local_engines_know_is_between_the_bounds(f, query, neighbors):
    asked = {"dataset": [0, 0.25, 0.25, 0.75, 1], "neighbors": neighbors}
    exact = sl.local_sensitivity(UNIT, query, **asked).value
    found = sl.local_sensitivity(UNIT, f, method="boxes", **asked)
    assert found.kind == "local"
    assert found.lower <= math.nextafter(exact, math.inf)
    assert exact <= found.upper
    assert found.witness.x == (0, 0.25, 0.25, 0.75, 1)
    found.verify()
    assert found.check()


def test_records_that_are_told_by_their_places_are_sorted():
    """x[0] is the smallest record, as everywhere in the library."""
    found = bounds_of(lambda x: x[0] + 2 * x[2], 3)
    assert found.lower == pytest.approx(2)
    assert found.upper == pytest.approx(2)
    grid = sl.Universe.from_domain(np.linspace(0, 1, 5))
    on_grid = sl.global_sensitivity(
        grid, lambda x: x[0] + 2 * x[2], size=3, neighbors="bounded", method="enumeration"
    )
    assert on_grid.value == 2


@pytest.mark.exhaustive
def test_both_calls_give_the_same():
    f = FORTY["shifted variation"][0]
    one = sl.global_sensitivity(UNIT, f, size=3, neighbors="bounded", method="boxes")
    two = bounds_of(f, 3)
    assert (one.lower, one.upper, one.boxes) == (two.lower, two.upper, two.boxes)
    assert one.status == "bounds"


@pytest.mark.exhaustive
def test_workers_give_the_same_bounds():
    one, two = (bounds_of(FORTY["entropy"][0], 3, least=0.1, n_jobs=jobs) for jobs in (1, 2))
    assert (one.lower, one.upper, one.boxes) == (two.lower, two.upper, two.boxes)


def test_bounds_hold_where_the_time_is_over():
    f = FORTY["skewness"][0]
    found = bounds_of(f, 4, time_limit=0.01)
    assert not found.reached
    assert "the time was over before 0.001 of the lower bound was reached" in str(found)
    far = best_pair(f, 4, 0, np.random.default_rng(0), 2000)
    assert 0.5 < far <= found.upper  # 0.7153 at most, by a search that ends
    assert 0.5 < found.lower <= 0.7154
    assert found.check()


def test_a_constant_function_has_no_sensitivity():
    found = bounds_of(lambda x: 3.0 + 0 * x.sum(), 3)
    assert (found.lower, found.upper) == (0, 0)


def test_the_scale_of_the_interval_does_not_matter():
    wide = sl.Universe.from_interval(-(10**9), 10**9)
    found = sl.bounds.sensitivity_bounds(wide, np.std, size=3, neighbors="bounded")
    exact = sl.global_sensitivity(wide, "std", size=3, neighbors="bounded").value
    assert found.lower <= exact <= found.upper
    assert found.reached


def test_the_witness_of_an_interval_with_rounded_ends_is_inside():
    """1 / 3 and 2 / 3 are no floats: the lower bound is that of a pair of floats between them."""
    ends = Fraction(1, 3), Fraction(2, 3)
    found = sl.bounds.sensitivity_bounds(
        sl.Universe.from_interval(*ends), np.mean, size=2, neighbors="bounded"
    )
    assert all(ends[0] <= Fraction(one) <= ends[1] for one in (*found.witness.x, *found.witness.y))
    x, y = (sum(map(Fraction, data)) / 2 for data in (found.witness.x, found.witness.y))
    assert Fraction(found.lower) <= abs(x - y) <= Fraction(1, 6) <= Fraction(found.upper)


# The second program.


def test_the_second_program_imports_numpy_alone():
    tree = ast.parse(pathlib.Path(checker.__file__).read_text("utf-8"))
    names = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in [getattr(node, "module", None) or node.names[0].name]
    }
    assert names == {"math", "numpy"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["Herfindahl", "median", "third central moment"])
def test_the_second_program_refuses_a_bound_that_is_too_low(name):
    f, least = FORTY[name]
    found = bounds_of(f, 3, least=least)
    told = found.certificate()
    assert checker.check(found.followed, told) > 0
    with pytest.raises(checker.NotShownError):
        checker.check(found.followed, {**told, "upper": found.lower * (1 - 1e-6)})


def test_the_second_program_refuses_a_cut_outside_of_its_box():
    found = bounds_of(FORTY["Herfindahl"][0], 3, least=0.1)
    told = found.certificate()
    told["roots"][0]["splits"][0][2] = 1.5
    with pytest.raises(checker.NotShownError, match="outside of its box"):
        checker.check(found.followed, told)


@pytest.mark.exhaustive
def test_a_result_that_states_too_much_is_not_verified():
    found = bounds_of(np.std, 3)
    with pytest.raises(sl.errors.VerificationError, match="is above the upper bound"):
        replace(found, lower=found.upper + 1).verify()
    with pytest.raises(sl.errors.VerificationError, match="a box has a bound of"):
        replace(found, upper=found.lower / 2).check()


# What is refused.


def branching(x):
    if x.mean() > 0.5:
        return x.mean()
    return 0.0


def on_floats(x):
    return math.sqrt(x.mean())


REFUSED = [
    (branching, "branches on data: the comparison '>' has both answers in a box (line "),
    (
        on_floats,
        "turns an answer into a float, so that it is no longer followed; use numpy's (line",
    ),
    (lambda x: x[x > 0.5].sum(), "picks records by their values, so that their number depends on"),
    (lambda x: np.fft.fft(x).real.sum(), "calls numpy.fft, which is not followed (line "),
    (lambda x: np.corrcoef(x, x)[0, 1], "calls numpy.corrcoef, which is not followed"),
    (lambda x: x.argmax(), "calls .argmax, which is not followed"),
    (lambda x: np.sinh(x).sum(), "calls numpy.sinh, which is not followed"),
    (lambda x: np.array([x.mean(), x.std()]), "turns records into an array"),
    (lambda _: None, "computes with or returns None, which is no number (line "),
    (lambda x: np.sort(x), "returns an array of shape (3,); boxes bound the change of one number"),
    (lambda x: np.log(-1 - x.mean()), "returned nan; a query returns one finite number"),
    (lambda x: np.sqrt(-1 - x.mean()), "returned nan; a query returns one finite number"),
    (lambda x: x.var(ddof=3), "returned inf; a query returns one finite number"),
    (lambda x: x.mean() + math.inf, "computes with a number that is not finite"),
    (lambda x: np.percentile(x, [25, 75]), "takes a percentile other than one number"),
    ("mean", "boxes bound a caller's function, and mean is a query of the library"),
]


@pytest.mark.filterwarnings("ignore:(divide|invalid|Degrees):RuntimeWarning")
@pytest.mark.parametrize(("f", "reason"), REFUSED)
def test_what_is_not_followed_is_refused_with_its_line(f, reason):
    with pytest.raises((sl.errors.InputError, sl.errors.QueryError)) as caught:
        bounds_of(f, 3)
    assert reason in str(caught.value)


def test_too_many_orders_are_refused():
    with pytest.raises(sl.errors.TooLargeError, match="each of the 1,640 places that own records"):
        bounds_of(np.median, 40)


def test_the_line_is_that_of_the_caller():
    with pytest.raises(sl.errors.InputError, match=r"of test_boxes.py: if x.mean\(\) > 0.5:\)"):
        bounds_of(branching, 3)


def test_a_random_function_is_refused():
    with pytest.raises(sl.errors.QueryError, match="it is random, or asks what kind of array"):
        bounds_of(lambda x: x.mean() + np.random.default_rng().random(), 3)


def test_a_function_that_tells_arrays_apart_is_refused():
    with pytest.raises(sl.errors.QueryError, match="asks what kind of array"):
        bounds_of(lambda x: x.mean() * (2 if isinstance(x, np.ndarray) else 1), 3)


OTHER_ARGUMENTS = [
    ({"rtol": 0}, "rtol must be how close the bounds are to be"),
    ({"time_limit": -1}, "time_limit must be a positive number of seconds"),
]


@pytest.mark.parametrize(("options", "reason"), OTHER_ARGUMENTS)
def test_arguments_of_finite_universes_are_refused(options, reason):
    with pytest.raises(sl.errors.InputError) as caught:
        bounds_of(np.mean, 3, **options)
    assert reason in str(caught.value)


def test_boxes_are_for_intervals():
    grid = sl.Universe.from_domain(range(3))
    with pytest.raises(
        sl.errors.InputError, match="method='boxes' bounds a function on an interval"
    ):
        sl.global_sensitivity(grid, np.mean, size=3, neighbors="bounded", method="boxes")
    with pytest.raises(sl.errors.InputError, match="certified on an interval, not on a domain"):
        sl.bounds.sensitivity_bounds(grid, np.mean, size=3, neighbors="bounded", rtol=0.5)
