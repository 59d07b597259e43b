"""What is declared of tables: foreign keys.

A database of DuckDB declares foreign keys itself; what its tables declare and what the caller adds
hold together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sensitivity_lab.checks import names_of, shown
from sensitivity_lab.errors import InputError

from .database import Database
from .normal_form import NormalForm, Table, alike
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
    foreign_of : dict of str to tuple of ForeignKey
        By the full name of the table.
    """

    foreign_of: Mapping[str, tuple[ForeignKey, ...]] = field(default_factory=dict)

    def foreign_keys(self, table: Table) -> tuple[ForeignKey, ...]:
        """Return the foreign keys of a table."""
        return self.foreign_of.get(table.sql, ())


def declared(form: NormalForm, database: Database, foreign_keys: Any) -> Constraints:
    """Return what the caller and the database declare; raise InputError for what is wrong."""
    found: dict[str, list[ForeignKey]] = {}
    for table in dict.fromkeys(source.table for source in form.sources):
        found[table.sql] = [ForeignKey(*one) for one in database.foreign_keys(table)]
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
        found[form.source(column.alias).table.sql].append(
            ForeignKey((column.name,), table, (own_column(table, theirs, "foreign_keys"),))
        )
    return Constraints({table: tuple(dict.fromkeys(keys)) for table, keys in found.items()})


def _names_in(given: Any, argument: str, example: str) -> list[str]:
    """Return the names in a mapping, none of None; raise InputError for anything else."""
    if given is None:
        return []
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InputError(f"{argument} must be a mapping such as {example}, got {shown(given)}")
    return list(given)


def _table(form: NormalForm, name: str, argument: str) -> Table:
    known = {source.table.name: source.table for source in form.sources}
    found = alike(name, known)
    if found is None:
        raise InputError(
            f"{argument}: the query reads no table {shown(name)}; its tables are {names_of(known)}"
        )
    return known[found]
