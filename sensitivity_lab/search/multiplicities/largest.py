"""The largest difference of two largest multiplicities, x above y.

No value of y occurs more than h times. The value that is commonest in x may be that with the most
records: the core has it as often as it can, up to h times, and A adds as many as are left.
"""

from __future__ import annotations

import numpy as np

from sensitivity_lab.universes.multiplicities import smallest

from .capacities import Capacities, Parts, filled


def largest_gain(groups: Capacities, core: int, only_x: int, only_y: int) -> tuple[int, int]:
    """Return the largest multiplicity in x less that in y, as large as it can be.

    Parameters
    ----------
    groups, core, only_x, only_y
        As for `distinct_gain`.

    Returns
    -------
    tuple of two ints
        The difference, and a bound h of the multiplicities in y that attains it.

    Notes
    -----
    O(log m log n), and O(only_y log m) where h must be above `core`.

    Examples
    --------
    >>> two = Capacities.of(np.arange(2), np.array([3, 3]))
    >>> largest_gain(two, 2, 1, 0), largest_gain(two, 2, 2, 0)
    ((1, 1), (2, 1))
    """
    of_y, top = core + only_y, int(groups.counts[0])
    least = _least_height(groups, of_y)
    if least <= core:
        return min(only_x, top - least), least
    h = np.arange(least, min(top, of_y) + 1)
    # What of B fits nowhere else takes records of the commonest value from A.
    forced = np.maximum(0, only_y - (groups.below_height(h) - h))
    gains = np.minimum(core + only_x, top - forced) - h
    best = int(np.argmax(gains))
    return int(gains[best]), int(h[best])


def _least_height(groups: Capacities, records: int) -> int:
    """Return the smallest number that the multiplicities of so many records need not exceed."""
    low, high = 0, records  # too few records fit below `low`, enough below `high`
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if groups.below_height(middle) >= records else (middle, high)
    return high


def largest_parts(groups: Capacities, core: int, only_x: int, only_y: int, h: int) -> Parts:
    """Return C, A and B by groups: a pair that attains `largest_gain`, y bounded by h."""
    counts, of_y = groups.counts, core + only_y
    limits = np.minimum(counts, h)
    top_of_core = min(core, h)
    limits[0] = 0
    forced = max(0, of_y - top_of_core - int(limits.sum()))
    others = smallest(limits, of_y - top_of_core - forced)
    c = smallest(others, core - top_of_core)
    b = others - c
    c[0], b[0] = top_of_core, forced
    a = np.zeros_like(counts)
    a[0] = min(only_x, int(counts[0]) - top_of_core - forced)
    return groups.by_group(c, filled(a, counts - c - b, only_x), b)
