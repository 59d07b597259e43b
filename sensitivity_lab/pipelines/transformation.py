"""What a transformation is: a function of data with a promise about distances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sensitivity_lab.checks import check_callable, check_kind, check_text, listed, shown
from sensitivity_lab.errors import InputError, SensitivityLabError
from sensitivity_lab.numpy_state import with_numpy_defaults

from .changes import ProtectedChange, distance_of
from .domains import Domain, Pair
from .metrics import Metric, PairDistance
from .table_domains import Table


@dataclass(frozen=True, repr=False)
class Transformation:
    """A function of data, with a promise: inputs that are close give outputs that are close.

    Parameters
    ----------
    name : str
        What a chain calls it, as it would be written.
    function : callable
        Takes data of the input domain, returns data of the output domain. The types of a table's
        columns, which pandas chooses by all rows, must not change what it returns, unless the
        domain declares them.
    input_domain, output_domain : Domain
        What data it takes and puts out.
    input_metric, output_metric : Metric
        How distances are measured on both sides.
    stability_map : callable
        Takes an input distance; returns an output distance that no two inputs at most that far
        apart exceed. Must not fall when the input distance grows.
    steps : tuple of Transformation, default ()
        The steps of a chain, in order; empty for a single step.
    check_universe : callable, optional
        Takes the universe that inputs are drawn from; raises InputError where a search over its
        datasets could not show how much the step can change.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> number, distance = pl.Scalar(), pl.AbsoluteDistance()
    >>> double = Transformation(
    ...     "double", lambda x: 2 * x, number, distance, number, distance, lambda d_in: 2 * d_in
    ... )
    >>> double(4), double.map(3), (double >> double).map(3)
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

    def __post_init__(self) -> None:
        check_text("name", self.name, "a text")
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

    @with_numpy_defaults
    def __call__(self, *data: Any) -> Any:
        """Apply the function; two tables are two arguments, or one tuple.

        Raises
        ------
        InputError
            If the data are not in the input domain.
        """
        return self.function(self.input_domain.read(_one(data)))

    @with_numpy_defaults
    def map(self, *d_in: Any) -> Any:
        """Return how far outputs are apart at most when inputs are at most `d_in` apart.

        Parameters
        ----------
        *d_in : number or protected change
            One per input table; `AddMaxRows` and `AddRowsWithID` stand for their distance.

        Returns
        -------
        int, Fraction, Root or a tuple of two
            An exact number; a tuple where the output is a pair.
        """
        return self.stability_map(distance_of(_one(d_in), self.input_metric))

    def __rshift__(self, after: Any) -> Transformation:
        """Chain: this transformation first, then a step or another transformation."""
        if isinstance(after, Step):
            after = after.after(self)
        if not isinstance(after, Transformation):
            return NotImplemented
        return _chain(self, after)

    def __rrshift__(self, before: Any) -> Transformation:
        """Chain after a start given as a tuple (domain, metric)."""
        start = as_start(before)
        return NotImplemented if start is None else start >> self

    @property
    def each_step(self) -> tuple[Transformation, ...]:
        """The single steps, in order."""
        return self.steps or (self,)

    def __repr__(self) -> str:
        return (
            f"{self.name}\n"
            f"  input   {self.input_domain}; {self.input_metric}\n"
            f"  output  {self.output_domain}; {self.output_metric}"
        )


@dataclass(frozen=True, repr=False)
class Step:
    """A transformation that waits for the domain and the metric of what comes before it.

    Parameters
    ----------
    name : str
        What a chain calls it.
    build : callable
        Takes a domain and a metric; returns the transformation, or raises `MismatchError`.

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
        check_text("name", self.name, "a text")
        check_callable("build", self.build, "a function of a domain and a metric")

    def __call__(self, domain: Domain, metric: Metric) -> Transformation:
        """Return the transformation for an input domain and metric."""
        return Start(domain, metric) >> self

    def after(self, before: Start | Transformation) -> Transformation:
        """Return the transformation that takes what `before` puts out."""
        domain, metric = before.output_domain, before.output_metric
        try:
            built = self.build(domain, metric)
        except MismatchError as mismatch:
            raise InputError(
                f"cannot chain {before.name} >> {self.name}: {before.name} puts out "
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
        """Chain two steps before the domain and the metric are known."""
        if not isinstance(after, Step):
            return NotImplemented
        return Step(
            f"{self.name} >> {after.name}",
            lambda domain, metric: Start(domain, metric) >> self >> after,
        )

    def __rrshift__(self, before: Any) -> Transformation:
        """Chain after a start given as a tuple (domain, metric)."""
        start = as_start(before)
        return NotImplemented if start is None else start >> self

    def __repr__(self) -> str:
        return self.name


class MismatchError(InputError):
    """A step cannot take a domain or a metric; the message says what it takes."""


@dataclass(frozen=True)
class Start:
    """What a chain starts from: a domain and a metric.

    Parameters
    ----------
    domain : Domain
        What data the chain takes.
    metric : Metric
        How their distance is measured.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> (Start(pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(0, 5) >> pl.sum_(0, 5)).map(2)
    10
    """

    domain: Domain
    metric: Metric

    def __post_init__(self) -> None:
        check_kind("domain", self.domain, Domain, "a domain, such as Numbers()")
        check_kind("metric", self.metric, Metric, "a metric, such as SymmetricDistance()")

    @property
    def name(self) -> str:
        """What errors call it."""
        return "the start"

    @property
    def output_domain(self) -> Domain:
        """The domain, as a transformation would name it."""
        return self.domain

    @property
    def output_metric(self) -> Metric:
        """The metric, as a transformation would name it."""
        return self.metric

    def __rshift__(self, after: Any) -> Transformation:
        """Begin a chain with a step or a transformation."""
        if isinstance(after, Step):
            return after.after(self)
        if isinstance(after, Transformation):
            _check_chain(self, after)
            return after
        return NotImplemented


def start(*changes: ProtectedChange) -> Start:
    """Return the start of a chain on tables: one protected change per table.

    Parameters
    ----------
    *changes : AddMaxRows or AddRowsWithID
        One, or two for a chain that begins with a private join.

    Returns
    -------
    Start

    Raises
    ------
    InputError
        If there is none, there are more than two, or one is no protected change.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> (start(pl.AddMaxRows(1)) >> pl.count()).map(pl.AddMaxRows(3))
    3
    """
    if len(changes) not in (1, 2) or not all(isinstance(one, ProtectedChange) for one in changes):
        raise InputError(
            "start takes one or two protected changes, AddMaxRows(m) or AddRowsWithID(column), "
            f"one per table; got {', '.join(map(shown, changes)) or 'none'}"
        )
    if len(changes) == 1:
        return Start(Table(), changes[0].metric)
    first, second = changes
    return Start(Pair(Table(), Table()), PairDistance(first.metric, second.metric))


def as_start(given: Any) -> Start | None:
    """Return the start that a tuple (domain, metric) stands for; None for anything else."""
    if isinstance(given, tuple) and len(given) == 2:
        domain, metric = given
        if isinstance(domain, Domain) and isinstance(metric, Metric):
            return Start(domain, metric)
    return None


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
                f"{before.name} puts out {given}, but {after.name} takes {taken}"
            )


def _chain(before: Transformation, after: Transformation) -> Transformation:
    """Return the transformation that does one thing after the other."""
    _check_chain(before, after)
    return Transformation(
        f"{before.name} >> {after.name}",
        lambda data: after.function(before.function(data)),
        before.input_domain,
        before.input_metric,
        after.output_domain,
        after.output_metric,
        lambda d_in: after.stability_map(before.stability_map(d_in)),
        (*before.each_step, *after.each_step),
    )
