"""Exact search over an interval: a finite domain that holds a worst case takes its place.

An L-statistic is linear in the records as long as their order stays, so the two bounds are enough,
and an engine on finite universes does the search. For variance and standard deviation the worst
case is written down, with one value inside the interval (docs/proofs.md, "Intervals
(`intervals`)").

In a local search, with the records kept from x fixed, an L-statistic of y is linear in the added
records between two kept ones, so added records can be kept ones or the bounds. The variance is
largest with added records at the bounds, and smallest with all of them at the mean of the kept
ones.

The pairs furthest apart in variance and standard deviation are found for numbers of [0, 1].
x = C + A is the more spread dataset, y = C + B the other, with c, i and j records in C, A and B,
n = c + i and m = c + j. B is best at the mean of C. What is left is largest with all of C at one
end and p records of A at the other; only where y is the larger one, C can also be s records at one
end and c - s at the other, with A beside the s. For the variance the best s is a closed form. Its
value bounds the standard deviation, for which every s is tried, but only where that bound exceeds
what is already found. See docs/proofs.md, "Variance and standard deviation: four steps".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import accumulate
from operator import attrgetter

import numpy as np

from sensitivity_lab.exact.difference import Difference, Number, common_integers
from sensitivity_lab.problem import (
    IntervalProblem,
    Kind,
    LocalIntervalProblem,
    LocalProblem,
    Problem,
)
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.given import Function
from sensitivity_lab.universes.relations import Multiplicities, Relation
from sensitivity_lab.universes.universe import IntervalUniverse, finite

from .contenders import Contenders
from .engine import (
    BothEnds,
    Cost,
    Finding,
    Findings,
    OnParts,
    Options,
    Plan,
    Refusal,
    ends_of,
    first_plan,
    local_plan,
)
from .layouts import CALL, WORD

COVERS = "L-statistics (sums, means, weighted sums by rank), count, var and std over an interval"


class Intervals(OnParts[Problem, Findings]):
    """The engine: exact over all real numbers of an interval.

    Notes
    -----
    L-statistics cost as much as on the domain of the two bounds. Variance and standard deviation
    take O(1) per change, the latter O(n) if records are removed and more added, and no bound
    settles it.
    """

    name = "intervals"
    kind: Kind = "global"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: IntervalProblem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse what has no proof that a finite domain is enough."""
        searches, costs = [], []
        for query in problem.queries:
            plan = self._plan(problem.only([query]), query, options)
            if isinstance(plan, Refusal):
                return plan
            searches.append(plan.solve)
            costs.append(plan.cost)
        results = len(problem.neighbors) * len(problem.queries)
        largest = max(problem.at_the_ends.every_size)
        listed = (2 * WORD * largest + 4096) * results + WORD * largest
        most = Cost(2 * CALL + listed + sum(cost.bytes for cost in costs))
        return Plan(lambda: [found for solve in searches for found in solve()], most)

    def _plan(
        self, problem: IntervalProblem, query: Query, options: Options
    ) -> Plan[Findings] | Refusal:
        """Plan the search for one query."""
        if query.moment == "variance":
            cost = Cost(CALL + 8 * WORD * AT_ONCE * query.root + 2000 * _changes(problem))
            return Plan(partial(_solve_spread, problem, query), cost)
        ends = problem.at_the_ends
        if not linear_by_rank(query, ends.every_size):
            return not_proved(query)
        plan = first_plan(self._engines, ends, options)
        if isinstance(plan, Refusal):
            return plan
        return Plan(partial(_at_the_ends, plan, ends), plan.cost)


def _changes(problem: IntervalProblem) -> int:
    """Return how many changes there are, over all sizes."""
    return sum(len(steps.removed) for steps in problem.steps)


def linear_by_rank(query: Query, sizes: set[int]) -> bool:
    """Tell whether a query is linear in the records as long as their order stays."""
    if query.moment in ("count", "sum", "mean"):
        return True
    return all(query.weights(size) is not None for size in sizes)


def not_proved(query: Query) -> Refusal:
    """Return why a query of another kind is refused."""
    boxes = ""
    if isinstance(query, Function):
        boxes = "for certified bounds of it choose method='boxes', and "
    return Refusal(
        f"intervals covers {COVERS}, not {query.name}: no proof limits its worst case to finitely "
        f"many values; {boxes}for a lower bound use a grid, Universe.from_domain(values)"
    )


def _at_the_ends(plan: Plan[Findings], ends: Problem) -> Findings:
    """Return what is found on the domain of the two bounds, as datasets of the interval."""
    return [
        [
            Finding(one.x, one.y, one.answers, one.datasets_evaluated, ends.universe.values)
            for one in of_query
        ]
        for of_query in plan.solve()
    ]


def _solve_spread(problem: IntervalProblem, query: Query) -> Findings:
    """Return what is found for a variance or a standard deviation: there is little to search."""
    return [
        [
            _spread_finding(problem.universe, *_furthest(problem, query, relation))
            for relation in problem.neighbors
        ]
    ]


def _furthest(
    problem: IntervalProblem, query: Query, relation: Relation
) -> tuple[Weighted, Weighted]:
    """Return x and y furthest apart on [0, 1]."""
    ddof = Fraction(query.ddof)
    families = {
        Family(size - removed, own, other, ddof, query.root): forward
        for size, (removed, added) in problem.changes(relation)
        # Both orders: the more spread dataset has the added records for its own, or the removed
        # ones. `forward` says that it is x.
        for own, other, forward in ((added, removed, False), (removed, added, True))
    }
    offered = ((pair, family) for family in families for pair in closed_forms(family))
    best, of_best = max(offered, key=lambda offer: offer[0].gap)
    for family in families:
        if family.exceeds(best.gap):
            pair = family.furthest_in_deviation()
            if pair.gap > best.gap:
                best, of_best = pair, family
    return (best.more, best.less) if families[of_best] else (best.less, best.more)


def _spread_finding(interval: IntervalUniverse, x: Weighted, y: Weighted) -> Finding:
    """Return datasets of [0, 1] moved into an interval."""
    lower, width = Fraction(interval.lower), Fraction(interval.upper) - Fraction(interval.lower)
    place: dict[Fraction, Number] = {value: lower + width * value for value in {**x, **y}}
    domain = finite(interval, place.values())

    def counted(data: Weighted) -> Multiplicities:
        counts = np.zeros(len(domain.values), dtype=np.int64)
        for value, count in data.items():
            counts[domain.index(place[value])] += count
        return counts

    return Finding(counted(x), counted(y), None, 0, domain.values)


_BYTES_OF_RECORD = 400
"""What a record of x takes in the domain that is made, and while its values are told apart."""

MAX_WINDOWS = 20_000_000
"""At most so many windows of x are compared before a search starts; that takes some ten seconds."""


class LocalIntervals(OnParts[LocalProblem, Finding]):
    """The engine: exact over all neighbors of x in an interval.

    Notes
    -----
    The cost of the engine on the domain of x, the two bounds and, for variance and standard
    deviation, one mean per change, found in O(n) exact steps.
    """

    name = "intervals"
    kind: Kind = "local"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: LocalIntervalProblem, options: Options) -> Plan[Finding] | Refusal:
        """Plan the search; refuse what has no proof that a finite domain is enough."""
        size = len(problem.x)
        sizes = {size, *(size - removed + added for removed, added in problem.changes)}
        if problem.query.moment == "variance":
            windows = size * len(_kept(problem))
            if windows > MAX_WINDOWS:
                return Refusal(
                    f"{self.name} would compare {windows:,} windows of records, more than "
                    f"{MAX_WINDOWS:,}; choose a smaller distance",
                    too_large=True,
                )
            on_values = problem.on_values(_means(problem))
        elif linear_by_rank(problem.query, sizes):
            on_values = problem.on_values()
        else:
            return not_proved(problem.query)
        reasons = []
        for engine in self._engines:
            plan = engine.plan(on_values, options)
            if isinstance(plan, Plan):
                cost = Cost(plan.cost.bytes + _BYTES_OF_RECORD * len(problem.x))
                return local_plan(
                    on_values, partial(_ends_on_values, ends_of(plan), on_values), cost
                )
            reasons.append(plan)
        return Refusal("; ".join(one.reason for one in reasons), any(r.too_large for r in reasons))


def _ends_on_values(ends: Callable[[], BothEnds], on_values: LocalProblem) -> BothEnds:
    """Return what is found on the finite domain, with its values."""
    return ends()._replace(values=on_values.universe.values)


def _means(problem: LocalIntervalProblem) -> Iterator[Fraction]:
    """Yield, for every number of records kept, the mean of the least spread ones: a window of x."""
    integers, unit = common_integers(problem.x)
    sums = [0, *accumulate(integers)]
    squares = [0, *accumulate(integers * integers)]
    for kept in _kept(problem):
        starts = range(len(problem.x) - kept + 1)
        totals = [sums[start + kept] - sums[start] for start in starts]
        # c Q - S**2 is c times D for windows of c records: whole numbers, smallest where D is.
        _, total = min(
            (kept * (squares[start + kept] - squares[start]) - total * total, total)
            for start, total in zip(starts, totals, strict=True)
        )
        yield Fraction(total, kept * unit)


def _kept(problem: LocalIntervalProblem) -> set[int]:
    """Return the numbers of records that a change keeps which adds some, without 0."""
    size = len(problem.x)
    return {size - removed for removed, added in problem.changes if added and removed < size}


_ZERO, _ONE = Fraction(0), Fraction(1)

AT_ONCE = 1 << 16
"""So many numbers of records at an end are looked at at once."""

Weighted = dict[Fraction, int]
"""A dataset of numbers of [0, 1]: how often each value occurs."""


@dataclass(frozen=True)
class Pair:
    """Two neighbors.

    Attributes
    ----------
    more, less : dict of Fraction to int
        The more spread dataset and the other.
    gap : Difference
        How far their answers are apart.
    """

    more: Weighted
    less: Weighted
    gap: Difference


@dataclass(frozen=True)
class Family:
    """All pairs with given numbers of records in C, A and B.

    Parameters
    ----------
    core, own, other : int
        The numbers of records in C, A and B.
    ddof : Fraction
        Below the sizes of both datasets.
    root : bool
        Whether the answer is the standard deviation.
    """

    core: int
    own: int
    other: int
    ddof: Fraction
    root: bool

    @cached_property
    def per_record(self) -> Fraction:
        """What V_x is, for one record at either end."""
        size = self.core + self.own
        return 1 / (size * (size - self.ddof))

    @cached_property
    def per_core(self) -> Fraction:
        """What V_y is, for one record of C at either end and B at the mean of C."""
        return 1 / (self.core * (self.core + self.other - self.ddof))

    def core_at_an_end(self) -> Pair:
        """Return the best pair with all of C at one end: V_y is 0."""
        size = self.core + self.own
        top = min(self.own, size // 2)
        gap = Difference(top * (size - top) * self.per_record, _ZERO, self.root)
        less = {_ZERO: self.core + self.other}
        return Pair({_ZERO: size - top, _ONE: top}, less, gap)

    def core_at_both_ends(self, high: int) -> Pair:
        """Return the pair with so many of C at 1, all of A there, and B at the mean of C."""
        low = self.core - high
        of_x, of_y = (high + self.own) * low * self.per_record, high * low * self.per_core
        more = {_ZERO: low, _ONE: high + self.own}
        less = {_ZERO: low, _ONE: high, Fraction(high, self.core): self.other}
        return Pair(more, less, Difference(of_x, of_y, self.root))

    @cached_property
    def furthest_in_variance(self) -> tuple[int, ...]:
        """The numbers of C at 1 for which V_x - V_y can be largest with C at both ends."""
        if self.other <= self.own or not self.core:
            return ()
        # V_x - V_y is (core - high) (first high + second): concave in `high` if first > 0, with its
        # peak in between; else largest at an end of the range, where C is at one end (or it is 0).
        first, second = self.per_record - self.per_core, self.own * self.per_record
        if first <= 0:
            return ()
        peak = math.floor((first * self.core - second) / (2 * first))
        return tuple(high for high in (peak, peak + 1) if 0 < high < self.core)

    def exceeds(self, gap: Difference) -> bool:
        """Tell whether a pair with C at both ends may be further apart than a gap."""
        if not (self.root and self.own):
            # One of `closed_forms` is the best: for the variance always; for the deviation where A
            # is empty, since both are then a number times root(high low), and V_x - V_y is a number
            # times high low.
            return False
        # (sd_x - sd_y)**2 <= V_x - V_y.
        pairs = map(self.core_at_both_ends, self.furthest_in_variance)
        most = max((pair.gap.first - pair.gap.second for pair in pairs), default=_ZERO)
        return Difference(most, _ZERO, self.root) > gap

    def furthest_in_deviation(self) -> Pair:
        """Return the best pair with C at both ends for the standard deviation, trying all."""
        of_record, of_core = float(self.per_record), float(self.per_core)
        # Far more than rounding: no deviation of x is above this times 2e12.
        near = Contenders(5e-13 * (self.core + self.own) * math.sqrt(of_record))
        for start in range(1, self.core, AT_ONCE):
            high = np.arange(start, min(start + AT_ONCE, self.core), dtype=np.float64)
            low = self.core - high
            near.see(np.sqrt((high + self.own) * low * of_record) - np.sqrt(high * low * of_core))
        pairs = (self.core_at_both_ends(1 + place) for place in near.places.tolist())
        return max(pairs, key=attrgetter("gap"))


@lru_cache(maxsize=1 << 14)
def closed_forms(family: Family) -> tuple[Pair, ...]:
    """Return the pairs, one of them the best of its family unless `exceeds` says otherwise."""
    inner = map(family.core_at_both_ends, family.furthest_in_variance)
    return (family.core_at_an_end(), *inner)
