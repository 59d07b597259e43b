"""What an engine is: one way to find the largest difference, with its own reach and cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sensitivity_lab.neighbors import Multiplicities
from sensitivity_lab.problem import Problem


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


@dataclass(frozen=True)
class Finding:
    """A pair that attains the maximum, before its value is computed.

    Attributes
    ----------
    x, y : ndarray of int64, shape (m,)
        How often each distinct value of the universe occurs in the datasets.
    answers : tuple of two floats, or None
        What a caller's function returned for x and y; None for queries that compute exactly.
    datasets_evaluated : int
    """

    x: Multiplicities
    y: Multiplicities
    answers: tuple[float, float] | None
    datasets_evaluated: int


class Engine(Protocol):
    """One way to find the maximum. Engines trust the problem; they validate nothing."""

    @property
    def name(self) -> str:
        """What `method` calls the engine."""

    def refusal(self, problem: Problem, options: Options) -> str | None:
        """Return why the engine does not take the problem; None if it does."""

    def solve(self, problem: Problem, options: Options) -> list[list[Finding]]:
        """Return a finding for every query (outer list) and every relation (inner list)."""
