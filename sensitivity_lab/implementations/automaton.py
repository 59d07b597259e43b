"""A fold as an automaton: its states are the accumulators, its letters the records.

Equal accumulators behave alike from then on, so they are one state. States have numbers, and every
step is computed once, however many datasets lead through it; searches work on the numbers. What
counts as equal is in docs/proofs.md, "Code on ordered datasets".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import MORE_MEMORY, exceeding, shown
from sensitivity_lab.errors import QueryError, TooLargeError
from sensitivity_lab.search.lattice import Indices
from sensitivity_lab.universes.relations import Dataset

from .answers import CodeAnswer, as_answer
from .folds import Fold

_STATE_BYTES = 512
"""About how many bytes an accumulator takes: the object, its key, and its row of the table."""

# Searches over orders keep sorted arrays of codes: a state, in the low bits, and above it what the
# state goes with, the rank of a multiset or the state of another dataset.

STATE_BITS = 32
"""Bits of a state within a code."""

LOW = (1 << STATE_BITS) - 1
"""The bits of the state."""

COPIES = 4
"""Arrays of codes that are alive at once while the codes of a level or a node are made unique."""


class Automaton:
    """The accumulators of a fold that have been reached so far, and the steps between them.

    Parameters
    ----------
    fold : Fold
    values : tuple of numbers, shape (m,)
        The distinct values of the universe; letter v is ``values[v]``.
    memory_limit : int
        The number of bytes that the search may use.

    Attributes
    ----------
    steps : int
        How many steps have been computed.
    """

    def __init__(self, fold: Fold, values: Dataset, memory_limit: int) -> None:
        self.fold = fold
        self.steps = 0
        self._memory_limit = memory_limit
        self._records = fold.records(values)
        self._accumulators: list[Any] = []
        self._number: dict[Any, int] = {}
        self._next = np.full((64, len(values)), -1, dtype=np.int64)
        self.start = self._state(fold.first)

    @property
    def states(self) -> int:
        """How many different accumulators have been reached."""
        return len(self._accumulators)

    def advance(self, states: NDArray[np.int64], letter: int) -> NDArray[np.int64]:
        """Return the states that some states lead to, with one letter."""
        arrived: NDArray[np.int64] = self._next[states, letter]
        new = arrived < 0
        if new.any():
            with np.errstate(all="ignore"):
                for state in np.unique(states[new]).tolist():
                    self._next[state, letter] = self._step(state, letter)
            arrived[new] = self._next[states[new], letter]
        return arrived

    def answers(self, states: Indices) -> list[CodeAnswer]:
        """Return what the fold answers in some states."""
        answers = []
        with np.errstate(all="ignore"):
            for state in states.tolist():
                accumulator = self._accumulators[state]
                where = (
                    f"{shown(self.fold.name)} that ends with the accumulator {shown(accumulator)}"
                )
                try:
                    raw = self.fold.answer(accumulator)
                except Exception as error:
                    raise QueryError(f"{where} raised {type(error).__name__}: {error}") from error
                answers.append(as_answer(raw, where))
        return answers

    def check_memory(self, more: float, what: str) -> None:
        """Raise TooLargeError if `more` bytes, on top of the accumulators, are too many."""
        needed = more + self.states * (_STATE_BYTES + 8 * self._next.shape[1])
        if needed > self._memory_limit:
            raise TooLargeError(
                f"the search over {what} of {shown(self.fold.name)} has reached {self.states:,} "
                f"accumulators and would need about "
                f"{exceeding(needed, self._memory_limit)}; choose a smaller size or "
                f"distance, fewer distinct values, or {MORE_MEMORY}"
            )

    def _step(self, state: int, letter: int) -> int:
        accumulator, record = self._accumulators[state], self._records[letter]
        self.steps += 1
        where = (
            f"the step of {shown(self.fold.name)} from {shown(accumulator)} with the record "
            f"{shown(record)}"
        )
        try:
            arrived = self.fold.step(accumulator, record)
        except Exception as error:
            raise QueryError(f"{where} raised {type(error).__name__}: {error}") from error
        try:
            return self._state(arrived)
        except TypeError as error:
            raise QueryError(
                f"{where} returned an accumulator that cannot be hashed; return a number or a tuple"
            ) from error

    def _state(self, accumulator: Any) -> int:
        """Return the number of an accumulator; one that is new gets the next number."""
        number = self._number.setdefault(_key(accumulator), len(self._accumulators))
        if number == len(self._accumulators):
            self._accumulators.append(accumulator)
            if number == len(self._next):
                self.check_memory(0, "accumulators")
                self._next = np.concatenate([self._next, np.full_like(self._next, -1)])
        return number


def _key(accumulator: Any) -> Any:
    """Return what distinguishes accumulators: also the type, and 0.0 from -0.0; NaN equals NaN."""
    kind = type(accumulator)
    if kind is tuple:
        return tuple(map(_key, accumulator))
    if isinstance(accumulator, (float, np.floating)):
        if accumulator != accumulator:
            return kind, "NaN"
        return kind, accumulator, bool(np.signbit(accumulator)) if not accumulator else False
    return kind, accumulator
