"""The page of engines is made from the table of engines."""

from __future__ import annotations

import subprocess
import sys

from paths import ROOT

from sensitivity_lab.search import ENGINES


def test_the_page_is_up_to_date():
    command = [sys.executable, ROOT / "tools" / "make_engines.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_folder_is_the_theory_and_the_file_is_the_form():
    for engine in ENGINES:
        module = type(engine).__module__
        assert module == f"sensitivity_lab.search.{engine.name}.{engine.kind}_max"
