"""Exact local search over an interval: a finite domain that holds the furthest neighbor of x.

With the records kept from x fixed, an L-statistic of y is linear in the added records between two
kept ones, so added records can be kept ones or the bounds. The variance is largest with added
records at the bounds, and smallest with all of them at the mean of the kept ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import accumulate

from sensitivity_lab.exact.difference import common_integers
from sensitivity_lab.problem import Kind, LocalIntervalProblem, LocalProblem
from sensitivity_lab.search.engine import (
    BothEnds,
    Cost,
    Finding,
    OnParts,
    Options,
    Plan,
    Refusal,
    ends_of,
    local_plan,
)

from .global_max import COVERS, linear_by_rank, not_proved

_BYTES = 400
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
                cost = Cost(plan.cost.bytes + _BYTES * len(problem.x))
                return local_plan(on_values, partial(_ends, ends_of(plan), on_values), cost)
            reasons.append(plan)
        return Refusal("; ".join(one.reason for one in reasons), any(r.too_large for r in reasons))


def _ends(ends: Callable[[], BothEnds], on_values: LocalProblem) -> BothEnds:
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
