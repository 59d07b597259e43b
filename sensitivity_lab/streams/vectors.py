"""Contributions that are vectors, on one pattern: vectors, and a certificate that bounds others.

The vectors u_i have a norm of at most 1, and the sum of X_ij <u_i, u_j> is to be largest. If
Diag(l) - X is positive semidefinite, it is at most the sum of l. See docs/proofs.md,
"Participation in a stream".
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from .search import Floats
from .stream import EPS, Gram

_SWEEPS = 3000


def vectors(exact: Gram, dimension: int) -> tuple[list[tuple[float, ...]], list[float]]:
    """Return vectors of a dimension and norm of at most 1, and a certificate l.

    Each vector in turn is put where the others pull it. Where no pull turns a vector, the pulls are
    multipliers, and l at the optimum. If d (d + 1) / 2 is above r, there is almost surely no other
    place to come to rest.
    """
    x, size = np.array(exact, dtype=np.float64), len(exact)
    u = np.random.default_rng(size).standard_normal((size, min(dimension, size)))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    for _ in range(_SWEEPS):
        before = u.copy()
        for i in range(size):
            pull = x[i] @ u - x[i, i] * u[i]
            if pull.any():
                u[i] = pull / np.linalg.norm(pull)
        if np.abs(u - before).max() < 1e-13:
            break
    pulls = np.linalg.norm(x @ u - np.diagonal(x)[:, None] * u, axis=1)
    # In exact arithmetic no norm is above 1.
    u *= (1 - 4 * EPS) / np.linalg.norm(u, axis=1, keepdims=True)
    return [tuple(row) for row in u.tolist()], _certificate(exact, np.diagonal(x) + pulls)


def _certificate(exact: Gram, near: Floats) -> list[float]:
    """Return l near some numbers such that Diag(l) - X is shown to be positive semidefinite."""
    x = np.array(exact, dtype=np.float64)
    least = float(np.linalg.eigvalsh(np.diag(near) - x)[0])
    found, spare = near + max(0.0, -least), _margin(near, x)
    while not certifies(exact, found.tolist()):
        found, spare = found + spare, 2 * spare
    return list(map(float, found))


def certifies(exact: Gram, found: Sequence[float]) -> bool:
    """Tell whether Diag(l) - X is shown to be positive semidefinite: "Certificate" in the proofs.

    If the Cholesky factorization of A - m I succeeds in floats, A is positive semidefinite, where
    the margin m is at least what rounding can have changed.
    """
    x, diagonal = np.array(exact, dtype=np.float64), np.array(found)
    try:
        np.linalg.cholesky(np.diag(diagonal - _margin(diagonal, x)) - x)
    except np.linalg.LinAlgError:
        return False
    return True


def _margin(diagonal: Floats, x: Floats) -> float:
    # What is factorized in floats is a matrix nearby: by (r + 1) eps / 2 of its trace, and twice
    # that to spare. Rounding X and the differences is off by 2 eps of entries, which are at most
    # those of l and X on the diagonal.
    return (2 * len(x) + 8) * EPS * float((np.abs(diagonal) + np.diagonal(x)).sum()) + 1e-300


def square(exact: Gram, u: Sequence[Sequence[float]]) -> Fraction:
    """Return the sum of X_ij <u_i, u_j>, exactly."""
    total = Fraction(0)
    for axis in zip(*u, strict=True):
        along = list(map(Fraction, axis))
        for row, one in zip(exact, along, strict=True):
            total += one * sum(entry * other for entry, other in zip(row, along, strict=True))
    return total
