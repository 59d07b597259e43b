"""Which changes of one dataset can move an end of the variance: bounds on all of them at once.

y = x - A + B keeps some records of x and adds some of those outside it. About a number M its sum of
squares is one of x and one of the records outside, each for itself. So a few numbers M bound the
largest and the smallest variance of every change. See "Local sensitivity: variance and standard
deviation" in docs/proofs.md, *Which changes matter*. In all arrays the row is a change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.search.layouts import Positions, SortedMultiset, first_of
from sensitivity_lab.universes.relations import repeated

Floats = NDArray[np.float64]

ROWS = 1 << 12
"""So many changes are looked at at a time."""

NUMBERS = 16
"""How many numbers M are evenly spaced to begin with, and how many follow the records."""

CELLS = 1 << 18
"""The most intervals of M that are halved at a time; with more, the bounds stay as they are."""

HALVINGS = 8
"""How often an interval of M is halved; more halvings take longer than the searches they save."""


BYTES_OF_VALUE = 200
"""What a distinct value takes as a float, with sums and places, in x and outside it."""


def bytes_of_rows(rows: int) -> int:
    """Return what bounds on so many changes take: what is found, and some at a time."""
    return 400 * rows + min(rows, ROWS) * 2 * NUMBERS * 160


class Sums(NamedTuple):
    """The sums of records and of their squares."""

    total: Floats
    squares: Floats

    def and_(self, other: Sums, sign: int = 1) -> Sums:
        """Those of two parts together, or of what one has more than another."""
        return Sums(self.total + sign * other.total, self.squares + sign * other.squares)


class Part:
    """Records as floats: those of x, or those outside it; `scale` becomes 1."""

    def __init__(self, records: SortedMultiset, scale: int) -> None:
        held = np.flatnonzero(records.counts)
        counts, values = records.counts[held], records.values[held]
        self.values = np.array([value / scale for value in values.tolist()], dtype=np.float64)
        self.bounds = np.concatenate([[0], np.cumsum(counts)])
        self.size = int(self.bounds[-1])
        powers = (self.values.astype(np.longdouble) ** power * counts for power in (1, 2))
        self.before = [np.concatenate([[0], np.cumsum(of)]).astype(np.float64) for of in powers]
        self.all = self._to(np.array(self.size))

    def nearest(self, number: Positions, center: Floats) -> Sums:
        """The sums of so many records, those nearest to a center: a window."""
        # The window from `low` on is nearest where its first record and the one after its last have
        # a sum of at least 2 M. That sum does not fall with the place.
        high = np.broadcast_arrays(self.size - number, center)[0]
        low = first_of(
            np.zeros_like(high),
            high,
            lambda place: self._record(place) + self._record(place + number) >= 2 * center,
        )
        return self._to(low + number).and_(self._to(low), -1)

    def chosen(self, number: Positions, center: Floats, sign: int) -> Sums:
        """The sums of so many records, those furthest from a center (1) or nearest to it (-1)."""
        if sign < 0:
            return self.nearest(number, center)
        # The furthest records are all but the nearest others.
        return self.all.and_(self.nearest(self.size - number, center), -1)

    def _place(self, positions: Positions) -> Positions:
        found: Positions = self.bounds[1:].searchsorted(positions, side="right")
        return found

    def _record(self, positions: Positions) -> Floats:
        found: Floats = self.values.take(self._place(positions), mode="clip")
        return found

    def _to(self, positions: Positions) -> Sums:
        """The sums of all records before a position."""
        places = self._place(positions)
        inside = positions - self.bounds[places]
        values = self.values.take(places, mode="clip") if self.size else np.zeros(places.shape)
        return Sums(
            self.before[0][places] + inside * values, self.before[1][places] + inside * values**2
        )


class Contender(NamedTuple):
    """A change that may move an end; `bound` is how far, as a variance of scaled records."""

    row: int
    bound: float


class ChangeBounds:
    """Bounds on the ends of changes.

    Parameters
    ----------
    inside, outside : SortedMultiset
        The records of x, and those outside it; not the same number everywhere.
    changes : array of int64, shape (rows, 2)
        How many records are removed, and how many added.
    free : array of float, shape (rows,)
        What the squared deviations of y are divided by: its size less the ddof.
    level : array of int64, shape (rows,)
        Ascending: a change matters where it moves an end further than all of its and lower levels.
    scale : int
        The largest absolute value of a record.
    """

    def __init__(
        self,
        inside: SortedMultiset,
        outside: SortedMultiset,
        changes: Positions,
        free: Floats,
        level: Positions,
        scale: int,
    ) -> None:
        self.inside, self.outside = Part(inside, scale), Part(outside, scale)
        self.changes, self.free, self.level = changes, free, level
        self.sizes = self.inside.size - changes[:, 0] + changes[:, 1]
        everything = np.sort(np.concatenate([self.inside.values, self.outside.values]))
        even = np.linspace(everything[0], everything[-1], NUMBERS)
        among = everything[np.linspace(0, len(everything) - 1, NUMBERS).astype(np.int64)]
        self.centers = np.unique(np.concatenate([even, among]))
        # "Local sensitivity: variance and standard deviation", *Rounding*.
        records = self.inside.size + int(changes[:, 1].max())
        records = max(records, self.inside.size + self.outside.size)
        long = float(np.finfo(np.longdouble).eps)
        self.error = records * (256 * 2.0**-53 + 32 * len(everything) * long)

    def contenders(self, sign: int) -> Iterator[list[Contender]]:
        """Yield for every level the changes that may move the upper (1) or lower (-1) end.

        The furthest bound comes first. The variances of the lower end are negative, so that an end
        moves where a number rises.
        """
        found: list[list[Contender]] = [[] for _ in range(int(self.level[-1]) + 1)]
        floor = -np.inf
        for start in range(0, len(self.level), ROWS):
            rows = np.arange(start, min(start + ROWS, len(self.level)))
            chosen, bound, floor = (self._largest if sign > 0 else self._smallest)(rows, floor)
            for row, most in zip(chosen.tolist(), bound.tolist(), strict=True):
                found[self.level[row]].append(Contender(row, most))
        for of_level in found:
            yield sorted(of_level, key=lambda one: -one.bound)

    def _rated(self, rows: Positions, deviations: Floats, up: int) -> Floats:
        """Variances, or negative ones, rounded up (1) or down (-1)."""
        found: Floats = (deviations + up * self.error) / self.free[rows]
        return found + up * 2.0**-50 * np.abs(found)

    def _floors(self, rows: Positions, reached: Floats, floor: float) -> Floats:
        """What is reached at the level of each row, or below; `reached` is of single changes."""
        level = self.level[rows]
        most = np.full(int(level[-1] - level[0]) + 1, -np.inf)
        np.maximum.at(most, level - level[0], reached)
        found: Floats = np.maximum(np.maximum.accumulate(most), floor)[level - level[0]]
        return found

    def _table(self, rows: Positions, sign: int) -> Sums:
        """The sums of y for every change (axis 0) and each of the first centers (axis 1)."""
        total = np.zeros((len(rows), len(self.centers)))
        found = Sums(total, total)
        numbers = (self.inside.size - self.changes[rows, 0], self.changes[rows, 1])
        for part, number in zip((self.inside, self.outside), numbers, strict=True):
            distinct, place = np.unique(number, return_inverse=True)
            sums = part.chosen(distinct[:, None], self.centers[None, :], sign)
            found = found.and_(Sums(*(column[place] for column in sums)))
        return found

    def _at(self, rows: Positions, center: Floats, sign: int) -> tuple[Floats, Floats]:
        """The sum of squares of y about a center, and its sum less that of equal records there."""
        # The records from x and those from outside are chosen each for itself, about the same M.
        kept, added = self.inside.size - self.changes[rows, 0], self.changes[rows, 1]
        sums = self.inside.chosen(kept, center, sign)
        return self._about(rows, sums.and_(self.outside.chosen(added, center, sign)), center)

    def _about(self, rows: Positions, sums: Sums, center: Floats) -> tuple[Floats, Floats]:
        size = self.sizes[rows]
        size = size[:, None] if sums.total.ndim > 1 else size
        about = sums.squares - center * (2 * sums.total - size * center)
        return about, sums.total - size * center

    def _largest(self, rows: Positions, floor: float) -> tuple[Positions, Floats, float]:
        """The changes of which the largest variance may be the largest, with bounds on it.

        The sum of squares about M bounds D, and is convex in M, with the slope -2 `over`.
        """
        about, over = self._about(rows, self._table(rows, 1), self.centers)
        size = self.sizes[rows]
        bound = about.min(axis=1)
        # The chosen z is a neighbor, and D_z = U(M) - over**2 / m: reached, not only bounded.
        reached = (about - over**2 / size[:, None]).max(axis=1)
        # `over` falls with M: its sign changes between two of the centers.
        after = np.clip((over > 0).sum(axis=1), 1, len(self.centers) - 1)
        low, high = self.centers[after - 1], self.centers[after]
        for _ in range(HALVINGS):
            floors = self._floors(rows, self._rated(rows, reached, -1), floor)
            keep = self._rated(rows, bound, 1) >= floors
            rows, bound, reached = rows[keep], bound[keep], reached[keep]
            low, high = low[keep], high[keep]
            if not len(rows):
                break
            middle = (low + high) / 2
            about, over = self._at(rows, middle, 1)
            bound = np.minimum(bound, about)
            reached = np.maximum(reached, about - over**2 / self.sizes[rows])
            # U falls where `over` is positive: its least place is above `middle`.
            low, high = np.where(over > 0, middle, low), np.where(over > 0, high, middle)
        return rows, self._rated(rows, bound, 1), max(floor, float(floors[-1]))

    def _smallest(self, rows: Positions, floor: float) -> tuple[Positions, Floats, float]:
        """The changes of which the smallest variance may be the smallest, with bounds on it.

        About M, the nearest records have a sum of squares which is ``m M^2`` plus a concave
        function: from one center to the next it is at least ``m (M - a) (M - b)`` plus a chord.
        """
        about, over = self._about(rows, self._table(rows, -1), self.centers)
        reached = np.maximum(about - over**2 / self.sizes[rows][:, None], 0).min(axis=1)
        floors = self._floors(rows, self._rated(rows, -reached, -1), floor)
        cells = len(self.centers) - 1
        row = repeated(rows, cells)
        low, high = (np.tile(of, len(rows)) for of in (self.centers[:-1], self.centers[1:]))
        left, right = about[:, :-1].ravel(), about[:, 1:].ravel()
        floor_of, first = repeated(floors, cells), rows[0]
        for halved in range(HALVINGS + 1):
            rated = self._rated(row, -self._chord(row, high - low, left, right), 1)
            keep = np.flatnonzero(rated >= floor_of)
            row = row[keep]
            low, high, left, right, rated = (of[keep] for of in (low, high, left, right, rated))
            if halved == HALVINGS or not 0 < len(row) <= CELLS:
                break
            middle = (low + high) / 2
            about, over = self._at(row, middle, -1)
            reached = np.maximum(about - over**2 / self.sizes[row], 0)
            best = np.full(len(rows), -np.inf)
            np.maximum.at(best, row - first, self._rated(row, -reached, -1))
            floors = np.maximum(floors, self._floors(rows, best, floor))
            # Each interval becomes two, [low, middle] and [middle, high]; `about` is the value in
            # between.
            row, low, high = np.tile(row, 2), np.append(low, middle), np.append(middle, high)
            left, right = np.append(left, about), np.append(about, right)
            floor_of = floors[row - first]
        bounds = np.full(len(rows), -np.inf)
        np.maximum.at(bounds, row - first, rated)
        some = np.flatnonzero(bounds > -np.inf)
        return rows[some], bounds[some], max(floor, float(floors[-1]))

    def _chord(self, row: Positions, width: Floats, left: Floats, right: Floats) -> Floats:
        """The least that a sum of squares can be between two centers."""
        # At M = a + at (b - a) the bound is left + at rise - m (b - a)**2 at (1 - at), least where
        # its derivative rise - bend (1 - 2 at) is 0.
        bend, rise = self.sizes[row] * width**2, right - left
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.clip(np.where(bend > 0, (1 - rise / bend) / 2, 0), 0, 1)
        least = np.minimum(np.minimum(left, right), left + at * rise - bend * at * (1 - at))
        found: Floats = np.maximum(least, 0)
        return found


def numbered(levels: Sequence[int]) -> Positions:
    """Levels as 0, 1, ..., in ascending order."""
    found: Positions = np.unique(levels, return_inverse=True)[1].astype(np.int64)
    return found
