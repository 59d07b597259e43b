"""A query of the package against brute force in SQLite, on one random database."""

from __future__ import annotations

import sqlite3
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import pandas as pd
import pytest
from oracle_sql import (
    Answer,
    Running,
    contributions,
    running,
)
from sql_cases import COLUMNS, SqlCase

from sensitivity_lab.errors import InputError

NORMS = ("L1", "L2", "Linf")


def as_frames(case: SqlCase) -> dict[str, pd.DataFrame]:
    """Return the tables for pandas, with types that hold NULL."""
    types = {name: "Int64" if kind == "INTEGER" else "string" for name, kind in COLUMNS.items()}
    return {
        name: pd.DataFrame(list(table.rows), columns=list(COLUMNS)).astype(types)
        for name, table in case.database.items()
    }


@cache
def one_database_of_duckdb() -> Any:
    """Return the connection that all cases share: a new one takes longer than a case."""
    import duckdb

    return duckdb.connect(config={"threads": 1})


def as_duckdb(case: SqlCase) -> Any:
    """Return a database of DuckDB that holds these tables and no other, until the next call."""
    connection = one_database_of_duckdb()
    for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
        connection.execute(f"DROP TABLE {name}")
    for name, table in case.database.items():
        columns = ", ".join(f"{column} {kind}" for column, kind in COLUMNS.items())
        connection.execute(f"CREATE TABLE {name} ({columns})")
        if table.rows:
            marks = ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(table.rows))
            cells = [cell for row in table.rows for cell in row]
            connection.execute(f"INSERT INTO {name} VALUES {marks}", cells)
    return connection


def as_sqlite(case: SqlCase) -> sqlite3.Connection:
    """Return the tables in a database of SQLite."""
    connection = sqlite3.connect(":memory:")
    for name, table in case.database.items():
        columns = ", ".join(f"{column} {kind}" for column, kind in COLUMNS.items())
        connection.execute(f"CREATE TABLE {name} ({columns})")
        connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?, ?)", table.rows)
    return connection


CONNECTIONS = (as_duckdb, as_duckdb, as_frames, as_sqlite)


def public_keys(case: SqlCase, now: Running, random: Random) -> list[tuple[Any, ...]] | None:
    """Return most of the groups that occur, and one that does not."""
    if not case.groups:
        return None
    found = [key for key in now.full if random.random() < 0.9]
    found += [next(iter(now.full), (None,) * case.groups)] * (not found)
    return found


def query_of(case: SqlCase, keys: list[tuple[Any, ...]] | None, random: Random, **more: Any) -> Any:
    """Return the query of a case, over one of several kinds of connections."""
    from sensitivity_lab.sql import Query

    # SQLite keeps no types in an empty column, and the package reads them off the values.
    return Query(
        case.text,
        connection=random.choice(CONNECTIONS)(case),
        person=case.persons,
        bounds=case.bounds or None,
        groups=keys,
        null_person=case.null_person,
        public=[name for name in case.database if name not in case.persons],
        **more,
    )


def within(change: Answer, keys: list[tuple[Any, ...]] | None) -> Answer:
    """Return the part of a change that is in public groups."""
    return change if keys is None else {key: one for key, one in change.items() if key in keys}


def check_contributions(query: Any, now: Running, keys: list[tuple[Any, ...]] | None) -> int:
    """Compare the contributions of all persons with brute force; return how many are not zero."""
    frame = query.contributions().to_frame()
    width = now.asked.groups
    # An aggregate that the text has twice is measured once, under its first name.
    names = list(frame.columns[1 + width :])
    expected = {
        (person, key, f"a{place}"): part
        for person, change in contributions(now).items()
        for key, parts in within(change, keys).items()
        for place, part in enumerate(parts)
        if part and f"a{place}" in names
    }
    found = {}
    for person, *rest in frame.itertuples(index=False):
        key = tuple(None if pd.isna(cell) else cell for cell in rest[:width])
        for name, value in zip(names, rest[width:], strict=True):
            if value:
                found[int(person), key, name] = Fraction(value)
    assert found == expected
    return len(expected)


def largest(query: Any, name: str | None = None) -> Any:
    """Return the most that any person adds to an aggregate, by default the first, in L1."""
    found = query.contributions()
    sizes = found.of_persons()[found.names[0] if name is None else name]
    return max(sizes, default=0)


def check_case(case: SqlCase, seed: int) -> int:
    """Compare the contributions; return how many of the numbers are not zero."""
    random = Random(seed)
    with running(case.database, case.asked) as now:
        keys = public_keys(case, now, random)
        query = query_of(case, keys, random)
        if any(source.left is not None for source in query.form.private):
            with pytest.raises(InputError, match=r"^contributions: a LEFT JOIN to a private"):
                query.contributions()
            return 0
        return check_contributions(query, now, keys)
