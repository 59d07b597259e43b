"""The query, what it can be asked, and a plan for its answer.

Results are capped for each person, counted, and get noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import is_of_data, names_of, shown, whole_kind
from sensitivity_lab.errors import InputError
from sensitivity_lab.noise.mechanisms import check_delta
from sensitivity_lab.noise.table_of_noise import shares_of
from sensitivity_lab.releases.grid import as_text
from sensitivity_lab.releases.measurements import Bins, Measured, Numbers
from sensitivity_lab.releases.opendp_noise import Noise
from sensitivity_lab.releases.person import Person
from sensitivity_lab.releases.planning import Plan, privacy_loss
from sensitivity_lab.releases.published import Checked
from sensitivity_lab.releases.statistics import Sums
from sensitivity_lab.releases.table import Exact

from .after_noise import after_noise
from .answers import one_person_per_result, types_apart
from .clipping import clipped_text
from .contributions import Contributions, contributions_of
from .database import Session
from .impacts import as_whole, persons_of
from .normal_form import Aggregate, NormalForm, place_of, quoted, statement
from .read_query import ReadQuery
from .value_ranges import per_result

_RESULTS = 'temp.main."lab results"'
"""The temporary table of results, each with its number `nth` among those of its person."""

_ALL = 2**62
"""No limit."""

_STEPS = 16
"""The largest value of a result has at least two to this steps, of a size that is a power of 2."""

_check_rows = whole_kind("the most results of the join that count of one person, at least 1")


@dataclass(frozen=True)
class OfResults(Measured):
    """An aggregate over results: their number, the sum of a value, or its distinct values.

    Attributes
    ----------
    place : int
        Of the aggregate among those of the query.
    aggregate : Aggregate
    ends : (Fraction, Fraction)
        The least and the largest value of a result.
    """

    place: int
    aggregate: Aggregate
    ends: tuple[Fraction, Fraction]

    @property
    def name(self) -> str:
        """Its name in tables."""
        return self.aggregate.name

    @property
    def unit(self) -> Fraction:
        """The step of a sum; 1 of a count."""
        if self.aggregate.kind != "sum":
            return Fraction(1)
        # A power of two between 2**-17 and 2**-16 of the largest value: dividing by it rounds no
        # float.
        largest = max(map(abs, self.ends)) or Fraction(1)
        return Fraction(2) ** (math.floor(math.log2(largest)) - _STEPS)

    @property
    def steps(self) -> tuple[int, int]:
        """The least and the largest value of a result, in steps."""
        # Outwards, so that every value within the bounds is within the steps.
        low, high = self.ends
        return math.floor(low / self.unit), math.ceil(high / self.unit)

    @property
    def most(self) -> int:
        """The most that a result adds, in steps."""
        return max(map(abs, self.steps)) if self.aggregate.kind == "sum" else 1

    @property
    def amount(self) -> str:
        """The SQL of what a result counts for: a whole number, or a distinct value."""
        value = self.aggregate.value
        if value is None:
            return "1"
        if self.aggregate.kind == "distinct":
            return value.sql
        if self.aggregate.kind == "count":
            return f"CASE WHEN {value.sql} IS NOT NULL THEN 1 END"
        low, high = self.steps
        # The nearest step, halves up, cut to the steps of the bounds.
        steps = f"FLOOR(CAST({value.sql} AS DOUBLE) / {float(self.unit)!r} + 0.5)"
        return (
            f"CASE WHEN {value.sql} IS NOT NULL THEN "
            f"CAST(GREATEST({low}, LEAST({high}, {steps})) AS BIGINT) END"
        )

    @property
    def total(self) -> str:
        """The SQL of the total of kept results."""
        column = quoted(f"amount {self.place}")
        if self.aggregate.kind == "distinct":
            return f"COUNT(DISTINCT {column})"
        return f"SUM(CAST({column} AS HUGEINT) * kept)"

    def exact(self, rows: Any, groups: int) -> Numbers:
        """Return the totals, which the database has computed."""
        found: Numbers = rows[self.place]
        return found


@dataclass(frozen=True, eq=False)
class Results:
    """The results of a query, of which those of each person are capped.

    Attributes
    ----------
    query : ReadQuery
    person : Person
        With the most results that count of one.
    anew : callable
        Makes the query for another connection.
    """

    query: ReadQuery
    person: Person
    anew: Callable[[Any], ReadQuery]

    @cached_property
    def index(self) -> pd.Index[Any]:
        """The public keys."""
        form = self.query.form
        if not form.groups:
            return pd.Index(["all results"])
        names = [group.name for group in form.groups]
        found: pd.Index[Any] = pd.MultiIndex.from_tuples(form.keys, names=names)
        return found if len(names) > 1 else found.get_level_values(0)

    takes_table: ClassVar[bool] = False

    intervals: ClassVar[list[str]] = []

    @property
    def said(self) -> list[tuple[str, str]]:
        """What is said of the noisy numbers."""
        sums = any(one.kind == "sum" for one in self.query.form.aggregates)
        nothing = "a SUM of no rows is 0, where SQL has NULL; " if sums else ""
        error = f"{nothing}the error of each is in the table above"
        return [("noise", f"counts and sums can be negative; {error}")]

    @property
    def about(self) -> str:
        """The columns of people."""
        persons = self.query.persons.items()
        return "the people of " + ", ".join(f"{table}.{column}" for table, column in persons)

    def within_bounds(self, table: Any) -> pd.DataFrame:
        """Refuse: of results only what is measured is known."""
        raise InputError("a query's results within bounds are what is measured")

    def check(self, table: Any) -> Checked:
        """Refuse: the rows of a query are in its database."""
        raise InputError(
            "check tells the rows of a table; of a query, query.contributions() tells how many "
            "results each person has"
        )

    def exact(self, measured: Sequence[Measured], table: Any, *, limited: bool = True) -> Exact:
        """Run the query once, and return the exact numbers of the results that count."""
        if table is not None and self.query.reads(table):
            raise InputError(
                "a rehearsal is of made-up tables, and these are the query's own: its errors would "
                "reveal something about them; make up tables of the size that you expect"
            )
        query = self.query if table is None else self.anew(table)
        several = [one for one in measured if isinstance(one, OfResults)]
        with query.session() as session:
            totals = _totals(query, several, self.person.l1(1) if limited else _ALL, session)
        # Axis 0 is the group; each has one number.
        rows = {
            one.place: np.array([[as_whole(total)] for total in of], dtype=object)
            for one, of in zip(several, totals, strict=True)
        }
        return Exact({one: one.exact(rows, len(self.index)) for one in several})

    def computed(self, sums: Sums) -> tuple[pd.DataFrame, Mapping[str, Bins]]:
        """Return the answer: what the query makes of the numbers of all groups."""
        form = self.query.form
        numbers = [
            [_plain(one, int(of[group, 0])) for one, of in sums.numbers.items()]
            for group in range(len(form.keys))
        ]
        # Counts stay whole after the noise; sums are steps times the unit.
        types = ["BIGINT" if one.unit == 1 else "DOUBLE" for one in sums.numbers]
        found = after_noise(form, numbers, types)
        keys = [name for name, _, is_key in form.outer.columns if is_key and not form.outer.before]
        return found.set_index(keys) if keys else found, {}

    def facts(self, noise: Mapping[Measured, Noise]) -> list[tuple[str, str]]:
        """Return what everybody may know."""
        form = self.query.form
        lost = [one.table.name for one in form.private]
        lost += self.query.cascades.joined
        tables = names_of(list(dict.fromkeys(lost)), str)
        most = self.person.l1(1)
        results = f"{most} result{'s' * (most != 1)} of the join"
        keys = names_of([key[0] if len(key) == 1 else key for key in form.keys], str)
        clipped = clipped_text(form, form.aggregates)
        public = [f"keys {keys}"] * bool(form.groups) + [clipped] * bool(clipped)
        read = (*form.sources, *form.lookups)
        kept = [one.table.name for one in read if one.table.name not in lost]
        if kept:
            told = names_of(list(dict.fromkeys(kept)), str)
            public.append(f"all that is in {told}")
        if self.query.null_person == "public":
            public.append("rows whose person is NULL")
        whose = names_of([f"{table}.{column}" for table, column in self.query.persons.items()], str)
        given = [f"{child} in {parent}" for child, parent in self.query.foreign_keys.items()]
        return [
            (
                "person",
                f"a person ({whose}) joins or leaves with all rows of {tables}; at most {results} "
                "count",
            ),
            *([("keys", names_of(given, str))] if given else []),
            ("query", " ".join(self.query.text.split())),
            (
                "rows",
                "results beyond the limit are dropped, by a hash of what they count for, so that "
                "counts and sums are too low by them",
            ),
            ("public", "; ".join([*public, "this plan"])),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python objects."""
        query = self.query
        return {
            "sql": query.text,
            "person": dict(query.persons),
            "foreign_keys": dict(query.foreign_keys),
            "public": sorted(query.public),
            "null_person": query.null_person,
            "max_rows": self.person.l1(1),
            "groups": [
                [one if one is None else str(one) for one in key] for key in query.form.keys
            ],
            "bounds": {str(column): list(map(str, of)) for column, of in query.form.bounds.items()},
        }


def _plain(one: Measured, number: int) -> int | float:
    return number if one.unit == 1 else float(number * one.unit)


def _totals(
    query: ReadQuery, measured: Sequence[OfResults], most: int, session: Session
) -> list[list[Any]]:
    """Return each total of each group, of at most so many results of each person.

    Which results count is decided by a hash of the person and of what they count for: their group
    and their amounts, as texts that do not depend on the type of a column, and their number among
    those that are equal in all of it. So the choice for one person depends on the person's own
    results only, and each result has the same chance.
    """
    form = query.form
    names = [quoted(f"amount {one.place}") for one in measured]
    # Every result has one person here, so any of the columns of persons tells it.
    person = persons_of(form)[0]
    columns = [f"{person} AS person", f"{place_of(form)} AS place"]
    columns += [f"{one.amount} AS {name}" for one, name in zip(measured, names, strict=True)]
    content = ", ".join(_as_text(name) for name in ["person", *names])
    same = ", ".join(["person", "place", *names])
    # The hash sees contents alone, and never the order of the rows. `place` and `copy` decide where
    # two hashes are equal.
    order = f"HASH(CONCAT_WS('|', place, copy, {content})), place, copy"
    counted = " OR ".join(f"{name} IS NOT NULL" for name in names)
    # Equal results are one row with a number of copies: fewer rows to hash.
    session.run(
        f"CREATE OR REPLACE TEMP TABLE {_RESULTS} AS SELECT {same}, COUNT(*) AS copies "
        f"FROM ({statement(form, columns)}) WHERE {counted} GROUP BY {same}"
    )
    # Most persons have no more results than count, or equal ones: of these no choice is made. A
    # result of nobody is public, and always counts.
    kept = (
        f"WITH many AS (SELECT person FROM {_RESULTS} WHERE person IS NOT NULL GROUP BY person "
        f"HAVING SUM(copies) > {most} AND COUNT(*) > 1), chosen AS (SELECT {same}, ROW_NUMBER() "
        f"OVER (PARTITION BY person ORDER BY {order}) AS nth FROM (SELECT *, "
        f"UNNEST(RANGE(1, copies + 1)) AS copy FROM {_RESULTS} SEMI JOIN many USING (person))) "
        f"SELECT {same}, CASE WHEN person IS NULL THEN copies ELSE LEAST(copies, {most}) END "
        f"AS kept FROM {_RESULTS} ANTI JOIN many USING (person) "
        f"UNION ALL SELECT {same}, 1 FROM chosen WHERE nth <= {most}"
    )
    totals = ", ".join(one.total for one in measured)
    # Groups without a result keep 0.
    found: list[list[Any]] = [[0] * len(form.keys) for _ in measured]
    for place, *row in session.rows(f"SELECT place, {totals} FROM ({kept}) GROUP BY place"):
        for of, total in zip(found, row, strict=True):
            of[place] = total
    return found


def _as_text(column: str) -> str:
    """Return the SQL of a value as text, the same for whole numbers, floats and texts of these."""
    # 1, 1.0 and '1' have one text, since one table can come with either type.
    number = f"CAST(TRY_CAST({column} AS DOUBLE) AS VARCHAR)"
    return f"COALESCE({number}, CAST({column} AS VARCHAR), '?')"


def plan_of(
    query: ReadQuery,
    anew: Callable[[Any], ReadQuery],
    given: Mapping[str, Any],
    *,
    epsilon: Any,
    max_rows: Any,
    delta: Any,
    split: Any,
) -> Plan:
    """Return the plan of a query; see `Query.plan`."""
    for name, public in (*given.items(), ("max_rows", max_rows)):
        if is_of_data(public):
            raise InputError(
                f"{name} comes from an array or a table; write what was chosen without looking at "
                "the data"
            )
    form, most = query.form, _check_rows("max_rows", max_rows)
    loss = privacy_loss(epsilon, delta)
    query.cascades.check()
    query.check_public()
    for column in query.persons.values():
        Person(column, max_rows=most).warn_of(())
    measured = [
        OfResults(place, one, _ends(form, one)) for place, one in enumerate(form.aggregates)
    ]
    # See *Capping* in "Queries of databases (`sql`)", docs/proofs.md.
    if not one_person_per_result(form):
        raise InputError(
            "plan: a result can refer to several persons, and to keep the first results of each "
            "lets one person move all others; add the columns of persons to the join, or ask for "
            f"the rows of one table alone{types_apart(form)}"
        )
    return Plan(
        source=Results(query, Person(max_rows=most), anew),
        epsilon=loss,
        delta=check_delta.or_none("delta", delta),
        measured=tuple(measured),
        shares=tuple(shares_of(split, [one.name for one in measured])),
    )


def _ends(form: NormalForm, aggregate: Aggregate) -> tuple[Fraction, Fraction]:
    """Return the least and the largest value of a result; raise InputError without bounds."""
    ends = per_result(form, aggregate)
    if ends is None:
        columns = aggregate.value.value_columns - set(form.bounds) if aggregate.value else ()
        open_ = [
            f"{form.source(one.alias).table.name}.{one.name}" for one in sorted(columns, key=str)
        ]
        raise InputError(
            f"plan: {aggregate.name} adds up values without bounds; "
            + (
                f"give public bounds of {names_of(open_)}, such as bounds={{{open_[0]!r}: (1, 50)}}"
                if open_
                else "write it with +, -, *, CASE, COALESCE and CAST alone: value * 0.5 for "
                "value / 2"
            )
        )
    form.check_monotone("plan")
    if max(map(abs, ends)) >= 2**53:
        raise InputError(
            f"plan: bounds of {shown(aggregate.name)} reach {as_text(max(map(abs, ends)))}; give "
            "bounds below 2**53"
        )
    return ends


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
