"""Steps on numbers: clamp, sum, mean and histogram.

A dataset is a list of numbers. For a domain of floats, steps compute in floating point, and their
maps have a rounding term. Otherwise everything is exact.

The term is a sound bound, as a fraction. Let u = 2**-53, the largest relative error of one float64
operation rounded to nearest. A sum of n floats takes n - 1 additions, in any order and grouping:
left to right, in pairs as numpy does, or in any other tree. Each record passes through at most
n - 1 of them, so the computed sum is ``sum of x_i (1 + t_i)`` with
``|t_i| <= (1 + u)**(n-1) - 1 <= g``, where ``g = (n-1) u / (1 - (n-1) u)``.
Sums have no underflow error: a sum of floats below the normal range is exact. Hence the error is at
most ``g n M`` when no record exceeds M in absolute value.

The sums of both neighbors can be off by that much, in either direction, so the stability map of the
sum adds twice the error. The term does not depend on the distance: it is also there for d_in = 0,
where the two inputs have the same rows in different orders.

References
----------
Higham, "Accuracy and Stability of Numerical Algorithms" (2002), sections 3.1 and 4.2. Casacuberta,
Shoemate, Vadhan, Wagaman, "Widespread Underestimation of Sensitivity in Differentially Private
Libraries and How to Fix It" (CCS 2022): why the term is needed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab import checks
from sensitivity_lab.checks import check_kind, check_records, check_whole, listed, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import common_integers, nearest
from sensitivity_lab.exact.roots import as_fraction, show_number, whole
from sensitivity_lab.metrics import (
    AbsoluteDistance,
    ChangeOneDistance,
    L1Distance,
    L2Distance,
    Metric,
    SymmetricDistance,
)
from sensitivity_lab.metrics.cells import MISSING, encode
from sensitivity_lab.pipelines.domains import (
    Domain,
    Numbers,
    Scalar,
    Values,
    Vector,
    check_bounds,
    show_bounds,
    within,
)
from sensitivity_lab.pipelines.table_domains import Groups
from sensitivity_lab.pipelines.transformation import MismatchError, Step, Transformation, linear

from .filter_count import on_groups

_UNIT = Fraction(1, 2**53)
_LEAST = Fraction(1, 2**1075)
"""Half of the smallest float: the absolute rounding error below the normal range."""


def summation_error(size: int, magnitude: Fraction) -> Fraction:
    """Bound the error of a float64 sum of up to `size` floats of at most `magnitude`.

    Parameters
    ----------
    size : int
        The largest number of records.
    magnitude : Fraction
        The largest absolute value of a record.

    Returns
    -------
    Fraction
        An upper bound of the absolute difference between the computed and the exact sum, for every
        order and grouping of the additions.

    Raises
    ------
    InputError
        If the sum could overflow, or there are too many records for the bound to hold.

    Examples
    --------
    >>> summation_error(1, Fraction(5))
    Fraction(0, 1)
    >>> float(summation_error(1000, Fraction(5)))
    5.545564008003272e-10
    """
    size = check_whole("size", size, "a number of records, at least 0", least=0)
    magnitude = as_fraction(magnitude, "magnitude")
    additions = max(size - 1, 0)
    if additions * _UNIT >= Fraction(1, 2):
        raise InputError(f"the rounding of a sum of {size:,} floats is not bounded; take fewer")
    share = additions * _UNIT / (1 - additions * _UNIT)
    error = share * size * magnitude
    if size * magnitude + error > Fraction(sys.float_info.max):
        raise InputError(
            f"a sum of {size:,} floats of up to {_shown(magnitude)} can be beyond the range of "
            "floats; take closer bounds or fewer records"
        )
    return error


def rounding_error(magnitude: Fraction) -> Fraction:
    """Bound the error of rounding an exact answer of at most `magnitude` to the nearest float.

    Examples
    --------
    >>> rounding_error(Fraction(1)) >= abs(Fraction(1 / 3) - Fraction(1, 3))
    True
    """
    return _UNIT * as_fraction(magnitude, "magnitude") + _LEAST


def _shown(magnitude: Fraction) -> str:
    large = magnitude > Fraction(sys.float_info.max)
    return checks.magnitude(magnitude) if large else f"{float(magnitude):.6g}"


Bounds = tuple[Fraction, Fraction]


def replacements(domain: Domain, metric: Metric) -> Callable[[int], int] | None:
    """Return how many records a distance replaces; None if records are added or removed."""
    size = domain.size if isinstance(domain, Values) else None
    if isinstance(metric, ChangeOneDistance):
        return lambda d_in: d_in if size is None else min(d_in, size)
    if isinstance(metric, SymmetricDistance):
        # With a public size, as many records are added as are removed.
        return None if size is None else lambda d_in: min(d_in // 2, size)
    raise MismatchError("values whose records are added, removed or replaced")


def numbers_in(domain: Domain, metric: Metric, bounds: Bounds | None) -> Numbers:
    """Return a domain of numbers that are within bounds, or raise MismatchError."""
    inside = "" if bounds is None else f" in {show_bounds(bounds)}"
    clamped = "" if bounds is None else f", for example after {named('clamp', bounds)}"
    if (
        isinstance(domain, Numbers)
        and isinstance(metric, ChangeOneDistance | SymmetricDistance)
        and within(domain.bounds, bounds)
    ):
        return domain
    raise MismatchError(
        f"numbers{inside} ({SymmetricDistance()}, or {ChangeOneDistance()}){clamped}"
    )


def magnitude_of(bounds: Bounds) -> Fraction:
    """Return the largest absolute value within bounds."""
    return max(abs(bounds[0]), abs(bounds[1]))


def exact_sum(data: list[Any]) -> int | Fraction:
    """Return the exact sum of numbers."""
    integers, unit = common_integers(data)
    return whole(Fraction(int(sum(integers)), unit))


def named(step: str, bounds: Bounds, *others: int) -> str:
    """Return the name of a step as it would be written in code."""
    return f"{step}({', '.join([*map(show_number, bounds), *map(str, others)])})"


def mean(lower: Any, upper: Any, size: int) -> Step:
    """Compute the mean of numbers between two bounds, where their number is public.

    Stability: (upper - lower) / size for each number replaced. For floats, the exact mean is
    rounded once, and the map adds twice that rounding error.

    Parameters
    ----------
    lower, upper : number
        The bounds.
    size : int
        The number of records, at least 1, which must be that of the input domain. If the number of
        records is not public, use `sum_` and `count`, with noise for each.

    Returns
    -------
    Step

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> averaged = (pl.Numbers(size=4), pl.ChangeOneDistance()) >> pl.clamp(0, 1) >> mean(0, 1, 4)
    >>> averaged([0, 1, 1, 8]), averaged.map(1)
    (Fraction(3, 4), Fraction(1, 4))
    """
    bounds = check_bounds(lower, upper)
    check_records("mean: size", size)

    def build(domain: Domain, metric: Metric) -> Transformation:
        if isinstance(domain, Groups):
            raise MismatchError(
                f"{size} numbers in all: the rows of a group have no public number, and a group "
                "without rows has no mean; use sum_ and count, which give the sum and the count of "
                "each group, and add noise to each"
            )
        numbers = numbers_in(domain, metric, bounds)
        replaced = replacements(numbers, metric)
        if numbers.size != size or replaced is None:
            raise MismatchError(
                f"exactly {size} numbers: start from Numbers(size={size}), or for a column from "
                f"Table(size={size}); where the number of records is not public, use sum_ and count"
            )
        per_record = (bounds[1] - bounds[0]) / size
        error = rounding_error(magnitude_of(bounds)) if numbers.floats else Fraction(0)

        def function(data: Any) -> Any:
            exact = Fraction(exact_sum(data)) / size
            return nearest(exact) if numbers.floats else exact

        return Transformation(
            name,
            function,
            Numbers(size=size, bounds=bounds, floats=numbers.floats),
            metric,
            output_domain=Scalar(),
            output_metric=AbsoluteDistance(),
            stability_map=lambda d_in: whole(replaced(d_in) * per_record + 2 * error),
        )

    name = named("mean", bounds, size)
    return Step(name, build)


def clamp(lower: Any, upper: Any) -> Step:
    """Replace numbers below the lower bound by it, and numbers above the upper bound by that.

    Stability: d_in, in the same metric.

    Parameters
    ----------
    lower, upper : number
        The bounds, which must be floats for a domain of floats.

    Returns
    -------
    Step

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> clamped = (pl.Numbers(), pl.SymmetricDistance()) >> clamp(0, 5)
    >>> clamped([1.3, 7.8, -2.5, 7]), clamped.map(2)
    ([1.3, 5, 0, 5], 2)
    """
    bounds = check_bounds(lower, upper)
    name = named("clamp", bounds)

    def build(domain: Domain, metric: Metric) -> Transformation:
        numbers = numbers_in(domain, metric, None)
        low, high = (_as_float(bound) for bound in bounds) if numbers.floats else (lower, upper)

        def function(data: Any) -> Any:
            if numbers.floats:
                return np.clip(data, low, high)
            return [low if value < low else high if value > high else value for value in data]

        after = replace(numbers, bounds=bounds)
        return linear(name, function, domain, metric, after, metric)

    return Step(name, on_groups(build))


def sum_(lower: Any, upper: Any) -> Step:
    """Add up numbers between two bounds.

    Stability, with M = max(abs(lower), abs(upper)): d_in M for numbers added or removed, and
    d_in (upper - lower) for numbers replaced. With a public size, each number removed is replaced
    by one added, so it is floor(d_in / 2) (upper - lower). For floats, twice the error of
    `sensitivity_lab.pipelines.summation_error` is added, which needs a domain with `size` or
    `max_size`. For groups, M times the distance of the groups, in their norm.

    Parameters
    ----------
    lower, upper : number
        The bounds. The input domain must be within them, for example after `clamp`.

    Returns
    -------
    Step
        Returns the exact sum, or `numpy.sum` for floats; for groups a vector with a sum per key.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> total = (pl.Numbers(), pl.SymmetricDistance()) >> clamp(0, 5) >> sum_(0, 5)
    >>> total([1, 7, -2, 7]), total.map(2)
    (11, 10)
    >>> floats = pl.Numbers(floats=True, max_size=1000)
    >>> total = (floats, pl.SymmetricDistance()) >> clamp(0.0, 5.0) >> sum_(0.0, 5.0)
    >>> total([0.5, 7.8]), 0 < total.map(2) - 10 < 2e-9
    (5.5, True)

    What is spent on each page, where a person counts for at most 4 pages with 3 rows each:

    >>> spent = (
    ...     pl.start(pl.AddRowsWithID("id"))
    ...     >> pl.max_groups_per_id(4, "page")
    ...     >> pl.max_rows_per_group_per_id(3, "page")
    ...     >> pl.group_by("page", "abcdef", pl.L2Distance())
    ...     >> pl.select("price")
    ...     >> pl.clamp(0, 5)
    ...     >> sum_(0, 5)
    ... )
    >>> spent([{"id": 1, "page": "b", "price": 4}, {"id": 2, "page": "b", "price": 9}])
    [0, 9, 0, 0, 0, 0]
    >>> spent.map(1)
    30
    """
    bounds = check_bounds(lower, upper)
    name = named("sum_", bounds)

    def build(domain: Domain, metric: Metric) -> Transformation:
        numbers = numbers_in(domain, metric, bounds)
        error = Fraction(0)
        if numbers.floats:
            if numbers.most is None:
                raise MismatchError(
                    "floats only if their number is bounded, which bounds the rounding: start from "
                    "Numbers(floats=True, max_size=...), or for a column from Table(max_size=...)"
                )
            error = summation_error(numbers.most, magnitude_of(bounds))
        per_row = _sum_map(numbers, metric, bounds)
        return Transformation(
            name,
            (lambda data: float(np.sum(data))) if numbers.floats else exact_sum,
            replace(numbers, bounds=bounds),
            metric,
            output_domain=Scalar(),
            output_metric=AbsoluteDistance(),
            stability_map=lambda d_in: whole(per_row(d_in) + 2 * error),
        )

    return Step(name, on_groups(build))


def histogram(categories: Iterable[Any], metric: L1Distance | L2Distance | None = None) -> Step:
    """Count how often each category occurs; other values and missing values are not counted.

    Stability: for values added or removed, d_in in L1 and L2. For values replaced, 2 d_in in L1 and
    sqrt(2) d_in in L2, or d_in in both if there is a single category.

    Parameters
    ----------
    categories : iterable
        The values to count, which must be distinct and public.
    metric : L1Distance or L2Distance, optional
        The metric of histograms, by default L1.

    Returns
    -------
    Step
        Returns a list with a count per category, in the order of the categories.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> start = pl.Start(pl.Values(), pl.ChangeOneDistance())
    >>> colors = start >> histogram(["red", "blue"], pl.L2Distance())
    >>> colors(["red", "green", "red"]), colors.map(1)
    ([2, 0], sqrt(2))
    """
    encoded = _encoded_categories(categories)
    norm = L1Distance() if metric is None else metric
    accepted = "L1Distance() or L2Distance()"
    check_kind("histogram: metric", norm, L1Distance | L2Distance, accepted)
    name = f"histogram({len(encoded)} categories)"

    def build(domain: Domain, metric: Metric) -> Transformation:
        if not isinstance(domain, Values):
            raise MismatchError("values whose records are added, removed or replaced")
        replaced = replacements(domain, metric)
        # Replacing one record takes 1 from one coordinate and adds 1 to another.
        swap = norm.norm([1, -1] if len(encoded) > 1 else [1])

        def function(data: Any) -> list[int]:
            counts = dict.fromkeys(encoded, 0)
            for value in data:
                key = encode(value)
                if key in counts:
                    counts[key] += 1
            return list(counts.values())

        return Transformation(
            name,
            function,
            domain,
            metric,
            output_domain=Vector(len(encoded)),
            output_metric=norm,
            stability_map=lambda d_in: d_in if replaced is None else swap * replaced(d_in),
        )

    return Step(name, build)


def _encoded_categories(categories: Any) -> list[bytes]:
    """Return the bytes of distinct values, in their order, or raise InputError."""
    chosen = listed(categories, "histogram: categories must be a list of values", text=True)
    encoded = list(map(encode, chosen))
    if not chosen or len(set(encoded)) != len(encoded) or MISSING in encoded:
        raise InputError(
            f"histogram: categories must be one or more distinct values, none missing, "
            f"got {shown(chosen)}"
        )
    return encoded


def _sum_map(domain: Numbers, metric: Metric, bounds: Bounds) -> Callable[[int], Fraction]:
    """Return the stability map of an exact sum."""
    replaced = replacements(domain, metric)
    if replaced is None:
        return lambda d_in: d_in * magnitude_of(bounds)
    return lambda d_in: replaced(d_in) * (bounds[1] - bounds[0])


def _as_float(bound: Fraction) -> float:
    """Return a bound as a float, or raise InputError if that is not exact."""
    close = nearest(bound)
    if Fraction(close) != bound:
        raise InputError(
            f"a domain of floats needs bounds that are floats, got {bound}; the nearest one is "
            f"{close!r}"
        )
    return close
