"""Audit code that adds noise from a sampler: compare its scale with the exact sensitivity."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from sensitivity_lab.audits.claims import ROUNDING_ULPS
from sensitivity_lab.audits.recording import Call, Tape
from sensitivity_lab.audits.replay.replay import Replay
from sensitivity_lab.audits.replay.report import check_question, reported
from sensitivity_lab.audits.replay.runs import Recorder
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.audits.row import FAILING, WHOLE, AuditRow
from sensitivity_lab.checks import check_choice, check_text
from sensitivity_lab.errors import QueryError
from sensitivity_lab.metrics.norms import Norm
from sensitivity_lab.numpy_state import with_numpy_defaults

from .draws import Draw
from .moves import answers_of
from .promise import check_promise
from .quiet import NUMPY, quiet
from .seeds import Seeds

HISTORIES = 3
"""How many histories are drawn where later noise depends on earlier releases."""

_TRIED = (
    "the noise is tried at a few values, and code that clips it, draws it again or replaces it at "
    "others is not seen"
)
"""Why no scale of noise is called enough: the law of what is released may be another one."""

_RETURNS = "pass value='returns'"


@with_numpy_defaults
def audit_sampled(
    function: Callable[[list[Any]], Any],
    values: Iterable[Any],
    sizes: int | Iterable[int],
    *samplers: Any,
    neighbors: Any,
    epsilon: Any,
    delta: Any = None,
    value: str = "returns",
    location: str = "loc",
    scale: str = "scale",
    norm: Norm | None = None,
    every_order: bool = True,
    subject: str | None = None,
    progress: bool | None = None,
) -> AuditReport:
    """Compare the scale of the noise that code draws with the exact sensitivity of its answer.

    The claim is the largest sensitivity that noise of this scale is enough for. For Laplace noise
    of scale b it is ``b * epsilon``, in norm L1; for Gaussian noise of standard deviation sigma, it
    is ``sigma / analytic_gaussian_scale(1, epsilon, delta)``, in norm L2.

    Parameters
    ----------
    function : callable
        Takes a list of records, adds noise to an answer, and returns it.
    values, sizes, neighbors, every_order, subject, progress
        As for `audit_recorded`.
    *samplers : str, function or generator
        The sources of noise: functions, generators of NumPy, or dotted names of these. By default
        ``np.random.laplace``, ``normal``, ``standard_normal``, ``randn`` and the generators that
        the function makes with ``np.random.default_rng``. If a module, an object, a class or a
        closure holds a generator, pass the generator itself. A function of your own counts as the
        noise in its name, "laplace", "gauss" or "normal"; without such a name, as Gaussian if there
        is a `delta`, else as Laplace.
    epsilon : int, float, Fraction or Decimal
        The privacy loss that the code promises for a whole run between two neighbors, above 0, for
        any k: noise for one record is too small for people who have two.
    delta : int, float, Fraction or Decimal, optional
        The chance of a larger loss that the code promises, from 1e-100 to 0.5; for Gaussian noise,
        and only for it. Gaussian noise gives no pure epsilon.
    value : {"returns", "location"}, default "returns"
        Where to find the answer before noise: in the return value, as in
        ``return total + laplace(0, scale)``, or in the location that the sampler gets, as in
        ``laplace(total, scale)`` with further steps after the noise.
    location, scale : str, default "loc" and "scale"
        The parameters of a sampler that is a function of your own.
    norm : {"L1", "L2", "Linf"}, optional
        The norm of the difference of two answers. The default is L1 for Laplace and L2 for Gaussian
        noise; no other norm is right for noise drawn for each number.

    Returns
    -------
    AuditReport
        See `audit_recorded`. A verdict is "violated" or another defect, or else "not judged", which
        is not sound: the noise is tried at a few values, so the audit does not see code that clips,
        redraws or replaces it at others. The row still has claim and truth. If the noise has
        several scales, or depends on earlier releases, runs are replayed and the losses of all
        draws are added; the report then has a row for the whole run, whose claim is epsilon. What
        is returned besides the noisy values is compared, too.

    Raises
    ------
    InputError
        If an argument is invalid.
    QueryError
        If the function fails, or draws no noise; if it draws Gaussian noise and no `delta` is
        given, or Laplace noise and one is; if `value` is "returns" and a returned number is not an
        answer plus noise, for example since it was rounded or clipped after the noise; if the seed
        of a generator that the function makes depends on the data; if `value` is
        "location" and noise around 0 is added to an answer.
    TooLargeError
        See `audit_recorded`.

    Notes
    -----
    As for `recording`, the samplers are quiet in the whole process while the audit runs: do not
    release anything from this process meanwhile.

    With `value` "returns", the function is called three times on each dataset, without noise, with
    noise and with the opposite noise, to see which of the returned numbers move by exactly the
    noise. These are the answers; numbers that do not move are compared as they are. If a number
    moves in proportion to the noise, as in ``total + scale * normal()``, its scale is larger by
    that factor; two more calls find the factor.

    A generator that is seeded in the function is named in a note.

    Examples
    --------
    >>> import numpy as np
    >>> def noisy_sum(x):
    ...     return sum(x) + np.random.default_rng().laplace(scale=5 / 0.5)
    >>> audit_sampled(noisy_sum, [0, 5], [1, 2], neighbors="unbounded", epsilon=0.5)
    Audit of noisy_sum: not judged
      setting  unbounded, at most 1; norm L1; values (0, 5), sizes (1, 2) in every order;
      implementation
      k  claimed  truth  verdict
      1  5        5      not judged (the noise is tried at a few values, and code that clips it,
      draws it again or replaces it at others is not seen)
      x  (0,)  ->  0.0
      y  (0, 5)  ->  5.0
    """
    check_choice("value", value, ("returns", "location"))
    check_text("location", location, "the name of a parameter")
    check_text("scale", scale, "the name of a parameter")
    promise = check_promise(epsilon, delta)
    question = check_question(
        function, values, sizes, neighbors, promise.check_norm(norm), every_order, None, subject,
        ROUNDING_ULPS, progress,
    )  # fmt: skip

    tape = Tape()
    seeds = Seeds()

    def take(draw: Draw, answer: Any) -> Any:
        asked = promise.claim(draw), answer, promise.epsilon
        return tape.take(Call(draw.name, *asked, draw.site))

    def called(x: list[Any], release: Callable[[Draw], Any]) -> tuple[list[Draw], Any]:
        with tap.open(release) as draws:
            returned = function(list(x))
        seeds.keep(x, tap.seeds)
        if not draws:
            raise QueryError(
                "the function drew no noise from a sampler; name its sampler, or give the "
                "generator itself that its module, its object or its closure holds"
            )
        for draw in draws:
            promise.check_kind(draw)
        return draws, returned

    def by_location(x: list[Any]) -> Any:
        return called(x, lambda draw: take(draw, draw.center))[1]

    def by_return(x: list[Any]) -> Any:
        found = answers_of(lambda release: called(x, release))
        for draw, answers in found.by_draw:
            take(draw, answers if len(answers) > 1 else answers[0])
        return found.rest

    recorder = Recorder(by_return if value == "returns" else by_location, tape, list)
    replay = Replay(None, HISTORIES, promise.stated, promise.refusal)
    with quiet(samplers or NUMPY, location, scale) as tap:
        report = reported(question, recorder, replay, _RETURNS)
        notes = seeds.judged(lambda x: called(x, lambda draw: draw.center))
    rows = tuple(
        replace(row, judged=False, reason=row.reason or _TRIED)
        for row in _of_whole_runs(report.rows)
    )
    return replace(
        report,
        rows=rows,
        notes=(*report.notes, *notes),
        unjudged=(*report.unjudged, *notes),
    )


def _of_whole_runs(rows: tuple[AuditRow, ...]) -> tuple[AuditRow, ...]:
    """Return rows without the single steps that are sound, where whole runs are judged.

    A step is compared with the whole epsilon, which it need not spend alone.
    """
    if not any(row.step == WHOLE for row in rows):
        return rows
    return tuple(row for row in rows if row.verdict in FAILING or row.step == WHOLE)
