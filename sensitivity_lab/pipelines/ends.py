"""The ends of a chain: its start, from the changes that it protects, and Laplace noise.

A chain with noise is a measurement, with its privacy map and without sampling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_kind, check_positive, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.roots import show_number
from sensitivity_lab.metrics import AbsoluteDistance, L1Distance, Metric, PairDistance
from sensitivity_lab.noise.scales import laplace_epsilon

from .changes import (
    AddMaxRows,
    AddRowsWithID,
    AddRowsWithSharedID,
    ProtectedChange,
    protected_distance,
    unit_line,
)
from .domains import Domain, Pair, Scalar, Vector
from .table_domains import Table
from .transformation import Start, Transformation, as_start


def start(*changes: ProtectedChange) -> Start:
    """Return the start of a chain on tables, with one protected change per table.

    Parameters
    ----------
    *changes : AddMaxRows, AddRowsWithID or AddRowsWithSharedID
        One change, or two for a chain that begins with a private join. `AddRowsWithSharedID` is the
        change of two tables by itself.

    Returns
    -------
    Start
        The domain of tables, or of pairs of tables, the metric of the changes, and the changes as
        the protected unit: the `sensitivity` of a chain is for one of them, such as five rows
        for ``AddMaxRows(5)``. Of two tables, both change at the same time.

    Raises
    ------
    InputError
        If there are no changes or more than two, or an argument is not a protected change.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> counted = start(pl.AddMaxRows(5)) >> pl.count()
    >>> counted.sensitivity().value, counted.map(pl.AddMaxRows(3))
    (5.0, 3)
    """
    tables = Pair(Table(), Table())
    if len(changes) == 1 and isinstance(changes[0], AddRowsWithSharedID):
        return Start(tables, changes[0].metric, changes[0])
    each = AddMaxRows | AddRowsWithID
    if len(changes) not in (1, 2) or not all(isinstance(one, each) for one in changes):
        raise InputError(
            "start takes one or two protected changes, AddMaxRows(m) or AddRowsWithID(column), "
            "one per table, or AddRowsWithSharedID(column) alone; "
            f"got {', '.join(map(shown, changes)) or 'none'}"
        )
    if len(changes) == 1:
        return Start(Table(), changes[0].metric, changes[0])
    first, second = changes
    return Start(tables, PairDistance(first.metric, second.metric), (first, second))


def number(lower: Any = None, upper: Any = None) -> Start:
    """Return the start of a chain on a single number, under the absolute difference.

    Parameters
    ----------
    lower, upper : number, optional
        The smallest and the largest value of the number; give both or none.

    Returns
    -------
    Start
        The domain of a number, and the metric `AbsoluteDistance`. `formula` is a step on it.

    Raises
    ------
    InputError
        If the bounds are not two numbers in order, or only one of them is given.

    References
    ----------
    Near and Abuah, "Programming Differential Privacy", chapter Sensitivity, Calculating
    Sensitivity: functions on real numbers.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> (number() >> pl.formula(lambda x: 5 * x)).map(1)
    5
    >>> (number() >> pl.laplace(5)).map(10)
    2.0
    """
    if (lower is None) != (upper is None):
        raise InputError(
            "number takes both bounds or none, number(lower, upper) or number(); got "
            f"lower={shown(lower)}, upper={shown(upper)}"
        )
    return Start(Scalar(None if lower is None else (lower, upper)), AbsoluteDistance())


@dataclass(frozen=True, repr=False)
class Measurement:
    """A chain that ends with Laplace noise, and the privacy loss of a release.

    It computes the privacy loss and adds no noise. To release an answer, use a library that samples
    without floating-point leaks, such as `sensitivity_lab.releases.opendp.opendp_laplace_sum`.

    Parameters
    ----------
    before : Transformation or Start
        The chain that the noise is added to; its output is a number or a vector of numbers.
    scale : int, float, Fraction or Decimal
        The scale b of the noise, above 0, in the unit of the answer. Each coordinate of a vector
        gets noise of its own.

    Raises
    ------
    InputError
        If the scale is not a number above 0, or `before` returns anything but a number under the
        absolute difference or a vector under the L1 distance.

    References
    ----------
    OpenDP, "Differential Privacy with OpenDP", The Laplace Mechanism, and Chaining. Dwork,
    McSherry, Nissim, Smith, "Calibrating Noise to Sensitivity in Private Data Analysis" (2006),
    Proposition 1.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> total = (pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(0, 5) >> pl.sum_(0, 5)
    >>> noisy = Measurement(total, scale=5)
    >>> noisy
    clamp(0, 5) >> sum_(0, 5) >> laplace(5)
      input   numbers; rows added or removed
      output  a number; max divergence (epsilon)
    >>> noisy.map(2), noisy.before([0, 9, 1])
    (2.0, 6)
    """

    before: Transformation | Start
    scale: Any

    def __post_init__(self) -> None:
        laplace(self.scale)
        check_kind("before", self.before, Transformation | Start, "a transformation or a start")
        domain, metric = self.before.output_domain, self.before.output_metric
        if not (
            (isinstance(domain, Scalar) and isinstance(metric, AbsoluteDistance))
            or (isinstance(domain, Vector) and isinstance(metric, L1Distance))
        ):
            step = _named(self.scale)
            raise InputError(
                f"cannot chain {self.before.name} >> {step}: {self.before.name} returns {domain} "
                f"({metric}), but {step} takes a number ({AbsoluteDistance()}) or a vector "
                f"({L1Distance()})"
            )

    @property
    def name(self) -> str:
        """Its name, as it would be written in code."""
        chain = f"{self.before.name} >> " if isinstance(self.before, Transformation) else ""
        return chain + _named(self.scale)

    @property
    def input_domain(self) -> Domain:
        """The data that it takes."""
        return self.before.input_domain

    @property
    def input_metric(self) -> Metric:
        """The metric of its inputs."""
        return self.before.input_metric

    @property
    def output_measure(self) -> str:
        """The measure of its outputs: how much likelier one can be on one neighbor."""
        return "max divergence (epsilon)"

    @public_call
    def map(self, d_in: Any = None, *others: Any) -> float:
        """Return the privacy loss epsilon of a release, for inputs at most `d_in` apart.

        Parameters
        ----------
        d_in, *others : number or protected change, optional
            The distance of the inputs, by default one protected unit, as for
            `Transformation.sensitivity`.

        Returns
        -------
        float
            The smallest float that is not below the value of the stability map over the scale.
        """
        before = self.before
        if isinstance(before, Transformation):
            return laplace_epsilon(before.sensitivity(d_in, *others), self.scale)
        distance = protected_distance((d_in, *others), before.metric, before.unit)
        return laplace_epsilon(distance, self.scale)

    def __repr__(self) -> str:
        return (
            f"{self.name}\n"
            f"  input   {self.input_domain}; {self.input_metric}\n"
            f"  output  {self.before.output_domain}; {self.output_measure}"
            f"{unit_line(self.before.unit, self.input_metric)}"
        )


@dataclass(frozen=True, repr=False)
class _Laplace:
    """Laplace noise that waits for the chain before it."""

    scale: Any

    def __rrshift__(self, before: Any) -> Measurement:
        start = as_start(before) or before
        if not isinstance(start, Transformation | Start):
            return NotImplemented
        return Measurement(start, self.scale)

    @public_call
    def map(self, d_in: Any) -> float:
        """Return the privacy loss epsilon of the noise alone, for answers at most `d_in` apart.

        Parameters
        ----------
        d_in : number or ChainSensitivity
            The distance of two answers: the absolute difference of numbers, L1 of vectors.

        Returns
        -------
        float
            The smallest float that is not below ``d_in / scale``.
        """
        return laplace_epsilon(d_in, self.scale)

    def __repr__(self) -> str:
        return _named(self.scale)


def laplace(scale: Any) -> _Laplace:
    """End a chain in Laplace noise: ``chain >> laplace(scale)`` is a `Measurement`.

    Privacy map: epsilon = d_out / scale, where d_out is the value of the chain's stability map in
    the absolute difference, or in L1 for vectors.

    Parameters
    ----------
    scale : int, float, Fraction or Decimal
        The scale b of the noise, above 0, in the unit of the answer.

    Returns
    -------
    object
        The end of a chain. It does not sample; see `Measurement`. Its ``map(d_in)`` is the privacy
        loss for answers that are at most `d_in` apart.

    Raises
    ------
    InputError
        If the scale is not a number above 0.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> total = (pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(0, 5) >> pl.sum_(0, 5)
    >>> (total >> laplace(5)).map(2)
    2.0
    >>> (pl.number() >> laplace(5)).map(10), laplace(5).map(d_in=10)
    (2.0, 2.0)
    """
    check_positive("laplace: scale", scale)
    return _Laplace(scale)


def _named(scale: Any) -> str:
    return f"laplace({show_number(check_positive('laplace: scale', scale))})"
