"""The published bounds on rows, beside the exact number."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from sensitivity_lab.checks import (
    check_positive,
    check_whole,
    named,
    names_of,
    number_text,
    rounded_up,
)
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.exact.difference import round_up
from sensitivity_lab.results.reprs import Facts

from .answers import aggregate_of
from .database import Session
from .elastic import Elastic
from .normal_form import NormalForm
from .residual import Residual
from .result import PRIVATE, DatabaseSensitivity
from .value_ranges import per_result


class AskedQuery(Protocol):
    """What a bound asks of a query: its form, its data, and the exact numbers for rows."""

    @property
    def form(self) -> NormalForm:
        """The query as a product of tables."""

    def session(self) -> AbstractContextManager[Session]:
        """Open a transaction, as `ReadQuery.session`."""

    def local_sensitivity(
        self,
        k: int = ...,
        *,
        unit: str = ...,
        change: str = ...,
        norm: str = ...,
        aggregate: str | None = ...,
        table: str | None = ...,
    ) -> DatabaseSensitivity:
        """Return how far the answer moves, as `Query.local_sensitivity`."""


@dataclass(frozen=True, repr=False)
class RowBound(Facts):
    """A published bound on what one row changes, beside what one row changes here, exactly.

    Both are for databases that differ in one row of a private table, added or removed, and for the
    L1 norm over groups, which is no smaller than the other norms. They depend on the data, so they
    are private.

    Attributes
    ----------
    name : {"elastic", "residual"}
        Which bound.
    aggregate : str
        The number that is bounded.
    tables : tuple of str
        The tables whose rows are added and removed.
    upper : float
        The bound, rounded up: at distance `k`, or the smooth one.
    k : int or None
        The bound is on the local sensitivity of every database at most k rows away.
    beta : Fraction or None
        The bound is the largest one at any distance k, times exp(-beta k).
    largest_value : Fraction
        The largest absolute value that a result adds; 1 for a count. It is a factor of the bound.
    removal, addition : DatabaseSensitivity or None
        What removing, and adding, one row can change here; None if that is refused.
    refused : tuple of str
        Why a number is missing.

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
    >>> query.elastic().upper
    1.0
    """

    name: str
    aggregate: str
    tables: tuple[str, ...]
    upper: float
    k: int | None
    beta: Fraction | None
    largest_value: Fraction
    removal: DatabaseSensitivity | None
    addition: DatabaseSensitivity | None
    refused: tuple[str, ...] = ()

    @property
    def exact(self) -> float | None:
        """The most that one row changes, removed or added; None if either number is missing."""
        known = [one.value for one in (self.removal, self.addition) if one is not None]
        return max(known) if len(known) == 2 else None

    @property
    def ratio(self) -> float | None:
        """How many times the exact number the bound is; None if that is missing or 0."""
        return self.upper / self.exact if self.exact else None

    @property
    def _title(self) -> str:
        at = f"at distance {self.k}" if self.beta is None else f"beta {number_text(self.beta)}"
        return (
            f"{self.name.capitalize()} sensitivity of {named(self.aggregate)}, {at}: "
            f"{rounded_up(self.upper)} (an upper bound, private)"
        )

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        exact = "missing: " + "; ".join(self.refused)
        if self.exact is not None and self.removal is not None and self.addition is not None:
            exact = (
                f"{self.exact:.10g} at distance 0: {self.removal.value:.10g} by removing a row, "
                f"{self.addition.value:.10g} by adding one"
            )
        ratio = "" if self.ratio is None else f"the bound is {self.ratio:.3g} times as large"
        return [
            ("neighbors", f"1 row added to, or removed from, {names_of(self.tables, named)}"),
            ("exact", exact),
            *([("ratio", ratio)] if ratio else []),
            ("private", PRIVATE),
        ]


def elastic_bound(query: AskedQuery, k: Any, aggregate: Any) -> RowBound:
    """Return elastic sensitivity at a distance; see `Query.elastic`."""
    distance = check_whole("k", k, "a number of rows, at least 0", least=0)
    form, name, factor = _asked(query, aggregate, "elastic")
    with query.session() as session:
        stability = Elastic(form, _private(form), session.rows).stability(distance)
    return _beside_exact(query, "elastic", name, factor, stability * factor, k=distance)


def residual_bound(query: AskedQuery, beta: Any, aggregate: Any) -> RowBound:
    """Return residual sensitivity; see `Query.residual`."""
    rate = None if beta is None else check_positive("beta", beta)
    form, name, factor = _asked(query, aggregate, "residual")
    with query.session() as session:
        residual = Residual(form, _private(form), session.rows)
        if rate is None:
            return _beside_exact(query, "residual", name, factor, residual.at(0) * factor, k=0)
        smooth = residual.smooth(rate)
    # The factor is exact, and the damped number is rounded up before it.
    upper = Fraction(smooth.upper()) * factor
    return _beside_exact(query, "residual", name, factor, upper, beta=rate)


def _private(form: NormalForm) -> set[str]:
    return {source.table.sql for source in form.private}


def _asked(query: AskedQuery, aggregate: Any, what: str) -> tuple[NormalForm, str, Fraction]:
    """Return the query, the name of the aggregate, and the most that one result adds to it."""
    form = query.form
    chosen = form.aggregates[aggregate_of(form, aggregate)]
    if any(source.left is not None for source in form.sources):
        raise InputError(
            f"{what}: the bound is proved for inner joins, and the query has a LEFT JOIN; write it "
            "as an inner join, or use local_sensitivity"
        )
    ends = per_result(form, chosen)
    if ends is None:
        raise InputError(
            f"{what}: {chosen.name} adds up values without bounds; give bounds for each column in "
            "it, such as bounds={'lineitem.quantity': (1, 50)}, and write it with +, - and * "
            "alone: value * 0.5 for value / 2"
        )
    return form, chosen.name, max(map(abs, ends))


def _beside_exact(
    query: AskedQuery,
    name: str,
    aggregate: str,
    factor: Fraction,
    upper: Fraction,
    *,
    k: int | None = None,
    beta: Fraction | None = None,
) -> RowBound:
    """Return a bound with the exact numbers for one row."""
    tables = tuple(dict.fromkeys(source.table.name for source in query.form.private))
    refused: list[str] = []

    def worst(*asked: dict[str, Any]) -> DatabaseSensitivity | None:
        """Return the largest of some local sensitivities, or None if one is refused."""
        try:
            found = [
                query.local_sensitivity(1, unit="row", aggregate=aggregate, **one) for one in asked
            ]
        except (InputError, TooLargeError) as error:
            refused.append(str(error))
            return None
        return max(found, key=lambda one: one.upper)

    removal = worst({"change": "remove"})
    addition = worst(*({"change": "add", "table": table} for table in tables))
    return RowBound(
        name,
        aggregate,
        tables,
        round_up(upper),
        k,
        beta,
        factor,
        removal,
        addition,
        tuple(refused),
    )
