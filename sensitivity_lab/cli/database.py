"""The command ``sql``: the release of a query over tables, or what each person adds to it."""

from __future__ import annotations

from typing import Any

from sensitivity_lab import sql
from sensitivity_lab.errors import InputError

from .arguments import (
    BOUNDS,
    DATABASE,
    DELTA,
    EPSILON,
    FOREIGN_KEYS,
    KEYS,
    MAX_ROWS,
    NULL_PERSON,
    PERSONS,
    PUBLIC_TABLES,
    PUBLISH,
    SOURCES,
    SPLIT,
    SQL,
)
from .given import Given
from .output import Answer
from .release import released


def contributions(given: Given) -> Answer:
    """Publish a query or plan its release; without a budget, print what each person adds."""
    given.doing("reading the tables")
    query = sql.Query(
        given[SQL],
        connection=given[DATABASE] if given.has(DATABASE) else given.by_name(SOURCES),
        person=_persons(given[PERSONS]),
        null_person=given[NULL_PERSON],
        bounds=given.by_name(BOUNDS) or None,
        groups=given[KEYS],
        foreign_keys=given.by_name(FOREIGN_KEYS) or None,
        public=given[PUBLIC_TABLES].split(",") if given.has(PUBLIC_TABLES) else (),
    )
    if given.has(EPSILON) or given.has(MAX_ROWS) or given.has(PUBLISH):
        given.need(EPSILON, MAX_ROWS)
        losses = {"epsilon": given[EPSILON], "delta": given[DELTA], "split": given[SPLIT]}
        return released(given, query.plan(max_rows=given[MAX_ROWS], **losses))
    given.doing("running the query")
    found = query.contributions()
    return Answer(text=str(found), data=lambda: _data(found))


def _persons(written: list[str]) -> str | dict[str, str]:
    """Return the column of persons, or the columns by table."""
    if len(written) == 1:
        return written[0]
    found: dict[str, str] = {}
    for one in written:
        table, point, column = one.rpartition(".")
        if not (table and point and column) or table in found:
            raise InputError(
                f"--person is written TABLE.COLUMN, once per table, got {', '.join(written)}"
            )
        found[table] = column
    return found


def _data(found: sql.Contributions) -> dict[str, Any]:
    """Return the facts without persons."""
    table = found.distribution()
    return {
        "persons": found.everyone,
        "contributions": {name: table.loc[name].to_dict() for name in table.index},
    }
