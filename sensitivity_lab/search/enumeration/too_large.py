"""What a search by enumeration would need, computed before it starts; too large ones are refused.

`levels_of` refuses a global search whose answers would not fit into memory, or that would take too
many steps. Local and smooth searches refuse in their own `plan`; what any other engine needs is
compared with the limit by `search.engine.planned`. A refusal says whether this machine has so much
memory.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

from sensitivity_lab.checks import MORE_MEMORY, Norm, in_words, told_apart
from sensitivity_lab.errors import SensitivityLabError
from sensitivity_lab.problem import Problem
from sensitivity_lab.search.engine import Cost, Options, Refusal
from sensitivity_lab.search.enumeration.evaluate import Evaluator, lattice_of, seconds_each
from sensitivity_lab.search.enumeration.vector_pairs import width_of
from sensitivity_lab.search.lattice import Lattice
from sensitivity_lab.search.layouts import WORD
from sensitivity_lab.universes.counting import estimate
from sensitivity_lab.universes.relations import Relation
from sensitivity_lab.universes.universe import FiniteUniverse

from .core_pairs import Family

_TAKES = 0.8
"""This much of a machine's memory may be planned for one search; the rest is the system's."""

_UNITS = ((172_800, 86_400, "days"), (7_200, 3_600, "hours"), (120, 60, "minutes"))
"""From how many seconds on a time is told in which unit, and how many seconds that has."""


def more_memory(needed: float, seconds: float | None, measured: int) -> str:
    """Return whether this machine's memory would take a search, in words.

    Parameters
    ----------
    needed : float
        Bytes.
    seconds : float or None
        How long it takes one processor; None if that is not known.
    measured : int
        On how many datasets the query was evaluated to tell.
    """
    has = memory_of_machine()
    if has is not None and needed > _TAKES * has:
        return f"; the {in_words(has)} of this machine's memory are too few"
    this = f" (this machine has {in_words(has)})" if has else ""
    takes = ""
    if seconds is not None:
        takes = (
            f", in {in_time(seconds)} of one processor, "
            f"by a sample of {measured:,} evaluation{'s' if measured > 1 else ''}"
        )
    return f"; or with this{takes}: run=Run(memory_limit=...) of {in_words(needed)}{this}"


def memory_of_machine() -> int | None:
    """Return how many bytes of memory this machine has; None where the system does not tell."""
    try:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None
    return found if found > 0 else None  # below 0 in a browser


def in_time(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> in_time(0.3), in_time(90), in_time(10_000)
    ('less than a second', 'about 90 seconds', 'about 3 hours')
    """
    if seconds < 1:
        return "less than a second"
    for least, unit, name in _UNITS:
        if seconds >= least:
            return f"about {seconds / unit:,.0f} {name}"
    return f"about {seconds:.0f} seconds"


_COLUMNS = 8
"""The most queries that share a pass down the lattice; more would not be faster."""

_LISTING_BYTES = 1 << 22
"""So many bytes are enough to list datasets, block by block, with a batch of answers."""

_STEPS = 10**12
"""The most records read plus answers compared; that takes about an hour."""

_COMPARED_IN_A_SECOND = 5e8
"""About how many answers a processor compares in a second."""

_ESTIMATED = 32
"""For how many sizes at most the number of datasets is estimated."""

_SURELY_MORE = 2.0
"""An estimate this many times over a limit decides; below that, datasets are counted."""


@dataclass(frozen=True)
class Levels:
    """Which levels of the lattice a problem needs, and what that costs.

    Attributes
    ----------
    problem : Problem
    timeout : float or None
        The most seconds that a caller's function may take for one dataset.
    """

    problem: Problem
    timeout: float | None = None

    @cached_property
    def families(self) -> dict[Relation, list[Family]]:
        """By relation, the kinds of pairs to search."""
        return {
            relation: [
                Family(size, size - removed + added, size - removed, disjoint)
                for size, (removed, added), disjoint in self.problem.pair_kinds(relation)
            ]
            for relation in self.problem.neighbors
        }

    @cached_property
    def every(self) -> list[Family]:
        """All kinds of pairs, each once."""
        return list(dict.fromkeys(one for of_one in self.families.values() for one in of_one))

    @cached_property
    def sizes(self) -> list[int]:
        """The levels on which queries are evaluated, largest first."""
        return sorted({of for one in self.every for of in (one.of_x, one.of_y)}, reverse=True)

    @cached_property
    def smallest_core(self) -> int:
        """The lowest level that the extremes come down to."""
        return min(family.core for family in self.every)

    @cached_property
    def at_core(self) -> dict[int, list[Family]]:
        """The kinds of pairs by the size of their core."""
        found = defaultdict(list)
        for family in self.every:
            found[family.core].append(family)
        return found

    @cached_property
    def steps_down(self) -> list[tuple[int, int]]:
        """The levels that the extremes of every size come down to, from that size itself on."""
        lowest = {size: size for size in self.sizes}
        for family in self.every:
            for size in (family.of_x, family.of_y):
                lowest[size] = min(lowest[size], family.core)
        return [(of, level) for of in self.sizes for level in range(of, lowest[of] - 1, -1)]

    @cached_property
    def lattice(self) -> Lattice:
        """All datasets of the levels."""
        return lattice_of(self.problem.universe, self.sizes[0], self.smallest_core)

    def evaluator(self, problem: Problem) -> Evaluator:
        """Return what evaluates the queries of a problem, that of the levels or part of it."""
        return Evaluator(
            problem.universe, problem.queries, self.sizes[0], self.smallest_core, self.timeout
        )

    @cached_property
    def datasets(self) -> int:
        """The number of distinct datasets on which queries are evaluated."""
        return sum(map(self.lattice.number, self.sizes))

    @cached_property
    def _widest(self) -> int:
        return max(map(self.lattice.number, range(self.smallest_core, self.sizes[0] + 1)))

    @cached_property
    def _kept(self) -> int:
        """How many cores extremes are kept for until those of the smaller datasets are there."""
        cores = {(f.larger, f.core) for f in self.every if f.core < f.smaller < f.larger}
        return sum(self.lattice.number(core) for _, core in cores)

    @property
    def _passing(self) -> int:
        """How many numbers a pass needs for a column: extremes of two levels, and some room.

        The room is for batches, and for memory that is free but not yet given back.
        """
        return 6 * self._widest + 2 * self._kept

    @cached_property
    def _over_a_core(self) -> int:
        """Bytes for the datasets of both sizes over one core, from which a pair is recovered."""
        values = len(self.lattice.counts)
        needed = [0]
        for family in self.every:
            over = sum(
                min(
                    self.lattice.number(size),
                    math.comb(values + size - family.core - 1, size - family.core),
                )
                for size in (family.of_x, family.of_y)
            )
            # Places, answers and sizes of gaps; where A and B are disjoint, the datasets too.
            needed.append(8 * over * (3 + (values if family.disjoint else 0)))
        return max(needed)

    @cached_property
    def bytes_per_query(self) -> int:
        """The memory that a query with one number needs during the search."""
        return 8 * (self.datasets + self._passing) + self._over_a_core

    def bytes_of(self, widths: Sequence[int | None], norm: Norm) -> int:
        """Return the memory that queries evaluated together need in a norm.

        `widths` says how many numbers each query answers; None stands for a single number.
        """
        numbers = widths.count(None)
        needed = [numbers * self._passing]
        for width in widths:
            if width is not None:
                columns = width_of(width, norm)
                needed.append(columns * (self.datasets + self._passing) + 3 * self._widest)
        # All answers are there while those of one query after the other are searched.
        held = numbers + sum(width for width in widths if width is not None)
        return 8 * (held * self.datasets + max(needed)) + self._over_a_core

    def together(self, options: Options) -> int:
        """Return how many queries are searched together."""
        fit = options.memory_limit // (4 * self.bytes_per_query)
        return max(1, min(_COLUMNS, fit, len(self.problem.queries)))

    def cost(self, options: Options) -> Cost:
        """Return what the search will take."""
        memory = self.bytes_per_query * self.together(options)
        memory += min(_LISTING_BYTES, 32 * WORD * self._widest)
        return Cost(memory)

    @cached_property
    def steps(self) -> int:
        """How many records are read, and how many answers are compared."""
        read = sum(self.lattice.number(size) * size for size in self.sizes)
        return len(self.problem.queries) * read + self.compared

    @cached_property
    def compared(self) -> int:
        """How many answers are compared."""
        values = len(self.lattice.counts)
        every = range(self.smallest_core, self.sizes[0] + 1)
        numbers = {level: self.lattice.number(level) for level in every}
        below = accumulate(
            (
                _most_pairs(numbers[level], numbers[level + 1], values, level)
                for level in every[:-1]
            ),
            initial=0,
        )
        passed = dict(zip(numbers, below, strict=True))
        lowest = dict(self.steps_down)
        compared = sum(2 * (passed[size] - passed[level]) for size, level in lowest.items())
        return len(self.problem.queries) * compared

    def too_wide(self, name: str, width: int, needed: int, options: Options) -> str:
        """Return why the answers of a query that is a vector do not fit into memory."""
        columns = width_of(width, self.problem.norm)
        need, room = told_apart(needed, options.memory_limit)
        return (
            f"enumeration would need about {need} for the {self.datasets:,} answers of "
            f"{name}, each of which becomes {columns} columns, more than "
            f"the memory limit of {room}; choose a smaller size or distance, fewer answers, or "
            f"{MORE_MEMORY}"
        )


def _most_pairs(datasets: int, larger: int, values: int, level: int) -> int:
    """Bound how many pairs there are of a dataset of a level and one with a record more."""
    return min(datasets * values, larger * min(values, level + 1))


def levels_of(problem: Problem, options: Options) -> Levels | Refusal:
    """Return the levels; refuse what would not fit into memory, or would take too many steps.

    Estimates decide where they are far beyond a limit; only what they leave is counted.
    """
    levels = Levels(problem, options.timeout)
    datasets, memory, steps = _estimated(levels)
    room = options.memory_limit
    if max(memory / room, steps / _STEPS) > _SURELY_MORE:
        text = f"about {datasets:.1e}" if datasets < math.inf else "more than 1e300"
    else:
        text, memory, steps = f"{levels.datasets:,}", levels.bytes_per_query, levels.steps
    if memory > room:
        need, there = told_apart(memory, room)
        cost = f"and need about {need}, more than the memory limit of {there}"
        # Where time is no obstacle, it says what would take it, after a look at the query.
        advice = more_memory(memory, *_time(levels)) if steps <= _STEPS else f", or {MORE_MEMORY}"
    elif steps > _STEPS:
        cost, advice = f"in about {steps:.0e} steps, more than the limit of {_STEPS:.0e}", ""
    else:
        return levels
    either = "," if advice.startswith(",") else ", or"
    return Refusal(
        f"enumeration would evaluate {text} datasets {cost}; choose a smaller size or distance"
        f"{either} a coarser universe with fewer distinct values{advice}",
        too_large=True,
    )


def _time(levels: Levels) -> tuple[float | None, int]:
    """Return about how many seconds a search takes, and how many datasets were evaluated for that.

    The time is unknown where the query fails.
    """
    evaluator = levels.evaluator(levels.problem)
    try:
        each, measured = seconds_each(evaluator, levels.sizes[0])
    except (SensitivityLabError, MemoryError):
        return None, 0
    return each * levels.datasets + levels.compared / _COMPARED_IN_A_SECOND, measured


def _estimated(levels: Levels) -> tuple[float, float, float]:
    """Return about how many datasets, bytes per query and steps a search needs, or fewer."""
    limits = levels.problem.universe.multiplicities(levels.sizes[0])
    some = levels.sizes[:: -(-len(levels.sizes) // _ESTIMATED)]
    universe, largest_size = levels.problem.universe, levels.sizes[0]
    numbers = {size: _about(universe, largest_size, size) for size in some}
    datasets = sum(numbers.values()) * len(levels.sizes) / len(some)
    # The number of datasets rises up to half of all records, and falls from there on.
    middle = min(max(int(limits.sum()) // 2, levels.smallest_core), levels.sizes[0])
    widest = _about(universe, largest_size, middle)
    read = sum(number * size for size, number in numbers.items())
    return datasets, 8 * (datasets + 6 * widest), len(levels.problem.queries) * read


@lru_cache(maxsize=1024)
def _about(universe: FiniteUniverse, largest_size: int, size: int) -> float:
    """Return about how many datasets of a size there are; many problems ask it of one universe."""
    return estimate(universe.multiplicities(largest_size), size)
