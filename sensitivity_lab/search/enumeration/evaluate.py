"""Evaluating queries on whole levels of the lattice, each dataset once, in parallel.

Workers get recipes (a level and a range of positions), never arrays of datasets.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab import _parallel
from sensitivity_lab.errors import QueryError
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.returned import Answers, alike
from sensitivity_lab.search.engine import Options
from sensitivity_lab.search.lattice import Lattice
from sensitivity_lab.universes.universe import Universe

from .float_error import Scale

_CHUNKS = 48
"""About how many chunks work is cut into, whatever the number of workers."""

_BATCH_ROWS = 8192
"""The most datasets that a vectorized query gets at once: a few times the processor's cache."""

_BATCH_RECORDS = 1 << 22
"""The most records that all datasets of such a batch have together."""

_TOGETHER = 8
"""How many datasets of a size a vectorized function gets at once, to see what it returns."""

_SERIAL_SECONDS = 0.1
"""Work that takes less time is done without workers."""


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
    largest_size : int
        The largest size of a dataset.
    smallest_size : int, default 0
        The smallest size that the search needs.
    """

    universe: Universe
    queries: tuple[Query, ...]
    largest_size: int
    smallest_size: int = 0

    @cached_property
    def scales(self) -> dict[bool, Scale]:
        """The universe's values as floats, by whether they are centred."""
        return {centred: Scale.of(self.universe, centred=centred) for centred in (False, True)}

    def __call__(self, recipe: Recipe) -> list[Answers]:
        """Return the answers on a range of datasets.

        Returns
        -------
        list of ndarray, shape (last - first,) or (last - first, d)
            By query. For exact queries on numbers their numerators on the scaled values; for other
            queries their answers, of a caller's function without rounding any.
        """
        lattice = lattice_of(self.universe, self.largest_size, self.smallest_size)
        batch = max(1, min(_BATCH_ROWS, _BATCH_RECORDS // recipe.size))
        parts: list[list[Answers]] = [[] for _ in self.queries]
        for first in range(recipe.first, recipe.last, batch):
            last = min(first + batch, recipe.last)
            rows = lattice.rows(recipe.size, first, last)
            for part, query in zip(parts, self.queries, strict=True):
                if self.universe.numeric:
                    # A column of `rows` is a rank; taking the transpose keeps columns contiguous.
                    answers = query.evaluate(self.records_for(query)[rows.T].T)
                else:
                    answers = query.on_rows(self.universe, rows)
                if query.arithmetic == "exact":
                    answers = answers.astype(np.float64, copy=False)
                part.append(answers)
        return [joined(query, part) for query, part in zip(self.queries, parts, strict=True)]

    def answer_together(self, sizes: Sequence[int]) -> None:
        """Let vectorized functions answer a few datasets of each size together.

        They compare some of the answers with those on single datasets, and raise QueryError where
        these differ. Chunks of small levels hold one dataset each, and would show nothing.
        """
        lattice = lattice_of(self.universe, self.largest_size)
        for query in self.queries:
            if query.arithmetic == "exact" or not query.vectorized:
                continue
            for size in sizes:
                last = lattice.number(size) - 1
                places = sorted({last * part // (_TOGETHER - 1) for part in range(_TOGETHER)})
                rows = [lattice.rows(size, place, place + 1) for place in places]
                query.on_rows(self.universe, np.concatenate(rows))

    def records_for(self, query: Query) -> NDArray[Any]:
        """Return the distinct values as this query is to see them, shape (m,)."""
        if query.arithmetic == "exact":
            return self.scales[query.centred].floats
        return self.universe.array


@lru_cache(maxsize=4)
def lattice_of(universe: Universe, largest_size: int, smallest_size: int = 0) -> Lattice:
    """Return the lattice of a universe; a worker process builds it once."""
    return Lattice(universe.multiplicities(largest_size).tolist(), largest_size, smallest_size)


def joined(query: Query, parts: Sequence[Answers]) -> Answers:
    """Return answers on several batches as one array, or raise QueryError if they do not fit."""
    shapes = list(dict.fromkeys(part.shape[1:] for part in parts))
    if len(shapes) > 1:
        one, other = ("a number" if not shape else f"{shape[0]} numbers" for shape in shapes[:2])
        raise QueryError(
            f"query {query.name!r} returned {one} on some datasets and {other} on others; a query "
            "returns a number, or an array of one fixed length"
        )
    return parts[0] if len(parts) == 1 else np.concatenate(alike(parts))


def evaluate_levels(
    evaluator: Evaluator,
    sizes: Sequence[int],
    options: Options,
    check: Callable[[Sequence[int | None]], None],
) -> list[dict[int, Answers]]:
    """Evaluate every dataset of the given sizes once.

    After a few datasets, `check` is told how many numbers each query answers, None for one that is
    no vector; it raises if all answers would be too many.

    Returns
    -------
    list of dict of ndarray, shape (datasets of the size,) or (datasets of the size, d)
        By query, then by size. The same for every number of workers, as the chunks are.
    """
    lattice = lattice_of(evaluator.universe, evaluator.largest_size, evaluator.smallest_size)
    evaluator.answer_together(sizes)
    recipes = _recipes({size: lattice.number(size) for size in sizes})
    recipes = _with_probe(evaluator, recipes)
    probe = recipes[0]
    lengths = [recipe.last - recipe.first for recipe in recipes[1:]]
    started = time.perf_counter()
    done = [evaluator(probe)]
    seconds = time.perf_counter() - started
    check([None if batch.ndim == 1 else batch.shape[1] for batch in done[0]])
    little = seconds / (probe.last - probe.first) * sum(lengths) < _SERIAL_SECONDS
    n_jobs = 1 if little else options.n_jobs
    done += _parallel.run(evaluator, recipes[1:], lengths, n_jobs=n_jobs, progress=options.progress)
    levels: list[dict[int, Answers]] = []
    for place, query in enumerate(evaluator.queries):
        batches = [answers[place] for answers in done]
        joined(query, [batch[:1] for batch in batches])
        of_size: dict[int, list[Answers]] = {size: [] for size in sizes}
        for recipe, batch in zip(recipes, batches, strict=True):
            of_size[recipe.size].append(batch)
        levels.append({size: joined(query, parts) for size, parts in of_size.items()})
        for answers in done:
            answers[place] = np.empty(0)  # joined: the batches' memory is free again
    return levels


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
