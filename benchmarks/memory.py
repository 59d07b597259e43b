"""Measure the memory of searches against what their plans say, over all engines.

Run with ``make benchmark-memory``. Every problem is searched in a process of its own, after a small
one, so that what the libraries need anyway does not count. The peak is that of all Python objects
and arrays from the first plan on (tracemalloc), for searches by enumeration that of the process. A
plan is wrong that is below the peak, or above one and a half times the peak and 32 MiB; then the
exit code is 1. What a call reads before it plans, the universe and a local call's dataset, is
printed beside.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pandas as pd

import sensitivity_lab as sl
from sensitivity_lab.search import engine as engines

RNG = np.random.default_rng(1)
BOTH = ["bounded", "unbounded"]
SLACK = 2**25
"""A plan may be so much above one and a half times the peak."""


@dataclass(frozen=True)
class Case:
    """A search: the engine, what it is asked, and how large it is.

    Attributes
    ----------
    engine, kind : str
        Which engine solves it.
    made : callable
        Takes a number of records, and returns what the search is about.
    asked : callable
        Takes that, and searches.
    records : int
        For the benchmark; tests take fewer.
    few : int
        For tests.
    of_process : bool
        Whether to measure the memory of the process, which enumeration gives back to the system.
    """

    engine: str
    kind: str
    made: Callable[[int], Any]
    asked: Callable[[Any], Any]
    records: int
    few: int
    of_process: bool = False


class Measured(NamedTuple):
    """What a search planned, and what it took, in bytes; `before` is what it read before that."""

    planned: int
    peak: int
    before: int
    engines: frozenset[tuple[str, str]]

    @property
    def right(self) -> bool:
        """Whether the plan is no less than the peak, and not far above it."""
        return self.peak <= self.planned <= 1.5 * self.peak + SLACK


# Universes of so many records, or datasets with their universe.


def floats(n: int) -> sl.Universe:
    return sl.Universe.from_dataset(np.random.default_rng(1).lognormal(size=n))


def scaled(n: int) -> sl.Universe:
    spread = np.random.default_rng(1).normal(size=n) * 10.0 ** np.linspace(-100, 100, n)
    return sl.Universe.from_dataset(spread)


def whole(n: int) -> sl.Universe:
    return sl.Universe.from_dataset(np.random.default_rng(1).integers(0, 10**6, size=n))


def repeated(n: int) -> sl.Universe:
    return sl.Universe.from_dataset(np.random.default_rng(1).integers(0, n // 20 + 2, size=n))


def thirds(n: int) -> sl.Universe:
    return sl.Universe.from_dataset([Fraction(value, 3) for value in range(n)])


def domain(n: int) -> sl.Universe:
    return sl.Universe.from_domain(range(n))


def table(n: int) -> sl.TableUniverse:
    rng = np.random.default_rng(1)
    rows = {"g": rng.integers(0, 5, n), "h": rng.integers(0, 4, n), "v": rng.integers(0, 10**6, n)}
    return sl.TableUniverse.from_dataset(pd.DataFrame(rows))


def interval(n: int) -> Any:
    return sl.Universe.from_interval(0, 1), n


def half_of(universe: Any) -> Any:
    """Return a dataset of every other record, with its universe."""
    return list(universe)[::2], universe


def halved(made: Callable[[int], Any]) -> Callable[[int], Any]:
    return lambda n: half_of(made(n))


# Searches over them.


def asked_global(query: Any, neighbors: Any, **more: Any) -> Callable[[Any], Any]:
    def ask(universe: Any) -> Any:
        size = more.get("size") or (len(universe) // 2 if universe.counts else 50)
        return sl.global_sensitivity(
            universe, query, **{**more, "size": size, "neighbors": neighbors}
        )

    return ask


def asked_curve(queries: Any, neighbors: Any, **more: Any) -> Callable[[Any], Any]:
    """Ask for a fiftieth as many distances as there are records."""

    def ask(universe: Any) -> Any:
        number = len(universe)
        distances = range(1, max(2, number // 50) + 1)
        return sl.sensitivity_curves(
            universe,
            queries,
            **{"size": number // 2, "distances": distances, "neighbors": neighbors, **more},
        )

    return ask


def asked_local(query: Any, neighbors: Any, **more: Any) -> Callable[[Any], Any]:
    return lambda given: sl.local_sensitivity(*given, query, neighbors=neighbors, **more)


def asked_smooth(query: Any, neighbors: Any, **more: Any) -> Callable[[Any], Any]:
    return lambda given: sl.smooth_sensitivity(*given, query, neighbors=neighbors, beta=0.1, **more)


B, U, SD = sl.Bounded, sl.Unbounded, sl.SymmetricDifference


def grouped(query: Any, **more: Any) -> Any:
    return sl.GroupBy("g", query, groups=range(5), **more)


CELLS = sl.Histogram("g", categories=range(5))
STACK = sl.Stack(sl.Count(), sl.SumOf("v"))
MEAN = sl.MeanOf("v")
SPREAD = sl.from_function(np.ptp, name="spread")
SIZES = {"group_sizes": [6] * 5}

FLOAT = sl.from_function(
    lambda rows: np.abs(rows - 3.3).max(axis=1) - rows[:, 0] * 0.5, vectorized=True, name="float"
)
ENDS = [
    sl.from_function(lambda rows, at=at: rows[:, at] * 0.5, vectorized=True, name=f"record {at}")
    for at in range(3)
]

CASES: dict[str, Case] = {
    name: Case(*case)
    for name, case in {
        # Order statistics
        "median, floats": (
            "order_statistics",
            "global",
            floats,
            asked_global("median", B(1)),
            10**6,
            20_000,
        ),
        "median, counted whole numbers": (
            "order_statistics",
            "global",
            repeated,
            asked_global("median", U(2)),
            10**6,
            20_000,
        ),
        "median, thirds": (
            "order_statistics",
            "global",
            thirds,
            asked_global("median", B(1)),
            300_000,
            10_000,
        ),
        "median, curve": (
            "order_statistics",
            "global",
            floats,
            asked_curve("median", BOTH),
            300_000,
            20_000,
        ),
        "percentiles, curves": (
            "order_statistics",
            "global",
            floats,
            asked_curve(["percentile_10", "percentile_90"], "symmetric_difference"),
            100_000,
            10_000,
        ),
        "median, sizes": (
            "order_statistics",
            "global",
            whole,
            lambda u: sl.global_sensitivity(
                u, "median", size=range(2, len(u) // 20), neighbors=U(1)
            ),
            30_000,
            3_000,
        ),
        "trimmed mean": (
            "order_statistics",
            "global",
            whole,
            asked_global("trimmed_mean_10", B(1)),
            20_000,
            2_000,
        ),
        "median of x": (
            "order_statistics",
            "local",
            halved(floats),
            asked_local("median", B(1)),
            300_000,
            20_000,
        ),
        "median of x, thirds": (
            "order_statistics",
            "local",
            halved(thirds),
            asked_local("median", U(3)),
            100_000,
            10_000,
        ),
        "median, smooth": (
            "order_statistics",
            "smooth",
            halved(floats),
            asked_smooth("median", B(1)),
            300_000,
            20_000,
        ),
        "median, smooth, repeated": (
            "order_statistics",
            "smooth",
            halved(repeated),
            asked_smooth("median", B(1)),
            300_000,
            20_000,
        ),
        "median, smooth, far": (
            "order_statistics",
            "smooth",
            halved(scaled),
            asked_smooth("percentile_30", B(1)),
            20_000,
            3_000,
        ),
        # Linear
        "mean, floats": ("linear", "global", floats, asked_global("mean", B(1)), 10**6, 20_000),
        "mean, floats far apart": (
            "linear",
            "global",
            scaled,
            asked_global("mean", U(3)),
            10**6,
            20_000,
        ),
        "mean, whole numbers": (
            "linear",
            "global",
            whole,
            asked_global("mean", U(3)),
            10**6,
            20_000,
        ),
        "mean, counted whole numbers": (
            "linear",
            "global",
            repeated,
            asked_global("mean", U(3)),
            10**6,
            20_000,
        ),
        "mean, thirds": ("linear", "global", thirds, asked_global("mean", B(1)), 300_000, 10_000),
        "mean, domain": (
            "linear",
            "global",
            domain,
            asked_global("mean", B(1), size=10**6),
            300_000,
            10_000,
        ),
        "mean, curve": ("linear", "global", floats, asked_curve("mean", BOTH), 300_000, 20_000),
        "sum and mean, curve": (
            "linear",
            "global",
            whole,
            asked_curve(["sum", "mean", "count"], "symmetric_difference"),
            100_000,
            10_000,
        ),
        "mean of x": (
            "linear",
            "local",
            halved(floats),
            asked_local("mean", B(3)),
            300_000,
            20_000,
        ),
        "sum of x, thirds": (
            "linear",
            "local",
            halved(thirds),
            asked_local("sum", U(1)),
            100_000,
            10_000,
        ),
        "mean, smooth, bounded": (
            "linear",
            "smooth",
            halved(floats),
            asked_smooth("mean", B(1)),
            300_000,
            20_000,
        ),
        "mean, smooth, unbounded": (
            "linear",
            "smooth",
            halved(whole),
            asked_smooth("mean", U(1)),
            300_000,
            20_000,
        ),
        "mean, smooth, far apart": (
            "linear",
            "smooth",
            halved(scaled),
            asked_smooth("mean", U(1)),
            30_000,
            5_000,
        ),
        # Variance
        "var, floats": ("variance", "global", floats, asked_global("var", B(1)), 10**6, 100_000),
        "std, floats, replaced 3": (
            "variance",
            "global",
            floats,
            asked_global("std", B(3)),
            10**6,
            100_000,
        ),
        "std, floats, removed 3": (
            "variance",
            "global",
            floats,
            asked_global("std", U(3)),
            300_000,
            50_000,
        ),
        "var, floats far apart": (
            "variance",
            "global",
            scaled,
            asked_global("var", B(1)),
            300_000,
            20_000,
        ),
        "std, whole numbers": (
            "variance",
            "global",
            whole,
            asked_global("std", B(2)),
            10**6,
            100_000,
        ),
        "std, counted": ("variance", "global", repeated, asked_global("std", B(2)), 10**6, 100_000),
        "std, few": ("variance", "global", floats, asked_global("std", B(1)), 60_000, 30_000),
        "std, few, replaced 5": (
            "variance",
            "global",
            floats,
            asked_global("std", B(5)),
            60_000,
            12_000,
        ),
        "std, most replaced": (
            "variance",
            "global",
            whole,
            lambda u: sl.global_sensitivity(
                u, "std", size=len(u) // 3, neighbors=B(len(u) // 4, exactly=True)
            ),
            200_000,
            20_000,
        ),
        "var, removed, compact": (
            "variance",
            "global",
            domain,
            lambda u: sl.global_sensitivity(
                u, "var", size=10**4 if len(u.values) < 200 else 10**5, neighbors=U(2)
            ),
            200,
            100,
        ),
        "var, thirds": ("variance", "global", thirds, asked_global("var", U(1)), 300_000, 30_000),
        "var, many copies": (
            "variance",
            "global",
            domain,
            lambda u: sl.global_sensitivity(
                u, "var", size=10**4 if len(u.values) < 200 else 10**5, neighbors=B(1)
            ),
            200,
            100,
        ),
        "var and std, curve": (
            "variance",
            "global",
            floats,
            asked_curve(["var", "std"], BOTH),
            20_000,
            3_000,
        ),
        "std of x": (
            "variance",
            "local",
            halved(floats),
            asked_local("std", B(1)),
            300_000,
            20_000,
        ),
        "std of x, thirds": (
            "variance",
            "local",
            halved(thirds),
            asked_local("std", U(30)),
            100_000,
            10_000,
        ),
        "var of x, far": (
            "variance",
            "local",
            halved(floats),
            lambda g: sl.local_sensitivity(*g, "var", neighbors=B(len(g[0]) // 2, exactly=True)),
            100_000,
            10_000,
        ),
        "var, smooth": (
            "variance",
            "smooth",
            halved(whole),
            asked_smooth("var", B(1)),
            300_000,
            20_000,
        ),
        "std, smooth": (
            "variance",
            "smooth",
            halved(floats),
            asked_smooth("std", B(1)),
            20_000,
            3_000,
        ),
        # Ranks
        "gini": ("ranks", "global", whole, asked_global("gini_mean_difference", B(1)), 2_000, 500),
        "gini, floats far apart": (
            "ranks",
            "global",
            floats,
            asked_global("gini_mean_difference", U(2)),
            1_000,
            300,
        ),
        "iqr": ("ranks", "global", whole, asked_global("iqr", B(2)), 20_000, 2_000),
        "range, curve": (
            "ranks",
            "global",
            whole,
            lambda u: sl.sensitivity_curves(
                u, "range", size=len(u) // 2, distances=range(1, 4), neighbors=BOTH
            ),
            5_000,
            500,
        ),
        "gini of x": (
            "ranks",
            "local",
            halved(whole),
            asked_local("gini_mean_difference", B(2)),
            100_000,
            5_000,
        ),
        "iqr of x": ("ranks", "local", halved(floats), asked_local("iqr", B(8)), 20_000, 2_000),
        # Multiplicities
        "distinct values": (
            "multiplicities",
            "global",
            repeated,
            asked_global("count_distinct", B(3)),
            10**6,
            50_000,
        ),
        "largest multiplicity": (
            "multiplicities",
            "global",
            floats,
            asked_global("mode_count", U(2)),
            10**6,
            50_000,
        ),
        "largest multiplicity, curve": (
            "multiplicities",
            "global",
            repeated,
            asked_curve(
                "mode_count",
                BOTH,
            ),
            10_000,
            2_000,
        ),
        "distinct values of x": (
            "multiplicities",
            "local",
            halved(repeated),
            asked_local("count_distinct", B(5)),
            300_000,
            20_000,
        ),
        "largest multiplicity of x": (
            "multiplicities",
            "local",
            halved(floats),
            asked_local("mode_count", B(5)),
            300_000,
            20_000,
        ),
        # Tables
        "histogram": ("row_sums", "global", table, asked_global(CELLS, B(1)), 200_000, 10_000),
        "histogram, L2": (
            "row_sums",
            "global",
            table,
            asked_global(CELLS, B(2), norm="L2"),
            50_000,
            5_000,
        ),
        "stack, L2": (
            "row_sums",
            "global",
            table,
            asked_global(STACK, U(1), norm="L2"),
            50_000,
            5_000,
        ),
        "sum of a column": (
            "row_sums",
            "global",
            table,
            asked_global(sl.SumOf("v"), B(3)),
            200_000,
            10_000,
        ),
        "vector sum, L2": (
            "row_sums",
            "global",
            table,
            asked_global(sl.VectorSum(["g", "v"], 10**6), B(1), norm="L2"),
            5_000,
            1_000,
        ),
        "histogram of x": (
            "row_sums",
            "local",
            halved(table),
            asked_local(CELLS, B(1)),
            100_000,
            10_000,
        ),
        "mean of a column": (
            "one_column",
            "global",
            table,
            asked_global(MEAN, B(1)),
            200_000,
            10_000,
        ),
        "median of a column": (
            "one_column",
            "global",
            table,
            asked_global(sl.ColumnQuery("v", "median"), U(1)),
            200_000,
            10_000,
        ),
        "std of a column": (
            "one_column",
            "global",
            table,
            asked_global(sl.ColumnQuery("v", "std"), B(2)),
            200_000,
            30_000,
        ),
        "mean of a column of x": (
            "one_column",
            "local",
            halved(table),
            asked_local(MEAN, B(1)),
            100_000,
            10_000,
        ),
        "std of a column of x": (
            "one_column",
            "local",
            halved(table),
            asked_local(sl.ColumnQuery("v", "std"), B(1)),
            100_000,
            10_000,
        ),
        "means by group": (
            "groups",
            "global",
            table,
            asked_global(grouped(sl.MeanOf("v", empty=0)), B(1), size=50),
            100_000,
            10_000,
        ),
        "means by group, larger": (
            "groups",
            "global",
            table,
            asked_global(grouped(sl.MeanOf("v", empty=0)), B(1)),
            10_000,
            1_000,
        ),
        "medians by group, k = 3": (
            "groups",
            "global",
            table,
            asked_global(grouped(sl.ColumnQuery("v", "median", empty=0)), U(3), norm="Linf"),
            10_000,
            1_000,
        ),
        "means by group, known sizes": (
            "groups",
            "global",
            table,
            asked_global(grouped(MEAN, **SIZES), B(2), size=30),
            100_000,
            10_000,
        ),
        "std by group": (
            "groups",
            "global",
            table,
            asked_global(grouped(sl.ColumnQuery("v", sl.Std(ddof=0), empty=0)), B(1), size=50),
            20_000,
            2_000,
        ),
        "means by group of x": (
            "groups",
            "local",
            halved(table),
            asked_local(grouped(sl.MeanOf("v", empty=0)), B(2)),
            50_000,
            5_000,
        ),
        "several queries": (
            "stacks",
            "global",
            table,
            asked_global(sl.Stack(MEAN, sl.SumOf("v")), B(1), norm="Linf"),
            100_000,
            10_000,
        ),
        "several queries, L1": (
            "stacks",
            "global",
            table,
            asked_global(sl.Stack(sl.ColumnQuery("v", "max"), sl.SumOf("v")), B(1)),
            50_000,
            5_000,
        ),
        # Intervals
        "mean, interval": (
            "intervals",
            "global",
            interval,
            lambda g: sl.global_sensitivity(g[0], "mean", size=g[1], neighbors=B(1)),
            10**6,
            10**5,
        ),
        "std, interval": (
            "intervals",
            "global",
            interval,
            lambda g: sl.global_sensitivity(
                g[0], "std", size=g[1], neighbors=sl.SymmetricDifference(3)
            ),
            10**6,
            10**5,
        ),
        "iqr, interval": (
            "intervals",
            "global",
            interval,
            lambda g: sl.global_sensitivity(g[0], "iqr", size=g[1] // 100, neighbors=B(1)),
            10**6,
            10**5,
        ),
        "var, interval, curve": (
            "intervals",
            "global",
            interval,
            lambda g: sl.sensitivity_curves(
                g[0], ["var", "std"], size=g[1], distances=range(1, 50), neighbors=BOTH
            ),
            10**4,
            2_000,
        ),
        "mean of x, interval": (
            "intervals",
            "local",
            lambda n: (interval(n)[0], np.random.default_rng(1).random(n).tolist()),
            lambda g: sl.local_sensitivity(g[1], g[0], "mean", neighbors=B(1)),
            100_000,
            10_000,
        ),
        "std of x, interval": (
            "intervals",
            "local",
            lambda n: (interval(n)[0], np.random.default_rng(1).random(n).tolist()),
            lambda g: sl.local_sensitivity(g[1], g[0], "std", neighbors=B(1)),
            50_000,
            5_000,
        ),
        # Enumeration
        "any function": (
            "enumeration",
            "global",
            floats,
            lambda u: sl.global_sensitivity(u, FLOAT, size=len(u) // 2, neighbors=B(1)),
            24,
            19,
        ),
        "any functions, curves": (
            "enumeration",
            "global",
            floats,
            lambda u: sl.sensitivity_curves(
                u, ENDS, size=len(u) // 2, distances=[1, 2], neighbors=BOTH
            ),
            20,
            17,
        ),
        "any function of x": (
            "enumeration",
            "local",
            halved(floats),
            asked_local(SPREAD, B(1)),
            1_000,
            200,
        ),
        "any function, smooth": (
            "enumeration",
            "smooth",
            halved(floats),
            asked_smooth(SPREAD, B(1)),
            18,
            14,
        ),
        "any function, smooth, unbounded": (
            "enumeration",
            "smooth",
            halved(floats),
            lambda g: sl.smooth_sensitivity(
                *g, SPREAD, beta=0.1, neighbors=U(1), sizes=(2, len(g[1]))
            ),
            15,
            12,
        ),
    }.items()
}


@contextmanager
def recorded(plans: list[int], solvers: set[tuple[str, str]]) -> Iterator[None]:
    """Note what the first engine that takes a problem plans, and when planning starts."""
    planned = engines.planned

    def noted(engine: Any, problem: Any, options: Any) -> Any:
        if not plans:
            plans.append(tracemalloc.get_traced_memory()[0])
            tracemalloc.reset_peak()
        plan = planned(engine, problem, options)
        if isinstance(plan, engines.Plan):
            plans.append(plan.cost.bytes)
            solvers.add((engine.name, engine.kind))
        return plan

    with ExitStack() as stack:
        for module in ("sensitivity_lab.search", "sensitivity_lab.calls.curves"):
            stack.enter_context(mock.patch(f"{module}.planned", noted))
        yield


def traced(case: Case, records: int) -> Measured:
    """Search one problem after a small one, and return its plan and its peak."""
    case.asked(case.made(min(100 if case.few > 100 else 10, records)))
    given = case.made(records)
    gc.collect()
    plans, solvers = [], set()
    tracemalloc.start()
    try:
        with recorded(plans, solvers):
            case.asked(given)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return Measured(max(plans[1:]), peak - plans[0], plans[0], frozenset(solvers))


def main() -> None:
    import time

    for name, case in CASES.items():
        if len(sys.argv) > 1 and not any(
            a in name or a == case.engine + "." + case.kind for a in sys.argv[1:]
        ):
            continue
        t = time.time()
        try:
            m = traced(case, case.few)
        except Exception as e:
            print(name, "FAILED", repr(e)[:300])
            continue
        print(
            f"{name:28s} {case.engine:>16s}.{case.kind:6s} n {case.few:7d} {'OK ' if (case.engine, case.kind) in m.engines else m.engines} planned {m.planned / case.few:8.0f} peak {m.peak / case.few:8.0f} B/rec ratio {m.planned / m.peak:5.2f} {'RIGHT' if m.right else 'WRONG'} peak {m.peak / 2**20:6.1f} MiB before {m.before / case.few:6.0f} {time.time() - t:6.1f}s",
            flush=True,
        )


if __name__ == "__main__":
    main()
