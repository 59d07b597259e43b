"""What each person contributes to the answer: what would vanish with all of the person's rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.checks import check_whole, named, names_of
from sensitivity_lab.results.reprs import Facts

from .clipping import clipped_text
from .database import Session
from .impacts import make_impacts, persons_in
from .normal_form import NormalForm
from .read_query import ReadQuery

PRIVATE = "it depends on the data: neither publish it nor scale noise to it"

_SHARES = (0.5, 0.9, 0.99, 0.999, 1.0)
"""The quantiles of a distribution."""

_PLAIN = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "VARCHAR")
"""Types of persons that come as arrays without a loss."""


@dataclass(frozen=True, repr=False)
class Contributions(Facts):
    """What would vanish from the answer with all rows of each person, exactly.

    It depends on the data, so it is private.

    Attributes
    ----------
    query : ReadQuery
        The query.
    persons : ndarray, shape (n,)
        Persons, one per row of the frame; a person is in one row per group that would change.
    places : ndarray of int, shape (n,)
        The groups, as places in the query's public keys.
    values : tuple of ndarrays, shape (n,)
        What vanishes from each aggregate, times its denominator: whole numbers.
    denominators : tuple of int
        Of each aggregate.
    everyone : int
        How many persons there are in the private tables, with those who contribute nothing.

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
    >>> query.contributions().to_frame()[["person", "visits"]].values.tolist()
    [[1, 3], [2, 1]]
    """

    query: ReadQuery
    persons: Any
    places: Any
    values: tuple[Any, ...]
    denominators: tuple[int, ...]
    everyone: int

    @property
    def names(self) -> list[str]:
        """The names of the aggregates."""
        return [one.name for one in self.query.form.aggregates]

    def to_frame(self) -> pd.DataFrame:
        """Return the contributions as a frame, with the persons.

        Returns
        -------
        pandas.DataFrame
            A row per person and group, those with the most of the first aggregate first, equal ones
            by person: `person`, the keys of GROUP BY, and a column per aggregate. Persons without
            results have no row.
        """
        form = self.query.form
        columns: dict[Any, Any] = {"person": self.persons}
        for place, group in enumerate(form.groups):
            keys = np.array([key[place] for key in form.keys] + [None], dtype=object)[:-1]
            columns[group.name] = keys[self.places]
        for name, value, below in zip(self.names, self.values, self.denominators, strict=True):
            columns[name] = _divided(value, below)
        frame = pd.DataFrame(columns)
        # Two stable sorts: by person first, then by size, so that equal sizes stay in order of
        # persons.
        order = frame.sort_values("person", kind="stable")[self.names[0]].abs()
        order = order.sort_values(ascending=False, kind="stable")
        return frame.loc[order.index].reset_index(drop=True)

    def of_persons(self) -> pd.DataFrame:
        """Return each person's sum of absolute contributions over the groups (L1).

        Returns
        -------
        pandas.DataFrame
            A row per person with results, the largest of the first aggregate first: `person`, and a
            column per aggregate.
        """
        codes, persons = pd.factorize(self.persons)
        columns: dict[Any, Any] = {"person": persons}
        for name, value, below in zip(self.names, self.values, self.denominators, strict=True):
            # L1: absolute values are added up, as contributions to two groups can have two signs.
            sizes = pd.Series(abs(value)).groupby(codes).sum().to_numpy()
            columns[name] = _divided(sizes, below)
        frame = pd.DataFrame(columns).sort_values("person", kind="stable")
        return frame.sort_values(self.names[0], ascending=False, kind="stable", ignore_index=True)

    def top(self, number: int = 10) -> pd.DataFrame:
        """Return the persons who contribute the most to the first aggregate.

        Parameters
        ----------
        number : int, default 10
            How many.

        Returns
        -------
        pandas.DataFrame
            As `of_persons`.
        """
        most = check_whole("number", number, "a number of persons, at least 1")
        return self.of_persons().head(min(most, self.everyone))

    def distribution(self) -> pd.DataFrame:
        """Return how the contributions are distributed over all persons, those of 0 included.

        Returns
        -------
        pandas.DataFrame
            A row per aggregate. ``50%`` to ``99.9%`` is the smallest number that at least this
            share of the persons do not exceed, in absolute value and over all groups (L1);
            ``largest`` is that of all.
        """
        sizes, number, rows = self.of_persons(), max(self.everyone, 1), []
        for name in self.names:
            ascending = np.sort(sizes[name].to_numpy())
            # Persons without results are zeros before the sorted sizes.
            every = np.append(np.zeros(number - len(ascending), ascending.dtype), ascending)
            rows.append([every[int(np.ceil(share * number)) - 1] for share in _SHARES])
        labels = [*(f"{share:.4g}%" for share in (50, 90, 99, 99.9)), "largest"]
        return pd.DataFrame(rows, index=self.names, columns=labels)

    @property
    def _title(self) -> str:
        return f"Contributions of {self.everyone:,} persons to {names_of(self.names, named)}"

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order: persons are shown only on demand."""
        tables = list(dict.fromkeys(one.table.name for one in self.query.form.private))
        joined = self.query.cascades.joined
        kept = [
            one.table.name
            for one in self.query.form.sources
            if one.person is None and one.table.name not in joined
        ]
        removed = f"with a person: all of their rows in {names_of(tables, named)}"
        if joined:
            removed += f"; with those, the rows of {names_of(joined, named)} that refer to them"
        facts = [
            ("private", PRIVATE),
            ("removed", removed),
            ("kept", names_of(list(dict.fromkeys(kept)), named)),
        ]
        clipped = clipped_text(self.query.form, self.query.form.aggregates)
        if clipped:
            facts.append(("clipped", clipped))
        sizes = self.of_persons()
        table = self.distribution()
        for name in self.names:
            row = table.loc[name]
            told = ", ".join(f"{label} {row[label]:.6g}" for label in table.columns)
            facts.append((named(name), told))
        show = self.query.show_person
        if show is not None and len(sizes):
            first = [named(show(one)) for one in sizes["person"].head(3)]
            facts.append(("largest", ", ".join(first)))
        return facts


def contributions_of(query: ReadQuery) -> Contributions:
    """Return the contributions of all persons."""
    form = query.form
    form.check_monotone("contributions")
    query.cascades.check()
    with query.session() as session:
        number = persons_in(form, session)
        names = [f"lost{place}" for place in range(len(form.aggregates))]
        # Counts fit into 64 bits; sums may not.
        wide = [f"lost{i}" for i, one in enumerate(form.aggregates) if one.kind == "sum"]
        impacts = make_impacts(form, session, once=not wide)
        persons, places, values = _person_columns(form, impacts.relation, names, wide, session)
        weighings = impacts.weighings
    below = tuple(one.denominator for one in weighings)
    return Contributions(query, persons, places, values, below, number)


def _person_columns(
    form: NormalForm,
    relation: str,
    names: Sequence[str],
    wide: Sequence[str],
    session: Session,
) -> tuple[Any, Any, tuple[Any, ...]]:
    """Return the columns of impacts without a loss: as arrays of 64 bits where they fit."""
    types = form.person_types
    too_wide = False
    if wide:
        # Absolute sums over all groups of a person stay within int64.
        most = (2**63 - 1) // len(form.keys)  # sums over the groups have to fit, too
        any_of = " OR ".join(f"ABS({name}) > {most}" for name in wide)
        [(too_wide,)] = session.rows(f"SELECT COALESCE(BOOL_OR({any_of}), FALSE) FROM {relation}")
    if too_wide or len(types) > 1 or not types <= set(_PLAIN):
        rows = session.rows(f"SELECT person, place, {', '.join(names)} FROM {relation}")
        columns = list(zip(*rows, strict=True)) if rows else [()] * (2 + len(names))
        persons = np.empty(len(rows), dtype=object)
        persons[:] = columns[0]
        values = tuple(np.array([int(one) for one in of], dtype=object) for of in columns[2:])
        return persons, np.array(columns[1], dtype=np.int64), values
    casts = ", ".join(f"CAST({name} AS BIGINT) AS {name}" for name in names)
    found = session.arrays(f"SELECT person, place, {casts} FROM {relation}")
    arrays = {name: np.asarray(value) for name, value in found.items()}
    return arrays["person"], arrays["place"].astype(np.int64), tuple(arrays[one] for one in names)


def _divided(values: Any, below: int) -> Any:
    """Return whole numbers over a denominator: ints where it is 1, else the nearest floats."""
    if below == 1:
        # Python ints that fit become an array of int64, as counts are.
        if values.dtype == object and all(abs(int(one)) < 2**63 for one in values):
            return values.astype(np.int64)
        return values
    return np.array([float(Fraction(int(one), below)) for one in values], dtype=float)
