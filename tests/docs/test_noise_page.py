"""The page from a table to its noise: its command, and the code that publishes."""

from __future__ import annotations

import doctest
import re
import shlex

import numpy as np
import pytest
from command_line import run
from paths import ROOT

PAGE = (ROOT / "docs" / "how_to" / "noise.md").read_text()


def names_after(heading: str) -> dict:
    """The names that the examples before a heading make."""
    test = doctest.DocTestParser().get_doctest(PAGE.split(heading)[0], {}, "noise", None, 0)
    for example in test.examples:
        exec(example.source, test.globs)
    return test.globs


def test_the_command_prints_what_the_page_shows(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names_after("## 1. ")["table"].to_csv("visits.csv", index=False)
    page = PAGE.replace("\\\n", " ")
    command, printed = re.search(r"\$ sensitivity-lab (.*)\n((?:.*\n)*?)\.\.\.\n", page).groups()
    code, out, err = run(capsys, *shlex.split(command))
    assert (code, err) == (0, "")
    assert out.startswith(printed)


@pytest.mark.opendp
def test_what_the_page_publishes_is_near_the_truth():
    """Of a million runs, some ten are farther off."""
    pytest.importorskip("opendp.prelude")
    (block,) = re.findall(r"```python\n(from fractions(?:.*\n)*?)```", PAGE)
    names = names_after("## 4. ")
    exec(block, names)
    for name, scale in (("count", 20), ("sum", 480), ("sum of squares", 11520), ("histogram", 20)):
        off = np.abs(names["released"][name] - np.array(names["answers"][name]))
        assert 0 < off.max() < 20 * scale
    by_plan = names["rows"].groupby("plan")["visits"]
    truth = by_plan.agg(["mean", "std", "median"]).loc[names["plans"]]
    off = (names["published"] - truth).abs().loc[["0", "25"]]
    assert (off < [1, 2, 2]).all(axis=None)
