"""Cascades: rows that refer to a person's rows by a foreign key, and cannot outlive them.

A person takes their rows of the private tables along. A row that refers to one of those by a
declared foreign key has to go, too, be it public or another person's. If the query joins the two on
that key, this changes nothing: every result of the row that refers is also one of the row that it
refers to, and is lost with it. If not, the removal would take results along that nobody counted, so
it is refused. A foreign key between two columns of persons ties rows of one person, who takes all
of them along; but a single row that is removed takes along what refers to it.

A database of DuckDB declares foreign keys itself; what its tables declare and what the caller adds
hold together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sensitivity_lab.checks import named, names_of, shown
from sensitivity_lab.errors import InputError

from .answers import classes, join_equalities, values_of_type
from .database import Database
from .normal_form import ForeignKey, NormalForm, Source, SourceColumn, Table, equalities_in
from .sql_parser import own_column


@dataclass(frozen=True)
class Constraints:
    """What is declared of the tables of a database.

    Attributes
    ----------
    database : Database
        Declares foreign keys itself, if it is one of DuckDB.
    given : dict of str to list of ForeignKey
        What the caller declares, by the full name of the table.
    """

    database: Database
    given: Mapping[str, list[ForeignKey]] = field(default_factory=dict)

    def foreign_keys(self, table: Table) -> list[ForeignKey]:
        """Return the foreign keys of a table, whether the query reads it or not."""
        # What both declare counts once.
        own = [ForeignKey(*one) for one in self.database.foreign_keys(table)]
        return list(dict.fromkeys([*own, *self.given.get(table.sql, ())]))


def declared(database: Database, foreign_keys: Any) -> Constraints:
    """Return what the caller and the database declare; raise InputError for what is wrong."""
    found: dict[str, list[ForeignKey]] = {}
    example = "{'orders.custkey': 'customer.custkey'}"
    for name in _names_in(foreign_keys, "foreign_keys", example):
        (child, column), (parent, theirs) = (
            _column(database, one, example) for one in (name, foreign_keys[name])
        )
        types = child.columns[column], parent.columns[theirs]
        if len(set(map(values_of_type, types))) > 1:
            raise InputError(
                f"foreign_keys: {child.name}.{column} ({types[0]}) and {parent.name}.{theirs} "
                f"({types[1]}) have two types, so that equal ones need not be the same: give them "
                "one, in pandas by astype('Int64')"
            )
        found.setdefault(child.sql, []).append(ForeignKey((column,), parent, (theirs,)))
    return Constraints(database, found)


def _column(database: Database, name: Any, example: str) -> tuple[Table, str]:
    """Return the table and the column of a name such as "orders.custkey"."""
    of, _, column = name.rpartition(".") if isinstance(name, str) else ("", "", "")
    if not (of and column):
        raise InputError(
            "foreign_keys must map a column to the column of its parent, such as "
            f"{example}, got {shown(name)}"
        )
    table = database.table(of.split("."), "in foreign_keys")
    return table, own_column(table, column, "foreign_keys")


def _names_in(given: Any, argument: str, example: str) -> list[str]:
    """Return the names in a mapping, none of None; raise InputError for anything else."""
    if given is None:
        return []
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InputError(f"{argument} must be a mapping such as {example}, got {shown(given)}")
    return list(given)


Path = tuple[ForeignKey, ...]
"""Foreign keys, each of the parent of the one before."""


@dataclass(frozen=True)
class Cascades:
    """What public tables lose with the rows of a person.

    Attributes
    ----------
    joined : tuple of str
        Public tables whose rows refer to a person's rows, and are joined with them.
    other : tuple of (Source, ForeignKey)
        Sources whose rows refer to a person's rows, and are not joined with them.
    keys : tuple of ForeignKey
        Those of `joined` sources: each value must find one row.
    """

    joined: tuple[str, ...]
    other: tuple[tuple[Source, ForeignKey], ...]
    keys: tuple[ForeignKey, ...]

    def check(self) -> None:
        """Raise InputError if a removal takes results along that are not counted."""
        if not self.other:
            return
        source, foreign = self.other[0]
        way = ""
        if source.person is None:
            way = f", or name the column of persons of {named(source.table.name)} in person"
        child, parent = named(source.table.name), named(foreign.parent.name)
        key = names_of([f"{source.table.name}.{one}" for one in foreign.columns], named)
        raise InputError(
            f"person: rows of {child} refer to rows of {parent} by a foreign key ({key}), and have "
            f"to go when those go with a person; the query does not join "
            f"{child} with {parent} on that key, so what they take along is not computed: join the "
            f"two{way}"
        )


def cascades(form: NormalForm, constraints: Constraints, private: Mapping[str, str]) -> Cascades:
    """Return what public tables lose with a person.

    Parameters
    ----------
    form : NormalForm
        The query.
    constraints : Constraints
        What is declared of its tables, and of those that they refer to.
    private : mapping of str to str
        The column of persons of all tables that have one, read by the query or not, by the table's
        full name.
    """
    losing = _Losing(constraints, private)
    for source in form.lookups:
        if losing.loses(source.table):
            raise InputError(
                f"sql: IN reads {source.table.name}, which has rows that go with a person; join it "
                "instead: if several of its rows match, a join counts each of them"
            )
    # Every key of every source whose parent loses rows, by whether the query joins along it.
    found: dict[str, list[tuple[Source, ForeignKey]]] = {"joined": [], "other": []}
    for source in form.sources:
        for foreign in constraints.foreign_keys(source.table):
            if losing.loses(foreign.parent):
                kind = _kind(form, source, foreign, private.get(foreign.parent.sql))
                if kind is not None:
                    found[kind].append((source, foreign))
    public = [source.table.name for source, _ in found["joined"] if source.person is None]
    keys = tuple(foreign for _, foreign in found["joined"])
    joined = tuple(dict.fromkeys(public))
    return Cascades(joined, tuple(found["other"]), keys)


class _Losing:
    """Which tables lose rows with a person, and by which foreign keys.

    Parameters
    ----------
    constraints : Constraints
    private : mapping of str to str
        As for `cascades`.
    """

    def __init__(self, constraints: Constraints, private: Mapping[str, str]) -> None:
        self._constraints, self._private = constraints, private
        self._known = dict.fromkeys(private, True)

    def loses(self, table: Table) -> bool:
        """Tell whether a table loses rows; foreign keys can close a cycle."""
        if table.sql not in self._known:
            # False until it is known: a cycle of keys comes back here, and does not lose rows by
            # itself.
            self._known[table.sql] = False
            keys = self._constraints.foreign_keys(table)
            self._known[table.sql] = any(self.loses(one.parent) for one in keys)
        return self._known[table.sql]

    def paths(self, table: Table, seen: frozenset[str] = frozenset()) -> list[Path]:
        """Return the paths of foreign keys from a table to those with a column of persons."""
        found: list[Path] = []
        for one in self._constraints.foreign_keys(table):
            if one.parent.sql in self._private:
                found.append((one,))
            # A path does not visit a table twice.
            elif one.parent.sql not in seen | {table.sql}:
                rest = self.paths(one.parent, seen | {table.sql})
                found += [(one, *path) for path in rest]
        return found


def with_owners(
    form: NormalForm, constraints: Constraints, private: Mapping[str, str]
) -> NormalForm:
    """Return the query with the owners of tables whose foreign keys lead to a person.

    A table that is joined with its parent needs none: its rows are in results together with the
    parent's alone, and are lost with these.

    Raises
    ------
    InputError
        If several paths lead to persons, who need not be the same.
    """
    losing = _Losing(constraints, private)
    sources = []
    for source in form.sources:
        keys = constraints.foreign_keys(source.table) if source.person is None else []
        # A row that is joined with its parent has no results without it, and needs no owner.
        open_ = [
            one for one in keys if losing.loses(one.parent) and not _is_joined(form, source, one)
        ]
        if not open_:
            sources.append(source)
            continue
        paths = losing.paths(source.table)
        if len(paths) > 1:
            table = named(source.table.name)
            raise InputError(
                f"person: {len(paths)} paths of foreign keys lead from {table} to persons, who "
                f"need not be the same; name the column of persons of {table} in person, or join "
                f"{table} with the tables that it refers to"
            )
        person = private[paths[0][-1].parent.sql]
        sources.append(replace(source, person=person, path=paths[0]))
    return replace(form, sources=tuple(sources))


def _kind(form: NormalForm, child: Source, foreign: ForeignKey, person: str | None) -> str | None:
    """Tell whether rows of a foreign key are joined or not; None for rows of one person."""
    if _is_joined(form, child, foreign):
        return "joined"
    if foreign in child.path:
        return None
    # A key from one column of persons to another ties rows of one person, who takes all of them
    # along anyway.
    pairs = zip(foreign.columns, foreign.parent_columns, strict=True)
    same = any(mine == child.person and theirs == person for mine, theirs in pairs)
    return None if person and same else "other"


def _is_joined(form: NormalForm, child: Source, foreign: ForeignKey) -> bool:
    """Tell whether a row of a source is in results only together with the row it refers to.

    The condition may stand in WHERE, in ON of an inner join, or in ON of the LEFT JOIN that adds
    the child, but not in that of one that adds the parent: its rows can be missing in a result.
    """
    # For a child that a LEFT JOIN adds, its own ON counts, too: a row of it that finds no parent is
    # in no result.
    equal = classes([*join_equalities(form), *equalities_in(child.left or ())])

    def same(one: SourceColumn, other: SourceColumn) -> bool:
        return any({one, other} <= columns for columns in equal)

    return any(
        all(
            same(child.column(name), parent.column(theirs))
            for name, theirs in zip(foreign.columns, foreign.parent_columns, strict=True)
        )
        for parent in form.sources
        if parent.table.sql == foreign.parent.sql
    )
