"""What every local engine must do: agree with the definition, with the global one and with itself.

The identities hold for every query and every relation, so that they reach further than the oracle:

- the local sensitivity of x is what a list of all neighbors of x gives;
- it is at most the global one, and equal to it where x is the whole universe, the only dataset of
  its size;
- at distance at most k it is the largest of those at distance exactly 1, 2, ..., k that are
  feasible.

Distances are often the largest that are feasible, which keep one to three records of x.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import HAVE_INTERVALS, KINDS, QUERIES, RELATIONS, most_feasible

import sensitivity_lab as sl
from sensitivity_lab.errors import NoEngineError
from sensitivity_lab.queries import as_query
from sensitivity_lab.search import engines_for

MOST_RECORDS = 12
MOST_LISTED = 300
"""At most so many neighbors are listed for the comparison."""


def weighted(weight, name: str) -> sl.LStatistic:
    return sl.LStatistic(lambda size: [weight(rank, size) for rank in range(size)], name=name)


ON_NUMBERS = {
    **{name: ours for name, (ours, _) in QUERIES.items()},
    "percentile_30": sl.Percentile(30, "weibull"),
    "var_ddof_3/2": sl.Var(ddof=Fraction(3, 2)),
    "range": sl.Range(),
    "midrange": sl.Midrange(),
    "iqr": sl.InterquartileRange(),
    "gini": sl.GiniMeanDifference(),
    "trimmed_mean": sl.TrimmedMean(Fraction(1, 4)),
    "winsorized_mean": sl.WinsorizedMean(Fraction(1, 4)),
    "rising": weighted(lambda rank, size: 9 if rank == size - 1 else -1, "rising"),
    "alternating": weighted(lambda rank, _: (-1) ** rank * (rank + 1), "alternating"),
}
ON_INTERVALS = {
    name: query
    for name, query in ON_NUMBERS.items()
    if name in HAVE_INTERVALS or name not in QUERIES
}
ON_TABLES = {
    "count": sl.Count(),
    "count_if": sl.CountIf("v > 2"),
    "sum": sl.SumOf("v"),
    "clipped_sum": sl.SumOf("v", clip=(-1, 3)),
    "histogram": sl.Histogram("g", categories=["a", "b"]),
    "bins": sl.Histogram("v", bins=[0, 2, 10**9]),
    "sums_by_group": sl.GroupBy("g", sl.SumOf("v"), groups=["a", "b"]),
    "stack": sl.Stack(sl.Count(), sl.SumOf("v")),
    "distinct": sl.CountDistinct(),
    "distinct_groups": sl.CountDistinct("g"),
    "mean": sl.MeanOf("v"),
    "column_median": sl.ColumnQuery("v", "median"),
    "column_range": sl.ColumnQuery("v", "range"),
    "column_std": sl.ColumnQuery("v", "std"),
    "means_by_group": sl.GroupBy("g", sl.MeanOf("v", empty=1), groups=["a", "b"]),
    "medians_by_group": sl.GroupBy("g", sl.ColumnQuery("v", "median", empty=0), groups=["a"]),
    "variances_by_group": sl.GroupBy("g", sl.ColumnQuery("v", "var", empty=0), groups=["a"]),
}


@dataclass(frozen=True)
class Drawn:
    """A universe, a dataset of it with `size` records, and how many records there are in all."""

    universe: Any
    x: Any
    size: int
    total: float

    @property
    def is_whole(self) -> bool:
        return self.size == self.total


@st.composite
def numbers(draw) -> Drawn:
    """Datasets of numbers: part of a universe, all of it, or drawn from values without limit."""
    kind = KINDS[draw(st.sampled_from(sorted(KINDS)))]
    how = draw(st.sampled_from(["whole", "part", "domain"]))
    least, most = (1, 4) if how == "domain" else (2, MOST_RECORDS)
    values = draw(st.lists(kind, min_size=least, max_size=most, unique=how == "domain"))
    if how == "domain":
        x = draw(st.lists(st.sampled_from(values), min_size=1, max_size=MOST_RECORDS))
        return Drawn(sl.Universe.from_domain(values), x, len(x), float("inf"))
    size = len(values) if how == "whole" else draw(st.integers(1, len(values)))
    x = draw(st.permutations(values))[:size]
    return Drawn(sl.Universe.from_dataset(values), x, size, len(values))


@st.composite
def tables(draw) -> Drawn:
    """Tables of a category and a number, with offsets and ties, or all of them."""
    above = draw(st.sampled_from([0, 10**9]))
    row = st.tuples(st.sampled_from("abc"), st.integers(above, above + draw(st.integers(1, 9))))
    rows = draw(st.lists(row, min_size=2, max_size=MOST_RECORDS))
    size = draw(st.sampled_from([len(rows), draw(st.integers(1, len(rows)))]))
    universe = pd.DataFrame(rows, columns=["g", "v"])
    x = universe.iloc[draw(st.permutations(range(len(rows))))[:size]]
    return Drawn(sl.TableUniverse.from_dataset(universe), x, size, len(rows))


@st.composite
def intervals(draw) -> Drawn:
    """Datasets between two bounds, near 0 and far from it."""
    lower = draw(st.sampled_from([-7, 0, 10**9]))
    record = st.integers(0, 24).map(lambda steps: lower + Fraction(steps, 2))
    x = draw(st.lists(record, min_size=1, max_size=MOST_RECORDS))
    return Drawn(sl.Universe.from_interval(lower, lower + 12), x, len(x), float("inf"))


KINDS_OF_UNIVERSE = {
    "numbers": (numbers(), ON_NUMBERS, False),
    "tables": (tables(), ON_TABLES, False),
    "intervals": (intervals(), ON_INTERVALS, True),
}
SMALL = {
    "numbers": (sl.Universe.from_dataset(range(9)), range(4)),
    "tables": (
        sl.TableUniverse.from_dataset(pd.DataFrame({"g": list("aabbcc"), "v": range(6)})),
        pd.DataFrame({"g": list("aabb"), "v": range(4)}),
    ),
    "intervals": (sl.Universe.from_interval(0, 9), range(4)),
}


def _accepts(kind: str, method: str, query: Any) -> bool:
    universe, x = SMALL[kind]
    try:
        sl.local_sensitivity(universe, query, dataset=x, neighbors=sl.Bounded(1), method=method)
    except NoEngineError:
        return False
    return True


ACCEPTED = [
    (kind, engine.name, name)
    for kind, (_, queries, on_interval) in KINDS_OF_UNIVERSE.items()
    for engine in engines_for("local", on_interval=on_interval)
    for name, query in queries.items()
    if _accepts(kind, engine.name, query)
]


def told(result: sl.results.Sensitivity) -> tuple[Any, ...]:
    return result.value, result.exact, result.upper


def exactly_up_to(k, relation, direction, parameters):
    """The relations exactly 1, 2, ..., k apart."""
    directed = parameters if direction is None else {"direction": direction}
    return [relation(j, True, **directed) for j in range(1, k + 1)]


def feasible(relation, drawn, least):
    """Whether x has neighbors, by the changes that the relation declares."""
    return any(True for _ in relation.some_changes(drawn.size, drawn.universe, least))


@pytest.mark.representative("engine")
@pytest.mark.parametrize(("kind", "engine", "query"), ACCEPTED)
@settings(max_examples=3 * settings.default.max_examples)
@given(data=st.data())
def test_the_identities(kind, engine, query, data):
    strategy, queries, _ = KINDS_OF_UNIVERSE[kind]
    asked = as_query(queries[query])
    drawn = data.draw(strategy)
    family = data.draw(st.sampled_from(sorted(RELATIONS)))
    relation, parameters = RELATIONS[family]
    most = min(most_feasible(family, drawn.size, drawn.total, False), MOST_RECORDS)
    if family not in ("bounded", "unbounded (add)"):
        most = min(most, drawn.size - asked.least_size)
    assume(most >= 1 and drawn.size >= asked.least_size)
    k = max(1, data.draw(st.sampled_from([most, most - 1, most - 2, 1, 2])))
    assume(k <= most)

    def local(k: int, exactly: bool = False, method: str = engine) -> sl.results.Sensitivity:
        neighbors = relation(k, exactly, **parameters)
        return sl.local_sensitivity(
            drawn.universe, asked, dataset=drawn.x, neighbors=neighbors, method=method
        )

    at_most = relation(k, **parameters)
    is_listed = kind != "intervals" and (
        sl.universes.count_neighbors(drawn.universe, drawn.x, at_most) <= MOST_LISTED
    )
    assume(is_listed or engine != "enumeration")
    try:
        found = local(k)
    except NoEngineError:  # groups that become empty, and the like
        assume(False)
        raise
    assert found.method == engine
    found.verify()
    if is_listed:
        assert told(found) == told(local(k, method="enumeration"))
    # Where only one direction is feasible, at most k has its neighbors, and exactly k refuses.
    directions = ("add", "remove") if family == "unbounded" else (None,)
    by_distance = [
        sl.local_sensitivity(drawn.universe, asked, dataset=drawn.x, neighbors=exact, method=engine)
        for direction in directions
        for exact in exactly_up_to(k, relation, direction, parameters)
        if feasible(exact, drawn, asked.least_size)
    ]
    assert told(found) == max(map(told, by_distance))
    everywhere = sl.global_sensitivity(drawn.universe, asked, size=drawn.size, neighbors=at_most)
    assert found.value <= everywhere.value
    if drawn.is_whole:
        assert told(found) == told(everywhere)


WHOLE = {
    "numbers": range(100, 112),
    "tables": pd.DataFrame({"g": list("aabbccaabbcc"), "v": range(100, 112)}),
}


@pytest.mark.representative("engine")
@pytest.mark.parametrize(
    ("kind", "engine", "query"),
    [
        case
        for case in ACCEPTED
        if case[0] in WHOLE
        and case[1] != "enumeration"
        and case[2] != "variances_by_group"  # refused where a group becomes empty
        and case != ("tables", "row_sums", "mean")  # a mean is a sum where the size stays
    ],
)
def test_the_whole_universe(kind, engine, query):
    """Far from 0, with one to three records kept: the sum that a search starts from is far off."""
    asked, x = as_query(KINDS_OF_UNIVERSE[kind][1][query]), WHOLE[kind]
    make = sl.TableUniverse if kind == "tables" else sl.Universe
    universe = make.from_dataset(x)
    for kept in range(asked.least_size, 4):
        neighbors = sl.Unbounded(12 - kept, exactly=True, direction="remove")
        here = sl.local_sensitivity(universe, asked, dataset=x, neighbors=neighbors, method=engine)
        everywhere = sl.global_sensitivity(universe, asked, size=12, neighbors=neighbors)
        assert told(here) == told(everywhere)


def test_every_local_engine_is_asked():
    """Without this, an engine that refuses everything would satisfy everything."""
    for on_interval in (False, True):
        names = {engine.name for engine in engines_for("local", on_interval=on_interval)}
        kinds = {kind for kind, (*_, of) in KINDS_OF_UNIVERSE.items() if of == on_interval}
        assert names == {engine for kind, engine, _ in ACCEPTED if kind in kinds}
    for kind, (_, queries, _) in KINDS_OF_UNIVERSE.items():
        assert {query for of, _, query in ACCEPTED if of == kind} == set(queries)
