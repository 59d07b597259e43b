"""`sensitivity-lab local`: one dataset, listed, in a file or piped in."""

from __future__ import annotations

import io
import json

import pytest
from command_line import PNG, check_refused, run

UNIT = ("--domain", "a=0:100")
MEDIAN = ("--query", "median", "--neighbors", "bounded")


def test_local_is_that_of_the_dataset(capsys):
    """Replacing 10 by 100 moves the median of 10, 20, 40 to 40; by hand."""
    code, out, err = run(capsys, "local", *UNIT, "--dataset", "40,10,20", *MEDIAN)
    assert (code, err) == (0, "")
    assert out.startswith("Local sensitivity of median: 20 (exact)\n")
    assert out.endswith("\n  value      20.0\n  exact      20\n  upper      20.0\n")


def test_local_at_a_distance(capsys):
    asked = ("local", *UNIT, "--dataset", "10,20,40", *MEDIAN)
    told = [json.loads(run(capsys, *asked, "--distance", k, "--json")[1]) for k in "123"]
    assert [(one["kind"], one["distance"]) for one in told] == [("local", k) for k in (1, 2, 3)]
    assert [one["sensitivity"] for one in told] == [20, 80, 80]


def test_local_takes_one_distance(capsys):
    asked = ("local", *UNIT, "--dataset", "10,20,40", *MEDIAN, "--distances", "1-3")
    line = (
        "sensitivity-lab local: local takes one distance, got '1-3'; choose one; "
        "`sensitivity-lab curves` takes several, for all datasets"
    )
    check_refused(capsys, asked, line)


@pytest.mark.parametrize("name", ["x.csv", "-"])
@pytest.mark.parametrize("table", [b"a,b\n10,1\n20,2\n40,3\n", b"other\n10\n20\n40\n"])
def test_a_dataset_is_the_column_of_a_file(capsys, tmp_path, monkeypatch, name, table):
    """The column called like the domain, or the only one."""
    listed = run(capsys, "local", *UNIT, "--dataset", "10,20,40", *MEDIAN)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_bytes(table)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(table)))
    assert run(capsys, "local", *UNIT, "--dataset", name, *MEDIAN) == listed
    assert listed[0] == 0


@pytest.mark.exhaustive
def test_a_picture(capsys, tmp_path):
    picture = tmp_path / "p.png"
    more = ("--dataset", "10,20,40", *MEDIAN, "--output", str(picture))
    assert run(capsys, "local", *UNIT, *more)[::2] == (0, "")
    assert picture.read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            ("local", "--dataset", "1,x"),
            "a dataset is written 20,35,35, or it is the name of a CSV file, got '1,x'",
        ),
        (
            ("local", "--dataset", "x.csv"),
            "cannot read 'x.csv' as a CSV file: No such file or directory",
        ),
    ],
)
def test_bad_input(capsys, arguments, reason):
    command, *more = arguments
    check_refused(capsys, [command, *UNIT, *MEDIAN, *more], f"sensitivity-lab {command}: {reason}")


def test_standard_input_is_read_once(capsys):
    check_refused(
        capsys,
        ["local", "-", "--dataset", "-", *MEDIAN],
        "sensitivity-lab local: standard input can be read only once; with --dataset -, give a "
        "file or --domain",
    )


def test_a_file_without_the_column(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("b,c\n1,2\n")
    check_refused(
        capsys,
        ["local", *UNIT, "--dataset", "x.csv", *MEDIAN],
        "sensitivity-lab local: --dataset x.csv has no column 'a'; its columns are 'b', 'c'; "
        "give the domain one of these names",
    )
