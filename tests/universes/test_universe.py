"""Universes: what they keep, what they count, what they tell."""

from __future__ import annotations

import math
import pickle
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from checks import refused, refused_with
from hypothesis import given
from hypothesis import strategies as st
from strategies import KINDS, domains, records

import sensitivity_lab as sl


@given(records(least=1))
def test_a_dataset_is_kept_record_by_record(listed):
    universe = sl.Universe.from_dataset(listed)
    assert list(universe) == sorted(listed)
    assert len(universe) == universe.size == len(listed)
    assert list(universe.values) == sorted(set(listed))
    assert dict(zip(universe.values, universe.counts, strict=True)) == Counter(listed)


@given(records(least=1))
def test_order_makes_no_difference(listed):
    universe, reverse = sl.Universe.from_dataset(listed), sl.Universe.from_dataset(listed[::-1])
    assert universe == reverse
    assert hash(universe) == hash(reverse)
    assert universe == sl.Universe(universe.values[::-1], universe.counts[::-1])


@given(records(least=1))
def test_integers_over_one_denominator_are_the_values_exactly(listed):
    universe = sl.Universe.from_dataset(listed)
    integers, denominator = universe.integers
    assert [Fraction(integer, denominator) for integer in integers] == [
        Fraction(value) for value in universe.values
    ]


@given(records(least=1))
def test_the_array_holds_the_values_without_loss(listed):
    universe = sl.Universe.from_dataset(listed)
    assert tuple(universe.array.tolist()) == universe.values


@given(domains())
def test_a_domain_holds_as_many_copies_as_a_dataset(universe):
    assert universe.size == math.inf
    assert universe.counts is None
    assert universe.multiplicities(7).tolist() == [7] * len(universe.values)
    refused_with(lambda: list(universe), "unlimited copies has no number of records")


def test_copies_fix_the_multiplicity():
    universe = sl.Universe.from_domain([3, 1], copies=4)
    assert universe == sl.Universe([1, 3], [4, 4])
    assert universe.multiplicities(3).tolist() == [3, 3]
    assert universe.multiplicities(9).tolist() == [4, 4]


@given(records(least=1))
def test_a_dataset_given_by_multiplicities_has_the_records(listed):
    universe = sl.Universe.from_dataset(listed)
    kept = universe.dataset(universe.multiplicities(2))
    assert kept == tuple(
        value for value in universe.values for _ in range(min(2, listed.count(value)))
    )


def test_types_of_records_are_kept():
    assert [type(value) for value in sl.Universe.from_dataset([1, 2.5]).values] == [int, float]
    numpy_ints = sl.Universe.from_dataset(np.array([2, 1], dtype=np.int8))
    assert [type(value) for value in numpy_ints.values] == [int, int]
    column = sl.Universe.from_dataset(pd.Series([0.5, 0.25], dtype="float32"))
    assert [type(value) for value in column.values] == [float, float]
    nullable = sl.Universe.from_dataset(pd.Series([2, 1], dtype="Int64"))
    assert nullable.values == (1, 2)
    assert sl.Universe.from_dataset([Fraction(1, 3)]).values == (Fraction(1, 3),)


def test_equal_numbers_of_different_types_are_one_value():
    universe = sl.Universe.from_dataset([1, 1.0, Fraction(1), Decimal(1), 2])
    assert universe.counts == (4, 1)


def test_fractions_and_decimals_are_ordered_with_each_other():
    mixed = [Decimal("0.3"), Fraction(1, 3), 0.25]
    assert sl.Universe.from_dataset(mixed).values == (0.25, Decimal("0.3"), Fraction(1, 3))


def test_a_decimal_tenth_is_not_the_float_tenth():
    assert len(sl.Universe.from_dataset([Decimal("0.1"), 0.1]).values) == 2


@pytest.mark.parametrize("make", [sl.Universe, sl.Universe.from_dataset, sl.Universe.from_domain])
def test_an_iterator_of_values_is_read_once(make):
    assert make(iter([1, 2, 3])).values == (1, 2, 3)


def test_membership_and_index():
    universe = sl.Universe.from_dataset([10, 1, 2, 2])
    assert 2.0 in universe
    assert 3 not in universe
    assert [universe.index(value) for value in (1, 2, 10)] == [0, 1, 2]


def test_equality_is_of_values_and_multiplicities():
    universe = sl.Universe.from_dataset([1, 2])
    assert universe == sl.Universe([1, 2])
    assert universe != sl.Universe([1, 2], [1, 2])
    assert universe != sl.Universe.from_domain([1, 2])
    assert universe != (1, 2)


def test_a_universe_survives_pickling():
    universe = sl.Universe.from_dataset([1, 2, 2])
    assert pickle.loads(pickle.dumps(universe)) == universe


PUBLIC = "public, results hold only among datasets drawn from it"


def test_only_a_domain_of_unlimited_copies_is_not_called_public():
    """Both reprs, and those of tables; messages name a universe without the remark."""
    rows = pd.DataFrame({"sex": ["f", "m", "m"]})
    for universe in (
        sl.Universe.from_dataset([1, 2]),
        sl.Universe.from_dataset([1, 2, 9]).clipped(0, 5),
        sl.Universe([1, 2], [1, 3]),
        sl.Universe.from_domain([1, 2], copies=2),
        sl.TableUniverse.from_dataset(rows),
    ):
        assert repr(universe) == f"{universe}; {PUBLIC}"
        assert universe._repr_html_().count(PUBLIC) == 1
        with pytest.raises(sl.errors.InputError) as caught:
            universe.index(7)
        assert PUBLIC not in str(caught.value)
    for domain in (
        sl.Universe.from_domain([1, 2]),
        sl.TableUniverse.from_domain({"sex": ["f", "m"]}),
    ):
        assert repr(domain) == str(domain)
        assert "public" not in repr(domain) + domain._repr_html_()
    for kind in (sl.Universe, sl.TableUniverse):
        assert "The records become public: a result holds only" in kind.from_dataset.__doc__
        assert "Use it for releases" in kind.from_domain.__doc__


def test_reprs_tell_the_same_facts():
    universe = sl.Universe.from_dataset([1, 2, 2])
    assert str(universe) == "Universe of 3 records: 1, 2 (x2)"
    assert repr(universe) == f"{universe}; {PUBLIC}"
    assert universe._repr_html_() == (
        f"<table><caption>Universe of 3 records; {PUBLIC}</caption>"
        "<thead><tr><th>value</th><th>copies</th></tr></thead>"
        "<tbody><tr><td>1</td><td>1</td></tr><tr><td>2</td><td>2</td></tr></tbody></table>"
    )
    domain = sl.Universe.from_domain([2, 1])
    assert repr(domain) == "Universe of the values 1, 2, each as often as a dataset can hold"
    assert "<td>any</td>" in domain._repr_html_()


def test_long_universes_are_shown_in_part():
    universe = sl.Universe.from_dataset(range(1000))
    assert repr(universe) == (
        f"Universe of 1000 records: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ..., 999; {PUBLIC}"
    )
    assert universe._repr_html_().count("<tr>") == 1 + 12 + 2


def test_iterators_of_values_and_counts_are_read_once():
    assert sl.Universe(iter([1, 2]), iter([1, 3])) == sl.Universe([1, 2], [1, 3])


def test_extent_is_a_number_of_records_or_of_values():
    assert sl.Universe.from_dataset(range(12_345)).extent == "universe of 12,345 records"
    assert sl.Universe.from_domain([1, 2], copies=4).extent == "universe of 8 records"
    assert sl.Universe.from_domain([1, 2, 3]).extent == "domain of 3 values, unlimited copies"


@given(
    records=st.sampled_from(["ties", "fractions", "decimals", "tenths", "beyond 2**53"]).flatmap(
        lambda kind: st.lists(KINDS[kind], min_size=1, max_size=8)
    ),
    bounds=st.lists(st.fractions(-4, 4, max_denominator=3), min_size=2, max_size=2).map(sorted),
)
def test_clipping_clips_every_record(records, bounds):
    low, high = bounds
    universe = sl.Universe.from_dataset(records)
    wanted = sorted(min(max(Fraction(record), low), high) for record in records)
    clipped = universe.clipped(low, high)
    assert [Fraction(record) for record in clipped] == wanted
    assert clipped == sl.Universe.from_dataset(wanted)
    above = sorted(max(Fraction(record), low) for record in records)
    assert [Fraction(record) for record in universe.clipped(lower=low)] == above
    assert universe.clipped() == universe


def test_clipping_keeps_numbers_as_they_are():
    universe = sl.Universe.from_dataset([1, 2, 2, 3, 10])
    clipped = universe.clipped(2, 5.0)
    assert (clipped.values, clipped.counts) == ((2, 3, 5.0), (3, 1, 1))
    assert [type(value) for value in clipped.values] == [int, int, float]
    assert universe.clipped(np.int64(2), np.float64(5)) == clipped


def test_a_clipped_domain_stays_unlimited():
    domain = sl.Universe.from_domain(range(6))
    assert domain.clipped(upper=2) == sl.Universe.from_domain([0, 1, 2])
    assert domain.clipped(10, 20) == sl.Universe.from_domain([10])


def test_bounds_that_clip_nothing():
    refused(
        lambda: sl.Universe.from_dataset([1, 2]).clipped(3, 2),
        "lower must be at most upper, got 3 and 2",
    )


def test_rows_are_not_clipped():
    table = sl.TableUniverse.from_domain({"age": [1, 2]})
    refused(
        lambda: table.clipped(0, 1),
        f"{table!r} has rows, not numbers; clip one column, column(name).clipped(lower, upper), "
        "or clip in the query, as in SumOf(column, clip=(lower, upper))",
    )
    assert table.column("age").clipped(0, 1) == sl.Universe.from_domain([1])


WHOLE = "range(1, 7) for all whole numbers from one to the other"
REAL = "Universe.from_interval({0}) for all real numbers between them"
ONLY = "a list, [{0}], if no other value can occur"


@pytest.mark.parametrize(
    ("bounds", "written", "ways"),
    [
        ((1, 6), "1, 6", (WHOLE, REAL, ONLY)),
        ((1.0, 6.0), "1.0, 6.0", (WHOLE, REAL, ONLY)),
        ((0, 2.5), "0, 2.5", (REAL, ONLY)),
        ((0, 10**9), "0, 1000000000", (REAL, ONLY)),
    ],
)
def test_a_tuple_of_two_is_two_values_and_a_warning_says_how_to_write_a_range(
    bounds, written, ways
):
    listed = [way.format(written) for way in ways]
    text = f"this domain has only two values, ({written}); use "
    text += f"{', '.join(listed[:-1])}, or {listed[-1]}"
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$") as warned:
        universe = sl.Universe.from_domain(bounds)
    assert universe == sl.Universe.from_domain(list(bounds))
    assert warned[0].filename == __file__


def test_the_warning_of_a_table_names_the_column():
    text = (
        "the domain of column 'age' has only two values, (1, 6); use range(1, 7) for all whole "
        "numbers from one to the other, or a list, [1, 6], if no other value can occur"
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(text)}$") as warned:
        sl.TableUniverse.from_domain({"age": (1, 6), "sex": ("f", "m")})
    assert warned[0].filename == __file__


@pytest.mark.parametrize("values", [(0, 1), (6, 1), (0.5, 1.5), (1, 6, 7), (1,), [1, 6], range(2)])
def test_no_warning_where_a_domain_cannot_be_a_range(values):
    assert list(sl.Universe.from_domain(values).values) == sorted(values)
