"""The calls: the sensitivity of a stream, curves of it, and the audit of a claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

from sensitivity_lab.audits.claims import claim_at
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.audits.row import AuditRow, Evidence
from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import (
    Kind,
    check_choice,
    check_flag,
    check_seconds,
    whole_kind,
    whole_number,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import round_down
from sensitivity_lab.metrics.norms import Norm, check_norm
from sensitivity_lab.running import watch

from .result import ParticipationCurve, ParticipationSensitivity, ParticipationWitness
from .search import Rule
from .solving import Contribution, Question, measure, solve
from .stream import Stream

_TIME = 60

_check_k = whole_kind("the most participations of a person, at least 1")

_check_separation = whole_kind("steps from one participation to the next, at least 1")


def _contribution(value: Any) -> Contribution | None:
    if isinstance(value, str):
        return cast(Contribution, str(value)) if value in ("number", "one") else None
    size = whole_number(value)
    return size if size is not None and 1 <= size <= 1_000_000 else None


_check_contribution: Kind[Contribution] = Kind(
    "'number' (in [-1, 1]), 'one' (exactly 1), or a whole number d (vectors of d numbers)",
    _contribution,
)


@public_call
def participation_sensitivity(
    matrix: Any,
    *,
    k: int,
    separation: int = 1,
    pattern: Literal["at least", "fixed"] = "at least",
    contribution: Contribution = "number",
    neighbors: Literal["zero-out", "replace"] = "zero-out",
    norm: Norm = "L2",
    gram: bool = False,
    time_limit: float | None = _TIME,
) -> ParticipationSensitivity:
    """Return how much one person can change what a stream releases.

    Step by step people contribute to a sum, and what is released is ``C (contributions) + noise``:
    running sums, windows, the nodes of a tree, or a training run with correlated noise, as in
    DP-FTRL and matrix factorization. A person takes part several times, and the changes add up.

    Parameters
    ----------
    matrix : array_like, shape (m, T) or (T,), or a scipy.sparse matrix
        C: its column t is what a contribution of 1 at step t adds to the release. A single row of
        numbers is the first column of a lower triangular Toeplitz matrix. At most 2,000 steps.
    k : int
        The most times that a person takes part: 1 protects an event, k a user.
    separation : int, default 1
        The fewest steps from one participation to the next.
    pattern : {"at least", "fixed"}, default "at least"
        "fixed": participations are exactly `separation` steps apart, as in epochs of one order.
    contribution : {"number", "one"} or int, default "number"
        What a participation contributes: a number in [-1, 1], exactly 1 (a count), or a vector of
        so many numbers with an L2 norm of at most 1 (a clipped gradient).
    neighbors : {"zero-out", "replace"}, default "zero-out"
        "zero-out": all contributions of one person become 0. "replace": they become others, at
        1 to k other steps.
    norm : {"L1", "L2", "Linf"}, default "L2"
        The norm of the difference of two releases: L2 for Gaussian noise, L1 for Laplace noise.
    gram : bool, default False
        Whether `matrix` is X = C'C. It is enough for L2.
    time_limit : float or None, default 60
        Seconds. After them the best bounds are returned.

    Returns
    -------
    ParticipationSensitivity
        With `status` "exact" and a witness that attains it, or "bounds".

    Raises
    ------
    InputError
        If an argument is invalid.

    Notes
    -----
    Exact at once: banded matrices (no row is shared by steps that one person can take), lower
    triangular Toeplitz matrices whose coefficients fall, L1 without negative entries, and Linf.
    Else a search over patterns bounds what later steps can add. Each of its nodes takes
    O(T**2 k) operations; it ends at once for square-root and normalized factors. Its floats
    have a proven error, and exact arithmetic compares what they cannot tell apart. Vectors with
    entries of X of both signs take a semidefinite program, whose answer are bounds, mostly
    within 1e-9. See docs/proofs.md, "Participation in a stream".

    References
    ----------
    Choquette-Choo et al., (Amplified) banded matrix factorization (2306.08153), section 3;
    Kalinin, Lampert, Banded square root matrix factorization (2405.13763), theorem 2.

    Examples
    --------
    Running sums of three steps, for one event, and for a person who comes twice:

    >>> from sensitivity_lab import streams
    >>> sums = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    >>> streams.participation_sensitivity(sums, k=1)
    Sensitivity of noise through a matrix of 3 x 3, L2 norm: 1.732050808 (exact, rounded up)
      neighbors  a person takes part once, each time with a number in [-1, 1]; all of it becomes 0 \
(public, with the matrix)
      x          {0: 1}
      method     the earliest pattern (falling Toeplitz)
    >>> streams.participation_sensitivity(sums, k=2, separation=2).value
    2.449489742783178

    Vectors can point in three directions, which numbers cannot:

    >>> spread = [[2, -1, -1], [-1, 2, -1], [-1, -1, 2]]
    >>> numbers = streams.participation_sensitivity(spread, k=3, gram=True)
    >>> vectors = streams.participation_sensitivity(spread, k=3, gram=True, contribution=2)
    >>> round(numbers.value, 6), round(vectors.upper, 6), vectors.status
    (2.828427, 3.0, 'bounds')
    """
    [found] = _results(
        matrix, [k], [separation], pattern, contribution, neighbors, norm, gram, time_limit
    )
    return found


@public_call
def participation_curve(
    matrix: Any,
    *,
    k: int | Sequence[int],
    separation: int | Sequence[int] = 1,
    pattern: Literal["at least", "fixed"] = "at least",
    contribution: Contribution = "number",
    neighbors: Literal["zero-out", "replace"] = "zero-out",
    norm: Norm = "L2",
    gram: bool = False,
    time_limit: float | None = _TIME,
) -> ParticipationCurve:
    """Return the sensitivities of a stream for several numbers of participations or separations.

    Parameters
    ----------
    matrix, pattern, contribution, neighbors, norm, gram
        As for `participation_sensitivity`.
    k, separation : int or sequence of int
        One, or several.
    time_limit : float or None, default 60
        Seconds for each of them.

    Returns
    -------
    ParticipationCurve

    Raises
    ------
    InputError
        If an argument is invalid.

    Examples
    --------
    >>> from sensitivity_lab import streams
    >>> streams.participation_curve([1, 1, 1, 1, 1, 1], k=[1, 2, 3], separation=[1, 2])
    Sensitivity of noise through a Toeplitz matrix of 6 steps, L2 norm, by k and separation
    separation        1        2
    k
    1           2.44949  2.44949
    2           4.58258  4.24265
    3           6.40313  5.29151
    """
    ks, gaps = _check_k.several("k", k), _check_separation.several("separation", separation)
    found = _results(matrix, ks, gaps, pattern, contribution, neighbors, norm, gram, time_limit)
    return ParticipationCurve(tuple(found))


@public_call
def audit(
    matrix: Any,
    claim: Any,
    *,
    k: int | Sequence[int],
    separation: int = 1,
    pattern: Literal["at least", "fixed"] = "at least",
    contribution: Contribution = "number",
    neighbors: Literal["zero-out", "replace"] = "zero-out",
    norm: Norm = "L2",
    gram: bool = False,
    time_limit: float | None = _TIME,
    tolerance_ulps: Any = 4,
) -> AuditReport:
    """Compare a claimed sensitivity of a stream with the truth.

    Parameters
    ----------
    matrix, separation, pattern, contribution, neighbors, norm, gram, time_limit
        As for `participation_sensitivity`.
    claim : number or callable
        The claimed sensitivity; a callable takes k.
    k : int or sequence of int
        The most participations of a person: a row of the report for each.
    tolerance_ulps : number, default 4
        What counts as rounding, in units in the last place of the truth.

    Returns
    -------
    AuditReport
        Where only bounds are known, a claim below the lower one is violated, one of at least the
        upper one is loose, and between them it is not judged.

    Raises
    ------
    InputError
        If an argument is invalid.

    Examples
    --------
    Two participations in running sums. The root of the sum of squares leaves out what they share:

    >>> from sensitivity_lab import streams
    >>> streams.audit([1, 1, 1, 1], (4 + 2) ** 0.5, k=2, separation=2).verdict
    'violated'
    """
    ks = _check_k.several("k", k)
    found = _results(
        matrix, ks, [_check_separation("separation", separation)],
        pattern, contribution, neighbors, norm, gram, time_limit,
    )
    rows, notes = [], []
    for one in found:
        claimed = claim_at(claim, one.k, name="k")
        x, y = one.witness.x, one.witness.y
        far = measure(one.stream, x, y, one.norm)
        safe = one.status == "exact" or claimed >= one.upper
        if one.status == "bounds":
            notes.append(f"k = {one.k}: the truth is from {one.lower} to {one.upper}")
        rows.append(
            AuditRow(
                one.k,
                claimed,
                far,
                Evidence(dict(x), dict(y), *_answers(one)),
                tolerance_ulps=tolerance_ulps,
                judged=safe,
                reason="" if safe else "the claim is between the bounds",
            )
        )
    first = found[0]
    setting = first.question.told("at most k times")
    return AuditReport(f"{first.query}, {first.norm} norm", tuple(rows), setting, tuple(notes))


def _answers(found: ParticipationSensitivity) -> tuple[float, float]:
    """Return what an audit shows of x and y: how far x moves the release from y."""
    return found.value if found.status == "exact" else found.lower, 0.0


def _results(
    matrix: Any,
    ks: Sequence[int],
    separations: Sequence[int],
    pattern: Any,
    contribution: Any,
    neighbors: Any,
    norm: Any,
    gram: Any,
    time_limit: Any,
) -> list[ParticipationSensitivity]:
    """Check the arguments, and return the result of each k and separation."""
    ks = [_check_k("k", one) for one in ks]
    separations = [_check_separation("separation", one) for one in separations]
    check_choice("pattern", pattern, ("at least", "fixed"))
    contribution = _check_contribution("contribution", contribution)
    check_choice("neighbors", neighbors, ("zero-out", "replace"))
    check_norm(norm)
    seconds = check_seconds.or_none("time_limit", time_limit)
    stream = Stream.of(matrix, check_flag("gram", gram))
    if norm != "L2" and (stream.is_gram or isinstance(contribution, int)):
        what = "a Gram matrix" if stream.is_gram else "contributions that are vectors"
        raise InputError(
            f"norm must be 'L2' for {what}, got {norm!r}; pass the matrix C and contributions that "
            "are numbers, or use L2"
        )
    found = []
    for k in ks:
        for separation in separations:
            rule = Rule(stream.steps, k, separation, pattern == "fixed")
            asked = Question(rule, contribution, neighbors, norm)
            with watch(None if seconds is None else float(seconds), progress=None):
                found.append(_result(stream, asked))
    return found


def _result(stream: Stream, asked: Question) -> ParticipationSensitivity:
    answer = solve(stream, asked)
    far = measure(stream, answer.x, answer.y, asked.norm)
    exact = answer.upper is None or answer.upper == far
    upper = far.upper() if answer.upper is None else answer.upper.upper()
    return ParticipationSensitivity(
        value=far.nearest() if exact else upper,
        exact=far.exact if exact else None,
        lower=round_down(far.bracket()[0]),
        upper=upper,
        status="exact" if exact else "bounds",
        witness=ParticipationWitness(answer.x, answer.y),
        certificate=answer.certificate,
        method=answer.method,
        question=asked,
        stream=stream,
    )
