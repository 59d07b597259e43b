"""The search for a clipping bound: its effect on a sum, on the sensitivity and on the noise.

A bound that is too low makes the sum too small (bias); a bound that is too high needs much noise.
The sweep shows both for every bound, and the releases, which are all that a private search sees:
as a table, and as a picture.
"""

from __future__ import annotations

import math
import textwrap
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from operator import mul
from typing import TYPE_CHECKING, Any

import pandas as pd

from sensitivity_lab.boundary import public_call
from sensitivity_lab.calls.sensitivity import global_sensitivity
from sensitivity_lab.checks import (
    as_python,
    check_callable,
    check_number,
    check_positive,
    listed,
    rounded_up,
    shown,
)
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Number, nearest, round_up
from sensitivity_lab.results.reprs import Facts
from sensitivity_lab.results.sensitivity_result import Sensitivity
from sensitivity_lab.universes.relations import Relation, as_relation
from sensitivity_lab.universes.universe import Universe

from .scales import laplace_scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CAUTION = (
    "only releases are private: bounds read off the data are not, nor are the sums, the biases "
    "and the errors shown here"
)


@dataclass(frozen=True)
class ClippingPoint:
    """The effect of one upper bound. The sum, the bias and the error reveal facts about the data.

    Attributes
    ----------
    bound : number
        The upper bound U; records are clipped to [lower, U].
    clipped_sum : Fraction
        The sum of the clipped records.
    bias : Fraction
        The clipped sum less the sum of the records.
    sensitivity : Sensitivity
        The sensitivity of the clipped sum over all datasets, with its witness.
    scale : float or None
        The scale of the Laplace noise; None without an epsilon.
    release : float or None
        The noisy clipped sum; None without a mechanism.
    expected_error : float or None
        The expected distance of a Laplace release from the sum of the records; None without an
        epsilon.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> point = sl.noise.clipping_sweep([3, 5, 9], [4], epsilon=1, neighbors="unbounded").points[0]
    >>> point.clipped_sum, point.bias, point.scale
    (Fraction(11, 1), Fraction(-6, 1), 4.0)
    """

    bound: Number
    clipped_sum: Fraction
    bias: Fraction
    sensitivity: Sensitivity
    scale: float | None
    release: float | None
    expected_error: float | None


@dataclass(frozen=True, repr=False)
class ClippingSweep(Facts):
    """A sum clipped at one upper bound after the other.

    Attributes
    ----------
    points : tuple of ClippingPoint
        A point per bound, in ascending order.
    lower : number
        The lower bound, which is the same for all upper bounds.
    records : int
        The number of records.
    true_sum : Fraction
        The sum of the records without clipping.
    neighbors : Relation
        The neighbor relation of the sensitivities.
    epsilon : Fraction or None
        The privacy loss of one release.

    Examples
    --------
    >>> from sensitivity_lab.noise import clipping_sweep
    >>> clipping_sweep([3, 5, 9], [4, 8, 16], epsilon=0.5, neighbors="unbounded")
    Clipping sweep of a sum: 3 upper bounds from 4 to 16, lower bound 0
      records      3, with the sum 17
      sensitivity  4 to 16 (exact; unbounded, at most 1)
      epsilon      0.5 for a release, 1.5 for one at each bound (sequential composition)
      releases     none
      caution      only releases are private: bounds read off the data are not, nor are the sums,
                   the biases and the errors shown here
    """

    points: tuple[ClippingPoint, ...]
    lower: Number
    records: int
    true_sum: Fraction
    neighbors: Relation
    epsilon: Fraction | None

    @property
    def total_epsilon(self) -> float | None:
        """The privacy loss of a release at each bound, rounded up; None without an epsilon.

        This is sequential composition: every release is about the same records, so the losses add
        up. Parallel composition, where only the largest loss counts, is for releases about disjoint
        parts of the data, and does not apply here.
        """
        return None if self.epsilon is None else round_up(len(self.points) * self.epsilon)

    @property
    def least_error(self) -> ClippingPoint | None:
        """The first point with the least expected error, or None; it is not private."""
        # Of equal errors the smallest bound comes first.
        errors = [p.expected_error for p in self.points if p.expected_error is not None]
        return self.points[errors.index(min(errors))] if errors else None

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per bound, where all columns but the bound are floats.

        Returns
        -------
        pandas.DataFrame
            bound, clipped_sum, bias, sensitivity, scale, release, expected_error, in the unit of
            the records; NaN if there is no epsilon, or no mechanism.

        Examples
        --------
        >>> from sensitivity_lab.noise import clipping_sweep
        >>> sweep = clipping_sweep([3, 5, 9], [4, 8, 16], neighbors="unbounded")
        >>> sweep.to_frame()[["bound", "clipped_sum", "bias", "sensitivity"]].astype(int)
           bound  clipped_sum  bias  sensitivity
        0      4           11    -6            4
        1      8           16    -1            8
        2     16           17     0           16
        """
        rows = [
            {
                "bound": point.bound,
                "clipped_sum": nearest(point.clipped_sum),
                "bias": nearest(point.bias),
                "sensitivity": point.sensitivity.value,
                "scale": _or_nan(point.scale),
                "release": _or_nan(point.release),
                "expected_error": _or_nan(point.expected_error),
            }
            for point in self.points
        ]
        return pd.DataFrame(rows)

    def plot(self, **options: Any) -> Figure | Any:
        """Draw sums, sensitivity and errors, side by side.

        Parameters
        ----------
        **options
            `unit` of the records; `title`; `logx`, whether the axes of the bounds and of the
            sensitivity are logarithmic, by default if the bounds are spaced so; `ax`, three Axes,
            by default of a new figure; `figsize`, in inches.
        """
        from sensitivity_lab.plotting.noise_errors import plot_clipping

        return plot_clipping(self.to_frame(), true_sum=nearest(self.true_sum), **options)

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        first, last = (
            rounded_up(point.sensitivity.upper or 0.0, point.sensitivity.exact, digits=6)
            for point in (self.points[0], self.points[-1])
        )
        epsilon = "none given"
        if self.epsilon is not None:
            epsilon = (
                f"{nearest(self.epsilon):.6g} for a release, {self.total_epsilon:.6g} for one at "
                "each bound (sequential composition)"
            )
        released = any(point.release is not None for point in self.points)
        return [
            ("records", f"{self.records:,}, with the sum {nearest(self.true_sum):.10g}"),
            (
                "sensitivity",
                f"{first} to {last} (exact; {self.neighbors})",
            ),
            ("epsilon", epsilon),
            ("releases", "one at each bound" if released else "none"),
            ("caution", _CAUTION),
        ]

    @property
    def _title(self) -> str:
        bounds = [point.bound for point in self.points]
        return (
            f"Clipping sweep of a sum: {len(bounds):,} upper bound{'s' * (len(bounds) > 1)} "
            f"from {bounds[0]} to {bounds[-1]}, lower bound {self.lower}"
        )

    def __repr__(self) -> str:
        lines = (
            textwrap.fill(text, 96, initial_indent=f"  {fact:<13}", subsequent_indent=" " * 15)
            for fact, text in self.facts()
        )
        return "\n".join([self._title, *lines])


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


Release = Callable[[Fraction, Fraction, Fraction], Any]
"""A mechanism: it takes an exact answer, its sensitivity and epsilon; it returns a noisy answer."""


def printed(value: Any, exact: Fraction) -> Fraction:
    """Return a number as a rational; a float stands for the decimal that Python prints."""
    return Fraction(repr(float(value))) if isinstance(value, float) else exact


@public_call
def clipping_sweep(
    values: Iterable[Number],
    bounds: Iterable[Number],
    *,
    lower: Number = 0,
    epsilon: Any = None,
    neighbors: Any,
    release: Release | None = None,
) -> ClippingSweep:
    """Clip a sum at one upper bound after the other, to see where a bound should be.

    A private search releases the clipped sum at every bound and takes the first bound after which
    the releases neither rise nor fluctuate. The sweep also shows what such a search cannot see: the
    bias of clipping, the exact sensitivity that the noise is scaled to, and the expected error.

    Parameters
    ----------
    values : iterable of numbers, shape (n,)
        The records, finite; a pandas Series or a numpy array works as well as a list.
    bounds : iterable of numbers
        Upper bounds in ascending order, at least `lower`, such as ``range(0, 101, 10)``, or
        ``[2**i for i in range(15)]``, which covers many orders of magnitude. Bounds that are
        taken from the data are not private: they may reveal the largest record.
    lower : number, default 0
        The lower bound, which is the same for all upper bounds.
    epsilon : number, optional
        The privacy loss of *each* release, above 0. The result has the total over all bounds.
    neighbors : Relation or name
        The neighbor relation; a name, such as "bounded", means a distance of at most 1.
        The textbook's ``upper - lower`` is the bounded sensitivity; adding or removing a record
        moves the sum by up to ``max(abs(lower), abs(upper))``, which is more for bounds such as 5
        and 10.
    release : callable, optional
        The mechanism, called once per bound, in order, as ``release(clipped_sum, sensitivity,
        epsilon)`` with three Fractions. The lab makes no noise: pass
        `sensitivity_lab.releases.opendp.opendp_release` or your own mechanism. Without a mechanism
        there are no releases; everything else is the same.

    Returns
    -------
    ClippingSweep
        A point per bound: the clipped sum, its bias, its sensitivity, the scale of the noise, the
        release and the expected error.

    Raises
    ------
    InputError
        If an argument is invalid, a value is missing, there are no values, or the mechanism
        does not return a number.
    QueryError
        If the mechanism raises an error.

    Notes
    -----
    The sums are exact, and so is the sensitivity over all datasets of records in [lower, bound].
    For the sensitivity it is enough to search a universe of the two ends, because a sum is linear
    in each record. The cost is O(n log n + b log n) for b bounds.

    With Laplace noise X of scale s and a bias of size m, the expected error is
    ``E |X + bias| = m + s exp(-m / s)``, computed in floats. Other mechanisms have other errors.

    References
    ----------
    Near and Abuah, "Programming Differential Privacy", chapter Sensitivity, section Clipping.

    Examples
    --------
    >>> sweep = clipping_sweep([3, 5, 9], [4, 8, 16], epsilon=1, neighbors="unbounded")
    >>> sweep.total_epsilon, sweep.least_error.bound
    (3.0, 4)
    """
    least, given = _given_bounds(bounds, lower)
    loss = check_positive.or_none("epsilon", epsilon)
    if release is not None:
        check_callable("release", release, "None or a function")
    if release is not None and loss is None:
        raise InputError("release needs an epsilon: give the privacy loss of each release")
    relation = as_relation(neighbors)
    sums = _ClippedSums(values)
    points = tuple(
        _point(sums, bound, least, _sensitivity(least, bound, relation), loss, release)
        for bound in given
    )
    return ClippingSweep(points, least, sums.records, sums.total, relation, loss)


class _ClippedSums:
    """The sums of clipped records, each in O(log n) after the records are sorted."""

    def __init__(self, values: Any) -> None:
        try:
            universe = Universe.from_dataset(values)
        except InputError as error:
            raise InputError(f"values: {error}") from error
        integers, self.unit = universe.integers
        self.integers = integers.tolist()
        counts = universe.counts or ()
        # Entry i is about the first i distinct records.
        self.counted = [0, *accumulate(counts)]
        self.summed = [0, *accumulate(map(mul, self.integers, counts))]
        self.records = self.counted[-1]
        self.total = Fraction(self.summed[-1], self.unit)

    def clipped(self, lower: Fraction, upper: Fraction) -> Fraction:
        # Records below `lower` count as lower, those above `upper` as upper; prefix sums have the
        # rest.
        below = bisect_left(self.integers, lower * self.unit)
        inside = bisect_right(self.integers, upper * self.unit)
        between = Fraction(self.summed[inside] - self.summed[below], self.unit)
        return self.counted[below] * lower + between + (self.records - self.counted[inside]) * upper


def _given_bounds(bounds: Any, lower: Any) -> tuple[Number, Sequence[Number]]:
    """Return the lower and the upper bounds as Python numbers, or raise InputError."""
    items = listed(bounds, "bounds must be a sequence of numbers")
    least, *given = map(as_python, (lower, *items))
    if not given:
        raise InputError("bounds must have at least one upper bound, got none")
    first = check_number("lower", least)
    rationals = [check_number("bounds", bound) for bound in given]
    if rationals[0] < first:
        raise InputError(
            f"bounds must be at least lower, which is {shown(least)}, got {shown(given[0])}"
        )
    for (before, low), (after, high) in pairwise(zip(given, rationals, strict=True)):
        if high <= low:
            raise InputError(f"bounds must ascend, got {shown(after)} after {shown(before)}")
    return least, given


def _sensitivity(lower: Number, upper: Number, neighbors: Relation) -> Sensitivity:
    """Return the sensitivity of a clipped sum, by a search over datasets of the two ends.

    Their size, k + 1, makes every distance up to k feasible.
    """
    ends = Universe.from_domain([lower] if Fraction(lower) == Fraction(upper) else [lower, upper])
    return global_sensitivity(ends, "sum", size=neighbors.k + 1, neighbors=neighbors)


def _point(
    sums: _ClippedSums,
    bound: Number,
    lower: Number,
    sensitivity: Sensitivity,
    epsilon: Fraction | None,
    release: Release | None,
) -> ClippingPoint:
    clipped = sums.clipped(Fraction(lower), Fraction(bound))
    bias = clipped - sums.total
    # The exact sensitivity: rounded to a float, the noise would be scaled to a little more.
    exact = Fraction(sensitivity.exact or 0)
    scale = error = noisy = None
    if epsilon is not None:
        scale = laplace_scale(exact, epsilon)
        # The sign of the bias does not matter, as Laplace noise is symmetric.
        error = expected_error(abs(nearest(bias)), scale)
        if release is not None:
            answer = _released(release, bound, (clipped, exact, epsilon))
            noisy = nearest(
                check_number(f"release: the answer for the bound {shown(bound)}", answer)
            )
    return ClippingPoint(bound, clipped, bias, sensitivity, scale, noisy, error)


def _released(release: Release, bound: Number, question: tuple[Fraction, ...]) -> Any:
    """Return the answer of a mechanism, or raise QueryError, which names the bound."""
    try:
        return release(*question)
    except Exception as error:
        raise QueryError(
            f"release, at the bound {shown(bound)}, raised {type(error).__name__}: {error}"
        ) from error


def expected_error(bias: float, scale: float) -> float:
    """Return the expected distance of Laplace noise from a bias of at least 0, in closed form."""
    # E |X + m| = m + s exp(-m / s): the noise turns the sign with probability exp(-m / s) / 2, and
    # then it is beyond by s on average.
    return bias + scale * math.exp(-bias / scale) if scale else bias
