"""What would vanish with each person: one grouped query over the join.

A result refers to the persons of all its rows, and vanishes with each of them. With one private
table, the results are grouped by its person. With several, every result is paired with each of its
private rows, but with none whose person stands in an earlier one: so a person who is twice in a
result counts it once.

A value of COUNT(DISTINCT ...) vanishes with a person if all of its results refer to the person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .answers import WHOLE, Weighing, weigh
from .database import Session
from .normal_form import Aggregate, NormalForm, place_of, quoted, statement

_LOST = 'temp.main."lab lost"'
"""The temporary table of what vanishes with each person."""


@dataclass(frozen=True)
class Impacts:
    """What would vanish with each person.

    Attributes
    ----------
    relation : str
        SQL of a relation in brackets: `place`, `person`, and `lost0`, `lost1` ... of the
        aggregates, whole numbers of 128 bits.
    weighings : list of Weighing
        Of each aggregate.
    """

    relation: str
    weighings: list[Weighing]


def persons_of(form: NormalForm) -> list[str]:
    """Return the SQL of the person of each private source; NULL for public rows."""
    types = form.person_types
    # Whole numbers of two types are compared as such; other types are left as they are.
    mixed = len(types) > 1 and types <= set(WHOLE)
    sql = [source.owner.sql for source in form.private]
    return [f"CAST({one} AS HUGEINT)" if mixed else one for one in sql]


def make_impacts(form: NormalForm, session: Session, *, once: bool = False) -> Impacts:
    """Return what would vanish with each person.

    Parameters
    ----------
    form : NormalForm
        The query.
    session : Session
        Where statements run.
    once : bool, default False
        Whether the relation is read only once, so that no table of it is needed.

    Raises
    ------
    QueryError
        If floats cannot be added up exactly.
    """
    # A number of distinct values is no sum over results: it has a statement of its own.
    plain = [place for place, one in enumerate(form.aggregates) if one.kind != "distinct"]
    weighings = {place: weigh(form, form.aggregates[place], session) for place in plain}
    text = _of_all(form, weighings)
    source = f"({text})"
    # With floats the relation is read twice, once to see whether one was rounded.
    if not once or any(one.rough for one in weighings.values()):
        session.run(f"CREATE OR REPLACE TEMP TABLE {_LOST} AS {text}")
        source = _LOST
    for place, weighing in weighings.items():
        if weighing.rough:
            [(found,)] = session.rows(f"SELECT BOOL_OR(rough{place}) FROM {_LOST}")
            weighing.check(found)
    numbers = range(len(form.aggregates))
    shown = ", ".join(f"CAST(lost{place} AS HUGEINT) AS lost{place}" for place in numbers)
    return Impacts(
        f"(SELECT place, person, {shown} FROM {source})",
        [weighings.get(i, Weighing("", name=one.name)) for i, one in enumerate(form.aggregates)],
    )


def _of_all(form: NormalForm, weighings: Mapping[int, Weighing]) -> str:
    """Return the statement for all aggregates."""
    parts = [_of_sums(form, weighings)] if weighings else []
    for place, one in enumerate(form.aggregates):
        if one.kind == "distinct":
            parts.append(_of_values(form, place, one))
    if len(parts) == 1:
        return parts[0]
    # Each part has columns of its own; a person can be in one and not in another.
    numbers = range(len(form.aggregates))
    sums = ", ".join(f"COALESCE(SUM(lost{place}), 0) AS lost{place}" for place in numbers)
    for place, weighing in weighings.items():
        sums += f", BOOL_OR(rough{place}) AS rough{place}" if weighing.rough else ""
    # BY NAME puts NULL where a part lacks a column, and COALESCE makes it 0.
    together = " UNION ALL BY NAME ".join(f"({part})" for part in parts)
    return f"SELECT place, person, {sums} FROM ({together}) GROUP BY place, person"


def paired(persons: Sequence[str]) -> tuple[str, list[str], str]:
    """Return the SQL of a result's person, the conditions, and the relation it is paired with.

    With several private sources, that is one person after the other, each once.
    """
    if len(persons) == 1:
        return persons[0], [f"{persons[0]} IS NOT NULL"], ""
    # Each result is paired with a row number for every private source. Row i stands for the person
    # of source i, and is dropped where that person is NULL or is one of the sources before: persons
    # (7, 7, 9) leave rows 0 and 2.
    cases, conditions = "", []
    for place, person in enumerate(persons):
        cases += f" WHEN {place} THEN {person}"
        before = [f"{person} IS DISTINCT FROM {earlier}" for earlier in persons[:place]]
        fresh = " AND ".join([f"{person} IS NOT NULL", *before])
        conditions.append(f"(lab_row.place = {place} AND {fresh})")
    numbers = ", ".join(f"({place})" for place in range(len(persons)))
    return (
        f"CASE lab_row.place{cases} END",
        [f"({' OR '.join(conditions)})"],
        f"(VALUES {numbers}) AS lab_row(place)",
    )


def _of_sums(form: NormalForm, weighings: Mapping[int, Weighing]) -> str:
    """Return the statement for counts and sums."""
    person, conditions, beside = paired(persons_of(form))
    select = [f"{person} AS person"]
    for place, weighing in weighings.items():
        select.append(f"{weighing.total} AS lost{place}")
        if weighing.rough:
            select.append(f"BOOL_OR({weighing.rough}) AS rough{place}")
    if form.groups:
        select.append(f"{place_of(form)} AS place")
        return statement(
            form, select, where=conditions, group_by=["1", str(len(select))], beside=beside
        )
    # A constant among the keys would keep DuckDB from its faster ways to group.
    text = statement(form, select, where=conditions, group_by=["1"], beside=beside)
    return f"SELECT {place_of(form)} AS place, * FROM ({text})"


def _of_values(form: NormalForm, place: int, aggregate: Aggregate) -> str:
    """Return the statement for the values of COUNT(DISTINCT ...).

    A value is lost with a person if as many of its results refer to the person as there are.
    """
    value = aggregate.sql
    here = place_of(form)
    person, conditions, beside = paired(persons_of(form))
    # How many results of each value refer to each person ...
    by_person = statement(
        form,
        [f"{here} AS place", f"{value} AS value", f"{person} AS person", "COUNT(*) AS results"],
        where=[*conditions, f"{value} IS NOT NULL"],
        group_by=["1", "2", "3"],
        beside=beside,
    )
    # ... and how many there are in all. Equal numbers: no result of the value is left without the
    # person.
    whole = statement(
        form,
        [f"{here} AS place", f"{value} AS value", "COUNT(*) AS results"],
        where=[f"{value} IS NOT NULL"],
        group_by=["1", "2"],
    )
    return (
        f"SELECT one.place AS place, one.person AS person, COUNT(*) FILTER (one.results = "
        f"whole.results) AS lost{place} FROM ({by_person}) AS one JOIN "
        f"({whole}) AS whole ON one.place = whole.place AND one.value IS NOT DISTINCT FROM "
        "whole.value GROUP BY one.place, one.person"
    )


def persons_in(form: NormalForm, session: Session) -> int:
    """Return the number of persons in the private tables that the query reads."""
    # A set, so that a table that is joined with itself is read once.
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
