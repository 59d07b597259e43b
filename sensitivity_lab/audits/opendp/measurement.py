"""Audits of OpenDP measurements: by the law of a twin, or by exact answers without noise.

A measurement whose noise has scale 0 returns the exact answer. The privacy loss that the map of the
real one promises gives the sensitivity that it assumes. This needs the extra `opendp`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.audits.driven.stops import SECONDS, budgeted
from sensitivity_lab.audits.maps import farthest, rows_of
from sensitivity_lab.audits.mechanism import CHANCE_ULPS, PrivacyClaim, judged
from sensitivity_lab.audits.question import Question, naming
from sensitivity_lab.audits.records import plain
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.audits.row import AuditRow
from sensitivity_lab.checks import check_callable, number_kind
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics import as_metric
from sensitivity_lab.metrics.cells import signed_key

from .subject import Subject, invoke, needed, our_input_metric
from .twins import check_adds_last, twin_of

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
    make: Any, asked: Asked, neighbors: Any, scale: Any, outputs: Any, answer: Any, progress: Any
) -> AuditReport:
    """Compare the sensitivity that a measurement assumes with that of its exact answers.

    Parameters
    ----------
    make : callable
        Takes a scale, and returns the measurement.
    asked, neighbors
        As for `audit_law`.
    scale, outputs, answer, progress
        As for `audit_opendp`.
    """
    check_callable("answer", answer, "a function of what the measurement returns")
    at = _check_scale("scale", scale)
    subject, twin = _subject(make, float(at), neighbors, outputs), _made(make, 0.0)
    question = asked(subject, twin)
    call = partial(_answer, twin, answer)
    tried = running.tracked(question.datasets, unit="inputs", progress=progress)
    answers = [call(x) for x in tried]
    rows = rows_of(question, call, farthest(question, call, answers))
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
