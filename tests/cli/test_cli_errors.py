"""Bad files and arguments on the command line: one clear line for whatever is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import MEAN_OF_TWO, SCHOOL, check_refused, run
from strategies import NAMES

from sensitivity_lab.search.engines import ENGINES


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], ": the following arguments are required: COMMAND"),
        (
            ["curves"],
            " curves: the following arguments are required: --size, --distances/--distance, "
            "--neighbors",
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
            ["curves", SCHOOL, "--size", "six", "--distances", "1", "--neighbors", "bounded"],
            " curves: --size is written 100, 2-1000 or 2,5,9, from small to large, got 'six'",
        ),
        (
            ["sensitivity", SCHOOL, "--size", "6", "--query", "mean", "--distance", "1.5"],
            " sensitivity: the following arguments are required: --neighbors",
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
        (["histogramm"], ": argument COMMAND: invalid choice: 'histogramm' (choose from "),
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
        Path(path).read_bytes()
    return str(caught.value)


@pytest.mark.usefixtures("folder", "no_search")
@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (
            "missing.csv",
            "cannot read 'missing.csv' as a CSV file: No such file or directory",
        ),
        ("folder", "cannot read 'folder' as a CSV file: Is a directory"),
        ("empty.csv", "cannot read 'empty.csv' as a CSV file: No columns to parse from file"),
        ("header.csv", "no column is numeric; the columns are 'a', 'b'"),
        (
            "picture.csv",
            "cannot read 'picture.csv' as a CSV file: it is no text",
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


def test_a_column_with_missing_values_is_left_out_and_named(capsys, tmp_path):
    table = tmp_path / "some.csv"
    table.write_text("a,b\n1,2\n,3\n4,5\n", "utf-8")
    arguments = ["curves", str(table), "--size", "2", "--neighbors", "bounded", "--distances", "1"]
    left_out = (
        f"left out: column 'a': records must be finite numbers, got nan at position 1{NOT_FINITE}\n"
    )
    code, out, err = run(capsys, *arguments, "--queries", "mean")
    assert (code, err) == (0, "")
    assert "bounded, at most k mean" in " ".join(out.split())
    assert out.endswith(f"\n  note       {left_out}")
    assert run(capsys, *arguments, "--json")[2] == f"sensitivity-lab curves: {left_out}"


WRITTEN_DISTANCES = "distances are written 1-4 or 1,2,5, from small to large, got"
QUERIES = f"choose one of {NAMES}, percentile_25 (any number from 0 to 100)"
METHODS = ", ".join(
    repr(name) for name in ("auto", *(engine.name for engine in ENGINES if engine.kind == "global"))
)
EITHER = (
    "give either a CSV file (scenario a), before the options that take several words, or "
    "--domain NAME=VALUES (scenario b)"
)
LIMITS = "removing needs k <= size, adding needs k <= records outside x"
DIRECTIONS = (
    "or choose --direction remove, which leaves out additions and can give a smaller sensitivity"
)


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
            f"--method must be one of {METHODS}, got 'magic'",
        ),
        ({"--distances": "a-b"}, f"{WRITTEN_DISTANCES} 'a-b'"),
        ({"--distances": "4-1"}, f"{WRITTEN_DISTANCES} '4-1'"),
        ({"--distances": "1-2-3"}, f"{WRITTEN_DISTANCES} '1-2-3'"),
        ({"--distances": ""}, f"{WRITTEN_DISTANCES} ''"),
        (
            {"--distances": "0-2"},
            "--distances must be a whole number (a Hamming distance, at least 1), got 0, below 1",
        ),
        (
            {"--distances": "1-5", "--exactly": ""},
            "column 'school_year': unbounded, exactly 5 is not feasible for datasets of size 6 in "
            f"a universe of 10 records: {LIMITS}; the largest feasible k is 4, {DIRECTIONS}",
        ),
        (
            {"--size": "11"},
            "column 'school_year': --size must be at most the universe's number of records, 10, "
            "got 11; choose a smaller size, or use a domain as the universe, --domain "
            "NAME=VALUES",
        ),
        (
            {"--size": "0"},
            "column 'school_year': mean needs at least 1 record, got size 0; leave out smaller "
            "sizes, or say the answer for fewer, --empty VALUE, which is then public",
        ),
        (
            {"--size": "-1"},
            "--size is written 100, 2-1000 or 2,5,9, from small to large, got '-1'",
        ),
        ({"--domain": "mood=1,2"}, EITHER),
        (
            {"--copies": "2"},
            "--copies goes with --domain; each record of a file occurs once",
        ),
        ({"--distances": "1-999999999999"}, f"{WRITTEN_DISTANCES} '1-999999999999'"),
        (
            {"--jobs": "0", "--method": "enumeration"},
            "--jobs must be a whole number other than 0 (-1 for all processors), got 0",
        ),
    ],
)
def test_bad_curves(capsys, changed, reason):
    options = {"--size": "6", "--distances": "1", "--neighbors": "unbounded", **changed}
    given = (
        f"{name}={value}" if value or name != "--exactly" else name
        for name, value in options.items()
    )
    check_refused(capsys, ["curves", SCHOOL, *given], f"sensitivity-lab curves: {reason}")


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
        ({"--method": "magic"}, f"--method must be one of {METHODS}, got 'magic'"),
        ({"--distance": "1.5"}, f"{WRITTEN_DISTANCES} '1.5'"),
        (
            {"--distances": "1-3"},
            "sensitivity takes one distance, got '1-3'; choose one; "
            "`sensitivity-lab curves` takes several, for all datasets",
        ),
        (
            {"--distance": "0"},
            "--distance must be a whole number (a Hamming distance, at least 1), got 0, below 1",
        ),
        (
            {"--direction": "add"},
            "--direction goes with --neighbors unbounded, not bounded",
        ),
        (
            {"--size": "11"},
            "--size must be at most the universe's number of records, 10, got 11; choose a "
            "smaller size, or use a domain as the universe, --domain NAME=VALUES",
        ),
        (
            {"--size": "10"},
            "bounded, at most 1 is not feasible for datasets of size 10 in a universe of 10 "
            "records: replacing needs a record of x and at least one record outside x; no distance "
            "is feasible; choose a smaller size, or use a domain as the universe, "
            "--domain NAME=VALUES",
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
