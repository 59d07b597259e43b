"""Contributions that are vectors: a semidefinite program over one pattern, and its certificate.

The vectors u_i have a norm of at most 1, and the sum of X_ij <u_i, u_j> is to be largest. With
Z_ij = <u_i, u_j> that is linear in Z, which is positive semidefinite with a diagonal of 1. See
docs/proofs.md, "Participation in a stream".
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import round_up

Floats = NDArray[np.float64]
Gram = list[list[Fraction]]

_EPS = float(np.finfo(np.float64).eps)

_STEPS = 60
"""The most steps of the interior point method, which needs some 15."""

_SWEEPS = 400
"""How often each vector is turned towards the others, at most."""


def solved(gram: Floats) -> tuple[Floats, Floats]:
    """Return Z and the multipliers y of the program, by an interior point method.

    Parameters
    ----------
    gram : ndarray, shape (r, r)
        X, symmetric.

    Returns
    -------
    z : ndarray, shape (r, r)
        Positive definite, with a diagonal of 1, near the optimum.
    y : ndarray, shape (r,)
        Diag(y) - X is positive definite, and the sum of y near the optimum.

    References
    ----------
    Helmberg, Rendl, Vanderbei, Wolkowicz, An interior-point method for semidefinite programming,
    SIAM Journal on Optimization 6 (1996), section 4.
    """
    scale = float(np.abs(gram).max()) or 1.0
    x = gram / scale
    size = len(x)
    z, y = np.eye(size), 1.1 * np.abs(x).sum(axis=1) + 0.1
    for _ in range(_STEPS):
        s = np.diag(y) - x
        gap = float((z * s).sum())
        if gap < 1e-14 * (1 + y.sum()):
            break
        # Newton's step for Z S = mu I, with mu halved: `dy` first, and `dz` from it.
        mu, inverse = gap / (2 * size), np.linalg.inv(s)
        try:
            dy = np.linalg.solve(inverse * z, mu * np.diagonal(inverse) - 1)
        except np.linalg.LinAlgError:
            break
        dz = mu * inverse - z - inverse @ (dy[:, None] * z)
        dz = (dz + dz.T) / 2
        z, y = z + _length(z, dz) * dz, y + _length(s, np.diag(dy)) * dy
    root = np.sqrt(np.diagonal(z))
    return z / np.outer(root, root), y * scale


def _length(matrix: Floats, step: Floats) -> float:
    """Return how far a step can go until a matrix is no longer positive definite, at most 1."""
    length = 1.0
    while length > 1e-12:
        try:
            np.linalg.cholesky(matrix + length * step)
        except np.linalg.LinAlgError:
            length *= 0.8
        else:
            return length if length == 1 else 0.95 * length
    return 0.0


def certificate(exact: Gram, y: Floats) -> Floats:
    """Return l near y such that Diag(l) - X is shown to be positive semidefinite."""
    x = np.array(exact, dtype=np.float64)
    least = float(np.linalg.eigvalsh(np.diag(y) - x)[0])
    l = y + max(0.0, -least)
    spare = _margin(l, x)
    while not certifies(exact, l):
        l, spare = l + spare, 2 * spare
    return l


def certifies(exact: Gram, l: Floats) -> bool:
    """Tell whether Diag(l) - X is shown to be positive semidefinite: "Certificate" in the proofs.

    If the Cholesky factorization of A - m I succeeds in floats, A is positive semidefinite, where
    the margin m is at least what rounding can have changed.
    """
    x = np.array(exact, dtype=np.float64)
    try:
        np.linalg.cholesky(np.diag(l) - x - _margin(l, x) * np.eye(len(x)))
    except np.linalg.LinAlgError:
        return False
    return True


def _margin(l: Floats, x: Floats) -> float:
    # The factorization is that of a matrix nearby: by (r + 1) eps / 2 times the trace, and as much
    # to spare. Rounding X to floats, subtracting it and the margin is off by 2 eps of the entries,
    # which are at most those of l and X on the diagonal.
    return (2 * len(x) + 8) * _EPS * float(np.abs(l).sum() + np.trace(x)) + 1e-300


def vectors(exact: Gram, z: Floats, dimension: int) -> list[tuple[float, ...]]:
    """Return vectors of a dimension, of norm at most 1, whose inner products are near Z.

    Notes
    -----
    Directions are taken out of the span of the vectors as long as the value allows ("Vectors" in
    docs/proofs.md); then each vector in turn is put where the others pull it.
    """
    x = np.array(exact, dtype=np.float64)
    values, axes = np.linalg.eigh(z)
    kept = values > 1e-7 * values[-1]
    u = axes[:, kept] * np.sqrt(values[kept])
    while u.shape[1] > dimension:
        u = _flattened(u)
    u = np.pad(u, ((0, 0), (0, dimension - u.shape[1])))
    pull = x - np.diag(np.diagonal(x))
    for _ in range(_SWEEPS):
        before = u.copy()
        for i, row in enumerate(pull):
            towards = row @ u
            size = float(np.linalg.norm(towards))
            if size > 0:
                u[i] = towards / size
        if np.abs(u - before).max() < 1e-15:
            break
    # In exact arithmetic no norm is above 1.
    u *= (1 - 4 * _EPS) / np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1e-300)
    return [tuple(row) for row in u.tolist()]


def _flattened(u: Floats) -> Floats:
    """Return vectors with one dimension less; with the same value, if that is possible."""
    size, rank = u.shape
    places = np.triu_indices(rank)
    # Symmetric D with u_i' D u_i = 0 for all i: then I + t D changes neither norms nor the value.
    rows = u[:, places[0]] * u[:, places[1]] * np.where(places[0] == places[1], 1, 2)
    _, sizes, base = np.linalg.svd(rows, full_matrices=True)
    if len(base) > size or sizes[-1] < 1e-10 * sizes[0]:
        d = np.zeros((rank, rank))
        d[places] = base[-1]
        d = d + d.T - np.diag(np.diagonal(d))
    else:
        d = np.diag([-1.0, *([0.0] * (rank - 1))])  # away with the shortest direction
    values, axes = np.linalg.eigh(d)
    if abs(values[-1]) > abs(values[0]):
        values = -values
    # t is the largest for which I + t D has no negative eigenvalue: one becomes 0.
    scales = np.sqrt(np.maximum(1 - values / values.min(), 0.0))
    lost = int(np.argmin(scales))
    return np.delete((u @ axes) * scales, lost, axis=1)


def square(exact: Gram, contributions: list[tuple[float, ...]]) -> Fraction:
    """Return the sum of X_ij <u_i, u_j>, exactly."""
    rows = [[Fraction(entry) for entry in row] for row in contributions]
    total = Fraction(0)
    for axis in zip(*rows, strict=True):
        total += sum(
            (x * a * b for row, a in zip(exact, axis, strict=True) if a
             for x, b in zip(row, axis, strict=True) if b),
            Fraction(0),
        )
    return total


def upper_square(l: Floats) -> float:
    """Return the sum of a certificate, rounded up."""
    return round_up(sum(map(Fraction, l.tolist()), Fraction(0)))
