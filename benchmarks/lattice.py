"""Time the search by enumeration on one thread and on two.

Run with ``make benchmark-lattice``. 26 records, size 13, one vectorized query, unbounded and
bounded, k = 1..3: 56 million datasets. Every search is a process of its own, in turn, several
times. Prints seconds (best and worst, which shows the machine's noise), CPU seconds with those of
workers, how much of a processor others used meanwhile (at the best time; only Linux tells), ratios,
and peak memory of the process that searches. Beside the ratio of two threads to one stands the
machine's own: how many times as much two processes of bare numpy do, on arrays in the cache and in
memory.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import joblib
import numpy as np

import sensitivity_lab as sl

FORMS = {
    "one thread": (1, "threading"),
    "two threads": (2, "threading"),
    "two processes": (2, "loky"),
}
"""By name: the number of jobs, and joblib's backend for evaluations.

Passes are done by threads of one process, whatever the backend.
"""


def spread(rows: np.ndarray) -> np.ndarray:
    """Return a float per dataset, of few passes over its records."""
    return np.abs(rows - 3.3).max(axis=-1) - rows[:, 0] * 0.5


def search(records: int, n_jobs: int, backend: str) -> None:
    """Search, and print seconds, CPU seconds, others' processors, peak memory in MiB and values."""
    universe = sl.Universe.from_dataset(
        np.random.default_rng(1).permutation(1000).astype(float)[:records]
    )
    started, busy = time.perf_counter(), busy_seconds()
    with joblib.parallel_config(backend=backend, n_jobs=n_jobs):
        curves = sl.sensitivity_curves(
            universe,
            [sl.from_function(spread, vectorized=True)],
            size=records // 2,
            distances=range(1, 4),
            neighbors=["unbounded", "bounded"],
            method="enumeration",
        )
    seconds, busy = time.perf_counter() - started, busy_seconds() - busy
    if backend == "loky":
        joblib.externals.loky.get_reusable_executor().shutdown()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(one.ru_utime + one.ru_stime for one in used)
    unit = 1 if sys.platform == "darwin" else 1024
    peak = used[0].ru_maxrss * unit / 2**20
    others = max(0.0, busy - cpu) / seconds
    values = [result.value for _, result in curves.points]
    print(json.dumps([seconds, cpu, others, peak, values]))


def maxima(numbers: int, repeats: int) -> None:
    """Do bare numpy on arrays of so many numbers."""
    one, other = np.ones(numbers), np.zeros(numbers)
    for _ in range(repeats):
        np.maximum(one, other, out=one)


def own_ratio(numbers: int, repeats: int) -> float:
    """Return how many times as much numpy two processes do as one, on arrays of their own."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    with ProcessPoolExecutor(2) as pool:
        for processes in (2, 1, 2, 1, 2, 1, 2):
            started = time.perf_counter()
            list(pool.map(maxima, [numbers] * processes, [repeats] * processes))
            seconds[processes].append(time.perf_counter() - started)
    return 2 * min(seconds[1]) / min(seconds[2])


def busy_seconds() -> float:
    """Return how many seconds all processors were busy since the machine started; 0 if unknown."""
    try:
        user, nice, system, _, _, *rest = map(int, Path("/proc/stat").read_text().split()[1:9])
    except OSError:
        return 0.0
    return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")


def main(records: int = 26, runs: int = 3) -> None:
    """Run every form in turn."""
    print(f"python {sys.version.split()[0]}, numpy {np.__version__}; {records} records")
    found: dict[str, list[list[Any]]] = {form: [] for form in FORMS}
    for _ in range(runs):
        for form, (n_jobs, backend) in FORMS.items():
            command = [sys.executable, __file__, "search", str(records), str(n_jobs), backend]
            printed = subprocess.run(command, capture_output=True, text=True, check=True)
            found[form].append(json.loads(printed.stdout))
    for form, measured in found.items():
        wall, cpu, others, peak, _ = zip(*measured, strict=True)
        print(
            f"{form:<14} {min(wall):7.2f} s to {max(wall):7.2f} s   of CPU {min(cpu):7.2f} s   "
            f"others {others[wall.index(min(wall))]:.1f}   peak {max(peak):6.0f} MiB"
        )
    best = {form: min(one[0] for one in measured) for form, measured in found.items()}
    for form in ("two threads", "two processes"):
        print(f"{form} are {best['one thread'] / best[form]:.2f} times as fast as one thread")
    for place, numbers, repeats in (("cache", 20_000, 60_000), ("memory", 8_000_000, 40)):
        ratio = own_ratio(numbers, repeats)
        print(f"two processes of bare numpy, arrays in {place}: {ratio:.2f} times as fast as one")
    answers = {tuple(one[-1]) for measured in found.values() for one in measured}
    print(f"different answers: {len(answers) - 1}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["search"]:
        records, n_jobs, backend = sys.argv[2:]
        search(int(records), int(n_jobs), backend)
    else:
        main(*map(int, sys.argv[1:]))
