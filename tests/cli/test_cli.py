"""The command line: what it writes and prints, and one clear line for whatever is wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest
from checks import read_table
from command_line import MEAN_OF_TWO, MEDIAN_OF_ABSENCES, PNG, SCHOOL, check_refused, run
from paths import ROOT
from strategies import NAMES

import sensitivity_lab as sl
from sensitivity_lab.article import experiments
from sensitivity_lab.search import engines_for

MEDIAN_PRINTED = """\
Sensitivity of median: 4 (exact)
  neighbors  bounded, at most 2; size 6; universe of 10 records
  witness x  {x}  median {fx:g}
  witness y  {y}  median {fy:g}
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
            "0:1:0.3",
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
        raise sl.InputError("seen")

    monkeypatch.setattr("sensitivity_lab.cli.commands.global_sensitivity", record)
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
    printed = MEDIAN_PRINTED.format(
        x=witness.x, y=witness.y, fx=witness.query_x, fy=witness.query_y
    )
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


@pytest.mark.parametrize(
    ("name", "signature"), [("w.png", PNG), ("w.pdf", b"%PDF"), ("w.svg", b"<?xml")]
)
def test_sensitivity_draws_its_witness(capsys, tmp_path, name, signature):
    code, _, err = run(capsys, *MEDIAN_OF_ABSENCES, "--output", str(tmp_path / name))
    assert (code, err) == (0, "")
    assert (tmp_path / name).read_bytes().startswith(signature)


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
    assert out.endswith(f"four figures and four tables are in {folder}\n")


@pytest.mark.exhaustive
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


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], ": the following arguments are required: COMMAND"),
        (
            ["curves"],
            " curves: the following arguments are required: --size, --distances, --neighbors",
        ),
        (
            ["sensitivity"],
            " sensitivity: the following arguments are required: --size, --query, --neighbors",
        ),
        (
            ["curves", SCHOOL, "--size", "6", "--distances", "1"],
            " curves: the following arguments are required: --neighbors",
        ),
        (
            ["sensitivity", SCHOOL, "--size", "6", "--query", "mean"],
            " sensitivity: the following arguments are required: --neighbors",
        ),
        (
            ["curves", SCHOOL, "--size", "six", "--distances", "1"],
            " curves: argument --size: invalid int value: 'six'",
        ),
        (
            ["sensitivity", SCHOOL, "--size", "6", "--query", "mean", "--distance", "1.5"],
            " sensitivity: argument --distance: invalid int value: '1.5'",
        ),
        (
            ["curves", SCHOOL, "--size", "6", "--distances", "1", "--queries"],
            " curves: argument --queries: expected at least one argument",
        ),
    ],
)
def test_bad_usage(capsys, arguments, line):
    check_refused(capsys, arguments, f"sensitivity-lab{line}")


@pytest.mark.parametrize(
    ("arguments", "start"),
    [
        (["histogram"], ": argument COMMAND: invalid choice: 'histogram' (choose from "),
        (
            ["curves", SCHOOL, "--size", "6", "--distances", "1", "--neighbors", "nearby"],
            " curves: argument --neighbors: invalid choice: 'nearby' (choose from ",
        ),
    ],
)
def test_unknown_choices_are_listed(capsys, arguments, start):
    """How the choices are quoted depends on the version of Python."""
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"sensitivity-lab{start}")
    choices = ("curves", "sensitivity", "article")
    if "curves" in arguments:
        choices = ("bounded", "unbounded", "symmetric_difference")
    assert all(choice in err for choice in choices)


NOT_FINITE = "; drop or replace missing and infinite values first"
NUMBER = "a record must be a number, got"


NULL = "nul\0l.csv"


def python_says_of(path: str) -> str:
    """What this Python says of a path that cannot be one: the words differ between versions."""
    with pytest.raises(ValueError, match="embedded null") as caught:
        Path(path).stat()
    return str(caught.value)


@pytest.mark.usefixtures("folder", "no_search")
@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (
            "missing.csv",
            "cannot read 'missing.csv' as a CSV file: "
            "[Errno 2] No such file or directory: 'missing.csv'",
        ),
        ("folder", "cannot read 'folder' as a CSV file: [Errno 21] Is a directory: 'folder'"),
        ("empty.csv", "cannot read 'empty.csv' as a CSV file: No columns to parse from file"),
        ("header.csv", "no column is numeric; the columns are 'a', 'b'"),
        (
            "picture.csv",
            "cannot read 'picture.csv' as a CSV file: "
            "Error tokenizing data. C error: Expected 1 fields in line 5, saw 2",
        ),
        (
            "ragged.csv",
            "cannot read 'ragged.csv' as a CSV file: "
            "Error tokenizing data. C error: Expected 2 fields in line 3, saw 4",
        ),
        ("text.csv", "no column is numeric; the columns are 'a'"),
        (
            "missing_value.csv",
            f"column 'a': records must be finite numbers, got nan at position 1{NOT_FINITE}",
        ),
        (
            "infinite.csv",
            f"column 'a': records must be finite numbers, got inf at position 1{NOT_FINITE}",
        ),
        (NULL, f"cannot read 'nul\\x00l.csv' as a CSV file: {python_says_of(NULL)}"),
    ],
)
def test_bad_files(capsys, file, reason):
    for command, more in (
        ("curves", ["--distances", "1"]),
        ("sensitivity", ["--query", "mean"]),
    ):
        arguments = [command, file, "--size", "2", "--neighbors", "bounded", *more]
        check_refused(capsys, arguments, f"sensitivity-lab {command}: {reason}")


WRITTEN_DISTANCES = "distances are written 1-4 or 1,2,5, from small to large, got"
QUERIES = f"choose one of {NAMES}, percentile_25 (any number from 0 to 100)"
METHODS = ", ".join(
    repr(name) for name in ("auto", *(engine.name for engine in engines_for("global")))
)
EITHER = (
    "give either a CSV file (scenario a), before the options that take several words, or "
    "--domain NAME=VALUES (scenario b)"
)
LIMITS = "removing needs k < size, adding needs k <= records outside x"
DIRECTIONS = "or choose --direction remove"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (
            {"--columns": "age"},
            "unknown column 'age'; the columns are 'name', 'school_year', 'absence_days'",
        ),
        (
            {"--columns": "name"},
            f"column 'name': {NUMBER} 'Chris' at position 0; give a numeric column",
        ),
        ({"--queries": "mode"}, f"unknown query 'mode'; {QUERIES}"),
        (
            {"--queries": "percentile_101"},
            "a percentile must be a number from 0 to 100, got 'percentile_101'; "
            "write for example 'percentile_25'",
        ),
        (
            {"--method": "magic"},
            f"unknown method 'magic'; choose one of {METHODS}",
        ),
        ({"--distances": "a-b"}, f"{WRITTEN_DISTANCES} 'a-b'"),
        ({"--distances": "4-1"}, f"{WRITTEN_DISTANCES} '4-1'"),
        ({"--distances": "1.5"}, f"{WRITTEN_DISTANCES} '1.5'"),
        ({"--distances": "1-2-3"}, f"{WRITTEN_DISTANCES} '1-2-3'"),
        ({"--distances": "1,"}, f"{WRITTEN_DISTANCES} '1,'"),
        ({"--distances": ""}, f"{WRITTEN_DISTANCES} ''"),
        ({"--distances": "0"}, "--distances must be a Hamming distance, at least 1, got 0"),
        ({"--distances": "0-2"}, "--distances must be a Hamming distance, at least 1, got 0"),
        (
            {"--distances": "1-5"},
            "column 'school_year': unbounded, at most 5 is not feasible for datasets of size 6 in "
            f"a universe of 10 records: {LIMITS}; the largest feasible k is 4, {DIRECTIONS}",
        ),
        (
            {"--size": "11"},
            "column 'school_year': --size must be at most the universe's number of records, 10; "
            "got 11",
        ),
        (
            {"--size": "0"},
            "column 'school_year': --size must be a number of records, at least 1, got 0",
        ),
        (
            {"--size": "-1"},
            "column 'school_year': --size must be a number of records, at least 1, got -1",
        ),
        ({"--domain": "mood=1,2"}, EITHER),
        (
            {"--copies": "2"},
            "--copies goes with --domain; the records of a file are there once each",
        ),
        ({"--distances": "1-999999999999"}, f"{WRITTEN_DISTANCES} '1-999999999999'"),
        ({"--distances": f"1-{10**30}"}, f"{WRITTEN_DISTANCES} '1-{10**30}'"),
        (
            {"--jobs": "0", "--method": "enumeration"},
            "--jobs must be a whole number other than 0 (-1 for all processors), got 0",
        ),
    ],
)
def test_bad_curves(capsys, changed, reason):
    options = {"--size": "6", "--distances": "1", "--neighbors": "unbounded", **changed}
    arguments = ["curves", SCHOOL, *(f"{name}={value}" for name, value in options.items())]
    check_refused(capsys, arguments, f"sensitivity-lab curves: {reason}")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (
            {"--column": "age"},
            "unknown column 'age'; the columns are 'name', 'school_year', 'absence_days'",
        ),
        (
            {"--column": ""},
            "choose one column with --column: school_year, absence_days",
        ),
        ({"--query": "mode"}, f"unknown query 'mode'; {QUERIES}"),
        ({"--method": "magic"}, f"unknown method 'magic'; choose one of {METHODS}"),
        ({"--distance": "0"}, "--distance must be a Hamming distance, at least 1, got 0"),
        (
            {"--direction": "add"},
            "--direction goes with --neighbors unbounded, not bounded",
        ),
        ({"--size": "11"}, "--size must be at most the universe's number of records, 10; got 11"),
        (
            {"--size": "10"},
            "bounded, at most 1 is not feasible for datasets of size 10 in a universe of 10 "
            "records: replacing needs k <= size and at least one record outside x; no distance is "
            "feasible; choose another size or a larger universe",
        ),
    ],
)
def test_bad_sensitivity(capsys, changed, reason):
    options = {
        "--column": "school_year",
        "--size": "6",
        "--query": "mean",
        "--neighbors": "bounded",
        **changed,
    }
    arguments = ["sensitivity", SCHOOL, *(f"{name}={value}" for name, value in options.items())]
    check_refused(capsys, arguments, f"sensitivity-lab sensitivity: {reason}")


@pytest.mark.usefixtures("folder")
def test_a_column_of_true_and_false(capsys):
    arguments = ["sensitivity", "true.csv", "--column", "a", *MEAN_OF_TWO]
    reason = f"column 'a': {NUMBER} True at position 0; use 0 and 1"
    check_refused(capsys, arguments, f"sensitivity-lab sensitivity: {reason}")


@pytest.mark.usefixtures("folder")
def test_the_only_column_needs_no_name(capsys):
    code, _, err = run(capsys, "sensitivity", "one_column.csv", *MEAN_OF_TWO)
    assert (code, err) == (0, "")


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("command", ["curves", "sensitivity"])
def test_neither_a_file_nor_a_domain(capsys, command):
    more = {"curves": ["--distances", "1"], "sensitivity": ["--query", "mean"]}[command]
    arguments = [command, "--size", "2", "--neighbors", "bounded", *more]
    check_refused(capsys, arguments, f"sensitivity-lab {command}: {EITHER}")


A_DOMAIN = "a domain is written NAME=1,2,3 or NAME=15:30:0.5, got"
A_RANGE = "a range is written first:last:step with a positive step, got"


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize(
    ("domain", "reason"),
    [
        ("mood", f"{A_DOMAIN} 'mood'"),
        ("mood=", f"{A_DOMAIN} 'mood='"),
        ("=1,2", f"{A_DOMAIN} '=1,2'"),
        ("mood=1,sad", "a domain has numbers, got 'sad'"),
        ("mood=1,,2", "a domain has numbers, got ''"),
        ("mood=1:", "a domain has numbers, got ''"),
        ("mood=1,nan", "a domain has numbers, got 'nan'"),
        ("mood=1:inf", "a domain has numbers, got 'inf'"),
        ("mood=1_000,2", "a domain has numbers, got '1_000'"),
        ("mood=1:2:3:4", f"{A_RANGE} 'mood=1:2:3:4'"),
        ("mood=2:1", f"{A_RANGE} 'mood=2:1'"),
        ("mood=1:2:0", f"{A_RANGE} 'mood=1:2:0'"),
        ("mood=1:2:-1", f"{A_RANGE} 'mood=1:2:-1'"),
        (
            "mood=0:1e9",
            "the domain 'mood=0:1e9' has more than 1,000,000 values; take a larger step",
        ),
        (
            "mood=1,1",
            "the domain 'mood' lists 1 twice; list every value once",
        ),
    ],
)
def test_bad_domains(capsys, domain, reason):
    arguments = ["sensitivity", "--domain", domain, *MEAN_OF_TWO]
    check_refused(capsys, arguments, f"sensitivity-lab sensitivity: {reason}")


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize(
    ("domain", "number"),
    [
        ("mood=1:2:1e-999999999", "1e-999999999"),
        ("mood=0:1e999999:1", "1e999999"),
        ("mood=1,1e999999", "1e999999"),
        ("mood=1,1e401", "1e401"),
    ],
)
def test_domains_beyond_the_range_of_floats(capsys, domain, number):
    arguments = ["sensitivity", "--domain", domain, *MEAN_OF_TWO]
    reason = f"a domain has finite numbers with exponents up to 400, got {number!r}"
    check_refused(capsys, arguments, f"sensitivity-lab sensitivity: {reason}")


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize("values", ["0:1e300:1", "0:1:1e-300"])
def test_ranges_of_too_many_values(capsys, values):
    arguments = ["sensitivity", "--domain", f"mood={values}", *MEAN_OF_TWO]
    reason = f"the domain 'mood={values}' has more than 1,000,000 values; take a larger step"
    check_refused(capsys, arguments, f"sensitivity-lab sensitivity: {reason}")


@pytest.mark.usefixtures("no_search")
def test_copies_of_no_value(capsys):
    arguments = ["--domain", "a=1,2", "--copies", "0", *MEAN_OF_TWO]
    reason = "--copies must be positive integers, got 0"
    check_refused(capsys, ["sensitivity", *arguments], f"sensitivity-lab sensitivity: {reason}")


@pytest.mark.usefixtures("no_search")
def test_several_domains_want_a_column(capsys):
    arguments = ["--domain", "a=1,2", "--domain", "b=1,2", *MEAN_OF_TWO]
    reason = "choose one column with --column: a, b"
    check_refused(capsys, ["sensitivity", *arguments], f"sensitivity-lab sensitivity: {reason}")


@pytest.mark.usefixtures("no_search")
def test_two_domains_of_one_name(capsys):
    arguments = ["--domain", "a=1,2", "--domain", "a=1,2,3", *MEAN_OF_TWO]
    reason = "the domain 'a' is given twice; give each column one domain"
    check_refused(capsys, ["sensitivity", *arguments], f"sensitivity-lab sensitivity: {reason}")


def test_a_search_too_large_is_refused_in_one_line(capsys):
    arguments = ["--size", "50", "--query", "var", "--neighbors", "bounded"]
    arguments += ["--domain", "a=0:99", "--method", "enumeration"]
    code, out, err = run(capsys, "sensitivity", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("sensitivity-lab sensitivity: no engine accepts var here: enumeration ")
    assert err.endswith(" or a larger --memory-limit\n")


CURVES = ("curves", SCHOOL, "--size", "6", "--distances", "1", "--neighbors", "bounded")
ONE = ("sensitivity", SCHOOL, "--column", "school_year", *MEAN_OF_TWO)


@pytest.mark.usefixtures("no_search")
@pytest.mark.parametrize(
    ("command", "option", "file", "reason"),
    [
        *(
            (
                command,
                option,
                str(Path("missing", name)),
                f"cannot write {str(Path('missing', name))!r}: "
                "'missing' is no folder that can be written to",
            )
            for command, option, name in (
                (CURVES, "--output", "plot.png"),
                (CURVES, "--table", "table.csv"),
                (ONE, "--output", "plot.png"),
            )
        ),
        (
            CURVES,
            "--table",
            str(Path("empty.csv", "table.csv")),
            f"cannot write {str(Path('empty.csv', 'table.csv'))!r}: "
            "'empty.csv' is no folder that can be written to",
        ),
        (
            CURVES,
            "--output",
            "plot.jpg",
            "--output: 'plot.jpg' ends in '.jpg'; use .pdf, .png or .svg",
        ),
        (ONE, "--output", "plot", "--output: 'plot' ends in ''; use .pdf, .png or .svg"),
        (CURVES, "--table", "folder", "cannot write 'folder': it is a folder"),
        (ONE, "--output", "folder", "cannot write 'folder': it is a folder"),
    ],
)
def test_outputs_are_checked_before_any_work(capsys, folder, command, option, file, reason):
    before = sorted(folder.rglob("*"))
    check_refused(capsys, [*command, option, file], f"sensitivity-lab {command[0]}: {reason}")
    assert sorted(folder.rglob("*")) == before


@pytest.mark.usefixtures("folder", "no_search")
def test_a_folder_without_permission(capsys, monkeypatch):
    """Not by chmod, which does not stop a superuser."""
    monkeypatch.setattr("sensitivity_lab.cli.arguments.os.access", lambda _path, _mode: False)
    for command in (CURVES, ONE):
        check_refused(
            capsys,
            [*command, "--output", "folder/plot.png"],
            f"sensitivity-lab {command[0]}: cannot write 'folder/plot.png': "
            "'folder' is no folder that can be written to",
        )
    check_refused(
        capsys,
        ["article", "--output", "folder"],
        "sensitivity-lab article: cannot write 'folder/a_unbounded.png': "
        "'folder' is no folder that can be written to",
    )


@pytest.mark.usefixtures("folder", "no_search")
@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("empty.csv", "cannot make the folder 'empty.csv': File exists"),
        ("empty.csv/results", "cannot make the folder 'empty.csv/results': Not a directory"),
    ],
)
def test_article_without_a_folder(capsys, output, reason):
    check_refused(capsys, ["article", "--output", output], f"sensitivity-lab article: {reason}")


@pytest.mark.usefixtures("no_search")
def test_article_checks_every_file_before_any_work(capsys, tmp_path):
    (tmp_path / "b_bounded.csv").mkdir()
    file = str(tmp_path / "b_bounded.csv")
    reason = f"cannot write {file!r}: it is a folder"
    check_refused(
        capsys, ["article", "--output", str(tmp_path)], f"sensitivity-lab article: {reason}"
    )


@pytest.mark.parametrize("option", ["--output", "--table"])
@pytest.mark.usefixtures("folder", "no_search")
def test_outputs_with_a_nul_in_their_names(capsys, option):
    code, out, err = run(capsys, *CURVES, option, "nul\0l.png")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("sensitivity-lab curves: ")


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
