"""The search over an implementation: what it needs, whether it is feasible, and how it runs.

See docs/proofs.md, "Code on ordered datasets".
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sensitivity_lab.checks import MORE_MEMORY, exceeding, shown
from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import Function
from sensitivity_lab.search.again import check_calls
from sensitivity_lab.search.engine import Options
from sensitivity_lab.search.enumeration.evaluate import lattice_of
from sensitivity_lab.search.enumeration.pairs import Family
from sensitivity_lab.search.lattice import Lattice
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.relations import Relation, RemovedAdded

from .aligned_orders import AlignedPairs, Alignment
from .all_orders import Code, count_orders, evaluate_orders
from .answers import CodeAnswer
from .automaton import Automaton
from .folds import Fold
from .free_orders import Reachable
from .furthest import Level, furthest
from .result import Implementation, Method, Order

_BYTES_PER_MULTISET = 64
"""How many bytes a multiset takes besides its multiplicities: extremes, ranks, codes."""


class OrderedPair(NamedTuple):
    """A pair of ordered datasets, and the work it took to find it."""

    gap: Fraction | None
    x: tuple[int, ...]
    y: tuple[int, ...]
    evaluations: int


@dataclass(frozen=True)
class Question:
    """The problem of a search over an implementation; validated once, then trusted.

    Parameters
    ----------
    query : Fold or Function
        The code.
    universe : Universe
        The records that datasets are drawn from.
    relation : Relation or None
        The neighbor relation; None: neighbors have the same records.
    sizes : tuple of int
        The sizes of x; the maximum is over all of them.
    order : {"free", "aligned"}
        Whether the orders of x and y are independent of each other.
    options : Options
        How to run the search.
    evaluation_limit : int
        The largest number of orders that a function may be called on.
    """

    query: Implementation
    universe: FiniteUniverse
    relation: Relation | None
    sizes: tuple[int, ...]
    order: Order
    options: Options
    evaluation_limit: int

    @cached_property
    def changes(self) -> list[tuple[int, RemovedAdded]]:
        """Every size of x with every change that leads to a neighbor."""
        if self.relation is None:
            return [(size, (0, 0)) for size in self.sizes]
        # A fold answers on any dataset, perhaps with NaN; a function says from what size on.
        queries = () if isinstance(self.query, Fold) else (self.query,)
        problem = Problem(self.universe, queries, (self.relation,), self.sizes).checked()
        return problem.changes(self.relation)

    @cached_property
    def levels(self) -> list[int]:
        """The sizes of all datasets x and y."""
        every = {of for size, (i, j) in self.changes for of in (size, size - i + j)}
        return sorted(every)

    @cached_property
    def limits(self) -> tuple[int, ...]:
        """How often each value can occur in a dataset."""
        return tuple(self.universe.multiplicities(self.levels[-1]).tolist())

    @property
    def lattice(self) -> Lattice:
        """All multisets."""
        return lattice_of(self.universe, self.levels[-1])

    @cached_property
    def orders(self) -> int:
        """The number of ordered datasets among x and y."""
        return sum(count_orders(self.limits, size) for size in self.levels)

    @property
    def families(self) -> list[Family]:
        """Kinds of pairs of multisets; "at most k" includes smaller changes, and no change.

        See "Free orders" (*Pairs*) in docs/proofs.md.
        """
        exactly = self.relation is not None and self.relation.exactly
        changes = self.changes
        found = [
            Family(size, size - i + j, size - i, exactly and i > 0 and j > 0)
            for size, (i, j) in changes
            if exactly or (size, (i + 1, j + 1)) not in changes
        ]
        if not exactly:
            found += [Family(size, size, size, False) for size in self.sizes]
        return list(dict.fromkeys(found))

    def check_small(self) -> None:
        """Raise TooLargeError if there are too many multisets, or too many orders to call."""
        values, most = len(self.limits), self.levels[-1]
        advice = "choose a smaller size or distance, or fewer distinct values"
        if values * most * most > self.options.memory_limit:
            raise TooLargeError(
                f"datasets of {most:,} records over {values:,} values are too many to go through; "
                f"{advice}"
            )
        if isinstance(self.query, Function) and self.orders > self.evaluation_limit:
            raise TooLargeError(
                f"query {shown(self.query.name)} would be called on {self.orders:,} orders, more "
                "than "
                f"the evaluation_limit of {self.evaluation_limit:,}; {advice}, a Fold instead of a "
                "function, or a larger evaluation_limit"
            )
        multisets = sum(map(self.lattice.number, range(most + 1)))
        needed = multisets * (_BYTES_PER_MULTISET + 16 * values)
        if self.order == "free" and needed > self.options.memory_limit:
            raise TooLargeError(
                f"the search over {multisets:,} multisets of up to {most} records would need about "
                f"{exceeding(needed, self.options.memory_limit)}; {advice}, or "
                f"{MORE_MEMORY}"
            )

    @property
    def method(self) -> Method:
        """How all orders are covered."""
        if self.order == "aligned":
            return "accumulator pairs"
        return "reachable accumulators" if isinstance(self.query, Fold) else "all orders"

    def search(self) -> OrderedPair:
        """Return a pair that is furthest apart."""
        if self.order == "aligned":
            return self._search_aligned()
        if isinstance(self.query, Fold):
            return self._search_reachable(self.query)
        return self._search_orders(self.query)

    def _search_reachable(self, fold: Fold) -> OrderedPair:
        automaton = Automaton(fold, self.universe.values, self.options.memory_limit)
        reachable = Reachable(automaton, self.lattice, self.levels[-1])
        entries = {size: reachable.level(size) for size in self.levels}
        states = np.unique(np.concatenate([of for _, of in entries.values()]))
        answers = automaton.answers(states)
        levels = {
            size: Level(owners, states.searchsorted(of)) for size, (owners, of) in entries.items()
        }
        gap, *sides = self._furthest(levels, answers)
        x, y = (
            reachable.order(size, *(int(column[entry]) for column in entries[size]))
            for size, entry in sides
        )
        return OrderedPair(gap, x, y, automaton.steps)

    def _search_orders(self, function: Function) -> OrderedPair:
        code = Code(function.function, function.vectorized, function.name, self.universe)
        found = evaluate_orders(code, self.levels[-1], self.levels, self.options)
        answers: list[CodeAnswer] = []
        levels = {}
        for size, entries in found.items():
            owners = np.array([entry.rank for entry in entries], dtype=np.intp)
            levels[size] = Level(owners, np.arange(len(entries)) + len(answers))
            answers += [entry.answer for entry in entries]
        every = [entry.order for entries in found.values() for entry in entries]
        check_calls(
            answers, lambda place: code(every[place]), lambda place: code.where(every[place])
        )
        gap, *sides = self._furthest(levels, answers)
        x, y = (found[size][entry].order for size, entry in sides)
        return OrderedPair(gap, x, y, self.orders)

    def _furthest(
        self, levels: dict[int, Level], answers: list[CodeAnswer]
    ) -> tuple[Fraction | None, tuple[int, int], tuple[int, int]]:
        limits = self.universe.multiplicities(2 * self.levels[-1])
        found = furthest(self.lattice, limits, self.families, levels, answers)
        return found.gap, (found.size_x, found.entry_x), (found.size_y, found.entry_y)

    def _search_aligned(self) -> OrderedPair:
        """Search pairs of accumulators; those of a function are the records read so far."""
        relation, function = self.relation, self.query
        if isinstance(function, Fold):
            fold, values = function, self.universe.values
        else:
            code = Code(function.function, function.vectorized, function.name, self.universe)
            fold = Fold(lambda read, letter: (*read, letter), (), code, name=function.name)
            values = tuple(range(len(self.universe.values)))
        automaton = Automaton(fold, values, self.options.memory_limit)
        exactly = relation is not None and relation.exactly
        alignment = Alignment(
            targets=tuple((i, j, size - i) for size, (i, j) in self.changes),
            replacing=relation is not None and relation.aligned == "replaced",
            equal=exactly or len(values) == 1,
            limits=self.limits,
        )
        found = AlignedPairs(automaton, alignment).furthest()
        evaluations = automaton.steps if isinstance(function, Fold) else found.answered
        return OrderedPair(found.gap, found.x, found.y, evaluations)
