"""Five questions of TPC-H, in words of our own: a plan for customers, and what it measures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

import duckdb

import sensitivity_lab as sl
from sensitivity_lab.sql import Query

pytestmark = pytest.mark.sql

BOUNDS = {
    "lineitem.l_quantity": (0, 50),
    "lineitem.l_extendedprice": (0, 10_000),
    "lineitem.l_discount": (0, 1),
    "lineitem.l_tax": (0, 1),
}
KEYS = {"orders.o_custkey": "customer.c_custkey", "lineitem.l_orderkey": "orders.o_orderkey"}
TEXTS: dict[str, tuple[str, Any]] = {
    "Q1": (
        """
        SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS quantity,
               SUM(l_extendedprice) AS price,
               SUM(l_extendedprice * (1 - l_discount)) AS discounted,
               SUM((1 + l_tax) * l_extendedprice * (1 - l_discount)) AS charged,
               AVG(l_quantity) AS mean_quantity, AVG(l_extendedprice) AS mean_price,
               AVG(l_discount) AS mean_discount, COUNT(*) AS lines
        FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL 90 DAY
        GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus
        """,
        [("A", "F"), ("N", "F"), ("N", "O"), ("R", "F")],
    ),
    "Q5": (
        """
        SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
        FROM region JOIN nation ON r_regionkey = n_regionkey
        JOIN customer ON c_nationkey = n_nationkey JOIN orders ON o_custkey = c_custkey
        JOIN lineitem ON l_orderkey = o_orderkey
        JOIN supplier ON s_suppkey = l_suppkey AND s_nationkey = c_nationkey
        WHERE r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01'
          AND o_orderdate < DATE '1994-01-01' + INTERVAL 1 YEAR
        GROUP BY n_name ORDER BY 2 DESC
        """,
        "public tables",
    ),
    "Q6": (
        """
        SELECT SUM(l_discount * l_extendedprice) AS revenue FROM lineitem
        WHERE l_quantity < 24 AND l_discount BETWEEN 0.05 AND 0.07
          AND l_shipdate BETWEEN DATE '1994-01-01' AND DATE '1994-12-31'
        """,
        None,
    ),
    "Q12": (
        """
        SELECT l_shipmode,
               SUM(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS high,
               SUM(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 0 ELSE 1 END) AS low
        FROM lineitem JOIN orders ON l_orderkey = o_orderkey
        WHERE l_shipmode IN ('SHIP', 'MAIL') AND l_shipdate < l_commitdate
          AND l_commitdate < l_receiptdate AND YEAR(l_receiptdate) = 1994
        GROUP BY l_shipmode ORDER BY l_shipmode
        """,
        ["MAIL", "SHIP"],
    ),
    "Q14": (
        """
        SELECT 100 * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount)
                         ELSE 0 END) / SUM(l_extendedprice * (1 - l_discount)) AS promo
        FROM part JOIN lineitem ON p_partkey = l_partkey
        WHERE YEAR(l_shipdate) = 1995 AND MONTH(l_shipdate) = 9
        """,
        None,
    ),
}


def days(rng: np.random.Generator, number: int, start: str, most: int) -> pd.Series:
    return pd.Timestamp(start) + pd.Series(pd.to_timedelta(rng.integers(0, most, number), "D"))


def database(seed: int) -> dict[str, pd.DataFrame]:
    """Twelve customers; orders of 1994 and 1995."""
    rng, orders, lines = np.random.default_rng(seed), 60, 400
    shipped = days(rng, lines, "1994-01-01", 700)
    pairs = rng.choice(["A F", "N F", "N O", "R F"], lines)
    urgent = ["1-URGENT", "2-HIGH", "3-MEDIUM", "5-LOW"]
    return {
        "customer": pd.DataFrame({"c_custkey": range(12), "c_nationkey": rng.integers(0, 3, 12)}),
        "orders": pd.DataFrame(
            {
                "o_orderkey": range(orders),
                "o_custkey": rng.integers(0, 12, orders),
                "o_orderdate": days(rng, orders, "1994-01-01", 500),
                "o_orderpriority": rng.choice(urgent, orders),
            }
        ),
        "lineitem": pd.DataFrame(
            {
                "l_orderkey": rng.integers(0, orders, lines),
                "l_partkey": rng.integers(0, 5, lines),
                "l_suppkey": rng.integers(0, 4, lines),
                "l_quantity": rng.integers(1, 51, lines),
                "l_extendedprice": rng.integers(100, 1_000_000, lines) / 100,
                "l_discount": rng.integers(0, 11, lines) / 100,
                "l_tax": rng.integers(0, 9, lines) / 100,
                "l_returnflag": [one[0] for one in pairs],
                "l_linestatus": [one[2] for one in pairs],
                "l_shipdate": shipped,
                "l_commitdate": shipped
                + pd.Series(pd.to_timedelta(rng.integers(-9, 30, lines), "D")),
                "l_receiptdate": shipped
                + pd.Series(pd.to_timedelta(rng.integers(1, 60, lines), "D")),
                "l_shipmode": rng.choice(["MAIL", "SHIP", "AIR"], lines),
            }
        ),
        "part": pd.DataFrame({"p_partkey": range(5), "p_type": [*["PROMO TIN"] * 2, *["ECO"] * 3]}),
        "supplier": pd.DataFrame({"s_suppkey": range(4), "s_nationkey": [0, 1, 2, 0]}),
        "nation": pd.DataFrame(
            {
                "n_nationkey": range(3),
                "n_name": ["INDIA", "JAPAN", "PERU"],
                "n_regionkey": [2, 2, 1],
            }
        ),
        "region": pd.DataFrame({"r_regionkey": [1, 2], "r_name": ["AMERICA", "ASIA"]}),
    }


def asked(name: str, tables: dict[str, pd.DataFrame]) -> Query:
    text, groups = TEXTS[name]
    bounds = {key: ends for key, ends in BOUNDS.items() if key.partition(".")[2] in text}
    if name == "Q6":  # there it is in a condition alone
        del bounds["lineitem.l_quantity"]
    if name == "Q12":
        bounds = None
    return Query(
        text,
        connection=tables,
        person="customer.c_custkey",
        foreign_keys=KEYS,
        groups=groups,
        bounds=bounds,
        public=[one for one in ("region", "nation", "supplier", "part") if one in text],
    )


@pytest.mark.parametrize("name", TEXTS)
def test_a_plan_without_noise_is_the_databases_answer(name):
    tables = database(1)
    plan = asked(name, tables).plan(epsilon=1, max_rows=1000)
    with duckdb.connect() as connection:
        for table, frame in tables.items():
            connection.register(table, frame)
        expected = connection.sql(TEXTS[name][0]).df()
    found = plan.without_noise().to_frame().reset_index()
    keys = [
        column
        for column in expected
        if column in ("n_name", "l_shipmode", "l_returnflag", "l_linestatus")
    ]
    found = found[[*expected.columns]].merge(expected[keys]) if keys else found[[*expected.columns]]
    assert len(expected) > 0
    for column in expected:
        if pd.api.types.is_numeric_dtype(expected[column]):
            np.testing.assert_allclose(
                found[column].astype(float), expected[column].astype(float), rtol=1e-4
            )
        else:
            assert found[column].tolist() == expected[column].tolist()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", TEXTS)
def test_a_customer_moves_what_is_measured_by_the_plans_sensitivity_at_most(name):
    tables = database(2)
    plan = asked(name, tables).plan(epsilon=1, max_rows=3)
    told = plan.to_frame().set_index("name").sensitivity
    whole = plan.without_noise().measured
    moved = set()
    for customer in range(12):
        orders, lines = tables["orders"], tables["lineitem"]
        gone = orders.o_orderkey[orders.o_custkey == customer]
        left = dict(tables)
        left["customer"] = tables["customer"].query("c_custkey != @customer")
        left["orders"] = orders[orders.o_custkey != customer]
        left["lineitem"] = lines[~lines.l_orderkey.isin(gone)]
        other = asked(name, left).plan(epsilon=1, max_rows=3).without_noise().measured
        for one, numbers in whole.items():
            far = np.abs((numbers - other[one]).to_numpy(dtype=float)).sum()
            assert far <= told[one] * (1 + 1e-12)
            moved |= {one} if far > 0 else set()
    assert moved == set(whole)


@pytest.mark.opendp
@pytest.mark.parametrize("name", ["Q1", "Q6"])
def test_it_is_published_for_a_customer(name, tmp_path):
    pytest.importorskip("opendp.prelude", reason="needs the extra `opendp`")
    with pytest.warns(UserWarning, match="epsilon 1000000 is large"):
        plan = asked(name, database(3)).plan(epsilon=10**6, max_rows=1000)
    published = plan.publish(folder=tmp_path / "out")
    exact = asked(name, database(3)).plan(epsilon=1, max_rows=1000).without_noise().to_frame()
    found = published.to_frame()
    assert found.index.equals(exact.index)
    np.testing.assert_allclose(found.astype(float), exact.astype(float), rtol=0.05)
    assert len(pd.read_csv(tmp_path / "out" / "statistics.csv")) == len(exact)
    with pytest.raises(sl.errors.InputError, match="published before"):
        plan.publish()
