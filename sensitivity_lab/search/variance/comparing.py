"""Variances and standard deviations of many datasets, compared with those of one.

The difference of two squared deviations is taken from the differences of the sums, which are exact
until they are read as floats: what both datasets share, such as an outlier, does not round away
what they do not share. Every bound accounts for all rounding (docs/proofs.md, "Rounding": the
paragraphs *Placements* and *Bounds*).

In all arrays the first axis is the row, one per dataset; sums have a last axis of limbs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .float_prefix_sums import UNIT, Positions, Reals, SortedRecords, Sums

_PART = (1 << 48) - 1


@dataclass(frozen=True)
class Sets:
    """Datasets of one size by their exact sums, a row each; or a single dataset without that axis.

    Attributes
    ----------
    size : int
        How many records each has.
    sums, squares : arrays of int64, shape (rows, limbs) or (limbs,)
        The sum of the records, and of their squares.
    """

    size: int
    sums: Sums
    squares: Sums

    def rows(self, chosen: Positions | int) -> Sets:
        """Some of the rows, or one of them."""
        return Sets(self.size, self.sums[chosen], self.squares[chosen])

    def deviations(self, records: SortedRecords) -> Any:
        """The size times the squared deviations, exactly: a Python int per row, or one for one."""
        total = records.integer_sums(self.sums)
        return self.size * records.integer_squares(self.squares) - total * total


@dataclass(frozen=True)
class Spread:
    """The variance of datasets, or its root.

    Parameters
    ----------
    ddof : Fraction
        The variance is the sum of squared deviations over (size - ddof).
    root : bool
        Whether it is the standard deviation.
    """

    ddof: Fraction
    root: bool

    def free(self, size: int) -> Fraction:
        """Return ``size - ddof``."""
        return size - self.ddof

    def variance(self, records: SortedRecords, one: Sets) -> Fraction:
        """Return the exact variance of one dataset."""
        deviations = int(one.deviations(records))
        return Fraction(deviations) / (one.size * self.free(one.size))

    def least(self, records: SortedRecords, sets: Sets, size: int) -> Reals:
        """Lower bounds on squared deviations over ``size - ddof``, or its root, for each row.

        `size` need not be that of the sets: for a part of y, these bound what y has at least.
        """
        sums, squares = records.real(sets.sums), records.real_squares(sets.squares)
        if not records.readable:
            return np.zeros_like(sums)
        # S**2 / n is at most Q, so both terms of D are off by a few errors times Q.
        low = squares - sums * sums / sets.size - 8 * records.error * squares
        found = np.maximum(low, 0) / as_real(self.free(size)) * (1 - 4 * UNIT)
        return np.asarray(np.sqrt(found) * (1 - 2 * UNIT) if self.root else found)

    def shift(self, change: Reals, error: Reals, of: Rated, up: int) -> Reals:
        """How far the answer is from that of one dataset, at most (up 1) or at least (-1).

        `change` is how much larger the size times the squared deviations are, up to `error`.
        """
        divisor = as_real(of.sets.size * self.free(of.sets.size))
        shift = (change + up * error) / divisor
        shift = shift + up * 4 * UNIT * np.abs(shift)
        return _root_shift(shift, of.variance, up) if self.root else shift


def _root_shift(shift: Reals, variance: np.longdouble, up: int) -> Reals:
    """How far a root moves if what is under it moves by `shift`; rounded up (1) or down (-1)."""
    # sqrt(v + s) - sqrt(v) = s / (sqrt(v + s) + sqrt(v)), which does not cancel.
    shift = np.maximum(shift, -variance * (1 + 4 * UNIT))
    slack = 4 * UNIT * (variance + np.abs(shift))
    # The nearer the roots, the larger their sum and the smaller the step.
    moved = np.maximum(variance + shift - up * np.sign(shift) * slack, 0)
    both = np.sqrt(moved) + np.sqrt(variance)
    step = np.divide(shift, both, out=np.zeros_like(shift), where=both > 0)
    rounded: Reals = step + up * 8 * UNIT * np.abs(step)
    return rounded


@dataclass(frozen=True)
class Rated:
    """One dataset and its variance, as a float with a relative error of 2 UNIT."""

    sets: Sets
    variance: np.longdouble


@dataclass(frozen=True)
class Reference:
    """The pair of datasets x and y with which others are compared."""

    x: Rated
    y: Rated

    def shift(
        self, spread: Spread, records: SortedRecords, sets: Sets, up: int, *, of_y: bool
    ) -> Reals:
        """How far answers are from that of x, or of y, at most (up 1) or at least (-1), each row.

        If x and y have one size, variances are not divided by their common divisor, so that exact
        ties stay ties.
        """
        if not records.readable:
            return np.full(len(sets.sums), np.inf if up > 0 else 0, dtype=np.longdouble)
        of = self.y if of_y else self.x
        change, error = changes(records, sets, of.sets)
        if not spread.root and self.x.sets.size == self.y.sets.size:
            return change + up * error
        return spread.shift(change, error, of, up)

    def gains(self, spread: Spread, records: SortedRecords, x: Sets, y: Sets) -> Reals:
        """Upper bounds on how much larger f(x) - f(y) is than for this pair, for each row."""
        most = self.shift(spread, records, x, 1, of_y=False)
        return most - self.shift(spread, records, y, -1, of_y=True)

    def room(
        self, spread: Spread, records: SortedRecords, x: Sets, least: np.longdouble | float
    ) -> Reals:
        """Upper bounds on the f(y) with which x beats this pair and `least`, for each row."""
        if not records.readable:
            return np.full(len(x.sums), np.inf, dtype=np.longdouble)
        most = spread.shift(*changes(records, x, self.x.sets), self.x, 1)
        of_x, of_y = self.x.variance, self.y.variance
        if spread.root:
            of_x, of_y = np.sqrt(of_x), np.sqrt(of_y)
        # x beats this pair if f(y) is below f(x) less that of this x, plus that of this y.
        # `most` is at least f(x) less that of this pair's x.
        room = most + of_y + 8 * UNIT * (np.abs(most) + of_y)
        beyond = most + of_x - least + 8 * UNIT * (np.abs(most) + of_x + least)
        return np.asarray(np.minimum(room, beyond), dtype=np.longdouble)


def changes(records: SortedRecords, sets: Sets, other: Sets) -> tuple[Reals, Reals]:
    """How much larger size times squared deviations are than for one dataset, and an error.

    `other` is that dataset of the same size. With D the squared deviations of n records,
    ``n (D - D') = n (Q - Q') - (S - S') (S + S')``: see *Placements* in "Rounding", docs/proofs.md.
    """
    size = sets.size
    apart, both = records.real(sets.sums - other.sums), records.real(sets.sums + other.sums)
    squares = records.real_squares(sets.squares - other.squares)
    first, second = size * squares, apart * both
    # Where floats hold all products there is no error, and ties are told as ties.
    if records.exact(size):
        return first - second, np.zeros_like(first)
    return first - second, 8 * records.error * (np.abs(first) + np.abs(second))


def as_real(value: Fraction | int) -> np.longdouble:
    """Return a rational as a float, with a relative error of at most 2 UNIT."""
    above, below = value.as_integer_ratio()
    # 144 bits, more than any long double has, in three parts that are floats of every kind.
    shift = 144 - above.bit_length() + below.bit_length()
    digits = (above << shift) // below if shift >= 0 else above // (below << -shift)
    number = np.longdouble(0)
    for part in (digits >> 96, digits >> 48 & _PART, digits & _PART):
        number = np.ldexp(number, 48) + np.longdouble(float(part))
    return np.longdouble(np.ldexp(number, -shift))
