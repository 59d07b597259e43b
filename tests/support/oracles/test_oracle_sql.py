"""The oracle for SQL against answers computed by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from oracle_sql import (
    Asked,
    Table,
    contributions,
    running,
)
from sql_cases import drawn_case

# A star: customer 1 has the orders 1 and 2, customer 2 the order 3; order 1 has three lines.
DATABASE = {
    "customer": Table({"c": "INTEGER", "area": "TEXT"}, [(1, "north"), (2, "south")], key="c"),
    "orders": Table({"o": "INTEGER", "c": "INTEGER"}, [(1, 1), (2, 1), (3, 2)], key="o"),
    "line": Table({"o": "INTEGER", "n": "INTEGER"}, [(1, 5), (1, 5), (1, 2), (2, 1), (3, 7)]),
}
JOIN = "FROM customer JOIN orders USING (c) JOIN line USING (o)"
PERSONS = {"customer": "c", "orders": "c"}


def test_contributions_are_what_vanishes() -> None:
    asked = Asked(f"SELECT area, COUNT(*), SUM(n) {JOIN} GROUP BY area", 1, PERSONS)
    with running(DATABASE, asked) as now:
        assert now.full == {("north",): (4, 13), ("south",): (1, 7)}
        assert contributions(now) == {1: {("north",): (4, 13)}, 2: {("south",): (1, 7)}}


def test_a_sum_of_nothing_is_zero() -> None:
    with running(DATABASE, Asked("SELECT SUM(n) FROM line WHERE n > 10")) as now:
        assert now.full == {(): (Fraction(0),)}


@pytest.mark.parametrize("seeds", [range(100)])
def test_cases_run_and_have_results(seeds: range) -> None:
    """Half of the drawn queries have results, else they would test nothing."""
    full = 0
    for seed in seeds:
        case = drawn_case(seed)
        with running(case.database, case.asked) as now:
            full += any(any(aggregates) for aggregates in now.full.values())
    assert full >= 50
