"""The problems of `compare_versions.py`: sensitivities, drawn the same for every version."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import pandas as pd

import sensitivity_lab as sl

NAMES = (
    *("mean", "median", "count", "sum", "std", "var", "min", "max", "range", "midrange", "iqr"),
    *("percentile_10", "percentile_25", "percentile_75", "percentile_90", "trimmed_mean_10"),
    *("winsorized_mean_10", "gini_mean_difference", "count_distinct"),
)
ENGINES = (
    *("auto", "auto", "variance", "ranks", "multiplicities", "row_sums"),
    *("one_column", "groups", "stacks", "intervals", "enumeration"),
)
"""Asked for by name; what was called linear and order_statistics is only found by itself."""
NORMS = ("L1", "L2", "Linf")


def queries(draw: random.Random) -> Any:
    """A query on numbers, by name or by class."""
    kind = draw.randrange(10)
    if kind < 5:
        return draw.choice(NAMES)
    methods = ("linear", "lower", "higher", "midpoint", "hazen", "weibull", "median_unbiased")
    return [
        lambda: sl.Percentile(draw.choice([5, 33, 50, 80]), draw.choice(methods)),
        lambda: sl.Var(ddof=draw.choice([0, 1])),
        lambda: sl.Std(ddof=draw.choice([0, 1])),
        lambda: sl.TrimmedMean(draw.choice([0.1, 0.25, 0.4])),
        lambda: sl.WinsorizedMean(draw.choice([0.2, 0.3])),
    ][kind - 5]()


def records(draw: random.Random, number: int) -> list[Any]:
    """Records with ties, clusters, heavy tails, floats, or far from zero."""
    kinds: list[Callable[[], Any]] = [
        lambda: draw.randint(0, 2),
        lambda: draw.choice([-50, -49, 0, 1, 2, 70, 71]),
        lambda: (-7) ** draw.randint(0, 7),
        lambda: draw.randint(-9, 9) / 10,
        lambda: 10**9 + draw.randint(0, 8),
        lambda: draw.uniform(-1e6, 1e6),
    ]
    kind = draw.choice(kinds)
    return [kind() for _ in range(number)]


def relations(draw: random.Random, most: int = 4) -> Any:
    """A relation at some distance."""
    k, exactly = draw.randint(1, most), draw.random() < 0.3
    return draw.choice(
        [
            sl.Bounded(k, exactly),
            sl.Unbounded(k, exactly),
            sl.Unbounded(k, exactly, "add"),
            sl.Unbounded(k, exactly, "remove"),
            sl.SymmetricDifference(k, exactly),
            sl.Edit(k, exactly),
        ]
    )


def numbers(draw: random.Random) -> tuple[Any, list[Any]]:
    """A universe of numbers, and its records."""
    if draw.random() < 0.3:
        values = sorted(set(records(draw, draw.randint(1, 4))))
        copies = draw.choice([None, None, 3])
        return sl.Universe.from_domain(values, copies=copies), values * (copies or 6)
    data = records(draw, draw.randint(3, 9))
    return sl.Universe.from_dataset(data), data


def kept(result: Any) -> dict[str, Any]:
    """What two versions must agree on."""
    if hasattr(result, "verify"):
        result.verify()
    row = {
        name: str(getattr(result, name))
        for name in ("value", "exact", "lower", "upper", "status", "method", "saturated_at")
        if hasattr(result, name)
    }
    pair = getattr(result, "witness", None)
    if pair is not None and not callable(pair):
        row["witness"] = f"{pair.x!r} {pair.y!r}"
    return row


def a_global(draw: random.Random) -> Any:
    """A global sensitivity."""
    universe, data = numbers(draw)
    size = draw.randint(1, min(6, len(data)))
    sizes: Any = size if draw.random() < 0.7 else range(1, size + 1)
    query, relation, method = queries(draw), relations(draw), draw.choice(("auto",) * 9 + ENGINES)
    return sl.global_sensitivity(universe, query, size=sizes, neighbors=relation, method=method)


def a_local(draw: random.Random) -> Any:
    """A local sensitivity."""
    universe, data = numbers(draw)
    x = draw.sample(data, draw.randint(1, min(6, len(data))))
    query, relation, method = queries(draw), relations(draw), draw.choice(("auto",) * 9 + ENGINES)
    return sl.local_sensitivity(universe, query, dataset=x, neighbors=relation, method=method)


def a_smooth(draw: random.Random) -> Any:
    """A smooth sensitivity."""
    universe, data = numbers(draw)
    x = draw.sample(data, draw.randint(1, min(5, len(data))))
    options = {"beta": draw.choice([0.1, 0.5, 1]), "method": draw.choice(("auto",) * 9 + ENGINES)}
    query = queries(draw)
    neighbors = draw.choice(["bounded", "unbounded"])
    if neighbors == "unbounded":
        options["sizes"] = (1, len(data))
    return sl.smooth_sensitivity(universe, query, dataset=x, neighbors=neighbors, **options)


def an_interval(draw: random.Random) -> Any:
    """A global or local sensitivity over an interval."""
    universe = sl.Universe.from_interval(draw.randint(-5, 0), draw.choice([1, 3, 2.5, 10**6]))
    query, relation, size = queries(draw), relations(draw), draw.randint(1, 9)
    if draw.random() < 0.5:
        return sl.global_sensitivity(universe, query, size=size, neighbors=relation)
    x = [draw.uniform(float(universe.lower), float(universe.upper)) for _ in range(size)]
    return sl.local_sensitivity(universe, query, dataset=x, neighbors=relation)


def row_queries(draw: random.Random) -> Any:
    """A query on tables with the columns g, v and w."""
    inner = [sl.Count(), sl.SumOf("v", clip=(-2, 3)), sl.MeanOf("v", empty=0)]
    makers: list[Callable[[], Any]] = [
        sl.Count,
        lambda: sl.CountIf("v > 0"),
        lambda: sl.SumOf("v", clip=(-1, 4)),
        lambda: sl.MeanOf("v"),
        lambda: sl.VectorSum(["v", "w"], 3),
        lambda: sl.Histogram("g", list("abc")),
        lambda: sl.GroupBy("g", draw.choice(inner), list("ab")),
        lambda: sl.GroupBy("g", sl.ColumnQuery("v", "median"), list("ab"), group_sizes=(1, 9)),
        lambda: sl.Stack(sl.SumOf("v"), sl.Count()),
        lambda: sl.Covariance("v", "w"),
        lambda: sl.ColumnQuery("v", draw.choice(NAMES)),
        lambda: sl.CountDistinct("g"),
    ]
    return draw.choice(makers)()


def a_table(draw: random.Random, least: int = 2, most: int = 6) -> Any:
    """A global or local sensitivity of rows."""
    rows = draw.randint(least, most)
    frame = pd.DataFrame(
        {
            "g": [draw.choice("abc") for _ in range(rows)],
            "v": records(draw, rows),
            "w": [draw.randint(-3, 3) for _ in range(rows)],
        }
    )
    universe = sl.TableUniverse.from_dataset(frame)
    options = {
        "neighbors": relations(draw, 3),
        "norm": draw.choice(NORMS),
        "method": draw.choice(("auto",) * 12 + ENGINES),
    }
    query, size = row_queries(draw), draw.randint(1, rows)
    if draw.random() < 0.6:
        return sl.global_sensitivity(universe, query, size=size, **options)
    x = frame.sample(size, random_state=draw.randrange(99))
    return sl.local_sensitivity(universe, query, dataset=x, **options)


def many_records(draw: random.Random, number: int) -> list[Any]:
    """Records with ties, clusters, heavy tails, floats, far from zero, or on a grid."""
    kinds: list[Callable[[], Any]] = [
        lambda: draw.randint(0, 5),
        lambda: draw.choice([-1000, 0, 1000, 1001]) + draw.randint(0, 9),
        lambda: int(10 * draw.paretovariate(0.7)) * draw.choice([-1, 1]),
        lambda: round(draw.gauss(0, 30), 2),
        lambda: 10**9 + draw.randint(0, 99),
        lambda: 1e9 + draw.randint(0, 999) / 8,
        lambda: 5 * draw.randint(0, 200),
    ]
    kind = draw.choice(kinds)
    return [kind() for _ in range(number)]


def a_variance(draw: random.Random) -> Any:
    """A variance or a standard deviation of up to 1,000 records, with more changes of fewer."""
    number = draw.choice([13, 16, 20, 30, 60, 150, 400, 1000])
    universe = sl.Universe.from_dataset(data := many_records(draw, number))
    query = draw.choice([sl.Var, sl.Std])(ddof=draw.choice([0, 1]))
    size = draw.choice([draw.randint(2, number), draw.randint(number // 2, number - 1)])
    relation = relations(draw, draw.choice([2, 4, min(number // 2, 2000 // number)]))
    kind = draw.choice(["global", "global", "global", "sizes", "local", "local", "reach", "smooth"])
    if kind in ("global", "sizes"):
        sizes = range(max(2, size - 2), size + 1) if kind == "sizes" else size
        return sl.global_sensitivity(universe, query, size=sizes, neighbors=relation)
    x = draw.sample(data, size)
    if kind == "local":
        return sl.local_sensitivity(universe, query, dataset=x, neighbors=relation)
    if kind == "reach":
        step = replace(relation, k=1, exactly=False)
        return sl.reach(universe, query, dataset=x, neighbors=step, distances=relation.k)
    step, beta = sl.Bounded(1), draw.choice([0.1, 0.5, 1])
    return sl.smooth_sensitivity(universe, query, dataset=x[:40], neighbors=step, beta=beta)


def a_variance_curve(draw: random.Random) -> dict[str, Any]:
    """A curve of variances or standard deviations; the long ones need branch and bound."""
    number, most, neighbors = draw.choice(
        [
            (13, 6, "edit"),
            (1000, 70, "bounded"),
            (600, 60, "unbounded"),
            (200, 30, "symmetric_difference"),
        ]
    )
    universe = sl.Universe.from_dataset(many_records(draw, number))
    size = draw.randint(number // 2, number - most)
    query = draw.choice([sl.Var, sl.Std])(ddof=draw.choice([0, 1]))
    return curve(universe, query, size, range(1, most + 1), neighbors)


def a_grouping(draw: random.Random) -> Any:
    """A query on the rows of each group, whose sizes are private or public."""
    rows = draw.choice([5, 8, 12, 30, 80])
    pool = records(draw, draw.choice([2, 4, rows]))
    names = "abcd"[: draw.randint(2, 4)]
    frame = pd.DataFrame(
        {"g": draw.choices(names, k=rows), "v": draw.choices(pool, k=rows)}
    )  # a group can be missing
    x = frame.head(draw.randint(rows // 2, rows - 1))
    empty = draw.choice([0, 2, Fraction(1, 3)])
    options = {"method": "groups"} if rows > 8 else {}  # nothing else is quick there
    percentiles = ("median", "percentile_25", "percentile_90", "min", "max")
    inner = draw.choice(
        [
            sl.MeanOf("v", empty=empty),
            sl.ColumnQuery("v", draw.choice(percentiles), empty=empty),
            sl.ColumnQuery("v", draw.choice(["var", "std"]), empty=empty),
            sl.SumOf("v", clip=(-2, 3)),
            sl.Count(),
        ]
    )
    groups = draw.sample(names, draw.randint(1, len(names)))
    counts = Counter(x["g"])
    public = [counts[group] for group in groups] if draw.random() < 0.4 else None
    query = sl.GroupBy("g", inner, groups, group_sizes=public)
    options |= {"neighbors": relations(draw, 3), "norm": draw.choice(NORMS)}
    universe = sl.TableUniverse.from_dataset(frame)
    if draw.random() < 0.6:
        return sl.global_sensitivity(universe, query, size=len(x), **options)
    return sl.local_sensitivity(universe, query, dataset=x, **options)


def curve(universe: Any, query: Any, size: int, distances: range, neighbors: str) -> dict[str, Any]:
    """Return a curve over distances."""
    found = sl.sensitivity_curves(
        universe, [query], size=size, distances=distances, neighbors=neighbors
    ).to_frame()
    return {"values": [repr(value) for value in found["sensitivity"]], "status": [*found["status"]]}


def a_curve(draw: random.Random) -> dict[str, Any]:
    """A curve of any query over the distances."""
    universe, data = numbers(draw)
    size, query = draw.randint(2, min(6, len(data))), queries(draw)
    neighbors = draw.choice(["bounded", "unbounded", "symmetric_difference", "edit"])
    return curve(universe, query, size, range(1, draw.randint(2, 4)), neighbors)


def some_pairs(draw: random.Random) -> dict[str, Any]:
    """All pairs of neighbors."""
    universe, data = numbers(draw)
    table = sl.neighbor_table(
        universe, queries(draw), size=draw.randint(1, min(3, len(data))), neighbors=relations(draw)
    )
    return {"text": repr(table)}


def a_chain(draw: random.Random) -> dict[str, Any]:
    """The map of a chain, and what is measured of it."""
    pl = sl.pipelines
    metric = draw.choice([pl.SymmetricDistance(), pl.ChangeOneDistance()])
    steps = [pl.map_(abs), pl.filter_(bool), pl.clamp(-1, 2)]
    ends = [pl.sum_(-1, 2), pl.count(), pl.histogram([-1, 0, 2])]
    chain = pl.Start(pl.Numbers(), metric) >> pl.clamp(-1, 2)
    for _ in range(draw.randint(0, 2)):
        chain = chain >> draw.choice(steps)
    chain = chain >> pl.clamp(-1, 2) >> draw.choice(ends)
    d_in = draw.randint(1, 2)
    data = [draw.choice([-1, 0, 1, 2]) for _ in range(draw.randint(2, 4))]
    measured = pl.measured_stability(chain, data, d_in)
    return {
        "map": repr(chain.map(d_in)),
        "measured": repr(measured.measured),
        "verdict": measured.verdict,
    }


def a_graph(draw: random.Random) -> Any:
    """A sensitivity over graphs."""
    space = sl.spaces.graphs(draw.randint(2, 4), draw.choice(["edge", "node"]))
    query = draw.choice(["edges", "triangles", "max_degree", "degree_histogram"])
    near = sl.spaces.Within(1 if draw.random() < 0.7 else 2)
    norm = draw.choice(NORMS) if query == "degree_histogram" else "L1"
    return sl.spaces.global_sensitivity(space, query, neighbors=near, norm=norm)


def a_sequence(draw: random.Random) -> Any:
    """A sensitivity over sequences."""
    values, length = list(range(draw.randint(2, 3))), draw.randint(1, 4)
    space = sl.spaces.sequences(values, length, draw.choice(["hamming", "insert_delete"]))
    query = draw.choice(
        ["length", "sum", "distinct", "counts", "changes", "path_length", "longest_run"]
    )
    norm = draw.choice(NORMS) if query == "counts" else "L1"
    near = sl.spaces.Within(draw.randint(1, 2))
    return sl.spaces.global_sensitivity(space, query, neighbors=near, norm=norm)


SEARCHES: dict[str, tuple[Callable[[random.Random], Any], int]] = {
    "variance": (a_variance, 1500),
    "variance_curve": (a_variance_curve, 80),
    "groups": (a_grouping, 1500),
    "large_table": (partial(a_table, least=7, most=16), 300),
    "global": (a_global, 1600),
    "local": (a_local, 1000),
    "smooth": (a_smooth, 500),
    "interval": (an_interval, 400),
    "table": (a_table, 700),
    "curve": (a_curve, 200),
    "neighbor_table": (some_pairs, 100),
    "chain": (a_chain, 200),
    "graph": (a_graph, 80),
    "sequence": (a_sequence, 120),
}
"""What is drawn of each family, and how often."""
