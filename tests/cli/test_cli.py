"""The command line: what it writes and prints."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import pandas as pd
import pytest
from checks import read_table
from command_line import MEAN_OF_TWO, MEDIAN_OF_ABSENCES, PNG, SCHOOL, run
from paths import ROOT

import sensitivity_lab as sl
from sensitivity_lab.article import checks, experiments
from sensitivity_lab.universes.relations import RELATIONS

MEDIAN_PRINTED = """\
Sensitivity of median: 4 (exact)
  neighbors  bounded, at most 2; size 6 (public); universe of 10 records (public)
  only in x  15, 20  f(x) = {fx:g}
  only in y  3, 4    f(y) = {fy:g}
  in both    1, 2, 7, 8
  method     enumeration, exact arithmetic, 210 datasets evaluated
  value      4.0
  exact      4
  upper      4.0
"""


def test_curves_writes_a_picture_and_a_table(capsys, tmp_path):
    picture, table = tmp_path / "plot.png", tmp_path / "table.csv"
    code, out, err = run(
        capsys,
        *("curves", SCHOOL, "--columns", "absence_days", "school_year", "--size", "6"),
        *("--distances", "1-4", "--neighbors", "unbounded", "--queries", "mean", "median"),
        *("--output", str(picture), "--table", str(table)),
    )
    assert (code, err) == (0, "")
    curves = sl.sensitivity_curves(
        pd.read_csv(SCHOOL)[["absence_days", "school_year"]],
        ["mean", "median"],
        size=6,
        distances=range(1, 5),
        neighbors="unbounded",
    )
    assert out == f"{curves}\n"
    assert picture.read_bytes().startswith(PNG)
    written = read_table(table)
    assert list(written["sensitivity"]) == list(curves.to_frame()["sensitivity"])
    assert list(written["column"].unique()) == ["absence_days", "school_year"]


@pytest.mark.exhaustive
def test_curves_takes_all_numeric_columns_and_the_ten_queries(capsys):
    arguments = ["--size", "6", "--distances", "1,3", "--neighbors", "unbounded"]
    code, out, err = run(capsys, "curves", SCHOOL, *arguments)
    curves = sl.sensitivity_curves(
        pd.read_csv(SCHOOL), size=6, distances=[1, 3], neighbors="unbounded"
    )
    assert (code, out, err) == (0, f"{curves}\n", "")


def test_curves_of_several_relations_exactly(capsys):
    code, out, err = run(
        capsys,
        *("curves", SCHOOL, "--columns", "school_year", "--size", "6", "--distances", "2"),
        *("--neighbors", "bounded", "symmetric_difference", "--queries", "sum", "--exactly"),
    )
    curves = sl.sensitivity_curves(
        {"school_year": sl.Universe.from_dataset(pd.read_csv(SCHOOL)["school_year"])},
        "sum",
        size=6,
        distances=2,
        neighbors=["bounded", "symmetric_difference"],
        exactly=True,
    )
    assert (code, out, err) == (0, f"{curves}\n", "")


def test_curves_of_domains(capsys, tmp_path):
    table = tmp_path / "table.csv"
    code, _, err = run(
        capsys,
        *("curves", "--domain", "mood=1,2", "--domain", "temperature=15:30:0.5"),
        *("--size", "2", "--distances", "1", "--neighbors", "bounded", "--queries", "sum"),
        *("--table", str(table)),
    )
    assert (code, err) == (0, "")
    written = read_table(table)
    assert dict(zip(written["column"], written["sensitivity"], strict=True)) == {
        "mood": 1.0,
        "temperature": 15.0,
    }


@pytest.mark.parametrize(
    ("domain", "copies", "universe"),
    [
        ("3,1,2", None, sl.Universe.from_domain([1, 2, 3])),
        ("-1,0.5", None, sl.Universe.from_domain([-1, 0.5])),
        ("1,2", 4, sl.Universe.from_domain([1, 2], copies=4)),
        ("15:30:0.5", None, sl.Universe.from_domain([15 + half / 2 for half in range(31)])),
        ("1:3", None, sl.Universe.from_domain([1, 2, 3])),
        ("-2:2:2", 1, sl.Universe.from_domain([-2, 0, 2], copies=1)),
        (
            "0:0.9:0.3",
            None,
            sl.Universe.from_domain([Fraction(tenths, 10) for tenths in (0, 3, 6, 9)]),
        ),
        ("4:4", 3, sl.Universe.from_domain([4], copies=3)),
    ],
)
def test_forms_of_a_domain(capsys, monkeypatch, domain, copies, universe):
    asked = []

    def record(universe, *_arguments, **_options):
        asked.append(universe)
        raise sl.errors.InputError("seen")

    monkeypatch.setattr("sensitivity_lab.cli.answers.global_sensitivity", record)
    more = ["--copies", str(copies)] if copies else []
    arguments = ["--domain", f"a={domain}", *MEAN_OF_TWO, *more]
    assert run(capsys, "sensitivity", *arguments) == (2, "", "sensitivity-lab sensitivity: seen\n")
    assert asked == [universe]


def test_tenths_of_a_domain_are_exact(capsys):
    """0.1 + 0.2 is 0.3 here: the sum of 0.1:0.3:0.1 changes by exactly 1/5."""
    arguments = ["--size", "2", "--query", "sum", "--neighbors", "bounded"]
    code, out, err = run(capsys, "sensitivity", "--domain", "a=0.1:0.3:0.1", *arguments)
    assert (code, err) == (0, "")
    assert out.startswith("Sensitivity of sum: 0.2 (exact)\n")
    assert out.endswith("\n  value      0.2\n  exact      1/5\n  upper      0.2\n")


def test_sensitivity_prints_value_exact_value_and_witness(capsys):
    code, out, err = run(capsys, *MEDIAN_OF_ABSENCES)
    universe = sl.Universe.from_dataset(pd.read_csv(SCHOOL)["absence_days"])
    result = sl.global_sensitivity(
        universe, "median", size=6, neighbors=sl.Bounded(2), method="enumeration"
    )
    witness = result.witness
    printed = MEDIAN_PRINTED.format(fx=witness.query_x, fy=witness.query_y)
    assert (code, out, err) == (0, printed, "")


def test_sensitivity_of_a_root_has_no_exact_value(capsys):
    arguments = ["--column", "school_year", "--query", "std", "--size", "6", "--distance", "1"]
    code, out, err = run(capsys, "sensitivity", SCHOOL, *arguments, "--neighbors", "unbounded")
    assert (code, err) == (0, "")
    assert out.splitlines()[-2] == "  exact      none: not a rational number"


def test_sensitivity_in_one_direction_exactly(capsys):
    code, out, err = run(
        capsys,
        *("sensitivity", "--domain", "a=1,10", "--query", "sum", "--size", "2", "--distance", "2"),
        *("--neighbors", "unbounded", "--direction", "add", "--exactly"),
    )
    assert (code, err) == (0, "")
    assert out.endswith("\n  value      20.0\n  exact      20\n  upper      20.0\n")
    assert "  neighbors  unbounded (add), exactly 2; size 2; " in out


@pytest.mark.parametrize("name", RELATIONS)
def test_every_relation_goes_by_its_name(capsys, name):
    code, out, err = run(
        capsys,
        *("sensitivity", "--domain", "a=1,10", "--query", "sum", "--size", "2"),
        *("--neighbors", name),
    )
    assert (code, err) == (0, "")
    assert f"  neighbors  {RELATIONS[name]()}; size 2" in out


@pytest.mark.further
@pytest.mark.representative
@pytest.mark.parametrize(
    ("name", "signature"), [("w.png", PNG), ("w.pdf", b"%PDF"), ("w.svg", b"<?xml")]
)
def test_sensitivity_draws_its_witness(capsys, tmp_path, name, signature):
    code, _, err = run(capsys, *MEDIAN_OF_ABSENCES, "--output", str(tmp_path / name))
    assert (code, err) == (0, "")
    assert (tmp_path / name).read_bytes().startswith(signature)


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


def test_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "sensitivity_lab", *MEDIAN_OF_ABSENCES],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Sensitivity of median: 4 (exact)\n")
    assert done.stdout.endswith("\n  value      4.0\n  exact      4\n  upper      4.0\n")


def test_help_names_the_commands(capsys):
    code, out, err = run(capsys, "--help")
    assert (code, err) == (0, "")
    assert all(f"  {command} " in out for command in ("curves", "sensitivity", "article"))


def test_a_search_too_large_is_refused_in_one_line(capsys):
    arguments = ["--size", "50", "--query", "var", "--neighbors", "bounded"]
    arguments += ["--domain", "a=0:99", "--method", "enumeration"]
    code, out, err = run(capsys, "sensitivity", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("sensitivity-lab sensitivity: no engine accepts var here: enumeration ")
    assert err.endswith(" or a larger --memory-limit\n")


@pytest.mark.exhaustive
def test_large_arrays_can_live_in_a_folder(capsys, tmp_path):
    asked = ["--size", "10", "--query", "var", "--neighbors", "bounded", "--domain", "a=0:19"]
    asked += ["--copies", "1", "--method", "enumeration", "--memory-limit", "9000000"]
    code, out, err = run(capsys, "sensitivity", *asked)
    assert (code, out) == (2, "")
    assert "need about 9.9 MiB, more than the memory limit of 8.6 MiB; choose a smaller " in err
    assert ": --memory-limit of 9.9 MiB (this machine has " in err
    assert "), or --scratch, a folder with 11.3 MiB free (" in err
    code, in_files, err = run(capsys, "sensitivity", *asked, "--scratch", str(tmp_path))
    assert (code, err) == (0, "")
    in_memory = run(capsys, "sensitivity", *asked[:-2])
    assert in_memory == (0, in_files, "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.exhaustive
def test_a_reader_who_stops_reading_is_no_error():
    """As `| head -1` does: no traceback, and no complaint of the interpreter at its end."""
    command = [sys.executable, "-m", "sensitivity_lab", *MEDIAN_OF_ABSENCES]
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as stream:
        done = subprocess.run(
            command,
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    assert (done.returncode, done.stderr) == (0, "")
