"""A query as it was read: its normal form, its database, and how statements over it run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import (
    check_bounds,
    check_callable,
    check_choice,
    check_text,
    cut,
    listed,
    names_of,
    shown,
    unboxed,
)
from sensitivity_lab.errors import InputError, QueryError, kind_of

from .after_noise import after_noise
from .answers import FLOATS, WHOLE, answers, call_of, types_apart
from .cascades import cascades, declared, with_owners
from .clipping import clipped
from .database import Database, Session
from .normal_form import (
    KEYS,
    PLACE,
    Aggregate,
    NormalForm,
    Source,
    SourceColumn,
    Table,
    Term,
    alike,
    from_clause,
    quoted,
    regenerated,
    statement,
)
from .sql_parser import Reader, column_of

if TYPE_CHECKING:
    import pandas as pd

PUBLIC_TABLES = "public tables"
"""Stands for the keys that occur in tables without persons."""

_MOST_KEYS = 100_000

_KEY_KINDS = (str, bytes, int, float, Decimal, Fraction, date, time, timedelta, UUID, type(None))
"""What a public key of groups can be made of."""


class ReadQuery:
    """A query as it was read, with its database; `Query` says what its arguments are.

    Attributes
    ----------
    form : NormalForm
        The query as it is searched.
    database : Database
        Where it runs.
    null_person : {"refuse", "public"}
        What rows mean whose person is NULL.
    constraints : Constraints
        What is declared of the tables.
    cascades : Cascades
        What public tables lose with a person.
    show_person : callable or None
        Turns a person into the text that reprs show.
    foreign_keys : dict of str to str
        As they were given.
    public : frozenset of str
        The full names of the tables that were declared public.
    """

    @public_call
    def __init__(
        self,
        sql: str,
        *,
        connection: Any,
        person: str | Mapping[str, str],
        bounds: Mapping[str, tuple[float, float]] | None = None,
        groups: Sequence[Any] | str | None = None,
        null_person: str = "refuse",
        foreign_keys: Mapping[str, str] | None = None,
        public: Sequence[str] = (),
        show_person: Callable[[Any], str] | None = None,
    ) -> None:
        text = check_text("sql", sql, "a SELECT statement, as a text")
        self.null_person = check_choice("null_person", null_person, ("refuse", "public"))
        if show_person is not None:
            check_callable(
                "show_person", show_person, "None or a function of a person, such as str"
            )
        self.show_person = show_person
        self.text, self.persons = text, _persons(person)
        self._given: dict[str, Any] = {
            "sql": sql,
            "person": person,
            "bounds": bounds,
            "groups": groups,
            "null_person": null_person,
            "foreign_keys": foreign_keys,
            "public": public,
        }
        self._connection = connection
        self.database = Database(connection)
        with closing(self.database):
            self._read(bounds, groups, foreign_keys, public)
        self._check_types()
        with self.session() as session:  # which checks the persons
            # Run once on no rows: an error in the text around the aggregates shows now, and costs
            # nothing.
            if self.form.outer.before:
                calls = [call_of(one) for one in self.form.aggregates]
                after_noise(self.form, [], session.types(statement(self.form, calls)))

    def __repr__(self) -> str:
        tables = dict.fromkeys(source.table.name for source in self.form.sources)
        text = cut(" ".join(self.text.split()))
        return f"Query({text!r}, person={self.persons}, tables={names_of(tables)})"

    # How it is made.

    def _read(self, bounds: Any, groups: Any, foreign_keys: Any, public: Any) -> None:
        """Read the text, with what else is given."""
        persons = self.persons
        # By the full name, as `Table.sql` has it: two names in person can mean one table.
        private = {
            table.sql: alike(column, table.columns) or ""
            for name, column in persons.items()
            for table in [self.database.table(name.split("."), "in person")]
        }
        lower = {name.rpartition(".")[2].lower(): column for name, column in persons.items()}
        form = Reader(self.text, self.database, lower).read()
        self.constraints = declared(self.database, foreign_keys)
        self.foreign_keys: dict[str, str] = dict(foreign_keys or {})
        form = with_owners(form, self.constraints, private)
        if not form.private:
            raise InputError(
                f"person: the query reads none of the tables {names_of(persons)}, and no foreign "
                "key leads there; it reads "
                f"{names_of(list(dict.fromkeys(s.table.name for s in form.sources)))}: name the "
                "column of persons in one of them, or declare foreign_keys"
            )
        _check_zones(form)
        form = self._bounded(form, bounds)
        self.cascades = cascades(form, self.constraints, private)
        self.public = self._declared_public(form, public)
        self._load(form)
        self.form = self._typed(form, groups)

    def _bounded(self, form: NormalForm, bounds: Any) -> NormalForm:
        """Clip the columns that are added up."""
        if bounds is None:
            return form
        if not isinstance(bounds, Mapping):
            raise InputError(
                "bounds must be a mapping of columns to two numbers, such as "
                f"{{'lineitem.quantity': (1, 50)}}, got {shown(bounds)}"
            )
        summed = frozenset().union(
            *(one.value.value_columns for one in form.aggregates if one.kind == "sum" and one.value)
        )
        found: dict[SourceColumn, tuple[Fraction, Fraction]] = {}
        for name, given in bounds.items():
            low, high = check_bounds(f"bounds[{shown(name)}]", given)
            # A table that occurs twice has two such columns, and both are clipped.
            columns = column_of(form, name, "bounds")
            if not summed & set(columns):
                there = names_of(sorted(map(str, summed)))
                raise InputError(
                    f"bounds: {shown(name)} is in no SUM or AVG; the columns there are {there}"
                    if summed
                    else "bounds: the query adds up no column; leave bounds out"
                )
            found |= dict.fromkeys(columns, (Fraction(low), Fraction(high)))
        return clipped(form, found)

    def _declared_public(self, form: NormalForm, public: Any) -> frozenset[str]:
        """Return the tables that are declared public, none of which has rows of persons."""
        names = listed(public, "public must be a list of tables, such as ['nation', 'region']")
        meaning = "the name of a table, such as 'nation'"
        found = frozenset(
            self.database.table(check_text("public", name, meaning).split("."), "in public").sql
            for name in names
        )
        for source in form.sources:
            if source.table.sql in found and self._goes_with_persons(source):
                raise InputError(
                    f"public: {source.table.name} has rows that go with a person; leave it out"
                )
        return found

    def _goes_with_persons(self, source: Source) -> bool:
        return source.person is not None or source.table.name in self.cascades.joined

    def check_public(self) -> None:
        """Raise InputError for a table that is neither declared public nor tied to persons.

        Noise that is scaled to a person's results protects nothing that is in such a table, and its
        rows are theirs if a foreign key was forgotten.
        """
        for source in (*self.form.sources, *self.form.lookups):
            if source.table.sql in self.public or self._goes_with_persons(source):
                continue
            name = source.table.name
            # Only for the message: a join with a table of persons suggests the key that was
            # forgotten.
            joined = (
                (mine, self.form.source(other.alias), other)
                for one in self.form.equalities
                for mine, other in ((one.left, one.right), (one.right, one.left))
                if mine.alias == source.alias
            )
            way = "declare the key that leads to them, foreign_keys={...}"
            for mine, parent, other in joined:
                if parent.person is not None and not parent.path and other == parent.owner:
                    both = {parent.table.name: other.name, name: mine.name}
                    way = f"name both columns of persons, person={both}"
                elif self._goes_with_persons(parent):
                    key = {f"{name}.{mine.name}": f"{parent.table.name}.{other.name}"}
                    way = f"declare the key that leads to them, foreign_keys={key}"
                else:
                    continue
                break
            raise InputError(
                f"public: nothing says whose rows those of {name} are. If they belong to persons, "
                f"{way}. If everybody may know all of them, pass public=[{name!r}]"
            )

    def _load(self, form: NormalForm) -> None:
        """Copy what the query reads, unless it is a database of DuckDB."""
        used: dict[Table, set[str | None]] = {}
        for source in form.sources:
            names = {one.name for one in form.used if one.alias == source.alias}
            # Of the tables on a path of keys only the columns of the keys, and of the last the
            # person's.
            own, *further = [*(one.columns for one in source.path), (source.person,)]
            used.setdefault(source.table, set()).update(names, own)
            for one, read in zip(source.path, further, strict=True):
                used.setdefault(one.parent, set()).update(one.parent_columns, read)
        used |= {one.table: {*one.table.columns} for one in form.lookups}
        self.database.load(
            {table: [name for name in table.columns if name in of] for table, of in used.items()}
        )

    def _typed(self, form: NormalForm, groups: Any) -> NormalForm:
        """Add the types of groups and values, and the public keys."""
        values = [one.value for one in form.aggregates if one.value is not None]
        terms = [group.term for group in form.groups] + values
        with self.database.session() as session:
            if self.database.dialect == "sqlite":
                _check_compared(form, session)
            # DESCRIBE tells types without running the query. The first column, 1, is there so that
            # the list is never empty.
            types = session.types(statement(form, ["1", *(t.sql for t in terms)], grouped=False))[
                1:
            ]
            typed = tuple(
                replace(group, type=type_) for group, type_ in zip(form.groups, types, strict=False)
            )
            rest = iter(types[len(form.groups) :])
            aggregates = []
            for one in form.aggregates:
                if one.value is None:
                    aggregates.append(one)
                    continue
                type_ = next(rest)
                _check_summable(one, type_)
                bounded = one.value.columns <= set(form.bounds)
                aggregates.append(replace(one, type=type_, bounded=bounded))
            form = replace(form, groups=typed, aggregates=tuple(aggregates))
            return replace(form, keys=_keys(form, groups, self.cascades.joined, session))

    def _check_types(self) -> None:
        """Raise InputError if the columns of persons have types whose values cannot be equal."""
        kinds: dict[str, str] = {}
        for source in self.form.private:
            kind = _family(self.form.type_of(source.owner))
            kinds.setdefault(kind, f"{source.table.name}.{source.person}")
        if len(kinds) > 1:
            told = names_of([f"{column} is {kind}" for kind, column in kinds.items()], str)
            raise InputError(
                f"person: the columns of persons have different types ({told}), so that no one can "
                "tell who is who; give them one type"
            )

    def _check_persons(self, session: Session) -> None:
        """Raise InputError if the person of a row is NULL, unless that means public rows."""
        if self.null_person == "public":
            return
        # Each relation is asked once, however many sources read it.
        for relation, table, source in {
            one.relation: (one.relation, one.table.name, one) for one in self.form.private
        }.values():
            column = source.owner.name
            [(missing,)] = session.rows(
                f"SELECT COUNT(*) FROM {relation} WHERE {quoted(column)} IS NULL"
            )
            if missing and source.path:
                raise InputError(
                    f"person: {missing:,} row{'s' * (missing > 1)} of {table} without owner, since "
                    "a foreign key is NULL or leads nowhere; leave them out of the table"
                    f"{types_apart(self.form)}"
                )
            if missing:
                raise InputError(
                    f"person: {missing:,} rows of {table} have NULL in {column}, so they belong "
                    "to nobody; pass null_person='public' if these rows are public, or fill in "
                    "the column, or leave these rows out of the table"
                )

    def _check_parents(self, session: Session) -> None:
        """Raise InputError if a foreign key that is not the database's own finds several rows."""
        keys = [one for source in self.form.private for one in source.path]
        given = {one for of in self.constraints.given.values() for one in of}
        for one in dict.fromkeys([*keys, *self.cascades.keys]):
            if one not in given:
                continue
            names = list(map(quoted, one.parent_columns))
            there = " AND ".join(f"{name} IS NOT NULL" for name in names)
            # DuckDB checks its own keys. Of given ones a parent that occurs twice would make two
            # owners.
            [(twice,)] = session.rows(
                f"SELECT COUNT(*) - COUNT(DISTINCT ROW({', '.join(names)})) FROM {one.parent.sql} "
                f"WHERE {there}"
            )
            if twice:
                raise InputError(
                    f"foreign_keys: {one.parent.name} has {twice:,} rows whose "
                    f"{names_of(one.parent_columns, str)} another row has, too, so that a row that "
                    "refers to them has several owners; refer to columns that are unique"
                )

    # How it runs.

    def reads(self, connection: Any) -> bool:
        """Tell whether a connection is the query's own, or has one of its tables."""

        def tables(of: Any) -> list[Any]:
            return list(of.values()) if isinstance(of, Mapping) else [of]

        pairs = product(tables(self._connection), tables(connection))
        return any(a is b or (isinstance(a, str | Path) and str(a) == str(b)) for a, b in pairs)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a transaction in which statements over the query's results can run.

        It holds the public keys in the temporary table `KEYS`. What was checked when the query was
        made is checked again: rows and tables can be new.

        Raises
        ------
        InputError
            If a person is NULL, a table was altered, or the connection does not see what is read.
        """
        form = self.form
        with self.database.session() as session:
            read = [source.table for source in (*form.sources, *form.lookups)]
            read += [one.parent for source in form.sources for one in source.path]
            self.database.check(session, dict.fromkeys(read))
            self._check_parents(session)
            self._check_persons(session)
            if form.groups:
                columns = "".join(f", k{i} {group.type}" for i, group in enumerate(form.groups))
                session.run(f"CREATE TEMP TABLE {KEYS} ({PLACE} INTEGER{columns})")
                marks = "".join(f", CAST(? AS {group.type})" for group in form.groups)
                # Keys come as parameters: nothing of theirs is part of a statement.
                for place, key in enumerate(form.keys):
                    session.run(f"INSERT INTO {KEYS} VALUES (?{marks})", (place, *key))
            yield session

    @property
    def regenerated(self) -> str:
        """The query as it runs: written anew, with its clipped values and its public keys."""
        return regenerated(self.form)

    def answer(self) -> pd.DataFrame:
        """Return the query's answer on the database, which is private.

        Returns
        -------
        pandas.DataFrame
            The columns of the query. Public keys without results are there, too, with counts and
            sums of 0, unless HAVING leaves them out.
        """
        form = self.form
        with self.session() as session:
            found = answers(form, session)
            types = session.types(statement(form, [call_of(one) for one in form.aggregates]))
        return after_noise(form, found, types)


def _persons(person: Any) -> dict[str, str]:
    """Return the columns of persons by the names of their tables."""
    accepted = (
        "person must be a text such as 'customer.custkey', or a mapping of tables to columns such "
        "as {'customer': 'custkey', 'orders': 'custkey'}"
    )
    if isinstance(person, str):
        table, point, column = person.rpartition(".")
        if not (table and point and column):
            raise InputError(f"{accepted}, got {shown(person)}")
        return {table: column}
    if not isinstance(person, Mapping):
        raise InputError(f"{accepted}, got an object of the type {kind_of(person)}")
    if not person:
        raise InputError(f"{accepted}, got a mapping without tables")
    for table, column in person.items():
        if not (isinstance(table, str) and isinstance(column, str) and table and column):
            raise InputError(f"{accepted}, got {shown(table)}: {shown(column)}")
    return dict(person)


def _check_zones(form: NormalForm) -> None:
    """Raise InputError for times with a time zone.

    Their dates and hours depend on the setting TimeZone of a connection, which a cursor of it does
    not take over: the numbers would be those of another query than the caller's.
    """
    for column in sorted(form.used, key=str):
        if (type_ := form.type_of(column)).endswith("WITH TIME ZONE"):
            table = form.source(column.alias).table.name
            raise InputError(
                f"sql: {table}.{column.name} is of the type {type_}, "
                "whose dates and hours depend on a setting of the connection; copy the table with "
                f"the times of one zone, such as {column.name} AT TIME ZONE 'UTC'"
            )


_COMPARED = ("=", "<>", "in", "is distinct from", "is not distinct from", "nullif")
"""The kinds of terms in which DuckDB turns a text into a number."""


def _check_compared(form: NormalForm, session: Session) -> None:
    """Raise InputError for a text that is compared with a number, in a query of SQLite."""
    compared = [
        (term, side.sql)
        for whole in form.terms
        for term in whole.walk()
        if term.kind in _COMPARED
        for side in term.arguments
        if side.sql != "NULL"
    ]
    select = ["1", *(sql for _, sql in compared)]
    types = session.types(statement(form, select, grouped=False))[1:]
    texts: dict[Term, bool] = {}
    for (term, _), type_ in zip(compared, types, strict=True):
        if texts.setdefault(term, type_ == "VARCHAR") != (type_ == "VARCHAR"):
            raise InputError(
                f"sql: {term.text} compares a text with a number, and SQLite and DuckDB read that "
                "differently: '05' and 5 are equal in DuckDB alone; write texts with quotes and "
                "numbers without, and convert columns in a table beforehand"
            )


def _family(type_: str) -> str:
    """Return a type as far as it decides who is who: all whole numbers are one."""
    return "a whole number" if type_ in WHOLE and type_ != "BOOLEAN" else type_


def _check_summable(aggregate: Aggregate, type_: str) -> None:
    """Raise InputError unless the values of a sum are numbers."""
    if aggregate.kind != "sum" or type_ in WHOLE or type_ in FLOATS:
        return
    if not type_.startswith("DECIMAL"):
        text = "" if aggregate.value is None else aggregate.value.text
        raise InputError(
            f"sql: SUM and AVG add up numbers, and {text} is of the type {type_}; cast it to a "
            "number"
        )


def _keys(
    form: NormalForm, groups: Any, lost: Collection[str], session: Session
) -> tuple[tuple[Any, ...], ...]:
    """Return the public keys as the database has them."""
    names = names_of([group.name for group in form.groups])
    if not form.groups:
        if groups is not None:
            raise InputError("groups goes with GROUP BY, and the query has none; leave groups out")
        return ((),)
    if groups is None:
        raise InputError(
            f"groups: the query groups by {names}, and which keys occur is private; list the "
            "public keys, such as 'north' and 'south', or give 'public tables' if they are columns "
            "of tables without persons"
        )
    if isinstance(groups, str) and groups == PUBLIC_TABLES:
        return _public_keys(form, lost, session)
    given = _listed_keys(groups, names, len(form.groups))
    casts = ", ".join(f"CAST(? AS {group.type})" for group in form.groups)
    found: list[tuple[Any, ...]] = []
    for key in given:
        try:
            [row] = session.rows(f"SELECT {casts}", key, f"reading the key {shown(key)}")
        except (InputError, QueryError) as error:
            types = names_of([group.type for group in form.groups], str)
            raise InputError(f"groups: {shown(key)} is no key of the type {types}") from error
        for one, cast, group in zip(key, row, form.groups, strict=True):
            # A key that the cast changes, as 1.5 in a column of whole numbers, would stand for
            # another group.
            if isinstance(one, int | float | Fraction) and one != cast:
                raise InputError(
                    f"groups: {shown(one)} becomes {shown(cast)} in {group.name} ({group.type}); "
                    "give keys as they are in the data"
                )
        if row in found:
            raise InputError(f"groups: the key {shown(row)} occurs twice; list each key once")
        found.append(row)
    return tuple(found)


def _public_keys(
    form: NormalForm, lost: Collection[str], session: Session
) -> tuple[tuple[Any, ...], ...]:
    """Return the keys that occur in tables without persons, which are as public as these."""
    read = frozenset().union(*(group.term.aliases for group in form.groups))
    for source in form.sources:
        if source.alias not in read:
            continue
        private = source.person is not None or source.table.name in lost
        if private or source.left is not None:
            why = "has rows of persons" if private else "is in a LEFT JOIN"
            raise InputError(
                f"groups: {source.table.name} {why}, so its keys cannot be listed; list the public "
                "keys, such as groups=['north', 'south']"
            )
    if not read:
        raise InputError("groups: the keys are no columns of tables; list them")
    sources = [source for source in form.sources if source.alias in read]
    # Only conditions on these tables alone: others would let persons decide which keys are there.
    own = [term.sql for term in form.conditions if term.aliases and term.aliases <= read]
    terms = ", ".join(group.term.sql for group in form.groups)
    text = f"SELECT DISTINCT {terms} FROM {from_clause(sources)}"
    text += f" WHERE {' AND '.join(own)}" if own else ""
    # One more than allowed is enough to see that there are too many.
    found = session.rows(f"{text} ORDER BY ALL LIMIT {_MOST_KEYS + 1}")
    if not 0 < len(found) <= _MOST_KEYS:
        raise InputError(
            f"groups: the public tables have {'no' if not found else f'more than {_MOST_KEYS:,}'} "
            "keys; list those to publish"
        )
    return tuple(found)


def _listed_keys(groups: Any, names: str, width: int) -> list[tuple[Any, ...]]:
    """Return the public keys as tuples, as they came."""
    wrong = f"groups must be a list of public keys for {names}"
    if isinstance(groups, set | frozenset):
        raise InputError(f"{wrong}, and a set has another order in each process")
    given = [
        tuple(map(unboxed, one)) if isinstance(one, tuple | list) else (unboxed(one),)
        for one in listed(groups, wrong)
    ]
    if not given:
        raise InputError(f"{wrong}, got none")
    strange = next((one for key in given for one in key if not isinstance(one, _KEY_KINDS)), None)
    if strange is not None:
        raise InputError(
            f"{wrong}: a key is a text, a number, True or False, a date, a time or None, got "
            f"{shown(strange)}"
        )
    bad = next((key for key in given if len(key) != width), None)
    if bad is not None:
        several = f"a tuple of {width} values" if width > 1 else "a single value"
        raise InputError(f"{wrong}: each is {several}, got {shown(bad)}")
    return given
