"""The page of sweeps says what each of them leaves out, in the words of the tool that writes it."""

from __future__ import annotations

import csv
from collections import Counter

import pytest
from paths import ROOT

from sensitivity_lab.audits.row import FAILING
from tools.sweep import docs
from tools.sweep.setting import Line


@pytest.mark.parametrize(
    "stem", sorted(one.stem for one in (ROOT / "docs" / "sweep").glob("*.csv"))
)
def test_the_page_says_what_was_found_and_what_was_not_tried(stem):
    page = (ROOT / "docs" / "sweep.md").read_text("utf-8")
    part = page.partition(f"<!-- sweep of {stem} -->")[2].partition("<!-- end -->")[0].strip()
    with (ROOT / "docs" / "sweep" / f"{stem}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == docs.HEADER
    counted = Counter[str]()
    for row in rows:
        verdicts = {
            verdict: int(number)
            for number, verdict in (one.split(" ", 1) for one in row["verdicts"].split(", "))
        }
        assert sum(verdicts.values()) == int(row["settings"])
        # A constructor with a claim that fails shows the pair, and no other does.
        assert bool(FAILING & set(verdicts)) == bool(row["worst setting"]) == bool(row["neighbors"])
        counted.update(verdicts)
    lines = [
        Line("", "", verdict, "", "0", "", "")
        for verdict, number in counted.items()
        for _ in range(number)
    ]
    assert part == docs.section(stem, lines)


def test_a_constructor_shows_its_worst_setting():
    lines = [
        Line("make_sum", setting, verdict, slack, "0.02", remark, "")
        for setting, verdict, slack, remark in (
            ("sum of 1", "violated", "0.75", "[0] and [1]"),
            ("sum of 2", "violated", "0.5", "[0] and [2]"),
            ("sum of 3", "violated", "0.5", "[0] and [3]"),
            ("sum of 4", "data-dependent claim", "0.25", "[0] and [4]"),
        )
    ]
    fair = Line("make_count", "count", "tight", "1", "0.02", "", "")
    assert docs.by_constructor([*lines, fair]) == [
        ("make_count", "1", "1 tight", "1", "", ""),
        (
            "make_sum",
            "4",
            "3 violated, 1 data-dependent claim",
            "0.25 to 0.75",
            "sum of 2",
            "[0] and [2]",
        ),
    ]


def test_known_mistakes_that_no_setting_reaches_are_named():
    for name, numbers in {
        "opendp": (2922, 2923, 2944, 2945, 2949, 2950),
        "opendp.extras": (2950, 2953),
        "opendp.polars": (2949,),
    }.items():
        for number in numbers:
            thread = f"[#{number}](https://github.com/opendp/opendp/issues/{number})"
            assert thread in docs.OUTSIDE[name]
