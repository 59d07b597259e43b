"""The oracle for tables against NumPy and pandas, the oracle for numbers, and values by hand."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np
import oracle
import oracle_records as records
import pandas as pd
import pytest

F = Fraction
PEOPLE = [("f", 20), ("m", 30), ("m", None), ("f", 20), ("m", 50)]


def values(found) -> dict[str, Fraction]:
    """The sensitivities alone."""
    return {norm: value for norm, (value, _) in found.items()}


def rows_of(table: pd.DataFrame) -> tuple:
    """The rows of a table, None where a value is missing."""
    return tuple(
        tuple(None if pd.isna(value) else value for value in row)
        for row in table.itertuples(index=False)
    )


def random_tables():
    """Tables of eighths, so that NumPy's arithmetic on them is exact or nearly so."""
    rng = np.random.default_rng(5)
    for n in (2, 3, 7, 12):
        table = pd.DataFrame(
            {"a": rng.integers(-20, 20, n) / 8, "b": rng.integers(-20, 20, n) / 8},
        )
        yield table
        yield table.mask(rng.random((n, 2)) < 0.2)


@pytest.mark.parametrize("table", list(random_tables()))
def test_queries_are_those_of_pandas(table):
    rows = rows_of(table)
    both = table.dropna()
    assert records.count(rows) == len(table)
    assert records.total(0)(rows) == table["a"].sum()
    assert records.total(1, (-1, F(1, 2)))(rows) == table["b"].clip(-1, 0.5).sum()
    if table["a"].count():
        assert float(records.mean(0)(rows)) == pytest.approx(table["a"].mean())
    for ddof in (0, 1):
        if len(both) > ddof:
            expected = both["a"].cov(both["b"], ddof=ddof) if len(both) > 1 else 0
            assert float(records.covariance(0, 1, ddof)(rows)) == pytest.approx(expected)
    edges = [-2, -1.5, 0, 0.25, 2]
    assert records.histogram_of_bins(1, edges)(rows) == tuple(
        np.histogram(table["b"].dropna(), edges)[0]
    )


def test_categories_are_those_of_value_counts():
    table = pd.DataFrame({"a": ["x", None, "y", "x", "z", None]})
    counted = table["a"].value_counts(dropna=False)
    of = records.histogram_of_categories(0, ["y", "x", None, "w"])
    # Not every pandas writes a missing value in the same way.
    missing = counted[counted.index.isna()].sum()
    assert of(rows_of(table)) == (counted["y"], counted["x"], missing, 0)


def test_groups_are_those_of_pandas():
    rows = tuple(PEOPLE)
    table = pd.DataFrame(PEOPLE, columns=["sex", "age"])
    expected = table.groupby("sex")["age"].mean()
    of = records.group_by(0, records.mean(1), ["m", "f"])
    assert of(rows) == (expected["m"], expected["f"])
    assert records.group_by(0, records.count, ["m", "q", "f"])(rows) == (3, 0, 2)
    assert records.group_by(1, records.count, [None, 20])(rows) == (1, 2)


def test_grouping_a_vector_keeps_the_answers_of_a_group_together():
    of = records.group_by(0, records.stack(records.count, records.total(1)), ["f", "m"])
    assert of(tuple(PEOPLE)) == (2, 40, 3, 80)


@pytest.mark.parametrize(
    ("of", "rows"),
    [
        (records.mean(0), ((None,), (None,))),
        (records.group_by(0, records.mean(1), ["f", "m"]), (("f", 1),)),
        (records.group_by(0, records.mean(1), ["f"]), (("f", None), ("m", 3))),
    ],
)
def test_a_mean_of_nothing_is_undefined(of, rows):
    with pytest.raises(ValueError, match="the mean of no value is undefined"):
        of(rows)


@pytest.mark.parametrize(("ddof", "least"), [(0, 1), (1, 2), (2, 3)])
def test_a_covariance_needs_more_records_than_ddof(ddof, least):
    rows = [(value, value) for value in range(least)] + [(None, 3), (3, None)]
    assert records.covariance(0, 1, ddof)(rows) >= 0
    with pytest.raises(ValueError, match=f"ddof={ddof} is undefined on {least - 1} records"):
        records.covariance(0, 1, ddof)(rows[1:])


def test_the_covariance_of_a_column_with_itself_is_its_variance():
    data = [3, 1, 4, 1, 5]
    for ddof in (0, 1):
        expected = oracle.evaluate(("var", ddof), data)
        assert records.covariance(0, 0, ddof)([(v,) for v in data]) == expected


RELATIONS = [
    (relation, k, exactly)
    for relation in ("bounded", "unbounded", "symmetric_difference", "edit")
    for k in (1, 2)
    for exactly in (False, True)
]


@pytest.mark.parametrize("relation", RELATIONS)
def test_on_a_column_of_numbers_it_is_the_oracle_of_numbers(relation):
    column = [1, 2, 2, 5, 9]
    rows = [(value,) for value in column]
    for query, theirs in (
        (records.mean(0), ("mean",)),
        (records.total(0), ("sum",)),
        (records.count, ("count",)),
        (records.covariance(0, 0), ("var", 0)),
    ):
        change, _ = oracle.global_sensitivity(column, 3, theirs, *relation)
        found = values(records.global_sensitivity(rows, 3, query, *relation))
        assert found == {"L1": change, "L2": change**2, "Linf": change}
        change, _ = oracle.local_sensitivity(column, (2, 2, 9), theirs, *relation)
        of_x = values(records.local_sensitivity(rows, [(9,), (2,), (2,)], query, *relation))
        assert of_x == {"L1": change, "L2": change**2, "Linf": change}


QUERIES = [
    records.histogram_of_categories(0, ["f", "m", None]),
    records.histogram_of_bins(1, [0, 25, 50]),
    records.group_by(0, records.total(1), ["f", "m"]),
    records.stack(records.total(1), records.mean(1, empty=0), records.count),
]


@pytest.mark.parametrize("relation", RELATIONS)
def test_global_is_the_largest_local(relation):
    for query in QUERIES:
        of_each = [
            values(records.local_sensitivity(PEOPLE, x, query, *relation))
            for x in records.datasets(PEOPLE, 2)
        ]
        for norm, value in values(records.global_sensitivity(PEOPLE, 2, query, *relation)).items():
            assert value == max(one[norm] for one in of_each)


def test_norms_are_those_of_numpy():
    rng = random.Random(7)
    for _ in range(20):
        first, second = ([rng.randint(-9, 9) for _ in range(4)] for _ in range(2))
        gap = np.subtract(first, second)
        found = records.distances(first, second)
        assert found["L1"] == np.linalg.norm(gap, 1)
        assert found["L2"] == gap @ gap
        assert found["Linf"] == np.linalg.norm(gap, np.inf)


def test_the_norms_can_have_different_witnesses():
    """A step of 3 against two of 2: 3 and 4 in L1, 9 and 8 in L2, 3 and 2 in Linf."""
    universe = [(0, 0), (2, 2), (3, 0)]
    found = records.global_sensitivity(
        universe, 1, records.stack(records.total(0), records.total(1)), "bounded", 1
    )
    assert values(found) == {"L1": 4, "L2": 9, "Linf": 3}
    assert set(found["L1"][1]) == {((0, 0),), ((2, 2),)}
    assert set(found["Linf"][1]) == {((0, 0),), ((3, 0),)}


def test_equal_records_are_different_ones():
    assert list(records.neighbors([("a",), ("a",)], [("a",)], "bounded", 1)) == [(("a",),)]
    with pytest.raises(ValueError, match="not in list"):
        list(records.neighbors([("a",), ("b",)], [("a",), ("a",)], "bounded", 1))


def test_a_missing_value_is_a_record_like_any_other():
    universe = [(None,), (4,)]
    found = records.global_sensitivity(universe, 1, records.total(0), "bounded", 1)
    assert values(found) == {"L1": 4, "L2": 16, "Linf": 4}
    found = records.global_sensitivity(universe, 1, records.mean(0, empty=10), "bounded", 1)
    assert values(found)["L1"] == 6
    with pytest.raises(ValueError, match="the mean of no value"):
        records.global_sensitivity(universe, 1, records.mean(0), "bounded", 1)


def test_no_pair_is_an_error():
    with pytest.raises(ValueError, match="there is no pair"):
        records.global_sensitivity([(1,)], 1, records.count, "bounded", 1)


def test_pairs_are_those_of_neighbors():
    for relation in RELATIONS:
        found = set(records.pairs(PEOPLE, 3, *relation))
        assert found == {
            (x, y)
            for x in records.datasets(PEOPLE, 3)
            for y in records.neighbors(PEOPLE, x, *relation)
        }


def test_datasets_of_unlike_records_are_in_the_order_of_the_universe():
    universe = [("m", None), ("f", 1), ("f", 1)]
    assert records.datasets(universe, 2) == {
        (("m", None), ("f", 1)),
        (("f", 1), ("f", 1)),
    }
    assert len(records.datasets(list(product("ab", [0, None])), 2)) == 6
