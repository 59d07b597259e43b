"""Reach against a breadth-first search, and what follows from reach."""

from __future__ import annotations

import os
from fractions import Fraction
from random import Random

import oracle
import oracle_reach
import pandas as pd
import pytest
from strategies import as_fractions

import sensitivity_lab as sl
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.roots import Root

FEW = 5
"""So many problems of each query and relation are compared."""

MANY = int(os.environ.get("STRESS", "20000")) // 2
"""So many are, in all, by `make stress`: 10,000 by default."""

QUERIES = {
    "mean": ("mean",),
    "median": ("median",),
    "sum": ("sum",),
    "count": ("count",),
    "min": ("min",),
    "percentile_90": ("percentile", 90, "linear"),
    "var": ("var", 0),
    "std": ("var", 0),
    "count_distinct": ("count_distinct",),
    "mode_count": ("mode_count",),
    "iqr": None,
    "range": None,
    "trimmed_mean_10": None,
    "winsorized_mean_10": None,
    "gini_mean_difference": None,
}
"""By name: the oracle's query (of a root, the square); None: the weights by rank below."""

RELATIONS = {
    "bounded": sl.Bounded,
    "unbounded": sl.Unbounded,
    "symmetric_difference": sl.SymmetricDifference,
    "edit": sl.Edit,
}

RECORDS = {
    "ties": lambda rng: rng.randint(0, 2),
    "clusters": lambda rng: rng.choice((-60, 0, 70)) + rng.randint(0, 2),
    "heavy tails": lambda rng: rng.choice((-1, 1)) * 7 ** rng.randint(0, 7),
    "halves": lambda rng: rng.randint(-9, 9) / 2,
    "offset": lambda rng: 10**9 + rng.randint(0, 8),
    "float offset": lambda rng: 1e9 + rng.randint(0, 9) / 8,
}


def percentile(values, q):
    return oracle.evaluate(("percentile", q, "linear"), values)


def by_rank(name, values):
    """The definitions of L-statistics, on sorted values."""
    n = len(values)
    cut = n // 10
    match name:
        case "iqr":
            return percentile(values, 75) - percentile(values, 25)
        case "range":
            return values[-1] - values[0]
        case "trimmed_mean_10":
            return sum(values[cut : n - cut], Fraction(0)) / (n - 2 * cut)
        case "winsorized_mean_10":
            inner = values[cut : n - cut]
            return (sum(inner, Fraction(0)) + cut * (inner[0] + inner[-1])) / n
        case "gini_mean_difference":
            pairs = sum((b - a for i, a in enumerate(values) for b in values[i + 1 :]), Fraction(0))
            return pairs / (n * (n - 1) // 2)
    raise ValueError(name)


def answer_of(name):
    """The query as a function of a sorted dataset of Fractions."""
    if QUERIES[name] is None:
        return lambda values: by_rank(name, values)
    return lambda values: oracle.evaluate(QUERIES[name], values)


def drawn(rng, relation):
    """A universe, its records as the oracle lists them, and a dataset; the sizes that are allowed.

    Small ones, among them the whole universe, one or two records, and domains.
    """
    make = RECORDS[rng.choice(list(RECORDS))]
    if rng.random() < 0.3:
        values = list({make(rng) for _ in range(rng.randint(1, 3))})
        size = rng.randint(1, 3)
        universe, sizes = sl.Universe.from_domain(values), (1, size + 1)
        records = sorted(map(Fraction, values)) * sizes[1]
    else:
        listed = [make(rng) for _ in range(rng.randint(1, 6))]
        universe, records = sl.Universe.from_dataset(listed), list(map(Fraction, listed))
        size = rng.choice((1, 2, len(records), rng.randint(1, len(records))))
        size = min(size, len(records))
        sizes = (1, len(records))
    x = tuple(sorted(rng.sample(records, size)))
    return universe, records, x, (size, size) if relation == "bounded" else sizes


def check(rng, name, relation, method="auto"):
    """Compare reach with a breadth-first search on one problem; tell whether it is one."""
    universe, records, x, (lowest, highest) = drawn(rng, relation)
    least = {"gini_mean_difference": 2}.get(name, 1)
    if len(x) < least or (lowest < least and least >= highest):
        return False
    lowest = max(lowest, least)
    given = (lowest, highest) if relation != "bounded" and lowest < highest else None
    if given is None and relation != "bounded" and universe.size == float("inf"):
        return False
    balls = oracle_reach.balls(records, x, relation, (lowest, highest))
    expected = oracle_reach.reach(balls, answer_of(name))
    last = rng.choice((1, len(balls) - 1, len(balls) + 2)) or 1
    found = sl.reach(
        universe,
        name,
        dataset=x,
        neighbors=relation,
        distances=last,
        sizes=given,
        method=method,
    )
    number = Root if name == "std" else Fraction
    assert found.answer == number(expected[0][0])
    for k in range(last + 1):
        low, high = expected[min(k, len(expected) - 1)]
        assert (found.lower[k], found.upper[k]) == (number(low), number(high)), k
        assert type(found.lower[k]) is type(found.upper[k]) is number
        for end, stated in (("lower", low), ("upper", high)):
            y = as_fractions(found.witness(k, end).y)
            assert y in balls[min(k, len(balls) - 1)]
            assert answer_of(name)(y) == stated
    # Equal records count as different ones, so the ball may have every dataset earlier.
    if found.saturated_at is not None:
        assert len(balls) - 1 <= found.saturated_at <= last
    else:
        assert last < len(x) + sum(1 for _ in records)
    if relation in ("bounded", "symmetric_difference"):
        check_local(found, given)
    found.verify()
    return True


def check_local(found, given):
    """The larger move from f(x) is the local sensitivity at each feasible k."""
    if given is not None:
        return
    for k in found.distances[1:]:
        try:
            local = sl.local_sensitivity(
                found.universe, found.query, dataset=found.x, neighbors=found.neighbors.at(k)
            )
        except InputError:  # not feasible, or a neighbor is too small for the query
            return
        ends = found.lower[k], found.upper[k]
        if found.query.root:
            floats = [abs(float(end) - float(found.answer)) for end in ends]
            assert local.value == pytest.approx(
                max(floats), rel=1e-12, abs=1e-12 * max(map(float, ends))
            )
        else:
            assert local.exact == max(abs(end - found.answer) for end in ends)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.representative("name", "relation")
def test_reach_is_what_a_breadth_first_search_finds(name, relation):
    rng, compared = Random(f"{name} {relation}"), 0
    while compared < FEW:
        compared += check(rng, name, relation)


@pytest.mark.stress
def test_many_small_problems():
    rng, compared = Random(0), 0
    while compared < MANY:
        name, relation = rng.choice(list(QUERIES)), rng.choice(list(RELATIONS))
        compared += check(rng, name, relation)


def of_group(query, empty):
    """A query on the numbers of the rows of group "a"."""

    def answer(rows):
        values = sorted(v for g, v in rows if g == "a")
        return query(values) if values else empty

    return answer


def mean(values):
    return sum(map(Fraction, values), Fraction(0)) / len(values)


def median(values):
    return oracle.evaluate(("median",), values)


def one_group(query, **more):
    return sl.GroupBy("g", query, groups=["a"], **more)


TABLES = {
    "mean of a column": (sl.MeanOf("v"), lambda rows: mean([v for _, v in rows])),
    "sum of a column": (sl.SumOf("v"), lambda rows: Fraction(sum(v for _, v in rows))),
    "median of a column": (
        sl.ColumnQuery("v", "median"),
        lambda rows: median(sorted(v for _, v in rows)),
    ),
    "count": (sl.CountIf("v > 1"), lambda rows: Fraction(sum(v > 1 for _, v in rows))),
    "mean of a group": (one_group(sl.MeanOf("v", empty=0)), of_group(mean, Fraction(0))),
    "median of a group": (
        one_group(sl.ColumnQuery("v", "median", empty=7)),
        of_group(median, Fraction(7)),
    ),
    "count of a group": (one_group(sl.Count()), of_group(lambda some: Fraction(len(some)), 0)),
    "a function": (
        lambda table: len(set(table["g"])),
        lambda rows: Fraction(len({g for g, _ in rows})),
    ),
}
"""Queries on rows (g, v), and their definitions."""


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.representative("name", "relation")
def test_reach_on_tables(name, relation):
    ours, theirs = TABLES[name]
    rng = Random(f"{name} {relation}")
    for _ in range(FEW):
        kinds = rng.choice(("aab", "ab", "aa", "abc"))
        rows = [(rng.choice(kinds), rng.randint(-1, 3)) for _ in range(rng.randint(2, 6))]
        size = rng.randint(1, len(rows))
        x = tuple(sorted(rng.sample(rows, size)))
        table = pd.DataFrame(rows, columns=["g", "v"])
        balls = oracle_reach.balls(
            rows, x, relation, (size, size) if relation == "bounded" else (1, 9)
        )
        expected = oracle_reach.reach(balls, theirs)
        last = rng.randint(1, len(balls) + 1)
        found = sl.reach(
            sl.TableUniverse.from_dataset(table),
            ours,
            dataset=pd.DataFrame(x, columns=["g", "v"]),
            neighbors=relation,
            distances=last,
        )
        for k in range(last + 1):
            low, high = expected[min(k, len(expected) - 1)]
            assert (found.lower[k], found.upper[k]) == (low, high)
            for end, stated in (("lower", low), ("upper", high)):
                y = tuple(sorted(found.witness(k, end).y))
                assert y in balls[min(k, len(balls) - 1)]
                assert theirs(y) == stated
        found.verify()
