"""What the sweeps of the tests are over."""

from __future__ import annotations

import sensitivity_lab as sl

UNIVERSE = sl.Universe.from_dataset([1, 2, 2, 3, 10])
MEAN = {"universe": UNIVERSE, "query": "mean", "neighbors": sl.Bounded(1)}


def clipped_sum(bound, query="sum", size=3):
    return sl.global_sensitivity(
        UNIVERSE.clipped(min(0, bound), bound), query, size=size, neighbors=sl.Bounded(1)
    )
