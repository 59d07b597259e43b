"""Bad files and arguments on the command line: one clear line for whatever is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import COUNT_OF_SCHOOL, LOSS, SCHOOL, check_refused, run


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], ": the following arguments are required: COMMAND"),
        (
            ["release"],
            " release: the following arguments are required: DATA.csv, --epsilon",
        ),
        (
            ["release", SCHOOL],
            " release: the following arguments are required: --epsilon",
        ),
        (["sql"], " sql: the following arguments are required: SELECT, --person"),
        (
            ["sql", "SELECT 1", "--person", "a.b"],
            " sql: one of the arguments --table --database is required",
        ),
        (
            [*COUNT_OF_SCHOOL, "--database", "a.db"],
            " sql: argument --database: not allowed with argument --table",
        ),
        (
            ["release", SCHOOL, "--rows-per-person", "x"],
            " release: argument --rows-per-person: invalid int value: 'x'",
        ),
        (
            ["release", SCHOOL, "--queries"],
            " release: argument --queries/--query: expected at least one argument",
        ),
        (["explore", SCHOOL, "3"], ": unrecognized arguments: 3"),
    ],
)
def test_bad_usage(capsys, arguments, line):
    check_refused(capsys, arguments, f"sensitivity-lab{line}")


@pytest.mark.parametrize(
    ("arguments", "start", "choices", "end"),
    [
        (
            ["curves", SCHOOL, "--size", "6"],
            ": argument COMMAND: invalid choice: 'curves' (choose from ",
            ("release", "sql", "article", "explore"),
            "); all else is a call in Python\n",
        ),
        (
            ["relase"],
            ": argument COMMAND: invalid choice: 'relase' (choose from ",
            ("release", "sql", "article", "explore"),
            "); did you mean 'release'?\n",
        ),
        (
            [*COUNT_OF_SCHOOL, "--null-person", "none"],
            " sql: argument --null-person: invalid choice: 'none' (choose from ",
            ("refuse", "public"),
            ")\n",
        ),
    ],
)
def test_unknown_choices_are_listed(capsys, arguments, start, choices, end):
    """How the choices are quoted depends on the version of Python."""
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"sensitivity-lab{start}")
    assert all(choice in err for choice in choices)
    assert err.endswith(end)


@pytest.mark.parametrize("command", ["sensitivity", "local", "noise", "audit", "formula"])
def test_commands_that_once_were_are_refused_with_those_that_are(capsys, command):
    code, out, err = run(capsys, command, SCHOOL, "--size", "6", "--help")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "explore" in err
    assert err.endswith("; all else is a call in Python\n")


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
        ("header.csv", "unknown column 'c'; the columns are 'a', 'b'"),
        (
            "picture.csv",
            "cannot read 'picture.csv' as a CSV file: it is no text",
        ),
        (
            "ragged.csv",
            "cannot read 'ragged.csv' as a CSV file: "
            "Error tokenizing data. C error: Expected 2 fields in line 3, saw 4",
        ),
        (NULL, f"cannot read 'nul\\x00l.csv' as a CSV file: {python_says_of(NULL)}"),
    ],
)
def test_bad_files(capsys, file, reason):
    arguments = ["release", file, "--domain", "c=0:3", *LOSS]
    check_refused(capsys, arguments, f"sensitivity-lab release: {reason}")
    if file != "header.csv":
        check_refused(capsys, ["explore", file], f"sensitivity-lab explore: {reason}")
