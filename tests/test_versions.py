"""The oldest versions that are tested are those that pyproject.toml promises."""

from __future__ import annotations

import re
import tomllib

import pytest
from paths import ROOT

TEXT = (ROOT / "pyproject.toml").read_text("utf-8")
PROJECT = tomllib.loads(TEXT)["project"]


@pytest.fixture
def tool(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import floors

    return floors


def test_every_requirement_is_installed_at_its_oldest_version(tool):
    extras = PROJECT["optional-dependencies"]
    stated = [*PROJECT["dependencies"], *extras["dask"], *extras["test"]]
    expected = [re.sub(r"(\[.*\])?>=", "==", requirement) for requirement in stated]
    assert tool.floors() == expected
    assert {line.split("==")[0] for line in tool.floors()} >= {"numpy", "pandas", "joblib", "dask"}


def test_a_requirement_without_an_oldest_version_is_an_error(tool, monkeypatch, tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text(TEXT.replace('"tqdm>=4.65"', '"tqdm"'), "utf-8")
    monkeypatch.setattr(tool, "PROJECT", project)
    with pytest.raises(SystemExit) as caught:
        tool.floors()
    assert str(caught.value) == "pyproject.toml: 'tqdm' does not state its oldest version"


def test_the_quick_tests_exist():
    """`make quick-oldest` and `quick-newest` name their files."""
    (named,) = re.findall(r"^QUICK := ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.M)
    files = named.replace("\\\n", " ").split()
    assert len(files) > 5
    assert [file for file in files if not (ROOT / file).is_file()] == []
