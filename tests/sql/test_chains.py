"""Queries as chains of pipelines: the same answers, a map that holds, and refusals with a way."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

pytest.importorskip("duckdb", reason="needs the extra `sql`")

from oracle_sql import running
from sql_cases import drawn_case
from sql_checks import as_duckdb

from sensitivity_lab.errors import InputError
from sensitivity_lab.sql import Query

pytestmark = pytest.mark.sql


def tables() -> dict[str, pd.DataFrame]:
    return {
        "customer": pd.DataFrame({"c": [1, 2, 3], "area": ["a", "a", "b"]}),
        "orders": pd.DataFrame({"o": range(6), "c": [1, 1, 1, 2, 2, 3]}),
        "line": pd.DataFrame({"o": [0, 0, 0, 1, 3, 5, 5], "n": [4, 5, 9, 1, 2, 3, None]}),
    }


JOIN = "FROM customer JOIN orders USING (c) JOIN line USING (o)"
PERSONS = {"customer": "c", "orders": "c"}


@pytest.mark.exhaustive
def test_a_chain_has_the_answer_and_a_map_that_no_person_exceeds() -> None:
    query = Query(
        f"SELECT area, COUNT(n) AS n {JOIN} WHERE n > 1 AND NOT n IN (3, -3) GROUP BY area",
        connection=tables(),
        person=PERSONS,
        groups=["b", "a"],
    )
    whole, cut = query.chain(50), query.chain(2)
    assert list(whole.answer()) == query.answer()["n"].tolist() == [0, 4]
    assert list(cut.answer()) == [0, 3]
    assert (whole.chain.sensitivity().value, cut.chain.sensitivity().value) == (50, 2)
    assert query.local_sensitivity().value == 3
    assert [list(table) for table in whole.tables] == [
        ["customer.area", "customer.c"],
        ["customer.c", "line.o"],
    ]


def test_a_sum_is_clipped_and_leaves_out_null() -> None:
    bounds = {"line.n": (0, 5)}
    frames = tables()
    frames["line"] = frames["line"].astype({"n": "Int64"})
    query = Query(f"SELECT SUM(n) AS n {JOIN}", connection=frames, person=PERSONS, bounds=bounds)
    total = query.answer()["n"].iloc[0]
    assert query.chain(50).answer() == total == 4 + 5 + 5 + 1 + 2 + 3
    converted = query.chain(3)
    assert total - converted.answer() in (1, 4, 5)  # one of the four lines of customer 1
    assert converted.chain.sensitivity().value == 15


@pytest.mark.exhaustive
@pytest.mark.parametrize("seeds", [range(n, n + 40) for n in range(0, 120, 40)])
def test_answers_of_random_chains_are_those_of_sqlite(seeds: range) -> None:
    compared = 0
    for seed in seeds:
        case = drawn_case(seed, self_joins=False, left_joins=False)
        with running(case.database, case.asked) as now:
            full = now.full
        keys = [key for key in full if None not in key]
        if case.groups and not keys:
            continue
        query = Query(
            case.text,
            connection=as_duckdb(case),
            person=case.persons,
            bounds=case.bounds or None,
            groups=keys if case.groups else None,
            null_person=case.null_person,
        )
        for place, aggregate in enumerate(query.form.aggregates):
            try:
                found: Any = query.chain(1_000, aggregate=aggregate.name).answer()
            except InputError as error:
                if str(error).startswith("chain: the pipelines have no step for"):
                    continue
                raise
            expected = [full[key][place] for key in keys] if case.groups else [full[()][place]]
            found = list(found) if case.groups else [found]
            if case.null_person == "refuse":  # a chain leaves out rows of nobody
                assert found == expected, seed
                compared += any(expected)
    assert compared >= 4


def refused(text: str, **given: Any) -> str:
    query = Query(text, connection=tables(), person=PERSONS, **given)
    with pytest.raises(InputError) as error:
        query.chain(2)
    return str(error.value)


@pytest.mark.exhaustive
def test_what_the_pipelines_lack_is_refused_with_a_way() -> None:
    assert refused("SELECT COUNT(*) AS n FROM customer LEFT JOIN line ON line.o = c") == (
        "chain: the pipelines have no step for LEFT JOIN; write it as an inner join"
    )
    assert refused("SELECT COUNT(*) AS n FROM customer CROSS JOIN line") == (
        "chain: the pipelines have no step for a join with 'line' without an equality; join by a "
        "column"
    )
    assert refused("SELECT COUNT(*) AS n FROM customer a JOIN orders b ON a.area = 'a'") == (
        "chain: the pipelines have no step for a join of several private tables that does not make "
        "their persons equal; join two private tables by their columns of persons"
    )
    assert refused("SELECT COUNT(DISTINCT c) AS n FROM orders") == (
        "chain: the pipelines have no step for this aggregate; count, or add up one column that "
        "has bounds"
    )
    assert refused("SELECT COUNT(*) AS n FROM customer WHERE UPPER(area) = 'A'") == (
        "chain: the pipelines have no step for the expression 'UPPER(area)'; use columns, numbers, "
        "texts, comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL, + - *"
    )
