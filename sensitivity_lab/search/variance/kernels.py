"""The best pair of a change: by the kernel that searches all patterns it can read as."""

from __future__ import annotations

from collections.abc import Callable

from sensitivity_lab.search.layouts import Shape

from .comparing import Spread
from .float_prefix_sums import SortedRecords
from .mixed import best_mixed
from .patterns import Known, Placement
from .remove import any_inside, best_removal
from .replace import any_around, best_replacement


def best_pair(
    records: SortedRecords,
    shape: Shape,
    spread: Spread,
    count: Callable[[int], object] = id,
    known: Known | None = None,
) -> Placement:
    """Return the best pair of a shape, in which x is not the smaller set.

    See `best_removal`, `best_replacement` and `best_mixed` for what they require. Of a removal A
    and B together are what only x has. Otherwise A is what the set has that is more spread, and
    B what the other has.
    """
    if shape.only_x > shape.only_y > 0:
        return best_mixed(records, shape, spread, count=count, known=known)
    kernel = best_removal if shape.only_x > shape.only_y else best_replacement
    return kernel(records, shape.of_x, shape.only_x, spread, count=count, known=known)


def any_pair(shape: Shape) -> Placement:
    """Return some pair of a shape, in which x is not the smaller set and more spread."""
    return any_around(shape) if shape.only_y else any_inside(shape)
