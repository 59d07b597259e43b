"""One claim beside the truth, with the pair of datasets that proves the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

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

from .claims import ROUNDING_ULPS, check_claim, check_tolerance, number

_SHOWN_AS_ULP = 1e-3
"""If a factor is nearer to 1, the difference is shown in units in the last place instead."""

_LITERAL = 1000
"""A dataset with more characters is shortened in messages."""

NOT_JUDGED = "not judged"
"""The verdict where what was run does not prove that a claim holds, and shows no violation."""

VERDICTS = (
    "tight",
    "tight up to rounding",
    "loose",
    "no claim",
    NOT_JUDGED,
    "data-dependent claim",
    "not aligned",
    "violated",
)
"""The verdicts, from best to worst."""

FAILING = frozenset({"data-dependent claim", "not aligned", "violated"})
"""The verdicts that make an audit fail: something was shown to be wrong."""

UNSOUND = FAILING | {NOT_JUDGED}
"""The verdicts with which nothing is called sound."""


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


@dataclass(frozen=True)
class AuditRow:
    """A claim beside the truth, at one distance.

    Parameters
    ----------
    distance : int, float or Fraction
        The distance k of the two datasets.
    claimed : int, float, Fraction or Decimal, or None
        The claimed sensitivity as given, which is not negative and can be infinite. None if
        nothing is claimed at this distance.
    truth : Difference or math.inf
        The true sensitivity, an exact real number; math.inf if code overflows on one of two
        neighbors.
    evidence : Evidence
        The pair of neighbors that attains the truth.
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
        Why nothing is claimed, or why the row is not judged.
    judged : bool, default True
        Whether the truth is known. If it is only known to be at least so large, because what was
        run is a sample or leaves something out, a violation is final and all else is "not judged".

    Raises
    ------
    InputError
        If `claimed` or `tolerance_ulps` is not acceptable.

    Examples
    --------
    >>> evidence = Evidence((0, 0), (0, 1), 0, Fraction(1, 2))
    >>> row = AuditRow(1, 0.75, Difference(Fraction(0), Fraction(1, 2)), evidence)
    >>> row.verdict, row.factor
    ('loose', 1.5)
    """

    distance: Number
    claimed: Number | None
    truth: Difference | float
    evidence: Evidence
    size: int | None = None
    claims: dict[str, Number] | None = None
    rounded: bool = False
    tolerance_ulps: Number = ROUNDING_ULPS
    reason: str = ""
    judged: bool = True

    def __post_init__(self) -> None:
        """Check the claim and the tolerance."""
        if self.claimed is not None:
            object.__setattr__(self, "claimed", check_claim(self.claimed, self.distance))
        object.__setattr__(self, "tolerance_ulps", check_tolerance(self.tolerance_ulps))

    @property
    def exact(self) -> Fraction | None:
        """The truth as a rational; None if it is a difference of roots, or infinite."""
        return self.truth.exact if isinstance(self.truth, Difference) else None

    @cached_property
    def value(self) -> float:
        """The float nearest to the truth; infinite beyond the range of floats."""
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
        "loose": the claim is larger. "no claim": nothing is claimed. "not judged": what was run
        does not prove that the claim is large enough. "data-dependent claim": the claims on two
        neighbors differ, so the scale of the noise tells the neighbors apart. "violated": the claim
        is too small.
        """
        found = self.compared
        if self.claims and found != "violated":
            return "data-dependent claim"
        return found if self.judged or found in ("violated", "no claim") else NOT_JUDGED

    @cached_property
    def compared(self) -> str:
        """The verdict on claim and truth alone, as if the truth were known (see `judged`)."""
        if self.claimed is None:
            return "no claim"
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
        """The unit in the last place of the truth; 0 beyond the range of floats."""
        return Fraction(0) if math.isinf(self.value) else Fraction(math.ulp(self.value))

    @property
    def slack_ulp(self) -> float:
        """The claim minus the truth, in units in the last place of the truth.

        It is negative if the claim is too small, and NaN if nothing is claimed.
        """
        if self.claimed is None:
            return math.nan
        if self.compared == "tight":
            return 0.0
        if self.claimed == math.inf:
            return math.inf
        if not isinstance(self.truth, Difference):
            return -math.inf
        slack = Fraction(self.claimed) - self.truth.close()
        return _ratio(slack, self._ulp)

    @property
    def factor(self) -> float:
        """The claim over the truth; infinite if only the truth is 0, NaN if nothing is claimed."""
        if self.claimed is None:
            return math.nan
        if self.compared == "tight":
            return 1.0
        if not isinstance(self.truth, Difference):
            return 0.0
        if self.claimed == math.inf or not self.truth.close():
            return math.inf
        return _ratio(Fraction(self.claimed), self.truth.close())

    @property
    def remark(self) -> str:
        """The verdict, and how far the claim is from the truth."""
        if self.claimed is None:
            return f"no claim ({one_line(self.reason)})" if self.reason else "no claim"
        both = ", ".join(f"{plain(claim)} {where}" for where, claim in (self.claims or {}).items())
        if self.verdict == "data-dependent claim":
            return f"{self.verdict} ({both})"
        if self.verdict == NOT_JUDGED:
            return f"{self.verdict} ({one_line(self.reason)})" if self.reason else self.verdict
        if self.verdict == "tight":
            return self.verdict
        near = abs(self.factor - 1) < _SHOWN_AS_ULP and not math.isinf(self.slack_ulp)
        if self.verdict == "tight up to rounding":
            apart = f"{self.slack_ulp:+.3g} ulp"
        elif near:
            apart = f"claim - truth = {self.slack_ulp:+.3g} ulp"
        else:
            apart = f"claim / truth = {self.factor:.4g}"
        data = f"; the claim depends on the data: {both}" if both else ""
        return f"{self.verdict} ({apart}{data})"

    @property
    def sentence(self) -> str:
        """What is claimed, what is true, and the verdict."""
        if self.claimed is None:
            claim = "no sensitivity is claimed"
        elif self.claims:
            both = " and ".join(f"{number(claim)} {where}" for where, claim in self.claims.items())
            claim = f"sensitivities of {both} are claimed"
        else:
            claim = f"a sensitivity of {number(self.claimed)} is claimed"
        size = "" if self.size is None else f" and size {self.size}"
        truth = number(self.value if self.exact is None else self.exact)
        return f"{claim} at distance {self.distance}{size}, the truth is {truth}: {self.remark}"

    @property
    def truth_text(self) -> str:
        """The truth as a short fraction with its decimals, or as decimals only."""
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
        }
        return {name: json_ready(fact) for name, fact in facts.items()}


def _readable(answer: Any) -> Any:
    """Return an answer with floats in the place of long fractions that are equal to them."""
    if isinstance(answer, tuple | list):
        return type(answer)(map(_readable, answer)) if type(answer) in (tuple, list) else answer
    if not isinstance(answer, Fraction) or plain(answer) == str(answer):
        return answer
    try:
        return float(answer) if Fraction(float(answer)) == answer else answer
    except OverflowError:
        return answer


def _ratio(above: Fraction, below: Fraction) -> float:
    """Return a quotient as a float, infinite where it is too large for one."""
    try:
        return float(above / below)
    except (OverflowError, ZeroDivisionError):
        return math.inf if above > 0 else -math.inf
