"""What is declared of tables: domains, keys, foreign keys, and columns that are never NULL.

A database of DuckDB declares keys and foreign keys itself; what its tables declare and what the
caller adds hold together. CHECK constraints are not read: declare domains instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sensitivity_lab.checks import listed, names_of, shown, unboxed
from sensitivity_lab.errors import InputError

from .database import Database
from .normal_form import NormalForm, Source, SourceColumn, Table, alike
from .reading import column_of, own_column


@dataclass(frozen=True)
class ForeignKey:
    """Columns whose values, unless one is NULL, occur in a parent table.

    Attributes
    ----------
    columns : tuple of str
    parent : Table
    parent_columns : tuple of str
    """

    columns: tuple[str, ...]
    parent: Table
    parent_columns: tuple[str, ...]


@dataclass(frozen=True)
class Constraints:
    """What is declared of the tables of a query.

    Attributes
    ----------
    domains : dict of SourceColumn to tuple
        The values that a column can take; NULL is one of them only if it is listed.
    keys_of : dict of str to tuple of tuples of str
        Sets of columns with different values in each row, by the full name of the table.
    foreign_of : dict of str to tuple of ForeignKey
    required : dict of str to frozenset of str
        Columns that are never NULL.
    """

    domains: Mapping[SourceColumn, tuple[Any, ...]] = field(default_factory=dict)
    keys_of: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    foreign_of: Mapping[str, tuple[ForeignKey, ...]] = field(default_factory=dict)
    required: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def domain(self, column: SourceColumn) -> tuple[Any, ...] | None:
        """Return the values that a column can take; None if that is not declared."""
        return self.domains.get(column)

    def keys(self, table: Table) -> tuple[tuple[str, ...], ...]:
        """Return the keys of a table."""
        return self.keys_of.get(table.sql, ())

    def foreign_keys(self, table: Table) -> tuple[ForeignKey, ...]:
        """Return the foreign keys of a table."""
        return self.foreign_of.get(table.sql, ())

    def read_of(self, table: Table) -> set[str]:
        """Return the columns of a table that keys and foreign keys read."""
        found = {name for key in self.keys(table) for name in key}
        for of, several in self.foreign_of.items():
            for one in several:
                found |= set(one.columns) if of == table.sql else set()
                found |= set(one.parent_columns) if one.parent.sql == table.sql else set()
        return found

    def is_required(self, source: Source, name: str) -> bool:
        """Tell whether a column is never NULL."""
        domain = self.domain(source.column(name))
        declared = name in self.required.get(source.table.sql, frozenset())
        return declared or (domain is not None and None not in domain)


def declared(
    form: NormalForm, database: Database, domains: Any, keys: Any, foreign_keys: Any
) -> Constraints:
    """Return what the caller and the database declare; raise InputError for what is wrong."""
    found_keys: dict[str, list[tuple[str, ...]]] = {}
    found_foreign: dict[str, list[ForeignKey]] = {}
    required: dict[str, frozenset[str]] = {}
    for table in dict.fromkeys(source.table for source in form.sources):
        own_keys, own_foreign, own_required = database.constraints(table)
        found_keys[table.sql] = list(own_keys)
        found_foreign[table.sql] = [
            ForeignKey(columns, parent, theirs) for columns, parent, theirs in own_foreign
        ]
        required[table.sql] = own_required
    for name in _names_in(keys, "keys", "{'orders': 'orderkey'}"):
        table = _table(form, name, "keys")
        columns = _columns(keys[name], f"keys[{shown(name)}]")
        found_keys[table.sql].append(tuple(own_column(table, one, "keys") for one in columns))
    for name in _names_in(foreign_keys, "foreign_keys", "{'orders.custkey': 'customer.custkey'}"):
        [column, *_] = column_of(form, name, "foreign_keys")
        parent = foreign_keys[name]
        if not isinstance(parent, str) or not parent.rpartition(".")[0]:
            raise InputError(
                "foreign_keys must map a column to the column of its parent, such as "
                f"{{'orders.custkey': 'customer.custkey'}}, got {shown(parent)}"
            )
        of, _, theirs = parent.rpartition(".")
        table = _table(form, of, "foreign_keys")
        found_foreign[form.source(column.alias).table.sql].append(
            ForeignKey((column.name,), table, (own_column(table, theirs, "foreign_keys"),))
        )
    return Constraints(
        _domains(form, domains),
        {table: tuple(dict.fromkeys(several)) for table, several in found_keys.items()},
        {table: tuple(dict.fromkeys(several)) for table, several in found_foreign.items()},
        required,
    )


def _domains(form: NormalForm, domains: Any) -> dict[SourceColumn, tuple[Any, ...]]:
    """Return the declared domains by column."""
    found: dict[SourceColumn, tuple[Any, ...]] = {}
    for name in _names_in(domains, "domains", "{'orders.status': ['open', 'closed']}"):
        wrong = f"domains[{shown(name)}] must be a list of the values that the column can take"
        values = tuple(map(unboxed, listed(domains[name], wrong)))
        if not values:
            raise InputError(f"{wrong}, got none")
        found |= dict.fromkeys(column_of(form, name, "domains"), values)
    return found


def _names_in(given: Any, argument: str, example: str) -> list[str]:
    """Return the names in a mapping, none of None; raise InputError for anything else."""
    if given is None:
        return []
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InputError(f"{argument} must be a mapping such as {example}, got {shown(given)}")
    return list(given)


def _columns(given: Any, name: str) -> list[str]:
    """Return the columns of a key, one or several."""
    columns = [given] if isinstance(given, str) else listed(given, f"{name} must be columns")
    if not columns or not all(isinstance(one, str) for one in columns):
        raise InputError(
            f"{name} must be a column or a list of columns, such as 'orderkey', got {shown(given)}"
        )
    return columns


def _table(form: NormalForm, name: str, argument: str) -> Table:
    known = {source.table.name: source.table for source in form.sources}
    found = alike(name, known)
    if found is None:
        raise InputError(
            f"{argument}: the query reads no table {shown(name)}; its tables are {names_of(known)}"
        )
    return known[found]
