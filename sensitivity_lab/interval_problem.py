"""A sensitivity problem on an interval: validated once, as those on finite universes are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, cast

from .errors import InputError
from .exact.difference import Number
from .metrics.norms import Norm
from .problem import LocalProblem, OfDataset, OfSizes, Problem, check_start
from .queries import Query
from .universes.finite import AnyUniverse, finite
from .universes.interval import IntervalUniverse
from .universes.multiplicities import Multiplicities
from .universes.relations import Dataset, Relation, RemovedAdded, check_dataset, multiplicities_of

Read = Multiplicities | Dataset
"""A dataset as engines take it: how often each value occurs, or the numbers of an interval."""


@dataclass(frozen=True)
class IntervalProblem(OfSizes[IntervalUniverse]):
    """The question for datasets whose records are any numbers of an interval; see `OfSizes`."""

    @cached_property
    def at_the_ends(self) -> Problem:
        """The same problem for datasets of the two bounds alone."""
        ends = finite(self.universe)
        return Problem(ends, self.queries, self.neighbors, self.sizes, self.norm)

    def checked(self) -> Self:
        """Return the problem, or raise InputError unless all relations and queries apply to it."""
        for relation in self.neighbors:
            relation.check_feasible(self.sizes, self.universe, self.least)
        for query in self.queries:
            if query.by_place(self.universe):
                raise InputError(
                    f"{query.name} is not searched on an interval, because nothing tells where its "
                    "answer jumps; list the values that records can have, "
                    "Universe.from_domain(values)"
                )
        self.at_the_ends.checked()
        return self


@dataclass(frozen=True, eq=False)
class LocalIntervalProblem(OfDataset):
    """How much a query can change between one dataset and its neighbors in an interval.

    Parameters
    ----------
    universe : IntervalUniverse
    query, neighbors, norm
        See `LocalProblem`.
    x : tuple of numbers, shape (n,)
        The dataset, ascending.
    """

    kind: ClassVar[Literal["local"]] = "local"

    universe: IntervalUniverse
    query: Query
    neighbors: Relation
    x: Dataset
    norm: Norm = "L1"

    def checked(self) -> LocalIntervalProblem:
        """Return the problem, or raise InputError unless the relation and the query apply to it."""
        IntervalProblem(self.universe, self.queries, (self.neighbors,), self.sizes).checked()
        check_start(self.query, len(self.x))
        return self

    def on_values(self, more: Iterable[Number] = ()) -> LocalProblem:
        """Return the problem for records of x, the bounds, and some more values alone."""
        domain = finite(self.universe, (*self.x, *more))
        x = multiplicities_of(self.x, domain)
        return LocalProblem(domain, self.query, self.neighbors, x, self.norm)

    @cached_property
    def size(self) -> int:
        """The number of records of x."""
        return len(self.x)

    @property
    def changes(self) -> tuple[RemovedAdded, ...]:
        """The changes (removed, added) that lead from x to a neighbor."""
        return self.neighbors.changes(len(self.x), self.universe, self.query.least_size)


def problem_on(
    universe: AnyUniverse,
    queries: tuple[Query, ...],
    neighbors: tuple[Relation, ...],
    sizes: tuple[int, ...],
    norm: Norm,
) -> Problem | IntervalProblem:
    """Return the checked problem for a universe or an interval; see `Problem`."""
    if isinstance(universe, IntervalUniverse):
        return IntervalProblem(universe, queries, neighbors, sizes, norm).checked()
    return Problem(universe, queries, neighbors, sizes, norm).checked()


def local_problem_on(
    universe: AnyUniverse, query: Query, neighbors: Relation, x: Read, norm: Norm
) -> LocalProblem | LocalIntervalProblem:
    """Return the checked local problem for a universe or an interval, and a dataset as read."""
    if isinstance(universe, IntervalUniverse):
        return LocalIntervalProblem(universe, query, neighbors, cast(Dataset, x), norm).checked()
    return LocalProblem(universe, query, neighbors, cast(Multiplicities, x), norm).checked()


def read_dataset(universe: AnyUniverse, dataset: Any) -> Read:
    """Return what engines take for a dataset, or raise InputError if it is not of the universe."""
    if isinstance(universe, IntervalUniverse):
        return universe.dataset(dataset)
    return check_dataset(dataset, universe)


def in_order(universe: AnyUniverse, x: Read) -> Dataset:
    """Return the records of a dataset that was read, ascending."""
    if isinstance(universe, IntervalUniverse):
        return cast(Dataset, x)
    return universe.dataset(cast(Multiplicities, x))
