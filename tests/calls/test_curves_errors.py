"""Bad universes and arguments of curves: the whole message, before any search starts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from checks import refused, refused_with
from curve_cases import never

import sensitivity_lab as sl

YEAR = sl.Universe.from_dataset([1, 2, 3, 4])
FEASIBLE = (
    "removing needs k <= size - 1, adding needs k <= records outside x; the largest feasible k is "
    "1, or choose direction='remove', "
    "which leaves out additions and can give a smaller sensitivity"
)


NOT_FINITE = "; drop or replace missing and infinite values first"
SEVERAL_UNIVERSES = "universes must be a Universe, a mapping of column names to universes, or "


@pytest.mark.parametrize(
    ("universes", "message"),
    [
        (
            pd.DataFrame({"a": ["x", "y", "z"], "b": [1.0, np.nan, 2.0]}),
            f"column 'b': records must be finite numbers, got nan at position 1{NOT_FINITE}",
        ),
        (
            pd.DataFrame({"b": [1.0, np.inf, 2.0]}),
            f"column 'b': records must be finite numbers, got inf at position 1{NOT_FINITE}",
        ),
        (
            pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")}),
            f"column 'a': records must be finite numbers, got <NA> at position 1{NOT_FINITE}",
        ),
        (
            pd.DataFrame({"a": ["x", "y"], "b": [True, False]}),
            "no column is numeric; the columns are 'a', 'b'",
        ),
        (pd.DataFrame(), "no column is numeric; the columns are none"),
        (
            pd.DataFrame({"a": np.array([], dtype=int)}),
            "column 'a': a universe needs at least one record, got none",
        ),
        ({}, f"{SEVERAL_UNIVERSES}a table or a column of records, got dict"),
        (
            [1, None],
            f"column 'records': records must be finite numbers, got None at position 1{NOT_FINITE}",
        ),
        (
            {"a": YEAR, "b": "123"},
            "column 'b': universe must be a Universe, or a list, a column or a table of its "
            "records, got str; make one with Universe.from_dataset(records) or "
            "Universe.from_domain(values); if '123' is the query, give it second, after the "
            "universe",
        ),
    ],
)
def test_bad_universes_are_named(universes, message):
    refused(
        lambda: sl.sensitivity_curves(
            universes, "mean", size=2, distances=1, neighbors="unbounded"
        ),
        message,
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"queries": []}, "queries must name at least one query, got none"),
        (
            {"queries": ["mean", sl.Mean()]},
            "two queries are called 'mean'; pass it once, or "
            "give functions names with from_function(..., name=...)",
        ),
        (
            {"queries": [lambda x: x[0], lambda x: x[-1]]},
            "two queries are called 'function'; pass it once, or "
            "give functions names with from_function(..., name=...)",
        ),
        ({"neighbors": []}, "neighbors must name at least one relation, got none"),
        (
            {"distances": [2], "exactly": True},
            "column 'records': unbounded, exactly 2 is not feasible for datasets of size 3 in a "
            f"universe of 4 records: {FEASIBLE}",
        ),
        (
            {"size": 5},
            "column 'records': size must be at most the universe's number of records, 4, got 5; "
            "choose a smaller size, or use a domain as the universe, "
            "Universe.from_domain(values)",
        ),
        (
            {"queries": sl.Var(ddof=3)},
            "column 'records': var_ddof_3 needs at least 4 records, got size 3; leave out smaller "
            "sizes, or say the answer for fewer, empty=, which is then public",
        ),
    ],
)
def test_bad_arguments_are_named(changed, message):
    arguments = {
        "queries": ["mean"],
        "size": 3,
        "distances": [1],
        "neighbors": "unbounded",
        **changed,
    }
    refused(lambda: sl.sensitivity_curves(YEAR, **arguments), message)


def test_no_search_starts_while_a_column_is_bad():
    universes = {"a": YEAR, "b": sl.Universe.from_dataset([1, 2, 3])}
    refused(
        lambda: sl.sensitivity_curves(universes, never, size=3, distances=1, neighbors="bounded"),
        "column 'b': bounded, at most 1 is not feasible for datasets of size 3 in a universe of "
        "3 records: replacing needs a record of x and at least one record outside x; no distance "
        "is feasible; choose a smaller size, or use a domain as the universe, "
        "Universe.from_domain(values)",
    )


def test_no_search_starts_while_a_column_is_too_large():
    universes = {"a": YEAR, "b": sl.Universe.from_dataset(range(60))}
    refused_with(
        lambda: sl.sensitivity_curves(
            universes,
            never,
            size=3,
            distances=1,
            neighbors="unbounded",
            run=sl.Run(memory_limit=10_000),
        ),
        r"^column 'b': no engine accepts never here: ",
        sl.errors.TooLargeError,
    )


def test_no_search_starts_while_a_query_is_bad():
    refused_with(
        lambda: sl.sensitivity_curves(
            YEAR, [never, sl.Var(ddof=2)], size=2, distances=1, neighbors="unbounded"
        ),
        r"^column 'records': var_ddof_2 needs at least 3 ",
    )


def test_a_failing_function_names_its_dataset():
    def no_ten(x) -> float:
        return float("nan") if 10 in x else 0.0

    refused(
        lambda: sl.sensitivity_curves(
            sl.Universe([1, 10]), ["mean", no_ten], size=1, distances=1, neighbors="bounded"
        ),
        "query 'no_ten' on the dataset (10,) returned nan; a query returns one finite number, or a "
        "1-D array of them",
        sl.errors.QueryError,
    )
