"""A query reads what the caller's connection itself sees, at each call, or is refused."""

from __future__ import annotations

import sqlite3

import pandas as pd
import pytest

from sensitivity_lab.errors import InputError

duckdb = pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

from sensitivity_lab.sql import Query  # noqa: E402 - after the check of the extra

pytestmark = pytest.mark.sql

TEXT = "SELECT COUNT(*) AS n FROM t"

OPEN = (
    "connection: it has an open transaction, whose changes a query here does not see: it reads "
    "what is committed; commit() or rollback() the transaction first"
)
TEMPORARY = (
    "connection: t is a temporary table or view of the connection, also if register made it, which "
    "a query here does not see; copy it to a table of another name, CREATE TABLE t_rows AS SELECT "
    "* FROM t, or drop it"
)
ELSEWHERE = (
    "connection: it is in the schema memory.s by USE or search_path, and a query here is in "
    "memory.main; run USE memory.main, and write the schema before the names of tables in others"
)


def connected():
    base = duckdb.connect()
    base.execute("CREATE TABLE t (id INTEGER); INSERT INTO t VALUES (1)")
    base.execute("CREATE SCHEMA s; CREATE TABLE s.t (id INTEGER); INSERT INTO s.t VALUES (1), (1)")
    return base


def asked(base, **given) -> Query:
    return Query(TEXT, connection=base, person="t.id", **given)


CALLS = {
    "answer": lambda query: query.answer(),
    "contributions": lambda query: query.contributions(),
    "plan": lambda query: query.plan(epsilon=1, max_rows=1).without_noise(),
}

STATES = {
    "transaction": ("BEGIN; INSERT INTO t VALUES (2), (3), (4)", OPEN, "ROLLBACK"),
    "transaction without changes": ("BEGIN", OPEN, "COMMIT"),
    "temporary table": (
        "CREATE TEMP TABLE T AS SELECT UNNEST([5, 6, 7]) AS id",
        TEMPORARY.replace("t is", "T is").replace("t_rows", "T_rows").replace("FROM t,", "FROM T,"),
        "DROP TABLE temp.T",
    ),
    "temporary view": (
        "CREATE TEMP VIEW t AS SELECT 5 AS id",
        TEMPORARY,
        "DROP VIEW temp.t",
    ),
    "use": ("USE s", ELSEWHERE, "USE memory.main"),
    "search path": ("SET search_path = 's,main'", ELSEWHERE, "SET search_path = 'main,s'"),
}


@pytest.mark.parametrize("state", STATES)
def test_what_cursors_do_not_see_is_refused_and_its_way_out_works(state):
    change, told, back = STATES[state]
    base = connected()
    base.execute(change)
    with pytest.raises(InputError) as caught:
        asked(base)
    assert str(caught.value) == told
    base.execute(back)
    assert base.execute(TEXT).fetchall() == [(1,)]
    assert asked(base).answer()["n"].tolist() == [1]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("call", CALLS)
def test_what_cursors_do_not_see_is_refused_by_each_call(call, state):
    change, told, back = STATES[state]
    base = connected()
    query = asked(base)
    base.execute(change)
    with pytest.raises(InputError) as caught:
        CALLS[call](query)
    assert str(caught.value) == told
    base.execute(back)
    CALLS[call](query)


@pytest.mark.parametrize("call", CALLS)
def test_a_macro_with_the_name_of_a_function_is_refused_by_each_call(call):
    """It would be called in place of `least`, by which sums are clipped."""
    base = connected()
    query = asked(base)
    base.execute("CREATE MACRO mine(a) AS a + 1")
    CALLS[call](query)
    base.execute("CREATE MACRO least(a, b) AS 1e6")
    for again in (lambda: CALLS[call](query), lambda: asked(base)):
        with pytest.raises(InputError) as caught:
            again()
        assert str(caught.value) == (
            "connection: macros of it have the names of DuckDB's functions least, and would run in "
            "their place, whatever they read; drop them, as in DROP MACRO least, or copy the "
            "tables to another database"
        )
    base.execute("DROP MACRO least")
    CALLS[call](query)


def test_a_macro_in_a_database_file_is_refused(tmp_path):
    with duckdb.connect(str(tmp_path / "a.duckdb")) as base:
        base.execute("CREATE TABLE t (id INTEGER); CREATE MACRO upper(a) AS 'x'")
    with pytest.raises(
        InputError, match="the names of DuckDB's functions upper, and would run in their place"
    ):
        asked(str(tmp_path / "a.duckdb"))


def test_a_registered_frame_is_a_view_that_cursors_do_not_see():
    base = connected()
    base.register("t", pd.DataFrame({"id": [1, 2, 3]}))
    with pytest.raises(InputError) as caught:
        asked(base)
    assert str(caught.value) == TEMPORARY
    base.unregister("t")
    base.register("other", pd.DataFrame({"id": [1, 2, 3]}))
    assert asked(base).answer()["n"].tolist() == [1]


def test_an_aborted_transaction_is_told_as_such():
    base = connected()
    base.execute("BEGIN")
    with pytest.raises(duckdb.Error):
        base.execute("SELECT CAST('x' AS INTEGER)").fetchall()
    with pytest.raises(InputError, match=r"using the connection failed: .*ROLLBACK"):
        asked(base)


def test_committed_changes_and_schemas_that_are_written_are_seen():
    base = connected()
    query = asked(base)
    base.execute("BEGIN; INSERT INTO t VALUES (1), (2); COMMIT")
    assert query.answer()["n"].tolist() == [3]
    other = Query("SELECT COUNT(*) AS n FROM s.t", connection=base, person="s.t.id")
    assert other.answer()["n"].tolist() == [2]


@pytest.mark.parametrize("call", CALLS)
def test_persons_that_are_null_later_are_refused_by_each_call(call):
    base = connected()
    query = asked(base)
    public = asked(base, null_person="public")
    base.execute("INSERT INTO t SELECT NULL FROM range(1000)")
    with pytest.raises(InputError) as caught:
        CALLS[call](query)
    assert str(caught.value) == (
        "person: 1,000 rows of t have NULL in id, so they belong to nobody; pass "
        "null_person='public' if these rows are public, or fill in the column, or leave these "
        "rows out of the table"
    )
    CALLS[call](public)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE t ALTER id TYPE VARCHAR",
        "ALTER TABLE t ADD COLUMN other INTEGER",
        "ALTER TABLE t RENAME id TO person",
        "DROP TABLE t",
        "DROP TABLE t; CREATE VIEW t AS SELECT 1 AS id",
        "DROP TABLE t; CREATE TABLE t (id VARCHAR COLLATE NOCASE)",
        "DROP TABLE t; CREATE TABLE t (id INTEGER PRIMARY KEY)",
    ],
)
def test_tables_that_are_others_later_are_refused_by_each_call(change, call):
    base = connected()
    query = asked(base)
    base.execute(change)
    with pytest.raises(InputError) as caught:
        CALLS[call](query)
    assert str(caught.value) == (
        "connection: the table t was made anew, altered or dropped since the query was made, and "
        "the query was read for what it was; make the query again"
    )


def test_of_sqlite_what_the_connection_sees_is_read_and_temporary_tables_are_refused():
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (id INTEGER)")
    base.execute("INSERT INTO t VALUES (1)")
    base.commit()
    base.execute("INSERT INTO t VALUES (1), (2), (3)")
    assert base.in_transaction
    assert asked(base).answer()["n"].tolist() == [4]
    assert base.execute(TEXT).fetchall() == [(4,)]
    for kind in ("TABLE", "VIEW"):
        base.execute(f"CREATE TEMP {kind} t AS SELECT 1 AS id")
        with pytest.raises(InputError) as caught:
            asked(base)
        assert str(caught.value) == TEMPORARY
        base.execute(f"DROP {kind} temp.t")
    base.execute("ATTACH ':memory:' AS other")
    base.execute("CREATE TABLE other.u (id INTEGER)")
    for name in ("u", "other.u"):
        with pytest.raises(InputError, match="there is no table 'u'"):
            Query(f"SELECT COUNT(*) FROM {name}", connection=base, person="u.id")


def test_a_table_without_a_schema_is_that_of_the_current_one():
    """Whatever the others are called."""
    base = connected()
    base.execute("CREATE SCHEMA a; CREATE TABLE a.t (id INTEGER)")
    [counted] = asked(base).answer()["n"]
    assert (counted, base.execute(TEXT).fetchone()) == (1, (1,))


def test_where_a_table_is_missing_those_of_duckdb_are_named():
    base = connected()
    base.execute("CREATE VIEW seen AS SELECT 1 AS id")
    with pytest.raises(InputError) as caught:
        Query("SELECT COUNT(*) FROM s", connection=base, person="s.id")
    assert str(caught.value) == ("sql: there is no table 's' (in person); the tables are 't'")
