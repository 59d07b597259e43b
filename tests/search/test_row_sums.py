"""Sums of several columns: in the norm L2 pairs of changed rows are compared, else directions."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from unittest import mock

import numpy as np
import oracle
import oracle_records
import pandas as pd
import pytest
from checks import check_value
from hypothesis import example, given
from hypothesis import strategies as st
from oracle_records import NORMS

import sensitivity_lab as sl
from sensitivity_lab.search import row_sums

ULP = 2.0**-52
NEAR = (0.1, 0.2, 0.3, 0.1 + 0.2, 0.7, 0.7 + ULP / 2, -0.3, 0.5, 1 - ULP, 1.0, 1 + ULP)
"""Floats of which sums, or squares of differences, are equal once they are rounded."""

KINDS = {
    "whole": st.integers(-9, 9),
    "near ties": st.sampled_from(NEAR),
    "far": st.sampled_from([10**9, 10**9 + 1, 10**9 + 2, 0, 1, -(10**9)]),
    "long": st.sampled_from([2**60, 2**60 + 1, 2**60 - 1, 0, 1, -(2**60)]),
}


@st.composite
def tables(draw):
    """Rows of two numbers, a size of x and how many rows are replaced."""
    kind = KINDS[draw(st.sampled_from(list(KINDS)))]
    rows = draw(st.lists(st.tuples(kind, kind), min_size=3, max_size=6))
    k = draw(st.integers(1, min(2, len(rows) // 2)))
    return rows, draw(st.integers(k, len(rows) - k)), k


TOLD_APART = ([(0.2, 1 + ULP), (0.3, 0.1 + 0.2), (0.3, 0.7), (0.3, 0.7 + ULP / 2)], 2, 2)
SLANTED = ([(9, 4), (-9, -4), (7, 7), (-6, -7), (6, -6), (-6, 6)], 3, 1)
"""The first two are the furthest apart; along (1, 1), and along (1, -1), two others are."""


SHARED = (
    [(-1, 1), (-2, -1), (2, 0), (-2, 2), (2, 1), (-2, -1), (2, 1), (-2, 2)],
    4,
    4,
)
"""The furthest parts of L2 share a row, and no copy of the first row is left to replace it."""


@pytest.mark.parametrize("norm", NORMS)
@given(asked=tables())
@example(asked=TOLD_APART)
@example(asked=SLANTED)
@example(asked=SHARED)
def test_sums_of_two_columns_agree_with_the_definition(norm, asked):
    check_stack(norm, asked, (sl.SumOf("a"), oracle_records.total(0)), [asked[1]])


@pytest.mark.parametrize("norm", NORMS)
@given(asked=tables(), one_more=st.booleans())
def test_means_are_sums_where_neighbors_keep_the_size(norm, asked, one_more):
    """Beside a sum, of one size and of two: the mean's unit differs, the sum's does not."""
    rows, size, k = asked
    sizes = [size, size + 1] if one_more and size + 1 + k <= len(rows) else [size]
    check_stack(norm, asked, (sl.MeanOf("a"), oracle_records.mean(0)), sizes)


def check_stack(norm, asked, first, sizes):
    rows, _, k = asked
    universe = sl.TableUniverse.from_dataset(pd.DataFrame(rows, columns=["a", "b"]))
    query = sl.Stack(first[0], sl.SumOf("b"))
    both = oracle_records.stack(first[1], oracle_records.total(1))
    rest = {"neighbors": sl.Bounded(k), "norm": norm, "method": "row_sums"}
    result = sl.global_sensitivity(universe, query, size=sizes, **rest)
    change = max(
        oracle_records.global_sensitivity(rows, size, both, "bounded", k)[norm][0] for size in sizes
    )
    check_value(result, oracle.root_difference(change, 0) if norm == "L2" else change)
    result.verify()
    local = sl.local_sensitivity(universe, query, dataset=rows[: sizes[0]], **rest)
    change, _ = oracle_records.local_sensitivity(rows, rows[: sizes[0]], both, "bounded", k)[norm]
    check_value(local, oracle.root_difference(change, 0) if norm == "L2" else change)


def test_means_of_a_public_thousand_need_no_enumeration():
    cells = [(a, b) for a in range(3) for b in range(3)]
    universe = sl.TableUniverse.from_domain(pd.DataFrame(cells, columns=["a", "b"]))
    query = sl.Stack(sl.MeanOf("a"), sl.MeanOf("b"))
    result = sl.global_sensitivity(universe, query, size=1000, neighbors="bounded")
    assert (result.method, result.exact) == ("row_sums", Fraction(4, 1000))


@pytest.mark.exhaustive
@pytest.mark.representative
@pytest.mark.parametrize("numbers", [1, 2, 5])
@pytest.mark.parametrize("norm", ["L1", "Linf"])
def test_no_pairs_are_compared_where_directions_are_known(norm, numbers):
    """Five of 2,000 rows: there are more than 10**26 pairs."""
    names = [f"c{number}" for number in range(numbers)]
    values = np.random.default_rng(1).integers(0, 10**6, (2_000, numbers))
    universe = sl.TableUniverse.from_dataset(pd.DataFrame(values, columns=names))
    query = sl.VectorSum(names, clip_norm=10**9)
    with mock.patch.object(row_sums, "_PartPairs") as pairs:
        result = sl.global_sensitivity(
            universe, query, size=1_000, neighbors=sl.Bounded(5), norm=norm, method="row_sums"
        )
    assert not pairs.called
    if norm == "Linf" or numbers == 1:
        ascending = np.sort(values, axis=0)
        assert result.exact == (ascending[-5:].sum(axis=0) - ascending[:5].sum(axis=0)).max()
    result.verify()


@pytest.mark.parametrize(("k", "pairs"), [(1, 3**2), (2, 6**2), (3, 10**2)])
def test_pairs_are_counted_before_any_is_compared(k, pairs):
    """With repetition, k rows of 3 categories can be chosen in comb(k + 2, 2) ways."""
    table = pd.DataFrame({"g": list("abc") * 6})
    ask = partial(
        sl.global_sensitivity,
        sl.TableUniverse.from_dataset(table),
        sl.Histogram("g", categories=["a", "b", "c"]),
        size=9,
        neighbors=sl.Bounded(k, exactly=True),
        norm="L2",
        method="row_sums",
    )
    with mock.patch.object(row_sums, "MOST_PAIRS", pairs):
        assert ask().value == pytest.approx(k * 2**0.5)
    with (
        mock.patch.object(row_sums, "MOST_PAIRS", pairs - 1),
        pytest.raises(sl.errors.TooLargeError) as caught,
    ):
        ask()
    assert str(caught.value) == (
        f"no engine accepts histogram of g here: row_sums would compare {pairs} pairs of changed "
        f"records for histogram of g, bounded, exactly {k}, L2, more than {pairs - 1}; choose a "
        "smaller distance, a coarser universe, or the norm 'L1' or 'Linf'"
    )
