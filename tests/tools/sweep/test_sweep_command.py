"""The command `python -m tools.sweep`: a table by constructor, the findings, and the exit code."""

from __future__ import annotations

import subprocess
import sys

import pytest
from paths import ROOT
from swept_library import LIBRARY, SOUND

from tools.sweep import sweep as module
from tools.sweep.__main__ import LIBRARIES, main


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    def judged(library, settings, *_):
        for one in settings:
            yield one, library.judge(one), 0.25

    monkeypatch.setattr(module, "judged", judged)


def test_a_sweep_prints_its_table_and_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(LIBRARIES, "opendp", SOUND)
    command = ["opendp", "--output", str(tmp_path / "new" / "out"), "--jobs", "1"]
    assert main([*command, "--limit", "2"]) == 0
    first, second, third, last = capsys.readouterr().out.splitlines()
    assert first == "constructor   settings  verdicts  claim / truth  seconds"
    assert second.split()[1:] == third.split()[1:] == ["1", "1", "tight", "1", "0.2"]
    page = tmp_path / "new" / "out" / "swept-1.0.html"
    assert last == f"swept 1.0: 2 of 6 settings, 0 with a claim that fails; see {page}"
    assert main(command) == 0
    assert "6 of 6 settings" in capsys.readouterr().out


def test_a_finding_is_printed_and_is_the_exit_code(tmp_path, monkeypatch, capsys):
    def one():
        return (setting for setting in LIBRARY.settings() if "violated" in setting.source)

    library = type(LIBRARY)("swept", LIBRARY.version, one, LIBRARY.judge, list)
    monkeypatch.setitem(LIBRARIES, "diffprivlib", library)
    assert main(["diffprivlib", "--output", str(tmp_path)]) == 1
    (script,) = (tmp_path / "findings").iterdir()
    assert f"violated: violated() ([0] and [1]); see {script}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--timeout", "-1"), "timeout must be a number of seconds above 0, got -1.0"),
        (
            ("--limit", "0"),
            "limit must be a whole number (a number of settings, at least 1), got 0, below 1",
        ),
        (("--output", "/dev/null/a"), "cannot make the folder '/dev/null/a': Not a directory"),
    ],
)
def test_what_a_sweep_does_not_take(given, told, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(LIBRARIES, "opendp", SOUND)
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["opendp", "--output", str(tmp_path), *given])
    assert capsys.readouterr().err.splitlines()[-1] == f"python -m tools.sweep: error: {told}"


def test_an_unknown_library(capsys):
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["numpy", "--output", "."])
    assert "invalid choice: 'numpy'" in capsys.readouterr().err


def test_an_interrupted_sweep_says_how_it_goes_on(tmp_path, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setitem(LIBRARIES, "opendp", SOUND)
    monkeypatch.setattr(module, "judged", interrupted)
    assert main(["opendp", "--output", str(tmp_path)]) == 130
    told = "python -m tools.sweep: interrupted; the same command goes on\n"
    assert capsys.readouterr().err == told


@pytest.mark.exhaustive
def test_the_command_runs_in_a_checkout():
    done = subprocess.run(
        [sys.executable, "-m", "tools.sweep", "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout.startswith("usage: python -m tools.sweep ")
