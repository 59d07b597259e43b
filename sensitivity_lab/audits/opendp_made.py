"""What OpenDP made: transformations and measurements, and the claims of their maps.

A measurement draws its noise inside OpenDP, where no audit sees it. Its *twin* calls the same
transformation, and adds the noise that the documentation of the last constructor states. So the
twin shows what the map promises too little of; it says nothing of OpenDP's own sampler. With noise
of scale 0 a measurement returns the exact answer: the privacy loss that the map of the real one
promises gives the sensitivity that it assumes.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from sensitivity_lab.checks import check_callable, names_of, number_kind, shown
from sensitivity_lab.errors import InputError, MissingExtraError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics import Given, as_metric
from sensitivity_lab.metrics.cells import signed_key
from sensitivity_lab.results.literals import short_literal

from .driven.laws import exp_bounds
from .driven.stops import SECONDS, budgeted
from .maps import collected, farthest, rows_of
from .mechanism import CHANCE_ULPS, PrivacyClaim, judged
from .pairs import plain
from .question import Question, naming
from .report import AuditReport
from .returned import Part
from .row import AuditRow

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


Noise = Callable[[Any, Any], Any]
"""Takes the exact answer and a generator, and returns the release."""


def twin_of(measurement: Any) -> Callable[[Any, Any], Any]:
    """Return a function of a dataset and a generator that releases as a measurement does.

    Raises
    ------
    InputError
        If no twin is known, with the reason.
    """
    name, arguments = made_by(measurement)
    if name == "make_composition":
        twins = [twin_of(one) for one in arguments["measurements"]]
        return lambda data, rng: [one(data, rng) for one in twins]
    if name == "make_chain_pm":
        first, then = twin_of(arguments["measurement0"]), arguments["postprocess1"]
        return lambda data, rng: then(_as_numbers(first(data, rng)))
    if name in _SAME_RELEASE:
        return twin_of(arguments["measurement"])
    before, name, arguments = _parts(measurement)
    if name not in _NOISES:
        raise InputError(
            f"no twin of {name or 'this measurement'} is known; those of {', '.join(_NOISES)} are: "
            "audit the transformation before it"
        )
    noise = _NOISES[name](arguments)
    answers: dict[Any, Any] = {}

    def twin(data: Any, rng: Any) -> Any:
        # The exact answer is the same in all runs on a dataset: OpenDP is called once.
        key = signed_key(data)
        if key not in answers:
            answers[key] = data if before is None else invoke(before, data)
        return noise(answers[key], rng)

    return twin


def _as_numbers(release: Any) -> Any:
    """Return a release as OpenDP takes it, whose functions see no symbols."""
    if isinstance(release, list):
        return list(map(_as_numbers, release))
    if isinstance(release, dict):
        return {key: _as_numbers(entry) for key, entry in release.items()}
    return release.decided() if isinstance(release, Part) else release


def _parts(measurement: Any) -> tuple[Any, str, dict[str, Any]]:
    """Return the transformation before the noise, or None; who made the noise, and of what."""
    name, arguments = made_by(measurement)
    if name == "make_chain_mt":
        return arguments["transformation0"], *made_by(arguments["measurement1"])
    return None, name, arguments


def _has_whole_numbers(arguments: dict[str, Any]) -> bool:
    """Tell whether the numbers that get noise are whole: the last type of the domain is theirs."""
    *_, kind = re.findall(r"T=(\w+)", str(arguments["input_domain"]))
    return not kind.startswith("f")


def _each(release: Callable[[Any, Any], Any]) -> Noise:
    """Apply noise to a number, or to each entry of a list."""

    def noisy(answer: Any, rng: Any) -> Any:
        if isinstance(answer, list):
            return [release(number, rng) for number in answer]
        return release(answer, rng)

    return noisy


def _two_sided(scale: float) -> Callable[[Any, Any], Any]:
    """Return noise with probabilities in proportion to e ** -(abs(z) / scale), of whole z."""
    if scale == 0:
        return lambda number, _: number
    # With more digits than a float: for small scales they are what counts.
    low, high = exp_bounds(-1 / Fraction(scale))
    chance = 1 - (low + high) / 2
    return lambda number, rng: number + rng.geometric(chance) - rng.geometric(chance)


def _discrete_normal(scale: float, threshold: float) -> Callable[[Any, Any], Any]:
    """Return noise with probabilities in proportion to e ** -(z**2 / (2 scale**2)), of whole z.

    It reaches ten standard deviations, and as far again as the threshold; beyond, less than 2**-60
    is left.
    """
    if scale == 0:
        return lambda number, _: number
    reach = math.ceil(10 * scale + abs(threshold))
    values = np.arange(-reach, reach + 1)
    weights = np.exp(-((values / scale) ** 2) / 2)
    chances = weights / weights.sum()
    return lambda number, rng: number + rng.choice(values, p=chances)


def _laplace(arguments: dict[str, Any]) -> Noise:
    scale = arguments["scale"]
    for name in ("bounds", "k"):
        if arguments.get(name) is not None:
            raise InputError(f"no twin of noise with {name}= is known; leave it out")
    if _has_whole_numbers(arguments):
        return _each(_two_sided(scale))
    return _each(lambda number, rng: number + rng.laplace(0, scale))


def _gaussian(arguments: dict[str, Any]) -> Noise:
    scale = arguments["scale"]
    if arguments.get("k") is not None:
        raise InputError("no twin of noise with k= is known; leave it out")
    if _has_whole_numbers(arguments):
        raise InputError(
            "no twin of make_gaussian on whole numbers is known; to compare sensitivities, give a "
            "function of a scale that returns the measurement"
        )
    return _each(lambda number, rng: number + rng.normal(0, scale))


def _laplace_threshold(arguments: dict[str, Any]) -> Noise:
    return _above(arguments, _two_sided(arguments["scale"]))


def _gaussian_threshold(arguments: dict[str, Any]) -> Noise:
    return _above(arguments, _discrete_normal(arguments["scale"], arguments["threshold"]))


def _above(arguments: dict[str, Any], noise: Callable[[Any, Any], Any]) -> Noise:
    """Keep the keys whose noisy value is at least the threshold."""
    least = arguments["threshold"]
    if not _has_whole_numbers(arguments):
        raise InputError("no twin of a threshold on floats is known; count in integers")

    def kept(answer: dict[Any, Any], rng: Any) -> dict[Any, Any]:
        noisy = {key: noise(answer[key], rng) for key in sorted(answer, key=repr)}
        return {key: number for key, number in noisy.items() if number >= least}

    return kept


def _one_of_two(arguments: dict[str, Any]) -> Noise:
    truthful = arguments["prob"]
    return lambda answer, rng: answer if rng.random() < truthful else not answer


def _one_of_several(arguments: dict[str, Any]) -> Noise:
    truthful, categories = arguments["prob"], list(arguments["categories"])

    def answered(answer: Any, rng: Any) -> Any:
        if answer not in categories:
            return categories[int(rng.integers(len(categories)))]
        if rng.random() < truthful:
            return answer
        others = [one for one in categories if one != answer]
        return others[int(rng.integers(len(others)))]

    return answered


_SAME_RELEASE = {"make_approximate", "make_fix_delta", "make_pureDP_to_zCDP",
                 "make_zCDP_to_approxDP", "make_fixed_approxDP_to_approxDP"}  # fmt: skip
"""What measures the loss otherwise, and releases the same."""

_OF_PLANS = {"dp_sum": 2, "dp_len": 0, "dp_frame_len": 0, "dp_count": 0, "dp_n_unique": 0,
             "dp_null_count": 0, "noise": 0}  # fmt: skip
"""What adds noise in a plan of Polars, and the place of its scale among its numbers."""

_ON_THE_WAY = {"Alias", "Select", "expr", "GroupBy", "aggs", "input", "Join", "input_left",
               "input_right", "Sort", "Filter", "Slice"}  # fmt: skip
"""What stands above noise that comes last; anything else computes with it."""


def check_adds_last(measurement: Any, scale: float) -> None:
    """Raise InputError unless a measurement adds noise of a scale to its answer, and ends there.

    Only then the loss that its map promises, times the scale, is a sensitivity.
    """
    _, name, arguments = _parts(measurement)
    if name == "make_composition":
        for one in arguments["measurements"]:
            check_adds_last(one, scale)
        return
    if name == "make_approximate":
        check_adds_last(arguments["measurement"], scale)
        return
    scales = [arguments.get("scale") if name in _NOISES else None]
    if name == "make_private_lazyframe" and arguments["global_scale"] in (None, 1):
        scales = list(_scales_of(arguments["lazyframe"]))
    if None in scales or not scales:
        called = name if name != "make_private_lazyframe" else "this plan of Polars"
        raise InputError(
            "a function of the scale is audited where noise of that scale is added last, as by "
            "make_laplace and make_gaussian, or by sum, len and count with scale= in a plan; the "
            f"loss of {called or 'this measurement'} tells nothing of its answer at scale 0: audit "
            "the transformation before it"
        )
    if any(one != scale for one in scales):
        raise InputError(
            f"make must add noise of the scale that it gets, but make({scale}) adds noise of scale "
            f"{next(one for one in scales if one != scale)}; pass the scale on as it is"
        )


def _scales_of(frame: Any) -> Iterator[float | None]:
    """Yield the scales of the noise in a plan of Polars; None for what is no noise at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Polars warns that another version may read no such text
        plan = json.loads(frame.serialize(format="json"))
    yield from _plugins(plan, True)


def _plugins(node: Any, last: bool) -> Iterator[float | None]:
    if isinstance(node, list):
        for one in node:
            yield from _plugins(one, last)
    if not isinstance(node, dict):
        return
    function = node.get("Function", {})
    made = function.get("function", "") if isinstance(function, dict) else ""
    if isinstance(made, dict) and "FfiPlugin" in made:
        name = made["FfiPlugin"]["symbol"]
        numbers = [
            number
            for one in function["input"]
            for number in one.get("Literal", {}).get("Dyn", {}).values()
        ]
        place = _OF_PLANS.get(name, len(numbers))
        yield numbers[place] if last and place < len(numbers) else None
        return
    for name, one in node.items():
        yield from _plugins(one, last and name in _ON_THE_WAY)


_NOISES: dict[str, Callable[[dict[str, Any]], Noise]] = {
    "make_gaussian": _gaussian,
    "make_gaussian_threshold": _gaussian_threshold,
    "make_geometric": _laplace,
    "make_laplace": _laplace,
    "make_laplace_threshold": _laplace_threshold,
    "make_randomized_response": _one_of_several,
    "make_randomized_response_bool": _one_of_two,
}
"""By the constructor that draws."""


_NORMS = {"MaxDivergence": "L1", "ZeroConcentratedDivergence": "L2"}
"""The norm that the noise of a measure is calibrated to: Laplace noise, and Gaussian noise."""

_OF_A_SCALE = (
    "pass a function of the scale that returns the measurement, to audit the sensitivity that its "
    "map assumes"
)
"""What to do where the noise has endless support, and the map promises a pure epsilon."""

_RHO_TOO = (
    "rho is not judged for noise on whole numbers; of delta no more is needed than the map promises"
)

_BEYOND = 2.0**-57
"""The delta that zero-concentrated privacy leaves at the epsilon where delta is compared."""

# At these scales no claim leaves the range of floats.
_check_scale = number_kind("a number from 1e-100 to 1e100", lambda given: 1e-100 <= given <= 1e100)

Asked = Callable[[Subject, Any], Question]
"""Takes a subject, and what decides which inputs are accepted."""


def audit_law(measurement: Any, asked: Asked, neighbors: Any) -> AuditReport:
    """Compare the map of a measurement with the law of its twin.

    Parameters
    ----------
    measurement : opendp.prelude.Measurement
        What to audit.
    asked : callable
        Makes the question.
    neighbors : callable, optional
        The caller's own input metric.
    """
    _check_measure(measurement)
    twin = twin_of(measurement)
    subject = _Driven(measurement, our_input_metric(measurement, neighbors), "absolute", None)
    question = asked(subject, measurement)
    tolerance = max(question.tolerance, CHANCE_ULPS)
    rows: list[AuditRow] = []
    notes: tuple[str, ...] = ()
    # The map promises another loss at each distance, so each is a claim of its own.
    for limit, (claimed, reason) in zip(question.limits, question.claims, strict=True):
        here = replace(question, limits=(limit,), tolerance=tolerance)
        # Nothing is promised at all, or an infinite loss, which no truth exceeds.
        nothing = claimed is None or math.isinf(claimed)
        claim = PrivacyClaim.of(0) if nothing else subject.promised(limit)
        claim = replace(claim, instead=_OF_A_SCALE)
        with budgeted(SECONDS):
            report = judged(here, twin, claim)
        found = report.rows
        if nothing:
            found = tuple(
                replace(row, claimed=claimed, reason=reason, judged=True) for row in found
            )
        elif subject.concentrated:
            found = tuple(
                row if row.verdict == "violated" else replace(row, judged=False, reason=_RHO_TOO)
                for row in found
            )
        rows += found
        notes = report.notes
    return question.report(rows, "exact law of the noise as its constructor documents it", notes)


def audit_scale(
    make: Any, asked: Asked, neighbors: Any, scale: Any, outputs: Any, answer: Any
) -> AuditReport:
    """Compare the sensitivity that a measurement assumes with that of its exact answers.

    Parameters
    ----------
    make : callable
        Takes a scale, and returns the measurement.
    asked, neighbors
        As for `audit_law`.
    scale, outputs, answer
        As for `audit_opendp`.
    """
    check_callable("answer", answer, "a function of what the measurement returns")
    at = _check_scale("scale", scale)
    subject, twin = _subject(make, float(at), neighbors, outputs), _made(make, 0.0)
    question = asked(subject, twin)
    call = partial(_answer, twin, answer)
    rows = rows_of(question, call, farthest(question, call))
    if str(subject.transformation.output_measure).startswith("Approximate("):
        rows = [replace(row, judged=False, reason=subject.open_delta(row.distance)) for row in rows]
    return question.report(rows, "implementation at scale 0")


@dataclass(frozen=True)
class _Driven(Subject):
    """A measurement, and what its map promises."""

    @property
    def metrics(self) -> str:
        """The input metric and the measure of privacy in words."""
        given = self.transformation.input_metric, self.transformation.output_measure
        return f"{given[0]} of at most k to {given[1]}"

    @property
    def concentrated(self) -> bool:
        """Whether a rho and a delta are promised."""
        measure = str(self.transformation.output_measure)
        return measure == "Approximate(ZeroConcentratedDivergence)"

    def promised(self, d_in: Number) -> PrivacyClaim:
        """Return what the map promises, as a claim."""
        loss = self.mapped(d_in)
        measure = str(self.transformation.output_measure)
        if measure == "MaxDivergence":
            return PrivacyClaim.of(loss)
        if measure == "Approximate(MaxDivergence)":
            return PrivacyClaim.of(*loss)
        if measure == "ZeroConcentratedDivergence":
            return PrivacyClaim.of(None, rho=loss)
        # At this epsilon, rho alone has a delta below `_BEYOND`: the rest is the delta beside.
        rho, delta = loss
        return PrivacyClaim.of(rho + 2 * math.sqrt(40 * rho), min(1.0, delta + _BEYOND))

    def claim(self, d_in: Number) -> Any:
        """Return the first number that the map promises."""
        loss = self.mapped(d_in)
        return loss[0] if isinstance(loss, tuple) else loss


@dataclass(frozen=True)
class _Noisy(Subject):
    """A measurement with noise of a scale, and the sensitivity that its map assumes."""

    scale: float
    measure: str

    @property
    def metrics(self) -> str:
        """The input metric, and how the privacy loss is measured, in words."""
        own = self.outputs if isinstance(self.outputs, str) else "own distance"
        given = self.transformation.input_metric, self.transformation.output_measure
        return f"{given[0]} of at most k to {given[1]} ({own}, scale {self.scale})"

    def claim(self, d_in: Number) -> Any:
        """Return the sensitivity for which noise of this scale has the promised loss."""
        loss = self.mapped(d_in)
        loss = loss[0] if isinstance(loss, tuple) else loss
        if math.isinf(loss):
            return math.inf
        if self.measure == "MaxDivergence":
            return float(Fraction(loss) * Fraction(self.scale))
        return math.sqrt(2 * loss) * self.scale

    def open_delta(self, d_in: Number) -> str:
        """Return that delta is not judged, with what the map promises, if it promises anything.

        A twin without noise shows the sensitivity of the answers, and nothing of the chance that
        noise passes a threshold.
        """
        try:
            delta = self.mapped(d_in)[1]
        except Exception:  # noqa: BLE001 - whatever OpenDP raises where it promises nothing
            return "delta not judged"
        return f"delta not judged; the map promises {delta!r}"


def _subject(make: Any, scale: float, neighbors: Any, outputs: Any) -> _Noisy:
    """Return the measurement with noise as a subject, or raise InputError."""
    noisy = _made(make, scale)
    check_adds_last(noisy, scale)
    measure = _check_measure(noisy)
    if outputs is None:
        outputs = _NORMS[measure]
    as_metric("outputs", outputs)  # or raise InputError
    near = our_input_metric(noisy, neighbors)
    return _Noisy(noisy, near, outputs, None, scale, measure)


def _check_measure(measurement: Any) -> str:
    """Return the privacy measure without its delta, or raise InputError."""
    measure = str(measurement.output_measure).removeprefix("Approximate(").removesuffix(")")
    if measure not in _NORMS:
        raise InputError(
            f"the privacy measure {measurement.output_measure} is not covered; those that are: "
            f"{', '.join(_NORMS)}, and their approximate forms, such as that of make_fix_delta"
        )
    return measure


def _made(make: Any, scale: float) -> Any:
    """Return the measurement with noise of a scale, or raise InputError."""
    _, kind = needed("audit_opendp")
    try:
        made = make(scale)
    except Exception as error:
        raise InputError(
            f"make must return a measurement for every scale, but make({scale}) raised "
            f"{type(error).__name__}: {error}"
        ) from error
    if not isinstance(made, kind):
        raise InputError(
            f"make must return an OpenDP Measurement, but make({scale}) returned "
            f"{type(made).__name__}"
        )
    return made


def _answer(twin: Any, answer: Any, x: Any) -> Any:
    """Return the exact answer on an input as numbers, or raise QueryError."""
    given = invoke(twin, x)
    with naming("answer, on {}, raised", x):
        found = answer(given)
        signed_key(plain(found))  # raises if answers cannot be compared
        return found
