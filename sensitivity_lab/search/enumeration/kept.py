"""Finished blocks of evaluations in a checkpoint: which there are, and how one is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.problem import LocalProblem
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.identity import query_identity, universe_identity
from sensitivity_lab.queries.returned import Answers
from sensitivity_lab.results.measure import ExactAnswer
from sensitivity_lab.running.checkpoint import Checkpoint
from sensitivity_lab.running.encoding import digest
from sensitivity_lab.search.again import SAMPLE
from sensitivity_lab.universes.multiplicities import Multiplicities
from sensitivity_lab.universes.multiset import FiniteUniverse


@dataclass(frozen=True)
class Recipe:
    """Datasets `first` to `last` - 1 of the level `size`."""

    size: int
    first: int
    last: int


@dataclass(frozen=True)
class Chunk:
    """Consecutive datasets of a listing, the first of which has the number `first`."""

    first: int
    datasets: tuple[Multiplicities, ...]


def missing_of(numbers: dict[int, int], done: Iterable[Recipe]) -> list[Recipe]:
    """Return the ranges of levels, given by their numbers of datasets, that are not done."""
    missing = []
    for size, number in numbers.items():
        first = 0
        for recipe in sorted(
            (recipe for recipe in done if recipe.size == size), key=lambda recipe: recipe.first
        ):
            if first < recipe.first:
                missing.append(Recipe(size, first, recipe.first))
            first = recipe.last
        if first < number:
            missing.append(Recipe(size, first, number))
    return missing


class KeptSample:
    """Some of the datasets whose answers are kept, with these: at random, the first and the last.

    Every call that goes on draws others, so a change that one sample misses is seen by a later one.
    """

    def __init__(self) -> None:
        self._random = np.random.default_rng()
        # Each with a random number; those with the smallest ones are the sample.
        self._drawn: list[tuple[float, Recipe, list[Answers]]] = []
        self._last: list[tuple[float, Recipe, list[Answers]]] = []

    def add(self, recipe: Recipe, kept: list[Answers]) -> None:
        """Draw from another block, given by the answers of every query."""
        keys = self._random.random(recipe.last - recipe.first)
        if not self._drawn:
            keys[0] = -1.0
        for at in {*np.argsort(keys)[:SAMPLE].tolist(), len(keys) - 1}:
            place = recipe.first + at
            one = [of_query[at : at + 1].copy() for of_query in kept]
            self._drawn.append((float(keys[at]), Recipe(recipe.size, place, place + 1), one))
            if at == len(keys) - 1:
                self._last = self._drawn[-1:]
        self._drawn.sort(key=lambda drawn: drawn[0])
        del self._drawn[SAMPLE:]

    @property
    def chosen(self) -> list[tuple[Recipe, list[Answers]]]:
        """The sample: `SAMPLE` datasets, or all if there are fewer."""
        drawn = {(one.size, one.first): (one, kept) for _, one, kept in self._drawn + self._last}
        if len(drawn) > SAMPLE:
            del drawn[self._drawn[-1][1].size, self._drawn[-1][1].first]
        return list(drawn.values())


@dataclass(frozen=True)
class LevelKeeper:
    """Keeps answers on the datasets of whole levels.

    A block's file holds the answers of one query on a range of a level. Neither the relation nor
    the other queries matter to it, so a later call may ask for other ones.
    """

    checkpoint: Checkpoint
    universe: str
    queries: tuple[str, ...]

    @classmethod
    def of(
        cls, universe: FiniteUniverse, queries: Sequence[Query], checkpoint: Checkpoint | None
    ) -> LevelKeeper | None:
        """Return what keeps the answers of queries; None without a checkpoint."""
        if checkpoint is None:
            return None
        identities = tuple(map(query_identity, queries))
        return cls(checkpoint, universe_identity(universe), identities)

    def kept(self, sizes: Sequence[int]) -> Iterator[tuple[Recipe, list[Answers]]]:
        """Yield the blocks of some levels that all queries have answered, level by level."""
        for size in sizes:
            by_query = [
                {
                    Recipe(size, first, last): answers
                    for first, last, answers in self.checkpoint.spans(self._about(query, size))
                }
                for query in self.queries
            ]
            for recipe in by_query[0]:
                if all(recipe in of_query for of_query in by_query):
                    yield recipe, [of_query[recipe] for of_query in by_query]

    def keep(self, recipe: Recipe, answer: list[Answers]) -> None:
        """Keep the answers of all queries on a block."""
        for query, of_query in zip(self.queries, answer, strict=True):
            about = self._about(query, recipe.size)
            self.checkpoint.keep(about, recipe.first, recipe.last, of_query)

    def found(self, recipe: Recipe) -> list[Answers] | None:
        """Return the answers of all queries on a block; None unless all are kept."""
        spans = [
            self.checkpoint.span(self._about(query, recipe.size), recipe.first, recipe.last)
            for query in self.queries
        ]
        found = [span[2] for span in spans if span is not None]
        return found if len(found) == len(self.queries) else None

    def _about(self, query: str, size: int) -> Mapping[str, Any]:
        return {"universe": self.universe, "query": query, "size": size}


@dataclass(frozen=True)
class NeighborKeeper:
    """Keeps answers on the neighbors of one dataset, in the order in which they are listed."""

    checkpoint: Checkpoint
    universe: str
    query: str
    listing: str

    @classmethod
    def of(cls, problem: LocalProblem, checkpoint: Checkpoint | None) -> NeighborKeeper | None:
        """Return what keeps the answers of a problem; None without a checkpoint."""
        if checkpoint is None:
            return None
        changes = [(removed, added) for removed, added in problem.changes]
        listing = digest([problem.x, changes])
        identity = query_identity(problem.query)
        return cls(checkpoint, universe_identity(problem.universe), identity, listing)

    def kept(self, number: int) -> dict[int, ExactAnswer]:
        """Return the answers that are there, by the number of the neighbor in the listing."""
        found: dict[int, ExactAnswer] = {}
        for first, last, answers in self.checkpoint.spans(self._about):
            if last <= number:
                found |= dict(enumerate(_kept_answers(answers), first))
        return found

    def found(self, recipe: Chunk) -> list[ExactAnswer] | None:
        """Return the answers that are kept on a chunk of neighbors; None if there are none."""
        last = recipe.first + len(recipe.datasets)
        span = self.checkpoint.span(self._about, recipe.first, last)
        return None if span is None else _kept_answers(span[2])

    def keep(self, recipe: Chunk, answer: list[ExactAnswer]) -> None:
        """Keep the answers on a chunk of neighbors."""
        shape = (len(answer), len(answer[0])) if isinstance(answer[0], tuple) else (len(answer),)
        numbers = np.empty(shape, dtype=object)
        for at, one in enumerate(answer):
            numbers[at] = one
        last = recipe.first + len(answer)
        self.checkpoint.keep(self._about, recipe.first, last, numbers)

    @property
    def _about(self) -> Mapping[str, Any]:
        return {"universe": self.universe, "query": self.query, "listing": self.listing}


def _kept_answers(kept: NDArray[Any]) -> list[ExactAnswer]:
    """Return exact answers from an array of objects, one or several numbers each."""
    return [tuple(one) if isinstance(one, list) else one for one in kept.tolist()]
