"""The normal form of a query: tables under aliases, conditions, groups and aggregates.

Every query that `sql_parser.py` accepts is one product of tables, restricted and counted:

    SELECT keys, aggregates
    FROM source, source, ... [LEFT JOIN source ON conditions] ...
    WHERE condition AND condition AND ...
    GROUP BY keys

A *source* is a table of the database under an alias of its own; a table that occurs twice is two
sources (a self-join). Subqueries in FROM and WITH are written out into this form, since joining and
restricting commute. Conditions of inner joins stand beside those of WHERE, in `conditions`; those
of a left join stay with its source. A *result* of a query is one row of the join that meets all
conditions: a choice of one row per source. It *refers* to the persons of all its rows. Every
aggregate is a sum over results, or a number of distinct values in them, so what a person changes
follows from the results that refer to the person.

Expressions are `Term`s, which hold their own SQL: it consists of operators and functions of an
allow-list, quoted names and quoted literals, and nothing of the text that came.

The statements of the lab's own making are over the join of a normal form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from sensitivity_lab.errors import InputError


@dataclass(frozen=True, order=True)
class SourceColumn:
    """A column of a source.

    Attributes
    ----------
    alias : str
        The source's alias in the normal form, unique without regard to case.
    name : str
        The column's name as the database has it.
    """

    alias: str
    name: str

    @property
    def sql(self) -> str:
        """The column as SQL."""
        return f"{quoted(self.alias)}.{quoted(self.name)}"

    def __str__(self) -> str:
        return f"{self.alias}.{self.name}"


_TRUTHS = (
    *("=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"),
    *("and", "or", "not", "in", "is null", "like", "ilike"),
)
"""The kinds of terms that are true or false."""


@dataclass(frozen=True)
class Term:
    """An expression over columns of sources.

    Attributes
    ----------
    sql : str
        The expression as DuckDB reads it, in brackets where that is needed.
    kind : str
        "column", "literal", an operator such as "=", "<", "+", "and", "in", "is null", "when" for
        a value that is NULL unless the first argument is true (FILTER), "case" for conditions and
        values by turns, "coalesce", "nullif", "cast to" and a type, or "other" for functions and
        whatever else nobody looks into.
    arguments : tuple of Term
        What it is made of.
    column : SourceColumn or None
        Of the kind "column".
    text : str
        As the query's author wrote it, for messages.
    """

    sql: str
    kind: str
    arguments: tuple[Term, ...] = ()
    column: SourceColumn | None = None
    text: str = field(default="", compare=False)

    @cached_property
    def columns(self) -> frozenset[SourceColumn]:
        """The columns that occur in it."""
        if self.column is not None:
            return frozenset({self.column})
        return frozenset().union(*(argument.columns for argument in self.arguments))

    @property
    def conditions(self) -> range:
        """The places of the arguments that decide on its value, and are no part of it."""
        # "when" has a condition and a value, "case" conditions and values by turns, and perhaps an
        # ELSE: of 5 arguments the conditions are 0 and 2.
        number = len(self.arguments)
        if self.kind in _TRUTHS:
            return range(number)
        return range(0, number - number % 2 or 1, 2) if self.kind in ("when", "case") else range(0)

    @cached_property
    def value_columns(self) -> frozenset[SourceColumn]:
        """The columns that its value is computed from; those of conditions are left out."""
        if self.column is not None:
            return self.columns
        parts = (one for at, one in enumerate(self.arguments) if at not in self.conditions)
        return frozenset().union(*(one.value_columns for one in parts))

    @cached_property
    def depth(self) -> int:
        """How many expressions stand within each other in it."""
        return 1 + max((argument.depth for argument in self.arguments), default=0)

    @property
    def aliases(self) -> frozenset[str]:
        """The sources that it depends on."""
        return frozenset(column.alias for column in self.columns)

    def walk(self) -> Iterator[Term]:
        """Yield the term and everything in it."""
        yield self
        for argument in self.arguments:
            yield from argument.walk()


@dataclass(frozen=True)
class Table:
    """A table of the database.

    Attributes
    ----------
    name : str
        As messages show it.
    sql : str
        Its full name, quoted: two sources with equal ones are one table.
    columns : dict of str to str
        The type of each column, by the column's name.
    made : str
        The statement that would make it; "" of a copy, which nobody changes.
    filled : frozenset of str
        The columns that it declares NOT NULL.
    """

    name: str
    sql: str
    columns: dict[str, str] = field(compare=False, hash=False)
    made: str = field(default="", compare=False, repr=False)
    filled: frozenset[str] = field(default=frozenset(), compare=False, repr=False)


@dataclass(frozen=True)
class ForeignKey:
    """Columns whose values, unless one is NULL, occur in a parent table.

    Attributes
    ----------
    columns : tuple of str
    parent : Table
    parent_columns : tuple of str
    """

    columns: tuple[str, ...]
    parent: Table
    parent_columns: tuple[str, ...]


OWNER = "lab owner"
"""The column of persons of a source whose owners foreign keys lead to."""


@dataclass(frozen=True)
class Source:
    """A table under an alias.

    Attributes
    ----------
    alias : str
        Unique in the query.
    table : Table
    person : str or None
        The column that says whose row it is; None for a public table.
    left : tuple of Term or None
        The conditions of the LEFT JOIN that adds the source; None for an inner join.
    path : tuple of ForeignKey
        The foreign keys that lead to the table with the column `person`; none if that is a column
        of the source itself.
    """

    alias: str
    table: Table
    person: str | None = None
    left: tuple[Term, ...] | None = None
    path: tuple[ForeignKey, ...] = ()

    @property
    def relation(self) -> str:
        """The SQL of its rows, with their owner where foreign keys lead to it.

        Each key finds at most one row, since the columns that it refers to are unique.
        """
        if not self.path:
            return self.table.sql
        # t0 is the source, and t(i + 1) the parent of the i-th key; the last one has the column of
        # persons.
        joins = ""
        for place, one in enumerate(self.path):
            equal = " AND ".join(
                f"t{place}.{quoted(own)} = t{place + 1}.{quoted(theirs)}"
                for own, theirs in zip(one.columns, one.parent_columns, strict=True)
            )
            joins += f" LEFT JOIN {one.parent.sql} AS t{place + 1} ON {equal}"
        person = f"t{len(self.path)}.{quoted(self.person or '')}"
        return f"(SELECT t0.*, {person} AS {quoted(OWNER)} FROM {self.table.sql} AS t0{joins})"

    def column(self, name: str) -> SourceColumn:
        """Return one of its columns."""
        return SourceColumn(self.alias, name)

    @property
    def owner(self) -> SourceColumn:
        """The column of persons of a private source."""
        return self.column(OWNER if self.path else self.person or "")


@dataclass(frozen=True)
class Equality:
    """A join condition: columns of two different sources are equal."""

    left: SourceColumn
    right: SourceColumn


@dataclass(frozen=True)
class GroupKey:
    """An expression of GROUP BY, with its name in the answer and its type."""

    name: str
    term: Term
    type: str


AggregateKind = Literal["count", "sum", "distinct"]
"""COUNT(*) and COUNT(expression), SUM, COUNT(DISTINCT expression)."""


@dataclass(frozen=True)
class Aggregate:
    """A number of the answer, in each group.

    Attributes
    ----------
    name : str
        Its name in the answer; AVG is two aggregates, "... (sum)" and "... (count)".
    kind : {"count", "sum", "distinct"}
    value : Term or None
        What is counted or added up, clipped to its bounds; None for COUNT(*).
    type : str
        The type of the value; "" for COUNT(*).
    bounded : bool
        Whether every column in the value has bounds.
    """

    name: str
    kind: AggregateKind
    value: Term | None
    type: str = ""
    bounded: bool = False

    @property
    def sql(self) -> str:
        """What is counted or added up, as SQL."""
        return "*" if self.value is None else self.value.sql


@dataclass(frozen=True)
class Outer:
    """What is computed from the keys and the aggregates of all groups: after the noise, for free.

    It is a SELECT over the relation `ANSWERS`, whose columns are ``k0``, ``k1``, ... (the keys) and
    ``a0``, ``a1``, ... (the aggregates).

    Attributes
    ----------
    columns : tuple of (str, str, bool)
        The columns of the answer: name, SQL, and whether it is a key.
    clauses : str
        WHERE (for HAVING), GROUP BY (for ROLLUP), QUALIFY, ORDER BY, LIMIT and OFFSET.
    before, after : str
        The text around it, in brackets, of a query with further SELECTs.
    """

    columns: tuple[tuple[str, str, bool], ...]
    clauses: str = ""
    before: str = ""
    after: str = ""

    @property
    def sql(self) -> str:
        """The statement."""
        shown = ", ".join(f"{sql} AS {quoted(name)}" for name, sql, _ in self.columns)
        return f"{self.before}SELECT {shown} FROM {ANSWERS}{self.clauses}{self.after}"


ANSWERS = '"lab answers"'
"""The relation of the keys and the aggregates of each group."""


@dataclass(frozen=True)
class NormalForm:
    """A query as a product of tables, restricted and counted; see the head of this file.

    Attributes
    ----------
    sources : tuple of Source
        In the order of FROM. Those with `left` come after what they are joined to.
    conditions : tuple of Term
        Of WHERE and of inner joins; all of them must be true.
    groups : tuple of GroupKey
        The expressions of GROUP BY.
    keys : tuple of tuples
        The public keys, in the order of the answer; one empty tuple without GROUP BY.
    aggregates : tuple of Aggregate
    bounds : dict of SourceColumn to (Fraction, Fraction)
        The public bounds of columns that are added up.
    outer : Outer
        What the query makes of keys and aggregates.
    lookups : tuple of Source
        What subqueries of IN read, none of which may have rows of persons.
    """

    sources: tuple[Source, ...]
    conditions: tuple[Term, ...]
    groups: tuple[GroupKey, ...]
    keys: tuple[tuple[Any, ...], ...]
    aggregates: tuple[Aggregate, ...]
    bounds: dict[SourceColumn, tuple[Fraction, Fraction]] = field(default_factory=dict)
    outer: Outer = field(default_factory=lambda: Outer(()))
    lookups: tuple[Source, ...] = ()

    @cached_property
    def equalities(self) -> tuple[Equality, ...]:
        """The join conditions among `conditions`: two columns of different sources are equal."""
        # A condition within one source joins nothing.
        found = equalities_in(self.conditions)
        return tuple(one for one in found if one.left.alias != one.right.alias)

    @cached_property
    def private(self) -> tuple[Source, ...]:
        """The sources whose rows belong to persons."""
        return tuple(source for source in self.sources if source.person is not None)

    def type_of(self, column: SourceColumn) -> str:
        """Return the type of a column."""
        source = self.source(column.alias)
        if source.path and column.name == OWNER:
            return source.path[-1].parent.columns[source.person or ""]
        return source.table.columns[column.name]

    @cached_property
    def person_types(self) -> frozenset[str]:
        """The types of the columns of persons."""
        return frozenset(self.type_of(source.owner) for source in self.private)

    def check_monotone(self, call: str) -> None:
        """Raise InputError unless a result stays as long as its rows do.

        It does not where a left join adds private rows.
        """
        # Without private rows a left join keeps the other side with NULL: a result that was not
        # there appears.
        if any(source.left is not None for source in self.private):
            raise InputError(
                f"{call}: a LEFT JOIN to a private table is not supported, because a person can "
                "take results away from others; use an inner join"
            )

    def source(self, alias: str) -> Source:
        """Return the source of an alias."""
        return next(source for source in self.sources if source.alias == alias)

    @property
    def terms(self) -> list[Term]:
        """All conditions, keys and values."""
        return [
            *self.conditions,
            *(term for source in self.sources for term in source.left or ()),
            *(group.term for group in self.groups),
            *(one.value for one in self.aggregates if one.value is not None),
        ]

    @cached_property
    def used(self) -> frozenset[SourceColumn]:
        """All columns that the query reads, those of persons included."""
        persons = {source.owner for source in self.private}
        return frozenset(persons).union(*(term.columns for term in self.terms))


def equalities_in(terms: Iterable[Term]) -> list[Equality]:
    """Return the equalities of two columns among some conditions."""
    sides = [[one.column for one in term.arguments] for term in terms if term.kind == "="]
    return [Equality(left, right) for left, right in sides if left and right]


def alike(name: str, known: Iterable[str]) -> str | None:
    """Return the one of some names that is a name without regard to case; None if none is."""
    return next((one for one in known if one.lower() == name.lower()), None)


def quoted(name: str) -> str:
    """Return a name as SQL.

    Examples
    --------
    >>> print(quoted('a"b'))
    "a""b"
    """
    # Quotes within a name are doubled, so that no name ends early.
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as a literal of SQL.

    Examples
    --------
    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


KEYS = 'temp.main."lab keys"'
"""The temporary table of the public keys: their `place` in the answer, and k0, k1, ..."""

PLACE = "place"
"""The number of a group in the answer, from 0; 0 without GROUP BY."""


def statement(
    form: NormalForm,
    select: Sequence[str],
    *,
    where: Iterable[str] = (),
    group_by: Sequence[str] = (),
    grouped: bool = True,
    beside: str = "",
) -> str:
    """Return a statement over all results of a query.

    Parameters
    ----------
    form : NormalForm
        The query.
    select : sequence of str
        Its columns, as SQL over the sources' columns and `place_of`.
    where : iterable of str
        Further conditions.
    group_by : sequence of str
        What to group by.
    grouped : bool, default True
        Whether to keep results of public keys only, which `KEYS` must hold.
    beside : str, optional
        A further relation, with which every result is paired.
    """
    conditions = [term.sql for term in form.conditions] + list(where)
    relations = from_clause(form.sources)
    if grouped and form.groups:
        relations += f' CROSS JOIN {KEYS} AS "lab keys"'
        # IS NOT DISTINCT FROM, so that NULL is a key like others.
        conditions += [
            f'{group.term.sql} IS NOT DISTINCT FROM "lab keys".k{place}'
            for place, group in enumerate(form.groups)
        ]
    if beside:
        relations += f" CROSS JOIN {beside}"
    text = f"SELECT {', '.join(select)} FROM {relations}"
    if conditions:
        text += f" WHERE {' AND '.join(conditions)}"
    if group_by:
        text += f" GROUP BY {', '.join(group_by)}"
    return text


def from_clause(sources: Iterable[Source]) -> str:
    """Return FROM without its word: conditions of inner joins are left to WHERE."""
    text = ""
    for source in sources:
        relation = f"{source.relation} AS {quoted(source.alias)}"
        if not text:
            text = relation
        elif source.left is None:
            # With its conditions in WHERE a cross join is an inner join, and DuckDB plans it as
            # one.
            text += f" CROSS JOIN {relation}"
        else:
            on = " AND ".join(term.sql for term in source.left)
            text += f" LEFT JOIN {relation} ON {on}"
    return text


def place_of(form: NormalForm) -> str:
    """Return the SQL of a result's place in the answer."""
    return '"lab keys".place' if form.groups else "0"


def regenerated(form: NormalForm) -> str:
    """Return the query in the normal form, as text for people: with its keys, if there are any."""
    shown = [f"{group.term.sql} AS {quoted(group.name)}" for group in form.groups]
    for aggregate in form.aggregates:
        value = aggregate.sql
        call = {"count": f"COUNT({value})", "sum": f"SUM({value})"}.get(
            aggregate.kind, f"COUNT(DISTINCT {value})"
        )
        shown.append(f"{call} AS {quoted(aggregate.name)}")
    where = []
    if form.groups:
        keys = ", ".join(f"({', '.join(map(key_text, key))})" for key in form.keys)
        terms = ", ".join(group.term.sql for group in form.groups)
        # What runs joins with the table of keys; the text for people lists them.
        where = [f"({terms}) IN ({keys})"]
    groups = [group.term.sql for group in form.groups]
    return statement(form, shown, where=where, group_by=groups, grouped=False)


def key_text(value: object) -> str:
    """Return a key as a literal."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    return str(value) if isinstance(value, int | float) else literal(str(value))
