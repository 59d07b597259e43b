"""Expressions of a query, written anew in DuckDB's SQL from an allow-list of syntax.

Everything written here is an operator or a function of the list, a quoted name, or a quoted
literal. Each node may have the parts that are named here, and no others.

Other spellings of what is read are turned into the one spelling that the reader knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sensitivity_lab.checks import cut
from sensitivity_lab.errors import InputError

from .normal_form import SourceColumn, Term, literal

Resolve = Callable[[Any], Term]
"""From the node of a column to its term."""

MOST_WITHIN = 100
"""The most parts of a query that stand within each other, which Python follows by calls."""

_MOST_WRITTEN = 2_000_000
"""The most characters of all expressions together, each with what stands in it."""

_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?|\.[0-9]+([eE][+-]?[0-9]{1,3})?")

_JOINS_TEXTS = re.compile("string_agg|group_concat", re.IGNORECASE)
"""Other names of LISTAGG, which the parser does not keep."""

_COMPARISONS = {"EQ": "=", "NEQ": "<>", "GT": ">", "GTE": ">=", "LT": "<", "LTE": "<="}

_OPERATORS = {
    **_COMPARISONS,
    "NullSafeEQ": "IS NOT DISTINCT FROM",
    "NullSafeNEQ": "IS DISTINCT FROM",
    "And": "AND",
    "Or": "OR",
    "Add": "+",
    "Sub": "-",
    "Mul": "*",
    "Div": "/",
    "IntDiv": "//",
    "Mod": "%",
    "DPipe": "||",
    "Like": "LIKE",
    "ILike": "ILIKE",
}
"""Operators of two arguments, by their class in sqlglot."""

_FUNCTIONS = {
    **{
        name: (name.lower(), ("this",))
        for name in (
            *("Abs", "Ceil", "Floor", "Lower", "Upper", "Length", "Sqrt", "Exp", "Ln", "Sign"),
            *("Year", "Quarter", "Month", "Week", "Day", "Hour", "Minute", "Second", "Trim"),
            *("DayOfWeek", "DayOfYear", "Monthname", "Dayname", "Reverse"),
        )
    },
    **{
        name: (function, ("this", "expression"))
        for name, function in (
            *(("Left", "left"), ("Right", "right"), ("StartsWith", "starts_with")),
            *(("EndsWith", "ends_with"), ("Contains", "contains"), ("Pow", "pow")),
        )
    },
    "Concat": ("concat", ("expressions",)),
    "ConcatWs": ("concat_ws", ("expressions",)),
    "DayOfWeekIso": ("isodow", ("this",)),
    "Replace": ("replace", ("this", "expression", "replacement")),
    "StrPosition": ("strpos", ("this", "substr")),
    "TimeToStr": ("strftime", ("this", "format")),
    "Coalesce": ("coalesce", ("this", "expressions")),
    "Greatest": ("greatest", ("this", "expressions")),
    "Least": ("least", ("this", "expressions")),
    "Nullif": ("nullif", ("this", "expression")),
    "Round": ("round", ("this", "decimals")),
    "RegexpReplace": ("regexp_replace", ("this", "expression", "replacement", "modifiers")),
    "Substring": ("substring", ("this", "start", "length")),
}
"""Functions, and their arguments in order, by their class in sqlglot.

All are the same whenever they are called.
"""

_WINDOW_FUNCTIONS = {
    **{name: name.lower() for name in ("Sum", "Avg", "Min", "Max", "Count", "Rank")},
    "DenseRank": "dense_rank",
    "RowNumber": "row_number",
}
"""Functions of windows over an answer, by their class in sqlglot."""

_FLAGS = ("is_nvl", "is_null", "ignore_nulls", "single_replace", "safe", "coalesce")
"""Parts of functions that say how a dialect writes them."""

_TYPES = {
    *("TINYINT", "SMALLINT", "INT", "BIGINT", "UTINYINT", "USMALLINT", "UINT", "UBIGINT"),
    *("INT128", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN", "VARCHAR", "TEXT", "DATE", "TIMESTAMP"),
    *("TIMESTAMPNTZ", "TIME"),
}
"""Types that a value may be cast to, by their names in sqlglot."""

_DUCKDB_TYPES = {
    "INT": "INTEGER",
    "UINT": "UINTEGER",
    "INT128": "HUGEINT",
    "TEXT": "VARCHAR",
    "TIMESTAMPNTZ": "TIMESTAMP",
}
"""Their names in DuckDB, where these differ."""

_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
"""Parts of a date or a time."""

_PARTS = (*_UNITS, "DOW", "ISODOW", "DOY")
"""What is read from a date, as a number."""

_JOIN_INSTEAD = "join the table; if several of its rows match, a join counts each of them"

REFUSED = {
    "Exists": ("EXISTS is not supported", _JOIN_INSTEAD),
    **dict.fromkeys(
        ("Rollup", "Cube", "GroupingSets"),
        (
            "GROUPING SETS, ROLLUP and CUBE are not supported outside GROUP BY",
            "write GROUP BY ROLLUP (a, b)",
        ),
    ),
    **dict.fromkeys(
        ("CurrentDate", "CurrentTime", "CurrentTimestamp", "CurrentDatetime"),
        ("what changes with the time of day is not supported", "write it: DATE '2026-01-31'"),
    ),
    **dict.fromkeys(
        ("RegexpFullMatch", "RegexpILike", "SimilarTo", "Glob", "Escape"),
        (
            "this pattern is not supported",
            "use LIKE with % and _, or a list: IN ('a', 'b'), or regexp_matches(text, 'pattern')",
        ),
    ),
    "Tuple": (
        "a tuple is not supported",
        "compare each column: (a = 1 AND b = 2) OR (a = 3 AND b = 4)",
    ),
    **dict.fromkeys(
        ("Any", "All"), ("a comparison with a subquery is not supported", _JOIN_INSTEAD)
    ),
    **dict.fromkeys(
        ("Subquery", "Select"),
        (
            "a subquery as a value is not supported",
            "join its tables; if it is one public number, write the number",
        ),
    ),
}
"""Expressions that are refused with a reason of their own."""

WINDOWS = (
    "windows are not supported, because one row can change the results of others",
    "use an aggregate with GROUP BY; Query.plan(max_rows=...) keeps the first rows of each person",
)
"""Why windows are refused."""

_AGGREGATE = (
    "an aggregate within an expression is not supported",
    "ask for each aggregate by itself, and compute with the noisy answers afterwards",
)

_UNKNOWN = (
    "it is not on the list of expressions that are read",
    "use columns, numbers, texts, + - * /, comparisons, AND, OR, NOT, IN, BETWEEN, LIKE, IS NULL, "
    "CASE, COALESCE, CAST, dates, or compute it in a table beforehand",
)

_ELSEWHERE = {
    **dict.fromkeys(
        (
            *("Div", "IntDiv", "Mod", "Like", "Left", "Right", "StartsWith", "EndsWith"),
            *("Contains", "Pow", "Concat", "ConcatWs", "Replace", "StrPosition", "TimeToStr"),
            *("DayOfWeek", "DayOfWeekIso", "DayOfYear", "Monthname", "Dayname", "Reverse"),
            *("RegexpLike", "DateDiff"),
        ),
        "",
    ),
    **dict.fromkeys(
        ("Lower", "Upper", "Trim"), ": SQLite knows the letters and blanks of ASCII alone"
    ),
    **dict.fromkeys(("Sqrt", "Ln"), ": in SQLite it is NULL where no real number is the result"),
    **dict.fromkeys(("Greatest", "Least"), ": in SQLite it is NULL if one of the values is"),
    "Round": ": they round other numbers up",
    **dict.fromkeys(
        ("Cast", "TryCast"), ": SQLite cuts off digits, keeps others, and takes any text"
    ),
}
"""What SQLite and DuckDB read differently, and why, by its class in sqlglot."""


OTHERWISE = "write the query in another way that means the same, or prepare a table beforehand"
"""What to do about a part that nothing is known of: it may restrict, so it cannot be left out."""


def node_text(node: Any, text: str) -> str:
    """Return a node as its author wrote it, as far as that is known, on one line."""
    # What the parser would write; the author's own text is taken below where its place is known.
    anew = " ".join(str(node.sql(dialect="duckdb", unsupported_level=None)).split())
    if type(node).__name__ == "GroupConcat" and (called := _JOINS_TEXTS.search(text)):
        anew = anew.replace("LISTAGG", called[0].upper())
    start, end = span(node)
    if start is not None and end is not None and end - start < len(text):
        # The parser does not keep the place of the brackets that close a call ...
        written = text[start : end + 1]
        while written.count("(") > written.count(")") and (
            bracket := re.match(r"\s*\)", text[start + len(written) :])
        ):
            written += bracket[0]
        # ... nor that of words such as EXISTS.
        inside = _squeezed(written) != _squeezed(anew) and _squeezed(written) in _squeezed(anew)
        if written.count("(") == written.count(")") and not inside:
            return " ".join(written.split())
    return anew


def _squeezed(text: str) -> str:
    return re.sub(r"\s|[()]", "", text).lower()


def span(node: Any) -> tuple[int | None, int | None]:
    """Return the first and the last character of a node, as far as the parser kept them."""
    starts, ends = [], []
    # The parser keeps places of names and literals; a node spans those of its parts.
    for one in node.walk():
        if "start" in one.meta:
            starts.append(one.meta["start"])
            ends.append(one.meta["end"])
    return (min(starts), max(ends)) if starts else (None, None)


def operands(node: Any, kind: Any) -> list[Any]:
    """Return what a chain of AND, or of OR, joins: all of it is on one level."""
    found, left = [], [node]
    while left:
        # A chain a AND b AND c is a tree that leans to the left: the right side goes on the stack
        # first, so that parts come out in order.
        inner = left.pop().unnest()
        if isinstance(inner, kind):
            left += [inner.expression, inner.this]
        else:
            found.append(inner)
    return found


def depth(node: Any, exp: Any) -> int:
    """Return how many parts of a query stand within each other; a chain of AND or OR is one."""
    # Level by level and not by calls: a text can be deeper than Python's stack.
    found, level = 0, [node]
    while level:
        found += 1
        level = [
            part
            for one in level
            for part in (
                operands(one, type(one))
                if isinstance(one, exp.And | exp.Or)
                else one.iter_expressions()
            )
        ]
    return found


def too_deep(number: int) -> InputError:
    """Return the error about parts of a query that stand within each other."""
    return InputError(
        f"sql: {number:,} parts of the query stand within each other, and the limit is "
        f"{MOST_WITHIN}; write many comparisons as IN (...), or compute columns in a table "
        "beforehand"
    )


class Writer:
    """Writes expressions anew.

    Parameters
    ----------
    exp : module
        `sqlglot.exp`.
    text : str
        The query, for messages.
    dialect : {"duckdb", "sqlite"}
    """

    def __init__(self, exp: Any, text: str, dialect: str) -> None:
        self.exp = exp
        self.text = text
        self.dialect = dialect
        self.instead: Callable[[Any], Term | None] | None = None
        """What stands for a node, in place of what it is: asked before it is written."""
        self.looked_up: Callable[[Any], str] | None = None
        """Writes the subquery of IN, over public tables alone."""
        self._written = 0

    def column(self, column: SourceColumn) -> Term:
        """Return a column as a term."""
        return Term(column.sql, "column", column=column, text=str(column))

    def equal(self, left: Term, right: Term) -> Term:
        """Return the condition that two terms are equal."""
        return Term(
            f"({left.sql} = {right.sql})", "=", (left, right), text=f"{left.text} = {right.text}"
        )

    def when(self, condition: Term, value: Term | None) -> Term:
        """Return a value, or 1, where a condition is met, and NULL elsewhere."""
        chosen = "1" if value is None else value.sql
        arguments = (condition,) if value is None else (condition, value)
        sql = f"CASE WHEN {condition.sql} THEN {chosen} END"
        return Term(sql, "when", arguments, text=condition.text)

    def term(self, node: Any, resolve: Resolve) -> Term:
        """Return an expression of the allow-list as a term, or raise InputError."""
        text, name = node_text(node, self.text), type(node).__name__
        # An answer's aggregate or key stands for a column of the noisy numbers; nothing in it is
        # read.
        if self.instead is not None and (known := self.instead(node)) is not None:
            return known
        if self.dialect == "sqlite" and name in _ELSEWHERE:
            what = _OPERATORS.get(name, name.upper())
            raise self.refusal(
                node,
                f"SQLite and DuckDB read {what} differently{_ELSEWHERE[name]}",
                "compute it in a table beforehand, or copy the tables into DuckDB",
            )
        found = self._term(node, resolve, text)
        # What a column of a subquery stands for is written wherever the column is.
        self._written += len(text if found.column else found.sql)
        if self._written > _MOST_WRITTEN:
            raise InputError(
                f"sql: the expressions of the query, each with all that stands in it, have "
                f"{self._written:,} characters when the query is written out, and the limit is "
                f"{_MOST_WRITTEN:,}; write many comparisons as IN (...), or compute columns in a "
                "table beforehand"
            )
        if found.depth > MOST_WITHIN:
            raise too_deep(found.depth)
        return found

    def _term(self, node: Any, resolve: Resolve, text: str) -> Term:
        exp, name = self.exp, type(node).__name__
        if name == "Paren":
            self._only(node, "this")
            return self.term(node.this, resolve)
        if name == "Column":
            return resolve(node)
        if name == "Boolean":
            return Term("TRUE" if node.this else "FALSE", "literal", text=text)
        if name == "Null":
            return Term("NULL", "literal", text=text)
        if name == "Literal":
            return self._literal(node, text)
        if name in _OPERATORS and isinstance(node, exp.Binary):
            return self._operator(node, name, resolve, text)
        if name in ("Neg", "Not"):
            self._only(node, "this")
            inner = self.term(node.this, resolve)
            sign = "-" if name == "Neg" else "NOT "
            return Term(f"({sign}{inner.sql})", sign.strip().lower(), (inner,), text=text)
        # Arguments stand in a fixed order; a part can be a list of them, as of COALESCE, or be
        # missing.
        if name in _FUNCTIONS:
            function, parts = _FUNCTIONS[name]
            self._only(node, *parts, *_FLAGS)
            given = [node.args.get(part) for part in parts]
            nodes = [one for part in given for one in (part if isinstance(part, list) else [part])]
            terms = tuple(self.term(one, resolve) for one in nodes if one is not None)
            call = f"{function}({', '.join(one.sql for one in terms)})"
            kind = function if function in ("coalesce", "nullif") else "other"
            return Term(call, kind, terms, text=text)
        special = getattr(self, f"_{name.lower()}", None)
        if special is None or name not in _SPECIAL:
            raise self.refusal(node, *self._reason(node, name))
        written: Term = special(node, resolve, text)
        return written

    def _literal(self, node: Any, text: str) -> Term:
        if node.is_string:
            return Term(literal(node.name), "literal", text=text)
        if not _NUMBER.fullmatch(node.name):
            raise self.refusal(
                node,
                "this number is not supported",
                "write it with digits, a point and an exponent",
            )
        return Term(node.name, "literal", text=text)

    def _operator(self, node: Any, name: str, resolve: Resolve, text: str) -> Term:
        liking = name in ("Like", "ILike")
        self._only(node, "this", "expression", "typed", "safe", *(["negate"] if liking else []))
        # A chain is written on one level, so that a long one is not deep.
        joins = name in ("And", "Or")
        nodes = operands(node, type(node)) if joins else [node.this, node.expression]
        sides, sign = tuple(self.term(one, resolve) for one in nodes), _OPERATORS[name]
        joined = f" {sign} ".join(one.sql for one in sides)
        term = Term(f"({joined})", sign.lower(), sides, text=text)
        if node.args.get("negate"):  # NOT LIKE since sqlglot 30.8, and Not of Like before
            term = Term(f"(NOT {term.sql})", "not", (term,), text=text)
        return term

    def ordered(self, node: Any, written: str) -> str:
        """Return a term of ORDER BY, the expression of which is written."""
        self._only(node, "this", "desc", "nulls_first")
        order = "DESC" if node.args.get("desc") else "ASC"
        return f"{written} {order} NULLS {'FIRST' if node.args.get('nulls_first') else 'LAST'}"

    # One method per class of nodes, which knows its parts.

    def _window(self, node: Any, resolve: Resolve, text: str) -> Term:
        """Return a window over the rows of an answer, whose aggregates are columns by then."""
        # Below the aggregates a window lets one row change the results of others; over the noisy
        # answer it costs nothing.
        if self.instead is None:
            raise self.refusal(node, *WINDOWS)
        self._only(node, "this", "partition_by", "order", "over")
        function, name = node.this, type(node.this).__name__
        if name not in _WINDOW_FUNCTIONS:
            raise self.refusal(
                function,
                "it is not supported with OVER",
                f"use one of {', '.join(one.upper() for one in _WINDOW_FUNCTIONS.values())}",
            )
        self._only(function, "this", "big_int")
        inner = function.this
        star = isinstance(inner, self.exp.Star)
        argument = "*" if star else self.term(inner, resolve).sql if inner else ""
        within = [self.term(one, resolve).sql for one in node.args.get("partition_by") or []]
        over = [f"PARTITION BY {', '.join(within)}"] if within else []
        if order := node.args.get("order"):
            ordered = [
                self.ordered(one, self.term(one.this, resolve).sql) for one in order.expressions
            ]
            over.append(f"ORDER BY {', '.join(ordered)}")
        sql = f"{_WINDOW_FUNCTIONS[name]}({argument}) OVER ({' '.join(over)})"
        return Term(sql, "other", text=text)

    def _is(self, node: Any, resolve: Resolve, text: str) -> Term:
        self._only(node, "this", "expression")
        inner = self.term(node.this, resolve)
        if isinstance(node.expression, self.exp.Null):
            return Term(f"({inner.sql} IS NULL)", "is null", (inner,), text=text)
        if isinstance(node.expression, self.exp.Boolean):
            word = "TRUE" if node.expression.this else "FALSE"
            return Term(f"({inner.sql} IS {word})", "other", (inner,), text=text)
        raise self.refusal(
            node, "IS with something else is not supported", "write IS NULL or IS TRUE"
        )

    def _between(self, node: Any, resolve: Resolve, text: str) -> Term:
        self._only(node, "this", "low", "high")
        inner, low, high = (self.term(node.args[one], resolve) for one in ("this", "low", "high"))
        # Written as two comparisons, which other modules know: the range of a value needs no third
        # kind.
        parts = (
            Term(f"({inner.sql} >= {low.sql})", ">=", (inner, low), text=text),
            Term(f"({inner.sql} <= {high.sql})", "<=", (inner, high), text=text),
        )
        return Term(f"({parts[0].sql} AND {parts[1].sql})", "and", parts, text=text)

    def _in(self, node: Any, resolve: Resolve, text: str) -> Term:
        query = node.args.get("query")
        if query is not None and (self.looked_up is None or self.instead is not None):
            raise self.refusal(node, "IN with a subquery is not supported here", _JOIN_INSTEAD)
        self._only(node, "this", "expressions", "query")
        inner = self.term(node.this, resolve)
        if query is not None and self.looked_up is not None:
            found = self.looked_up(query.unnest())
            return Term(f"({inner.sql} IN ({found}))", "other", (inner,), text=text)
        # The tested value is the first argument, and the list follows.
        items = tuple(self.term(one, resolve) for one in node.expressions)
        if not items:
            raise self.refusal(node, "IN needs values", "list the values")
        listed = ", ".join(one.sql for one in items)
        return Term(f"({inner.sql} IN ({listed}))", "in", (inner, *items), text=text)

    def _case(self, node: Any, resolve: Resolve, text: str) -> Term:
        self._only(node, "this", "ifs", "default")
        parts: list[Term] = []
        sql = "CASE"
        for one in node.args["ifs"]:
            self._only(one, "this", "true")
            condition = self.term(one.this, resolve)
            if node.args.get("this") is not None:  # CASE a WHEN b is CASE WHEN a = b
                condition = self.equal(self.term(node.this, resolve), condition)
            # Conditions and values by turns, as `Term.conditions` expects.
            parts += [condition, self.term(one.args["true"], resolve)]
            sql += f" WHEN {parts[-2].sql} THEN {parts[-1].sql}"
        if node.args.get("default") is not None:
            parts.append(self.term(node.args["default"], resolve))
            sql += f" ELSE {parts[-1].sql}"
        return Term(f"({sql} END)", "case", tuple(parts), text=text)

    def _extract(self, node: Any, resolve: Resolve, text: str) -> Term:
        return self._of_unit("date_part", node, node.this, node.expression, resolve, text)

    def _datetrunc(self, node: Any, resolve: Resolve, text: str) -> Term:
        return self._of_unit("date_trunc", node, node.args["unit"], node.this, resolve, text)

    _timestamptrunc = _datetrunc

    def _datediff(self, node: Any, resolve: Resolve, text: str) -> Term:
        self._only(node, "this", "expression", "unit", "date_part_boundary")
        unit = self._unit(node, node.args["unit"], _UNITS)
        first, last = self.term(node.expression, resolve), self.term(node.this, resolve)
        return Term(
            f"date_diff('{unit}', {first.sql}, {last.sql})", "other", (first, last), text=text
        )

    def _regexplike(self, node: Any, resolve: Resolve, text: str) -> Term:
        self._only(node, "this", "expression", "flag")
        given = [one for one in (node.expression, node.args.get("flag")) if one is not None]
        # A column may hold no pattern. ~ is of the whole text in DuckDB 1.4, of a part in 2.0.
        if not all(one.is_string for one in given) or "~" in self.text:
            raise self.refusal(node, *REFUSED["RegexpFullMatch"])
        inner = self.term(node.this, resolve)
        patterns = ", ".join(literal(one.name) for one in given)
        return Term(f"regexp_matches({inner.sql}, {patterns})", "other", (inner,), text=text)

    def _of_unit(
        self, function: str, node: Any, unit: Any, date: Any, resolve: Resolve, text: str
    ) -> Term:
        """Return a function of a unit and a date."""
        self._only(node, "this", "expression", "unit")
        inner = self.term(date, resolve)
        units = _PARTS if function == "date_part" else _UNITS
        sql = f"{function}('{self._unit(node, unit, units)}', {inner.sql})"
        return Term(sql, "other", (inner,), text=text)

    def _interval(self, node: Any, resolve: Resolve, text: str) -> Term:
        self._only(node, "this", "unit")
        # Only a whole number in digits: an expression would be text of the author's.
        number = node.this.name if isinstance(node.this, self.exp.Literal) else ""
        if not re.fullmatch(r"-?[0-9]{1,9}", number) or node.args.get("unit") is None:
            raise self.refusal(
                node, "this interval is not supported", "write it as INTERVAL 3 MONTH"
            )
        unit = self._unit(node, node.args["unit"], _UNITS)
        return Term(f"INTERVAL ({number}) {unit}", "literal", text=text)

    def _cast(self, node: Any, resolve: Resolve, text: str) -> Term:
        self._only(node, "this", "to", "safe")
        inner = self.term(node.this, resolve)
        type_ = self._type(node)
        function = "TRY_CAST" if type(node).__name__ == "TryCast" else "CAST"
        sql = f"{function}({inner.sql} AS {type_})"
        return Term(sql, f"cast to {type_}", (inner,), text=text)

    _trycast = _cast

    def _type(self, node: Any) -> str:
        """Return the type of a cast."""
        to = node.args["to"]
        name = getattr(to.this, "value", str(to.this)).upper()
        self._only(to, "this", "expressions", "nested")
        if name not in _TYPES or to.args.get("nested"):
            raise self.refusal(
                node,
                "a cast to this type is not supported",
                "cast to a number, a text, a date or a time",
            )
        # DECIMAL keeps its digits. The length of a text is left out: DuckDB cuts no text to it.
        parameters = [one.name for one in to.expressions]
        if not all(one.isdecimal() for one in parameters) or (parameters and name != "DECIMAL"):
            if name not in ("VARCHAR", "TEXT"):
                raise self.refusal(
                    node,
                    "a length of this type is not supported",
                    "cast to DECIMAL(digits, digits behind the point), or round beforehand",
                )
            parameters = []
        written = f"({', '.join(parameters)})" if parameters else ""
        return f"{_DUCKDB_TYPES.get(name, name)}{written}"

    def _unit(self, node: Any, unit: Any, units: tuple[str, ...]) -> str:
        name = str(unit.name).upper().removesuffix("S")
        if name not in units:
            raise self.refusal(
                node, f"the unit {unit.name} is not supported", f"use one of {', '.join(units)}"
            )
        return name.lower()

    # Refusals.

    def _reason(self, node: Any, name: str) -> tuple[str, str]:
        """Return why an expression is refused, and how else to write it."""
        exp = self.exp
        if isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup):
            return _AGGREGATE
        called = node.name.lower() if isinstance(node, exp.Anonymous) else ""
        if called in ("now", "today", "get_current_timestamp", "transaction_timestamp"):
            return REFUSED["CurrentDate"]
        return REFUSED.get(name, _UNKNOWN)

    def _only(self, node: Any, *allowed: str) -> None:
        """Refuse a node that has parts of which nothing is known here."""
        # What is not named here may change the meaning, so it is refused and not left out.
        for name, part in node.args.items():
            if part and name not in allowed:
                raise self.refusal(
                    node, f"the part {name.upper()} of it is not supported", OTHERWISE
                )

    def place(self, node: Any) -> str:
        """Return where a node is in the text."""
        start, _ = span(node)
        if start is None:  # the parser kept no place, but what is there only once is found
            written = node_text(node, self.text).lower()
            if self.text.lower().count(written) != 1:
                return "in the query"
            start = self.text.lower().index(written)
        # Lines and columns count from 1; chr(10) is the end of a line.
        before = self.text[:start]
        line = before.count("\n") + 1
        return f"line {line}, column {start - before.rfind(chr(10))}"

    def refusal(self, node: Any, what: str, way: str) -> InputError:
        """Return the error about a part of the text: its place, what is wrong, and what to do."""
        written = cut(node_text(node, self.text))
        return InputError(f"sql: {written} ({self.place(node)}): {what}; {way}")


_SPECIAL = (
    *("Is", "Between", "In", "Case", "Extract", "DateTrunc", "TimestampTrunc", "Interval"),
    *("Cast", "TryCast", "Window", "DateDiff", "RegexpLike"),
)
"""Classes of nodes that have a method of their own above."""


def respelt(statement: Any, text: str, exp: Any) -> Any:
    """Return a query in the reader's spelling; its answers keep the names that they have."""
    for item in statement.expressions if isinstance(statement, exp.Select) else ():
        # The answer keeps the name that its text has before it is respelt.
        if not item.alias and item.find(exp.If, exp.CountIf):
            item.replace(exp.alias_(item.copy(), node_text(item, text), quoted=True))
    for node in list(statement.find_all(*(getattr(exp, name) for name in _RESPELT))):
        new = _RESPELT[type(node).__name__](node, exp)
        if new is not None:
            node.replace(new)
    return statement


def _if(node: Any, exp: Any) -> Any:
    """IF(a, b, c) is CASE WHEN a THEN b ELSE c END."""
    if isinstance(node.parent, exp.Case) and node.arg_key == "ifs":
        return None
    branch = exp.If(this=node.this, true=node.args.get("true"))
    return exp.Case(ifs=[branch], default=node.args.get("false"))


def _countif(node: Any, exp: Any) -> Any:
    """COUNT_IF(a) is COUNT(*) FILTER (WHERE a), to which a FILTER of its own is added."""
    count, condition = exp.Count(this=exp.Star()), node.this
    if isinstance(node.parent, exp.Filter):
        where = node.parent.expression
        where.set("this", exp.And(this=exp.Paren(this=where.this), expression=condition))
        return count
    return exp.Filter(this=count, expression=exp.Where(this=condition))


def _in(node: Any, exp: Any) -> Any:
    """(a, b) IN ((1, 2), ...) compares each column; as in DuckDB, NULL equals NULL in a tuple."""
    items = node.expressions
    if not all(isinstance(one, exp.Tuple) for one in (node.this, *items)) or not items:
        return None
    columns = node.this.expressions
    if any(len(one.expressions) != len(columns) for one in items):
        return None
    # (a, b) IN ((1, 2), (3, 4)) becomes (a IS NOT DISTINCT FROM 1 AND b ...) OR (...).
    rows = [
        exp.and_(
            *(
                exp.NullSafeEQ(this=column.copy(), expression=value)
                for column, value in zip(columns, one.expressions, strict=True)
            )
        )
        for one in items
    ]
    return exp.Paren(this=exp.or_(*rows))


def _anonymous(node: Any, exp: Any) -> Any:
    """date_part('year', a) is EXTRACT(year FROM a)."""
    if node.name.lower() not in ("date_part", "datepart") or len(node.expressions) != 2:
        return None
    unit, date = node.expressions
    return exp.Extract(this=exp.Var(this=unit.name), expression=date) if unit.is_string else None


def _fetch(node: Any, exp: Any) -> Any:
    """FETCH FIRST 2 ROWS ONLY is LIMIT 2."""
    options = node.args.get("limit_options")
    if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
        return None
    return exp.Limit(expression=node.args.get("count") or exp.Literal.number(1))


_RESPELT: dict[str, Callable[[Any, Any], Any]] = {
    "If": _if,
    "CountIf": _countif,
    "In": _in,
    "Anonymous": _anonymous,
    "Fetch": _fetch,
}
"""What turns a node into the reader's spelling, or returns None, by its class in sqlglot."""
