"""The page from a table to its noise: its command, and the code that publishes."""

from __future__ import annotations

import doctest
import re
import shlex
from fractions import Fraction

import numpy as np
import pytest
from command_line import run
from paths import ROOT

import sensitivity_lab as sl

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


@pytest.mark.exhaustive
def test_step_3_takes_plans_that_are_integers():
    """Adding a text to integers used to fail."""
    step_3 = PAGE.split("## 3. ")[1].split("## 4. ")[0]
    test = doctest.DocTestParser().get_doctest(step_3, {}, "noise", None, 0)
    names = names_after("## 4. ")
    texts = names["answers"]
    names["table"] = names["table"].astype({"plan": int})
    for example in test.examples:
        exec(example.source, names)
    assert names["answers"] == texts
    assert 0 not in texts["count"]


def step_4() -> str:
    """The code that adds the noise, and publishes."""
    (block,) = re.findall(r"```python\n(import opendp(?:.*\n)*?)```", PAGE)
    return block


@pytest.mark.exhaustive
@pytest.mark.opendp
@pytest.mark.parametrize("split", [None, [1, 5, 2, Fraction(1, 3)]])
def test_the_page_spends_epsilon_as_the_table_of_noise_splits_it(monkeypatch, split):
    """OpenDP's own maps say what each answer spends. The page used to spend 1, whatever was set."""
    dp = pytest.importorskip("opendp.prelude")
    make, made = dp.m.make_laplace, []

    def spy(*space, **how):
        made.append(make(*space, **how))
        return made[-1]

    monkeypatch.setattr(dp.m, "make_laplace", spy)
    names = names_after("## 4. ")
    half = sl.noise.noise_table(names["chains"], epsilon=0.5, split=split)
    exec(step_4(), names | {"noise": half})
    spent = [one.map(float(row.sensitivity)) for one, row in zip(made, half, strict=True)]
    assert spent == pytest.approx([row.epsilon for row in half], rel=1e-12)
    assert sum(spent) == pytest.approx(0.5, rel=1e-12)
    assert sum(Fraction(row.sensitivity) / Fraction(row.scale) for row in half) <= 0.5


@pytest.mark.exhaustive
@pytest.mark.opendp
def test_what_the_page_publishes_is_near_the_truth():
    """Of a million runs, some ten are farther off."""
    pytest.importorskip("opendp.prelude")
    names = names_after("## 4. ")
    exec(step_4(), names)
    exact = []
    for name, scale in (("count", 20), ("sum", 480), ("sum of squares", 11520), ("histogram", 20)):
        off = np.abs(names["released"][name] - np.array(names["answers"][name]))
        assert off.max() < 20 * scale
        exact.append(off.max() == 0)
    assert not all(exact)  # whole-number noise is sometimes 0, of one answer
    by_plan = names["rows"].groupby("plan")["visits"]
    truth = by_plan.agg(["mean", "std", "median"]).loc[names["plans"]]
    off = (names["published"] - truth).abs().loc[["0", "25"]]
    assert (off < [1, 2, 2]).all(axis=None)
