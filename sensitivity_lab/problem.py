"""A sensitivity problem, on a finite universe or an interval: validated once, then trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar, cast

import numpy as np

from sensitivity_lab.checks import MORE_MEMORY, Norm, exceeding
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.exact.difference import Difference, Number, rational_of
from sensitivity_lab.queries import Query
from sensitivity_lab.universes.relations import (
    Dataset,
    Family,
    Multiplicities,
    Relation,
    RemovedAdded,
    Steps,
    check_dataset,
    check_number_of_records,
    check_size,
    families_of,
    multiplicities_of,
)
from sensitivity_lab.universes.universe import (
    AnyUniverse,
    FiniteUniverse,
    IntervalUniverse,
    Space,
    finite,
    of_numbers,
)

Kind = Literal["global", "local", "smooth"]
"""Over which datasets a sensitivity is the maximum: all, one and its neighbors, or all, damped."""


_MOST_SIZES = 10_000_000
"""So many sizes are listed."""

Stop = Callable[[Difference, int, int, Difference], bool]
"""Whether no larger distance matters; see `SmoothProblem`."""


def _check_queries(queries: Iterable[Query], universe: FiniteUniverse) -> None:
    """Raise InputError unless queries take the records of this universe."""
    for query in queries:
        if universe.numeric and not query.on_numbers:
            raise InputError(
                f"{query.name} is a query on records, and the universe has numbers; make a "
                "TableUniverse of the table"
            )
        if not universe.numeric and not query.on_records:
            raise InputError(
                f"{query.name} is a query on numbers, and the universe has rows; take one column "
                "with universe.column(name), or a query on records such as MeanOf(column)"
            )
        query.check_on(universe)
        if query.by_place(universe):
            query.sums(universe)


def check_smallest(queries: Iterable[Query], smallest: int) -> None:
    """Raise InputError unless queries have an answer on the smallest datasets x.

    Neighbors y have as many records as the query needs: others are none.
    """
    for query in queries:
        if smallest < query.least_size:
            own = query.takes_empty and smallest < query.defined_from
            empty = ", or say the answer for fewer, empty=, which is then public" * own
            records = "1 record" if query.least_size == 1 else f"{query.least_size} records"
            raise InputError(
                f"{query.name} needs at least {records}, got size {smallest}; leave out smaller "
                f"sizes{empty}"
            )


def check_start(query: Query, size: int) -> None:
    """Raise InputError if a local search cannot start from datasets x of a size.

    The neighbors of x, some of whose records stay, are not all datasets of their sizes.
    """
    least = query.defined_from
    if query.on_numbers and 0 < size < least:
        raise InputError(
            f"{query.name} has an answer of its own on {least} records or more, and `empty` on "
            f"fewer; x has {size}, and local searches start from no records or from {least} at "
            "least; ask for the global sensitivity"
        )


U = TypeVar("U", bound=FiniteUniverse | IntervalUniverse)


@dataclass(frozen=True)
class OfSizes(Generic[U]):
    """The question how much queries can change between neighbors, for datasets of some sizes.

    Parameters
    ----------
    universe : FiniteUniverse or IntervalUniverse
    queries : tuple of Query
        Answered independently of each other; together only because engines share work.
    neighbors : tuple of Relation
        Answered independently of each other, such as one relation at several distances.
    sizes : tuple of int
        The sizes n of x; the maximum is over all of them.
    norm : {"L1", "L2", "Linf"}, default "L1"
        How to measure the difference of two vector answers; for numbers, all three agree.
    """

    kind: ClassVar[Literal["global"]] = "global"

    universe: U
    queries: tuple[Query, ...]
    neighbors: tuple[Relation, ...]
    sizes: tuple[int, ...]
    norm: Norm = "L1"

    @cached_property
    def least(self) -> int:
        """The fewest records of a neighbor: where some query has an answer; see `parts`."""
        return min((query.least_size for query in self.queries), default=0)

    @cached_property
    def parts(self) -> tuple[Self, ...]:
        """The problem; or one for each query, if these have answers on different datasets."""
        most = max((query.least_size for query in self.queries), default=0)
        if most == self.least or min(self.every_size) >= most:
            return (self,)
        return tuple(self.only((query,)) for query in self.queries)

    def changes(self, relation: Relation) -> list[tuple[int, RemovedAdded]]:
        """Return every size n of x with every change (removed, added) that leads to a neighbor."""
        relation.check_feasible(self.sizes, self.universe, self.least)
        return [
            (size, change)
            for size in self.sizes
            for change in relation.some_changes(size, self.universe, self.least)
        ]

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """The relations that differ in k only, together, with the changes that they share."""
        return families_of(self.neighbors, self.sizes, self.universe, self.least)

    @property
    def steps(self) -> list[Steps]:
        """The changes of each size of x, of one family of relations after the other."""
        return [steps for family in self.families for steps in family.steps]

    @cached_property
    def every_size(self) -> set[int]:
        """The sizes of all datasets x and y."""
        return {
            of
            for steps in self.steps
            for of in (steps.size, *(steps.size - steps.removed + steps.added).tolist())
        }

    def at(self, sizes: tuple[int, ...], query: Query | None = None) -> Self:
        """Return the problem at some of its sizes, and perhaps for another query."""
        if sizes == self.sizes and query is None:
            return self
        return replace(self, sizes=sizes, queries=self.queries if query is None else (query,))

    def only(self, queries: Sequence[Query], neighbors: Sequence[Relation] | None = None) -> Self:
        """Return the same problem for some of its queries, and some of its relations."""
        some = self.neighbors if neighbors is None else tuple(neighbors)
        part = replace(self, queries=tuple(queries), neighbors=some)
        if part.least == self.least and (some is self.neighbors or some == self.neighbors):
            # What does not depend on the queries is found once.
            vars(part).update(families=self.families)
            known = {"every_size", "largest"}.intersection(vars(self))
            vars(part).update({name: vars(self)[name] for name in known})
        return part


@dataclass(frozen=True)
class Problem(OfSizes[FiniteUniverse]):
    """The question for datasets of a finite universe; see `OfSizes`."""

    def checked(self) -> Self:
        """Return the problem, or raise InputError unless all relations and queries apply to it."""
        _check_queries(self.queries, self.universe)
        check_smallest(self.queries, min(self.sizes))
        for part in self.parts:
            for relation in self.neighbors:
                relation.check_feasible(part.sizes, part.universe, part.least)
        return self

    def pair_kinds(self, relation: Relation) -> list[tuple[int, RemovedAdded, bool]]:
        """Return the sizes of x and the changes that a search of pairs needs.

        Pairs at most k apart may share records of A and B, so a change (i, j) covers (i-1, j-1). At
        exactly k they may not, unless A or B is empty. The flag says that A and B are disjoint.
        """
        found = self.changes(relation)
        if relation.exactly:
            return [(size, change, min(change) > 0) for size, change in found]
        there = set(found)
        return [
            (size, (removed, added), False)
            for size, (removed, added) in found
            if (size, (removed + 1, added + 1)) not in there
        ]

    @cached_property
    def largest(self) -> int:
        """The size of the largest dataset among x and y."""
        return max(self.every_size)

    @cached_property
    def together(self) -> int:
        """The most records that x and those that are added to it are together."""
        return max(steps.size + int(steps.added.max()) for steps in self.steps)

    def has_answers_in_range(self, query: Query) -> bool:
        """Tell whether the answers of an order statistic or of power sums surely fit into floats.

        None is beyond the square of the largest record, or of 1, times the largest size, and for a
        variance times the denominator of `ddof`.
        """
        return self._largest_answer * Fraction(query.ddof).denominator < 2**1000

    @cached_property
    def _largest_answer(self) -> Fraction:
        ends = of_numbers(self.universe).array[[0, -1]].tolist()
        most = max(self.sizes) + max(relation.growth for relation in self.neighbors)
        largest = int(min(most, self.universe.size))
        return max(Fraction(1), *(rational_of(end) ** 2 for end in ends)) * largest


class OfDataset:
    """The question for one query and one dataset, as far as it is as one for several sizes."""

    query: Query
    x: Any

    @property
    def queries(self) -> tuple[Query, ...]:
        """The query, as a problem with several would have it."""
        return (self.query,)

    @cached_property
    def size(self) -> int:
        """The number of records of x."""
        return int(self.x.sum())

    @property
    def sizes(self) -> tuple[int, ...]:
        """The size of x, as a problem with several would have it."""
        return (self.size,)


@dataclass(frozen=True, eq=False)
class LocalProblem(OfDataset):
    """The question how much a query can change between one dataset and its neighbors.

    Parameters
    ----------
    universe : FiniteUniverse
    query : Query
    neighbors : Relation
    x : ndarray of int64, shape (m,)
        The dataset: how often each distinct value of the universe occurs in it.
    norm : {"L1", "L2", "Linf"}, default "L1"
        How to measure the difference of two vector answers; for numbers, all three agree.
    """

    kind: ClassVar[Literal["local"]] = "local"

    universe: FiniteUniverse
    query: Query
    neighbors: Relation
    x: Multiplicities
    norm: Norm = "L1"

    def checked(self) -> LocalProblem:
        """Return the problem, or raise InputError unless the relation and the query apply to it."""
        _check_queries(self.queries, self.universe)
        check_smallest(self.queries, self.size)
        check_start(self.query, self.size)
        self.neighbors.check_feasible(self.sizes, self.universe, self.query.least_size)
        return self

    @cached_property
    def changes(self) -> tuple[RemovedAdded, ...]:
        """The changes (removed, added) that lead from x to a neighbor."""
        return self.neighbors.changes(self.size, self.universe, self.query.least_size)

    @cached_property
    def outside(self) -> Multiplicities:
        """How many records of each value are outside x, as far as a change can add them."""
        most = max((added for _, added in self.changes), default=0)
        left: Multiplicities = self.universe.multiplicities(self.size + most) - self.x
        return np.minimum(left, most)


@dataclass(frozen=True, eq=False)
class SmoothProblem(OfDataset):
    """How large the local sensitivity is for the datasets at every distance from x.

    Parameters
    ----------
    universe : FiniteUniverse
    query : Query
    x : ndarray of int64, shape (m,)
        The dataset: how often each distinct value of the universe occurs in it.
    step : Relation
        The neighbors of a dataset, which are one step away, and how far datasets are apart.
    limits : tuple of two numbers
        The smallest and the largest size of datasets, both that of x if steps keep it; the largest
        may be math.inf.
    stop : callable
        Takes the largest local sensitivity so far, its distance, the distance that was reached,
        and a bound of all local sensitivities; returns whether no larger distance matters.
    norm : {"L1", "L2", "Linf"}, default "L1"
        How to measure the difference of two vector answers; for numbers, all three agree.
    """

    kind: ClassVar[Literal["smooth"]] = "smooth"

    universe: FiniteUniverse
    query: Query
    x: Multiplicities
    step: Relation
    limits: tuple[int, float]
    stop: Stop
    norm: Norm = "L1"

    @property
    def replace(self) -> bool:
        """Whether a neighbor has one record replaced."""
        return self.step.keeps_size

    @property
    def add_or_remove(self) -> bool:
        """Whether a neighbor has one record added or removed, and none replaced."""
        return not self.step.exchanges

    def distances(self, some: Sequence[Multiplicities]) -> list[int]:
        """Return how many steps some datasets are from x."""
        found: list[int] = self.step.between(self.x, np.array(some, dtype=np.int64)).tolist()
        return found


def check_sizes(size: Any, universe: Space) -> tuple[int, ...]:
    """Return the given sizes, ascending and distinct, or raise InputError."""
    if isinstance(size, range) and size and not size[_MOST_SIZES:]:
        # Of a range its ends tell what every size would, and there may be very many.
        size = size if size.step > 0 else size[::-1]
        for one in (size[0], size[-1]):
            check_size(one, universe)
        return tuple(size)
    several = sorted(set(check_number_of_records.several("size", size)))
    check_size(several[-1], universe)
    return tuple(several)


def check_witnesses(sizes: Sequence[int], number: int, memory_limit: int) -> None:
    """Raise TooLargeError if the witnesses of the results alone exceed the memory limit.

    With every engine, a witness is two datasets that list their records.
    """
    needed = number * 2 * 8 * max(sizes)
    # Below a MiB the reasons of the engines say more.
    if needed > max(memory_limit, 2**20):
        results = f"{number:,} results with " if number > 1 else ""
        raise TooLargeError(
            f"{results}two datasets of {max(sizes):,} records need "
            f"{exceeding(needed, memory_limit)}; choose a smaller "
            f"size{', fewer distances or queries,' if number > 1 else ''} or {MORE_MEMORY}"
        )


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
