"""Exact smooth search for variance and standard deviation under replacement.

A pair of neighbors is ``C + p`` and ``C + q``, and in a best one p is at an end of the universe.
`smooth_cores` finds the cores C and the records q that can matter, for many distances at a time;
what its floats cannot tell apart is compared exactly here. See docs/proofs.md, "Smooth
sensitivity: variance and standard deviation, under replacement".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from sensitivity_lab import running
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Kind, LocalProblem, SmoothProblem
from sensitivity_lab.search.engine import (
    Cost,
    LocalMaxima,
    LocalMaximumAtDistance,
    Options,
    Plan,
    Refusal,
    furthest,
)
from sensitivity_lab.search.memory import WORD, IntegerBytes, of_int, of_pairs
from sensitivity_lab.search.rising import rising
from sensitivity_lab.universes.relations import Bounded
from sensitivity_lab.universes.universe import of_numbers

from .global_max import COVERS
from .local_max import both_ends
from .smooth_cores import BITS, SHARP, Pairs, bits_needed
from .smooth_states import Cores

_FIRST, _MOST = 1, 64
"""So many distances are searched at first and at most together."""


class SmoothVariance:
    """The engine: exact for variance and standard deviation, any ddof, under replacement.

    Notes
    -----
    Let m be the number of distinct values of the universe, and T the number of distances up to the
    last one that can matter, at most the size n. The variance takes O(T log m) steps. The standard
    deviation takes O(T log m) for every core whose bound reaches the best pair, of at most 4 m per
    distance. Memory: O(m), and some 10 MB for the distances that are searched at a time.
    """

    name = "variance"
    kind: Kind = "smooth"
    covers = COVERS
    reach = "bounded"

    def plan(self, problem: SmoothProblem, options: Options) -> Plan[LocalMaxima] | Refusal:
        """Plan the search; refuse other queries, adding or removing, and numbers too long."""
        query = problem.query
        if query.moment != "variance":
            return Refusal.of_query(self.name, self.covers, query.name)
        if not problem.replace:
            return Refusal(
                f"{self.name} covers the smooth sensitivity of {query.name} for the bounded "
                "relation only: for adding and removing no list of patterns is proved; use "
                "neighbors='bounded', or noise for the global sensitivity over all sizes"
            )
        needed = bits_needed(problem)
        if needed > BITS:
            return Refusal(
                f"{self.name} compares numbers of up to {BITS:,} bits, and the squared deviations "
                f"of {problem.size:,} of these records have up to {needed:,}; round the records, "
                "or divide out what they have in common"
            )
        return Plan(partial(_solve, problem, options.progress), Cost(_bytes(problem, needed)))


def _bytes(problem: SmoothProblem, bits: int) -> int:
    """Return what the search needs: records on two sides, with sums, and distances at a time."""
    integers, values, size = IntegerBytes.of(problem.universe), len(problem.x), problem.size
    number = WORD if bits < 63 else of_int(bits)
    one = WORD if bits < 63 else of_int(integers.bits)
    # On each of two sides the sums, and the sums of squares, of x and outside; once more for all.
    sums = [of_int(power * integers.bits + size.bit_length()) for power in (1, 2)]
    held = integers.kept + 2 * one + 3 * (2 * WORD if number == WORD else sum(sums)) + 8 * WORD
    outside = int((problem.universe.multiplicities(size + 1) - problem.x).sum())
    block = 6 * min(_MOST, min(size, outside) + 1)
    rows = block * 640 * max(number, 2 * WORD) // (1 if problem.query.root else 4)
    rises = 1000 * min(size + 1, _MOST)
    return max(integers.peak + integers.kept, held) * values + rows + rises + of_pairs(problem)


def _solve(problem: SmoothProblem, progress: bool | None) -> LocalMaxima:
    """Return the local maxima up to the distance at which the problem stops, or the last one."""
    if problem.size == 1:
        return _of_one(problem)
    query, size = problem.query, problem.size
    integers, unit = of_numbers(problem.universe).integers
    # What n times the squared deviations of n records are divided by.
    divisor = size * (size - Fraction(query.ddof)) * unit**2
    apart = int(integers[-1] - integers[0])
    # With D the squared deviations of C, at least `least`, those of C + p are at most larger by
    # (n - 1)/n times the squared distance of p from C's mean, and those of C + q are not smaller.
    cores = Cores.of(problem)
    least = Fraction(size * cores.least_deviations(), size - 1) if query.root else Fraction(0)
    most = Fraction((size - 1) * apart**2)
    bound = Difference((least + most) / divisor, least / divisor, query.root)
    with running.counter("distances", progress, cores.last + 1) as count:
        return rising(problem, _found(cores, divisor, count), bound)


def _of_one(problem: SmoothProblem) -> LocalMaxima:
    """Return the local maximum where datasets have one record: all variances are 0."""
    at_x = LocalProblem(problem.universe, problem.query, Bounded(1), problem.x)
    finding = furthest(at_x, both_ends(at_x))
    nothing = Difference(Fraction(0), Fraction(0), problem.query.root)
    first = LocalMaximumAtDistance(0, nothing, lambda: (finding.x, finding.y))
    return LocalMaxima((first,), 0, 0)


def _found(
    cores: Cores, divisor: Fraction, count: Callable[[int], object]
) -> Iterator[LocalMaximumAtDistance | None]:
    """Yield for each distance the z with the largest local sensitivity, None if none is larger."""
    root = cores.root
    best = Difference(Fraction(0), Fraction(0), root)
    start, block, at_least = 0, _FIRST, -np.inf
    while start <= cores.last:
        stop = min(start + block, cores.last + 1)
        found = cores.pairs(start, stop, at_least)
        for distance in range(start, stop):
            entry: LocalMaximumAtDistance | None = None
            for pairs, row in _in_order(found, distance):
                if distance and pairs.worth[row] < at_least:
                    break
                larger, smaller = int(pairs.larger[row]), int(pairs.smaller[row])
                gap = Difference(Fraction(larger), Fraction(smaller), root)
                if (entry is None and not distance) or gap > best:
                    best, at_least = gap, pairs.worth[row] * (1 - SHARP)
                    real = Difference(larger / divisor, smaller / divisor, root)
                    pair = partial(pairs.datasets, row)
                    entry = LocalMaximumAtDistance(distance, real, pair)
            count(1)
            yield entry
        start, block = stop, min(2 * block, _MOST)


def _in_order(found: list[Pairs], distance: int) -> list[tuple[Pairs, int]]:
    """Return the pairs at a distance, those with the largest worth first."""
    rows = [
        (pairs, int(row))
        for pairs in found
        for row in range(*np.searchsorted(pairs.distance, [distance, distance + 1]))
    ]
    return sorted(rows, key=lambda pair: -pair[0].worth[pair[1]])
