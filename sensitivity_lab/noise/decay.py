"""A privacy loss as a rational factor: how much less likely one step may make an outcome.

The laws of discrete mechanisms are powers of ``exp(-loss)``, which is no rational number. A
rational r that is a little larger takes its place, so that laws are exact and lose at most what was
asked for.
"""

from __future__ import annotations

import math
from fractions import Fraction

from sensitivity_lab.exact.enclosures import Enclosure, nearest_bounds

_BITS = 36
"""r loses at most one part in 2**36 of the privacy loss. More bits make powers of r long."""

_DIGITS = 60
"""Digits of exp(-loss), whose loss is from 1e-9 to 100: twenty at least are left of 1 - r."""


def decay(loss: Fraction) -> Fraction:
    """Return a short rational r below 1, at least exp(-loss), for a loss from 1e-9 to 100.

    Examples
    --------
    >>> r = decay(Fraction(1))
    >>> math.exp(-1) <= r < math.exp(-1) * (1 + 1e-10), r.denominator <= 2**38
    (True, True)
    """
    # Up: r is at least exp(-loss), so a law loses at most what was asked for.
    high = Fraction(Enclosure.of(-loss, _DIGITS).exp().high)
    # Both r and 1 - r keep their leading bits: rounding up is a small part of either.
    bits = _BITS + math.ceil(-math.log2(min(high, 1 - high)))
    return Fraction(math.ceil(high * 2**bits), 2**bits)


def loss_of(r: Fraction, times: Fraction | int = 1) -> float:
    """Return ``times * ln(1 / r)``, rounded up.

    Examples
    --------
    >>> loss_of(Fraction(1, 2), 2)
    1.3862943611198908
    """
    # Up as well: what is stated is not below what the law loses.
    return nearest_bounds(lambda digits: Enclosure.of(1 / r, digits).log() * times)[1]
