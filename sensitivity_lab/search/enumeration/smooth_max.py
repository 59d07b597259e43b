"""Smooth search by the definition: every dataset, its distance and its local sensitivity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Kind, SmoothProblem
from sensitivity_lab.results.witness import ExactAnswer, difference_of, exact_answer
from sensitivity_lab.running import tracked
from sensitivity_lab.search.asked_again import SAMPLE, check_again
from sensitivity_lab.search.engine import (
    Cost,
    LocalMaxima,
    LocalMaximumAtDistance,
    Options,
    Plan,
    Refusal,
)
from sensitivity_lab.search.layouts import CALL, WORD
from sensitivity_lab.universes.counting import Numbers, estimate
from sensitivity_lab.universes.datasets import iter_datasets, iter_neighbors
from sensitivity_lab.universes.relations import Multiplicities

from .local_max import answers_on, check_width

MAX_DATASETS = 200_000
"""The most datasets that are listed."""

_SURE = 4.0
"""An estimate this many times over the limit decides; below that, datasets are counted."""

_BYTES = 700
"""About how many bytes a dataset needs, besides its numbers and its neighbors."""

_AT_ONCE = 256
"""So many distances are found at a time."""

_PAIR_BYTES = 3 * WORD
"""What a dataset around a core takes: in the core's list, and its place among neighbors."""


class SmoothEnumeration:
    """The engine: exact for every query, at the cost of listing every dataset once.

    Notes
    -----
    Time: one evaluation per dataset, and a few comparisons per dataset and value for numbers. For
    vectors, one comparison per pair of datasets with a common core.
    """

    name = "enumeration"
    kind: Kind = "smooth"
    covers = "any query"
    reach = "every relation"

    def plan(self, problem: SmoothProblem, options: Options) -> Plan[LocalMaxima] | Refusal:
        """Plan the search; refuse where there are too many datasets."""
        lowest, highest = problem.limits
        if highest == float("inf"):
            return Refusal(
                "enumeration needs a largest size of datasets; give sizes=(smallest, largest)"
            )
        limits = problem.universe.multiplicities(int(highest))
        each = _BYTES + 2 * WORD * len(limits)
        most = min(MAX_DATASETS, options.memory_limit // each)
        number, cores, values = 0, 0, len(limits)
        for size in range(lowest, int(highest) + 1):
            about = estimate(limits, size)
            if about > _SURE * (most + 1):
                text = f"about {about:.1e}" if about < math.inf else "more than 1e300"
            else:
                # Nobody's dataset has no core.
                core = max(size - 1, 0)
                numbers = Numbers(np.minimum(limits, size).tolist(), core, size)
                number += numbers.of(values, size)
                cores += numbers.of(values, core)
                text = f"at least {number:,}"
            if number > most or about > _SURE * (most + 1):
                return Refusal(
                    f"enumeration would evaluate {text} datasets, more than the limit of {most:,}; "
                    "choose a smaller size or a coarser universe with fewer distinct values",
                    too_large=True,
                )
        # Around every core are the datasets with one record more.
        around = number * min(values, int(highest)) * _PAIR_BYTES
        around *= 1 if problem.replace or problem.add_or_remove else 2
        memory = each * number + (_BYTES // 2 + WORD * values) * cores + around
        return Plan(partial(_solve, problem, options), Cost(CALL + memory))


def _solve(problem: SmoothProblem, options: Options) -> LocalMaxima:
    """Return the local maxima over all distances."""
    lattice = _Lattice.of(problem, options)
    best: dict[int, tuple[Difference, int, int]] = {}
    distances: list[int] = []
    every = range(len(lattice.datasets))
    for z in tracked(every, unit="datasets", progress=options.progress):
        gap, y = lattice.furthest(z)
        if z % _AT_ONCE == 0:
            distances = problem.distances(lattice.datasets[z : z + _AT_ONCE])
        distance = distances[z % _AT_ONCE]
        if distance not in best or best[distance][0] < gap:
            best[distance] = gap, z, y
    maxima: list[LocalMaximumAtDistance] = []
    pairs: dict[int, None] = {}
    for distance in sorted(best):
        gap, z, y = best[distance]
        if not maxima or gap > maxima[-1].gap:
            maxima.append(LocalMaximumAtDistance(distance, gap, partial(lattice.pair, z, y)))
            pairs |= dict.fromkeys((z, y))
    known = [(lattice.datasets[at], lattice.answers[at]) for at in list(pairs)[:SAMPLE]]
    check_again(problem.query, problem.universe, known)
    return LocalMaxima(tuple(maxima), max(best), len(lattice.datasets))


@dataclass(frozen=True)
class _Lattice:
    """All datasets, their answers, and for each one those of its neighbors that can matter.

    Attributes
    ----------
    datasets : list of ndarray of int64, shape (m,)
    answers : list of answers
    neighbors : list of list of int
        By dataset, the neighbors that can be furthest from it. Of those over one core, if answers
        are numbers, the ones with the smallest and the largest answer; if vectors, one per answer.
    """

    problem: SmoothProblem
    datasets: list[Multiplicities]
    answers: list[ExactAnswer]
    neighbors: list[list[int]]

    @classmethod
    def of(cls, problem: SmoothProblem, options: Options) -> _Lattice:
        """List the datasets and evaluate the query on each once."""
        sizes = range(problem.limits[0], int(problem.limits[1]) + 1)
        listed = list(chain.from_iterable(iter_datasets(problem.universe, n) for n in sizes))
        of_x = exact_answer(problem.query, problem.universe, problem.x)
        check_width(of_x, len(listed), problem.query.name, options)
        answers = answers_on(lambda: listed, len(listed), problem.query, problem.universe, options)
        place = {tuple(data.tolist()): number for number, data in enumerate(listed)}
        neighbors: list[list[int]] = [[] for _ in listed]
        if not problem.add_or_remove:
            members: dict[tuple[int, ...], list[int]] = {}
            for data, number in place.items():
                for core in _cores(data):
                    members.setdefault(core, []).append(number)
            for group in members.values():
                some = _that_matter(group, answers)
                for number in group:
                    neighbors[number] += some
        if not problem.replace:
            for data, number in place.items():
                for core in _cores(data):
                    if core in place:
                        neighbors[number].append(place[core])
                        neighbors[place[core]].append(number)
        return cls(problem, listed, answers, neighbors)

    def furthest(self, z: int) -> tuple[Difference, int]:
        """Return the local sensitivity of a dataset, and the neighbor that attains it."""
        query, norm = self.problem.query, self.problem.norm
        answer = self.answers[z]
        return max(
            (
                (difference_of(answer, self.answers[y], norm, query.root), y)
                for y in _that_matter(self.neighbors[z], self.answers)
            ),
            key=lambda found: found[0],
        )

    def pair(self, z: int, y: int) -> tuple[Multiplicities, Multiplicities]:
        """Return a dataset and a neighbor of it: of equal answers, one that is not itself."""
        if z != y:
            return self.datasets[z], self.datasets[y]
        universe = self.problem.universe
        # No record of the whole universe can be replaced, so its neighbors have one less.
        return self.datasets[z], next(iter_neighbors(self.datasets[z], universe, ((1, 1), (1, 0))))


def _cores(data: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield a dataset less one of its records, for each distinct value."""
    for value, count in enumerate(data):
        if count:
            yield (*data[:value], count - 1, *data[value + 1 :])


def _that_matter(group: Sequence[int], answers: Sequence[ExactAnswer]) -> list[int]:
    """Return those datasets of a group that can be furthest from some answer."""
    first = answers[group[0]]
    if isinstance(first, tuple) and len(first) > 1:
        return list({answers[number]: number for number in group}.values())
    # The squares of roots are in the order of the roots.
    return [min(group, key=answers.__getitem__), max(group, key=answers.__getitem__)]
