"""How much longer variance and standard deviation take with outliers among the records.

Run with ``python benchmarks/outliers.py [records] [--small] [--grid]``; the time is the
processor's, the least of three runs, and a ratio is that with outliers over that without. First
come small datasets in which up to 300 records change, one run each; with --small nothing else.
With --grid there is a std for each size, number of changes and kind of records, with one outlier
of 1e9 and without, one run each; what takes long without is left out, and said.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import sensitivity_lab as sl

RNG = np.random.default_rng(1)

KINDS = {
    "lognormal": lambda n: RNG.lognormal(size=n),
    "normal": lambda n: RNG.normal(size=n),
    "uniform": lambda n: RNG.uniform(size=n),
    "ages": lambda n: RNG.integers(0, 100, size=n).astype(float),
    "cents": lambda n: np.round(RNG.gamma(2, 40, size=n), 2),
    "zeros and lognormal": lambda n: RNG.lognormal(size=n) * (RNG.random(n) < 0.4),
    "two clusters": lambda n: RNG.normal(size=n) + np.where(RNG.random(n) < 0.5, 0, 50),
    "Pareto": lambda n: RNG.pareto(2, size=n),
    "far from zero": lambda n: 1.7e9 + RNG.integers(0, 10**6, size=n),
    "binary": lambda n: RNG.integers(0, 2, size=n).astype(float),
}
"""Ten kinds of records without outliers."""

OUTLIERS = {
    "1e3": [1e3],
    "+-1e9": [1e9, -1e9],
    "+-1e12": [1e12, -1e12],
    "+-1e15": [1e15, -1e15],
    "four of 1e15": [1e15, 1.5e15, 2e15, -3e15],
    "1e80": [1e80],
    "+-1e150": [1e150, -1e150],
    "1e300": [1e300],
    "all sizes": [10.0**power for power in (3, 6, 9, 12, 15, 30, 60, 100, 150)],
}

RELATIONS = {
    "Bounded(2)": sl.Bounded(2),
    "Unbounded(2)": sl.Unbounded(2),
    "SymmetricDifference(2)": sl.SymmetricDifference(2),
    "Bounded(20), exactly": sl.Bounded(20, exactly=True),
}

SMALL = 400
"""The size of small datasets, in which many records of few change."""

MANY = (100, 300)
"""How many of them change, all numbers up to these."""

ONE = {"1e6": [1e6], "1e9": [1e9], "-1e9": [-1e9], "1e12": [1e12]}
"""What is asked of small datasets: one outlier, whatever its size."""


def seconds(records: np.ndarray, query: str, relation: object, size: int, times: int = 3) -> float:
    """Return the processor time of one search, the least of some."""
    spent = []
    for _ in range(times):
        universe = sl.Universe.from_dataset(records)
        start = time.process_time()
        sl.global_sensitivity(universe, query, size=size, neighbors=relation, progress=False)
        spent.append(time.process_time() - start)
    return min(spent)


def small(number: int) -> float:
    """Print a row per k for a std of small datasets; return the worst ratio."""
    print("seconds without, then ratios with one outlier:", ", ".join(ONE))
    worst = 0.0
    records = np.round(np.random.default_rng(0).normal(size=number), 3)
    for most in MANY:
        relation = sl.Bounded(most)
        without = seconds(records, "std", relation, SMALL, 1)
        ratios = [
            seconds(np.append(records, outlier), "std", relation, SMALL, 1) / without
            for outlier in ONE.values()
        ]
        worst = max(worst, *ratios)
        shown = "  ".join(f"{ratio:5.2f}" for ratio in ratios)
        print(f"normal, n = {SMALL}, k = {most:4} {without:12.3f}   {shown}", flush=True)
    return worst


SIZES = (50, 400, 2_000, 10_000)
"""The sizes of the grid; from 1 to all but one of the records change."""

PATIENCE = 60.0
"""Larger changes of a size and kind are left out once a search takes so many seconds."""


def grid(number: int) -> float:
    """Print a row per size and kind, with a ratio per number of changes; return the worst one."""
    print("k: seconds without, ratio with one outlier of 1e9")
    worst = 0.0
    for size in SIZES:
        for kind, draw in KINDS.items():
            records, cells, without = draw(number), [], 0.0
            for most in sorted({1, size // 10, size // 2, size - 1}):
                if without > PATIENCE:
                    cells.append(f"{most}: left out")
                    continue
                relation = sl.Bounded(most)
                without = seconds(records, "std", relation, size, 1)
                ratio = seconds(np.append(records, 1e9), "std", relation, size, 1) / without
                worst = max(worst, ratio)
                cells.append(f"{most}: {without:.3f} {ratio:.2f}")
            print(f"n = {size:6} {kind:20} " + "   ".join(cells), flush=True)
    return worst


def main() -> None:
    """Print a row per kind of records, query and relation; a column per kind of outliers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=int, nargs="?", default=20_000)
    parser.add_argument("--small", action="store_true", help="small datasets only")
    parser.add_argument("--grid", action="store_true", help="sizes and changes, one outlier")
    arguments = parser.parse_args()
    number = arguments.records
    if arguments.grid:
        print(f"worst ratio {grid(number):.2f}")
        return
    worst = small(number)
    if arguments.small:
        print(f"worst ratio {worst:.2f}")
        return
    print("seconds without, then ratios with outliers:", ", ".join(OUTLIERS))
    for kind, draw in KINDS.items():
        records = draw(number)
        for query in ("var", "std"):
            for name, relation in RELATIONS.items():
                without = seconds(records, query, relation, number // 2)
                ratios = []
                for outliers in OUTLIERS.values():
                    if query == "var" and max(map(abs, outliers)) > 1e150:
                        continue  # the answer is beyond the range of floats
                    given = np.concatenate([records, outliers])
                    ratios.append(seconds(given, query, relation, number // 2) / without)
                worst = max(worst, *ratios)
                shown = "  ".join(f"{ratio:5.2f}" for ratio in ratios)
                print(f"{kind:20} {query} {name:24} {without:6.3f}   {shown}", flush=True)
    print(f"worst ratio {worst:.2f}")


if __name__ == "__main__":
    main()
