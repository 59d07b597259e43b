"""What is audited: a transformation of OpenDP in its metrics, and what its map claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sensitivity_lab.audits.claims import check_claim
from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError, MissingExtraError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.results.literals import one_line

_METRICS = {
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
"""OpenDP's metrics that measure one number, and our names for them."""

_COMPONENTS = {"L01InfDistance": ("L0", "L1", "Linf"), "L02InfDistance": ("L0", "L2", "Linf")}
"""OpenDP's metrics that measure three numbers at once, as a map answers them."""


@dataclass(frozen=True)
class Subject:
    """What is audited: a transformation in its metrics.

    Attributes
    ----------
    transformation : opendp.prelude.Transformation
    inputs, outputs : str
        The names of the metrics in `metrics.METRICS`.
    place : int or None
        Where the audited number stands in the map's answer; None if that is the number.
    """

    transformation: Any
    inputs: str
    outputs: str
    place: int | None

    @property
    def name(self) -> str:
        """The constructors that the transformation was made by, where OpenDP remembers them."""
        return " >> ".join(_constructors(self.transformation)) or "OpenDP transformation"

    @property
    def metrics(self) -> str:
        """The metrics in words."""
        given, answer = self.transformation.input_metric, self.transformation.output_metric
        part = "" if self.place is None else f" ({self.outputs})"
        return f"{given} of at most k to {answer}{part}"

    def claims(self, limits: Sequence[int]) -> list[tuple[Number | None, str]]:
        """Return what the map answers at each input distance: None, and why, where it fails."""
        claims = [self._claim(limit) for limit in limits]
        if all(claim is None for claim, _ in claims):
            raise QueryError(f"the map of {self.name} fails at d_in = {limits[0]}: {claims[0][1]}")
        return claims

    def _claim(self, d_in: int) -> tuple[Number | None, str]:
        real = str(self.transformation.input_distance_type) in ("f32", "f64")
        try:
            answer = self.transformation.map(float(d_in) if real else d_in)
        except Exception as error:  # noqa: BLE001 - whatever the map does is what the row tells
            return None, _reason(error)
        return check_claim(answer if self.place is None else answer[self.place], d_in), ""


def _reason(error: Exception) -> str:
    """Return what an error says: one line, without the calls that led to it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip(' ")')]
    told = lines[-1 if "Traceback" in str(error) else 0] if lines else type(error).__name__
    return one_line(told)[:200]


def check_subject(transformation: Any, component: str | None) -> Subject:
    """Return a transformation in its metrics, or raise InputError."""
    try:
        from opendp.mod import Transformation
    except ImportError:
        raise MissingExtraError(
            "audit_opendp needs OpenDP; install the extra: pip install 'sensitivity_lab[opendp]'"
        ) from None
    if not isinstance(transformation, Transformation):
        raise InputError(
            "transformation must be an OpenDP Transformation, got "
            f"{type(transformation).__name__}; measurements add noise and have no exact answer"
        )
    given, answer = (
        str(metric) for metric in (transformation.input_metric, transformation.output_metric)
    )
    components = _COMPONENTS.get(answer.partition("(")[0])
    if components is None and component is not None:
        raise InputError(f"component is for metrics of three numbers, not for {answer}")
    if components is None:
        return Subject(transformation, _metric("input", given), _metric("output", answer), None)
    if component not in components:
        raise InputError(
            f"{answer} measures three numbers; component must be one of "
            f"{', '.join(map(repr, components))}, got {shown(component)}"
        )
    place = components.index(component)
    return Subject(transformation, _metric("input", given), component, place)


def _metric(side: str, metric: str) -> str:
    """Return our name of an OpenDP metric, or raise InputError."""
    known = _METRICS.get(metric.partition("(")[0])
    if known is None or "monotonic" in metric:
        covered = ", ".join([*_METRICS, *(_COMPONENTS if side == "output" else ())])
        raise InputError(f"the {side} metric {metric} is not covered; those that are: {covered}")
    return known


def _constructors(transformation: Any) -> Iterator[str]:
    """Yield the names of the functions that made a transformation, first in a chain first."""
    made = getattr(transformation, "__opendp_dict__", {})
    arguments = made.get("__kwargs__", {})
    if made.get("__function__") == "make_chain_tt":
        yield from _constructors(arguments["transformation0"])
        yield from _constructors(arguments["transformation1"])
    elif made:
        yield made["__function__"]
