"""Exact search for sums of a function of a record: only what changes matters.

With ``f(x) = sum of g(r) over the records r of x``, ``f(x) - f(y)`` is the sum of g over A less
that over B, whatever the core is. The norm is convex, so an optimal A has the records that reach
furthest in some direction, and B those that reach furthest in the opposite one. For Linf and L1 the
directions are known: the coordinates and the signs. For L2, all records that are among the furthest
in some direction are paired. In a local search A is taken from x and B from outside x, so they
share no record. The proofs are in docs/proofs.md, "Sums of a function of a record (`row_sums`)" and
"Local sensitivity: sums of a function of a record, and one column".

Records with equal contributions are interchangeable: they form one *group*, with a count. A *part*,
such as the records that only x has, is a number of records per group. In arrays, the axis g is the
group and the axis d the number of the answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import product
from math import comb, prod
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import Norm
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.metrics.vectors import distance
from sensitivity_lab.problem import Kind, LocalProblem, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.base import Sums
from sensitivity_lab.running import poll
from sensitivity_lab.universes.relations import (
    Multiplicities,
    RemovedAdded,
    smallest,
    smallest_of_each,
)
from sensitivity_lab.universes.universe import FiniteUniverse

from .contenders import Contenders
from .engine import (
    BothEnds,
    Cost,
    End,
    Ends,
    Finding,
    Findings,
    Options,
    Plan,
    Refusal,
    local_plan,
    one_by_one,
)
from .lattice import Floats, Indices, Lattice
from .layouts import WORD, bytes_of_pairs

Ranks = NDArray[np.int64]
"""Places of contributions in the order of each coordinate, shape (g, d)."""

Part = NDArray[np.int64]
"""How many records of each group, shape (g,)."""

_WIDE = 6
"""How many coordinates at most are considered to find records that cannot matter."""

_MANY = 16
"""A coordinate is considered if it has more values than this."""


@dataclass(frozen=True, eq=False)
class Contributions:
    """What the records of a universe contribute to a sum over records.

    Attributes
    ----------
    vectors : ndarray of Python ints, shape (g, d)
        The distinct contributions, times `unit`: integers.
    floats : ndarray of float64, shape (g, d)
        The same in floats, rounded where they must be.
    counts : ndarray of int64, shape (g,)
        How many records contribute each.
    group : ndarray of intp, shape (m,)
        The group of each distinct record.
    unit : int
    largest : float
        At least the largest absolute value of `floats`.
    unrounded : bool
        Whether `floats` are `vectors` without rounding, and scores in them exact.
    """

    vectors: NDArray[np.object_]
    floats: Floats
    counts: Part
    group: Indices
    unit: int
    largest: float
    unrounded: bool

    def total(self, part: Part) -> tuple[Fraction, ...]:
        """Return what a part contributes, exactly."""
        held = np.flatnonzero(part)
        sums = (self.vectors[held] * part[held, None].astype(object)).sum(axis=0)
        return tuple(Fraction(number, self.unit) for number in np.atleast_1d(sums))

    def extreme(self, direction: Floats, number: int) -> Part:
        """Return the part of `number` records with the largest scores in a direction.

        The direction has coordinates -1, 0 and 1. Scores are exact. This is an optimal A for a norm
        whose directions are known: "Linf and L1" in docs/proofs.md.
        """
        if self.unrounded:
            scores = self.floats @ direction
        else:
            scores = self.vectors @ direction.astype(int).astype(object)
        # Groups by falling score; each gives all its records until `number` are taken.
        order = np.argsort(-scores, kind="stable")
        part = np.zeros_like(self.counts)
        part[order] = smallest(self.counts[order], number)
        return part

    @lru_cache(maxsize=16)  # noqa: B019 - lives in the cache of `_contributions` itself
    def outer(self, number: int) -> Indices:
        """Return groups that have the `number` furthest records of every direction.

        The *wide* coordinates are those of many values, W in "Other cases" of docs/proofs.md. Two
        records are comparable if they differ in wide coordinates only. A record is left out if,
        for all signs of these coordinates, at least `number` comparable others are at least as far
        in every one of them.
        """
        ranks = self._ranks
        wide = np.argsort(-ranks.max(axis=0), kind="stable")[:_WIDE]
        wide = wide[ranks[:, wide].max(axis=0) >= _MANY]
        # Groups that agree in all other coordinates are one fibre.
        _, fibre = np.unique(np.delete(ranks, wide, axis=1), axis=0, return_inverse=True)
        matters = np.zeros(len(ranks), dtype=bool)
        for signs in product((1, -1), repeat=len(wide)):
            matters[self._furthest(ranks[:, wide] * signs, fibre.ravel(), number)] = True
        return np.flatnonzero(matters)

    def _furthest(self, seen: Ranks, fibre: Indices, number: int) -> list[int]:
        """Return the groups with fewer than `number` records of their fibre beyond them.

        `seen` are the wide coordinates times signs, shape (g, w). A fibre is a set of comparable
        groups.
        """
        # Groups are visited by the sum of their coordinates, so those beyond a group come before
        # it. If one of these was left out, then enough kept groups are beyond it, and so beyond
        # this group too. So it is enough to compare with kept groups.
        kept: dict[int, Indices] = {}
        for place in np.argsort(-seen.sum(axis=1), kind="stable"):
            rivals = kept.get(fibre[place], np.empty(0, dtype=np.intp))
            beyond = rivals[(seen[rivals] >= seen[place]).all(axis=1)]
            if self.counts[beyond].sum() < number:
                kept[fibre[place]] = np.append(rivals, place)
        return [int(place) for places in kept.values() for place in places]

    @property
    def bytes(self) -> int:
        """How much memory they take, and what makes them."""
        groups, numbers = self.vectors.shape
        shared = self.largest <= Fraction(256, self.unit)  # as small ints are
        number = 0 if shared else 4 * WORD
        by_record = len(self.group) * (11 * WORD + numbers * (2 * WORD + number))
        return int(by_record + groups * (23 * WORD + numbers * (4 * WORD + number)))

    @cached_property
    def _ranks(self) -> Ranks:
        """The contributions by their order in each coordinate, shape (g, d)."""
        columns = [np.unique(column, return_inverse=True)[1] for column in self.vectors.T]
        return np.column_stack(columns)


def contributions_of(
    query: Query, universe: FiniteUniverse, limit: int, size: int | None
) -> Contributions | None:
    """Return what records contribute, each at most `limit` times; None if f is not such a sum.

    A mean is one among datasets of one size, which is None where x and y have two.
    """
    sums = query.sums(universe) if query.by_place(universe) else None
    units = None if sums is None else sums.units_at(size)
    if sums is None or units is None:
        return None
    return _contributions(sums, units, universe, limit)


@lru_cache(maxsize=16)
def _contributions(
    sums: Sums, units: tuple[int, ...], universe: FiniteUniverse, limit: int
) -> Contributions:
    """Return what records contribute; cached by the identity of the sums."""
    unit = math.lcm(*units)
    columns = [one.column for one in sums.linear or ()]
    terms = sums.terms[:, columns] * np.array([unit // own for own in units], dtype=object)
    places: dict[tuple[int, ...], int] = {}
    group = np.array(
        [places.setdefault(tuple(row), len(places)) for row in terms.tolist()], dtype=np.intp
    )
    vectors = np.empty((len(places), terms.shape[1]), dtype=object)
    vectors[:] = list(places)
    counts = np.bincount(group, weights=universe.multiplicities(limit)).astype(np.int64)
    largest = int(abs(vectors).max())
    # Dividing by a power of two changes no comparison, and keeps large numbers in range.
    shift = max(0, largest.bit_length() - 53)
    floats = (vectors / (1 << shift)).astype(np.float64)
    # A direction has coordinates -1, 0 and 1: sums of as many terms are exact below 2**53.
    unrounded = shift == 0 and largest * terms.shape[1] <= 2**53
    return Contributions(
        vectors=vectors,
        floats=floats,
        counts=counts,
        group=group,
        unit=unit,
        largest=float(np.abs(floats).max()),
        unrounded=unrounded,
    )


_SIGNED = 10
"""With at most this many coordinates, L1 is searched through all their signs."""

MOST_PAIRS = 200_000_000
"""The most pairs (A, B) that are compared for one change."""

_PAIRS_AT_ONCE = 1 << 20
"""About how many pairs are compared at a time."""

Parts = tuple[Part, Part]


COVERS = (
    "sums of a function of a record (counts, sums, histograms and their stacks), and means of "
    "columns without missing values where neighbors keep the size"
)


class RowSums:
    """The engine: exact for sums of a function of a record, in every norm.

    Notes
    -----
    For contributions of d numbers, Linf takes 2 d sorts per change, and L1 of up to 10 numbers
    2**d sorts, whatever k. L2, and L1 of more numbers, compare all pairs (A, B) of contributions
    that can matter: about ``c**(i + j)`` pairs for a histogram of c categories.
    """

    name = "row_sums"
    kind: Kind = "global"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse other queries, and too many pairs."""
        plan = one_by_one(problem, self._plan)
        if isinstance(plan, Refusal):
            return plan
        return Plan(plan.solve, Cost(plan.cost.bytes + bytes_of_pairs(problem)))

    def _plan(self, problem: Problem) -> Plan[Findings] | Refusal:
        """Plan the search for one query and one relation."""
        (query,), (relation,) = problem.queries, problem.neighbors
        held: Held = {}
        memory = 0
        for size, change in problem.changes(relation):
            of_both = size if change[0] == change[1] else None
            found = contributions_of(query, problem.universe, size + change[1], of_both)
            if found is None:
                return Refusal.of_query(self.name, self.covers, query.name)
            pairs = number_of_pairs(found, found, change, problem.norm)
            if pairs > MOST_PAIRS:
                where = f" for {query.name}, {relation}, {problem.norm}"
                return too_many(f"{pairs:,}", where)
            held[size, change] = found
            memory = max(memory, bytes_of(found, found, change, problem.norm))
        adds_up = query.adds_up(problem.universe)
        return Plan(lambda: [[_solve_sums(problem, held, adds_up)]], Cost(memory))


def bytes_of(of_a: Contributions, of_b: Contributions, change: RemovedAdded, norm: Norm) -> int:
    """Return what the search for one change needs."""
    if not number_of_pairs(of_a, of_b, change, norm):
        return of_a.bytes
    removed, added = change
    numbers = of_a.vectors.shape[1]
    rows = [
        comb(len(held.outer(number)) + number - 1, number) if number else 1
        for held, number in ((of_a, removed), (of_b, added))
    ]
    # Parts with their sums, and some pairs of them at a time: distances, gaps and squares.
    parts = sum(
        row * WORD * (3 * number + (number + 1) * numbers)
        for row, number in zip(rows, change, strict=True)
    )
    batch = min(rows[0] * rows[1], max(_PAIRS_AT_ONCE, rows[1]))
    return int(of_a.bytes + parts + 4 * WORD * batch)


def too_many(pairs: str, where: str = "") -> Refusal:
    """Return the refusal of a search that would compare too many pairs."""
    return Refusal(
        f"row_sums would compare {pairs} pairs of changed records{where}, more than "
        f"{MOST_PAIRS:,}; choose a smaller distance, a coarser universe, or the norm 'L1' or "
        "'Linf'",
        too_large=True,
    )


Held = dict[tuple[int, RemovedAdded], Contributions]
"""What records contribute, by the size of x and the change."""


def _solve_sums(problem: Problem, held: Held, adds_up: bool) -> Finding:
    """Return the pair that is furthest apart over all sizes and changes of a relation."""
    solved: dict[tuple[int, RemovedAdded], tuple[Difference, Parts]] = {}

    def best_of(size: int, change: RemovedAdded) -> tuple[Difference, Parts]:
        # Of counted records that add up the best change does not depend on the size.
        key = (0 if problem.universe.counts and adds_up else size, change)
        if key not in solved:
            solved[key] = _best(held[size, change], change, problem.norm)
        return solved[key]

    size, change = max(held, key=lambda asked: best_of(*asked)[0])
    _, parts = best_of(size, change)
    x, y = _datasets(problem, held[size, change], size, change, parts)
    return Finding(x, y, None, 0)


def _best(held: Contributions, change: RemovedAdded, norm: Norm) -> tuple[Difference, Parts]:
    """Return the parts A and B, disjoint, whose contributions are furthest apart."""
    found = ((apart(held, parts, norm), parts) for parts in candidates(held, held, change, norm))
    far, parts = max(found, key=itemgetter(0))
    return far, _made_disjoint(held, parts, norm)


def apart(held: Contributions, parts: Parts, norm: Norm) -> Difference:
    """Return how far the contributions of two parts are apart, exactly."""
    return distance(held.total(parts[0]), held.total(parts[1]), norm)


def _directions(held: Contributions, norm: Norm) -> list[Floats] | None:
    """Return directions of which one leads to an optimum; None if they are too many.

    For Linf these are plus and minus the axes, for L1 the vectors of signs ("Linf and L1" in
    docs/proofs.md).
    """
    numbers = held.vectors.shape[1]
    if norm == "Linf" or numbers == 1:
        return [sign * axis for axis in np.eye(numbers) for sign in (1.0, -1.0)]
    if norm == "L1" and numbers <= _SIGNED:
        return [np.array(signs) for signs in product((1.0, -1.0), repeat=numbers)]
    return None


def candidates(
    of_a: Contributions, of_b: Contributions, change: RemovedAdded, norm: Norm
) -> Iterator[Parts]:
    """Yield parts (A, B), among them the best up to a record that is in both.

    Parameters
    ----------
    of_a, of_b : Contributions
        The same contributions, with the counts of the records that A and B can have.
    change : tuple of two int
        How many records A and B have.
    norm : {"L1", "L2", "Linf"}
        The norm in which the parts are to be far apart.
    """
    removed, added = change
    directions = _directions(of_a, norm)
    if directions is not None:
        for direction in directions:
            yield of_a.extreme(direction, removed), of_b.extreme(-direction, added)
        return
    rows_a, rows_b = _parts(of_a, removed), _parts(of_b, added)
    groups = len(of_a.counts)
    for row_a, row_b in _PartPairs(of_a, norm, rows_a, rows_b).furthest():
        part_a, part_b = (
            np.bincount(row, minlength=groups).astype(np.int64)
            for row in (rows_a[row_a], rows_b[row_b])
        )
        yield part_a, part_b


def number_of_pairs(
    of_a: Contributions, of_b: Contributions, change: RemovedAdded, norm: Norm
) -> int:
    """Bound how many pairs (A, B) would be compared; 0 where directions are known."""
    if _directions(of_a, norm) is not None:
        return 0
    return prod(
        comb(len(held.outer(number)) + number - 1, number) if number else 1
        for held, number in zip((of_a, of_b), change, strict=True)
    )


def _parts(held: Contributions, number: int) -> Indices:
    """List the parts of `number` records that can matter, a row of groups each."""
    groups = held.outer(number)
    lattice = Lattice(held.counts[groups].tolist(), number)
    rows: Indices = groups[lattice.rows(number, 0, lattice.number(number))]
    return rows


class _PartPairs:
    """All pairs of some parts A with some parts B."""

    def __init__(self, held: Contributions, norm: Norm, of_a: Indices, of_b: Indices) -> None:
        self.norm = norm
        self.sums_a, self.sums_b = (held.floats[rows].sum(axis=1) for rows in (of_a, of_b))
        numbers = held.floats.shape[1]
        # `total` bounds every distance (for L2 its square). Below 2**53 all steps are exact
        # integers.
        widest = (of_a.shape[1] + of_b.shape[1]) * held.largest
        # A coordinate of a difference is at most the number of records times the largest
        # contribution.
        total = numbers * (widest**2 if norm == "L2" else widest)
        exact = held.unrounded and total < 2**53
        eps = float(np.finfo(np.float64).eps)
        self.error = 0.0 if exact else 8 * (numbers + of_a.shape[1] + of_b.shape[1]) * eps * total

    def furthest(self) -> list[tuple[int, int]]:
        """Return the pairs, a row of A and a row of B, that can be the furthest apart."""
        near = Contenders(self.error)
        rows = max(1, _PAIRS_AT_ONCE // len(self.sums_b))
        for start in range(0, len(self.sums_a), rows):
            poll()
            near.see(self._distances(self.sums_a[start : start + rows]))
        return [divmod(place, len(self.sums_b)) for place in near.places.tolist()]

    def _distances(self, sums: Floats) -> Floats:
        """Return the distances (for L2 their squares) of some A to all B."""
        far = np.zeros((len(sums), len(self.sums_b)))
        for one, other in zip(sums.T, self.sums_b.T, strict=True):
            gap = np.subtract.outer(one, other)
            far += gap * gap if self.norm == "L2" else np.abs(gap)
        return far


def _made_disjoint(held: Contributions, parts: Parts, norm: Norm) -> Parts:
    """Exchange records that are in both parts, without bringing the parts closer together.

    Let c be in both parts and e in neither. With e in place of c in A, or in B, the difference u
    becomes u + (e - c) or u - (e - c). By convexity one of these is not shorter than u: see
    "Disjoint" in docs/proofs.md.
    """
    a, b = parts
    while (over := np.flatnonzero(a + b > held.counts)).size:
        shared, free = over[0], np.flatnonzero(a + b < held.counts)[0]
        # A part with one record less of the shared group and one more of the free one. Each
        # exchange lowers the number of shared records.
        step = np.zeros_like(a)
        step[[free, shared]] = 1, -1
        a, b = max(((a + step, b), (a, b + step)), key=lambda pair: apart(held, pair, norm))
    return a, b


def _datasets(
    problem: Problem, held: Contributions, size: int, change: RemovedAdded, parts: Parts
) -> tuple[Multiplicities, Multiplicities]:
    """Return datasets x and y with these parts; the core is the first records that are left."""
    left = problem.universe.multiplicities(size + change[1]).copy()
    sides = []
    for part in parts:
        taken = smallest_of_each(left, held.group, part)
        left -= taken
        sides.append(taken)
    core = smallest(left, size - change[0])
    return core + sides[0], core + sides[1]


class LocalRowSums:
    """The engine: exact for sums of a function of a record, in every norm.

    Notes
    -----
    The same cost as `RowSums`, with the records of x for A and those outside for B.
    """

    name = "row_sums"
    kind: Kind = "local"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: LocalProblem, options: Options) -> Plan[Finding] | Refusal:
        """Plan the search; refuse other queries, and too many pairs."""
        sides = _sides(problem)
        if sides is None:
            return Refusal.of_query(self.name, self.covers, problem.query.name)
        pairs, left = 0, sorted(problem.changes, key=sum)
        while left and pairs <= MOST_PAIRS:
            pairs += number_of_pairs(*sides, left.pop(), problem.norm)
        if pairs > MOST_PAIRS:
            return too_many(f"{'at least ' if left else ''}{pairs:,}")
        memory = max(bytes_of(*sides, change, problem.norm) for change in problem.changes)
        cost = Cost(memory + bytes_of_pairs(problem))
        if sides[0].vectors.shape[1] == 1:
            return local_plan(problem, partial(_both_ends_of_sums, problem, sides), cost)
        return Plan(partial(_solve_local_sums, problem, sides), cost)


Sides = tuple[Contributions, Contributions]
"""What records contribute, counted in x and outside x."""


def _solve_local_sums(problem: LocalProblem, sides: Sides) -> Finding:
    """Return x and its furthest neighbor."""
    _, y = max(_neighbors_by_sums(problem, sides), key=itemgetter(0))
    return Finding(problem.x, y, None, 0)


def _both_ends_of_sums(problem: LocalProblem, sides: Sides) -> BothEnds:
    """Return the answer on x, and the least and the greatest one of every change.

    Answers are one number each: it is least where x loses the records that contribute most and
    gains those that contribute least.
    """
    of_x, outside = sides
    (answer,) = of_x.total(of_x.counts)

    def end_of(change: RemovedAdded, sign: float) -> End:
        parts = (
            outside.extreme(np.array([sign]), change[1]),
            of_x.extreme(-np.array([sign]), change[0]),
        )
        (more,), (less,) = (of_x.total(part) for part in parts)
        return End(
            answer + more - less, partial(_neighbor_by_parts, problem, sides, (parts[1], parts[0]))
        )

    ends = (Ends(*change, end_of(change, -1.0), end_of(change, 1.0)) for change in problem.changes)
    return BothEnds(answer, ends)


def _neighbor_by_parts(problem: LocalProblem, sides: Sides, parts: Parts) -> Multiplicities:
    """Return the neighbor that loses and gains parts."""
    removed = smallest_of_each(problem.x, sides[0].group, parts[0])
    added = smallest_of_each(problem.outside, sides[1].group, parts[1])
    y: Multiplicities = problem.x - removed + added
    return y


def _neighbors_by_sums(
    problem: LocalProblem, sides: Sides
) -> Iterator[tuple[Difference, Multiplicities]]:
    """Yield neighbors of x, among them the furthest one, with how far they are."""
    for change in problem.changes:
        for parts in candidates(*sides, change, problem.norm):
            yield apart(sides[0], parts, problem.norm), _neighbor_by_parts(problem, sides, parts)


def _sides(problem: LocalProblem) -> Sides | None:
    """Return what records contribute, counted in x and outside x; None if f is not such a sum."""
    most = max(added for _, added in problem.changes)
    size = problem.size if all(i == j for i, j in problem.changes) else None
    held = contributions_of(problem.query, problem.universe, problem.size + most, size)
    if held is None:
        return None
    of_x, outside = (
        replace(held, counts=np.bincount(held.group, weights=counts).astype(np.int64))
        for counts in (problem.x, problem.outside)
    )
    return of_x, outside
