"""CSV files and domains on the command line: every number exactly as it is written."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from checks import refused
from command_line import MEAN_OF_TWO, check_refused, run

import sensitivity_lab as sl
from sensitivity_lab.cli.option_values import read_domain
from sensitivity_lab.csv_files import exact_number, read_table

LARGE = 2**53 + 1


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Write a CSV file called table.csv in the working folder."""
    monkeypatch.chdir(tmp_path)
    return (tmp_path / "table.csv").write_text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("9007199254740993", LARGE),
        ("-7", -7),
        ("+7", 7),
        (" 7 ", 7),
        ("7.", 7),
        ("7.00", 7),
        ("7e2", 700),
        ("0e999999999", 0),
        ("0.1", Decimal("0.1")),
        (".5", Decimal("0.5")),
        ("0.1000000000000000055511151231257827021181583404541015625", Decimal.from_float(0.1)),
        ("9007199254740993.5", Decimal("9007199254740993.5")),
        ("1_000", None),
        ("1,000", None),
        ("\u0661", None),
        ("1e5_0", None),
        ("0x10", None),
        ("", None),
        (".", None),
        ("nan", None),
    ],
)
def test_what_is_a_number(text, number):
    assert exact_number(text) == number
    assert type(exact_number(text)) is type(number)


def test_a_whole_number_of_many_digits_beside_a_decimal_is_not_rounded(capsys, table):
    """2**53 + 1 is no float: rounded, the answer and its upper bound would be too small."""
    table(f"a\n{LARGE}\n0.5\n2\n")
    arguments = ["--query", "max", "--size", "1", "--neighbors", "bounded"]
    code, out, err = run(capsys, "sensitivity", "table.csv", *arguments)
    truth = LARGE - Fraction(1, 2)
    assert (code, err) == (0, "")
    assert out.splitlines()[-2:] == [f"  exact      {truth}", "  upper      9007199254740994.0"]
    assert Fraction(9007199254740994.0) >= truth > Fraction(math.nextafter(9007199254740994.0, 0))


def test_decimals_of_a_file_are_exact(capsys, table):
    """0.1 + 0.2 is 0.3 here, and the sum of two records changes by 1/5."""
    table("a\n0.1\n0.2\n0.3\n")
    arguments = ["--query", "sum", "--size", "2", "--neighbors", "unbounded", "--direction", "add"]
    code, out, err = run(capsys, "sensitivity", "table.csv", *arguments, "--distance", "1")
    assert (code, err) == (0, "")
    assert out.splitlines()[-2:] == ["  exact      3/10", "  upper      0.30000000000000004"]


def test_the_entries_of_a_table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(",NA,b\n1,x,TRUE\n\n 2 ,,False\n-Inf,N/A\n0.50,'1,1_000\n")
    read = {name: column.tolist() for name, column in read_table(path).items()}
    assert list(read) == ["Unnamed: 0", "NA", "b"]
    assert read["Unnamed: 0"] == [1, 2, -math.inf, Decimal("0.5")]
    assert read["b"][:2] == [True, False]
    assert read["b"][3] == "1_000"
    assert [entry for entry in read["NA"] if entry == entry] == ["x", "'1"]
    assert math.isnan(read["b"][2])


def test_a_number_with_underscores_is_a_text(capsys, table):
    table("a\n1_000\n2\n3\n")
    reason = (
        "column 'a': a record must be a number, got '1_000' at position 0; give a numeric column"
    )
    check_refused(
        capsys,
        ["sensitivity", "table.csv", "--column", "a", *MEAN_OF_TWO],
        f"sensitivity-lab sensitivity: {reason}",
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "a,a,b\n1,2,3\n",
            "the first line of 'table.csv' names 'a' more than once; give every column its "
            "own name",
        ),
        (
            "b,a,b,a\n1,2,3,4\n",
            "the first line of 'table.csv' names 'a', 'b' more than once; give every column its "
            "own name",
        ),
        ("1,2\n3,4\n", "the first line of 'table.csv' must name the columns, got '1'"),
        ("a,0.5\n3,4\n", "the first line of 'table.csv' must name the columns, got '0.5'"),
        ("a,nan\n3,4\n", "the first line of 'table.csv' must name the columns, got 'nan'"),
        (
            "a\n1\n1e999999999\n",
            "column 'a': numbers have exponents up to 400, got '1e999999999' at position 1",
        ),
        (
            "a\n1e-401\n1\n",
            "column 'a': numbers have exponents up to 400, got '1e-401' at position 0",
        ),
        (
            "a\n1,\n2,\n",
            "cannot read 'table.csv' as a CSV file: Error tokenizing data. C error: Expected 1 "
            "fields in line 2, saw 2",
        ),
    ],
)
def test_tables_that_are_refused(capsys, table, text, reason):
    table(text)
    arguments = ["sensitivity", "table.csv", *MEAN_OF_TWO]
    check_refused(capsys, arguments, f"sensitivity-lab sensitivity: {reason}")


def test_a_text_that_reads_as_a_huge_number_harms_nobody(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,a\n12e4567890,1\nf00,2\n")
    assert read_table(path)["a"].tolist() == [1, 2]


def test_the_shipped_domain_is_no_csv_file(capsys):
    file = str(sl.article.DATA / "driver_domain.json")
    reason = (
        f"{file!r} is not a CSV file; write the values of a domain as --domain NAME=VALUES, "
        "such as --domain mood=1,2"
    )
    arguments = ["sensitivity", file, *MEAN_OF_TWO]
    check_refused(capsys, arguments, f"sensitivity-lab sensitivity: {reason}")


def test_a_range_of_many_digits_is_exact(capsys):
    """The sum changes by 1/10 here; with Python's 28 digits, the values would all be 10**40."""
    first = 10**40
    arguments = ["--domain", f"a={first}.1:{first}.2:0.1", *MEAN_OF_TWO, "--query", "sum"]
    code, out, err = run(capsys, "sensitivity", *arguments)
    assert (code, err) == (0, "")
    assert out.splitlines()[-2] == "  exact      1/10"


@pytest.mark.exhaustive
def test_a_long_domain_is_read_in_one_pass(monkeypatch):
    """Each of 30,000 values is compared with few others, not with all."""
    compared = []

    class Counted(int):
        __hash__ = int.__hash__

        def __eq__(self, other):
            compared.append(1)
            return int(self) == int(other)

    monkeypatch.setattr(
        "sensitivity_lab.cli.option_values.exact_number", lambda text: Counted(exact_number(text))
    )
    values = ",".join(map(str, range(30_000)))
    name, listed = read_domain(f"a={values}")
    assert (name, listed) == ("a", list(range(30_000)))
    assert len(compared) < 100_000
    refused(
        lambda: read_domain(f"a={values},7"), "the domain 'a' lists 7 twice; list every value once"
    )


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_and_decimal_commas(tmp_path, separator):
    path = tmp_path / "table.csv"
    rows = ("name", "weight"), ("Roe, Jo", "2,5"), ("b", "1.5"), ("c", "1e3"), ("d", ",5")
    path.write_text("".join(separator.join(row) + "\n" for row in rows))
    assert read_table(path).to_dict("list") == {
        "name": ["Roe, Jo", "b", "c", "d"],
        "weight": [Decimal("2.5"), Decimal("1.5"), 1000, Decimal("0.5")],
    }


def test_a_comma_between_columns_is_no_decimal_comma(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('name;x,weight\na,"1,000"\n')
    assert read_table(path).to_dict("list") == {"name;x": ["a"], "weight": ["1,000"]}


NOT_READ = "sensitivity-lab sensitivity: cannot read 'table.csv' as a CSV file: it"
ASKED = ["sensitivity", "table.csv", *MEAN_OF_TWO]


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("encoding", "said"), [("utf-16", "UTF-16"), ("latin-1", "LATIN1"), ("cp1252", "LATIN1")]
)
def test_a_table_in_another_encoding_says_how_to_convert_it(capsys, encoding, said):
    Path("table.csv").write_bytes("größe\n1\n2\n".encode(encoding))
    line = f"is not encoded in UTF-8, but perhaps in {said}; save it as UTF-8, or convert it:"
    check_refused(capsys, ASKED, f"{NOT_READ} {line} iconv -f {said} -t UTF-8")


def test_a_device_without_end_is_refused(capsys):
    line = (
        "sensitivity-lab sensitivity: cannot read '/dev/zero' as a CSV file: its first 16,777,216 "
        "bytes have no end of a line, so it has no columns"
    )
    check_refused(capsys, ["sensitivity", "/dev/zero", *MEAN_OF_TWO], line)


def test_tables_of_too_many_bytes_or_columns_are_refused(capsys, table, monkeypatch):
    table(",".join(f"a{i}" for i in range(10_001)) + "\n")
    more = "columns, more than 10,000; write the columns that you need to another file"
    check_refused(capsys, ASKED, f"{NOT_READ} has 10,001 {more}")
    monkeypatch.setattr("sensitivity_lab.csv_files._LONGEST_LINE", 3)
    monkeypatch.setattr("sensitivity_lab.csv_files._MOST_BYTES", 4)
    table("a\n1\n2\n")
    more = "or more; give fewer rows, or only the columns you need"
    check_refused(capsys, ASKED, f"{NOT_READ} has 4 bytes {more}")


COMMAS = "several distances or sizes are written with commas, such as --distances 1,2"


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (("2",), f" curves: there is no file '2'; {COMMAS}"),
        (("2", "3"), f": unrecognized arguments: 3; {COMMAS}"),
    ],
)
def test_several_distances_are_written_with_commas(capsys, more, reason):
    asked = ["--queries", "mean", "--size", "2", "--neighbors", "bounded", "--distances", "1"]
    for source in (["--domain", "a=1:5"], []):
        check_refused(capsys, ["curves", *source, *asked, *more], f"sensitivity-lab{reason}")


def test_one_column_and_several_have_both_spellings(capsys, table):
    table("a,b\n1,5\n2,6\n3,7\n")
    for command, more in (
        ("sensitivity", ("--query", "mean")),
        ("curves", ("--queries", "mean", "--distances", "1")),
    ):
        asked = (command, "table.csv", "--size", "2", "--neighbors", "bounded", *more)
        one, other = (run(capsys, *asked, name, "b") for name in ("--column", "--columns"))
        assert one == other
        assert one[0] == 0
