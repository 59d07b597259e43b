"""The table of the sources: every file, heading, name and command that it names exists."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from paths import ARTICLE_FILE, PACKAGE, ROOT

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl
from sensitivity_lab.cli import main

PAGE = ROOT / "docs" / "sources.md"
TEXT = PAGE.read_text("utf-8")
LINK = re.compile(r"\[([^\]]*)\]\(([^()\s]+)\)")
CODE = re.compile(r"`([^`]*)`")
SOURCES = {"Article": 9, "Programming": 5, "Differential": 3, "Tumult": 5}
"""The first word of each source's heading, and how many rows it has at least."""


def rows() -> dict[str, list[list[str]]]:
    """The cells of each row, by the heading that the table is under."""
    found: dict[str, list[list[str]]] = {}
    heading = ""
    for line in TEXT.splitlines():
        if line.startswith("## "):
            heading = line[3:]
        elif line.startswith("| ") and not line.startswith(("| ---", "| Section |")):
            found.setdefault(heading, []).append([cell.strip() for cell in line.split("|")[1:-1]])
    return found


def headings(notebook: Path) -> set[str]:
    """The headings of a notebook, with mathematics as plain text."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    lines = [
        line
        for cell in cells
        if cell["cell_type"] == "markdown"
        for line in "".join(cell["source"]).splitlines()
    ]
    plain = str.maketrans({"$": "", "#": ""})
    return {
        line.translate(plain).replace(r"\cdot", "·").replace(r"\Delta", "Δ").strip()
        for line in lines
        if line.startswith("#")
    }


NOTEBOOK_LINKS = sorted({link for link in LINK.findall(TEXT) if link[1].endswith(".ipynb")})


def test_every_source_has_its_sections():
    tables = rows()
    assert [heading.split()[0].rstrip(":") for heading in tables] == list(SOURCES)
    for heading, cells in tables.items():
        assert len(cells) >= SOURCES[heading.split()[0].rstrip(":")], heading
        assert len({section for section, _ in cells}) == len(cells)
        for section, place in cells:
            assert section
            assert CODE.search(place) or LINK.search(place), section


def test_links_to_notebooks_name_a_heading():
    known = {link: headings(PAGE.parent / link) for _, link in NOTEBOOK_LINKS}
    assert len(NOTEBOOK_LINKS) > 15
    for text, link in NOTEBOOK_LINKS:
        number, _, heading = text.partition(": ")
        assert Path(link).name.startswith(f"{number}_"), text
        assert not heading or heading in known[link], text


def test_links_to_files_lead_somewhere():
    links = [link for _, link in LINK.findall(TEXT) if not link.startswith("#")]
    assert len(links) > 30
    assert [link for link in links if not (PAGE.parent / link).is_file()] == []


def public(name: str) -> bool:
    """Tell whether a name in code stands for something public."""
    short = {"sl": sl, "pl": pl}
    before, _, last = name.rpartition(".")
    if before == "sensitivity_lab" or before == "sensitivity_lab.releases":
        return find_spec(name) is not None
    if before == "op":  # not imported, because it needs an extra
        return f'"{last}"' in (PACKAGE / "releases" / "opendp.py").read_text("utf-8")
    if before in short:
        return last in short[before].__all__
    module, _, made = before.partition(".")  # a method, such as sl.Universe.clipped
    return made in short[module].__all__ and hasattr(getattr(short[module], made), last)


NAMES = sorted(
    {
        code
        for code in CODE.findall(TEXT)
        if re.fullmatch(r"(sl|pl|op|sensitivity_lab)(\.\w+)+", code)
    }
)


def test_names_are_public():
    assert len(NAMES) > 20
    assert [name for name in NAMES if not public(name)] == []


def test_commands_exist(capsys):
    codes = set(CODE.findall(TEXT))
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = {code.split()[1] for code in codes if code.startswith("make ")}
    assert targets == {"demo", "benchmark"}
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
    commands = {code.split()[1] for code in codes if code.startswith("sensitivity-lab ")}
    assert commands == {"article"}
    assert main(["article", "--help"]) == 0
    assert "figures" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", ["pl.nothing", "sl.Universe.nothing", "sl.pipeline.number", "op.no"]
)
def test_the_check_of_names_can_fail(name):
    assert not public(name)


def test_every_work_that_the_proofs_cite_is_listed_with_its_year():
    proofs = (ROOT / "docs" / "proofs.md").read_text("utf-8")
    cited = re.findall(r"([A-Z][a-z]+)(?: and ([A-Z][a-z]+))? \(?((?:19|20)\d\d)\)", proofs)
    assert len(cited) >= 2
    works = TEXT.split("## Works that the proofs cite")[1].split("## ")[0].split("\n- ")
    for *authors, year in cited:
        assert any(year in work and all(name in work for name in authors) for work in works), year


@pytest.mark.exhaustive
def test_the_articles_numbers_are_200_of_its_320():
    from sensitivity_lab.article import checks, experiments

    printed = sum(len(list(one.run())) for one in (*checks(), *experiments()))
    held = json.loads(ARTICLE_FILE.read_text("utf-8"))
    assert (len(held), printed) == (200, 320)
    assert "prints 320" in TEXT
    assert "holds the 200 at distances 1 and 2" in " ".join(TEXT.split())
    assert {row["k"] for row in held} == {1, 2}
