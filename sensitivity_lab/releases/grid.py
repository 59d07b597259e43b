"""Numbers on a public grid: what a cell of a table counts as, whatever else is in the table."""

from __future__ import annotations

import math
from collections.abc import Sized
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import (
    check_bounds,
    check_number,
    check_positive,
    is_of_data,
    listed,
    number_text,
    shown,
)
from sensitivity_lab.errors import InputError

FINEST = 2**24
"""The most steps of a grid: squares of whole numbers of steps are exact, in two halves."""

_LARGEST = 10**100
"""The largest bound: squares of numbers within it, and their sums, are floats."""

_REAL_STEPS = 2**16
"""The steps of a grid of real numbers, where the caller names none."""

WHOLE = 100
"""A histogram has a bin for each of so many values; beyond, values share bins."""


@dataclass(frozen=True)
class Grid:
    """The values ``lower + j * step`` of a column, for j from 0 to `steps`.

    Attributes
    ----------
    column : str
    lower, step : Fraction
    steps : int
        At least 1.
    starts : tuple of int
        Where the bins of its histogram begin, in steps.
    """

    column: str
    lower: Fraction
    step: Fraction
    steps: int
    starts: tuple[int, ...]

    @property
    def upper(self) -> Fraction:
        """The largest value."""
        return self.lower + self.steps * self.step

    @property
    def is_whole(self) -> bool:
        """Whether each value has a bin of its own, so that the histogram has all that there is."""
        return len(self.starts) > self.steps

    @property
    def values(self) -> NDArray[np.float64]:
        """The values at which the bins begin, and the largest value."""
        places = [*self.starts, *([] if self.is_whole else [self.steps])]
        return np.array([float(self.lower + place * self.step) for place in places])

    def places(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the nearest step of each number; what is outside counts as the nearest end."""
        with np.errstate(over="ignore"):
            nearest = numbers - float(self.lower)
            if self.step != 1:
                nearest /= float(self.step)
            # floor(x + 1/2) sends halves up. A cell beyond the ends, infinite ones included, is
            # clipped.
            nearest += 0.5
        np.floor(nearest, out=nearest)
        return np.clip(nearest, 0, self.steps, out=nearest).astype(np.int64)

    def __str__(self) -> str:
        ends = " to ".join(map(as_text, (self.lower, self.upper)))
        step = "whole numbers" if self.step == 1 else f"in steps of {as_text(self.step)}"
        return f"{self.column} from {ends}, {step}"


def as_text(number: Fraction) -> str:
    """Return a number as people write it: a decimal, that of a float or its own, or a fraction."""
    short = repr(float(number))
    is_short = number in (Fraction(short), Fraction(float(number)))
    return short.removesuffix(".0") if is_short else number_text(number)


def as_written(number: Any) -> Fraction:
    """Return a public number as a person writes it: 0.1 is a tenth, and not the float."""
    return Fraction(repr(float(number))) if isinstance(number, float) else Fraction(number)


def grid_of(column: str, bounds: Any, step: Any, edges: Any, bins: int = WHOLE) -> Grid:
    """Return the grid of a column, or raise InputError.

    `bounds` is a range of whole numbers or the two ends of real ones, `step` the distance of two
    neighboring values, and `edges` the values at which bins begin; None for the defaults. `bins` is
    about how many bins there are where values share them.
    """
    name = f"bounds[{shown(column)}]"
    whole = isinstance(bounds, range)
    if whole and len(bounds) > 1:
        low, high = sorted((bounds[0], bounds[-1]))
        lower, upper = Fraction(low), Fraction(high)
        step = abs(bounds.step) if step is None else step
    else:
        if is_of_data(bounds):
            raise InputError(
                f"{name} comes from an array or a table; write the bounds as numbers that were "
                "chosen without looking at the data, such as (0, 24) or range(25)"
            )
        lower, upper = map(as_written, check_bounds(name, bounds))
    if lower == upper or max(abs(lower), abs(upper)) > _LARGEST:
        raise InputError(
            f"{name} must be two different numbers, neither beyond 1e100, got {shown(bounds)}"
        )
    exact = (upper - lower) / _REAL_STEPS
    if step is None and edges is not None:
        exact = _step_for(edges, lower, upper) or exact
    if step is not None:
        check_positive("step", step)
        exact = as_written(step)
    steps = (upper - lower) / exact
    if steps.denominator != 1 or steps > FINEST:
        raise InputError(
            f"step must divide the range of {shown(column)}, {as_text(lower)} to "
            f"{as_text(upper)}, into at most {FINEST:,} equal parts, got {shown(step)}"
        )
    number = int(steps)
    return Grid(column, lower, exact, number, _starts(column, edges, lower, exact, number, bins))


def _step_for(edges: Any, lower: Fraction, upper: Fraction) -> Fraction | None:
    """Return a step of real numbers on whose grid bins begin; None if no grid is fine enough."""
    if is_of_data(edges) or not isinstance(edges, list | tuple | range):
        return None  # refused where the bins are read
    apart = [as_written(one) - lower for one in edges if isinstance(one, int | float | Fraction)]
    # Over one denominator all distances are whole numbers, and their greatest common divisor is the
    # largest step that meets every start. It is divided until there are about `_REAL_STEPS` of it.
    below = math.lcm(*(one.denominator for one in (*apart, upper - lower)))
    common = Fraction(math.gcd(*(int(one * below) for one in (*apart, upper - lower))), below)
    parts = int(_REAL_STEPS * common / (upper - lower))
    return common / max(parts, 1) if (upper - lower) / common <= FINEST else None


def _starts(
    column: str, edges: Any, lower: Fraction, step: Fraction, steps: int, bins: int
) -> tuple[int, ...]:
    """Return where bins begin: at every value, at some of many, or where the caller says."""
    if edges is None:
        # Rounded up, so that there are at most `bins` of them; the last one may be narrower.
        width = 1 if steps < WHOLE else -(-(steps + 1) // bins)
        return tuple(range(0, steps + 1, width))
    if is_of_data(edges):
        raise InputError(
            f"bins[{shown(column)}] comes from an array or a table; list numbers that were chosen "
            "without looking at the data"
        )
    wrong = (
        f"bins[{shown(column)}] must list ascending values of the column's grid, the first of them "
        f"{as_text(lower)}, the lower bound: each is where a bin begins"
    )
    if isinstance(edges, Sized) and len(edges) > steps + 1:
        raise InputError(f"{wrong}: {steps + 1:,} of them at most, got {len(edges):,}")
    numbers = listed(edges, wrong)
    for one in numbers:
        check_number(f"bins[{shown(column)}]", one)
    places = [(as_written(one) - lower) / step for one in numbers]
    inside = all(place.denominator == 1 and 0 <= place <= steps for place in places)
    if not (inside and places and places[0] == 0 and places == sorted(set(places))):
        raise InputError(f"{wrong}, got {shown(edges)}")
    return tuple(map(int, places))
