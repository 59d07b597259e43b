"""Time queries on tables: python benchmarks/tables.py.

Seconds, best of three, each on another table: 5,000 rows, datasets of 1,000; a histogram of 20
categories, and the same released with a clipped sum, in three norms.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

import sensitivity_lab as sl

ROWS, SIZE, CATEGORIES = 5_000, 1_000, 20
HISTOGRAM = sl.Histogram("product", categories=range(CATEGORIES))
BOTH = sl.Stack(HISTOGRAM, sl.SumOf("price", clip=(0, 100)))


def drawn(random: np.random.Generator) -> sl.TableUniverse:
    """Return a universe that no call has seen."""
    products = random.integers(0, CATEGORIES, ROWS)
    prices = random.lognormal(3, 1, ROWS).round(2)
    return sl.TableUniverse.from_dataset(pd.DataFrame({"product": products, "price": prices}))


def seconds(
    random: np.random.Generator, query: sl.Histogram | sl.Stack, neighbors: object, norm: str
) -> float:
    """Return the best of three."""
    times = []
    for _ in range(3):
        universe = drawn(random)
        start = time.perf_counter()
        sl.global_sensitivity(universe, query, size=SIZE, neighbors=neighbors, norm=norm)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Time both queries under both relations, k = 1 and 2."""
    random = np.random.default_rng(1)
    for name, query in (("histogram", HISTOGRAM), ("histogram and sum", BOTH)):
        for neighbors in (sl.Bounded(1), sl.Bounded(2), sl.Unbounded(1), sl.Unbounded(2)):
            times = [seconds(random, query, neighbors, norm) for norm in ("L1", "L2", "Linf")]
            shown = "  ".join(f"{one:6.3f}" for one in times)
            print(f"{name:18} {neighbors!s:21}  L1, L2, Linf: {shown} s", flush=True)


if __name__ == "__main__":
    main()
