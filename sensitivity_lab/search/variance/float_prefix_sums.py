"""A sorted universe of integers, and exact sums of its records and their squares by position.

Positions number the records in ascending order, equal values one after the other. Sums are kept as
limbs, so that any combination of them is exact until it is read as a floating-point number. See
docs/proofs.md, "Rounding": *Sums* and *Reading*.

`SortedMultiset` tells the same in Python ints. This one is there for speed: the global search for
the variance compares millions of windows, whole arrays of machine numbers at a time, where every
Python int would be an object and an addition a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cache, cached_property
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.universes.relations import repeated

Positions = NDArray[np.int64]
Reals = NDArray[np.longdouble]
Sums = NDArray[np.int64]
"""Exact integers; the last axis is the limb. They add, subtract and change sign limb by limb."""

_FLOAT = np.finfo(np.longdouble)
UNIT = float(_FLOAT.eps) / 2  # unit roundoff of the working precision
_DIGITS = _FLOAT.nmant + 1  # integers of so many bits are floats
EXPANDED = 1 << 22  # up to this many records, repeated values are written out
WIDTHS = (32, 16, 8)
"""Bits of a limb: the first of these whose sums over all records fit into int64 and a float."""

AT_ONCE = 1 << 14
"""So many integers are Python objects at a time."""

Part = tuple[NDArray[np.int32], list[int]]
"""Some integers in limbs, a row each, and the places of the limbs."""

LONG = 160
"""If some integer has more bits than this, long and short integers are cut separately."""


class Limbs:
    """Exact prefix sums of integers, each cut into limbs: the sum of ``limb << place``.

    Parameters
    ----------
    parts : list of (array of int32, shape (terms, limbs), and list of int)
        The integers that are added up, some at a time and cut, with the places of the limbs. It is
        emptied: the parts are in memory until they are added up.
    counts : array of int64, shape (m,)
        How often each integer is added.
    expanded : bool
        Whether to keep a prefix sum for every copy, or only for every term.

    Attributes
    ----------
    places : list of int
    error : float
        A bound on the relative error of `real`.

    Notes
    -----
    There is no limb for places at which no term has a bit, so one huge record adds two or three.
    """

    def __init__(self, parts: list[Part], counts: Positions, *, expanded: bool) -> None:
        self.places = sorted({place for _, places in parts for place in places})
        limbs, number = len(self.places), int(counts.sum()) if expanded else len(counts)
        # Row p of `_before` is the sum of the first p terms, or of the first p copies of terms.
        self._before = np.zeros((number + 1, limbs), dtype=np.int64)
        # Where copies are not written out, a sum that ends inside a value needs the value itself.
        self._terms = None if expanded else np.zeros((number, limbs), dtype=np.int64)
        self._sign, self._mirrored = 1, False
        parts.reverse()
        first = row = 0
        # Always: the sums of the first `row` rows are there, of the values before `first`.
        while parts:
            part, places = parts.pop()
            here = counts[first : first + len(part)]
            block = np.zeros((len(part), limbs), dtype=np.int64)
            block[:, np.searchsorted(self.places, places)] = part
            if self._terms is not None:
                self._terms[first : first + len(part)] = block
            block = repeated(block, here) if expanded else block * here[:, None]
            sums = self._before[row + 1 : row + 1 + len(block)]
            np.cumsum(block, axis=0, out=sums)
            sums += self._before[row]
            first, row = first + len(part), row + len(block)
        self.error = (limbs + 2) * UNIT

    def mirrored(self, sign: int) -> Self:
        """Return the prefix sums of the terms times a sign, in reverse order; they share arrays."""
        made = copy(self)
        made._sign, made._mirrored = sign * self._sign, not self._mirrored
        return made

    def before(self, rows: Positions) -> Sums:
        """Return the sums before some rows: terms, or copies of terms if these are expanded."""
        if not self._mirrored:
            return self._before.take(rows, axis=0, mode="clip")
        # The first p rows of the mirror image are the last p rows.
        last = len(self._before) - 1
        found: Sums = self._before[-1] - self._before.take(last - rows, axis=0, mode="clip")
        return self._signed(found)

    def terms(self, rows: Positions) -> Sums:
        """Return the terms at some rows, as `before` counts them."""
        if self._terms is None:
            rows = np.clip(rows, 0, len(self._before) - 2)
            return self.before(rows + 1) - self.before(rows)
        if not self._mirrored:
            return self._terms.take(rows, axis=0)
        return self._signed(self._terms.take(len(self._terms) - 1 - rows, axis=0))

    def _signed(self, sums: Sums) -> Sums:
        return np.negative(sums, out=sums) if self._sign < 0 else sums

    def real(self, sums: Sums) -> Reals:
        """Read limbs as floats; only steps beyond the float's digits round, and none cancels.

        The value is built from the highest limb down. *Reading* in docs/proofs.md has the bound.
        """
        # Upper limbs that are 0 in every row are skipped: differences of sums often have them.
        used = [column for column in range(len(self.places)) if sums[..., column].any()]
        if not used:
            return np.zeros(sums.shape[:-1], dtype=np.longdouble)
        # From limb to limb the number so far is shifted by the places between them; a limb of zeros
        # in between makes a longer shift.
        value = sums[..., used[-1]].astype(np.longdouble)
        for below, above in zip(used[-2::-1], used[:0:-1], strict=True):
            value *= _power(self.places[above] - self.places[below])
            value += sums[..., below]
        return value * _power(self.places[used[0]])

    def integers(self, sums: Sums) -> Integers:
        """Read limbs as Python ints, shape (rows,)."""
        value = np.zeros(sums.shape[:-1], dtype=object)
        for column, place in enumerate(self.places):
            value = value + (sums[..., column].astype(object) << place)
        return value


def limb_width(records: int) -> int | None:
    """Return how many bits a limb has, for sums of so many records; None if they are too many."""
    # A limb is at most 2**(width - 1). Four more bits let a few prefix sums be combined, within
    # int64 and within a float's digits.
    room = 1 << min(62, _DIGITS)
    return next((width for width in WIDTHS if records << (width + 3) <= room), None)


def _cut(terms: Integers, width: int) -> Part:
    """Cut integers into limbs from ``-half`` to ``half - 1``; return them and their places.

    With signed limbs, an integer a little below a power of two is a high limb and a negative low
    one, and nothing in between.
    """
    listed, half = terms.tolist(), 1 << (width - 1)
    most = max(abs(int(terms.max())), abs(int(terms.min()))).bit_length()
    bits = np.full(len(listed), most)
    if most > LONG:
        bits = np.array([term.bit_length() for term in listed])
    # A few integers that are far longer than most are cut apart from the others.
    short = bits <= 2 * np.median(bits) + 32
    parts = []
    for chosen in (np.flatnonzero(short), np.flatnonzero(~short)):
        if len(chosen):
            length = 4 * ((int(bits[chosen].max()) + 1) // 32 + 1)
            # Adding half at every place makes all digits unsigned; a digit `half` is a limb of 0.
            shift = int.from_bytes(
                half.to_bytes(width // 8, "little") * (8 * length // width), "little"
            )
            data = b"".join(
                [(listed[at] + shift).to_bytes(length, "little") for at in chosen.tolist()]
            )
            digits = np.frombuffer(data, dtype=f"<u{width // 8}").reshape(len(chosen), -1)
            used = np.flatnonzero((digits != half).any(axis=0))
            parts.append((chosen, used, digits[:, used].astype(np.int64) - half))
    # Place 0 is always there, so that integers that are all 0 have a limb.
    columns = np.unique(
        np.concatenate([used for _, used, _ in parts] + [np.zeros(1, dtype=np.int64)])
    )
    limbs = np.zeros((len(terms), len(columns)), dtype=np.int32)
    for chosen, used, digits in parts:
        limbs[np.ix_(chosen, np.searchsorted(columns, used))] = digits
    return limbs, [int(column) * width for column in columns]


class Slices(Protocol):
    """Integers of which some are made when they are asked for, such as an array of them."""

    def __len__(self) -> int: ...

    def __getitem__(self, some: slice, /) -> Integers: ...


class SortedRecords:
    """The records of a universe in ascending order, with exact prefix sums.

    Parameters
    ----------
    integers : ndarray of Python ints, shape (m,), or what makes slices of one
        The distinct values, ascending and centered (a record near the middle subtracted).
    counts : sequence of int, shape (m,)
        How many records have each value, at least 1.
    unit : int, default 1
        What the records were divided by to become these integers.

    Attributes
    ----------
    size : int
        Number of records N.
    starts : array of int64, shape (m,)
        The position of the first record of each value.
    repeated : bool
        Whether some value occurs more than once.
    compact : bool
        Whether prefix sums are kept per distinct value, not per record.
    sign : int
        -1 for a mirror image, else 1.
    error : float
        A bound on the relative error of `record` and of sums that are read as floats.
    readable : bool
        Whether the range of floats holds sums and their products; if not, all are read as 0.

    Raises
    ------
    OverflowError
        If there are too many records to add up.

    Notes
    -----
    Memory is 8 bytes per limb and record, or 16 per limb and distinct value beyond ``EXPANDED``
    records. Python ints are there for `AT_ONCE` values at a time.

    Examples
    --------
    >>> records = SortedRecords(np.array([-2, 0, 3], dtype=object), [1, 2, 1])
    >>> records.record(np.arange(4)).astype(float).tolist()
    [-2.0, 0.0, 0.0, 3.0]
    >>> records.real(records.total(np.array([0, 1, 4]))).astype(float).tolist()
    [0.0, -2.0, 1.0]
    """

    def __init__(self, integers: Slices, counts: Sequence[int] | Positions, unit: int = 1) -> None:
        self.counts, self.sign, self.unit = np.asarray(counts, np.int64), 1, unit
        self.size = sum(self.counts.tolist())
        width = limb_width(self.size)
        if width is None:
            raise OverflowError(f"{self.size:,} records are too many to add up exactly")
        self.starts = np.cumsum(self.counts) - self.counts
        self.repeated = len(integers) < self.size
        self.compact = self.size > max(EXPANDED, len(integers))
        of_sums, of_squares = self._parts(integers, width)
        expanded = not self.compact
        self._sum = Limbs(of_sums, self.counts, expanded=expanded)
        self._square = Limbs(of_squares, self.counts, expanded=expanded)
        if self.repeated and not self.compact:
            self._runs = repeated(np.arange(len(integers)), self.counts)
        self.error = max(self._sum.error, self._square.error)
        self.readable = self.all_squares.bit_length() + 256 < _FLOAT.maxexp
        rows = np.arange(len(integers)) if self.compact else self.starts
        self._values = np.zeros(len(integers), dtype=np.longdouble)
        for start in range(0, len(rows), AT_ONCE):
            some = slice(start, start + AT_ONCE)
            self._values[some] = self.real(self._sum.terms(rows[some]))

    def _parts(self, integers: Slices, width: int) -> tuple[list[Part], list[Part]]:
        """Cut the integers and their squares into limbs, some at a time, and add up all squares."""
        of_sums, of_squares = [], []
        self.all_squares = 0
        for start in range(0, len(integers), AT_ONCE):
            some = slice(start, start + AT_ONCE)
            terms = integers[some]
            squares = terms * terms
            self.all_squares += int((squares * self.counts[some].astype(object)).sum())
            of_sums.append(_cut(terms, width))
            of_squares.append(_cut(squares, width))
        return of_sums, of_squares

    def exact(self, size: int) -> bool:
        """Whether size times a sum of squares, and every step up to it, is free of rounding."""
        # n (Q - Q') and (S - S') (S + S') of `comparing.changes`, and their difference, are whole
        # numbers below this.
        return 8 * (size + 1) * (self.all_squares + 1) < 1 << _DIGITS

    @cached_property
    def _mirror(self) -> Self:
        made = copy(self)
        made.sign = -self.sign
        made.counts = self.counts[::-1]
        made.starts = np.cumsum(made.counts) - made.counts
        made._values = -self._values[::-1]
        made._sum, made._square = self._sum.mirrored(-1), self._square.mirrored(1)
        if self.repeated and not self.compact:
            made._runs = len(self.counts) - 1 - self._runs[::-1]
        return made

    def mirrored(self) -> Self:
        """The same records times -1: position p becomes ``size - 1 - p``."""
        return self._mirror

    def run(self, positions: Positions) -> Positions:
        """Return which distinct value each position has; positions outside are moved to an end."""
        if not self.repeated:
            return np.clip(positions, 0, self.size - 1)
        if not self.compact:
            return self._runs.take(positions, mode="clip")
        found = np.searchsorted(self.starts, positions, side="right") - 1
        return np.clip(found, 0, len(self.starts) - 1)

    def record(self, positions: Positions) -> Reals:
        """Return the record at each position; positions outside are moved to the nearest end."""
        return self._values.take(self.run(positions))

    def total(self, positions: Positions) -> Sums:
        """The sum of the first p records, for each p from 0 to N."""
        return self._prefix(self._sum, positions)

    def squares(self, positions: Positions) -> Sums:
        """The sum of squares of the first p records, for each p from 0 to N."""
        return self._prefix(self._square, positions)

    def _prefix(self, limbs: Limbs, positions: Positions) -> Sums:
        if not self.compact:
            return limbs.before(positions)
        run = self.run(positions)
        inside = positions - self.starts.take(run)
        # All records of the smaller values, and the first `inside` copies of this one.
        prefix: Sums = limbs.before(run)
        prefix += inside[..., None] * limbs.terms(run)
        return prefix

    def real(self, sums: Sums) -> Reals:
        """Read sums as floats."""
        return self._read(self._sum, sums)

    def real_squares(self, squares: Sums) -> Reals:
        """Read sums of squares as floats."""
        return self._read(self._square, squares)

    def integer_sums(self, sums: Sums) -> Integers:
        """Read sums as Python ints."""
        return self._sum.integers(sums)

    def integer_squares(self, squares: Sums) -> Integers:
        """Read sums of squares as Python ints."""
        return self._square.integers(squares)

    def _read(self, limbs: Limbs, sums: Sums) -> Reals:
        if not self.readable:
            return np.zeros(sums.shape[:-1], dtype=np.longdouble)
        return limbs.real(sums)


@cache
def _power(exponent: int) -> np.longdouble:
    return np.longdouble(np.ldexp(np.longdouble(1), exponent))
