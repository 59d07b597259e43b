"""The command line: what it writes and prints."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from checks import read_table
from command_line import COUNT_OF_SCHOOL, PLANNED, PNG, SCHOOL, run
from paths import ROOT

import sensitivity_lab as sl
from sensitivity_lab.article import checks, experiments

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.mark.exhaustive
def test_article_writes_four_figures_and_tables(capsys, tmp_path):
    folder = tmp_path / "made" / "results"
    code, out, err = run(capsys, "article", "--output", str(folder))
    assert (code, err) == (0, "")
    names = [experiment.name for experiment in experiments()]
    assert {path.name for path in folder.iterdir()} == {
        f"{name}{extension}" for name in names for extension in (".png", ".csv")
    }
    for experiment in experiments():
        curves = experiment.run()
        assert f"{experiment.title}\n{curves}\n" in out
        assert (folder / f"{experiment.name}.png").read_bytes().startswith(PNG)
        written = read_table(folder / f"{experiment.name}.csv")
        assert list(written["sensitivity"]) == list(curves.to_frame()["sensitivity"])
    for check in checks():
        assert out.index(f"{check.title}\n{check.run()}\n") < out.index("Scenario (a)")
    assert out.endswith(f"four figures and four tables are in {folder}\n")


@pytest.mark.stress
def test_article_can_be_run_again(capsys, tmp_path):
    for _ in range(2):
        assert run(capsys, "article", "--output", str(tmp_path))[0] == 0
    assert len(list(tmp_path.iterdir())) == 8


@dataclass
class Small:
    """An experiment of no time."""

    name: str = "small"
    title: str = "A small experiment"

    def run(self):
        ages = {"age": sl.Universe.from_domain([1, 2])}
        return sl.sensitivity_curves(ages, "mean", size=2, distances=1, neighbors="bounded")

    def plot(self, curves):
        return curves.plot()


@pytest.fixture
def small_article(monkeypatch):
    """The article with one small experiment, without checks."""
    monkeypatch.setattr("sensitivity_lab.cli.commands.checks", list)
    monkeypatch.setattr("sensitivity_lab.cli.commands.experiments", lambda: [Small()])


@pytest.mark.usefixtures("small_article")
def test_a_picture_and_a_table_of_an_experiment(capsys, tmp_path):
    code, out, err = run(capsys, "article", "--output", str(tmp_path))
    assert (code, err) == (0, "")
    assert out.startswith(f"A small experiment\n{Small().run()}\n\n")
    assert (tmp_path / "small.png").read_bytes().startswith(PNG)
    assert list(pd.read_csv(tmp_path / "small.csv")["sensitivity"]) == [0.5]


@pytest.mark.usefixtures("small_article")
@pytest.mark.parametrize(
    ("where", "doing"),
    [
        ("plotting.save", "drawing results/small.png"),
        ("results.reprs.written_whole", "writing results/small.csv"),
    ],
)
def test_an_interruption_while_files_are_written(capsys, monkeypatch, tmp_path, where, doing):
    def interrupted(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(f"sensitivity_lab.{where}", interrupted)
    code, _, err = run(capsys, "article")
    assert (code, err) == (130, f"sensitivity-lab article: interrupted while {doing}\n")


@pytest.mark.usefixtures("small_article")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_standard_output_is_one_line_and_the_files_are_written(
    capsys, monkeypatch, tmp_path
):
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        code, _, err = run(capsys, "article", "--output", str(tmp_path))
    reason = "cannot write to standard output: No space left on device"
    assert (code, err) == (2, f"sensitivity-lab article: {reason}\n")
    assert list(pd.read_csv(tmp_path / "small.csv")["sensitivity"]) == [0.5]


@pytest.mark.sql
def test_sql_prints_what_each_person_adds(capsys):
    pytest.importorskip("duckdb", reason="needs the extra `sql`")
    query = sl.sql.Query(
        "SELECT COUNT(*) FROM school", connection={"school": SCHOOL}, person="school.name"
    )
    assert run(capsys, *COUNT_OF_SCHOOL) == (0, f"{query.contributions()}\n", "")
    assert run(capsys, *PLANNED) == (0, f"{query.plan(epsilon=1, max_rows=1)}\n", "")


@pytest.mark.sql
def test_as_a_module():
    pytest.importorskip("duckdb", reason="needs the extra `sql`")
    done = subprocess.run(
        [sys.executable, "-m", "sensitivity_lab", *PLANNED],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Plan of a release: epsilon 1, Laplace noise, not published\n")


def test_help_names_the_commands(capsys):
    code, out, err = run(capsys, "--help")
    assert (code, err) == (0, "")
    assert all(f"  {command} " in out for command in ("release", "sql", "article", "explore"))


@pytest.mark.exhaustive
@pytest.mark.sql
def test_a_reader_who_stops_reading_is_no_error():
    """As `| head -1` does: no traceback, and no complaint of the interpreter at its end."""
    pytest.importorskip("duckdb", reason="needs the extra `sql`")
    command = [sys.executable, "-m", "sensitivity_lab", *PLANNED]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as stream:
        done = subprocess.run(
            command,
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=ENVIRONMENT,
        )
    assert (done.returncode, done.stderr) == (0, "")
