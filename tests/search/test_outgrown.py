"""Where whole numbers outgrow int64, or floats: answers stay exact."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import sensitivity_lab as sl
from sensitivity_lab.errors import InputError
from sensitivity_lab.search.enumeration.evaluate import Scale
from sensitivity_lab.search.variance.float_prefix_sums import SortedRecords


@pytest.mark.parametrize("top", [2**63 - 1, 2**63, 2**64 - 1])
def test_unsigned_records_are_what_they_were(top):
    universe = sl.Universe.from_domain(np.array([0, top], dtype=np.uint64))
    assert list(universe.values) == [0, top]
    assert sl.global_sensitivity(universe, "sum", size=1, neighbors=sl.Bounded(1)).exact == top


@pytest.mark.parametrize("wrong", [np.array([1.0, 1.0]), [1, 1], np.array([1, 1, 1])])
def test_multiplicities_are_an_array_of_whole_numbers(wrong):
    with pytest.raises(InputError, match=r"^multiplicities must be an array of 2 whole numbers"):
        sl.Universe.from_domain([0, 1]).dataset(wrong)


def test_answers_of_two_sizes_far_apart_are_compared_exactly():
    """All gaps are the same float; the largest is one of whole numbers."""

    def far(records):
        return 2**60 * (len(records) - 1) + int(sum(records)) * (len(records) - 1)

    records = [0, 1, 2, 3]
    found = sl.global_sensitivity(records, far, size=[1, 2], neighbors=sl.Unbounded(1))
    pairs = [
        (far(x), far([one for place, one in enumerate(x) if place != left]))
        for size in (2, 3)
        for x in combinations(records, size)
        for left in range(size)
    ]
    assert found.exact == max(abs(of_x - of_y) for of_x, of_y in pairs)


@pytest.mark.parametrize("query", [sl.Sum(), sl.Mean()])
def test_floats_are_called_exact_only_where_they_hold_every_sum(query):
    for exponent in range(45, 54):
        scale = Scale(np.array([0.0, 2.0**exponent]), 2**exponent, 0)
        exact = [size for size in range(1, 600) if scale.error(query, size, 1) == 0]
        assert len(exact) > 0 or exponent == 53
        assert all(size * 2**exponent <= 2**53 for size in exact)


def test_mirrored_records_are_the_negated_ones_from_the_other_end():
    for values, counts in (([-7, 0, 3, 2**40], [1, 1, 1, 1]), ([-7, 0, 3], [2, 5, 1])):
        records = SortedRecords(np.array(values, dtype=object), counts)
        mirror, places = records.mirrored(), np.arange(records.size)
        assert (mirror.record(places) == -records.record(places)[::-1]).all()
        first, last = (
            of.integer_sums(of.total(places + 1) - of.total(places)) for of in (records, mirror)
        )
        assert (last == -first[::-1]).all()


@pytest.mark.parametrize("exponent", [40, 53, 200, 400, 1000])
def test_sums_of_several_columns_are_exact_at_any_size_of_numbers(exponent):
    """Two sums, where replacing the least by the largest moves both."""
    big = 2**exponent
    table = sl.TableUniverse(pd.DataFrame({"a": [0, 1, big], "b": [1, 0, big + 1]}, dtype=object))
    query = sl.Stack(sl.SumOf("a"), sl.SumOf("b"))
    found = sl.global_sensitivity(table, query, size=2, neighbors=sl.Bounded(1))
    assert found.exact == 2 * big
