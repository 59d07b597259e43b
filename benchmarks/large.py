"""Time the engines that need no enumeration: growth from a thousand to a million records.

Run with ``make benchmark-large``. Lognormal records, size N/2, k = 3. Prints seconds after the
universe is sorted (best and worst of the runs), the growth from 1e5 to 1e6, the process's peak
memory, and draws the times on logarithmic axes into ``benchmarks/large.png``.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import sensitivity_lab as sl

SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUERIES = ("mean", "sum", "count", "median", "percentile_90", "trimmed_mean_10", "var", "std")
RELATIONS = (sl.Bounded(3), sl.Unbounded(3))
RUNS = 4


def seconds(records: np.ndarray, query: str, neighbors: sl.Bounded | sl.Unbounded) -> list[float]:
    """Return the times of a search, each on a universe of its own, so that nothing is cached."""
    times = []
    for _ in range(RUNS):
        universe = sl.Universe.from_dataset(records)
        started = time.perf_counter()
        sl.global_sensitivity(universe, query, size=len(records) // 2, neighbors=neighbors)
        times.append(time.perf_counter() - started)
    return times


def draw(times: dict[tuple[str, str], list[float]], path: Path) -> None:
    """Draw the best times against N."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for (query, relation), best in times.items():
        # Color and marker tell the query, the dashes the relation.
        axes.loglog(
            SIZES,
            best,
            color=f"C{QUERIES.index(query)}",
            marker="osD^v*PX"[QUERIES.index(query)],
            linestyle="--" if relation == "unbounded" else "-",
            markersize=4,
            label=f"{query}, {relation}",
        )
    axes.set_xlabel("records of the universe N")
    axes.set_ylabel("seconds after sorting")
    axes.set_title("global sensitivity at size N/2, at most 3 records")
    axes.grid(visible=True, color="0.9")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize="small")
    figure.savefig(path, dpi=120)


def main() -> None:
    """Run the benchmark."""
    rng = np.random.default_rng(0)
    data = {size: rng.lognormal(size=size) for size in SIZES}
    best: dict[tuple[str, str], list[float]] = {}
    print(
        f"python {sys.version.split()[0]}, numpy {np.__version__}; "
        f"best to worst of {RUNS} runs, in seconds"
    )
    print(f"{'query':<14} {'neighbors':<10}" + "".join(f"{f'N = {size:,}':>20}" for size in SIZES))
    for query in QUERIES:
        for neighbors in RELATIONS:
            times = [seconds(data[size], query, neighbors) for size in SIZES]
            best[query, neighbors.name] = [min(some) for some in times]
            cells = "".join(f"{f'{min(some):.3f} to {max(some):.3f}':>20}" for some in times)
            growth = best[query, neighbors.name][-1] / best[query, neighbors.name][-2]
            print(
                f"{query:<14} {neighbors.name:<10}{cells}   x{growth:.1f} from 1e5 to 1e6",
                flush=True,
            )
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30
    print(f"peak memory {peak:.2f} GiB")
    draw(best, Path(__file__).with_name("large.png"))


if __name__ == "__main__":
    main()
