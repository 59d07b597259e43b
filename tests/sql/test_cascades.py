"""Rows that refer to a person's rows by a foreign key: joined with them, or refused."""

from __future__ import annotations

import pandas as pd
import pytest

from sensitivity_lab.errors import InputError

pytest.importorskip("duckdb", reason="needs the extra `sql`")
pytest.importorskip("sqlglot", reason="needs the extra `sql`")

import duckdb
from sql_checks import largest

from sensitivity_lab.sql import Query

pytestmark = pytest.mark.sql

PERSON = {"person": "customer.id"}
JOINED = (
    "SELECT COUNT(*) AS n FROM customer c JOIN orders o ON o.customer = c.id "
    "JOIN line l ON l.number = o.number"
)


def database():
    """Lines refer to orders, orders to customers; only customers have a column of persons."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE customer (id INTEGER PRIMARY KEY, area INTEGER);"
        "CREATE TABLE orders (number INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer);"
        "CREATE TABLE line (number INTEGER REFERENCES orders(number), area INTEGER);"
        "INSERT INTO customer VALUES (1, 1), (2, 1); INSERT INTO orders VALUES (7, 1), (8, 2);"
        "INSERT INTO line VALUES (7, 1), (7, 1), (8, 1)"
    )
    return connection


def after_cascade(connection, text, person):
    """The definition: delete a person's rows and all that refer to them, and run the query."""
    copies = {
        name: connection.execute(f"FROM {name}").df() for name in ("customer", "orders", "line")
    }
    copies["customer"] = copies["customer"].query(f"id != {person}")
    copies["orders"] = copies["orders"][copies["orders"].customer.isin(copies["customer"].id)]
    copies["line"] = copies["line"][copies["line"].number.isin(copies["orders"].number)]
    plain = duckdb.connect()
    for name, frame in copies.items():
        plain.register(name, frame)
    return plain.execute(text).fetchone()[0]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "text",
    [
        JOINED,
        "SELECT COUNT(*) AS n FROM customer c, orders o, line l "
        "WHERE o.customer = c.id AND o.number = l.number",
    ],
)
def test_rows_that_are_joined_on_their_key_go_along_and_are_named(text):
    connection = database()
    found = Query(text, connection=connection, **PERSON).contributions()
    before = connection.execute(text).fetchone()[0]
    for person, lost in found.to_frame()[["person", "n"]].itertuples(index=False):
        assert before - after_cascade(connection, text, person) == lost
    assert "rows in customer; with those, the rows of orders, line that refer to them" in repr(
        found
    )
    assert dict(found.facts())["kept"] == "none"


@pytest.mark.parametrize(
    "text",
    [
        # By another column: a line stays with the customers of its area.
        "SELECT COUNT(*) AS n FROM customer c JOIN line l ON l.area = c.area",
        "SELECT COUNT(*) AS n FROM customer CROSS JOIN orders",
        JOINED.replace("l.number = o.number", "l.area = c.area"),
        # Only lines are read: their owner is two keys away.
        "SELECT COUNT(*) AS n FROM line",
    ],
)
def test_rows_that_are_not_joined_on_their_key_have_an_owner_by_it(text):
    connection = database()
    found = Query(text, connection=connection, **PERSON).contributions()
    before = connection.execute(text).fetchone()[0]
    told = found.to_frame().set_index("person")["n"].to_dict()
    for person in (1, 2):
        assert before - after_cascade(connection, text, person) == told.get(person, 0)


@pytest.mark.exhaustive
def test_a_key_that_the_caller_declares_counts():
    tables = {
        "customer": pd.DataFrame({"id": [1, 2], "area": [1, 1]}),
        "line": pd.DataFrame({"customer": [1, 1, 2], "area": [1, 1, 1]}),
    }
    text = "SELECT COUNT(*) AS n FROM customer c JOIN line l ON l.area = c.area"
    plain = Query(text, connection=tables, **PERSON)
    assert largest(plain) == 3
    keyed = Query(text, connection=tables, foreign_keys={"line.customer": "customer.id"}, **PERSON)
    # With customer 1 go two lines of customer 2's results, too: 5 of 6 results, not 3.
    assert largest(keyed) == 5


def notes(text, *, refers="REFERENCES orders"):
    """Notes of one person refer to orders of another."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE orders (number INTEGER PRIMARY KEY, customer INTEGER);"
        f"CREATE TABLE notes (author INTEGER, number INTEGER {refers});"
        "INSERT INTO orders VALUES (7, 1), (8, 2); INSERT INTO notes VALUES (2, 7), (2, 7), (1, 8)"
    )
    persons = {"orders": "customer", "notes": "author"}
    return Query(text, connection=connection, person=persons)


@pytest.mark.exhaustive
def test_rows_of_one_person_that_refer_to_rows_of_another_are_joined_or_refused():
    alone = "SELECT COUNT(*) AS n FROM notes"
    assert largest(notes(alone, refers="")) == 2
    # With customer 1 goes an order, and with it both notes of author 2: three notes, not two.
    with pytest.raises(InputError, match=r"refer to rows of orders .*: join the two$"):
        notes(alone).contributions()
    joined = "SELECT COUNT(*) AS n FROM notes JOIN orders USING (number)"
    assert largest(notes(joined)) == 3


@pytest.mark.exhaustive
def test_a_foreign_key_between_persons_ties_persons():
    persons = {"customer": "id", "orders": "customer"}
    alone = Query("SELECT COUNT(*) AS n FROM orders", connection=database(), person=persons)
    assert largest(alone) == 1
    crossed = Query(
        "SELECT COUNT(*) AS n FROM customer, orders", connection=database(), person=persons
    )
    assert largest(crossed) == 4 - 1


def test_bounds_that_clip_a_sum_are_among_the_facts():
    query = Query(
        "SELECT SUM(area) AS total, COUNT(*) AS n FROM line",
        connection={"line": pd.DataFrame({"id": [1, 2], "area": [1, 9]})},
        person="line.id",
        bounds={"line.area": (0, 5)},
    )
    assert ("clipped", "line.area to [0, 5]") in query.contributions().facts()
