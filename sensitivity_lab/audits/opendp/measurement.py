"""Audits of OpenDP measurements, by a twin that adds no noise.

A measurement whose noise has scale 0 returns the exact answer. The privacy loss that the map of the
real one promises gives the sensitivity that it assumes. This needs the extra `opendp`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.audits.claims import ROUNDING_ULPS
from sensitivity_lab.audits.maps import farthest, rows_of
from sensitivity_lab.audits.question import naming
from sensitivity_lab.audits.records import table_numbers
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.checks import check_callable, check_rational, check_running, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics import as_metric
from sensitivity_lab.numpy_state import with_numpy_defaults

from .answers import invoke
from .inputs import question_of
from .subject import Subject, needed, our_input_metric

_NORMS = {"MaxDivergence": "L1", "ZeroConcentratedDivergence": "L2"}
"""The norm that the noise of a measure is calibrated to: Laplace noise, and Gaussian noise."""


@with_numpy_defaults
def audit_opendp_measurement(
    make: Callable[[float], Any],
    values: Iterable[Any] | None = None,
    sizes: int | Iterable[int] | None = None,
    *,
    scale: float = 1.0,
    datasets: Any = None,
    neighbors: Callable[[Any, Any], Any] | None = None,
    outputs: Any = None,
    answer: Callable[[Any], Any] = table_numbers,
    d_in: float | Iterable[float] = (1, 2),
    every_order: bool = True,
    tolerance_ulps: int | float | Fraction = ROUNDING_ULPS,
    progress: bool | None = None,
) -> AuditReport:
    """Compare the sensitivity that an OpenDP measurement assumes with the exact one.

    The claim at d_in is the sensitivity for which noise of this scale has the privacy loss that the
    map promises: ``map(d_in) * scale`` for Laplace noise, ``sqrt(2 * map(d_in)) * scale`` for
    Gaussian noise. The truth is the largest distance of the exact answers, which the measurement
    with scale 0 returns.

    Parameters
    ----------
    make : callable
        Takes a scale and returns the measurement with noise of this scale, with nothing else
        changed. It can be a Polars pipeline, made by `make_private_lazyframe`.
    values, sizes, datasets, neighbors, d_in, every_order, tolerance_ulps, progress
        As for `audit_opendp`.
    scale : float, default 1.0
        The scale at which to evaluate the map, above 0. A power of two avoids rounding.
    outputs : str or callable, optional
        The metric on exact answers; see `audit_map`. By default "L1" for pure and "L2" for
        zero-concentrated differential privacy.
    answer : callable, optional
        Turns what the measurement returns into numbers, for the metrics on numbers. By default a
        table becomes a mapping from its texts and the name of a column to a number.

    Returns
    -------
    AuditReport
        A row per input distance; see `audit_opendp`. If the map promises approximate differential
        privacy, the claim is about its first number alone, and delta is not judged: unless the
        first number is too small, the verdict is "not judged", which is not sound.

    Raises
    ------
    InputError
        If an argument is invalid, `make` fails or returns no measurement, its privacy
        measure is not covered, or the answers at scale 0 are random.
    MissingExtraError, QueryError, TooLargeError
        See `audit_opendp`.

    Notes
    -----
    The twin is called once on each input, and again to find randomness, as in `audit_opendp`.
    Groups below a threshold would be missing from the answer, so give a pipeline with groups a
    threshold that drops nothing at scale 0. Selections (`make_noisy_max`) return no numbers: audit
    the transformation that makes the scores, by `audit_opendp` or `audit_map`.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    >>> def noisy_sum(scale):
    ...     return space >> dp.t.then_clamp((0, 3)) >> dp.t.then_sum() >> dp.m.then_laplace(scale)
    >>> audit_opendp_measurement(noisy_sum, [0, 9], range(3), d_in=1)
    Audit of make_clamp >> make_sum >> make_laplace: tight
      setting  SymmetricDistance() of at most k to MaxDivergence (L1, scale 1.0); values (0, 9),
      sizes (0, 1, 2) in every order; implementation at scale 0
      k  claimed  truth  verdict
      1  3        3      tight
      x  ()  ->  0
      y  (9,)  ->  3
    """
    check_callable("make", make, "a function of a scale that returns a measurement")
    check_callable("answer", answer, "a function of what the measurement returns")
    check_running(None, progress)
    at = check_rational("scale", scale, "a finite number above 0")
    if at <= 0:
        raise InputError(f"scale must be a finite number above 0, got {shown(scale)}")
    subject, twin = _subject(make, float(at), neighbors, outputs), _made(make, 0.0)
    question = question_of(
        subject, twin, values, sizes, datasets, d_in, every_order, tolerance_ulps, progress
    )
    call = partial(_answer, twin, answer)
    tried = running.tracked(question.datasets, unit="inputs", progress=progress)
    answers = [call(x) for x in tried]
    rows = rows_of(question, call, farthest(question, call, answers))
    if str(subject.transformation.output_measure).startswith("Approximate("):
        rows = [replace(row, judged=False, reason=subject.open_delta(row.distance)) for row in rows]
    return question.report(rows, "implementation at scale 0")


@dataclass(frozen=True)
class _Noisy(Subject):
    """A measurement with noise of a scale, and the sensitivity that its map assumes."""

    scale: float = 1.0
    measure: str = "MaxDivergence"

    @property
    def metrics(self) -> str:
        """The input metric, and how the privacy loss is measured, in words."""
        own = self.outputs if isinstance(self.outputs, str) else "own distance"
        given = self.transformation.input_metric, self.transformation.output_measure
        return f"{given[0]} of at most k to {given[1]} ({own}, scale {self.scale})"

    def claim(self, d_in: Number) -> Any:
        """Return the sensitivity for which noise of this scale has the promised loss."""
        loss = self.transformation.map(self.distance(d_in))
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
            delta = self.transformation.map(self.distance(d_in))[1]
        except Exception:  # noqa: BLE001 - whatever OpenDP raises where it promises nothing
            return "delta not judged"
        return f"delta not judged; the map promises {delta!r}"


def _subject(make: Any, scale: float, neighbors: Any, outputs: Any) -> _Noisy:
    """Return the measurement with noise as a subject, or raise InputError."""
    noisy = _made(make, scale)
    measure = str(noisy.output_measure).removeprefix("Approximate(").removesuffix(")")
    if measure not in _NORMS:
        raise InputError(
            f"the privacy measure {noisy.output_measure} is not covered; those that are: "
            f"{', '.join(_NORMS)}, and their approximate forms"
        )
    if outputs is None:
        outputs = _NORMS[measure]
    as_metric("outputs", outputs)  # or raise InputError
    near = our_input_metric(noisy, neighbors)
    return _Noisy(noisy, near, outputs, None, scale, measure)


def _made(make: Any, scale: float) -> Any:
    """Return the measurement with noise of a scale, or raise InputError."""
    _, kind = needed("audit_opendp_measurement")
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
        return answer(given)
