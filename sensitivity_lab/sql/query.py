"""The query: what a caller makes, and what it can be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sensitivity_lab.checks import check_callable, check_choice, check_whole, names_of, shown
from sensitivity_lab.errors import InputError, VerificationError
from sensitivity_lab.exact.difference import root_difference
from sensitivity_lab.metrics.norms import Norm, check_norm, norm_of

from .additions import AdditionSearch
from .answers import aggregate_of, exact_answers
from .changes import Removed, add_rows, rows_of
from .contributions import Contributions, contributions_of
from .impacts import Unit
from .normal_form import Aggregate, Source
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
    domains : mapping of str to sequence, optional
        The values that columns can take in new rows, such as ``{"orders.status": ["open"]}``; None
        among them for NULL.
    keys : mapping of str to str or sequence of str, optional
        Columns with different values in each row, by table, such as ``{"orders": "orderkey"}``.
        What DuckDB's tables declare themselves holds, too.
    foreign_keys : mapping of str to str, optional
        Columns whose values occur in a parent, such as ``{"orders.custkey": "customer.custkey"}``.
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
        domains: Mapping[str, Sequence[Any]] | None = None,
        keys: Mapping[str, str | Sequence[str]] | None = None,
        foreign_keys: Mapping[str, str] | None = None,
        show_person: Callable[[Any], str] | None = None,
    ) -> None:
        super().__init__(
            sql,
            connection=connection,
            person=person,
            bounds=bounds,
            groups=groups,
            null_person=null_person,
            domains=domains,
            keys=keys,
            foreign_keys=foreign_keys,
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
        table: str | None = None,
        limit: int | None = None,
    ) -> DatabaseSensitivity:
        """Return how far the answer moves if up to k persons or rows are removed or added."""
        check_whole("k", k, "a number of persons or rows, at least 1")
        unit = check_choice("unit", unit, ("person", "row"))
        change = check_choice("change", change, ("remove", "add"))
        checked = check_norm(norm)
        chosen = self.form.aggregates[aggregate_of(self.form, aggregate)]
        if change == "add":
            return self._added(k, unit, checked, chosen, table, limit)
        if table is not None or limit is not None:
            raise InputError(
                "table and limit go with change='add': a removal takes rows of all private tables"
            )
        return self._removed(k, unit, checked, chosen)

    def _removed(self, k: int, unit: Unit, norm: Norm, aggregate: Aggregate) -> DatabaseSensitivity:
        """Return the worst removal."""
        tables = tuple(dict.fromkeys(source.table.name for source in self.form.private))
        with self.session() as session:
            search = Removal(
                self.form,
                aggregate,
                session,
                unit=unit,
                k=k,
                norm=norm,
                null_person=self.null_person,
            )
            worst = search.worst()
            before = exact_answers(self.form, aggregate, session)
            after = search.without(worst.units) if worst.units else before
            rows = rows_of(self.form, worst.units, session) if unit == "row" else []
        return measured(
            self,
            aggregate,
            DatabaseNeighbors("remove", k, unit, tables),
            norm,
            before,
            after,
            Removed(worst.units, unit) if worst.units else None,
            upper=worst.upper,
            searched=worst.searched,
            rows=tuple(rows),
            show_person=self.show_person,
        )

    def _added(
        self,
        k: int,
        unit: Unit,
        norm: Norm,
        aggregate: Aggregate,
        table: str | None,
        limit: int | None,
    ) -> DatabaseSensitivity:
        """Return the worst addition."""
        source = self._gaining(unit, table)
        each = 1
        if unit == "person":
            if limit is None:
                raise InputError(
                    "change='add': a new person can bring any number of rows; give limit, the most "
                    "rows that a person has, chosen without looking at the data"
                )
            each = check_whole("limit", limit, "a number of rows of one person, at least 1")
            if k > 1 and source.column(source.person or "") in self.form.used_in_results:
                raise InputError(
                    "change='add': several new persons differ in a column that the query reads, "
                    "which is not computed; use k=1"
                )
        elif limit is not None:
            raise InputError("limit goes with unit='person', the rows that a new person brings")
        neighbors = DatabaseNeighbors("add", k, unit, (source.table.name,), limit)
        with self.session() as session:
            search = AdditionSearch(
                self.form,
                aggregate,
                session,
                source,
                norm=norm,
                constraints=self.constraints,
                new_person=unit == "person",
                null_person=self.null_person,
            )
            worst = search.worst(k * each)
            before = exact_answers(self.form, aggregate, session)
            after, rows = before, ()
            if worst.added is not None:
                replaced = add_rows(self.form, worst.added, session)
                after = exact_answers(self.form, aggregate, session, replaced)
                row = dict(zip(worst.added.columns, worst.added.row, strict=True))
                rows = ((source.table.name, row),)
        found = measured(
            self,
            aggregate,
            neighbors,
            norm,
            before,
            after,
            worst.added,
            upper=None,
            searched=worst.searched,
            rows=rows,
            show_person=self.show_person,
        )
        moved = norm_of([one - other for one, other in zip(before, after, strict=True)], norm)
        if moved != root_difference(worst.size if norm == "L2" else worst.size**2):
            raise VerificationError(
                f"the new row was to change {aggregate.name} by {float(worst.size)}, and changes it "
                f"by {moved.nearest()}; the data changed meanwhile, or this is a fault: report it"
            )
        return found

    def _gaining(self, unit: Unit, table: str | None) -> Source:
        """Return the private table that gains rows."""
        private = {source.table.name: source for source in self.form.private}
        if unit == "person" and len(private) > 1:
            raise InputError(
                f"change='add': a new person brings rows of {names_of(private)}, whose results "
                "multiply; that is not computed: add a row with unit='row' and table"
            )
        if table is None and len(private) == 1:
            return next(iter(private.values()))
        known = next((one for one in private if str(table).lower() == one.lower()), None)
        if table is None or known is None:
            raise InputError(
                f"table must be the private table that gains rows, one of {names_of(private)}, got "
                f"{shown(table)}"
            )
        return private[known]
