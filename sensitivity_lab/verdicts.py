"""What an audit says: claimed sensitivities beside the true ones, with their proof."""

from __future__ import annotations

import math
import sys
import textwrap
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from .arithmetic import Difference, Number
from .checks import as_python, is_long, number_text, shown
from .errors import InputError, SensitivityViolation
from .facts import write_csv
from .literals import brief, literal, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "ROUNDING_ULPS",
    "VERDICTS",
    "AuditReport",
    "AuditRow",
    "Evidence",
    "check_claim",
    "literal",
]

ROUNDING_ULPS = 4
"""A claim so many units in the last place of the truth away from it differs by rounding only."""

_SHOWN_AS_ULP = 1e-3
"""Factors nearer to 1 are told by the units in the last place instead."""

VERDICTS = ("tight", "tight up to rounding", "loose", "violated")
"""The verdicts, from the best to the worst."""


@dataclass(frozen=True)
class Evidence:
    """A pair of neighbors that attains the true sensitivity at one distance.

    Attributes
    ----------
    x, y : Any
        The datasets as the audited code takes them: a tuple of records, a list, a table.
    answer_x, answer_y : Any
        What the audited code answered: a number, or several in a tuple or a mapping.
    columns : tuple or None, default None
        Where the records are rows and the audited code takes a DataFrame: its columns.
    """

    x: Any
    y: Any
    answer_x: Any
    answer_y: Any
    columns: tuple[Any, ...] | None = None

    @property
    def lines(self) -> tuple[str, str]:
        """The pair as two lines of Python literals, to paste into a bug report."""
        datasets = [literal(list(d) if isinstance(d, tuple) else d) for d in (self.x, self.y)]
        if self.columns is not None:
            columns = literal(list(self.columns))
            datasets = [f"pd.DataFrame({rows}, columns={columns})" for rows in datasets]
        width = max(map(len, datasets))
        answers = map(literal, (self.answer_x, self.answer_y))
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
    distance : int
        The distance k of the two datasets.
    claimed : int, float, Fraction or Decimal
        The sensitivity that is claimed, as given; not negative, perhaps infinite.
    truth : Difference or math.inf
        The true one, an exact real number; math.inf where code overflows on one of two neighbors.
    evidence : Evidence
        The pair that attains it.

    Raises
    ------
    InputError
        If `claimed` is no such number.

    Examples
    --------
    >>> evidence = Evidence((0, 0), (0, 1), 0, Fraction(1, 2))
    >>> row = AuditRow(1, 0.75, Difference(Fraction(0), Fraction(1, 2)), evidence)
    >>> row.verdict, row.factor
    ('loose', 1.5)
    """

    distance: int
    claimed: Number
    truth: Difference | float
    evidence: Evidence

    def __post_init__(self) -> None:
        """Check the claim."""
        object.__setattr__(self, "claimed", check_claim(self.claimed, self.distance))

    @property
    def exact(self) -> Fraction | None:
        """The truth as a rational; None if it is the difference of roots, or infinite."""
        return self.truth.exact if isinstance(self.truth, Difference) else None

    @cached_property
    def value(self) -> float:
        """The float nearest to the truth."""
        return self.truth.nearest() if isinstance(self.truth, Difference) else math.inf

    @cached_property
    def verdict(self) -> str:
        """One of `VERDICTS`, by comparing claim and truth without rounding.

        "tight": equal. "tight up to rounding": at most `ROUNDING_ULPS` units in the last place of
        the truth apart. "loose": the claim is larger. "violated": it is too small.
        """
        if not isinstance(self.truth, Difference):
            return "tight" if self.claimed == math.inf else "violated"
        if self.claimed == math.inf:
            return "loose"
        claimed, zero = Fraction(self.claimed), Fraction(0)
        if Difference(claimed, zero) == self.truth:
            return "tight"
        allowed = ROUNDING_ULPS * Fraction(math.ulp(self.value))
        if Difference(claimed + allowed, zero) < self.truth:
            return "violated"
        if claimed > allowed and Difference(claimed - allowed, zero) > self.truth:
            return "loose"
        return "tight up to rounding"

    @property
    def slack_ulp(self) -> float:
        """The claim less the truth in units in the last place of the truth; below 0: too small."""
        if self.verdict == "tight":
            return 0.0
        if self.claimed == math.inf:
            return math.inf
        if not isinstance(self.truth, Difference):
            return -math.inf
        return _ratio(Fraction(self.claimed) - self.truth.close(), Fraction(math.ulp(self.value)))

    @property
    def factor(self) -> float:
        """The claim over the truth; infinite if only the truth is 0."""
        if self.verdict == "tight":
            return 1.0
        if not isinstance(self.truth, Difference):
            return 0.0
        if self.claimed == math.inf or not self.truth.close():
            return math.inf
        return _ratio(Fraction(self.claimed), self.truth.close())

    @property
    def remark(self) -> str:
        """The verdict with how far the claim is from the truth."""
        if self.verdict == "tight up to rounding":
            return f"{self.verdict} ({self.slack_ulp:+.3g} ulp)"
        if self.verdict == "tight":
            return self.verdict
        if abs(self.factor - 1) < _SHOWN_AS_ULP:
            return f"{self.verdict} (claim - truth = {self.slack_ulp:+.3g} ulp)"
        return f"{self.verdict} (claim / truth = {self.factor:.4g})"

    @property
    def truth_text(self) -> str:
        """The truth as a short fraction with its decimals, or as decimals alone."""
        if self.exact is None:
            return plain(self.value)
        if self.exact.denominator == 1 or len(number_text(self.exact)) > 24:
            return plain(self.exact)
        return f"{number_text(self.exact)} = {self.value:.10g}"

    def _facts(self) -> tuple[str, ...]:
        """Return the cells of a line of the report."""
        return str(self.distance), plain(self.claimed), self.truth_text, self.remark


_HEADER = ("k", "claimed", "truth", "verdict")


@dataclass(frozen=True)
class AuditReport:
    """A claim, distance by distance, beside the truth.

    Attributes
    ----------
    subject : str
        What was audited, such as "median".
    rows : tuple of AuditRow
        One per distance.
    setting : str
        The neighbor relation, "at most" or "exactly", the sizes, the universe, the norm, and
        whether the mathematics or an implementation was audited.

    Examples
    --------
    >>> truth = Difference(Fraction(3), Fraction(1))
    >>> row = AuditRow(1, 1, truth, Evidence((1, 2), (1, 4), Fraction(1), Fraction(3)))
    >>> report = AuditReport("range", (row,), "bounded, at most k; size 2")
    >>> report
    Audit of range: violated
      setting  bounded, at most k; size 2
      k  claimed  truth  verdict
      1  1        2      violated (claim / truth = 0.5)
      x  (1, 2)  ->  1
      y  (1, 4)  ->  3
    >>> report.sound
    False
    """

    subject: str
    rows: tuple[AuditRow, ...]
    setting: str

    def __post_init__(self) -> None:
        """Check that there is something to report."""
        if not self.rows:
            raise InputError(
                f"the audit of {self.subject} has no rows; audit at least one distance"
            )

    @property
    def verdict(self) -> str:
        """The worst verdict of all rows."""
        return self.decisive.verdict

    @property
    def decisive(self) -> AuditRow:
        """The first row that has the worst verdict."""
        return max(self.rows, key=lambda row: VERDICTS.index(row.verdict))

    @property
    def sound(self) -> bool:
        """Whether no row is violated: no claim is too small by more than rounding."""
        return self.verdict != "violated"

    def raise_if_violated(self) -> None:
        """Raise SensitivityViolation, with the pair that proves it, if a claim is too small."""
        if not self.sound:
            raise SensitivityViolation(self.counterexample(self.decisive))

    def counterexample(self, row: AuditRow) -> str:
        """Return what proves that the claim of a row is not the truth, to paste into a report.

        The datasets and answers are Python literals; those of numpy, pandas, fractions and decimal
        are written as ``np.array``, ``pd.DataFrame``, ``Fraction`` and ``Decimal``.
        """
        truth = literal(row.value if row.exact is None else row.exact)
        claim = f"a sensitivity of {literal(row.claimed)} is claimed at distance {row.distance}"
        return "\n".join(
            [
                f"{self.subject}: {claim}, the truth is {truth}: {row.remark}",
                *row.evidence.lines,
                f"({self.setting})",
            ]
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a tidy DataFrame, one row per distance.

        Returns
        -------
        pandas.DataFrame
            Columns: distance, claimed (as given), exact (the truth as a fraction, or an empty
            string), truth (the nearest float), verdict, factor (claim over truth), slack_ulp (claim
            less truth, in units in the last place), x, y, answer_x, answer_y (the evidence).
        """
        return pd.DataFrame(
            {
                "distance": row.distance,
                "claimed": row.claimed,
                "exact": "" if row.exact is None else number_text(row.exact),
                "truth": row.value,
                "verdict": row.verdict,
                "factor": row.factor,
                "slack_ulp": row.slack_ulp,
                "x": row.evidence.x,
                "y": row.evidence.y,
                "answer_x": row.evidence.answer_x,
                "answer_y": row.evidence.answer_y,
            }
            for row in self.rows
        )

    def to_csv(self, path: str | Path) -> None:
        """Write `to_frame()` to a CSV file; raise InputError if that is not possible."""
        write_csv(self.to_frame(), path)

    def plot(self, **options: Any) -> Axes:
        """Draw claim and truth by distance; see `sensitivity_lab.plotting.plot_audit`."""
        from .plotting import plot_audit

        points = [
            (row.distance, float(row.claimed), row.value, row.verdict == "violated")
            for row in self.rows
        ]
        title = "\n".join([self._title, *textwrap.wrap(self.setting, 64)])
        return plot_audit(points, **{"title": title, **options})

    @property
    def _title(self) -> str:
        return f"Audit of {self.subject}: {self.verdict}"

    def _pair(self) -> list[tuple[str, str]]:
        """Return the evidence of the decisive row, shortened."""
        seen = self.decisive.evidence
        return [
            ("x", f"{brief(seen.x)}  ->  {brief(seen.answer_x)}"),
            ("y", f"{brief(seen.y)}  ->  {brief(seen.answer_y)}"),
        ]

    def __repr__(self) -> str:
        cells = [_HEADER, *(row._facts() for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        table = [
            "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True))
            for line in cells
        ]
        lines = [f"setting  {self.setting}", *table, *("  ".join(one) for one in self._pair())]
        return "\n".join([self._title, *(f"  {line.rstrip()}" for line in lines)])

    def _repr_html_(self) -> str:
        def line(tag: str, cells: tuple[str, ...], span: int = 1) -> str:
            style = f"<{tag} style='text-align:left'"
            *first, last = (escape(cell) for cell in cells)
            return (
                "<tr>"
                + "".join(f"{style}>{cell}</{tag}>" for cell in first)
                + f"{style} colspan='{span}'>{last}</{tag}></tr>"
            )

        lines = [
            line("td", ("setting", self.setting), 3),
            line("th", _HEADER),
            *(line("td", row._facts()) for row in self.rows),
            *(line("td", pair, 3) for pair in self._pair()),
        ]
        return f"<table><caption>{escape(self._title)}</caption>{''.join(lines)}</table>"


def check_claim(claimed: Any, distance: int) -> Number:
    """Return a claimed sensitivity, of Python's own type, or raise InputError."""
    number = as_python(claimed)
    wanted = f"the claim at distance {distance} must be a number that is not negative"
    if not isinstance(number, Number) or isinstance(number, bool):
        kind = type(number).__name__
        raise InputError(
            f"{wanted}: an int, float, Fraction or Decimal, got {shown(number)} ({kind})"
        )
    if is_long(number):
        raise InputError(f"{wanted}, got {shown(number)}")
    # A signalling NaN does not even compare.
    if (isinstance(number, Decimal) and number.is_nan()) or number != number or number < 0:
        raise InputError(f"{wanted}, got {shown(number)}")
    if math.inf > number > sys.float_info.max:
        raise InputError(
            f"the claim at distance {distance} is beyond the range of floats (about 1.8e308); "
            "claim math.inf for no bound"
        )
    return math.inf if number == math.inf else number


def _ratio(above: Fraction, below: Fraction) -> float:
    """Return a quotient as a float, infinite where it is too large for one."""
    try:
        return float(above / below)
    except OverflowError:
        return math.copysign(math.inf, above)
