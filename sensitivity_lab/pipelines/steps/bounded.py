"""Shared by steps on numbers: bounds, exact sums, and how many records a distance replaces."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import check_records
from sensitivity_lab.exact.difference import common_integers, nearest
from sensitivity_lab.exact.roots import show_number, whole
from sensitivity_lab.metrics import AbsoluteDistance, ChangeOneDistance, Metric, SymmetricDistance
from sensitivity_lab.pipelines.domains import (
    Domain,
    Numbers,
    Scalar,
    Values,
    check_bounds,
    show_bounds,
)
from sensitivity_lab.pipelines.rounding import rounding_error
from sensitivity_lab.pipelines.table_domains import Groups
from sensitivity_lab.pipelines.transformation import MismatchError, Step, Transformation

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
    within = "" if bounds is None else f" in {show_bounds(bounds)}"
    clamped = "" if bounds is None else f", for example after {named('clamp', bounds)}"
    if (
        isinstance(domain, Numbers)
        and isinstance(metric, ChangeOneDistance | SymmetricDistance)
        and (bounds is None or Numbers(bounds=bounds).within(domain.bounds))
    ):
        return domain
    raise MismatchError(
        f"numbers{within} ({SymmetricDistance()}, or {ChangeOneDistance()}){clamped}"
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
