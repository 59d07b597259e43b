"""The page of sweeps says what each of them leaves out, in the words of the tool that writes it."""

from __future__ import annotations

import pytest
from paths import ROOT

from tools.sweep import docs
from tools.sweep.setting import Line


@pytest.mark.parametrize(
    "stem", sorted(one.stem for one in (ROOT / "docs" / "sweep").glob("*.csv"))
)
def test_the_page_says_what_is_outside(stem):
    page = (ROOT / "docs" / "sweep.md").read_text("utf-8")
    part = page.partition(f"<!-- sweep of {stem} -->")[2].partition("<!-- end -->")[0]
    outside = docs.OUTSIDE[stem.rpartition("-")[0]]
    assert outside in part
    line = Line("make_sum", "dp.t.make_sum()", "not judged", "1", "0.02", "", "")
    assert docs.section(stem, [line]).startswith(
        f"1 settings, 0 with a claim that fails.\n\n{outside}\n\n| constructor | settings |"
    )


def test_known_mistakes_that_no_setting_reaches_are_named():
    for name, numbers in {
        "opendp": (2922, 2923, 2944, 2945, 2949, 2950),
        "opendp.extras": (2950, 2953),
        "opendp.polars": (2949,),
    }.items():
        for number in numbers:
            thread = f"[#{number}](https://github.com/opendp/opendp/issues/{number})"
            assert thread in docs.OUTSIDE[name]
