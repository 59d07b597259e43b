"""Datasets and neighbors, against the oracle, which labels every record."""

from __future__ import annotations

import contextlib
import math
import tracemalloc
from collections.abc import Iterator
from itertools import islice, pairwise, product
from math import comb

import oracle
import pytest
from checks import refused_with
from hypothesis import given
from hypothesis import strategies as st
from strategies import RELATIONS, as_fractions, as_records, problems, universes

import sensitivity_lab as sl
from sensitivity_lab.universes.relations import as_relation

each_relation = pytest.mark.parametrize(
    ("family", "exactly"), [(family, exactly) for family in RELATIONS for exactly in (False, True)]
)


@given(universes(), st.data())
def test_datasets_are_the_sub_multisets(universe, data):
    size = data.draw(st.integers(1, min(universe.size, 5)))
    listed = list(sl.datasets(universe, size))
    expected = oracle.datasets(as_records(universe, size), size)
    assert [as_fractions(x) for x in listed] == sorted(expected)
    assert sl.universes.count_datasets(universe, size) == len(expected)


@each_relation
@given(data=st.data())
def test_neighbors_are_the_oracles(family, exactly, data):
    asked = data.draw(problems(family, exactly))
    x = data.draw(st.sampled_from(list(sl.datasets(asked.universe, asked.sizes[0]))))
    listed = list(sl.neighboring_datasets(asked.universe, x, asked.relation))
    distinct = set(map(as_fractions, listed))
    assert len(distinct) == len(listed)
    assert distinct == asked.neighbors(x)
    assert all(list(y) == sorted(y) for y in listed)
    assert sl.universes.count_neighbors(asked.universe, x, asked.relation) == len(listed)


@pytest.mark.parametrize("family", RELATIONS)
@given(data=st.data())
def test_at_most_is_the_union_of_exactly(family, data):
    asked = data.draw(problems(family, False))
    x = next(sl.datasets(asked.universe, asked.sizes[0]))
    relation, parameters = RELATIONS[family]
    union = set()
    directions = ("add", "remove") if family == "unbounded" else (None,)
    for k, direction in product(range(1, asked.relation.k + 1), directions):
        directed = parameters if direction is None else {"direction": direction}
        # At most k is feasible where exactly k is not: there is nothing to add.
        with contextlib.suppress(sl.errors.InputError):
            union |= set(sl.neighboring_datasets(asked.universe, x, relation(k, True, **directed)))
    assert set(sl.neighboring_datasets(asked.universe, x, asked.relation)) == union


def test_x_may_come_in_any_order_and_type():
    universe = sl.Universe.from_dataset([1, 2, 3, 4])
    ordered = list(sl.neighboring_datasets(universe, (1, 3), sl.Bounded(1)))
    assert list(sl.neighboring_datasets(universe, [3.0, 1.0], sl.Bounded(1))) == ordered


@pytest.mark.parametrize(
    "generate",
    [
        lambda universe: sl.datasets(universe, 20),
        lambda universe: sl.neighboring_datasets(universe, range(20), sl.Bounded(10)),
        lambda universe: sl.neighboring_datasets(universe, range(20), sl.SymmetricDifference(9)),
    ],
)
def test_generators_are_lazy(generate):
    """137 billion datasets, of which the first come at once."""
    generator = generate(sl.Universe.from_dataset(range(40)))
    assert isinstance(generator, Iterator)
    assert len(set(islice(generator, 100))) == 100


@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_counts_of_distinct_records_are_binomials(k):
    universe, x = sl.Universe.from_dataset(range(100)), range(30)
    replaced = [comb(30, j) * comb(70, j) for j in range(1, k + 1)]
    removed = [comb(30, j) for j in range(1, k + 1)]
    added = [comb(70, j) for j in range(1, k + 1)]
    both = [comb(100, j) for j in range(1, k + 1)]  # records that change sides
    within = [
        sum(comb(30, i) * comb(70, j) for i in range(far + 1) for j in range(far + 1))
        for far in range(k + 1)
    ]
    edited = [far - near for near, far in pairwise(within)]
    for relation, terms in (
        (sl.Bounded, replaced),
        (sl.Unbounded, [less + more for less, more in zip(removed, added, strict=True)]),
        (sl.SymmetricDifference, both),
        (sl.Edit, edited),
    ):
        assert sl.universes.count_neighbors(universe, x, relation(k)) == sum(terms)
        assert sl.universes.count_neighbors(universe, x, relation(k, exactly=True)) == terms[-1]
    assert sl.universes.count_neighbors(universe, x, sl.Unbounded(k, direction="add")) == sum(added)
    assert sl.universes.count_neighbors(universe, x, sl.Unbounded(k, direction="remove")) == sum(
        removed
    )


def test_counts_of_datasets_in_closed_form():
    assert sl.universes.count_datasets(sl.Universe.from_dataset(range(24)), 12) == comb(24, 12)
    # Stars and bars.
    assert sl.universes.count_datasets(sl.Universe.from_domain(range(12)), 10) == comb(21, 10)
    assert sl.universes.count_datasets(sl.Universe.from_domain([1, 2], copies=3), 4) == 3
    assert sl.universes.count_datasets(sl.Universe([1, 2, 3], [1, 2, 9]), 9) == 6


def test_x_is_its_own_neighbor_only_by_an_equal_record():
    universe = sl.Universe.from_dataset([1, 1, 2])
    assert (1,) in set(sl.neighboring_datasets(universe, (1,), sl.Bounded(1)))
    assert (2,) not in set(sl.neighboring_datasets(universe, (2,), sl.Bounded(1)))


@pytest.mark.parametrize(
    ("relation", "text"),
    [
        (sl.Bounded(), "bounded, at most 1"),
        (sl.Bounded(2, exactly=True), "bounded, exactly 2"),
        (sl.Unbounded(3), "unbounded, at most 3"),
        (sl.Unbounded(1, direction="add"), "unbounded (add), at most 1"),
        (sl.SymmetricDifference(2), "symmetric difference, at most 2"),
    ],
)
def test_a_relation_says_at_most_or_exactly(relation, text):
    assert str(relation) == text


@pytest.mark.parametrize(
    "name", ["bounded", "unbounded", "symmetric_difference", "symmetric difference"]
)
def test_relations_by_name_and_by_class(name):
    relation = as_relation(name)
    assert relation == as_relation(type(relation)) == as_relation(relation)
    assert relation.at(3) == type(relation)(3)
    assert (relation.k, relation.exactly) == (1, False)


def test_a_large_dataset_is_listed_without_listing_the_universe():
    """1,000 values, each as often as a dataset of 10,000 can hold: 10 million records."""
    tracemalloc.start()
    first = next(sl.datasets(sl.Universe.from_domain(range(1_000)), 10_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert first == (0,) * 10_000
    assert peak < 2_000_000


@pytest.mark.parametrize("counts", [[1, 2], [1, 2, 3], [2, 2, 5], [1, 1, 2, 2, 3, 7]])
def test_datasets_of_mixed_multiplicities_are_counted(counts):
    """The coefficients of the product of 1 + z + ... + z**count, multiplied out."""
    expected = [1]
    for count in counts:
        expected = [
            sum(expected[max(0, total - count) : total + 1])
            for total in range(len(expected) + count)
        ]
    universe = sl.Universe(range(len(counts)), counts)
    found = [sl.universes.count_datasets(universe, size) for size in range(1, sum(counts) + 1)]
    assert found == expected[1:]


def test_counting_datasets_takes_few_steps(monkeypatch):
    """A universe of 600 records, 200 values once and 200 twice, size 300."""
    steps = []

    def counted(n, k):
        steps.append(1)
        return math.comb(n, k)

    monkeypatch.setattr("sensitivity_lab.universes.counting.comb", counted)
    universe = sl.Universe(range(400), [1] * 200 + [2] * 200)
    number = sl.universes.count_datasets(universe, 300)
    once = [math.comb(200, records) for records in range(201)]
    twice = [
        sum(
            math.comb(200, pairs) * math.comb(200 - pairs, records - 2 * pairs)
            for pairs in range(records // 2 + 1)
        )
        for records in range(301)
    ]
    assert number == sum(once[part] * twice[300 - part] for part in range(201))
    assert len(steps) < 1_000


@pytest.mark.parametrize("least", [0, 1, 2])
@pytest.mark.parametrize("size", [0, 1, 2, 4])
@pytest.mark.parametrize("outside", [0, 1, 3, math.inf])
def test_changes_are_those_of_the_distance(size, outside, least):
    """Removed and added: their sum is k, or the larger of them, and there are such records."""
    if outside == math.inf:
        universe = sl.Universe.from_interval(0, 1)
    else:
        universe = sl.Universe.from_dataset(range(max(size + outside, 1)))
        outside = universe.size - size
    for relation, distance in ((sl.SymmetricDifference, sum), (sl.Edit, max)):
        for k in range(1, 7):
            every = product(range(min(k, size) + 1), range(int(min(k, outside)) + 1))
            assert sorted(relation().changes_at(k, size, universe, least)) == [
                one for one in every if distance(one) == k and size - one[0] + one[1] >= least
            ]


@pytest.mark.stress
@pytest.mark.parametrize(
    ("relation", "told"),
    [
        (sl.SymmetricDifference(10**9, exactly=True), "more than 100,000,000 records away"),
        (sl.Edit(90_000_000), "more than 25,000,000 changes"),
    ],
)
def test_billions_of_changes_are_refused(relation, told):
    universe = sl.Universe.from_interval(0, 5)
    refused_with(
        lambda: sl.local_sensitivity(universe, "mean", dataset=[1, 2, 3], neighbors=relation),
        told,
        sl.errors.TooLargeError,
    )


@pytest.mark.parametrize("relation", [sl.Edit(9), sl.SymmetricDifference(9), sl.Unbounded(9)])
def test_as_many_changes_as_are_allowed_are_answered(relation, monkeypatch):
    universe, dataset = sl.Universe.from_interval(0, 11), list(range(12))
    number = len(relation.changes(12, universe))
    monkeypatch.setattr("sensitivity_lab.universes.relations.MOST_LISTED", number)
    sl.local_sensitivity(universe, "mean", dataset=dataset, neighbors=relation)
    monkeypatch.setattr("sensitivity_lab.universes.relations.MOST_LISTED", number - 1)
    refused_with(
        lambda: sl.local_sensitivity(universe, "mean", dataset=dataset, neighbors=relation),
        f"{relation} has more than {number - 1} cha",
        sl.errors.TooLargeError,
    )
