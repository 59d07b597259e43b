"""Verdicts: claim against truth without rounding."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from checks import refused
from hypothesis import example, given
from hypothesis import strategies as st
from reports import PAIR, SQRT_2, exactly, report, row

import sensitivity_lab as sl
from sensitivity_lab.audits.claims import ROUNDING_ULPS
from sensitivity_lab.audits.row import HOLDS, NOT_REFUTED, SAMPLED, UNALIGNED, VERDICTS, Finding
from sensitivity_lab.exact.difference import Difference

ULP = Fraction(math.ulp(math.sqrt(2)))


def ulps_from(value: float, steps: int) -> float:
    for _ in range(abs(steps)):
        value = math.nextafter(value, math.copysign(math.inf, steps))
    return value


@pytest.mark.parametrize(
    ("claimed", "truth", "verdict", "factor", "slack"),
    [
        (1, 1, "tight", 1, 0),
        (Fraction(1, 3), Fraction(1, 3), "tight", 1, 0),
        (Decimal("0.3"), Fraction(3, 10), "tight", 1, 0),
        (0.5, Fraction(1, 2), "tight", 1, 0),
        (np.float32(0.5), Fraction(1, 2), "tight", 1, 0),
        (np.array(2), 2, "tight", 1, 0),
        (0, 0, "tight", 1, 0),
        (0.3, Fraction(3, 10), "tight up to rounding", 1.0, -0.2),
        (0.1, Fraction(1, 10), "tight up to rounding", 1.0, 0.4),
        (0.5, Fraction(1, 3), "loose", 1.5, (Fraction(1, 6)) * 2**54),
        (1, 4, "violated", 0.25, -3 * 2**50),
        (math.inf, 4, "loose", math.inf, math.inf),
        (Decimal("Infinity"), 4, "loose", math.inf, math.inf),
        (1, 0, "loose", math.inf, math.inf),
        (0, 4, "violated", 0, -4 * 2**50),
        (math.sqrt(2), SQRT_2, "tight up to rounding", 1.0, 0.43539),
        (2, Difference(Fraction(4), Fraction(0), root=True), "tight", 1, 0),
        (2, SQRT_2, "loose", math.sqrt(2), (2 - Fraction(math.sqrt(2))) / ULP),
        (1, SQRT_2, "violated", math.sqrt(0.5), (1 - Fraction(math.sqrt(2))) / ULP),
        (math.inf, math.inf, "tight", 1, 0),
        (5, math.inf, "violated", 0, -math.inf),
        # A claim of a handful of units in the last place, where the truth is next to nothing.
        (2e-323, Difference(Fraction(1, 10**330), Fraction(0)), "tight up to rounding", None, 4),
    ],
)
def test_verdict_factor_and_slack(claimed, truth, verdict, factor, slack):
    found = row(claimed, truth)
    assert found.verdict == verdict
    if factor is not None:
        assert found.factor == pytest.approx(factor, rel=1e-15)
    assert found.slack_ulp == pytest.approx(float(slack), rel=1e-4)


@given(
    truth=st.fractions(0, 1000, max_denominator=50) | st.fractions(0, 1),
    steps=st.integers(-8, 8),
)
@example(truth=Fraction(1), steps=-1)
@example(truth=Fraction(2), steps=-5)
@example(truth=Fraction(0), steps=3)
def test_a_few_units_in_the_last_place_are_rounding(truth, steps):
    nearest = truth.numerator / truth.denominator
    claimed = max(0.0, ulps_from(nearest, steps))
    slack = (Fraction(claimed) - truth) / Fraction(math.ulp(nearest))
    if slack == 0:
        expected = "tight"
    elif abs(slack) <= ROUNDING_ULPS:
        expected = "tight up to rounding"
    else:
        expected = "loose" if slack > 0 else "violated"
    found = row(claimed, truth)
    assert found.verdict == expected
    assert found.slack_ulp == float(slack)


@given(
    squares=st.tuples(st.fractions(0, 100), st.fractions(0, 100)),
    ulps=st.fractions(-6, 6, max_denominator=4),
)
def test_roots_are_compared_without_rounding(squares, ulps):
    """The square of each side of sqrt(a) - sqrt(b) <= c, in Decimal far beyond floats."""
    truth = Difference(*squares, root=True)
    roots = [
        (Decimal(s.numerator) / Decimal(s.denominator)).sqrt().as_integer_ratio() for s in squares
    ]
    value = abs(Fraction(*roots[0]) - Fraction(*roots[1]))  # right to about 1e-27
    ulp = Fraction(math.ulp(truth.nearest()))
    claimed = max(Fraction(0), value + ulps * ulp)
    found = sl.audits.AuditRow(1, claimed, truth, PAIR, rounded=True)
    slack = (claimed - value) / ulp
    if abs(abs(slack) - ROUNDING_ULPS) > Fraction(1, 100) and value > Fraction(1, 10**6):
        inside = abs(slack) < ROUNDING_ULPS
        expected = {"tight", "tight up to rounding"} if inside else {"loose", "violated"}
        assert found.verdict in expected
        if not inside:
            assert (found.verdict == "loose") == (slack > 0)


@pytest.mark.parametrize(
    ("claimed", "message"),
    [
        (-1, "must be a number that is not negative, got -1"),
        (-0.5, "must be a number that is not negative, got -0.5"),
        (-math.inf, "must be a number that is not negative, got -inf"),
        (math.nan, "must be a number that is not negative, got nan"),
        (np.float64("nan"), "must be a number that is not negative, got nan"),
        (Decimal("NaN"), "must be a number that is not negative, got Decimal('NaN')"),
        (Decimal("sNaN"), "must be a number that is not negative, got Decimal('sNaN')"),
        (
            "2",
            "must be a number that is not negative: an int, float, Fraction or Decimal, "
            "got '2' (str)",
        ),
        (
            True,
            "must be a number that is not negative: an int, float, Fraction or Decimal, "
            "got True (bool)",
        ),
        (
            [1, 2],
            "must be a number that is not negative: an int, float, Fraction or Decimal, "
            "got [1, 2] (list)",
        ),
        (
            ...,
            "must be a number that is not negative: an int, float, Fraction or Decimal, "
            "got Ellipsis (replace the dots)",
        ),
        (Decimal("1e99999999"), "has more than 4,300 digits; claim math.inf for no bound"),
        (Decimal("1e-99999999"), "has more than 4,300 digits; claim math.inf for no bound"),
    ],
)
def test_what_is_no_claim(claimed, message):
    refused(lambda: row(claimed, 1, distance=3), f"the claim at distance 3 {message}")


@pytest.mark.parametrize(
    ("query", "norm", "attribute"),
    [
        ("mean", "L1", "exact"),
        ("std", "L1", "upper"),  # a root
        (lambda records: float(max(records)), "L1", "value"),
    ],
)
def test_a_result_is_no_claim_but_has_one(query, norm, attribute):
    universe = sl.Universe.from_domain([0, 1, 2])
    asked = {"size": 3, "neighbors": sl.Bounded(1), "norm": norm}
    result = sl.global_sensitivity(universe, query, **asked)
    refused(
        lambda: sl.assert_sensitivity(universe, query, result, **asked),
        "the claim at distance 1 must be a number that is not negative: an int, float, Fraction "
        f"or Decimal, got an object of the type Sensitivity; pass result.{attribute}",
    )
    sl.assert_sensitivity(universe, query, getattr(result, attribute), **asked)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("make", [int, lambda number: Fraction(1, number)], ids=["long", "small"])
def test_claims_that_python_would_not_write(make, sign):
    refused(
        lambda: row(make(sign * 10**4301), 1),
        "the claim at distance 1 has more than 4,300 digits; claim math.inf for no bound",
    )


def test_a_report_needs_rows():
    refused(
        lambda: sl.audits.AuditReport("mean", (), "bounded"),
        "the audit of mean has no rows; audit at least one distance",
    )


def test_the_worst_row_decides():
    """Per verdict a claim about 1/3; the later ones in VERDICTS are worse."""
    claimed = (Fraction(1, 3), 1 / 3, 1, None, 1, 1, 1, 1, None, 1, 0.1)
    claims = dict(zip(VERDICTS, claimed, strict=True))
    rows = {verdict: row(claim, Fraction(1, 3)) for verdict, claim in claims.items()}
    rows["data-dependent claim"] = replace(
        rows["data-dependent claim"], claims={"on x": 1, "on y": 2}
    )
    for verdict in (HOLDS, NOT_REFUTED, SAMPLED):
        rows[verdict] = replace(rows[verdict], finding=Finding(verdict, "ran"))
    rows["not judged"] = replace(rows["not judged"], judged=False, reason="a sample")
    rows["not aligned"] = replace(rows["not aligned"], finding=UNALIGNED)
    assert [one.verdict for one in rows.values()] == list(rows)
    for worst, verdict in enumerate(VERDICTS):
        some = [rows[name] for name in VERDICTS[: worst + 1]]
        for ordered in (some, some[::-1]):
            found = report(*ordered)
            assert found.verdict == verdict
            assert found.decisive is rows[verdict]
            assert found.sound == (verdict in VERDICTS[:4])
            assert found.held == (verdict in VERDICTS[:5])


def test_of_several_violations_the_first_is_shown():
    rows = [row(2, 2, 1), row(2, 3, 2), row(2, 4, 3)]
    assert report(*rows).decisive is rows[1]


@pytest.mark.parametrize(
    ("claimed", "truth", "verdict"),
    [
        (2**60 - 100, 2**60, "violated"),
        (2**60 - 1, 2**60, "violated"),
        (2**60 + 1, 2**60, "loose"),
        (Fraction(2**60) - Fraction(1, 10**9), 2**60, "violated"),
        (Decimal(2**60 - 1), 2**60, "violated"),
        (float(2**60 - 512), 2**60, "tight up to rounding"),
        (Fraction(math.sqrt(2)), SQRT_2, "loose"),
        (Fraction(math.nextafter(math.sqrt(2), 0)), SQRT_2, "violated"),
    ],
)
def test_exact_claims_about_exact_answers_have_no_tolerance(claimed, truth, verdict):
    assert row(claimed, truth).verdict == verdict


@pytest.mark.parametrize("claimed", [2**60 - 300, Fraction(2**60 - 300), float(2**60 - 384)])
def test_the_tolerance_is_an_argument(claimed):
    def at(tolerance):
        return sl.audits.AuditRow(
            1, claimed, exactly(2**60), PAIR, rounded=True, tolerance_ulps=tolerance
        ).verdict

    assert math.ulp(2.0**60) == 256
    assert at(2) == at(np.int64(4)) == at(Fraction(3, 2)) == "tight up to rounding"
    assert at(1) == at(0) == at(0.5) == "violated"


@pytest.mark.parametrize("tolerance", [-1, math.nan, math.inf, "4", None, True])
def test_what_is_no_tolerance(tolerance):
    refused(
        lambda: sl.audits.AuditRow(1, 1, exactly(1), PAIR, tolerance_ulps=tolerance),
        "tolerance_ulps must be a finite number of units in the last place of the truth, at least "
        f"0, got {tolerance!r}",
    )


@pytest.mark.parametrize(
    "claimed",
    [10**400, Decimal("1e400"), Fraction(10**401, 7), 10**4299],
    ids=["int", "Decimal", "Fraction", "longest"],
)
def test_claims_beyond_the_range_of_floats(claimed):
    loose = row(claimed, 2)
    assert (loose.verdict, loose.factor, loose.slack_ulp) == ("loose", math.inf, math.inf)
    truth = Fraction(claimed)
    tight, small, large = (row(claimed, truth + more) for more in (0, 1, -1))
    assert [one.verdict for one in (tight, small, large)] == ["tight", "violated", "loose"]
    assert (small.slack_ulp, large.slack_ulp) == (-math.inf, math.inf)
    assert (tight.value, tight.slack_ulp) == (math.inf, 0)
    assert tight.exact == truth
    found = report(small, loose)
    assert "e+4" in repr(found).splitlines()[3]
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_a_claim_that_depends_on_the_data_is_never_sound():
    for claims in [(4, 6), (6, 4)]:
        one = sl.audits.AuditRow(
            1, 4, exactly(4), PAIR, claims=dict(zip(("on x", "on y"), claims, strict=True))
        )
        found = report(one)
        assert (one.verdict, found.sound) == ("data-dependent claim", False)
        assert one.remark == f"data-dependent claim ({claims[0]} on x, {claims[1]} on y)"
        with pytest.raises(sl.errors.SensitivityViolation) as caught:
            found.raise_if_violated()
        assert str(caught.value).splitlines()[0] == (
            f"mean, bounded: sensitivities of {claims[0]} on x and {claims[1]} on y are claimed at "
            f"distance 1, the truth is 4: {one.remark}"
        )
    small = sl.audits.AuditRow(1, 4, exactly(5), PAIR, claims={"on x": 4, "on y": Fraction(20, 3)})
    assert small.remark == (
        "violated (claim / truth = 0.8; the claim depends on the data: 4 on x, 20/3 on y)"
    )


def test_a_row_without_a_claim_is_told_apart():
    nothing = sl.audits.AuditRow(2, None, exactly(5), PAIR, reason="the map\nfails")
    found = report(row(5, 5), nothing)
    assert (found.verdict, found.sound) == ("no claim", True)
    assert repr(found).splitlines()[2:5] == [
        "  k  claimed  truth  verdict",
        "  2  none     5      no claim (the map fails)",
        "  1  5        5      tight",
    ]
    assert math.isnan(nothing.factor)
    assert math.isnan(nothing.slack_ulp)
    assert found.counterexample(nothing).startswith(
        "mean, bounded: no sensitivity is claimed at distance 2, the truth is 5: no claim"
    )


def test_the_way_out_of_a_failure_by_rounding_is_named():
    claimed = ulps_from(10 / 7, -5)
    message = report(row(claimed, Fraction(10 / 7))).counterexample(row(claimed, Fraction(10 / 7)))
    assert message.splitlines()[-1] == (
        "(if 5 units in the last place are the rounding of floats, pass tolerance_ulps=5)"
    )
    exact = row(2**60 - 100, 2**60)
    assert "tolerance_ulps" not in report(exact).counterexample(exact)
    far = row(0.5, 1)
    assert "tolerance_ulps" not in report(far).counterexample(far)
