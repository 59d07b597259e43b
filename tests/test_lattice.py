"""The lattice against itertools; every identity also where blocks are recursive, not tables."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement
from math import comb
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensitivity_lab.search import lattice as module
from sensitivity_lab.search.lattice import Lattice

counts = st.lists(st.integers(1, 3), min_size=1, max_size=5)
each_table_size = pytest.mark.parametrize("table_rows", [1, 4, module._TABLE_ROWS])


def with_tables_of(rows: int):
    """Blocks of more datasets than this are handled by recursion."""
    return mock.patch.object(module, "_TABLE_ROWS", rows)


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
