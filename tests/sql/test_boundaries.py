"""Numbers at the ends of what is compared: one less or one more would be another answer."""

from __future__ import annotations

import pandas as pd
import pytest

duckdb = pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

from sensitivity_lab.sql import Query  # noqa: E402 - after the check of the extra

pytestmark = pytest.mark.sql


def grouped(rows: list[tuple[int, str, int]], groups: str) -> Query:
    return Query(
        "SELECT area, SUM(number) AS s FROM t GROUP BY area",
        connection={"t": pd.DataFrame(rows, columns=["person", "area", "number"])},
        person="t.person",
        groups=list(groups),
    )


def test_the_smallest_of_all_persons_is_a_quantile():
    """Half of two persons do not exceed the smaller number; of three, the middle one."""
    for numbers, half in (([2, 7], 2), ([2, 5, 7], 5), ([3], 3)):
        rows = pd.DataFrame({"person": range(len(numbers)), "number": numbers})
        query = Query("SELECT SUM(number) AS s FROM t", connection={"t": rows}, person="t.person")
        table = query.contributions().distribution()
        assert table.loc["s"].tolist() == [half, *[max(numbers)] * 4]


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, -(2**63) + 1, -(2**63)])
def test_contributions_at_the_ends_of_64_bits_are_whole(number):
    base = duckdb.connect()
    base.execute("CREATE TABLE t (person INTEGER, number HUGEINT)")
    base.execute("INSERT INTO t VALUES (1, ?), (2, 3)", (number,))
    query = Query("SELECT SUM(number) AS s FROM t", connection=base, person="t.person")
    assert [int(one) for one in query.contributions().to_frame()["s"]] == [number, 3]


def test_the_sum_of_contributions_over_groups_does_not_wrap():
    query = grouped([(1, "a", 2**63 - 1), (1, "b", 2**62)], "ab")
    whole = 2**63 - 1 + 2**62
    assert [int(one) for one in query.contributions().of_persons()["s"]] == [whole]
    assert query.contributions().distribution().loc["s", "largest"] == whole
