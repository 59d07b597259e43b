"""The sorted universe as blocks: which of its records a pair of datasets shares, and which not."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from sensitivity_lab.exact.difference import Number
from sensitivity_lab.universes.relations import Multiplicities
from sensitivity_lab.universes.universe import FiniteUniverse

Block = tuple[str, float, Number, Number]
"""A role ("A", "B", "C" or "O"), a number of records, the smallest and the largest of them."""


def blocks_of(x: Multiplicities, y: Multiplicities, universe: FiniteUniverse) -> list[Block]:
    """Join neighboring values with one role; equal records stand so that blocks are few."""
    shared = np.minimum(x, y)
    parts = {"C": shared, "A": x - shared, "B": y - shared}
    if universe.counts is None:
        parts["O"] = np.full(len(x), math.inf, dtype=object)
    else:
        parts["O"] = np.array(universe.counts) - np.maximum(x, y)
    values = universe.values
    table = np.stack(list(parts.values()))
    # Values of the same single role as the one before only lengthen a block.
    present = table > 0
    roles = (1 << np.arange(len(parts))) @ present
    starts = np.flatnonzero((np.diff(roles, prepend=-1) != 0) | (present.sum(axis=0) > 1))
    groups = []
    for start, stop in pairwise([*starts.tolist(), len(values)]):
        counts = dict(zip(parts, table[:, start:stop].sum(axis=1).tolist(), strict=True))
        here = {part: count for part, count in counts.items() if count}
        groups.append((here, values[start], values[stop - 1]))
    blocks: list[Block] = []
    after = [*(here for here, _, _ in groups[1:]), {}]
    for (here, first, last), following in zip(groups, after, strict=True):
        before = blocks[-1][0] if blocks else None
        # The role of the block before comes first, one that goes on in the next block last.
        for part in sorted(here, key=lambda part: (part != before, part in following)):
            if part == before:
                _, count, first_of_all, _ = blocks.pop()
                blocks.append((part, count + here[part], first_of_all, last))
            else:
                blocks.append((part, here[part], first, last))
    return blocks
