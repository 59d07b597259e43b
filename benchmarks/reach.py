"""Time reach of half of a million records: python benchmarks/reach.py [distances] [relation].

Each query is timed at distances 1 to 1,000 together, and beside it one point of a local curve: the
local sensitivity at the largest distance. Run it with OMP_NUM_THREADS=1. Seconds are those of the
processor, so other programs do not count.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sensitivity_lab as sl
from sensitivity_lab.universes.relations import as_relation

QUERIES = ("mean", "median", "percentile_90", "var", "std")


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return how many seconds a call takes, and what it returns."""
    started = time.process_time()
    found = call()
    return time.process_time() - started, found


def main(distances: int = 1000, relation: str = "bounded") -> None:
    """Time every query on lognormal records, all of them different."""
    records = np.random.default_rng(0).lognormal(10, 1, 1_000_000)
    universe, x = sl.Universe.from_dataset(records), records[:500_000]
    asked: dict[str, Any] = {"dataset": x}
    far = as_relation(relation).at(distances)
    sl.local_sensitivity(universe, "mean", **asked, neighbors=far)  # makes what all of them share
    for query in QUERIES:
        local, _ = timed(
            lambda query=query: sl.local_sensitivity(universe, query, **asked, neighbors=far)
        )
        seconds, found = timed(
            lambda query=query: sl.reach(
                universe, query, **asked, neighbors=relation, distances=distances
            )
        )
        ends = f"{float(found.lower[-1]):.8g} to {float(found.upper[-1]):.8g}"
        print(
            f"{query:<14} reach within {distances:,}, {relation}: {seconds:6.1f} s   "
            f"local at {distances:,}: {local:6.1f} s   {ends}",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:3])
