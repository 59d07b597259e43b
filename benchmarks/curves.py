"""Time whole curves: the article's queries, min and max, at most k for every k up to K.

Run with ``make benchmark-curves``. Lognormal records, size N/2, bounded and unbounded; seconds of
one core, the making of the universe included. Prints what an array of N = 1e6 takes to three
results, what N = 1e5 takes for every k there is, and all queries against K and against N, and draws
the latter into ``benchmarks/curves.png``. A line ends where a point took longer than `LIMIT`.

``python benchmarks/curves.py --quick`` leaves out var and std, and draws nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import sensitivity_lab as sl

RELATIONS = ("bounded", "unbounded")
BY_COLUMNS = (
    *("mean", "median", "count", "sum", "percentile_25", "percentile_50", "percentile_75"),
    *("percentile_90", "min", "max"),
)
GROUPS = {"mean, sum, count, quantiles": BY_COLUMNS, "var": ("var",), "std": ("std",)}
DISTANCES = (1, 3, 10, 30, 100, 300, 1_000)
SIZES = (1_000, 10_000, 100_000, 1_000_000)
LIMIT = 60.0

Line = list[tuple[int, float]]
"""What was varied, and seconds."""


def seconds(records: np.ndarray, queries: Sequence[str], neighbors: str, most: int) -> float:
    """Return the processor time of the curves for k = 1 to `most`."""
    started = time.process_time()
    universe = sl.Universe.from_dataset(records)
    sl.sensitivity_curves(
        universe,
        queries,
        size=len(records) // 2,
        distances=range(1, most + 1),
        neighbors=neighbors,
    )
    return time.process_time() - started


def three_results(records: np.ndarray) -> float:
    """Return the processor time from an array to the mean, the median and a percentile."""
    started = time.process_time()
    universe = sl.Universe.from_dataset(records)
    for query in ("mean", "median", "percentile_90"):
        sl.global_sensitivity(universe, query, size=len(records) // 2, neighbors="bounded")
    return time.process_time() - started


def line(points: Iterable[tuple[int, np.ndarray, int]], group: str, neighbors: str) -> Line:
    """Time a group of queries at some points, (what is varied, records, K), up to the limit."""
    timed: Line = []
    for varied, records, most in points:
        timed.append((varied, seconds(records, GROUPS[group], neighbors, most)))
        if timed[-1][1] > LIMIT:
            break
    return timed


def show(title: str, lines: dict[str, Line]) -> None:
    """Print the lines of a panel as a table."""
    print(title)
    for name, points in lines.items():
        cells = "".join(f"{f'{varied:,}: {spent:.2f} s':>20}" for varied, spent in points)
        print(f"  {name:<38}{cells}", flush=True)


def draw(panels: dict[str, dict[str, Line]], path: Path) -> None:
    """Draw the seconds on logarithmic axes, a panel for each thing that was varied."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (title, lines) in zip(
        figure.subplots(1, len(panels), sharey=True), panels.items(), strict=True
    ):
        for number, (name, points) in enumerate(lines.items()):
            # Color and marker tell the queries, the dashes the relation.
            color, dashes = divmod(number, len(RELATIONS))
            axes.loglog(
                *zip(*points, strict=True),
                color=f"C{color}",
                marker="osD"[color],
                linestyle="--" if dashes else "-",
                markersize=4,
                label=name,
            )
        axes.set_title(title, fontsize="medium")
        axes.set_xlabel("largest distance K" if "N =" in title else "records of the universe N")
        axes.grid(visible=True, color="0.9")
    figure.axes[0].set_ylabel("seconds of one core")
    figure.axes[-1].legend(
        loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize="small"
    )
    figure.savefig(path, dpi=120)


def main() -> None:
    """Run the benchmark."""
    quick = "--quick" in sys.argv[1:]
    groups = list(GROUPS)[: 1 if quick else None]
    rng = np.random.default_rng(0)
    data = {size: rng.lognormal(size=size) for size in SIZES}
    print(f"python {sys.version.split()[0]}, numpy {np.__version__}; seconds of one core")
    print(f"array of 1,000,000 to mean, median, percentile_90: {three_results(data[10**6]):.2f} s")
    for neighbors in RELATIONS:
        spent = seconds(data[10**5], BY_COLUMNS[:-2], neighbors, 49_999)
        print(f"N = 100,000, k = 1 to 49,999, mean to percentile_90, {neighbors}: {spent:.2f} s")
    most = DISTANCES[-1]
    points = {
        f"N = 1,000,000, k = 1 to K, {most:,} at most": [(k, data[10**6], k) for k in DISTANCES],
        f"k = 1 to {most:,}, or N/2 - 1": [
            (size, data[size], min(most, size // 2 - 1)) for size in SIZES
        ],
    }
    panels = {}
    for title, some in points.items():
        panels[title] = {
            f"{group}, {neighbors}": line(some, group, neighbors)
            for group in groups
            for neighbors in RELATIONS
        }
        show(title, panels[title])
    last = [timed[-1] for timed in panels[next(iter(points))].values()]
    if all(varied == most for varied, _ in last):
        total = sum(spent for _, spent in last)
        print(f"all queries and relations, N = 1,000,000, k = 1 to {most:,}: {total:.1f} s")
    if not quick:
        draw(panels, Path(__file__).with_name("curves.png"))


if __name__ == "__main__":
    main()
