"""Databases of every kind give the same numbers, and what goes wrong with them has an error."""

from __future__ import annotations

import sqlite3
from fractions import Fraction
from pathlib import Path
from threading import Timer

import numpy as np
import pandas as pd
import pytest

from sensitivity_lab.errors import InputError, QueryError, TooLargeError

duckdb = pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

from sql_checks import largest  # noqa: E402 - after the check of the extra

from sensitivity_lab.sql import Query  # noqa: E402

pytestmark = pytest.mark.sql

CUSTOMER = pd.DataFrame({"id": [1, 2, 3], "region": ["a", "b", None]})
ORDERS = pd.DataFrame({"customer": [1, 1, 2, 3], "price": [5, 7, 2, 1]})
TEXT = (
    "SELECT region, COUNT(*) AS n, SUM(price) AS total FROM customer "
    "JOIN orders ON orders.customer = customer.id GROUP BY region"
)
GIVEN = {"person": "customer.id", "groups": ["a", "b", None]}


def made(connection) -> None:
    connection.execute("CREATE TABLE customer (id INTEGER, region TEXT)")
    connection.execute("CREATE TABLE orders (customer INTEGER, price INTEGER)")
    connection.execute("INSERT INTO customer VALUES (1, 'a'), (2, 'b'), (3, NULL)")
    connection.execute("INSERT INTO orders VALUES (1, 5), (1, 7), (2, 2), (3, 1)")


def from_duckdb(_folder: Path):
    connection = duckdb.connect()
    made(connection)
    return connection


def from_duckdb_file(folder: Path):
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        made(connection)
    return folder / "shop.duckdb"


def from_sqlite(_folder: Path):
    connection = sqlite3.connect(":memory:")
    made(connection)
    return connection


def from_sqlite_file(folder: Path):
    connection = sqlite3.connect(folder / "shop.db")
    made(connection)
    connection.commit()
    connection.close()
    return str(folder / "shop.db")


def from_pandas(_folder: Path):
    return {"customer": CUSTOMER, "orders": ORDERS}


def from_polars(_folder: Path):
    pl = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    return {
        "customer": pl.DataFrame({"id": [1, 2, 3], "region": ["a", "b", None]}),
        "orders": pl.DataFrame(ORDERS.to_dict("list")),
    }


def from_arrow(_folder: Path):
    pa = pytest.importorskip("pyarrow")
    return {
        "customer": pa.table({"id": [1, 2, 3], "region": ["a", "b", None]}),
        "orders": pa.table(ORDERS.to_dict("list")),
    }


def from_csv(folder: Path):
    CUSTOMER.to_csv(folder / "customer.csv", index=False)
    ORDERS.to_csv(folder / "orders.csv", index=False)
    return {"customer": folder / "customer.csv", "orders": str(folder / "orders.csv")}


def from_parquet(folder: Path):
    pytest.importorskip("pyarrow")
    CUSTOMER.to_parquet(folder / "customer.parquet")
    return {"customer": folder / "customer.parquet", "orders": ORDERS}


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "make",
    [
        *(from_duckdb, from_duckdb_file, from_sqlite, from_sqlite_file, from_pandas),
        *(from_polars, from_arrow, from_csv, from_parquet),
    ],
)
def test_every_kind_of_database_gives_the_same_numbers(make, tmp_path):
    query = Query(TEXT, connection=make(tmp_path), **GIVEN)
    frame = query.contributions().to_frame()
    assert frame[["person", "n", "total"]].to_numpy().tolist() == [[1, 2, 12], [2, 1, 2], [3, 1, 1]]
    assert query.answer()["total"].tolist() == [12, 2, 1]


def test_the_settings_and_tables_of_a_connection_stay_as_they_are(tmp_path):
    connection = from_duckdb(tmp_path)
    settings = "SELECT name, value FROM duckdb_settings() ORDER BY name"
    before = connection.execute(settings).fetchall()
    Query(TEXT, connection=connection, **GIVEN).contributions()
    assert connection.execute(settings).fetchall() == before
    names = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    assert sorted(names) == [("customer",), ("orders",)]


def test_a_view_is_refused_with_a_way_out(tmp_path):
    connection = from_duckdb(tmp_path)
    connection.execute("CREATE VIEW busy AS SELECT * FROM customer")
    with pytest.raises(InputError) as caught:
        Query("SELECT COUNT(*) FROM busy", connection=connection, person="busy.id")
    assert str(caught.value) == (
        "sql: busy (in person) is a view, which can hold any statement; write its query into WITH, "
        "or copy it to a table: CREATE TABLE busy_rows AS SELECT * FROM busy"
    )


@pytest.mark.exhaustive
def test_a_locked_file_is_told_as_such(tmp_path):
    path = from_duckdb_file(tmp_path)
    writer = duckdb.connect(str(path))
    with pytest.raises(InputError, match="close the other connection, or pass it as connection"):
        Query(TEXT, connection=path, **GIVEN)
    writer.close()


def test_a_closed_connection_and_a_broken_file_are_told_as_such(tmp_path):
    closed = duckdb.connect()
    closed.close()
    with pytest.raises(InputError, match="using the connection failed"):
        Query(TEXT, connection=closed, **GIVEN)
    (tmp_path / "broken.duckdb").write_bytes(b"no database")
    with pytest.raises(InputError, match=r"opening '.*' failed"):
        Query(TEXT, connection=tmp_path / "broken.duckdb", **GIVEN)


@pytest.mark.exhaustive
def test_an_interrupted_query_is_told_as_such():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT range AS id FROM range(3)")
    query = Query("SELECT COUNT(*) FROM t", connection=connection, person="t.id")
    slow = "SELECT SUM(hash(a.range * 7 + b.range) % 5) FROM range(10000000) a, range(10000000) b"
    with query.session() as session:
        Timer(0.5, session.cursor.interrupt).start()
        with pytest.raises(QueryError, match="was interrupted before it ended; call again"):
            session.rows(slow)


@pytest.mark.exhaustive
def test_too_little_memory_is_told_as_such():
    settings = {"memory_limit": "20MB", "temp_directory": "", "threads": "1"}
    connection = duckdb.connect(config=settings)
    connection.execute("CREATE TABLE t AS SELECT range AS id FROM range(100)")
    query = Query(
        "SELECT COUNT(DISTINCT a.id * 10000 + b.id * 100 + c.id) FROM t a, t b, t c",
        connection=connection,
        person="t.id",
    )
    with pytest.raises(TooLargeError, match="needs more memory or disk than there is"):
        query.contributions()


@pytest.mark.exhaustive
def test_a_full_disk_is_told_as_such_and_leaves_the_connection_usable(tmp_path):
    """What does not fit into memory is written to files, which may not grow here."""
    resource = pytest.importorskip("resource", reason="limits of files are those of Unix")
    settings = {"memory_limit": "30MB", "temp_directory": str(tmp_path), "threads": "1"}
    connection = duckdb.connect(config=settings)
    connection.execute("CREATE TABLE t AS SELECT range AS id FROM range(3)")
    query = Query("SELECT COUNT(*) FROM t", connection=connection, person="t.id")
    large = "CREATE TEMP TABLE large AS SELECT md5(CAST(range AS VARCHAR)) FROM range(1000000)"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with query.session() as session:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        try:
            with pytest.raises(TooLargeError) as caught:
                session.run(large)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    told = str(caught.value)
    assert told.startswith("the query needs more memory or disk than there is: IO Error: Could not")
    assert told.endswith("temp_directory to a disk with more room, and pass that connection")
    assert largest(query) == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_times_with_a_zone_are_refused_and_those_of_one_zone_are_the_databases(zone):
    """At 3 o'clock in Greenwich it is the day before in New York."""
    connection = duckdb.connect()
    connection.execute(
        f"SET TimeZone = '{zone}'; CREATE TABLE t (id INTEGER, seen TIMESTAMPTZ);"
        "INSERT INTO t VALUES (1, '2024-01-01 03:00:00+00'), (2, '2024-01-01 12:00:00+00')"
    )
    text = "SELECT COUNT(*) AS n FROM t WHERE CAST(seen AS DATE) = DATE '2024-01-01'"
    with pytest.raises(InputError) as caught:
        Query(text, connection=connection, person="t.id")
    assert str(caught.value) == (
        "sql: t.seen is of the type TIMESTAMP WITH TIME ZONE, whose dates and hours depend on a "
        "setting of the connection; copy the table with the times of one zone, such as seen AT "
        "TIME ZONE 'UTC'"
    )
    assert Query("SELECT COUNT(*) FROM t", connection=connection, person="t.id").form is not None
    there = connection.execute(text).fetchall()[0][0]
    connection.execute(f"CREATE TABLE here AS SELECT id, seen AT TIME ZONE '{zone}' AS seen FROM t")
    local = Query(text.replace("FROM t ", "FROM here "), connection=connection, person="here.id")
    assert local.answer()["n"].tolist() == [there] == [2 if zone == "UTC" else 1]
    assert largest(local) == 1


@pytest.mark.exhaustive
def test_missing_persons_are_refused_or_public():
    visits = pd.DataFrame({"patient": pd.array([1, 1, None], dtype="Int64")})
    given = {"connection": {"visits": visits}, "person": "visits.patient"}
    with pytest.raises(InputError) as caught:
        Query("SELECT COUNT(*) FROM visits", **given)
    assert str(caught.value) == (
        "person: 1 rows of visits have NULL in patient, so they belong to nobody; pass "
        "null_person='public' if these rows are public, or fill in the column, or "
        "leave these rows out of the table"
    )
    query = Query("SELECT COUNT(*) FROM visits", null_person="public", **given)
    assert largest(query) == 2


def test_sums_are_exact_beyond_64_bits_and_of_decimals_and_floats():
    big = duckdb.connect()
    big.execute("CREATE TABLE t (id INTEGER, whole BIGINT, money DECIMAL(18, 2), number DOUBLE)")
    big.execute(
        "INSERT INTO t VALUES (1, 9223372036854775807, 0.10, 0.1), (1, 9223372036854775807, 0.20, "
        "0.2), (1, 1, 0.03, 1e9), (2, NULL, NULL, NULL)"
    )
    text = "SELECT SUM(whole) AS w, SUM(money) AS m, SUM(number) AS f FROM t"
    query = Query(text, connection=big, person="t.id")
    exact = {"w": Fraction(2**64 - 1), "m": Fraction(33, 100)}
    exact["f"] = Fraction(0.1) + Fraction(0.2) + 10**9
    found = query.contributions()
    for name, value in exact.items():
        assert found.to_frame()[name].tolist()[0] == (value if name == "w" else float(value))
        [scaled] = [int(v[0]) for n, v in zip(found.names, found.values, strict=True) if n == name]
        below = found.denominators[found.names.index(name)]
        assert Fraction(scaled, below) == value


@pytest.mark.exhaustive
def test_floats_that_no_sum_can_hold_are_refused():
    given = {"person": "t.id", "connection": {"t": pd.DataFrame({"id": [1, 2], "x": [1e300, 1]})}}
    query = Query("SELECT SUM(x) FROM t", **given)
    with pytest.raises(QueryError, match="have sums beyond 127 bits"):
        query.contributions()
    given["connection"] = {"t": pd.DataFrame({"id": [1, 2], "x": [np.inf, 1.0]})}
    with pytest.raises(QueryError, match="a value that is added up is inf"):
        Query("SELECT SUM(x) FROM t", **given).contributions()
    given["connection"] = {"t": pd.DataFrame({"id": [1, 2], "x": [1e9, 1e-30 / 3]})}
    with pytest.raises(QueryError, match="span too many orders of magnitude"):
        Query("SELECT SUM(x) FROM t", **given).contributions()


def test_a_left_join_of_private_rows_is_refused():
    """Without person 1, ward b stays a result: it is another one, and not lost."""
    tables = {
        "ward": pd.DataFrame({"name": ["a", "b"]}),
        "visit": pd.DataFrame({"ward": ["a", "a", "b"], "person": [1, 2, 1]}),
    }
    text = "SELECT COUNT(*) FROM ward LEFT JOIN visit ON visit.ward = ward.name"
    query = Query(text, connection=tables, person="visit.person")
    with pytest.raises(InputError) as caught:
        query.contributions()
    assert str(caught.value) == (
        "contributions: a LEFT JOIN to a private table is not supported, because a person can "
        "take results away from others; use an inner join"
    )


def test_persons_are_hidden_but_as_the_caller_shows_them():
    given = {"connection": {"orders": ORDERS}, "person": "orders.customer"}
    assert "largest" not in dict(
        Query("SELECT COUNT(*) FROM orders", **given).contributions().facts()
    )
    shown = Query("SELECT COUNT(*) FROM orders", show_person=lambda p: f"no. {p}", **given)
    assert "no. 1" in repr(shown.contributions())


@pytest.mark.exhaustive
def test_what_changes_the_meaning_of_equal_and_divided_is_refused():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE word (person INTEGER, text TEXT COLLATE NOCASE, other TEXT)")
    text = "SELECT COUNT(*) FROM word WHERE other = 'a'"
    with pytest.raises(InputError, match=r"has a column with COLLATE (?i:nocase), .* copy"):
        Query(text, connection=connection, person="word.person")
    lite = sqlite3.connect(":memory:")
    lite.execute("CREATE TABLE word (person INTEGER, other TEXT COLLATE RTRIM)")
    with pytest.raises(InputError, match="has a column with COLLATE RTRIM"):
        Query(text, connection=lite, person="word.person")
    lite.execute("DROP TABLE word")
    lite.execute("CREATE TABLE word (person INTEGER, other TEXT COLLATE BINARY, 'COLLATE x' TEXT)")
    lite.execute("INSERT INTO word VALUES (1, 'a', 'b')")
    assert Query(text, connection=lite, person="word.person").answer().to_numpy().tolist() == [[1]]
    for setting, value in (("default_collation", "NOCASE"), ("integer_division", "true")):
        base = duckdb.connect()
        base.execute("CREATE TABLE word (person INTEGER, other TEXT)")
        base.execute(f"SET GLOBAL {setting} = '{value}'")
        with pytest.raises(InputError, match=f"setting {setting} is .*: RESET GLOBAL {setting}$"):
            Query(text, connection=base, person="word.person")
        base.execute(f"RESET GLOBAL {setting}")
        assert Query(text, connection=base, person="word.person").answer().to_numpy().tolist() == [
            [0]
        ]


@pytest.mark.exhaustive
def test_division_by_zero_has_a_way_out():
    tables = {"t": pd.DataFrame({"p": [1, 2], "x": [0, 2], "y": [3, 5]})}
    for value, expected in (("y / x", 2.5), ("y // x", 2)):
        query = Query(f"SELECT SUM({value}) AS s FROM t", connection=tables, person="t.p")
        if value == "y // x" and int(duckdb.__version__.partition(".")[0]) < 2:
            assert largest(query) == expected  # it is NULL before 2.0
        else:
            with pytest.raises(QueryError, match=r"write NULLIF\(..., 0\) around the divisor"):
                query.contributions()
        mended = value.replace("x", "NULLIF(x, 0)")
        query = Query(f"SELECT SUM({mended}) AS s FROM t", connection=tables, person="t.p")
        assert largest(query) == expected


def test_an_average_is_a_sum_and_a_count():
    query = Query(
        "SELECT AVG(price) AS p FROM orders",
        connection={"orders": ORDERS},
        person="orders.customer",
    )
    assert [one.name for one in query.form.aggregates] == ["p (sum)", "p (count)"]
    assert largest(query, "p (sum)") == 12


def test_a_column_of_several_types_is_refused_only_where_it_is_used():
    lite = sqlite3.connect(":memory:")
    lite.execute("CREATE TABLE t (p INT, mixed, x INT)")
    lite.executemany("INSERT INTO t VALUES (?, ?, ?)", [(1, 2, 3), (2, "b", 4)])
    given = {"connection": lite, "person": "t.p"}
    found = Query("SELECT COUNT(*) AS n FROM t WHERE x > 3", **given).contributions()
    assert found.to_frame()["n"].tolist() == [1]
    with pytest.raises(InputError, match=r"t.mixed of SQLite holds values of several types \('int"):
        Query("SELECT COUNT(mixed) AS n FROM t", **given)


@pytest.mark.parametrize(
    ("column", "bounds", "total"),
    [
        ("rate", (0, 0.1), "0.2"),
        ("rate", (-0.3, 0.3), "0.4"),
        ("rate", (0, 1000), "1.8"),
        ("small", (-5, 1000), "22"),
        ("small", (0, 20), "20"),
        ("unsigned", (-5, 250.0), "252"),
    ],
)
def test_bounds_are_decimals_and_may_be_wider_than_the_type(column, bounds, total):
    base = duckdb.connect()
    base.execute("CREATE TABLE t (p INT, rate DECIMAL(4,2), small TINYINT, unsigned UTINYINT)")
    base.execute("INSERT INTO t VALUES (1, 0.1, -5, 2), (2, 1.7, 27, 255)")
    text = f"SELECT SUM({column}) AS s FROM t"
    query = Query(text, connection=base, person="t.p", bounds={column: bounds})
    assert float(query.answer()["s"][0]) == float(total)
    [(low, high)] = query.form.bounds.values()
    assert (low, high) == tuple(Fraction(str(one)) for one in bounds)


def test_bounds_beyond_the_type_are_refused():
    base = duckdb.connect()
    base.execute("CREATE TABLE t (p INT, small TINYINT)")
    given = {"connection": base, "person": "t.p", "bounds": {"small": (300, 1000)}}
    with pytest.raises(InputError, match="300 is no value of the column's type TINYINT"):
        Query("SELECT SUM(small) AS s FROM t", **given)


def test_sqlite_compares_no_text_with_a_number():
    lite = sqlite3.connect(":memory:")
    lite.execute("CREATE TABLE t (p INT, code TEXT, x INT)")
    lite.executemany("INSERT INTO t VALUES (?, ?, ?)", [(1, "5", 5), (2, "05", 6), (3, None, None)])
    for condition in (
        *("code = 5", "code <> 5", "code IN ('a', 5)", "code = x", "x = '05'", "x IS NOT '05'"),
        *("CASE code WHEN 5 THEN 1 END = 1", "NULLIF(code, 5) IS NULL", "x > 1 AND NOT code = 5.0"),
    ):
        with pytest.raises(InputError, match="compares a text with a number, and SQLite and DuckD"):
            Query(f"SELECT COUNT(*) FROM t WHERE {condition}", connection=lite, person="t.p")
    for condition in (
        *(
            "code = '5'",
            "code IN ('5', NULL)",
            "x = 5",
            "x = 5.0",
            "x IN (5, 6)",
            "code || x = '55'",
        ),
        *("code = NULL", "NULLIF(code, '05') IS NULL", "CASE x WHEN 5 THEN code END = '5'"),
    ):
        text = f"SELECT COUNT(*) FROM t WHERE {condition}"
        found = Query(text, connection=lite, person="t.p").answer()
        assert found.to_numpy().tolist() == [[*lite.execute(text).fetchone()]]
