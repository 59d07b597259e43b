"""What an engine is: one way to find the largest difference, with its own reach and cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from sensitivity_lab.checks import check_running
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import Answered
from sensitivity_lab.universes.relations import Multiplicities, check_whole


class Refusal(NamedTuple):
    """Why an engine does not take a problem.

    Attributes
    ----------
    reason : str
        In words, with the numbers and ways out.
    too_large : bool
        Whether the problem is of a kind that the engine covers, but too large.
    """

    reason: str
    too_large: bool = False


@dataclass(frozen=True)
class Options:
    """How to run a search; no option changes its answer.

    Parameters
    ----------
    n_jobs : int or None, default None
        As in joblib.
    progress : bool or None, default None
        Whether to show a progress bar; None: on a terminal and past a second.
    memory_limit : int, default 4 GiB
        The largest number of bytes that a search may plan to use.
    """

    n_jobs: int | None = None
    progress: bool | None = None
    memory_limit: int = 4 * 2**30

    def __post_init__(self) -> None:
        """Check the options."""
        check_whole("memory_limit", self.memory_limit, "a number of bytes, at least 1")
        check_running(self.n_jobs, self.progress)


@dataclass(frozen=True)
class Finding:
    """A pair that attains the maximum, before its value is computed.

    Attributes
    ----------
    x, y : ndarray of int64, shape (m,)
        How often each distinct value of the universe occurs in the datasets.
    answers : tuple of two answers, or None
        What a caller's function returned for x and y; None for queries that compute exactly.
    datasets_evaluated : int
    """

    x: Multiplicities
    y: Multiplicities
    answers: tuple[Answered, Answered] | None
    datasets_evaluated: int


class Engine(Protocol):
    """One way to find the maximum. Engines trust the problem; they validate nothing."""

    @property
    def name(self) -> str:
        """What `method` calls the engine."""

    def refusal(self, problem: Problem, options: Options) -> Refusal | None:
        """Return why the engine does not take the problem; None if it does."""

    def solve(self, problem: Problem, options: Options) -> list[list[Finding]]:
        """Return a finding for every query (outer list) and every relation (inner list)."""
