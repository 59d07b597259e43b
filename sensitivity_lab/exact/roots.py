"""Exact distances: whole numbers, fractions, and square roots of fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, total_ordering
from typing import Any

import numpy as np

from sensitivity_lab.checks import (
    Kind,
    check_not_negative,
    check_number,
    is_finite,
    number_text,
)

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
