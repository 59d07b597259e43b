"""The sensitivity of a stream, curves of it, and the audit of a claim.

The result is how much one person changes what a stream releases, and by which contributions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np

from sensitivity_lab.audits.claims import claim_at
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.audits.row import AuditRow, Evidence
from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import (
    Kind,
    Norm,
    check_choice,
    check_flag,
    check_seconds,
    number_text,
    whole_kind,
    whole_number,
)
from sensitivity_lab.errors import VerificationError
from sensitivity_lab.exact.difference import round_down
from sensitivity_lab.results.literals import brief
from sensitivity_lab.results.noise_context import NoiseContext, Things
from sensitivity_lab.results.reprs import certainty, rounded_down
from sensitivity_lab.results.result import Found, Stated
from sensitivity_lab.running import watch

from .search import Rule
from .solving import Contribution, Contributions, certifies, measure, root, solve
from .stream import Stream, check_gram, check_matrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Neighbors(NamedTuple):
    """Which streams are neighbors, as noise compares them."""

    k: int
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class ParticipationWitness:
    """The contributions of a person to two neighboring streams.

    Attributes
    ----------
    x, y : dict
        By step, counted from 0: a number, or a vector in a tuple. y is empty for "zero-out".

    Examples
    --------
    >>> from sensitivity_lab import streams
    >>> streams.participation_sensitivity([1, -2], k=2).witness
    ParticipationWitness(x={0: 1, 1: -1}, y={})
    """

    x: Contributions
    y: Contributions


@dataclass(frozen=True, repr=False)
class ParticipationSensitivity(Found):
    """How much one person can change what a stream releases, with its proof.

    Attributes
    ----------
    value : float
        The float nearest to the sensitivity, in the unit of the entries; `upper` where only bounds
        are known.
    exact : Fraction or None
        The sensitivity as a rational; None if it is a root, or if only bounds are known.
    lower : float
        What the witness changes, rounded down.
    upper : float
        No contributions change more: rounded up.
    status : {"exact", "bounds"}
        "exact" if the witness attains the sensitivity. Else it is from `lower` to `upper`.
    witness : ParticipationWitness
    certificate : dict or None
        Of vectors, by the steps of x, numbers l such that Diag(l) - X is positive semidefinite: on
        this pattern no vectors have a larger square than their sum (four times it for "replace").
        That other patterns have no more is the search's claim.
    method : str
    k, separation : int
    pattern : {"at least", "fixed"}
    contribution : {"number", "one"} or int
    neighbors : {"zero-out", "replace"}
    norm : {"L2"}
    stream : Stream
        The matrix.

    See Also
    --------
    participation_sensitivity : Compute it.

    Examples
    --------
    >>> from sensitivity_lab import streams
    >>> found = streams.participation_sensitivity([1, 0.5, 0.25], k=2, neighbors="replace")
    >>> found.value, found.status, found.witness.y
    (3.905124837953327, 'exact', {0: -1, 1: -1})
    >>> found.verify()
    """

    value: float
    exact: Fraction | None
    lower: float
    upper: float
    status: Literal["exact", "bounds"]
    witness: ParticipationWitness
    certificate: Mapping[int, float] | None
    method: str
    k: int
    separation: int
    pattern: Literal["at least", "fixed"]
    contribution: Contribution
    neighbors: Literal["zero-out", "replace"]
    stream: Stream = field(compare=False)
    norm: Norm = "L2"

    @property
    def query(self) -> str:
        """The release in words."""
        return f"a stream of {self.stream.given.shape[1]:,} steps"

    def told(self, k: Any) -> str:
        """Return which streams are neighbors, in words."""
        apart = f"{'exactly' if self.pattern == 'fixed' else 'at least'} {self.separation} apart"
        kinds = {"number": "a number in [-1, 1]", "one": "exactly 1"}
        one = kinds.get(str(self.contribution), f"{self.contribution} numbers of L2 norm 1 or less")
        return (
            f"a person takes part at up to {k} steps, {apart}, each time with {one} "
            f"({self.neighbors})"
        )

    @property
    def _pair(self) -> dict[str, Any]:
        return vars(self.witness)

    @property
    def _norm(self) -> Norm:
        return self.norm

    def _shown(self, dataset: Any) -> str:
        return brief(dataset)

    def again(self) -> list[Stated]:
        """Measure the contributions again, and check them and the certificate."""
        rule = Rule(self.stream.given.shape[1], self.k, self.separation, self.pattern == "fixed")
        for side in self._pair.values():
            steps = tuple(side)
            large = any(np.sum(np.square(one)) > 1 for one in side.values())
            wrong = any(step not in rule.after(steps[:i]) for i, step in enumerate(steps))
            if large or wrong or len(side) > self.k:
                raise VerificationError(
                    f"nobody contributes {brief(dict(side))}: {self.told(self.k)}"
                )
        shown = self.certificate
        if shown and not certifies(self.stream.exact_gram(list(shown)), list(shown.values())):
            raise VerificationError("the certificate is not shown to bound what vectors do")
        far = root(measure(self.stream, **self._pair))
        exact = self.status == "exact"
        return [
            ("lower bound", self.lower, round_down(far.bracket()[0])),
            ("upper bound", self.upper, far.upper() if exact else max(self.upper, far.upper())),
            ("value", self.value, far.nearest() if exact else self.upper),
            ("exact value", self.exact, far.exact if exact else None),
        ]

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs."""
        return NoiseContext(
            query=self.query,
            kind="global",
            norm=self.norm,
            neighbors=Neighbors(self.k, self.told(self.k)),
            exactly=False,
            sizes=(),
            size="",
            upper=self.upper,
            things=Things(data="stream", parts="steps", room="sl.streams"),
            public=("the matrix, and how often and how far apart a person can take part",),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain Python objects."""
        facts = {**vars(self), **vars(self.witness), "query": self.query}
        facts["exact"] = None if self.exact is None else number_text(self.exact)
        return {name: one for name, one in facts.items() if name not in ("stream", "witness")}

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the contributions over the steps; of vectors, the first of their numbers.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from sensitivity_lab.plotting._picture import Picture

        picture = Picture.on(ax, (7, 2.4))
        for (name, side), mark in zip(self._pair.items(), ("C0o", "C1s"), strict=True):
            if side:
                heights = [np.ravel(one)[0] for one in side.values()]
                picture.ax.stem([*side], heights, mark[:2], markerfmt=mark, basefmt=" ", label=name)
        picture.ax.set_xlim(-1, self.stream.given.shape[1])
        picture.name_axes("step", "contribution")
        picture.title(f"{self._title}\n{self.told(self.k)}", 60)
        picture.legend_beside()
        return picture.ax

    @property
    def _title(self) -> str:
        text = self._text()
        known = certainty(text, "exact", self.exact) if self.status == "exact" else "upper bound"
        return f"Sensitivity of {self.query}: {text} ({known})"

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        bounds = self.status == "bounds"
        return [
            *[("lower", f"{rounded_down(self.lower)}, attained by x and y")] * bounds,
            ("neighbors", f"{self.told(self.k)}; the matrix is public; L2 norm"),
            *((name, brief(dict(side))) for name, side in self._pair.items() if side),
            ("method", self.method),
        ]


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
