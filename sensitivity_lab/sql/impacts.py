"""What would vanish with each person or row: one grouped query over the join.

A result refers to the units of all its rows, and vanishes with each of them. A *unit* is a person,
or a single row of a private table. With one private table, the results are grouped by its unit.
With several, every result is paired with each of its private rows, but with none whose unit stands
in an earlier one: so a unit that is twice in a result counts it once.

A value of COUNT(DISTINCT ...) vanishes with a unit if all of its results refer to the unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .answers import WHOLE, Weighing, weigh
from .database import Session
from .normal_form import Aggregate, NormalForm, quoted
from .statements import place_of, statement

Unit = Literal["person", "row"]
"""What is removed or added as a whole."""

_LOST = 'temp.main."lab lost"'
"""The temporary table of what vanishes with each unit."""


@dataclass(frozen=True)
class Impacts:
    """What would vanish with each unit.

    Attributes
    ----------
    relation : str
        SQL of a relation in brackets: `place`, `unit`, and three numbers per aggregate. `lost0` is
        what vanishes with the unit alone, `gain0` and `drop0` bound what can vanish with it in
        company: the sums of the positive and of the negative numbers that are at stake. All are
        whole numbers of 128 bits.
    weighings : list of Weighing
        Of each aggregate.
    """

    relation: str
    weighings: list[Weighing]


def units_of(form: NormalForm, unit: Unit, null_person: str) -> list[str]:
    """Return the SQL of the unit of each private source; NULL for public rows.

    Rows of several tables are told apart: a row's number times the number of tables, plus that of
    its table.
    """
    tables = list(dict.fromkeys(source.table.sql for source in form.private))
    types = form.person_types
    found = []
    for source in form.private:
        person = source.owner.sql
        if unit == "row":
            place = tables.index(source.table.sql)
            row = f"{quoted(source.alias)}.rowid * {len(tables)} + {place}"
            public = null_person == "public"
            found.append(f"CASE WHEN {person} IS NOT NULL THEN {row} END" if public else row)
        else:
            mixed = len(types) > 1 and types <= set(WHOLE)
            found.append(f"CAST({person} AS HUGEINT)" if mixed else person)
    return found


def make_impacts(
    form: NormalForm,
    aggregates: Sequence[Aggregate],
    units: Sequence[str],
    session: Session,
    *,
    once: bool = False,
) -> Impacts:
    """Return what would vanish with each unit.

    Parameters
    ----------
    form : NormalForm
        The query.
    aggregates : sequence of Aggregate
        What is counted or added up.
    units : sequence of str
        See `units_of`.
    session : Session
        Where statements run.
    once : bool, default False
        Whether the relation is read only once, so that no table of it is needed.

    Raises
    ------
    QueryError
        If floats cannot be added up exactly.
    """
    plain = [place for place, one in enumerate(aggregates) if one.kind != "distinct"]
    weighings = {place: weigh(form, aggregates[place], session) for place in plain}
    text, stakes = _of_all(form, aggregates, weighings, units)
    shown = ", ".join(
        f"CAST(lost{place} AS HUGEINT) AS lost{place}, CAST({gain} AS HUGEINT) AS gain{place}, "
        f"CAST({drop} AS HUGEINT) AS drop{place}"
        for place, (gain, drop) in stakes.items()
    )
    source = f"({text})"
    if not once or any(one.rough for one in weighings.values()):
        session.run(f"CREATE OR REPLACE TEMP TABLE {_LOST} AS {text}")
        source = _LOST
    for place, weighing in weighings.items():
        if weighing.rough:
            [(found,)] = session.rows(f"SELECT BOOL_OR(rough{place}) FROM {_LOST}")
            weighing.check(found)
    return Impacts(
        f"(SELECT place, unit, {shown} FROM {source})",
        [weighings.get(i, Weighing("", name=one.name)) for i, one in enumerate(aggregates)],
    )


def _of_all(
    form: NormalForm,
    aggregates: Sequence[Aggregate],
    weighings: Mapping[int, Weighing],
    units: Sequence[str],
) -> tuple[str, dict[int, tuple[str, str]]]:
    """Return the statement for all aggregates, and the SQL of the two stakes in each.

    The stakes are columns of the statement where they do not follow from what is lost.
    """
    parts = []
    columns = [f"lost{place}" for place in range(len(aggregates))]
    stakes = {p: (f"GREATEST(lost{p}, 0)", f"GREATEST(-lost{p}, 0)") for p in weighings}
    if weighings:
        parts.append(_of_sums(form, weighings, units))
    for place, one in enumerate(aggregates):
        if one.kind == "distinct":
            parts.append(_of_values(form, place, one, units))
            stakes[place] = (f"gain{place}", "0")
            columns.append(f"gain{place}")
        elif _has_stakes(weighings[place], units):
            stakes[place] = (f"gain{place}", f"drop{place}")
            columns += stakes[place]
    if len(parts) == 1:
        return parts[0], stakes
    sums = ", ".join(f"COALESCE(SUM({name}), 0) AS {name}" for name in columns)
    for place, weighing in weighings.items():
        sums += f", BOOL_OR(rough{place}) AS rough{place}" if weighing.rough else ""
    together = " UNION ALL BY NAME ".join(f"({part})" for part in parts)
    return f"SELECT place, unit, {sums} FROM ({together}) GROUP BY place, unit", stakes


def paired(units: Sequence[str]) -> tuple[str, list[str], str]:
    """Return the SQL of a result's unit, the conditions, and the relation it is paired with.

    With several private sources, that is one unit after the other, each once.
    """
    if len(units) == 1:
        return units[0], [f"{units[0]} IS NOT NULL"], ""
    cases, conditions = "", []
    for place, unit in enumerate(units):
        cases += f" WHEN {place} THEN {unit}"
        before = [f"{unit} IS DISTINCT FROM {earlier}" for earlier in units[:place]]
        fresh = " AND ".join([f"{unit} IS NOT NULL", *before])
        conditions.append(f"(lab_row.place = {place} AND {fresh})")
    numbers = ", ".join(f"({place})" for place in range(len(units)))
    return (
        f"CASE lab_row.place{cases} END",
        [f"({' OR '.join(conditions)})"],
        f"(VALUES {numbers}) AS lab_row(place)",
    )


def _has_stakes(weighing: Weighing, units: Sequence[str]) -> bool:
    """Tell whether what a result adds can cancel alone, and not with units that share it."""
    return len(units) > 1 and not weighing.counts


def _is_never_null(form: NormalForm, unit: str) -> bool:
    """Tell whether a join condition already leaves out results whose unit is NULL."""
    return any(unit in (one.left.sql, one.right.sql) for one in form.equalities)


def _of_sums(form: NormalForm, weighings: Mapping[int, Weighing], units: Sequence[str]) -> str:
    """Return the statement for counts and sums."""
    unit, conditions, beside = paired(units)
    select = [f"{unit} AS unit"]
    for place, weighing in weighings.items():
        select.append(f"{weighing.total} AS lost{place}")
        if _has_stakes(weighing, units):
            for name, sign in (("gain", ""), ("drop", "-")):
                select.append(f"SUM(GREATEST({sign}({weighing.row}), 0)) AS {name}{place}")
        if weighing.rough:
            select.append(f"{weighing.is_rough} AS rough{place}")
    if len(units) == 1 and _is_never_null(form, unit):
        conditions = []
    if form.groups:
        select.append(f"{place_of(form)} AS place")
        return statement(
            form, select, where=conditions, group_by=["1", str(len(select))], beside=beside
        )
    # A constant among the keys would keep DuckDB from its faster ways to group.
    text = statement(form, select, where=conditions, group_by=["1"], beside=beside)
    return f"SELECT {place_of(form)} AS place, * FROM ({text})"


def _of_values(form: NormalForm, place: int, aggregate: Aggregate, units: Sequence[str]) -> str:
    """Return the statement for the values of COUNT(DISTINCT ...).

    A value is lost with a unit if as many of its results refer to the unit as there are; it is at
    stake with every unit that one of its results refers to.
    """
    value = aggregate.sql
    here = place_of(form)
    unit, conditions, beside = paired(units)
    by_unit = statement(
        form,
        [f"{here} AS place", f"{value} AS value", f"{unit} AS unit", "COUNT(*) AS results"],
        where=[*conditions, f"{value} IS NOT NULL"],
        group_by=["1", "2", "3"],
        beside=beside,
    )
    whole = statement(
        form,
        [f"{here} AS place", f"{value} AS value", "COUNT(*) AS results"],
        where=[f"{value} IS NOT NULL"],
        group_by=["1", "2"],
    )
    return (
        f"SELECT one.place AS place, one.unit AS unit, COUNT(*) FILTER (one.results = "
        f"whole.results) AS lost{place}, COUNT(*) AS gain{place} FROM ({by_unit}) AS one JOIN "
        f"({whole}) AS whole ON one.place = whole.place AND one.value IS NOT DISTINCT FROM "
        "whole.value GROUP BY one.place, one.unit"
    )


def persons_in(form: NormalForm, session: Session) -> int:
    """Return the number of persons in the private tables that the query reads."""
    parts = {
        f"SELECT {quoted(source.owner.name)} AS person FROM {source.relation}"
        for source in form.private
    }
    together = " UNION ALL ".join(sorted(parts))
    [(found,)] = session.rows(f"SELECT COUNT(DISTINCT person) FROM ({together})")
    return int(found)


def as_whole(value: Any) -> int:
    """Return a whole number of the database as an int; NULL as 0."""
    return 0 if value is None else int(value)
