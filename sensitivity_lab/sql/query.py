"""The query: what a caller makes, and what it can be asked."""

from __future__ import annotations

from typing import Any

from sensitivity_lab.boundary import public_call
from sensitivity_lab.errors import InputError
from sensitivity_lab.releases.planning import Plan

from .contributions import Contributions, contributions_of
from .query_plan import plan_of
from .read_query import ReadQuery


class Query(ReadQuery):
    """A query of a database, and whose rows it rests on.

    Parameters
    ----------
    sql : str
        One SELECT that aggregates: COUNT(*), COUNT(column), SUM(expression), AVG(expression),
        STDDEV, VARIANCE or COUNT(DISTINCT column) over tables that are joined by conditions, with
        WHERE and GROUP BY; subqueries in FROM and WITH that join and restrict. It is read, never
        executed: what runs is written anew (`regenerated`). Other SELECTs around it can read from
        its answer, and run on that alone.
    connection : object
        A connection of DuckDB or of SQLite, the path of a database file of one of them, or a
        mapping of table names to DataFrames (pandas, Polars), Arrow tables, and paths of Parquet or
        CSV files. Everything but DuckDB's own databases is copied when the query is made.
    person : str or mapping of str to str
        The column that says whose row it is, such as ``"customer.custkey"``; of several private
        tables by their names, such as ``{"customer": "custkey", "orders": "custkey"}``. A person
        takes their rows of these tables along, and what refers to them by foreign keys, declared or
        given: ``person="customer.custkey"`` protects the orders of a customer, and the lines of
        these, whether the query joins them with customers or not.
    bounds : mapping of str to (number, number), optional
        Public bounds of columns that are added up, such as ``{"lineitem.quantity": (1, 50)}``;
        values beyond them are clipped.
    groups : sequence or "public tables", optional
        The public keys of GROUP BY, chosen without looking at the data; tuples if there are several
        expressions, such as ``[("north", 1), ("south", 1)]``; with ROLLUP and CUBE those of the
        finest groups. Results with other keys are left out. "public tables" stands for all keys
        that occur in the tables that GROUP BY reads, if these have no persons.
    null_person : {"refuse", "public"}, default "refuse"
        What rows mean whose person is NULL: an error, or public rows.
    foreign_keys : mapping of str to str, optional
        Columns whose values occur in a parent, such as ``{"orders.custkey": "customer.custkey"}``.
        What DuckDB's tables declare themselves holds, too.
    public : sequence of str, optional
        Tables of which everybody may know all rows, such as ``["nation"]``. A plan refuses a table
        that is neither tied to persons nor public.
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
        column is missing; if a column that it reads has times with a time zone; if the database
        is locked or cannot be read.
    QueryError
        If the database cannot compute it, as for a cast of a text that is no number.
    MissingExtraError
        Without the extra ``[sql]``.

    Examples
    --------
    >>> import pandas as pd
    >>> from sensitivity_lab import sql
    >>> visits = pd.DataFrame({"person": [1, 1, 1, 2], "days": [3, 1, 2, 4]})
    >>> query = sql.Query(
    ...     "SELECT COUNT(*) AS visits FROM visits",
    ...     connection={"visits": visits},
    ...     person={"visits": "person"},
    ... )
    >>> query.answer().visits.tolist(), query.contributions().top(1).visits.tolist()
    ([4], [3])
    """

    def contributions(self) -> Contributions:
        """Return what would vanish with all rows of each person, exactly.

        Returns
        -------
        Contributions
            By person and group; its `to_frame`, `distribution` and `top` show it.

        Notes
        -----
        This takes one grouped query over the join. A result refers to the persons of all its rows,
        and counts once for each of them. A value of COUNT(DISTINCT ...) counts for a person if all
        of its results refer to the person.

        Examples
        --------
        >>> import pandas as pd
        >>> from sensitivity_lab import sql
        >>> visits = pd.DataFrame({"patient": [1, 1, 1, 2, 3]})
        >>> query = sql.Query(
        ...     "SELECT COUNT(*) AS visits FROM visits",
        ...     connection={"visits": visits},
        ...     person="visits.patient",
        ... )
        >>> query.contributions().to_frame()
           person  visits
        0       1       3
        1       2       1
        2       3       1
        """
        return contributions_of(self)

    @public_call
    def plan(
        self,
        *,
        epsilon: Any = None,
        max_rows: Any = None,
        delta: Any = None,
        split: Any = None,
    ) -> Plan:
        """Plan the release of the answer: how much noise it gets, and the only way to publish it.

        Parameters
        ----------
        epsilon : int, float, Fraction or Decimal
            The privacy loss of the whole answer, above 0; with a `delta` from 1e-9 to 100.
            Required.
        max_rows : int
            How many results of the join count of one person, at most, chosen without looking at the
            data. Others are dropped. Required.
        delta : int, float, Fraction or Decimal, optional
            As for `sensitivity_lab.releases.plan`: with it the noise is Gaussian.
        split : iterable of numbers, or mapping of name to number, optional
            The weights of the aggregates' shares, above 0; equal by default.

        Returns
        -------
        Plan
            As `sensitivity_lab.releases.plan` makes it; no data are seen. Its `publish` and
            `without_noise` read this query's database, `rehearse` and `errors` take a connection
            with made-up tables.

        Raises
        ------
        InputError
            If an argument is not acceptable; if a table is neither tied to persons nor public, a
            sum has no bounds, a private table is in a LEFT JOIN, or a result can refer to several
            persons.

        Notes
        -----
        Each aggregate of the query is measured once, of at most `max_rows` results of each person:
        a person changes a COUNT and a COUNT(DISTINCT) by at most that, and a SUM by at most that
        times the largest value of a result. HAVING, ORDER BY, LIMIT, quotients and whatever else
        the query computes from keys and aggregates is computed from the noisy numbers, and costs
        nothing. Values of a sum are rounded to steps of at most the 65,536th part of the largest.

        Examples
        --------
        >>> import pandas as pd
        >>> from sensitivity_lab import sql
        >>> visits = pd.DataFrame({"patient": [1] * 6 + [2, 2, 3], "ward": list("aabbbaabb")})
        >>> query = sql.Query(
        ...     "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC",
        ...     connection={"visits": visits},
        ...     person="visits.patient",
        ...     groups=["a", "b"],
        ... )
        >>> plan = query.plan(epsilon=1, max_rows=2)
        >>> plan
        Plan of a release: epsilon 1, Laplace noise, not published
           numbers  sensitivity norm  epsilon  scale  expected_error
        n        2            2   L1        1      2               2
          loss       epsilon 1 for everything that is published, once
          person     a person (visits.patient) joins or leaves with all rows of visits; at most 2
                     results of the join count
        ...
        >>> int(plan.without_noise().to_frame()["n"].sum())
        5
        """
        if epsilon is None or max_rows is None:
            raise InputError(
                "plan: give epsilon and max_rows, the most results of the join that count of one "
                "person, chosen without looking at the data, as in query.plan(epsilon=1, "
                "max_rows=3)"
            )
        given = self._given

        def anew(connection: Any) -> Query:
            return Query(connection=connection, **given)

        bounds = given["bounds"] or {}
        public = {"groups": given["groups"]} | {
            f"bounds[{name!r}]": of for name, of in bounds.items()
        }
        return plan_of(
            self, anew, public, epsilon=epsilon, max_rows=max_rows, delta=delta, split=split
        )
