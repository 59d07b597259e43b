"""Limits per id, in one table and in two with the same ids, judged in plain Python.

The rows of an id are all multisets of a few kinds of rows within the limits. Truncation leaves
those as they are and makes no others, so the largest norm among them is the exact stability for one
id. The maps must not be below it, and with kinds enough for what the limits allow they equal it.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import reduce
from itertools import combinations_with_replacement, product

import pandas as pd
import pytest

from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import InputError

pytestmark = pytest.mark.exhaustive

NORMS = {1: pl.L1Distance(), 2: pl.L2Distance()}
MOST = 4  # rows of an id


def multisets(kinds):
    return [rows for n in range(MOST + 1) for rows in combinations_with_replacement(kinds, n)]


def within(rows, limit):
    kind, most, place = limit
    if kind == "all":
        return len(rows) <= most
    groups = Counter(row[place] for row in rows)
    return len(groups) <= most if kind == "groups" else max(groups.values(), default=0) <= most


def step_of(limit, columns):
    kind, most, place = limit
    if kind == "all":
        return pl.max_rows_per_id(most, keep_ids=True)
    step = pl.max_groups_per_id if kind == "groups" else pl.max_rows_per_group_per_id
    return step(most, columns[place])


def random_limits(rng, number):
    kinds = ["all", "groups", "rows"]
    return [(rng.choice(kinds), rng.randint(1, 3), rng.randint(0, 1)) for _ in range(number)]


def square(norm, numbers):
    return sum(numbers) ** 2 if norm == 1 else sum(n**2 for n in numbers)


def squared(bound):
    return bound.square if isinstance(bound, pl.Root) else bound**2


def test_the_map_of_limits_is_the_largest_norm_of_the_rows_that_they_allow():
    rng = random.Random(1)
    every = multisets(list(product("abcd", range(4))))
    exact = 0
    for _ in range(40):
        limits = random_limits(rng, rng.randint(1, 3))
        allowed = [rows for rows in every if all(within(rows, limit) for limit in limits)]
        chain = pl.start(pl.AddRowsWithID("id"))
        for limit in limits:
            chain = chain >> step_of(limit, "gv")
        for (place, keys), norm in product([(0, "abcd"), (0, "ab"), (1, range(4))], NORMS):
            try:
                counts = chain >> pl.group_by("gv"[place], keys, NORMS[norm]) >> pl.count()
            except InputError:  # the limits do not bound the rows of a group
                continue
            largest = max(
                square(norm, [sum(row[place] == key for row in rows) for key in keys])
                for rows in allowed
            )
            bound = squared(counts.map(1))
            assert largest <= bound, (limits, place, keys, norm)
            assert squared(counts.map(3)) == 9 * bound
            if max(map(len, allowed)) < MOST:  # no table that the limits allow is left out
                assert largest == bound, (limits, place, keys, norm)
                exact += 1
    assert exact > 40


LEFT, RIGHT = ("g", "v"), ("g", "u")
ROWS = multisets([("a", 1), ("a", 2), ("b", 1), ("b", 2)])


def matched(left, right, on_groups):
    """The rows (g, v, u) of an id in the join of its rows, where the groups may be a key, too."""
    return [(g, v, u) for g, v in left for other, u in right if g == other or not on_groups]


@pytest.mark.parametrize("seed", range(3))
def test_the_map_of_a_join_of_shared_ids_is_not_below_the_largest_join_of_their_rows(seed):
    rng = random.Random(seed)
    for _ in range(60):
        on_groups = rng.random() < 0.5
        start = pl.start(pl.AddRowsWithID("id"))
        columns = LEFT, (RIGHT if on_groups else ("h", "u"))
        limits = [random_limits(rng, 2) for _ in columns]
        prepared = [
            reduce(lambda t, one: t >> one, map(step_of, some, [of] * 2), start)
            for some, of in zip(limits, columns, strict=True)
        ]
        sides = [[rows for rows in ROWS if all(within(rows, each) for each in of)] for of in limits]
        twice = rng.random() < 0.3
        if twice:
            prepared[0] = prepared[0] >> pl.flat_map(lambda row: [row, row], 2)
            sides[0] = [rows * 2 for rows in sides[0]]
        tables = pl.Pair(*(side.output_domain for side in prepared))
        joined = pl.Start(tables, pl.SharedIdDistance("id")) >> pl.join_private(
            ["id", "g"] if on_groups else "id"
        )
        norm, place = rng.choice([1, 2]), rng.randint(0, 2)
        keys = "ab" if place == 0 else [1, 2]
        try:
            counts = joined >> pl.group_by("gvu"[place], keys, NORMS[norm]) >> pl.count()
            number = joined >> pl.count()
        except InputError:
            continue
        joins = [matched(left, right, on_groups) for left, right in product(*sides)]
        by_key = [[sum(row[place] == key for row in rows) for key in keys] for rows in joins]
        assert max(map(len, joins)) <= number.map(1), (limits, twice, on_groups)
        assert max(square(norm, n) for n in by_key) <= squared(counts.map(1)), (limits, norm, place)
        left, right = (rng.choice(rows) for rows in sides)
        if not twice:
            tables = [
                pd.DataFrame(
                    [(5, *row) for row in rng.sample(rows, len(rows))], columns=["id", *of]
                )
                for rows, of in zip((left, right), columns, strict=True)
            ]
            expected = matched(left, right, on_groups)
            assert number(*tables) == len(expected)
            assert counts(*tables) == [sum(row[place] == key for row in expected) for key in keys]
