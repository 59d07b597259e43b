"""Exact search for order statistics: median, percentile, min and max.

Exchanging two records shows that for the largest ``f(x) - f(y)`` A can be the largest records of
the universe and B its smallest. What is left is ``sum_r v_r c_(r)`` over the ranks r of the core,
where v are the weights in x less the weights in y. Negative net weights come before positive ones.
So the ranks up to the last negative one get the smallest records left, and the others the largest.
See docs/proofs.md, "Order statistics".
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache, partial

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import Kind, Problem
from sensitivity_lab.queries import Query, Weights
from sensitivity_lab.queries.order_statistics import at_ranks
from sensitivity_lab.search.engine import Findings, Options, Plan, Refusal
from sensitivity_lab.search.layouts import Layout, LayoutSearch, Shape
from sensitivity_lab.search.sorted_records import Ranges, SortedMultiset
from sensitivity_lab.universes.relations import RemovedAdded

COVERS = "median, percentile, min and max"


class OrderStatistics:
    """The engine: exact for order statistics under every relation.

    Notes
    -----
    Two candidates per change; O(log m) time each for m distinct values.
    """

    name = "order_statistics"
    kind: Kind = "global"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse queries that are not order statistics."""
        for query in problem.queries:
            for relation in problem.neighbors:
                for size, change in problem.changes(relation):
                    if query.weights(size) is None:
                        return Refusal.of_query(self.name, self.covers, query.name)
                    if not _in_order(query, size, change):
                        return Refusal(
                            f"{self.name} does not cover {query.name}, {relation}: its net weights "
                            "do not go from negative to positive"
                        )
        return Plan(partial(_solve, problem))


def _solve(problem: Problem) -> Findings:
    search = LayoutSearch(problem)
    return search.findings([_candidates(search.records, *asked) for asked in search.questions])


@lru_cache(maxsize=1024)
def _in_order(query: Query, size: int, change: RemovedAdded) -> bool:
    """Tell whether no weight is negative, and negative net weights precede positive ones.

    That holds for every single quantile, not for every mixture of ranks: see "The order of the
    signs for a quantile q" in docs/proofs.md.
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


def _candidates(
    records: SortedMultiset, query: Query, shape: Shape
) -> Iterator[tuple[Difference, Layout]]:
    """Yield the layout where f(x) - f(y) is largest, and the one where f(y) - f(x) is."""
    weights_x = query.weights(shape.of_x) or ()
    weights_y = query.weights(shape.of_y) or ()
    layout = _layout(shape, weights_x, weights_y)
    yield _difference(records, layout, weights_x, weights_y), layout
    swapped = Shape(shape.core, shape.only_y, shape.only_x, shape.total)
    mirror = _layout(swapped, weights_y, weights_x)
    layout = Layout(mirror.core, mirror.only_y, mirror.only_x)
    yield _difference(records, layout, weights_x, weights_y), layout


def _layout(shape: Shape, weights_x: Weights, weights_y: Weights) -> Layout:
    """Return the layout where f(x) - f(y) is largest: A the largest, B the smallest, C split."""
    low, high = shape.only_y, shape.total - shape.only_x
    # In x the core has the ranks 0 to c-1; in y they are moved up by the records of B.
    in_x = dict(weights_x)
    negative = [
        rank - low
        for rank, weight in weights_y
        if 0 <= rank - low < shape.core and in_x.get(rank - low, 0) < weight
    ]
    split = max(negative, default=-1) + 1
    return Layout(
        core=((low, low + split), (high - (shape.core - split), high)),
        only_x=((high, shape.total),),
        only_y=((0, low),),
    )


def _difference(
    records: SortedMultiset, layout: Layout, weights_x: Weights, weights_y: Weights
) -> Difference:
    """Return the difference of the answers on a layout."""
    of_x = _answer(records, (*layout.core, *layout.only_x), weights_x)
    of_y = _answer(records, (*layout.core, *layout.only_y), weights_y)
    return Difference(of_x, of_y)


def _answer(records: SortedMultiset, parts: Ranges, weights: Weights) -> Fraction:
    """Return the answer on the records at some positions."""
    ranges = sorted(parts)
    return at_ranks(weights, lambda rank: records.record(_position(ranges, rank)), records.unit)


def _position(ranges: list[tuple[int, int]], rank: int) -> int:
    """Return the position of the record with a rank, among the records of ascending ranges."""
    for start, stop in ranges:
        if rank < stop - start:
            return start + rank
        rank -= stop - start
    raise IndexError(f"no record has rank {rank}")
