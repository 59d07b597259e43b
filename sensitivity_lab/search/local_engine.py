"""What a local engine is: one way to find the neighbor of one dataset that is furthest away."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Protocol

from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.problem import LocalProblem
from sensitivity_lab.universes.relations import Multiplicities

from .engine import Finding, Options, Refusal


class LocalEngine(Protocol):
    """One way to find the maximum over the neighbors of x. Engines trust the problem."""

    @property
    def name(self) -> str:
        """What `method` calls the engine."""

    def refusal(self, problem: LocalProblem, options: Options) -> Refusal | None:
        """Return why the engine does not take the problem; None if it does."""

    def solve(self, problem: LocalProblem, options: Options) -> Finding:
        """Return x and the neighbor whose answer is furthest from that of x."""


def furthest(
    problem: LocalProblem, candidates: Iterable[tuple[Difference, Multiplicities]]
) -> Finding:
    """Return the candidate y with the largest difference, the first of equals, as a finding."""
    _, y = max(candidates, key=itemgetter(0))
    return Finding(problem.x, y, None, 0)
