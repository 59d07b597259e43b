"""The query: what a caller makes, and what it can be asked."""

from __future__ import annotations

from .read_query import ReadQuery


class Query(ReadQuery):
    """A query of a database, and whose rows it rests on.

    Parameters
    ----------
    sql : str
        One SELECT: COUNT(*), COUNT(column), SUM(expression), AVG(expression) or
        COUNT(DISTINCT column) over tables that are joined by conditions, with WHERE and GROUP BY;
        subqueries in FROM and WITH that join and restrict. It is read, never executed: what runs is
        written anew (`regenerated`).
    connection : object
        A connection of DuckDB or of SQLite, the path of a database file of one of them, or a
        mapping of table names to DataFrames (pandas, Polars), Arrow tables, and paths of Parquet or
        CSV files. Everything but DuckDB's own databases is copied when the query is made.
    person : str or mapping of str to str
        The column that says whose row it is, such as ``"customer.custkey"``; of several private
        tables by their names, such as ``{"customer": "custkey", "orders": "custkey"}``. A person
        takes their rows of these tables along, and of no other.
    bounds : mapping of str to (number, number), optional
        Public bounds of columns that are added up, such as ``{"lineitem.quantity": (1, 50)}``;
        values beyond them are clipped.
    groups : sequence, optional
        The public keys of GROUP BY, chosen without looking at the data; tuples if there are several
        expressions. Results with other keys are left out.
    null_person : {"refuse", "public"}, default "refuse"
        What rows mean whose person is NULL: an error, or public rows.

    Attributes
    ----------
    form : NormalForm
        The query as it is searched.
    database : Database
        Where it runs.

    Raises
    ------
    InputError
        If the text is not such a query, with the place and a way to write it; if a table or a
        column is missing; if the database is locked or cannot be read.
    QueryError
        If the database cannot compute it, as for a cast of a text that is no number.
    MissingExtraError
        Without the extra ``[sql]``.
    """
