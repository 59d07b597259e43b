"""Reports of audits: texts, tables and what a failing test prints."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import FrozenInstanceError, fields, replace
from decimal import Decimal
from fractions import Fraction
from html import unescape

import numpy as np
import pandas as pd
import pytest
from checks import refused, words_of_html
from reports import PAIR, REPORT, exactly, report, row

import sensitivity_lab as sl
from sensitivity_lab.results.literals import brief, brief_pair


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
        "  6  1        1                violated (claim - truth = -1e-12)\n"
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
    pair = sl.audits.Evidence((0,) * 4999 + (1,), (0,) * 4999, (0.5,) * 20, {"a": 1})
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
    found = report(row(0, 1, evidence=sl.audits.Evidence(rows, rows[:2], 20, np.float32(0.1))))
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


@pytest.mark.exhaustive
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
        sl.audits.AuditRow, "verdict", property(lambda one: seen.update([one.distance]) or "tight")
    )
    repr(report(*(row(1, 1, k) for k in range(1, 200))))
    assert max(seen.values()) <= 10


def test_everything_is_in_a_dict_that_json_takes():
    overflow = sl.audits.Evidence((1, 1), ("a", None), math.nan, math.inf, ("n",))
    found = report(
        *REPORT.rows,
        sl.audits.AuditRow(
            7, 0.5, exactly(1), PAIR, 3, {"on x": 0.5, "on y": Decimal("0.75")}, rounded=True
        ),
        sl.audits.AuditRow(8, None, math.inf, overflow, reason="the map fails"),
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
        "step": "",
        "history": [],
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
    found = report(row(1, 1, evidence=sl.audits.Evidence((0,) * 5000, (0,) * 4999 + (1,), 0, 1)))
    found.to_csv(tmp_path / "short.csv")
    found.to_csv(tmp_path / "full.csv", witness="full")
    short, full = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("short", "full"))
    shared = "shared: 0, 0, 0, 0, 0, 0, 0, 0, ... and 4,991 more"
    assert short.loc[0, ["x", "y"]].tolist() == [
        f"(changed: 0; {shared})",
        f"(changed: 1; {shared})",
    ]
    assert eval(full.loc[0, "y"]) == (0,) * 4999 + (1,)
    refused(
        lambda: found.to_csv(tmp_path / "no.csv", witness="all"),
        "witness must be one of 'short', 'full', got 'all'",
    )


def test_csv(tmp_path):
    REPORT.to_csv(tmp_path / "audit.csv")
    written = pd.read_csv(tmp_path / "audit.csv")
    assert list(written["verdict"]) == [one.verdict for one in REPORT.rows]
    with pytest.raises(sl.errors.InputError) as caught:
        REPORT.to_csv(tmp_path / "missing" / "audit.csv")
    assert str(caught.value).startswith("cannot write the table to ")
    assert str(caught.value).endswith("choose a file in an existing folder that you may write to")


def test_a_sound_report_raises_nothing():
    report(row(1, 1), row(3, 2)).raise_if_violated()


def test_a_violation_fails_a_test_with_its_counterexample():
    with pytest.raises(AssertionError) as caught:
        REPORT.raise_if_violated()
    assert isinstance(caught.value, sl.errors.SensitivityLabError)
    assert isinstance(caught.value, sl.errors.SensitivityViolation)
    assert str(caught.value) == (
        "mean, bounded: a sensitivity of 1/3 = 0.3333333333 is claimed at distance 5, "
        "the truth is 1/2 = 0.5: violated (claim / truth = 0.6667)\n"
        "x = [1, 2]  ->  f(x) = Fraction(3, 2)  # 1.5\n"
        "y = [1, 4]  ->  f(y) = Fraction(5, 2)  # 2.5\n"
        "(bounded, at most k; size 2)"
    )


def test_the_two_lines_are_aligned():
    pair = sl.audits.Evidence((1, 2, 30), [1, 2], 3, 4.5)
    assert pair.lines == ("x = [1, 2, 30]  ->  f(x) = 3", "y = [1, 2]      ->  f(y) = 4.5")


def test_rows_with_columns_are_written_as_a_table():
    pair = sl.audits.Evidence(((1, "f"),), (), 1, 0, ("age", "sex"))
    assert pair.lines == (
        "x = pd.DataFrame([(1, 'f')], columns=['age', 'sex'])  ->  f(x) = 1",
        "y = pd.DataFrame([], columns=['age', 'sex'])          ->  f(y) = 0",
    )


@pytest.mark.parametrize(
    ("neighbors", "sizes", "told"),
    [
        ("unbounded", 3, "size 3 of x, 2 to 4 of y"),
        (sl.Unbounded(2), [3, 5], "size any of (3, 5) of x, 1 to 7 of y"),
        (sl.Unbounded(2, direction="add"), 3, "size 3 of x, 4 to 5 of y"),
        (sl.Edit(2, exactly=True), [0, 5], "size any of (0, 5) of x, 0 to 7 of y"),
        ("bounded", [3, 5], "size any of (3, 5); domain"),
    ],
)
def test_a_relation_that_changes_sizes_names_those_of_both_datasets(neighbors, sizes, told):
    universe = sl.Universe.from_domain([0, 1])
    report = sl.audit(universe, "sum", 9, size=sizes, neighbors=neighbors)
    assert f"; {told}" in report.setting
