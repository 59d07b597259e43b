"""What is measured: whole numbers, one or several for each group, that a row changes by a little.

A row of a group changes the numbers of that group alone, and one of them: so the norms of what a
person changes follow from how many rows count, `Person.l1` and `Person.l2_square`. Sums are centred
at mid-range, where a row can move them least: the sensitivity is half of the range for each row,
and not the largest absolute value. See docs/proofs.md, "Releases".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .grid import Grid, as_text
from .person import Person
from .rows import Rows

Numbers = NDArray[np.object_]
"""Whole numbers of any size, shape (groups, numbers of a group)."""


@dataclass(frozen=True)
class Measured(ABC):
    """One kind of number, for each group.

    Attributes
    ----------
    name : str
        In tables.
    numbers : int
        How many numbers a group has.
    most : int
        The most that a row changes the number of its group, in whole units.
    unit : Fraction
        What one stands for.
    """

    numbers: ClassVar[int] = 1

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in tables."""

    @property
    def most(self) -> int:
        """The most that a row changes a number by."""
        return 1

    @property
    def unit(self) -> Fraction:
        """What a whole number counts, in the unit of the answer."""
        return Fraction(1)

    @abstractmethod
    def exact(self, rows: Rows, groups: int) -> Numbers:
        """Return the exact numbers of each group."""

    def l1(self, person: Person, groups: int) -> int:
        """Return the L1 sensitivity, in whole units."""
        return self.most * person.l1(groups)

    def l2_square(self, person: Person, groups: int) -> Fraction:
        """Return the square of the L2 sensitivity, in whole units."""
        return self.most**2 * person.l2_square(groups)


@dataclass(frozen=True)
class RowCount(Measured):
    """The number of rows."""

    @property
    def name(self) -> str:
        """Its name in tables."""
        return "count"

    def exact(self, rows: Rows, groups: int) -> Numbers:
        """Return the number of rows of each group."""
        return _added(rows.group, np.ones(len(rows.group), dtype=np.int64), groups)


@dataclass(frozen=True)
class CentredSum(Measured):
    """The sum of ``2 j - steps`` over the rows: twice the distance from mid-range, in steps."""

    grid: Grid

    @property
    def name(self) -> str:
        """Its name in tables."""
        return f"sum of {self.grid.column}"

    @property
    def most(self) -> int:
        """The distance of either end from the middle."""
        return self.grid.steps

    @property
    def unit(self) -> Fraction:
        """Half a step."""
        return self.grid.step / 2

    def exact(self, rows: Rows, groups: int) -> Numbers:
        """Return the sum of each group."""
        return _added(rows.group, _centred(self.grid, rows), groups)


@dataclass(frozen=True)
class CentredSquares(Measured):
    """The sum of ``2 d^2 - steps^2`` over the rows, with d as in `CentredSum`.

    d^2 is between 0 and steps^2, so this is centred, too. On a fine grid so many of it are one,
    rounded down, that the sums of many rows fit into 64 bits.
    """

    grid: Grid

    @property
    def name(self) -> str:
        """Its name in tables."""
        return f"squares of {self.grid.column}"

    @property
    def most(self) -> int:
        """The distance of either end from the middle."""
        return -(-(self.grid.steps**2) // self.coarse)

    @property
    def unit(self) -> Fraction:
        """Half of the square of half a step, or several of these."""
        return self.grid.step**2 / 8 * self.coarse

    @property
    def coarse(self) -> int:
        """How many of ``2 d^2 - steps^2`` are one."""
        return max(1, self.grid.steps >> 16) ** 2

    def exact(self, rows: Rows, groups: int) -> Numbers:
        """Return the sum of each group."""
        # With 4 steps d is -4, -2, 0, 2 or 4, and 2 d**2 - 16 is 16, -8, -16, -8 or 16.
        squares = 2 * _centred(self.grid, rows) ** 2 - self.grid.steps**2
        return _added(rows.group, squares // self.coarse, groups)


@dataclass(frozen=True)
class Bins(Measured):
    """The number of rows in each bin of a column's values."""

    grid: Grid

    @property
    def name(self) -> str:
        """Its name in tables."""
        return f"histogram of {self.grid.column}"

    @property
    def numbers(self) -> int:  # type: ignore[override]
        """The number of bins."""
        return len(self.grid.starts)

    @property
    def labels(self) -> list[str]:
        """The values of each bin: one, or from one up to but without the next."""
        values = [as_text(self.grid.lower + start * self.grid.step) for start in self.grid.starts]
        if self.grid.is_whole:
            return values
        ends = [*values[1:], as_text(self.grid.upper)]
        last = len(values) - 1
        return [
            f"{low} to {'' if place == last else 'below '}{high}"
            for place, (low, high) in enumerate(zip(values, ends, strict=True))
        ]

    def exact(self, rows: Rows, groups: int) -> Numbers:
        """Return the number of rows of each group in each bin."""
        places = rows.places[self.grid.column]
        # A bin begins at its start: the last start that is not above a place is that of its bin.
        whole = self.grid.is_whole
        bins = places if whole else np.searchsorted(self.grid.starts, places, side="right") - 1
        # A cell for each group and bin, group by group: bincount fills all of them in one pass.
        cells = rows.group * self.numbers + bins
        ones = np.ones(len(cells), dtype=np.int64)
        return _added(cells, ones, groups * self.numbers).reshape(groups, self.numbers)


def _centred(grid: Grid, rows: Rows) -> NDArray[np.int64]:
    """Return how far each row is from mid-range, in half steps: from -steps to steps."""
    return 2 * rows.places[grid.column] - grid.steps


def _added(group: NDArray[np.int64], amounts: NDArray[np.int64], groups: int) -> Numbers:
    """Add up whole numbers below 2**53 by group, exactly, shape (groups, 1).

    Two halves of 28 bits are added up on their own, as floats: 2**24 of them stay below 2**53.
    """
    total: Numbers = np.zeros((groups, 1), dtype=object)
    for start in range(0, len(group), 1 << 24):
        some = slice(start, start + (1 << 24))
        # n = 2**28 h + l with 0 <= l < 2**28, also for n below 0: >> rounds down.
        for shift, part in ((28, amounts[some] >> 28), (0, amounts[some] & (1 << 28) - 1)):
            if part.any():
                added = np.bincount(group[some], weights=part, minlength=groups).astype(np.int64)
                total[:, 0] += added.astype(object) << shift
    return total
