"""The row of a report: one claim and the truth, with the pair of datasets that proves it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from sensitivity_lab.checks import plainest
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.results.literals import (
    brief,
    brief_pair,
    json_ready,
    literal,
    one_line,
    plain,
    with_decimals,
)

from .claims import ROUNDING_ULPS, check_claim, check_tolerance, number, ratio

_SHOWN_AS_ULP = 1e-3
"""If a factor is nearer to 1, the difference is shown in units in the last place instead."""

_MOST_ULPS = 1000
"""A larger difference is shown as a decimal: nobody reads so many units in the last place."""

_LITERAL = 1000
"""A dataset with more characters is shortened in messages."""

HOLDS = "holds if post-processed"
"""The verdict where replayed releases show no leak, which proves nothing of all others."""

NOT_JUDGED = "not judged"
"""The verdict where what was run does not prove that a claim holds, and shows no violation."""

NOT_REFUTED = "not refuted"
"""The verdict where runs found no violation, and no law is known."""

SAMPLED = "violated (sampled)"
"""The verdict where a test on many runs found a violation, and no law is known."""

VERDICTS = (
    "tight",
    "tight up to rounding",
    "loose",
    "no claim",
    HOLDS,
    NOT_REFUTED,
    NOT_JUDGED,
    "data-dependent claim",
    "not aligned",
    SAMPLED,
    "violated",
)
"""The verdicts, from best to worst."""

FAILING = frozenset({"data-dependent claim", "not aligned", SAMPLED, "violated"})
"""The verdicts that make an audit fail: something was shown to be wrong."""

NOT_HELD = FAILING | {NOT_JUDGED, NOT_REFUTED}
"""The verdicts with which no claim is called held."""

UNSOUND = NOT_HELD | {HOLDS}
"""The verdicts with which nothing is called sound."""


WHOLE = "the whole run"
"""The step of a row about all steps together."""

RETURNED = "the return value"
"""The step of a row about what is returned besides the releases."""

CANDIDATES = "the candidates"
"""The step of a row about what a selection selects from."""


@dataclass(frozen=True)
class Finding:
    """What distinguishes two neighbors besides their answers, for any claim.

    Attributes
    ----------
    verdict : {"violated", "violated (sampled)", "not aligned", "not judged", "not refuted"}
        The verdict on a row with this finding.
    opening : str
        How the sentence about it begins.
    reason : str, default ""
        What is wrong; where it is empty, the `reason` of the row says it.

    Examples
    --------
    >>> evidence = Evidence([0], [1], None, None)
    >>> row = AuditRow(1, None, math.inf, evidence, step=RETURNED, history=(7,), finding=LEAK)
    >>> print(row.sentence)
    no noise hides what is returned: violated (the return value depends on the data besides the \
    releases), after the releases (7,)
    """

    verdict: str
    opening: str
    reason: str = ""


UNALIGNED = Finding("not aligned", "neighbors take different steps")
LEAK = Finding(
    "violated",
    "no noise hides what is returned",
    "the return value depends on the data besides the releases",
)
NO_NOISE = Finding(
    "violated",
    "no noise hides which of two neighbors it was",
    "a recorded mechanism releases on only one of them",
)
OTHER_CANDIDATES = Finding(
    "violated", "no randomness hides the candidates", "the candidates depend on the data"
)


@dataclass(frozen=True)
class Evidence:
    """A pair of neighbors that attains the true sensitivity at one distance.

    Attributes
    ----------
    x, y : Any
        The datasets as the audited code takes them: a tuple of records, a list or a table.
    answer_x, answer_y : Any
        The answers of the audited code: a number, or several in a tuple or a mapping.
    columns : tuple or None, default None
        The columns, where the audited code takes a DataFrame and the records are its rows.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> ages = sl.Universe.from_domain([20, 125])
    >>> report = sl.audit(ages, "sum", 105, size=2, neighbors="bounded", distances=1)
    >>> evidence = report.rows[0].evidence
    >>> evidence.x, evidence.answer_x, evidence.y, evidence.answer_y
    ((20, 125), Fraction(145, 1), (20, 20), Fraction(40, 1))
    """

    x: Any
    y: Any
    answer_x: Any
    answer_y: Any
    columns: tuple[Any, ...] | None = None

    @property
    def lines(self) -> tuple[str, str]:
        """The whole pair as two lines of Python literals; fractions come with their decimals.

        A long fraction that a float stands for is that float, which is the same number.
        """
        datasets = [literal(list(d) if isinstance(d, tuple) else d) for d in (self.x, self.y)]
        if self.columns is not None:
            columns = literal(list(self.columns))
            datasets = [f"pd.DataFrame({rows}, columns={columns})" for rows in datasets]
        answers = [_readable(answer) for answer in (self.answer_x, self.answer_y)]
        return self._lines(datasets, [with_decimals(answer, "  # ") for answer in answers])

    @property
    def short(self) -> bool:
        """Whether the two lines are short enough for a message."""
        sized = [data for data in (self.x, self.y) if isinstance(data, tuple | list)]
        many = any(len(data) > _LITERAL for data in sized)
        return not many and max(map(len, self.lines)) <= 2 * _LITERAL

    @property
    def short_lines(self) -> tuple[str, str]:
        """The pair as two lines; long datasets are cut to the changed records and some others."""
        if self.short:
            return self.lines
        return self._lines(
            list(brief_pair(self.x, self.y)), [brief(self.answer_x), brief(self.answer_y)]
        )

    @staticmethod
    def _lines(datasets: list[str], answers: list[str]) -> tuple[str, str]:
        width = max(map(len, datasets))
        first, second = (
            f"{name} = {data:<{width}}  ->  f({name}) = {answer}"
            for name, data, answer in zip("xy", datasets, answers, strict=True)
        )
        return first, second


NO_EVIDENCE = Evidence(None, None, None, None)
"""No pair: nothing is known that one could show."""


@dataclass(frozen=True)
class AuditRow:
    """A claim and the truth, at one distance.

    Parameters
    ----------
    distance : int, float or Fraction
        The distance k of the two datasets.
    claimed : int, float, Fraction or Decimal, or None
        The claimed sensitivity as given, which is not negative and can be infinite. None if
        nothing is claimed at this distance.
    truth : Difference, math.inf or None
        The true sensitivity, an exact real number; math.inf if code overflows on one of two
        neighbors; None if nothing is known of it.
    evidence : Evidence
        The pair of neighbors that attains the truth; `NO_EVIDENCE` if nothing is known of it.
    size : int, optional
        The size n of x, if the claim depends on it.
    claims : dict, optional
        Both claims, if different sensitivities are claimed on the two neighbors, such as
        ``{"on x": 4, "on y": 6}``. The smaller of them is `claimed`.
    rounded : bool, default False
        Whether the answers were computed in floats.
    tolerance_ulps : int, float or Fraction, default 4
        The largest difference between claim and truth that counts as rounding, in units in the
        last place of the truth. It applies if the claim is a float or the answers are `rounded`.
    reason : str, default ""
        Why nothing is claimed, why the row is not judged, or how two neighbors fail to align.
    judged : bool, default True
        Whether the truth is known. If it is only a lower bound, because the runs are a sample or
        leave something out, a violation is final and every other verdict is "not judged".
    step : str, default ""
        The step, if code is run step by step: with the mechanism and where it was called; or "the
        whole run", whose claim is a budget and whose truth is a loss; or "the return value" or "the
        candidates", which differ.
    history : tuple, default ()
        The releases of both runs before the step, or the choice that both made.
    finding : Finding, optional
        A defect that decides the verdict, for any claim.
    quantity : str, default "a sensitivity"
        What is claimed.
    coarsest : float, default 0
        The tolerance counts units in the last place of this number, where the truth is smaller: an
        epsilon, the logarithm of a ratio of chances, is as fine as floats near 1.

    Raises
    ------
    InputError
        If `claimed` or `tolerance_ulps` is invalid.

    Examples
    --------
    >>> evidence = Evidence((0, 0), (0, 1), 0, Fraction(1, 2))
    >>> row = AuditRow(1, 0.75, Difference(Fraction(0), Fraction(1, 2)), evidence)
    >>> row.verdict, row.factor
    ('loose', 1.5)
    """

    distance: Number
    claimed: Number | None
    truth: Difference | float | None
    evidence: Evidence
    size: int | None = None
    claims: dict[str, Number] | None = None
    rounded: bool = False
    tolerance_ulps: Number = ROUNDING_ULPS
    reason: str = ""
    judged: bool = True
    step: str = ""
    history: tuple[Any, ...] = ()
    finding: Finding | None = None
    quantity: str = "a sensitivity"
    coarsest: float = 0.0

    def __post_init__(self) -> None:
        """Check the claim and the tolerance."""
        if self.claimed is not None:
            object.__setattr__(self, "claimed", check_claim(self.claimed, self.distance))
        object.__setattr__(self, "tolerance_ulps", check_tolerance(self.tolerance_ulps))

    @property
    def exact(self) -> Fraction | None:
        """The truth as a rational; None if it is a difference of roots, or infinite."""
        return self.truth.exact if isinstance(self.truth, Difference) else None

    @property
    def says_nothing(self) -> bool:
        """Whether no answers differ on neighbors, and something else is claimed."""
        return self.exact == 0 and bool(self.claimed) and bool(self.distance) and not self.claims

    @cached_property
    def value(self) -> float:
        """The float nearest to the truth; infinite beyond the range of floats, NaN if unknown."""
        if self.truth is None:
            return math.nan
        try:
            return self.truth.nearest() if isinstance(self.truth, Difference) else math.inf
        except InputError:
            return math.inf

    @property
    def tolerated(self) -> bool:
        """Whether the tolerance applies: the claim or the answers are floats."""
        return self.rounded or isinstance(self.claimed, float)

    @cached_property
    def verdict(self) -> str:
        """One of `VERDICTS`, from a comparison of claim and truth without rounding.

        "tight": they are equal. "tight up to rounding": they differ by no more than the tolerance.
        "loose": the claim is larger. "no claim": nothing is claimed. "not judged": the runs do not
        prove that the claim is large enough. "not refuted": runs found no violation, and the law is
        not known. "data-dependent claim": the claims on two neighbors differ, so the scale of
        the noise distinguishes the neighbors. "not aligned": neighbors release in different steps.
        "violated": the claim is too small, or neighbors can be distinguished for any claim.
        """
        if self.finding:
            return self.finding.verdict
        found = self.compared
        if self.claims and found != "violated":
            return "data-dependent claim"
        return found if self.judged or found in ("violated", "no claim") else NOT_JUDGED

    @cached_property
    def compared(self) -> str:
        """The verdict on claim and truth alone, as if the truth were known (see `judged`)."""
        if self.claimed is None:
            return "no claim"
        if self.truth is None:
            return NOT_JUDGED
        if not isinstance(self.truth, Difference):
            return "tight" if self.claimed == math.inf else "violated"
        if self.claimed == math.inf:
            return "loose"
        claimed, zero = Fraction(self.claimed), Fraction(0)
        if Difference(claimed, zero) == self.truth:
            return "tight"
        allowed = Fraction(self.tolerance_ulps) * self._ulp if self.tolerated else zero
        if Difference(claimed + allowed, zero) < self.truth:
            return "violated"
        if claimed > allowed and Difference(claimed - allowed, zero) > self.truth:
            return "loose"
        return "tight up to rounding"

    @property
    def _ulp(self) -> Fraction:
        """The unit in the last place of truth or `coarsest`; 0 beyond the range of floats."""
        if math.isinf(self.value):
            return Fraction(0)
        return Fraction(math.ulp(max(self.value, self.coarsest)))

    @property
    def slack_ulp(self) -> float:
        """The claim minus the truth, in units in the last place of the truth.

        It is negative if the claim is too small, and NaN if nothing is claimed or known.
        """
        if self.claimed is None or self.truth is None:
            return math.nan
        if self.compared == "tight":
            return 0.0
        if self.claimed == math.inf:
            return math.inf
        if not isinstance(self.truth, Difference):
            return -math.inf
        slack = Fraction(self.claimed) - self.truth.close()
        return ratio(slack, self._ulp)

    @property
    def factor(self) -> float:
        """The claim over the truth; infinite if only the truth is 0, NaN if one is missing."""
        if self.claimed is None or self.truth is None:
            return math.nan
        if self.compared == "tight":
            return 1.0
        if not isinstance(self.truth, Difference):
            return 0.0
        if self.claimed == math.inf or not self.truth.close():
            return math.inf
        return ratio(Fraction(self.claimed), self.truth.close())

    @property
    def remark(self) -> str:
        """The verdict, how far the claim is from the truth, the step, and the history."""
        return f"{self._judged_text}{self._place}{self._after}"

    @property
    def _judged_text(self) -> str:
        """The verdict, with its reason or with how far the claim is from the truth."""
        verdict = self.verdict
        reason = (self.finding.reason if self.finding else "") or self.reason
        if self.finding or verdict in ("no claim", NOT_JUDGED):
            return f"{verdict} ({one_line(reason)})" if reason else verdict
        both = ", ".join(f"{plain(claim)} {where}" for where, claim in (self.claims or {}).items())
        if verdict == "data-dependent claim":
            return f"{verdict} ({both})"
        if verdict == "tight":
            return verdict
        near = abs(self.factor - 1) < _SHOWN_AS_ULP and not math.isinf(self.slack_ulp)
        slack = f"{self.slack_ulp:+.3g} ulp"
        if abs(self.slack_ulp) > _MOST_ULPS:
            slack = f"{self.slack_ulp * float(self._ulp):+.3g}"
        if verdict == "tight up to rounding":
            apart = slack
        elif near:
            apart = f"claim - truth = {slack}"
        else:
            apart = f"claim / truth = {self.factor:.4g}"
        data = f"; the claim depends on the data: {both}" if both else ""
        return f"{verdict} ({apart}{data})"

    @property
    def _place(self) -> str:
        """Where the verdict holds, if the reason does not say it."""
        if self.step in ("", RETURNED, CANDIDATES):
            return ""
        return f" {'over' if self.step == WHOLE else 'at'} {self.step}"

    @property
    def _after(self) -> str:
        """What both runs released before."""
        if not self.history:
            return ""
        return f", after the releases {brief(self.history)}"

    @property
    def sentence(self) -> str:
        """The claim, the truth and the verdict."""
        if self.finding:
            return f"{self.finding.opening}: {self.remark}"
        if self.claimed is None:
            claim = f"{self.quantity.replace('a ', 'no ', 1)} is claimed"
        elif self.step == WHOLE:
            return (
                f"the whole run may spend {number(self.claimed)}, it spends {self.truth_text}: "
                f"{self.remark}"
            )
        elif self.claims:
            both = " and ".join(f"{number(claim)} {where}" for where, claim in self.claims.items())
            claim = f"sensitivities of {both} are claimed"
        else:
            claim = f"{self.quantity} of {number(self.claimed)} is claimed"
        size = "" if self.size is None else f" and size {self.size}"
        place = f"{claim} at distance {self.distance}{size}"
        truth = "unknown"
        if self.truth is not None:
            truth = number(self.value if self.exact is None else self.exact)
        return f"{place}, the truth is {truth}: {self.remark}"

    @property
    def truth_text(self) -> str:
        """The truth as a short fraction with its decimals, or as decimals only; or "unknown"."""
        if self.truth is None:
            return "unknown"
        return plain(self.value) if self.exact is None else number(self.exact)

    def to_dict(self) -> dict[str, Any]:
        """Return all facts in the types of JSON; fractions, decimals and infinities are text."""
        seen = self.evidence
        facts = {
            "distance": self.distance,
            "size": self.size,
            "claimed": self.claimed,
            "claims": self.claims,
            "reason": self.reason,
            "exact": None if self.exact is None else str(self.exact),
            "truth": self.value,
            "verdict": self.verdict,
            "factor": None if self.claimed is None else self.factor,
            "slack_ulp": None if self.claimed is None else self.slack_ulp,
            "tolerance_ulps": self.tolerance_ulps if self.tolerated else 0,
            "x": seen.x,
            "y": seen.y,
            "answer_x": seen.answer_x,
            "answer_y": seen.answer_y,
            "columns": seen.columns,
            "step": self.step,
            "history": self.history,
        }
        return {name: json_ready(fact) for name, fact in facts.items()}


def _readable(answer: Any) -> Any:
    """Return an answer with floats in the place of long fractions that are equal to them."""
    if isinstance(answer, tuple | list):
        return type(answer)(map(_readable, answer)) if type(answer) in (tuple, list) else answer
    if not isinstance(answer, Fraction) or plain(answer) == str(answer):
        return answer
    return plainest(answer)
