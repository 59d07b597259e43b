"""What a plan measures: a table by groups, or whatever else has measured numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import pandas as pd

from sensitivity_lab.checks import names_of
from sensitivity_lab.errors import InputError

from .grid import Grid
from .measurements import Bins, Measured, Numbers
from .opendp_noise import Noise
from .person import Person
from .published import Checked
from .rows import Rows, Tally, rows_of
from .statistics import Statistic, Sums, computed, plain

Computed = tuple[pd.DataFrame, Mapping[str, Bins]]
"""The statistics by group with their intervals, and the bins of each histogram by its name."""

LOW, HIGH = "_low", "_high"
"""What the names of an interval's ends end in."""


@dataclass(frozen=True, eq=False)
class Exact:
    """The exact numbers of some data.

    Attributes
    ----------
    numbers : dict of Measured to ndarray
        What is measured.
    statistics : DataFrame or None
        The statistics of the rows themselves, as pandas computes them; None if only what is
        measured is known.
    tally : Tally or None
        Which rows count, of a table.
    """

    numbers: Mapping[Measured, Numbers]
    statistics: pd.DataFrame | None = None
    tally: Tally | None = None


class Source(Protocol):
    """What a plan measures."""

    @property
    def person(self) -> Person:
        """Who joins or leaves, and in how many rows."""

    @property
    def index(self) -> pd.Index[Any]:
        """The groups of measured numbers."""

    @property
    def takes_table(self) -> bool:
        """Whether it has no data of its own."""

    def exact(self, measured: Sequence[Measured], table: Any, *, limited: bool = True) -> Exact:
        """Return the exact numbers, of all rows or of those within the limit of each person."""

    @property
    def about(self) -> str:
        """Whose rows it rests on, for a ledger."""

    @property
    def intervals(self) -> list[str]:
        """The columns of `computed` that are ends of intervals."""

    @property
    def said(self) -> list[tuple[str, str]]:
        """Return what to say of noisy numbers."""

    def within_bounds(self, table: Any) -> pd.DataFrame:
        """Return the statistics of the rows that count, with numbers that are on their grids."""

    def check(self, table: Any) -> Checked:
        """Tell which rows count, and why others do not."""

    def computed(self, sums: Sums) -> Computed:
        """Return what follows from numbers, with noise or without."""

    def facts(self, noise: Mapping[Measured, Noise]) -> list[tuple[str, str]]:
        """Return what everybody may know."""

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python objects."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table of which each row is in one group.

    Attributes
    ----------
    person : Person
    grids : dict of str to Grid
        By column, the values that count.
    keys : dict of str to tuple of str
        By column, the public groups.
    statistics : dict of str to Statistic
        What is published, by name.
    decimal : str or None
        The mark of decimals in texts.
    """

    person: Person
    grids: Mapping[str, Grid]
    keys: Mapping[str, Sequence[str]]
    statistics: Mapping[str, Statistic]
    decimal: str | None = None

    @cached_property
    def index(self) -> pd.Index[Any]:
        """The groups, in the order of what is published."""
        if not self.keys:
            return pd.Index(["all rows"])
        if len(self.keys) == 1:
            ((column, names),) = self.keys.items()
            return pd.Index(names, name=column)
        return pd.MultiIndex.from_product(list(self.keys.values()), names=list(self.keys))

    takes_table: ClassVar[bool] = True

    def read(self, table: Any, *, limited: bool = True, told: bool = False) -> Rows:
        """Read a table, and return the rows that count."""
        if table is None:
            raise InputError("give the table: a DataFrame, or the path of a CSV or a Parquet file")
        options = {"limited": limited, "told": told}
        return rows_of(table, self.person, self.keys, self.grids, self.decimal, **options)

    def exact(self, measured: Sequence[Measured], table: Any, *, limited: bool = True) -> Exact:
        """Read a table, and return the exact numbers of the rows that count."""
        rows, groups = self.read(table, limited=limited), len(self.index)
        # What pandas makes of the rows themselves, for `without_noise`; `numbers` is what gets
        # noise.
        found = self._plain(rows, rows.values)
        return Exact({one: one.exact(rows, groups) for one in measured}, found, rows.tally)

    def _plain(self, rows: Rows, values: Mapping[str, Any]) -> pd.DataFrame:
        found = {
            name: plain(one, values, rows.group, len(self.index))
            for name, one in self.statistics.items()
            if one.kind != "histogram"
        }
        return pd.DataFrame(found, index=self.index)

    def within_bounds(self, table: Any) -> pd.DataFrame:
        """Return the statistics of the rows that count, with numbers that are on their grids."""
        rows = self.read(table)
        return self._plain(
            rows,
            {
                column: float(grid.lower) + rows.places[column] * float(grid.step)
                for column, grid in self.grids.items()
            },
        )

    def check(self, table: Any) -> Checked:
        """Tell which rows count, and why others do not."""
        rows = self.read(table, told=True)
        number = np.bincount(rows.group, minlength=len(self.index))
        return Checked(rows.tally, pd.Series(number, self.index), self.person)

    @property
    def about(self) -> str:
        """The column of people."""
        return f"the people of {self.person.column}" if self.person.column else "people"

    @property
    def intervals(self) -> list[str]:
        """The ends of the intervals of all statistics but histograms."""
        names = [name for name, one in self.statistics.items() if one.kind != "histogram"]
        return [f"{name}{end}" for name in names for end in (LOW, HIGH)]

    @property
    def said(self) -> list[tuple[str, str]]:
        """Return what to say of noisy numbers."""
        return [
            (
                "noise",
                "counts and sums can be negative. NAME_low to NAME_high holds the number of the "
                "rows that count in 90 of 100 releases; a number is empty where that is as wide as "
                "its bounds",
            )
        ]

    def computed(self, sums: Sums) -> Computed:
        """Return the statistics that follow."""
        found: dict[str, Any] = {}
        histograms = {}
        for name, one in self.statistics.items():
            if one.kind == "histogram":
                histograms[name] = Bins(self.grids[one.column])  # type: ignore[index]
            else:
                number, low, high = computed(one, self.grids, sums)
                found |= {name: number, f"{name}{LOW}": low, f"{name}{HIGH}": high}
        return pd.DataFrame(found, index=self.index), histograms

    def facts(self, noise: Mapping[Measured, Noise]) -> list[tuple[str, str]]:
        """Return what everybody may know."""
        limit = (
            "rows beyond the limit are dropped, chosen by a hash, so that counts and sums are too "
            "low by them"
        )
        trusted = "nothing limits the rows of a person but the design of the data"
        groups = [f"{column} {names_of(names, str)}" for column, names in self.keys.items()]
        values = [f"{grid}; others count as the nearest" for grid in self.grids.values()]
        then = [
            name if name in (one.word, str(one)) else f"{name} ({one})"
            for name, one in self.statistics.items()
        ]
        follows = f"{', '.join(then)}: without further loss"
        dropped = "a row with a missing or an unreadable cell is dropped"
        return [
            ("person", f"{self.person}; the number of rows is private"),
            ("follows", follows),
            ("rows", f"{limit if self.person.column else trusted}; {dropped}"),
            ("public", "; ".join([*groups, *values, "this plan"])),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain Python objects, numbers as texts."""
        return {
            "person": vars(self.person),
            "bounds": {name: [str(of.lower), str(of.upper)] for name, of in self.grids.items()},
            "step": {name: str(of.step) for name, of in self.grids.items()},
            "bins": {
                name: [str(of.lower + start * of.step) for start in of.starts]
                for name, of in self.grids.items()
            },
            "groupby": {column: list(names) for column, names in self.keys.items()},
            "decimal": self.decimal,
            "agg": {
                name: one.word if one.column is None else [one.column, one.word]
                for name, one in self.statistics.items()
            },
        }
