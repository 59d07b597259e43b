"""The subject of an audit: an OpenDP transformation, its metrics, and the claims of its map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.audits.maps import collected
from sensitivity_lab.checks import check_callable, names_of, shown
from sensitivity_lab.errors import InputError, MissingExtraError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics import Given
from sensitivity_lab.results.literals import short_literal

OUR_NAMES = {
    "SymmetricDistance": "symmetric",
    "InsertDeleteDistance": "insert_delete",
    "ChangeOneDistance": "change_one",
    "HammingDistance": "hamming",
    "DiscreteDistance": "discrete",
    "AbsoluteDistance": "absolute",
    "L1Distance": "L1",
    "L2Distance": "L2",
    "LInfDistance": "Linf",
}
"""OpenDP's metrics with one number, and our names for them."""

_COMPONENTS = {"L01InfDistance": ("L0", "L1", "Linf"), "L02InfDistance": ("L0", "L2", "Linf")}
"""OpenDP's metrics with three numbers, in the order of a map's answer."""

_FRAME = "FrameDistance("
"""The metric of tables, around the metric of their rows."""


@dataclass(frozen=True)
class Subject:
    """The subject of an audit: a transformation or measurement, and its metrics.

    Attributes
    ----------
    transformation : opendp.prelude.Transformation or Measurement
    inputs, outputs : str or callable
        The metrics: names in `metrics.METRICS`, or the caller's function of two inputs.
    place : int or None
        The place of the audited number in the map's answer; None if the answer is one number.
    """

    transformation: Any
    inputs: Given
    outputs: Given
    place: int | None

    @property
    def name(self) -> str:
        """The constructors that made the transformation, if OpenDP remembers them."""
        return " >> ".join(_constructors(self.transformation)) or "OpenDP transformation"

    @property
    def metrics(self) -> str:
        """The metrics in words."""
        given, answer = self.transformation.input_metric, self.transformation.output_metric
        part = "" if self.place is None else f" ({self.outputs})"
        return f"{given} of at most k to {answer}{part}"

    @property
    def real(self) -> bool:
        """Whether OpenDP's input distances are floats."""
        return str(self.transformation.input_distance_type) in ("f32", "f64")

    def distance(self, d_in: Number) -> Any:
        """Return an input distance as OpenDP takes it; raise InputError if it would be rounded."""
        given: Any = d_in
        kind = str(self.transformation.input_distance_type)
        if self.real:
            given = float(np.float32(d_in) if kind == "f32" else d_in)
            if Fraction(given) != Fraction(d_in):
                raise InputError(f"{d_in} is no {kind} of OpenDP; the nearest is {given!r}")
        return _bounds(given) if str(self.transformation.input_metric).startswith(_FRAME) else given

    def mapped(self, d_in: Number) -> Any:
        """Return what OpenDP's map returns at an input distance."""
        return self.transformation.map(self.distance(d_in))

    def claim(self, d_in: Number) -> Any:
        """Return the map's value at an input distance."""
        answer = self.mapped(d_in)
        if str(self.transformation.output_metric).startswith(_FRAME):
            return _total(answer)
        return answer if self.place is None else answer[self.place]


def _bounds(d_in: int) -> list[Any]:
    """Return a distance between tables as OpenDP takes it: a bound over all rows."""
    from opendp.extras.polars import Bound

    return [Bound(per_group=d_in)]


def _total(bounds: Any) -> Any:
    """Return the distance over all rows from a list of bounds, or raise ValueError."""
    for bound in bounds:
        if not bound.by and bound.per_group is not None:
            return bound.per_group
    raise ValueError(f"no bound over all rows in {bounds}")


def needed(user: str) -> tuple[Any, Any]:
    """Return OpenDP's classes of transformations and measurements, or raise MissingExtraError."""
    try:
        from opendp.mod import Measurement, Transformation
    except ImportError:
        raise MissingExtraError(
            f"{user} needs OpenDP; install the extra: pip install '.[opendp]' in a checkout"
        ) from None
    return Transformation, Measurement


def our_input_metric(made: Any, neighbors: Any) -> Given:
    """Return the input metric of a transformation or measurement, or the caller's own."""
    if neighbors is None:
        return _metric("input", str(made.input_metric))
    check_callable(
        "neighbors", neighbors, "a function of two inputs, or left out for OpenDP's own metric"
    )
    return neighbors  # type: ignore[no-any-return]


def check_subject(transformation: Any, component: str | None, neighbors: Any = None) -> Subject:
    """Return a transformation and its metrics, or raise InputError."""
    answer = str(transformation.output_metric)
    if str(transformation.output_domain).startswith("NPSSCPDomain"):
        raise InputError(
            "the output metric counts the rows that a matrix of sums was made of, which the matrix "
            "does not show; audit it with the transformation that follows"
        )
    near = our_input_metric(transformation, neighbors)
    components = _COMPONENTS.get(answer.partition("(")[0])
    if components is None and component is not None:
        raise InputError(f"component is for metrics of three numbers, not for {answer}")
    if components is None:
        return Subject(transformation, near, _metric("output", answer), None)
    if component not in components:
        raise InputError(
            f"{answer} measures three numbers; component must be one of "
            f"{names_of(components)}, got {shown(component)}"
        )
    place = components.index(component)
    return Subject(transformation, near, component, place)


def _metric(side: str, metric: str) -> str:
    """Return our name of an OpenDP metric, or raise InputError."""
    known = OUR_NAMES.get(metric.removeprefix(_FRAME).partition("(")[0])
    if known is None:
        covered = ", ".join([*OUR_NAMES, *(_COMPONENTS if side == "output" else ())])
        own = "; give neighbors=, a function of two inputs" if side == "input" else ""
        raise InputError(
            f"the {side} metric {metric} is not covered; those that are: {covered}{own}"
        )
    if "monotonic" not in metric:
        return known
    if side == "input":
        raise InputError(f"the input metric {metric} is not covered; give neighbors=")
    return "Linf_monotonic"


def _constructors(transformation: Any) -> Iterator[str]:
    """Yield the names of the functions that made a transformation, in the order of the chain."""
    name, arguments = made_by(transformation)
    if name in ("make_chain_tt", "make_chain_mt"):
        yield from _constructors(arguments["transformation0"])
        yield from _constructors(arguments.get("transformation1") or arguments["measurement1"])
    elif name:
        yield name


def made_by(made: Any) -> tuple[str, dict[str, Any]]:
    """Return the name of the constructor that made something, and its arguments, if known."""
    told = getattr(made, "__opendp_dict__", {})
    return told.get("__function__", ""), told.get("__kwargs__", {})


def invoke(transformation: Any, x: Any) -> Any:
    """Return the answer on an input, or raise QueryError, which names the input."""
    try:
        return collected(transformation(x))
    except Exception as error:
        raise QueryError(f"the transformation fails on {short_literal(x)}: {error}") from error
