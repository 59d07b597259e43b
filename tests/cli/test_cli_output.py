"""What the command line says when it is stopped, cannot write, or is given odd names."""

from __future__ import annotations

import io
import os
from importlib import metadata
from pathlib import Path

import pytest
from command_line import COUNT_OF_SCHOOL, LOSS, PLANNED, SCHOOL, check_refused, run

import sensitivity_lab as sl
from sensitivity_lab.cli.program import in_options

RELEASED = ("release", SCHOOL, "--domain", "absence_days=0:9", *LOSS)


def test_version(capsys):
    version = metadata.version("sensitivity_lab")
    assert run(capsys, "--version") == (0, f"sensitivity-lab {version}\n", "")


def test_version_of_a_checkout(capsys, monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("sensitivity_lab.cli.program.metadata.version", missing)
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
        ("releases.Plan.publish", RELEASED, "release: interrupted while publishing"),
        (
            "csv_files._read",
            RELEASED,
            f"release: interrupted while reading {SCHOOL}",
        ),
        ("sql.Query.__init__", COUNT_OF_SCHOOL, "sql: interrupted while reading the tables"),
        (
            "article.Experiment.run",
            ("article",),
            "article: interrupted while searching Check, four students of Lee and Clifton (2011): "
            "unbounded",
        ),
        ("cli.commands.Session.flush", ("--help",), ": interrupted while reading the arguments"),
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

    monkeypatch.setattr("sensitivity_lab.releases.Plan.publish", full)
    line = "sensitivity-lab release: not enough memory while publishing; use fewer records"
    check_refused(capsys, RELEASED, line)


@pytest.mark.sql
def test_a_closed_standard_output_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout", None)
    pytest.importorskip("duckdb", reason="needs the extra `sql`")
    line = "sensitivity-lab sql: cannot write to standard output: it is closed\n"
    assert run(capsys, *PLANNED)[::2] == (2, line)


@pytest.mark.parametrize("device", ["/dev/full", None])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_the_exit_code_stays_where_nothing_can_be_said(capsys, monkeypatch, device):
    with Path(device or os.devnull).open("w") as stream:
        monkeypatch.setattr("sys.stderr", stream if device else None)
        assert run(capsys, "release", "missing.csv", *RELEASED[2:]) == (2, "", "")
        assert run(capsys, "release") == (2, "", "")
        # What is left in the stream's buffer cannot be written when it is closed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@pytest.mark.sql
def test_characters_that_the_terminal_lacks_are_written_as_escapes(capsys, monkeypatch, tmp_path):
    pytest.importorskip("duckdb", reason="needs the extra `sql`")
    written = io.BytesIO()
    with io.TextIOWrapper(written, encoding="ascii") as stream:
        monkeypatch.setattr("sys.stdout", stream)
        table = tmp_path / "m\u00e9.csv"
        table.write_bytes(Path(SCHOOL).read_bytes())
        arguments = ("--table", f"m={table}", "--person", "m.name", "--epsilon", "1")
        asked = ('SELECT COUNT(*) AS "m\u00e9" FROM m', *arguments, "--max-rows", "1")
        assert run(capsys, "sql", *asked)[::2] == (0, "")
        assert rb"m\xe9" in written.getvalue()


NAME = "a\x1b[31m\nb\r\x9b"
SHOWN = r"a\x1b[31m\nb\r\x9b"


def test_control_characters_of_names_do_not_reach_the_terminal(capsys):
    asked = ("release", SCHOOL, "--domain", f"{NAME}=1:2", *LOSS)
    code, out, err = run(capsys, *asked)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert SHOWN in err
    assert not set(err) & {"\x1b", "\x9b", "\r"}
    code, _, err = run(capsys, "explore", NAME)
    assert (code, set(err) & {"\x1b", "\x9b", "\r"}, err.count("\n")) == (2, set(), 1)


def test_reprs_show_control_characters_of_names():
    universe = sl.Universe.from_dataset([1, 2, 4])
    asked = {"size": 2, "distances": 1, "neighbors": "bounded"}
    curves = sl.sensitivity_curves({NAME: universe}, "mean", **asked)
    assert repr(curves).splitlines()[-1] == f"{SHOWN} bounded, at most k mean  1.5"
    assert not set(repr(curves) + curves._repr_html_()) & {"\x1b", "\x9b", "\r"}
    assert curves.to_frame()["column"].tolist() == [NAME]


def test_other_words_stay_as_they_are():
    message = "column 'size must': a path: k must not, got 'from_function' (str)"
    assert in_options(message) == message
