"""Statements of the lab's own making, over the join of a normal form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .normal_form import NormalForm, Source, literal, quoted

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
