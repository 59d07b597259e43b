"""What is declared of tables: foreign keys.

A database of DuckDB declares foreign keys itself; what its tables declare and what the caller adds
hold together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError

from .database import Database
from .join_columns import values_of_type
from .normal_form import ForeignKey, Table
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
