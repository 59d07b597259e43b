"""What is read of a filter means what its author wrote, and no part that filters is left out."""

from __future__ import annotations

import pandas as pd
import pytest

from sensitivity_lab.errors import InputError

duckdb = pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

from sensitivity_lab.sql import Query  # noqa: E402 - after the check of the extra

pytestmark = pytest.mark.sql

PATIENTS = pd.DataFrame({"id": [1, 2, 3, 4], "name": ["Ann", "Bob", "ANTON", None]})


def query(text: str, **given) -> Query:
    return Query(text, **{"connection": {"patients": PATIENTS}, "person": "patients.id", **given})


def refusal(text: str, **given) -> str:
    with pytest.raises(InputError) as caught:
        query(text, **given)
    return str(caught.value)


@pytest.mark.parametrize(
    "where",
    [
        "name NOT LIKE 'A%'",
        "NOT name LIKE 'A%'",
        "NOT name NOT LIKE 'A%'",
        "name NOT ILIKE 'an%'",
        "name !~~ 'A%'",
        "name LIKE 'A%' OR name NOT LIKE '%o%'",
    ],
)
def test_not_like_counts_the_rows_that_the_database_counts(where):
    text = f"SELECT COUNT(*) AS n FROM patients WHERE {where}"
    base = duckdb.connect()
    base.register("patients", PATIENTS)
    [(expected,)] = base.execute(text).fetchall()
    assert query(text).answer()["n"].tolist() == [expected]
    filtered = query(f"SELECT COUNT(*) FILTER (WHERE {where}) AS n FROM patients")
    assert filtered.answer()["n"].tolist() == [expected]


FILTERS = [
    "SELECT DISTINCT COUNT(*) FROM patients",
    "SELECT COUNT(*) FROM (SELECT id FROM patients LIMIT 3) AS p",
    "SELECT COUNT(*) FROM (SELECT id FROM patients OFFSET 1) AS p",
    "SELECT COUNT(*) FROM patients QUALIFY id > 1",
    "SELECT COUNT(*) FROM patients TABLESAMPLE 10%",
    "SELECT COUNT(*) FROM patients USING SAMPLE 10%",
    "SELECT COUNT(*) FROM patients AS p(a, b)",
    "SELECT COUNT(*) FROM (SELECT * EXCLUDE (name) FROM patients) AS p",
    "SELECT COUNT(*) FROM (SELECT DISTINCT ON (name) id FROM patients) AS p",
    "SELECT COUNT(*) FROM patients JOIN patients AS q POSITIONAL ON patients.id = q.id",
    "SELECT COUNT(*) FROM patients WHERE name LIKE 'A!%' ESCAPE '!'",
    "SELECT COUNT(*) FROM patients WHERE name NOT LIKE 'A!%' ESCAPE '!'",
    "SELECT COUNT(*) FROM patients WHERE name LIKE ANY ('A%', 'B%')",
    "SELECT COUNT(*) FROM patients WHERE name NOT LIKE ALL ('A%', 'B%')",
    "SELECT COUNT(*) FROM patients WHERE name COLLATE NOCASE = 'ann'",
    "SELECT COUNT(*) FROM patients WHERE name SIMILAR TO 'A.*'",
    "SELECT COUNT(*) FROM patients WHERE TRIM(LEADING 'A' FROM name) = 'nn'",
    "SELECT COUNT(*) FROM patients WHERE CAST(id AS FLOAT(24)) = 1",
    "SELECT COUNT(*) FROM patients WHERE memory.patients.id = 1",
    "SELECT COUNT(id ORDER BY name LIMIT 1) FROM patients",
    "SELECT SUM(DISTINCT id) FROM patients",
    "SELECT COUNT(DISTINCT id) FILTER (WHERE id > 1) OVER () FROM patients",
    "SELECT name, COUNT(*) FROM patients GROUP BY ALL",
    "SELECT COUNT(*) FROM patients LIMIT 10%",
]


@pytest.mark.parametrize("text", FILTERS)
def test_no_refusal_tells_to_leave_out_what_may_filter(text):
    told = refusal(text)
    assert "leave" not in told.lower(), told


def test_a_part_that_nothing_is_known_of_is_not_to_be_left_out():
    told = refusal("SELECT COUNT(*) FROM patients WHERE TRIM(LEADING 'A' FROM name) = 'nn'")
    assert told.endswith(
        ": the part POSITION of it is not supported; write the query in another way that means the "
        "same, or prepare a table beforehand"
    )


def test_a_union_in_from_is_called_by_its_name():
    text = (
        "SELECT COUNT(*) AS n FROM (SELECT id FROM patients UNION ALL SELECT id FROM patients) AS u"
    )
    assert "UNION, INTERSECT and EXCEPT are not supported; unite the rows" in refusal(text)
