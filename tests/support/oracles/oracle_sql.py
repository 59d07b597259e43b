"""What rows and persons change in the answer of a SQL query, by running the query again in SQLite.

A database is a mapping from the name of a table to its `Table`: names of columns and rows, in which
equal rows are different rows. The answer of a query is a mapping from a group (a tuple; the empty
tuple without GROUP BY) to its aggregates; a group without results counts 0 everywhere, and a sum
of nothing is 0. Rows are deleted from the database or inserted into it, and the query runs again:
there is no theory here. This module imports nothing of the package that it judges.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

Row = tuple[Any, ...]
Group = tuple[Any, ...]
Answer = dict[Group, tuple[Fraction, ...]]
Place = tuple[str, int]
"""A row: its table and its position there, from 0."""


@dataclass(frozen=True)
class Table:
    """A table: its columns with their SQL types, its rows, and a column whose values are unique."""

    columns: Mapping[str, str]
    rows: Sequence[Row]
    key: str | None = None

    def value(self, row: Row, column: str) -> Any:
        """Return one cell of a row."""
        return row[list(self.columns).index(column)]


@dataclass(frozen=True)
class Asked:
    """A query: its text, how many of its columns are groups, and the column of persons by table."""

    text: str
    groups: int = 0
    persons: Mapping[str, str] = field(default_factory=dict)


Database = Mapping[str, Table]


class Running:
    """A database in SQLite, in which rows are deleted and inserted for one question at a time."""

    def __init__(self, database: Database, asked: Asked) -> None:
        self.database, self.asked = database, asked
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        for name, table in database.items():
            columns = ", ".join(f'"{column}" {kind}' for column, kind in table.columns.items())
            self.connection.execute(f'CREATE TABLE "{name}" ({columns})')
            for place, row in enumerate(table.rows):
                self._insert(name, row, place + 1)
        self.full = self.answer()

    def close(self) -> None:
        """Close the database."""
        self.connection.close()

    def answer(self) -> Answer:
        """Run the query; a missing aggregate counts as 0."""
        return self._read(self._run())

    def _run(self) -> tuple[Row, ...]:
        return tuple(self.connection.execute(self.asked.text))

    def _read(self, rows: Iterable[Row]) -> Answer:
        n = self.asked.groups
        found: Answer = {}
        for row in rows:
            assert row[:n] not in found
            found[row[:n]] = tuple(Fraction(0 if cell is None else cell) for cell in row[n:])
        return found

    @contextmanager
    def _restored(self) -> Iterator[None]:
        self.connection.execute("SAVEPOINT before")
        try:
            yield
        finally:
            self.connection.execute("ROLLBACK TO before")
            self.connection.execute("RELEASE before")

    def _insert(self, table: str, row: Row, rowid: int | None = None) -> None:
        names = ", ".join(["rowid", *(f'"{one}"' for one in self.database[table].columns)])
        marks = ", ".join("?" * (len(row) + 1))
        self.connection.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', (rowid, *row))

    def changed(
        self, removed: Iterable[Place] = (), added: Iterable[tuple[str, Row]] = ()
    ) -> Answer:
        """Return the answer with some rows removed and some added."""
        with self._restored():
            for table, place in removed:
                self.connection.execute(f'DELETE FROM "{table}" WHERE rowid = ?', (place + 1,))
            for table, row in added:
                self._insert(table, row)
            return self.answer()


def running(database: Database, asked: Asked) -> closing[Running]:
    """Return a context with the database in SQLite."""
    return closing(Running(database, asked))


def difference(one: Answer, other: Answer) -> Answer:
    """Return the first answer minus the second, of the groups in which they differ."""
    some = next(iter([*one.values(), *other.values()]), ())
    nothing = (Fraction(0),) * len(some)
    found = {
        group: tuple(
            a - b for a, b in zip(one.get(group, nothing), other.get(group, nothing), strict=True)
        )
        for group in {**one, **other}
    }
    return {group: change for group, change in found.items() if any(change)}


def rows_of(database: Database, persons: Mapping[str, str]) -> dict[Any, list[Place]]:
    """Return the rows of each person; a row whose person is NULL is nobody's."""
    owned: dict[Any, list[Place]] = {}
    for name, column in persons.items():
        table = database[name]
        for place, row in enumerate(table.rows):
            person = table.value(row, column)
            if person is not None:
                owned.setdefault(person, []).append((name, place))
    return owned


def contributions(now: Running) -> dict[Any, Answer]:
    """Return what vanishes from the answer with all rows of each person."""
    owned = rows_of(now.database, now.asked.persons)
    return {p: difference(now.full, now.changed(removed=rows)) for p, rows in owned.items()}
