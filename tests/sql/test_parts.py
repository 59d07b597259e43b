"""A new row that joins tables which no equality ties: folded, pruned, or refused in time."""

from __future__ import annotations

import pytest

pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

import duckdb
from sql_cases import drawn_case
from sql_checks import check_case

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.sql import Query, additions, parts

pytestmark = pytest.mark.sql


@pytest.mark.parametrize(
    "seeds",
    [
        range(0, 24, 6),
        pytest.param(range(1, 400, 50), marks=pytest.mark.exhaustive),
        *(
            pytest.param(range(n, n + 400, 2), marks=pytest.mark.stress)
            for n in range(0, 2400, 800)
        ),
    ],
)
def test_pruned_searches_against_brute_force(monkeypatch, seeds):
    """With tables of a few rows, every search samples, and drops what cannot be more."""
    monkeypatch.setattr(additions, "FEW", 1)
    monkeypatch.setattr(parts, "_SAMPLE", 3)
    for seed in seeds:
        check_case(drawn_case(seed), seed)


def tables(rows: int):
    """Return t with two columns, and u and v with a key and a shuffled number."""
    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE t AS SELECT range % 7 AS person, range AS x, range * 7919 % {rows} AS y "
        f"FROM range({rows})"
    )
    for name, factor in (("u", 104729), ("v", 15485863)):
        connection.execute(
            f"CREATE TABLE {name} AS SELECT range AS k, range * {factor} % {rows} AS n FROM "
            f"range({rows})"
        )
    return connection


def added(connection, joined: str, aggregate: str = "COUNT(*)", **given):
    query = Query(
        f"SELECT {aggregate} AS a FROM t JOIN {joined}",
        connection=connection,
        person="t.person",
        **given,
    )
    return query.local_sensitivity(change="add", unit="row")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("joined", "value"),
    [
        ("u ON t.x = u.k JOIN v ON t.y = v.k AND u.n < v.n", 1),
        ("u ON t.x = u.k AND t.person = 3 JOIN v ON v.n > u.n AND t.y < 9", 5_999),
        ("u ON t.x = u.k AND t.y < 9 JOIN v ON v.k < 5", 5),
    ],
)
def test_sources_that_an_inequality_ties_are_not_paired(monkeypatch, joined, value):
    """There are 36 million pairs of rows of u and v, and a million choices are too many here."""
    monkeypatch.setattr(parts, "_MOST", 1_000_000)
    assert added(tables(6_000), joined).value == value


@pytest.mark.exhaustive
def test_what_would_take_hours_is_refused_before():
    with pytest.raises(TooLargeError) as caught:
        added(tables(6_000), "u ON t.x < u.k AND t.y > u.n AND u.k < 5000 AND u.n > t.x")
    assert str(caught.value).startswith(
        "change='add': a new row of t meets rows of 'u', where no equality ties some of them: about"
    )
    assert "declare few values of the columns with domains" in str(caught.value)


@pytest.mark.exhaustive
def test_a_sum_over_a_comparison_is_a_running_sum():
    """A new x meets all larger k; their numbers are worth up to 4 each, of both signs."""
    connection = tables(500)
    found = added(connection, "u ON t.x < u.k", "SUM(u.n)", bounds={"u.n": (0, 4)})
    [(expected,)] = connection.execute("SELECT SUM(LEAST(n, 4)) FROM u").fetchall()
    assert found.value == expected
    signed = added(connection, "u ON t.x >= u.k", "SUM(250 - u.n)", bounds={"u.n": (0, 500)})
    rows = connection.execute("SELECT 250 - n FROM u ORDER BY k").fetchall()
    running = [abs(sum(one for (one,) in rows[:i])) for i in range(len(rows) + 1)]
    assert signed.value == max(running)


@pytest.mark.parametrize("few", [pytest.param(additions.FEW, marks=pytest.mark.stress), 1])
@pytest.mark.parametrize(
    "value",
    ["2", "-3", "u.n", "v.n - 30", "(u.n - 10) * (v.n - 20)", "2 * u.n - v.n", "v.n * 0.25", "v.f"],
)
@pytest.mark.parametrize(
    "tie",
    [
        "u.n < v.n",
        *(
            pytest.param(one, marks=pytest.mark.exhaustive)
            for one in ("u.n <> v.n", "v.n <= u.n", "u.n > u.k")
        ),
    ],
)
def test_sums_over_pairs_are_those_of_the_database(monkeypatch, few, value, tie):
    """A value of one part, of both, or of none, which the database adds up over all pairs."""
    monkeypatch.setattr(additions, "FEW", few)
    monkeypatch.setattr(parts, "_SAMPLE", 20)
    connection = tables(40)
    connection.execute("ALTER TABLE v ADD COLUMN f DOUBLE")
    connection.execute("UPDATE v SET f = k / 8.0 - 2")
    found = added(connection, f"u ON t.x = u.k JOIN v ON {tie}", f"SUM({value})")
    [(expected,)] = connection.execute(
        f"SELECT MAX(ABS(s)) FROM (SELECT SUM({value}) AS s FROM u JOIN v ON {tie} GROUP BY u.k)"
    ).fetchall()
    assert found.value == float(expected)
    pairs = f"u ON t.x = u.k JOIN v ON t.y = v.k AND {tie}"
    [(most,)] = connection.execute(f"SELECT MAX(ABS({value})) FROM u JOIN v ON {tie}").fetchall()
    assert added(connection, pairs, f"SUM({value})").value == float(most)
