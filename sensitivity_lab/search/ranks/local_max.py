"""Exact local search for any L-statistic: x is fixed, y is any of its neighbors.

The answer on x is fixed, so the largest and the smallest answer on y are enough. Walk along the
records of x and those outside it, in ascending order: a record of x is kept or removed, one outside
is added or not. With r removed and s added so far, the next record of y has the rank (records of x
so far) - r + s, so (r, s) is all that the rest of the walk needs to know (docs/proofs.md, "Any
L-statistic").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.queries.base import denominator_of
from sensitivity_lab.queries.order_statistics import at_ranks
from sensitivity_lab.search.engine import (
    BothEnds,
    Cost,
    End,
    Ends,
    Finding,
    Options,
    Plan,
    Refusal,
    local_plan,
)
from sensitivity_lab.search.layouts import WORD, IntegerBytes, bytes_of_pairs
from sensitivity_lab.universes.relations import Multiplicities, RemovedAdded, repeated
from sensitivity_lab.universes.universe import of_numbers

from .global_max import COVERS, by_rank

MAX_STEPS = 100_000_000
"""The most states that a search may look at altogether; that takes some minutes."""


class LocalRanks:
    """The engine: exact for any L-statistic under every relation.

    Notes
    -----
    Changes that lead to one size, of up to i removed and j added records, take N (i + 1) (j + 1)
    steps of exact arithmetic together, and as many bytes.
    """

    name = "ranks"
    kind: Kind = "local"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: LocalProblem, options: Options) -> Plan[Finding] | Refusal:
        """Plan the search; refuse queries without weights by rank, and too many steps."""
        if not problem.universe.numeric:
            return Refusal(f"{self.name} covers numbers, not rows", of_kind=True)
        sizes = {problem.size - removed + added for removed, added in problem.changes}
        if any(problem.query.weights(size) is None for size in sizes):
            return Refusal.of_query(self.name, self.covers, problem.query.name)
        records = problem.size + int(problem.outside.sum())
        each = [
            records
            * (max(removed for removed, _ in some) + 1)
            * (max(added for _, added in some) + 1)
            for some in _by_size(problem.changes)
        ]
        if 2 * sum(each) > MAX_STEPS:
            return Refusal(
                f"{self.name} would look at {2 * sum(each):,} states, more than {MAX_STEPS:,}; "
                "choose fewer records, or a smaller distance",
                too_large=True,
            )
        cost = Cost(max(each) + _bytes(problem, sizes, records))
        return local_plan(problem, partial(both_ends, problem), cost)


def _bytes(problem: LocalProblem, sizes: set[int], records: int) -> int:
    """Return what is there besides the choices: records, weights by rank, and the pair."""
    integers = IntegerBytes.of(problem.universe)
    weights = 16 * WORD * sum(len(problem.query.weights(size) or ()) for size in sizes)
    by_rank = 5 * WORD * (problem.size + max(sizes))
    values = problem.universe.number * (integers.peak + 4 * WORD)
    return weights + by_rank + values + 5 * WORD * records + bytes_of_pairs(problem)


def _by_size(changes: Sequence[RemovedAdded]) -> list[list[RemovedAdded]]:
    """Return changes in lists of those that lead to datasets of one size."""
    found: dict[int, list[RemovedAdded]] = {}
    for removed, added in changes:
        found.setdefault(added - removed, []).append((removed, added))
    return list(found.values())


def both_ends(problem: LocalProblem) -> BothEnds:
    """Return the answer on x, and the least and the greatest answer of every change."""
    integers, unit = of_numbers(problem.universe).integers
    records = repeated(integers, problem.x)
    weights = problem.query.weights(len(records)) or ()
    of_x = at_ranks(weights, lambda rank: records[rank], unit)
    ends = (one for some in _by_size(problem.changes) for one in _ends(problem, some))
    return BothEnds(of_x, ends)


def _ends(problem: LocalProblem, changes: Sequence[RemovedAdded]) -> Iterator[Ends]:
    """Yield the ends of changes that lead to datasets of one size."""
    most = max(removed for removed, _ in changes), max(added for _, added in changes)
    integers, unit = of_numbers(problem.universe).integers
    # Where values are equal, x and what is outside may come in any order.
    both = np.column_stack([problem.x, np.minimum(problem.outside, most[1])])
    values = repeated(repeated(np.arange(len(integers)), 2), both.ravel())
    inside = repeated(np.tile([True, False], len(integers)), both.ravel())
    found: list[list[End]] = []
    for sign in (-1, 1):
        weights, below = _padded(problem, problem.size - most[0] + most[1], sign)
        sums, taken = _walk(integers[values], inside, weights, most)
        found.append([])
        for change in changes:
            moved = _followed(inside, taken, change)
            answer = Fraction(sign * sums[change], below * unit)
            of_y = partial(_neighbor, problem.x, values[moved], inside[moved])
            found[-1].append(End(answer, of_y))
    for (removed, added), lower, upper in zip(changes, *found, strict=True):
        yield Ends(removed, added, lower, upper)


def _neighbor(
    x: Multiplicities, values: NDArray[np.intp], inside: NDArray[np.bool_]
) -> Multiplicities:
    """Return x without some of its records, and with some from outside."""
    y: Multiplicities = x.copy()
    np.subtract.at(y, values[inside], 1)
    np.add.at(y, values[~inside], 1)
    return y


def _padded(problem: LocalProblem, size: int, sign: int) -> tuple[Integers, int]:
    """Return the weights by rank, and zeros for ranks that do not occur, over a denominator."""
    weights = problem.query.weights(size) or ()
    below = denominator_of(weights)
    return by_rank(weights, problem.size + size + 1, sign * below), below


def _walk(
    records: Integers, inside: NDArray[np.bool_], weights: Integers, change: RemovedAdded
) -> tuple[Integers, NDArray[np.bool_]]:
    """Return the largest weighted sums, and which records are removed or added on the way there.

    The axes of `sums` are r, how many records of x are removed, and s, how many from outside are
    added, up to those of a change. See "One dataset" in docs/proofs.md.
    """
    removed, added = change
    shape = (removed + 1, added + 1)
    never = -1 - int(abs(records).max()) * int(abs(weights).sum())  # below every sum
    sums = np.full(shape, never, dtype=object)
    sums[0, 0] = 0
    shift = np.arange(added + 1)[None, :] - np.arange(removed + 1)[:, None]
    taken = np.zeros((len(records), *shape), dtype=bool)
    of_x = others = 0  # records of x so far, and from outside
    # Always: `sums[r, s]` is the largest weighted sum of y over the records before `place`, and
    # `taken[place, r, s]` says whether the record at `place` is removed or added on the way there.
    # It is `never` where r > of_x or s > others. Such a state has no rank for the record: were the
    # record added to it again and again, `never` would rise above true sums.
    for place, (record, is_inside) in enumerate(zip(records, inside, strict=True)):
        reached = slice(of_x + 1), slice(others + 1)
        with_it = sums.copy()
        with_it[reached] += weights[of_x + shift[reached]] * record
        if is_inside:
            of_x += 1
            # A record of x is kept, which adds it at its rank, or removed: then the state r becomes
            # r + 1.
            after, offered, where = with_it, sums[:-1], (slice(1, None), slice(None))
        else:
            others += 1
            # One from outside is left, or added, which leads from s to s + 1.
            after, offered, where = sums.copy(), with_it[:, :-1], (slice(None), slice(1, None))
        better = (offered > after[where]).astype(bool)
        taken[place][where] = better
        after[where] = np.where(better, offered, after[where])
        sums = after
    return sums, taken


def _followed(
    inside: NDArray[np.bool_], taken: NDArray[np.bool_], change: RemovedAdded
) -> NDArray[np.intp]:
    """Follow the best way back from the last record to the first; return what is moved."""
    chosen = []
    state = list(change)
    for place in reversed(range(len(inside))):
        if taken[place][tuple(state)]:
            chosen.append(place)
            state[0 if inside[place] else 1] -= 1
    return np.array(chosen, dtype=np.intp)
