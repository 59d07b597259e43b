"""A query as a chain of `sensitivity_lab.pipelines`, where the pipelines have its steps."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import pandas as pd

from sensitivity_lab import pipelines as pl
from sensitivity_lab.checks import check_records, names_of, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import nearest

from .answers import FLOATS, WHOLE, aggregate_of
from .database import Session
from .join_columns import classes, join_equalities, one_person_per_result, predicates
from .normal_form import Aggregate, NormalForm, Source, SourceColumn, Term, quoted
from .read_query import ReadQuery

Row = Mapping[str, Any]

_OF_OPERATOR: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
"""Operators that are NULL if an argument is."""


@dataclass(frozen=True)
class QueryChain:
    """A query as a chain of pipeline steps, and the private tables that go into it.

    Attributes
    ----------
    chain : Transformation
        From the private tables to the answer. ``chain.sensitivity()`` is for one person.
    tables : tuple of pandas.DataFrame
        One or two private tables, with the columns that the query reads.
    """

    chain: Any
    tables: tuple[pd.DataFrame, ...] = field(repr=False)

    def answer(self) -> Any:
        """Return the chain's answer on the tables: a number, or a vector with one per key."""
        return self.chain(*self.tables)


def chain_of(query: ReadQuery, rows_per_person: Any, aggregate: Any) -> QueryChain:
    """Return the chain; see `Query.chain`."""
    most = check_records("rows_per_person", rows_per_person)
    form = query.form
    chosen = form.aggregates[aggregate_of(form, aggregate)]
    query.cascades.check()
    with query.session() as session:
        return _Conversion(form, chosen, session).chain(most)


class _Conversion:
    """The conversion of one query.

    Columns that the join makes equal have one name, so that tables are joined by the names that
    they share.
    """

    def __init__(self, form: NormalForm, aggregate: Aggregate, session: Session) -> None:
        self._form, self._aggregate, self._session = form, aggregate, session
        self._names: dict[SourceColumn, str] = {}
        self._repeated: list[tuple[str, str]] = []
        for variable in classes(join_equalities(form)):
            self._name_together(sorted(variable))

    def _name_together(self, variable: list[SourceColumn]) -> None:
        """Give equal columns one name; a second one of the same table is compared by a filter."""
        name, holders = str(variable[0]), set()
        for column in variable:
            if column.alias in holders:
                self._repeated.append((name, str(column)))
            else:
                self._names[column] = name
                holders.add(column.alias)

    def _name(self, column: SourceColumn) -> str:
        return self._names.get(column, str(column))

    def chain(self, most: int) -> QueryChain:
        """Return the chain that keeps at most so many results of each person."""
        private = self._form.private
        if any(source.left is not None for source in self._form.sources):
            _refuse("LEFT JOIN", "write it as an inner join")
        if len(private) > 2 or not one_person_per_result(self._form):
            _refuse(
                "a join of several private tables that does not make their persons equal",
                "join two private tables by their columns of persons",
            )
        tables = tuple(map(self._table, private))
        owner = self._name(private[0].owner)
        if len(private) == 1:
            chain: Any = pl.start(pl.AddRowsWithID(owner))
        else:
            shared = [str(name) for name in tables[0] if name in tables[1]]
            chain = pl.start(pl.AddRowsWithSharedID(owner)) >> pl.join_private(shared)
        for step in [*self._public_joins(tables), *self._filters(), *self._ending(most)]:
            chain = chain >> step
        return QueryChain(chain, tables)

    def _table(self, source: Source) -> pd.DataFrame:
        """Return the columns of a source that the query reads, as values of Python."""
        columns = sorted(one for one in self._form.used if one.alias == source.alias)
        select = ", ".join(quoted(one.name) for one in columns) or "1"
        rows = self._session.rows(f"SELECT {select} FROM {source.table.sql}")
        if any(cell != cell for row in rows for cell in row):
            _refuse(f"NaN, which {source.table.name} has", "leave such rows out of the table")
        names = [self._name(one) for one in columns] or [f"{source.alias}."]
        return pd.DataFrame(rows, columns=names, dtype=object)

    def _public_joins(self, tables: Sequence[pd.DataFrame]) -> list[Any]:
        """Return the joins with the public tables, those first that share a column."""
        left = {
            source.alias: self._table(source)
            for source in self._form.sources
            if source.person is None
        }
        known = {name for table in tables for name in table}
        steps = []
        while left:
            found = next((alias for alias, table in left.items() if known & set(table)), None)
            if found is None:
                _refuse(f"a join with {names_of(left)} without an equality", "join by a column")
            table = left.pop(found)
            steps.append(pl.join_public(table, [str(name) for name in table if name in known]))
            known |= set(table)
        return steps

    def _filters(self) -> list[Any]:
        """Return a filter of all conditions, and one for values that are counted or added up."""
        tests = [self._function(term) for term in predicates(self._form)]
        # One step for all: a chain calls its steps within each other.
        steps = [pl.filter_(_is_true(_logic(tests, decisive=False)))] if tests else []
        steps += [pl.filter_(_is_true(_equal_columns(*pair))) for pair in self._repeated]
        value = self._aggregate.value
        if value is not None:
            steps.append(pl.filter_(_is_present(self._function(value))))
        return steps

    def _ending(self, most: int) -> list[Any]:
        """Return the limit per person, the groups, and the count or the sum."""
        steps: list[Any] = [pl.max_rows_per_id(most)]
        if self._form.groups:
            column = self._form.groups[0].term.column
            if len(self._form.groups) > 1 or column is None:
                _refuse("GROUP BY of anything but one column", "group by one column")
            steps.append(pl.group_by(self._name(column), [key for [key] in self._form.keys]))
        if self._aggregate.kind == "count":
            return [*steps, pl.count()]
        column = None if self._aggregate.value is None else self._aggregate.value.column
        bounds = None if column is None else self._form.bounds.get(column)
        is_float = self._aggregate.type in FLOATS
        if self._aggregate.kind != "sum" or column is None or bounds is None:
            _refuse("this aggregate", "count, or add up one column that has bounds")
        if not is_float and self._aggregate.type not in WHOLE:
            _refuse(f"a sum of {self._aggregate.type}", "add up whole numbers or floats")
        ends = [nearest(end) if is_float else int(end) for end in bounds]
        numbers = pl.Numbers(floats=is_float)
        return [*steps, pl.select(self._name(column), numbers), pl.clamp(*ends), pl.sum_(*ends)]

    # Conditions as functions of a row, in the logic of SQL: None is unknown.

    def _function(self, term: Term) -> Callable[[Row], Any]:
        """Return a term as a function of a row of the join."""
        if term.column is not None:
            return _cell(self._name(term.column))
        if term.kind == "literal":
            [[value]] = self._session.rows(f"SELECT {term.sql}")
            return lambda _: value
        parts = [self._function(argument) for argument in term.arguments]
        if term.kind in _OF_OPERATOR and len(parts) == 2:
            return _strict(_OF_OPERATOR[term.kind], *parts)
        if term.kind == "-":
            return _strict(operator.neg, *parts)
        if term.kind in ("and", "or"):
            return _logic(parts, decisive=term.kind == "or")
        if term.kind == "not":
            return _strict(operator.not_, *parts)
        if term.kind == "is null":
            return lambda row: parts[0](row) is None
        if term.kind == "in":
            equal = [_strict(operator.eq, parts[0], item) for item in parts[1:]]
            return _logic(equal, decisive=True)
        return _refuse(
            f"the expression {shown(term.text)}",
            "use columns, numbers, texts, comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL, + - *",
        )


def _strict(apply: Callable[..., Any], *parts: Callable[[Row], Any]) -> Callable[[Row], Any]:
    """Return an operator that is unknown if one of its arguments is."""

    def function(row: Row) -> Any:
        values = [part(row) for part in parts]
        return None if any(value is None for value in values) else apply(*values)

    return function


def _logic(parts: Sequence[Callable[[Row], Any]], *, decisive: bool) -> Callable[[Row], Any]:
    """Return OR (True decides) or AND (False decides): without a decision unknown wins."""

    def function(row: Row) -> Any:
        values = [part(row) for part in parts]
        if any(value is decisive for value in values):
            return decisive
        return None if None in values else not decisive

    return function


def _equal_columns(one: str, other: str) -> Callable[[Row], Any]:
    return _strict(operator.eq, _cell(one), _cell(other))


def _cell(name: str) -> Callable[[Row], Any]:
    """Return the value of a column, None where the pipelines have NaN for a missing one."""
    return lambda row: row[name] if row[name] == row[name] else None


def _is_true(test: Callable[[Row], Any]) -> Callable[[Row], bool]:
    return lambda row: test(row) is True


def _is_present(value: Callable[[Row], Any]) -> Callable[[Row], bool]:
    return lambda row: value(row) is not None


def _refuse(what: str, way: str) -> NoReturn:
    raise InputError(f"chain: the pipelines have no step for {what}; {way}")
