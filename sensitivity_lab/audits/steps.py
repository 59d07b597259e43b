"""The worst pairs of two runs with the same releases: by step, and as a whole.

The proof is under the heading "Replay" of docs/proofs.md.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.metrics import METRICS, Metric
from sensitivity_lab.metrics.cells import key_of
from sensitivity_lab.results.literals import plain, short_literal

from .claims import division, excess, holds_float, times
from .pairs import any_distances, entries
from .recording import Run, Step
from .returned import whole_key
from .row import (
    CANDIDATES,
    NO_NOISE,
    NOT_JUDGED,
    OTHER_CANDIDATES,
    RETURNED,
    UNALIGNED,
    WHOLE,
    AuditRow,
    Evidence,
    Finding,
)

_METRIC_OF_SCORES = {False: METRICS["Linf"], True: METRICS["Linf_monotonic"]}
"""How far scores move, by whether a selection takes them as monotonic."""


@dataclass(frozen=True)
class _Pair:
    """Two runs with the same releases, and how bad they are at a step."""

    x: Run
    y: Run
    rank: Any
    truth: Difference | float
    steps: tuple[Step, ...] = ()


@dataclass
class Worst:
    """What is worst among the pairs seen so far, which `see` takes one by one.

    Attributes
    ----------
    metric : Metric
        The norm of the difference of two vectors of one step.
    k : int
        The distance of the pairs.
    divided : dict
        By step, the pair with the largest ratio of two claims, where neighbors have two.
    """

    metric: Metric
    k: int
    _apart: tuple[_Pair, str] | None = None
    _leaks: bool = False  # whether that pair shows a violation, not only other steps
    _beyond: dict[int, _Pair] = field(default_factory=dict)  # by step: truth over claim
    divided: dict[int, _Pair] = field(default_factory=dict)
    _loss: _Pair | None = None
    _multiple: Fraction | float = Fraction(0)  # the largest sum of truth over claim
    _gaps: dict[Hashable, Difference | float] = field(default_factory=dict)
    _shares: dict[int, str] = field(default_factory=dict)  # of runs with selections, by step
    _seen: set[Hashable] = field(default_factory=set)  # what runs of a pair share with others

    def see(self, x: Run, y: Run) -> None:
        """Compare two runs: y was fed what x released.

        Steps of runs that do not align are not compared, since they need not be the same steps.
        """
        if (both := (x.key, y.key)) in self._seen:
            return
        self._seen.add(both)
        told = _misaligned(x, y)
        if told is not None:
            leaks = bool(x.sites) != bool(y.sites) or told == OTHER_CANDIDATES.reason
            if self._apart is None or (leaks and not self._leaks):
                self._apart, self._leaks = (_Pair(x, y, None, math.inf), told), leaks
            return
        for step in x.steps:
            if step.epsilon is not None and any(one.candidates for one in x.steps):
                self._shares[step.place] = f"{plain(step.epsilon)} at step {step.place + 1}"
        gaps = [self._gap(x, y, *pair) for pair in zip(x.steps, y.steps, strict=True)]
        for one, two, gap in zip(x.steps, y.steps, gaps, strict=True):
            self._judge(x, y, one, two, gap)
        if x.steps:
            self._add_up(x, y, gaps)

    def _add_up(self, x: Run, y: Run, gaps: Sequence[Difference | float]) -> None:
        """Keep the pair if its runs lose most as a whole."""
        # Given what was released, the loss of a run is the sum over its steps of epsilon times
        # difference over claim; where shares are unknown, the sum is in units of each epsilon.
        multiples = list(map(_multiple, x.steps, y.steps, gaps))
        # The rhos of normal noise add up, which are squares of these.
        power = 2 if self._squared else 1
        together = sum((one**power for one in multiples), Fraction(0))
        self._multiple = max(self._multiple, together)
        if self._squared or any(step.epsilon is None for step in x.steps):
            return
        loss: Fraction | float = sum(
            ((step.epsilon or 0) * one for step, one in zip(x.steps, multiples, strict=True)),
            Fraction(0),
        )
        # Of equal losses the first is kept, so that evidence does not depend on later runs.
        if self._loss is None or loss > self._loss.rank:
            truth = math.inf if loss == math.inf else Difference(Fraction(loss), Fraction(0))
            self._loss = _Pair(x, y, loss, truth)

    @property
    def _squared(self) -> bool:
        return self.metric == METRICS["L2"]

    def _judge(self, x: Run, y: Run, one: Step, two: Step, gap: Difference | float) -> None:
        """Keep the pair if it is the worst of its step."""
        beyond = _Pair(x, y, excess(gap, _smaller(one.claim, two.claim)), gap, (one, two))
        _keep_worse(self._beyond, one.place, beyond)
        if Fraction(one.claim) != Fraction(two.claim):
            divided = _Pair(x, y, division((one.claim, two.claim)), gap, (one, two))
            _keep_worse(self.divided, one.place, divided)

    def _gap(self, x: Run, y: Run, one: Step, two: Step) -> Difference | float:
        """Return the distance of two true values, which can be infinite or missing."""
        key = one.key, two.key  # the same values come again after most histories
        if key not in self._gaps:
            values = one.value, two.value
            try:
                of_scores = _METRIC_OF_SCORES[one.monotonic]
                found = any_distances(self.metric if one.candidates is None else of_scores, values)
            except QueryError as error:
                both = f"{short_literal(x.dataset)} and {short_literal(y.dataset)}"
                raise QueryError(f"on {both}, at step {one.place + 1}, {error}") from None
            self._gaps[key] = found.truth(found.row(0)[0])
        return self._gaps[key]

    def rows(self, tolerance: Number, budget: Number | None) -> tuple[AuditRow, ...]:
        """Return a row for runs that do not align, one per step, and one for the whole run."""
        found = []
        if self._apart:
            pair, told = self._apart
            if told == OTHER_CANDIDATES.reason:
                found.append(self._of_candidates(pair))
            elif bool(pair.x.sites) != bool(pair.y.sites):
                seen = Evidence(pair.x.dataset, pair.y.dataset, pair.x.answer, pair.y.answer)
                found.append(self._of_any_claim(seen, NO_NOISE, step=RETURNED))
            else:
                seen, history = _all_values(pair), pair.x.releases
                found.append(
                    self._of_any_claim(seen, UNALIGNED, step=WHOLE, history=history, reason=told)
                )
        for place in sorted(self._beyond):
            # A claim that is too small is worse than two claims that differ.
            row = self._row(self._beyond[place], tolerance)
            if row.verdict != "violated" and place in self.divided:
                row = self._row(self.divided[place], tolerance)
            found.append(row)
        if self._loss and budget is not None:
            seen = _all_values(self._loss)
            whole = AuditRow(
                self.k, budget, self._loss.truth, seen,
                rounded=any(step.rounded for step in (*self._loss.x.steps, *self._loss.y.steps)),
                tolerance_ulps=tolerance, step=WHOLE, history=self._loss.x.releases,
            )  # fmt: skip
            if whole.verdict == "violated" and any(step.candidates for step in self._loss.x.steps):
                whole = replace(whole, finding=_over_budget(budget, whole.truth_text))
            found.append(whole)
        return tuple(found)

    def _of_candidates(self, pair: _Pair) -> AuditRow:
        """Return the row of two runs that select from other candidates."""
        place, one, two = next(
            (one.place, one.candidates, two.candidates)
            for one, two in zip(pair.x.steps, pair.y.steps, strict=True)
            if whole_key(one.candidates) != whole_key(two.candidates)
        )
        seen = Evidence(pair.x.dataset, pair.y.dataset, one, two)
        history = pair.x.releases[:place]
        return self._of_any_claim(seen, OTHER_CANDIDATES, step=CANDIDATES, history=history)

    def _of_any_claim(self, seen: Evidence, finding: Finding, **place: Any) -> AuditRow:
        return AuditRow(self.k, None, math.inf, seen, finding=finding, **place)

    def _row(self, pair: _Pair, tolerance: Number) -> AuditRow:
        """Compare the truth of a step with the smaller of its two claims."""
        one, two = pair.steps
        first, second = (times(self.k, step.claim) for step in pair.steps)
        sites = pair.x.sites
        return AuditRow(
            self.k,
            _smaller(first, second),
            pair.truth,
            Evidence(pair.x.dataset, pair.y.dataset, one.value, two.value),
            claims=None if first == second else {"on x": first, "on y": second},
            rounded=holds_float((one.value, two.value)),
            tolerance_ulps=tolerance,
            step=""
            if len(sites) == 1
            else f"step {one.place + 1} of {len(sites)}, {sites[one.place]}",
            history=pair.x.releases[: one.place],
        )

    @property
    def shares(self) -> tuple[str, ...]:
        """A note with the epsilon of each step, where some of them are selections."""
        if not self._shares:
            return ()
        told = ", ".join(self._shares[place] for place in sorted(self._shares))
        return (f"the epsilons of the steps: {told}",)

    @property
    def unjudged(self) -> str:
        """What the steps spend together, where no budget was stated; nothing for a single step."""
        if len(self._beyond) < 2 or not self._multiple:
            return ""
        if self._squared:
            return (
                f"the steps together move by {math.sqrt(self._multiple):.4g}, in units of the "
                "claim of each; judge the noise of the whole run by audit_mechanism and rho="
            )
        if self._loss is not None:
            return f"the steps together spend {self.loss}; pass budget= to judge the whole run"
        return (
            f"the steps together spend {float(self._multiple):.4g}, in units of the epsilon of "
            "each; pass budget= to judge the whole run"
        )

    @property
    def overspent(self) -> bool:
        """Whether the steps together spend more than each may alone, beyond what floats round."""
        most = self.k**2 if self._squared else self.k
        return self._multiple > most * (1 + Fraction(1, 2**30))

    @property
    def loss(self) -> str:
        """The largest loss of a whole run as a number, or nothing where it is not known."""
        if self._loss is None:
            return ""
        return "inf" if self._loss.rank == math.inf else plain(self._loss.rank)


def _keep_worse(kept: dict[int, _Pair], place: int, pair: _Pair) -> None:
    """Keep a pair of a step if it is worse than the one that is kept; of equal ones the first."""
    if place not in kept or pair.rank > kept[place].rank:
        kept[place] = pair


def _smaller(one: Number, two: Number) -> Number:
    return two if Fraction(two) < Fraction(one) else one  # a Decimal is no Fraction


def _over_budget(budget: Number, spent: str) -> Finding:
    """Return that a run with selections may lose more than its budget.

    The loss of a selection is at most epsilon times difference over claim, and can be less: that of
    the exponential mechanism between two candidates, with scores (0, 0) and (1, 0), is
    log(2 / (1 + e ** (-epsilon / 2))). So a sum above the budget shows no violation.
    """
    reason = (
        f"the epsilons of the steps add up to {spent}, but a selection can lose less "
        "than its epsilon; audit_mechanism judges its law"
    )
    opening = f"the whole run may spend {plain(budget)}"
    return Finding(NOT_JUDGED, opening, reason)


def _multiple(one: Step, two: Step, gap: Difference | float) -> Fraction | float:
    """Return the privacy loss of a step in units of its epsilon: difference over claim."""
    if not isinstance(gap, Difference):
        return math.inf
    claim, size = Fraction(_smaller(one.claim, two.claim)), gap.close()
    if claim == 0:
        # Without noise, what differs tells the neighbors apart, and what does not tells nothing.
        return math.inf if size else Fraction(0)
    return size / claim


def _misaligned(x: Run, y: Run) -> str | None:
    """Return how two runs fail to release in the same steps, or None."""
    if len(x.sites) != len(y.sites):
        return f"{len(x.sites)} releases on x, {len(y.sites)} on y"
    for place, (one, two) in enumerate(zip(x.sites, y.sites, strict=True)):
        if one != two:
            return f"step {place + 1} is {one} on x, {two} on y"
    for first, second in zip(x.steps, y.steps, strict=True):
        at = f"step {first.place + 1}"
        if first.epsilon != second.epsilon:
            one, two = plain(first.epsilon or 0), plain(second.epsilon or 0)
            return f"{at} has epsilon {one} on x, {two} on y"
        sizes = [len(entries(step.value)) for step in (first, second)]
        if first.monotonic != second.monotonic:
            return f"only one of x and y takes the scores of {at} as monotonic"
        if whole_key(first.candidates) != whole_key(second.candidates):
            return OTHER_CANDIDATES.reason
        if sizes[0] != sizes[1]:
            return f"{at} has {sizes[0]} numbers on x, {sizes[1]} on y"
        if key_of(first.ends) != key_of(second.ends):
            return f"{at} has the ends {shown(first.ends)} on x, {shown(second.ends)} on y"
    return None


def _all_values(pair: _Pair) -> Evidence:
    """Return the evidence of a pair of whole runs: their true values, step by step."""
    x, y = pair.x, pair.y
    values = [tuple(step.value for step in run.steps) for run in (x, y)]
    return Evidence(x.dataset, y.dataset, *values)
