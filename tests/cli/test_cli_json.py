"""`--json`: what is printed is one document that has everything; and tables from standard input."""

from __future__ import annotations

import io
import json
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import MEAN_OF_TWO, SCHOOL, check_refused, run

from sensitivity_lab.cli.parser import make_parser

BITS = ("--domain", "a=0,1", "--size", "9", "--neighbors", "bounded")


def document(capsys, *arguments: str, code: int = 0):
    """What a command prints, which is strict JSON in ASCII on one line."""
    found, out, err = run(capsys, *arguments, "--json")
    assert (found, err, out.count("\n")) == (code, "", 1)
    assert out.isascii()
    return json.loads(out, parse_constant=pytest.fail)


def test_every_command_that_prints_numbers_has_it():
    (group,) = make_parser()._subparsers._group_actions
    without = {
        name for name, parser in group.choices.items() if "--json" not in parser.format_help()
    }
    assert without <= {"explore"}


def test_a_sensitivity_with_whole_datasets(capsys):
    told = document(capsys, "sensitivity", *BITS, "--query", "mean")
    assert (told["sensitivity"], told["exact"], told["upper"]) == (
        1 / 9,
        "1/9",
        0.11111111111111112,
    )
    assert (told["kind"], told["status"], told["distance"]) == ("global", "exact", 1)
    assert len(told["x"]) == len(told["y"]) == 9
    assert abs(sum(told["x"]) - sum(told["y"])) == 1


def test_curves_are_a_list_of_points(capsys):
    told = document(
        capsys, "curves", "--domain", "a=0,1", "--domain", "caf\u00e9=0:3", "--size", "4",
        "--distance", "1,2", "--neighbors", "bounded", "--queries", "sum",
    )  # fmt: skip
    assert [(one["column"], one["distance"], one["sensitivity"]) for one in told] == [
        ("a", 1, 1), ("a", 2, 2), ("caf\u00e9", 1, 3), ("caf\u00e9", 2, 6)
    ]  # fmt: skip


def test_an_audit_keeps_its_exit_code(capsys):
    told = document(capsys, "audit", *BITS, "--query", "sum", "--claim", "0.5", code=1)
    assert (told["verdict"], told["sound"]) == ("violated", False)
    (row,) = told["rows"]
    assert (row["truth"], row["claimed"], len(row["x"])) == (1, "0.5", 9)


def test_the_noise_of_answers(capsys):
    told = document(capsys, "noise", *BITS, "--query", "sum", "mean", "--epsilon", "1/2")
    assert [(row["name"], row["scale"], row["epsilon"]) for row in told["rows"]] == [
        ("sum", 4, 0.25),
        ("mean", 0.4444444444444445, 0.25),
    ]
    assert (told["epsilon"], told["delta"], told["size"]) == (0.5, 0, 9)


@pytest.mark.stress
def test_the_article_is_one_document(capsys, tmp_path):
    told = document(capsys, "article", "--output", str(tmp_path))
    assert [one["name"] for one in told] == ["a_unbounded", "a_bounded", "b_unbounded", "b_bounded"]
    assert all(point["exact"] for one in told for point in one["curves"] if point["query"] == "sum")


def test_without_numbers_json_has_texts(capsys):
    """Decimals are not floats: 0.1 and 0.2 stay what they are."""
    told = document(capsys, "sensitivity", "--domain", "a=0.1:0.3:0.1", *MEAN_OF_TWO)
    assert set(told["x"]) <= {"0.1", "0.2", "0.3"}
    assert Fraction(told["exact"]) == Fraction(1, 10)


@pytest.fixture
def piped(monkeypatch):
    """Pipe a table into the command."""

    def pipe(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))

    return pipe


@pytest.mark.parametrize(
    "command",
    [
        ("sensitivity", "--column", "absence_days", *MEAN_OF_TWO),
        ("curves", *MEAN_OF_TWO[:2], "--neighbors", "bounded", "--distance", "1"),
        ("audit", "--column", "absence_days", *MEAN_OF_TWO, "--claim", "100"),
        ("local", "--column", "absence_days", "--dataset", "1,2", *MEAN_OF_TWO[2:]),
    ],
)
def test_a_piped_table_is_that_of_the_file(capsys, piped, command):
    of_file = run(capsys, command[0], SCHOOL, *command[1:])
    piped(Path(SCHOOL).read_bytes())
    assert run(capsys, command[0], "-", *command[1:]) == of_file
    assert of_file[0] == 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "cannot read standard input as a CSV file: No columns to parse from file"),
        (b"a\nx\n", "no column is numeric; the columns are 'a'"),
        (b"1\n2\n", "the first line of standard input must name the columns, got '1'"),
    ],
)
def test_bad_tables_in_standard_input(capsys, piped, content, reason):
    piped(content)
    line = f"sensitivity-lab sensitivity: {reason}"
    check_refused(capsys, ["sensitivity", "-", *MEAN_OF_TWO], line)


def test_a_closed_standard_input(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    line = "sensitivity-lab sensitivity: cannot read standard input as a CSV file: it is closed"
    check_refused(capsys, ["sensitivity", "-", *MEAN_OF_TWO], line)
