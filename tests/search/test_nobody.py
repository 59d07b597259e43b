"""Datasets with too few records, and many sizes at once, against the definition."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from random import Random
from typing import Any
from unittest import mock

import oracle
import pandas as pd
import pytest
from checks import refused_with
from doses import STRESS, spans

import sensitivity_lab as sl
from sensitivity_lab.errors import InputError, NoEngineError, QueryError
from sensitivity_lab.search import sizes as many_sizes

FAMILIES = {
    "bounded": (sl.Bounded, {}),
    "unbounded": (sl.Unbounded, {}),
    "add": (sl.Unbounded, {"direction": "add"}),
    "remove": (sl.Unbounded, {"direction": "remove"}),
    "symmetric_difference": (sl.SymmetricDifference, {}),
    "edit": (sl.Edit, {}),
}


def theirs(query: tuple[Any, ...]) -> Callable[[Fraction | None], Callable[..., float]]:
    """By the answer of nobody, None if there is none: what the oracle answers, in floats."""
    name, *rest = query
    least = oracle.least(query)

    def of(empty: Fraction | None) -> Callable[..., float]:
        def answer(values: Sequence[float]) -> float:
            if len(values) < least:
                return float(empty)
            if name == "std":
                return math.sqrt(oracle.evaluate(("var", *rest), values))
            return float(oracle.evaluate(query, values))

        answer.least_size = least if empty is None else 0
        return answer

    return of


QUERIES = {
    "sum": (lambda _: sl.Sum(), theirs(("sum",))),
    "count": (lambda _: sl.Count(), theirs(("count",))),
    "distinct": (lambda _: sl.CountDistinct(), theirs(("count_distinct",))),
    "function": (
        lambda _: lambda x: int(max(x)) if len(x) else 7,
        lambda _: lambda values: max(values, default=7),
    ),
    "mean": (lambda e: sl.Mean(empty=e), theirs(("mean",))),
    "median": (lambda e: sl.Median(empty=e), theirs(("median",))),
    "percentile": (lambda e: sl.Percentile(30, empty=e), theirs(("percentile", 30, "linear"))),
    "max": (lambda e: sl.Max(empty=e), theirs(("max",))),
    "var": (lambda e: sl.Var(empty=e), theirs(("var", 0))),
    "var_1": (lambda e: sl.Var(ddof=1, empty=e), theirs(("var", 1))),
    "std": (lambda e: sl.Std(empty=e), theirs(("std", 0))),
    "std_1": (lambda e: sl.Std(ddof=1, empty=e), theirs(("std", 1))),
    "gini": (lambda e: sl.GiniMeanDifference(empty=e), theirs(("gini",))),
    "range": (lambda e: sl.Range(empty=e), theirs(("range",))),
}
"""By name: ours and the oracle's, both by the answer of nobody."""

FEASIBLE = ("is not feasible", "needs at least", "local searches start")


def drawn(rng: Random):
    """A universe, its records, sizes of x, and a relation by name and as both sides take it."""
    offset = rng.choice((0, 0, 10**9))
    records = [offset + rng.choice((0, 1, 1, 2, 5, 9, -3)) for _ in range(rng.randint(1, 5))]
    family, k, exactly = rng.choice(list(FAMILIES)), rng.randint(1, 4), rng.random() < 0.25
    universe = sl.Universe.from_dataset(records)
    sizes = sorted(rng.sample(range(len(records) + 1), rng.randint(1, len(records) + 1)))
    if rng.random() < 0.3:
        values, k = sorted(set(records))[:2], min(k, 2)
        sizes = [size for size in sizes if size <= 2] or [0]
        universe = sl.Universe.from_domain(values)
        records = values * (max(sizes) + k)
    relation, parameters = FAMILIES[family]
    relation = relation(k, exactly, **parameters)
    return universe, list(map(Fraction, records)), sizes, relation


def changes(records, starts, answer, relation) -> list[float]:
    """What the oracle finds from a dataset, or from all of each size, where there is a pair."""
    search = oracle.global_sensitivity if isinstance(starts[0], int) else oracle.local_sensitivity
    parameters = {"direction": relation.direction} if relation.name == "unbounded" else {}
    name, found = relation.name.replace(" ", "_"), []
    for start in starts:
        with suppress(ValueError):  # no pair
            asked = (name, relation.k, relation.exactly)
            found.append(search(records, start, answer, *asked, **parameters)[0])
    return found


def check(rng: Random, name: str, kind: str) -> str:
    """Compare one problem with the definition; say how it ended."""
    universe, records, sizes, relation = drawn(rng)
    empty = rng.choice((None, Fraction(0), Fraction(3), records[0], Fraction(-2)))
    if name.startswith("std") and empty is not None:
        empty = abs(empty)
    query, answer = (make(empty) for make in QUERIES[name])
    if kind == "local":
        labels = tuple(sorted(rng.sample(range(len(records)), rng.choice(sizes))))
        starts = [[records[label] for label in labels]]
        asked = sl.local_sensitivity, {"dataset": starts[0]}
    else:
        starts = sizes
        asked = sl.global_sensitivity, {"size": sizes}
    call, options = asked
    try:
        found = call(universe, query, neighbors=relation, **options)
    except InputError as error:
        told = any(one in str(error) for one in FEASIBLE)
        if not told:
            raise
        if "not feasible" in str(error) and not relation.exactly:
            assert not changes(records, starts, answer, relation)
        return "refused"
    expected = max(changes(records, starts, answer, relation))
    assert found.value == pytest.approx(expected, rel=1e-6, abs=1e-6), (name, relation, sizes)
    found.verify()
    return "right"


@pytest.mark.parametrize("seeds", spans(3, 20, 20 + 3 * STRESS))
@pytest.mark.parametrize("kind", ["global", "local"])
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.representative("name", "kind", "seeds", quick=("name",))
def test_nobody_by_definition(name, kind, seeds):
    ended = Counter(check(Random(f"{seed}"), name, kind) for seed in seeds)
    assert ended["right"] >= len(seeds) // 5


MANY = ("mean", "median", "percentile", "max", "sum", "var", "var_1", "std", "std_1")


@pytest.mark.representative("name", "seeds", quick=())
@pytest.mark.parametrize("seeds", spans(2, 30))
@pytest.mark.parametrize("name", MANY)
def test_many_sizes_are_the_largest_of_each(name, seeds):
    """As if 2 sizes were many; each size by itself is compared with the definition above."""
    for seed in seeds:
        rng = Random(f"{name} {seed}")
        values = sorted(rng.sample(range(-3, 12), rng.randint(2, 3)))
        universe = rng.choice(
            (sl.Universe.from_domain(values), sl.Universe.from_interval(*values[:2]))
        )
        query = QUERIES[name][0](None)
        least = getattr(query, "least_size", 0)
        sizes = sorted(rng.sample(range(least, least + 14), rng.randint(2, 10)))
        family, parameters = FAMILIES[rng.choice(list(FAMILIES))]
        relation = family(rng.randint(1, 4), **parameters)

        def of(size, universe=universe, query=query, relation=relation):
            return sl.global_sensitivity(universe, query, size=size, neighbors=relation)

        alone = []
        for size in sizes:
            try:
                alone.append(of(size).value)
            except InputError:
                # Nobody has no record to replace or to remove.
                assert size <= least
        with mock.patch.object(many_sizes, "MANY", 1):
            assert not alone or of(sizes).value == max(alone)


@pytest.mark.representative("statistic", "grouped", "seeds", quick=("statistic",))
@pytest.mark.parametrize("seeds", spans(3, 8, 20))
@pytest.mark.parametrize("statistic", ["mean", "median", "var", "std", "min"])
@pytest.mark.parametrize("grouped", [True, False])
def test_many_sizes_of_a_table_are_the_largest_of_each(statistic, grouped, seeds):
    """Of a group, or of a column: as if 2 sizes were many, and each size by itself."""
    compared = 0
    for seed in seeds:
        rng = Random(f"{statistic} {grouped} {seed}")
        keys, values = "abc"[: rng.randint(1, 3)], rng.sample(range(-3, 9), rng.randint(1, 2))
        universe = sl.TableUniverse.from_domain(
            pd.DataFrame([(key, v) for key in keys for v in values], columns=["key", "v"])
        )
        query = sl.ColumnQuery("v", statistic, empty=rng.choice((None, 0, 3)))
        if grouped:
            # The last group has rows, rows in no group, or no rows at all.
            groups = list(keys) + ["z"] * rng.randint(0, 1)
            groups = groups[rng.randint(0, 1) :] or groups
            query = sl.GroupBy("key", query, groups=groups)
        family, parameters = FAMILIES[rng.choice(list(FAMILIES))]
        relation = family(rng.randint(1, 2), **parameters)
        sizes = sorted(rng.sample(range(6), rng.randint(2, 4)))

        def of(size, universe=universe, query=query, relation=relation):
            try:
                found = sl.global_sensitivity(universe, query, size=size, neighbors=relation)
            except (InputError, QueryError, NoEngineError) as refused:
                return type(refused)
            return found.value

        alone = [of(size) for size in sizes]
        if all(isinstance(value, float) for value in alone):
            with mock.patch.object(many_sizes, "MANY", 1):
                assert of(sizes) == max(alone)
            compared += 1
    assert compared >= 1


@pytest.mark.parametrize("query", ["mean", "median", "std", "var", "percentile_90", "sum"])
def test_ten_thousand_sizes_search_few(query):
    """Cost is counted: the sizes that an engine is asked for."""
    domain = sl.Universe.from_domain(range(61))
    least = 0 if query == "sum" else 1
    seen = []
    real = many_sizes.deciding
    with mock.patch.object(
        many_sizes, "deciding", side_effect=lambda *a: seen.append(real(*a)) or seen[-1]
    ):
        sl.global_sensitivity(
            domain, query, size=range(least, 10_000), neighbors=sl.Unbounded(5)
        ).verify()
    assert len(seen[0]) <= 12


def test_two_kinds_of_records_settle_a_variance_of_a_domain():
    """Above what they attain there is no bound, so nothing is searched."""
    domain = sl.Universe.from_domain(range(61))
    found = sl.global_sensitivity(domain, "var", size=100_000, neighbors=sl.Bounded(5))
    assert found.exact == Fraction(5 * (100_000 - 5) * 3600, 100_000**2)
    found.verify()


def test_every_size_of_a_mean_can_be_asked_for():
    ages = sl.Universe.from_domain(range(101))
    found = sl.global_sensitivity(ages, "mean", size=range(1, 1001), neighbors=sl.Unbounded(5))
    assert found.exact == Fraction(500, 6)  # one record, and five more at the other end
    with_nobody = sl.global_sensitivity(
        ages, sl.Mean(empty=50), size=range(1001), neighbors=sl.Unbounded(5)
    )
    assert with_nobody.exact == Fraction(500, 6)
    far = sl.global_sensitivity(ages, sl.Mean(empty=-50), size=range(1001), neighbors="unbounded")
    assert (far.exact, far.witness.x, far.witness.y) == (150, (), (100,))


def test_nobody_of_the_review():
    """It was told to be tight at 10: with the empty dataset it is 60."""
    domain = sl.Universe.from_domain([50, 60])
    found = sl.global_sensitivity(domain, sl.Max(empty=0), size=range(6), neighbors="unbounded")
    assert found.exact == 60
    function = sl.global_sensitivity(
        domain, lambda x: int(max(x, default=0)), size=range(6), neighbors="unbounded"
    )
    assert function.exact == 60


def test_a_function_that_nobody_breaks_is_told_both_ways_out():
    domain = sl.Universe.from_domain([1, 2])
    with pytest.raises(QueryError) as caught:
        sl.global_sensitivity(domain, lambda x: x.max(), size=2, neighbors=sl.Unbounded(2))
    assert str(caught.value).endswith(
        "; nobody is a dataset, too: return a public number for no records, or leave it out with "
        "sl.from_function(f, least_size=1), and it is public that there is a record"
    )
    without = sl.from_function(lambda x: int(x.max()), least_size=1)
    assert sl.global_sensitivity(domain, without, size=2, neighbors=sl.Unbounded(2)).exact == 1


def test_a_local_search_starts_from_nobody_or_from_enough_records():
    domain = sl.Universe.from_domain([0, 4])
    query = sl.Var(ddof=1, empty=0)
    asked = {"neighbors": sl.Unbounded(2)}
    assert sl.local_sensitivity(domain, query, dataset=[], **asked).exact == 8
    with pytest.raises(InputError) as caught:
        sl.local_sensitivity(domain, query, dataset=[4], **asked)
    assert str(caught.value) == (
        "var_ddof_1 has an answer of its own on 2 records or more, and `empty` on fewer; x has 1, "
        "and local searches start from no records or from 2 at least; ask for the global "
        "sensitivity"
    )


@pytest.mark.parametrize("neighbors", ["unbounded", "symmetric_difference"])
def test_a_smooth_median_with_nobody_is_listed_or_refused(neighbors):
    universe = sl.Universe.from_dataset([0, 2, 9])
    asked = {"dataset": [2], "beta": Fraction(1, 2), "neighbors": neighbors}
    listed = sl.smooth_sensitivity(universe, sl.Median(empty=4), **asked)
    assert (listed.method, listed.sizes) == ("enumeration", (0, 3))
    wide = sl.Universe.from_domain([0, 2, 9])
    refused_with(
        lambda: sl.smooth_sensitivity(wide, sl.Median(empty=4), **asked),
        r"at least 1 records; pass sizes=\(1, \.\.\.\)",
        NoEngineError,
    )


@pytest.mark.parametrize("query", [sl.Mean, sl.Std])
def test_the_answer_of_nobody_is_a_number(query):
    refused_with(lambda: query(empty="0"), r"^empty must be None or a finite number, got")


def test_a_root_of_nobody_is_not_negative():
    with pytest.raises(InputError) as caught:
        sl.Std(empty=-1)
    assert str(caught.value) == "empty must be at least 0 for a std, got -1"


def test_nobody_is_listed():
    universe = sl.Universe.from_dataset([1, 2])
    assert list(sl.datasets(universe, 0)) == [()]
    assert list(sl.neighboring_datasets(universe, (1,), sl.Unbounded(1))) == [(), (1, 2)]
    assert list(sl.neighboring_datasets(universe, (), sl.Unbounded(1))) == [(1,), (2,)]
    table = sl.neighbor_table(universe, "sum", size=[0, 1], neighbors="unbounded")
    assert table.value == 2


@pytest.mark.parametrize("query", [sl.Mean(), sl.Std(ddof=1), sl.Var(ddof=1)])
@pytest.mark.parametrize("neighbors", [sl.SymmetricDifference(3), sl.Unbounded(2), sl.Edit(3)])
def test_a_query_that_never_changes_is_proved_by_datasets_that_it_has_answers_on(query, neighbors):
    """Any neighbor proves it, if it has enough records."""
    universe = sl.Universe.from_domain([5])
    found = sl.global_sensitivity(
        universe, query, size=2, neighbors=neighbors, method="enumeration"
    )
    assert found.value == 0
    assert min(len(found.witness.x), len(found.witness.y)) >= query.least_size
    found.verify()
