"""Evaluating a function on every order of every dataset, in parallel.

Per multiset only a few answers can matter: the lowest, the highest, and one of each kind that is
not a finite number (docs/proofs.md, "Free orders": *Functions*). Workers get recipes (a level and a
range of multisets), never arrays of datasets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab import running
from sensitivity_lab.checks import shown
from sensitivity_lab.errors import QueryError
from sensitivity_lab.queries.returned import shape_of
from sensitivity_lab.search.engine import Options
from sensitivity_lab.search.enumeration.evaluate import lattice_of
from sensitivity_lab.search.enumeration.kept import Recipe
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.universe import of_numbers

from .answers import CodeAnswer, as_answer, class_of

_CHUNKS = 96
"""About how many chunks work is cut into, for any number of workers."""

Letters = tuple[int, ...]
"""An ordered dataset, as positions of its records among the distinct values."""


class Ordered(NamedTuple):
    """An answer that matters, with the multiset's rank and an order that attains it."""

    rank: int
    answer: CodeAnswer
    order: Letters


@dataclass(frozen=True)
class Code:
    """A caller's function, run on one ordered dataset at a time.

    Parameters
    ----------
    function : callable
        Takes a 1-D array, or a 2-D array of one row if `vectorized`.
    vectorized : bool
    name : str
    universe : Universe
    """

    function: Callable[[NDArray[Any]], Any]
    vectorized: bool
    name: str
    universe: FiniteUniverse

    def __call__(self, order: Sequence[int]) -> CodeAnswer:
        """Return the answer on an ordered dataset, given as positions of values."""
        records, where = self._records(order), self.where(order)
        try:
            raw = self.function(records[None, :] if self.vectorized else records)
        except Exception as error:
            raise QueryError(f"{where} raised {type(error).__name__}: {error}") from error
        if self.vectorized:
            shape = shape_of(raw)
            if shape != (1,):
                raise QueryError(
                    f"{where} returned {shown(raw)} for one row; a vectorized function gets shape "
                    "(datasets, n) and returns shape (datasets,)"
                    if shape is None
                    else f"{where} returned an array of shape {shape} for one row; a vectorized "
                    "function gets shape (datasets, n) and returns shape (datasets,)"
                )
            raw = raw[0]
        return as_answer(raw, where)

    def where(self, order: Sequence[int]) -> str:
        """Return the function and an ordered dataset as errors name them."""
        records = tuple(self._records(order).tolist())
        return f"query {shown(self.name)} on the ordered dataset {records}"

    def _records(self, order: Sequence[int]) -> NDArray[Any]:
        return of_numbers(self.universe).array[np.array(order, dtype=np.intp)]


@dataclass(frozen=True)
class OrderEvaluator:
    """Evaluates code on all orders of some multisets.

    Parameters
    ----------
    code : Code
    largest_size : int
        The largest size of a dataset.
    """

    code: Code
    largest_size: int

    def __call__(self, recipe: Recipe) -> list[Ordered]:
        """Return the answers that matter of a range of multisets, multisets ascending."""
        lattice = lattice_of(self.code.universe, self.largest_size)
        rows = lattice.rows(recipe.size, recipe.first, recipe.last).tolist()
        return [
            found
            for rank, row in enumerate(rows, start=recipe.first)
            for found in self._extremes(rank, row)
        ]

    def _extremes(self, rank: int, row: list[int]) -> list[Ordered]:
        low: Ordered | None = None
        high: Ordered | None = None
        others: dict[int, Ordered] = {}
        for order in distinct_orders(row):
            answer = self.code(order)
            kind = class_of(answer)
            if kind:
                others.setdefault(kind, Ordered(rank, answer, order))
                continue
            if low is None or answer < low.answer:
                low = Ordered(rank, answer, order)
            if high is None or answer > high.answer:
                high = Ordered(rank, answer, order)
        return [found for found in (low, high, *others.values()) if found is not None]


def evaluate_orders(
    code: Code, largest_size: int, sizes: Sequence[int], options: Options
) -> dict[int, list[Ordered]]:
    """Evaluate code on every order of every dataset of the given sizes.

    Returns
    -------
    dict of list of Ordered
        By size, the answers that matter, multisets ascending.
    """
    lattice = lattice_of(code.universe, largest_size)
    length = max(1, -(-sum(map(lattice.number, sizes)) // _CHUNKS))
    recipes = [
        Recipe(size, first, min(first + length, lattice.number(size)))
        for size in sizes
        for first in range(0, lattice.number(size), length)
    ]
    done = running.run(
        OrderEvaluator(code, largest_size),
        [running.Block(recipe, recipe.last - recipe.first, str(recipe)) for recipe in recipes],
        total=sum(map(lattice.number, sizes)),
        n_jobs=options.n_jobs,
        progress=options.progress,
    )
    found: dict[int, list[Ordered]] = {size: [] for size in sizes}
    for recipe, part in zip(recipes, done, strict=True):
        found[recipe.size] += part
    return found


def distinct_orders(row: Sequence[int]) -> Iterator[Letters]:
    """Yield every distinct order of an ascending row, in lexicographic order.

    Examples
    --------
    >>> list(distinct_orders([0, 1, 1]))
    [(0, 1, 1), (1, 0, 1), (1, 1, 0)]
    """
    order = list(row)
    while True:
        yield tuple(order)
        fall = len(order) - 2
        while fall >= 0 and order[fall] >= order[fall + 1]:
            fall -= 1
        if fall < 0:
            return
        above = len(order) - 1
        while order[above] <= order[fall]:
            above -= 1
        order[fall], order[above] = order[above], order[fall]
        order[fall + 1 :] = order[:fall:-1]


def count_orders(limits: Sequence[int], size: int) -> int:
    """Return the number of ordered datasets of a size, over values with limited copies.

    Notes
    -----
    ``size!`` times the coefficient of z**size in the product of ``1 + z + ... + z**limit/limit!``.

    Examples
    --------
    >>> count_orders([8, 8, 8], 8) == 3**8, count_orders([1, 2], 3)
    (True, 3)
    """
    ways = [1] + [0] * size
    for limit in limits:
        ways = [
            sum(ways[total - own] * comb(total, own) for own in range(min(limit, total) + 1))
            for total in range(size + 1)
        ]
    return ways[size]
