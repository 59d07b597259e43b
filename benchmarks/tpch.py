"""The tables of TPC-H, in DuckDB, with data of our own making.

Tables, keys and numbers of rows are those of the specification (TPC, *TPC-H Standard
Specification*, revision 3.0.1, sections 1.4 and 4.2): per 6,000,000 lines there are 1,500,000
orders of 1 to 7 lines, 150,000 customers of whom a third never order, 200,000 parts with 4
suppliers each, and 10,000 suppliers. Columns have their names without the prefix of the table;
texts that no join reads are left out. Values come from hashes of the keys, so that every run has
the same data.
"""

from __future__ import annotations

import duckdb

LINES_PER_SCALE = 6_000_000
REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
SHIP_MODES = ("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK")
FIRST_DAY = "DATE '1992-01-01'"


def drawn(salt: str, sides: int) -> str:
    """Return SQL for a whole number from 0 up to, not including, `sides`.

    `salt` is what it depends on: keys of the row, and the name of the column.
    """
    return f"(hash({salt}) % {sides})::INTEGER"


def one_of(salt: str, words: tuple[str, ...]) -> str:
    """Return SQL for one of some words."""
    listed = ", ".join(f"'{word}'" for word in words)
    return f"[{listed}][1 + {drawn(salt, len(words))}]"


def statements(lines: int) -> dict[str, str]:
    """Return the SELECT that makes each table, for about so many rows of `lineitem`."""
    scale = lines / LINES_PER_SCALE
    customers, orders, parts, suppliers = (
        max(4, round(scale * rows)) for rows in (150_000, 1_500_000, 200_000, 10_000)
    )
    # Customers whose number is a multiple of 3 have no orders.
    place = drawn("o, 'customer'", customers * 2 // 3)
    ordering = f"3 * ({place} // 2) + 1 + {place} % 2"
    nations = ", ".join(f"({key}, 'NATION {key:02}', {key % 5})" for key in range(25))
    regions = ", ".join(f"({key}, '{name}')" for key, name in enumerate(REGIONS))
    supplied = (
        f"1 + (partkey + copy * ({suppliers} // 4 + (partkey - 1) // {suppliers})) % {suppliers}"
    )
    ordered = drawn("o, 'day'", 2406)
    return {
        "region": f"SELECT * FROM (VALUES {regions}) AS r(regionkey, name)",
        "nation": f"SELECT * FROM (VALUES {nations}) AS n(nationkey, name, regionkey)",
        "supplier": f"""
            SELECT s AS suppkey, {drawn("s, 'nation'", 25)} AS nationkey
            FROM range(1, {suppliers} + 1) AS numbers(s)""",
        "customer": f"""
            SELECT c AS custkey, {drawn("c, 'nation'", 25)} AS nationkey,
                {one_of("c, 'segment'", SEGMENTS)} AS mktsegment
            FROM range(1, {customers} + 1) AS numbers(c)""",
        "part": f"""
            SELECT p AS partkey, {drawn("p, 'brand'", 25)} AS brand, 1 + {drawn("p, 'size'", 50)}
                AS size, {drawn("p, 'type'", 150)} AS type
            FROM range(1, {parts} + 1) AS numbers(p)""",
        "partsupp": f"""
            SELECT partkey, {supplied} AS suppkey, {drawn("partkey, copy, 'available'", 9999)} + 1
                AS availqty
            FROM part, range(0, 4) AS numbers(copy)""",
        "orders": f"""
            SELECT o AS orderkey, {ordering} AS custkey,
                {FIRST_DAY} + {ordered} AS orderdate,
                {drawn("o, 'priority'", 5)} + 1 AS orderpriority
            FROM range(1, {orders} + 1) AS numbers(o)""",
        "lineitem": f"""
            SELECT orderkey, partkey, {supplied} AS suppkey, linenumber, quantity,
                orderdate + shipping AS shipdate, shipmode, returnflag
            FROM (
                SELECT orderkey, orderdate, n AS linenumber,
                    1 + {drawn("orderkey, n, 'part'", parts)} AS partkey,
                    {drawn("orderkey, n, 'copy'", 4)} AS copy,
                    1 + {drawn("orderkey, n, 'quantity'", 50)} AS quantity,
                    1 + {drawn("orderkey, n, 'shipping'", 121)} AS shipping,
                    {one_of("orderkey, n, 'mode'", SHIP_MODES)} AS shipmode,
                    {one_of("orderkey, n, 'returned'", ("A", "N", "R"))} AS returnflag
                FROM orders, range(1, 8) AS numbers(n)
                WHERE n <= 1 + {drawn("orderkey, 'lines'", 7)}
            )""",
    }


def fill(connection: duckdb.DuckDBPyConnection, lines: int) -> None:
    """Make the eight tables in a database."""
    for name, statement in statements(lines).items():
        connection.execute(f"CREATE TABLE {name} AS {statement}")
