"""Steps on a single number: formulas of x under the absolute difference, computed exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from fractions import Fraction
from operator import add
from typing import Any

import numpy as np

from sensitivity_lab.checks import check_callable, cut, shown, whole_number
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.roots import as_fraction, show_number, whole
from sensitivity_lab.metrics import AbsoluteDistance, Metric
from sensitivity_lab.pipelines.domains import Domain, Scalar
from sensitivity_lab.pipelines.transformation import MismatchError, Step, Transformation

from .numbers import Bounds

_TAKES = "formula takes a function of x made of +, -, *, / by a number, and x**2"


def formula(function: Callable[[Any], Any]) -> Step:
    """Replace a number x by a formula of it, such as ``lambda x: x + x``.

    Stability, for a formula a + b x: abs(b) d_in. The square of a number without bounds has none: x
    and x + 1 have squares that are 2 x + 1 apart, which is more than any claim for some x. Within
    bounds the map is the exact maximum of abs(f(x) - f(y)) over all x and y that are at most d_in
    apart.

    Parameters
    ----------
    function : callable
        Takes x and returns a formula of it, made of ``+``, ``-``, ``*``, division by a number, and
        ``x**2``. It is called once, with a symbol in place of x; the step computes the formula that
        comes out.

    Returns
    -------
    Step
        Takes a number under the absolute difference, for example after `number` or `sum_`. Returns
        the exact value, as an int or a Fraction.

    Raises
    ------
    InputError
        If the function does anything else with x, or its powers are above 2; in a chain, if there
        is a square and the number has no bounds.

    Notes
    -----
    Proof, for f(x) = a + b x + c x**2 on [L, U]: f(y + t) - f(y) = t (b + c (2 y + t)) is linear in
    y, so its absolute value is largest at y = L or y = U - t. Both are quadratic in t, so they are
    largest at the largest t or where their derivative is 0.

    References
    ----------
    Near and Abuah, "Programming Differential Privacy", chapter Sensitivity, Calculating
    Sensitivity.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> for f in (lambda x: x, lambda x: x + x, lambda x: 5 * x):
    ...     t = pl.number() >> formula(f)
    ...     print(t.name, t(3), t.map(1))
    formula(x) 3 1
    formula(2 * x) 6 2
    formula(5 * x) 15 5
    >>> pl.number() >> formula(lambda x: x**2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    sensitivity_lab.errors.InputError: cannot chain the start >> formula(x**2): ...
    >>> (pl.number(0, 10) >> formula(lambda x: x**2)).map(1)
    19
    """
    check_callable("formula: function", function, "a function of x, such as lambda x: x + x")
    made = _formula_of(function)
    name = cut(f"formula({made.text})")

    def build(domain: Domain, metric: Metric) -> Transformation:
        if not isinstance(domain, Scalar) or not isinstance(metric, AbsoluteDistance):
            raise MismatchError(f"a number ({AbsoluteDistance()}), for example number()")
        bounds = domain.bounds
        if made.square and bounds is None:
            step = _Formula(made.slope + made.square, 2 * made.square)
            raise MismatchError(
                f"only a number with bounds: with f(x) = {made.text}, f(x + 1) - f(x) is "
                f"{step.text}, which exceeds every bound for some x, so the sensitivity is "
                "unbounded; start from number(lower, upper)"
            )
        return Transformation(
            name,
            lambda x: whole(made.at(as_fraction(x, "a number"))),
            domain,
            metric,
            output_domain=Scalar(None if bounds is None else made.image(bounds)),
            output_metric=metric,
            stability_map=lambda d_in: whole(made.largest_change(Fraction(d_in), bounds)),
        )

    return Step(name, build)


def _formula_of(function: Callable[[Any], Any]) -> _Formula:
    """Return the formula that a caller's function makes of x, or raise InputError."""
    try:
        made = function(_Formula(slope=Fraction(1)))
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{_TAKES}; it raised {type(error).__name__}: {error}") from error
    if isinstance(made, _Formula):
        return made
    try:
        return _Formula(as_fraction(made, "the formula"))
    except InputError:
        raise InputError(f"{_TAKES}; it returned {shown(made)}") from None


@dataclass(frozen=True, eq=False)
class _Formula:
    """The formula ``constant + slope x + square x**2``, which stands for x while it is written."""

    constant: Fraction = Fraction(0)
    slope: Fraction = Fraction(0)
    square: Fraction = Fraction(0)

    __array_ufunc__ = None  # so that numpy's numbers leave arithmetic to this class
    __hash__ = None  # type: ignore[assignment]

    @property
    def text(self) -> str:
        """The formula as it would be written in code."""
        text = ""
        for factor, power in ((self.square, "x**2"), (self.slope, "x"), (self.constant, "")):
            if factor:
                size = show_number(abs(factor))
                term = " * ".join(part for part in (size, power) if part)
                term = power if power and abs(factor) == 1 else term
                sign = "-" if factor < 0 else "+"
                text += f" {sign} {term}" if text else term if factor > 0 else f"-{term}"
        return text or "0"

    def at(self, x: Fraction) -> Fraction:
        """Return the value at a number."""
        return self.constant + self.slope * x + self.square * x**2

    def image(self, bounds: Bounds) -> Bounds:
        """Return the smallest and the largest value within bounds."""
        places = list(bounds)
        if self.square and bounds[0] < (lowest := -self.slope / (2 * self.square)) < bounds[1]:
            places.append(lowest)
        values = list(map(self.at, places))
        return min(values), max(values)

    def largest_change(self, d_in: Fraction, bounds: Bounds | None) -> Fraction:
        """Return the largest change between numbers at most d_in apart; see `formula`."""
        if bounds is None:
            return abs(self.slope) * d_in
        farthest = min(d_in, bounds[1] - bounds[0])
        # The derivative at the lower bound, and that of the mirrored formula at the upper one.
        ends = self.slope + 2 * self.square * bounds[0], -self.slope - 2 * self.square * bounds[1]
        steps = [farthest]
        if self.square:
            steps += [t for end in ends if 0 < (t := -end / (2 * self.square)) < farthest]
        return max(t * abs(end + self.square * t) for t in steps for end in ends)

    def __add__(self, other: Any) -> _Formula:
        return _Formula(*map(add, astuple(self), astuple(_as_formula(other))))

    __radd__ = __add__

    def __neg__(self) -> _Formula:
        return self * -1

    def __pos__(self) -> _Formula:
        return self

    def __sub__(self, other: Any) -> _Formula:
        return self + -_as_formula(other)

    def __rsub__(self, other: Any) -> _Formula:
        return -self + _as_formula(other)

    def __mul__(self, other: Any) -> _Formula:
        product: Any = np.convolve(astuple(self), astuple(_as_formula(other)))
        if product[3:].any():
            raise InputError(f"{_TAKES}; it has a power of x above 2")
        constant, slope, square = product[:3]
        return _Formula(constant, slope, square)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> _Formula:
        return self * (1 / as_fraction(other, "what x is divided by"))

    def __pow__(self, power: Any) -> _Formula:
        if whole_number(power) not in (1, 2):
            raise InputError(f"{_TAKES}; it has the power {shown(power)}")
        return self if power == 1 else self * self

    def __eq__(self, other: object) -> bool:
        raise TypeError("x has no value yet and cannot be compared")

    def __bool__(self) -> bool:
        raise TypeError("x has no value yet and is neither true nor false")


def _as_formula(given: Any) -> _Formula:
    """Return a formula, or a number as a constant formula; or raise InputError."""
    if isinstance(given, _Formula):
        return given
    return _Formula(as_fraction(given, "a number in a formula"))
