"""Time local and smooth sensitivities of large datasets: python benchmarks/local.py."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import SupportsFloat

import numpy as np

import sensitivity_lab as sl

RELATIONS = (
    sl.Bounded(1),
    sl.Bounded(3, exactly=True),
    sl.Unbounded(1),
    sl.Unbounded(3, exactly=True),
    sl.SymmetricDifference(4),
)


def timed(name: str, call: Callable[[], SupportsFloat]) -> None:
    """Print how long a call takes, and what it returns."""
    started = time.perf_counter()
    value = float(call())
    print(f"{name:72} {time.perf_counter() - started:7.2f} s  {value:.6g}", flush=True)


def main() -> None:
    """Time 100,000 records of 200,000, and the smooth sensitivity of a median of 10,000."""
    random = np.random.default_rng(1)
    drawn = random.lognormal(8, 1.5, 200_000)
    for kind, records in (("whole", drawn.astype(int)), ("floats", drawn)):
        universe = sl.Universe.from_dataset(records)
        x = random.permutation(records)[:100_000]
        for query in ("median", "var", "std", "mean"):
            for relation in RELATIONS:
                timed(
                    f"local {query} of 100,000 {kind} of 200,000, {relation}",
                    partial(sl.local_sensitivity, universe, query, dataset=x, neighbors=relation),
                )
        universe, x = sl.Universe.from_dataset(records[:20_000]), records[:20_000:2]
        for beta in (1, 0.1, 1e-3, 1e-5):
            timed(
                f"smooth median of 10,000 {kind} of 20,000, beta {beta}",
                partial(sl.smooth_sensitivity, universe, "median", dataset=x, beta=beta),
            )


if __name__ == "__main__":
    main()
