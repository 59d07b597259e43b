"""Mechanisms on small universes by their definitions, in plain Python.

The datasets are listed, and distances found by breadth-first search from dataset to neighbor. The
inverse sensitivity mechanism follows word by word. It imports nothing that
it judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

Dataset = tuple[Any, ...]
Answer = Callable[[Dataset], Fraction]
Space = dict[Dataset, list[Dataset]]
"""Every dataset, with its neighbors."""


def space(universe: Iterable[Any], sizes: Iterable[int], *, replace: bool) -> Space:
    """All datasets of some sizes; neighbors have one record replaced, or added or removed.

    >>> space([1, 2, 2], [2], replace=True)
    {(1, 2): [(2, 2)], (2, 2): [(1, 2)]}
    """
    records = sorted(universe)
    every = [one for size in sizes for one in sorted(set(combinations(records, size)))]

    def close(x: Dataset, y: Dataset) -> bool:
        gone, new = Counter(x) - Counter(y), Counter(y) - Counter(x)
        changed = (gone.total(), new.total())
        return changed == (1, 1) if replace else changed in ((0, 1), (1, 0))

    return {x: [y for y in every if close(x, y)] for x in every}


def distances(graph: Space, x: Dataset) -> dict[Dataset, int]:
    """How many steps every dataset is from x."""
    found, edge, steps = {x: 0}, [x], 0
    while edge:
        steps += 1
        edge = list(dict.fromkeys(y for one in edge for y in graph[one] if y not in found))
        found |= dict.fromkeys(edge, steps)
    return found


def reach(
    graph: Space, f: Answer, x: Dataset, farthest: int
) -> tuple[list[Fraction], list[Fraction]]:
    """The least and the greatest answer within distance 0, ..., farthest."""
    away = distances(graph, x)
    within = [[f(z) for z, d in away.items() if d <= k] for k in range(farthest + 1)]
    return [min(some) for some in within], [max(some) for some in within]


def on_grid(grid: Sequence[Fraction], answer: Fraction) -> Fraction:
    """The nearest point of a grid, the larger one of two; beyond the ends, the end."""
    return min(grid, key=lambda point: (abs(point - answer), -point))


def scores(
    graph: Space, f: Answer, x: Dataset, grid: Sequence[Fraction], width: Fraction, farthest: int
) -> list[int]:
    """By point of the grid, the least distance whose answers on the grid enclose it, or K + 1."""
    away = distances(graph, x)

    def reached(point: Fraction, k: int) -> bool:
        some = [on_grid(grid, f(z)) for z, d in away.items() if d <= k]
        return min(some) - width <= point <= max(some) + width

    return [
        next((k for k in range(farthest + 1) if reached(point, k)), farthest + 1) for point in grid
    ]


def law(score: Sequence[int], weights: Sequence[Fraction], r: Fraction) -> list[Fraction]:
    """The probability of each point: its weight times r to the power of its score, of all."""
    masses = [weight * r**one for weight, one in zip(weights, score, strict=True)]
    return [mass / sum(masses) for mass in masses]


def expected_error(grid: Sequence[Fraction], chances: Sequence[Fraction], a: Fraction) -> Fraction:
    """The expected distance of a draw from a."""
    return sum((abs(t - a) * p for t, p in zip(grid, chances, strict=True)), Fraction(0))


def order_statistic(m: int) -> Answer:
    """The m-th smallest record."""
    return lambda x: Fraction(x[m - 1])


def median(x: Dataset) -> Fraction:
    """The mean of the two middle records, or the middle one."""
    return Fraction(x[(len(x) - 1) // 2] + x[len(x) // 2]) / 2


def mean(x: Dataset) -> Fraction:
    """The sum divided by the number."""
    return sum(map(Fraction, x)) / len(x)


def spread(x: Dataset) -> Fraction:
    """The largest less the smallest record."""
    return Fraction(x[-1]) - Fraction(x[0])


def variance(x: Dataset) -> Fraction:
    """The mean of squares less the square of the mean."""
    return mean(tuple(Fraction(one) ** 2 for one in x)) - mean(x) ** 2
