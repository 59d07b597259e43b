"""Changes of a database: persons or rows that are removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .database import Session
from .impacts import Unit
from .normal_form import NormalForm, Source, Table, quoted

_REMOVED = 'temp.main."lab removed"'


@dataclass(frozen=True, repr=False)
class Removed:
    """Units that are removed.

    Attributes
    ----------
    units : tuple
        The persons, or the numbers of rows (see `units_of`).
    unit : {"person", "row"}
    """

    units: tuple[Any, ...]
    unit: Unit

    def __repr__(self) -> str:
        # Neither the ids of persons nor the values of rows: show these only on purpose.
        return f"Removed({counted(len(self.units), self.unit)})"


def counted(number: int, unit: Unit) -> str:
    """Return a number of persons or rows, in words."""
    return f"{number} {unit}{'s' * (number != 1)}"


def remove_units(form: NormalForm, change: Removed, session: Session) -> dict[str, str]:
    """Return the private tables without some units, by alias, for statements of the session."""
    private = form.private
    types = form.person_types
    type_ = "BIGINT" if change.unit == "row" else "HUGEINT" if len(types) > 1 else min(types)
    session.run(f"CREATE OR REPLACE TEMP TABLE {_REMOVED} (unit {type_})")
    for unit in change.units:
        session.run(f"INSERT INTO {_REMOVED} VALUES (?)", (unit,))
    tables = list(dict.fromkeys(source.table.sql for source in private))
    found = {}
    for source in private:
        unit_sql = quoted(source.owner.name)
        if change.unit == "row":
            unit_sql = f"rowid * {len(tables)} + {tables.index(source.table.sql)}"
        found[source.alias] = (
            f"(SELECT * FROM {source.relation} WHERE ({unit_sql} IN (SELECT unit FROM "
            f"{_REMOVED})) IS NOT TRUE)"
        )
    return found


def rows_of(
    form: NormalForm, units: Sequence[int], session: Session
) -> list[tuple[str, dict[str, Any]]]:
    """Return the tables and the values of rows, by their numbers (see `units_of`).

    Only columns that the query reads are shown.
    """
    tables: dict[str, Source] = {}
    for source in form.private:
        tables.setdefault(source.table.sql, source)
    found = []
    for unit in units:
        row, place = divmod(int(unit), len(tables))
        source = list(tables.values())[place]
        names = used_columns(form, source.table)
        listed = ", ".join(map(quoted, names)) or "rowid"
        [values] = session.rows(f"SELECT {listed} FROM {source.table.sql} WHERE rowid = ?", (row,))
        found.append((source.table.name, dict(zip(names, values, strict=False))))
    return found


def used_columns(form: NormalForm, table: Table) -> tuple[str, ...]:
    """Return the columns of a table that a query reads, in the table's order."""
    aliases = {source.alias for source in form.sources if source.table.sql == table.sql}
    names = {one.name for one in form.used if one.alias in aliases}
    return tuple(name for name in table.columns if name in names)
