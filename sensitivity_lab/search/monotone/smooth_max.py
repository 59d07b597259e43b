"""Exact smooth search for sums and quantiles: two theories, one for each kind of query.

*Sum, mean and count.* Under replacement the answers of two neighbors differ by two records alone,
and within distance 1 these can be any two records of the universe. Under adding and removing a pair
is a core C and C with one record r more. The sum differs by r; the mean by
``(r - mean of C) / (size of C + 1)``, and C is best without the largest records of x if r is large.
New records in C help only where C cannot be smaller. See docs/proofs.md, "Smooth sensitivity: sum,
mean and count".

*A quantile under replacement, for any number of records.* The local sensitivity of z depends on two
gaps between three adjacent ranks of z. Consider the datasets z with t *new* records, which x does
not have. The gaps are widest if the records below them are the smallest of x and the smallest new
ones, and the records above the largest of each. How many of the t new records are below is all that
is left to choose. See docs/proofs.md, "Smooth sensitivity: a quantile, under replacement".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Kind, LocalProblem, SmoothProblem
from sensitivity_lab.queries import Weights
from sensitivity_lab.queries.base import denominator_of
from sensitivity_lab.running import tracked
from sensitivity_lab.search.contenders import contenders
from sensitivity_lab.search.engine import (
    Cost,
    LocalMaxima,
    LocalMaximumAtDistance,
    Options,
    Plan,
    Refusal,
    furthest,
)
from sensitivity_lab.search.layouts import (
    WORD,
    IntegerBytes,
    Positions,
    SortedMultiset,
    bytes_of_int,
    bytes_of_neighbors,
    bytes_of_pairs,
)
from sensitivity_lab.search.sizes import answers_few, without_empty
from sensitivity_lab.universes.relations import Bounded, Multiplicities, largest, repeated, smallest
from sensitivity_lab.universes.universe import of_numbers

from .local_max import both_ends


class SmoothMonotone:
    """The engine: exact for sum, mean and count, and for single quantiles under replacement.

    Notes
    -----
    Sum, mean and count, for m distinct values: replacing takes O(m) time. Adding and removing needs
    twelve candidates per distance, up to the last distance that can matter, which is at most twice
    the size. Memory: O(m).

    A quantile takes O(t) integer operations at distance t, so O(T**2) up to distance T, which is at
    most the size n. Memory: O(n + m).
    """

    name = "monotone"
    kind: Kind = "smooth"
    covers = "sum, mean and count, and under the bounded relation median, percentile, min and max"
    reach = "sum, mean, count: relations that replace, or that add and remove; quantiles: bounded"

    def plan(self, problem: SmoothProblem, options: Options) -> Plan[LocalMaxima] | Refusal:
        """Plan the search by the theory of the query; refuse other queries."""
        query = problem.query
        if not problem.universe.numeric:
            return Refusal(f"{self.name} covers numbers, not rows", of_kind=True)
        if answers_few(query):
            least = query.defined_from
            if problem.limits[0] < least:
                return Refusal(
                    f"{self.name} covers datasets on which {query.name} has an answer of its own, "
                    f"of at least {least} records; pass sizes=({least}, ...), which is then public"
                )
            query = without_empty(query)
            problem = replace(problem, query=query)
        if query.moment in ("count", "sum", "mean"):
            return plan_sums(problem)
        weights = query.weights(problem.size)
        if weights is None:
            return Refusal.of_query(self.name, self.covers, query.name)
        if not problem.replace:
            return Refusal(f"{self.name} covers {query.name} under the bounded relation only")
        first, last = (weights[0][0], weights[-1][0]) if weights else (0, 2)
        if last - first > 1 or any(share <= 0 for _, share in weights):
            return Refusal(
                f"{self.name} does not cover {query.name}: it is not a mean of two neighboring "
                "ranks",
                of_kind=True,
            )
        return plan_quantiles(problem, weights, options.progress)


def rising(
    problem: SmoothProblem, found: Iterable[LocalMaximumAtDistance | None], bound: Difference
) -> LocalMaxima:
    """Return the distances at which the largest local sensitivity rises.

    Parameters
    ----------
    problem : SmoothProblem
        It says when to stop.
    found : iterable of LocalMaximumAtDistance or None
        Entry t: the z within distance t of x with the largest local sensitivity; or None, or any
        other z within that distance, if none exceeds what is found within a smaller one. The first
        entry is x. An entry that exceeds all before it is at distance t.
    bound : Difference
        No local sensitivity is larger. Once it is reached nothing rises any more.
    """
    maxima: list[LocalMaximumAtDistance] = []
    distance = 0
    # Always: the gaps of `maxima` rise, and the last one is the largest of all within `distance`.
    for distance, entry in enumerate(found):
        if entry is not None and (not maxima or entry.gap > maxima[-1].gap):
            maxima.append(entry)
        last = maxima[-1]
        if not last.gap < bound or problem.stop(last.gap, last.distance, distance, bound):
            break
    return LocalMaxima(tuple(maxima), distance, 0)


_BLOCK = 512
"""So many distances are handled at a time."""


def plan_sums(problem: SmoothProblem) -> Plan[LocalMaxima] | Refusal:
    """Plan the search for a sum, a mean or a count; refuse steps of either kind."""
    if not (problem.replace or problem.add_or_remove):
        return Refusal(
            "monotone covers relations that replace records, or that add and remove them, "
            f"not {problem.step.family}, of which a step can be either"
        )
    search = _replacing if problem.replace else _adding_and_removing
    return Plan(partial(search, problem), Cost(_bytes_of_sums(problem)))


def _bytes_of_sums(problem: SmoothProblem) -> int:
    """Return what the search needs."""
    if problem.replace:
        return bytes_of_neighbors(problem)
    # Two sides with the records of x and those outside it: places, and sums, for means.
    integers = IntegerBytes.of(problem.universe)
    sums = (
        bytes_of_int(integers.bits + problem.size.bit_length())
        if problem.query.moment == "mean"
        else 0
    )
    each = 2 * integers.kept + 10 * WORD + 4 * sums + max(integers.kept, sums)
    numbers = bytes_of_int(integers.bits + 2 * problem.size.bit_length())
    block = min(_BLOCK, 2 * problem.size) * 12 * (4 * numbers + 20 * WORD)
    return max(integers.peak, each) * len(problem.x) + block + bytes_of_pairs(problem)


def _replacing(problem: SmoothProblem) -> LocalMaxima:
    """Return the local maxima where neighbors have one record replaced."""
    query, (integers, unit), x = problem.query, of_numbers(problem.universe).integers, problem.x
    outside = problem.universe.multiplicities(problem.size + 1) - x
    weight = {"count": Fraction(0), "sum": Fraction(1), "mean": Fraction(1, problem.size)}[
        query.moment or ""
    ]

    def gap(low: int, high: int) -> Difference:
        return Difference(weight * Fraction(integers[high] - integers[low], unit), Fraction(0))

    def found() -> Iterator[LocalMaximumAtDistance]:
        (x_low, x_high), (new_low, new_high) = _ends_of_sums(x), _ends_of_sums(outside)
        # A record of x and one outside it, in both orders.
        of_x = [(gap(x_low, new_high), x_low, new_high), (gap(new_low, x_high), x_high, new_low)]
        best, gone, added = max(of_x, key=itemgetter(0))
        yield LocalMaximumAtDistance(0, best, lambda: (x, x - _one(x, gone) + _one(x, added)))
        # Both are in x, or both are outside it; otherwise the largest gap was found at x.
        low, high = 0, len(integers) - 1
        low_one, high_one = _one(x, low), _one(x, high)
        # z and y are the core with one of two records. If x has both, they leave it and a new
        # record comes; if both are new, either takes the place of the smallest record of x.
        if x[low] and x[high]:
            core = x - low_one - high_one + _one(x, new_low)
        else:
            core = x - _one(x, x_low)
        yield LocalMaximumAtDistance(1, gap(low, high), lambda: (core + high_one, core + low_one))

    return rising(problem, found(), gap(0, len(integers) - 1))


def _ends_of_sums(records: Multiplicities) -> tuple[int, int]:
    """Return the places of the smallest and the largest record."""
    places = np.flatnonzero(records)
    return int(places[0]), int(places[-1])


def _one(like: Multiplicities, place: int) -> Multiplicities:
    """Return the dataset of one record."""
    record = np.zeros_like(like)
    record[place] = 1
    return record


def _adding_and_removing(problem: SmoothProblem) -> LocalMaxima:
    """Return the local maxima where neighbors have one record more, or less."""
    integers, unit = of_numbers(problem.universe).integers
    lowest = int(problem.limits[0])
    bounds = {
        "count": Fraction(1),
        "sum": Fraction(max(abs(integers[0]), abs(integers[-1])), unit),
        "mean": Fraction(integers[-1] - integers[0], unit * (lowest + 1)),
    }
    bound = Difference(bounds[problem.query.moment or ""], Fraction(0))
    return rising(problem, _furthest_by_distance(problem), bound)


class _Core(NamedTuple):
    """x less `removed` records at one end plus `added` ones at the other: C, with a record r apart.

    `above` and `below` are how much the answer changes by r, as a quotient.
    """

    above: int
    below: int
    removed: int
    added: int
    of_x: bool
    upward: bool


def _furthest_by_distance(problem: SmoothProblem) -> Iterator[LocalMaximumAtDistance | None]:
    """Yield for each distance the z with the largest local sensitivity, None if there is no z."""
    # No core that is needed has more than a record more than x.
    x, outside = problem.x, problem.universe.multiplicities(problem.size + 2) - problem.x
    sides = [_Side.of(problem, outside, upward=upward) for upward in (True, False)]
    # Where records are added, C has the smallest size or one more: so many at the most.
    last = problem.size + min(int(outside.sum()), int(problem.limits[0]) + 1)
    for start in range(0, last + 1, _BLOCK):
        distances = np.arange(start, min(start + _BLOCK, last + 1))
        rows = [list(side.cores(distances, of_x=of_x)) for side in sides for of_x in (True, False)]
        for place, distance in enumerate(distances.tolist()):
            best: _Core | None = None
            for core in (row[place] for family in rows for row in family):
                if core is not None and (
                    best is None or core.above * best.below > best.above * core.below
                ):
                    best = core
            if best is None:
                yield None
                continue
            gap = Difference(Fraction(best.above, best.below), Fraction(0))
            yield LocalMaximumAtDistance(distance, gap, partial(_z_and_y, x, outside, best))


@dataclass(frozen=True, eq=False)
class _Side:
    """The search for pairs in which r raises the answer, or where all records are times -1.

    Parameters
    ----------
    inside, outside : SortedMultiset
        The records of x, and the others of the universe, ascending.
    """

    problem: SmoothProblem
    inside: SortedMultiset
    outside: SortedMultiset
    upward: bool

    @classmethod
    def of(cls, problem: SmoothProblem, outside: Multiplicities, *, upward: bool) -> _Side:
        values, unit = of_numbers(problem.universe).integers
        x = problem.x
        if not upward:
            values, x, outside = -values[::-1], x[::-1], outside[::-1]
        inside = SortedMultiset(values, x, unit)
        return cls(problem, inside, SortedMultiset(values, outside, unit), upward)

    def cores(self, distances: Positions, *, of_x: bool) -> Iterator[list[_Core | None]]:
        """Yield, for three ways to choose the numbers, the best core at each distance.

        `of_x` is whether r is a record of x. Then z is C + r, which is nearer to x than C.
        """
        lowest = int(self.problem.limits[0])
        # If r is of x, then C + r is a step nearer than C: so C may have a change more.
        changed = distances + of_x
        yield self._cores(changed, np.zeros_like(changed), of_x=of_x)
        for size in (lowest, lowest + 1):
            # removed + added = changed, and the size of the core is given.
            removed, odd = np.divmod(changed + self.problem.size - size, 2)
            added = np.where(odd == 0, changed - removed, -1)
            yield self._cores(removed, added, of_x=of_x)

    def _cores(self, removed: Positions, added: Positions, *, of_x: bool) -> list[_Core | None]:
        size, (lowest, highest) = self.problem.size, self.problem.limits
        core = size - removed + added
        # C and C + r both have allowed sizes; an r of x is among those removed, a new r is left
        # outside.
        fits = (removed >= of_x) & (removed <= size) & (added >= 0) & (core >= lowest)
        fits &= (core < highest) & (added <= self.outside.size - (not of_x))
        found: list[_Core | None] = [None] * len(removed)
        places = np.flatnonzero(fits)
        if not len(places):
            return found
        removed, added, core = removed[places], added[places], core[places]
        records = self.inside if of_x else self.outside
        r = records.record(records.size - 1)
        unit, moment = self.inside.unit, self.problem.query.moment
        if moment == "mean":
            sums = self.inside.total(size - removed) + self.outside.total(added)
            # (r - S / c) / (c + 1) = (r c - S) / (c (c + 1)), with S the sum of C.
            above = (r * core.astype(object) - sums).tolist()
            below = (core * (core + 1).astype(object) * unit).tolist()
        else:
            above = [r if moment == "sum" else 1] * len(places)
            below = [unit if moment == "sum" else 1] * len(places)
        told = (places.tolist(), above, below, removed.tolist(), added.tolist())
        for place, more, by, gone, new in zip(*told, strict=True):
            found[place] = _Core(more, by, gone, new, of_x, self.upward)
        return found


def _z_and_y(
    x: Multiplicities, outside: Multiplicities, core: _Core
) -> tuple[Multiplicities, Multiplicities]:
    """Return z and y: with r and without it if r is a record of x, else without it and with it."""
    lowest, highest = (smallest, largest) if core.upward else (largest, smallest)
    without = x - highest(x, core.removed) + lowest(outside, core.added)
    one = highest(x if core.of_x else outside, 1)
    return (without + one, without) if core.of_x else (without, without + one)


AnyIntegers = NDArray[Any]
"""Integers: int64 where their range is large enough, else Python ints."""


def plan_quantiles(
    problem: SmoothProblem, weights: Weights, progress: bool | None
) -> Plan[LocalMaxima]:
    """Plan the search for a mean of two neighboring ranks, under replacement."""
    return Plan(
        partial(_solve_quantile, problem, progress), Cost(_bytes_of_quantiles(problem, weights))
    )


def _bytes_of_quantiles(problem: SmoothProblem, weights: Weights) -> int:
    """Return what the search needs."""
    integers = IntegerBytes.of(problem.universe)
    below = denominator_of(weights).bit_length()
    worth = integers.bits + below + 3
    number = WORD if worth < 62 else bytes_of_int(worth)
    outside = int((problem.universe.multiplicities(problem.size + 1) - problem.x).sum())
    last = min(problem.size, outside)
    # Two sides have two or three arrangements each, of worths, floors, ceilings and their places.
    rank = weights[0][0]
    places = min(rank + 2, last + 3) + min(problem.size - rank, last + 2)
    unequal = len({share for _, share in weights}) == 2
    arrangements = (6 if unequal else 4) * places * (number + 4 * WORD)
    # The records of x and new ones, those times -1, and x once more while they are made.
    new = 0 if number == WORD else number
    records = (problem.size + 2 * (last + 2)) * (3 * WORD + new) + problem.size * new
    values = len(problem.x) * max(integers.peak, 2 * integers.kept + 2 * WORD)
    rises = 600 * min(last + 1, 1000)
    return values + records + arrangements + rises + bytes_of_pairs(problem)


def _solve_quantile(problem: SmoothProblem, progress: bool | None) -> LocalMaxima:
    """Return the local maxima up to the distance at which the problem stops, or the last one."""
    search = _Search(problem)

    def found() -> Iterator[LocalMaximumAtDistance | None]:
        """Yield for each distance the z with the largest local sensitivity."""
        every = range(search.last + 1)
        for distance in tracked(every, unit="distances", progress=progress):
            (value, below), side, arrangement = max(
                (
                    (arrangement.best(distance), side, arrangement)
                    for side in search.sides
                    for arrangement in side.arrangements
                ),
                key=lambda one: one[0][0],
            )
            z = partial(search.dataset, side, arrangement, below, distance - below)
            if value <= 0:
                z, value = partial(problem.x.copy), 0  # x is within any distance
            gap = search.difference(value)
            yield LocalMaximumAtDistance(distance, gap, partial(search.pair, z))

    return rising(problem, found(), search.difference(search.bound))


@dataclass(frozen=True, eq=False)
class _Arrangement:
    """One way to lay out z, and the record b that y has in place of the smallest record of z.

    With s new records below and r above, the gaps are worth ``above[r] - below[s]``, if the records
    are in that order: ``floor[s] <= ceiling[r]``.

    Parameters
    ----------
    below, floor : ndarray of integers, shape (s,)
        For each number of new records below, what the records below subtract, and the largest one.
    above, ceiling : ndarray of integers, shape (r,)
        For each number of new records above, what the records above and b add, and the smallest
        one.
    lower, upper : int
        How many records are below, and how many above, b among them.
    new : bool
        Whether b is a new record, which x does not have.
    outside : int
        How many records x has not.
    """

    below: AnyIntegers
    floor: AnyIntegers
    above: AnyIntegers
    ceiling: AnyIntegers
    lower: int
    upper: int
    new: bool
    outside: int

    def best(self, distance: int) -> tuple[int, int]:
        """Return the largest worth of a z with `distance` new records, and how many are below."""
        # If b is a record of x, then z lacks it, so z has a new one. If b is new, z does not have
        # it, so one more is needed than z has.
        if distance + self.new > self.outside or (distance == 0 and not self.new):
            return -1, 0
        # Of the new records of z, s are below and r = distance - s above, of which z has upper - 1
        # (b is not in z). As s rises r falls: arrays over r are turned round to stand beside those
        # over s, so that a place is one way to divide them.
        least, most = max(0, distance - self.upper + 1), min(distance, self.lower)
        s, r = slice(least, most + 1), slice(distance - most, distance - least + 1)
        floor, ceiling = self._order
        places = np.flatnonzero(floor[s] <= ceiling[r][::-1])
        if not len(places):
            return -1, 0
        below, above, error = self._rough
        rough = (above[r][::-1] - below[s])[places]
        places = places[contenders(rough, error)]
        worth = self.above[r][::-1][places] - self.below[s][places]
        place = int(np.argmax(worth))
        return int(worth[place]), least + int(places[place])

    @cached_property
    def _order(self) -> tuple[AnyIntegers, AnyIntegers]:
        """The floors and ceilings as places among all of them, which are quicker to compare."""
        both = np.concatenate([self.floor, self.ceiling])
        places = np.unique(both, return_inverse=True)[1]
        return places[: len(self.floor)], places[len(self.floor) :]

    @cached_property
    def _rough(self) -> tuple[NDArray[Any], NDArray[Any], float]:
        """What is subtracted and added, as floats if integers are large, and the error of that."""
        if self.below.dtype == np.int64:
            return self.below, self.above, 0.0
        most = max(abs(int(value)) for value in (*self.below, *self.above))
        unit = 1 << most.bit_length()
        below, above = ((values / unit).astype(np.float64) for values in (self.below, self.above))
        # Each number, at most 1, is rounded once, and so is their difference.
        return below, above, 2.0**-51


@dataclass(frozen=True, eq=False)
class _Half:
    """The search for the largest f(y) - f(z), with the records as integers, ascending.

    Parameters
    ----------
    x : ndarray of integers, shape (n,)
        The records of x.
    low, high : ndarray of integers, shape (K,)
        The smallest ones that x has not, and the largest ones, both from the end inward.
    outside : int
        How many records x has not.
    rank : int
        The first rank that counts.
    first, second : int
        The weights of this rank and of the next one.
    mirrored : bool
        Whether all records are times -1.
    """

    x: AnyIntegers
    low: AnyIntegers
    high: AnyIntegers
    outside: int
    rank: int
    first: int
    second: int
    mirrored: bool

    @cached_property
    def arrangements(self) -> list[_Arrangement]:
        """The ways to lay out z: b new or not, and which of the two gaps weighs more."""
        return [one for new in (True, False) for one in self._arrangements(new)]

    def _arrangements(self, new: bool) -> Iterator[_Arrangement]:
        # p = first, q = second, w_0 = smallest, w_1 = next_one of "Smooth sensitivity: a quantile,
        # under replacement" in docs/proofs.md. z_(r) is the largest of the records below, L; w_0
        # and w_1 are the two smallest of those above and b, W. Arrays are over how many are new.
        lower, upper = self.rank + 1, len(self.x) - self.rank
        arrangement = partial(_Arrangement, new=new, outside=self.outside)
        largest, _ = self._below(lower)
        smallest, next_one = self._above(upper, new)
        if self.second <= self.first:
            worth = (self.first - self.second) * smallest + self.second * next_one
            # If b itself is the smallest one above, it ends the first gap, and there is nothing of
            # the second one between a and b.
            alone = self._only_b(upper, new, smallest)
            worth = np.where(alone, self.first * smallest, worth)
        else:
            # p < q: right where b is the smallest one above, so that the second gap adds nothing.
            # Elsewhere the pair is worth no less than this, and is one of the arrangement below.
            worth = self.first * smallest
        yield arrangement(
            below=self.first * largest,
            floor=largest,
            above=worth,
            ceiling=smallest,
            lower=lower,
            upper=upper,
        )
        if self.second > self.first:
            # With one record more below, the second gap is made wide instead. Then z_(r + 1) is the
            # largest one below and z_(r) the next. Both arrangements are compared.
            largest, next_largest = self._below(lower + 1)
            smallest, _ = self._above(upper - 1, new)
            below = (self.second - self.first) * largest + self.first * next_largest
            yield arrangement(
                below=below,
                floor=largest,
                above=self.second * smallest,
                ceiling=smallest,
                lower=lower + 1,
                upper=upper - 1,
            )

    def _below(self, number: int) -> tuple[AnyIntegers, AnyIntegers]:
        """Return, by how many are new, the two largest of the `number` records below."""
        # Place s: s new records and number - s of x, each the smallest of its kind.
        new = np.arange(min(number, len(self.low)) + 1)
        return _two_last(self.x, self.low, number - new, new)

    def _above(self, number: int, new: bool) -> tuple[AnyIntegers, AnyIntegers]:
        """Return, by how many are new in z, the two smallest of `number` records above, with b."""
        # A place is the number of new records of z above; `others` counts b among them if it is
        # new. Turned upside down, the smallest above are the largest below.
        of_b = int(new)
        others = np.arange(of_b, min(number - 1 + of_b, len(self.high)) + 1)
        first, second = _two_last(-self.x[::-1], -self.high, number - others, others)
        return -first, -second

    def _only_b(self, number: int, new: bool, smallest: AnyIntegers) -> NDArray[np.bool_]:
        """Tell where b, the largest of its kind above, is the smallest one there.

        Then it is the only one of its kind, since the others of its kind are no larger (or they are
        equal, which comes to the same): of new ones where z has none above, of x where all of z's
        above are new.
        """
        kind: NDArray[np.bool_] = np.arange(len(smallest)) == (0 if new else number - 1)
        largest = (self.high if new else self.x[::-1])[:1]
        if len(largest):
            kind &= np.equal(smallest, largest).astype(bool)
        return kind


class _Search:
    """A problem as integers, in both directions."""

    def __init__(self, problem: SmoothProblem) -> None:
        self.problem = problem
        size = problem.size
        integers, unit = of_numbers(problem.universe).integers
        weights = problem.query.weights(size) or ()
        below = denominator_of(weights)
        self.unit = unit * below
        first, second = (*(int(weight * below) for _, weight in weights), 0)[:2]
        values = integers - integers[len(integers) // 2]
        self.bound = (first + second) * int(values[-1] - values[0])
        # Worths and their differences fit into int64.
        if 4 * (first + second) * int(abs(values).max()) + 4 < 2**62:
            values = values.astype(np.int64)
        self.outside = problem.universe.multiplicities(size + 1) - problem.x
        number = int(self.outside.sum())
        self.last = min(size, number)
        x = repeated(values, problem.x)
        low = repeated(values, smallest(self.outside, self.last + 2))
        high = repeated(values, largest(self.outside, self.last + 2))[::-1]
        half = partial(_Half, outside=number)
        up = half(x, low, high, rank=weights[0][0], first=first, second=second, mirrored=False)
        if len(weights) == 2:
            first, second = second, first
        rank = size - 1 - weights[-1][0]
        x, low, high = -x[::-1], -high, -low
        down = half(x, low, high, rank=rank, first=first, second=second, mirrored=True)
        self.sides = (up, down)

    def difference(self, value: int) -> Difference:
        """Return a worth as a difference of answers."""
        return Difference(Fraction(value, self.unit), Fraction(0))

    def dataset(
        self, side: _Half, arrangement: _Arrangement, below: int, above: int
    ) -> Multiplicities:
        """Return z, with `below` new records below and `above` new ones above."""
        x, outside = self.problem.x, self.outside
        lowest, highest = (largest, smallest) if side.mirrored else (smallest, largest)
        others = above + arrangement.new
        return (
            lowest(x, arrangement.lower - below)
            + lowest(outside, below)
            + highest(x, arrangement.upper - others)
            + highest(outside, others)
            - highest(outside if arrangement.new else x, 1)
        )

    def pair(self, z: Callable[[], Multiplicities]) -> tuple[Multiplicities, Multiplicities]:
        """Return z and the neighbor that attains its local sensitivity."""
        problem = LocalProblem(self.problem.universe, self.problem.query, Bounded(1), z())
        finding = furthest(problem, both_ends(problem))
        return finding.x, finding.y


def _two_last(
    x: AnyIntegers, new: AnyIntegers, of_x: AnyIntegers, of_new: AnyIntegers
) -> tuple[AnyIntegers, AnyIntegers]:
    """Return the two largest among the first `of_x` records of x and the first `of_new` new ones.

    Where there is only one, the second is below all records.
    """
    # Two numbers below all records come first, so that a count is the place of the last but one and
    # a count plus 1 that of the last, also where there is one record or none.
    lowest = min(int(x[0]), int(new[0]) if len(new) else int(x[0])) - 1
    padded_x, padded_new = (
        np.concatenate([np.full(2, lowest, dtype=x.dtype), records]) for records in (x, new)
    )
    last_x, last_new = padded_x[of_x + 1], padded_new[of_new + 1]
    second = np.maximum(padded_x[of_x], padded_new[of_new])
    return np.maximum(last_x, last_new), np.maximum(second, np.minimum(last_x, last_new))
