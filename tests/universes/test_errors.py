"""Bad universes, queries, relations and datasets: the whole message, at the call."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl

UNIVERSE = sl.Universe.from_dataset([1, 2, 3, 10])

METHODS = (
    "inverted_cdf, averaged_inverted_cdf, closest_observation, interpolated_inverted_cdf, hazen, "
    "weibull, linear, median_unbiased, normal_unbiased, lower, higher, midpoint, nearest"
)


def not_finite(came: str, position: int) -> str:
    return (
        f"records must be finite numbers, got {came} at position {position}; "
        "drop or replace missing and infinite values first"
    )


def no_number(came: str, hint: str = "give a numeric column") -> str:
    return f"a record must be an int, float, Fraction or Decimal, got {came} at position 0; {hint}"


SEQUENCE = (
    "records must be a sequence of numbers, such as [0, 1, 2], range(21) or a column of a table"
)


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([1, math.nan], not_finite("nan", 1)),
        ([1, 2, -math.inf], not_finite("-inf", 2)),
        (np.array([1, math.nan]), not_finite("nan", 1)),
        ([Decimal("NaN")], not_finite("Decimal('NaN')", 0)),
        (pd.Series([1, None], dtype="Int64"), not_finite("<NA>", 1)),
        (pd.Series([1, None]), not_finite("nan", 1)),
        ([None], not_finite("None", 0)),
        (["a", "b"], no_number("'a' (str)")),
        (pd.Series(["a", "b"]), no_number("'a' (str)")),
        ([1j], no_number("1j (complex)")),
        ([True, False], no_number("True (bool)", "use 0 and 1")),
        (np.array([True, 1], dtype=object), no_number("True (bool)", "use 0 and 1")),
        ("abc", f"{SEQUENCE}, got 'abc'"),
        (5, f"{SEQUENCE}, got 5"),
        (
            np.ones((2, 2)),
            "records must be one-dimensional, got 2 dimensions; give one column, or make a "
            "TableUniverse of the rows",
        ),
        ([], "a universe needs at least one record, got none"),
    ],
)
@pytest.mark.parametrize("make", [sl.Universe, sl.Universe.from_dataset, sl.Universe.from_domain])
def test_records(make, records, message):
    with pytest.raises(sl.errors.InputError) as caught:
        make(records)
    assert str(caught.value) == message


TWICE = (
    "the values of a universe are distinct, got 1 more than once; give counts, or use "
    "Universe.from_dataset, which counts repeated records"
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sl.Universe([1, 2, 1.0]), TWICE),
        (
            lambda: sl.Universe.from_domain([1, 1, 2]),
            "the values of a domain are distinct, got 1 more than once; list every value that a "
            "record can have once, as range(21) does",
        ),
        (
            lambda: sl.local_sensitivity(
                [1, 2], "mean", dataset=sl.Universe.from_domain([1, 2]), neighbors="bounded"
            ),
            "a dataset must be a sequence of records, got a domain; the dataset comes before the "
            "universe",
        ),
        (
            lambda: sl.Universe([1, 2], [1]),
            "values and counts must have one length, got 2 values and 1 counts",
        ),
        (lambda: sl.Universe([1, 2], [1, 1.5]), "counts must be positive integers, got 1.5"),
        (lambda: sl.Universe([1, 2], [0, 1]), "counts must be positive integers, got 0"),
        (
            lambda: sl.Universe.from_domain([1], copies=True),
            "copies must be positive integers, got True",
        ),
        (
            lambda: len(sl.Universe.from_domain([1])),
            "a domain with unlimited copies has no number of records; use len(universe.values) for "
            "the number of distinct values, or from_domain(values, copies=...)",
        ),
    ],
)
def test_universes(make, message):
    with pytest.raises(sl.errors.InputError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sl.Percentile(101), "a percentile must be a number from 0 to 100, got 101"),
        (lambda: sl.Percentile(-0.5), "a percentile must be a number from 0 to 100, got -0.5"),
        (lambda: sl.Percentile(math.nan), "a percentile must be a number from 0 to 100, got nan"),
        (
            lambda: sl.Percentile(Decimal("NaN")),
            "a percentile must be a number from 0 to 100, got Decimal('NaN')",
        ),
        (
            lambda: sl.Percentile(np.float64("nan")),
            "a percentile must be a number from 0 to 100, got nan",
        ),
        (
            lambda: sl.Percentile(1e-300),
            "a percentile must be a multiple of 2**-128 or coarser, got 1e-300",
        ),
        (lambda: sl.Percentile(True), "a percentile must be a number from 0 to 100, got True"),
        (lambda: sl.Percentile("25"), "a percentile must be a number from 0 to 100, got '25'"),
        (
            lambda: sl.Percentile(25, "cubic"),
            f"unknown percentile method 'cubic'; choose one of {METHODS}",
        ),
        (lambda: sl.Var(ddof=-1), "ddof must be a number of at least 0, got -1"),
        (lambda: sl.Std(ddof=math.nan), "ddof must be a number of at least 0, got nan"),
        (lambda: sl.Var(2**62), "ddof must be below 2**62, got 4611686018427387904"),
        (lambda: sl.Var(math.inf), "ddof must be a number of at least 0, got inf"),
        (
            lambda: sl.Var(-(10**5000)),
            "ddof must be a number of at least 0, got about -1e5000 (numbers have at most 4,000 "
            "digits)",
        ),
        (lambda: sl.from_function(3), "a query function must be callable, got 3"),
        (lambda: sl.Bounded(0), "k must be a Hamming distance, at least 1, got 0"),
        (lambda: sl.Unbounded(-1), "k must be a Hamming distance, at least 1, got -1"),
        (
            lambda: sl.SymmetricDifference(1.5),
            "k must be a whole number (a Hamming distance, at least 1), got 1.5 (float)",
        ),
        (
            lambda: sl.Bounded(True),
            "k must be a whole number (a Hamming distance, at least 1), got True (bool)",
        ),
        (lambda: sl.Bounded(1, exactly=2), "exactly must be True or False, got 2"),
        (
            lambda: sl.Unbounded(1, direction="up"),
            "direction must be 'both', 'add' or 'remove', got 'up'",
        ),
    ],
)
def test_queries_and_relations(make, message):
    with pytest.raises(sl.errors.InputError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sl.datasets(UNIVERSE, 5),
            "size must be at most the universe's number of records, 4; got 5",
        ),
        (
            lambda: sl.neighboring_datasets(UNIVERSE, (1, 1), sl.Bounded(1)),
            "the dataset has 2 records 1, the universe only 1: Universe of 4 records: 1, 2, 3, 10",
        ),
        (
            lambda: sl.universes.count_neighbors(UNIVERSE, (7,), sl.Bounded(1)),
            "the record 7 is not in the universe: Universe of 4 records: 1, 2, 3, 10",
        ),
        (
            lambda: sl.neighboring_datasets(UNIVERSE, (), sl.Bounded(1)),
            "size must be a number of records, at least 1, got 0",
        ),
    ],
)
def test_generators_complain_when_called(call, message):
    """Not only when the first dataset is asked for."""
    with pytest.raises(sl.errors.InputError) as caught:
        call()
    assert str(caught.value) == message


class Foreign:
    """A table of another library, as polars has one."""

    def to_pandas(self):
        return pd.DataFrame({"a": [1, 2]})


Foreign.__name__ = "DataFrame"
Foreign.__module__ = "polars.dataframe.frame"
POLARS = "got polars.DataFrame; convert it with .to_pandas()"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            sl.TableUniverse.from_dataset,
            f"a universe of records is made of a table, such as a pandas.DataFrame, {POLARS}; "
            "for one list of numbers use Universe",
        ),
        (
            lambda table: sl.sensitivity_curves(table, size=1, distances=1, neighbors="bounded"),
            "universes must be a Universe, a mapping of column names to universes, or a table or a "
            f"column of records, {POLARS}",
        ),
        (
            lambda table: sl.global_sensitivity(table, "mean", size=1, neighbors="bounded"),
            "universe must be a Universe, or a list, a column or a table of its records, "
            f"{POLARS}; make one with Universe.from_dataset(records) or "
            "Universe.from_domain(values)",
        ),
        (
            pl.start(pl.AddMaxRows(1)) >> pl.count(),
            "a table is a pandas.DataFrame or a list of rows, each a mapping of columns to values, "
            f"{POLARS}",
        ),
    ],
)
def test_types_of_other_libraries_are_named_with_their_package(call, message):
    with pytest.raises(sl.errors.InputError) as caught:
        call(Foreign())
    assert str(caught.value) == message
    assert list(sl.TableUniverse.from_dataset(Foreign().to_pandas())) == [(1,), (2,)]
