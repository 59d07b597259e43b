"""Queries on records as sums over the records, in whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.errors import TooLargeError

_MOST_CELLS = 100_000_000
"""The most numbers that are kept for all distinct records of a universe together."""

Whole = NDArray[Any]
"""An array of integers: int64 where that is safe, else Python ints."""

Ratios = tuple[Whole, Whole]
"""Numerators and denominators, shape (datasets, d) each; a denominator 0 says "undefined"."""


class LinearAnswer(NamedTuple):
    """An answer that is a column's sum over a unit, or over that and the number of records."""

    column: int
    unit: int
    mean: bool = False


@dataclass(frozen=True, eq=False)
class Sums:
    """A query on records, written as sums over the records of a dataset.

    Attributes
    ----------
    terms : ndarray of Python ints, shape (m, p)
        What each distinct record of a universe adds to each of p sums.
    finish : callable
        Makes the answers of the sums, shape (datasets, p): numerators and denominators, shape
        (datasets, d). It adds up at most two products of two sums and a constant.
    constant : int, default 1
        The largest constant in `finish`.
    linear : tuple of LinearAnswer, shape (d,), or None
        For a query each of whose answers is one sum over a constant, or such a mean.
    """

    terms: Whole
    finish: Callable[[Whole], Ratios]
    constant: int = 1
    linear: tuple[LinearAnswer, ...] | None = None

    @property
    def adds_up(self) -> bool:
        """Whether every answer is a sum over the records, whatever their number."""
        return self.linear is not None and not any(one.mean for one in self.linear)

    def units_at(self, size: int | None) -> tuple[int, ...] | None:
        """Return what each answer divides its sum by; None if it is no constant.

        Parameters
        ----------
        size : int or None
            The number of records; None if it varies.
        """
        if self.linear is None or (size is None and not self.adds_up):
            return None
        return tuple(one.unit * (size or 1) if one.mean else one.unit for one in self.linear)

    @classmethod
    def additive(cls, terms: Whole, unit: int = 1) -> Sums:
        """Make the sums of a query whose answers are sums over the records, in a unit."""
        linear = tuple(LinearAnswer(column, unit) for column in range(terms.shape[1]))
        return cls(terms, lambda sums: (sums, np.full_like(sums, unit)), unit, linear)

    def of_group(self, inside: NDArray[np.bool_]) -> Sums:
        """Return the query on the records of a group, of which a dataset has any number."""
        linear = self.linear if self.adds_up else None
        return replace(self, terms=self.terms * inside[:, None], linear=linear)

    def of(self, rows: NDArray[np.intp]) -> Ratios:
        """Return the answers on datasets given as rows of positions, shape (datasets, n)."""
        size = rows.shape[1]
        largest = int(abs(self.terms).max(initial=1)) * max(size, 1)
        narrow = 2 * largest * largest * self.constant < 2**63
        terms = self.terms.astype(np.int64) if narrow else self.terms
        total = np.zeros((len(rows), terms.shape[1]), dtype=terms.dtype)
        for place in range(size):
            total += terms[rows[:, place]]
        return self.finish(total)

    def of_one(self, data: NDArray[np.int64]) -> Ratios:
        """Return the answers on one dataset, given by multiplicities, shape (m,)."""
        held = np.flatnonzero(data)
        total = (self.terms[held] * data[held, None].astype(object)).sum(axis=0)
        return self.finish(np.asarray(total, dtype=object)[None, :])


def as_terms(columns: Any) -> Whole:
    """Return flags or integers, shape (m,) or (m, p), as terms."""
    terms = np.asarray(columns)
    if terms.dtype == np.bool_:
        terms = terms.astype(np.int64)
    return terms.astype(object).reshape(len(terms), -1)


def check_cells(name: str, rows: int, numbers: int) -> None:
    """Raise TooLargeError if a query adds too many numbers per record for a universe."""
    if rows * numbers > _MOST_CELLS:
        raise TooLargeError(
            f"{name} would keep {numbers:,} numbers for each of {rows:,} distinct records, more "
            f"than {_MOST_CELLS:,} together; choose fewer categories or groups, or a coarser "
            "universe with fewer distinct records"
        )


def side_by_side(parts: Sequence[Sums]) -> Sums:
    """Return sums whose answers are those of the parts, one after the other."""
    ends = np.cumsum([part.terms.shape[1] for part in parts]).tolist()
    pieces: list[tuple[Callable[[Whole], Ratios], slice]] = [
        (part.finish, slice(end - part.terms.shape[1], end))
        for part, end in zip(parts, ends, strict=True)
    ]

    def finish(sums: Whole) -> Ratios:
        done = [finish(sums[:, columns]) for finish, columns in pieces]
        return np.hstack([above for above, _ in done]), np.hstack([below for _, below in done])

    linear: tuple[LinearAnswer, ...] | None = ()
    for part, (_, columns) in zip(parts, pieces, strict=True):
        own = part.linear
        if linear is None or own is None:
            linear = None
        else:
            linear += tuple(one._replace(column=one.column + columns.start) for one in own)
    terms = np.hstack([part.terms for part in parts])
    return Sums(terms, finish, max(part.constant for part in parts), linear)


def flags_of(places: Sequence[int | None], width: int, name: str) -> Whole:
    """Return a term per record and answer: 1 at a record's place, if it has one."""
    check_cells(name, len(places), width)
    flags = np.zeros((len(places), width), dtype=np.int64)
    inside = [row for row, place in enumerate(places) if place is not None]
    flags[inside, [place for place in places if place is not None]] = 1
    return as_terms(flags)
