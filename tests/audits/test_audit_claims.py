"""Claims: what they may depend on, how exactly they are compared, what is no claim."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from checks import refused, refused_with
from strategies import NAMES, RELATION_CHOICES

import sensitivity_lab as sl
from sensitivity_lab.exact.difference import Difference

BITS = sl.Universe.from_domain([0, 1])
HERE = {"size": 3, "neighbors": "bounded", "distances": 1}


def trimmed_mean(x):
    """Of nine records without the smallest and the largest, in floats."""
    return float(np.sort(x)[1:-1].mean())


def test_a_right_claim_about_floats_has_a_way_out():
    """One of seven records that count moves by 10: 10/7, but floats make it 9 ulp more.

    The answers are right to a unit in the last place of their own, which is 64 of the difference's.
    """
    universe = sl.Universe.from_domain([90, 100])
    options = {"size": 9, "neighbors": "bounded", "distances": 1}
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        sl.assert_sensitivity(universe, trimmed_mean, 10 / 7, **options)
    slack = sl.audit(universe, trimmed_mean, 10 / 7, **options).rows[0].slack_ulp
    assert slack < -4
    needed = math.ceil(-slack)
    assert str(caught.value).splitlines()[-1] == (
        f"(if {-slack:.3g} units in the last place are the rounding of floats, pass "
        f"tolerance_ulps={needed})"
    )
    for claim in (10 / 7, Fraction(10, 7)):
        report = sl.assert_sensitivity(
            universe, trimmed_mean, claim, **options, tight=True, tolerance_ulps=needed + 1
        )
        assert report.verdict == "tight up to rounding"


def test_exact_claims_about_exact_queries_have_no_tolerance():
    universe = sl.Universe.from_domain([0, 2**60])
    options = {"size": 2, "neighbors": "unbounded", "distances": 1}
    assert sl.assert_sensitivity(universe, "sum", 2**60, **options, tight=True).sound
    for claim in (2**60 - 100, 2**60 - 1, Fraction(2**61 - 1, 2), Decimal(2**60 - 1)):
        with pytest.raises(sl.errors.SensitivityViolation):
            sl.assert_sensitivity(universe, "sum", claim, **options, tolerance_ulps=10**6)
    below = math.nextafter(2.0**60, 0)
    assert sl.audit(universe, "sum", below, **options).verdict == "tight up to rounding"
    assert sl.audit(universe, "sum", below, **options, tolerance_ulps=0).verdict == "violated"


def test_pytest_shows_the_callers_line():
    """No line of the library stands between the caller's assertion and its message."""
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        sl.assert_sensitivity(BITS, "mean", 0, **HERE)
    assert [entry.name for entry in caught.traceback.filter(caught)] == [
        "test_pytest_shows_the_callers_line"
    ]


def test_claims_may_depend_on_the_size():
    options = {"size": [2, 3, 4], "neighbors": "bounded", "distances": [1, 2]}
    for claim in (lambda k, n: Fraction(k, n), lambda k, *, n: Fraction(k, n)):
        report = sl.assert_sensitivity(BITS, "mean", claim, **options, tight=True)
        assert [(row.distance, row.size, row.claimed, row.exact) for row in report.rows] == [
            (k, n, Fraction(k, n), Fraction(k, n)) for k in (1, 2) for n in (2, 3, 4)
        ]
    # At size 2 alone the claim is too small, at size 4 alone too large.
    report = sl.audit(BITS, "mean", lambda k, n: k / 3 + 0 * n, **options)
    assert repr(report) == (
        "Audit of mean, bounded: violated\n"
        "  setting  bounded, at most k; size any of (2, 3, 4); domain of 2 values, unlimited "
        "copies; exact arithmetic\n"
        "  k  n  claimed       truth               verdict\n"
        "  1  2  0.3333333333  1/2 = 0.5           violated (claim / truth = 0.6667)\n"
        "  1  3  0.3333333333  1/3 = 0.3333333333  tight up to rounding (-0.333 ulp)\n"
        "  1  4  0.3333333333  1/4 = 0.25          loose (claim / truth = 1.333)\n"
        "  2  2  0.6666666667  1                   violated (claim / truth = 0.6667)\n"
        "  2  3  0.6666666667  2/3 = 0.6666666667  tight up to rounding (-0.333 ulp)\n"
        "  2  4  0.6666666667  1/2 = 0.5           loose (claim / truth = 1.333)\n"
        "  x  (0, 1)  ->  1/2\n"
        "  y  (0, 0)  ->  0"
    )
    refused_with(
        lambda: report.raise_if_violated(),
        "at distance 1 and size 2, the truth is",
        sl.errors.SensitivityViolation,
    )


def test_a_claim_with_a_default_is_a_function_of_the_distance_alone():
    report = sl.audit(
        BITS, "mean", lambda k, n=3: Fraction(k, n), size=[3, 4], neighbors="bounded", distances=1
    )
    assert [(row.size, row.verdict) for row in report.rows] == [(None, "tight")]


def test_a_claim_that_depends_on_a_size_in_which_neighbors_differ_is_not_sound():
    """Noise of scale k / n tells a dataset of 3 from one of 2, whatever the query answers."""
    options = {"size": [3, 4], "neighbors": "unbounded", "distances": 1}
    report = sl.audit(BITS, "mean", lambda k, n: Fraction(k, n - 1), **options)
    assert [(row.size, row.claimed, row.exact) for row in report.rows] == [
        (3, Fraction(1, 2), Fraction(1, 3)),
        (4, Fraction(1, 3), Fraction(1, 4)),
    ]
    assert {row.verdict for row in report.rows} == {"data-dependent claim"}
    assert report.rows[0].claims == {"at n = 3": Fraction(1, 2), "at n = 2": 1}
    with pytest.raises(sl.errors.SensitivityViolation) as caught:
        sl.assert_sensitivity(BITS, "mean", lambda k, n: Fraction(k, n - 1), **options)
    assert str(caught.value).splitlines()[0] == (
        "mean, unbounded: sensitivities of 1/2 = 0.5 at n = 3 and 1 at n = 2 are "
        "claimed at distance 1 and size 3, the truth is 1/3 = 0.3333333333: "
        "data-dependent claim (1/2 at n = 3, 1 at n = 2)"
    )
    # The smaller claim counts: from 3 records to 4 it is 1/4, and the mean moves by 1/4 at most.
    added = sl.Unbounded(direction="add")
    grown = sl.audit(BITS, "mean", lambda k, n: Fraction(k, n), **{**options, "neighbors": added})
    assert [(row.claimed, row.exact) for row in grown.rows] == [
        *((Fraction(1, 4), Fraction(1, 4)), (Fraction(1, 5), Fraction(1, 5)))
    ]
    assert grown.verdict == "data-dependent claim"
    small = sl.audit(BITS, "sum", lambda k, n: Fraction(4 * k, n + 1), **options)
    assert small.rows[1].remark == (
        "violated (claim / truth = 0.8; the claim depends on the data: 4/5 at n = 4, 1 at n = 3)"
    )
    # A function of n that is the same at all sizes in question tells nothing apart.
    same = sl.audit(BITS, "count", lambda k, n: min(k, n), **options)
    assert [(row.verdict, row.claims) for row in same.rows] == [("tight", None)] * 2


def test_a_neighbor_of_another_size_than_the_witness_counts_too():
    """Datasets of 3 records move by 2, all others by 1 at most; their claim differs."""

    def first_of_three(x):
        return x[0] if len(x) == 3 else 0

    (row,) = sl.audit(
        sl.Universe.from_domain([-1, 1]),
        first_of_three,
        lambda k, n: (5 if n == 3 else 3) * k // 2,
        size=3,
        neighbors="symmetric_difference",
        distances=2,
    ).rows
    assert len(row.evidence.x) == len(row.evidence.y) == 3
    assert (row.claimed, row.exact, row.verdict) == (5, 2, "data-dependent claim")
    assert row.claims == {"at n = 3": 5, "at n = 1": 3}


def test_a_claim_of_k_and_n_that_raises():
    refused(
        lambda: sl.audit(
            BITS, "mean", lambda k, n: k / (n - 3), size=3, neighbors="bounded", distances=1
        ),
        "the claim, a function of k and n, raised ZeroDivisionError at distance 1 and size 3: "
        "division by zero",
    )


def test_claims_beyond_the_range_of_floats_are_audited():
    for claim in (10**400, Decimal("1e400")):
        report = sl.audit(BITS, "sum", claim, **HERE)
        assert report.verdict == "loose"
        assert repr(report).splitlines()[3].lower() == (
            "  1  1e+400   1      loose (claim / truth = inf)"
        )


def test_assert_sensitivity_checks_its_own_argument():
    refused(
        lambda: sl.assert_sensitivity(BITS, "mean", 1, **HERE, tight="yes"),
        "tight must be True or False, got 'yes'",
    )


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (math.nan, "the claim at distance 1 must be a number that is not negative, got nan"),
        (-2, "the claim at distance 1 must be a number that is not negative, got -2"),
        (
            "2",
            "the claim at distance 1 must be a number that is not negative: "
            "an int, float, Fraction or Decimal, got '2' (str)",
        ),
        (
            {}.get,
            "the claim at distance 1 must be a number that is not negative: "
            "an int, float, Fraction or Decimal, got None (NoneType)",
        ),
        (
            lambda k: 2 - k,
            "the claim at distance 3 must be a number that is not negative, got -1",
        ),
        (
            lambda k: 1 / abs(k - 2),
            "the claim, a function of k, raised ZeroDivisionError at distance 2: division by zero",
        ),
        (
            lambda: 1,
            "the claim, a function of k, raised TypeError at distance 1: "
            "<lambda>() takes 0 positional arguments but 1 was given",
        ),
    ],
)
def test_what_is_no_claim(claim, message):
    refused(
        lambda: sl.audit(BITS, "mean", claim, size=3, neighbors="bounded", distances=[1, 2, 3]),
        message,
    )


WITHOUT = "has no such neighbors, so leave it out"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"distances": [1.5]},
            "distances must be a whole number (a Hamming distance, at least 1), got 1.5 (float)",
        ),
        ({"norm": "L3"}, "norm must be one of 'L1', 'L2', 'Linf', got 'L3'"),
        (
            {"neighbors": "nearby"},
            f"unknown neighbor relation 'nearby'; {RELATION_CHOICES}",
        ),
        (
            {"neighbors": ["bounded"]},
            f"unknown neighbor relation ['bounded']; {RELATION_CHOICES}",
        ),
        (
            {"size": 0},
            f"size 0 {WITHOUT}: bounded, at most 1 is not feasible for datasets of size 0 in a "
            "domain of 2 values, unlimited copies: replacing needs a record of x and at least one "
            "record outside x; no distance is feasible; choose another size or a larger universe",
        ),
        (
            {"size": []},
            "size must be a whole number (a number of records, at least 0), got none; give "
            "one or several",
        ),
        ({"exactly": "no"}, "exactly must be True or False, got 'no'"),
        (
            {"query": "mode"},
            f"unknown query 'mode'; choose one of {NAMES}, percentile_25 (any number from 0 to "
            "100), a query such as Percentile(25), or a function of a 1-D array",
        ),
        (
            {"universe": {1, 2}},
            "universe must be a Universe, or a list, a column or a table of its records, got set; "
            "make one with Universe.from_dataset(records) or Universe.from_domain(values)",
        ),
        (
            {"distances": 4, "exactly": True},
            f"size 3 {WITHOUT}: bounded, exactly 4 is not feasible for datasets of size 3 in a "
            "domain of 2 values, unlimited copies: replacing exactly k records needs k <= size and "
            "k <= records outside x; the largest feasible k is 3",
        ),
        (
            {"universe": sl.Universe([1, 2, 3])},
            f"size 3 {WITHOUT}: bounded, at most 1 is not feasible for datasets of size 3 in a "
            "universe of 3 records: replacing needs a record of x and at least one record outside "
            "x; no distance is feasible; choose a smaller size, or use a domain as the universe, "
            "Universe.from_domain(values)",
        ),
        (
            {
                "universe": sl.Universe([1, 2, 3, 4]),
                "neighbors": "unbounded",
                "distances": 2,
                "exactly": True,
            },
            f"size 3 {WITHOUT}: unbounded, exactly 2 is not feasible for datasets of size 3 in a "
            "universe of 4 records: removing needs k <= size, adding needs k <= records outside x; "
            "the largest feasible k is 1, or choose direction='remove', which leaves out additions "
            "and can give a smaller sensitivity",
        ),
        (
            {"size": [1, 2], "neighbors": "unbounded", "distances": 2, "exactly": True},
            f"size 1 {WITHOUT}: unbounded, exactly 2 is not feasible for datasets of size 1 in a "
            "domain of 2 values, unlimited copies: removing needs k <= size, adding needs k <= "
            "records outside x; the largest feasible k is 1, or choose direction='add', which "
            "leaves out removals and can give a smaller sensitivity",
        ),
        (
            {
                "size": 2,
                "neighbors": sl.Unbounded(1, direction="remove"),
                "distances": 3,
                "exactly": True,
            },
            f"size 2 {WITHOUT}: unbounded (remove), exactly 3 is not feasible for datasets of size "
            "2 in a domain of 2 values, unlimited copies: removing needs k <= size; the largest "
            "feasible k is 2, or choose direction='add', which leaves out removals and can give a "
            "smaller sensitivity",
        ),
        ({"subject": 3}, "subject must be a text, got 3"),
    ],
)
def test_what_cannot_be_audited(changed, message):
    arguments = {"query": "mean", "claim": 1, "universe": BITS, **HERE, **changed}
    refused(lambda: sl.audit(**arguments), message)


def test_claims_are_checked_before_the_search():
    def never(_x):
        raise AssertionError("the search has started")

    with pytest.raises(sl.errors.InputError):
        sl.audit(BITS, never, -1, **HERE)


def test_a_float_claim_of_a_third_is_what_it_is():
    """1/3 as a float lies below a third: by how much is said, and it is no violation."""
    (row,) = sl.audit(BITS, "mean", 1 / 3, **HERE).rows
    assert row.verdict == "tight up to rounding"
    assert row.slack_ulp == float((Fraction(1 / 3) - Fraction(1, 3)) / Fraction(math.ulp(1 / 3)))
    assert row.slack_ulp < 0
    assert row.truth == Difference(Fraction(1), Fraction(2, 3))


def test_a_claim_need_not_hold_where_a_query_has_no_answer():
    """A mean of no records is no neighbor's, and its claim is not asked for."""
    given = {"size": 1, "neighbors": "unbounded"}
    report = sl.audit(BITS, "mean", lambda k, n: Fraction(k, 2 * n) * n, **given)
    assert report.verdict == "tight"
    refused_with(lambda: sl.audit(BITS, "sum", lambda k, n: k / n, **given), "ZeroDivisionError")
