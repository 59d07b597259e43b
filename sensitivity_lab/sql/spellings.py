"""Other spellings of what is read: each is turned into the one spelling that the reader knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .expressions import node_text


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
