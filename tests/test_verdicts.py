"""Verdicts: claim against truth without rounding, and evidence that Python reads back."""

from __future__ import annotations

import math
import re
from dataclasses import FrozenInstanceError, fields, replace
from decimal import Decimal
from fractions import Fraction
from html import unescape

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_plotting import assert_nothing_cut_off, settle

import sensitivity_lab as sl
from sensitivity_lab.arithmetic import Difference
from sensitivity_lab.plotting import plot_audit
from sensitivity_lab.verdicts import ROUNDING_ULPS, VERDICTS, literal

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
    found = row(claimed, truth)
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
            None,
            "must be a number that is not negative: an int, float, Fraction or Decimal, "
            "got None (NoneType)",
        ),
        (
            [1, 2],
            "must be a number that is not negative: an int, float, Fraction or Decimal, "
            "got [1, 2] (list)",
        ),
        (
            10**400,
            "is beyond the range of floats (about 1.8e308); claim math.inf for no bound",
        ),
        (
            Decimal("1e999"),
            "is beyond the range of floats (about 1.8e308); claim math.inf for no bound",
        ),
    ],
)
def test_what_is_no_claim(claimed, message):
    with pytest.raises(sl.InputError) as caught:
        row(claimed, 1, distance=3)
    assert str(caught.value) == f"the claim at distance 3 {message}"


def test_a_report_needs_rows():
    with pytest.raises(sl.InputError) as caught:
        sl.AuditReport("mean", (), "bounded")
    assert str(caught.value) == "the audit of mean has no rows; audit at least one distance"


def test_the_worst_row_decides():
    """Per verdict a claim about 1/3; the later ones in VERDICTS are worse."""
    claims = dict(zip(VERDICTS, (Fraction(1, 3), 1 / 3, 1, 0.1), strict=True))
    rows = {verdict: row(claim, Fraction(1, 3)) for verdict, claim in claims.items()}
    assert [one.verdict for one in rows.values()] == list(rows)
    for worst, verdict in enumerate(VERDICTS):
        some = [rows[name] for name in VERDICTS[: worst + 1]]
        for ordered in (some, some[::-1]):
            found = report(*ordered)
            assert found.verdict == verdict
            assert found.decisive is rows[verdict]
            assert found.sound == (verdict != "violated")


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
        "  1  1        1                tight\n"
        "  2  0.3      3/10 = 0.3       tight up to rounding (-0.2 ulp)\n"
        "  3  inf      3.333333333e+29  loose (claim / truth = inf)\n"
        "  4  2        1.414213562      loose (claim / truth = 1.414)\n"
        "  5  1/3      1/2 = 0.5        violated (claim / truth = 0.6667)\n"
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


def test_long_datasets_are_shortened_in_the_report_and_whole_in_the_counterexample():
    pair = sl.Evidence((0,) * 30, (1,) * 30, (0.5,) * 20, {"a": 1})
    found = report(row(0, 1, evidence=pair))
    shown = "(0, 0, 0, 0, 0, 0, 0, 0, ..., 0, 0, 0, 0, 0, 0, 0, 0; 30 records)"
    assert f"  x  {shown}  ->  (0.5, 0.5, 0.5, " in repr(found)
    assert repr(found).endswith("->  {'a': 1}")
    x, y = pair.lines
    assert x == f"x = {[0] * 30}  ->  f(x) = {(0.5,) * 20}"
    assert y == f"y = {[1] * 30}  ->  f(y) = {{'a': 1}}"


def test_long_tables_are_shortened_too():
    rows = tuple((age, "x") for age in range(20))
    found = report(row(0, 1, evidence=sl.Evidence(rows, rows[:2], 20, np.float32(0.1))))
    assert "  x  ((0, 'x'), (1, 'x'), " in repr(found)
    assert "(6, 'x'), (7, 'x'), ..., (12, 'x'), (13, 'x'), " in repr(found)
    assert repr(found).endswith("  y  ((0, 'x'), (1, 'x'))  ->  0.10000000149011612")


def test_everything_is_frozen():
    for thing in (REPORT, REPORT.rows[0], PAIR):
        for field in fields(thing):
            with pytest.raises(FrozenInstanceError):
                setattr(thing, field.name, None)


def test_frame():
    frame = REPORT.to_frame()
    assert list(frame) == [
        *("distance", "claimed", "exact", "truth", "verdict", "factor", "slack_ulp"),
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
        "mean, bounded: a sensitivity of Fraction(1, 3) is claimed at distance 5, "
        "the truth is Fraction(1, 2): violated (claim / truth = 0.6667)\n"
        "x = [1, 2]  ->  f(x) = Fraction(3, 2)\n"
        "y = [1, 4]  ->  f(y) = Fraction(5, 2)\n"
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
