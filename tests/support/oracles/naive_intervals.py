"""The definition on a grid of an interval, in rationals: cores with every addition to both sides.

It imports only the oracle. A grid lies inside the interval, so its largest difference is never
above the interval's, and equal to it if the grid has the values of a worst case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations
from itertools import combinations_with_replacement as multisets
from typing import Any

import oracle

Dataset = tuple[Fraction, ...]


def changes(family: str, k: int, exactly: bool, size: int, least: int = 1) -> list[tuple[int, int]]:
    """The numbers of records (removed, added) that lead from a size of x to at least `least`.

    None if exactly k records are removed or added, and one of both leads to fewer.
    """
    name, _, direction = family.removesuffix(")").partition(" (")
    allowed = oracle.shapes(name.replace(" ", "_"), k, exactly, direction or "both")
    found = [(i, j) for i, j in allowed if i <= size and size - i + j >= least]
    return [] if exactly and name == "unbounded" and len(found) < len(allowed) else found


class Answers:
    """The answers of a query (for std their squares), each computed once."""

    def __init__(self, query: tuple[Any, ...]) -> None:
        self.query = query
        self._known: dict[Dataset, Fraction] = {}

    def __call__(self, records: Iterable[Fraction]) -> Fraction:
        data = tuple(sorted(records))
        if data not in self._known:
            asked = ("var", self.query[1]) if self.query[0] == "std" else self.query
            self._known[data] = oracle.evaluate(asked, data)
        return self._known[data]

    def distance(self, first: Fraction, second: Fraction) -> Any:
        """How far two answers are apart; for std a Decimal of 60 digits."""
        if self.query[0] == "std":
            return oracle.root_difference(first, second)
        return abs(first - second)


def global_on_grid(
    query: tuple[Any, ...], grid: Iterable[Fraction], size: int, allowed: list[tuple[int, int]]
) -> Any:
    """The largest change between neighbors with records in a grid, each any number of times."""
    values, answers = sorted(set(grid)), Answers(query)
    found = []
    for removed, added in allowed:
        for core in multisets(values, size - removed):
            of_x = [answers(core + own) for own in multisets(values, removed)]
            of_y = [answers(core + own) for own in multisets(values, added)]
            found.append(answers.distance(max(of_x), min(of_y)))
            found.append(answers.distance(min(of_x), max(of_y)))
    return max(found)


def local_on_grid(
    query: tuple[Any, ...], grid: Iterable[Fraction], x: Dataset, allowed: list[tuple[int, int]]
) -> Any:
    """The largest change from x to a neighbor with added records in a grid."""
    values, answers = sorted(set(grid)), Answers(query)
    return max(
        answers.distance(answers(x), answers(core + own))
        for removed, added in allowed
        for core in set(combinations(x, len(x) - removed))
        for own in multisets(values, added)
    )


def related(x: Dataset, y: Dataset, allowed: list[tuple[int, int]]) -> bool:
    """Whether x and y are C + A and C + B for one of the changes (|A|, |B|)."""
    shared = sum((Counter(x) & Counter(y)).values())
    return any(len(x) - i == len(y) - j <= shared for i, j in allowed)


def grids(lower: Fraction, upper: Fraction) -> Iterator[list[Fraction]]:
    """Grids of 2 to 9 values, both bounds among them."""
    for steps in range(1, 9):
        yield [lower + (upper - lower) * Fraction(step, steps) for step in range(steps + 1)]
