"""Good arguments of what is public in `sql`, and whether its libraries are installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pandas as pd

HAS_SQL = bool(find_spec("duckdb") and find_spec("sqlglot"))

_ORDERS = pd.DataFrame({"customer": [1, 1, 2], "region": ["f", "m", "f"], "price": [5, 7, 2]})
_CUSTOMERS = pd.DataFrame({"id": [1, 2, 3], "name": ["a", "b", "c"]})
_CONNECTION = {"orders": _ORDERS, "customer": _CUSTOMERS}
_TEXT = "SELECT region, SUM(price) AS total FROM orders GROUP BY region"

SQL_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "sql.Query.sql": (_TEXT,),
    "connection": (_CONNECTION, {"orders": _ORDERS.assign(price=[0.5, 1.5, None])}),
    "person": ("orders.customer", {"orders": "customer"}),
    "sql.Query.bounds": (None, {"orders.price": (0, 6)}),
    "null_person": ("refuse", "public"),
    "foreign_keys": (None, {"orders.customer": "orders.price"}),
    "sql.Query.public": ((), []),
    "show_person": (None, str),
}


def made_queries() -> list[Any]:
    """Queries of every kind: of groups, of several private tables, of a join with itself."""
    from sensitivity_lab.sql import Query

    shopping = "FROM customer JOIN orders ON orders.customer = customer.id"
    persons = {"customer": "id", "orders": "customer"}
    grouped = Query(
        _TEXT,
        connection=_CONNECTION,
        person="orders.customer",
        groups=["f", "m"],
        bounds={"orders.price": (0, 6)},
    )
    joined = Query(f"SELECT COUNT(*) AS n {shopping}", connection=_CONNECTION, person=persons)
    itself = Query(
        "SELECT COUNT(DISTINCT a.price) AS n FROM orders AS a JOIN orders AS b USING (region)",
        connection=_CONNECTION,
        person="orders.customer",
    )
    return [grouped, joined, itself]
