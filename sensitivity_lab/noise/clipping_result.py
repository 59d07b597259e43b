"""The result of a search for a clipping bound: a point per bound, a table, a picture."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pandas as pd

from sensitivity_lab.checks import rounded_up
from sensitivity_lab.exact.difference import Number, nearest, round_up
from sensitivity_lab.results.reprs import Facts
from sensitivity_lab.results.sensitivity import Sensitivity
from sensitivity_lab.universes.relations import Relation

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
    >>> from sensitivity_lab.noise.clipping import clipping_sweep
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
        >>> from sensitivity_lab.noise.clipping import clipping_sweep
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
        from sensitivity_lab.plotting.clipping import plot_clipping

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
