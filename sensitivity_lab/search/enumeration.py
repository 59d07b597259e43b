"""Exact search by enumeration: any real-valued query, each distinct dataset evaluated once.

For a core C let hi_t(C) and lo_t(C) be the largest and smallest answers over the datasets of size
t that contain C. For x of size n with i records removed and j added, y has m = n - i + j records
and the sensitivity is the maximum over |C| = n - i of hi_n(C) - lo_m(C) and hi_m(C) - lo_n(C). No
pair is listed: hi and lo come down the lattice one level at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.listing import neighboring_datasets
from sensitivity_lab.neighbors import Relation, multiplicities_of
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import Query

from .engine import Finding, Options, Refusal
from .evaluation import Evaluator, evaluate_levels, lattice_of
from .gaps import Family, Finder, GapFinder, Pair, best_pair
from .lattice import Floats, Lattice, estimate
from .searched import Searched
from .vectors import VectorFinder

_COUNTABLE = 1e12
"""Up to so many datasets are counted exactly; more fit into no memory, and are estimated."""

_COLUMNS = 8
"""Queries share a pass down the lattice in groups of at most so many; more would not be faster."""


@dataclass(frozen=True)
class Plan:
    """Which levels a problem needs, and what that costs.

    Attributes
    ----------
    families : dict
        By relation, the kinds of pairs to search: sizes of x, y and core.
    sizes : list of int
        The levels on which queries are evaluated, largest first.
    datasets : int
        The number of distinct datasets on those levels.
    bytes_per_query : int
        The memory that a query needs during the search.
    """

    families: dict[Relation, list[Family]]
    sizes: list[int]
    datasets: int
    bytes_per_query: int

    @classmethod
    def of(cls, problem: Problem) -> Plan:
        """Plan the search, without doing any of it."""
        families = {relation: _families(problem, relation) for relation in problem.neighbors}
        every = {family for of_one in families.values() for family in of_one}
        sizes = _sizes(problem)
        lattice = lattice_of(problem.universe, problem.largest)
        datasets = sum(map(lattice.number, sizes))
        levels = range(min(family.core for family in every), sizes[0] + 1)
        widest = max(map(lattice.number, levels))
        kept = sum(lattice.number(f.core) for f in every if f.core < f.smaller < f.larger)
        return cls(families, sizes, datasets, 8 * (datasets + 5 * widest + 2 * kept))


class Enumeration:
    """The engine: exact for every query, at the cost of listing every dataset once.

    Notes
    -----
    Time: an evaluation per distinct dataset of the sizes of x and y, then about 2 comparisons per
    core, addable value and level. Memory: 8 bytes per dataset and query, and as much again for a
    few levels.
    """

    name = "enumeration"

    def refusal(self, problem: Problem, options: Options) -> Refusal | None:
        """Refuse where the search would not fit into memory."""
        limits = problem.universe.multiplicities(problem.largest).tolist()
        about = math.prod(limit + 1.0 for limit in limits)
        if about > _COUNTABLE:
            about = sum((estimate(limits, size) for size in _sizes(problem)), 0.0)
        memory: float
        if about > _COUNTABLE:
            datasets = f"about {about:.1e}" if about < math.inf else "more than 1e300"
            memory = 8 * about
        else:
            plan = Plan.of(problem)
            datasets, memory = f"{plan.datasets:,}", plan.bytes_per_query
        if memory <= options.memory_limit:
            return None
        return Refusal(
            f"enumeration would evaluate {datasets} datasets and need about {_bytes(memory)}, more "
            f"than the memory limit of {_bytes(options.memory_limit)}; choose a smaller size or "
            "distance, a coarser universe with fewer distinct values, or a larger memory_limit",
            too_large=True,
        )

    def solve(self, problem: Problem, options: Options) -> list[list[Finding]]:
        """Return a finding for every query (outer list) and every relation (inner list)."""
        plan = Plan.of(problem)
        together = max(1, min(_COLUMNS, options.memory_limit // (4 * plan.bytes_per_query)))
        findings: list[list[Finding]] = []
        for first in range(0, len(problem.queries), together):
            group = problem.only(problem.queries[first : first + together])
            findings += _solve_group(group, plan, options)
        return findings


def _sizes(problem: Problem) -> list[int]:
    """Return the sizes of all datasets x and y, largest first."""
    every = {
        of
        for relation in problem.neighbors
        for size, (removed, added) in problem.changes(relation)
        for of in (size, size - removed + added)
    }
    return sorted(every, reverse=True)


def _bytes(number: float) -> str:
    """Return a number of bytes in words."""
    if number >= 2**50:
        return f"{number / 2**30:.0e} GiB" if number < math.inf else "more than 1e300 bytes"
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if number >= size:
            return f"{number / size:,.1f} {unit}"
    return f"{number} bytes"


def _families(problem: Problem, relation: Relation) -> list[Family]:
    """Return the kinds of pairs that a relation needs.

    Pairs at most k apart may share records of A and B, so a change (i, j) covers (i-1, j-1). At
    exactly k they may not, unless A or B is empty.
    """
    changes = problem.changes(relation)
    found = []
    for size, (removed, added) in changes:
        if not relation.exactly and (size, (removed + 1, added + 1)) in changes:
            continue
        disjoint = relation.exactly and removed > 0 and added > 0
        found.append(Family(size, size - removed + added, size - removed, disjoint))
    return found


def _solve_group(problem: Problem, plan: Plan, options: Options) -> list[list[Finding]]:
    """Solve a problem whose queries are evaluated together."""
    evaluator = Evaluator(problem.universe, problem.queries, problem.largest)
    answers = [Searched.of(of_one) for of_one in evaluate_levels(evaluator, plan.sizes, options)]
    lattice = lattice_of(problem.universe, problem.largest)
    is_vector = [of_one.floats[plan.sizes[0]].ndim == 2 for of_one in answers]
    numbers = [place for place, vector in enumerate(is_vector) if not vector]
    findings: dict[int, list[Finding]] = {}
    if numbers:
        together = {
            size: np.column_stack([answers[place].floats[size] for place in numbers])
            for size in plan.sizes
        }
        queries = tuple(problem.queries[place] for place in numbers)
        searched = [answers[place] for place in numbers]
        finder = GapFinder(replace(evaluator, queries=queries), lattice, together, searched)
        pairs = _sweep(finder, lattice, together, plan)
        for column, place in enumerate(numbers):
            findings[place] = _findings(problem, problem.queries[place], plan, pairs, column)
    for place, query in enumerate(problem.queries):
        if is_vector[place]:
            vectors = VectorFinder(problem, query, lattice, answers[place])
            _check_memory(query, plan, vectors.width, options)
            pairs = _sweep(vectors, lattice, vectors.columns(), plan)
            findings[place] = _findings(problem, query, plan, pairs, 0)
    return [findings[place] for place in range(len(problem.queries))]


def _check_memory(query: Query, plan: Plan, width: int, options: Options) -> None:
    """Raise TooLargeError if the answers' numbers are too many for the memory limit."""
    needed = plan.bytes_per_query * width
    if needed > options.memory_limit:
        raise TooLargeError(
            f"enumeration would need about {_bytes(needed)} for the {plan.datasets:,} answers of "
            f"{query.name}, each of which becomes {width} columns, more than the memory limit of "
            f"{_bytes(options.memory_limit)}; choose a smaller size or distance, fewer answers, or "
            "a larger memory_limit"
        )


def _findings(
    problem: Problem, query: Query, plan: Plan, pairs: dict[Family, list[Pair]], column: int
) -> list[Finding]:
    """Return a finding for every relation, from the best pairs of a column."""
    lattice = lattice_of(problem.universe, problem.largest)
    return [
        _finding(problem, query, relation, [pairs[family][column] for family in families], lattice)
        for relation, families in plan.families.items()
    ]


def _sweep(
    finder: Finder, lattice: Lattice, answers: dict[int, Floats], plan: Plan
) -> dict[Family, list[Pair]]:
    """Bring the extremes of every level down to the cores, and find the best pairs there.

    Extremes are kept as columns [hi, -lo], so that both come down as maxima.
    """
    every = {family for of_one in plan.families.values() for family in of_one}
    pairs: dict[Family, list[Pair]] = {}
    kept: dict[tuple[int, int], Floats] = {}
    for size in plan.sizes:
        mine = [family for family in every if family.larger == size]
        lowest = min(
            (f.core for f in every if size in (f.larger, f.smaller) and f.core < size), default=size
        )
        extremes = np.hstack([answers[size], -answers[size]])
        for level in range(size, lowest - 1, -1):
            if level < size:
                extremes = lattice.maximum_below(extremes, level)
            for family in every:
                if family.core != level:
                    continue
                if family in mine and family.smaller == size:
                    pairs[family] = finder.find(family, extremes, extremes)
                elif family in mine and family.smaller == level:
                    low = np.hstack([answers[level], -answers[level]])
                    pairs[family] = finder.find(family, extremes, low)
                elif family in mine:
                    kept[size, level] = extremes
                elif family.smaller == size and level < size:
                    pairs[family] = finder.find(family, kept[family.larger, level], extremes)
    return pairs


def _finding(
    problem: Problem,
    query: Query,
    relation: Relation,
    pairs: Sequence[Pair],
    lattice: Lattice,
) -> Finding:
    """Return the best of the pairs of a relation's families; the first of equals."""
    best = best_pair(pairs)
    y = best.y
    if np.array_equal(best.x, y):
        # The query never changes: any neighbor of x proves it.
        x = problem.universe.dataset(best.x)
        y = multiplicities_of(
            next(neighboring_datasets(x, problem.universe, relation)), problem.universe
        )
    sizes = {size for f in _families(problem, relation) for size in (f.of_x, f.of_y)}
    if best.answers is not None:
        for data, answer in zip((best.x, best.y), best.answers, strict=True):
            query.check_answer(problem.universe, data, answer)
    # What a function of many rows adds up in another order is stated as of one row.
    answers = None if query.vectorized else best.answers
    return Finding(best.x, y, answers, sum(map(lattice.number, sizes)))
