"""Bad universes, queries, relations and datasets: the whole message, at the call."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from checks import refused

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl

UNIVERSE = sl.Universe.from_dataset([1, 2, 3, 10])


def not_finite(came: str, position: int) -> str:
    return (
        f"records must be finite numbers, got {came} at position {position}; "
        "drop or replace missing and infinite values first"
    )


def no_number(came: str, hint: str = "give a numeric column") -> str:
    return f"a record must be an int, float, Fraction or Decimal, got {came} at position 0; {hint}"


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
    refused(lambda: make(records), message)


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
            "a dataset must be a sequence of records, got a domain; the universe is the first "
            "argument, the dataset is given by name",
        ),
        (
            lambda: sl.Universe([1, 2], [1]),
            "values and counts must have one length, got 2 values and 1 counts",
        ),
        (
            lambda: len(sl.Universe.from_domain([1])),
            "a domain with unlimited copies has no number of records; use len(universe.values) for "
            "the number of distinct values, or from_domain(values, copies=...)",
        ),
    ],
)
def test_universes(make, message):
    refused(make, message)


def test_percentages_are_multiples_of_a_small_number():
    refused(
        lambda: sl.Percentile(1e-300),
        "a percentile must be a multiple of 2**-128 or coarser, got 1e-300",
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sl.datasets(UNIVERSE, 5),
            "size must be at most the universe's number of records, 4, got 5; choose a smaller "
            "size, or use a domain as the universe, Universe.from_domain(values)",
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
            "bounded, at most 1 is not feasible for datasets of size 0 in a universe of 4 records: "
            "replacing needs a record of x and at least one record outside x; no distance is "
            "feasible; choose another size or a larger universe",
        ),
    ],
)
def test_generators_complain_when_called(call, message):
    """Not only when the first dataset is asked for."""
    refused(call, message)


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
    refused(lambda: call(Foreign()), message)
    assert list(sl.TableUniverse.from_dataset(Foreign().to_pandas())) == [(1,), (2,)]


NO_UNIVERSE = "universe must be a Universe, or a list, a column or a table of its records, got "
MADE = "make one with Universe.from_dataset(records) or Universe.from_domain(values)"
ROWS = (
    "for rows with these columns use TableUniverse.from_domain({'age': [1, 2], 'sex': [0, 1]}), "
    "for one column Universe.from_domain([1, 2])"
)
DOMAIN = sl.Universe.from_domain([1, 2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sl.global_sensitivity("median", DOMAIN, size=2, neighbors="bounded"),
            f"{NO_UNIVERSE}str; {MADE}; if 'median' is the query, give it second, after the "
            "universe",
        ),
        (
            lambda: sl.local_sensitivity(max, DOMAIN, dataset=[1], neighbors="bounded"),
            f"{NO_UNIVERSE}builtin_function_or_method; {MADE}; if <built-in function max> is the "
            "query, give it second, after the universe",
        ),
        (
            lambda: sl.local_sensitivity([1, 2], "median", dataset=DOMAIN, neighbors="bounded"),
            "a dataset must be a sequence of records, got a domain; the universe is the first "
            "argument, the dataset is given by name",
        ),
        (
            lambda: sl.global_sensitivity(
                {"age": [1, 2], "sex": [0, 1]}, "mean", size=2, neighbors="bounded"
            ),
            f"{NO_UNIVERSE}dict; {ROWS}",
        ),
        (
            lambda: sl.Universe.from_domain({"age": [1, 2], "sex": [0, 1]}),
            f"records must be a sequence of numbers, got a mapping of columns; {ROWS}",
        ),
    ],
)
def test_arguments_in_another_place_are_recognised(call, message):
    refused(call, message)


@pytest.mark.parametrize("query", [DOMAIN, [1, 2], sl.Universe.from_interval(0, 1)])
def test_a_universe_in_the_place_of_the_query_is_recognised(query):
    with pytest.raises(sl.errors.InputError) as caught:
        sl.global_sensitivity(DOMAIN, query, size=2, neighbors="bounded")
    assert str(caught.value).endswith("; the universe is the first argument, the query the second")


def test_several_queries_where_one_is_answered_and_a_mapping_of_them():
    with pytest.raises(sl.errors.InputError) as caught:
        sl.global_sensitivity(DOMAIN, ["mean", "sum"], size=2, neighbors="bounded")
    assert str(caught.value).endswith(
        "; one query is answered here, sensitivity_curves takes several"
    )
    refused(
        lambda: sl.sensitivity_curves(DOMAIN, {"n": len}, size=2, distances=1, neighbors="bounded"),
        "queries must be a list, got a mapping with the names 'n'; name a function with "
        "from_function(function, name=...)",
    )
