"""Metrics measure exactly, and roots compare without rounding."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import oracle_pipelines as oracle
import pandas as pd
import pytest
from checks import refused, refused_with
from hypothesis import given
from hypothesis import strategies as st

from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.roots import root_of

RECORDS = st.lists(st.integers(0, 3), max_size=6)
ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), max_size=6)
VECTORS = st.lists(st.floats(-1e9, 1e9), min_size=3, max_size=3)


@given(a=RECORDS, b=RECORDS)
def test_rows_added_removed_or_replaced(a, b):
    assert pl.SymmetricDistance().distance(a, b) == oracle.symmetric_difference(a, b)
    assert pl.ChangeOneDistance().distance(a, b) == oracle.change_one(a, b)


@given(a=ROWS, b=ROWS)
def test_ids(a, b):
    tables = [pd.DataFrame(rows, columns=["id", "n"]) for rows in (a, b)]
    assert pl.IdDistance("id").distance(*tables) == oracle.ids(0)(a, b)
    assert pl.SymmetricDistance().distance(*tables) == oracle.symmetric_difference(a, b)


@given(a=VECTORS, b=VECTORS)
def test_vectors(a, b):
    assert pl.L1Distance().distance(a, b) == oracle.l1(a, b)
    assert pl.L2Distance().distance(a, b) == root_of(oracle.l2_squared(a, b))
    assert pl.AbsoluteDistance().distance(a[0], b[0]) == oracle.absolute(a[0], b[0])


def test_numbers_are_measured_without_rounding():
    assert pl.AbsoluteDistance().distance(0.1, Decimal("0.1")) == Fraction(0.1) - Fraction(1, 10)
    assert pl.AbsoluteDistance().distance(10**30, 10**30 + 1) == 1
    assert pl.L1Distance().distance(np.array([1e16, 1]), [0, 0]) == 10**16 + 1
    assert pl.L2Distance().distance(np.array([1, 2]), (1, 0)) == 2


def test_equal_rows_are_one_row_more_or_less():
    table = pd.DataFrame({"a": [1, 1, 2]})
    assert pl.SymmetricDistance().distance(table, table[1:]) == 1
    assert pl.SymmetricDistance().distance(table, table[:0]) == 3


def test_neither_order_nor_types_of_columns_are_part_of_a_row():
    table = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    other = pd.DataFrame({"b": [np.nan, "x"], "a": [2.0, 1.0]}, index=[7, 7]).astype({"b": object})
    assert pl.SymmetricDistance().distance(table, other) == 0
    assert pl.SymmetricDistance().distance(table, other.rename(columns={"a": "c"})) == 4


def test_missing_ids_are_one_id():
    table = pd.DataFrame({"id": [None, None, 1], "n": [1, 2, 3]})
    metric = pl.IdDistance("id")
    assert metric.distance(table, table[2:]) == 1
    assert metric.distance(table, table[1:]) == 2
    refused(
        lambda: metric.distance(table.drop(columns="id"), table),
        "the table has no column 'id' of privacy ids; its columns are 'n'",
    )


def test_vectors_of_two_lengths_have_no_distance():
    refused_with(
        lambda: pl.L1Distance().distance([1], [1, 2]),
        "vectors must have one length, got 1 and 2 coordinates",
    )
    refused_with(
        lambda: pl.AbsoluteDistance().distance(math.nan, 1), "an answer must be a finite number"
    )


SQUARES = st.fractions(0, 50, max_denominator=12)


@given(a=SQUARES, b=SQUARES, factor=st.fractions(0, 5, max_denominator=4))
def test_roots_are_ordered_as_their_squares(a, b, factor):
    one, two = root_of(a), root_of(b)
    assert (one < two, one == two, one > two) == (a < b, a == b, a > b)
    assert (one <= b, one >= b, one == b) == (a <= b * b, a >= b * b, a == b * b)
    assert (b < one, b == one) == (b * b < a, b * b == a)
    assert factor * one == one * factor == root_of(factor**2 * a)
    assert math.isclose(float(one), float(a) ** 0.5)
    upper = pl.upper_of(one)
    assert Fraction(upper) ** 2 >= a
    assert upper == 0 or Fraction(math.nextafter(upper, 0)) ** 2 < a
    if one == two:
        assert hash(one) == hash(two)


def test_roots_beside_other_numbers():
    root = pl.Root(Fraction(2))
    assert root < math.inf
    assert not root < -math.inf
    assert (root == math.inf, root == "x", root == -1, root > -1) == (False, False, False, True)
    assert Counter([root, root_of(2)]) == {root: 2}
    assert (repr(root), repr(root_of(Fraction(9, 4)))) == ("sqrt(2)", "Fraction(3, 2)")
    assert pl.upper_of(math.inf) == math.inf
    # Beyond the range of floats too.
    assert (root < 10**400, root == 10**400, root > -(10**400)) == (True, False, True)
    assert (root == Fraction(10**400, 3), pl.Root(10**800 + 1) > 10**400) == (False, True)
    with pytest.raises(TypeError):
        root * -1
    with pytest.raises(TypeError):
        sorted([root, "x"])


def test_a_distance_of_two_parts_is_a_pair_of_distances():
    pair = pl.PairDistance(pl.SymmetricDistance(), pl.AbsoluteDistance())
    assert pair.check((1, 2.5)) == (1, 2.5)
    for wrong in (1, (1,), (1, 2, 3), [1, 2], (1, -2)):
        with pytest.raises(InputError):
            pair.check(wrong)
