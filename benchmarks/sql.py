"""Ten counting joins of TPC-H: exact numbers, and their time.

    python benchmarks/sql.py [LINES] [--only NAMES]

LINES is the number of rows of `lineitem`, by default 1,000,000; NAMES chooses queries, such as
orders,Q8. For each query: the CPU seconds of the query itself, over all threads, which other work
on the machine hardly changes; as multiples of it, those of the contributions of all persons,
of the query grouped by person in DuckDB alone, which is the least that an exact answer costs, and
of a plan's numbers without noise; then the most that one person adds. DuckDB may use 4 GB, and
spills to a temporary folder.
"""

from __future__ import annotations

import argparse
import math
import resource
import tempfile
import time
from collections.abc import Callable
from typing import Any

import duckdb
import tpch

from sensitivity_lab.sql import Query

CUSTOMER, ORDERED = {"customer": "custkey"}, {"orders": "custkey"}
SUPPLIER = {"supplier": "suppkey"}
SHOPPING = "customer JOIN orders USING (custkey) JOIN lineitem USING (orderkey)"
QUERIES: dict[str, tuple[str, dict[str, str], str]] = {
    "orders": ("customer JOIN orders USING (custkey)", CUSTOMER, ""),
    "lines": (SHOPPING, CUSTOMER, ""),
    "Q3": (
        SHOPPING,
        CUSTOMER,
        "mktsegment = 'BUILDING' AND orderdate < DATE '1995-03-15' "
        "AND shipdate > DATE '1995-03-15'",
    ),
    "Q5": (
        "customer c JOIN orders o ON c.custkey = o.custkey JOIN lineitem l "
        "ON o.orderkey = l.orderkey JOIN supplier s ON l.suppkey = s.suppkey "
        "JOIN nation n ON s.nationkey = n.nationkey "
        "JOIN region r ON n.regionkey = r.regionkey",
        CUSTOMER,
        "r.name = 'ASIA' AND c.nationkey = s.nationkey",
    ),
    "Q7": (
        "supplier s JOIN lineitem l ON s.suppkey = l.suppkey JOIN orders o "
        "ON l.orderkey = o.orderkey JOIN customer c ON o.custkey = c.custkey",
        {**CUSTOMER, **SUPPLIER},
        "s.nationkey = 6 AND c.nationkey = 7",
    ),
    "Q8": (
        "part p JOIN lineitem l ON p.partkey = l.partkey JOIN supplier s ON l.suppkey = s.suppkey "
        "JOIN orders o ON l.orderkey = o.orderkey JOIN customer c ON o.custkey = c.custkey "
        "JOIN nation n ON c.nationkey = n.nationkey",
        CUSTOMER,
        "n.regionkey = 1 AND p.type < 15",
    ),
    "Q9": (
        "supplier s JOIN lineitem l ON s.suppkey = l.suppkey JOIN partsupp ps "
        "ON l.partkey = ps.partkey AND l.suppkey = ps.suppkey JOIN part p "
        "ON l.partkey = p.partkey JOIN orders o ON l.orderkey = o.orderkey",
        SUPPLIER,
        "p.brand < 3",
    ),
    "Q10": (SHOPPING + " JOIN nation USING (nationkey)", CUSTOMER, "returnflag = 'R'"),
    "Q11": ("partsupp JOIN supplier USING (suppkey)", SUPPLIER, "availqty > 100"),
    "Q12": (
        "orders JOIN lineitem USING (orderkey)",
        ORDERED,
        "shipmode IN ('MAIL', 'SHIP') AND orderpriority <= 2",
    ),
}
"""FROM, whose rows are private, and WHERE: after queries of the specification, as counts.

In Q5, that customer and supplier are of one nation closes a cycle of joins.
"""

KEYS = {
    "customer": {"orders.custkey": "customer.custkey", "lineitem.orderkey": "orders.orderkey"},
    "orders": {"lineitem.orderkey": "orders.orderkey"},
    "supplier": {"lineitem.suppkey": "supplier.suppkey", "partsupp.suppkey": "supplier.suppkey"},
}
"""By the table of persons, the foreign keys that lead to them."""


def text_of(name: str) -> str:
    """Return the SQL of a query."""
    source, _, where = QUERIES[name]
    return f"SELECT COUNT(*) AS n FROM {source}{f' WHERE {where}' if where else ''}"


def grouped_text(name: str) -> str:
    """Return the SQL of a query that counts the results of each person, of the first table."""
    source, persons, where = QUERIES[name]
    table, column = next(iter(persons.items()))
    alias = table[0] if f"{table} {table[0]} " in source else table
    text = f"SELECT {alias}.{column}, COUNT(*) FROM {source}{f' WHERE {where}' if where else ''}"
    return f"{text} GROUP BY {alias}.{column}"


def seconds(call: Callable[[], Any]) -> float:
    """Return the CPU seconds of the shortest run: of three or more, short ones of up to twenty."""
    found: list[float] = []
    while len(found) < 3 or (sum(found) < 1 and len(found) < 20):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)


def measured(connection: Any, name: str) -> dict[str, Any]:
    """Return the times and the numbers of one query."""
    text, persons = text_of(name), QUERIES[name][1]
    plain = seconds(lambda: connection.execute(text).fetchall())
    by_person = grouped_text(name)
    grouped = seconds(lambda: connection.execute(by_person).fetchnumpy())
    keys = {child: parent for table in persons for child, parent in KEYS[table].items()}
    query = Query(text, connection=connection, person=persons, foreign_keys=keys)
    each = seconds(query.contributions)
    publish = math.nan
    if len(persons) == 1:  # of two persons of a result, a plan keeps nothing
        plan = query.plan(epsilon=1, max_rows=10)
        publish = seconds(plan.without_noise)
    return {
        "name": name,
        "seconds": plain,
        "contributions": each / plain,
        "grouped": grouped / plain,
        "publish": publish / plain,
        "person": query.contributions().top(1)["n"].item(),
    }


def main() -> None:
    """Print a row per query."""
    parser = argparse.ArgumentParser(description="Ten counting joins of TPC-H.")
    parser.add_argument("lines", nargs="?", default="1_000_000", metavar="LINES")
    parser.add_argument("--only", default=",".join(QUERIES), metavar="NAMES")
    given = parser.parse_args()
    names = given.only.split(",")
    if unknown := set(names) - set(QUERIES):
        parser.error(f"--only: no query is called {', '.join(unknown)}; they are {list(QUERIES)}")
    lines = int(given.lines)
    with tempfile.TemporaryDirectory() as spilled:
        settings = {"memory_limit": "4GB", "temp_directory": spilled}
        with duckdb.connect(config=settings) as connection:
            tpch.fill(connection, lines)
            _printed(connection, names, lines)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory of the process: {peak:.1f} GiB")


def _printed(connection: Any, names: list[str], lines: int) -> None:
    """Print a row per query."""
    print(f"{lines:,} lines; times of the exact numbers as multiples of the query's own")
    print("query     seconds  contributions  grouped  publish   person")
    for name in names:
        row = measured(connection, name)
        print(
            f"{name:<8}{row['seconds']:>9.3f}{row['contributions']:>15.1f}"
            f"{row['grouped']:>9.1f}{row['publish']:>9.1f}{row['person']:>9,.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
