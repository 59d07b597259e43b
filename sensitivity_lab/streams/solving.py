"""Which way finds the sensitivity of a stream, and what it finds: two sets of contributions.

Contributions can be vectors, on one pattern; a certificate bounds all others. The vectors u_i have
a norm of at most 1, and the sum of X_ij <u_i, u_j> is to be largest. If Diag(l) - X is positive
semidefinite, it is at most the sum of l. See docs/proofs.md, "Participation in a stream".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.difference import Difference

from .search import Descending, Floats, Node, Rule, best_sum
from .stream import EPS, Gram, Stream

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


Contribution = Literal["number", "one"] | int

Contributions = Mapping[int, Any]
"""What a person contributes, by step: a number, or a vector in a tuple."""

_MOST_NEAR = 5000
"""So many patterns that floats cannot tell apart are compared exactly."""

_MOST_PATTERNS = 3000
"""Of so many patterns all pairs are compared."""

NOTHING: Contributions = {}


class Answer(NamedTuple):
    """The contributions in x and in y that are furthest apart, and how far others can be.

    `upper` bounds the square of the norm; None if no others are further apart. `certificate` has
    the l of each step of x.
    """

    x: Contributions
    y: Contributions
    method: str
    upper: Fraction | None = None
    certificate: Mapping[int, float] | None = None


def root(squared: Fraction) -> Difference:
    """Return a norm by its square, which rounding may have made negative in a Gram matrix."""
    return Difference(max(squared, Fraction(0)), Fraction(0), root=True)


def measure(stream: Stream, x: Contributions, y: Contributions) -> Fraction:
    """Return the square of how far two sets of contributions move the release, exactly."""
    steps = sorted({*x, *y})
    # Differences are exact: y is empty, has the opposite contributions, or all of them are 1.
    moved = [np.atleast_1d(np.subtract(x.get(t, 0), y.get(t, 0))).tolist() for t in steps]
    return square(stream.exact_gram(steps), moved)


def solve(stream: Stream, rule: Rule, contribution: Contribution, replace: bool) -> Answer:
    """Find the contributions that are furthest apart, as far as the time allows."""
    if contribution == "one" and replace:
        return _of_pairs(stream, rule)
    found = _of_one(stream, rule, contribution)
    if not replace:
        return found
    # "Replaced" in docs/proofs.md: nothing is further from x than its opposite.
    minus = {
        t: tuple(-a for a in one) if isinstance(one, tuple) else -one for t, one in found.x.items()
    }
    return found._replace(y=minus, upper=None if found.upper is None else 4 * found.upper)


def _of_one(stream: Stream, rule: Rule, contribution: Contribution) -> Answer:
    if stream.falling:
        earliest = range(0, rule.most * rule.gap, rule.gap)
        return Answer(
            dict.fromkeys(earliest, 1), NOTHING, "the earliest pattern (falling Toeplitz)"
        )
    if not stream.touches(rule):
        _, steps = best_sum(stream.exact_squares, rule)
        return Answer(dict.fromkeys(steps, 1), NOTHING, "dynamic programming (banded)")
    return _searched(stream, rule, contribution)


def _searched(stream: Stream, rule: Rule, contribution: Contribution) -> Answer:
    """Return what is best on the patterns that can be best, from the most promising one on."""
    error = stream.error(rule.most)
    # Products of columns without negative entries keep their sign in floats; others only if exact.
    least = float(stream.gram[np.triu_indices(rule.steps, rule.gap)].min())
    mixed = least < 0 or bool(error and (stream.given < 0).any())
    dimension = contribution if isinstance(contribution, int) and mixed else 0
    # No vectors do more than the sum of |X_ij| over their pattern: "Vectors" in docs/proofs.md.
    gram, slack = (np.abs(stream.gram), np.inf) if dimension else (stream.gram, 4 * error)
    search = Descending(gram, rule, mixed and contribution == "number", slack)
    tried: list[tuple[Fraction, Fraction, Answer]] = []

    def see(node: Node) -> None:
        """Solve a pattern exactly, or for vectors within bounds; leave out what cannot do more."""
        x: dict[int, Any] = dict(zip(node.steps, node.signs, strict=True))
        certificate = None
        if dimension:
            u, shown = vectors(stream.exact_gram(node.steps), dimension)
            x = dict(zip(x, u, strict=True))
            certificate = dict(zip(x, shown, strict=True))
        done = measure(stream, x, NOTHING)
        bound = sum(map(Fraction, certificate.values()), Fraction(0)) if certificate else done
        tried.append((done, bound, Answer(x, NOTHING, "", None, certificate)))
        # Floats of what is better are off by `error` at most.
        search.floor = max(search.floor, float(done) * (1 - 1e-12) - 2 * error)

    method = "semidefinite programs" if dimension else "branch and bound"
    try:
        for node in search:
            see(node)
            if not (error or dimension):
                break
            if len(tried) > _MOST_NEAR:
                raise TooLargeError(f"{_MOST_NEAR} patterns are too near")
    except TooLargeError:
        see(search.best)
        search.floor = search.bound
        method += " that was not finished"
    upper = max(Fraction(search.floor) + Fraction(error), *(bound for _, bound, _ in tried))
    _, _, best = max(tried, key=lambda one: one[0])
    return best._replace(method=f"{method}, {len(tried):,} patterns compared", upper=upper)


def _of_pairs(stream: Stream, rule: Rule) -> Answer:
    """Return two patterns of contributions of 1, in x and in y, that are furthest apart."""
    patterns = list(islice(rule.patterns(), _MOST_PATTERNS + 1))
    if len(patterns) > _MOST_PATTERNS:
        raise TooLargeError(
            f"neighbors='replace' compares all pairs of patterns of ones, of at most "
            f"{_MOST_PATTERNS:,} patterns, and here are more; choose a smaller k, a larger "
            "separation, or contribution='number', which is an upper bound"
        )
    held = np.array([np.bincount(pattern, minlength=rule.steps) for pattern in patterns], float)
    products = held @ stream.gram @ held.T
    own = np.diagonal(products)
    far = (own[:, None] + own - 2 * products).ravel()
    # Sums over two patterns, with as many additions as there are steps, four times.
    error = 4 * stream.error(2 * rule.most)
    near = np.flatnonzero(far >= far.max() - 2 * error)[:_MOST_NEAR]
    pairs = [
        [dict.fromkeys(patterns[i], 1) for i in divmod(int(place), len(patterns))] for place in near
    ]
    x, y = max(pairs, key=lambda pair: measure(stream, *pair))
    upper = Fraction(float(far.max()) + error) if len(pairs) == _MOST_NEAR else None
    return Answer(x, y, f"all pairs of {len(patterns):,} patterns", upper)
