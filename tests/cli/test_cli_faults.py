"""What nobody foresaw ends in one line and an exit code of its own; long names in exit code 2."""

from __future__ import annotations

import errno
import os

import pytest
from command_line import LOSS, SCHOOL, check_refused, run

LONG = "a" * 300
CUT = f"'{'a' * 99} ... {'a' * 45}.csv'"
DAYS = ("--domain", "absence_days=0:9")
WHY = os.strerror(errno.ENAMETOOLONG)


@pytest.mark.usefixtures("folder", "no_search")
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("release", f"{LONG}.csv", "--domain", "a=1:3", *LOSS),
            f"cannot read {CUT} as a CSV file: {WHY}",
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


def failing(error):
    def fail(*_, **__):
        raise error

    return fail


UNFORESEEN = "internal error while publishing: {}; please report it"
OF_THE_SYSTEM = "system error while publishing: {}"


@pytest.mark.parametrize(
    ("error", "code", "line", "said"),
    [
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
    monkeypatch.setattr("sensitivity_lab.releases.Plan.publish", failing(error))
    assert run(capsys, "release", SCHOOL, *DAYS, *LOSS) == (
        code,
        "",
        f"sensitivity-lab release: {line.format(said)}\n",
    )


@pytest.mark.exhaustive
def test_long_arguments_are_not_repeated_whole(capsys):
    long = "x" * 100_000
    for arguments in (
        ("release", f"--{long}"),
        (long,),
        ("release", SCHOOL, *DAYS, *LOSS, "--epsilon", "9" * 100_000),
        ("release", SCHOOL, *DAYS, *LOSS, "--person", long),
        ("release", SCHOOL, *DAYS, *LOSS, "--queries", long),
        ("release", SCHOOL, "--domain", f"{long}=1,1", *LOSS),
        ("release", SCHOOL, "--domain", "age=" + "1," * 50_000 + "x", *LOSS),
        ("release", SCHOOL, *DAYS, *LOSS, "--rows-per-person", "1" * 100_000),
        ("release", SCHOOL, *DAYS, *LOSS, "--group-by", long),
        ("release", SCHOOL, *DAYS, *LOSS, "--group-by", f"{long}=0:1"),
        ("sql", "SELECT 1", "--table", long, "--person", "a.b"),
        ("sql", "SELECT 1", "--table", f"a={SCHOOL}", "--person", long, "--person", long),
    ):
        code, out, err = run(capsys, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), arguments[0]
        assert len(err) < 2_000, err[:200]
