"""Functions that boxes of pairs must not bound too low, and calls that they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sensitivity_lab as sl
from sensitivity_lab.bounds import checker
from sensitivity_lab.bounds.box_search import difference, roots_of
from sensitivity_lab.bounds.float_intervals import Interval

UNIT = sl.Universe.from_interval(0, 1)


def bounds_of(f, n=3, **options):
    options = {"neighbors": "bounded", "time_limit": 0.5, **options}
    return sl.bounds.sensitivity_bounds(UNIT, f, size=n, **options)


def test_the_reciprocal_of_0_alone_is_anything():
    zero = np.zeros(1)
    with np.errstate(all="ignore"):
        found = Interval(zero, zero).reciprocal()
        again = checker.inverse((zero, zero))
    assert (found.lo, found.hi) == again == (-math.inf, math.inf)


@pytest.mark.parametrize("f", [lambda x: 1 / x.mean(), lambda x: (x**-1).sum()])
def test_a_reciprocal_near_0_has_no_bound(f):
    assert bounds_of(f).upper == math.inf


NUMBERS_AS_TESTS = [
    lambda x: np.where(x.sum() - 3, 1.0, 0.0),
    lambda x: np.where(-np.maximum(x.max() - 0.999, 0), 1.0, 0.0),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize("f", NUMBERS_AS_TESTS)
def test_where_takes_every_number_but_0_for_true(f):
    """The answers on (1, 1, 1) and (0, 1, 1), or on (0, 0, 0) and (0, 0, 1), are 1 apart."""
    found = bounds_of(f)
    assert (found.lower, found.upper) == (1, pytest.approx(1))
    assert found.check()
    with pytest.raises(checker.NotShownError):
        checker.check(found.followed, {**found.certificate(), "upper": 0.5})


def test_comparisons_of_records_beside_a_list_get_them_sorted():
    """On (0, 0, 1) and (0, 1, 1) two and one of the weights are left."""
    found = bounds_of(lambda x: np.where(x > 0.5, [5, 1, 1], 0).sum())
    assert found.lower == 5 <= found.upper


@pytest.mark.exhaustive
def test_the_number_of_records_alone():
    """len(x)**2 changes by 9 - 4 with one record less."""

    def f(x):
        return len(x) ** 2

    found = bounds_of(f, neighbors="unbounded")
    assert found.lower >= 5
    assert found.check()
    with pytest.raises(checker.NotShownError):
        checker.check(found.followed, {**found.certificate(), "upper": found.lower / 2})


def test_a_power_with_records_in_it_of_a_number_that_may_be_below_0():
    """At 0 the answer is 0.7**4, far above all those of a base above 0."""

    def f(x):
        return (x.max() - 0.7) ** (4 + 0 * x.sum())

    (root,) = roots_of(f, 0.0, 1.0, [(2, 1, 1)])
    lo, hi = root.lower[:, None], root.upper[:, None]
    assert difference(f, root, lo, hi, slopes=False)[0].hi == math.inf
    as_json = {"on_x": [0, 1, 2], "on_y": [0, 1, 3], "runs": [], "sign": 1}
    with np.errstate(all="ignore"):
        assert checker.difference(f, as_json, lo, hi, 0)[1][0] == math.inf


def test_the_second_program_checks_constants():
    assert bounds_of(lambda x: 3 + 0 * len(x)).check()


def test_the_second_program_refuses_a_number_that_two_boxes_have():
    """Else the part above the first cut is lost, in which the answers are furthest apart."""

    def f(x):
        return x.max() ** 2

    told = bounds_of(f, 1).certificate()
    (root,) = told["roots"]
    root["splits"] = [[0, 0, 0.5, 1], [1, 0, 0.25, 2]]
    with pytest.raises(checker.NotShownError, match="the number 2 or 3 is that of another box"):
        checker.check(f, {**told, "upper": 0.25 + 1e-9})


def assigns(x):
    x[0] = 0
    return x.sum()


REFUSED = [
    (lambda x: np.logical_not(x.sum() - 2.999), "takes numbers that are no comparisons for true"),
    (lambda x: np.logical_and(x > 0.5, x).sum(), "takes numbers that are no comparisons for true"),
    (lambda x: ((x > 0.9) + (x > 0.8)).sum(), "adds comparisons, which numpy takes for |; write |"),
    (lambda x: (x > 0.9).max() + (x > 0.8).min(), "adds comparisons, which numpy takes for |"),
    (lambda x: (x > 0.9) @ (x > 0.8), "multiplies vectors of comparisons"),
    (lambda x: (1000 * x).astype(int).sum(), "turns numbers into int64"),
    (lambda x: np.linalg.norm(x[:, None] - x, 1), "takes a norm of a matrix"),
    (lambda x: (x**math.inf).sum(), "computes with a number that is not finite"),
    (lambda x: (x**1j).sum(), "computes with complex, which is no number"),
    (lambda x: x.sum() * 10**400, "computes with int, which is no number"),
    (assigns, "changes records in place; make new ones, as np.where does (line "),
    (
        lambda x: round(x.mean(), 2),
        "raises TypeError on boxes: type Carried doesn't define __round",
    ),
    (lambda x: x.mean(axis=1), "raises IndexError on boxes: tuple index out of range (line "),
    (lambda x: x[7], "raises IndexError on boxes: index 7 is out of bounds"),
    (lambda x: (x + np.ones(5)).sum(), "raises ValueError on boxes: operands could not be"),
    (lambda x: x[3:].max(), "raises ValueError on boxes: zero-size array"),
    (lambda x: x.mean() + 1 / 0, "raises ZeroDivisionError on boxes: division by zero (line "),
]


@pytest.mark.parametrize(("f", "reason"), REFUSED)
def test_what_is_not_followed_is_refused_with_its_line(f, reason):
    with pytest.raises(sl.errors.InputError) as caught:
        bounds_of(f)
    assert reason in str(caught.value)
    assert " of test_more_boxes.py: " in str(caught.value)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_comparisons_with_what_may_not_be_defined_are_open():
    """numpy's root of a number below 0 is NaN, and no comparison with NaN is true."""

    def f(x):
        return np.where(np.sqrt(x.max() - 1e-7) >= 0, 1.0, 0.0)

    root = roots_of(f, 0.0, 1.0, [(2, 1, 1)])[0]
    box = np.zeros((4, 1)), np.ones((4, 1))
    value, _ = difference(f, root, *box, slopes=False)
    assert (value.lo, value.hi) == (
        -1,
        1,
    )  # the records 0, 0, 0 have the answer 0, and 0, 0, 1 have 1
    told = {"on_x": [0, 1, 2], "on_y": [0, 1, 3], "runs": [[0, 2], [2, 3], [3, 4]], "sign": 1}
    with np.errstate(all="ignore"):
        lo, hi = checker.difference(f, told, *box, 0)
    assert lo[0, 0] <= -1 < 1 <= hi[0, 0]
    found = bounds_of(f)
    assert (found.lower, found.upper) == (1, pytest.approx(1))
    with pytest.raises(sl.errors.InputError, match="takes the sqrt of numbers below 0"):
        bounds_of(lambda x: np.sqrt(x.max() - 1e-7))
