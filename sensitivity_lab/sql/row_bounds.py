"""The published bound on rows, beside the exact number."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from sensitivity_lab.checks import (
    check_positive,
    named,
    names_of,
    number_text,
    rounded_up,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import round_up
from sensitivity_lab.results.reprs import Facts

from .answers import aggregate_of
from .database import Session
from .normal_form import NormalForm
from .residual import Residual
from .result import PRIVATE, DatabaseSensitivity
from .truncation import check_cuttable


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
        norm: str = ...,
        aggregate: str | None = ...,
    ) -> DatabaseSensitivity:
        """Return how far the answer moves, as `Query.local_sensitivity`."""


@dataclass(frozen=True, repr=False)
class RowBound(Facts):
    """Residual sensitivity: a bound on what one row changes, beside what removing one changes here.

    It is for databases that differ in one row of a private table, added or removed, and for the L1
    norm over groups, which is no smaller than the other norms. It depends on the data, so it is
    private.

    Attributes
    ----------
    aggregate : str
        The number that is bounded.
    tables : tuple of str
        The tables whose rows are added and removed.
    upper : float
        The bound, rounded up: at distance 0, or the smooth one.
    beta : Fraction or None
        The bound is the largest one at any distance k, times exp(-beta k).
    largest_value : Fraction
        The largest absolute value that a result adds; 1 for a count. It is a factor of the bound.
    removal : DatabaseSensitivity
        What removing one row changes here, exactly; adding one is in the bound alone.

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
    >>> query.residual().upper
    1.0
    """

    aggregate: str
    tables: tuple[str, ...]
    upper: float
    beta: Fraction | None
    largest_value: Fraction
    removal: DatabaseSensitivity

    @property
    def _title(self) -> str:
        at = "at distance 0" if self.beta is None else f"beta {number_text(self.beta)}"
        return (
            f"Residual sensitivity of {named(self.aggregate)}, {at}: {rounded_up(self.upper)} (an "
            "upper bound, private)"
        )

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        return [
            ("neighbors", f"1 row added to, or removed from, {names_of(self.tables, named)}"),
            ("exact", f"{self.removal.value:.10g} by removing a row, at distance 0"),
            ("private", PRIVATE),
        ]


def residual_bound(query: AskedQuery, beta: Any, aggregate: Any) -> RowBound:
    """Return residual sensitivity; see `Query.residual`."""
    rate = None if beta is None else check_positive("beta", beta)
    form, name, factor = _asked(query, aggregate)
    with query.session() as session:
        residual = Residual(form, _private(form), session.rows)
        # The factor is exact, and a damped number is rounded up before it.
        bound = residual.at(0) if rate is None else Fraction(residual.smooth(rate).upper())
    return RowBound(
        name,
        tuple(dict.fromkeys(source.table.name for source in form.private)),
        round_up(bound * factor),
        rate,
        factor,
        query.local_sensitivity(1, unit="row", aggregate=name),
    )


def _private(form: NormalForm) -> set[str]:
    return {source.table.sql for source in form.private}


def _asked(query: AskedQuery, aggregate: Any) -> tuple[NormalForm, str, Fraction]:
    """Return the query, the name of the aggregate, and the most that one result adds to it."""
    form = query.form
    chosen = form.aggregates[aggregate_of(form, aggregate)]
    if any(source.left is not None for source in form.sources):
        raise InputError(
            "residual: the bound is proved for inner joins, and the query has a LEFT JOIN; write "
            "it as an inner join, or use local_sensitivity"
        )
    ends = check_cuttable(form, chosen, "residual")
    return form, chosen.name, max(map(abs, ends))
