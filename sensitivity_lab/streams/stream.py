"""A stream: what a contribution of each step adds to everything that is released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sensitivity_lab.checks import Kind
from sensitivity_lab.exact.difference import integers_of_floats

from .search import Floats, Rule

Gram = list[list[Fraction]]

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Stream:
    """The matrix of a stream; its entries are the floats that were given, exactly.

    Attributes
    ----------
    given : ndarray of float64, shape (m, T) or (T, T)
        The matrix C, a column per step; or X = C'C.
    is_gram : bool
        Whether it is X.
    """

    given: Floats
    is_gram: bool

    @property
    def falling(self) -> bool:
        """Whether it is lower triangular and Toeplitz, with coefficients that fall towards 0."""
        given = self.given
        return bool(
            not self.is_gram
            and given.shape[0] == given.shape[1]
            and (given[1:, 1:] == given[:-1, :-1]).all()
            and not given[0, 1:].any()
            and (np.diff(given[:, 0], append=0.0) <= 0).all()
        )

    def touches(self, rule: Rule) -> bool:
        """Tell whether steps that one person can take have something in common."""
        filled = (self.given != 0).astype(np.float64)
        return bool(np.triu(filled if self.is_gram else filled.T @ filled, rule.gap).any())

    @cached_property
    def gram(self) -> Floats:
        """X in floats."""
        return self.given if self.is_gram else self.given.T @ self.given

    def error(self, most: int) -> float:
        """Return how far floats are off at most, in sums of s_i s_j X_ij over a pattern."""
        most_of_all = most**2 * float(np.diagonal(self.gram).max())
        # Below 2**53 sums of products of whole numbers are exact, in whatever order.
        if 4 * most_of_all < 2**53 and (self.given == np.rint(self.given)).all():
            return 0.0
        # An entry of X is off by m eps of the norms of its columns, by Cauchy-Schwarz; sums over
        # steps by an eps of all that they add up, for each addition.
        return (sum(self.given.shape) + 8 * most + 18) * EPS * most_of_all + 1e-300

    def exact_gram(self, steps: Sequence[int]) -> Gram:
        """Return X among some steps, without rounding."""
        if self.is_gram:
            return [[Fraction(self.given[i, j]) for j in steps] for i in steps]
        whole, unit = integers_of_floats(self.given[:, list(steps)])
        return [[Fraction(one, unit**2) for one in row] for row in (whole.T @ whole).tolist()]

    @property
    def exact_squares(self) -> list[Fraction]:
        """The diagonal of X, without rounding."""
        if self.is_gram:
            return list(map(Fraction, np.diagonal(self.given).tolist()))
        columns = map(integers_of_floats, self.given.T)
        return [Fraction(int((one**2).sum()), unit**2) for one, unit in columns]


def _read(matrix: Any) -> Floats | None:
    """Return a matrix of floats; of one row of coefficients the Toeplitz matrix; None if wrong."""
    try:
        raw = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
        given = raw.astype(np.float64 if raw.dtype.kind in "fiu" else object)
    except (TypeError, ValueError, OverflowError):
        return None
    steps = given.shape[-1] if given.ndim in (1, 2) and given.size else 0
    exact = raw.dtype.kind in "fiu" and bool((given == raw).all())
    if not 0 < steps <= 2000 or not exact or not np.abs(given).max() <= 1e100:
        return None
    if given.ndim == 2:
        return given
    back = np.subtract.outer(np.arange(steps), np.arange(steps))
    return np.where(back < 0, 0.0, given[back])


check_matrix = Kind(
    "a matrix of finite floats or whole numbers with a column for each of at most 2,000 steps "
    "(rows, an array or a sparse matrix), or the first column of a lower triangular Toeplitz "
    "matrix, no entry above 1e100",
    _read,
)


def _read_gram(matrix: Any) -> Floats | None:
    given = _read(matrix)
    if given is None or given.shape[0] != given.shape[1] or (given != given.T).any():
        return None
    try:
        # Rounded products of columns may leave it indefinite by the rounding.
        np.linalg.cholesky(given + 1e-9 * (given.max() or 1.0) * np.eye(len(given)))
    except np.linalg.LinAlgError:
        return None
    return given


check_gram = Kind(
    "C'C for a matrix C of at most 2,000 columns, since gram=True: square, symmetric and positive "
    "semidefinite",
    _read_gram,
)
