"""Measure the memory of searches against what their plans say, over all engines.

Run with ``make benchmark-memory``. Every problem is searched in a process of its own, after a small
one, so that what the libraries need anyway does not count. The peak is that of all Python objects
and arrays (tracemalloc) from the first plan to the result; for the largest problems also that of
the process. What a call holds before it plans, such as a local call's dataset, stands beside. A
plan is wrong that is below the peak, or above one and a half times the peak and 32 MiB: then the
exit code is 1.
"""

from __future__ import annotations

import contextlib
import gc
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pandas as pd
import tqdm  # noqa: F401 - searches that may show progress import it: that is not their memory

import sensitivity_lab as sl
from sensitivity_lab.search import engine as engines
from sensitivity_lab.search.enumeration.too_large import Levels

BOTH = ["bounded", "unbounded"]
SLACK = 2**25
"""A plan may be so much above one and a half times the peak."""


@dataclass(frozen=True)
class Case:
    """A search.

    Attributes
    ----------
    engine, kind : str
        Which engine solves it.
    made : callable
        Takes a number of records, and returns what the search is about.
    asked : callable
        Takes that, and searches.
    records : int
        How many, in the benchmark.
    few : int
        How many, in tests; 0 leaves the case to the benchmark.
    of_process : bool
        Whether to measure the peak of the process, too.
    """

    engine: str
    kind: str
    made: Callable[[int], Any]
    asked: Callable[[Any], Any]
    records: int
    few: int
    of_process: bool = False


class Measured(NamedTuple):
    """What a search planned, its peak, and what it held before, in bytes; and who solved it."""

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
    """Floats of one scale."""
    return sl.Universe.from_dataset(np.random.default_rng(1).lognormal(size=n))


def scaled(n: int) -> sl.Universe:
    """Floats from 1e-100 to 1e100, of both signs."""
    spread = np.random.default_rng(1).normal(size=n) * 10.0 ** np.linspace(-100, 100, n)
    return sl.Universe.from_dataset(spread)


def whole(n: int) -> sl.Universe:
    """Whole numbers, few of them twice."""
    return sl.Universe.from_dataset(np.random.default_rng(1).integers(0, 10**6, size=n))


def repeated(n: int) -> sl.Universe:
    """Whole numbers, each about twenty times."""
    return sl.Universe.from_dataset(np.random.default_rng(1).integers(0, n // 20 + 2, size=n))


def thirds(n: int) -> sl.Universe:
    """Fractions."""
    return sl.Universe.from_dataset([Fraction(value, 3) for value in range(n)])


def long(n: int) -> sl.Universe:
    """Whole numbers of 600 digits."""
    return sl.Universe.from_dataset([10**600 + value**2 for value in range(n)])


def domain(n: int) -> sl.Universe:
    """A domain of so many values, with unlimited copies."""
    return sl.Universe.from_domain(range(n))


def table(n: int) -> sl.TableUniverse:
    """Rows with a group and a number."""
    rng = np.random.default_rng(1)
    rows = {"g": rng.integers(0, 5, n), "h": rng.integers(0, 4, n), "v": rng.integers(0, 10**6, n)}
    return sl.TableUniverse.from_dataset(pd.DataFrame(rows))


def interval(n: int) -> Any:
    """All numbers of [0, 1], and a size."""
    return sl.Universe.from_interval(0, 1), n


def half_of(universe: Any) -> Any:
    """Return a dataset of every other record, with its universe."""
    return list(universe)[::2], universe


def halved(made: Callable[[int], Any]) -> Callable[[int], Any]:
    """Make a dataset of every other record, with its universe."""
    return lambda n: half_of(made(n))


def but_ten(made: Callable[[int], Any]) -> Callable[[int], Any]:
    """Make a dataset of all records but ten in the middle, with its universe."""

    def both(n: int) -> Any:
        universe = made(n)
        records = np.sort(np.asarray(list(universe)))
        return np.delete(records, np.s_[n // 2 : n // 2 + 10]), universe

    return both


# Searches over them.


def asked_global(query: Any, neighbors: Any, **more: Any) -> Callable[[Any], Any]:
    """Ask for a global sensitivity, of half of the records."""

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
    """Ask for a local sensitivity."""
    return lambda given: sl.local_sensitivity(
        given[1], query, dataset=given[0], neighbors=neighbors, **more
    )


def asked_smooth(query: Any, neighbors: Any, **more: Any) -> Callable[[Any], Any]:
    """Ask for a smooth sensitivity."""
    return lambda given: sl.smooth_sensitivity(
        given[1], query, dataset=given[0], neighbors=neighbors, beta=0.1, **more
    )


def asked_reach(query: Any, neighbors: Any, share: int = 50) -> Callable[[Any], Any]:
    """Ask for reach, at so many distances that it is a share of the records of x."""
    return lambda given: sl.reach(
        given[1],
        query,
        dataset=given[0],
        neighbors=neighbors,
        distances=max(2, len(given[0]) // share),
    )


B, U, SD = sl.Bounded, sl.Unbounded, sl.SymmetricDifference
"""Short names, for the table."""


def grouped(query: Any, **more: Any) -> Any:
    """Ask a query of five groups."""
    return sl.GroupBy("g", query, groups=range(5), **more)


def asked_workload(make: Callable[[Any], sl.Workload]) -> Callable[[Any], Any]:
    """Ask for the sensitivity of a workload over all values."""

    def ask(universe: Any) -> Any:
        return sl.global_sensitivity(
            universe, make(universe.values), size=50, neighbors=B(1), norm="L2"
        )

    return ask


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

TABLE: dict[tuple[str, str], dict[str, tuple[Any, ...]]] = {
    ("monotone", "global"): {
        "median, floats": (floats, asked_global("median", B(1)), 10**6, 20_000, True),
        "median, counted whole numbers": (repeated, asked_global("median", U(2)), 10**6, 20_000),
        "median, thirds": (thirds, asked_global("median", B(1)), 300_000, 10_000),
        "median, curve": (floats, asked_curve("median", BOTH), 300_000, 20_000),
        "percentiles, curves": (
            floats,
            asked_curve(["percentile_10", "percentile_90"], "symmetric_difference"),
            20_000,
            10_000,
        ),
        "median, sizes": (
            whole,
            lambda u: sl.global_sensitivity(
                u, "median", size=range(2, len(u) // 20), neighbors=U(1)
            ),
            30_000,
            3_000,
        ),
        "trimmed mean": (whole, asked_global("trimmed_mean_10", B(1)), 20_000, 2_000),
        "mean, floats": (floats, asked_global("mean", B(1)), 10**6, 20_000, True),
        "mean, floats far apart": (scaled, asked_global("mean", U(3)), 10**6, 20_000),
        "mean, whole numbers": (whole, asked_global("mean", U(3)), 10**6, 20_000),
        "mean, counted whole numbers": (repeated, asked_global("mean", U(3)), 10**6, 20_000),
        "mean, thirds": (thirds, asked_global("mean", B(1)), 300_000, 10_000),
        "mean, domain": (domain, asked_global("mean", B(1), size=10**6), 300_000, 10_000),
        "mean, curve": (floats, asked_curve("mean", BOTH), 300_000, 20_000),
        "sum and mean, curve": (
            whole,
            asked_curve(["sum", "mean", "count"], "symmetric_difference"),
            20_000,
            10_000,
        ),
        "trimmed mean and midrange, curve": (
            floats,
            asked_curve(["trimmed_mean_10", "midrange"], U(1, direction="remove")),
            20_000,
            10_000,
        ),
    },
    ("monotone", "local"): {
        "median of x": (halved(floats), asked_local("median", B(1)), 300_000, 20_000),
        "median of x, thirds": (halved(thirds), asked_local("median", U(3)), 100_000, 10_000),
        "mean of x": (halved(floats), asked_local("mean", B(3)), 300_000, 20_000),
        "sum of x, thirds": (halved(thirds), asked_local("sum", U(1)), 100_000, 10_000),
        "winsorized mean of x": (
            halved(floats),
            asked_local("winsorized_mean_10", B(3)),
            300_000,
            20_000,
        ),
        "median, reach": (halved(floats), asked_reach("median", B(1)), 300_000, 20_000),
        "mean, reach": (halved(floats), asked_reach("mean", B(1)), 300_000, 20_000),
        "mean, reach, thirds": (halved(thirds), asked_reach("mean", U(1), 300), 50_000, 10_000),
    },
    ("monotone", "smooth"): {
        "median, smooth": (halved(floats), asked_smooth("median", B(1)), 300_000, 20_000),
        "median, smooth, repeated": (
            halved(repeated),
            asked_smooth("median", B(1)),
            300_000,
            20_000,
        ),
        "median, smooth, few outside": (
            but_ten(floats),
            asked_smooth("median", B(1)),
            300_000,
            20_000,
        ),
        "median, smooth, far": (halved(scaled), asked_smooth("percentile_30", B(1)), 20_000, 1_500),
        "mean, smooth, bounded": (halved(floats), asked_smooth("mean", B(1)), 300_000, 20_000),
        "mean, smooth, unbounded": (halved(whole), asked_smooth("mean", U(1)), 300_000, 20_000),
        "mean, smooth, far apart": (halved(scaled), asked_smooth("mean", U(1)), 30_000, 5_000),
    },
    ("variance", "global"): {
        "var, floats": (floats, asked_global("var", B(1)), 10**6, 100_000, True),
        "std, floats, replaced 3": (floats, asked_global("std", B(3)), 10**6, 100_000, True),
        "std, floats, removed 3": (floats, asked_global("std", U(3)), 300_000, 50_000),
        "var, floats far apart": (scaled, asked_global("var", B(1)), 300_000, 20_000),
        "std, whole numbers": (whole, asked_global("std", B(2)), 10**6, 100_000),
        "std, counted": (repeated, asked_global("std", B(2)), 10**6, 100_000),
        "std, few": (floats, asked_global("std", B(1)), 60_000, 30_000),
        "std, few, replaced 5": (floats, asked_global("std", B(5)), 60_000, 12_000),
        "std, most replaced": (
            whole,
            lambda u: sl.global_sensitivity(
                u, "std", size=len(u) // 3, neighbors=B(len(u) // 4, exactly=True)
            ),
            40_000,
            20_000,
        ),
        "var, removed, compact": (
            domain,
            lambda u: sl.global_sensitivity(
                u, "var", size=10**4 if len(u.values) < 200 else 10**5, neighbors=U(2)
            ),
            200,
            100,
        ),
        "var, thirds": (thirds, asked_global("var", U(1)), 300_000, 30_000),
        "var, long numbers": (long, asked_global("var", U(1)), 20_000, 3_000),
        "var, many copies": (
            domain,
            lambda u: sl.global_sensitivity(
                u, "var", size=10**4 if len(u.values) < 200 else 10**5, neighbors=B(1)
            ),
            200,
            100,
        ),
        "var and std, curve": (floats, asked_curve(["var", "std"], BOTH), 20_000, 3_000),
        "var, curve, removed": (floats, asked_curve(["var"], ["unbounded"]), 20_000, 1_500),
    },
    ("variance", "local"): {
        "std of x": (halved(floats), asked_local("std", B(1)), 300_000, 20_000),
        "std of x, thirds": (halved(thirds), asked_local("std", U(30)), 100_000, 3_000),
        "var of x, far": (
            halved(floats),
            lambda g: sl.local_sensitivity(
                g[1], "var", dataset=g[0], neighbors=B(len(g[0]) // 2, exactly=True)
            ),
            100_000,
            10_000,
        ),
        "std, reach": (halved(floats), asked_reach("std", B(1), 100), 100_000, 5_000),
    },
    ("ranks", "global"): {
        "gini": (whole, asked_global("gini_mean_difference", B(1)), 2_000, 500),
        "gini, floats far apart": (floats, asked_global("gini_mean_difference", U(2)), 1_000, 120),
        "iqr": (whole, asked_global("iqr", B(2)), 20_000, 2_000),
        "range, curve": (
            whole,
            lambda u: sl.sensitivity_curves(
                u, "range", size=len(u) // 2, distances=range(1, 4), neighbors=BOTH
            ),
            5_000,
            500,
        ),
    },
    ("ranks", "local"): {
        "gini of x": (halved(whole), asked_local("gini_mean_difference", B(2)), 100_000, 1_000),
        "iqr of x": (halved(floats), asked_local("iqr", B(8)), 20_000, 500),
        "iqr, reach": (halved(floats), asked_reach("iqr", B(1), 100), 2_000, 500),
    },
    ("multiplicities", "global"): {
        "distinct values": (repeated, asked_global("count_distinct", B(3)), 10**6, 50_000),
        "distinct values, curve": (repeated, asked_curve("count_distinct", BOTH), 10_000, 2_000),
    },
    ("multiplicities", "local"): {
        "distinct values of x": (
            halved(repeated),
            asked_local("count_distinct", B(5)),
            300_000,
            20_000,
        ),
    },
    ("workloads", "global"): {
        "tree of counts": (domain, asked_workload(sl.Workload.tree), 200_000, 10_000),
        "prefix sums": (domain, asked_workload(sl.Workload.prefix_sums), 200_000, 10_000),
        "ranges": (domain, asked_workload(sl.Workload.ranges), 1_000, 200),
    },
    ("row_sums", "global"): {
        "histogram": (table, asked_global(CELLS, B(1)), 200_000, 10_000),
        "histogram, L2": (table, asked_global(CELLS, B(2), norm="L2"), 50_000, 5_000),
        "stack, L2": (table, asked_global(STACK, U(1), norm="L2"), 50_000, 5_000),
        "sum of a column": (table, asked_global(sl.SumOf("v"), B(3)), 200_000, 10_000),
        "mean of a column, one size": (table, asked_global(MEAN, B(1)), 200_000, 10_000),
        "vector sum, L2": (
            table,
            asked_global(sl.VectorSum(["g", "v"], 10**6), B(1), norm="L2"),
            5_000,
            1_000,
        ),
    },
    ("row_sums", "local"): {
        "histogram of x": (halved(table), asked_local(CELLS, B(1)), 100_000, 10_000),
        "mean of a column of x, one size": (
            halved(table),
            asked_local(MEAN, B(1)),
            100_000,
            10_000,
        ),
    },
    ("one_column", "global"): {
        "mean of a column": (table, asked_global(MEAN, U(1)), 200_000, 10_000),
        "median of a column": (
            table,
            asked_global(sl.ColumnQuery("v", "median"), U(1)),
            200_000,
            10_000,
        ),
        "std of a column": (table, asked_global(sl.ColumnQuery("v", "std"), B(2)), 200_000, 30_000),
    },
    ("one_column", "local"): {
        "mean of a column of x": (halved(table), asked_local(MEAN, U(1)), 100_000, 10_000),
        "std of a column of x": (
            halved(table),
            asked_local(sl.ColumnQuery("v", "std"), B(1)),
            100_000,
            10_000,
        ),
    },
    ("groups", "global"): {
        "means by group": (
            table,
            asked_global(grouped(sl.MeanOf("v", empty=0)), B(1), size=50),
            100_000,
            10_000,
        ),
        "means by group, larger": (
            table,
            asked_global(grouped(sl.MeanOf("v", empty=0)), B(1)),
            10_000,
            1_000,
        ),
        "medians by group, k = 3": (
            table,
            asked_global(grouped(sl.ColumnQuery("v", "median", empty=0)), U(3), norm="Linf"),
            10_000,
            1_000,
        ),
        "means by group, known sizes": (
            table,
            asked_global(grouped(MEAN, **SIZES), B(2), size=30),
            100_000,
            10_000,
        ),
        "std by group": (
            table,
            asked_global(grouped(sl.ColumnQuery("v", sl.Std(ddof=0), empty=0)), B(1), size=50),
            20_000,
            2_000,
        ),
    },
    ("groups", "local"): {
        "means by group of x": (
            halved(table),
            asked_local(grouped(sl.MeanOf("v", empty=0)), B(2)),
            50_000,
            1_500,
        ),
        "mean of a group, reach": (
            halved(table),
            asked_reach(sl.GroupBy("g", sl.MeanOf("v", empty=0), groups=[1]), B(1), 100),
            20_000,
            2_000,
        ),
    },
    ("stacks", "global"): {
        "several queries": (
            table,
            asked_global(sl.Stack(MEAN, sl.SumOf("v")), U(1), norm="Linf"),
            100_000,
            10_000,
        ),
        "several queries, L1": (
            table,
            asked_global(sl.Stack(sl.ColumnQuery("v", "max"), sl.SumOf("v")), B(1)),
            50_000,
            1_500,
        ),
    },
    ("intervals", "global"): {
        "mean, interval": (
            interval,
            lambda g: sl.global_sensitivity(g[0], "mean", size=g[1], neighbors=B(1)),
            10**6,
            10**5,
        ),
        "std, interval": (
            interval,
            lambda g: sl.global_sensitivity(
                g[0], "std", size=g[1], neighbors=sl.SymmetricDifference(3)
            ),
            10**6,
            10**5,
        ),
        "iqr, interval": (
            interval,
            lambda g: sl.global_sensitivity(g[0], "iqr", size=g[1] // 100, neighbors=B(1)),
            10**6,
            10**5,
        ),
        "var, interval, curve": (
            interval,
            lambda g: sl.sensitivity_curves(
                g[0], ["var", "std"], size=g[1], distances=range(1, 50), neighbors=BOTH
            ),
            10**4,
            2_000,
        ),
    },
    ("intervals", "local"): {
        "mean of x, interval": (
            lambda n: (interval(n)[0], np.random.default_rng(1).random(n).tolist()),
            lambda g: sl.local_sensitivity(g[0], "mean", dataset=g[1], neighbors=B(1)),
            100_000,
            10_000,
        ),
        "std of x, interval": (
            lambda n: (interval(n)[0], np.random.default_rng(1).random(n).tolist()),
            lambda g: sl.local_sensitivity(g[0], "std", dataset=g[1], neighbors=B(1)),
            50_000,
            1_500,
        ),
    },
    ("enumeration", "global"): {
        "any function": (
            floats,
            lambda u: sl.global_sensitivity(u, FLOAT, size=len(u) // 2, neighbors=B(1)),
            19,
            19,
        ),
        "any functions, curves": (
            floats,
            lambda u: sl.sensitivity_curves(
                u, ENDS, size=len(u) // 2, distances=[1, 2], neighbors=BOTH
            ),
            17,
            17,
        ),
    },
    ("enumeration", "local"): {
        "any function of x": (halved(floats), asked_local(SPREAD, B(1)), 600, 40),
    },
    ("enumeration", "smooth"): {
        "any function, smooth": (halved(floats), asked_smooth(SPREAD, B(1)), 16, 11),
        "any function, smooth, unbounded": (
            halved(floats),
            lambda g: sl.smooth_sensitivity(
                g[1], SPREAD, dataset=g[0], beta=0.1, neighbors=U(1), sizes=(2, len(g[1]))
            ),
            15,
            12,
        ),
    },
}
"""By engine and kind, what is made, what is asked of it, and how many records; see `Case`."""

CASES = {name: Case(*of, *case) for of, cases in TABLE.items() for name, case in cases.items()}


def enumerated(queries: list[Any], size: int, **asked: Any) -> tuple[Any, ...]:
    """Return a case of enumeration, of whole numbers in no order."""

    def made(n: int) -> sl.Universe:
        several = np.random.default_rng(1).permutation(1000).astype(float)
        return sl.Universe.from_dataset(several[:n])

    def ask(universe: sl.Universe) -> Any:
        more = {"n_jobs": 1, **asked, "size": min(size, len(universe) - 3)}
        return sl.sensitivity_curves(universe, queries, **more, method="enumeration")

    return made, ask


def query(name: str, function: Callable[[Any], Any]) -> sl.Query:
    """Return a vectorized query."""
    return sl.from_function(function, vectorized=True, name=name)


WHOLE = query("whole", lambda rows: rows.sum(axis=1).astype(np.int64))
THREE = query("three", lambda rows: rows[:, :3])
FOUR = query("four", lambda rows: rows[:, :4])
SIXTEEN = query("sixteen", lambda rows: np.hstack([rows[:, :8], rows[:, :8] * 0.5]))

CASES |= {
    name: Case("enumeration", "global", *enumerated(asked, size, **more), records, 0, True)
    for name, records, asked, size, more in [
        (
            "24 records, both, k = 1..3",
            24,
            [FLOAT],
            12,
            {"distances": [1, 2, 3], "neighbors": BOTH},
        ),
        ("24 records, bounded", 24, [FLOAT], 12, {"distances": 1, "neighbors": "bounded"}),
        ("24 records, unbounded", 24, [FLOAT], 12, {"distances": 1, "neighbors": "unbounded"}),
        (
            "24 records, whole numbers",
            24,
            [WHOLE],
            12,
            {"distances": [1, 2], "neighbors": "bounded"},
        ),
        (
            "24 records, symmetric difference",
            24,
            [FLOAT],
            11,
            {"distances": 2, "neighbors": "symmetric_difference"},
        ),
        ("23 records, std", 23, ["std"], 11, {"distances": [1, 2], "neighbors": BOTH}),
        ("22 records, three queries", 22, ENDS, 11, {"distances": [1, 2], "neighbors": BOTH}),
        (
            "22 records, exactly 2",
            22,
            [FLOAT],
            11,
            {"distances": 2, "neighbors": "bounded", "exactly": True},
        ),
        ("22 records, vectors of 3, L1", 22, [THREE], 11, {"distances": 1, "neighbors": "bounded"}),
        (
            "21 records, vectors of 4, L2",
            21,
            [FOUR],
            10,
            {"distances": 1, "neighbors": "unbounded", "norm": "L2"},
        ),
        (
            "20 records, vectors of 16, Linf",
            20,
            [SIXTEEN],
            10,
            {"distances": [1, 2], "neighbors": BOTH, "norm": "Linf"},
        ),
        (
            "24 records, both, two threads",
            24,
            [FLOAT],
            12,
            {"distances": [1, 2, 3], "neighbors": BOTH, "n_jobs": 2},
        ),
        (
            "22 records, three, two threads",
            22,
            ENDS,
            11,
            {"distances": [1, 2], "neighbors": BOTH, "n_jobs": 2},
        ),
        (
            "22 records, vectors, two threads",
            22,
            [THREE],
            11,
            {"distances": 1, "neighbors": "bounded", "n_jobs": 2},
        ),
    ]
}


MODULES = ("sensitivity_lab.search", "sensitivity_lab.calls.curves")
"""Where searches are planned."""


@contextmanager
def recorded(
    plans: list[int], solvers: set[tuple[str, str]], start: Callable[[], None]
) -> Iterator[None]:
    """Note what is planned; before the first plan, call `start`."""
    planned, bytes_of = engines.planned, Levels.bytes_of

    def noted(engine: Any, problem: Any, options: Any) -> Any:
        if not plans:
            plans.append(0)
            start()
        plan = planned(engine, problem, options)
        if isinstance(plan, engines.Plan):
            plans.append(plan.cost.bytes)
            solvers.add((engine.name, engine.kind))
        return plan

    def of_vectors(self: Levels, *arguments: Any) -> int:
        # How wide vectors are is known once the query has answered: then it is compared.
        plans.append(bytes_of(self, *arguments))
        return plans[-1]

    with ExitStack() as stack:
        for module in MODULES:
            stack.enter_context(mock.patch(f"{module}.planned", noted))
        stack.enter_context(mock.patch.object(Levels, "bytes_of", of_vectors))
        yield


class _FoundPlanError(Exception):
    """What an engine plans, on the way out of a call that need not search."""


def planned_bytes(case: Case, records: int) -> int:
    """Return what the engine of a case plans for so many records; nothing is searched."""
    plan_of = engines.planned

    def stopping(engine: Any, problem: Any, options: Any) -> Any:
        plan = plan_of(engine, problem, options)
        if engine.name == case.engine and isinstance(plan, engines.Plan):
            raise _FoundPlanError(plan.cost.bytes)
        return plan

    with ExitStack() as stack:
        for module in MODULES:
            stack.enter_context(mock.patch(f"{module}.planned", stopping))
        try:
            case.asked(case.made(records))
        except _FoundPlanError as found:
            return int(found.args[0])
    raise ValueError(f"{case.engine} plans nothing")


def traced(case: Case, records: int) -> Measured:
    """Search one problem after a small one, and measure what Python and numpy allocate."""
    case.asked(case.made(min(records, 100 if records > 100 else 10)))
    given = case.made(records)
    gc.collect()
    plans: list[int] = []
    before: list[int] = []
    solvers: set[tuple[str, str]] = set()

    def start() -> None:
        before.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.reset_peak()

    tracemalloc.start()
    try:
        with recorded(plans, solvers, start):
            case.asked(given)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return Measured(max(plans), peak - before[0], before[0], frozenset(solvers))


def of_process(case: Case) -> Measured:
    """Search one problem after a small one, and measure the peak of the process."""
    case.asked(case.made(min(case.records, 100 if case.records > 100 else 14)))
    given = case.made(case.records)
    plans: list[int] = []
    solvers: set[tuple[str, str]] = set()
    gc.collect()
    with contextlib.suppress(OSError):
        CLEAR.write_text("5")  # Linux: from now on the peak is that of what comes
    before = _peak()
    with recorded(plans, solvers, lambda: None):
        case.asked(given)
    return Measured(max(plans), _peak() - before, 0, frozenset(solvers))


CLEAR, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


def _peak() -> int:
    """Return the largest memory that this process has had, in bytes."""
    if STATUS.exists():
        (line,) = (one for one in STATUS.read_text().splitlines() if one.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure(name: str, how: str) -> bool:
    """Search one problem, print a line, and tell whether its plan is right."""
    case = CASES[name]
    found = of_process(case) if how == "process" else traced(case, case.records)
    verdict = "" if found.right else "   WRONG"
    print(
        f"{case.engine:<17}{case.kind:<7}{name:<34}{how:<8}"
        f"plan {found.planned / 2**20:8.1f} MiB   peak {found.peak / 2**20:8.1f} MiB   "
        f"ratio {found.planned / max(1, found.peak):5.2f}   "
        f"before {found.before / 2**20:6.1f} MiB{verdict}",
        flush=True,
    )
    return found.right


def main() -> int:
    """Measure every problem, each in a process of its own; return the exit code."""
    wrong = 0
    for name, case in CASES.items():
        for how in (["traced"] if case.few else []) + (["process"] if case.of_process else []):
            wrong += subprocess.run([sys.executable, __file__, name, how]).returncode != 0
    print(f"{wrong} plans are wrong" if wrong else "all plans are right")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(not measure(*sys.argv[1:]) if len(sys.argv) > 1 else main())
