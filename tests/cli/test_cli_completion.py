"""Completion by the tab key: what argcomplete is told, as a shell asks for it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from command_line import SCHOOL, run
from paths import ROOT

from sensitivity_lab.cli.program import complete, make_parsers


def proposed(tmp_path, line: str) -> set[str]:
    """What a shell is told after a line that was typed."""
    told = tmp_path / "told"
    subprocess.run(
        [sys.executable, "-m", "sensitivity_lab"],
        check=True,
        timeout=120,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "_ARGCOMPLETE": "1",
            "_ARGCOMPLETE_IFS": "\n",
            "_ARGCOMPLETE_STDOUT_FILENAME": str(told),
            "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
            "COMP_LINE": line,
            "COMP_POINT": str(len(line)),
            "COMP_TYPE": "9",
        },
    )
    return {word.strip() for word in told.read_text().split("\n") if word}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("s", {"sql"}),
        ("release --dom", {"--domain"}),
        ("sql --null-person pu", {"public"}),
        (f"release {SCHOOL[:-4]}", {SCHOOL}),
    ],
)
def test_what_is_proposed(tmp_path, typed, expected):
    pytest.importorskip("argcomplete", reason="needs the extra `completion`")
    assert proposed(tmp_path, f"sensitivity-lab {typed}") == expected


def test_without_argcomplete_nothing_happens(monkeypatch):
    monkeypatch.setenv("_ARGCOMPLETE", "1")
    monkeypatch.setitem(sys.modules, "argcomplete", None)
    complete(make_parsers()[0])


def test_the_help_says_how(capsys):
    assert 'eval "$(register-python-argcomplete sensitivity-lab)"' in run(capsys, "--help")[1]
