"""`sensitivity-lab histogram` and `noise`."""

from __future__ import annotations

import json
import math

import pytest
from command_line import PNG, SCHOOL, check_refused, run

WARDS = ("--domain", "ward=north,south,east", "--size", "50", "--neighbors", "bounded")


@pytest.mark.parametrize(
    ("norm", "value"), [("L1", 2), ("L2", math.nextafter(math.sqrt(2), 2)), ("Linf", 1)]
)
def test_a_replaced_record_moves_two_counts(capsys, norm, value):
    code, out, err = run(capsys, "histogram", *WARDS, "--norm", norm, "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["norm"], told["size"]) == (norm, 50)
    assert math.isclose(told["upper"], value, rel_tol=1e-15)
    assert len(told["query_x"]) == 3


@pytest.mark.parametrize(
    ("counted", "value"),
    [
        (("--bins", "0", "5", "10", "20"), 2),
        (("--bins", "100", "200"), 0),
        (("--categories", "1", "20"), 2),
        (("--categories", "1"), 1),
    ],
)
def test_bins_and_categories_of_a_file(capsys, counted, value):
    """Categories are numbers where the column has numbers."""
    asked = ("--column", "absence_days", "--size", "6", "--neighbors", "bounded")
    code, out, err = run(capsys, "histogram", SCHOOL, *asked, *counted)
    assert (code, err) == (0, "")
    assert out.endswith(f"\n  value      {value}.0\n  exact      {value}\n  upper      {value}.0\n")


def test_categories_that_are_texts(capsys):
    asked = ("--column", "name", "--size", "4", "--neighbors", "unbounded", "--distances", "2")
    code, out, err = run(capsys, "histogram", SCHOOL, *asked, "--categories", "Chris", "Kelly")
    assert (code, err) == (0, "")
    assert out.endswith("\n  value      2.0\n  exact      2\n  upper      2.0\n")


@pytest.mark.exhaustive
def test_a_picture_of_both_histograms(capsys, tmp_path):
    picture = tmp_path / "h.png"
    assert run(capsys, "histogram", *WARDS, "--output", str(picture))[::2] == (0, "")
    assert picture.read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (
            (SCHOOL, "--column", "name", "--size", "4", "--neighbors", "bounded"),
            "give what is counted with --categories or --bins; they must not depend on the data",
        ),
        (
            (SCHOOL, "--size", "4", "--neighbors", "bounded", "--categories", "1"),
            "choose one column with --column: name, school_year, absence_days",
        ),
        (
            (*WARDS, "--bins", "1", "2"),
            "column 'ward' has the value 'east', which cannot be compared with --bins; give "
            "--categories",
        ),
        (
            (*WARDS, "--bins", "1", "x"),
            "an edge of --bins is written 2, 0.5 or 1/3, got 'x'",
        ),
        (
            (*WARDS, "--categories", "north", "north"),
            "--categories must be distinct, got 'north' more than once",
        ),
        (("--domain", "a=1:x", *WARDS[2:]), "a domain has numbers, got 'x'"),
    ],
)
def test_bad_histograms(capsys, arguments, reason):
    check_refused(capsys, ["histogram", *arguments], f"sensitivity-lab histogram: {reason}")


AGES = ("--domain", "age=0:100", "--size", "100", "--neighbors", "bounded")
PRINTED = """\
Laplace noise of 2 answers, epsilon 1 in all
        sensitivity  epsilon  scale  expected_error
mean              1      0.5      2               2
median           50      0.5    100             100
  neighbors  bounded, at most 1; size 100
"""


def test_noise_is_sensitivity_over_epsilon(capsys):
    asked = ("--queries", "mean", "median", "--epsilon", "1")
    assert run(capsys, "noise", *AGES, *asked) == (0, PRINTED, "")


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


def test_noise_over_a_file_says_that_its_records_become_public(capsys):
    asked = ("--columns", "absence_days", "--query", "mean", "--size", "6", "--epsilon", "1")
    code, out, err = run(capsys, "noise", SCHOOL, *asked, "--neighbors", "bounded")
    assert (code, err) == (0, "")
    assert out.endswith(
        "  note       the universe is the file's records, which this makes public; for a release "
        "of private data give --domain\n"
    )


def test_beside_json_the_note_is_on_standard_error(capsys):
    asked = ("--columns", "absence_days", "--query", "mean", "--size", "6", "--epsilon", "1")
    code, out, err = run(capsys, "noise", SCHOOL, *asked, "--neighbors", "bounded", "--json")
    assert (code, json.loads(out)["epsilon"]) == (0, 1)
    assert err == (
        "sensitivity-lab noise: the universe is the file's records, which this makes public; for a "
        "release of private data give --domain\n"
    )


@pytest.mark.parametrize(("damping", "noted"), [("--epsilon", True), ("--beta", False)])
def test_smooth_notes_a_file_where_it_tells_a_scale_of_noise(capsys, damping, noted):
    asked = ("--column", "absence_days", "--query", "median", "--dataset", "2,3,4", damping, "1")
    code, out, err = run(capsys, "smooth", SCHOOL, *asked, "--neighbors", "bounded")
    assert (code, err) == (0, "")
    assert ("the universe is the file's records" in out) == noted


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
            "--split must be a number above 0 for each result: 1 results, got 2 numbers",
        ),
        (
            ("--epsilon", "1", "--split", "0"),
            "--split: the share of 'mean' must be a finite number above 0, got 0",
        ),
        (
            ("--epsilon", "1", "--distances", "1,2"),
            "noise takes one distance, got '1,2'; choose one, or ask `sensitivity-lab curves` for "
            "several",
        ),
    ],
)
def test_bad_noise(capsys, arguments, reason):
    line = f"sensitivity-lab noise: {reason}"
    check_refused(capsys, ["noise", *AGES, "--query", "mean", *arguments], line)
