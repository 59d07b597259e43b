"""Steps on numbers whose number is public: mean and variance."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import check_records, check_whole
from sensitivity_lab.exact.difference import nearest
from sensitivity_lab.exact.roots import show_number, whole
from sensitivity_lab.metrics import AbsoluteDistance, Metric
from sensitivity_lab.pipelines.domains import Domain, Numbers, Scalar, check_bounds
from sensitivity_lab.pipelines.rounding import rounding_error
from sensitivity_lab.pipelines.table_domains import Groups
from sensitivity_lab.pipelines.transformation import MismatchError, Step, Transformation

from .bounded import Bounds, exact_sum, magnitude_of, named, numbers_in, replacements


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
    name = named("mean", bounds, size)

    def stability(replaced: int) -> Fraction:
        return min(replaced, size) * (bounds[1] - bounds[0]) / size

    return _of_public_size(
        name,
        bounds,
        size,
        lambda data: Fraction(exact_sum(data)) / size,
        stability,
        magnitude_of(bounds),
    )


def variance(lower: Any, upper: Any, size: int, ddof: int = 0) -> Step:
    """Compute the variance of numbers between two bounds, where their number is public.

    Stability, exact for every distance: with r numbers replaced, p = min(r, size // 2) and the
    range R = upper - lower, the variance changes by at most R^2 p (size - p) / (size (size -
    ddof)). See Notes.

    Parameters
    ----------
    lower, upper : number
        The bounds.
    size : int
        The number n of records, above `ddof`, which must be that of the input domain.
    ddof : int, default 0
        The delta degrees of freedom: the sum of squares is divided by ``size - ddof``.

    Returns
    -------
    Step
        For floats, it returns the exact variance, rounded once, and the map has a rounding term.

    Notes
    -----
    n (n - ddof) times the variance is the sum of squared differences over all pairs. Let x = C + A
    and y = C + B with r records each in A and B. The difference of the sums for x and y is linear
    in each record of C with the same slope, so all records of C can be moved to one bound, say L.
    Then it is best if the records of B are at L too. The sum for x is convex in each record of A,
    so these records are at the bounds: with p of them at U the sum is R^2 p (n - p), which grows in
    p up to n / 2.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> start = pl.Start(pl.Numbers(size=4, bounds=(0, 1)), pl.ChangeOneDistance())
    >>> spread = start >> variance(0, 1, 4, ddof=1)
    >>> spread([0, 0, 1, 1]), spread.map(1), spread.map(2)
    (Fraction(1, 3), Fraction(1, 4), Fraction(1, 3))
    """
    bounds = check_bounds(lower, upper)
    ddof = check_whole("variance: ddof", ddof, "delta degrees of freedom, at least 0", least=0)
    least = ddof + 1
    size = check_whole("variance: size", size, f"a number of records, at least {least}", least)
    name = (
        named("variance", bounds, size)
        if ddof == 0
        else (f"variance({show_number(bounds[0])}, {show_number(bounds[1])}, {size}, ddof={ddof})")
    )

    def stability(replaced: int) -> Fraction:
        away = min(replaced, size // 2)
        return (bounds[1] - bounds[0]) ** 2 * away * (size - away) / (size * (size - ddof))

    def function(data: Any) -> Fraction:
        total, squares = exact_sum(data), exact_sum([Fraction(x) ** 2 for x in data])
        return (squares - Fraction(total) ** 2 / size) / (size - ddof)

    return _of_public_size(name, bounds, size, function, stability, stability(size))


def _of_public_size(
    name: str,
    bounds: Bounds,
    size: int,
    function: Callable[[Any], Fraction],
    stability: Callable[[int], Fraction],
    magnitude: Fraction,
) -> Step:
    """Return a step that computes an exact answer of `size` numbers, rounded once for floats."""

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
        error = rounding_error(magnitude) if numbers.floats else Fraction(0)

        def answer(data: Any) -> Any:
            exact = function(data.tolist() if numbers.floats else data)
            return nearest(exact) if numbers.floats else exact

        return Transformation(
            name,
            answer,
            Numbers(size=size, bounds=bounds, floats=numbers.floats),
            metric,
            output_domain=Scalar(),
            output_metric=AbsoluteDistance(),
            stability_map=lambda d_in: whole(stability(replaced(d_in)) + 2 * error),
        )

    return Step(name, build)
