"""Queries of random databases against brute force: rows deleted, inserted, and the query run again.

The oracle is SQLite, and shares no code with the package. `check_case` compares the contributions
of all persons, the worst removals of persons or rows, and the worst new row, in all norms.
"""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import pytest

pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

from oracle_sql import Table, at_distance, running
from sql_cases import drawn_case
from sql_checks import as_duckdb, check_case

from sensitivity_lab.sql import Query
from sensitivity_lab.sql.residual import Residual

pytestmark = pytest.mark.sql

SAMPLE = [0, 2, 5, 2864]
BLOCK = 25


@pytest.mark.parametrize("seed", SAMPLE)
def test_a_random_query_against_brute_force(seed: int) -> None:
    check_case(drawn_case(seed), seed)


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(0, marks=pytest.mark.exhaustive),
        *(pytest.param(n, marks=pytest.mark.stress) for n in range(1, 3000 // BLOCK)),
    ],
)
def test_random_queries_against_brute_force(block: int) -> None:
    """All of a block, and at least a third of them with something to find."""
    seeds = range(BLOCK * block, BLOCK * (block + 1))
    found = [check_case(drawn_case(seed), seed) for seed in seeds]
    assert sum(one > 0 for one in found) >= BLOCK // 3


@pytest.mark.parametrize(
    "seeds",
    [
        range(4),
        pytest.param(range(4, 24), marks=pytest.mark.exhaustive),
        *(pytest.param(range(n, n + 60), marks=pytest.mark.stress) for n in range(24, 984, 60)),
    ],
)
def test_published_bounds_are_never_below(seeds: range) -> None:
    """Residual sensitivity at distances 0 and 1, over what one row more can change."""
    beta = Fraction(1, 2)
    for seed in seeds:
        case = drawn_case(
            seed, most_tables=3, most_rows=3, left_joins=False, counts_only=True, grouped=False
        )
        query = Query(
            case.text,
            connection=as_duckdb(case),
            person=case.persons,
            null_person=case.null_person,
        )
        tables = {source.table.name: source.table.sql for source in query.form.sources}
        random = Random(seed)
        changing = [name for name in tables if random.random() < 0.7] or [next(iter(tables))]
        with query.session() as session:
            full = {tables[name] for name in changing}
            residual = Residual(query.form, full, session.rows)
            bounds = [residual.at(k) for k in (0, 1)]
            smooth = residual.smooth(beta).upper()
        values = {"id": [1], "person": [1], "x": [1, 2], "y": [1, 2], "area": ["north"]}
        values["value"] = [1]
        # Keys are not declared here: the bounds do not know them.
        open_ = {n: Table(t.columns, t.rows) for n, t in case.database.items()}
        with running(open_, case.asked) as now:
            for k in (0, 1) if len(changing) < 3 else (0,):
                truth = at_distance(now, changing, dict.fromkeys(changing, values), k)
                assert truth <= bounds[k], seed
                assert float(truth) * math.exp(-beta * k) <= smooth, seed
