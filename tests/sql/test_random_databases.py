"""Queries of random databases against brute force: a person's rows deleted, the query run again.

The oracle is SQLite, and shares no code with the package.
"""

from __future__ import annotations

import pytest

pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

from sql_cases import drawn_case
from sql_checks import check_case

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
