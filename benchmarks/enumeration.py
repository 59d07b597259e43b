"""Time the enumeration engine: the sizes it is meant for, and its passes down the lattice.

Run with ``make benchmark``. Prints the number of datasets, seconds (best and worst of the runs,
which shows the machine's noise), the process's peak memory, and nanoseconds per (core, value,
array) in a pass.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

import joblib
import numpy as np

import sensitivity_lab as sl
from sensitivity_lab.article import experiments
from sensitivity_lab.queries import DEFAULT_QUERIES
from sensitivity_lab.search.lattice import Lattice


def seconds(work: Callable[[], object], runs: int) -> tuple[float, float]:
    """Return the shortest and longest time of some runs."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times), max(times)


def report(name: str, work: Callable[[], object], runs: int = 2) -> None:
    """Print how long some work takes."""
    best, worst = seconds(work, runs)
    print(f"{name:<66} {best:8.3f} s to {worst:7.3f} s   peak {peak():5.2f} GiB")


def peak() -> float:
    """Return the largest memory that this process has had, in GiB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def curves(universe: sl.Universe, size: int) -> sl.results.SensitivityCurves:
    """Return ten queries under both relations at k = 1..3, by enumeration."""
    return sl.sensitivity_curves(
        universe,
        size=size,
        distances=range(1, 4),
        neighbors=["unbounded", "bounded"],
        method="enumeration",
    )


def passes(name: str, counts: list[int], size: int, columns: int) -> None:
    """Print the cost of bringing maxima down one level."""
    lattice = Lattice(counts, size + 1)
    upper = np.random.default_rng(0).random((lattice.number(size + 1), columns))
    lattice.maximum_below(upper, size)  # fills the cached tables
    best, worst = seconds(lambda: lattice.maximum_below(upper, size), 5)
    # Pairs of a core and an addable value: every core can be extended by what is not used up.
    rows = lattice.rows(size, 0, lattice.number(size))
    multiplicities = np.zeros((len(rows), len(counts)), dtype=np.int64)
    np.add.at(multiplicities, (np.arange(len(rows))[:, None], rows), 1)
    moves = int((multiplicities < np.array(lattice.counts)).sum())
    unit = 1e9 / (moves * columns)
    print(f"{name:<66} {best * unit:8.2f} to {worst * unit:.2f} ns per (core, value, array)")


def slow(records: np.ndarray) -> float:
    """Return a mean after a millisecond, as a caller's slow function would."""
    stop = time.perf_counter() + 0.001
    while time.perf_counter() < stop:
        pass
    return float(records.mean())


def main() -> None:
    """Run the benchmarks."""
    print(f"python {sys.version.split()[0]}, numpy {np.__version__}, joblib {joblib.__version__}\n")
    report(
        "the article: 2 scenarios, 2 relations, 10 queries, all k",
        lambda: [
            sl.sensitivity_curves(
                one.universes,
                size=one.size,
                distances=one.distances,
                neighbors=one.neighbors,
                method="enumeration",
            )
            for one in experiments()
        ],
        runs=5,
    )

    domain = sl.Universe.from_domain(range(12))
    print(f"\ndatasets of size 10 over 12 values: {sl.universes.count_datasets(domain, 10):,}")
    report(
        "12 values, size 10, unlimited copies, 10 queries, both, k = 1..3",
        lambda: curves(domain, 10),
    )

    distinct = sl.Universe.from_dataset(np.random.default_rng(1).permutation(1000)[:24])
    print(f"\ndatasets of size 12 of 24 records: {sl.universes.count_datasets(distinct, 12):,}")
    report("24 records, size 12, 10 queries, both, k = 1..3", lambda: curves(distinct, 12))
    print(f"({len(DEFAULT_QUERIES)} queries)\n")

    for columns in (2, 16):
        passes(f"pass to size 12 of 24 records, {columns} arrays", [1] * 24, 12, columns)
        passes(f"pass to size 10 over 12 values, {columns} arrays", [12] * 12, 10, columns)

    universe = sl.Universe.from_dataset(range(14))
    print(f"\na function of 1 ms on {sl.universes.count_datasets(universe, 7):,} datasets")
    times = {}
    for n_jobs in (1, 2):
        # A first small search starts the workers, which are then kept.
        sl.global_sensitivity(universe, slow, size=3, neighbors=sl.Bounded(1), n_jobs=n_jobs)
        times[n_jobs] = seconds(
            lambda jobs=n_jobs: sl.global_sensitivity(
                universe, slow, size=7, neighbors=sl.Bounded(1), n_jobs=jobs
            ),
            3,
        )
        print(f"n_jobs={n_jobs}: {times[n_jobs][0]:.2f} s to {times[n_jobs][1]:.2f} s")
    print(f"two workers are {times[1][0] / times[2][0]:.2f} times as fast")


if __name__ == "__main__":
    main()
