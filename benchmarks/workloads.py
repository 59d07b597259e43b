"""The sensitivity of workloads: ranges without a matrix, and a million sparse columns.

Each line: the workload, the relation and norm, the sensitivity, and CPU seconds of the search. Run
it with ``python benchmarks/workloads.py``; random columns need scipy.
"""

from __future__ import annotations

import time

import numpy as np

import sensitivity_lab as sl
from sensitivity_lab.errors import TooLargeError

MILLION = 1_000_000


def told(name: str, workload: sl.Workload) -> None:
    """Search a workload for added and for replaced records."""
    domain = sl.Universe.from_domain(range(workload.shape[1]))
    for neighbors, norm in (("unbounded", "L2"), ("bounded", "L1"), ("bounded", "L2")):
        began = time.process_time()
        try:
            asked = {"size": 10, "neighbors": neighbors, "norm": norm}
            found = f"{sl.global_sensitivity(domain, workload, **asked).value:.6g}"
        except TooLargeError:
            found = "refused"
        print(f"{name:24} {neighbors:10} {norm} {found:>10} {time.process_time() - began:6.2f} s")


def main() -> None:
    """Time all workloads."""
    told("ranges of 2,000", sl.Workload.ranges(range(2000)))
    told("prefix sums of 10^6", sl.Workload.prefix_sums(range(MILLION)))
    told("histogram of 10^6", sl.Workload.identity(range(MILLION)))
    told("binary tree over 10^6", sl.Workload.tree(range(MILLION)))
    try:
        from scipy.sparse import coo_matrix
    except ImportError:
        return
    rng, entries = np.random.default_rng(0), 5 * MILLION
    rows, columns = rng.integers(0, 1000, entries), np.repeat(np.arange(MILLION), 5)
    for name, given in (("positive", rng.random(entries)), ("normal", rng.normal(size=entries))):
        matrix = coo_matrix((given, (rows, columns)), shape=(1000, MILLION))
        told(f"sparse {name}, 10^6", sl.Workload(matrix, range(MILLION)))


if __name__ == "__main__":
    main()
