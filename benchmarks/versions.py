"""Compare the speed of two versions of the package, problem by problem.

    git worktree add ../before COMMIT
    python benchmarks/versions.py ../before .

The versions take turns, each in a process of its own, and a problem counts with the least CPU time
of all its runs. So what else the machine does matters little: a version beside itself shows how
little. Problems of 20 records, at which the overhead of a call shows, are timed by the hundred.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import sensitivity_lab as sl

ROUNDS = 3
LEAST = 0.05
"""Seconds of CPU: a problem is repeated until it has taken so long."""


def of_dataset(call: Callable[..., Any], universe: Any, query: Any, x: Any, **rest: Any) -> Any:
    """Call by the order of arguments that the version has."""
    if next(iter(inspect.signature(call).parameters)) == "universe":
        return call(universe, query, dataset=x, **rest)
    return call(x, universe, query, **rest)


def spread(values: Any) -> float:
    """Return a function of the caller's, of which nothing is known."""
    return float(max(values) - min(values))


def of_numbers() -> dict[str, Callable[[], Any]]:
    """Return the problems on numbers: queries with three relations, on 40 and on 100,000."""
    heavy = np.random.default_rng(1).lognormal(8, 1.5, 100_000)
    few, many = sl.Universe.from_dataset(heavy[:40]), sl.Universe.from_dataset(heavy)
    found: dict[str, Callable[[], Any]] = {}
    for query in ("mean", "median", "trimmed_mean_10", "iqr", "var", "std", "count_distinct"):
        for relation in (sl.Bounded(1), sl.Bounded(3), sl.Unbounded(2)):
            for universe, size, told in (
                (few, 20, "20 of 40"),
                (many, 50_000, "50,000 of 100,000"),
            ):
                if size > 20 and query in ("iqr", "count_distinct"):
                    continue
                found[f"global {query}, {relation}, {told}"] = partial(
                    sl.global_sensitivity, universe, query, size=size, neighbors=relation
                )
                found[f"local {query}, {relation}, {told}"] = partial(
                    of_dataset,
                    sl.local_sensitivity,
                    universe,
                    query,
                    heavy[:size],
                    neighbors=relation,
                )
    found["sizes 3 to 2,000, median"] = partial(
        sl.global_sensitivity, many, "median", size=range(3, 2_001), neighbors=sl.Unbounded(2)
    )
    found["smooth median, 2,000 of 100,000"] = partial(
        of_dataset,
        sl.smooth_sensitivity,
        many,
        "median",
        heavy[:2_000],
        beta=0.1,
        neighbors="bounded",
    )
    found["curves of mean, median, std to k = 10, 20 of 40"] = partial(
        sl.sensitivity_curves,
        few,
        ["mean", "median", "std"],
        size=20,
        distances=range(1, 11),
        neighbors="bounded",
    )
    found["enumeration of a function, 6 of 12"] = partial(
        sl.global_sensitivity,
        sl.Universe.from_dataset(heavy[:12]),
        spread,
        size=6,
        neighbors=sl.Bounded(2),
    )
    found["enumeration of a median, 8 of 16"] = partial(
        sl.global_sensitivity,
        sl.Universe.from_dataset(heavy[:16]),
        "median",
        size=8,
        neighbors="bounded",
        method="enumeration",
    )
    return found


def of_domains_and_rows() -> dict[str, Callable[[], Any]]:
    """Return the problems on a domain, an interval and a table."""
    random = np.random.default_rng(1)
    found: dict[str, Callable[[], Any]] = {}
    universe: Any
    for universe, told in (
        (sl.Universe.from_domain(range(101)), "domain 0..100"),
        (sl.Universe.from_interval(0, 10), "interval"),
    ):
        for query in ("mean", "median", "std"):
            found[f"global {query}, {told}, n = 1,000"] = partial(
                sl.global_sensitivity, universe, query, size=1_000, neighbors="bounded"
            )
    frame = pd.DataFrame(
        {"g": random.choice(list("abc"), 2_000), "v": random.integers(0, 100, 2_000)}
    )
    histogram = sl.Histogram("g", list("abc"))
    mean_by_group = sl.GroupBy("g", sl.MeanOf("v", empty=0), list("abc"))
    for rows, size in ((40, 20), (2_000, 500)):
        table, told = sl.TableUniverse.from_dataset(frame[:rows]), f"{size} rows of {rows:,}"
        found[f"global histogram, {told}"] = partial(
            sl.global_sensitivity, table, histogram, size=size, neighbors=sl.Bounded(3)
        )
        found[f"local histogram, {told}"] = partial(
            of_dataset,
            sl.local_sensitivity,
            table,
            histogram,
            frame[:size],
            neighbors=sl.Bounded(3),
        )
        found[f"mean by group, {told}"] = partial(
            sl.global_sensitivity, table, mean_by_group, size=size, neighbors="bounded"
        )
    return found


def timed() -> dict[str, float]:
    """Return the CPU seconds of every problem, each after one call that warms it up."""
    taken = {}
    for name, call in (of_numbers() | of_domains_and_rows()).items():
        started = time.process_time()
        call()
        first = time.process_time() - started
        times = max(1, min(200, int(LEAST / max(first, 1e-6))))
        started = time.process_time()
        for _ in range(times):
            call()
        taken[name] = (time.process_time() - started) / times
    return taken


def one_round(version: Path) -> dict[str, float]:
    """Time a version in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(version.resolve()), "OMP_NUM_THREADS": "1"}
    found = subprocess.run(
        [sys.executable, __file__, "--timed"],
        env=environment,
        cwd=version,
        capture_output=True,
        text=True,
        check=True,
    )
    told: dict[str, float] = json.loads(found.stdout)
    return told


def main() -> None:
    """Print a line per problem, the slowest beside the version before first."""
    if sys.argv[1:] == ["--timed"]:
        print(json.dumps(timed()))
        return
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    before, after = map(Path, sys.argv[1:])
    runs: tuple[list[dict[str, float]], list[dict[str, float]]] = ([], [])
    for number in range(ROUNDS):
        for version, kept in ((before, runs[0]), (after, runs[1])):
            kept.append(one_round(version))
        print(f"round {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
    least = [{name: min(run[name] for run in kept) for name in kept[0]} for kept in runs]
    ratios = {name: least[1][name] / least[0][name] for name in least[0]}
    print(f"{'problem':66} {'before':>10} {'after':>10}  ratio")
    for name in sorted(ratios, key=lambda name: -ratios[name]):
        print(
            f"{name:66} {least[0][name] * 1e3:7.2f} ms {least[1][name] * 1e3:7.2f} ms"
            f"  {ratios[name]:5.2f}"
        )
    over = sum(ratio > 1.2 for ratio in ratios.values())
    print(f"{len(ratios)} problems: {over} took more than 1.2 times as long")


if __name__ == "__main__":
    main()
