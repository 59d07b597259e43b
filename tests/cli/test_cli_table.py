"""The table of commands: a row and a function are a command, and no argument is left over."""

from __future__ import annotations

import re

import pytest
from command_line import check_refused, run

from sensitivity_lab.cli import arguments
from sensitivity_lab.cli.arguments import COPIES, JSON, Argument
from sensitivity_lab.cli.commands import COMMANDS, Command
from sensitivity_lab.cli.output import Answer
from sensitivity_lab.errors import InputError

WEEKS = Argument(
    name="--weeks-per-year",
    becomes="n_weeks",
    read=len,
    metavar="W",
    help="a mark per week",
    advice=(("more weeks", "more marks"),),
)


def twice(given) -> Answer:
    """Tell the double of what is given."""
    number = 2 * (given[COPIES] or given[WEEKS])
    if number > 10:
        raise InputError(f"n_weeks must be at most 5, got {number // 2}; do not ask for more weeks")
    return Answer(text=number, data=lambda: {"number": number})


@pytest.fixture
def command(monkeypatch):
    """A command that is a row and a function."""
    row = Command(
        name="twice",
        summary="the double",
        does="The double of a number.",
        arguments=(COPIES, WEEKS, JSON),
        call=twice,
        examples=("twice --copies 3",),
    )
    monkeypatch.setitem(COMMANDS, row.name, row)


@pytest.mark.usefixtures("command")
def test_a_row_and_a_function_are_a_command(capsys):
    assert run(capsys, "twice", "--copies", "3") == (0, "6\n", "")
    assert run(capsys, "twice", "--weeks", "xx", "--json") == (0, '{"number": 4}\n', "")
    out = run(capsys, "twice", "--help")[1]
    assert "\nThe double of a number.\n" in out
    assert "  --weeks-per-year W  a mark per week\n" in out
    assert out.endswith("\nexamples:\n  sensitivity-lab twice --copies 3\n")
    assert re.search(r"\n    twice +the double\n", run(capsys, "--help")[1])


@pytest.mark.usefixtures("command")
def test_messages_of_the_library_are_told_in_options(capsys):
    check_refused(
        capsys,
        ["twice", "--weeks-per-year", "xxxxxx"],
        "sensitivity-lab twice: --weeks-per-year must be at most 5, got 6; do not ask for more "
        "marks",
    )


def test_every_argument_is_in_a_row():
    declared = {one.word for one in vars(arguments).values() if isinstance(one, Argument)}
    assert declared == {one.word for row in COMMANDS.values() for one in row.each()}
