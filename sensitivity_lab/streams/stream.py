"""A stream: what one unit of each step's contribution adds to everything that is released."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import integers_of_floats

from .search import Numbers, Rule

Floats = NDArray[np.float64]

MOST_STEPS = 2000

_SMALL = 400_000
"""Up to so many products of entries, matrices are multiplied in whole numbers."""

_WANTED = (
    "a matrix of finite numbers with a column per step (a list of rows, an array or a sparse "
    "matrix), or the coefficients of a lower triangular Toeplitz matrix"
)


@dataclass(frozen=True, eq=False)
class Stream:
    """The matrix of a stream, as it was given; its entries are the floats, exactly.

    Attributes
    ----------
    given : ndarray of float64, shape (m, T), (T, T) or (T,)
        The matrix C, a column per step; or X = C'C; or the first column of C.
    is_gram : bool
        Whether it is X.
    """

    given: Floats
    is_gram: bool

    @classmethod
    def of(cls, matrix: Any, gram: bool) -> Stream:
        """Read a matrix, or raise InputError."""
        given = matrix.toarray() if hasattr(matrix, "toarray") else matrix
        try:
            raw = np.asarray(given)
            floats = raw.astype(np.float64)
            # A whole number, Fraction or Decimal has to be one that a float holds.
            same = raw.dtype.kind == "f" or (raw.astype(object) == floats.astype(object)).all()
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"matrix must be {_WANTED}, got {shown(matrix)}") from None
        usable = raw.dtype.kind in "fiuO" and floats.ndim in (1, 2) and np.isfinite(floats).all()
        if not usable or not same or not floats.size:
            raise InputError(f"matrix must be {_WANTED}, got {shown(matrix)}")
        if floats.shape[-1] > MOST_STEPS:
            raise InputError(
                f"matrix has {floats.shape[-1]:,} steps, more than {MOST_STEPS:,}; release sums of "
                "several steps, or split the run"
            )
        stream = cls(floats, gram)
        if gram:
            stream._check_gram()
        return stream

    def _check_gram(self) -> None:
        given = self.given
        square = given.ndim == 2 and given.shape[0] == given.shape[1]
        if square and (given == given.T).all():
            # Rounded products of columns may leave it indefinite by the rounding.
            try:
                np.linalg.cholesky(given + 1e-9 * (given.max() or 1.0) * np.eye(len(given)))
                return
            except np.linalg.LinAlgError:
                pass
        raise InputError(
            "matrix must be C'C for a matrix C where gram=True: square, symmetric and positive "
            "semidefinite; pass C itself, with gram=False"
        )

    @property
    def steps(self) -> int:
        """The number T of steps."""
        return int(self.given.shape[-1])

    @property
    def text(self) -> str:
        """The matrix in words."""
        if self.given.ndim == 1:
            return f"a Toeplitz matrix of {self.steps:,} steps"
        rows, columns = self.given.shape
        return f"the Gram matrix of {columns:,} steps" if self.is_gram else (
            f"a matrix of {rows:,} x {columns:,}"
        )

    @cached_property
    def factor(self) -> Floats:
        """The matrix C, without rounding; of a Gram matrix there is none."""
        if self.given.ndim == 2:
            return self.given
        back = np.subtract.outer(np.arange(self.steps), np.arange(self.steps))
        return np.where(back < 0, 0.0, self.given[np.maximum(back, 0)])

    @cached_property
    def falling(self) -> Floats | None:
        """The coefficients of a lower triangular Toeplitz matrix that fall from step to step.

        None if the matrix is another one, or a coefficient is negative or larger than one before.
        """
        given = self.given
        if self.is_gram or (given.ndim == 2 and given.shape[0] != given.shape[1]):
            return None
        first = given if given.ndim == 1 else given[:, 0]
        alike = given.ndim == 1 or (
            (given[1:, 1:] == given[:-1, :-1]).all() and not given[0, 1:].any()
        )
        return first if alike and (np.diff(first, append=0.0) <= 0).all() else None

    @cached_property
    def gram(self) -> tuple[Numbers, Fraction, float]:
        """X times a unit, the unit, and the error of an entry over the norms of its two columns.

        X is in Python ints where that is quick or nothing else is exact, else in floats.
        """
        if self.is_gram:
            return self.given, Fraction(1), 0.0
        if self.grid is not None:
            table, unit = self.grid
            return table.T @ table, Fraction(unit) ** 2, 0.0
        factor = self.factor
        if factor.size * self.steps <= _SMALL:
            whole, unit = integers_of_floats(factor)
            return whole.T @ whole, Fraction(unit) ** 2, 0.0
        # A power of two changes no digit, and keeps squares in the range of floats.
        shift = int(np.frexp(np.abs(factor).max())[1])
        scaled = np.ldexp(factor, -shift)
        # The error of a sum of m products, by Cauchy-Schwarz.
        error = (len(factor) + 2) * float(np.finfo(np.float64).eps)
        return scaled.T @ scaled, Fraction(2) ** (-2 * shift), error

    @cached_property
    def grid(self) -> tuple[Floats, int] | None:
        """C times a power of two that makes it whole, and that power; None if products round.

        Below 2**53 products of floats that are whole are exact, in whatever order they are added.
        """
        for unit in (1, 2**8, 2**16, 2**24):
            table = self.factor * unit
            if _is_whole(table):
                return (table, unit) if (table**2).sum(axis=0).max() < 2**53 else None
        return None

    def exact_gram(self, steps: Sequence[int]) -> list[list[Fraction]]:
        """Return X among some steps, without rounding."""
        if self.is_gram:
            return [[Fraction(self.given[i, j]) for j in steps] for i in steps]
        whole, unit = integers_of_floats(self.factor[:, list(steps)])
        products = (whole.T @ whole).tolist()
        return [[Fraction(entry, unit * unit) for entry in row] for row in products]

    def exact_norms(self, power: int) -> list[Fraction]:
        """Return the sums of the absolute entries of each column, or of their squares."""
        if self.is_gram:
            return [Fraction(one) for one in np.diagonal(self.given).tolist()]
        found = []
        for column in self.factor.T:
            whole, unit = integers_of_floats(column[column != 0])
            found.append(Fraction(int((abs(whole) ** power).sum()), unit**power))
        return found

    def products(self, contributions: Sequence[tuple[int, Fraction]]) -> Iterator[Fraction]:
        """Yield the entries of C u, where u has these entries at these steps."""
        steps = [step for step, _ in contributions]
        whole, unit = integers_of_floats(self.factor[:, steps])
        for row in whole.tolist():
            pairs = zip(row, contributions, strict=True)
            yield sum((entry * by for entry, (_, by) in pairs), Fraction(0)) / unit

    def touches(self, rule: Rule) -> bool:
        """Tell whether columns that one person can both take part in have a row in common."""
        if self.is_gram:
            held = self.given != 0
        else:
            filled = (self.factor != 0).astype(np.float64)
            held = filled.T @ filled > 0
        return bool(np.triu(held, rule.gap).any())


def _is_whole(entries: Floats) -> bool:
    return bool((entries == np.rint(entries)).all())
