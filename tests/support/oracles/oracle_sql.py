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
from itertools import combinations, combinations_with_replacement, product
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

    def with_each(self, table: str, rows: Iterable[Row]) -> list[Answer]:
        """Return the different answers with one of these rows added, for each of them.

        One new row is written over by the next, which is faster than to insert each anew; many rows
        have the same answer, which is read once.
        """
        names = ", ".join(f'"{one}" = ?' for one in self.database[table].columns)
        found: set[tuple[Row, ...]] = set()
        new = None
        with self._restored():
            for row in rows:
                if new is None:
                    new = len(self.database[table].rows) + 1
                    self._insert(table, row, new)
                else:
                    sql = f'UPDATE "{table}" SET {names} WHERE rowid = ?'
                    self.connection.execute(sql, (*row, new))
                found.add(self._run())
        return [self._read(one) for one in found]


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


Keys = Sequence[Group] | None
"""The groups that count; None for all."""


def norm_of(change: Answer, norm: str, which: int, keys: Keys = None) -> Fraction:
    """Return the norm, over the groups, of one aggregate; of L2, the square."""
    sizes = [abs(one[which]) for key, one in change.items() if keys is None or key in keys]
    if norm == "L1":
        return sum(sizes, Fraction(0))
    if norm == "L2":
        return sum((size**2 for size in sizes), Fraction(0))
    return max(sizes, default=Fraction(0))


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


def largest_removal(
    now: Running,
    units: Sequence[Sequence[Place]],
    k: int,
    norm: str,
    which: int,
    keys: Keys = None,
) -> Fraction:
    """Return the largest change by removing at most k units, each a list of rows."""
    found = Fraction(0)
    for size in range(1, min(k, len(units)) + 1):
        for chosen in combinations(units, size):
            gone = {place for unit in chosen for place in unit}
            change = difference(now.full, now.changed(removed=gone))
            found = max(found, norm_of(change, norm, which, keys))
    return found


def all_rows(database: Database, tables: Iterable[str]) -> list[list[Place]]:
    """Return each row of some tables as a unit of its own."""
    return [[(name, place)] for name in tables for place in range(len(database[name].rows))]


def new_rows(database: Database, table: str, values: Mapping[str, Sequence[Any]]) -> Iterator[Row]:
    """Yield the rows that can be added to a table, with values from a list per column.

    A key that is taken cannot be added again.
    """
    wanted = database[table]
    taken = set() if wanted.key is None else {wanted.value(row, wanted.key) for row in wanted.rows}
    for row in product(*(values[column] for column in wanted.columns)):
        if wanted.key is None or wanted.value(row, wanted.key) not in taken:
            yield row


def additions(now: Running, table: str, values: Mapping[str, Sequence[Any]]) -> list[Answer]:
    """Return the different changes of the answer by one row that can be added to a table."""
    answers = now.with_each(table, new_rows(now.database, table, values))
    return [difference(answer, now.full) for answer in answers]


def largest_addition(
    now: Running, table: str, values: Mapping[str, Sequence[Any]], norm: str, which: int
) -> Fraction:
    """Return the largest change by adding one row to a table."""
    changes = additions(now, table, values)
    return max((norm_of(change, norm, which) for change in changes), default=Fraction(0))


def at_distance(
    now: Running, tables: Sequence[str], values: Mapping[str, Mapping[str, Sequence[Any]]], k: int
) -> Fraction:
    """Return the largest change of the first aggregate, in L1, by one more row, within k rows.

    The local sensitivity at distance k: the largest, over all databases with at most k rows of
    these tables removed or added, of what one further row removed or added can change. A new row
    can be added more than once.
    """
    units = [place for unit in all_rows(now.database, tables) for place in unit]
    fresh = [(name, row) for name in tables for row in new_rows(now.database, name, values[name])]
    known: dict[tuple[frozenset[Place], tuple[int, ...]], Answer] = {}

    def answered(gone: frozenset[Place], more: tuple[int, ...]) -> Answer:
        if (gone, more) not in known:
            known[gone, more] = now.changed(gone, [fresh[i] for i in more])
        return known[gone, more]

    found = Fraction(0)
    for removed in range(k + 1):
        for added in range(k + 1 - removed):
            for gone in combinations(units, removed):
                for more in combinations_with_replacement(range(len(fresh)), added):
                    here = answered(frozenset(gone), more)
                    steps = [answered(frozenset({*gone, u}), more) for u in units if u not in gone]
                    steps += [
                        answered(frozenset(gone), tuple(sorted((*more, i))))
                        for i in range(len(fresh))
                    ]
                    for there in steps:
                        found = max(found, norm_of(difference(here, there), "L1", 0))
    return found
