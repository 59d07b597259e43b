"""Keys of records and answers: equal exactly if what they stand for is equal."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sensitivity_lab.metrics.cells import key_of, multiset

NAN = float("nan")
GROUPS = [
    [1, 1.0, np.int64(1), True],
    [2, 2.0],
    [NAN, np.float64("nan"), float("nan")],
    ["a"],
    [None],
    [(1, 2), [1, 2], np.array([1.0, 2.0])],
    [(2, 1), [2.0, 1.0]],
    [(1, NAN), [1, float("nan")], np.array([1, np.nan])],
    [{"a": 1, "b": NAN}, {"b": float("nan"), "a": 1.0}],
    [{"a": 1, "b": 2}],
    [{"a": 1}],
    [((1, 2), (3,)), [[1, 2], np.array([3])]],
    [()],
    [{}],
]
"""Items that are equal, by group; items of two groups are not."""


def test_equal_items_have_equal_keys_and_others_have_not():
    keys = [{key_of(item) for item in group} for group in GROUPS]
    assert [len(of_group) for of_group in keys] == [1] * len(GROUPS)
    assert len(set().union(*keys)) == len(GROUPS)


@pytest.mark.parametrize(
    ("entries", "counted"),
    [
        ([], []),
        ([1, 1.0, 2], [1, 2]),
        ([NAN, 1, float("nan"), NAN], [1, 3]),
        ([[1, 2], (1, 2), [2, 1]], [1, 2]),
        ([{"a": NAN}, {"a": float("nan")}, {}], [1, 2]),
    ],
    ids=str,
)
def test_a_multiset_counts_equal_entries_together(entries, counted):
    found = multiset(entries)
    assert sorted(found.values()) == counted
    assert found == Counter(map(key_of, entries))
