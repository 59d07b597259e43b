"""The command `sweep`: a table that grows, counts of verdicts, and the exit code."""

from __future__ import annotations

import pytest

from sensitivity_lab.audits.opendp import sweep
from sensitivity_lab.cli.commands import main

pytest.importorskip("opendp.prelude", reason="needs the extra `opendp`")

pytestmark = [pytest.mark.opendp, pytest.mark.usefixtures("opendp_features")]


def test_a_sweep_prints_its_verdicts_and_goes_on(tmp_path, monkeypatch, capsys):
    verdicts = iter([("tight", "1", ""), ("loose", "2", ""), ("tight", "1", "")])
    monkeypatch.setattr(sweep, "_judge", lambda *_: next(verdicts))
    table = str(tmp_path / "table.csv")
    assert main(["sweep", "opendp", table, "--limit", "2"]) == 0
    assert capsys.readouterr().out == "     1  loose\n     1  tight\n"
    assert main(["sweep", "opendp", table, "--limit", "1"]) == 0
    assert capsys.readouterr().out == "     1  loose\n     2  tight\n"


def test_a_violation_is_printed_and_is_the_exit_code(tmp_path, monkeypatch, capsys):
    found = "violated", "0.5", "d_in = 1: [] and [4]"
    monkeypatch.setattr(sweep, "_judge", lambda *_: found)
    assert main(["sweep", "opendp", str(tmp_path / "table.csv"), "--limit", "1"]) == 1
    assert capsys.readouterr().out == (
        "     1  violated\n"
        "violated: dp.t.make_sum(dp.vector_domain(dp.atom_domain(T='i8', bounds=(0, 1))), "
        "dp.symmetric_distance()) (d_in = 1: [] and [4])\n"
    )
