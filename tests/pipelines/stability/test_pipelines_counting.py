"""Counting datasets and pairs of neighbors is listing them."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.pipelines.stability.inputs import count_moves, count_pairs, draw

COPIES = st.lists(st.integers(1, 3), min_size=1, max_size=4)
D_IN = st.integers(0, 5)


def listed(copies) -> list[tuple[int, ...]]:
    return list(product(*(range(most + 1) for most in copies)))


def added_or_removed(x, y) -> int:
    return sum(abs(a - b) for a, b in zip(x, y, strict=True))


def replaced(x, y) -> float:
    return added_or_removed(x, y) / 2 if sum(x) == sum(y) else float("inf")


def ids(x, y) -> int:
    """State 0 of an id is that it is not there."""
    return sum((a > 0) + (b > 0) for a, b in zip(x, y, strict=True) if a != b)


METRICS = {
    "rows": (pl.SymmetricDistance(), added_or_removed),
    "replaced": (pl.ChangeOneDistance(), replaced),
    "ids": (pl.IdDistance("id"), ids),
}


@given(copies=COPIES, sizes=st.none() | st.lists(st.integers(0, 13)))
def test_datasets_of_some_sizes(copies, sizes):
    rows = [row for row, most in enumerate(copies) for _ in range(most)]
    drawn = draw(rows, pl.SymmetricDistance(), sizes)
    expected = [x for x in listed(copies) if sizes is None or sum(x) in sizes]
    assert drawn.counts() == (len(expected), sum(map(sum, expected)))
    found = [Counter(drawn.dataset(place)) for place in range(len(drawn.codes))]
    assert sorted(tuple(x[row] for row in range(len(copies))) for x in found) == expected
    assert drawn.dataset_sizes.tolist() == [x.total() for x in found]
    assert drawn.codes.tolist() == sorted(set(drawn.codes.tolist()))


@pytest.mark.parametrize("metric", METRICS)
@given(copies=COPIES, d_in=D_IN)
def test_pairs(metric, copies, d_in):
    counted, distance = METRICS[metric]
    inputs = listed(copies)
    expected = sum(distance(x, y) <= d_in for x in inputs for y in inputs)
    assert count_pairs([most + 1 for most in copies], counted, d_in) == expected


@pytest.mark.parametrize("metric", METRICS)
@given(copies=COPIES, d_in=D_IN)
def test_changes_to_try(metric, copies, d_in):
    """A change of an id costs at least 1, whatever its states; replacing a row changes two."""
    radices = [most + 1 for most in copies]
    changes = product(*(range(1 - radix, radix) for radix in radices))
    cost = {
        "rows": lambda change: sum(map(abs, change)),
        "replaced": lambda change: sum(map(abs, change)) / 2,
        "ids": lambda change: sum(map(bool, change)),
    }[metric]
    expected = sum(cost(change) <= d_in for change in changes)
    assert count_moves(radices, METRICS[metric][0], d_in) == expected


@pytest.mark.parametrize("metric", METRICS)
@given(
    rows=st.lists(st.tuples(st.integers(1, 3), st.integers(0, 1)), min_size=2, max_size=6).filter(
        lambda rows: len(set(rows)) > 1
    ),
    d_in=st.integers(1, 2),
)
def test_pairs_are_counted_before_they_are_listed(metric, rows, d_in):
    """What a refusal says is what a search would say: one pair less is refused."""
    table = [{"id": owner, "n": n} for owner, n in rows]
    t = pl.Start(pl.Table(), METRICS[metric][0]) >> pl.filter_(bool)
    found = pl.measured_stability(t, table, d_in)
    assume(found.pairs > 1)  # a limit of no pairs is refused as such
    calls = []
    counted = pl.Start(pl.Table(), METRICS[metric][0]) >> pl.filter_(calls.append)
    with pytest.raises(
        TooLargeError, match=f"there are {found.pairs:,} pairs of neighboring inputs, "
    ):
        pl.measured_stability(counted, table, d_in, pair_limit=found.pairs - 1)
    assert not calls
