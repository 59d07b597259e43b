"""The report of an audit: claimed and true sensitivities, with proofs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from sensitivity_lab.checks import check_flag, check_kind, html_text, number_text
from sensitivity_lab.errors import InputError, SensitivityViolation, printable
from sensitivity_lab.results.literals import brief, brief_pair, is_short, one_line, plain
from sensitivity_lab.results.reprs import write_csv

from .row import HOLDS, NOT_HELD, NOT_JUDGED, UNSOUND, VERDICTS, AuditRow

_ROWS = 60
"""The largest number of rows that are printed."""

_ROUNDING = 1000
"""If a float claim is too small by at most so many ulps, a message proposes a tolerance."""

_EVIDENCE = ("x", "y", "answer_x", "answer_y")


@dataclass(frozen=True)
class AuditReport:
    """A claim compared with the truth, distance by distance.

    Attributes
    ----------
    subject : str
        The audited query or code, such as "median".
    rows : tuple of AuditRow
        One row per distance, or per distance and size if the claim depends on the size.
    setting : str
        The neighbor relation, "at most" or "exactly", the sizes, the universe, the norm, and
        whether the mathematics of a query or a function as it is was audited.
    notes : tuple of str, default ()
        Questions that the rows leave open, and other remarks.
    unjudged : tuple of str, default ()
        The notes that keep the report from being sound: a loss without a stated budget, a fixed
        seed, a return value that could not be compared. The verdict is then "not judged", unless it
        is worse.
    assumed : tuple of str, default ()
        The notes that say what was tried and not proved: that what is done with releases is the
        same on all datasets. The verdict is then "holds if post-processed", unless it is worse.

    Notes
    -----
    The printed report begins with the decisive row and shortens its datasets: the records in which
    they differ come first, then some of the shared ones. `to_dict()` has everything.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from sensitivity_lab.audits import Evidence
    >>> from sensitivity_lab.exact.difference import Difference
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
    notes: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that there are rows."""
        if not self.rows:
            raise InputError(
                f"the audit of {self.subject} has no rows; audit at least one distance"
            )

    @property
    def verdict(self) -> str:
        """The worst verdict among the rows; at best "not judged" if a note leaves it open."""
        found = [self.decisive.verdict]
        found += [NOT_JUDGED] if self.unjudged else []
        found += [HOLDS] if self.assumed else []
        return max(found, key=VERDICTS.index)

    @property
    def decisive(self) -> AuditRow:
        """The first row that has the worst verdict."""
        return max(self.rows, key=lambda row: VERDICTS.index(row.verdict))

    @property
    def sound(self) -> bool:
        """Whether the audit proves all claims: large enough up to rounding, for all data.

        It is False if a claim is too small or depends on the data, or if something is not judged:
        the truth is known only in part, or a note leaves the verdict open (`unjudged`).
        """
        return self.verdict not in UNSOUND

    @property
    def held(self) -> bool:
        """Whether the report is sound, or "holds if post-processed"."""
        return self.verdict not in NOT_HELD

    def raise_if_violated(self, *, tight: bool = False) -> None:
        """Raise SensitivityViolation, which names the proving pair, unless all claims `held`.

        Parameters
        ----------
        tight : bool, default False
            Whether to raise if a claim is loose, too, as `assert_sensitivity` does.
        """
        __tracebackhide__ = True
        check_flag("tight", tight)
        if not self.held:
            raise SensitivityViolation(self._why_not_sound())
        for row in self.rows:
            if tight and row.verdict == "loose":
                raise SensitivityViolation(self.counterexample(row))

    def _why_not_sound(self) -> str:
        """Return the proof of the decisive row; before it what is not judged, if a note says so."""
        proof = self.counterexample(self.decisive)
        if self.decisive.verdict in UNSOUND:
            return proof
        open_points = "; ".join(map(one_line, self.unjudged))
        return f"{one_line(self.subject)}: {self.verdict}, since {open_points}\n{proof}"

    def _rounding(self, row: AuditRow) -> str:
        """Return what to do where the rounding of floats can explain that a claim is too small."""
        if row.verdict != "violated" or not row.tolerated or abs(row.slack_ulp) > _ROUNDING:
            return ""
        return (
            f"if {-row.slack_ulp:.3g} units in the last place are the rounding of floats, "
            f"pass tolerance_ulps={math.ceil(-row.slack_ulp)}"
        )

    def counterexample(self, row: AuditRow) -> str:
        """Return the proof of the verdict on a row, ready for a bug report.

        Parameters
        ----------
        row : AuditRow
            A row of the report.

        Returns
        -------
        str
            The claim and the truth as numbers, and the datasets and answers as Python literals,
            with ``np.array``, ``pd.DataFrame``, ``Fraction`` and ``Decimal`` where needed. Long
            datasets are shortened, and the text says so; ``row.evidence.lines`` has them in full.
        """
        check_kind("row", row, AuditRow, "a row of the report, such as report.decisive")
        notes = [f"({one_line(note)})" for note in (self.setting, *self.notes)]
        if not row.evidence.short:
            notes.append("(shortened; `evidence.lines` and `to_dict()` have the datasets whole)")
        if hint := self._rounding(row):
            notes.append(f"({hint})")
        pair = () if row.evidence.x is None else row.evidence.short_lines
        return "\n".join([f"{one_line(self.subject)}: {row.sentence}", *pair, *notes])

    def to_dict(self) -> dict[str, Any]:
        """Return everything in the types of JSON: fractions, decimals and infinities are text.

        Returns
        -------
        dict
            subject, setting, notes, unjudged, verdict, sound, held, and rows. Each row is a dict
            with distance, size, claimed, claims, reason, exact, truth, verdict, factor, slack_ulp,
            tolerance_ulps, the whole evidence: x, y, answer_x, answer_y, columns, and step and
            history, which are empty unless code is run step by step.

        Examples
        --------
        >>> import json
        >>> from fractions import Fraction
        >>> from sensitivity_lab.audits import Evidence
        >>> from sensitivity_lab.exact.difference import Difference
        >>> truth = Difference(Fraction(10), Fraction(0))
        >>> row = AuditRow(1, Fraction(10, 7), truth, Evidence((1,), (11,), 1, 11))
        >>> text = json.dumps(AuditReport("max", (row,), "size 1").to_dict())
        >>> json.loads(text)["rows"][0]["claimed"]
        '10/7'
        """
        return {
            "subject": self.subject,
            "setting": self.setting,
            "notes": list(self.notes),
            "unjudged": list(self.unjudged),
            "verdict": self.verdict,
            "sound": self.sound,
            "held": self.held,
            "rows": [row.to_dict() for row in self.rows],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a tidy DataFrame with a row per row of the report; see `to_dict` for JSON.

        Returns
        -------
        pandas.DataFrame
            Columns: distance, size (None unless the claim depends on it), claimed (as given), exact
            (the truth as a fraction, or an empty string), truth (the nearest float), verdict,
            factor (claim over truth), slack_ulp (claim less truth, in units in the last place), x,
            y, answer_x, answer_y (the evidence).
        """
        return pd.DataFrame(
            {
                "distance": row.distance,
                "size": row.size,
                "claimed": row.claimed,
                "exact": "" if row.exact is None else number_text(row.exact),
                "truth": row.value,
                "verdict": row.verdict,
                "factor": row.factor,
                "slack_ulp": row.slack_ulp,
                **{name: getattr(row.evidence, name) for name in _EVIDENCE},
            }
            for row in self.rows
        )

    def to_csv(self, path: str | Path, *, witness: str = "short") -> None:
        """Write `to_frame()` to a CSV file.

        Parameters
        ----------
        path : str or Path
            The file.
        witness : {"short", "full"}, default "short"
            Whether to shorten long datasets.

        Raises
        ------
        InputError
            If `witness` is neither of these, or the file cannot be written.
        """
        short = is_short(witness)
        frame = self.to_frame()
        if short:
            pairs = [brief_pair(row.evidence.x, row.evidence.y) for row in self.rows]
            frame["x"], frame["y"] = (list(texts) for texts in zip(*pairs, strict=True))
            for name in ("answer_x", "answer_y"):
                frame[name] = [brief(getattr(row.evidence, name)) for row in self.rows]
        write_csv(frame, path)

    @property
    def _title(self) -> str:
        return f"Audit of {one_line(self.subject)}: {self.verdict}"

    def _facts(self) -> list[tuple[str, str]]:
        """Return the lines before the table: the setting, and the notes."""
        hint = self._rounding(self.decisive)
        notes = [("note", one_line(note)) for note in (*self.notes, *([hint] if hint else []))]
        return [("setting", one_line(self.setting)), *notes]

    def _table(self) -> list[tuple[str, ...]]:
        """Return the cells of the report: a header, the decisive row, then the others in order."""
        sized = any(row.size is not None for row in self.rows)
        worst = self.decisive
        rows = [worst, *(row for row in self.rows if row is not worst)]
        table = [("k", *(["n"] if sized else []), "claimed", "truth", "verdict")]
        for row in rows[:_ROWS]:
            claimed = "none" if row.claimed is None else plain(row.claimed)
            size = [str(row.size)] if sized else []
            table.append((str(row.distance), *size, claimed, row.truth_text, row.remark))
        return table

    def _pair(self) -> list[tuple[str, str]]:
        """Return the lines after the table: the number of rows left out, the decisive evidence."""
        seen = self.decisive.evidence
        texts = zip("xy", brief_pair(seen.x, seen.y), (seen.answer_x, seen.answer_y), strict=True)
        pair = [(name, f"{data}  ->  {brief(answer)}") for name, data, answer in texts]
        if seen.x is None:
            pair = []  # there is none
        left = len(self.rows) - _ROWS
        return [*([("...", f"and {left:,} more rows")] if left > 0 else []), *pair]

    def __repr__(self) -> str:
        cells = self._table()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        table = [
            "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True))
            for line in cells
        ]
        facts = [f"{name:<7}  {text}" for name, text in self._facts()]
        lines = [*facts, *table, *("  ".join(one) for one in self._pair())]
        lines = [self._title, *(f"  {line.rstrip()}" for line in lines)]
        return "\n".join(map(printable, lines))

    def _repr_html_(self) -> str:
        def line(tag: str, cells: tuple[str, ...], span: int = 1) -> str:
            style = f"<{tag} style='text-align:left'"
            *first, last = (html_text(cell) for cell in cells)
            return (
                "<tr>"
                + "".join(f"{style}>{cell}</{tag}>" for cell in first)
                + f"{style} colspan='{span}'>{last}</{tag}></tr>"
            )

        header, *rows = self._table()
        span = len(header) - 1
        lines = [
            *(line("td", fact, span) for fact in self._facts()),
            line("th", header),
            *(line("td", row) for row in rows),
            *(line("td", pair, span) for pair in self._pair()),
        ]
        return f"<table><caption>{html_text(self._title)}</caption>{''.join(lines)}</table>"
