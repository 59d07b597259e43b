"""Counting datasets and pairs of neighbors is listing them."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pandas as pd
import pytest
from checks import refused_with
from hypothesis import assume, given
from hypothesis import strategies as st

from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.pipelines.neighboring_inputs import count_pairs, draw

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
@given(
    copies=COPIES,
    owners=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    sizes=st.none() | st.lists(st.integers(0, 13)),
    d_in=D_IN | st.just(10**30),
)
def test_pairs_are_those_of_the_definition(metric, copies, owners, sizes, d_in):
    """Of datasets of some sizes; other rows of an id are another state of it."""
    rows = [(owners[row], row) for row, most in enumerate(copies) for _ in range(most)]
    counted, distance = METRICS[metric]
    drawn = draw(pd.DataFrame(rows, columns=["id", "row"]), counted, sizes)
    datasets = [
        Counter(drawn.dataset(place).itertuples(index=False, name=None))
        for place in range(len(drawn.codes))
    ]

    def form(dataset):
        by_row = [dataset[row] for row in sorted(set(rows))]
        if metric != "ids":
            return by_row
        of_ids = ([dataset[row] for row in sorted(set(rows)) if row[0] == one] for one in range(3))
        return [hash(tuple(state)) % 2**40 + 1 if any(state) else 0 for state in of_ids]

    forms = list(map(form, datasets))
    places = range(len(forms))
    expected = [(x, y) for x in places for y in places if distance(forms[x], forms[y]) <= d_in]
    before, after = drawn.pairs(d_in, 10**6)
    assert list(zip(before.tolist(), after.tolist(), strict=True)) == expected


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
    refused_with(
        lambda: pl.measured_stability(counted, table, d_in, pair_limit=found.pairs - 1),
        f"there are {found.pairs:,} pairs of neighboring inputs, ",
        TooLargeError,
    )
    assert not calls
