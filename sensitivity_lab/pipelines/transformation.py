"""Transformations, which are functions of data with a promise about distances, and their steps.

The sensitivity of a chain is the value of its stability map for one protected unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import (
    Norm,
    check_callable,
    check_kind,
    check_text,
    listed,
    named,
    rounded_up,
)
from sensitivity_lab.errors import InputError, SensitivityLabError
from sensitivity_lab.exact.roots import Distance, Root, upper_of
from sensitivity_lab.metrics import (
    AbsoluteDistance,
    ChangeOneDistance,
    L1Distance,
    L2Distance,
    Metric,
    SymmetricDistance,
)
from sensitivity_lab.results.noise_context import ROWS, NoiseContext, NoiseSource
from sensitivity_lab.results.reprs import Facts, format_up
from sensitivity_lab.universes.relations import Bounded, SymmetricDifference

from .changes import Unit, check_unit, neighbors_text, protected_distance, unit_line
from .domains import Domain


class UnitNeighbors(NamedTuple):
    """Neighbors that differ in protected units which are no records, such as ids.

    Attributes
    ----------
    text : str
        What they differ in.
    k : int or tuple of two int
        In how many units, of each table.
    """

    text: str
    k: Any

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class ChainSensitivity(NoiseSource, Facts):
    """How much one protected unit can change the numbers that a chain returns, at most.

    Noise can be scaled to it: it has the norm, the unit and the relation that a bare number lacks.

    Attributes
    ----------
    value : float
        The smallest float that is not below the value of the stability map, in the answer's unit.
    exact : Fraction or None
        The value as a rational; None if it is a root, or infinite.
    upper : float
        The same as `value`, by the name that all results share.
    status : {"bounds"}
        "bounds": no pair of neighbors differs more, and perhaps none differs as much; see
        `measured_stability`.
    norm : {"L1", "L2"} or None
        The norm of the difference of two answers; None for a number, for which all norms agree.
    unit : str
        What neighbors differ in.
    neighbors : SymmetricDifference, Bounded or UnitNeighbors
        The relation, with its distance k in rows or units.
    query : str
        The chain's name.
    output : str
        What the chain returns, and the metric of the bound.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> ids = pl.start(pl.AddRowsWithID("id")) >> pl.max_rows_per_id(3)
    >>> (ids >> pl.count()).sensitivity()
    Sensitivity of max_rows_per_id(3) >> count(): at most 3
      unit       at most 1 id in 'id' added or removed with all its rows
      norm       a number; absolute difference
      status     an upper bound for every dataset, from the stability map
    """

    value: float
    exact: Fraction | None
    upper: float
    norm: Norm | None
    unit: str
    neighbors: SymmetricDifference | Bounded | UnitNeighbors
    query: str
    output: str
    status: Literal["bounds"] = "bounds"
    kind: Literal["global"] = "global"

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format_up(self.upper, self.exact, spec) if spec else str(self)

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs."""
        return NoiseContext(
            query=self.query,
            kind=self.kind,
            norm=self.norm,
            neighbors=self.neighbors,
            exactly=False,
            sizes=(),
            size="any size",
            upper=self.upper,
            things=ROWS,
            has_lower_bound_only=False,
        )

    @property
    def _title(self) -> str:
        text = "infinite" if math.isinf(self.upper) else rounded_up(self.upper, self.exact)
        return f"Sensitivity of {self.query}: at most {text}"

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        return [
            ("unit", self.unit),
            ("norm", self.output),
            ("status", "an upper bound for every dataset, from the stability map"),
        ]


def _relation(metric: Metric, distance: Any) -> SymmetricDifference | Bounded | UnitNeighbors:
    """Return the relation of inputs at some distance, if records have one."""
    if distance and isinstance(metric, SymmetricDistance):
        return SymmetricDifference(distance)
    if distance and isinstance(metric, ChangeOneDistance):
        return Bounded(distance)
    return UnitNeighbors(neighbors_text(metric, distance), distance)


class _AfterTuple:
    def __rrshift__(self, before: Any) -> Transformation:
        """Return the chain that starts from a tuple (domain, metric)."""
        start = as_start(before)
        return NotImplemented if start is None else start >> self


@dataclass(frozen=True, repr=False)
class Transformation(_AfterTuple, NoiseSource):
    """A function of data, with a promise: inputs that are close give outputs that are close.

    Parameters
    ----------
    name : str
        Its name in a chain, as it would be written in code.
    function : callable
        Takes data of the input domain and returns data of the output domain. The result must not
        depend on the types of a table's columns, which pandas chooses by all rows.
    input_domain, output_domain : Domain
        The data that it takes and returns.
    input_metric, output_metric : Metric
        The metrics of inputs and outputs.
    stability_map : callable
        Takes an input distance d_in and returns an upper bound of the distance between the outputs
        of any two inputs at most d_in apart. It must not decrease.
    steps : tuple of Transformation, default ()
        The steps of a chain, in order; empty for a single step.
    check_universe : callable, optional
        Takes the universe that inputs are drawn from. Raises InputError if a search over its
        datasets could not show how much the output can change.
    unit : AddMaxRows, AddRowsWithID, AddRowsWithSharedID or a tuple of two, optional
        The protected unit, from the start of the chain: rows or an id, or one of each of two
        tables. `sensitivity` is for one unit.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> number, distance = pl.Scalar(), pl.AbsoluteDistance()
    >>> double = Transformation(
    ...     "double", lambda x: 2 * x, number, distance, number, distance, lambda d_in: 2 * d_in
    ... )
    >>> double(4), double.map(d_in=3), (double >> double).map(3)
    (8, 6, 12)
    >>> double >> double
    double >> double
      input   a number; absolute difference
      output  a number; absolute difference
    """

    name: str
    function: Callable[[Any], Any]
    input_domain: Domain
    input_metric: Metric
    output_domain: Domain
    output_metric: Metric
    stability_map: Callable[[Any], Any]
    steps: tuple[Transformation, ...] = ()
    check_universe: Callable[[Any], None] | None = None
    unit: Unit = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", _chain_named(self.name))
        check_callable("function", self.function, "a function of data")
        check_callable("stability_map", self.stability_map, "a function of a distance")
        for domain in (self.input_domain, self.output_domain):
            check_kind("domain", domain, Domain, "a domain, such as Numbers()")
        for metric in (self.input_metric, self.output_metric):
            check_kind("metric", metric, Metric, "a metric, such as SymmetricDistance()")
        for step in listed(self.steps, "steps must be a tuple of transformations"):
            check_kind("steps", step, Transformation, "a tuple of transformations")
        if self.check_universe is not None:
            check_callable("check_universe", self.check_universe, "a function of a universe")
        check_unit(self.unit, self.input_metric)

    @public_call
    def __call__(self, *data: Any) -> Any:
        """Apply the function; pass two tables as two arguments or as one tuple.

        Raises
        ------
        InputError
            If the data are not in the input domain.
        """
        return self.function(self.input_domain.read(_one(data)))

    @public_call
    def map(self, d_in: Any = None, *others: Any) -> Any:
        """Return the largest possible distance of outputs whose inputs are at most `d_in` apart.

        Parameters
        ----------
        d_in, *others : number or protected change
            The distance of the inputs, of each input table. A number counts what the input metric
            counts: rows added or removed, rows replaced, or ids; for a chain on a single number it
            is the absolute difference. A protected change stands for its distance.

        Returns
        -------
        int, Fraction, Root or a tuple of two
            An exact number in the output metric; a tuple if the output is a pair. It is bare: noise
            takes the chain, or its `sensitivity`, which know their norm and unit.

        Raises
        ------
        InputError
            If `d_in` is left out; or if it is a number and the unit is more than one row: the
            number could count rows or units.
        """
        if d_in is None and not others:
            raise InputError(
                "map takes the distance of two inputs, map(d_in), which counts: "
                f"{self.input_metric}; for one protected unit take sensitivity(), which keeps the "
                "norm and the unit that noise needs"
            )
        return self.stability_map(self._distance(d_in, *others))

    @public_call
    def sensitivity(self, d_in: Any = None, *others: Any) -> ChainSensitivity:
        """Return how much one protected unit can change the numbers that the chain returns.

        Parameters
        ----------
        d_in, *others : number or protected change, optional
            The distance of the inputs, as for `map`. By default one protected unit, which the start
            of the chain names: a person or an id with all its rows, or m rows for
            ``AddMaxRows(m)``; of two tables, one of each at the same time.

        Returns
        -------
        ChainSensitivity
            The value of the stability map with its norm, unit and relation. The noise helpers take
            it, and take the chain itself for one protected unit.

        Raises
        ------
        InputError
            If the output is no number and no vector of numbers; if `d_in` is left out and the start
            names no protected unit; or as for `map`.

        Examples
        --------
        >>> import sensitivity_lab as sl
        >>> from sensitivity_lab import pipelines as pl
        >>> chain = pl.start(pl.AddMaxRows(5)) >> pl.count()
        >>> chain.sensitivity().value, sl.noise.laplace_scale(chain, epsilon=2)
        (5.0, 2.5)
        """
        metric = self.output_metric
        if not isinstance(metric, AbsoluteDistance | L1Distance | L2Distance):
            raise InputError(
                f"{self.name} returns {self.output_domain} ({metric}), and a sensitivity is for a "
                "number or a vector of numbers; add the steps that compute them, or take map(d_in)"
            )
        distance = self._distance(d_in, *others)
        bound: Distance = self.stability_map(distance)
        upper = upper_of(bound)
        return ChainSensitivity(
            value=upper,
            exact=None if isinstance(bound, Root | float) else Fraction(bound),
            upper=upper,
            norm=None if isinstance(metric, AbsoluteDistance) else metric.kind,
            unit=neighbors_text(self.input_metric, distance),
            neighbors=_relation(self.input_metric, distance),
            query=self.name,
            output=f"{self.output_domain}; {metric}",
        )

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs, for one protected unit."""
        return self.sensitivity().noise_context()

    def _distance(self, *given: Any) -> Any:
        """Return the distance of the inputs that arguments stand for."""
        return protected_distance(given, self.input_metric, self.unit)

    def __rshift__(self, after: Any) -> Transformation:
        """Return the chain of this transformation and a step or a transformation after it."""
        if isinstance(after, Step):
            after = after.after(self)
        if not isinstance(after, Transformation):
            return NotImplemented
        return _chain(self, after)

    @property
    def each_step(self) -> tuple[Transformation, ...]:
        """The single steps, in order."""
        return self.steps or (self,)

    def __repr__(self) -> str:
        return (
            f"{self.name}\n"
            f"  input   {self.input_domain}; {self.input_metric}\n"
            f"  output  {self.output_domain}; {self.output_metric}"
            f"{unit_line(self.unit, self.input_metric)}"
        )


def linear(
    name: str,
    function: Callable[[Any], Any],
    domain: Domain,
    metric: Metric,
    output_domain: Domain,
    output_metric: Metric,
    rate: int = 1,
    check_universe: Callable[[Any], None] | None = None,
) -> Transformation:
    """Return a transformation whose distance is at most `rate` times that of its inputs."""
    return Transformation(
        name,
        function,
        domain,
        metric,
        output_domain,
        output_metric,
        lambda d_in: rate * d_in,
        check_universe=check_universe,
    )


@dataclass(frozen=True, repr=False)
class Step(_AfterTuple):
    """A transformation without its input domain and metric, which the chain before it provides.

    Parameters
    ----------
    name : str
        Its name in a chain.
    build : callable
        Takes a domain and a metric, and returns the transformation or raises `MismatchError`.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> step = pl.clamp(0, 5)
    >>> step
    clamp(0, 5)
    >>> print(step(pl.Numbers(), pl.SymmetricDistance()).output_domain)
    numbers in [0, 5]
    """

    name: str
    build: Callable[[Domain, Metric], Transformation]

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", _chain_named(self.name))
        check_callable("build", self.build, "a function of a domain and a metric")

    def __call__(self, domain: Domain, metric: Metric) -> Transformation:
        """Return the transformation of an input domain and metric."""
        return Start(domain, metric) >> self

    def after(self, before: Start | Transformation) -> Transformation:
        """Return the transformation of the output of `before`."""
        check_kind("before", before, Start | Transformation, "a transformation or a start")
        domain, metric = before.output_domain, before.output_metric
        try:
            built = self.build(domain, metric)
        except MismatchError as mismatch:
            raise InputError(
                f"cannot chain {before.name} >> {self.name}: {before.name} returns "
                f"{domain} ({metric}), but {self.name} takes {mismatch}"
            ) from None
        except SensitivityLabError:
            raise
        except Exception as error:
            raise InputError(
                f"cannot chain {before.name} >> {self.name}: build raised "
                f"{type(error).__name__}: {error}"
            ) from error
        check_kind(f"what build of {self.name} returns", built, Transformation, "a Transformation")
        return built

    def __rshift__(self, after: Step) -> Step:
        """Return the chain of two steps, whose domain and metric are not known yet."""
        if not isinstance(after, Step):
            return NotImplemented
        return Step(
            f"{self.name} >> {after.name}",
            lambda domain, metric: Start(domain, metric) >> self >> after,
        )

    def __repr__(self) -> str:
        return self.name


class MismatchError(InputError):
    """A step cannot take a domain or a metric; the message says what it takes."""


@dataclass(frozen=True)
class Start:
    """The start of a chain: a domain and a metric.

    Parameters
    ----------
    domain : Domain
        The data that the chain takes.
    metric : Metric
        The metric of the data.
    unit : AddMaxRows, AddRowsWithID, AddRowsWithSharedID or a tuple of two, optional
        The protected unit, which `start` fills in; see `Transformation.map`.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> (Start(pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(0, 5) >> pl.sum_(0, 5)).map(2)
    10
    """

    domain: Domain
    metric: Metric
    unit: Unit = None

    def __post_init__(self) -> None:
        check_kind("domain", self.domain, Domain, "a domain, such as Numbers()")
        check_kind("metric", self.metric, Metric, "a metric, such as SymmetricDistance()")
        check_unit(self.unit, self.metric)

    @property
    def name(self) -> str:
        """The name in error messages."""
        return "the start"

    @property
    def output_domain(self) -> Domain:
        """The domain, as a transformation would name it."""
        return self.domain

    @property
    def output_metric(self) -> Metric:
        """The metric, as a transformation would name it."""
        return self.metric

    input_domain, input_metric = output_domain, output_metric

    def __rshift__(self, after: Any) -> Transformation:
        """Begin a chain with a step or a transformation."""
        if isinstance(after, Step):
            after = after.after(self)
        elif isinstance(after, Transformation):
            _check_chain(self, after)
        else:
            return NotImplemented
        # What comes first says what is protected; a start from a domain and a metric says nothing.
        made: Transformation = after
        return made if self.unit is None else replace(made, unit=self.unit)


def as_start(given: Any) -> Start | None:
    """Return the start of a tuple (domain, metric); None for anything else."""
    if isinstance(given, tuple) and len(given) == 2:
        domain, metric = given
        if isinstance(domain, Domain) and isinstance(metric, Metric):
            return Start(domain, metric)
    return None


def _chain_named(name: Any) -> str:
    """Return the name of a chain as it is shown: those of its steps, as many as there are."""
    return " >> ".join(map(named, check_text("name", name, "a text").split(" >> ")))


def _one(given: tuple[Any, ...]) -> Any:
    """Return the only argument, or the tuple of several."""
    return given[0] if len(given) == 1 else given


def _check_chain(before: Start | Transformation, after: Transformation) -> None:
    """Raise InputError, naming both sides, unless one can follow the other."""
    for what, given, taken, fits in (
        (
            "domains",
            before.output_domain,
            after.input_domain,
            after.input_domain.includes(before.output_domain),
        ),
        (
            "metrics",
            before.output_metric,
            after.input_metric,
            after.input_metric == before.output_metric,
        ),
    ):
        if not fits:
            raise InputError(
                f"cannot chain {before.name} >> {after.name}: the {what} do not match; "
                f"{before.name} returns {given}, but {after.name} takes {taken}"
            )


def _chain(before: Transformation, after: Transformation) -> Transformation:
    """Return the transformation that applies one transformation after another."""
    _check_chain(before, after)
    return Transformation(
        f"{before.name} >> {after.name}",
        lambda data: after.function(before.function(data)),
        before.input_domain,
        before.input_metric,
        output_domain=after.output_domain,
        output_metric=after.output_metric,
        stability_map=lambda d_in: after.stability_map(before.stability_map(d_in)),
        steps=(*before.each_step, *after.each_step),
        unit=before.unit,
    )
