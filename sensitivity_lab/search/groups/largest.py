"""The group whose answer changes most, for the norm Linf: the others need not change together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sensitivity_lab.exact.root_sums import Gap
from sensitivity_lab.search.contenders import Contenders
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
    near = Contenders(error)
    firsts: list[tuple[Target, int, RemovedAdded, int]] = []  # by block, what its first value is of
    for total, (removed, added) in targets:
        for group, table in enumerate(tables):
            elsewhere = sum(sizes) - sizes[group]
            for (i, j), values in table.items():
                changed = removed - i + added - j
                low = max(0, total + changed - elsewhere)
                if i > removed or j > added or (i, j) == (0, 0) or low > total:
                    continue
                near.see(values[low : total + 1])
                firsts.append(((total, (removed, added)), group, (i, j), low))
    if near.reached == -np.inf or (near.reached <= 0 and not error):
        return Split(targets[0], (), (0, 0))
    splits = (
        Split(target, ((group, change, low + stay),), (0, 0))
        for block, places in near.by_block()
        for target, group, change, low in [firsts[block]]
        for stay in places.tolist()
    )
    return max(splits, key=lambda one: exactly(one.parts[0])) if error else next(splits)
