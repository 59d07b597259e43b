"""Exact arithmetic on records: rationals, their roots, and directed rounding to floats.

Every record is a rational number, floats included, so the answers of the built-in queries are
rationals or, for the standard deviation, square roots of rationals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, total_ordering

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import Number as Number
from sensitivity_lab.checks import magnitude
from sensitivity_lab.errors import InputError

Integers = NDArray[np.object_]
"""An array of Python ints, which have no largest one."""


def rational_of(number: Number | np.longdouble) -> Fraction:
    """Return the rational that a number stands for; floats are not rounded either.

    Examples
    --------
    >>> rational_of(0.5), rational_of(Fraction(1, 3)), rational_of(np.longdouble(3))
    (Fraction(1, 2), Fraction(1, 3), Fraction(3, 1))
    """
    return Fraction(*number.as_integer_ratio())


def common_integers(records: Sequence[Number]) -> tuple[Integers, int]:
    """Write records as integers over one common denominator.

    Returns
    -------
    integers : ndarray of Python ints, shape (n,)
        ``records[i] == Fraction(integers[i], denominator)``, exactly.
    denominator : int
        A common denominator.

    Examples
    --------
    >>> integers, denominator = common_integers([0.5, 3, Fraction(1, 3)])
    >>> integers.tolist(), denominator
    ([3, 18, 2], 6)
    """
    ratios = [record.as_integer_ratio() for record in records]
    # A set first: many records share a denominator.
    denominator = math.lcm(*{below for _, below in ratios})
    integers = np.empty(len(ratios), dtype=object)
    integers[:] = [above * (denominator // below) for above, below in ratios]
    return integers, denominator


def integers_of_floats(records: NDArray[np.float64]) -> tuple[Integers, int]:
    """Write floats as `common_integers` does, with operations on whole arrays.

    Examples
    --------
    >>> integers, denominator = integers_of_floats(np.array([0.5, 3.0]))
    >>> [float(integer / denominator) for integer in integers]
    [0.5, 3.0]
    """
    mantissas, exponents = mantissas_of_floats(records)
    lowest = int(exponents[mantissas != 0].min(initial=0))
    # A zero has no exponent of its own: any shift does, as long as it is not negative.
    shifts = np.maximum(exponents - lowest, 0).astype(object)
    return mantissas.astype(object) << shifts, 1 << -lowest


def mantissas_of_floats(
    records: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Write floats as whole numbers of at most 54 bits times powers of two, exactly.

    Examples
    --------
    >>> mantissas, exponents = mantissas_of_floats(np.array([0.5, -3.0]))
    >>> np.ldexp(mantissas, exponents).tolist()
    [0.5, -3.0]
    """
    # frexp gives a fraction of [1/2, 1); times 2**53 it is a whole number.
    mantissas, exponents = np.frexp(records)
    return np.ldexp(mantissas, 53).astype(np.int64), exponents.astype(np.int64) - 53


def nearest(value: Fraction) -> float:
    """Return the float nearest to a rational; raise InputError beyond the range of floats."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        raise beyond_floats(value) from None


def beyond_floats(value: Fraction) -> InputError:
    """Return the error for an answer that is too large for a float."""
    return InputError(
        f"an answer of about {magnitude(abs(value))} is beyond the range of floats "
        "(about 1.8e308); divide the records by a constant"
    )


def round_up(value: Fraction) -> float:
    """Return the smallest float that is not below a rational.

    Examples
    --------
    >>> round_up(Fraction(1, 10)) == 0.1, round_up(Fraction(1, 3)) > Fraction(1, 3)
    (True, True)
    """
    # The nearest float is at most one away from the one above.
    close = nearest(value)
    return close if Fraction(close) >= value else math.nextafter(close, math.inf)


def round_down(value: Fraction) -> float:
    """Return the largest float that is not above a rational.

    Examples
    --------
    >>> round_down(Fraction(1, 10)) < 0.1, round_down(Fraction(1, 2))
    (True, 0.5)
    """
    return -round_up(-value)


@total_ordering
@dataclass(frozen=True, eq=False)
class Difference:
    """The distance of two exact answers, which is compared with others without rounding.

    Parameters
    ----------
    first, second : Fraction
        The two answers, or their squares if `root`; then neither is negative.
    root : bool, default False
        Whether the answers are the square roots of `first` and `second`.

    Examples
    --------
    >>> Difference(Fraction(8), Fraction(2), root=True) == Difference(
    ...     Fraction(2), Fraction(0), True
    ... )
    True
    >>> Difference(Fraction(1), Fraction(4)).exact
    Fraction(3, 1)
    """

    first: Fraction
    second: Fraction
    root: bool = False

    @cached_property
    def _distance(self) -> Fraction:
        """The distance of `first` and `second`."""
        return abs(self.first - self.second)

    @property
    def exact(self) -> Fraction | None:
        """The difference as a rational; None if the answers are roots."""
        return None if self.root else self._distance

    def nearest(self) -> float:
        """Return the difference as the nearest float (for roots: within 2**-100 of a tie)."""
        return nearest(self.close())

    def close(self) -> Fraction:
        """Return the difference as a rational; for roots within one part in 2**120."""
        if not self.root:
            return self._distance
        low, high = self.bracket()
        return (low + high) / 2

    def upper(self) -> float:
        """Return the smallest float that is not below the difference."""
        if not self.root:
            return round_up(self._distance)
        low, high = self.bracket()
        rounded = round_up(high)
        below = math.nextafter(rounded, -math.inf)
        # high lies above the true value by at most one part in 2**120; only then can the float
        # below `rounded` still be an upper bound, and an exact comparison decides.
        if low <= Fraction(below) and self <= Difference(Fraction(below), Fraction(0)):
            return below
        return rounded

    def bracket(self, bits: int = 128) -> tuple[Fraction, Fraction]:
        """Return a lower and an upper bound: equal, or within one part in ``2**(bits - 8)``."""
        if not self.root or self.first == self.second:
            return self._distance, self._distance
        # |sqrt a - sqrt b| = |a - b| / (sqrt a + sqrt b) has no cancellation.
        distance = self._distance
        (low_a, high_a), (low_b, high_b) = _root(self.first, bits), _root(self.second, bits)
        return distance / (high_a + high_b), distance / (low_a + low_b)

    def __eq__(self, other: object) -> bool:
        """Tell whether two differences are the same real number."""
        if not isinstance(other, Difference):
            return NotImplemented
        return self.compared_with(other) == 0

    def __lt__(self, other: Difference) -> bool:
        """Tell whether this difference is the smaller one."""
        return self.compared_with(other) < 0

    def __gt__(self, other: Difference) -> bool:
        """Tell whether this difference is the larger one."""
        return self.compared_with(other) > 0

    def __hash__(self) -> int:
        """Hash by the nearest float: equal differences share it."""
        return hash(self.nearest())

    def compared_with(self, other: Difference) -> int:
        """Return the sign of this difference less the other one."""
        if self.root or other.root:
            return _sign_of_difference(self._roots(), other._roots())
        mine, yours = self._distance, other._distance
        # This compares the fractions, but faster than Fraction does.
        left = mine.numerator * yours.denominator
        right = yours.numerator * mine.denominator
        return (left > right) - (left < right)

    def _roots(self) -> tuple[Fraction, Fraction]:
        """Return a >= b with the difference equal to sqrt a - sqrt b."""
        if self.root:
            return max(self.first, self.second), min(self.first, self.second)
        return (self.first - self.second) ** 2, Fraction(0)


def root_difference(square: Fraction) -> Difference:
    """Return the square root of a fraction as a difference from 0, without `root` if rational.

    Examples
    --------
    >>> root_difference(Fraction(9, 4)).exact, root_difference(Fraction(2)).exact
    (Fraction(3, 2), None)
    """
    exact = rational_root(square)
    if exact is None:
        return Difference(square, Fraction(0), root=True)
    return Difference(exact, Fraction(0))


def rational_root(square: Fraction) -> Fraction | None:
    """Return the square root of a fraction if it is a fraction too, else None.

    Examples
    --------
    >>> rational_root(Fraction(9, 4)), rational_root(Fraction(2))
    (Fraction(3, 2), None)
    """
    # In lowest terms, a fraction is a square exactly if both of its parts are.
    above, below = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if above * above == square.numerator and below * below == square.denominator:
        return Fraction(above, below)
    return None


def _root(value: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of a root: equal if rational, else of `bits` bits."""
    exact = rational_root(value)
    if exact is not None:
        return exact, exact
    # Scale by a power of four so that the integer root has at least so many bits.
    shift = max(0, bits + (value.denominator.bit_length() - value.numerator.bit_length()) // 2)
    # floor(sqrt(v) 2**shift), from v 4**shift: below the root by less than one unit.
    root = math.isqrt((value.numerator << 2 * shift) // value.denominator)
    return Fraction(root, 1 << shift), Fraction(root + 1, 1 << shift)


def _sign_of_difference(one: tuple[Fraction, Fraction], two: tuple[Fraction, Fraction]) -> int:
    """Return the sign of (sqrt a - sqrt b) - (sqrt c - sqrt d) for a >= b, c >= d, exactly."""
    (a, b), (c, d) = one, two
    if b == d:  # as for norms and distances, where both are 0: the larger square decides
        return (a > c) - (a < c)
    # sqrt a + sqrt d against sqrt b + sqrt c, squared: p + 2 sqrt(ad) against 2 sqrt(bc)
    p, ad, bc = a + d - b - c, a * d, b * c
    # p against 2 (sqrt(bc) - sqrt(ad)); signs first, then squares.
    sign_p = (p > 0) - (p < 0)
    sign_q = (bc > ad) - (bc < ad)
    if sign_p != sign_q or sign_p == 0:
        return (sign_p > sign_q) - (sign_p < sign_q)
    # p**2 against 4 (bc + ad - 2 sqrt(abcd)), that is r + 8 sqrt(abcd) against 0
    r = p * p - 4 * (bc + ad)
    product = 64 * ad * bc
    if r >= 0:
        sign = (r > 0) or (product > 0)
        return sign_p * int(sign)
    square = r * r
    return sign_p * ((product > square) - (product < square))
