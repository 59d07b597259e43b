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
from sensitivity_lab.exact.difference import round_down
from sensitivity_lab.running import watch

from .result import ParticipationSensitivity, ParticipationWitness
from .search import Rule
from .solving import Contribution, measure, root, solve
from .stream import Stream, check_gram, check_matrix

check_participations = whole_kind("the most participations of a person, at least 1")

check_separation = whole_kind("steps from one participation to the next, at least 1")


def _contribution(value: Any) -> Contribution | None:
    size = whole_number(value)
    known = (isinstance(value, str) and value in ("number", "one")) or 0 < (size or 0) <= 10**6
    return cast(Contribution, value if size is None else size) if known else None


_check_contribution: Kind[Contribution] = Kind(
    "'number' (in [-1, 1]), 'one' (exactly 1), or a whole number d (vectors of d numbers, at most "
    "1,000,000)",
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
    gram: bool = False,
    time_limit: float | None = 60,
) -> ParticipationSensitivity:
    """Return how much one person can change what a stream releases, in the L2 norm.

    People contribute step by step, and the release is ``C (contributions) + noise``: running sums,
    windows, the nodes of a tree, or a training run with correlated noise, as in DP-FTRL and matrix
    factorization. A person can take part several times, and the changes add up.

    Parameters
    ----------
    matrix : array_like, shape (m, T) or (T,), or a scipy.sparse matrix
        C: its column t is what a contribution of 1 at step t adds to the release. A single row of
        numbers is the first column of a lower triangular Toeplitz matrix. At most 2,000 steps.
    k : int
        The most times that a person takes part: 1 protects an event, more a user.
    separation : int, default 1
        The fewest steps from one participation to the next.
    pattern : {"at least", "fixed"}, default "at least"
        "fixed": participations are exactly `separation` steps apart, as in epochs of one order.
    contribution : {"number", "one"} or int, default "number"
        The contribution of one participation: a number in [-1, 1], exactly 1 (a count), or with an
        int d a vector of d numbers with an L2 norm of at most 1 (a clipped gradient).
    neighbors : {"zero-out", "replace"}, default "zero-out"
        "zero-out": all contributions of one person become 0. "replace": the person contributes
        other values, at 1 to k steps.
    gram : bool, default False
        Whether `matrix` is X = C'C instead of C. That is enough.
    time_limit : float or None, default 60
        The most seconds to search; then the best bounds so far are returned.

    Returns
    -------
    ParticipationSensitivity
        With `status` "exact" and a witness that attains the value, or with `status` "bounds".

    Raises
    ------
    InputError
        If an argument is invalid.
    TooLargeError
        If ones are replaced, and there are too many pairs of patterns.

    Notes
    -----
    The value is exact without a search for banded matrices (steps that one person can take share no
    row) and for lower triangular Toeplitz matrices with falling coefficients. For other matrices, a
    search over patterns bounds what later steps can add. Each of its nodes takes O(T**2 k)
    operations; for square-root and normalized factors it ends at once. Its floats have a proven
    error, and exact arithmetic compares what they cannot tell apart. Vectors need semidefinite
    programs if entries of X have both signs; these give bounds, mostly within 1e-9. For ones that
    are replaced, the search compares all pairs of at most 3,000 patterns. See docs/proofs.md,
    "Participation in a stream".

    If X has no negative entries, vectors can change the release no more than numbers can, and are
    shown as numbers: as vectors along one direction.

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
    Sensitivity of a stream of 3 steps: 1.732050808 (exact, rounded up)
      neighbors  a person takes part at up to 1 steps, at least 1 apart, each time with a number \
in [-1, 1] (zero-out); the matrix is public; L2 norm
      x          {0: 1}
      method     the earliest pattern (falling Toeplitz)
    >>> streams.participation_sensitivity(sums, k=2, separation=2).value
    2.449489742783178

    A curve over k, for a picture by pandas:

    >>> import pandas as pd
    >>> found = [streams.participation_sensitivity(sums, k=k) for k in (1, 2, 3)]
    >>> curve = pd.DataFrame(one.to_dict() for one in found)
    >>> curve["upper"].round(4).tolist()
    [1.7321, 3.0, 3.7417]
    >>> ax = curve.plot(x="k", y="upper", marker="o")

    Vectors can point in three directions, which numbers cannot:

    >>> spread = [[2, -1, -1], [-1, 2, -1], [-1, -1, 2]]
    >>> numbers = streams.participation_sensitivity(spread, k=3, gram=True)
    >>> vectors = streams.participation_sensitivity(spread, k=3, gram=True, contribution=2)
    >>> round(numbers.value, 6), round(vectors.upper, 6), vectors.status
    (2.828427, 3.0, 'bounds')
    """
    k, separation = check_participations("k", k), check_separation("separation", separation)
    fixed = check_choice("pattern", pattern, ("at least", "fixed")) == "fixed"
    contribution = _check_contribution("contribution", contribution)
    check_choice("neighbors", neighbors, ("zero-out", "replace"))
    seconds = check_seconds.or_none("time_limit", time_limit)
    is_gram = check_flag("gram", gram)
    stream = Stream((check_gram if is_gram else check_matrix)("matrix", matrix), is_gram)
    steps = stream.given.shape[1]
    gap = min(separation, steps)
    rule = Rule(steps, min(k, -(-steps // gap)), gap, fixed)
    with watch(None if seconds is None else float(seconds), progress=None):
        answer = solve(stream, rule, contribution, neighbors == "replace")
    far = root(measure(stream, answer.x, answer.y))
    top = far if answer.upper is None else root(answer.upper)
    exact = top == far
    return ParticipationSensitivity(
        value=top.nearest() if exact else top.upper(),
        exact=far.exact if exact else None,
        lower=round_down(far.bracket()[0]),
        upper=top.upper(),
        status="exact" if exact else "bounds",
        witness=ParticipationWitness(answer.x, answer.y),
        certificate=answer.certificate,
        method=answer.method,
        k=k,
        separation=separation,
        pattern=pattern,
        contribution=contribution,
        neighbors=neighbors,
        stream=stream,
    )


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
    gram: bool = False,
    time_limit: float | None = 60,
) -> AuditReport:
    """Compare a claimed sensitivity of a stream with the truth.

    Parameters
    ----------
    matrix, separation, pattern, contribution, neighbors, gram, time_limit
        As for `participation_sensitivity`.
    claim : number or callable
        The claimed sensitivity; a callable takes k.
    k : int or sequence of int
        The most participations of a person; the report has a row for each k.

    Returns
    -------
    AuditReport
        Its answers say how far x moves the release. If only bounds are known, a claim below the
        lower bound is violated, and a claim between the bounds is not judged.

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
    rows = []
    for often in check_participations.several("k", k):
        one = participation_sensitivity(
            matrix,
            k=often,
            separation=separation,
            pattern=pattern,
            contribution=contribution,
            neighbors=neighbors,
            gram=gram,
            time_limit=time_limit,
        )
        x, y = dict(one.witness.x), dict(one.witness.y)
        claimed = claim_at(claim, one.k)
        safe = one.status == "exact" or claimed >= one.upper
        rows.append(
            AuditRow(
                one.k,
                claimed,
                root(measure(one.stream, x, y)),
                Evidence(x, y, one.lower, 0.0),
                judged=safe,
                reason=f"the truth is from {one.lower} to {one.upper}",
            )
        )
    return AuditReport(one.query, tuple(rows), one.told("k"))
