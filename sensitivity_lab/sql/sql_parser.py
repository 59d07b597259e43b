"""Reading a query: from the text that came to its normal form, by an allow-list of syntax.

sqlglot parses the text. What is not on the lists below is refused, with its place in the text and a
way to write it. The text itself is never executed: `expressions.py` writes every expression anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sensitivity_lab.checks import cut, did_you_mean, names_of, shown, text_of
from sensitivity_lab.errors import InputError

from .after_noise import around
from .database import Database, missing
from .expressions import (
    MOST_WITHIN,
    OTHERWISE,
    WINDOWS,
    Writer,
    depth,
    node_text,
    operands,
    respelt,
    too_deep,
)
from .normal_form import (
    Aggregate,
    GroupKey,
    NormalForm,
    Outer,
    Source,
    SourceColumn,
    Table,
    Term,
    alike,
    from_clause,
)

_MOST_TEXT = 100_000
"""The most characters of a query."""

_MOST_STEPS = 25
"""The most queries of WITH and subqueries that read from one another."""

_MOST_TABLES = 100
"""The most tables in FROM, each as often as it occurs when subqueries are written out."""


def sqlglot_module() -> Any:
    """Return sqlglot, or raise MissingExtraError."""
    try:
        import sqlglot
    except ImportError as error:
        raise missing("sqlglot") from error
    return sqlglot


_WAYS = {
    "distinct": (
        "SELECT DISTINCT is not supported, because several persons can stand behind one row of it",
        "write COUNT(DISTINCT column) if that is what you count",
    ),
    "having": (
        "HAVING in a subquery is not supported, because whether a group is there depends on all "
        "of its rows",
        "aggregate once, outside: there HAVING chooses among the noisy answers",
    ),
    "group": (
        "GROUP BY in a subquery is not supported, because one row more can take results away",
        "join the tables, and aggregate once, outside",
    ),
    "qualify": ("QUALIFY is not supported, because it needs windows", "restrict the rows in WHERE"),
    "windows": WINDOWS,
    **dict.fromkeys(
        ("limit", "offset"),
        (
            "LIMIT in a subquery is not supported, because one row can push out others",
            "restrict the rows in WHERE; outside, LIMIT chooses among the noisy answers",
        ),
    ),
    "sample": (
        "a sample is not supported, because it is random",
        "take one beforehand, and make a table of it",
    ),
    "laterals": ("lateral joins are not supported", "join tables by conditions"),
    "pivots": ("pivots are not supported", "group by the columns"),
    "into": ("a query that writes is not supported", "leave out INTO"),
    "locks": ("locks are not supported", "leave out FOR UPDATE or FOR SHARE"),
}
"""Parts of a SELECT that are refused: why, and how else to write it."""

_INSTEAD = {
    "ApproxDistinct": "write COUNT(DISTINCT column), which is exact",
    **dict.fromkeys(
        ("Min", "Max", "Median", "PercentileCont", "PercentileDisc", "Quantile"),
        "count the values beyond public ones: COUNT(*) FILTER (WHERE column > 10)",
    ),
}
"""How to write what other aggregates say, by their class in sqlglot."""

_VARIANCES = {
    "Variance": "{over} / ({n} - 1)",
    "VariancePop": "{over} / {n}",
    "Stddev": "sqrt({over} / ({n} - 1))",
    "StddevSamp": "sqrt({over} / ({n} - 1))",
    "StddevPop": "sqrt({over} / {n})",
}
"""What follows from the number n and the sum `over` of squared deviations, by class in sqlglot."""

_FIRST_WORD = re.compile(r"(?:\s|\(|--[^\n]*(?:\n|$)|/\*.*?\*/)*(\w*)", re.DOTALL)
"""The first word of a query, after blanks, brackets and comments."""


_TWICE = Term("", "twice")
"""Stands for the columns of a star that share a name, which nobody can ask for."""


@dataclass
class _Scope:
    """What a SELECT sees: its sources, its conditions, and the columns by visible name."""

    sources: list[Source] = field(default_factory=list)
    conditions: list[Term] = field(default_factory=list)
    names: dict[str, dict[str, Term]] = field(default_factory=dict)
    merged: dict[str, Term] = field(default_factory=dict)

    @property
    def columns(self) -> set[str]:
        """The names of all columns."""
        return {one for of in self.names.values() for one in of} | set(self.merged)


@dataclass(frozen=True)
class _Subquery:
    """A subquery written out: what it adds to the scope around it, and its columns."""

    scope: _Scope
    outputs: dict[str, Term]
    plain: bool


class Reader:
    """Reads one query of a database.

    Parameters
    ----------
    text : str
        The query.
    database : Database
    persons : mapping of str to str
        The column of persons by the name of its table, in lower case.
    """

    def __init__(self, text: str, database: Database, persons: Mapping[str, str]) -> None:
        self.text = text
        self.database = database
        self.persons = persons
        self.exp = sqlglot_module().exp
        self.writer = Writer(self.exp, text, database.dialect)
        self.writer.looked_up = self._looked_up
        self._aliases: set[str] = set()
        self._lookups: list[Source] = []
        self._steps = 0

    def read(self) -> NormalForm:
        """Return the normal form, without types and keys, and with unclipped values."""
        exp = self.exp
        statement = respelt(self._parsed(), self.text, exp)
        dialect = self.database.dialect
        # Another dialect's text means other things in DuckDB.
        duckdb = dialect == "duckdb"
        module = sqlglot_module()
        found = around(statement, self.text, module, self.refusal) if duckdb else None
        select = statement if found is None else found.inner
        if not isinstance(select, exp.Select):
            raise self.refusal(
                select,
                "UNION, INTERSECT and EXCEPT are not supported",
                "compute the sensitivity of each SELECT",
            )
        # First what the query sees, then its groups, and then its answers: each needs the one
        # before.
        scope, outputs = self._scope_of(select, self._named_before(select), top=True)
        listed: list[tuple[str, Any]] = []
        for item in outputs:
            inner = item.unalias()
            if isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and inner.is_star):
                raise self.refusal(
                    item,
                    "a star is not supported among the answers",
                    "name the keys and the aggregates",
                )
            plain = item.name if isinstance(item, exp.Column) else ""
            listed.append((item.alias or plain or node_text(inner, self.text), inner))
        groups, sets = self._groups(select, scope, listed)
        answers = _Answers(self, scope, groups, sets)
        columns = answers.columns(listed)
        clauses = answers.clauses(select, len(listed))
        window = next(
            (node for _, node in listed for node in [node.find(exp.Window)] if node), None
        )
        if not answers.aggregates and window is not None:
            raise self.refusal(window, *WINDOWS)
        if not answers.aggregates:
            raise InputError(
                "sql: the query has no aggregate; select COUNT(*), COUNT(column), SUM(expression), "
                "AVG(expression) or COUNT(DISTINCT column)"
            )
        groups = _told_apart(groups)
        names = ["person", *(one.name.lower() for one in groups)]
        names += [one.name.lower() for one in answers.aggregates]
        # A query of one SELECT has its keys' names; text around it knows the columns by their own.
        if found is None:
            columns = [
                (groups[int(term.sql[1:])].name if is_key else name, term, is_key)
                for name, term, is_key in columns
            ]
        shown_names = [name.lower() for name, _, is_key in columns if not is_key]
        shown_names += {name.lower() for name, _, is_key in columns if is_key}
        twice = next((one for one in shown_names if shown_names.count(one) > 1), None)
        for one in answers.aggregates:
            twice = one.name if names.count(one.name.lower()) > 1 else twice
        if twice is not None:
            raise InputError(
                f"sql: an aggregate is called {shown(twice)}, as another one, a key or the "
                "persons of a frame are; give it another name with AS"
            )
        outer = Outer(tuple((name, term.sql, is_key) for name, term, is_key in columns), clauses)
        if found is not None:
            outer = replace(outer, before=found.before, after=found.after)
        return NormalForm(
            tuple(scope.sources),
            tuple(scope.conditions),
            tuple(groups),
            ((),),
            tuple(answers.aggregates),
            outer=outer,
            lookups=tuple(self._lookups),
        )

    # The parts of a SELECT.

    def _parsed(self) -> Any:
        """Return the one SELECT of the text."""
        sqlglot, exp = sqlglot_module(), self.exp
        if not self.text.strip():
            raise InputError("sql must be a SELECT statement, got an empty text")
        if len(self.text) > _MOST_TEXT or "\0" in self.text:
            raise InputError(
                f"sql must be a SELECT statement of at most {_MOST_TEXT:,} characters without "
                f"the character 0, got {len(self.text):,} characters"
            )
        self._check_first_word()
        try:
            found = [one for one in sqlglot.parse(self.text, dialect=self.database.dialect) if one]
        except (sqlglot.errors.SqlglotError, RecursionError) as error:
            details = getattr(error, "errors", None) or [{}]
            place = "".join(
                f" at line {one['line']}, column {one['col']}"
                for one in details[:1]
                if "line" in one
            )
            why = details[0].get("description") or text_of(error)
            if isinstance(error, RecursionError):
                why = (
                    "brackets, calls, NOT or CASE are nested too deeply for the parser, which "
                    f"stops before {MOST_WITHIN} of them; compute steps in WITH or in a table "
                    "beforehand"
                )
            if "following CTE" in why:
                why = "after the queries of WITH, SELECT ... FROM ... is missing"
            raise InputError(f"sql: cannot read the query{place}: {cut(why)}") from None
        if len(found) != 1:
            raise InputError(f"sql must be one SELECT statement, got {len(found)} statements")
        [statement] = found
        if not isinstance(statement, exp.Select | exp.SetOperation):
            raise InputError(
                f"sql must be one SELECT statement, got one of the kind {statement.key.upper()}"
            )
        if (found_depth := depth(statement, exp)) > MOST_WITHIN:
            raise too_deep(found_depth)
        return statement

    def _check_first_word(self) -> None:
        """Raise InputError if the text starts with another word than a query does."""
        found = _FIRST_WORD.match(self.text)
        word = "" if found is None else found[1]
        if word.upper() not in ("SELECT", "WITH", "FROM"):
            raise InputError(
                "sql must be one SELECT statement, such as SELECT COUNT(*) FROM orders, and can "
                f"begin with WITH; it begins with {shown(word or self.text.strip()[:20])}"
                f"{did_you_mean(word.upper(), ('SELECT', 'WITH'))}"
            )

    def _scope_of(
        self, select: Any, outside: Mapping[str, Any], *, top: bool
    ) -> tuple[_Scope, list[Any]]:
        """Return what a SELECT sees, and its output expressions."""
        exp = self.exp
        allowed = {"with_", "with", "from_", "from", "joins", "where", "expressions", "order"}
        if top:
            allowed |= {"group", "having", "qualify", "limit", "offset"}
        for name, part in select.args.items():
            if part and name not in allowed:
                unknown = (f"{name} is not on the list of what is read", OTHERWISE)
                node = part[0] if isinstance(part, list) else part
                raise self.refusal(
                    node if isinstance(node, exp.Expression) else select,
                    *_WAYS.get(name, unknown),
                )
        # WITH is read first, since FROM can name its queries.
        named = self._named_queries(select, outside)
        scope = _Scope()
        from_ = select.args.get("from_") or select.args.get("from")
        if from_ is None:
            raise self.refusal(select, "a SELECT needs FROM", "name the tables")
        self._add(scope, from_.this, named, None)
        for join in select.args.get("joins") or []:
            self._add(scope, join.this, named, join)
        where = select.args.get("where")
        if where is not None:
            resolve = self.resolver(scope)
            scope.conditions += [
                self.writer.term(one, resolve) for one in operands(where.this, exp.And)
            ]
        return scope, list(select.expressions)

    def _named_before(self, select: Any) -> dict[str, Any]:
        """Return the queries that WITH names around a SELECT, and before it."""
        above, node = [], select
        while node.parent is not None:
            node = node.parent
            above.append(node)
        named: dict[str, Any] = {}
        # From the outermost SELECT inwards: what stands nearer hides a name of further out.
        for node in reversed(above):
            named = self._named_queries(node, named, above)
        return named

    def _named_queries(
        self, select: Any, outside: Mapping[str, Any], above: Sequence[Any] = ()
    ) -> dict[str, Any]:
        """Return the queries of WITH by name, each with the names that it can use.

        With the nodes `above` one of them, it is those that stand before it.
        """
        named = dict(outside)
        with_ = select.args.get("with_") or select.args.get("with")
        if with_:
            if with_.args.get("recursive"):
                raise self.refusal(
                    with_, "WITH RECURSIVE is not supported", "join the tables as often as needed"
                )
            for one in with_.expressions:
                # The query stands within this one of WITH, which does not see itself or later ones.
                if any(one is node for node in above):
                    break
                self._check_alias(one.args["alias"])
                # A name means what stands before it, never itself.
                named[one.alias.lower()] = (one.this, dict(named))
        return named

    def _add(self, scope: _Scope, item: Any, named: Mapping[str, Any], join: Any) -> None:
        """Add a table or a subquery of FROM, and the conditions of its join."""
        exp = self.exp
        left = join is not None and self._is_left(join)
        if isinstance(item, exp.Table):
            visible, added = self._table(item, named)
        elif isinstance(item, exp.Subquery):
            self.check_parts(item, {"this", "alias"}, "a subquery in FROM")
            if isinstance(item.this, exp.SetOperation):
                raise self.refusal(
                    item,
                    "UNION, INTERSECT and EXCEPT are not supported",
                    "unite the rows in one table beforehand",
                )
            query = item.this
            if isinstance(query, exp.Table) and item.alias:  # (a JOIN b) AS c
                table = query.copy()
                joins = table.args.pop("joins", None)
                from_ = exp.From(this=table)
                query = exp.Select(expressions=[exp.Star()], from_=from_, joins=joins)
            if not isinstance(query, exp.Select):
                raise self.refusal(
                    item,
                    "brackets around tables or joins are not supported",
                    "write joins one after the other, and one SELECT in each bracket",
                )
            self._check_alias(item.args.get("alias"))
            visible, added = item.alias or "unnamed_subquery", self._subquery(query, named)
        else:
            raise self.refusal(
                item,
                "FROM reads tables of the connection only, no functions, files or lists",
                "load it as a table, or pass it in connection={'name': ...}",
            )
        if visible.lower() in scope.names:
            raise self.refusal(
                item, f"{visible} occurs twice in FROM", "give each its own name with AS"
            )
        if left and (len(added.scope.sources) > 1 or not added.plain):
            raise self.refusal(
                item,
                "a LEFT JOIN to a subquery that joins or computes is not supported",
                "join its tables one after the other with LEFT JOIN, and compute outside",
            )
        # USING and NATURAL look at the columns before this table, so they are copied before it is
        # added.
        before = {name: dict(columns) for name, columns in scope.names.items()}
        earlier = [*scope.merged.items()]
        scope.names[visible.lower()] = added.outputs
        conditions = self._join_conditions(scope, before, dict(earlier), added, join)
        if left:
            # Its own conditions go to ON as well: in WHERE they would drop the rows that found no
            # partner.
            [source] = added.scope.sources
            scope.sources.append(replace(source, left=(*added.scope.conditions, *conditions)))
        else:
            scope.sources += added.scope.sources
            scope.conditions += [*added.scope.conditions, *conditions]

    def _is_left(self, join: Any) -> bool:
        """Tell whether a join is a LEFT JOIN; refuse all but this and inner joins."""
        method = join.args.get("method")
        if method not in (None, "NATURAL"):
            raise self.refusal(
                join,
                f"{'an' if str(method)[0] in 'AEIOU' else 'a'} {method} JOIN is not supported",
                "write JOIN with its conditions after ON",
            )
        parts = {"this", "on", "using", "kind", "side", "method"}
        self.check_parts(join, parts, "this kind of join")
        side, kind = (str(join.args.get(one) or "").upper() for one in ("side", "kind"))
        if side not in ("", "LEFT") or kind not in ("", "INNER", "CROSS", "OUTER"):
            raise self.refusal(
                join,
                f"a {' '.join(filter(None, (side, kind)))} JOIN is not supported",
                "use JOIN or LEFT JOIN; a RIGHT JOIN is a LEFT JOIN with its tables exchanged",
            )
        if side == "LEFT" and not any(map(join.args.get, ("on", "using", "method"))):
            raise self.refusal(join, "a LEFT JOIN needs ON", "write its condition after ON")
        return side == "LEFT"

    def _join_conditions(
        self,
        scope: _Scope,
        before: Mapping[str, Mapping[str, Term]],
        merged: Mapping[str, Term],
        added: _Subquery,
        join: Any,
    ) -> list[Term]:
        """Return the conditions of ON and USING."""
        if join is None:
            return []
        conditions = []
        if join.args.get("on") is not None:
            resolve = self.resolver(scope)
            conditions += [
                self.writer.term(one, resolve) for one in operands(join.args["on"], self.exp.And)
            ]
        for column in join.args.get("using") or self._in_both(before, added, join):
            name = column.name
            key = name.lower()
            right = added.outputs.get(key)
            found = [columns[key] for columns in before.values() if key in columns]
            if key in merged:
                found = [merged[key]]
            if right is None or not found:
                raise self.refusal(column, f"USING: {name} is not a column of both sides", "use ON")
            if len(found) > 1:
                raise self.refusal(
                    column, f"USING: {name} is a column of several tables before", "use ON"
                )
            sides = (self._once(column, found[0]), self._once(column, right))
            conditions.append(self.writer.equal(*sides))
            # Of a column that USING merges the left one counts: in a left join the right one can be
            # NULL.
            scope.merged[key] = found[0]
        return conditions

    def _in_both(
        self, before: Mapping[str, Mapping[str, Term]], added: _Subquery, join: Any
    ) -> list[Any]:
        """Return the columns that a NATURAL JOIN compares: those of both sides; none of others."""
        if not join.args.get("method"):
            return []
        earlier = {name for columns in before.values() for name in columns}
        shared = [name for name in added.outputs if name in earlier]
        if not shared:
            raise self.refusal(join, "no column is on both sides of NATURAL JOIN", "use ON")
        return [self.exp.to_identifier(name, quoted=True) for name in shared]

    def _table(self, item: Any, named: Mapping[str, Any]) -> tuple[str, _Subquery]:
        """Return a table of FROM, or what WITH calls by its name."""
        exp = self.exp
        self.check_parts(item, {"this", "db", "catalog", "alias"}, "this form of a table")
        if not isinstance(item.this, exp.Identifier):
            raise self.refusal(
                item,
                "FROM reads tables of the connection only, no functions, files or lists",
                "load it as a table, or pass it in connection={'name': ...}",
            )
        if item.args.get("alias"):
            self._check_alias(item.args["alias"])
        visible = item.alias or item.name
        parts = [part.name for part in item.parts]
        # A name of WITH hides a table of the database.
        if len(parts) == 1 and item.name.lower() in named:
            query, names = named[item.name.lower()]
            if not isinstance(query, exp.Select):
                raise self.refusal(
                    query, "UNION or a statement is not supported in WITH", "write one SELECT"
                )
            return visible, self._subquery(query, names)
        table = self.database.table(parts, self.place(item))
        person = self.persons.get(table.name.lower())
        column = None if person is None else own_column(table, person, "person")
        source = Source(self._unique(visible), table, column)
        outputs = {name.lower(): self.writer.column(source.column(name)) for name in table.columns}
        return visible, _Subquery(_Scope([source]), outputs, plain=True)

    def _looked_up(self, query: Any) -> str:
        """Return the SQL of a subquery of IN; its sources must be public, which is seen later."""
        exp = self.exp
        named = {one.alias.lower() for one in query.root().find_all(exp.CTE)}
        tables = {one.name.lower() for one in query.find_all(exp.Table)}
        if not isinstance(query, exp.Select) or len(query.expressions) != 1 or named & tables:
            raise self.refusal(
                query,
                "IN reads one SELECT of one column, from tables and not from WITH",
                "write IN (SELECT column FROM table WHERE ...) over public tables",
            )
        # A scope of its own: the subquery of IN sees no column from outside, so it is one relation
        # for all rows.
        scope, [item] = self._scope_of(query, {}, top=False)
        found = self.writer.term(item.unalias(), self.resolver(scope))
        self._lookups += scope.sources
        where = " AND ".join(one.sql for one in scope.conditions) or "TRUE"
        return f"SELECT {found.sql} FROM {from_clause(scope.sources)} WHERE {where}"

    def _subquery(self, select: Any, named: Mapping[str, Any]) -> _Subquery:
        """Write out a subquery: a join that is restricted, and computes columns."""
        exp = self.exp
        # Counted while the query is read, so that it is how many stand within each other.
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise self.refusal(
                select,
                f"{self._steps} queries of WITH and subqueries read from one another, and the "
                f"limit is {_MOST_STEPS}",
                "join the tables in fewer steps",
            )
        scope, items = self._scope_of(select, named, top=False)
        self._steps -= 1
        outputs: dict[str, Term] = {}
        plain = True
        for item in items:
            inner = item.unalias()
            if isinstance(inner, exp.Star) or (isinstance(inner, exp.Column) and inner.is_star):
                found = self._all_columns(scope, inner)
            else:
                if inner.find(exp.Window):
                    raise self.refusal(inner, *WINDOWS)
                if self.is_aggregate(inner) or inner.find(exp.AggFunc):
                    raise self.refusal(
                        inner,
                        "an aggregate in a subquery, which is not monotone: one row more can take "
                        "results away",
                        "join the tables, and aggregate once, outside",
                    )
                name = item.alias_or_name
                if not name:
                    raise self.refusal(item, "a column needs a name", "give it one: ... AS name")
                term = self.writer.term(inner, self.resolver(scope))
                plain &= term.column is not None
                found = {name.lower(): term}
            twice = next((name for name in found if name in outputs), None)
            if twice is not None:
                raise self.refusal(
                    item, f"two columns called {twice}", "give each its own name with AS"
                )
            outputs |= found
        return _Subquery(scope, outputs, plain)

    def _all_columns(self, scope: _Scope, star: Any) -> dict[str, Term]:
        """Return the columns of a star, which USING merges."""
        exp = self.exp
        of = star if isinstance(star, exp.Star) else star.this
        self.check_parts(of, set(), "a star with EXCEPT, REPLACE or RENAME")
        if isinstance(star, exp.Column):
            name = star.table.lower()
            if name not in scope.names:
                raise self.refusal(
                    star, f"there is no table {star.table} in FROM", "name one of them"
                )
            return dict(scope.names[name])
        # A merged column stands once in a star, before all others.
        found: dict[str, Term] = dict(scope.merged)
        for columns in scope.names.values():
            for name, term in columns.items():
                if name in scope.merged:
                    continue
                found[name] = _TWICE if name in found else term
        return found

    # Names.

    def resolver(self, scope: _Scope) -> Any:
        """Return the function from a column's node to its term in a scope."""

        def resolve(node: Any) -> Term:
            self.check_parts(node, {"this", "table"}, "a column with a schema before its table")
            name = node.name.lower()
            if node.table:
                columns = scope.names.get(node.table.lower())
                if columns is None:
                    known = list(scope.names)
                    raise self.refusal(
                        node,
                        f"there is no table {node.table} in FROM",
                        f"the tables there are {names_of(known)}{did_you_mean(node.table, known)}",
                    )
                if name not in columns:
                    raise self._no_column(node, list(columns))
                return self._once(node, columns[name])
            # A merged column is no longer one of two tables.
            if name in scope.merged:
                return scope.merged[name]
            found = [columns[name] for columns in scope.names.values() if name in columns]
            if not found:
                raise self._no_column(
                    node, sorted({one for of in scope.names.values() for one in of})
                )
            if len(found) > 1:
                raise self.refusal(
                    node, f"{node.name} is a column of several tables", "write the table before it"
                )
            return self._once(node, found[0])

        return resolve

    def _once(self, node: Any, term: Term) -> Term:
        """Return the term of a column; refuse a name that a star gives to several columns."""
        if term is _TWICE:
            raise self.refusal(
                node,
                f"a subquery has two columns called {node.name}",
                "name its columns in place of the star",
            )
        return term

    def _no_column(self, node: Any, known: list[str]) -> InputError:
        return self.refusal(
            node,
            f"there is no column {node.sql()}",
            f"the columns are {names_of(known)}{did_you_mean(node.name, known)}",
        )

    def _unique(self, name: str) -> str:
        """Return an alias that no other source has."""
        if len(self._aliases) == _MOST_TABLES:
            raise InputError(
                f"sql: with its subqueries written out, the query joins more than {_MOST_TABLES} "
                "tables, which is the limit; join fewer, or make a table of some beforehand"
            )
        # Written out, two subqueries can bring one alias twice: orders and orders_2.
        alias, number = name, 1
        while alias.lower() in self._aliases:
            number += 1
            alias = f"{name}_{number}"
        self._aliases.add(alias.lower())
        return alias

    # Groups and aggregates.

    def _groups(
        self, select: Any, scope: _Scope, listed: list[tuple[str, Any]]
    ) -> tuple[list[GroupKey], str]:
        """Return the expressions of GROUP BY, and the ROLLUP or CUBE of their places, or ""."""
        exp = self.exp
        group = select.args.get("group")
        if group is None:
            return [], ""
        several = (exp.GroupingSets, exp.Rollup, exp.Cube)
        parts = self._parts_of(group, listed)
        found: dict[str, GroupKey] = {}
        by_name = {one.lower(): inner for one, inner in listed}
        # The first of several names of one expression is the one that counts.
        keys = [(one, inner) for one, inner in reversed(listed) if not self.is_aggregate(inner)]
        names = {node_text(inner, self.text): one for one, inner in keys}

        def written(part: Any) -> str:
            """Return a part of GROUP BY with the places of its keys."""
            word = "GROUPING SETS" if isinstance(part, exp.GroupingSets) else part.key.upper()
            if isinstance(part, several):
                return f"{word} ({', '.join(map(written, part.expressions))})"
            if isinstance(part, exp.Tuple):
                return f"({', '.join(map(place_of, part.expressions))})"
            return place_of(part)

        def place_of(part: Any) -> str:
            node = part.unnest()
            if isinstance(node, exp.Literal) and not node.is_string:
                place = int(node.name) if node.name.isdecimal() else 0
                if not 1 <= place <= len(listed):
                    raise self.refusal(
                        node, f"there is no answer number {node.name}", "name the column"
                    )
                name, chosen = listed[place - 1]
            else:
                name, chosen = node.alias_or_name or node_text(node, self.text), node
                # A column of the tables comes before an answer's name, as in DuckDB.
                plain = isinstance(node, exp.Column) and not node.table
                if plain and node.name.lower() not in scope.columns:
                    chosen = by_name.get(node.name.lower(), node)
            if self.is_aggregate(chosen):
                raise self.refusal(
                    node, "an aggregate is not supported in GROUP BY", "group by columns"
                )
            term = self.writer.term(chosen, self.resolver(scope))
            shown_as = names.get(node_text(chosen, self.text), name)
            # Expressions with one SQL are one key: GROUP BY a, 1 can name the same twice.
            found.setdefault(term.sql, GroupKey(shown_as, term, ""))
            return f"k{list(found).index(term.sql)}"

        sets = ", ".join(map(written, parts))
        return list(found.values()), sets if group.find(*several) else ""

    def _parts_of(self, group: Any, listed: list[tuple[str, Any]]) -> list[Any]:
        """Return the parts of GROUP BY; of GROUP BY ALL, the answers without aggregates."""
        if group.args.get("all"):
            # GROUP BY ALL groups by every answer in which no aggregate stands.
            aggregates = (self.exp.AggFunc, self.exp.Window)
            return [inner for _, inner in listed if not inner.find(*aggregates)]
        kinds = ("expressions", "grouping_sets", "rollup", "cube")
        self.check_parts(group, set(kinds), "this form of GROUP BY")
        return [one for name in kinds for one in group.args.get(name) or []]

    def is_aggregate(self, node: Any) -> bool:
        """Tell whether a node is an aggregate, or a window over them."""
        exp = self.exp
        return isinstance(node, exp.AggFunc | exp.Filter | exp.Window | exp.WithinGroup)

    def aggregates_of(self, name: str, node: Any, scope: _Scope) -> list[Aggregate]:
        """Return the aggregates of an answer: two of an average."""
        exp = self.exp
        resolve = self.resolver(scope)
        where: Term | None = None
        if isinstance(node, exp.Filter):
            where = self.writer.term(node.expression.this, resolve)
            node = node.this
        if isinstance(node, exp.Window):
            raise self.refusal(node, *_WAYS["windows"])
        if isinstance(node, exp.Count):
            self.check_parts(node, {"this", "big_int"}, "COUNT of several columns")
            if isinstance(node.this, exp.Distinct):
                self.check_parts(node.this, {"expressions"}, "DISTINCT ON")
                if len(node.this.expressions) != 1:
                    raise self.refusal(
                        node,
                        "COUNT(DISTINCT) of several columns is not supported",
                        "count one column, or a text of both with a sign between them that neither "
                        "has: COUNT(DISTINCT a || '/' || b)",
                    )
                value = self.writer.term(node.this.expressions[0], resolve)
                return [Aggregate(name, "distinct", self._restricted(value, where))]
            star = isinstance(node.this, exp.Star)
            value = Term("1", "literal") if star else self.writer.term(node.this, resolve)
            return [Aggregate(name, "count", self._counted(value, where, scope))]
        kind = type(node).__name__
        if kind in ("Sum", "Avg", *_VARIANCES) and not isinstance(node.this, exp.Distinct):
            self.check_parts(node, {"this"}, "this form of an aggregate")
            given = self.writer.term(node.this, resolve)
            value = self._restricted(given, where)
            if kind == "Sum":
                return [Aggregate(name, "sum", value)]
            if kind in _VARIANCES:
                sql = f"CAST({value.sql} AS DOUBLE)"
                value = Term(sql, "cast to DOUBLE", (value,), text=value.text)
            found = [
                Aggregate(f"{name} (sum)", "sum", value),
                Aggregate(f"{name} (count)", "count", self._counted(given, where, scope)),
            ]
            # sum (x - mean)**2 = sum x**2 - (sum x)**2 / n: three aggregates, each with noise of
            # its own.
            if kind in _VARIANCES:
                square = Term(f"({value.sql} * {value.sql})", "*", (value, value))
                found.append(Aggregate(f"{name} (squares)", "sum", square))
            return found
        known = (
            "the aggregates are COUNT(*), COUNT(column), SUM(expression), AVG(expression) and "
            "COUNT(DISTINCT column)"
        )
        way = _INSTEAD.get(kind)
        called = node_text(node, self.text).partition("(")[0].upper()
        raise self.refusal(
            node, f"{called} is not supported", known if way is None else f"{way}; {known}"
        )

    def _restricted(self, value: Term, where: Term | None) -> Term:
        """Return a value that is NULL where the condition of FILTER is not met."""
        return value if where is None else self.writer.when(where, value)

    def _counted(self, value: Term, where: Term | None, scope: _Scope) -> Term | None:
        """Return what COUNT counts: rows, of a value that is never NULL; so it is measured once."""
        # COUNT(a) of a column that is never NULL is COUNT(*): an average beside a count needs one
        # of them.
        if not _never_null(value, scope):
            return self._restricted(value, where)
        return None if where is None else self.writer.when(where, None)

    # Refusals.

    def check_parts(self, node: Any, allowed: set[str], what: str) -> None:
        """Refuse a node that has parts of which nothing is known here."""
        extra = next((name for name, part in node.args.items() if part and name not in allowed), "")
        if extra:
            raise self.refusal(node, f"{what} ({extra}) is not supported", OTHERWISE)

    def _check_alias(self, alias: Any) -> None:
        if isinstance(alias, self.exp.TableAlias):
            self.check_parts(alias, {"this"}, "names of columns after the name of a table")

    def place(self, node: Any) -> str:
        """Return where a node is in the text."""
        return self.writer.place(node)

    def refusal(self, node: Any, what: str, way: str) -> InputError:
        """Return the error about a part of the text."""
        return self.writer.refusal(node, what, way)


def _never_null(term: Term, scope: _Scope) -> bool:
    """Tell whether a value is NULL in no row, by what tables declare."""
    if term.column is not None:
        [source] = [one for one in scope.sources if one.alias == term.column.alias]
        return source.left is None and term.column.name in source.table.filled
    # +, - and * are NULL only if a part is. A quotient can be NULL otherwise, so / is not here.
    found = (_never_null(one, scope) for one in term.arguments)
    if term.kind == "literal":
        return term.sql != "NULL"
    if term.kind == "coalesce":
        return any(found)
    return term.kind in ("+", "-", "*") and all(found)


class _Answers:
    """The aggregates of a query, and what it computes from them and from its keys.

    Parameters
    ----------
    reader : Reader
    scope : _Scope
        Of the query.
    groups : list of GroupKey
    sets : str
        The ROLLUP or CUBE of GROUP BY, over which groups are added up; "" without.

    Attributes
    ----------
    aggregates : list of Aggregate
        Each once, in the order in which the text has them.
    names : dict of str to Term
        The columns of the answer, which ORDER BY and HAVING may name.
    """

    def __init__(self, reader: Reader, scope: _Scope, groups: list[GroupKey], sets: str) -> None:
        self._reader, self._scope, self._sets = reader, scope, sets
        # By the SQL of a key: an expression that is spelled in two ways, and written in one, is one
        # key.
        self._places = {group.term.sql: place for place, group in enumerate(groups)}
        self.aggregates: list[Aggregate] = []
        self.names: dict[str, Term] = {}

    def term(self, node: Any, *, name: str = "", names_first: bool = False) -> tuple[Term, bool]:
        """Return an expression over keys and aggregates, and whether it is a key."""
        writer, exp = self._reader.writer, self._reader.exp
        whole = node.unnest()

        # From the outside inwards: the largest part that is an aggregate or a key becomes a column.
        def instead(part: Any) -> Term | None:
            plain = isinstance(part, exp.Column) and not part.table
            if names_first and plain and part.name.lower() in self.names:
                return self.names[part.name.lower()]
            if isinstance(part, exp.Grouping):
                return self._grouping(part)
            if self._reader.is_aggregate(part) and not isinstance(part, exp.Window):
                return self._measured(part, name if part is whole else "")
            place = self._key(part)
            return None if place is None else Term(f"k{place}", "other", text=f"k{place}")

        def resolve(column: Any) -> Term:
            if not column.table and column.name.lower() in self.names:
                return self.names[column.name.lower()]
            raise self._reader.refusal(
                column,
                "it is neither an aggregate nor a key",
                "put it into GROUP BY, or count it: COUNT(*), COUNT, SUM, AVG, COUNT(DISTINCT)",
            )

        writer.instead = instead
        try:
            return writer.term(node, resolve), self._key(whole) is not None
        finally:
            writer.instead = None

    def columns(self, listed: list[tuple[str, Any]]) -> list[tuple[str, Term, bool]]:
        """Return the columns of the answer: name, term, and whether it is a key."""
        found = []
        for name, node in listed:
            found.append((name, *self.term(node, name=name)))
            # Those after it may name it, unless a column of the tables has its name.
            if name.lower() not in self._scope.columns:
                self.names[name.lower()] = found[-1][1]
        self.names |= {name.lower(): term for name, term, _ in found}
        return found

    def clauses(self, select: Any, columns: int) -> str:
        """Return HAVING as WHERE, ROLLUP, QUALIFY, ORDER BY, LIMIT and OFFSET."""
        exp, sets = self._reader.exp, self._sets
        text = f" GROUP BY {sets}" if sets else ""
        # Each row of the answer is a group already, so that HAVING is a WHERE; with ROLLUP groups
        # are added up here, and HAVING stays.
        words = {"having": "HAVING" if sets else "WHERE", "qualify": "QUALIFY"}
        for name, word in words.items():
            if part := select.args.get(name):
                text += f" {word} {self.term(part.this)[0].sql}"
        if order := select.args.get("order"):
            self._reader.check_parts(order, {"expressions"}, "this form of ORDER BY")
            ordered = [self._ordered(one, columns) for one in order.expressions]
            text += f" ORDER BY {', '.join(ordered)}"
        for name in ("limit", "offset"):
            if part := select.args.get(name):
                self._reader.check_parts(part, {"expression"}, name.upper())
                number = part.expression
                if not (isinstance(number, exp.Literal) and number.name.isdecimal()):
                    raise self._reader.refusal(
                        part, f"{name.upper()} takes a whole number here", "write the number"
                    )
                text += f" {name.upper()} {number.name}"
        return text

    def _ordered(self, node: Any, columns: int) -> str:
        """Return a term of ORDER BY."""
        inner = node.this
        if isinstance(inner, self._reader.exp.Literal) and not inner.is_string:
            if not (inner.name.isdecimal() and 1 <= int(inner.name) <= columns):
                raise self._reader.refusal(
                    inner, f"there is no answer number {inner.name}", "name the column"
                )
            written = inner.name
        else:
            written = self.term(inner, names_first=True)[0].sql
        return self._reader.writer.ordered(node, written)

    def _key(self, node: Any) -> int | None:
        """Return which key of GROUP BY an expression is; None if it is none."""
        writer = self._reader.writer
        # The part is written as one over the tables, and compared with what GROUP BY wrote.
        kept, writer.instead = writer.instead, None
        try:
            return self._places.get(writer.term(node, self._reader.resolver(self._scope)).sql)
        except InputError:
            return None
        finally:
            writer.instead = kept

    def _grouping(self, node: Any) -> Term:
        """Return GROUPING, which tells which keys a row of ROLLUP adds up over."""
        places = [self._key(one) for one in node.expressions]
        if None in places or not self._sets:
            raise self._reader.refusal(
                node, "GROUPING takes keys of ROLLUP or CUBE", "name columns of GROUP BY"
            )
        keys = ", ".join(f"k{place}" for place in places)
        return Term(f"GROUPING({keys})", "other", text=node_text(node, self._reader.text))

    def _measured(self, node: Any, name: str) -> Term:
        """Return an aggregate of the answer, which is measured once, however often it stands."""
        writer = self._reader.writer
        kept, writer.instead = writer.instead, None
        try:
            found = self._reader.aggregates_of(
                name or node_text(node, self._reader.text), node, self._scope
            )
        finally:
            writer.instead = kept
        places = []
        for one in found:
            same = (
                place
                for place, known in enumerate(self.aggregates)
                if (known.kind, known.sql) == (one.kind, one.sql)
            )
            places.append(next(same, len(self.aggregates)))
            if places[-1] == len(self.aggregates):
                self.aggregates.append(one)
        if self._sets and any(one.kind == "distinct" for one in found):
            raise self._reader.refusal(
                node,
                "numbers of distinct values cannot be added up over groups",
                "leave out ROLLUP and CUBE, and make a query of each set of columns",
            )
        function = node.this if isinstance(node, self._reader.exp.Filter) else node
        # ROLLUP adds noisy numbers up over groups: no group is measured twice.
        columns = [f"SUM(a{place})" if self._sets else f"a{place}" for place in places]
        sql, n = columns[0], columns[1 if len(columns) > 1 else 0]
        if len(columns) == 2:  # an average
            sql = f"(CASE WHEN {n} > 0 THEN {sql} / {n} END)"
        # Noise can make the squares too small or n 0: the sum of squared deviations is cut at 0,
        # and without enough rows the answer is NULL.
        if len(columns) == 3:
            over = f"GREATEST(0, {columns[2]} - {sql} * {sql} / {n})"
            formula = _VARIANCES[type(function).__name__]
            least = 0 if formula.endswith("{n}") else 1
            sql = f"(CASE WHEN {n} > {least} THEN {formula.format(over=over, n=n)} END)"
        return Term(sql, "other", text=node_text(node, self._reader.text))


def _told_apart(groups: list[GroupKey]) -> list[GroupKey]:
    """Return keys that share a name, or the name of a frame's persons, by table and column."""
    names = ["person", *(group.name.lower() for group in groups)]
    return [
        replace(group, name=group.term.text) if names.count(group.name.lower()) > 1 else group
        for group in groups
    ]


def own_column(table: Table, name: str, argument: str) -> str:
    """Return a column as its table calls it; raise InputError if it has none of this name."""
    # DuckDB tells names apart without regard to case; the table's own spelling is what runs.
    found = alike(name, table.columns)
    if found is None:
        raise InputError(
            f"{argument}: {table.name} has no column {shown(name)}; its columns are "
            f"{names_of(table.columns)}{did_you_mean(name, table.columns)}"
        )
    return found


def column_of(form: NormalForm, name: str, argument: str) -> list[SourceColumn]:
    """Return the columns that a name such as "orders.price" means, one per source of the table.

    Parameters
    ----------
    form : NormalForm
        The query.
    name : str
        A table or an alias, a point, and a column; or the column alone if no other table has it.
    argument : str
        The argument that it came in, for messages.
    """
    if not isinstance(name, str):
        raise InputError(
            f"{argument}: a column is a text such as 'orders.price', got {shown(name)}"
        )
    of, _, column = name.rpartition(".")
    found = []
    for source in form.sources:
        own = alike(column, source.table.columns)
        if own is not None and of.lower() in ("", source.alias.lower(), source.table.name.lower()):
            found.append(source.column(own))
    # Two sources of one table are meant together, as in a self-join; of two tables it is not clear
    # which.
    tables = {form.source(one.alias).table.sql for one in found}
    if not found:
        known = sorted({f"{s.table.name}.{one}" for s in form.sources for one in s.table.columns})
        raise InputError(
            f"{argument}: the query reads no column {shown(name)}; its tables have "
            f"{names_of(known)}{did_you_mean(name, known)}"
        )
    if len(tables) > 1:
        raise InputError(
            f"{argument}: {shown(name)} is a column of several tables; write the table before it"
        )
    return found
