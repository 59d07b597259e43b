"""Audits of OpenDP transformations: whether answers ever exceed what the map promises.

Needs the extra `opendp`. What is audited is the shipped implementation, called on ordered vectors:
rounding, overflow and the order of records count.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Literal

from sensitivity_lab import _parallel
from sensitivity_lab.checks import check_flag, check_running, shown
from sensitivity_lab.errors import InputError, MissingExtraError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.numpy_state import with_numpy_defaults
from sensitivity_lab.results.literals import brief, one_line, short_literal
from sensitivity_lab.universes.relations import show

from .claims import ROUNDING_ULPS, check_claim, check_tolerance, holds_float
from .inputs import check_several, check_values, vectors
from .metrics import ORDER_IGNORED
from .randomness import try_evidence_again, try_inputs_again
from .report import AuditReport, AuditRow
from .worst_pair import Answered, check_pairs, worst_pairs

_CHUNKS = 48
"""Work is cut into about so many chunks, whatever the number of workers."""

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


@with_numpy_defaults
def audit_opendp(
    transformation: Any,
    values: Iterable[Any],
    sizes: int | Iterable[int] | None = None,
    *,
    d_in: int | Iterable[int] = (1, 2),
    component: Literal["L0", "L1", "L2", "Linf"] | None = None,
    every_order: bool = True,
    tolerance_ulps: int | float | Fraction = ROUNDING_ULPS,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> AuditReport:
    """Compare the map of an OpenDP transformation with the exact maximum over a small universe.

    The truth at d_in is the largest output distance between the answers on two inputs at an input
    distance of at most d_in, in the transformation's own metrics, over all inputs of the sizes
    given whose entries are among the values given.

    Parameters
    ----------
    transformation : opendp.prelude.Transformation
        From vectors or from single values.
    values : iterable
        The universe of entries; those that the input domain does not accept are left out, which
        the report's setting says.
    sizes : int or iterable of int, optional
        The lengths of the vectors, of which those that the input domain accepts are taken; by
        default the size of the domain. To be left out where the input is a single value.
    d_in : int or iterable of int, default (1, 2)
        Input distances, whole numbers of at least 0, a row of the report each. Distance 0 compares
        inputs that the input metric does not tell apart, such as two orders of the same records.
    component : {"L0", "L1", "L2", "Linf"}, optional
        Which of its three numbers to audit, where the output metric is L01InfDistance or
        L02InfDistance; needed there, refused elsewhere.
    every_order : bool, default True
        Whether vectors are taken in every order of their entries. If False, in one order: that of
        `values`. A violation is then as certain as otherwise, but other orders may do worse.
    tolerance_ulps : int, float or Fraction, default 4
        By how many units in the last place of the truth claim and truth may differ as rounding,
        where the claim or the answers are floats; see `audit`.
    n_jobs : int, optional
        Worker processes, as in joblib. A transformation that OpenDP cannot serialise is called in
        this process alone, which the report's setting says.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal and past a second.

    Returns
    -------
    AuditReport
        A row per input distance: `claimed` is what the map answers, `truth` the exact maximum. At
        a distance at which the map fails nothing is claimed: `claimed` is None, `reason` what the
        map says, and the verdict "no claim".

    Raises
    ------
    InputError
        If an argument is not acceptable, a metric or the domain is none of those covered, or the
        transformation is randomised: two calls on one input differ.
    MissingExtraError
        An InputError: OpenDP is not installed.
    QueryError
        If the transformation fails, or its map at every distance, or two answers have no distance.
    TooLargeError
        If there are too many vectors or pairs; says the numbers.

    Notes
    -----
    With m values, ``m**s`` vectors per size s, each put to the transformation once. To see whether
    it is randomised, up to 2,048 more calls follow, with equal shares for every size, up to 32 on
    one input, the same ones in every audit; and in the end 256 on each dataset of the evidence.
    Then all pairs of inputs are compared, or where the input metric ignores order, of those
    multisets and answers that differ. Answers are compared exactly,
    whatever their size, floats and roots included. The universe is a part of the domain: that a
    claim is "loose" or "tight" is said of this part, "violated" of the whole. OpenDP's features are
    left as they are: to construct a transformation needs "contrib", to audit it none.
    """
    every_order = check_flag("every_order", every_order)
    subject = _subject(transformation, component)
    inputs, among = _inputs(transformation, values, sizes, every_order)
    limits = check_several("d_in", d_in, "an input distance, at least 0")
    tolerance = check_tolerance(tolerance_ulps)
    claims = subject.claims(limits)
    if subject.inputs not in ORDER_IGNORED:
        check_pairs(len(inputs))
    check_running(n_jobs, progress)
    calls = _calls(transformation, n_jobs)
    answers = _ask(calls.call, inputs, n_jobs if calls.shipped else 1, progress)
    call = partial(_invoke, transformation)
    try_inputs_again(call, inputs, answers, progress)
    answered = [Answered(*pair) for pair in zip(inputs, answers, strict=True)]
    worst = worst_pairs(answered, subject.inputs, subject.outputs, limits, progress).farthest
    shown = [worst[limit, 0].evidence for limit in limits]
    try_evidence_again(call, shown, progress)
    rows = tuple(
        AuditRow(
            limit,
            claim,
            worst[limit, 0].truth,
            seen,
            rounded=holds_float((seen.answer_x, seen.answer_y)),
            tolerance_ulps=tolerance,
            reason=reason,
        )
        for limit, (claim, reason), seen in zip(limits, claims, shown, strict=True)
    )
    setting = f"{subject.metrics}; {among}; implementation{calls.remark}"
    return AuditReport(subject.name, rows, setting)


@dataclass(frozen=True)
class _Subject:
    """What is audited: a transformation in its metrics.

    Attributes
    ----------
    transformation : opendp.prelude.Transformation
    inputs, outputs : str
        The names of the metrics in `distances.METRICS`.
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


def _subject(transformation: Any, component: str | None) -> _Subject:
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
        return _Subject(transformation, _metric("input", given), _metric("output", answer), None)
    if component not in components:
        raise InputError(
            f"{answer} measures three numbers; component must be one of "
            f"{', '.join(map(repr, components))}, got {shown(component)}"
        )
    place = components.index(component)
    return _Subject(transformation, _metric("input", given), component, place)


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


def _inputs(
    transformation: Any, given: Any, sizes: Any, every_order: bool
) -> tuple[list[Any], str]:
    """Return the inputs to try and what they are, in words; or raise InputError."""
    domain = transformation.input_domain
    entry = getattr(domain, "element_domain", None)
    if entry is None and not str(domain).startswith("AtomDomain"):
        raise InputError(f"the input domain {domain} is not covered; vectors and atoms are")
    values = check_values(given)
    accepted = tuple(value for value in values if _member(entry or domain, value))
    if not accepted:
        raise InputError(f"{entry or domain} accepts none of the values {brief(values)}")
    left = len(values) - len(accepted)
    among = f"values {brief(accepted)}" + (f", {left} outside the domain left out" if left else "")
    if entry is None:
        if sizes is not None:
            raise InputError(f"sizes must be left out: {domain} holds single values")
        return list(accepted), among
    wanted = _sizes(sizes, domain)
    order = "in every order" if every_order else "in one order"
    text = f"{among}, sizes {show(wanted)} {order}"
    return vectors(accepted, wanted, every_order), text


def _sizes(sizes: Any, domain: Any) -> tuple[int, ...]:
    """Return the sizes that were asked for and that a domain of vectors accepts."""
    if sizes is None and domain.size is None:
        raise InputError(f"sizes must be given: {domain} has vectors of every size")
    wanted = check_several("sizes", domain.size if sizes is None else sizes, "a size, at least 0")
    if domain.size is None:
        return wanted
    if domain.size not in wanted:
        raise InputError(f"{domain} accepts none of the sizes {show(wanted)}")
    return (domain.size,)


def _member(domain: Any, value: Any) -> bool:
    """Tell whether a domain accepts a value."""
    with warnings.catch_warnings():
        # A value of another type is no member, about which OpenDP also warns.
        warnings.simplefilter("ignore")
        try:
            return bool(domain.member(value))
        except Exception:  # noqa: BLE001 - OpenDP cannot convert it: no member either
            return False


@dataclass(frozen=True)
class _Calls:
    """How a transformation is called: the function, and whether it can be sent to workers."""

    call: Any
    shipped: bool
    remark: str


def _calls(transformation: Any, n_jobs: int | None) -> _Calls:
    """Return a function that workers can be sent, or the transformation itself."""
    if _parallel.workers(n_jobs) == 1:
        return _Calls(partial(_invoke, transformation), False, "")
    from opendp.mod import GLOBAL_FEATURES, serialize

    try:
        text = serialize(transformation)
    except Exception:  # noqa: BLE001 - OpenDP raises no more specific one
        remark = ", called in one process as OpenDP cannot serialise it"
        return _Calls(partial(_invoke, transformation), False, remark)
    return _Calls(partial(_invoke_text, text, tuple(sorted(GLOBAL_FEATURES))), True, "")


def _ask(call: Any, inputs: list[Any], n_jobs: int | None, progress: bool | None) -> list[Any]:
    """Return the answers on all inputs, in order."""
    step = max(1, -(-len(inputs) // _CHUNKS))
    chunks = [inputs[first : first + step] for first in range(0, len(inputs), step)]
    answers = _parallel.run(
        partial(_each, call), chunks, list(map(len, chunks)), n_jobs=n_jobs, progress=progress
    )
    return [answer for chunk in answers for answer in chunk]


def _each(call: Any, inputs: list[Any]) -> list[Any]:
    return [call(x) for x in inputs]


def _invoke(transformation: Any, x: Any) -> Any:
    """Return the answer on an input, or raise QueryError with it."""
    try:
        return transformation(x)
    except Exception as error:
        raise QueryError(f"the transformation fails on {short_literal(x)}: {error}") from error


def _invoke_text(text: str, features: tuple[str, ...], x: Any) -> Any:
    return _invoke(_restored(text, features), x)


@lru_cache(maxsize=1)
def _restored(text: str, features: tuple[str, ...]) -> Any:
    """Return a serialised transformation, made once per process."""
    from opendp.mod import deserialize, enable_features

    enable_features(*features)
    return deserialize(text)
