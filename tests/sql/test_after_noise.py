"""What a query computes from keys and aggregates: as DuckDB does with the text that came."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

import duckdb

from sensitivity_lab.sql import Query

pytestmark = pytest.mark.sql

T = pd.DataFrame(
    {
        "p": [1, 1, 2, 2, 3, 3, 4, 5],
        "g": ["a", "b", "a", "b", "a", None, "b", "a"],
        "h": [1, 2, 1, 1, 2, 2, 2, 1],
        "x": [5, 7, 1, 2, 9, 3, 4, 6],
        "z": [1.5, None, 2.5, 0.5, None, 1.0, 2.0, 3.5],
        "t": [True, False, None, True, False, True, None, False],
    }
).astype({"t": "boolean"})
U = pd.DataFrame({"h": [1, 1, 2, 4], "name": ["one", "uno", "two", "four"], "x": [10, 20, 30, 40]})

ITEMS = [
    "g, COUNT(*) AS n",
    "g, SUM(x) / COUNT(*) AS mean, COUNT(*) AS n",
    "g, AVG(x) AS mean",
    "g, 100 * COUNT(*) FILTER (WHERE x > 3) / COUNT(*) AS share",
    "COUNT(*) - COUNT(z) AS missing, g",
    "g AS key, COALESCE(SUM(x), 0) + COUNT(*) AS s",
    "UPPER(g) AS u, CASE WHEN COUNT(*) > 2 THEN 'many' ELSE 'few' END AS size",
    "CAST(SUM(x) AS DOUBLE) AS s, -COUNT(*) AS n, g || '!' AS loud",
]
CLAUSES = [
    "",
    " HAVING COUNT(*) > 2",
    " HAVING NOT (COUNT(*) > 3 AND SUM(x) > 1)",
    " HAVING g = 'a' OR g IS NULL",
    " ORDER BY COUNT(*) DESC, g",
    " ORDER BY 1, SUM(x) LIMIT 2",
    " ORDER BY g NULLS FIRST LIMIT 1 OFFSET 1",
    " HAVING SUM(x) BETWEEN 10 AND 20 ORDER BY g DESC",
]
GROUPED = [
    f"SELECT {items} FROM t{where} GROUP BY g{clause}"
    for items, clause, where in itertools.product(ITEMS, CLAUSES, ("", " WHERE x <> 4"))
]

INSIDE = [
    # brackets, NOT and three truths
    "SELECT COUNT(*) FROM (SELECT x > 1 AND h > 1 AS z FROM t) AS s WHERE NOT z",
    "SELECT COUNT(*) FROM (SELECT x > 1 OR h > 1 AS z, x FROM t) AS s WHERE z AND x < 5",
    "SELECT COUNT(*) FROM (SELECT x + 1 AS z FROM t) AS s WHERE z * 2 > 9",
    "SELECT COUNT(*) FROM (SELECT x - 1 AS z FROM t) AS s WHERE 10 - z > 5",
    "SELECT SUM(-z) FROM (SELECT x - h AS z FROM t) AS s",
    "SELECT COUNT(*) FROM t WHERE NOT t",
    "SELECT COUNT(*) FROM t WHERE NOT (t AND x > 3)",
    "SELECT COUNT(*) FROM t WHERE t IS NULL OR NOT t",
    "SELECT COUNT(*) FROM t WHERE (z > 1) IS NULL",
    "SELECT COUNT(*) FROM t WHERE NOT (z > 1) OR z IS NULL",
    "SELECT COUNT(*) FROM t WHERE z NOT IN (1.5, 2.5)",
    "SELECT COUNT(*) FROM t WHERE x NOT BETWEEN 2 AND 6",
    "SELECT COUNT(*) FROM t WHERE g NOT LIKE 'a%'",
    "SELECT COUNT(*) FROM t WHERE COALESCE(t, x > 5)",
    "SELECT COUNT(*) FROM t WHERE CASE WHEN x > 3 THEN NULL ELSE t END",
    "SELECT COUNT(NULLIF(h, 2)), SUM(COALESCE(z, -1)) FROM t",
    # left joins with constants, and what stands on the null side
    "SELECT COUNT(*), COUNT(u.x) FROM t LEFT JOIN u ON u.h = t.h AND u.x > 10",
    "SELECT COUNT(*) FROM t LEFT JOIN u ON u.h = t.h AND 1 = 2 WHERE u.h IS NULL",
    "SELECT COUNT(*) FROM t LEFT JOIN u ON u.h = t.h + 2 WHERE COALESCE(u.x, 0) < 30",
    "SELECT COUNT(*) FROM t LEFT JOIN u USING (h) WHERE u.name IS NULL OR u.name <> 'uno'",
    "SELECT SUM(COALESCE(u.x, 0)) FROM t LEFT JOIN u ON u.h = t.h AND t.x > 4",
    # aliases that shadow
    "SELECT COUNT(*) AS x FROM t WHERE x > 3",
    "SELECT SUM(x) AS h FROM t WHERE h = 1",
    "SELECT COUNT(*) FROM (SELECT x AS h, h AS x FROM t) AS t WHERE h > 4 AND x = 1",
    "SELECT COUNT(*) FROM t JOIN (SELECT h, x AS y FROM u) AS u ON u.h = t.h WHERE y > x",
    "WITH u AS (SELECT h FROM t WHERE x > 2) SELECT COUNT(*) FROM t JOIN u ON u.h = t.h",
    "WITH t AS (SELECT * FROM t WHERE x > 2) SELECT COUNT(*) FROM t",
    "SELECT COUNT(*) FROM t AS u JOIN u AS t ON t.h = u.h WHERE t.x > u.x",
    # USING, commas, stars
    "SELECT COUNT(*) FROM t JOIN u USING (h)",
    "SELECT COUNT(*) FROM t, u WHERE t.h = u.h AND u.name LIKE '%o%'",
    "SELECT COUNT(*) FROM (SELECT t.*, name FROM t JOIN u USING (h)) AS s WHERE h = 1",
    "SELECT COUNT(*) FROM (SELECT t.* FROM t CROSS JOIN u) AS s WHERE x > 4",
    # NULL keys
    "SELECT COUNT(*) FROM t JOIN t AS s ON s.g = t.g",
    "SELECT COUNT(*) FROM t JOIN t AS s ON s.g IS NOT DISTINCT FROM t.g",
    "SELECT COUNT(DISTINCT g), COUNT(g), COUNT(DISTINCT z) FROM t",
]
"""What other ways of reading get wrong: each is compared with the text itself."""


def by_duckdb(text: str) -> list[tuple]:
    base = duckdb.connect()
    base.register("t", T)
    base.register("u", U)
    return base.execute(text).fetchall()


def check(text: str, **given) -> None:
    query = Query(text, connection={"t": T, "u": U}, person="t.p", null_person="refuse", **given)
    found = [tuple(row) for row in query.answer().astype(object).itertuples(index=False)]
    expected = by_duckdb(text)
    if "ORDER BY" not in text:
        found, expected = (sorted(rows, key=repr) for rows in (found, expected))
    assert [[plain(cell) for cell in row] for row in found] == [
        [plain(cell) for cell in row] for row in expected
    ]


def plain(cell):
    if cell is None or cell is pd.NA or cell != cell:
        return None
    return round(float(cell), 9) if isinstance(cell, int | float) else cell


@pytest.mark.parametrize("text", GROUPED)
def test_what_follows_from_keys_and_aggregates_is_that_of_the_text(text):
    check(text, groups=["a", "b", None])


@pytest.mark.parametrize("text", INSIDE)
def test_what_is_written_out_is_that_of_the_text(text):
    check(text)


def test_each_aggregate_is_measured_once():
    query = Query(
        "SELECT g, SUM(x) / COUNT(*) AS mean, AVG(x) AS other FROM t GROUP BY g "
        "HAVING COUNT(*) > 1 ORDER BY SUM(x), COUNT(z)",
        connection={"t": T},
        person="t.p",
        groups=["a"],
    )
    assert [one.name for one in query.form.aggregates] == [
        *("SUM(x)", "COUNT(*)", "other (count)", "COUNT(z)"),
    ]
