"""Pairs of datasets as text: the records that change first, then what they share, shortened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from sensitivity_lab.checks import text_of
from sensitivity_lab.queries import Answer
from sensitivity_lab.universes.relations import show

_MOST = 12
"""Of more distinct records than that, the middle is left out."""

_ENDS = 4
"""So many of the first ones are shown then, and of the last."""

_ALIGNED = 40
"""Longer texts are not aligned."""


def in_short(records: Sequence[Any]) -> str:
    """Return ascending records as text: equal ones once, of many the first and the last ones.

    Examples
    --------
    >>> in_short((0, 0, 0, 7)), in_short(())
    ('0 (x3), 7', 'none')
    >>> in_short(range(5000))
    '0, 1, 2, 3, ..., 4996, 4997, 4998, 4999; 5,000 records'
    """
    runs = [(record, sum(1 for _ in equal)) for record, equal in groupby(records)]
    if len(runs) <= _MOST:
        return ", ".join(map(_run, runs)) or "none"
    texts = [*map(_run, runs[:_ENDS]), "...", *map(_run, runs[-_ENDS:])]
    return f"{', '.join(texts)}; {len(records):,} records"


def _run(run: tuple[Any, int]) -> str:
    """Return a record and how often it occurs as text."""
    record, count = run
    return f"{text_of(record)} (x{count:,})" if count > 1 else text_of(record)


def show_answer(answer: Answer) -> str:
    """Return an answer as text, the middle of a long vector left out."""
    if not isinstance(answer, tuple):
        return f"{answer:.10g}"
    return show([f"{number:.10g}" for number in answer], "numbers")


def pair_facts(witness: Any) -> list[tuple[str, str]]:
    """Return the facts that a repr shows of a witness: records only in x, only in y, in both.

    Parameters
    ----------
    witness : Witness
        Anything with only_x, only_y, shared, query_x and query_y.
    """
    texts = [in_short(witness.only_x), in_short(witness.only_y)]
    width = max(map(len, texts))
    width = width if width <= _ALIGNED else 0
    answers = (("x", witness.query_x), ("y", witness.query_y))
    return [
        *(
            (f"only in {name}", f"{text:<{width}}  f({name}) = {show_answer(answer)}")
            for text, (name, answer) in zip(texts, answers, strict=True)
        ),
        ("in both", in_short(witness.shared)),
    ]


def changes(first: Iterable[Any], second: Iterable[Any], name: str) -> str:
    """Return a dataset as the changes that lead to it from another one.

    Parameters
    ----------
    first, second : iterable of records
        The dataset before and after the changes; ascending.
    name : str
        The name of the first.

    Examples
    --------
    >>> changes((1, 2, 2), (1, 2, 5), "x"), changes((1, 2), (1,), "x"), changes((1,), (1,), "x")
    ('x without 2, with 5', 'x without 2', 'x')
    """
    before, after = Counter(first), Counter(second)
    parts = [
        f"{word} {in_short(tuple(records.elements()))}"
        for word, records in (("without", before - after), ("with", after - before))
        if records
    ]
    return " ".join([name, ", ".join(parts)]).rstrip()
