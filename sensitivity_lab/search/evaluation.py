"""Evaluating queries on whole levels of the lattice, each dataset once, in parallel.

Workers get recipes (a level and a range of positions), never arrays of datasets.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab import _parallel
from sensitivity_lab.queries import Query
from sensitivity_lab.universe import Universe

from .engine import Options
from .lattice import Floats, Lattice
from .scaling import Scale

_CHUNKS = 48
"""Work is cut into about so many chunks, whatever the number of workers."""

_BLOCK_ROWS = 8192
"""Vectorized queries see at most so many datasets at once: a few times the processor's cache."""

_SERIAL_SECONDS = 0.1
"""Work that takes less is not worth starting workers for."""


@dataclass(frozen=True)
class Recipe:
    """Datasets `first` to `last` - 1 of the level `size`."""

    size: int
    first: int
    last: int


@dataclass(frozen=True)
class Evaluator:
    """Evaluates queries on datasets of a universe.

    Parameters
    ----------
    universe : Universe
    queries : tuple of Query
    top : int
        The largest size of a dataset.
    """

    universe: Universe
    queries: tuple[Query, ...]
    top: int

    @cached_property
    def scales(self) -> dict[bool, Scale]:
        """The universe's values as floats, by whether they are centred."""
        return {centred: Scale.of(self.universe, centred=centred) for centred in (False, True)}

    def __call__(self, recipe: Recipe) -> Floats:
        """Return the answers on a range of datasets.

        Returns
        -------
        ndarray, shape (last - first, queries)
            For exact queries their numerators on the scaled values; for functions their answers.
        """
        lattice = lattice_of(self.universe, self.top)
        out = np.empty((recipe.last - recipe.first, len(self.queries)))
        for first in range(recipe.first, recipe.last, _BLOCK_ROWS):
            last = min(first + _BLOCK_ROWS, recipe.last)
            rows = lattice.rows(recipe.size, first, last)
            block = out[first - recipe.first : last - recipe.first]
            for column, query in enumerate(self.queries):
                # A column of `rows` is a rank; taking the transpose keeps columns contiguous.
                records = self.records_for(query)[rows.T].T
                block[:, column] = query.evaluate(records)
        return out

    def records_for(self, query: Query) -> NDArray[Any]:
        """Return the distinct values as this query is to see them, shape (m,)."""
        if query.arithmetic == "exact":
            return self.scales[query.centred].floats
        return self.universe.array


@lru_cache(maxsize=4)
def lattice_of(universe: Universe, top: int) -> Lattice:
    """Return the lattice of a universe; a worker process builds it once."""
    return Lattice(universe.multiplicities(top).tolist(), top)


def evaluate_levels(
    evaluator: Evaluator, sizes: Sequence[int], options: Options
) -> dict[int, Floats]:
    """Evaluate every dataset of the given sizes once.

    Returns
    -------
    dict of ndarray, shape (datasets of the size, queries)
        By size. The same for every number of workers, as the chunks are.
    """
    lattice = lattice_of(evaluator.universe, evaluator.top)
    recipes = _recipes({size: lattice.number(size) for size in sizes})
    recipes = _with_probe(evaluator, recipes)
    probe = recipes[0]
    lengths = [recipe.last - recipe.first for recipe in recipes[1:]]
    started = time.perf_counter()
    done = [evaluator(probe)]
    seconds = time.perf_counter() - started
    little = seconds / (probe.last - probe.first) * sum(lengths) < _SERIAL_SECONDS
    n_jobs = 1 if little else options.n_jobs
    done += _parallel.run(evaluator, recipes[1:], lengths, n_jobs=n_jobs, progress=options.progress)
    return {
        size: np.concatenate(
            [part for recipe, part in zip(recipes, done, strict=True) if recipe.size == size]
        )
        for size in sizes
    }


def _recipes(numbers: dict[int, int]) -> list[Recipe]:
    """Cut levels, given by their numbers of datasets, into chunks of nearly one length."""
    length = max(1, -(-sum(numbers.values()) // _CHUNKS))
    return [
        Recipe(size, first, min(first + length, number))
        for size, number in numbers.items()
        for first in range(0, number, length)
    ]


def _with_probe(evaluator: Evaluator, recipes: list[Recipe]) -> list[Recipe]:
    """Split a few datasets off the first chunk, to see how long one takes.

    Always, so that the chunks do not depend on the number of workers.
    """
    vectorized = all(query.vectorized for query in evaluator.queries)
    chunk = recipes[0]
    stop = min(chunk.last, chunk.first + (1024 if vectorized else 4))
    rest = [Recipe(chunk.size, stop, chunk.last)] if stop < chunk.last else []
    return [Recipe(chunk.size, chunk.first, stop), *rest, *recipes[1:]]
