"""Exact search for order statistics: median, percentile, min and max.

Exchanging two records shows that for the largest ``f(x) - f(y)`` A can be the largest records of
the universe and B its smallest. What is left is ``sum_r v_r c_(r)`` over the ranks r of the core,
where v are the weights in x less the weights in y. Negative net weights come before positive ones.
So the ranks up to the last negative one get the smallest records left, and the others the largest.
See docs/proofs.md, "Order statistics".
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial

from sensitivity_lab.problem import Kind, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.search.engine import Cost, Findings, Options, Plan, Refusal
from sensitivity_lab.search.gaps import Gaps, solve_by_gaps
from sensitivity_lab.search.layouts import Shapes
from sensitivity_lab.search.memory import WORD, IntegerBytes, of_records, of_shapes
from sensitivity_lab.search.sorted_records import SortedMultiset
from sensitivity_lab.universes.relations import RemovedAdded

from .placing import candidates, quantile_gaps

COVERS = "median, percentile, min and max"


class OrderStatistics:
    """The engine: exact for order statistics under every relation.

    Notes
    -----
    Two candidates per change; O(log m) time each for m distinct values. The relations of a family
    share their changes. Memory: some 30 bytes per distinct value, and some 400 per change.

    Other L-statistics are covered where no weight is negative and negative net weights precede
    positive ones: trimmed means always, midranges where records are only added or only removed,
    winsorized means for some sizes. `ranks` solves the others.
    """

    name = "order_statistics"
    kind: Kind = "global"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse queries that are not order statistics."""
        for query in problem.queries:
            if query.weights(problem.sizes[0]) is None:
                return Refusal.of_query(self.name, self.covers, query.name)
            # The weights of a quantile are in order: proved under the heading above.
            if query.is_quantile:
                continue
            for relation in problem.neighbors:
                for size, change in problem.changes(relation):
                    if not _in_order(query, size, change):
                        return Refusal(
                            f"{self.name} does not cover {query.name}, {relation}: its net weights "
                            "do not go from negative to positive"
                        )
        return Plan(
            partial(solve_by_gaps, problem, _gaps), Cost(_bytes(problem), lists_pairs=False)
        )


def _bytes(problem: Problem) -> int:
    """Return what the search needs: the sorted universe, and the shapes."""
    integers = IntegerBytes.of(problem.universe)
    bits = max(integers.bits, integers.below) + 32
    ranks = sum(
        len(query.weights(size) or ())
        for query in problem.queries
        if not query.is_quantile
        for size in problem.every_size
    )
    # A rank and its weight, an exact fraction; and the answers that are added up.
    return 26 * WORD * ranks + of_records(problem, sums=False) + of_shapes(problem, 2, 8, bits)


def _gaps(records: SortedMultiset, query: Query, shapes: Shapes) -> Gaps:
    """Return the largest differences for some shapes."""
    if query.is_quantile:
        return quantile_gaps(records, query, shapes)
    return Gaps.of_candidates(candidates(records, query, shape) for shape in shapes)


@lru_cache(maxsize=1024)
def _in_order(query: Query, size: int, change: RemovedAdded) -> bool:
    """Tell whether no weight is negative, and negative net weights precede positive ones.

    Mixtures of ranks may have them in another order.
    """
    removed, added = change
    core = size - removed
    of_x, of_y = query.weights(size) or (), query.weights(core + added) or ()
    for upper, lower, below in ((of_x, of_y, added), (of_y, of_x, removed)):
        net = {rank: weight for rank, weight in upper if rank < core}
        for rank, weight in lower:
            if 0 <= rank - below < core:
                net[rank - below] = net.get(rank - below, Fraction(0)) - weight
        negative = [rank for rank, weight in net.items() if weight < 0]
        positive = [rank for rank, weight in net.items() if weight > 0]
        if negative and positive and max(negative) > min(positive):
            return False
    return all(weight >= 0 for _, weight in (*of_x, *of_y))
