"""Local sensitivity against a definition of its own: random problems of every kind, one by one.

The definition here lists all neighbors of x and answers the query on each, in plain Python and
rationals. It shares no code with the package, and none with `oracle.py`, so that a mistake would
have to be made three times. Drawn are all queries with a local engine, on numbers, intervals and
tables, all relations with both meanings of k, datasets that are the whole universe, and distances
that keep one to three records. `make check` takes a few problems; `make stress` as many as the
environment variable ``STRESS`` says, 20,000 by default.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, pairwise
from random import Random
from typing import Any

import pandas as pd
import pytest
from doses import STRESS

import sensitivity_lab as sl
from sensitivity_lab.errors import NoEngineError
from sensitivity_lab.search import engines_for

FEW, SOME = 40, 300

MOST_NEIGHBORS = 600
RARELY_MORE = 5_000
"""One problem in twenty may have so many neighbors."""

Change = tuple[int, int]
"""How many records are removed, and how many are added."""


# The definition of a neighbor


def changes(relation: str, k: int, exactly: bool) -> list[Change]:
    """Everything that a relation allows, whether there are enough records or not."""
    distances = [k] if exactly else list(range(1, k + 1))
    kinds: dict[str, Callable[[int], list[Change]]] = {
        "replace": lambda d: [(d, d)],
        "remove": lambda d: [(d, 0)],
        "add": lambda d: [(0, d)],
        "remove or add": lambda d: [(d, 0), (0, d)],
        "difference": lambda d: [(i, d - i) for i in range(d + 1)],
    }
    return [change for d in distances for change in kinds[relation](d)]


def chosen(pool: Sequence[tuple[Any, int]], number: int) -> Iterator[tuple[Any, ...]]:
    """All multisets of so many records of a pool of (record, copies)."""
    if not pool:
        if number == 0:
            yield ()
        return
    (record, copies), rest = pool[0], pool[1:]
    for taken in range(min(copies, number) + 1):
        for others in chosen(rest, number - taken):
            yield (record,) * taken + others


def neighbors(
    x: Sequence[Any], outside: Counter[Any], allowed: list[Change], nobody: bool
) -> set[Any]:
    """All distinct neighbors, as sorted tuples; `nobody` says whether the empty one is one."""
    held = Counter(x)
    found = set()
    for removed, added in allowed:
        if removed > len(x) or not (len(x) - removed + added or nobody):
            continue
        for kept in chosen(sorted(held.items()), len(x) - removed):
            for new in chosen(sorted(outside.items()), added):
                found.add(tuple(sorted(kept + new)))
    return found


def bound_of_neighbors(size: int, outside: Counter[Any], allowed: list[Change]) -> int:
    """At most so many neighbors are listed, if no two records are equal."""
    return sum(
        math.comb(size, removed)
        * min(math.comb(outside.total(), added), math.comb(max(len(outside) + added - 1, 0), added))
        for removed, added in allowed
        if removed <= size and (outside or not added)
    )


# The definitions of queries, on ascending rationals


def quantile(values: Sequence[Fraction], q: Fraction, method: str) -> Fraction:
    """As numpy documents its methods, by ranks from 1; Hyndman and Fan (1996) have the names."""
    n = len(values)

    def record(rank: int) -> Fraction:
        return values[min(max(rank, 1), n) - 1]

    def between(position: Fraction) -> Fraction:
        below = math.floor(position)
        share = position - below
        return record(below) * (1 - share) + record(below + 1) * share

    whole = q * n
    along = q * (n - 1) + 1
    plotting = {  # (rank - a) / (n + 1 - a - b) is the quantile of a rank
        "hazen": (Fraction(1, 2), Fraction(1, 2)),
        "weibull": (Fraction(0), Fraction(0)),
        "linear": (Fraction(1), Fraction(1)),
        "median_unbiased": (Fraction(1, 3), Fraction(1, 3)),
        "normal_unbiased": (Fraction(3, 8), Fraction(3, 8)),
        "interpolated_inverted_cdf": (Fraction(0), Fraction(1)),
    }
    if method in plotting:
        a, b = plotting[method]
        return between(a + q * (n + 1 - a - b))
    simple: dict[str, Callable[[], Fraction]] = {
        "inverted_cdf": lambda: record(math.ceil(whole)),
        "averaged_inverted_cdf": lambda: (
            (record(math.floor(whole)) + record(math.floor(whole) + 1)) / 2
            if whole.denominator == 1
            else record(math.ceil(whole))
        ),
        "closest_observation": lambda: record(round(whole)),  # a half to the even rank
        "lower": lambda: record(math.floor(along)),
        "higher": lambda: record(math.ceil(along)),
        "midpoint": lambda: (record(math.floor(along)) + record(math.ceil(along))) / 2,
        "nearest": lambda: record(1 + round(along - 1)),  # a half to the even place from 0
    }
    return simple[method]()


METHODS = (
    *("hazen", "weibull", "linear", "median_unbiased", "normal_unbiased"),
    *("interpolated_inverted_cdf", "inverted_cdf", "averaged_inverted_cdf"),
    *("closest_observation", "lower", "higher", "midpoint", "nearest"),
)


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def variance(values: Sequence[Fraction], ddof: Fraction) -> Fraction:
    """The mean square of all differences of two, half of it; then over n - ddof."""
    n = len(values)
    squares = sum(((a - b) ** 2 for a, b in combinations(values, 2)), Fraction(0))
    return squares / n / (n - ddof)


def gini(values: Sequence[Fraction]) -> Fraction:
    return mean([abs(a - b) for a, b in combinations(values, 2)])


def trimmed(values: Sequence[Fraction], share: Fraction) -> Fraction:
    cut = math.floor(share * len(values))
    return mean(values[cut : len(values) - cut])


def winsorized(values: Sequence[Fraction], share: Fraction) -> Fraction:
    cut = math.floor(share * len(values))
    kept = values[cut : len(values) - cut]
    return mean([kept[0]] * cut + list(kept) + [kept[-1]] * cut)


@dataclass(frozen=True)
class Asked:
    """A query of the package, and its definition; `root` if the answer is the root of that."""

    ours: Any
    answer: Callable[[Any], Any]
    least: int = 1
    root: bool = False
    vector: bool = False

    @property
    def nobody(self) -> bool:
        """Whether the definition has an answer on no records."""
        try:
            self.answer(())
        except (ArithmeticError, LookupError, ValueError):
            return False
        return self.least <= 1


def on_numbers(rng: Random) -> Asked:
    """Any query of numbers that a local engine covers."""
    share = Fraction(rng.randint(0, 11), 24)
    q, method = Fraction(rng.randint(0, 24), 24), rng.choice(METHODS)
    ddof = rng.choice((Fraction(0), Fraction(0), Fraction(1), Fraction(rng.randint(0, 9), 4)))
    weights = drawn_weights(rng)
    make: list[Callable[[], Asked]] = [
        lambda: Asked(sl.Mean(), mean),
        lambda: Asked("sum", sum),
        lambda: Asked("count", lambda x: Fraction(len(x))),
        lambda: Asked(sl.Median(), lambda x: (x[(len(x) - 1) // 2] + x[len(x) // 2]) / 2),
        lambda: Asked("min", min),
        lambda: Asked("max", max),
        lambda: Asked("percentile_90", lambda x: quantile(x, Fraction(9, 10), "linear")),
        lambda: Asked(sl.Percentile(100 * q, method), lambda x: quantile(x, q, method)),
        lambda: Asked("range", lambda x: x[-1] - x[0]),
        lambda: Asked("midrange", lambda x: (x[-1] + x[0]) / 2),
        lambda: Asked(
            "iqr",
            lambda x: quantile(x, Fraction(3, 4), "linear") - quantile(x, Fraction(1, 4), "linear"),
        ),
        lambda: Asked("gini_mean_difference", gini, least=2),
        lambda: Asked("trimmed_mean_10", lambda x: trimmed(x, Fraction(1, 10))),
        lambda: Asked(sl.TrimmedMean(share), lambda x: trimmed(x, share)),
        lambda: Asked("winsorized_mean_10", lambda x: winsorized(x, Fraction(1, 10))),
        lambda: Asked(sl.WinsorizedMean(share), lambda x: winsorized(x, share)),
        lambda: Asked(
            sl.LStatistic(weights),
            # Weights are of one record or more.
            lambda x: sum(w * v for w, v in zip(weights(len(x)), x, strict=True)) / bool(x),
        ),
        lambda: Asked(sl.Var(ddof), lambda x: variance(x, ddof), math.floor(ddof) + 1),
        lambda: Asked(sl.Std(ddof), lambda x: variance(x, ddof), math.floor(ddof) + 1, root=True),
        lambda: Asked("count_distinct", lambda x: Fraction(len(set(x)))),
    ]
    # What has a search of its own with many cases comes more often.
    return rng.choice(make + make[7:12] + 3 * make[16:19])()


NO_COLUMN = ("count_distinct",)
"""Asked of a column by another query, and of an interval by none."""


def drawn_weights(rng: Random) -> Callable[[int], list[Fraction]]:
    """Weights by rank for every size: few or many, of one sign or of both, over the size or not."""
    seed, lowest = rng.random(), rng.choice((0, -5))
    dense, per_record = rng.random() < 0.5, rng.random() < 0.5

    def weights(size: int) -> list[Fraction]:
        own = Random(f"{seed} {size}")
        below = size if per_record else 1
        return [
            Fraction(own.randint(lowest, 5) if dense or own.random() < 0.3 else 0, below)
            for _ in range(size)
        ]

    return weights


Row = tuple[str, Any]


def column(rows: Sequence[Row]) -> list[Fraction]:
    return sorted(Fraction(value) for _, value in rows)


def on_rows(rng: Random, values: Sequence[Any]) -> Asked:
    """Any query of rows (g, v) that a local engine covers."""
    bound, other = sorted(rng.choice([*values, 0, 3]) for _ in range(2))
    groups = rng.sample("abcd", rng.randint(1, 3))
    edges = sorted({bound, other, bound + rng.choice((1, 7, 100))})
    column_query = on_numbers(rng)
    # Roots of vectors have tests of their own, and rows may have few records.
    while column_query.root or column_query.least > 1 or column_query.ours in NO_COLUMN:
        column_query = on_numbers(rng)

    def binned(rows: Sequence[Row]) -> list[Fraction]:
        last = len(edges) - 2
        return [
            Fraction(sum(low <= v < high or (place == last and v == high) for _, v in rows))
            for place, (low, high) in enumerate(pairwise(edges))
        ]

    def counted(rows: Sequence[Row]) -> list[Fraction]:
        return [Fraction(sum(g == group for g, _ in rows)) for group in groups]

    def total(rows: Sequence[Row]) -> Fraction:
        return sum(column(rows), Fraction(0))

    def clipped(rows: Sequence[Row]) -> Fraction:
        low, high = Fraction(bound), Fraction(other)
        return sum((min(max(v, low), high) for v in column(rows)), Fraction(0))

    def grouped(answer: Callable[[Any], Any], empty: Any) -> Callable[[Any], list[Fraction]]:
        def answers(rows: Sequence[Row]) -> list[Fraction]:
            parts = [[row for row in rows if row[0] == group] for group in groups]
            return [as_list(answer(part)) if part else as_list(empty) for part in parts]

        return lambda rows: [one for part in answers(rows) for one in part]

    size_of = Asked(sl.Count(), lambda rows: Fraction(len(rows)))
    above = Asked(
        sl.CountIf(lambda rows: rows["v"] > bound),
        lambda rows: Fraction(sum(v > bound for _, v in rows)),
    )
    bins = Asked(sl.Histogram("v", bins=edges), binned, vector=True)
    of_column = Asked(
        sl.ColumnQuery("v", column_query.ours), lambda rows: column_query.answer(column(rows))
    )
    empty = 0 if column_query.ours in ("sum", "count") else rng.choice((0, 5, bound))
    in_groups = Asked(
        sl.ColumnQuery("v", column_query.ours, empty=empty),
        lambda rows: column_query.answer(column(rows)),
    )
    make: list[Callable[[], Asked]] = [
        lambda: size_of,
        lambda: above,
        lambda: Asked(sl.SumOf("v"), total),
        lambda: Asked(sl.SumOf("v", clip=(bound, other)), clipped),
        lambda: Asked(sl.Histogram("g", categories=groups), counted, vector=True),
        lambda: bins,
        lambda: Asked(sl.MeanOf("v"), lambda rows: mean(column(rows))),
        lambda: of_column,
        lambda: Asked(sl.CountDistinct("g"), lambda rows: Fraction(len({g for g, _ in rows}))),
        lambda: Asked(sl.CountDistinct(), lambda rows: Fraction(len(set(rows)))),
        lambda: Asked(
            sl.Stack(sl.Count(), bins.ours),
            lambda rows: [Fraction(len(rows)), *binned(rows)],
            vector=True,
        ),
        lambda: Asked(sl.GroupBy("g", "count", groups=groups), counted, vector=True),
        lambda: Asked(
            sl.GroupBy("g", sl.SumOf("v"), groups=groups), grouped(total, Fraction(0)), vector=True
        ),
        lambda: Asked(
            sl.GroupBy("g", bins.ours, groups=groups),
            grouped(binned, [Fraction(0)] * (len(edges) - 1)),
            vector=True,
        ),
        lambda: Asked(
            sl.GroupBy("g", sl.MeanOf("v", empty=empty), groups=groups),
            grouped(lambda rows: mean(column(rows)), Fraction(empty)),
            vector=True,
        ),
        lambda: Asked(
            sl.GroupBy("g", in_groups.ours, groups=groups),
            grouped(in_groups.answer, Fraction(empty)),
            vector=True,
        ),
    ]
    if len(edges) < 2:
        del make[14], make[11], make[5]
    return rng.choice(make)()


# Problems


RECORDS: dict[str, Callable[[Random], Any]] = {
    "spread": lambda rng: rng.randint(-50, 50),
    "ties": lambda rng: rng.randint(0, 2),
    "clusters": lambda rng: rng.choice((-60, 0, 70)) + rng.randint(0, 2),
    "heavy tails": lambda rng: rng.choice((-1, 1)) * 7 ** rng.randint(0, 7),
    "offset": lambda rng: 10**9 + rng.randint(0, 12),
    "below": lambda rng: -(10**9) - rng.randint(0, 12),
    "float offset": lambda rng: 1e9 + rng.randint(0, 40) / 8,
    "tenths": lambda rng: rng.randint(-9, 9) / 10,
    "fractions": lambda rng: Fraction(rng.randint(-9, 9), rng.randint(1, 7)),
    "decimals": lambda rng: Decimal(rng.randint(-30, 30)) / 10,
}
ON_ROWS = ("ties", "clusters", "offset", "below", "float offset", "tenths")
"""What a column of a table holds without loss."""


@dataclass(frozen=True)
class Problem:
    """What is asked of the package, and all that the definition needs."""

    universe: Any
    x: Any
    query: Asked
    relation: Any
    norm: str
    records: tuple[Any, ...]
    allowed: list[Change]
    outside: Counter[Any]
    bounds: tuple[Any, Any] | None = None


def most(relation: str, size: int, total: float, exactly: bool) -> float:
    """The largest distance that is feasible, as docs/reference/tables.md has it."""
    outside = total - size
    if relation == "replace":
        return min(size, outside) if exactly else size * (outside > 0)
    if relation == "difference":
        return total if outside > 0 else size - 1
    return {"remove": size - 1, "add": outside, "remove or add": min(size - 1, outside)}[relation]


def drawn_relation(rng: Random, size: int, total: float) -> tuple[Any, list[Change]] | None:
    """A relation, its k often near its limit; None if none is feasible here."""
    names = ("replace", "replace", "remove", "add", "remove or add", "difference", "difference")
    exactly = rng.random() < 0.4
    feasible = [name for name in names if most(name, size, total, exactly) >= 1]
    if not feasible:
        return None
    name = rng.choice(feasible)
    largest = int(min(most(name, size, total, exactly), size + 3))
    near = [size - 1, size - 2, size - 3, largest, rng.randint(1, largest), 1]
    k = min(max(1, rng.choice(near)), largest)
    make = {
        "replace": lambda: sl.Bounded(k, exactly),
        "remove": lambda: sl.Unbounded(k, exactly, direction="remove"),
        "add": lambda: sl.Unbounded(k, exactly, direction="add"),
        "remove or add": lambda: sl.Unbounded(k, exactly),
        "difference": lambda: sl.SymmetricDifference(k, exactly),
    }
    return make[name](), changes(name, k, exactly)


def drawn(rng: Random) -> Problem:
    """A problem that is feasible, and not too long for the definition."""
    while True:
        problem = _drawn(rng)
        if problem is None:
            continue
        size = len(problem.records)
        feasible = [
            (removed, added)
            for removed, added in problem.allowed
            if removed <= size and added <= problem.outside.total() and size - removed + added > 0
        ]
        smallest = min((size, *(size - removed + added for removed, added in feasible)))
        limit = MOST_NEIGHBORS if rng.random() < 0.95 else RARELY_MORE
        if (
            smallest >= problem.query.least
            and bound_of_neighbors(size, problem.outside, problem.allowed) <= limit
        ):
            return problem


def _drawn(rng: Random) -> Problem | None:
    kind = rng.choice(("numbers", "numbers", "numbers", "numbers", "rows", "rows", "interval"))
    if kind == "interval":
        return _on_interval(rng)
    draw = RECORDS[rng.choice(ON_ROWS if kind == "rows" else sorted(RECORDS))]
    size = rng.randint(1, 12)
    how = rng.choice(("whole", "whole", "part", "part", "part", "domain"))

    def record() -> Any:
        return draw(rng) if kind == "numbers" else (rng.choice("abc"), draw(rng))

    # Equal numbers of different types are one record.
    if how == "domain":
        values = sorted({record() for _ in range(rng.randint(1, 4))})
        copies = rng.choice((None, size, size + 2))
        records = [rng.choice(values) for _ in range(size)]
        total = math.inf if copies is None else copies * len(values)
        there = Counter(dict.fromkeys(values, copies or 2 * size + 4))
        universe = (
            sl.Universe.from_domain(values, copies=copies)
            if kind == "numbers"
            else sl.TableUniverse.from_domain(framed(values), copies=copies)
        )
    else:
        every = [record() for _ in range(size + (rng.randint(1, 6) if how == "part" else 0))]
        records, total, there = every[:size], len(every), Counter(every)
        universe = (
            sl.Universe.from_dataset(every)
            if kind == "numbers"
            else sl.TableUniverse.from_dataset(framed(every))
        )
    found = drawn_relation(rng, size, total)
    if found is None:
        return None
    relation, allowed = found
    query = on_numbers(rng) if kind == "numbers" else on_rows(rng, [v for _, v in records])
    x = records if kind == "numbers" else framed(records)
    norm = rng.choice(("L1", "L2", "Linf"))
    outside = there - Counter(records)
    return Problem(universe, x, query, relation, norm, tuple(records), allowed, outside)


def _on_interval(rng: Random) -> Problem | None:
    """A problem over an interval; what is added to x is drawn from a grid that is enough."""
    lower = Fraction(rng.choice((-7, 0, 10**9)), rng.choice((1, 3)))
    upper = lower + Fraction(rng.randint(1, 40), rng.choice((1, 2, 5)))
    size = rng.randint(1, 6)
    records = [lower + (upper - lower) * Fraction(rng.randint(0, 6), 6) for _ in range(size)]
    found, query = drawn_relation(rng, size, math.inf), on_numbers(rng)
    if found is None or query.ours in NO_COLUMN:
        return None
    relation, allowed = found
    grid = {lower, upper, *records}
    if isinstance(query.ours, (sl.Var, sl.Std)):
        kept = {size - removed for removed, added in allowed if added and removed < size}
        grid |= {mean(some) for number in kept for some in combinations(records, number)}
        if rng.random() < 0.5 and len(grid) > 8:
            return None
    outside = Counter(dict.fromkeys(grid, 2 * size + 4))
    universe = sl.Universe.from_interval(lower, upper)
    return Problem(
        universe, records, query, relation, "L1", tuple(records), allowed, outside, (lower, upper)
    )


def framed(rows: Sequence[Row]) -> pd.DataFrame:
    return pd.DataFrame({"g": [g for g, _ in rows], "v": [v for _, v in rows]})


# The comparison


def as_list(answer: Any) -> list[Fraction]:
    return list(answer) if isinstance(answer, list) else [answer]


def root_of(number: Fraction) -> Decimal:
    """To 60 digits and some more."""
    with localcontext() as context:
        context.prec = 90
        return (Decimal(number.numerator) / number.denominator).sqrt()


def distance(problem: Problem, first: Any, second: Any) -> Fraction | Decimal:
    """How far two answers are apart; a Decimal where that is a root."""
    if problem.query.root:
        with localcontext() as context:
            context.prec = 90
            gap = first - second
            if gap == 0:
                return Decimal(0)
            top = Decimal(abs(gap).numerator) / abs(gap).denominator
            return top / (root_of(first) + root_of(second))
    gaps = [abs(a - b) for a, b in zip(as_list(first), as_list(second), strict=True)]
    if problem.norm == "Linf" or not problem.query.vector:
        return max(gaps)
    if problem.norm == "L1":
        return sum(gaps, Fraction(0))
    return root_of(sum((gap**2 for gap in gaps), Fraction(0)))


def answer_on(problem: Problem, dataset: Sequence[Any]) -> Any:
    """The answer by its definition; `dataset` is ascending."""
    if dataset and isinstance(dataset[0], tuple):
        return problem.query.answer(dataset)
    return problem.query.answer([Fraction(record) for record in dataset])


def check_number(result: sl.results.Sensitivity, truth: Fraction | Decimal) -> None:
    """`value` is the nearest float, `upper` the least one that is not below."""
    if isinstance(truth, Fraction):
        assert result.exact == truth
        assert result.value == truth.numerator / truth.denominator
        assert math.nextafter(result.upper, -math.inf) < truth <= result.upper
        return
    assert result.exact is None
    exact, slack = Fraction(truth), Fraction(truth) / 10**55
    assert abs(Fraction(result.value) - exact) <= Fraction(math.ulp(result.value)) + slack
    assert exact - slack <= Fraction(result.upper) <= exact + 2 * Fraction(math.ulp(result.upper))


def check_pair(
    problem: Problem, result: sl.results.Sensitivity, every: set[Any], truth: Any
) -> None:
    """The witness is x and a neighbor of it, and as far from it as is claimed."""
    x, y = (tuple(sorted(one)) for one in (result.witness.x, result.witness.y))
    assert x == tuple(sorted(problem.records))
    if problem.bounds is None:
        assert y in every
    else:
        y = tuple(map(Fraction, y))
        lower, upper = problem.bounds
        assert not y or lower <= y[0] <= y[-1] <= upper
        shared = (Counter(map(Fraction, x)) & Counter(y)).total()
        sizes = [(len(x) - removed, added) for removed, added in problem.allowed]
        assert any(kept + added == len(y) and 0 <= kept <= shared for kept, added in sizes)
    apart = distance(problem, *(answer_on(problem, one) for one in (x, y)))
    if isinstance(apart, Fraction):
        assert apart == truth
    else:
        assert abs(Fraction(apart) - Fraction(truth)) <= Fraction(truth) / 10**55
    result.verify()


def check(seed: int) -> tuple[str, str]:
    """Compare one problem, and return how it was solved."""
    rng = Random(seed)
    problem = drawn(rng)
    engines = [engine.name for engine in engines_for("local", on_interval=bool(problem.bounds))]
    method = rng.choice(["auto"] * 2 + engines)
    case = f"seed {seed}: {problem.query.ours} of {problem.records}, {problem.relation}"

    def solved(method: str) -> sl.results.Sensitivity:
        return sl.local_sensitivity(
            problem.universe,
            problem.query.ours,
            dataset=problem.x,
            neighbors=problem.relation,
            norm=problem.norm,
            method=method,
        )

    try:
        try:
            result = solved(method)
        except NoEngineError:
            result = solved("auto")
        every = neighbors(
            sorted(problem.records), problem.outside, problem.allowed, problem.query.nobody
        )
        of_x = answer_on(problem, tuple(sorted(problem.records)))
        truth = max(distance(problem, of_x, one) for one in distinct_answers(problem, every))
        check_number(result, truth)
        check_pair(problem, result, every, truth)
        assert (result.kind, result.status) == ("local", "exact")
    except Exception as error:
        raise AssertionError(f"{case} in {problem.universe}, {problem.norm}: {error!r}") from error
    return result.method, type(problem.relation).__name__


def distinct_answers(problem: Problem, datasets: set[Any]) -> list[Any]:
    """Each answer once; of variances the largest and the smallest, as the root rises."""
    answers = [answer_on(problem, dataset) for dataset in datasets]
    if problem.query.root:
        return [min(answers), max(answers)]
    return list({tuple(as_list(one)): one for one in answers}.values())


@pytest.mark.parametrize(
    "seeds", [range(FEW), pytest.param(range(FEW, SOME), marks=pytest.mark.exhaustive)], ids=str
)
def test_a_few_random_problems(seeds):
    solved = Counter(check(seed) for seed in seeds)
    if len(seeds) > FEW:
        names = {e.name for on in (False, True) for e in engines_for("local", on_interval=on)}
        assert {engine for engine, _ in solved} == names
        assert {relation for _, relation in solved} == {
            "Bounded",
            "Unbounded",
            "SymmetricDifference",
        }


@pytest.mark.stress
def test_many_random_problems(capsys):
    solved = Counter(check(seed)[0] for seed in range(SOME, SOME + STRESS))
    with capsys.disabled():
        of_each = ", ".join(f"{engine} {number:,}" for engine, number in solved.most_common())
        sys.stdout.write(f"\n{solved.total():,} local problems agree: {of_each}\n")
