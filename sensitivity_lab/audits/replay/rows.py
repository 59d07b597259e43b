"""A step of a replayed run beside its claim, and a whole run beside its privacy budget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sensitivity_lab.audits.claims import number
from sensitivity_lab.audits.row import AuditRow
from sensitivity_lab.results.literals import brief, json_ready, one_line

WHOLE = "the whole run"
"""The step of a row about all steps together."""

RETURNED = "the return value"
"""The step of a row about what is returned beside the releases."""


@dataclass(frozen=True)
class ReplayRow(AuditRow):
    """A step of two runs that release the same, at one distance; see `AuditRow`.

    Parameters
    ----------
    step : str, default ""
        Which step, with the mechanism and where it was called; or "the whole run", whose claim is
        the budget and whose truth is the loss; or "the return value", which differs.
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
        if self.step == RETURNED:
            return "violated"
        return super().verdict if self.aligned else "not aligned"

    @property
    def remark(self) -> str:
        """The verdict, how far the claim is from the truth, the step, and the releases before."""
        after = f", after the releases {brief(self.history)}" if self.history else ""
        if self.step == RETURNED:
            return (
                f"{self.verdict} (the return value depends on the data beside the releases){after}"
            )
        told = super().remark if self.aligned else f"{self.verdict} ({one_line(self.reason)})"
        return f"{told} {'over' if self.step == WHOLE else 'at'} {self.step}{after}"

    @property
    def sentence(self) -> str:
        """What is claimed, what is true, and the verdict."""
        if self.step == RETURNED:
            return f"no noise hides what is returned: {self.remark}"
        if not self.aligned:
            return f"neighbors take different steps: {self.remark}"
        if self.step != WHOLE or self.claimed is None:
            return super().sentence
        return (
            f"the whole run may spend {number(self.claimed)}, it spends {self.truth_text}: "
            f"{self.remark}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all facts in the types of JSON, with step and history."""
        more = {"step": self.step, "history": json_ready(self.history)}
        return {**super().to_dict(), **more}
