"""CSV files and domains: every number exactly as it is written."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from checks import refused

import sensitivity_lab as sl
from sensitivity_lab.cli.option_values import read_domain
from sensitivity_lab.csv_files import exact_number, read_cells

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


def read_table(path) -> dict[str, list]:
    """The entries of a file's columns."""
    cells = read_cells(Path(path))
    return {name: cells.entries(name) for name in cells.columns}


def test_numbers_of_a_file_are_exact(table):
    """2**53 + 1 is no float, and 0.1 + 0.2 is 0.3 here."""
    table(f"a\n{LARGE}\n0.5\n2\n0.1\n")
    assert read_table("table.csv") == {"a": [LARGE, Decimal("0.5"), 2, Decimal("0.1")]}


def test_the_entries_of_a_table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(",NA,b\n1,x,TRUE\n\n 2 ,,False\n-Inf,N/A\n0.50,'1,1_000\n")
    read = read_table(path)
    assert list(read) == ["Unnamed: 0", "NA", "b"]
    assert read["Unnamed: 0"] == [1, 2, -math.inf, Decimal("0.5")]
    assert read["b"][:2] == [True, False]
    assert read["b"][3] == "1_000"
    assert [entry for entry in read["NA"] if entry == entry] == ["x", "'1"]
    assert math.isnan(read["b"][2])


def test_a_number_with_underscores_is_a_text(table):
    table("a\n1_000\n2\n3\n")
    assert read_table("table.csv") == {"a": ["1_000", 2, 3]}


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
def test_tables_that_are_refused(table, text, reason):
    table(text)
    refused(lambda: read_table("table.csv"), reason)


def test_a_text_that_reads_as_a_huge_number_harms_nobody(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,a\n12e4567890,1\nf00,2\n")
    assert read_table(path)["a"] == [1, 2]


def test_the_shipped_domain_is_no_csv_file():
    file = str(sl.article.DATA / "driver_domain.json")
    refused(
        lambda: read_table(file),
        f"{file!r} is not a CSV file; write the values of a domain as --domain NAME=VALUES, "
        "such as --domain mood=1,2",
    )


def test_a_range_of_many_digits_is_exact():
    """With Python's 28 digits, the values would all be 10**40."""
    first = 10**40
    name, values = read_domain(f"a={first}.1:{first}.2:0.1")
    assert (name, [Fraction(value) - first for value in values]) == (
        "a",
        [Fraction(1, 10), Fraction(2, 10)],
    )


@pytest.mark.parametrize(
    ("domain", "values"),
    [
        ("3,1,2", [3, 1, 2]),
        ("-1,0.5", [-1, Decimal("0.5")]),
        ("15:30:0.5", [Decimal(half) / 2 for half in range(30, 61)]),
        ("1:3", [1, 2, 3]),
        ("0-2", [0, 1, 2]),
        ("-2:2:2", [-2, 0, 2]),
        ("0:0.9:0.3", [Decimal(tenths) / 10 for tenths in (0, 3, 6, 9)]),
        ("0.1:0.3:0.1", [Decimal(tenths) / 10 for tenths in (1, 2, 3)]),
        ("4:4", [4]),
    ],
)
def test_forms_of_a_domain(domain, values):
    assert read_domain(f"a={domain}") == ("a", values)


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
    assert read_table(path) == {
        "name": ["Roe, Jo", "b", "c", "d"],
        "weight": [Decimal("2.5"), Decimal("1.5"), 1000, Decimal("0.5")],
    }


def test_a_comma_between_columns_is_no_decimal_comma(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('name;x,weight\na,"1,000"\n')
    assert read_table(path) == {"name;x": ["a"], "weight": ["1,000"]}


NOT_READ = "cannot read 'table.csv' as a CSV file: it"


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("encoding", "said"), [("utf-16", "UTF-16"), ("latin-1", "LATIN1"), ("cp1252", "LATIN1")]
)
def test_a_table_in_another_encoding_says_how_to_convert_it(encoding, said):
    Path("table.csv").write_bytes("größe\n1\n2\n".encode(encoding))
    line = f"is not encoded in UTF-8, but perhaps in {said}; save it as UTF-8, or convert it:"
    refused(lambda: read_table("table.csv"), f"{NOT_READ} {line} iconv -f {said} -t UTF-8")


def test_a_device_without_end_is_refused():
    line = (
        "cannot read '/dev/zero' as a CSV file: its first 16,777,216 "
        "bytes have no end of a line, so it has no columns"
    )
    refused(lambda: read_table("/dev/zero"), line)


def test_tables_of_too_many_bytes_or_columns_are_refused(table, monkeypatch):
    table(",".join(f"a{i}" for i in range(10_001)) + "\n")
    more = "columns, more than 10,000; write the columns that you need to another file"
    refused(lambda: read_table("table.csv"), f"{NOT_READ} has 10,001 {more}")
    monkeypatch.setattr("sensitivity_lab.csv_files._LONGEST_LINE", 3)
    monkeypatch.setattr("sensitivity_lab.csv_files._MOST_BYTES", 4)
    table("a\n1\n2\n")
    more = "or more; give fewer rows, or only the columns you need"
    refused(lambda: read_table("table.csv"), f"{NOT_READ} has 4 bytes {more}")
