"""Where the records of a pair lie for the largest difference of an order statistic.

One by one, for any weights whose net signs are in order; and by columns for quantiles, which have
weight on one rank or on two next to each other. See docs/proofs.md, "Order statistics".
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from sensitivity_lab.exact.difference import Difference, Integers
from sensitivity_lab.queries import Query, Weights
from sensitivity_lab.queries.base import Ranks
from sensitivity_lab.queries.order_statistics import at_ranks
from sensitivity_lab.search.gaps import Gaps
from sensitivity_lab.search.layouts import Layout, Shape, Shapes
from sensitivity_lab.search.sorted_records import Positions, Ranges, SortedMultiset


def quantile_gaps(records: SortedMultiset, query: Query, shapes: Shapes) -> Gaps:
    """Return the largest differences of a quantile: of f(x) - f(y), or of f(y) - f(x)."""
    ranks = query.ranks(np.concatenate([shapes.of_x, shapes.of_y]))
    of_x, of_y = ranks[: len(shapes)], ranks[len(shapes) :]
    swapped = Shapes(shapes.core, shapes.only_y, shapes.only_x, shapes.total)
    gaps = (_gap(records, shapes, of_x, of_y), _gap(records, swapped, of_y, of_x))
    below = np.full(len(shapes), ranks.unit * records.unit, dtype=object)

    def layout(place: int, mirrored: int) -> Layout:
        shape = shapes[place]
        weights = query.weights(shape.of_x) or (), query.weights(shape.of_y) or ()
        return _mirror(shape, *weights) if mirrored else _layout(shape, *weights)

    return Gaps.better(gaps, below, layout)


def _gap(records: SortedMultiset, shapes: Shapes, of_x: Ranks, of_y: Ranks) -> Integers:
    """Return f(x) - f(y), times the units, where it is largest: as `_layout`, by columns."""
    low, high = shapes.only_y, shapes.total - shapes.only_x
    # How many of the core's ranks take the smallest records: up to the last negative net weight.
    split = np.zeros_like(low)
    for up, weight in ((0, of_y.unit - of_y.next), (1, of_y.next)):
        rank = of_y.rank + up - low
        in_x = np.where(rank == of_x.rank, of_x.unit - of_x.next, 0) + np.where(
            rank == of_x.rank + 1, of_x.next, 0
        )
        negative = (rank >= 0) & (rank < shapes.core) & (in_x < weight).astype(bool)
        split = np.where(negative, rank + 1, split)

    def answer(ranks: Ranks, first: Positions, start: Positions) -> Integers:
        # The first records of a dataset stand from `start` on; the others end with its last ones.
        def at(rank: Positions) -> Integers:
            below = rank < first
            places = np.where(below, rank + start, rank + start + (high - low - shapes.core))
            return records.record(places)

        total: Integers = (ranks.unit - ranks.next).astype(object) * at(ranks.rank)
        if ranks.next.any():
            total = total + ranks.next.astype(object) * at(ranks.rank + 1)
        return total

    # x is the core's low part from `low` on, its high part up to `high`, and A after it; y is B
    # before `low`, and the core.
    of_core_in_y = low + split
    gap: Integers = answer(of_x, split, low) - answer(of_y, of_core_in_y, np.zeros_like(low))
    return gap


def candidates(
    records: SortedMultiset, query: Query, shape: Shape
) -> Iterator[tuple[Difference, Layout]]:
    """Yield the layout where f(x) - f(y) is largest, and the one where f(y) - f(x) is."""
    weights_x = query.weights(shape.of_x) or ()
    weights_y = query.weights(shape.of_y) or ()
    layout = _layout(shape, weights_x, weights_y)
    yield _difference(records, layout, weights_x, weights_y), layout
    layout = _mirror(shape, weights_x, weights_y)
    yield _difference(records, layout, weights_x, weights_y), layout


def _mirror(shape: Shape, weights_x: Weights, weights_y: Weights) -> Layout:
    """Return the layout where f(y) - f(x) is largest."""
    swapped = Shape(shape.core, shape.only_y, shape.only_x, shape.total)
    mirror = _layout(swapped, weights_y, weights_x)
    return Layout(mirror.core, mirror.only_y, mirror.only_x)


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
