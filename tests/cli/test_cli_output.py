"""What the command line says when it is stopped, cannot write, or is given odd names."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

import pandas as pd
import pytest
from command_line import MEAN_OF_TWO, MEDIAN_OF_ABSENCES, SCHOOL, check_refused, run
from paths import ROOT

import sensitivity_lab as sl
from sensitivity_lab.cli.program import in_options

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
COMMAND = (sys.executable, "-m", "sensitivity_lab")
DOMAIN = ("--domain", "a=1,2", "--size", "2", "--neighbors", "bounded")
VIOLATED = ("audit", *DOMAIN, "--query", "mean", "--claim", "0.1")


def test_version(capsys):
    version = metadata.version("sensitivity_lab")
    assert run(capsys, "--version") == (0, f"sensitivity-lab {version}\n", "")


def test_version_of_a_checkout(capsys, monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("sensitivity_lab.cli.parser.metadata.version", missing)
    assert run(capsys, "--version") == (
        0,
        "sensitivity-lab of a checkout that is not installed\n",
        "",
    )


def interrupted(*_arguments, **_options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("where", "arguments", "doing"),
    [
        (
            "cli.answers.global_sensitivity",
            MEDIAN_OF_ABSENCES,
            "sensitivity: interrupted while searching the sensitivity of median",
        ),
        (
            "cli.answers.sensitivity_curves",
            ("curves", *DOMAIN, "--distances", "1", "--queries", "mean", "var"),
            "curves: interrupted while searching the curves of mean, var",
        ),
        (
            "cli.answers.local_sensitivity",
            ("local", *DOMAIN[:2], "--dataset", "1,2", *MEAN_OF_TWO[2:]),
            "local: interrupted while searching the local sensitivity of mean",
        ),
        (
            "cli.answers.sensitivity_curves",
            ("noise", *DOMAIN, "--query", "mean", "var", "--epsilon", "1"),
            "noise: interrupted while searching the sensitivities of mean, var",
        ),
        (
            "csv_files.bytes_of",
            ("sensitivity", "-", *MEAN_OF_TWO),
            "sensitivity: interrupted while reading standard input",
        ),
        ("cli.answers.audit_claim", VIOLATED, "audit: interrupted while auditing mean"),
        (
            "article.Experiment.run",
            ("article",),
            "article: interrupted while searching Check, four students of Lee and Clifton (2011): "
            "unbounded",
        ),
        (
            "cli.given.read_table",
            MEDIAN_OF_ABSENCES,
            f"sensitivity: interrupted while reading {SCHOOL}",
        ),
        (
            "plotting.save",
            (*MEDIAN_OF_ABSENCES, "--output", "w.png"),
            "sensitivity: interrupted while drawing w.png",
        ),
        (
            "results.reprs.written_whole",
            ("curves", *DOMAIN, "--distances", "1", "--table", "t.csv"),
            "curves: interrupted while writing t.csv",
        ),
        ("cli.output.Session.flush", ("--help",), ": interrupted while reading the arguments"),
    ],
)
def test_an_interruption_is_one_line(capsys, monkeypatch, tmp_path, where, arguments, doing):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(f"sensitivity_lab.{where}", interrupted)
    code, _, err = run(capsys, *arguments)
    separator = "" if doing.startswith(":") else " "
    assert (code, err) == (130, f"sensitivity-lab{separator}{doing}\n")


def test_memory_that_runs_out_is_one_line(capsys, monkeypatch):
    def full(*_arguments, **_options):
        raise MemoryError

    monkeypatch.setattr("sensitivity_lab.cli.answers.global_sensitivity", full)
    line = (
        "sensitivity-lab sensitivity: not enough memory while searching the sensitivity of median; "
        "use fewer records"
    )
    check_refused(capsys, MEDIAN_OF_ABSENCES, line)


def living(group: int) -> list[str]:
    """The processes of a group, but for those that only wait to be reaped."""
    told = subprocess.run(
        ["ps", "-eo", "pgid,stat,args"], capture_output=True, text=True, check=True
    )
    lines = [line.split(maxsplit=2) for line in told.stdout.splitlines()]
    return [args for pgid, state, args in lines if pgid == str(group) and state[0] != "Z"]


@pytest.mark.stress
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_the_process_and_its_workers(jobs):
    """As a terminal does: the signal goes to the whole group of processes."""
    search = ("--query", "mean", "--neighbors", "bounded", "--method", "enumeration")
    asked = ("--domain", "a=1:24", "--size", "11", "--memory-limit", str(10**12))
    with subprocess.Popen(
        [*COMMAND, "sensitivity", *asked, *search, "--jobs", jobs],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=ENVIRONMENT,
    ) as process:
        for _ in range(600):
            time.sleep(0.1)
            if len(living(process.pid)) > int(jobs) * (jobs != "1"):
                break
        time.sleep(5)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert re.fullmatch(
        "sensitivity-lab sensitivity: interrupted while searching the sensitivity of mean"
        r"(: [\d,]+ of [\d,]+ datasets were done)?\n",
        err,
    )
    time.sleep(1)
    assert living(process.pid) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_standard_output_is_one_line_and_the_files_are_written(
    capsys, monkeypatch, tmp_path
):
    table = tmp_path / "table.csv"
    arguments = ("curves", *DOMAIN, "--queries", "mean", "--distances", "1", "--table", str(table))
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        code, _, err = run(capsys, *arguments)
    reason = "cannot write to standard output: No space left on device"
    assert (code, err) == (2, f"sensitivity-lab curves: {reason}\n")
    assert list(pd.read_csv(table)["sensitivity"]) == [0.5]


def test_a_closed_standard_output_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout", None)
    line = "sensitivity-lab audit: cannot write to standard output: it is closed\n"
    assert run(capsys, *VIOLATED)[::2] == (2, line)


@pytest.mark.parametrize("device", ["/dev/full", None])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_the_exit_code_stays_where_nothing_can_be_said(capsys, monkeypatch, device):
    with Path(device or os.devnull).open("w") as stream:
        monkeypatch.setattr("sys.stderr", stream if device else None)
        assert run(capsys, "sensitivity", "missing.csv", *MEAN_OF_TWO) == (2, "", "")
        assert run(capsys, "sensitivity") == (2, "", "")
        # What is left in the stream's buffer cannot be written when it is closed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def test_a_reader_who_has_gone_learns_of_a_violation_by_the_exit_code(capsys, monkeypatch):
    """As `sensitivity-lab audit ... | true` in a script with pipefail."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        monkeypatch.setattr("sys.stdout", stream)
        assert run(capsys, *VIOLATED) == (1, "", "")


def test_characters_that_the_terminal_lacks_are_written_as_escapes(capsys, monkeypatch):
    written = io.BytesIO()
    with io.TextIOWrapper(written, encoding="ascii") as stream:
        monkeypatch.setattr("sys.stdout", stream)
        arguments = ("--domain", "m\u00e9=1,2", *DOMAIN[2:], "--distances", "1")
        assert run(capsys, "curves", *arguments)[::2] == (0, "")
        assert rb"m\xe9" in written.getvalue()


NAME = "a\x1b[31m\nb\r\x9b"
SHOWN = r"a\x1b[31m\nb\r\x9b"


def test_control_characters_of_names_do_not_reach_the_terminal(capsys):
    arguments = ("--domain", f"{NAME}=1,2", *DOMAIN[2:])
    code, out, err = run(capsys, "curves", *arguments, "--queries", "mean", "--distances", "1")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "Global sensitivity by Hamming distance k, size 2",
        f"{'k':{len(SHOWN)}}{1:>29}",
        f"{'column':{len(SHOWN)}} neighbors          query",
        f"{SHOWN} bounded, at most k mean  0.5",
    ]
    check_refused(
        capsys,
        ("sensitivity", *arguments, "--domain", "b=1,2", "--query", "mean"),
        f"sensitivity-lab sensitivity: choose one column with --column: {SHOWN}, b",
    )
    code, _, err = run(capsys, "curves", NAME)
    assert (code, set(err) & {"\x1b", "\x9b", "\r"}, err.count("\n")) == (2, set(), 1)


def test_reprs_show_control_characters_of_names():
    universe = sl.Universe.from_dataset([1, 2, 4])
    asked = {"size": 2, "distances": 1, "neighbors": "bounded"}
    curves = sl.sensitivity_curves({NAME: universe}, "mean", **asked)
    assert repr(curves).splitlines()[-1] == f"{SHOWN} bounded, at most k mean  1.5"
    assert not set(repr(curves) + curves._repr_html_()) & {"\x1b", "\x9b", "\r"}
    assert curves.to_frame()["column"].tolist() == [NAME]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("curves", *DOMAIN, "--distances", "1", "--queries", "mean", "mean"),
            "curves: two queries are called 'mean'; pass it once",
        ),
        (
            ("sensitivity", *DOMAIN[:2], "--size", "1000000000", *MEAN_OF_TWO[2:]),
            "sensitivity: two datasets of 1,000,000,000 records need 14.9 GiB, more than the "
            "memory limit of 4.0 GiB; choose a smaller size or a larger --memory-limit",
        ),
        (
            ("curves", *DOMAIN, "--distances", "1", "--memory-limit", "0"),
            "curves: --memory-limit must be a whole number (a number of bytes, at least 1), got 0, "
            "below 1",
        ),
        (
            ("curves", *DOMAIN, "--distances", "1", "--jobs", "10001"),
            "curves: --jobs must be a whole number other than 0 (-1 for all processors), got "
            "10001; give at most 10,000",
        ),
        (
            ("curves", *DOMAIN, "--distances", "1", "--direction", "add"),
            "curves: --direction goes with --neighbors unbounded, not bounded",
        ),
    ],
)
def test_advice_is_in_options(capsys, arguments, line):
    check_refused(capsys, arguments, f"sensitivity-lab {line}")


def test_other_words_stay_as_they_are():
    message = "column 'size must': a path: k must not, got 'from_function' (str)"
    assert in_options(message) == message


def test_curves_in_one_direction(capsys):
    """What the advice "or choose --direction remove" asks for."""
    arguments = ("curves", SCHOOL, "--columns", "school_year", "--size", "6", "--distances", "5")
    more = ("--neighbors", "unbounded", "--direction", "remove", "--queries", "sum")
    code, out, err = run(capsys, *arguments, *more)
    curves = sl.sensitivity_curves(
        {"school_year": sl.Universe.from_dataset(pd.read_csv(SCHOOL)["school_year"])},
        "sum",
        size=6,
        distances=5,
        neighbors=sl.Unbounded(5, direction="remove"),
    )
    assert (code, out, err) == (0, f"{curves}\n", "")
