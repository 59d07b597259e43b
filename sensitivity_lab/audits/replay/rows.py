"""A step of a replayed run beside its claim, and a whole run beside its privacy budget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sensitivity_lab.audits.row import AuditRow
from sensitivity_lab.results.literals import brief, json_ready, one_line

WHOLE = "the whole run"
"""The step of a row about all steps together."""


@dataclass(frozen=True)
class ReplayRow(AuditRow):
    """A step of two runs that release the same, at one distance; see `AuditRow`.

    Parameters
    ----------
    step : str, default ""
        Which step, with the mechanism and where it was called; or "the whole run", whose claim is
        the budget and whose truth is the loss.
    history : tuple, default ()
        What both runs released before the step.
    aligned : bool, default True
        Whether both runs release in the same steps; if not, `reason` says how they differ.
    """

    step: str = ""
    history: tuple[Any, ...] = ()
    aligned: bool = True

    @cached_property
    def verdict(self) -> str:
        """One of `VERDICTS`; "not aligned" if neighbors release in different steps."""
        return super().verdict if self.aligned else "not aligned"

    @property
    def remark(self) -> str:
        """The verdict, how far the claim is from the truth, the step, and the releases before."""
        told = super().remark if self.aligned else f"{self.verdict} ({one_line(self.reason)})"
        after = f", after the releases {brief(self.history)}" if self.history else ""
        return f"{told} {'over' if self.step == WHOLE else 'at'} {self.step}{after}"

    def to_dict(self) -> dict[str, Any]:
        """Return all facts in the types of JSON, with step and history."""
        more = {"step": self.step, "history": json_ready(self.history)}
        return {**super().to_dict(), **more}
