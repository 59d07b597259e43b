"""The group whose answer changes most, for the norm Linf: the others need not change together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sensitivity_lab.exact.root_sums import Gap
from sensitivity_lab.search.lattice import Floats
from sensitivity_lab.universes.relations import RemovedAdded

from .combine import Part, Split
from .relaxation import Table, Target


def largest_part(
    tables: Sequence[Table],
    sizes: Sequence[int],
    targets: Sequence[Target],
    error: float,
    exactly: Callable[[Part], Gap],
) -> Split:
    """Return a split in which one group has the largest value of all; see `Combination`.

    The other changed records, and those that stay, may be anywhere else: `sizes` tells how many
    records there are in each group, and at last in no group.
    """
    found: list[tuple[float, Target, int, RemovedAdded, int, Floats]] = []
    for total, (removed, added) in targets:
        for group, table in enumerate(tables):
            elsewhere = sum(sizes) - sizes[group]
            for (i, j), values in table.items():
                changed = removed - i + added - j
                low = max(0, total + changed - elsewhere)
                if i > removed or j > added or (i, j) == (0, 0) or low > total:
                    continue
                inside = values[low : total + 1]
                target = total, (removed, added)
                found.append((float(inside.max()), target, group, (i, j), low, inside))
    most = max((value for value, *_ in found), default=-np.inf)
    if most == -np.inf or (most <= 0 and not error):
        return Split(targets[0], (), (0, 0))
    near = [
        (target, (group, change, low + int(stay)))
        for value, target, group, change, low, inside in found
        if value >= most - 4 * error
        for stay in np.flatnonzero(np.isfinite(inside) & (inside >= most - 4 * error))[
            : None if error else 1
        ]
    ]
    target, part = max(near, key=lambda one: exactly(one[1])) if error else near[0]
    return Split(target, (part,), (0, 0))
