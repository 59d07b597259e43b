"""Two affine laws of continuous noise, compared exactly.

A run that returns c + M Z, with Z independent standard Laplace and normal draws, has a law that c
and M tell. Both laws are brought to coordinates in which their draws are apart; what is judged
there is a shift of each coordinate, or a change of scale of a single one. See docs/proofs.md,
"Affine laws".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from sensitivity_lab.exact.matrices import (
    Matrix,
    Vector,
    components,
    dot,
    identity,
    inverse,
    product,
    reduced,
    transposed,
)

from .losses import Bounds, Loss, ScaleLoss, Shift, ShiftLoss

Noise = Literal["noise"]

_ROUNDED = Fraction(1, 10**12)
"""Constants that differ by less, in proportion, may be equal as real numbers."""


@dataclass(frozen=True)
class AffineLaw:
    """The law of center + matrix Z for independent draws Z.

    Parameters
    ----------
    center : tuple of Fraction, shape (m,)
        One per released number.
    matrix : tuple of tuples of Fraction, shape (m, n)
        A row per released number, a column per draw; it includes the scales.
    kinds : tuple of "Laplace" or "Gaussian", shape (n,)
        Each draw is standard Laplace, with density exp(-|z|) / 2, or standard normal.
    """

    center: tuple[Fraction, ...]
    matrix: tuple[tuple[Fraction, ...], ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Leak:
    """A combination of the released numbers that tells the two laws apart with probability 1.

    Parameters
    ----------
    weights : tuple of Fraction
        The combination, one weight per released number.
    p, q : Fraction or "noise"
        What it is under each law: a constant, or noise, which meets the other's constant with
        probability 0.
    """

    weights: tuple[Fraction, ...]
    p: Fraction | Noise
    q: Fraction | Noise

    @property
    def epsilon(self) -> float:
        """Infinite: no epsilon is enough."""
        return math.inf

    def swapped(self) -> Leak:
        """Return the same with the laws exchanged."""
        return Leak(self.weights, self.q, self.p)

    def delta(self, epsilon: Fraction | float) -> Bounds:
        """Return 1, as both bounds."""
        return 1.0, 1.0


@dataclass(frozen=True)
class NotJudged:
    """Two laws whose comparison is not known.

    Parameters
    ----------
    reason : str
        Why, in one sentence.
    epsilon : infinity or None
        Infinite if it is known that no epsilon of pure differential privacy is enough.
    """

    reason: str
    epsilon: float | None = None

    def swapped(self) -> NotJudged:
        """Return the same: nothing is known in any order."""
        return self

    def delta(self, epsilon: Fraction | float) -> Bounds:
        """Return 0 and 1, between which every delta is."""
        return 0.0, 1.0


def compare(p: AffineLaw, q: AffineLaw) -> Loss | Leak | NotJudged:
    """Compare the laws of what two datasets release.

    Parameters
    ----------
    p, q : AffineLaw
        Of equally many released numbers, which correspond in their order. Draws correspond only
        as far as the laws tell: columns may be in any order, and of any sign.

    Returns
    -------
    Loss, Leak or NotJudged
        `Loss`: exact, or with proven bounds. `Leak`: some combination of the released numbers has
        no noise in one law, and is something else in the other.

    Notes
    -----
    Judged are shifts of any number of Laplace and normal draws under the same noise, where a
    change of coordinates sets the Laplace draws apart from each other and from the normal ones;
    and a single number with a single draw (or several normal ones) of two scales. At most
    O(m**2 (m + n)) operations on fractions.

    Examples
    --------
    >>> one, two = Fraction(1), Fraction(2)
    >>> p = AffineLaw((Fraction(0),), ((two,),), ("Laplace",))
    >>> loss = compare(p, AffineLaw((one,), ((two,),), ("Laplace",)))
    >>> loss.epsilon, loss.delta(0)
    (Fraction(1, 2), (0.22119921692859512, 0.22119921692859515))
    """
    # The first coordinates have independent noise under P, the others have none.
    change, rank = reduced(p.matrix)
    mine, other = _Noise.of(p, change), _Noise.of(q, change)
    noise_free, from_here = reduced(q.matrix)
    # A combination without noise under one law is enough, so those of each law are tried.
    leaks = [_leak(change[rank:], p, q), _leak(noise_free[from_here:], p, q)]
    # A leak that is sure comes before one that rounding may explain.
    for leak in sorted((one for one in leaks if one), key=lambda one: isinstance(one, NotJudged)):
        return leak
    # The combinations from `rank` on are the same constants in both laws: public.
    # Coordinates that share noise under either law are in one block; blocks are independent.
    blocks = components(rank, [*mine.links(rank), *other.links(rank)])
    found = [_judged(mine.part(rows), other.part(rows)) for rows in blocks]
    return _together([one for one in found if one is not None], len(p.center))


def _leak(combinations: Matrix, p: AffineLaw, q: AffineLaw) -> Leak | NotJudged | None:
    """Return a combination that is a constant in one law only, or two constants.

    If all of a basis are the same constants in both laws, so are all combinations. Constants that
    differ by no more than floats round tell nothing of what real numbers would do.
    """
    near = None
    for weights in combinations:
        at_p, at_q = _value(weights, p), _value(weights, q)
        if at_p == at_q:
            continue
        if isinstance(at_p, Fraction) and isinstance(at_q, Fraction):
            # Sums of floats are off in proportion to what was added, not to the sum.
            terms = zip(weights, p.center, q.center, strict=True)
            size = sum((abs(w) * max(abs(a), abs(b)) for w, a, b in terms), Fraction(0))
            if abs(at_p - at_q) <= _ROUNDED * size:
                near = NotJudged(
                    "noise-free combinations of what is released differ by less than floats round"
                )
                continue
        return Leak(tuple(weights), at_p, at_q)
    return near


def _value(weights: Vector, law: AffineLaw) -> Fraction | Noise:
    """Return what a combination is under a law."""
    if any(any(row) for row in product([weights], law.matrix)):
        return "noise"
    return dot(weights, law.center)


@dataclass(frozen=True)
class _Noise:
    """A law after a change of coordinates.

    Parameters
    ----------
    weights : matrix, shape (m, released numbers)
        What each coordinate is of the released numbers.
    center : vector, shape (m,)
        The centers of the coordinates.
    laplace : list of vectors, each of shape (m,)
        The Laplace columns that are not 0, in ascending order, each with the sign that makes its
        first entry positive: equal lists are equal laws of the noise, and the other way round.
    covariance : matrix, shape (m, m)
        Of the normal draws together.
    """

    weights: Matrix
    center: Vector
    laplace: Matrix
    covariance: Matrix

    @staticmethod
    def of(law: AffineLaw, change: Matrix) -> _Noise:
        """Return a law in the coordinates that the rows of `change` are."""
        columns = transposed(product(change, law.matrix)) if change else []
        by_kind: dict[str, Matrix] = {"Laplace": [], "Gaussian": []}
        for kind, column in zip(law.kinds, columns, strict=True):
            by_kind[kind].append(column)
        rows = transposed(by_kind["Gaussian"]) or [[] for _ in change]
        return _Noise(
            change,
            [dot(row, law.center) for row in change],
            _sorted(by_kind["Laplace"]),
            [[dot(one, other) for other in rows] for one in rows],
        )

    def links(self, rank: int) -> list[list[int]]:
        """Return which of the first coordinates share noise."""
        return [_places(column[:rank]) for column in (*self.laplace, *self.covariance[:rank])]

    def part(self, rows: list[int]) -> _Noise:
        """Return the law of some coordinates."""
        return _Noise(
            [self.weights[i] for i in rows],
            [self.center[i] for i in rows],
            _sorted([[column[i] for i in rows] for column in self.laplace]),
            [[self.covariance[i][j] for j in rows] for i in rows],
        )

    def changed(self, change: Matrix) -> _Noise:
        """Return the law of combinations of the coordinates, one per row of `change`."""
        return _Noise(
            product(change, self.weights),
            [dot(row, self.center) for row in change],
            _sorted(product(self.laplace, transposed(change))),
            product(product(change, self.covariance), transposed(change)),
        )

    @property
    def is_laplace(self) -> bool:
        """Whether there are no normal draws."""
        return not any(any(row) for row in self.covariance)


def _sorted(columns: Matrix) -> Matrix:
    """Return the columns that are not 0, with their signs and their order; see `_Noise`."""
    signed = []
    for column in columns:
        # Z and -Z have one law, so the sign of a column tells nothing.
        first = next((entry for entry in column if entry), Fraction(0))
        if first:
            signed.append([-entry for entry in column] if first < 0 else column)
    return sorted(signed)


_Judged = ShiftLoss | ScaleLoss | NotJudged

_ADDED = NotJudged("Laplace draws are added to other draws in one released number")


def _judged(p: _Noise, q: _Noise) -> _Judged | None:
    """Compare two laws of coordinates that hang together; None if they are equal."""
    # Equal noise: only centers are compared. Otherwise the scale of one number may be.
    if p.laplace == q.laplace and p.covariance == q.covariance:
        return None if p.center == q.center else _same_noise(p, q)
    size = len(p.center)
    if not (p.laplace or q.laplace):
        if size > 1:
            return NotJudged(
                f"the covariances of normal noise on {size} released numbers differ; delta is "
                "known for one number only",
                math.inf,
            )
        spread = p.covariance[0][0], q.covariance[0][0]
        return _scales("Gaussian", p, q, spread)
    if size == len(p.laplace) == len(q.laplace) == 1 and p.is_laplace and q.is_laplace:
        return _scales("Laplace", p, q, (p.laplace[0][0], q.laplace[0][0]))
    return NotJudged(
        "the noise differs between the two datasets in more than the scale of one draw on one "
        "number"
    )


def _scales(kind: str, p: _Noise, q: _Noise, spread: tuple[Fraction, Fraction]) -> ScaleLoss:
    return ScaleLoss(kind, tuple(p.weights[0]), (p.center[0], spread[0]), (q.center[0], spread[1]))


def _same_noise(p: _Noise, q: _Noise) -> _Judged:
    """Compare two centers of the same noise.

    Coordinates are changed so that Laplace draw i is in coordinate i alone, and the last ones have
    normal noise only. What the last ones tell of the normal noise in the first is subtracted.
    """
    # If the Laplace columns are linearly independent, `change` turns them into the first unit
    # vectors.
    change, rank = reduced(transposed(p.laplace)) if p.laplace else (identity(len(p.center)), 0)
    if rank < len(p.laplace):
        return _ADDED
    released = len(p.weights[0])
    p, q = p.changed(change), q.changed(change)
    first, last = list(range(rank)), list(range(rank, len(change)))
    normal = _part_of_normal(p.part(last), q.part(last)) if last else None
    if last:
        across = [[p.covariance[i][j] for j in last] for i in first]
        explained = product(across, inverse(p.part(last).covariance))
        # Each of the first coordinates less its regression on the last ones.
        rest = [
            [Fraction(i == j) for j in first] + [-entry for entry in explained[i]] for i in first
        ]
        p, q = p.changed(rest), q.changed(rest)
    return _with_shifts(p, q, normal, released)


def _part_of_normal(p: _Noise, q: _Noise) -> ShiftLoss | None:
    """Return the loss of two centers of normal noise of full rank; None if they are equal."""
    gap = [a - b for a, b in zip(p.center, q.center, strict=True)]
    if not any(gap):
        return None
    # With gap d and covariance S, the logarithm of the ratio of densities at y is d S^-1 y, less
    # its value in the middle of the centers, and mu^2 is d S^-1 d.
    direction = product([gap], inverse(p.covariance))
    middle = (dot(direction[0], p.center) + dot(direction[0], q.center)) / 2
    weights = product(direction, p.weights)[0]
    return ShiftLoss((), tuple(weights), middle, dot(direction[0], gap))


def _with_shifts(p: _Noise, q: _Noise, normal: ShiftLoss | None, released: int) -> _Judged:
    """Compare coordinates of one Laplace draw each, and what normal noise is left in them."""
    # The columns are sorted: which is whose coordinate does not matter, all have the entry 1.
    shifts = []
    for part in components(
        len(p.center), ([i, *_places(row)] for i, row in enumerate(p.covariance))
    ):
        # The normal noise that is left in the coordinates of a part is correlated.
        moved = [i for i in part if p.center[i] != q.center[i]]
        if moved and any(p.covariance[i][i] for i in part):
            return _ADDED  # normal noise that is added hides more; how much more is not known
        shifts += [Shift(tuple(p.weights[i]), p.center[i], q.center[i]) for i in moved]
    nothing = ShiftLoss((), (Fraction(0),) * released)
    return replace(normal or nothing, shifts=tuple(shifts))


def _places(row: Vector) -> list[int]:
    return [i for i, entry in enumerate(row) if entry]


def _together(found: list[_Judged], size: int) -> Loss | NotJudged:
    """Compose independent parts of two laws."""
    # Epsilons of independent parts add up, so one infinite part settles the pure epsilon.
    endless = any(one.epsilon == math.inf for one in found)
    for one in found:
        if isinstance(one, NotJudged):
            return NotJudged(one.reason, math.inf if endless else None)
    scales = [one for one in found if isinstance(one, ScaleLoss)]
    if scales and len(found) > 1:
        return NotJudged(
            "a scale of the noise differs between the two datasets, and so does something else "
            "that they release",
            math.inf,
        )
    if scales:
        return scales[0]
    # The logarithms of ratios of independent parts add up, and with them weights, middles and mu
    # squared.
    shifts = [one for one in found if isinstance(one, ShiftLoss)]
    return ShiftLoss(
        tuple(shift for one in shifts for shift in one.shifts),
        tuple(sum((one.weights[i] for one in shifts), Fraction(0)) for i in range(size)),
        sum((one.middle for one in shifts), Fraction(0)),
        sum((one.mu_squared for one in shifts), Fraction(0)),
    )
