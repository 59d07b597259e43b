"""The lattice against itertools; every identity also where blocks are recursive, not tables."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import contextmanager
from itertools import combinations, combinations_with_replacement
from math import comb
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensitivity_lab.search import lattice as module
from sensitivity_lab.search.enumeration import core_pairs
from sensitivity_lab.search.lattice import Lattice
from sensitivity_lab.universes import counting, listing

counts = st.lists(st.integers(1, 3), min_size=1, max_size=5)
each_table_size = pytest.mark.parametrize("table_rows", [1, 96, 320, module.TABLE])


@contextmanager
def with_tables_of(numbers: int):
    """Blocks whose listing has more numbers than this are handled by recursion."""
    with (
        mock.patch.object(module, "TABLE", numbers),
        mock.patch.object(module, "_LARGER", 1),
        mock.patch.object(listing, "TABLE", numbers),
    ):
        yield


def multisets(limits, size) -> list[tuple[int, ...]]:
    """All multisets of positions, in the lattice's order: by the largest records first."""
    pool = [place for place, count in enumerate(limits) for _ in range(count)]
    return sorted(set(combinations(pool, size)), key=lambda row: colex(row, len(limits)))


def colex(row, values: int) -> list[int]:
    """How often the largest value occurs, then the next one, and so on."""
    return [row.count(value) for value in range(values - 1, -1, -1)]


@each_table_size
@given(counts=counts)
def test_rows_list_every_multiset_once_in_order(table_rows, counts):
    top = min(sum(counts), 6)
    with with_tables_of(table_rows):
        lattice = Lattice(counts, top)
        for size in range(top + 1):
            expected = multisets(counts, size)
            assert lattice.number(size) == len(expected)
            rows = lattice.rows(size, 0, lattice.number(size))
            assert [tuple(row) for row in rows.tolist()] == expected


@each_table_size
@given(counts=counts, data=st.data())
def test_a_range_of_rows_is_a_slice_of_all_rows(table_rows, counts, data):
    size = data.draw(st.integers(1, min(sum(counts), 6)))
    with with_tables_of(table_rows):
        lattice = Lattice(counts, size)
        number = lattice.number(size)
        first = data.draw(st.integers(0, number))
        last = data.draw(st.integers(first, number))
        part, whole = lattice.rows(size, first, last), lattice.rows(size, 0, number)
        assert part.tolist() == whole[first:last].tolist()


@given(counts=counts)
def test_rank_is_the_inverse_of_rows(counts):
    top = min(sum(counts), 6)
    lattice = Lattice(counts, top)
    for size in range(top + 1):
        rows = lattice.rows(size, 0, lattice.number(size))
        multiplicities = np.array(
            [[row.count(v) for v in range(len(counts))] for row in rows.tolist()]
        )
        assert lattice.rank(multiplicities).tolist() == list(range(len(rows)))


@each_table_size
@given(counts=counts, seed=st.integers(0, 2**32 - 1))
def test_maximum_below_is_the_maximum_over_one_added_record(table_rows, counts, seed):
    top = min(sum(counts), 6)
    with with_tables_of(table_rows):
        lattice = Lattice(counts, top)
        for size in range(top):
            above, below = multisets(counts, size + 1), multisets(counts, size)
            upper = np.random.default_rng(seed).normal(size=(len(above), 2))
            lower = lattice.maximum_below(upper, size)
            for core, found in zip(below, lower, strict=True):
                covers = [not Counter(core) - Counter(dataset) for dataset in above]
                assert found.tolist() == upper[covers].max(axis=0).tolist()


def test_maximum_below_is_minus_infinity_where_nothing_can_be_added():
    assert Lattice([1, 1], 3).maximum_below(np.empty((0, 1)), 2).tolist() == [[-np.inf]]


def test_the_input_of_a_pass_is_left_alone():
    lattice = Lattice([2, 2, 2], 3)
    upper = np.arange(float(lattice.number(3)))[:, None]
    before = upper.copy()
    lattice.maximum_below(upper, 2)
    assert np.array_equal(upper, before)


def test_large_levels_have_the_numbers_of_the_binomials():
    lattice = Lattice([1] * 24, 12)
    assert [lattice.number(size) for size in (0, 1, 11, 12)] == [1, 24, comb(24, 11), comb(24, 12)]
    assert Lattice([10] * 12, 10).number(10) == comb(21, 10)


@pytest.mark.exhaustive
def test_large_levels_are_recursive_and_right():
    """12870 datasets, more than a table holds: rows, and one pass, by itertools."""
    lattice = Lattice([1] * 16, 8)
    expected = sorted(combinations(range(16), 8), key=lambda row: row[::-1])
    assert lattice.rows(8, 0, len(expected)).tolist() == [list(row) for row in expected]
    sums = np.array(expected).sum(axis=1, keepdims=True).astype(float)
    highest = lattice.maximum_below(sums, 7)[:, 0]
    cores = sorted(combinations(range(16), 7), key=lambda row: row[::-1])
    assert highest.tolist() == [sum(c) + max(set(range(16)) - set(c)) for c in cores]


def test_large_levels_with_repeated_values_are_right():
    """6435 datasets with unlimited copies: as above."""
    lattice = Lattice([8] * 8, 8)
    expected = sorted(combinations_with_replacement(range(8), 8), key=lambda row: row[::-1])
    assert sorted(map(tuple, lattice.rows(8, 0, 6435).tolist())) == sorted(expected)
    sums = lattice.rows(8, 0, 6435).sum(axis=1, keepdims=True).astype(float)
    lowest = -lattice.maximum_below(-sums, 7)[:, 0]
    assert lowest.tolist() == lattice.rows(7, 0, lattice.number(7)).sum(axis=1).tolist()


@pytest.mark.parametrize("short", [1, pytest.param(2, marks=pytest.mark.exhaustive)])
def test_levels_of_nearly_all_records_are_counted_without_those_between(short):
    """The level of 33 records has more datasets than an int64 holds."""
    records = 67
    size = records - short
    lattice = Lattice([1] * records, size, size - 1)
    numbers = [comb(records, left) for left in (short, short + 1)]
    assert [lattice.number(size), lattice.number(size - 1)] == numbers
    assert sum(map(len, lattice.numbers.rows)) <= (short + 2) * (records + 1)
    expected = sorted(combinations(range(records), size), key=lambda row: row[::-1])
    rows = lattice.rows(size, 0, numbers[0])
    assert rows.tolist() == [list(row) for row in expected]
    assert lattice.rank_rows(rows).tolist() == list(range(numbers[0]))
    missing = np.array([sum(range(records)) - sum(row) for row in expected], dtype=float)
    cores = [set(row) for row in lattice.rows(size - 1, 0, numbers[1]).tolist()]
    lowest = -lattice.maximum_below(-missing[:, None], size - 1)[:, 0]
    assert lowest.tolist() == [
        sum(range(records)) - sum(core) - max(set(range(records)) - core) for core in cores
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", [500, 20_000])
def test_many_records_of_two_values(size):
    """A dataset is a number of ones; one more record is a zero or a one."""
    lattice = Lattice([size, size], size, size - 2)
    assert [lattice.number(size - less) for less in range(3)] == [size + 1, size, size - 1]
    for ones in (0, 1, size // 2, size):
        row = lattice.rows(size, ones, ones + 1)[0]
        assert (row[: size - ones] == 0).all()
        assert (row[size - ones :] == 1).all()
        assert lattice.rank(np.array([[size - ones, ones]])).tolist() == [ones]
    answers = np.random.default_rng(0).random((size + 1, 1))
    once = lattice.maximum_below(answers, size - 1)
    assert np.array_equal(once, np.maximum(answers[:-1], answers[1:]))
    twice = lattice.maximum_below(once, size - 2)
    assert np.array_equal(twice, np.maximum(once[:-1], once[1:]))


@given(counts=counts, data=st.data())
def test_a_lattice_of_some_levels_is_that_of_all(counts, data):
    total = sum(counts)
    top = data.draw(st.integers(1, total))
    lowest = data.draw(st.integers(0, top))
    every, some = Lattice(counts, top), Lattice(counts, top, lowest)
    for size in range(lowest, top + 1):
        number = every.number(size)
        assert some.number(size) == number
        rows = some.rows(size, 0, number)
        assert rows.tolist() == every.rows(size, 0, number).tolist()
        assert some.rank_rows(rows).tolist() == list(range(number))
        if size < top:
            upper = np.random.default_rng(size).random((every.number(size + 1), 2))
            below = some.maximum_below(upper, size)
            assert np.array_equal(below, every.maximum_below(upper, size))


@given(counts=counts, data=st.data())
def test_the_datasets_above_a_core(counts, data):
    size = data.draw(st.integers(1, min(sum(counts), 6)))
    low = data.draw(st.integers(0, size))
    lattice = Lattice(counts, size)
    place = data.draw(st.integers(0, lattice.number(low) - 1))
    core = lattice.multiplicities(low, place)
    needed = Counter(dict(enumerate(core.tolist())))
    expected = {
        rank for rank, row in enumerate(multisets(counts, size)) if not needed - Counter(row)
    }
    for block in (1, 7, core_pairs.BATCH):
        with mock.patch.object(core_pairs, "BATCH", block):
            ranks = core_pairs.above(lattice, core, size)
            assert sorted(ranks.tolist()) == sorted(expected)
            assert (
                lattice.rank(core_pairs.containing(lattice, core, size)).tolist() == ranks.tolist()
            )


@given(counts=st.lists(st.integers(1, 40), min_size=2, max_size=12), data=st.data())
def test_the_estimate_is_close(counts, data):
    size = data.draw(st.integers(0, sum(counts)))
    number = counting.Numbers(counts, size, size).of(len(counts), size)
    assert number / 3 < counting.estimate(counts, size) < 3 * number
    if number > 1000:
        assert number / 1.3 < counting.estimate(counts, size) < 1.3 * number


def test_estimates_of_large_levels():
    assert counting.estimate([10**8] * 2, 10**8) == pytest.approx(10**8, rel=0.1)
    assert counting.estimate([1] * 20_000, 19_999) == pytest.approx(20_000, rel=0.1)
    assert counting.estimate([1] * 20_000, 10_000) == math.inf


@given(counts, st.integers(0, 6), st.integers(0, 200), st.integers(1, 4))
def test_a_block_has_as_many_values_as_fit(counts, size, cells, width):
    numbers = counting.Numbers(counts, 0, sum(counts))
    fitting = [
        some
        for some in range(len(counts) + 1)
        if numbers.of(some, size) * max(some, width) <= cells
    ]
    assert listing.most_values(numbers, len(counts), size, cells, width) == max(fitting, default=-1)
