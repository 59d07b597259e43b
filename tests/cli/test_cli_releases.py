"""`sensitivity-lab noise`, and sizes from nobody on."""

from __future__ import annotations

import json
import math

import pytest
from command_line import SCHOOL, check_refused, run

AGES = ("--domain", "age=0:100", "--size", "100", "--neighbors", "bounded")
PRINTED = """\
Laplace noise of 2 answers, epsilon 1 in all
        sensitivity  epsilon  scale  expected_error
mean              1      0.5      2               2
median           50      0.5    100             100
  neighbors  bounded, at most 1; size 100 (public)
  domain     clip the values to it before you compute the answers
  size       public: neighbors have the same number of rows, so nothing hides it
"""


def test_noise_is_sensitivity_over_epsilon(capsys):
    asked = ("--queries", "mean", "median", "--epsilon", "1")
    assert run(capsys, "noise", *AGES, *asked) == (0, PRINTED, "")


def test_a_size_that_nothing_hides_is_said_to_be_public(capsys):
    """The count has no noise then. Public rows of a file need no clipping."""
    _, out, _ = run(capsys, "noise", *AGES, "--query", "count", "--epsilon", "1")
    assert PRINTED.splitlines()[-1] in out.splitlines()
    _, out, _ = run(capsys, *ASKED_OF_A_FILE, "--public-universe")
    assert out.endswith(f"; size 6 (public)\n{PRINTED.splitlines()[-1]}\n")
    _, out, _ = run(capsys, *UNBOUNDED, "--size", "2-9", "--query", "count")
    assert out.endswith(f"; size any of 2 to 9\n{CLIPPED}")


def test_noise_for_a_person_with_several_records_and_shares(capsys):
    asked = ("--query", "mean", "sum", "--epsilon", "1", "--distance", "3", "--split", "1", "3")
    code, out, err = run(capsys, "noise", *AGES, *asked, "--json")
    assert (code, err) == (0, "")
    told = [(row["sensitivity"], row["epsilon"], row["scale"]) for row in json.loads(out)["rows"]]
    assert told == [(3, 0.25, 12), (300, 0.75, 400)]


def test_gaussian_noise(capsys):
    code, out, err = run(
        capsys, "noise", *AGES, "--query", "mean", "--epsilon", "1", "--delta", "1e-6", "--json"
    )
    assert (code, err) == (0, "")
    (row,) = json.loads(out)["rows"]
    # Theorem 8 of Balle and Wang: the smallest sigma whose loss is at most delta.
    sigma = row["scale"]

    def chance(scale: float) -> float:
        a, b = 1 / (2 * scale), scale
        phi = [0.5 * math.erfc(-z / math.sqrt(2)) for z in (a - b, -a - b)]
        return phi[0] - math.e * phi[1]

    assert row["noise"] == "Gaussian"
    assert chance(sigma) <= 1e-6 * (1 + 1e-6) < chance(sigma * 0.999)


ASKED_OF_A_FILE = (
    *("noise", SCHOOL, "--neighbors", "bounded", "--epsilon", "1"),
    *("--query", "median", "--columns", "absence_days", "--size", "6"),
)
PRIVATE_ROWS = (
    "the rows of a file are private unless you say otherwise, and noise scaled to a universe of "
    "them protects nobody; give the possible values with --domain NAME=SMALLEST:LARGEST, "
    "chosen without looking at the data (such as the ends of a scale or a legal limit), or, if "
    "these very rows are public, --public-universe"
)


def test_noise_over_a_file_has_to_be_asked_for_in_so_many_words(capsys):
    check_refused(capsys, ASKED_OF_A_FILE, f"sensitivity-lab noise: {PRIVATE_ROWS}")
    code, out, err = run(capsys, *ASKED_OF_A_FILE, "--public-universe")
    assert (code, err) == (0, "")
    assert "note" not in out
    assert "scale" in out


UNBOUNDED = ("noise", "--domain", "age=0:10", "--neighbors", "unbounded", "--epsilon", "1")


@pytest.mark.parametrize(
    ("size", "scale"), [("2-1000", 5), ("2,3,7", 5), ("100", pytest.approx(10 / 100))]
)
def test_noise_takes_ranges_of_sizes(capsys, size, scale):
    """Of two records, one of 10 and one of 0, one leaves: the mean moves by 5."""
    code, out, _ = run(capsys, *UNBOUNDED, "--size", size, "--query", "mean", "--json")
    told = json.loads(out)
    assert (code, told["rows"][0]["scale"]) == (0, scale)
    expected = {"2-1000": list(range(2, 1001)), "2,3,7": [2, 3, 7], "100": 100}
    assert told["size"] == expected[size]


CLIPPED = "  domain     clip the values to it before you compute the answers\n"
PRIVATE_SIZE = (
    "results['mean']: neighbors (unbounded, at most 1) have different numbers of records, so that "
    "number is private, but the result is for size 100 only: the noise would reveal that number, "
    "and be too small for the others. Pass every size that the data can have, such "
    "as --size 1-1000"
)


@pytest.mark.exhaustive
def test_noise_notes_one_size_where_sizes_are_private(capsys):
    asked = (*UNBOUNDED, "--size", "100", "--queries", "mean", "count")
    code, out, err = run(capsys, *asked)
    assert (code, err) == (0, "")
    assert out.endswith(f"; size 100\n{CLIPPED}  note       {PRIVATE_SIZE}\n")
    code, out, err = run(capsys, *asked, "--json")
    assert (code, err) == (0, f"sensitivity-lab noise: {PRIVATE_SIZE}\n")
    assert json.loads(out)["size"] == 100
    code, out, err = run(capsys, *asked[:-2], "count")
    assert (code, err, "note" in out) == (0, "", False)
    assert run(capsys, *UNBOUNDED, "--size", "1-1000", "--query", "mean")[2] == ""


@pytest.mark.parametrize("k", [1, 5, pytest.param(700, marks=pytest.mark.stress)])
def test_the_sizes_that_the_note_names_are_feasible(capsys, k):
    asked = (*UNBOUNDED, "--distance", str(k), "--query", "mean", "--size")
    _, out, _ = run(capsys, *asked, "1000")
    named = out.split("such as --size ")[1].strip()
    assert named == f"1-{max(1000, 2 * k)}"
    assert run(capsys, *asked, named)[::2] == (0, "")


def test_noise_notes_few_copies(capsys):
    few = ("noise", "--domain", "age=0:10", "--copies", "2", "--neighbors", "bounded", "--size")
    code, out, err = run(capsys, *few, "9", "--query", "median", "--epsilon", "1")
    assert (code, err) == (0, "")
    assert out.endswith(
        "  note       results['median']: the universe has at most 2 copies of a record, and a "
        "dataset of up to 9 records can hold more, so the sensitivity holds only among datasets "
        "that do not: noise scaled to it protects nobody unless that limit is public and true of "
        "all data. For private data leave out --copies, or give --copies 9; if the limit is "
        "public, give --public-universe\n"
    )
    asked = (*few, "9", "--query", "median", "--epsilon", "1", "--public-universe")
    assert "note" not in run(capsys, *asked)[1]


@pytest.mark.parametrize("size", ["", "x", "5-2", "2-", "1.5"])
def test_a_size_that_is_none(capsys, size):
    check_refused(
        capsys,
        [*UNBOUNDED, "--size", size, "--query", "mean"],
        f"sensitivity-lab noise: --size is written 100, 2-1000 or 2,5,9, from small to large, got "
        f"{size!r}",
    )


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--epsilon", "0"), "--epsilon must be a finite number above 0, got 0"),
        (("--epsilon", "x"), "--epsilon is written 2, 0.5 or 1/3, got 'x'"),
        (
            ("--epsilon", "1", "--delta", "2"),
            "--delta must be a number from 1e-100 to 0.5, got 2",
        ),
        (
            ("--epsilon", "1", "--split", "1", "2"),
            "--split must be a number above 0 for each result; the results, in order: 'mean'; got "
            "2 numbers",
        ),
        (
            ("--epsilon", "1", "--query", "mean", "histogram"),
            "unknown query 'histogram'; replacing a record moves two of its counts by 1, adding or "
            "removing one moves one; for its noise give `sensitivity-lab noise` a table and a "
            "domain",
        ),
        (
            ("--epsilon", "1", "--split", "0"),
            "--split: the share of 'mean' must be a finite number above 0, got 0",
        ),
        (
            ("--epsilon", "1", "--distances", "1,2"),
            "noise takes one distance, got '1,2'; choose one; `sensitivity-lab curves` takes "
            "several, for all datasets",
        ),
    ],
)
def test_bad_noise(capsys, arguments, reason):
    line = f"sensitivity-lab noise: {reason}"
    check_refused(capsys, ["noise", *AGES, "--query", "mean", *arguments], line)


FIFTIES = ("--domain", "age=50:60", "--neighbors", "unbounded")


@pytest.mark.parametrize(
    ("asked", "upper"),
    [
        # From a record of 60 to nobody, whose mean is 0; without that, from 1 record to 2.
        (("--query", "mean", "--size", "0-9", "--empty", "0"), 60),
        (("--query", "mean", "--size", "1-9"), 5),
        (("--query", "median", "--size", "0,1", "--empty", "55"), 5),
        (("--query", "count", "--size", "0"), 1),
    ],
)
def test_sizes_from_nobody_on(capsys, asked, upper):
    code, out, err = run(capsys, "sensitivity", *FIFTIES, *asked, "--json")
    assert (code, err, json.loads(out)["upper"]) == (0, "", upper)


def test_noise_for_nobody_too(capsys):
    """A query that has an answer on nobody takes no other."""
    asked = ("noise", *FIFTIES, "--size", "0-9", "--epsilon", "1", "--queries", "mean", "count")
    code, out, err = run(capsys, *asked, "--empty", "55", "--json")
    assert (code, err) == (0, "")
    assert {row["name"]: row["scale"] for row in json.loads(out)["rows"]} == {
        "mean": 10,
        "count": 2,
    }
    check_refused(
        capsys,
        asked,
        "sensitivity-lab noise: column 'age': mean needs at least 1 record, got size 0; leave out "
        "smaller sizes, or say the answer for fewer, --empty VALUE, which is then public",
    )
    check_refused(
        capsys,
        [*asked[:-2], "count", "--empty", "55"],
        "sensitivity-lab noise: --empty is the answer of a query on too few records, and count has "
        "an answer for any number of them; leave it out",
    )
