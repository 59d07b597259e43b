"""What a query computes from keys and aggregates: as DuckDB does with the text that came."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

import duckdb

from sensitivity_lab.errors import InputError
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
        "d": pd.to_datetime(
            ["2024-01-31 00:00:00", "2024-02-29 23:59:58", None, *5 * ["2025-12-28 00:00:00"]]
        ),
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
    # IN over public tables: names that shadow, three truths, brackets
    "SELECT COUNT(*) FROM t WHERE h IN (SELECT h FROM u)",
    "SELECT COUNT(*) FROM t WHERE NOT h IN (SELECT h FROM u WHERE x > 10 AND name LIKE '%o%')",
    "SELECT COUNT(*) FROM t WHERE x NOT IN (SELECT NULLIF(h, 4) FROM u)",
    "SELECT COUNT(*) FROM t AS u WHERE x IN (SELECT t.x / 10 FROM u AS t WHERE t.h < 3)",
    "SELECT SUM(CASE WHEN h IN (SELECT h FROM u WHERE x = 30) THEN x ELSE 0 END) FROM t",
    "SELECT COUNT(*) FROM t WHERE h + 2 IN (SELECT a.h FROM u AS a LEFT JOIN u AS b USING (x))",
    "SELECT COUNT(*) FROM t JOIN u USING (h) WHERE u.x IN (SELECT x FROM u WHERE h = 1)",
    "SELECT COUNT(*) FROM t WHERE REGEXP_REPLACE(g, '[a-z]', 'q') = 'q'",
    "SELECT COUNT(*) FROM t WHERE REGEXP_REPLACE(g || g, 'a', 'b', 'g') = 'bb'",
]
"""What other ways of reading get wrong: each is compared with the text itself."""

SPELLINGS = [
    "SELECT g, COUNT(*) AS n FROM t GROUP BY ALL",
    "SELECT COUNT(*) AS n, upper(g) AS g, AVG(x) FROM t GROUP BY ALL ORDER BY g NULLS FIRST",
    "SELECT COUNT(*) AS n FROM t GROUP BY ALL",
    "SELECT g, h, COUNT(*) FROM t GROUP BY GROUPING SETS ((g), (g, h), ())",
    "SELECT g, h, SUM(x) FROM t GROUP BY GROUPING SETS (ROLLUP (g, h), h)",
    "SELECT g, h, GROUPING(g), COUNT(*) FROM t GROUP BY g, GROUPING SETS ((h), ())",
    "SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY n, g FETCH FIRST 2 ROWS ONLY",
    "SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY n, g FETCH FIRST ROW ONLY",
    "FROM t SELECT COUNT(*) AS n",
    "FROM t SELECT g, COUNT(*) GROUP BY g",
    "SELECT COUNT(*) FROM t NATURAL JOIN (SELECT h, name FROM u)",
    "SELECT COUNT(*), SUM(x) FROM t NATURAL LEFT JOIN (SELECT name, h FROM u) AS u",
    "SELECT COUNT(*) FROM (SELECT x + 1 AS y FROM t) WHERE y > 3",
    "SELECT SUM(IF(x > 3, 1, 0)), SUM(IF(z > 1, x, 0)) AS s FROM t",
    "SELECT SUM(CASE WHEN x > 3 THEN IF(h = 1, 2, 3) ELSE 0 END) FROM t",
    "SELECT COUNT_IF(x > 3), countif(z > 1) AS n, COUNT_IF(t) FILTER (WHERE h = 1 OR h = 2) FROM t",
    "SELECT g, COUNT_IF(t) / COUNT(*) FROM t GROUP BY g HAVING COUNT_IF(x > 1) > 1",
    "SELECT COUNT(*) FROM t WHERE (g, h) IN (('a', 1), ('b', 2))",
    "SELECT COUNT(*) FROM t WHERE (g, h) NOT IN (('a', 1), (NULL, 2))",
    "SELECT COUNT(*) FROM t WHERE NOT (h, z) IN ((1, NULL), (2, 1))",
    "SELECT COUNT(*) AS n, n * 2 AS twice, twice + SUM(x) AS s FROM t",
    "SELECT COUNT(*) FROM t WHERE concat(g, 'x', h) = 'ax1' OR concat_ws('-', g, h) = '2'",
    "SELECT COUNT(*) FROM t WHERE left(g || 'yz', 2) = 'ay' OR right(g || 'yz', -2) = 'z'",
    "SELECT COUNT(*) FROM t WHERE starts_with(g, 'a') OR g ^@ 'b' AND NOT ends_with(g, 'a')",
    "SELECT COUNT(*) FROM t WHERE contains(g, '') AND replace(g, 'a', 'b') = 'b'",
    "SELECT COUNT(*) FROM t WHERE regexp_matches(g, '^[A]$', 'i') OR regexp_matches(g || 'c', 'c')",
    "SELECT COUNT(*) FROM t WHERE strpos(g || 'ab', 'b') = 3 OR instr(g, 'b') + pow(h, 2) = 5",
    "SELECT COUNT(*) FROM t WHERE strftime(d, '%Y-%m') = '2024-02' OR reverse(g || 'q') = 'qb'",
    "SELECT COUNT(*) FROM t WHERE date_diff('day', DATE '2024-01-01', d) BETWEEN 30 AND 60",
    "SELECT COUNT(*) FROM t WHERE datediff('month', d, TIMESTAMP '2024-03-01') = 1",
    "SELECT SUM(EXTRACT(dow FROM d)), SUM(EXTRACT(isodow FROM d)), SUM(EXTRACT(doy FROM d)) FROM t",
    "SELECT SUM(date_part('month', d)), SUM(date_part('dow', d)), SUM(datepart('hour', d)) FROM t",
    "SELECT SUM(dayofweek(d) + 10 * isodow(d) + 100 * week(d) + 10000 * dayofyear(d)) FROM t",
    "SELECT SUM(hour(d) + 100 * minute(d) + 10000 * second(d)) FROM t",
    "SELECT COUNT(*) FROM t WHERE monthname(d) = 'February' OR dayname(d) = 'Sunday'",
]
"""What analysts write in other ways than ours."""

N = "SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g"
AROUND = [
    # one query of WITH, read once, twice, and by others of WITH
    f"WITH a AS ({N}) SELECT g, n, s / n AS mean FROM a",
    f"WITH a AS ({N}) SELECT * FROM a WHERE n > (SELECT AVG(n) FROM a)",
    f"WITH a AS ({N}) SELECT l.g, r.g, l.n - r.n FROM a l JOIN a r ON l.n > r.n",
    f"WITH a AS ({N}), b AS (SELECT MAX(n) AS m FROM a) SELECT g FROM a, b WHERE n = m",
    f"WITH a AS ({N}), b AS (SELECT g FROM a WHERE n > 2) SELECT COUNT(*) FROM b",
    f"WITH a(k, n, s) AS ({N}) SELECT k, n FROM a",
    # subqueries in FROM, with names of columns, without a name, within each other
    f"SELECT COUNT(*), MIN(n), MAX(s), MEDIAN(n) FROM ({N})",
    f"SELECT k FROM ({N}) AS c (k, m, s) WHERE m > 2",
    f"SELECT z * 2 FROM (SELECT n + 1 AS z FROM ({N}) AS a) AS b",
    f"SELECT n, COUNT(*) FROM ({N}) AS a GROUP BY n HAVING COUNT(*) > 1",
    f"SELECT n, LISTAGG(COALESCE(g, '?'), ';' ORDER BY g) FROM ({N}) GROUP BY ALL",
    # strings and comments with brackets, and capitals
    f"select ')' as b, (select min(n) from ({N.lower()}) as a) as c /* ( */",
    f"SELECT '(' || g FROM ( /* ) */ {N} -- )\n) AS a",
    # unions, windows, DISTINCT and everything else that DuckDB has
    f"WITH a AS ({N}) SELECT g, n FROM a UNION ALL SELECT 'all', SUM(n) FROM a",
    f"WITH a AS ({N}) SELECT DISTINCT n FROM a EXCEPT SELECT 1",
    f"SELECT g, RANK() OVER (ORDER BY n DESC), LAG(n) OVER (ORDER BY n, g) FROM ({N}) AS a",
    f"SELECT * EXCLUDE (s) FROM ({N}) AS a ORDER BY n DESC, g LIMIT 2",
    f"SELECT g, n FROM ({N}) AS a QUALIFY ROW_NUMBER() OVER (ORDER BY s DESC) = 1",
    # what the inner SELECT reads from, and clauses of its own
    "WITH t AS (SELECT g, x FROM t WHERE x > 2) SELECT g, n FROM "
    "(SELECT g, COUNT(*) AS n FROM t GROUP BY g) AS a WHERE n > 1",
    "WITH big AS (SELECT g FROM t WHERE x > 0), a AS (SELECT g, COUNT(*) AS n FROM big GROUP BY g) "
    "SELECT SUM(n) FROM a",
    f"SELECT COUNT(*) FROM ({N} HAVING COUNT(*) > 2) AS a",
    f"SELECT SUM(s) FROM ({N} ORDER BY n DESC, g LIMIT 1) AS a",
    "SELECT a.n * 10 FROM (WITH q AS (SELECT * FROM t) SELECT COUNT(*) AS n FROM q) AS a",
    "SELECT n FROM (SELECT COUNT(*) AS n FROM t) AS a",
    "SELECT (SELECT COUNT(*) FROM t) + 1",
]
WINDOWS = [
    "g, SUM(x) * 100 / SUM(SUM(x)) OVER () AS share",
    "g, AVG(SUM(x)) OVER (PARTITION BY COUNT(*) > 2) AS mean",
    "g, RANK() OVER (ORDER BY COUNT(*) DESC) AS place",
    "g, DENSE_RANK() OVER (ORDER BY COUNT(*)) AS place",
    "g, ROW_NUMBER() OVER (ORDER BY SUM(x) DESC, g NULLS FIRST) AS place",
    "g, MAX(COUNT(*)) OVER () - MIN(COUNT(*)) OVER () AS spread",
    "g, COUNT(*) OVER () AS groups, COUNT(*) AS n",
    "g, SUM(COUNT(*)) OVER (ORDER BY g NULLS LAST) AS so_far",
    "g, COUNT(*) - AVG(COUNT(*)) OVER (PARTITION BY g IS NULL) AS above",
]
SEVERAL = [
    *(f"SELECT {items} FROM t GROUP BY g" for items in WINDOWS),
    "SELECT g, COUNT(*) AS n FROM t GROUP BY g QUALIFY RANK() OVER (ORDER BY COUNT(*) DESC) = 1",
    "SELECT g, SUM(x) AS s FROM t GROUP BY g HAVING SUM(x) > 5 ORDER BY SUM(SUM(x)) OVER () - s",
    "SELECT g, COUNT(*), SUM(x), AVG(x) FROM t GROUP BY ROLLUP (g)",
    "SELECT g, h, COUNT(*) FROM t GROUP BY ROLLUP (g, h)",
    "SELECT g, h, GROUPING(g), GROUPING(g, h) AS which, COUNT(*) FROM t GROUP BY CUBE (g, h)",
    "SELECT g, h, SUM(x) FROM t GROUP BY g, ROLLUP (h) HAVING SUM(x) > 5",
    "SELECT g, COUNT(*), RANK() OVER (PARTITION BY GROUPING(g) ORDER BY SUM(x)) FROM t "
    "GROUP BY ROLLUP (g) ORDER BY 2 DESC, 1, 3",
    "SELECT g, SUM(SUM(x)) OVER (PARTITION BY GROUPING(g)) FROM t GROUP BY ROLLUP (1)",
    "SELECT g, STDDEV(x), VARIANCE(z) FROM t GROUP BY g",
    "SELECT STDDEV_POP(x), VAR_POP(z), STDDEV_SAMP(z), VAR_SAMP(x) FROM t",
    "SELECT g, STDDEV_SAMP(x) / AVG(x), STDDEV(x) FILTER (WHERE h = 1) FROM t GROUP BY ROLLUP (g)",
]
"""What is one SELECT of groups, with more than groups: windows, subtotals, deviations."""


def by_duckdb(text: str) -> list[tuple]:
    base = duckdb.connect()
    base.register("t", T)
    base.register("u", U)
    return base.execute(text).fetchall()


def check(text: str, **given) -> None:
    query = Query(text, connection={"t": T, "u": U}, person="t.p", null_person="refuse", **given)
    found = [tuple(row) for row in query.answer().astype(object).itertuples(index=False)]
    expected = by_duckdb(text)
    rows, wanted = ([[plain(cell) for cell in row] for row in of] for of in (found, expected))
    if "ORDER BY" not in text or "LISTAGG" in text:
        rows, wanted = sorted(rows, key=repr), sorted(wanted, key=repr)
    assert rows == wanted


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


@pytest.mark.parametrize("text", SPELLINGS)
def test_other_spellings_mean_what_duckdb_takes_them_for(text):
    # A SUM of what has no bounds is only exact.
    keys = ["A", "B", None] if "upper" in text else ["a", "b", None]
    if " g, h" in text:
        keys = [("a", 1), ("a", 2), ("b", 1), ("b", 2), (None, 2)]
    check(text, **({"groups": keys} if " g" in text.partition(" FROM t")[0] + text[-9:] else {}))


@pytest.mark.parametrize("text", [*AROUND, *SEVERAL])
def test_what_stands_around_the_aggregates_is_that_of_the_text(text):
    keys = ["a", "b", None]
    if " g, h" in text:
        keys = [("a", 1), ("a", 2), ("b", 1), ("b", 2), (None, 2)]
    check(text, **({"groups": keys} if "GROUP BY" in text.upper() else {}))


def test_what_stands_around_sees_the_answer_and_nothing_else(tmp_path):
    """Neither private tables nor files: what it could read would be published without noise."""
    (tmp_path / "secret.csv").write_text("a\n1\n")
    for rest in ("(SELECT MAX(x) FROM t)", f"(SELECT a FROM '{tmp_path}/secret.csv')"):
        with pytest.raises(
            InputError, match=r"as a value|an aggregate in|FROM reads tables|outside the SELECT"
        ):
            Query(
                f"SELECT n, {rest} FROM (SELECT COUNT(*) AS n FROM t) AS a",
                connection={"t": T},
                person="t.p",
            )
    reads = f"read_csv('{tmp_path}/secret.csv')"
    with pytest.raises(InputError):
        Query(
            f"WITH a AS (SELECT COUNT(*) AS n FROM t) SELECT * FROM a, {reads}",
            connection={"t": T},
            person="t.p",
        )
    with pytest.raises(InputError, match="what stands around the aggregates is not possible"):
        Query("SELECT m FROM (SELECT COUNT(*) AS n FROM t) AS a", connection={"t": T}, person="t.p")


def test_a_plan_publishes_what_stands_around_from_noisy_numbers_alone():
    """Two tables with the same noisy counts have the same answer, whatever else is in them."""
    text = f"WITH a AS ({N}) SELECT COUNT(*) AS groups, SUM(n) AS total FROM a WHERE n >= 0"
    keys = {"groups": ["a", "b", None], "bounds": {"t.x": (0, 10)}}
    plan = Query(text, connection={"t": T}, person="t.p", **keys).plan(epsilon=1, max_rows=2)
    assert [one.name for one in plan.measured] == ["n", "s"]
    assert plan.without_noise().to_frame().values.tolist() == [[3, 8]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT g, COUNT(DISTINCT x) FROM t GROUP BY ROLLUP (g)", "cannot be added up over"),
        ("SELECT g, GROUPING(h) FROM t GROUP BY ROLLUP (g)", "GROUPING takes keys"),
        ("SELECT g, GROUPING(g), COUNT(*) FROM t GROUP BY g", "GROUPING takes keys"),
        ("SELECT SUM(x) OVER () FROM t", "neither an aggregate nor a key"),
        ("SELECT COUNT(*) OVER () FROM t", "windows are not supported"),
        (
            "SELECT g, NTILE(2) OVER (ORDER BY COUNT(*)) FROM t GROUP BY g",
            "not supported with OVER",
        ),
        (
            f"SELECT COUNT(*) FROM ({N}) AS a JOIN t USING (g)",
            "t is read outside the SELECT that aggregates; what stands around that runs on its "
            "noisy answer, and can read nothing else",
        ),
        (f"{N} UNION ALL {N}", "UNION, INTERSECT and EXCEPT"),
        ("SELECT COUNT(*) FROM (SELECT * FROM t JOIN u USING (h)) AS a WHERE x > 1", "two columns"),
        ("SELECT COUNT(*) FROM u, t WHERE u.x IN (SELECT x FROM t)", "IN reads t, which has rows"),
        ("SELECT COUNT(*) FROM t WHERE x IN (SELECT h FROM u WHERE u.x = z)", "no column"),
        ("SELECT COUNT(*) FROM t WHERE x IN (SELECT h FROM u UNION SELECT 1)", "one SELECT of"),
        ("SELECT COUNT(*) FROM t WHERE x IN (SELECT COUNT(*) FROM u)", "aggregate"),
        ("SELECT g FROM t GROUP BY g HAVING COUNT(*) IN (SELECT h FROM u)", "not supported here"),
        (
            "WITH u AS (SELECT h FROM t) SELECT COUNT(*) FROM t WHERE h IN (SELECT h FROM u)",
            "from tables and not from WITH",
        ),
    ],
)
def test_what_is_not_after_the_noise_is_refused(text, why):
    with pytest.raises(InputError, match=why):
        Query(text, connection={"t": T, "u": U}, person="t.p", groups=["a", "b"])


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


@pytest.mark.parametrize(
    ("counted", "number"),
    [("a + b", 2), ("-b", 2), ("a", 4), ("COALESCE(b, a)", 4), ("COALESCE(b, NULL)", 2)],
)
def test_a_count_of_what_can_be_null_is_not_that_of_rows(counted, number):
    table = pd.DataFrame({"p": [1, 1, 2, 3], "a": [1, 2, 3, 4], "b": [1, None, 2, None]})
    text = f"SELECT COUNT({counted}) AS n FROM t"
    asked = Query(text, connection={"t": table}, person="t.p")
    plan = asked.plan(epsilon=1, max_rows=2)
    assert asked.answer()["n"].tolist() == [number]
    assert plan.without_noise().to_frame()["n"].tolist() == [number]
