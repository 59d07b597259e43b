"""The page from a table to published numbers: its command, and the code that publishes."""

from __future__ import annotations

import doctest
import re
import shlex

import pytest
from command_line import run
from paths import ROOT

PAGE = (ROOT / "docs" / "how_to" / "noise.md").read_text()


def names_before(heading: str) -> dict:
    """The names that the examples before a heading make."""
    test = doctest.DocTestParser().get_doctest(PAGE.split(heading)[0], {}, "noise", None, 0)
    for example in test.examples:
        exec(example.source, test.globs)
    return test.globs


@pytest.mark.opendp
def test_the_command_publishes(capsys, tmp_path, monkeypatch):
    pytest.importorskip("opendp.prelude")
    monkeypatch.chdir(tmp_path)
    names_before("## 1. ")["table"].to_csv("visits.csv", index=False)
    (release,) = re.findall(r"\$ sensitivity-lab (.*)\n", PAGE.replace("\\\n", " "))
    code, out, err = run(capsys, *shlex.split(release))
    assert (code, err) == (0, "")
    assert out.startswith("Published, with noise\n      count")


@pytest.mark.exhaustive
@pytest.mark.opendp
def test_what_the_page_publishes_is_near_the_truth(tmp_path, monkeypatch):
    """Of ten thousand runs, some are farther off."""
    pytest.importorskip("opendp.prelude")
    monkeypatch.chdir(tmp_path)
    names = names_before("## 2. ")
    (block,) = re.findall(r"```python\n(published = (?:.*\n)*?)```", PAGE)
    exec(block, names)
    assert sorted(path.name for path in (tmp_path / "visits").iterdir()) == [
        *("plan.json", "privacy.txt", "publication.json", "publication.numbers.json"),
        "statistics.csv",
    ]
    exact = names["plan"].without_noise(names["table"]).to_frame()
    off = (names["published"].to_frame()[list(exact)] - exact).abs().loc[["0", "25"]]
    assert (off < [300, 0.7, 2, 1.5]).all(axis=None)
    assert (off["n"] > 0).any()


@pytest.mark.exhaustive
@pytest.mark.opendp
def test_the_front_page_publishes(tmp_path, monkeypatch):
    pytest.importorskip("opendp.prelude")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "README.md").read_text()
    examples, rest = page.split("published = plan.publish")
    test = doctest.DocTestParser().get_doctest(
        examples.split("## Publish a table")[1], {}, "", "", 0
    )
    names: dict = {}
    exec("import sensitivity_lab as sl", names)
    for example in test.examples:
        exec(example.source, names)
    rows = [f"{place % 700},{place % 3 * 25},{place % 9}" for place in range(2000)]
    (tmp_path / "visits.csv").write_text("\n".join(["id,plan,visits", *rows]) + "\n")
    exec("published = plan.publish" + rest.split("```")[0], names)
    found = names["published"].to_frame()
    assert found.loc[["0", "25", "50"], "n"].between(400, 900).all()
    assert (tmp_path / "visits" / "statistics.csv").is_file()
