"""Every public name has a page in the reference, with an example; every link leads to a file."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from paths import PACKAGE, ROOT

import sensitivity_lab as sl

INSIDE = {"checks", "cli", "metrics", "page", "queries", "running"}
"""Rooms whose names are for the package itself, or stand at the top."""

LINK = re.compile(r"\]\(([^()\s#]+)(?:#[^()\s]*)?\)")


@pytest.fixture
def api(monkeypatch):
    """The tool that writes the reference; without OpenDP, without the module that needs it."""
    monkeypatch.syspath_prepend(ROOT / "tools" / "site")
    import api

    yield api
    sys.modules.pop("api")


@pytest.fixture
def names(api, monkeypatch):
    if not find_spec("opendp"):
        here = [module for module in api.MODULES if "opendp" not in module]
        monkeypatch.setattr(api, "MODULES", here)
    return list(api.public_names())


def test_every_module_with_public_names_is_in_the_reference(api):
    """A module that can be imported by its name states what is public in `__all__`."""
    at_the_door = {
        f"sensitivity_lab.{'.'.join(file.parent.relative_to(PACKAGE).parts)}"
        for file in PACKAGE.glob("*/__init__.py")
        if "\n__all__ = " in file.read_text("utf-8")
        if file.relative_to(PACKAGE).parts[0] not in INSIDE
    }
    beside = {
        f"sensitivity_lab.{file.stem}"
        for file in PACKAGE.glob("*.py")
        if "\n__all__ = " in file.read_text("utf-8") and file.stem != "__init__"
    }
    within = {
        f"sensitivity_lab.{'.'.join(file.relative_to(PACKAGE).with_suffix('').parts)}"
        for file in PACKAGE.glob("*/*.py")
        if "\n__all__ = " in file.read_text("utf-8") and file.stem != "__init__"
    }
    assert set(api.MODULES) == {"sensitivity_lab"} | at_the_door | beside | within


def test_every_public_name_has_a_page_with_an_example(api, names, tmp_path):
    api.write(tmp_path)
    pages = {page.stem for page in (tmp_path / "api").iterdir()}
    modules = {name for name in sl.__all__ if isinstance(getattr(sl, name), ModuleType)}
    assert {f"sensitivity_lab.{name}" for name in sl.__all__} - pages == {
        f"sensitivity_lab.{name}"  # their names have pages
        for name in modules
    }
    assert pages == {name.full for name in names}
    assert len(pages) == len(names) > 170
    assert [name.full for name in names if not api.has_example(name)] == []


def test_every_page_of_a_name_is_listed_where_it_belongs(api, names, tmp_path):
    api.write(tmp_path)
    listed = [
        line
        for page in tmp_path.glob("*.rst")
        for line in re.findall(r"<api/(.*)>`", page.read_text("utf-8"))
    ]
    assert sorted(listed) == sorted(name.full for name in names)
    index = (ROOT / "docs" / "reference" / "index.md").read_text("utf-8")
    entries = {line.rstrip("*") for line in index.splitlines()}
    for page in tmp_path.glob("*.rst"):
        assert page.stem in entries, page


def pages() -> list[Path]:
    return [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("data/*.md")]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_files_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    links = [link for link in LINK.findall(text) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_front_page_begins_with_the_calculator_in_the_words_of_the_article():
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(readme.splitlines()) <= 160
    screen = readme[readme.index("## The calculator") : readme.index("## Publish a table")]
    assert screen.index("from_domain") < screen.index("from_dataset")
    for words in (
        *("scenario a", "scenario b", "multiset", "neighbors", "Bounded", "unbounded"),
        *("Hamming distance", "at most k", "exactly=True", "maximum L1 norm"),
        *("mean", "median", "percentile", "var", "std", "sum", "count", "functions of yours"),
        *("n_jobs", "joblib", "curves", "plot", "sl.datasets(", "sl.neighboring_datasets("),
        *("unbounded_empirical_global_L1_sensitivity", "bounded_empirical_global_L1_sensitivity"),
    ):
        assert words.lower() in screen.lower(), words


@pytest.mark.parametrize("place", ["README.md", "docs/index.md", "sensitivity_lab/__init__.py"])
def test_one_sentence_says_what_the_package_does(place):
    description = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "description"
    ]
    beginning = " ".join((ROOT / place).read_text("utf-8").split())[:400]
    assert description.removeprefix("Computes ") in beginning
