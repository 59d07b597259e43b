"""The best labels of all records, where the weights by rank are in few runs of equal ones.

While the next record's ranks in x and in y stay in one run each, a label adds one number times the
record, whatever the state. So what lies between two changes of runs is chosen by rearrangement, and
a search goes from change to change (docs/proofs.md, "Few runs"). An interquartile range has four
ranks with a weight, in six runs at most; a winsorized mean has five runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.search.layouts import Shape

from .all_ranks import (
    CORE,
    ONLY_X,
    ONLY_Y,
    OUTSIDE,
    SAFE,
    Labels,
    Tell,
    Walk,
)

Part = tuple[int, int, int]
"""A label, how many records in a row have it, and what each of them counts."""

_AXES = {CORE: 0, ONLY_X: 1, ONLY_Y: 2}


class RunSearch:
    """The choice of the states in which a run ends, and of their places, for one target.

    Parameters
    ----------
    walk : Walk
    target : Shape

    Notes
    -----
    Time: an array operation of length N - n - j + 1 for each pair of `successors`, and one for each
    way to leave a state. Memory: such an array for each state.
    """

    def __init__(self, walk: Walk, target: Shape) -> None:
        self.walk = walk
        self._numbers = target.core, target.only_x, target.only_y

    @staticmethod
    def most_states(walk: Walk, target: Shape) -> int:
        """Bound the number of states, without listing them."""
        return (len(_run_ends(walk.of_x)) + len(_run_ends(walk.of_y))) * (
            (target.only_x + 1) * (target.only_y + 1)
        )

    @cached_property
    def states(self) -> NDArray[np.int64]:
        """How many C, A and B there are where a run ends, shape (states, 3); the start comes first.

        They come by the number of labelled records, so none leads to one before it; the target is
        the last.
        """
        core, only_x, only_y = self._numbers
        a, b = (of.ravel() for of in np.mgrid[: only_x + 1, : only_y + 1])
        # A run of x ends where c + a is the first rank of the next one; likewise c + b in y.
        found = [np.array([(0, 0, 0), self._numbers])]
        found += [np.column_stack([end - a, a, b]) for end in _run_ends(self.walk.of_x)]
        found += [np.column_stack([end - b, a, b]) for end in _run_ends(self.walk.of_y)]
        every = np.unique(np.concatenate(found), axis=0)
        inside = every[(every[:, 0] >= 0) & (every[:, 0] <= core)]
        return inside[np.argsort(inside.sum(axis=1), kind="stable")]

    @cached_property
    def successors(self) -> list[NDArray[np.intp]]:
        """For each state, those that can follow it without another end of a run in between."""
        states, rank_x, rank_y = self.states, *self._ranks
        last_x, last_y = (
            np.append(ends, size)[np.searchsorted(ends, ranks, side="right")]
            for ends, size, ranks in (
                (_run_ends(self.walk.of_x), len(self.walk.of_x), rank_x),
                (_run_ends(self.walk.of_y), len(self.walk.of_y), rank_y),
            )
        )
        found = []
        for place, state in enumerate(states):
            later = states[place + 1 :]
            follows = (later >= state).all(axis=1)
            follows &= (rank_x[place + 1 :] <= last_x[place]) & (
                rank_y[place + 1 :] <= last_y[place]
            )
            found.append(np.flatnonzero(follows) + place + 1)
        return found

    @property
    def _ranks(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The ranks in x and in y of the record after each state."""
        c, a, b = self.states.T
        return c + a, c + b

    @property
    def steps(self) -> int:
        """How many array elements are looked at."""
        return self.width * sum(map(len, self.successors))

    @property
    def bytes(self) -> int:
        """How much memory the sums take, the states, and what follows each of them."""
        each, number = 8 if self.walk.bound < SAFE else 64, len(self.states)
        sums = each * (self.width * (number + 6) + 2 * len(self.walk.records))
        return sums + 512 * number + 48 * sum(map(len, self.successors))

    @property
    def width(self) -> int:
        """How many places a state can have: one more than there are records that stay outside."""
        return len(self.walk.records) - sum(self._numbers) + 1

    def best(self, tell: Tell) -> tuple[int, Labels]:
        """Return the largest f(x) - f(y) in units, and labels that attain it.

        Parameters
        ----------
        tell : callable
            Is told how many array elements were looked at.

        Notes
        -----
        A state with s labelled records stands before the record at a place t + s, and t goes from
        0 to the number of records that stay outside. A state can follow another one exactly if its
        t is not smaller: then enough records lie between them.
        """
        records = self.walk.records
        if self.walk.bound < SAFE:
            records = records.astype(np.int64)
        # Sums of int64 may wrap around; the differences that are used are below SAFE.
        before = np.concatenate([np.zeros_like(records[:1]), np.cumsum(records)])
        # Axis: t. The largest sum up to each state; None until a state before it leads there.
        sums: list[NDArray[Any] | None] = [None] * len(self.states)
        sums[0] = np.zeros_like(before[: self.width])
        # By state and t there, the state before it: what the way back is made of.
        origins: list[list[int]] = [[] for _ in self.states]
        for place, following in enumerate(self.successors):
            # Always: `sums` of this state are final, since only states before it lead to it.
            here = sums[place]
            if here is None:
                continue
            left: dict[tuple[Part, ...], NDArray[Any]] = {}
            for after in following.tolist():
                first, last = self._parts(place, after)
                if first not in left:
                    # Running maxima: what is best for all t up to one.
                    left[first] = np.maximum.accumulate(here + self._start(before, place, first))
                offered = left[first] + self._end(before, after, last)
                held = sums[after]
                sums[after] = offered if held is None else np.maximum(held, offered)
                origins[after].append(place)
            tell(self.width * len(following))
        labels = np.full(len(records), OUTSIDE, dtype=np.uint8)
        after = len(self.states) - 1
        shift = int(np.argmax(sums[after]))  # type: ignore[arg-type]
        while after:
            after, shift = self._back(before, sums, origins[after], (after, shift), labels)
        return self.walk.value(labels), labels

    def _back(
        self,
        before: Integers,
        sums: Sequence[NDArray[Any] | None],
        origins: list[int],
        end: tuple[int, int],
        labels: Labels,
    ) -> tuple[int, int]:
        """Label the records of the best way to a state at some t; return where it comes from."""
        after, shift = end
        found: list[tuple[Any, int, int]] = []
        for place in origins:
            first, last = self._parts(place, after)
            here: Any = sums[place]
            # The same offers as on the way up, but for one t of the end: the best t' before it is
            # asked for.
            left = (here + self._start(before, place, first))[: shift + 1]
            best = int(np.argmax(left))
            right = (self._end(before, after, last) + np.zeros_like(here))[shift]
            found.append((left[best] + right, place, best))
        _, place, best = max(found, key=lambda one: one[0])
        first, last = self._parts(place, after)
        at = best + int(self.states[place].sum())
        for label, number, _ in first:
            labels[at : at + number] = label
            at += number
        at = shift + int(self.states[after].sum())
        for label, number, _ in reversed(last):
            labels[at - number : at] = label
            at -= number
        return place, best

    def _parts(self, place: int, after: int) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
        """Return the labels between two states: those that stand at the start, and at the end.

        By rearrangement the labels come by what they count, ascending, and those that count
        nothing, outside included, in between. So labels that count less than 0 come first.
        """
        rank_x, rank_y = self._ranks
        numbers = (self.states[after] - self.states[place]).tolist()
        of_x, of_y = (
            int(weights[rank]) if rank < len(weights) else 0
            for weights, rank in ((self.walk.of_x, rank_x[place]), (self.walk.of_y, rank_y[place]))
        )
        counted = {CORE: of_x - of_y, ONLY_X: of_x, ONLY_Y: -of_y}
        parts = sorted(
            ((label, numbers[_AXES[label]], weight) for label, weight in counted.items()),
            key=lambda part: part[2],
        )
        some = [part for part in parts if part[1]]
        first = tuple(part for part in some if part[2] < 0)
        return first, tuple(some[len(first) :])

    def _start(self, before: Integers, place: int, parts: tuple[Part, ...]) -> Any:
        """Return what labels count, by t of the state, that stand right after it."""
        at = int(self.states[place].sum())
        return self._counted(before, at, parts)

    def _end(self, before: Integers, after: int, parts: tuple[Part, ...]) -> Any:
        """Return what labels count, by t of the state, that stand right before it."""
        at = int(self.states[after].sum()) - sum(number for _, number, _ in parts)
        return self._counted(before, at, parts)

    def _counted(self, before: Integers, at: int, parts: tuple[Part, ...]) -> Any:
        """Return what labels in a row count, of which the first is at a place t + at."""
        total: Any = 0
        for _, number, weight in parts:
            if weight:
                stop = at + number
                # Entry t has the records from t + at to t + stop, so a slice of prefix sums serves
                # all t.
                total = total + weight * (
                    before[stop : stop + self.width] - before[at : at + self.width]
                )
            at += number
        return total


def _run_ends(weights: Integers) -> NDArray[np.intp]:
    """Return the first rank of every run of equal weights but the first."""
    found: NDArray[np.intp] = np.flatnonzero(weights[1:] != weights[:-1]) + 1
    return found
