"""Verdicts: claim against truth without rounding, and evidence that Python reads back."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import FrozenInstanceError, fields, replace
from decimal import Decimal
from fractions import Fraction
from html import unescape

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pictures import assert_nothing_cut_off, settle

import sensitivity_lab as sl
from sensitivity_lab.audits.claims import ROUNDING_ULPS
from sensitivity_lab.audits.report import VERDICTS
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.plotting import plot_audit
from sensitivity_lab.results.literals import brief, brief_pair, literal

PAIR = sl.Evidence((1, 2), (1, 4), Fraction(3, 2), Fraction(5, 2))
SQRT_2 = Difference(Fraction(2), Fraction(0), root=True)
ULP = Fraction(math.ulp(math.sqrt(2)))


def exactly(value) -> Difference:
    return Difference(Fraction(value), Fraction(0))


def row(claimed, truth, distance: int = 1, evidence: sl.Evidence = PAIR) -> sl.AuditRow:
    if not isinstance(truth, Difference) and truth != math.inf:
        truth = exactly(truth)
    return sl.AuditRow(distance, claimed, truth, evidence)


def report(*rows: sl.AuditRow) -> sl.AuditReport:
    return sl.AuditReport("mean, bounded", rows, "bounded, at most k; size 2")


def words_of_html(html: str) -> list[str]:
    return unescape(re.sub(r"<[^>]*>", " ", html)).split()


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
    found = sl.AuditRow(1, claimed, truth, PAIR, rounded=True)
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
        (Decimal("1e99999999"), "has more than 4,300 digits; claim math.inf for no bound"),
        (Decimal("1e-99999999"), "has more than 4,300 digits; claim math.inf for no bound"),
    ],
)
def test_what_is_no_claim(claimed, message):
    with pytest.raises(sl.InputError) as caught:
        row(claimed, 1, distance=3)
    assert str(caught.value) == f"the claim at distance 3 {message}"


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("make", [int, lambda number: Fraction(1, number)], ids=["long", "small"])
def test_claims_that_python_would_not_write(make, sign):
    with pytest.raises(sl.InputError) as caught:
        row(make(sign * 10**4301), 1)
    assert str(caught.value) == (
        "the claim at distance 1 has more than 4,300 digits; claim math.inf for no bound"
    )


def test_a_report_needs_rows():
    with pytest.raises(sl.InputError) as caught:
        sl.AuditReport("mean", (), "bounded")
    assert str(caught.value) == "the audit of mean has no rows; audit at least one distance"


def test_the_worst_row_decides():
    """Per verdict a claim about 1/3; the later ones in VERDICTS are worse."""
    claims = dict(zip(VERDICTS, (Fraction(1, 3), 1 / 3, 1, None, 1, 0.1), strict=True))
    rows = {verdict: row(claim, Fraction(1, 3)) for verdict, claim in claims.items()}
    rows["data-dependent claim"] = replace(
        rows["data-dependent claim"], claims={"on x": 1, "on y": 2}
    )
    assert [one.verdict for one in rows.values()] == list(rows)
    for worst, verdict in enumerate(VERDICTS):
        some = [rows[name] for name in VERDICTS[: worst + 1]]
        for ordered in (some, some[::-1]):
            found = report(*ordered)
            assert found.verdict == verdict
            assert found.decisive is rows[verdict]
            assert found.sound == (verdict not in ("violated", "data-dependent claim"))


def test_of_several_violations_the_first_is_shown():
    rows = [row(2, 2, 1), row(2, 3, 2), row(2, 4, 3)]
    assert report(*rows).decisive is rows[1]


REPORT = report(
    row(1, 1),
    row(0.3, Fraction(3, 10), 2),
    row(math.inf, Fraction(10**30, 3), 3),
    row(2, SQRT_2, 4),
    row(Fraction(1, 3), Fraction(1, 2), 5),
    row(1 - 1e-12, 1, 6),
)


def test_repr():
    assert repr(REPORT) == (
        "Audit of mean, bounded: violated\n"
        "  setting  bounded, at most k; size 2\n"
        "  k  claimed  truth            verdict\n"
        "  5  1/3      1/2 = 0.5        violated (claim / truth = 0.6667)\n"
        "  1  1        1                tight\n"
        "  2  0.3      3/10 = 0.3       tight up to rounding (-0.2 ulp)\n"
        "  3  inf      3.333333333e+29  loose (claim / truth = inf)\n"
        "  4  2        1.414213562      loose (claim / truth = 1.414)\n"
        "  6  1        1                violated (claim - truth = -4.5e+03 ulp)\n"
        "  x  (1, 2)  ->  3/2\n"
        "  y  (1, 4)  ->  5/2"
    )


def test_html_tells_the_same_facts_as_the_repr():
    assert words_of_html(REPORT._repr_html_()) == repr(REPORT).split()


def test_html_escapes_names():
    html = replace(REPORT, subject="<b>max & more</b>")._repr_html_()
    assert "<b>" not in html
    assert "<b>max & more</b>:" in unescape(html)


def test_reports_show_changed_records_first_and_shorten_the_others():
    """The one changed record stands at the end of 5,000: by position it would not be seen."""
    pair = sl.Evidence((0,) * 4999 + (1,), (0,) * 4999, (0.5,) * 20, {"a": 1})
    found = report(row(0, 1, evidence=pair))
    shared = "shared: 0, 0, 0, 0, 0, 0, 0, 0, ... and 4,991 more"
    assert repr(found).splitlines()[-2:] == [
        f"  x  (changed: 1; {shared})  ->  "
        "(0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, ..., 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5; "
        "20 in all)",
        f"  y  (changed: none; {shared})  ->  {{'a': 1}}",
    ]
    assert found.counterexample(found.decisive) == (
        "mean, bounded: a sensitivity of 0 is claimed at distance 1, the truth is 1: "
        "violated (claim / truth = 0)\n"
        f"x = (changed: 1; {shared})     ->  f(x) = "
        "(0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, ..., 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5; "
        "20 in all)\n"
        f"y = (changed: none; {shared})  ->  f(y) = {{'a': 1}}\n"
        "(bounded, at most k; size 2)\n"
        "(shortened; `evidence.lines` and `to_dict()` have the datasets whole)"
    )
    x, y = pair.lines
    assert x == f"x = {[0] * 4999 + [1]}  ->  f(x) = {(0.5,) * 20}"
    assert y == f"y = {[0] * 4999}     ->  f(y) = {{'a': 1}}"
    assert found.to_dict()["rows"][0]["x"] == [0] * 4999 + [1]


def test_a_long_table_and_its_first_rows():
    rows = tuple((age, "x") for age in range(20))
    found = report(row(0, 1, evidence=sl.Evidence(rows, rows[:2], 20, np.float32(0.1))))
    assert repr(found).splitlines()[-2:] == [
        "  x  (changed: (2, 'x'), (3, 'x'), (4, 'x'), (5, 'x'), (6, 'x'), (7, 'x'), (8, 'x'), "
        "(9, 'x'), ... and 10 more; shared: (0, 'x'), (1, 'x'))  ->  20",
        "  y  (changed: none; shared: (0, 'x'), (1, 'x'))  ->  0.10000000149011612",
    ]


def test_two_orders_of_the_same_records_show_both_ends():
    x, y = brief_pair(tuple(range(20)), tuple(reversed(range(20))))
    assert x == "(0, 1, 2, 3, 4, 5, 6, 7, ..., 12, 13, 14, 15, 16, 17, 18, 19; 20 in all)"
    assert y == "(19, 18, 17, 16, 15, 14, 13, 12, ..., 7, 6, 5, 4, 3, 2, 1, 0; 20 in all)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(0.5), "0.5"),
        ((np.float64(0.5), np.int64(2)), "(0.5, 2)"),
        ({"a": np.float64(0.5)}, "{'a': 0.5}"),
        ({np.float64(0.5)}, "{0.5}"),
        ("two\nlines", "'two\\nlines'"),
        (("x" * 5000,), f"('{'x' * 119}... (5,002 characters),)"),
        (np.zeros(5000), "(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, ..., 0.0, 0.0, 0.0, 0.0, 0.0, "
         "0.0, 0.0, 0.0; 5,000 in all)"),
        (set(range(5000)), "{0, 1, 2, 3, 4, 5, 6, 7, ... and 4,992 more}"),
        (
            pd.DataFrame({"a": range(5000)}),
            "table ((0,), (1,), (2,), (3,), (4,), (5,), (6,), (7,)) of ('a',), the first of 5,000 "
            "rows",
        ),
        (pd.DataFrame({"a": [1], "b": ["x"]}), "table ((1, 'x'),) of ('a', 'b')"),
        (Fraction(10**30, 3), "3.333333333e+29"),
        (None, "None"),
        (True, "True"),
    ],
)  # fmt: skip
def test_what_is_shown_is_short_and_on_one_line(value, text):
    assert brief(value) == text


def test_a_number_that_python_would_not_write_is_shown():
    assert brief((10**5000, Fraction(10**5000, 3))) == "(1e+5000, 3.333333333e+4999)"


def test_names_with_line_breaks_stay_on_one_line():
    found = replace(REPORT, subject="mean\nof\tages", setting="bounded,\n size 2")
    assert repr(found).splitlines()[:2] == [
        "Audit of mean of ages: violated",
        "  setting  bounded, size 2",
    ]
    assert len(found.counterexample(found.decisive).splitlines()) == 4


def test_a_report_of_thousands_of_rows_shows_the_first_ones():
    found = report(*(row(1, 1, k) for k in range(1, 5000)), row(1, 2, 5000))
    lines = repr(found).splitlines()
    assert len(lines) == 3 + 60 + 3
    assert lines[3].split() == ["5000", "1", "2", "violated", "(claim", "/", "truth", "=", "0.5)"]
    assert lines[4].split() == ["1", "1", "1", "tight"]
    assert lines[63] == "  ...  and 4,940 more rows"


def test_a_report_looks_at_each_row_a_few_times(monkeypatch):
    """Not once per pair of rows."""
    seen = Counter()
    monkeypatch.setattr(
        sl.AuditRow, "verdict", property(lambda one: seen.update([one.distance]) or "tight")
    )
    repr(report(*(row(1, 1, k) for k in range(1, 200))))
    assert max(seen.values()) <= 10


def test_rows_without_a_claim_and_claims_beyond_floats_can_be_drawn():
    nothing = sl.AuditRow(2, None, exactly(5), PAIR)
    claim, true, broken = report(row(10**400, 5), nothing, row(1, 2, 3)).plot().get_lines()
    assert np.array_equal(claim.get_ydata(), [np.nan, np.nan, 1], equal_nan=True)
    assert list(true.get_ydata()) == [5, 5]
    assert list(broken.get_xdata()) == [3]


def test_everything_is_in_a_dict_that_json_takes():
    overflow = sl.Evidence((1, 1), ("a", None), math.nan, math.inf, ("n",))
    found = report(
        *REPORT.rows,
        sl.AuditRow(
            7, 0.5, exactly(1), PAIR, 3, {"on x": 0.5, "on y": Decimal("0.75")}, rounded=True
        ),
        sl.AuditRow(8, None, math.inf, overflow, reason="the map fails"),
    )
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["verdict"] == "violated"
    assert told["sound"] is False
    assert (told["subject"], told["setting"]) == (found.subject, found.setting)
    rows = told["rows"]
    assert rows[4] == {
        "distance": 5,
        "size": None,
        "claimed": "1/3",
        "claims": None,
        "reason": "",
        "exact": "1/2",
        "truth": 0.5,
        "verdict": "violated",
        "factor": 2 / 3,
        "slack_ulp": float(-Fraction(1, 6) * 2**53),
        "tolerance_ulps": 0,
        "x": [1, 2],
        "y": [1, 4],
        "answer_x": "3/2",
        "answer_y": "5/2",
        "columns": None,
    }
    assert (rows[1]["tolerance_ulps"], rows[2]["claimed"], rows[3]["exact"]) == (4, "inf", None)
    assert (rows[6]["size"], rows[6]["claims"], rows[6]["claimed"]) == (
        *(3, {"on x": 0.5, "on y": "0.75"}, 0.5),
    )
    assert rows[7] == {
        **rows[4],
        "distance": 8,
        "claimed": None,
        "reason": "the map fails",
        "exact": None,
        "truth": "inf",
        "verdict": "no claim",
        "factor": None,
        "slack_ulp": None,
        "x": [1, 1],
        "y": ["a", None],
        "answer_x": "nan",
        "answer_y": "inf",
        "columns": ["n"],
    }


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
        return sl.AuditRow(
            1, claimed, exactly(2**60), PAIR, rounded=True, tolerance_ulps=tolerance
        ).verdict

    assert math.ulp(2.0**60) == 256
    assert at(2) == at(np.int64(4)) == at(Fraction(3, 2)) == "tight up to rounding"
    assert at(1) == at(0) == at(0.5) == "violated"


@pytest.mark.parametrize("tolerance", [-1, math.nan, math.inf, "4", None, True])
def test_what_is_no_tolerance(tolerance):
    with pytest.raises(sl.InputError) as caught:
        sl.AuditRow(1, 1, exactly(1), PAIR, tolerance_ulps=tolerance)
    assert str(caught.value) == (
        "tolerance_ulps must be a finite number of units in the last place of the truth, at least "
        f"0, got {tolerance!r}"
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
    found.plot()
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_a_claim_that_depends_on_the_data_is_never_sound():
    for claims in [(4, 6), (6, 4)]:
        one = sl.AuditRow(
            1, 4, exactly(4), PAIR, claims=dict(zip(("on x", "on y"), claims, strict=True))
        )
        found = report(one)
        assert (one.verdict, found.sound) == ("data-dependent claim", False)
        assert one.remark == f"data-dependent claim ({claims[0]} on x, {claims[1]} on y)"
        with pytest.raises(sl.SensitivityViolation) as caught:
            found.raise_if_violated()
        assert str(caught.value).splitlines()[0] == (
            f"mean, bounded: sensitivities of {claims[0]} on x and {claims[1]} on y are claimed at "
            f"distance 1, the truth is 4: {one.remark}"
        )
    small = sl.AuditRow(1, 4, exactly(5), PAIR, claims={"on x": 4, "on y": Fraction(20, 3)})
    assert small.remark == (
        "violated (claim / truth = 0.8; the claim depends on the data: 4 on x, 20/3 on y)"
    )


def test_a_row_without_a_claim_is_told_apart():
    nothing = sl.AuditRow(2, None, exactly(5), PAIR, reason="the map\nfails")
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


def test_everything_is_frozen():
    for thing in (REPORT, REPORT.rows[0], PAIR):
        for field in fields(thing):
            with pytest.raises(FrozenInstanceError):
                setattr(thing, field.name, None)


def test_frame():
    frame = REPORT.to_frame()
    assert list(frame) == [
        *("distance", "size", "claimed", "exact", "truth", "verdict", "factor", "slack_ulp"),
        *("x", "y", "answer_x", "answer_y"),
    ]
    assert list(frame["distance"]) == [1, 2, 3, 4, 5, 6]
    assert list(frame["claimed"]) == [1, 0.3, math.inf, 2, Fraction(1, 3), 1 - 1e-12]
    assert list(frame["exact"]) == ["1", "3/10", f"{10**30}/3", "", "1/2", "1"]
    assert list(frame["truth"])[3:] == [math.sqrt(2), 0.5, 1.0]
    assert list(frame["verdict"]) == [one.verdict for one in REPORT.rows]
    assert frame.loc[4, "factor"] == pytest.approx(2 / 3)
    assert frame.loc[0, ["x", "y", "answer_x", "answer_y"]].tolist() == [
        *((1, 2), (1, 4), Fraction(3, 2), Fraction(5, 2))
    ]


def test_csv_has_short_witnesses_unless_asked_otherwise(tmp_path):
    found = report(row(1, 1, evidence=sl.Evidence((0,) * 5000, (0,) * 4999 + (1,), 0, 1)))
    found.to_csv(tmp_path / "short.csv")
    found.to_csv(tmp_path / "full.csv", witness="full")
    short, full = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("short", "full"))
    shared = "shared: 0, 0, 0, 0, 0, 0, 0, 0, ... and 4,991 more"
    assert short.loc[0, ["x", "y"]].tolist() == [
        f"(changed: 0; {shared})",
        f"(changed: 1; {shared})",
    ]
    assert eval(full.loc[0, "y"]) == (0,) * 4999 + (1,)
    with pytest.raises(sl.InputError) as caught:
        found.to_csv(tmp_path / "no.csv", witness="all")
    assert str(caught.value) == "witness must be 'short' or 'full', got 'all'"


def test_csv(tmp_path):
    REPORT.to_csv(tmp_path / "audit.csv")
    written = pd.read_csv(tmp_path / "audit.csv")
    assert list(written["verdict"]) == [one.verdict for one in REPORT.rows]
    with pytest.raises(sl.InputError) as caught:
        REPORT.to_csv(tmp_path / "missing" / "audit.csv")
    assert str(caught.value).startswith("cannot write the table to ")
    assert str(caught.value).endswith("choose a file in an existing folder that you may write to")


def test_a_sound_report_raises_nothing():
    report(row(1, 1), row(3, 2)).raise_if_violated()


def test_a_violation_fails_a_test_with_its_counterexample():
    with pytest.raises(AssertionError) as caught:
        REPORT.raise_if_violated()
    assert isinstance(caught.value, sl.SensitivityLabError)
    assert isinstance(caught.value, sl.SensitivityViolation)
    assert str(caught.value) == (
        "mean, bounded: a sensitivity of Fraction(1, 3) = 0.3333333333 is claimed at distance 5, "
        "the truth is Fraction(1, 2) = 0.5: violated (claim / truth = 0.6667)\n"
        "x = [1, 2]  ->  f(x) = Fraction(3, 2)  # 1.5\n"
        "y = [1, 4]  ->  f(y) = Fraction(5, 2)  # 2.5\n"
        "(bounded, at most k; size 2)"
    )


def test_the_two_lines_are_aligned():
    pair = sl.Evidence((1, 2, 30), [1, 2], 3, 4.5)
    assert pair.lines == ("x = [1, 2, 30]  ->  f(x) = 3", "y = [1, 2]      ->  f(y) = 4.5")


def test_rows_with_columns_are_written_as_a_table():
    pair = sl.Evidence(((1, "f"),), (), 1, 0, ("age", "sex"))
    assert pair.lines == (
        "x = pd.DataFrame([(1, 'f')], columns=['age', 'sex'])  ->  f(x) = 1",
        "y = pd.DataFrame([], columns=['age', 'sex'])          ->  f(y) = 0",
    )


numbers = (
    st.integers()
    | st.floats(allow_nan=False)
    | st.fractions()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.none()
    | st.text(max_size=3)
    | st.booleans()
)


@given(
    st.recursive(
        numbers,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.lists(inner, max_size=3).map(tuple)
            | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
@example([math.inf, -math.inf, (1,), ()])
def test_python_reads_literals_back(value):
    names = {"Fraction": Fraction, "Decimal": Decimal}
    assert eval(literal(value), names) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float16(0.1), "0.0999755859375"),
        (np.int8(-3), "-3"),
        (
            np.array([0.5, np.inf], dtype="float16"),
            "np.array([0.5, float('inf')], dtype='float16')",
        ),
        (pd.Series([1, 2]), "pd.Series([1, 2])"),
        (
            pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
            "pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})",
        ),
        (math.nan, "float('nan')"),
    ],
)
def test_literals_of_numpy_and_pandas(value, text):
    assert literal(value) == text


def test_plot_shows_claims_truths_and_what_is_missing():
    ax = REPORT.plot(unit="days")
    settle(ax.figure)
    assert_nothing_cut_off(ax.figure)
    assert ax.get_title() == "Audit of mean, bounded: violated\nbounded, at most k; size 2"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("distance k", "sensitivity (days)")
    claim, true, broken = ax.get_lines()
    assert np.array_equal(claim.get_ydata(), [1, 0.3, np.nan, 2, 1 / 3, 1 - 1e-12], equal_nan=True)
    assert list(true.get_xdata()) == [1, 2, 3, 4]
    assert list(broken.get_xdata()) == [5, 6]
    assert list(broken.get_ydata()) == [0.5, 1.0]
    bars = [(bar.get_y(), bar.get_height()) for bar in ax.patches]
    assert bars == [(1 / 3, pytest.approx(1 / 6)), (1 - 1e-12, pytest.approx(1e-12))]
    assert all(bar.get_hatch() for bar in ax.patches)


def test_the_legend_names_only_what_is_drawn():
    sound = plot_audit([(1, 1.0, 1.0, False)])
    wrong = plot_audit([(1, 1.0, 2.0, True)])
    assert [text.get_text() for text in sound.get_legend().get_texts()] == ["claimed", "true"]
    assert [text.get_text() for text in wrong.get_legend().get_texts()] == [
        *("claimed", "true, above the claim", "missing from the claim")
    ]
    assert wrong.get_ylabel() == "sensitivity"


def test_zeros_and_infinite_claims_can_be_drawn():
    ax = plot_audit([(1, 0.0, 0.0, False), (2, math.inf, 0.0, False)])
    low, high = ax.get_ylim()
    assert low < 0 < high


def test_an_infinite_truth_is_hatched_up_to_the_frame():
    overflow = sl.Evidence((1, 1), (1, 2), 3.0, math.inf)
    found = report(row(1, 1), row(2, math.inf, 2, overflow), row(math.inf, math.inf, 3, overflow))
    assert [one.verdict for one in found.rows] == ["tight", "violated", "tight"]
    assert "  2  2        inf    violated (claim / truth = 0)\n" in repr(found)
    assert "the truth is float('inf'): violated" in found.counterexample(found.decisive)
    assert overflow.lines[1] == "y = [1, 2]  ->  f(y) = float('inf')"
    ax = found.plot()
    (bar,) = ax.patches
    assert bar.get_y() + bar.get_height() == pytest.approx(ax.get_ylim()[1])


def test_a_callers_axes_is_drawn_on():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert REPORT.plot(ax=ax, title="mine") is ax
    assert ax.get_title() == "mine"


def test_nothing_to_draw():
    with pytest.raises(sl.InputError) as caught:
        plot_audit([])
    assert str(caught.value) == "points: got none, so there is nothing to draw"
