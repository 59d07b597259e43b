"""Sensitivities where nobody's dataset counts, and over many sizes, in plain Python.

A query is a function of a list of Fractions, an answer for fewer than `defined` records, and
whether it is a root. Records are labeled by their positions. It imports nothing that it judges.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

Labels = tuple[int, ...]


class Query(NamedTuple):
    """The answer on `defined` records or more, and on fewer; None where there is none."""

    answer: Callable[[list[Fraction]], Fraction]
    defined: int = 0
    empty: Fraction | None = None
    root: bool = False

    @property
    def least(self) -> int:
        return self.defined if self.empty is None else 0

    def on(self, values: Sequence[Fraction]) -> float:
        """The answer in floats; of a root, `answer` is its square.

        >>> mean(Fraction(7)).on([]), mean().on([Fraction(1), Fraction(2)])
        (7.0, 1.5)
        """
        if len(values) < self.defined:
            return float(self.empty)
        answer = self.answer(sorted(values))
        return math.sqrt(answer) if self.root else float(answer)


def mean(empty: Fraction | None = None) -> Query:
    """The sum over the number.

    >>> mean().defined
    1
    """
    return Query(lambda v: sum(v, Fraction(0)) / len(v), 1, empty)


def percentile(q: int, empty: Fraction | None = None) -> Query:
    """The linear percentile.

    >>> percentile(50).on([Fraction(1), Fraction(4)])
    2.5
    """

    def answer(v: list[Fraction]) -> Fraction:
        rank = Fraction(q) * (len(v) - 1) / 100
        low = math.floor(rank)
        return v[low] + (rank - low) * (v[min(low + 1, len(v) - 1)] - v[low])

    return Query(answer, 1, empty)


def variance(ddof: int, empty: Fraction | None = None, *, root: bool = False) -> Query:
    """The variance, or its root.

    >>> variance(1).on([Fraction(0), Fraction(2)])
    2.0
    """

    def answer(v: list[Fraction]) -> Fraction:
        middle = sum(v, Fraction(0)) / len(v)
        return sum(((one - middle) ** 2 for one in v), Fraction(0)) / (len(v) - ddof)

    return Query(answer, ddof + 1, empty, root)


def pair_differences(empty: Fraction | None = None) -> Query:
    """The mean difference of two records.

    >>> pair_differences().on([Fraction(0), Fraction(2)])
    2.0
    """

    def answer(v: list[Fraction]) -> Fraction:
        return sum((b - a for a, b in combinations(v, 2)), Fraction(0)) / math.comb(len(v), 2)

    return Query(answer, 2, empty)


def differences(relation: str, k: int, exactly: bool) -> Callable[[int, int], bool]:
    """Whether so many records removed and added make a neighbor.

    >>> differences("unbounded", 2, False)(0, 2), differences("unbounded", 2, False)(1, 1)
    (True, False)
    """
    distance = {
        "bounded": lambda i, j: i if i == j else 0,
        "unbounded": lambda i, j: i + j if 0 in (i, j) else 0,
        "add": lambda i, j: 0 if i else j,
        "remove": lambda i, j: 0 if j else i,
        "symmetric_difference": lambda i, j: i + j,
        "edit": max,
    }[relation]
    return lambda i, j: distance(i, j) == k if exactly else 1 <= distance(i, j) <= k


def neighbors(
    x: Labels, total: int, near: Callable[[int, int], bool], least: int
) -> Iterator[Labels]:
    """The neighbors of a set of labels below `total` that have at least some records.

    >>> list(neighbors((0,), 2, differences("unbounded", 1, False), 0))
    [(0, 1), ()]
    """
    rest = [label for label in range(total) if label not in x]
    for i in range(len(x) + 1):
        for j in range(len(rest) + 1):
            if near(i, j) and len(x) - i + j >= least:
                for kept in combinations(x, len(x) - i):
                    for new in combinations(rest, j):
                        yield tuple(sorted(kept + new))


def largest(
    records: Sequence[Fraction],
    starts: Iterable[Labels],
    query: Query,
    near: Callable[[int, int], bool],
) -> float | None:
    """The largest change from one of some datasets to a neighbor; None if there is no pair.

    >>> largest([Fraction(3)], [()], mean(Fraction(0)), differences("unbounded", 1, False))
    3.0
    """
    changes = [
        abs(query.on([records[a] for a in x]) - query.on([records[a] for a in y]))
        for x in starts
        if len(x) >= query.least
        for y in neighbors(x, len(records), near, query.least)
    ]
    return max(changes, default=None)


def datasets(total: int, sizes: Iterable[int]) -> list[Labels]:
    """All datasets of some sizes.

    >>> datasets(2, [0, 1])
    [(), (0,), (1,)]
    """
    return [x for size in sizes for x in combinations(range(total), size)]
