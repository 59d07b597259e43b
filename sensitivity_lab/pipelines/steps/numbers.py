"""Steps on numbers: clamp, sum and histogram.

A dataset is a list of numbers. For a domain of floats, steps compute in floating point, and their
maps have a rounding term. Otherwise everything is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.checks import check_kind, listed, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import nearest
from sensitivity_lab.exact.roots import whole
from sensitivity_lab.metrics import AbsoluteDistance, L1Distance, L2Distance, Metric
from sensitivity_lab.metrics.cells import MISSING, encode
from sensitivity_lab.pipelines.domains import (
    Domain,
    Numbers,
    Scalar,
    Values,
    Vector,
    check_bounds,
)
from sensitivity_lab.pipelines.rounding import summation_error
from sensitivity_lab.pipelines.transformation import MismatchError, Step, Transformation

from .bounded import Bounds, exact_sum, magnitude_of, named, numbers_in, replacements
from .per_group import on_groups


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
        return Transformation(
            name,
            function,
            domain,
            metric,
            output_domain=after,
            output_metric=metric,
            stability_map=lambda d_in: d_in,
        )

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
