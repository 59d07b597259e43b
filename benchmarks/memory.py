"""Measure the memory of searches by enumeration against what their plans say.

Run with ``make benchmark-memory``. Every problem is searched in a process of its own, after a small
one, so that what the libraries need anyway does not count. Prints the plan's estimate and the peak.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np

import sensitivity_lab as sl
from sensitivity_lab.search.enumeration.levels import Levels

Rows = np.ndarray[Any, Any]
BOTH = ["bounded", "unbounded"]


def query(name: str, function: Callable[[Rows], Rows]) -> sl.Query:
    """Return a vectorized query."""
    return sl.from_function(function, vectorized=True, name=name)


FLOAT = query("float", lambda rows: np.abs(rows - 3.3).max(axis=1) - rows[:, 0] * 0.5)
WHOLE = query("whole", lambda rows: rows.sum(axis=1).astype(np.int64))
ENDS = [query(f"record {at}", lambda rows, at=at: rows[:, at] * 0.5) for at in range(4)]
THREE = query("three", lambda rows: rows[:, :3])
FOUR = query("four", lambda rows: rows[:, :4])
SIXTEEN = query("sixteen", lambda rows: np.hstack([rows[:, :8], rows[:, :8] * 0.5]))

PROBLEMS: dict[str, tuple[int, list[Any], int, dict[str, Any]]] = {
    "24 records, both, k = 1..3": (24, [FLOAT], 12, {"distances": [1, 2, 3], "neighbors": BOTH}),
    "24 records, bounded": (24, [FLOAT], 12, {"distances": 1, "neighbors": "bounded"}),
    "24 records, unbounded": (24, [FLOAT], 12, {"distances": 1, "neighbors": "unbounded"}),
    "24 records, whole numbers": (24, [WHOLE], 12, {"distances": [1, 2], "neighbors": "bounded"}),
    "24 records, symmetric difference": (
        *(24, [FLOAT], 11),
        {"distances": 2, "neighbors": "symmetric_difference"},
    ),
    "23 records, std": (23, ["std"], 11, {"distances": [1, 2], "neighbors": BOTH}),
    "22 records, four queries": (22, ENDS, 11, {"distances": [1, 2], "neighbors": BOTH}),
    "22 records, exactly 2": (
        *(22, [FLOAT], 11),
        {"distances": 2, "neighbors": "bounded", "exactly": True},
    ),
    "22 records, vectors of 3, L1": (22, [THREE], 11, {"distances": 1, "neighbors": "bounded"}),
    "21 records, vectors of 4, L2": (
        *(21, [FOUR], 10),
        {"distances": 1, "neighbors": "unbounded", "norm": "L2"},
    ),
    "20 records, vectors of 16, Linf": (
        *(20, [SIXTEEN], 10),
        {"distances": [1, 2], "neighbors": BOTH, "norm": "Linf"},
    ),
    "24 records, both, two threads": (
        *(24, [FLOAT], 12),
        {"distances": [1, 2, 3], "neighbors": BOTH, "n_jobs": 2},
    ),
    "22 records, four, two threads": (
        *(22, ENDS, 11),
        {"distances": [1, 2], "neighbors": BOTH, "n_jobs": 2},
    ),
    "22 records, vectors, two threads": (
        *(22, [THREE], 11),
        {"distances": 1, "neighbors": "bounded", "n_jobs": 2},
    ),
    "12 values, unlimited copies": (
        *(0, [FLOAT], 10),
        {"distances": [1, 2], "neighbors": "bounded"},
    ),
}
"""By name: the number of records, the queries, the size, and what is asked."""


def peak() -> int:
    """Return the largest memory that this process has had, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def measure(name: str) -> None:
    """Search one problem, and print its estimate and its peak."""
    records, queries, size, asked = PROBLEMS[name]
    several = np.random.default_rng(1).permutation(1000).astype(float)
    asked = {"n_jobs": 1, **asked, "method": "enumeration"}
    small = {**asked, "distances": 1, "neighbors": "bounded"}
    sl.sensitivity_curves(sl.Universe.from_dataset(several[:14]), queries, size=9, **small)
    estimates = []

    def recorded(self: Levels, *arguments: Any) -> int:
        estimates.append(bytes_of(self, *arguments))
        return estimates[-1]

    bytes_of, before = Levels.bytes_of, peak()
    universe = sl.Universe.from_dataset(several[:records]) if records else None
    with mock.patch.object(Levels, "bytes_of", recorded):
        sl.sensitivity_curves(
            universe or sl.Universe.from_domain(range(12)), queries, size=size, **asked
        )
    used, estimate = peak() - before, max(estimates)
    print(
        f"{name:<34} estimate {estimate / 2**20:6.0f} MiB   peak {used / 2**20:6.0f} MiB   "
        f"ratio {estimate / used:.2f}"
    )


def main() -> None:
    """Measure every problem, each in a process of its own."""
    for name in PROBLEMS:
        subprocess.run([sys.executable, __file__, name], check=True)


if __name__ == "__main__":
    measure(sys.argv[1]) if len(sys.argv) > 1 else main()
