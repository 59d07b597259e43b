"""What nobody foresaw ends in one line and an exit code of its own; long names in exit code 2."""

from __future__ import annotations

import errno
import os

import pytest
from command_line import MEAN_OF_TWO, SCHOOL, check_refused, run

LONG = "a" * 300
CUT = f"'{'a' * 99} ... {'a' * 45}.csv'"
AGES = ("--domain", "age=1,2,3")
WHY = os.strerror(errno.ENAMETOOLONG)


@pytest.mark.usefixtures("folder", "no_search")
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("sensitivity", f"{LONG}.csv", *MEAN_OF_TWO),
            f"cannot read {CUT} as a CSV file: {WHY}",
        ),
        (
            ("local", *AGES, "--dataset", f"{LONG}.csv", *MEAN_OF_TWO[2:]),
            f"cannot read {CUT} as a CSV file: {WHY}",
        ),
        (
            ("local", *AGES, "--dataset", f"1,{LONG}.csv", *MEAN_OF_TWO[2:]),
            "a dataset is written 20,35,35, or it is the name of a CSV file, got "
            f"'1,{'a' * 97} ... {'a' * 45}.csv'",
        ),
        (
            ("sensitivity", *AGES, *MEAN_OF_TWO, "--output", f"{LONG}.png"),
            f"cannot write {CUT[:-4]}png': {WHY}",
        ),
        (
            (
                "curves",
                *AGES,
                "--size",
                "2",
                "--neighbors",
                "bounded",
                "--distances",
                "1",
                "--table",
                f"{LONG}.csv",
            ),
            f"cannot write {CUT}: {WHY}",
        ),
        (
            (
                "curves",
                *AGES,
                "--size",
                "2",
                "--neighbors",
                "bounded",
                "--distances",
                "1",
                "--table",
                f"{LONG}/t.csv",
            ),
            f"cannot write '{'a' * 99} ... {'a' * 43}/t.csv': {WHY}",
        ),
        (
            ("article", "--output", f"{LONG}.csv"),
            f"cannot make the folder {CUT}: {WHY}",
        ),
        (
            ("explore", f"{LONG}.csv"),
            f"cannot read {CUT} as a CSV file: {WHY}",
        ),
    ],
)
def test_a_name_that_is_too_long(capsys, arguments, line):
    check_refused(capsys, arguments, f"sensitivity-lab {arguments[0]}: {line}")


@pytest.mark.usefixtures("folder")
def test_a_folder_with_a_name_that_is_too_long(capsys):
    code, out, err = run(capsys, "sensitivity", *AGES, *MEAN_OF_TWO, "--scratch", LONG)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("sensitivity-lab sensitivity: ")
    assert WHY in err
    assert LONG not in err


def failing(error):
    def fail(*_, **__):
        raise error

    return fail


UNFORESEEN = "internal error while searching the sensitivity of mean: {}; please report it"
OF_THE_SYSTEM = "system error while searching the sensitivity of mean: {}"


@pytest.mark.parametrize(
    ("error", "code", "line", "said"),
    [
        # The exit code 1 would say that a claim is violated.
        (ZeroDivisionError("by zero"), 70, UNFORESEEN, "ZeroDivisionError: by zero"),
        (RecursionError("too\n\x1b[31m"), 70, UNFORESEEN, r"RecursionError: too \x1b[31m"),
        (AssertionError(), 70, UNFORESEEN, "AssertionError"),
        (KeyError("a" * 100_000), 70, UNFORESEEN, f"KeyError: '{'a' * 99} ... {'a' * 49}'"),
        (OSError(errno.ENOSPC, "No space left"), 2, OF_THE_SYSTEM, "No space left"),
        (PermissionError(errno.EACCES, "Not allowed", "x"), 2, OF_THE_SYSTEM, "Not allowed: 'x'"),
        (OSError("of its own"), 2, OF_THE_SYSTEM, "of its own"),
    ],
)
def test_an_error_that_nobody_foresaw(capsys, monkeypatch, error, code, line, said):
    monkeypatch.setattr("sensitivity_lab.cli.answers.global_sensitivity", failing(error))
    assert run(capsys, "sensitivity", *AGES, *MEAN_OF_TWO) == (
        code,
        "",
        f"sensitivity-lab sensitivity: {line.format(said)}\n",
    )


@pytest.mark.exhaustive
def test_long_arguments_are_not_repeated_whole(capsys):
    for arguments in (
        ("curves", "--" + "x" * 100_000),
        ("x" * 100_000,),
        ("sensitivity", *AGES, "--size", "9" * 100_000, "--query", "mean"),
        ("sensitivity", SCHOOL, *MEAN_OF_TWO, "--column", "x" * 100_000),
        ("sensitivity", *AGES, *MEAN_OF_TWO[:3], "x" * 100_000, *MEAN_OF_TWO[4:]),
        ("sensitivity", "--domain", "x" * 100_000 + "=1,1", *MEAN_OF_TWO),
        ("sensitivity", "--domain", "age=" + "1," * 50_000 + "x", *MEAN_OF_TWO),
        ("sensitivity", *AGES, *MEAN_OF_TWO, "--distance", "1" * 100_000),
        ("audit", *AGES, *MEAN_OF_TWO, "--claim", "x" * 100_000),
    ):
        code, out, err = run(capsys, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), arguments[0]
        assert len(err) < 2_000, err[:200]
