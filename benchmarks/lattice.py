"""Time the search by enumeration on one thread, on two, and with its arrays in files.

Run with ``make benchmark-lattice``. 26 records, size 13, one vectorized query, unbounded and
bounded, k = 1..3: 56 million datasets. Every search is a process of its own, in turn, several
times. Prints seconds (best and worst, which shows the machine's noise), the ratios of the best, and
peak memory of the process that searches.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import sensitivity_lab as sl

FORMS = {"one thread": (1, False), "two threads": (2, False), "files": (1, True)}


def spread(rows: np.ndarray) -> np.ndarray:
    """Return a float per dataset, of few passes over its records."""
    return np.abs(rows - 3.3).max(axis=-1) - rows[:, 0] * 0.5


def search(records: int, n_jobs: int, scratch: str | None) -> None:
    """Search, and print seconds, CPU seconds, peak memory in MiB and the values."""
    universe = sl.Universe.from_dataset(
        np.random.default_rng(1).permutation(1000).astype(float)[:records]
    )
    started, cpu = time.perf_counter(), time.process_time()
    curves = sl.sensitivity_curves(
        universe,
        [sl.from_function(spread, vectorized=True)],
        size=records // 2,
        distances=range(1, 4),
        neighbors=["unbounded", "bounded"],
        method="enumeration",
        n_jobs=n_jobs,
        scratch=scratch,
    )
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20
    seconds = time.perf_counter() - started, time.process_time() - cpu
    print(json.dumps([*seconds, peak, [result.value for _, result in curves.points]]))


def main(records: int = 26, runs: int = 3) -> None:
    """Run every form in turn."""
    print(f"python {sys.version.split()[0]}, numpy {np.__version__}; {records} records")
    found: dict[str, list[list[float]]] = {form: [] for form in FORMS}
    values = set()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(runs):
            for form, (n_jobs, in_files) in FORMS.items():
                command = [
                    *(sys.executable, __file__, "search", str(records), str(n_jobs)),
                    *([folder] if in_files else []),
                ]
                printed = subprocess.run(command, capture_output=True, text=True, check=True)
                *measured, answer = json.loads(printed.stdout)
                found[form].append(measured)
                values.add(tuple(answer))
        left = len(list(Path(folder).iterdir()))
    for form, measured in found.items():
        wall, cpu, peak = zip(*measured, strict=True)
        print(
            f"{form:<12} {min(wall):7.2f} s to {max(wall):7.2f} s   of CPU {min(cpu):7.2f} s   "
            f"peak {max(peak):6.0f} MiB"
        )
    best = {form: min(one[0] for one in measured) for form, measured in found.items()}
    print(f"two threads are {best['one thread'] / best['two threads']:.2f} times as fast as one")
    print(f"files take {best['files'] / best['one thread']:.2f} times as long as memory")
    print(f"different answers: {len(values) - 1}; files left behind: {left}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["search"]:
        search(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else None)
    else:
        main(*map(int, sys.argv[1:]))
