"""What a plan measures: a table by groups, or whatever else has measured numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import pandas as pd

from sensitivity_lab.checks import names_of
from sensitivity_lab.errors import InputError

from .grid import Grid
from .measurements import Bins, Measured, Numbers, RowCount
from .opendp_noise import Noise
from .person import Person
from .rows import rows_of
from .statistics import Statistic, Sums, computed

Computed = tuple[pd.DataFrame, Mapping[str, Bins]]
"""The statistics by group, and the bins of each histogram by its name."""


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

    def exact(
        self, measured: Sequence[Measured], table: Any, *, limited: bool = True
    ) -> Mapping[Measured, Numbers]:
        """Return the exact numbers, of all rows or of those within the limit of each person."""

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
    """

    person: Person
    grids: Mapping[str, Grid]
    keys: Mapping[str, Sequence[str]]
    statistics: Mapping[str, Statistic]

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

    def exact(
        self, measured: Sequence[Measured], table: Any, *, limited: bool = True
    ) -> Mapping[Measured, Numbers]:
        """Read a table, and return the exact numbers of the rows that count."""
        if table is None:
            raise InputError("give the table: a DataFrame, or the path of a CSV or a Parquet file")
        rows = rows_of(table, self.person, self.keys, self.grids, limited=limited)
        return {one: one.exact(rows, len(self.index)) for one in measured}

    def computed(self, sums: Sums) -> Computed:
        """Return the statistics that follow."""
        found, histograms = {}, {}
        for name, one in self.statistics.items():
            if one.kind == "histogram":
                histograms[name] = Bins(self.grids[one.column])  # type: ignore[index]
            else:
                found[name] = computed(one, self.grids, sums)
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
        # A number of rows that adds up bins has the noise of all of them.
        counts = [name for name, one in self.statistics.items() if one.kind == "count"]
        bins = [one for one in noise if isinstance(one, Bins)]
        if counts and bins and RowCount() not in noise:
            error = noise[bins[0]].error_of_total(bins[0].numbers)
            adds = "adds up bins" if len(counts) == 1 else "add up bins"
            follows += f"; {names_of(counts, str)} {adds}, with an error of about {error:.3g}"
        dropped = "a row with a missing cell is dropped"
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
            "agg": {
                name: one.word if one.column is None else [one.column, one.word]
                for name, one in self.statistics.items()
            },
        }
