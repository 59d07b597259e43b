"""What `--help` shows, its examples as they run, and what is proposed for a mistyped word."""

from __future__ import annotations

import shlex
import shutil

import pytest
from command_line import LOSS, SCHOOL, check_refused, run
from paths import DATA

from sensitivity_lab.cli.program import DOES, EXAMPLES, make_parsers

PARSER, PARSERS = make_parsers()

LONG = ("article", "explore")
"""What has tests of its own."""


@pytest.mark.parametrize("command", PARSERS)
def test_every_help_says_what_the_command_does_with_examples(capsys, command):
    code, out, err = run(capsys, command, "--help")
    assert (code, err) == (0, "")
    does = PARSERS[command].description
    assert f"\n{does}\n" in out
    assert max(map(len, does.splitlines())) < 90
    lines = "".join(f"  sensitivity-lab {example}\n" for example in EXAMPLES[command])
    assert f"\nexamples:\n{lines}" in out
    assert all(example.split()[0] == command for example in EXAMPLES[command])


def test_the_help_lists_every_command(capsys):
    code, out, err = run(capsys, "--help")
    assert (code, err) == (0, "")
    assert f"\n{DOES}\n" in out
    assert max(map(len, DOES.splitlines())) < 95
    (group,) = PARSER._subparsers._group_actions
    assert list(group.choices) == list(PARSERS) == list(EXAMPLES)
    assert list(PARSERS) == ["release", "sql", "article", "explore"]
    assert all(f"\n    {command}" in out for command in PARSERS)
    assert all(f"\n  sensitivity-lab {command} " in out for command in PARSERS)


@pytest.mark.parametrize(
    "example",
    [one for command, every in EXAMPLES.items() if command not in LONG for one in every],
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
    code, out, err = run(capsys, *words)
    assert (code, err) == (0, "")
    assert out
    written = {path.name for path in tmp_path.iterdir()} - {"data"}
    assert written == {words[words.index(o) + 1] for o in ("--publish",) if o in words}


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--verison"], ": unrecognized argument: --verison; did you mean '--version'?"),
        (
            ["release", SCHOOL, "--querys=mean"],
            " release: unrecognized argument: --querys; did you mean '--query'?",
        ),
        (["sql", "--zzz"], " sql: unrecognized argument: --zzz"),
        (
            ["release", SCHOOL, "--domain", "absense_days=0:9", *LOSS],
            " release: unknown column 'absense_days'; the columns are 'name', 'school_year', "
            "'absence_days'; did you mean 'absence_days'?",
        ),
    ],
)
def test_a_word_that_is_alike_is_proposed(capsys, arguments, line):
    check_refused(capsys, arguments, f"sensitivity-lab{line}")


@pytest.mark.parametrize(
    ("arguments", "proposed"),
    [
        (["relaese"], "release"),
        (["explor"], "explore"),
        (["sql", "SELECT 1", "--null-person", "publik"], "public"),
    ],
)
def test_a_choice_that_is_alike_is_proposed(capsys, arguments, proposed):
    """How the choices before it are quoted depends on the version of Python."""
    code, out, err = run(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.endswith(f"; did you mean '{proposed}'?\n")


def test_a_value_after_two_dashes_is_no_option(capsys):
    """As in `release OPTIONS -- --odd.csv`, a file whose name begins with dashes."""
    arguments = ["release", "--domain", "a=0:9", *LOSS, "--", "--odd.csv"]
    check_refused(
        capsys,
        arguments,
        "sensitivity-lab release: cannot read '--odd.csv' as a CSV file: No such file or directory",
    )
