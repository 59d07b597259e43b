"""Queries on records as sums over the records, in whole numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[Any]
"""An array of integers: int64 where that is safe, else Python ints."""

Ratios = tuple[Whole, Whole]
"""Numerators and denominators, shape (datasets, d) each; a denominator 0 says "undefined"."""


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
    units : tuple of int, shape (d,), or None
        For an additive query, each of whose answers is one sum over a constant: the constants.
    """

    terms: Whole
    finish: Callable[[Whole], Ratios]
    constant: int = 1
    units: tuple[int, ...] | None = None

    @classmethod
    def additive(cls, terms: Whole, unit: int = 1) -> Sums:
        """Make the sums of a query whose answers are sums over the records, in a unit."""
        units = (unit,) * terms.shape[1]
        return cls(terms, lambda sums: (sums, np.full_like(sums, unit)), unit, units)

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
