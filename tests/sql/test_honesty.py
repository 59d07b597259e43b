"""The text that came is never executed, and what is outside of the grammar is refused."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from sensitivity_lab.errors import InputError, QueryError

pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

from sensitivity_lab.sql import Query

pytestmark = pytest.mark.sql

TABLES = {
    "customer": pd.DataFrame({"id": [1, 2, 3], "region": ["a", "b", "a"]}),
    "orders": pd.DataFrame({"number": [1, 2, 3], "customer": [1, 1, 2], "price": [5, 7, 2]}),
}

hidden = pd.DataFrame({"id": [1, 2]})
"""A variable that a replacement scan of DuckDB would find."""


def read(text: str, **given) -> Query:
    return Query(text, **{"connection": TABLES, "person": "customer.id", **given})


def refusal(text: str, **given) -> str:
    with pytest.raises(InputError) as caught:
        read(text, **given)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "COPY customer TO '{file}'",
        "COPY (SELECT * FROM customer) TO '{file}' (FORMAT csv)",
        "ATTACH '{file}' AS other",
        "EXPORT DATABASE '{file}'",
        "CREATE TABLE other AS SELECT 1",
        "INSERT INTO customer VALUES (9, 'z')",
        "DELETE FROM customer",
        "SET memory_limit = '1MB'",
        "PRAGMA database_list",
        "INSTALL httpfs",
        "CALL pragma_version()",
        "SELECT COUNT(*) FROM customer; COPY customer TO '{file}'",
        "SELECT COUNT(*) FROM read_text('{file}')",
        "SELECT COUNT(*) FROM glob('/*')",
        "SELECT COUNT(*) FROM query('SELECT 1')",
        "SELECT COUNT(*) FROM read_csv('{file}')",
        "SELECT COUNT(*) FROM '{file}'",
        "SELECT COUNT(*) FROM hidden",
        "SELECT COUNT(*) FROM customer, hidden",
        "SELECT COUNT(*) FROM customer WHERE id = (SELECT MAX(id) FROM hidden)",
        "SELECT COUNT(*) FROM customer WHERE getenv('HOME') = 'x'",
        "SELECT SUM(nextval('numbers')) FROM customer",
        "SELECT COUNT(*) FROM customer WHERE random() < 0.5",
        "SELECT COUNT(*) FROM customer WHERE current_setting('threads') = '1'",
        "SELECT COUNT(*) FROM customer WHERE id IN (SELECT id FROM customer)",
        "SELECT COUNT(*) FROM customer WHERE id IN (SELECT customer FROM hidden)",
        "SELECT COUNT(*) FROM customer WHERE id IN (SELECT id FROM '{file}')",
        "SELECT COUNT(*) FROM customer WHERE id IN (SELECT 1 FROM glob('/*'))",
        "SELECT COUNT(*) FROM customer WHERE EXISTS (SELECT 1 FROM orders)",
        "SELECT COUNT(*) FROM customer WHERE id = $1",
        "SELECT COUNT(*) FROM (VALUES (1)) AS v(id)",
        "SELECT COUNT(*) FROM duckdb_settings()",
        "SELECT COUNT(*) FROM information_schema.tables",
        "SELECT COUNT(*) FROM customer WHERE id = [1, 2][1]",
        "SELECT COUNT(*) FROM customer WHERE list_transform([1], x -> x)[1] = id",
    ],
)
def test_what_would_write_read_or_ask_elsewhere_is_never_run(text, tmp_path):
    file = tmp_path / "file.csv"
    assert refusal(text.format(file=file)).startswith("sql")
    assert not file.exists()


PLACES = {
    "SELECT COUNT(*)\nFROM customer\nLIMIT 1 + 2": (
        "sql: LIMIT 1 + 2 (line 3, column 7): LIMIT takes a whole number here; write the number"
    ),
    "SELECT COUNT(*) FROM customer HAVING id > 1": (
        "sql: id (line 1, column 38): it is neither an aggregate nor a key; put it into GROUP BY"
    ),
    "SELECT COUNT(*) FROM customer ORDER BY 2": "there is no answer number 2",
    "SELECT DISTINCT COUNT(*) FROM customer": "SELECT DISTINCT is not supported",
    "SELECT COUNT(*) OVER () FROM customer": "windows are not supported, because",
    "SELECT MAX(id) FROM customer": (
        "MAX is not supported; count the values beyond public ones: COUNT(*) FILTER (WHERE column "
        "> 10); the aggregates are COUNT(*)"
    ),
    "SELECT SUM(DISTINCT id) FROM customer": "SUM(DISTINCT",
    "SELECT COUNT(*) FROM customer WHERE SUM(id) > 3": "an aggregate within an expression",
    "SELECT COUNT(*) FROM customer WHERE RANK() OVER (ORDER BY id) = 1": (
        "sql: RANK() OVER (ORDER BY id) (line 1, column 37): windows are not supported, because "
        "one row can change the results of others; use an aggregate with GROUP BY; "
        "Query.plan(max_rows=...) keeps the first rows of each person"
    ),
    "SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER () AS n FROM customer) AS c": "windows are not",
    "SELECT STRING_AGG(region, ',') FROM customer": (
        "sql: STRING_AGG(region, ',') (line 1, column 19): STRING_AGG is not supported"
    ),
    "SELECT MEDIAN(id) FROM customer": "count the values beyond public ones",
    "SELECT COUNT(*) FROM customer WHERE region ~ 'a'": "use LIKE with % and _, or a list",
    "SELECT COUNT(*) FROM customer WHERE regexp_matches(region, region)": "use LIKE with % and _",
    "SELECT COUNT(*) FROM customer WHERE (id, region) IN ((1, 'a'), 2)": "compare each column",
    "SELECT COUNT(*) FROM customer FETCH FIRST 9 PERCENT ROWS ONLY": "LIMIT (direction) is not",
    "SELECT COUNT(*) FROM customer WHERE CURRENT_DATE > DATE '2020-01-01'": (
        "sql: CURRENT_DATE (line 1, column 37): what changes with the time of day is not supported"
    ),
    "SELECT COUNT(*) FROM customer WHERE now() > DATE '2020-01-01'": "write it: DATE",
    "SELECT COUNT(*) FROM customer ASOF JOIN orders ON id >= customer": (
        "an ASOF JOIN is not supported; write JOIN with its conditions after ON"
    ),
    "SELECT id FROM customer": "it is neither an aggregate nor a key",
    "SELECT * FROM customer": "a star is not supported among the answers",
    "SELECT COUNT(*) FROM (SELECT DISTINCT id FROM customer) AS c": "SELECT DISTINCT is not",
    "SELECT COUNT(*) FROM (SELECT id FROM customer GROUP BY id) AS c": "one row more can take",
    "SELECT COUNT(*) FROM (SELECT MAX(id) AS m FROM customer) AS c": "MAX is not supported",
    "SELECT COUNT(*) FROM (SELECT id FROM customer LIMIT 1) AS c": (
        "LIMIT in a subquery is not supported"
    ),
    "SELECT COUNT(*) FROM customer RIGHT JOIN orders ON id = customer": "a RIGHT JOIN",
    "SELECT COUNT(*) FROM customer FULL JOIN orders ON id = customer": "a FULL JOIN",
    "SELECT COUNT(*) FROM customer NATURAL JOIN orders": "no column is on both sides of NATURAL",
    "SELECT COUNT(*) FROM customer SEMI JOIN orders ON id = customer": "a SEMI JOIN",
    "SELECT COUNT(*) FROM customer LEFT JOIN (SELECT o.number + 1 AS n, o.customer FROM orders o) "
    "AS o ON o.customer = id": "a LEFT JOIN to a subquery that joins or computes",
    "SELECT COUNT(*) FROM customer UNION SELECT COUNT(*) FROM orders": "UNION, INTERSECT",
    "WITH RECURSIVE c AS (SELECT id FROM customer) SELECT COUNT(*) FROM c": "WITH RECURSIVE",
    "SELECT COUNT(*) FROM customer TABLESAMPLE 10%": "this form of a table",
    "SELECT COUNT(*) FROM customer AS c(a, b)": "names of columns after the name of a table",
    "SELECT COUNT(*) FROM customer WHERE di = 1": (
        "sql: di (line 1, column 37): there is no column di; the columns are 'id', 'region'"
    ),
    "SELECT COUNT(*) FROM costumer": (
        "sql: there is no table 'costumer' (line 1, column 22); the tables are 'customer', "
        "'orders'; did you mean 'customer'?"
    ),
    "SELECT COUNT(*) FROM customer JOIN orders ON customer.id = order.customer": (
        "there is no table order in FROM; the tables there are 'customer', 'orders'; did you mean "
        "'orders'?"
    ),
    "SELECT COUNT(* FROM customer": "cannot read the query at line 1",
    "": "sql must be a SELECT statement, got an empty text",
    "SELEC COUNT(*) FROM customer": "it begins with 'SELEC'; did you mean 'SELECT'?",
    "-- who\n (DELETE FROM customer": "and can begin with WITH; it begins with 'DELETE'",
    "EXPLAIN SELECT COUNT(*) FROM customer": "it begins with 'EXPLAIN'",
    "WITH c AS (SELECT id FROM customer) DELETE FROM c": "got one of the kind DELETE",
    "WITH c AS (SELECT id FROM customer)": "SELECT ... FROM ... is missing",
    "SELECT COUNT(*) FROM customer WHERE EXISTS (SELECT 1 FROM orders WHERE customer = id)": (
        "sql: EXISTS(SELECT 1 FROM orders WHERE customer = id) (line 1, column 52): EXISTS is not "
        "supported; join the table; if several of its rows match, a join counts each of them"
    ),
    "SELECT COUNT(*) FROM customer WHERE id > (SELECT AVG(id) FROM customer)": (
        "a subquery as a value is not supported"
    ),
    "SELECT COUNT(DISTINCT id, region ) FROM customer": (
        "COUNT(DISTINCT id, region ) (line 1, column 8): COUNT(DISTINCT) of several columns"
    ),
    "SELECT COUNT(*) AS n, COUNT(id) AS N FROM customer": "give it another name with AS",
    "SELECT GROUPING SETS (region), COUNT(*) FROM customer": "cannot read the query",
    "SELECT region, COUNT(*) FROM customer GROUP BY ALL": "which keys occur is private",
    "SELECT SUM(region) FROM customer": "the type VARCHAR; cast it to a number",
    "SELECT COUNT(*) FROM orders": "the query reads none of the tables 'customer'",
}


@pytest.mark.parametrize("text", PLACES)
def test_what_is_outside_is_refused_with_its_place_and_a_way_to_write_it(text):
    assert PLACES[text] in refusal(text)


def test_no_statement_has_anything_of_the_text_but_quoted_names_and_literals():
    query = read(
        "SELECT COUNT(*) FROM customer AS \"a\"\"; DROP TABLE b\" WHERE region <> 'it''s; --' "
        "/* a comment */ AND id BETWEEN 1 AND 9 -- another one"
    )
    assert query.regenerated == (
        'SELECT COUNT(*) AS "COUNT(*)" FROM memory.main."customer" AS "a""; DROP TABLE b" WHERE '
        '("a""; DROP TABLE b"."region" <> \'it\'\'s; --\') AND '
        '(("a""; DROP TABLE b"."id" >= 1) AND ("a""; DROP TABLE b"."id" <= 9))'
    )
    assert query.answer().iloc[0, 0] == 3


def test_errors_of_the_data_are_told_as_such():
    query = read("SELECT SUM(CAST(region AS INTEGER)) FROM customer")
    with pytest.raises(QueryError, match=re.escape("failed on the data: Conversion Error")):
        query.contributions()


WRONG = [
    ({"person": "id"}, "person must be a text such as 'customer.custkey', or a mapping"),
    ({"person": "customer.key"}, "person: customer has no column 'key'"),
    ({"person": {}}, "got a mapping without tables"),
    ({"person": "costumer.id"}, "there is no table 'costumer'"),
    ({"null_person": "drop"}, "null_person must be one of 'refuse', 'public', got 'drop'"),
    ({"bounds": {"customer.id": (1, 2)}}, "bounds: the query adds up no column; leave bounds out"),
    ({"groups": [1]}, "groups goes with GROUP BY, and the query has none"),
    ({"connection": 3}, "connection must be a connection of DuckDB or SQLite"),
    ({"connection": {}}, "got a mapping without tables"),
    ({"connection": {"customer": 3}}, "must be a DataFrame, an Arrow table, or the path"),
    ({"connection": {"customer": "no.csv"}}, "there is no file 'no.csv'"),
    ({"connection": "no.duckdb"}, "cannot read the database 'no.duckdb': No such file"),
    ({"connection": "orders.csv"}, "cannot read the database 'orders.csv'"),
    ({"show_person": 3}, "show_person must be None or a function of a person"),
]


@pytest.mark.parametrize(("given", "message"), WRONG)
def test_wrong_arguments_say_what_is_accepted(given, message):
    assert message in refusal("SELECT COUNT(*) FROM customer", **given)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([], "groups must be a list of public keys for 'region', got none"),
        ("a", "groups must be a list of public keys"),
        ([("a", "b")], "each is a single value, got ('a', 'b')"),
        (["a", "a"], "the key ('a',) occurs twice"),
        ({"a", "b"}, "a set has another order in each process"),
        ([{}], "a key is a text, a number, True or False, a date, a time or None, got {}"),
    ],
)
def test_wrong_keys_are_refused(groups, message):
    text = "SELECT region, COUNT(*) FROM customer GROUP BY region"
    assert message in refusal(text, groups=groups)


def test_whole_numbers_may_be_arrays_without_dimensions():
    visits = pd.DataFrame({"person": [1, 1, 2]})
    query = Query(
        "SELECT COUNT(*) AS n FROM visits", connection={"visits": visits}, person="visits.person"
    )
    assert len(query.contributions().top(np.array(1))) == 1
    assert len(query.contributions().top(2**61)) == 2
