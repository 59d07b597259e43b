"""Residual sensitivity by hand, and beside the exact number."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pandas as pd
import pytest

pytest.importorskip("duckdb", reason="needs the extra `sql`")

from sensitivity_lab.errors import InputError
from sensitivity_lab.sql import Query
from sensitivity_lab.sql.residual import PointSearch, damped_at, value_at

pytestmark = pytest.mark.sql

TRIANGLES = (
    "SELECT COUNT(*) AS triangles FROM edges e1 JOIN edges e2 ON e1.dest = e2.source "
    "JOIN edges e3 ON e2.dest = e3.source AND e3.dest = e1.source"
)


def graph(degree: int) -> Query:
    """Return a query for triangles; the most frequent source and target occur `degree` times."""
    edges = pd.DataFrame({"source": [1] * degree, "dest": [1] * degree, "owner": range(degree)})
    return Query(TRIANGLES, connection={"edges": edges}, person="edges.owner")


@pytest.mark.exhaustive
def test_residual_sensitivity_of_triangles_counts_the_parts() -> None:
    """One edge e stands for each nonempty set of the three; what is left has 65, 65^2 choices."""
    assert graph(65).residual().upper == 3 * 65**2 + 3 * 65 + 1


def shop() -> dict[str, pd.DataFrame]:
    return {
        "customer": pd.DataFrame({"c": [1, 2, 3], "area": ["a", "a", "b"]}),
        "orders": pd.DataFrame({"o": range(6), "c": [1, 1, 1, 2, 2, 3]}),
        "line": pd.DataFrame({"o": [0, 0, 0, 1, 3, 5, 5], "n": [4, 5, 9, 1, 2, 3, 1]}),
    }


PERSONS = {"customer": "c", "orders": "c", "line": "o"}


@pytest.mark.exhaustive
def test_a_chain_of_joins_by_hand() -> None:
    text = "SELECT COUNT(*) AS n FROM customer JOIN orders USING (c) JOIN line USING (o)"
    query = Query(text, connection=shop(), person=PERSONS)
    # A customer: the most lines of one c, 4. An order: 1 customer times 3 lines. A line: 1.
    residual = query.residual()
    assert residual.upper == 4
    assert residual.removal.value == 4
    assert "an upper bound, private" in repr(residual)
    assert "1 row added to, or removed from, customer, orders, line" in repr(residual)


@pytest.mark.exhaustive
def test_a_smooth_bound_is_the_largest_damped_bound() -> None:
    text = "SELECT COUNT(*) AS n FROM customer JOIN orders USING (c) JOIN line USING (o)"
    query = Query(text, connection=shop(), person=PERSONS)
    smooth = query.residual(beta=0.25)
    from sensitivity_lab.sql.residual import Residual

    with query.session() as session:
        residual = Residual(query.form, {s.table.sql for s in query.form.sources}, session.rows)
        expected = max(residual.at(k) * math.exp(-0.25 * k) for k in range(60))
    assert math.isclose(smooth.upper, expected)
    assert smooth.upper >= query.residual().upper


@pytest.mark.exhaustive
def test_a_sum_has_the_largest_value_as_a_factor() -> None:
    text = "SELECT SUM(n * 2) AS total FROM orders JOIN line USING (o)"
    query = Query(text, connection=shop(), person={"orders": "c"}, bounds={"line.n": (-5, 3)})
    assert query.residual().largest_value == 10
    assert query.residual().upper == 30  # three lines of one order


@pytest.mark.exhaustive
def test_a_table_without_a_join_condition_counts_whole() -> None:
    query = Query(
        "SELECT COUNT(*) AS n FROM customer CROSS JOIN orders", connection=shop(), person=PERSONS
    )
    assert query.residual().upper == 6


@pytest.mark.exhaustive
def test_what_the_bounds_do_not_cover_is_refused_with_a_way() -> None:
    def refused(text: str, ask: str, **given: Any) -> str:
        query = Query(text, connection=shop(), person=PERSONS)
        with pytest.raises(InputError) as error:
            getattr(query, ask)(**given)
        return str(error.value)

    left = "SELECT COUNT(*) AS n FROM customer LEFT JOIN orders USING (c)"
    assert refused(left, "residual") == (
        "residual: the bound is proved for inner joins, and the query has a LEFT JOIN; write it as "
        "an inner join, or use local_sensitivity"
    )
    assert refused("SELECT SUM(n) AS n FROM line", "residual") == (
        "residual: n adds up values without bounds; give public bounds of 'line.n', such as "
        "bounds={'line.n': (1, 50)}"
    )
    assert refused("SELECT COUNT(*) AS n FROM line", "residual", beta=0).startswith("beta must be")


@pytest.mark.exhaustive
def test_the_search_for_the_worst_distance_against_all_points() -> None:
    """Random polynomials in up to three variables."""
    random = Random(1)
    for _ in range(60):
        variables = random.choice([1, 2, 3])
        polynomial = {
            tuple(random.randrange(3) for _ in range(variables)): random.randrange(1, 50)
            for _ in range(random.randrange(1, 5))
        }
        beta = Fraction(random.choice([4, 5, 10, 30]), 10)
        found = PointSearch(polynomial, beta).largest(damped_at(0, beta, 0)).nearest()
        expected = max(
            value_at(polynomial, point) * math.exp(-beta * sum(point))
            for point in product(range(14), repeat=variables)
        )
        assert math.isclose(found, expected, rel_tol=1e-12)
