"""Bounds of delta(epsilon) for many Laplace shifts: their losses on one grid.

The loss of a shift t is t - 2 C with 0 <= C <= t. On a grid of C, what lies between two points is
split among them (an upper bound) or merged with what is around it (a lower bound), so that both
bounds are off by less than one step. See docs/proofs.md, "Affine laws".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Masses = NDArray[np.float64]

_ROUNDED_SUMS = 1e-9
"""Relative error of a sum of products of masses: see `delta_on_grid`."""
_UNDERFLOWN = 1e-290
"""More than all masses together that are too small for a float."""


def delta_on_grid(
    sizes: tuple[Fraction, ...],
    points: int,
    beyond: Callable[[Fraction], tuple[float, float]] | None,
    epsilon: Fraction,
) -> tuple[float, float]:
    """Return proven bounds of delta(epsilon) for at most 100 shifts.

    Parameters
    ----------
    sizes : tuple of Fraction
        The shifts, above 0.
    points : int
        Steps of the grid, at most 2**15.
    beyond : callable, optional
        Bounds of the delta of what else is released, at any real epsilon.
    epsilon : Fraction
        At least 0, and below the sum of the shifts if there is no `beyond`.

    Notes
    -----
    Masses are positive floats, each with a relative error of a few units in the last place u =
    2**-53; a convolution adds at most ``points + 2`` of them. So all is off by a relative
    ``100 (points + 20) u < 1e-9``.
    """
    total = sum(sizes, Fraction(0))
    step = total / points
    if step > 1:
        return 0.0, 1.0
    low, high = _convolved(sizes, step, _merged), _convolved(sizes, step, _split)
    if beyond is None:
        # Ascending to the last point at which the loss is above epsilon, with the distance to it.
        last, rest = divmod((total - epsilon) / 2, step)
        distances = float(rest) + float(step) * np.arange(last, -1, -1, dtype=float)
        least = most = -np.expm1(-2 * distances)
    else:
        deltas = [beyond(epsilon - total + 2 * j * step) for j in range(max(len(low), len(high)))]
        least, most = (np.array(bound) for bound in zip(*deltas, strict=True))
    sums = [
        float(masses[: len(factors)] @ factors[: len(masses)])
        for masses, factors in ((low, least), (high, most))
    ]
    return (
        max(0.0, sums[0] * (1 - _ROUNDED_SUMS) - _UNDERFLOWN),
        min(1.0, sums[1] * (1 + _ROUNDED_SUMS) + _UNDERFLOWN),
    )


@lru_cache(maxsize=8)
def _convolved(
    sizes: Sequence[Fraction], step: Fraction, on_grid: Callable[[Fraction, Fraction], Masses]
) -> Masses:
    """Return the masses of the sum of all C on a grid."""
    masses = np.ones(1)
    for size in sizes:
        masses = np.convolve(masses, on_grid(size, step))
    return masses


def _split(size: Fraction, step: Fraction) -> Masses:
    """Split a loss among the points of a grid, so that both laws keep their masses.

    Mass p at a + r, between a and b = a + s, gives the part ``expm1(2 r) / expm1(2 s)`` to b. C is
    0 with probability 1/2, has the density exp(-c) / 2 up to `size`, and is `size` with what is
    left.
    """
    cells, rest = divmod(size, step)
    s, r, left = float(step), float(rest), float(step - rest)
    masses, starts = np.zeros(cells + 2), np.exp(-s * np.arange(cells + 1, dtype=float)) / 2
    # A whole cell from a to a + s, integrated.
    inside = starts[:cells] * -math.expm1(-s) / (math.exp(s) + 1)
    masses[:cells] += inside * math.exp(s)
    masses[1 : cells + 1] += inside
    # The rest of the last cell, and the atom at its end.
    part, width = starts[cells] * -math.expm1(-r), math.expm1(2 * s)
    masses[cells] += part * (1 - math.expm1(r) / width)
    masses[cells + 1] += part * math.expm1(r) / width
    atom = starts[cells] * math.exp(-r)
    masses[cells] += atom * math.exp(2 * r) * math.expm1(2 * left) / width
    masses[cells + 1] += atom * math.expm1(2 * r) / width
    masses[0] += 0.5
    return masses


def _merged(size: Fraction, step: Fraction) -> Masses:
    """Merge a loss into points of a grid; what is not on it is moved to the next larger C.

    Merging a cell of density exp(-c) / 2 gives its middle. Cells of two steps have it on the grid.
    The atom at the end is merged with what is above c_0, which puts it on the grid as well:
    ``exp(c_0 - t) = 1 - sqrt(1 - exp(-2 r))`` if it is r beyond a point.
    """
    place, rest = divmod(size, step)
    start = float(size) + math.log1p(-math.sqrt(-math.expm1(-2 * float(rest))))
    # A smaller c_0 moves the merged atom to a smaller C, from which it is moved to the grid.
    start -= 1e-12 * (1 + float(size))
    if start <= 0:
        # What this shift tells is left out: a loss of 0, or the next smaller one.
        nothing = np.zeros(math.ceil(size / step / 2) + 1)
        nothing[-1] = 1
        return nothing
    s = float(step)
    cells, part = divmod(Fraction(start), 2 * step)
    masses = np.zeros(max(place, 2 * cells + 1) + 1)
    lows = np.exp(-2 * s * np.arange(cells + 1, dtype=float)) / 2
    masses[1 : 2 * cells : 2] += lows[:cells] * -math.expm1(-2 * s)
    # The middle of the last part is within one step of its start.
    masses[2 * cells + 1] += lows[cells] * -math.expm1(-float(part))
    masses[place] += math.exp(-start) / 2
    masses[0] += 0.5
    return masses
