"""`sensitivity-lab local` and `smooth`: one dataset, listed, in a file or piped in."""

from __future__ import annotations

import io
import json
import math

import pytest
from command_line import PNG, check_refused, run

import sensitivity_lab as sl

UNIT = ("--domain", "a=0:100")
MEDIAN = ("--query", "median", "--neighbors", "bounded")


def test_local_is_that_of_the_dataset(capsys):
    """Replacing 10 by 100 moves the median of 10, 20, 40 to 40; by hand."""
    code, out, err = run(capsys, "local", *UNIT, "--dataset", "40,10,20", *MEDIAN)
    assert (code, err) == (0, "")
    assert out.startswith("Local sensitivity of median: 20 (exact)\n")
    assert out.endswith("\n  value      20.0\n  exact      20\n  upper      20.0\n")


def test_local_at_several_distances(capsys):
    code, out, err = run(
        capsys, "local", *UNIT, "--dataset", "10,20,40", *MEDIAN, "--distances", "1-3", "--json"
    )
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert [(one["column"], one["kind"]) for one in told] == [("a", "local")] * 3
    assert [one["sensitivity"] for one in told] == [20, 80, 80]


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


def test_smooth_with_beta(capsys):
    """The largest of LS(z) exp(-beta d(x, z)), found by plain enumeration of three records."""
    code, out, err = run(
        capsys, "smooth", "--domain", "a=0:4", "--dataset", "1,2,2", *MEDIAN, "--beta", "1/2"
    )
    assert (code, err) == (0, "")
    best = max(
        local((a, b, c)) * math.exp(-distance((a, b, c), (1, 2, 2)) / 2)
        for a in range(5)
        for b in range(a, 5)
        for c in range(b, 5)
    )
    upper = float(out.splitlines()[-1].removeprefix("  upper      "))
    assert math.isclose(upper, best, rel_tol=1e-12)
    assert out.startswith("Smooth sensitivity of median: ")


def local(x: tuple[int, ...]) -> int:
    """How much the median of three records can move, in plain Python."""
    middle = sorted(x)[1]
    moved = [sorted((*x[:i], new, *x[i + 1 :]))[1] for i in range(3) for new in range(5)]
    return max(abs(one - middle) for one in moved)


def distance(x: tuple[int, ...], y: tuple[int, ...]) -> int:
    left = list(y)
    for one in x:
        if one in left:
            left.remove(one)
    return len(left)


@pytest.mark.parametrize(
    ("more", "noise", "factor", "beta"),
    [
        ([], "Cauchy", 6, 1 / 6),
        (["--delta", "1e-6"], "Laplace", 2, 1 / (2 * math.log(2e6))),
    ],
)
def test_smooth_with_the_noise_of_a_privacy_loss(capsys, more, noise, factor, beta):
    asked = (*UNIT, "--dataset", "20,35,35,50,50", *MEDIAN, "--epsilon", "1", *more)
    code, out, err = run(capsys, "smooth", *asked)
    assert (code, err) == (0, "")
    *_, upper, scale = out.splitlines()
    bound = float(upper.removeprefix("  upper      "))
    assert scale.startswith(f"  noise      {noise}, scale ")
    assert math.isclose(float(scale.split()[-1]), factor * bound, rel_tol=1e-12)
    told = json.loads(run(capsys, "smooth", *asked, "--json")[1])
    assert (told["noise"], told["upper"], told["epsilon"]) == (noise, bound, 1)
    assert told["scale"] == float(scale.split()[-1])
    x = [20, 35, 35, 50, 50]
    universe = sl.Universe.from_domain(range(101))
    near = sl.smooth_sensitivity(
        universe, "median", dataset=x, beta=beta * (1 - 1e-9), neighbors="bounded"
    )
    assert math.isclose(near.value, bound, rel_tol=1e-6)


def test_smooth_between_sizes(capsys):
    asked = ("--domain", "a=0:3", "--dataset", "1,2", "--query", "range", "--beta", "1")
    code, _, err = run(capsys, "smooth", *asked, "--neighbors", "unbounded", "--sizes", "1-4")
    assert (code, err) == (0, "")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "asked", [("local",), ("local", "--distances", "1-2"), ("smooth", "--beta", "1")]
)
def test_pictures(capsys, tmp_path, asked):
    picture = tmp_path / "p.png"
    more = ("--dataset", "10,20,40", *MEDIAN, "--output", str(picture))
    assert run(capsys, *asked, *UNIT, *more)[::2] == (0, "")
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
        (
            ("smooth", "--dataset", "1,2", "--beta", "0"),
            "--beta must be a number above 0, at most 1e6, got 0",
        ),
        (("smooth", "--dataset", "1,2", "--beta", "x"), "--beta is written 2, 0.5 or 1/3, got 'x'"),
        (
            ("smooth", "--dataset", "1,2", "--beta", "1", "--delta", "0.1"),
            "--delta goes with --epsilon, not --beta",
        ),
        (
            ("smooth", "--dataset", "1,2", "--epsilon", "4", "--delta", "0.1"),
            "--epsilon must be a number from 1e-9 to 3 where a delta is given, got 4; for a larger "
            "one leave out --delta",
        ),
        (
            ("smooth", "--dataset", "1,2", "--beta", "1", "--sizes", "3"),
            "--sizes are written 3-9, smallest and largest, got '3'",
        ),
        (
            ("smooth", "--dataset", "1,2", "--beta", "1", "--sizes", "3-9"),
            "--sizes is for relations that add and remove, not bounded, at most 1",
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
