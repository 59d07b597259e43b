"""The query: what a caller makes, and what it can be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sensitivity_lab.checks import check_callable, check_choice, check_whole
from sensitivity_lab.metrics.norms import check_norm

from .answers import aggregate_of, exact_answers
from .changes import Removed, rows_of
from .contributions import Contributions, contributions_of
from .read_query import ReadQuery
from .removal import Removal
from .result import DatabaseNeighbors, DatabaseSensitivity, measured


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
    show_person : callable, optional
        Turns a person into the text that reprs show; by default they show no persons and no rows.

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

    def __init__(
        self,
        sql: str,
        *,
        connection: Any,
        person: str | Mapping[str, str],
        bounds: Mapping[str, tuple[float, float]] | None = None,
        groups: Sequence[Any] | None = None,
        null_person: str = "refuse",
        show_person: Callable[[Any], str] | None = None,
    ) -> None:
        super().__init__(
            sql,
            connection=connection,
            person=person,
            bounds=bounds,
            groups=groups,
            null_person=null_person,
        )
        if show_person is not None:
            check_callable(
                "show_person", show_person, "None or a function of a person, such as str"
            )
        self.show_person = show_person

    def contributions(self) -> Contributions:
        """Return what would vanish with all rows of each person, exactly.

        Returns
        -------
        Contributions
            By person and group; its `to_frame`, `distribution`, `top` and `plot` show it.
        """
        return contributions_of(self, self.show_person)

    def local_sensitivity(
        self,
        k: int = 1,
        *,
        unit: str = "person",
        change: str = "remove",
        norm: str = "L1",
        aggregate: str | None = None,
    ) -> DatabaseSensitivity:
        """Return how far the answer moves if up to k persons or rows are removed or added."""
        check_whole("k", k, "a number of persons or rows, at least 1")
        unit = check_choice("unit", unit, ("person", "row"))
        change = check_choice("change", change, ("remove", "add"))
        checked = check_norm(norm)
        chosen = self.form.aggregates[aggregate_of(self.form, aggregate)]
        tables = tuple(dict.fromkeys(source.table.name for source in self.form.private))
        neighbors = DatabaseNeighbors("remove", k, unit, tables)
        with self.session() as session:
            search = Removal(
                self.form,
                chosen,
                session,
                unit=unit,
                k=k,
                norm=checked,
                null_person=self.null_person,
            )
            worst = search.worst()
            before = exact_answers(self.form, chosen, session)
            after = search.without(worst.units) if worst.units else before
            found = Removed(worst.units, unit) if worst.units else None
            rows = rows_of(self.form, worst.units, session) if unit == "row" else []
        return measured(
            self,
            chosen,
            neighbors,
            checked,
            before,
            after,
            found,
            upper=worst.upper,
            searched=worst.searched,
            rows=tuple(rows),
            show_person=self.show_person,
        )
