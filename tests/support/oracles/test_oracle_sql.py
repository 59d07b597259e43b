"""The oracle for SQL against answers computed by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from oracle_sql import (
    Asked,
    Table,
    all_rows,
    at_distance,
    contributions,
    largest_addition,
    largest_removal,
    rows_of,
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


def test_removals_and_additions() -> None:
    asked = Asked(f"SELECT COUNT(*), SUM(n) {JOIN}", 0, PERSONS)
    with running(DATABASE, asked) as now:
        people = list(rows_of(DATABASE, PERSONS).values())
        assert largest_removal(now, people, 1, "L1", 0) == 4
        assert largest_removal(now, people, 1, "L2", 1) == 13**2
        assert largest_removal(now, people, 5, "Linf", 1) == 20
        rows = all_rows(DATABASE, DATABASE)
        assert largest_removal(now, rows, 1, "L1", 0) == 4  # customer 1
        assert largest_removal(now, all_rows(DATABASE, ["line"]), 2, "L1", 1) == 12  # 7 + 5
        # A new order can take any order number but the three that are taken: no line waits for it.
        values = {"o": [0, 1, 2, 3, 4], "c": [0, 1, 2]}
        assert largest_addition(now, "orders", values, "L1", 0) == 0
        assert largest_addition(now, "line", {"o": [1, 9], "n": [9, None]}, "L1", 1) == 9
        assert now.answer() == now.full


def test_sensitivity_at_a_distance() -> None:
    """Of t JOIN u with one row each: after k more rows in t, one more in u makes k + 1 results."""
    database = {"t": Table({"a": "INTEGER"}, [(1,)]), "u": Table({"a": "INTEGER"}, [(1,)])}
    asked = Asked("SELECT COUNT(*) FROM t JOIN u USING (a)")
    values = {"t": {"a": [1, 2]}, "u": {"a": [1, 2]}}
    with running(database, asked) as now:
        assert [at_distance(now, ["t", "u"], values, k) for k in range(3)] == [1, 2, 3]


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
