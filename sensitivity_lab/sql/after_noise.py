"""What a query computes from the aggregates of its groups: after the noise, so it costs nothing.

One SELECT of a query aggregates rows of tables, and only that one needs noise. What stands around
it (other SELECTs that read from it alone, unions, windows, all of SQL) is a function of its answer.
The text around it is not read by the lab: DuckDB runs it, in a database of its own that holds the
answer and nothing else, without access to files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .database import duckdb_module, in_memory, naming
from .expressions import span
from .normal_form import ANSWERS, NormalForm

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Around:
    """The SELECT that aggregates, and the text around it.

    Attributes
    ----------
    inner : sqlglot.exp.Select
    before, after : str
        The text up to its opening bracket and from its closing one. Queries of WITH that only the
        inner SELECT reads are left out of it.
    """

    inner: Any
    before: str
    after: str


def around(
    statement: Any, text: str, sqlglot: Any, refusal: Callable[[Any, str, str], Exception]
) -> Around | None:
    """Return the one SELECT in a query that aggregates, if all around it reads from it alone.

    None stands for every other query: one that is a single SELECT, and those of which more than
    one SELECT would need noise. If a table is read around it, `refusal` makes the error.
    """
    exp = sqlglot.exp
    # Innermost SELECTs that aggregate: exactly one, which is not the whole query, can be cut out.
    found = _aggregating(statement, exp)
    if len(found) != 1 or found[0] is statement:
        return None
    [inner] = found
    if not any(one.parent_select is inner for one in inner.find_all(exp.AggFunc)):
        return None
    queries = list(statement.find_all(exp.CTE))
    named = {one.alias.lower(): one.this for one in queries}
    recursive = any(one.args.get("recursive") for one in statement.find_all(exp.With))
    read, tables = _read(statement, inner, named, exp)
    if recursive or len(named) < len(queries) or read is None:
        return None
    if tables and not inner.find_ancestor(exp.From, exp.Join, exp.CTE):
        return None
    if tables:
        name = tables[0].name or "a function"
        raise refusal(
            tables[0],
            f"{name} is read outside the SELECT that aggregates; what stands around that runs on "
            "its noisy answer, and can read nothing else",
            f"join {name} within the SELECT that aggregates",
        )
    ours = {id(one) for one in inner.walk()}
    # A query of WITH that only the inner SELECT reads would read tables outside: it becomes SELECT
    # 1.
    unread = [one for name, one in named.items() if name not in read and id(one) not in ours]
    # Of unread queries that stand within each other the outermost is cut.
    within = {id(part) for one in unread for part in one.walk() if part is not one}
    cuts = []
    for node in (inner, *(one for one in unread if id(one) not in within)):
        bracket = _bracket(node, text, sqlglot)
        if bracket is None:
            return None
        cuts.append((*bracket, None if node is inner else "SELECT 1"))
    parts, at, before = [], 0, ""
    # From left to right; `at` is where the text that is kept goes on.
    for start, end, instead in sorted(cuts, key=lambda one: one[0]):
        parts.append(text[at:start])
        if instead is None:
            before, parts = "".join(parts), []
        else:
            parts.append(instead)
        at = end
    return Around(inner, before, "".join([*parts, text[at:]]).rstrip().removesuffix(";"))


def _aggregating(statement: Any, exp: Any) -> list[Any]:
    """Return the SELECTs that aggregate and read from none that does."""

    def aggregates(select: Any) -> bool:
        own = (one for one in select.find_all(exp.AggFunc) if one.parent_select is select)
        plain = (
            one.parent.parent if isinstance(one.parent, exp.Filter) else one.parent for one in own
        )
        return bool(select.args.get("group")) or any(
            not isinstance(one, exp.Window) for one in plain
        )

    several = [one for one in statement.find_all(exp.Select) if aggregates(one)]
    ids = {id(one) for one in several}
    grown: set[str] = set()

    def reads(node: Any) -> bool:
        """Tell whether a query holds, or reads by its name, another one that aggregates."""
        inside = any(one is not node and id(one) in ids for one in node.find_all(exp.Select))
        return inside or any(one.name.lower() in grown for one in node.find_all(exp.Table))

    # Each can read from those before it.
    for one in statement.find_all(exp.CTE):
        if id(one.this) in ids or reads(one.this):
            grown.add(one.alias.lower())
    return [one for one in several if not reads(one)]


def _read(
    statement: Any, inner: Any, named: dict[str, Any], exp: Any
) -> tuple[set[str] | None, list[Any]]:
    """Return the names of WITH and the tables that are read around a SELECT.

    None stands for the names if the SELECT itself is not read.
    """
    read: set[str] = set()
    tables: list[Any] = []
    left, reached = [statement], False

    def parts(node: Any) -> Iterator[Any]:
        yield node
        if node is not inner:
            for one in node.iter_expressions():
                if not isinstance(one, exp.With):
                    yield from parts(one)

    # `left` are queries whose parts are still to be looked at. Each name of WITH is followed once.
    while left:
        for part in parts(left.pop()):
            reached |= part is inner
            if part is inner or not isinstance(part, exp.Table):
                continue
            name = part.name.lower()
            if part.args.get("db") or name not in named:
                tables.append(part)
            elif name not in read:
                read.add(name)
                left.append(named[name])
    return (read if reached else None), tables


def _bracket(node: Any, text: str, sqlglot: Any) -> tuple[int, int] | None:
    """Return where the text between the brackets around a query begins and ends."""
    first, last = span(node)
    if first is None or last is None:
        return None
    opened: list[int] = []
    found: list[tuple[int, int]] = []
    # Tokens and not characters: a bracket in a text or a comment is none.
    for token in sqlglot.Dialect.get_or_raise("duckdb").tokenize(text):
        if token.token_type.name == "L_PAREN":
            opened.append(token.end + 1)
        elif token.token_type.name == "R_PAREN" and opened:
            start = opened.pop()
            if start <= first and last < token.start:
                found.append((start, token.start))
    for start, end in sorted(found, reverse=True)[:1]:
        # The innermost pair around it; of a part of a union it holds more.
        if sqlglot.parse_one(text[start:end], dialect="duckdb") == node:
            return start, end
    return None


def after_noise(
    form: NormalForm, rows: Sequence[Sequence[Any]], types: Sequence[str]
) -> pd.DataFrame:
    """Return what a query makes of the keys and the aggregates of all groups.

    Parameters
    ----------
    form : NormalForm
        The query.
    rows : sequence of sequences
        Of each group, in the order of the keys: its aggregates, exact or noisy. None at all for the
        columns alone.
    types : sequence of str
        The types of these in DuckDB.
    """
    import pandas as pd

    columns = [f"k{i} {group.type}" for i, group in enumerate(form.groups)]
    columns += [f"a{i} {type_}" for i, type_ in enumerate(types)]
    # Values are parameters, each cast to its column's type, and never part of the text.
    marks = ", ".join(f"CAST(? AS {column.partition(' ')[2]})" for column in columns)
    doing = "what stands around the aggregates" if form.outer.before else "the query"
    with naming(doing), in_memory(duckdb_module(), alone=True) as base:
        base.execute(f"CREATE TABLE {ANSWERS} ({', '.join(columns)})")
        for key, numbers in zip(form.keys, rows, strict=bool(rows)):
            base.execute(f"INSERT INTO {ANSWERS} VALUES ({marks})", [*key, *numbers])
        answer = base.execute(form.outer.sql)
        names = [one[0] for one in answer.description]
        rows = answer.fetchall()
    found = pd.DataFrame(
        {place: _typed([row[place] for row in rows]) for place in range(len(names))}
    )
    return found.set_axis(names, axis="columns")


def _typed(cells: list[Any]) -> Any:
    """Return the cells of a column; whole numbers stay whole where some are NULL."""
    import pandas as pd

    there = [one for one in cells if one is not None]
    # pandas would turn whole numbers beside NULL into floats.
    whole = all(type(one) is int and abs(one) < 2**63 for one in there)
    return pd.array(cells, dtype="Int64") if whole and 0 < len(there) < len(cells) else cells
