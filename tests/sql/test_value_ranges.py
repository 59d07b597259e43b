"""The range of an expression holds every value of it, and conditions see unclipped data."""

from __future__ import annotations

from itertools import product

import pandas as pd
import pytest

pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

import duckdb

from sensitivity_lab.sql import Query

pytestmark = pytest.mark.sql

VALUES = [None, -3, -2, 0, 1, 2, 4]
ROWS = pd.DataFrame(
    [(i, x, y) for i, (x, y) in enumerate(product(VALUES, VALUES))], columns=["p", "x", "y"]
).astype({"x": "Int64", "y": "Int64"})
BOUNDS = {"t.x": (-2, 3), "t.y": (0, 2)}
CASES = {
    # What is added up; the same over clipped columns; its least and its largest value.
    "CASE WHEN x > 3 THEN 1 ELSE 0 END": ("CASE WHEN x > 3 THEN 1 ELSE 0 END", 0, 1),
    "CASE WHEN x > 3 THEN 1 END": ("CASE WHEN x > 3 THEN 1 END", 1, 1),
    "CASE WHEN x > 3 THEN x ELSE y END": ("CASE WHEN x > 3 THEN cx ELSE cy END", -2, 3),
    "CASE x WHEN 4 THEN 7 WHEN -3 THEN y ELSE NULL END": (
        *("CASE WHEN x = 4 THEN 7 WHEN x = -3 THEN cy END", 0, 7),
    ),
    "CASE WHEN x IS NULL THEN y * 2 WHEN y > 1 THEN -x END": (
        *("CASE WHEN x IS NULL THEN cy * 2 WHEN y > 1 THEN -cx END", -3, 4),
    ),
    "COALESCE(x, 5)": ("COALESCE(cx, 5)", -2, 5),
    "COALESCE(x, NULL, y) + 1": ("COALESCE(cx, cy) + 1", -1, 4),
    "CAST(x AS DOUBLE) * 0.5": ("cx / 2", -1, 1.5),
    "CAST(x * 0.3 AS INTEGER)": ("CAST(cx * 0.3 AS INTEGER)", -1, 1),
    "CAST(x * 0.25 AS DECIMAL(9, 1))": ("CAST(cx * 0.25 AS DECIMAL(9, 1))", -0.5, 0.8),
    "CAST(x * 0.25 AS DECIMAL(9))": ("CAST(cx * 0.25 AS DECIMAL(9, 0))", -1, 1),
    "TRY_CAST(x AS FLOAT)": ("cx", -2, 3),
    "x - CASE WHEN y = 1 THEN 0.5 ELSE CAST(y AS DECIMAL(5, 2)) END": (
        *("cx - CASE WHEN y = 1 THEN 0.5 ELSE cy END", -4, 3),
    ),
}
CLIPPED = """
SELECT x, y, CASE WHEN x IS NOT NULL THEN GREATEST(-2, LEAST(3, x)) END AS cx,
       CASE WHEN y IS NOT NULL THEN GREATEST(0, LEAST(2, y)) END AS cy
FROM t
"""


@pytest.mark.parametrize("text", CASES)
def test_a_range_holds_every_value_and_the_plan_says_it(text):
    same, low, high = CASES[text]
    bounds = {name: ends for name, ends in BOUNDS.items() if f"c{name[-1]}" in same}
    query = Query(
        f"SELECT SUM({text}) AS s FROM t",
        connection={"t": ROWS},
        person="t.p",
        bounds=bounds or None,
    )
    plan = query.plan(epsilon=1, max_rows=1)
    largest = max(abs(low), abs(high))
    assert plan.to_frame().sensitivity[0] == pytest.approx(largest, rel=1e-4)
    with duckdb.connect() as connection:
        connection.register("t", ROWS)
        found = [
            float(one)
            for (one,) in connection.sql(f"SELECT {same} FROM ({CLIPPED})").fetchall()
            if one is not None
        ]
    assert low <= min(found)
    assert max(found) <= high
    assert float(query.answer().s[0]) == pytest.approx(sum(found))


def test_bounds_leave_conditions_alone():
    rows = pd.DataFrame({"p": [1, 1, 2, 3], "q": [5, 70, 60, None]})
    text = "SELECT SUM(CASE WHEN q > 55 THEN 1 ELSE 0 END) AS n, SUM(q) AS s FROM t"
    query = Query(text, connection={"t": rows}, person="t.p", bounds={"t.q": (0, 50)})
    assert query.answer().iloc[0].tolist() == [2, 105]
