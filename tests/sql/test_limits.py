"""Long and deep queries are read in seconds, or refused with a number and a limit."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pytest

from sensitivity_lab.errors import InputError

pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

from sensitivity_lab.sql import Query

pytestmark = pytest.mark.sql

TABLES = {"t": pd.DataFrame({"id": [1, 2, 3], "x": [1, 2, 3]})}
WHERE = "SELECT COUNT(*) AS n FROM t WHERE "
BESIDE = "; write many comparisons as IN (...), or compute columns in a table beforehand"


def query(text: str) -> Query:
    return Query(text, connection=TABLES, person="t.id")


def chained(number: int, columns: str, joined: str = "") -> str:
    """Return a query of so many steps, each of which reads the one before."""
    names = ["t", *(f"c{i}" for i in range(number))]
    steps = [
        f"{name} AS (SELECT {columns} FROM {before} AS a {joined.format(before)})"
        for before, name in pairwise(names)
    ]
    return f"WITH {', '.join(steps)} SELECT COUNT(*) AS n FROM {names[-1]} WHERE id > 0"


LONG = {
    "and": " AND ".join(f"x > -{i}" for i in range(1000)),
    "and of and": " AND ".join(f"(x > -{i} AND id > 0)" for i in range(300)),
    "or": " OR ".join(f"x = {i}" for i in range(1000)),
    "or with brackets": "(" * 30 + "x = 1" + "".join(f" OR x = {i})" for i in range(30)),
    "in": f"x IN ({', '.join(map(str, range(1000)))})",
    "not": "NOT " * 40 + "x < 9",
    "plus": " + ".join(["x"] * 60) + " > 0",
}


@pytest.mark.parametrize("name", LONG)
def test_long_conditions_are_read_by_every_call(name):
    asked = query(WHERE + LONG[name])
    expected = 3
    assert asked.answer()["n"].tolist() == [expected]
    assert len(asked.contributions().to_frame()) == expected
    assert asked.plan(epsilon=1, max_rows=1).without_noise().to_frame()["n"].tolist() == [expected]


TOO_LONG = {
    WHERE + " + ".join(["x"] * 2000) + " > 0": (
        f"sql: 2,004 parts of the query stand within each other, and the limit is 100{BESIDE}"
    ),
    f"SELECT SUM({' + '.join(['x'] * 200)}) FROM t": (
        f"sql: 203 parts of the query stand within each other, and the limit is 100{BESIDE}"
    ),
    chained(60, "id, x"): (
        "26 queries of WITH and subqueries read from one another, and the limit is 25; join the "
        "tables in fewer steps"
    ),
    chained(20, "a.id", "JOIN {} AS b ON a.id = b.id"): (
        "sql: with its subqueries written out, the query joins more than 100 tables, which is the "
        "limit; join fewer, or make a table of some beforehand"
    ),
    chained(25, "id + id AS id"): (
        "characters when the query is written out, and the limit is 2,000,000" + BESIDE
    ),
    chained(5, f"{' + '.join(['id'] * 30)} AS id"): "characters when the query is written out",
    chained(9, f"id + {' + '.join(['1'] * 20)} AS id"): (
        f"sql: 101 parts of the query stand within each other, and the limit is 100{BESIDE}"
    ),
    **{
        WHERE + text: (
            "sql: cannot read the query: brackets, calls, NOT or CASE are nested too deeply for "
            "the parser, which stops before 100 of them; compute steps in WITH or in a table "
            "beforehand"
        )
        for text in (
            "(" * 400 + "x" + ")" * 400 + " > 0",
            "abs(" * 400 + "x" + ")" * 400 + " > 0",
            "NOT " * 1000 + "x > 0",
            "CASE WHEN x > 0 THEN " * 400 + "1" + " END" * 400 + " = 1",
        )
    },
}


@pytest.mark.parametrize("text", TOO_LONG, ids=range(len(TOO_LONG)))
def test_what_is_too_long_is_refused_with_its_number_and_the_limit(text):
    with pytest.raises(InputError) as caught:
        query(text)
    assert TOO_LONG[text] in str(caught.value)
