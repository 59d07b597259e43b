"""What `--help` shows, its examples as they run, and what is proposed for a mistyped word."""

from __future__ import annotations

import io
import shlex
import shutil

import pytest
from command_line import MEAN_OF_TWO, SCHOOL, check_refused, run
from paths import DATA

from sensitivity_lab.cli.commands import COMMANDS, PROGRAM
from sensitivity_lab.cli.parser import make_parser

BOUNDED = ("--size", "2", "--neighbors", "bounded")
ABOUT = {"sensitivity-lab": PROGRAM, **COMMANDS}
OUTPUTS = ("--output", "--table", "--publish")  # but for sql, whose --table is read

LONG = ("article",)
"""What has tests of its own."""


def commands() -> list[str]:
    """The commands that the parser has."""
    groups = make_parser()._subparsers._group_actions
    return [name for group in groups for name in group.choices]


@pytest.mark.parametrize("command", ["", *commands()])
def test_every_help_says_what_the_command_does_with_examples(capsys, command):
    code, out, err = run(capsys, *filter(None, [command]), "--help")
    assert (code, err) == (0, "")
    assert "\nexamples:\n  sensitivity-lab " in out
    about = ABOUT[command or "sensitivity-lab"]
    assert f"\n{about.does}\n" in out
    assert all(f"  sensitivity-lab {example}\n" in out for example in about.examples)
    assert about.examples
    assert all(command in example for example in about.examples)
    assert max(map(len, about.does.splitlines())) < 90


def test_the_help_lists_every_command(capsys):
    _, out, _ = run(capsys, "--help")
    assert {"local", "noise"} < set(commands())
    assert all(f"\n    {command}" in out for command in commands())


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(example, marks=[pytest.mark.exhaustive] if "--output" in example else [])
        for command, about in ABOUT.items()
        for example in about.examples
        if example.split()[0] not in LONG and command != "explore"
    ],
)
def test_the_examples_run(capsys, tmp_path, monkeypatch, example):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    shutil.copy(DATA / "school_large.csv", tmp_path / "data")
    words = shlex.split(example)
    if words[0] == "sql":
        pytest.importorskip("duckdb", reason="needs the extra `sql`")
    if words[0] == "release":
        pytest.importorskip("opendp.prelude", reason="needs the extra `opendp`")
    if "<" in words:
        given = tmp_path / words[-1]
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.read_bytes())))
        words = words[:-2]
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert out
    written = {path.name for path in tmp_path.iterdir()} - {"data"}
    assert written == {
        words[words.index(o) + 1] for o in OUTPUTS if o in words and words[0] != "sql"
    }


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--verison"], ": unrecognized argument: --verison; did you mean '--version'?"),
        (
            ["curves", SCHOOL, "--querys=mean"],
            " curves: unrecognized argument: --querys; did you mean '--queries'?",
        ),
        (
            ["sensitivity", SCHOOL, "--colums", "absence_days"],
            " sensitivity: unrecognized argument: --colums; did you mean '--columns'?",
        ),
        (["audit", "--zzz"], " audit: unrecognized argument: --zzz"),
        (
            ["sensitivity", SCHOOL, "--column", "absense_days", *MEAN_OF_TWO],
            " sensitivity: unknown column 'absense_days'; the columns are 'name', 'school_year', "
            "'absence_days'; did you mean 'absence_days'?",
        ),
    ],
)
def test_a_word_that_is_alike_is_proposed(capsys, arguments, line):
    check_refused(capsys, arguments, f"sensitivity-lab{line}")


@pytest.mark.parametrize(
    ("arguments", "proposed"),
    [
        (["sensitivty"], "sensitivity"),
        (["curve"], "curves"),
        (["sensitivity", SCHOOL, "--neighbors", "unbound"], "unbounded"),
        (["sensitivity", "--domain", "a=1,2", *MEAN_OF_TWO, "--query", "medain"], "median"),
        (["curves", "--domain", "a=1,2", *BOUNDED, "--distance", "1", "--queries", "varr"], "var"),
    ],
)
def test_a_choice_that_is_alike_is_proposed(capsys, arguments, proposed):
    """How the choices before it are quoted depends on the version of Python."""
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.endswith(f"; did you mean '{proposed}'?\n")


def test_a_value_after_two_dashes_is_no_option(capsys):
    """As in `curves OPTIONS -- --odd.csv`, a file whose name begins with dashes."""
    arguments = ["sensitivity", *MEAN_OF_TWO, "--", "--odd.csv"]
    check_refused(
        capsys,
        arguments,
        "sensitivity-lab sensitivity: cannot read '--odd.csv' as a CSV file: No such file or "
        "directory",
    )
