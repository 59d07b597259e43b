"""`sensitivity-lab audit`: the report, the exit code, and one line for whatever is wrong."""

from __future__ import annotations

import sys
from fractions import Fraction

import pandas as pd
import pytest
from command_line import PNG, SCHOOL, check_refused, run

import sensitivity_lab as sl

MEDIAN = (
    *("audit", SCHOOL, "--column", "absence_days", "--query", "median"),
    *("--size", "6", "--neighbors", "bounded"),
)
MEAN = ("audit", "--domain", "a=0,1", "--size", "3", "--query", "mean", "--neighbors", "bounded")


def school() -> sl.Universe:
    return sl.Universe.from_dataset(pd.read_csv(SCHOOL)["absence_days"])


def test_a_violated_claim_is_exit_code_1_with_its_counterexample(capsys):
    code, out, err = run(capsys, *MEDIAN, "--claim", "2", "--distances", "1-3")
    report = sl.audit(school(), "median", 2, size=6, neighbors="bounded", distances=range(1, 4))
    assert (code, err) == (1, "")
    assert out == f"{report}\n\n{report.counterexample(report.decisive)}\n"
    assert "\nx = [" in out
    assert report.verdict == "violated"


@pytest.mark.parametrize(
    ("claim", "verdict"), [("1/3", "tight"), ("0.5", "loose"), ("1e0", "loose"), ("2/6", "tight")]
)
def test_a_sound_claim_is_exit_code_0(capsys, claim, verdict):
    code, out, err = run(capsys, *MEAN, "--claim", claim)
    report = sl.audit(
        sl.Universe.from_domain([0, 1]),
        "mean",
        Fraction(claim),
        size=3,
        neighbors="bounded",
        distances=1,
    )
    assert (code, err) == (0, "")
    assert out.startswith(f"Audit of mean, bounded: {verdict}\n")
    assert out.splitlines()[1] == f"  setting  {report.setting}"
    assert out.count("\n") == 6


def test_a_claim_per_k_grows_with_the_distance(capsys):
    code, out, err = run(capsys, *MEAN, "--claim-per-k", "1/3", "--distances", "1,3")
    assert (code, err) == (0, "")
    assert out.splitlines()[2:5] == [
        "  k  claimed  truth               verdict",
        "  1  1/3      1/3 = 0.3333333333  tight",
        "  3  1        1                   tight",
    ]


def test_a_decimal_claim_is_exact(capsys):
    """0.1 times k is 3/10 at k = 3, which no float is."""
    arguments = ["--domain", "a=0,1", "--size", "10", "--query", "mean", "--neighbors", "bounded"]
    code, out, _ = run(capsys, "audit", *arguments, "--claim-per-k", "0.1", "--distances", "3")
    assert code == 0
    assert "  3  3/10     3/10 = 0.3  tight\n" in out


def test_exactly_and_in_one_direction(capsys):
    code, out, err = run(
        capsys,
        *("audit", "--domain", "a=1,10", "--query", "sum", "--size", "2", "--claim-per-k", "10"),
        *("--neighbors", "unbounded", "--direction", "add", "--exactly", "--distances", "2"),
        *("--method", "enumeration"),
    )
    assert (code, err) == (0, "")
    assert out.startswith("Audit of sum, unbounded (add): tight\n  setting  unbounded (add), exact")


@pytest.mark.further
@pytest.mark.representative
@pytest.mark.parametrize(
    ("name", "signature"), [("a.png", PNG), ("a.pdf", b"%PDF"), ("a.svg", b"<?xml")]
)
def test_a_picture_and_a_table_also_of_a_violated_claim(capsys, tmp_path, name, signature):
    picture, table = tmp_path / name, tmp_path / "table.csv"
    files = ["--output", str(picture), "--table", str(table)]
    code, _, err = run(capsys, *MEDIAN, "--claim", "3", "--distances", "1-3", *files)
    assert (code, err) == (1, "")
    assert picture.read_bytes().startswith(signature)
    written = pd.read_csv(table)
    assert list(written["distance"]) == [1, 2, 3]
    assert list(written["verdict"]) == ["loose", "violated", "violated"]


A_CLAIM = "a claim is written 2, 0.5 or 1/3, got"
NEGATIVE = "the claim at distance 1 must be a number that is not negative, got"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--claim", "much"], f"{A_CLAIM} 'much'"),
        (["--claim", ""], f"{A_CLAIM} ''"),
        (["--claim", "1/0"], f"{A_CLAIM} '1/0'"),
        (["--claim", "1/2/3"], f"{A_CLAIM} '1/2/3'"),
        (["--claim", "nan"], f"{A_CLAIM} 'nan'"),
        (["--claim", "inf"], f"{A_CLAIM} 'inf'"),
        (["--claim-per-k", "1e999999999"], f"{A_CLAIM} '1e999999999'"),
        (["--claim", "1e-999999999"], f"{A_CLAIM} '1e-999999999'"),
        (["--claim", "-1"], f"{NEGATIVE} -1"),
        (["--claim-per-k=-1/2"], f"{NEGATIVE} Fraction(-1, 2)"),
        (
            ["--claim", "1", "--distances", "2-1"],
            "distances are written 1-4 or 1,2,5, from small to large, got '2-1'",
        ),
        (
            ["--claim", "1", "--direction", "add"],
            "--direction goes with --neighbors unbounded, not bounded",
        ),
        (
            ["--claim", "1", "--domain", "b=1,2"],
            "choose one column with --column: a, b",
        ),
        (
            ["--claim", "1", "--output", "plot.jpg"],
            "--output: 'plot.jpg' ends in '.jpg'; use .pdf, .png or .svg",
        ),
        (
            ["--claim", "1", "--table", "missing/table.csv"],
            "cannot write 'missing/table.csv': 'missing' is not a folder that can be written to",
        ),
    ],
)
def test_bad_input_is_exit_code_2(capsys, monkeypatch, arguments, reason):
    def never(*_arguments, **_options):
        raise AssertionError("the search has started")

    # By its name, the module would be the function that the front door shows in its place.
    monkeypatch.setattr(sys.modules["sensitivity_lab.audits.searched"], "sensitivity_curves", never)
    check_refused(capsys, [*MEAN, *arguments], f"sensitivity-lab audit: {reason}")


def test_a_claim_beyond_the_range_of_floats(capsys):
    code, out, err = run(capsys, *MEAN, "--claim", "1e399")
    assert (code, err) == (0, "")
    assert "  1  1e+399   1/3 = 0.3333333333  loose (claim / truth = inf)\n" in out


def test_a_witness_of_thousands_of_records_is_shortened(capsys):
    """5,000 records are 15 kB each; what is printed is about the one that differs."""
    many = ["--domain", "a=0,1", "--size", "5000", "--query", "sum", "--neighbors", "unbounded"]
    code, out, err = run(capsys, "audit", *many, "--claim", "1/2")
    assert (code, err) == (1, "")
    assert len(out) < 1500
    assert "\n  x  (changed: 1; shared: " in out
    assert "\nx = (changed: 1; shared: " in out
    assert ", ... and 4,991 more)" in out
    assert out.endswith("(shortened; --json prints the datasets whole)\n")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "one of the arguments --claim --claim-per-k is required"),
        (
            ["--claim", "1", "--claim-per-k", "1"],
            "argument --claim-per-k: not allowed with argument --claim",
        ),
    ],
)
def test_one_claim_is_wanted(capsys, arguments, reason):
    check_refused(capsys, [*MEAN, *arguments], f"sensitivity-lab audit: {reason}")


def test_witnesses_in_the_table_are_short(capsys, tmp_path):
    table = tmp_path / "table.csv"
    asked = ("audit", "--domain", "a=0,1", "--size", "40", "--query", "mean", "--claim", "1")
    assert run(capsys, *asked, "--neighbors", "bounded", "--table", str(table))[::2] == (0, "")
    short = "(changed: 1; shared: 0, 0, 0, 0, 0, 0, 0, 0, ... and 31 more)"
    assert pd.read_csv(table)["x"][0] == short
