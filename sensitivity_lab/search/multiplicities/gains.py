"""The largest difference of two numbers of distinct values.

x is above y, and one number decides everything else: y has q values. It is best to give it the q
largest groups. Where the core has at least q records it can have every value of y, so x loses none
of them and gains a value with each record of A that goes to another group. Where the core has fewer
records, some values of y are only in B, and A can still add those of which a record is left.

Groups of equal records are numbered by how many records they have, the largest first; the axis of
all arrays is the group, or one of the numbers q that are tried at once. See docs/proofs.md,
"Distinct values" under "Multiplicities (`multiplicities`)".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.universes.multiplicities import smallest

from .capacities import Capacities, Parts, filled


def distinct_gain(groups: Capacities, core: int, only_x: int, only_y: int) -> tuple[int, int]:
    """Return the largest number of distinct values of x less that of y.

    Parameters
    ----------
    groups : Capacities
        The groups of equal records.
    core, only_x, only_y : int
        The numbers of records of C, A and B.

    Returns
    -------
    tuple of two ints
        The difference, and a number q of distinct values of y that attains it.

    Notes
    -----
    O(log m), and O(only_y) where q must be above `core`.

    Examples
    --------
    >>> three = Capacities.of(np.arange(3), np.array([3, 3, 3]))
    >>> distinct_gain(three, 1, 2, 0), distinct_gain(three, 0, 3, 6)
    ((2, 1), (0, 3))
    """
    of_y = core + only_y
    least = groups.least_values(of_y)
    # q <= |C|: the gain falls with q, so the smallest q that has room for y is best.
    if least <= core:
        return min(only_x, groups.values - least), least
    q = np.arange(least, min(groups.values, of_y) + 1)
    # q > |C|: q - |C| values of y are not in the core. A brings values that y lacks, and those of y
    # of which a record is left over.
    gains = core - q + np.minimum(only_x, groups.values - q + _left_over(groups, core, of_y, q))
    best = int(np.argmax(gains))
    return int(gains[best]), int(q[best])


def _left_over(groups: Capacities, core: int, of_y: int, q: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return of how many values only in B a record can be left, for numbers q of values of y."""
    # At most: the values that only B has, the records of the q groups that y does not take, and the
    # groups with two records or more, of which y takes one and leaves one.
    spare = groups.together[q] - of_y
    several = np.minimum(q, groups.above(1))
    left: NDArray[np.int64] = np.minimum(q - core, np.minimum(spare, several))
    return left


def distinct_parts(groups: Capacities, core: int, only_x: int, only_y: int, q: int) -> Parts:
    """Return C, A and B by groups: a pair that attains `distinct_gain`, y with q values."""
    counts, of_y = groups.counts, core + only_y
    place = np.arange(groups.values)
    of_each = (place < q).astype(np.int64)
    free = 0
    if q <= core:
        # One record for each value of y, first in y and then in C; the rest goes anywhere.
        y = filled(of_each, counts * of_each, of_y)
        c = filled(of_each, y, core)
    else:
        # As many values as possible lose a record, then these lose more: y is the rest.
        spare = int(groups.together[q]) - of_y
        lose = (place < min(spare, q, int(groups.above(1)))).astype(np.int64)
        y = counts * of_each - filled(lose, np.maximum(counts - 1, 0) * lose, spare)
        # C has the last values of y, which lost nothing, as far as there are such.
        c = ((place >= q - core) & (place < q)).astype(np.int64)
        free = min(q - core, int(lose.sum()))
    # A first takes a value that y lacks with each record, then values of y that C lacks.
    outside = smallest((place >= q).astype(np.int64), only_x)
    inside = smallest((place < free).astype(np.int64), only_x - int(outside.sum()))
    a = filled(outside + inside, counts - y, only_x)
    return groups.by_group(c, a, y - c)
