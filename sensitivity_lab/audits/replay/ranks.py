"""Claims beside truths: claims at a distance, and which of two pairs is worse."""

from __future__ import annotations

import math
from fractions import Fraction

from sensitivity_lab.exact.difference import Difference, Number


def times(k: int, claim: Number) -> Number:
    """Return the claim at distance k: a float as a float if it is in range, others exactly."""
    if isinstance(claim, float) and not math.isinf(k * claim):
        return k * claim
    return k * claim if isinstance(claim, int) else k * Fraction(claim)


def excess(truth: Difference, claim: Number) -> tuple[bool, bool, Fraction]:
    """Rank a pair by truth over claim, where x / 0 is the largest ratio and 0 / 0 the smallest.

    In an L2 norm the truth is a root, so the squares of truth and claim are compared.
    """
    size = truth.first if truth.root else truth.close() ** 2
    nothing = claim == 0
    return nothing and size > 0, not nothing, size if nothing else size / Fraction(claim) ** 2


def division(claims: tuple[Number, Number]) -> tuple[bool, Fraction]:
    """Rank a pair by the larger claim over the smaller, where x / 0 is the largest ratio."""
    small, large = sorted(Fraction(claim) for claim in claims)
    return small == 0, large if small == 0 else large / small
