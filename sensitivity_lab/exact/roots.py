"""Exact distances: square roots of fractions, and their sums, compared without rounding.

A distance is a whole number, a fraction or a root. Two roots are of one class if one is a rational
times the other: if the product of their squares is the square of a rational. Roots of different
classes are linearly independent over the rationals, so a sum is zero only if the factors of every
class add up to zero, and what is not zero shows its sign at some precision (docs/proofs.md, "Sums
of roots").
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, total_ordering
from itertools import product
from typing import Any, Literal

import numpy as np

from sensitivity_lab.checks import Kind, check_not_negative, check_number, is_finite, number_text

from .difference import Difference, rational_root, round_up

_NUMBERS = (int, Fraction)


@total_ordering
@dataclass(frozen=True, eq=False, repr=False)
class Root:
    """The square root of a fraction; compared and scaled without rounding.

    Parameters
    ----------
    square : int, float, Fraction or Decimal
        What it is the root of, at least 0; kept as a Fraction.

    Raises
    ------
    InputError
        If `square` is not a finite number of at least 0.

    Notes
    -----
    A root is a number: it can be multiplied, compared with other numbers, and squared without
    rounding. A `Difference` stands for ``abs(sqrt(a) - sqrt(b))``, whose square need not be a
    fraction, so it cannot be replaced by a root. The other way round, a root is a difference from
    0: a `Difference` compares and rounds it.

    Examples
    --------
    >>> Root(Fraction(8))
    sqrt(8)
    >>> 2 * Root(Fraction(2)) == Root(Fraction(8)), Root(Fraction(8)) < 3
    (True, True)
    >>> float(Root(Fraction(2)))
    1.4142135623730951
    """

    square: Fraction

    def __post_init__(self) -> None:
        square = as_fraction(self.square, "square", check_not_negative)
        object.__setattr__(self, "square", square)

    @cached_property
    def _difference(self) -> Difference:
        """The root as a difference from zero."""
        return Difference(Fraction(self.square), Fraction(0), root=True)

    @property
    def upper(self) -> float:
        """The smallest float that is not below the root."""
        return self._difference.upper()

    def __float__(self) -> float:
        return self._difference.nearest()

    def __mul__(self, factor: Any) -> Distance:
        """Scale by a number that is not negative."""
        if not isinstance(factor, _NUMBERS) or factor < 0:
            return NotImplemented
        return root_of(self.square * Fraction(factor) ** 2)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        sign = self._sign_against(other)
        return NotImplemented if sign is None else sign == 0

    def __lt__(self, other: Any) -> bool:
        sign = self._sign_against(other)
        return NotImplemented if sign is None else sign < 0

    def _sign_against(self, other: object) -> int | None:
        """Return the sign of this root less another number; None for anything else."""
        if isinstance(other, Root):
            return self._difference.compared_with(other._difference)
        if not isinstance(other, (*_NUMBERS, float)):
            return None
        if other < 0 or not is_finite(other):
            return -1 if other > 0 else 1
        return self._difference.compared_with(Difference(Fraction(other), Fraction(0)))

    def __hash__(self) -> int:
        return hash(float(self))

    def __repr__(self) -> str:
        return f"sqrt({number_text(self.square)})"


Distance = int | Fraction | Root | float
"""The distance of two inputs or outputs; the only float is infinity."""


def whole(value: Fraction) -> int | Fraction:
    """Return a fraction as an int if it is a whole number.

    Examples
    --------
    >>> whole(Fraction(4, 2)), whole(Fraction(1, 2))
    (2, Fraction(1, 2))
    """
    return value.numerator if value.denominator == 1 else value


def root_of(square: Fraction | int) -> Distance:
    """Return the square root of a fraction: an int or a Fraction if it is one, else a `Root`.

    Examples
    --------
    >>> root_of(Fraction(9, 4)), root_of(12)
    (Fraction(3, 2), sqrt(12))
    """
    exact = rational_root(Fraction(square))
    return Root(Fraction(square)) if exact is None else whole(exact)


def upper_of(distance: Distance) -> float:
    """Return the smallest float that is not below a distance.

    Examples
    --------
    >>> upper_of(Fraction(1, 10)), upper_of(root_of(4))
    (0.1, 2.0)
    """
    if isinstance(distance, Root):
        return distance.upper
    return distance if isinstance(distance, float) else round_up(as_fraction(distance, "distance"))


def as_fraction(value: Any, name: str, kind: Kind[Fraction] = check_number) -> Fraction:
    """Return a number of a kind as the fraction that it stands for; truth values are 0 and 1.

    Raises InputError for anything else.
    """
    number = int(value) if isinstance(value, bool | np.bool_) else value
    return kind(name, number)


def show_number(value: Fraction | int) -> str:
    """Return a number as the shortest text that does not round it.

    Examples
    --------
    >>> show_number(Fraction(5)), show_number(Fraction(0.1)), show_number(Fraction(1, 3))
    ('5', '0.1', '1/3')
    """
    value = Fraction(value)
    if value.denominator == 1:
        return number_text(value)
    try:
        close = value.numerator / value.denominator
    except OverflowError:
        return number_text(value)
    return repr(close) if Fraction(close) == value else number_text(value)


_ZERO = Fraction(0)


@dataclass(frozen=True, eq=False)
class RootSum:
    """A sum of square roots of fractions, each times a fraction.

    Parameters
    ----------
    terms : tuple of (Fraction, Fraction)
        Factors and squares, no two of one class, no factor and no square 0; see `of`.

    Examples
    --------
    >>> one, two, eight = (RootSum.of([(1, Fraction(n))]) for n in (1, 2, 8))
    >>> two + two == eight, (eight - two) ** 2 == 2 * one, two + one < eight
    (True, True, True)
    >>> float(eight - two)
    1.4142135623730951
    """

    terms: tuple[tuple[Fraction, Fraction], ...]

    @classmethod
    def of(cls, terms: Iterable[tuple[Fraction | int, Fraction]]) -> RootSum:
        """Add up factors times the roots of squares, which are not negative."""
        factors: dict[Fraction, Fraction] = {}
        for factor, square in terms:
            if square == 0:
                continue
            for known in factors:
                # sqrt(square) = ratio sqrt(known): 3 sqrt(8) + sqrt(2) becomes 7/2 sqrt(8).
                ratio = rational_root(square / known)
                if ratio is not None:
                    factors[known] += ratio * factor
                    break
            else:
                factors[square] = Fraction(factor)
        return cls(tuple((factor, square) for square, factor in factors.items() if factor))

    def __add__(self, other: Any) -> RootSum:
        added = _as_sum(other)
        return NotImplemented if added is None else RootSum.of((*self.terms, *added.terms))

    __radd__ = __add__

    def __neg__(self) -> RootSum:
        return RootSum(tuple((-factor, square) for factor, square in self.terms))

    def __sub__(self, other: Any) -> RootSum:
        taken = _as_sum(other)
        return NotImplemented if taken is None else self + -taken

    def __mul__(self, other: Any) -> RootSum:
        by = _as_sum(other)
        if by is None:
            return NotImplemented
        pairs = product(self.terms, by.terms)
        return RootSum.of((one * two, first * second) for (one, first), (two, second) in pairs)

    __rmul__ = __mul__

    def __pow__(self, power: int) -> RootSum:
        found = RootSum.of([(1, Fraction(1))])
        for _ in range(power):
            found *= self
        return found

    def bracket(self, bits: int) -> tuple[Fraction, Fraction]:
        """Return rationals around the sum, closer with more bits."""
        low, high = _ZERO, _ZERO
        for factor, square in self.terms:
            # A factor below 0 turns the bracket round.
            ends = [factor * end for end in Difference(square, _ZERO, root=True).bracket(bits)]
            low, high = low + min(ends), high + max(ends)
        return low, high

    @cached_property
    def sign(self) -> int:
        """The sign: -1, 0 or 1."""
        if not self.terms:
            return 0
        bits = 64
        while True:  # it ends: the sum is not zero
            low, high = self.bracket(bits)
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
            bits *= 2

    def __eq__(self, other: object) -> bool:
        number = _as_sum(other)
        return NotImplemented if number is None else (self - number).sign == 0

    def __lt__(self, other: Any) -> bool:
        return bool((self - other).sign < 0)

    def __gt__(self, other: Any) -> bool:
        return bool((self - other).sign > 0)

    def __le__(self, other: Any) -> bool:
        return not self > other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __hash__(self) -> int:
        return hash(float(self))

    def __float__(self) -> float:
        """Return a float next to the sum, or the nearest where no terms cancel each other."""
        low, high = self.bracket(256)
        return float((low + high) / 2)


Gap = Fraction | RootSum
"""How far two numbers are apart, as a number."""


def _as_sum(number: object) -> RootSum | None:
    """Return a number as a sum of roots, None if it is no rational and no such sum."""
    if isinstance(number, RootSum):
        return number
    if isinstance(number, int | Fraction):
        return RootSum.of([(number, Fraction(1))])
    return None


def root_gap(first: Fraction, second: Fraction) -> RootSum:
    """Return how far the roots of two fractions are apart.

    Examples
    --------
    >>> root_gap(Fraction(2), Fraction(8)) == RootSum.of([(1, Fraction(2))])
    True
    """
    return RootSum.of([(1, max(first, second)), (-1, min(first, second))])


@dataclass(frozen=True, eq=False)
class RootNorm(Difference):
    """The norm L1 or L2 of several differences of roots; see `norm_of_roots`, which makes them.

    `first` and `second` say nothing of it; it is compared, bracketed and rounded as a whole.
    """

    gaps: tuple[Difference, ...] = ()
    norm: Literal["L1", "L2"] = "L1"

    @cached_property
    def size(self) -> RootSum:
        """The norm itself for L1, its square for L2."""
        found = RootSum(())
        for gap in self.gaps:
            one = root_gap(gap.first, gap.second)
            found += one**2 if self.norm == "L2" else one
        return found

    def bracket(self, bits: int = 128) -> tuple[Fraction, Fraction]:
        """Return rationals around the norm: of sums of brackets, where nothing cancels."""
        ends = [gap.bracket(bits + 8) for gap in self.gaps]
        if self.norm == "L1":
            return sum((low for low, _ in ends), _ZERO), sum((high for _, high in ends), _ZERO)
        low, high = (sum((end[side] ** 2 for end in ends), _ZERO) for side in (0, 1))
        of_low, of_high = (Difference(one, _ZERO, root=True).bracket(bits) for one in (low, high))
        return of_low[0], of_high[1]

    def _compared_with(self, other: Difference) -> int:
        """Return the sign of this norm less another difference."""
        # Norms of one kind by their sizes; else by squares, as no norm is below 0.
        if isinstance(other, RootNorm) and other.norm == self.norm:
            return (self.size - other.size).sign
        return (_squared(self) - _squared(other)).sign

    # Its own, so that Python asks them first if a Difference stands on the left.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Difference) and self._compared_with(other) == 0

    def __lt__(self, other: Difference) -> bool:
        return self._compared_with(other) < 0

    def __gt__(self, other: Difference) -> bool:
        return self._compared_with(other) > 0

    def __le__(self, other: Difference) -> bool:
        return self._compared_with(other) <= 0

    def __ge__(self, other: Difference) -> bool:
        return self._compared_with(other) >= 0

    def __hash__(self) -> int:
        return hash(self.nearest())


def _squared(difference: Difference) -> RootSum:
    """Return the square of a difference."""
    if isinstance(difference, RootNorm):
        return difference.size if difference.norm == "L2" else difference.size**2
    if difference.root:
        return root_gap(difference.first, difference.second) ** 2
    return RootSum.of([((difference.first - difference.second) ** 2, Fraction(1))])


def norm_of_roots(gaps: Iterable[Difference], norm: Literal["L1", "L2", "Linf"]) -> Difference:
    """Return the norm of several differences of roots.

    Examples
    --------
    >>> gaps = [
    ...     Difference(Fraction(2), Fraction(0), True),
    ...     Difference(Fraction(8), Fraction(2), True),
    ... ]
    >>> one = norm_of_roots(gaps, "L1")
    >>> one == Difference(Fraction(8), Fraction(0), True), norm_of_roots(gaps, "L2").nearest()
    (True, 2.0)
    """
    found = tuple(gaps)
    if norm == "Linf" or len(found) == 1:
        return max(found)
    return RootNorm(_ZERO, _ZERO, True, found, norm)
