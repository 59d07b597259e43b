"""Variance and standard deviation: the worst removal of exactly k records.

One dataset contains the other. If the larger one has the larger variance, the pair reads along the
sorted universe as `AOACAOA`: C is a window, a *row* of all arrays, and A the two ends of what is
outside it; its *split* says how many of its records are at the lower end. For each row a bisection
finds the best split. The other pairs are those of `core_at_ends`. See "Variance and standard
deviation: remove" in ``docs/proofs.md``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sensitivity_lab.search.layouts import Shape

from .comparing import Spread
from .core_at_ends import any_at_ends, search_at_ends
from .float_prefix_sums import SortedRecords
from .patterns import BUDGET, Known, PatternSearch, Placement
from .windows import WindowComplement, best_split, every, expand, windows_at_runs
from .words import CORE_INSIDE


def best_removal(
    records: SortedRecords,
    size: int,
    removed: int,
    spread: Spread,
    *,
    budget: int = BUDGET,
    count: Callable[[int], object] = id,
    known: Known | None = None,
) -> Placement:
    """The best pair for removing exactly `removed` of `size` records, as a placed pattern.

    Requires ``0 < removed < size <= records.size`` and ``ddof < size - removed``. Guarantees that
    the placement has the largest |f(x) - f(y)|. Where B is empty, x is the larger dataset; where A
    is empty, y is. Cost O(N log size); `known` is of the pattern `AOACAOA`.
    """
    core_size, total = size - removed, records.size
    start = any_inside(Shape(core_size, removed, 0, total))
    larger = PatternSearch(records, spread, start, budget, count)
    if known:
        larger.offer(records, CORE_INSIDE, known.bounds)
        if known.alone:
            return larger.best
    else:
        _larger_more_spread(larger, size, removed)
    shape = Shape(core_size, 0, removed, total)
    least = max(larger.floor(), known.least) if known else larger.floor()
    smaller = PatternSearch(records, spread, any_at_ends(shape), budget, count, least)
    search_at_ends(smaller, shape)
    return max(larger, smaller, key=lambda search: search.value).best


def any_inside(shape: Shape) -> Placement:
    """Return some placement of `AOACAOA`, to begin with: C from below, A from above."""
    core, end = shape.core, shape.total
    return Placement(CORE_INSIDE, (0, 0, 0, 0, core, core, end - shape.only_x, end))


def _larger_more_spread(search: PatternSearch, size: int, removed: int) -> None:
    """Offer `AOACAOA`: x = C + A, y = C a window, A the two ends of the records outside it.

    From a split to the next a record e enters A and a larger one l leaves it. The sign of `Rule`
    says whether the squared deviations of x fall by that. It does not fall along the splits, so
    they rise, then fall. See "Equal records: fewer windows C" and "The split of A by bisection" in
    docs/proofs.md.
    """
    for window in windows_at_runs(search.records, size - removed, removed):
        outside = WindowComplement(search.records, window, size - removed)
        span = every(np.zeros_like(window), removed)
        if span is None:
            split = best_split(outside, outside.inner.sums, removed, size)
            span = split, split
        for rows, split in expand(search, *span):
            bounds = outside.rows(rows).bounds(split, removed)
            search.offer(search.records, CORE_INSIDE, bounds)
