"""The command `sweep`: a table by constructor, the findings, and the exit code."""

from __future__ import annotations

import json

import pytest
from swept_library import LIBRARY, SOUND

from sensitivity_lab.audits.sweeps import sweep as module
from sensitivity_lab.cli.commands import main
from sensitivity_lab.cli.sweep import LIBRARIES


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    def judged(library, settings, *_):
        for one in settings:
            yield one, library.judge(one), 0.25

    monkeypatch.setattr(module, "judged", judged)


def test_a_sweep_prints_its_table_and_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(LIBRARIES, "opendp", SOUND)
    command = ["sweep", "opendp", "--output", str(tmp_path / "new" / "out"), "--jobs", "1"]
    assert main([*command, "--limit", "2"]) == 0
    first, second, third, last = capsys.readouterr().out.splitlines()
    assert first == "constructor   settings  verdicts  claim / truth  seconds"
    assert second.split()[1:] == third.split()[1:] == ["1", "1", "tight", "1", "0.2"]
    page = tmp_path / "new" / "out" / "swept-1.0.html"
    assert last == f"swept 1.0: 2 of 6 settings, 0 with a claim that fails; see {page}"
    assert main(command) == 0
    assert "6 of 6 settings" in capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["library"], found["left"], found["findings"]) == ("swept 1.0", 0, [])
    assert [one["verdicts"] for one in found["constructors"]] == [{"tight": 1}] * 6


def test_a_finding_is_printed_and_is_the_exit_code(tmp_path, monkeypatch, capsys):
    def one():
        return (setting for setting in LIBRARY.settings() if "violated" in setting.source)

    library = type(LIBRARY)("swept", LIBRARY.version, one, LIBRARY.judge, list)
    monkeypatch.setitem(LIBRARIES, "diffprivlib", library)
    assert main(["sweep", "diffprivlib", "--output", str(tmp_path)]) == 1
    (script,) = (tmp_path / "findings").iterdir()
    assert f"violated: violated() ([0] and [1]); see {script}" in capsys.readouterr().out


def test_an_unknown_library_and_a_bad_option(tmp_path, capsys):
    assert main(["sweep", "numpy", "--output", str(tmp_path)]) == 2
    assert "invalid choice: 'numpy'" in capsys.readouterr().err
    assert main(["sweep", "opendp", "--output", str(tmp_path), "--timeout", "-1"]) == 2
    assert capsys.readouterr().err == (
        "sensitivity-lab sweep: --timeout must be a number of seconds above 0, got -1.0\n"
    )
