"""Databases without one person, and what the answer loses with each, by running the query again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from sensitivity_lab.errors import TooLargeError

from .answers import exact_answers
from .database import Session
from .impacts import persons_of
from .normal_form import Aggregate, NormalForm, quoted

MOST_RUNS = 2_000
"""The most times that a query with left joins is run again."""

_REMOVED = 'temp.main."lab removed"'


def without(form: NormalForm, person: Any, session: Session) -> dict[str, str]:
    """Return the private tables without a person, by alias, for statements of the session."""
    types = form.person_types
    type_ = "HUGEINT" if len(types) > 1 else min(types)
    session.run(f"CREATE OR REPLACE TEMP TABLE {_REMOVED} (person {type_})")
    session.run(f"INSERT INTO {_REMOVED} VALUES (?)", (person,))
    # A row without a person stays: it is public.
    return {
        source.alias: (
            f"(SELECT * FROM {source.relation} WHERE ({quoted(source.owner.name)} IN (SELECT "
            f"person FROM {_REMOVED})) IS NOT TRUE)"
        )
        for source in form.private
    }


def losses(
    form: NormalForm, aggregates: Sequence[Aggregate], session: Session
) -> Iterator[tuple[Any, list[list[Fraction]]]]:
    """Yield each person, and what each aggregate loses without them, by running.

    Raises
    ------
    TooLargeError
        If the query would run too often.
    """
    everybody = everyone(form, session)
    runs = len(everybody)
    if runs > MOST_RUNS:
        raise TooLargeError(
            "a LEFT JOIN adds rows of a private table, so that a result can change without being "
            f"lost, and the query has to run again without each of {runs:,} persons: {runs:,} "
            f"times, and the limit is {MOST_RUNS:,}; use INNER JOIN, or a smaller database"
        )
    before = [exact_answers(form, one, session) for one in aggregates]
    for person in everybody:
        replaced = without(form, person, session)
        after = [exact_answers(form, one, session, replaced) for one in aggregates]
        pairs = zip(before, after, strict=True)
        yield person, [[x - y for x, y in zip(*both, strict=True)] for both in pairs]


def everyone(form: NormalForm, session: Session) -> list[Any]:
    """Return the persons of the private tables, each once, in order."""
    together = " UNION ".join(
        f"SELECT {person} AS person FROM {source.relation} AS {quoted(source.alias)}"
        for source, person in zip(form.private, persons_of(form), strict=True)
    )
    text = f"SELECT DISTINCT person FROM ({together}) WHERE person IS NOT NULL ORDER BY person"
    return [person for (person,) in session.rows(text)]
