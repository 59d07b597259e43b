"""The page of engines is made from the table of engines, and the proofs that code names exist."""

from __future__ import annotations

import ast
import io
import re
import runpy
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest
from paths import PACKAGE, ROOT

from sensitivity_lab.search.engines import ENGINES

PAGE = "docs/proofs.md"
PROOFS = (ROOT / PAGE).read_text("utf-8")


def test_the_page_is_up_to_date():
    made = runpy.run_path(str(ROOT / "tools" / "make_engines.py"))
    assert made["PAGE"].read_text("utf-8") == made["page"]()


@pytest.mark.exhaustive
def test_the_tool_says_that_the_page_is_up_to_date():
    command = [sys.executable, ROOT / "tools" / "make_engines.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_file_is_the_theory_or_the_folder_is_and_the_file_is_the_form():
    for engine in ENGINES:
        module = type(getattr(engine, "engine", engine)).__module__
        theory = f"sensitivity_lab.search.{engine.name}"
        assert module in (theory, f"{theory}.{engine.kind}_max")


def texts_of(source: str) -> Iterator[str]:
    """The docstrings and the comments of a file; comments on successive lines are one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    for _, block in groupby(enumerate(comments), lambda one: one[1].start[0] - one[0]):
        yield "\n".join(token.string.lstrip("# ") for _, token in block)


def proofs_named_in(text: str) -> Iterator[str]:
    """The headings in quotes, or else in italics, in the sentences that name the page."""
    words = " ".join(text.replace(f"``{PAGE}``", PAGE).replace(PAGE, "THE_PROOFS").split())
    for sentence in re.split(r"(?<!\b[A-Z])\. (?=[A-Z`\"*])", words):
        if "THE_PROOFS" in sentence:
            quoted = re.findall(r'"([^"]+)"', sentence)
            yield from quoted or re.findall(r"\*([^*]+)\*", sentence)


def headings_of(page: str) -> set[str]:
    """The headings, also without their engine or what follows a colon, and those inside a line."""
    lines = re.findall(r"^#+ (.*?)(?: \(`\w+`\))?$", page, re.MULTILINE)
    inside = re.findall(r"(?<![\w*])\*{1,2}([^*]+?)[.:]?\*{1,2}", page)
    return {" ".join(one.split()) for one in (*lines, *inside, *(x.split(":")[0] for x in lines))}


@pytest.mark.exhaustive
def test_the_proofs_that_code_names_exist():
    named: dict[str, Path] = {}
    for file in PACKAGE.rglob("*.py"):
        source = file.read_text("utf-8")
        if PAGE not in source:
            continue  # to read the tokens of all files takes a second
        for text in texts_of(source):
            for name in proofs_named_in(text) if PAGE in text else ():
                named[re.sub(r" \(`\w+`\)$", "", name.rstrip(".,:"))] = file
    assert {"Few runs", "Disjoint", "Noise for a smooth sensitivity", "Rounding"} <= set(named)
    assert {name: file for name, file in named.items() if name not in headings_of(PROOFS)} == {}


def test_a_proof_that_does_not_exist_is_found():
    text = 'A window, see "The bisection" and\n"No such proof" in docs/proofs.md. "Another" text.'
    assert set(proofs_named_in(text)) - headings_of(PROOFS) == {"No such proof"}


def test_the_files_that_the_table_of_proofs_names_exist():
    search = PACKAGE / "search"
    rows = re.findall(r"^\| `(\w+)` \| (.*)$", PROOFS, re.MULTILINE)
    assert {"variance", "groups", "enumeration"} <= {engine for engine, _ in rows}
    missing = []
    for engine, text in rows:
        # Beside those of the engine's folder, files of `search/` itself; others by their path.
        there = {file.name for file in (*(search / engine).rglob("*.py"), *search.glob("*.py"))}
        for name in re.findall(r"`([\w/]+\.py)`", text):
            path = PACKAGE.parent / name
            missing += [] if path.is_file() or Path(name).name in there else [(engine, name)]
    assert missing == []


def test_no_formula_of_the_proofs_begins_a_list_or_a_quotation():
    """A line of a paragraph that begins with ``- 1`` or ``> 0`` would be shown as one."""
    mark = re.compile(r"[-+*] |\d+[.)] |[>#]")
    blocks = [block.splitlines() for block in PROOFS.split("\n\n")]
    prose = [lines for lines in blocks if not mark.match(lines[0])]
    assert [line for lines in prose for line in lines[1:] if mark.match(line)] == []
