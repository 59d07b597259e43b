"""Compare the answers of two versions of the package, problem by problem.

    git worktree add ../before COMMIT
    PYTHONPATH=../before python tools/compare_versions.py record before.jsonl
    python tools/compare_versions.py record after.jsonl
    python tools/compare_versions.py compare before.jsonl after.jsonl

About 5,000 small problems are drawn, the same for every version: every query by name and many by
class, every relation, every engine that accepts the problem, global, local and smooth, on datasets,
domains, intervals and tables; neighbor tables, bounds, code as implemented, chains and what is
measured of them, graphs and sequences. Kept are value, exact value, upper bound, status and
witness, or the error. Every witness is verified while it is recorded. A redesign returns the same,
but that a witness may be another pair that attains the same value.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

import sensitivity_lab as sl

NAMES = (
    *("mean", "median", "count", "sum", "std", "var", "min", "max", "range", "midrange", "iqr"),
    *("percentile_10", "percentile_25", "percentile_75", "percentile_90", "trimmed_mean_10"),
    *("winsorized_mean_10", "gini_mean_difference", "count_distinct", "mode_count"),
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
    with suppress(AttributeError):
        result.verify()
    row = {
        name: str(getattr(result, name))
        for name in ("value", "exact", "upper", "status", "method")
        if hasattr(result, name)
    }
    if pair := getattr(result, "witness", None):
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
    return local(x, universe, query, neighbors=relation, method=method)


def a_smooth(draw: random.Random) -> Any:
    """A smooth sensitivity."""
    universe, data = numbers(draw)
    x = draw.sample(data, draw.randint(1, min(5, len(data))))
    options = {"beta": draw.choice([0.1, 0.5, 1]), "method": draw.choice(("auto",) * 9 + ENGINES)}
    query = queries(draw)
    neighbors = draw.choice(["bounded", "unbounded"])
    if neighbors == "unbounded":
        options["sizes"] = (1, len(data))
    return smooth(x, universe, query, neighbors=neighbors, **options)


def an_interval(draw: random.Random) -> Any:
    """A global or local sensitivity over an interval."""
    universe = sl.Universe.from_interval(draw.randint(-5, 0), draw.choice([1, 3, 2.5, 10**6]))
    query, relation, size = queries(draw), relations(draw), draw.randint(1, 9)
    if draw.random() < 0.5:
        return sl.global_sensitivity(universe, query, size=size, neighbors=relation)
    x = [draw.uniform(float(universe.lower), float(universe.upper)) for _ in range(size)]
    return local(x, universe, query, neighbors=relation)


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


def a_table(draw: random.Random) -> Any:
    """A global or local sensitivity of rows."""
    rows = draw.randint(2, 6)
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
    return local(frame.sample(size, random_state=draw.randrange(99)), universe, query, **options)


def a_curve(draw: random.Random) -> dict[str, Any]:
    """A curve over the distances."""
    universe, data = numbers(draw)
    size, query = draw.randint(2, min(6, len(data))), queries(draw)
    curves = sl.sensitivity_curves(
        universe,
        [query],
        size=size,
        distances=range(1, draw.randint(2, 4)),
        neighbors=draw.choice(["bounded", "unbounded", "symmetric_difference"]),
    )
    frame = curves.to_frame()
    return {"values": [repr(value) for value in frame["sensitivity"]], "status": [*frame["status"]]}


def some_pairs(draw: random.Random) -> dict[str, Any]:
    """All pairs of neighbors."""
    universe, data = numbers(draw)
    table = sl.neighbor_table(
        universe, queries(draw), size=draw.randint(1, min(3, len(data))), neighbors=relations(draw)
    )
    return {"text": repr(table)}


def some_bounds(draw: random.Random) -> dict[str, Any]:
    """Bounds from both sides."""
    universe, data = numbers(draw)
    size, query, relation = draw.randint(1, min(6, len(data))), queries(draw), relations(draw)
    at_most = replace(relation, exactly=False)  # the first version does not end under "exactly"
    bounds = named("sensitivity_bounds", "bounds")(
        universe, query, size=size, neighbors=at_most, time_limit=0.05, seed=1
    )
    return {"upper": repr(bounds.upper), "status": bounds.status}


def some_code(draw: random.Random) -> dict[str, Any]:
    """The sensitivity of code with its rounding."""
    universe = sl.Universe.from_domain(sorted(set(records(draw, 3))))
    kinds = ["float_sum", "float_mean", "integer_sum", "welford_variance"]
    folds = [named(kind, "implementations") for kind in kinds]
    folds = [fold("int8") if fold.__name__ == "integer_sum" else fold() for fold in folds]
    order = draw.choice(["free", "aligned"])
    result = named("implemented_sensitivity", "implementations")(
        query=draw.choice(folds),
        universe=universe,
        size=draw.randint(1, 4),
        neighbors=relations(draw, 2),
        order=order,
    )
    return {"value": repr(result.value), "exact": str(result.exact), "upper": repr(result.upper)}


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
    graphs = spaces("graphs")
    universe = graphs.GraphUniverse(draw.randint(2, 4))
    query = draw.choice(["edges", "triangles", "max_degree", "degree_histogram"])
    kind = draw.choice([graphs.EdgeNeighbors, graphs.NodeNeighbors])
    relation = kind(1) if draw.random() < 0.7 else kind(2)
    norm = draw.choice(NORMS) if query == "degree_histogram" else "L1"
    return in_space(graphs)(universe, query, neighbors=relation, norm=norm)


def a_sequence(draw: random.Random) -> Any:
    """A sensitivity over sequences."""
    sequences = spaces("sequences")
    universe = sequences.SequenceUniverse(
        list(range(draw.randint(2, 3))), longest=draw.randint(1, 4)
    )
    query = draw.choice(
        ["length", "sum", "distinct", "counts", "changes", "path_length", "longest_run"]
    )
    kind = draw.choice([sequences.InsertDelete, sequences.Hamming])
    norm = draw.choice(NORMS) if query == "counts" else "L1"
    neighbors = kind(draw.randint(1, 2))
    return in_space(sequences)(universe, query, neighbors=neighbors, norm=norm)


def named(name: str, room: str) -> Any:
    """Return what stood at the top, or stands in a room."""
    return getattr(sl, name, None) or getattr(getattr(sl, room), name)


def local(x: Any, universe: Any, query: Any, **options: Any) -> Any:
    """Call `local_sensitivity` by its arguments' order in either version."""
    import inspect

    first = next(iter(inspect.signature(sl.local_sensitivity).parameters))
    if first == "universe":
        return sl.local_sensitivity(universe, query, dataset=x, **options)
    return sl.local_sensitivity(x, universe, query, **options)


def smooth(x: Any, universe: Any, query: Any, **options: Any) -> Any:
    """Call `smooth_sensitivity` by its arguments' order in either version."""
    import inspect

    first = next(iter(inspect.signature(sl.smooth_sensitivity).parameters))
    if first == "universe":
        return sl.smooth_sensitivity(universe, query, dataset=x, **options)
    return sl.smooth_sensitivity(x, universe, query, **options)


def spaces(name: str) -> Any:
    """Return the package of graphs or of sequences in either version."""
    return getattr(sl, name, None) or getattr(sl.spaces, name)


def in_space(space: Any) -> Any:
    """Return the call of global sensitivities of graphs or of sequences in either version."""
    return getattr(space, "global_sensitivity", None) or sl.spaces.global_sensitivity


ERROR = named("SensitivityLabError", "errors")

KINDS: dict[str, tuple[Callable[[random.Random], Any], int]] = {
    "global": (a_global, 1600),
    "local": (a_local, 1000),
    "smooth": (a_smooth, 500),
    "interval": (an_interval, 400),
    "table": (a_table, 700),
    "curve": (a_curve, 200),
    "neighbor table": (some_pairs, 100),
    "bounds": (some_bounds, 100),
    "implemented": (some_code, 100),
    "chain": (a_chain, 200),
    "graph": (a_graph, 80),
    "sequence": (a_sequence, 120),
}
"""What is drawn, and how often: about 5,000 in all."""


def answers() -> Iterator[dict[str, Any]]:
    """Yield every problem's answer, or its error."""
    for kind, (draw, number) in KINDS.items():
        for seed in range(number):
            row: dict[str, Any] = {"kind": kind, "seed": seed, "refusals": [], "messages": []}
            for attempt in range(12):
                try:
                    found = draw(random.Random(f"{kind} {seed} {attempt}"))
                except ERROR as error:
                    row["refusals"].append(type(error).__name__)
                    row["messages"].append(str(error))
                else:
                    row |= found if isinstance(found, dict) else kept(found)
                    break
            yield row


def record(path: Path) -> None:
    """Write the answers of the version that is imported."""
    print("recording", sl.__file__)
    start, counts = time.perf_counter(), Counter[str]()
    with path.open("w", encoding="utf-8") as out:
        for row in answers():
            counts["refused" if len(row["refusals"]) == 12 else "answered"] += 1
            out.write(json.dumps(row) + "\n")
    print(f"{time.perf_counter() - start:.0f} s", dict(counts))


BESIDES = {"messages", "method", "witness"}
"""What may differ: the words of refusals, the engine's name, and which of equal pairs is shown."""


def compare(before: Path, after: Path) -> int:
    """Print what differs; return how many answers do."""
    olds, news = (
        {
            (row["kind"], row["seed"]): row
            for row in map(json.loads, path.read_text("utf-8").splitlines())
        }
        for path in (before, after)
    )
    differing, besides = 0, Counter[str]()
    for place, old in olds.items():
        new = news.get(place, {})
        # What the first version did not tell is no difference.
        what = {name for name in old if old[name] != new.get(name)}
        # A witness was verified when it was recorded: it is another pair of the same value.
        besides.update(what & BESIDES)
        if what - BESIDES:
            differing += 1
            print(*place, {name: (old.get(name), new.get(name)) for name in sorted(what)})
    told = ", ".join(f"{besides[name]} {name}" for name in sorted(BESIDES))
    print(f"{len(olds)} problems: {differing} answers differ; besides, in so many: {told}")
    return differing


def main() -> int:
    """Read the command line."""
    action, *paths = sys.argv[1:] or ["help"]
    if action == "record" and len(paths) == 1:
        record(Path(paths[0]))
        return 0
    if action == "compare" and len(paths) == 2:
        return int(compare(*map(Path, paths)) > 0)
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())
