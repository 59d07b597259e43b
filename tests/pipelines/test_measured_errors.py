"""What cannot be measured, and what is too large: the whole message."""

from __future__ import annotations

import pandas as pd
import pytest
from checks import refused, refused_with
from measured_cases import JOIN

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import TooLargeError

ROWS, IDS = pl.SymmetricDistance(), pl.IdDistance("id")


SUM = (pl.Numbers(), ROWS) >> pl.clamp(0, 5) >> pl.sum_(0, 5)
KEYS = pd.DataFrame({"key": [1, 2]})
HALF = pl.Transformation(
    "half", sum, pl.Vector(2), pl.L1Distance(), pl.Scalar(), pl.AbsoluteDistance(), abs
)
TABLES = pl.Transformation(
    *("tables", tuple), *(JOIN.input_domain, JOIN.input_metric) * 2, lambda d_in: d_in
)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            (SUM, [1, 2], 0),
            {},
            "no two different inputs are at most 0 apart (rows added or removed); take more rows, "
            "other sizes, or a larger d_in",
        ),
        (
            ((pl.Numbers(size=9, bounds=(0, 5)), ROWS) >> pl.sum_(0, 5), [1, 2], 2),
            {},
            "no two different inputs are at most 2 apart (rows added or removed); take more rows, "
            "other sizes, or a larger d_in",
        ),
        (
            (SUM, [1, 2], pl.AddRowsWithID("id")),
            {},
            "AddRowsWithID(column='id') protects ids in 'id' added or removed with all their rows, "
            "but the input metric is rows added or removed; start the chain with the change that "
            "it is to protect",
        ),
        (
            (SUM, [1, 2], 1),
            {"sizes": [3]},
            "sizes must be a whole number (from 0 to 2, the rows of the universe), got 3",
        ),
        (
            (SUM, ["x"], 1),
            {},
            "a record must be a finite number, got 'x' (str); give an int, float, Fraction "
            "or Decimal",
        ),
        (
            (SUM, sl.Universe.from_domain([1, 2]), 1),
            {},
            "the universe has as many copies of a value as a dataset can hold; say how many with "
            "Universe.from_domain(values, copies=...)",
        ),
        (
            (JOIN, KEYS, (1, 1)),
            {},
            f"{JOIN.name} takes two tables, so universe must be a tuple of two, got DataFrame",
        ),
        (
            (JOIN, (KEYS, KEYS), 1),
            {},
            "d_in must be two distances, one per part (rows added or removed; rows added or "
            "removed), got 1",
        ),
        (
            (JOIN, (KEYS, KEYS), (1, 1)),
            {"sizes": 3},
            "sizes must be a tuple of two, one per table, got 3",
        ),
        (
            (TABLES, (KEYS, KEYS), (1, 1)),
            {},
            "tables returns a pair, and a pair has two distances; measure a chain that returns "
            "one of its parts",
        ),
        (
            (HALF, [1], 1),
            {},
            "only what takes tables, values or a number can be measured, got a vector of 2 "
            "numbers; measure the whole chain from its start",
        ),
    ],
)
def test_what_cannot_be_measured(arguments, options, message):
    refused(lambda: pl.measured_stability(*arguments, **options), message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"limit": 4095},
            "there are 4,096 inputs to evaluate, the limit is 4,095; take fewer rows, fewer copies "
            "of a row, fewer sizes, or raise limit",
        ),
        (
            {"pair_limit": 24575},
            "there are 24,576 pairs of neighboring inputs, the limit is 24,575; take fewer rows, "
            "fewer copies of a row, a smaller d_in, or raise pair_limit",
        ),
        (
            {"sizes": range(11), "pair_limit": 20000},
            "there are 24,432 pairs of neighboring inputs, the limit is 20,000; take fewer rows, "
            "fewer copies of a row, a smaller d_in, or raise pair_limit",
        ),
        (
            {"universe": range(100_001)},
            "the universe has 100,001 rows, more than the limit of 100,000 inputs; take fewer "
            "rows, fewer copies of a row, or raise limit",
        ),
        (
            {"universe": sl.Universe([1, 2], [200, 450])},
            "there are 90,651 inputs of 29,461,575 rows in all to evaluate, the limit is "
            "10,000,000 rows, 100 times limit; take fewer rows, fewer copies of a row, fewer "
            "sizes, or raise limit",
        ),
        (
            {"universe": sl.Universe([1, 2], [50_000, 50_000])},
            "there are 2,500,100,001 inputs to evaluate, the limit is 100,000; take fewer rows, "
            "fewer copies of a row, fewer sizes, or raise limit",
        ),
        (
            {"sizes": range(12), "d_in": 12, "pair_limit": 1_000_000},
            "listing the pairs of neighbors takes 4,194,304 steps or more, the limit is "
            "4,000,000; take fewer rows, fewer copies of a row, a smaller d_in, or raise "
            "pair_limit",
        ),
    ],
)
def test_too_large_is_refused_with_numbers(options, message):
    def never(data):
        raise AssertionError(data)

    t = pl.Transformation(
        "never", never, pl.Values(), ROWS, pl.Scalar(), pl.AbsoluteDistance(), abs
    )
    refused(
        lambda: pl.measured_stability(t, **{"universe": range(12), "d_in": 1, **options}),
        message,
        TooLargeError,
    )


def test_a_product_of_two_tables_is_refused_with_both_numbers():
    table = pd.DataFrame({"key": range(10)})
    refused(
        lambda: pl.measured_stability(JOIN, (table, table), (1, 1)),
        "there are 1,048,576 inputs (1,024 x 1,024) to evaluate, the limit is 100,000; take fewer "
        "rows, fewer copies of a row, fewer sizes, or raise limit",
        TooLargeError,
    )
    refused(
        lambda: pl.measured_stability(JOIN, (table[:4], table[:4]), (1, 1), pair_limit=3000),
        "there are 3,072 pairs of neighboring inputs, the limit is 3,000; take fewer rows, fewer "
        "copies of a row, a smaller d_in, or raise pair_limit",
        TooLargeError,
    )


def test_a_universe_of_more_rows_than_codes_is_refused():
    refused_with(
        lambda: pl.measured_stability(SUM, range(70), 1, sizes=1),
        "a universe of 70 distinct rows is too large",
        TooLargeError,
    )
