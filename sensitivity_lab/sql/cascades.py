"""Cascades: rows that refer to a person's rows by a foreign key, and cannot outlive them.

A person takes their rows of the private tables along. A row that refers to one of those by a
declared foreign key has to go, too, be it public or another person's. If the query joins the two on
that key, this changes nothing: every result of the row that refers is also one of the row that it
refers to, and is lost with it. If not, the removal would take results along that nobody counted, so
it is refused. A foreign key between two columns of persons ties rows of one person, who takes all
of them along; but a single row that is removed takes along what refers to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sensitivity_lab.checks import named, names_of
from sensitivity_lab.errors import InputError

from .constraints import Constraints, ForeignKey
from .database import Database
from .join_columns import classes, join_equalities
from .normal_form import Equality, NormalForm, Source, SourceColumn, Table


@dataclass(frozen=True)
class Cascades:
    """What public tables lose with the rows of a person.

    Attributes
    ----------
    joined : tuple of str
        Public tables whose rows refer to a person's rows, and are joined with them.
    other : tuple of (Source, ForeignKey)
        Sources whose rows refer to a person's rows, and are not joined with them.
    own : tuple of (Source, ForeignKey)
        Sources whose rows refer to rows of the same person, and are not joined with them.
    """

    joined: tuple[str, ...]
    other: tuple[tuple[Source, ForeignKey], ...]
    own: tuple[tuple[Source, ForeignKey], ...]

    def check(self, unit: str = "person") -> None:
        """Raise InputError if a removal takes results along that are not counted."""
        found = [*self.other, *(self.own if unit == "row" else ())]
        if not found:
            return
        source, foreign = found[0]
        way = ""
        if source.person is None:
            way = f", or name the column of persons of {named(source.table.name)} in person"
        child, parent = named(source.table.name), named(foreign.parent.name)
        key = names_of([f"{source.table.name}.{one}" for one in foreign.columns], named)
        raise InputError(
            f"person: rows of {child} refer to rows of {parent} by a foreign key ({key}), and have "
            f"to go when those go{' with a person' * (unit == 'person')}; the query does not join "
            f"{child} with {parent} on that key, so what they take along is not computed: join the "
            f"two{way}"
        )


def cascades(
    form: NormalForm, constraints: Constraints, database: Database, private: Mapping[str, str]
) -> Cascades:
    """Return what public tables lose with a person.

    Parameters
    ----------
    form : NormalForm
        The query.
    constraints : Constraints
        What is declared of the query's tables.
    database : Database
        Asked about tables that the query does not read, but its tables refer to.
    private : mapping of str to str
        The column of persons of all tables that have one, read by the query or not, by the table's
        full name.
    """
    losing = dict.fromkeys(private, True)
    read = {source.table.sql for source in form.sources}

    def foreign_keys(table: Table) -> Iterable[ForeignKey]:
        if table.sql in read:
            return constraints.foreign_keys(table)
        return [ForeignKey(*one) for one in database.foreign_keys(table)]

    def loses(table: Table) -> bool:
        """Tell whether a table loses rows with a person; foreign keys can close a cycle."""
        if table.sql not in losing:
            losing[table.sql] = False
            losing[table.sql] = any(loses(one.parent) for one in foreign_keys(table))
        return losing[table.sql]

    found: dict[str, list[tuple[Source, ForeignKey]]] = {"joined": [], "own": [], "other": []}
    pairs = [(source, one) for source in form.sources for one in foreign_keys(source.table)]
    for source, foreign in pairs:
        if loses(foreign.parent):
            kind = _kind(form, source, foreign, private.get(foreign.parent.sql))
            found[kind].append((source, foreign))
    public = [source.table.name for source, _ in found["joined"] if source.person is None]
    return Cascades(tuple(dict.fromkeys(public)), tuple(found["other"]), tuple(found["own"]))


def _kind(form: NormalForm, child: Source, foreign: ForeignKey, person: str | None) -> str:
    """Tell whether rows of a foreign key are joined, else whether they belong to one person."""
    if _is_joined(form, child, foreign):
        return "joined"
    pairs = zip(foreign.columns, foreign.parent_columns, strict=True)
    same = any(mine == child.person and theirs == person for mine, theirs in pairs)
    return "own" if person and same else "other"


def _is_joined(form: NormalForm, child: Source, foreign: ForeignKey) -> bool:
    """Tell whether a row of a source is in results only together with the row it refers to.

    The condition may stand in WHERE, in ON of an inner join, or in ON of the LEFT JOIN that adds
    the child, but not in that of one that adds the parent: its rows can be missing in a result.
    """
    own = [
        Equality(left, right)
        for term in child.left or ()
        if term.kind == "="
        for left, right in [tuple(argument.column for argument in term.arguments)]
        if left is not None and right is not None
    ]
    equal = classes([*join_equalities(form), *own])

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
