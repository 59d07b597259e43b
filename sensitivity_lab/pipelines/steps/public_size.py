"""The mean of numbers whose number is public."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import check_records
from sensitivity_lab.exact.difference import nearest
from sensitivity_lab.exact.roots import whole
from sensitivity_lab.metrics import AbsoluteDistance, Metric
from sensitivity_lab.pipelines.domains import Domain, Numbers, Scalar, check_bounds
from sensitivity_lab.pipelines.rounding import rounding_error
from sensitivity_lab.pipelines.table_domains import Groups
from sensitivity_lab.pipelines.transformation import MismatchError, Step, Transformation

from .bounded import exact_sum, magnitude_of, named, numbers_in, replacements


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
