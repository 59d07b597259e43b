"""Errors and reprs show no cell of the data and no person, and what was opened is closed."""

from __future__ import annotations

import gc
import sqlite3
import warnings

import pandas as pd
import pytest

from sensitivity_lab.errors import InputError, QueryError, SensitivityLabError

duckdb = pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

from sensitivity_lab.sql import Query  # noqa: E402 - after the check of the extra

pytestmark = pytest.mark.sql

CELL = "HIV positive"
ROWS = pd.DataFrame(
    {"who": ["Zoe Quist"] * 2 + ["Al Uvw"], "note": [CELL, "7", "8"], "n": [1, 2, 3]}
)


def query(text: str, **given) -> Query:
    return Query(text, **{"connection": {"t": ROWS}, "person": "t.who", **given})


def chain_of_errors(error: BaseException | None) -> list[BaseException]:
    found: list[BaseException] = []
    while error is not None and error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def check_no_cell(error: BaseException, cell: str = CELL) -> None:
    for one in chain_of_errors(error):
        assert isinstance(one, SensitivityLabError), one
        assert cell not in repr(one) + str(one), one
        assert one.__context__ is None or isinstance(one.__context__, SensitivityLabError)


CALLS = [
    lambda asked: asked.answer(),
    lambda asked: asked.contributions(),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "text",
    [
        "SELECT SUM(CAST(note AS INTEGER)) AS s FROM t",
        "SELECT COUNT(*) AS s FROM t WHERE CAST(note AS DATE) > DATE '2020-01-01'",
        "SELECT COUNT(*) AS s FROM t WHERE CAST(note AS BOOLEAN)",
        "SELECT COUNT(*) AS s FROM t WHERE CAST(note AS DECIMAL(4, 2)) > 1",
    ],
)
def test_an_error_of_the_data_quotes_no_cell(text, call):
    with pytest.raises(QueryError) as caught:
        call(query(text))
    check_no_cell(caught.value)
    assert str(caught.value) == (
        "the query failed on the data: Conversion Error, of values that are not shown here; mend "
        "them in the table, or use TRY_CAST, which is NULL where CAST fails"
    )


@pytest.mark.parametrize("cell", ["no space left", "disk full", "could not write"])
def test_a_cell_that_reads_like_a_full_disk_is_a_cell(cell):
    rows = pd.DataFrame({"who": [1, 2], "note": [cell, "7"]})
    asked = Query(
        "SELECT SUM(CAST(note AS INTEGER)) FROM t", connection={"t": rows}, person="t.who"
    )
    with pytest.raises(QueryError) as caught:
        asked.contributions()
    check_no_cell(caught.value, cell)


def test_a_large_float_is_not_shown():
    rows = pd.DataFrame({"who": [1, 2], "x": [1.2345e300, 1]})
    asked = Query("SELECT SUM(x) FROM t", connection={"t": rows}, person="t.who")
    with pytest.raises(QueryError) as caught:
        asked.contributions()
    check_no_cell(caught.value, "1.2345")


def test_a_file_that_cannot_be_read_quotes_no_line(tmp_path):
    file = tmp_path / "t.csv"
    lines = ["who,note", *["1,2"] * 30_000, f"3,{CELL}", *["1,2"] * 10]
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(SensitivityLabError) as caught:
        Query(
            "SELECT SUM(note) FROM t",
            connection={"t": file},
            person="t.who",
        )
    check_no_cell(caught.value)


def test_a_text_of_sqlite_that_cannot_be_decoded_is_not_shown():
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (who INTEGER, note TEXT)")
    base.execute("INSERT INTO t VALUES (1, CAST(x'484956ff' AS TEXT))")
    with pytest.raises(InputError) as caught:
        Query("SELECT COUNT(note) FROM t", connection=base, person="t.who")
    check_no_cell(caught.value, "HIV")
    assert str(caught.value).startswith("connection: SQLite refuses to read: Could not decode")


def test_no_repr_shows_a_person_or_a_row():
    asked = query(
        "SELECT COUNT(*) AS c, SUM(n) AS s FROM t WHERE note <> 'x'",
        bounds={"t.n": (0, 5)},
    )
    found = asked.contributions()
    for one in (asked, found):
        html = getattr(one, "_repr_html_", str)
        shown = repr(one) + str(one) + (html() if html is not str else "")
        assert not any(name in shown for name in ("Zoe", "Quist", "Uvw", CELL)), shown
    # Frames have them, on purpose.
    assert found.top(1)["person"].tolist() == ["Zoe Quist"]


def test_a_person_that_is_a_column_is_not_shown():
    with pytest.raises(InputError) as caught:
        query("SELECT COUNT(*) FROM t", person=ROWS["who"])
    assert "Zoe" not in str(caught.value)


def test_the_repr_of_a_query_is_its_text_its_persons_and_its_tables():
    asked = query("SELECT COUNT(*) AS c\n  FROM t JOIN t AS u ON t.n = u.n")
    assert repr(asked) == (
        "Query('SELECT COUNT(*) AS c FROM t JOIN t AS u ON t.n = u.n', person={'t': 'who'}, "
        "tables='t')"
    )
    assert len(repr(query(f"SELECT COUNT(*) FROM t WHERE n IN ({'1, ' * 5000}1)"))) < 700


# SQLite is read as DuckDB reads it, or not at all.


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("CAST(x AS INTEGER) = 1", "CAST differently: SQLite cuts off digits"),
        ("CAST(x AS NUMERIC) = 1.55", "CAST differently: SQLite cuts off digits"),
        ("CAST(x AS DECIMAL(3, 1)) = 1.6", "CAST differently"),
        ("CAST(x AS TEXT) = '1'", "CAST differently"),
        ("CAST(note AS BOOLEAN)", "CAST differently"),
        ("LOWER(note) = 'ä'", "LOWER differently: SQLite knows the letters and blanks of ASCII"),
        ("UPPER(note) = 'Ä'", "UPPER differently: SQLite knows the letters and blanks of ASCII"),
        ("TRIM(note) = 'ä'", "TRIM differently"),
        ("SQRT(x) > 0", "SQRT differently: in SQLite it is NULL where no real number is"),
        ("LN(x) > 0", "LN differently: in SQLite it is NULL where no real number is"),
        ("ROUND(x, 1) = 1.6", "ROUND differently"),
        ("x / 2 = 1", "/ differently; compute"),
        ("note LIKE 'ä'", "LIKE differently; compute"),
    ],
)
def test_what_sqlite_reads_differently_is_refused(written, why):
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (who INTEGER, note TEXT, x REAL)")
    base.execute("INSERT INTO t VALUES (1, 'Ä', 1.55), (2, 'ä', -1.5)")
    for text in (f"SELECT COUNT(*) FROM t WHERE {written}", f"SELECT COUNT({written}) FROM t"):
        with pytest.raises(InputError) as caught:
            Query(text, connection=base, person="t.who")
        assert f"SQLite and DuckDB read {why}" in str(caught.value)
        assert str(caught.value).endswith(
            "; compute it in a table beforehand, or copy the tables into DuckDB"
        )
    # DuckDB's own tables are read as DuckDB reads them.
    if "CAST(note" not in written:
        given = {"connection": {"t": pd.DataFrame({"who": [1], "note": ["Ä"], "x": [1.5]})}}
        assert (
            Query(f"SELECT COUNT(*) FROM t WHERE {written}", person="t.who", **given).answer().size
        )


@pytest.mark.parametrize("ends", ["well", "refused", "locked"])
def test_a_database_of_sqlite_that_was_opened_here_is_closed(tmp_path, monkeypatch, ends):
    path = tmp_path / "a.db"
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE t (who INTEGER)")
    base.execute("INSERT INTO t VALUES (1), (1), (2)")
    base.commit()
    if ends == "locked":
        base.execute("BEGIN EXCLUSIVE")
    opened = []
    connect = sqlite3.connect

    def recording(*given, **options):
        opened.append(connect(*given, timeout=0, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", recording)
    text = f"SELECT {'MAX(who)' if ends == 'refused' else 'COUNT(*)'} FROM t"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if ends == "well":
            asked = Query(text, connection=str(path), person="t.who")
            assert asked.answer()["COUNT(*)"].tolist() == [3]
            assert len(asked.contributions().to_frame()) == 2
        else:
            with pytest.raises(InputError):
                Query(text, connection=str(path), person="t.who")
        [one] = opened
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            one.execute("SELECT 1")
        opened.clear()
        del one
        gc.collect()
    base.close()


def test_a_connection_of_the_caller_stays_open():
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (who INTEGER)")
    Query("SELECT COUNT(*) FROM t", connection=base, person="t.who").answer()
    assert base.execute("SELECT COUNT(*) FROM t").fetchall() == [(0,)]
