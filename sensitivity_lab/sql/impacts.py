"""What would vanish with each person or row: one grouped query over the join.

A result refers to the units of all its rows, and vanishes with each of them. A *unit* is a person,
or a single row of a private table. With one private table, the results are grouped by its unit.
With several, every result is paired with each of its private rows, but with none whose unit stands
in an earlier one: so a unit that is twice in a result counts it once.

A value of COUNT(DISTINCT ...) vanishes with a unit if all of its results refer to the unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from .answers import WHOLE, Weighing, weigh
from .database import Session
from .normal_form import Aggregate, NormalForm, quoted
from .statements import place_of, statement

Unit = Literal["person", "row"]
"""What is removed or added as a whole."""

IMPACTS = 'temp.main."lab impacts"'
"""The temporary table of impacts: `place`, `unit`, and three numbers per aggregate.

`lost0` is what vanishes with the unit alone, `gain0` and `drop0` bound what can vanish with it in
company: the sums of the positive and of the negative numbers that are at stake.
"""


def units_of(form: NormalForm, unit: Unit, null_person: str) -> list[str]:
    """Return the SQL of the unit of each private source; NULL for public rows.

    Rows of several tables are told apart: a row's number times the number of tables, plus that of
    its table.
    """
    tables = list(dict.fromkeys(source.table.sql for source in form.private))
    types = {source.table.columns[source.person or ""] for source in form.private}
    found = []
    for source in form.private:
        person = source.column(source.person or "").sql
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
) -> list[Weighing]:
    """Fill `IMPACTS`, and return the weighing of each aggregate.

    Raises
    ------
    QueryError
        If floats cannot be added up exactly.
    """
    parts, weighings = [], []
    plain = [place for place, one in enumerate(aggregates) if one.kind != "distinct"]
    if plain:
        weighings = [weigh(form, aggregates[place], session) for place in plain]
        parts.append(_of_sums(form, plain, weighings, units, len(aggregates)))
    for place, one in enumerate(aggregates):
        if one.kind == "distinct":
            parts.append(_of_values(form, place, one, units, len(aggregates)))
    names = [f"{kind}{i}" for i in range(len(aggregates)) for kind in ("lost", "gain", "drop")]
    text = parts[0]
    if len(parts) > 1:
        sums = ", ".join(f"SUM({name}) AS {name}" for name in names)
        for place, weighing in zip(plain, weighings, strict=True):
            sums += f", BOOL_OR(rough{place}) AS rough{place}" if weighing.rough else ""
        together = " UNION ALL BY NAME ".join(f"({part})" for part in parts)
        text = f"SELECT place, unit, {sums} FROM ({together}) GROUP BY place, unit"
    session.run(f"CREATE OR REPLACE TEMP TABLE {IMPACTS} AS {text}")
    for place, weighing in zip(plain, weighings, strict=True):
        if weighing.rough:
            [(found,)] = session.rows(f"SELECT BOOL_OR(rough{place}) FROM {IMPACTS}")
            weighing.check(found)
    by_place = dict(zip(plain, weighings, strict=True))
    return [by_place.get(i, Weighing("", name=one.name)) for i, one in enumerate(aggregates)]


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


def _of_sums(
    form: NormalForm,
    places: Sequence[int],
    weighings: Sequence[Weighing],
    units: Sequence[str],
    number: int,
) -> str:
    """Return the statement for counts and sums."""
    unit, conditions, beside = paired(units)
    select = [f"{place_of(form)} AS place", f"{unit} AS unit"]
    for place, weighing in zip(places, weighings, strict=True):
        select.append(f"CAST({weighing.total} AS HUGEINT) AS lost{place}")
        if len(units) > 1 and not weighing.counts:
            # What a result adds can cancel alone, and not in the company of units that share it.
            for name, sign in (("gain", ""), ("drop", "-")):
                part = f"GREATEST({sign}({weighing.row}), 0)"
                select.append(f"CAST(SUM({part}) AS HUGEINT) AS {name}{place}")
        if weighing.rough:
            select.append(f"BOOL_OR({weighing.rough}) AS rough{place}")
    text = statement(form, select, where=conditions, group_by=["1", "2"], beside=beside)
    outside = ["place", "unit"]
    signed = {place for place, one in zip(places, weighings, strict=True) if not one.counts}
    for place in range(number):
        lost, gain, drop = (f"{one}{place}" for one in ("lost", "gain", "drop"))
        if place not in places:
            outside += [f"CAST(0 AS HUGEINT) AS {one}" for one in (lost, gain, drop)]
        elif len(units) > 1 and place in signed:
            outside += [lost, gain, drop]
        else:
            outside += [lost, f"GREATEST({lost}, 0) AS {gain}", f"GREATEST(-{lost}, 0) AS {drop}"]
    outside += [f"rough{place}" for place, one in zip(places, weighings, strict=True) if one.rough]
    return f"SELECT {', '.join(outside)} FROM ({text})"


def _of_values(
    form: NormalForm, place: int, aggregate: Aggregate, units: Sequence[str], number: int
) -> str:
    """Return the statement for the values of COUNT(DISTINCT ...).

    A value is lost with a unit if as many of its results refer to the unit as there are; it is at
    stake with every unit that one of its results refers to.
    """
    value = "" if aggregate.value is None else aggregate.value.sql
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
    others = ", ".join(
        f"CAST(0 AS HUGEINT) AS {name}{i}"
        for i in range(number)
        if i != place
        for name in ("lost", "gain", "drop")
    )
    lost = "CAST(COUNT(*) FILTER (one.results = whole.results) AS HUGEINT)"
    return (
        f"SELECT one.place AS place, one.unit AS unit, {lost} AS lost{place}, "
        f"CAST(COUNT(*) AS HUGEINT) AS gain{place}, CAST(0 AS HUGEINT) AS drop{place}"
        f"{', ' * bool(others)}{others} FROM ({by_unit}) AS one JOIN ({whole}) AS whole "
        "ON one.place = whole.place AND one.value IS NOT DISTINCT FROM whole.value "
        "GROUP BY one.place, one.unit"
    )


def persons_in(form: NormalForm, session: Session) -> int:
    """Return the number of persons in the private tables that the query reads."""
    parts = {
        f"SELECT {quoted(source.person or '')} AS person FROM {source.table.sql}"
        for source in form.private
    }
    together = " UNION ALL ".join(sorted(parts))
    [(found,)] = session.rows(f"SELECT COUNT(DISTINCT person) FROM ({together})")
    return int(found)


def as_whole(value: Any) -> int:
    """Return a whole number of the database as an int; NULL as 0."""
    return 0 if value is None else int(value)
