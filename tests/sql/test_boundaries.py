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


@pytest.mark.parametrize("sign", [1, -1])
def test_in_linf_the_k_largest_of_a_group_beat_one_larger_of_another(sign):
    """Two who have 5 each in one group, beside one who has 6 in another: 10, not 6."""
    query = grouped([(1, "a", 5 * sign), (2, "a", 5 * sign), (3, "b", 6 * sign)], "ab")
    result = query.local_sensitivity(2, norm="Linf")
    assert (result.exact, result.status) == (10, "exact")
    assert set(result.witness.persons) == {1, 2}
    # Of three, the third counts too.
    query = grouped([(i, "a", 4 * sign) for i in (1, 2, 3)] + [(4, "b", 9 * sign)], "ab")
    assert query.local_sensitivity(3, norm="Linf").exact == 12
    assert query.local_sensitivity(2, norm="Linf").exact == 9


def test_two_persons_who_share_results_have_bounds_in_linf():
    """Pairs 1-2, 1-3 and 2-3 of group a are 3 that two of them share; group b has 3 of its own.

    Each of 1, 2 and 3 is in two pairs of 10, so that two of them are bounded by 40 and attain 30.
    Persons 8 and 9 have 17 each in group b, which are 34.
    """
    pairs = pd.DataFrame(
        [(1, 2, "a")] * 10
        + [(1, 3, "a")] * 10
        + [(2, 3, "a")] * 10
        + [(8, 8, "b"), (9, 9, "b")] * 17,
        columns=["one", "other", "area"],
    )
    persons = pd.DataFrame({"id": [1, 2, 3, 8, 9]})
    query = Query(
        "SELECT area, COUNT(*) AS n FROM pairs JOIN p AS a ON a.id = one "
        "JOIN p AS b ON b.id = other GROUP BY area",
        connection={"pairs": pairs, "p": persons},
        person="p.id",
        groups=["a", "b"],
    )
    result = query.local_sensitivity(2, norm="Linf")
    assert (result.status, result.value, result.upper) == ("bounds", 30, 40)
    result.verify()


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
    assert query.local_sensitivity().exact == abs(number)


def test_the_sum_of_contributions_over_groups_does_not_wrap():
    query = grouped([(1, "a", 2**63 - 1), (1, "b", 2**62)], "ab")
    whole = 2**63 - 1 + 2**62
    assert [int(one) for one in query.contributions().of_persons()["s"]] == [whole]
    assert query.contributions().distribution().loc["s", "largest"] == whole
    assert query.local_sensitivity().exact == whole
