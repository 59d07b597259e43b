"""Adding a row: the largest change that a new row of one table can make.

The new row joins the results of the other tables. Take the columns of the new row that are read,
and the other sources, as nodes, and connect what a condition, the value, the keys of GROUP BY or a
constraint reads together. The row's columns in one connected component can be chosen without
regard to the others, and the results of the components multiply: what a new row adds is a product
of one factor per component, and so is its norm, since only one component has the keys. So the
largest change is the product of the largest factors (Tao, He, Machanavajjhala and Roy 2020, for
counts).

Inside a component the database counts: the new row is a relation of candidates, joined with the
other sources by the query's own conditions, and grouped by candidate. The candidates are complete:

- a column that must equal an expression of other sources takes the values of that expression;
- a column with a declared domain takes the values of the domain;
- a column that is only compared takes, for each value that it is compared with, this value, the
  next one and the one before, and NULL: between two neighbors of these, no comparison changes, and
  the norm of a sum that is affine in the column is convex, so that it is largest at an end;
- otherwise the column's values are not known, and the question is refused.

Keys that are taken, foreign keys, and columns that are never NULL restrict the candidates.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

from sensitivity_lab.checks import names_of, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics.norms import Norm

from .answers import DECIMAL, FLOATS, WHOLE, Weighing, weigh_over
from .changes import Added, used_columns
from .clipping import value_text
from .constraints import Constraints
from .database import Session
from .join_columns import connected, one_of_each_kind
from .normal_form import Aggregate, NormalForm, Source, SourceColumn, Term, quoted
from .parts import FEW, GROUP, Join, heaviest, with_expressions
from .statements import KEYS, place_of, statement

_KNOWN = 'temp.main."lab known"'
"""The temporary table of the values that COUNT(DISTINCT ...) counts already: `place`, `value`."""

_MOST_CANDIDATES = 200_000
"""The most values of one column of the new row."""

_COMPARED = ("=", "<>", "<", "<=", ">", ">=", "is not distinct from", "is distinct from")

_STEPS = {
    **{one: "1" for one in WHOLE if one != "BOOLEAN"},
    "DATE": "1",
    "TIMESTAMP": "INTERVAL (1) MICROSECOND",
}
"""How far a value is from the next one of its type."""

_DEFAULTS = {
    "VARCHAR": "''",
    "BOOLEAN": "FALSE",
    "DATE": "'2000-01-01'",
    "TIMESTAMP": "'2000-01-01'",
}
"""A value of a type, where any will do; 0 of numbers."""

_SMALL = ("BOOLEAN", "TINYINT", "UTINYINT")
"""Types with fewer values than a table can have rows."""


@dataclass(frozen=True)
class Addition:
    """The row that adds the most, and how much that is.

    Attributes
    ----------
    added : Added or None
        None if no new row changes the answer.
    size : Fraction
        The norm of the change, squared for L2.
    searched : str
        What was searched, in words.
    """

    added: Added | None
    size: Fraction
    searched: str


class _Component:
    """What is chosen together: some of the new row's columns, and the sources that they join.

    Attributes
    ----------
    aliases : list of str
    columns : list of SourceColumn
    has_value, has_keys, is_first : bool
        Whether it determines the value that is added up, and the group; whether it is the first
        one, which has what belongs to none.
    """

    def __init__(self, nodes: frozenset[Any]) -> None:
        self.nodes = nodes
        self.aliases = sorted(one for one in nodes if isinstance(one, str))
        self.columns = sorted(one for one in nodes if isinstance(one, SourceColumn))
        self.has_value = self.has_keys = self.is_first = False


class AdditionSearch:
    """The search for the row whose addition changes the answer the most.

    Parameters
    ----------
    form : NormalForm
        The query.
    aggregate : Aggregate
        What is searched.
    session : Session
        Where statements run.
    source : Source
        The table that gains a row.
    norm : {"L1", "L2", "Linf"}
        How a change is measured over the groups.
    constraints : Constraints
        What is declared of the tables.
    new_person : bool
        Whether the row's person must have no other row in the table.
    null_person : {"refuse", "public"}
        Whether the row's person can be NULL.
    """

    def __init__(
        self,
        form: NormalForm,
        aggregate: Aggregate,
        session: Session,
        source: Source,
        *,
        norm: Norm,
        constraints: Constraints,
        new_person: bool,
        null_person: str,
    ) -> None:
        self.form, self.aggregate, self.session = form, aggregate, session
        self.source, self.norm, self.constraints = source, norm, constraints
        self.value = aggregate.value
        self.required = {
            name for name in source.table.columns if constraints.is_required(source, name)
        }
        if source.person is not None and (new_person or null_person == "refuse"):
            self.required.add(source.person)
        self._check_joins()
        terms = [*form.conditions, *(group.term for group in form.groups)]
        terms += [] if self.value is None else [self.value]
        self.columns = {one for term in terms for one in term.columns if one.alias == source.alias}
        self.foreign = constraints.foreign_keys(source.table)
        self.row_keys = [key for key in constraints.keys(source.table) if self._restricts(key)]
        # A person without rows so far is one whose value is not taken, as that of a key.
        persons = [(source.person,)] if new_person and source.person is not None else []
        self.keys = [*self.row_keys, *(key for key in persons if self._restricts(key))]
        self.columns |= {source.column(name) for key in self.keys for name in key}

    def _check_joins(self) -> None:
        name = self.source.table.name
        if self.source.table.sql in self.form.repeated:
            raise InputError(
                f"change='add': {name} is joined with itself, so that a new row also meets itself; "
                "only removals are computed for self-joins"
            )
        if any(one.left is not None for one in self.form.sources):
            raise InputError(
                "change='add': a new row can turn results of a LEFT JOIN into others, which is not "
                "computed; use INNER JOIN"
            )

    def _restricts(self, key: Sequence[str]) -> bool:
        """Tell whether a key restricts what is read of the new row.

        It does not if one of its columns can take a new value, whatever the rest of the row is.
        """
        for name in key:
            column = self.source.column(name)
            tied = any(name in one.columns for one in self.foreign)
            finite = self.constraints.domain(column) is not None
            endless = self.source.table.columns[name] not in _SMALL
            if column not in self.columns and not tied and not finite and endless:
                return False
        return True

    # The search.

    def worst(self, copies: int) -> Addition:
        """Return the row that changes the answer the most if it is added so many times."""
        self._check_copies(copies)
        components = self._components()
        number = len(components)
        searched = (
            f"all values of a new row of {self.source.table.name}, in {number} independent "
            f"part{'s' * (number != 1)}"
        )
        nothing = Addition(None, Fraction(0), searched)
        if not self._has_parents():
            return nothing
        size = Fraction(1)
        row: dict[str, Any] = {}
        for component in components:
            found = self._largest(component)
            if found is None:
                return nothing
            size *= found[0]
            row |= {column.name: value for column, value in found[1].items()}
        if not size:
            return nothing
        wanted = dict.fromkeys(used_columns(self.form, self.source.table)) | row
        columns = tuple(name for name in self.source.table.columns if name in wanted)
        added = Added(self.source.table, columns, tuple(wanted[name] for name in columns), copies)
        return Addition(added, size * copies ** (2 if self.norm == "L2" else 1), searched)

    def _check_copies(self, copies: int) -> None:
        if copies == 1:
            return
        name = self.source.table.name
        if self.row_keys:
            keys = " and ".join(", ".join(key) for key in self.row_keys)
            raise InputError(
                f"change='add': several new rows of {name} need different values of {keys}, which "
                "is not computed; add one row"
            )
        if self.aggregate.kind == "distinct":
            raise InputError(
                "change='add': what several new rows add to COUNT(DISTINCT ...) is not computed; "
                "add one row, or count with COUNT(*)"
            )

    def _has_parents(self) -> bool:
        """Tell whether the foreign keys that are not read can be met, by NULL or a parent."""
        for one in self.foreign:
            read = {self.source.column(name) for name in one.columns} & self.columns
            if not read and self.required.issuperset(one.columns):
                [(rows,)] = self.session.rows(f"SELECT COUNT(*) FROM {one.parent.sql}")
                if not rows:
                    return False
        return True

    # Components.

    def _components(self) -> list[_Component]:
        """Return the connected components; one without nodes if there are none."""
        others = [one.alias for one in self.form.sources if one.alias != self.source.alias]
        keyed = set().union(*(self._nodes(one.term) for one in self.form.groups))
        valued = set() if self.value is None else self._nodes(self.value)
        ties = [self._nodes(term) for term in self.form.conditions]
        ties += [keyed, valued]
        if self.aggregate.kind == "distinct":  # which values are new depends on the group
            ties.append(keyed | valued)
        ties += [{self.source.column(name) for name in key} for key in self.keys]
        ties += [
            {self.source.column(name) for name in one.columns} & self.columns
            for one in self.foreign
        ]
        nodes: list[Any] = [*others, *sorted(self.columns)]
        found = [_Component(one) for one in connected(nodes, ties)] or [_Component(frozenset())]
        found[0].is_first = True
        # What reads no node, such as SUM(1), belongs to any component: to the first one.
        if self.value is not None:
            next((c for c in found if valued & c.nodes), found[0]).has_value = True
        if self.form.groups:
            next((c for c in found if keyed & c.nodes), found[0]).has_keys = True
        return found

    def _nodes(self, term: Term) -> set[Any]:
        """Return the nodes that a term reads: other sources, and columns of the new row."""
        return {one if one.alias == self.source.alias else one.alias for one in term.columns}

    def _largest(self, component: _Component) -> tuple[Fraction, dict[SourceColumn, Any]] | None:
        """Return the largest factor of a component, and the values that attain it.

        None if no choice of the columns meets the conditions.
        """
        join, row = self._join(component)
        place = '"lab keys"."place"' if component.has_keys else "0"
        value = with_expressions(self.aggregate.sql, row)
        distinct = self.aggregate.kind == "distinct"
        if distinct and component.has_value:
            new = [with_expressions(one, row) for one in self._is_new(place)]
            join = replace(join, where=(*join.where, *new))
        weighing = self._weighing(component, join, row)
        rough = with_expressions(weighing.rough or "FALSE", row)
        columns = [row[one.sql] for one in component.columns]
        kept = [*columns, place, rough, *([value] if distinct else [])]
        join = replace(join, worth=with_expressions(weighing.row, row)).folded(kept)
        counted = component.has_value or not distinct
        names: dict[str, str] = {}
        grouped = [*columns, *([place] if component.has_keys else [])]
        grouped_parts = sum(any(join.read(c) & part for c in columns) for part in join.parts())
        few = self._choices(join) * (GROUP if grouped_parts > 1 else 1) <= FEW
        if not few:
            join, names = join.made(self.session, columns, kept, counted=counted)
        best: tuple[Fraction, dict[SourceColumn, Any]] | None = None
        power = 2 if self.norm == "L2" else 1

        def count(where: str = "TRUE") -> int:
            """Return the largest whole number so far, to the power of the norm."""
            nonlocal best
            number = f"SUM({join.added()[0]})" if counted else "1"
            number = f"COUNT(DISTINCT {value})" if distinct and component.has_value else number
            select = [f"{sql} AS c{i}" for i, sql in enumerate(columns)]
            select += [f"{place} AS place", f"{number} AS weight", f"BOOL_OR({rough}) AS rough"]
            by = f" GROUP BY {', '.join(grouped)}" if grouped else " HAVING COUNT(*) > 0"
            text = f"{with_expressions(', '.join(select), names)}{join.tail(None, [where])}"
            found = self._best(f"SELECT {text}{with_expressions(by, names)}", component, weighing)
            best = max((one for one in (best, found) if one), key=lambda one: one[0], default=None)
            return int(best[0] * weighing.denominator**power) if best else 0

        if few:
            count()
        else:
            told = names_of([self.form.source(one).table.name for one in component.aliases])
            asked = f"change='add': a new row of {self.source.table.name} meets rows of {told}"
            heaviest(join, self.session, count, power, asked)
        return best

    def _choices(self, join: Join) -> int:
        """Return a bound on the rows of a join of several parts; 1 of one part."""
        parts = join.parts()
        if len(parts) == 1:
            return 1
        return prod(self.session.rows(f"SELECT COUNT(*){join.tail(one)}")[0][0] for one in parts)

    def _weighing(self, component: _Component, join: Join, row: Mapping[str, str]) -> Weighing:
        """Return how much a result counts in a component: the value in one of them, else 1."""
        if not component.has_value or self.aggregate.kind == "distinct":
            return Weighing("1")

        def ask(select: Sequence[str]) -> list[tuple[Any, ...]]:
            """Select the largest value and the number of results, or bounds on these."""
            text = with_expressions(", ".join(select), row)
            choices = self._choices(join)
            own = [one for one in join.parts() if join.read(text) <= one]
            if choices * GROUP <= FEW or not own:
                return self.session.rows(f"SELECT {text}{join.tail()}")
            [(largest, _)] = self.session.rows(f"SELECT {text}{join.tail(own[0])}")
            return [(largest, choices)]

        return weigh_over(self.aggregate, ask)

    def _is_new(self, place: str) -> list[str]:
        """Return the conditions that a value is not counted yet in its group."""
        value = self.aggregate.sql
        known = statement(
            self.form,
            [f"{place_of(self.form)} AS place", f"{value} AS value"],
            where=[f"{value} IS NOT NULL"],
            group_by=["1", "2"],
        )
        self.session.run(f"CREATE OR REPLACE TEMP TABLE {_KNOWN} AS {known}")
        counted = f"SELECT 1 FROM {_KNOWN} AS old WHERE old.place = {place} AND old.value = {value}"
        return [f"{value} IS NOT NULL", f"NOT EXISTS ({counted})"]

    # The candidates of a component.

    def _join(self, component: _Component) -> tuple[Join, dict[str, str]]:
        """Return the join of a component with its candidates, and the new row.

        The row is the expression of each of its columns, by the column's SQL.
        """
        conditions = [
            term
            for term in self.form.conditions
            if self._nodes(term) <= component.nodes and (self._nodes(term) or component.is_first)
        ]
        conditions = [one for term in conditions for one in _conjuncts(term)]
        where = [term.sql for term in conditions]
        tables = {one: self.form.source(one).table.sql for one in component.aliases}
        if len({self._link(one, conditions) for one in component.columns} - {None}) > 1:
            for column in component.columns:
                self._keep_one_of_each_kind(column, conditions, tables)
        row = {}
        for place, column in enumerate(component.columns):
            made = self._linked(column, conditions)
            if made is None:
                table = f'temp.main."lab new {place}"'
                self._make_candidates(table, column, conditions)
                alias = f"lab new {place}"
                tables[alias] = table
                made = f'{quoted(alias)}."value"'
            elif self.constraints.domain(column) is not None:
                table = f'temp.main."lab domain {place}"'
                self._make_domain(table, column)
                where.append(f"{column.sql} IN (SELECT value FROM {table})")
            if column.name in self.required:
                where.append(f"{column.sql} IS NOT NULL")
            row[column.sql] = made
        equal = [
            tuple(one.sql for one in term.arguments) for term in conditions if term.kind == "="
        ]
        if component.has_keys:
            tables["lab keys"] = KEYS
            keyed = [(g.term.sql, f'"lab keys"."k{i}"') for i, g in enumerate(self.form.groups)]
            where += [f"{sql} IS NOT DISTINCT FROM {key}" for sql, key in keyed]
            equal += keyed
        where += self._restrictions(component.nodes)
        compared = {
            with_expressions(term.sql, row): (
                with_expressions(term.arguments[0].sql, row),
                term.kind,
                with_expressions(term.arguments[1].sql, row),
            )
            for term in conditions
            if term.kind in ("<", "<=", ">", ">=")
        }
        sides = [(with_expressions(a, row), with_expressions(b, row)) for a, b in equal]
        written = tuple(with_expressions(one, row) for one in where)
        return Join(tables, written, tuple(sides), compared), row

    def _keep_one_of_each_kind(
        self, column: SourceColumn, conditions: Sequence[Term], tables: dict[str, str]
    ) -> None:
        """Restrict the source that a column joins to values that find different rows there."""
        link = self._link(column, conditions)
        read = [t for t in (*conditions, *(g.term for g in self.form.groups)) if t is not link]
        read += [] if self.value is None else [self.value]
        tied = [one for one in (*self.keys, *(f.columns for f in self.foreign)) if len(one) > 1]
        if (
            link is None
            or self.constraints.domain(column) is not None
            or any(column in term.columns for term in read)
            or any(column.name in one for one in tied)
        ):
            return
        [joined] = [one.column for one in link.arguments if one.column != column]
        if joined is None:
            return
        source = self.form.source(joined.alias)
        own = [one for one in conditions if one.aliases == {source.alias}]
        value = f"TRY_CAST({joined.sql} AS {self._type(column)})"
        where = [*(one.sql for one in own), f"{value} IS NOT NULL"]
        where += [with_expressions(o, {column.sql: value}) for o in self._restrictions({column})]
        others = [term for term in read if term not in own]
        tables[source.alias] = one_of_each_kind(
            source, tables[source.alias], [joined.sql], others, where
        )

    def _restrictions(self, nodes: Collection[Any]) -> list[str]:
        """Return the conditions that keys are not taken, and that parents exist."""
        found = []
        for key in self.keys:
            if self.source.column(key[0]) in nodes:
                same = " AND ".join(
                    f"old.{quoted(name)} = {self.source.column(name).sql}" for name in key
                )
                taken = f"SELECT 1 FROM {self.source.table.sql} AS old WHERE {same}"
                found.append(f"NOT EXISTS ({taken})")
        for one in self.foreign:
            pairs = [
                (self.source.column(name), theirs)
                for name, theirs in zip(one.columns, one.parent_columns, strict=True)
            ]
            read = [(column, theirs) for column, theirs in pairs if column in nodes]
            free = [column.name for column, _ in pairs if column not in nodes]
            if not read or not self.required.issuperset(free):
                continue  # a NULL in a column that is not read lifts the constraint
            same = " AND ".join(f"one.{quoted(theirs)} = {column.sql}" for column, theirs in read)
            empty = " OR ".join(f"{column.sql} IS NULL" for column, _ in read)
            parent = f"SELECT 1 FROM {one.parent.sql} AS one WHERE {same}"
            found.append(f"({empty} OR EXISTS ({parent}))")
        return found

    def _link(self, column: SourceColumn, conditions: Sequence[Term]) -> Term | None:
        """Return a condition that a column equals an expression of other sources."""
        for term in conditions:
            if term.kind == "=" and column in (one.column for one in term.arguments):
                [other] = [one for one in term.arguments if one.column != column] or [term]
                if other.aliases and self.source.alias not in other.aliases:
                    return term
        return None

    def _linked(self, column: SourceColumn, conditions: Sequence[Term]) -> str | None:
        """Return the expression of other sources that a column must equal, as one of its type."""
        link = self._link(column, conditions)
        if link is None:
            return None
        [other] = [one for one in link.arguments if one.column != column]
        return f"TRY_CAST({other.sql} AS {self._type(column)})"

    def _type(self, column: SourceColumn) -> str:
        return self.source.table.columns[column.name]

    def _make_domain(self, table: str, column: SourceColumn) -> None:
        """Fill a table with the declared values of a column."""
        type_ = self._type(column)
        self.session.run(f"CREATE OR REPLACE TEMP TABLE {table} (value {type_})")
        for value in self.constraints.domain(column) or ():
            doing = f"reading the value {shown(value)} of domains['{column}']"
            self.session.run(f"INSERT INTO {table} VALUES (CAST(? AS {type_}))", (value,), doing)

    def _make_candidates(
        self, table: str, column: SourceColumn, conditions: Sequence[Term]
    ) -> None:
        """Fill a table with values of a column that stand for all that it can take."""
        if self.constraints.domain(column) is not None:
            self._make_domain(table, column)
            return
        type_ = self._type(column)
        known = type_ in _STEPS or type_ in (*FLOATS, "VARCHAR", "BOOLEAN")
        if not known and not DECIMAL.fullmatch(type_):
            raise self._unknown(column, f"its type is {type_}")
        met, ends = self._met(column, conditions)
        casts = [
            " UNION ".join(
                f"SELECT TRY_CAST(value AS {type_}) FROM ({one}) AS _(value)" for one in several
            )
            for several in (met or ["SELECT NULL"], ends)
        ]
        up, down = self._next_ones(column, type_)
        # Where nothing is met, as in an empty table, any value will do.
        text = (
            f"WITH known(value) AS ({casts[0]}), met(value) AS (SELECT value FROM known UNION "
            f"SELECT CAST({_DEFAULTS.get(type_, '0')} AS {type_}) WHERE NOT EXISTS (SELECT 1 FROM "
            "known WHERE value IS NOT NULL)) "
            f"SELECT value FROM met UNION SELECT {up} FROM met UNION SELECT {down} FROM met"
        )
        if ends:
            text += f" UNION {casts[1]}"
        if type_ == "BOOLEAN":
            text = "SELECT TRUE AS value UNION SELECT FALSE"
        every = f"SELECT value FROM ({text}) WHERE value IS NOT NULL"
        if column.name not in self.required:
            every += " UNION ALL SELECT NULL"
        self.session.run(
            f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT CAST(value AS {type_}) AS value FROM "
            f"({every}) LIMIT {_MOST_CANDIDATES + 1}"
        )
        [(number,)] = self.session.rows(f"SELECT COUNT(*) FROM {table}")
        if number > _MOST_CANDIDATES:
            raise self._unknown(
                column, f"it is compared with more than {_MOST_CANDIDATES:,} values"
            )

    def _met(self, column: SourceColumn, conditions: Sequence[Term]) -> tuple[list[str], list[str]]:
        """Return statements for the values that a column meets, and for the ends of a sum."""
        found = []
        for term in conditions:
            for other in self._compared(term, column):
                tables = ", ".join(
                    f"{self.form.source(alias).table.sql} AS {quoted(alias)}"
                    for alias in sorted(other.aliases)
                )
                found.append(f"SELECT DISTINCT {other.sql}{f' FROM {tables}' * bool(tables)}")
        for place, group in enumerate(self.form.groups):
            if column in group.term.columns:
                if group.term.column != column:
                    raise self._unknown(column, f"it is in the key {group.term.text}")
                found.append(f"SELECT k{place} FROM {KEYS}")
        valued = self.value is not None and column in self.value.columns
        if any(column.name in key for key in self.keys) or (
            valued and self.aggregate.kind == "distinct"
        ):
            # Next to a value that is taken may be one that is not.
            found.append(f"SELECT {quoted(column.name)} FROM {self.source.table.sql}")
        for one in self.foreign:
            for name, theirs in zip(one.columns, one.parent_columns, strict=True):
                if name == column.name:
                    found.append(f"SELECT {quoted(theirs)} FROM {one.parent.sql}")
        ends = self._ends(column, self.value) if valued and self.value is not None else []
        return found, ends

    def _next_ones(self, column: SourceColumn, type_: str) -> tuple[str, str]:
        """Return the SQL of the next value and of the one before."""
        if type_ not in FLOATS or self.value is None or not _is_factor(self.value, column):
            return next_ones("value", type_)
        # Next to 0 are floats too small for exact sums. Where a value is a multiple of the column,
        # such an end adds less than the other end of its interval; a larger one stands for it,
        # unless the column is compared with one that is smaller still.
        up, down = next_ones("value", type_)
        tiny = f"CAST('{2.0**-60!r}' AS {type_})"
        small = f"(SELECT MIN(ABS(value)) FROM met WHERE value <> 0) <= {tiny}"
        at_zero = f"value = 0 AND ({small}) IS NOT TRUE"
        return (
            f"CASE WHEN {at_zero} THEN {tiny} ELSE {up} END",
            f"CASE WHEN {at_zero} THEN -{tiny} ELSE {down} END",
        )

    def _compared(self, term: Term, column: SourceColumn) -> list[Term]:
        """Return what a column is compared with in a condition; refuse all other uses of it."""
        if column not in term.columns:
            return []
        if term.kind in ("and", "or", "not"):
            return [other for part in term.arguments for other in self._compared(part, column)]
        first, *others = term.arguments or (term,)
        if term.kind == "is null" and first.column == column:
            return []
        if term.kind in _COMPARED and others[0].column == column:
            first, others = others[0], [first]
        simple = term.kind in (*_COMPARED, "in") and first.column == column
        if not simple or any(self.source.alias in other.aliases for other in others):
            raise self._unknown(column, f"of the condition {term.text}")
        return others

    def _ends(self, column: SourceColumn, value: Term) -> list[str]:
        """Return statements for the ends of a column that is added up or counted."""
        if self.aggregate.kind == "distinct":
            if value.column != column:
                raise self._unknown(column, f"of the values {value.text}")
            return []
        if not _is_affine(value, column):
            raise self._unknown(column, f"of the expression {value.text}")
        if self.aggregate.kind == "count":
            return []
        if column not in self.form.bounds:
            raise InputError(
                f"change='add': how large {column} of a new row can be is not known; give "
                f"bounds={{'{self.source.table.name}.{column.name}': (lower, upper)}}, or declare "
                "its values with domains"
            )
        ends = self.form.bounds[column]
        return [f"SELECT {value_text(one, self._type(column), 'bounds')}" for one in ends]

    def _unknown(self, column: SourceColumn, why: str) -> InputError:
        name = f"{self.source.table.name}.{column.name}"
        return InputError(
            f"change='add': which values of {column} in a new row matter is not known, because "
            f"{why}; declare its values: domains={{'{name}': [...]}}"
        )

    def _best(
        self, inner: str, component: _Component, weighing: Weighing
    ) -> tuple[Fraction, dict[SourceColumn, Any]] | None:
        """Return the largest norm over the candidates."""
        names = [f"c{i}" for i in range(len(component.columns))]
        listed = "".join(f"{name}, " for name in names)
        grouped = f" GROUP BY {', '.join(names)}" if names else ""
        table = 'temp.main."lab factors"'
        self.session.run(f"CREATE OR REPLACE TEMP TABLE {table} AS {inner}")
        [(rough, rows)] = self.session.rows(f"SELECT BOOL_OR(rough), COUNT(*) FROM {table}")
        weighing.check(rough)
        if not rows:
            return None
        below = weighing.denominator
        if self.norm != "L2" or not component.has_keys:
            measure = "MAX" if self.norm == "Linf" else "SUM"
            [(*values, size)] = self.session.rows(
                f"SELECT {listed}{measure}(ABS(CAST(weight AS HUGEINT))) AS size FROM {table}"
                f"{grouped} ORDER BY size DESC LIMIT 1"
            )
            exact = Fraction(int(size), below)
            power = 2 if self.norm == "L2" else 1
            return exact**power, dict(zip(component.columns, values, strict=True))
        # Floats choose who comes near the largest sum of squares; exact sums decide among these.
        close = (
            f"SELECT {listed}SUM(CAST(weight AS DOUBLE) ** 2) AS size, LIST(weight) AS weights "
            f"FROM {table}{grouped}"
        )
        found = self.session.rows(
            f"SELECT {listed}weights FROM ({close}) WHERE size >= (SELECT MAX(size) * (1 - 1e-9) "
            f"FROM ({close}))"
        )
        sizes = [sum(int(one) ** 2 for one in row[-1]) for row in found]
        best = max(range(len(sizes)), key=lambda one: sizes[one])
        values = list(found[best][:-1])
        return Fraction(sizes[best], below**2), dict(zip(component.columns, values, strict=True))


def _conjuncts(term: Term) -> list[Term]:
    """Return the conditions of which a condition is the conjunction, such as those of BETWEEN."""
    if term.kind != "and":
        return [term]
    return [one for part in term.arguments for one in _conjuncts(part)]


def _is_affine(term: Term, column: SourceColumn) -> bool:
    """Tell whether an expression is affine in a column, and NULL as soon as the column is."""
    if column not in term.columns or term.column == column:
        return True
    if term.kind in ("+", "-"):
        return all(_is_affine(one, column) for one in term.arguments)
    if term.kind in ("*", "/"):
        first, second = term.arguments
        if column in first.columns and column in second.columns:
            return False
        if term.kind == "/" and column in second.columns:
            return False
        return _is_affine(first, column) and _is_affine(second, column)
    return False


def _is_factor(term: Term, column: SourceColumn) -> bool:
    """Tell whether an expression is a multiple of a column."""
    if term.column == column:
        return True
    if term.kind not in ("*", "/"):
        return False
    return any(_is_factor(one, column) for one in term.arguments)


def next_ones(value: str, type_: str) -> tuple[str, str]:
    """Return the SQL of the next value of a type and of the one before; NULL beyond its ends.

    Examples
    --------
    >>> next_ones("x", "DATE")
    ('TRY_CAST(x + 1 AS DATE)', 'TRY_CAST(x - 1 AS DATE)')
    """
    decimal = DECIMAL.fullmatch(type_)
    if type_ in FLOATS:
        ends = [f"CAST('{sign}infinity' AS {type_})" for sign in ("", "-")]
        return f"nextafter({value}, {ends[0]})", f"nextafter({value}, {ends[1]})"
    if type_ == "VARCHAR":
        return f"{value} || chr(1)", "''"
    step, wide = _STEPS.get(type_, "0"), value
    if decimal:
        wide = f"CAST({value} AS DECIMAL(38, {decimal[2]}))"
        step = f"CAST('1e-{decimal[2]}' AS DECIMAL(38, {decimal[2]}))"
    elif type_ in WHOLE:
        wide = f"CAST({value} AS HUGEINT)"
    return f"TRY_CAST({wide} + {step} AS {type_})", f"TRY_CAST({wide} - {step} AS {type_})"
