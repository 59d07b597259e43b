"""The best labels of all records, where few ranks have a weight.

Only the records at ranks with a weight, the *keys*, add to f(x) - f(y). All others may have any
labels, as long as there are enough of them between two keys. So it is enough to choose the keys:
their states, and their places along the sorted universe (docs/proofs.md, "Few ranks").
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.universes.multiplicities import repeated

from .walk import CORE, ONLY_X, ONLY_Y, SAFE, Labels, Target, Tell, Walk

State = tuple[int, int, int]
"""How many records are labelled C, A and B so far."""

_MOVES: dict[int, State] = {CORE: (1, 0, 0), ONLY_X: (0, 1, 0), ONLY_Y: (0, 0, 1)}


class Key(NamedTuple):
    """A record with a weight: the state before it, its label, and what it counts."""

    before: State
    label: int
    weight: int

    @property
    def after(self) -> State:
        """The state after it."""
        c, a, b = (one + step for one, step in zip(self.before, _MOVES[self.label], strict=True))
        return c, a, b


class KeySearch:
    """The choice of the keys for one target.

    Parameters
    ----------
    walk : Walk
    target : Target

    Attributes
    ----------
    keys : list of Key
        All that can occur, a key after all those that can precede it.
    preceding : list of list of int
        For each key, and at the end for the target, the keys that can come just before; -1 stands
        for the start.

    Notes
    -----
    Time: an array operation of length N - n - j + 1 for each key and each key that can precede it.
    Memory: such an array for each key.
    """

    def __init__(self, walk: Walk, target: Target) -> None:
        self.walk, self.target = walk, target
        self._ranks_x = np.flatnonzero(walk.of_x != 0).tolist()
        self._ranks_y = np.flatnonzero(walk.of_y != 0).tolist()
        self.keys: list[Key] = []
        self.preceding: list[list[int]] = []
        for key in sorted(self._keys(), key=lambda key: sum(key.before)):
            before = self._before(key.before)
            if before:
                self.keys.append(key)
                self.preceding.append(before)
        self.preceding.append(self._before(target))

    def _before(self, state: State) -> list[int]:
        """Return the keys from which records without weight lead to a state; -1 for the start."""
        start = [-1] if self._reaches((0, 0, 0), state) else []
        return start + [
            place for place, key in enumerate(self.keys) if self._reaches(key.after, state)
        ]

    @staticmethod
    def most_keys(walk: Walk, target: Target) -> int:
        """Bound the number of keys, without listing them."""
        ranks = int((walk.of_x != 0).sum()) + int((walk.of_y != 0).sum())
        return 3 * ranks * (target.only_x + 1) * (target.only_y + 1)

    @property
    def steps(self) -> int:
        """How many array elements are looked at."""
        return self.width * sum(map(len, self.preceding))

    @property
    def bytes(self) -> int:
        """How much memory the sums take."""
        each = 8 if self.walk.bound < SAFE else 64
        return each * self.width * (len(self.keys) + 3)

    @property
    def width(self) -> int:
        """How many places a key can have: one more than there are records that stay outside."""
        return len(self.walk.records) - self.target.total + 1

    def _keys(self) -> Iterator[Key]:
        """Yield every record with a weight: a state and a label."""
        # A record after the state (c, a, b) has the rank c + a in x and c + b in y. One of them has
        # a weight: that fixes c, given a and b.
        core, only_x, only_y = self.target
        of_x, of_y = self.walk.of_x, self.walk.of_y
        shares = [(a, b) for a in range(only_x + 1) for b in range(only_y + 1)]
        states = {(rank - a, a, b) for rank in self._ranks_x for a, b in shares}
        states |= {(rank - b, a, b) for rank in self._ranks_y for a, b in shares}
        for c, a, b in states:
            if not 0 <= c <= core:
                continue
            in_x = int(of_x[c + a]) if c + a < len(of_x) else 0
            in_y = int(of_y[c + b]) if c + b < len(of_y) else 0
            # A record of C is a key as soon as one of its two ranks has a weight, even if both
            # cancel; a record of A or B only if the one it is in gives it a weight.
            if c < core:
                yield Key((c, a, b), CORE, in_x - in_y)
            if a < only_x and in_x:
                yield Key((c, a, b), ONLY_X, in_x)
            if b < only_y and in_y:
                yield Key((c, a, b), ONLY_Y, -in_y)

    def _reaches(self, start: State, stop: State) -> bool:
        """Tell whether records without weight lead from a state to another."""
        if any(one > other for one, other in zip(start, stop, strict=True)):
            return False
        (c, a, b), (to_c, to_a, to_b) = start, stop
        # On the way the ranks c + a to to_c + to_a - 1 of x are taken, whatever the order of the
        # labels; likewise of y. None of them may have a weight: as many lie below either end.
        return bisect_left(self._ranks_x, c + a) == bisect_left(
            self._ranks_x, to_c + to_a
        ) and bisect_left(self._ranks_y, c + b) == bisect_left(self._ranks_y, to_c + to_b)

    def best(self, tell: Tell) -> tuple[int, Labels]:
        """Return the largest f(x) - f(y) in units, and labels that attain it.

        Parameters
        ----------
        tell : callable
            Is told how many array elements were looked at.
        """
        self._add_up(tell)
        labels = np.zeros(len(self.walk.records), dtype=np.uint8)
        place, shift = self._last(len(self.keys), self.width - 1)
        state: State = self.target
        stop = len(labels)
        # Always: the records from `stop` on are labelled, and the best path before them leads to
        # `state`. Between two keys, records without weight may have any labels.
        while place >= 0:
            key = self.keys[place]
            at = shift + sum(key.before)
            self._fill(labels, key.after, state, stop)
            labels[at] = key.label
            state, stop = key.before, at
            place, shift = self._last(place, shift)
        self._fill(labels, (0, 0, 0), state, stop)
        return self.walk.value(labels), labels

    def _add_up(self, tell: Tell) -> None:
        """Find, for each key, the largest sum up to it, by its largest place.

        A key with s labelled records before it stands at a place t + s, and t goes from 0 to the
        number of records that stay outside. A key can come before another one exactly if its t is
        not larger: then enough records lie between them.
        """
        records = self.walk.records
        if self.walk.bound < SAFE:
            records = records.astype(np.int64)
        self._sums: list[NDArray[Any]] = []
        for key, preceding in zip(self.keys, self.preceding, strict=False):
            # Axis: t. The sums of the keys before are running maxima already, so those at t are the
            # best of all that stand at t or before.
            best: Any = None
            for place in preceding:
                before = self._sums[place] if place >= 0 else np.zeros_like(records[: self.width])
                best = before if best is None else np.maximum(best, before)
            first = sum(key.before)
            of_key = best + key.weight * records[first : first + self.width]
            self._sums.append(np.maximum.accumulate(of_key))
            tell(self.width * len(preceding))

    def _last(self, place: int, shift: int) -> tuple[int, int]:
        """Return the best key before a key at some place t, and its own t; -1 for the start."""
        options = self.preceding[place]
        best = max(options, key=lambda one: int(self._sums[one][shift]) if one >= 0 else 0)
        if best < 0:
            return best, 0
        # The sums do not fall with t: the first that are as large belong to the key itself.
        sums = self._sums[best]
        low, high = 0, shift
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if sums[middle] == sums[shift] else (middle + 1, high)
        return best, low

    @staticmethod
    def _fill(labels: Labels, start: State, stop: State, end: int) -> None:
        """Label the last records before a place, those without weight between two keys."""
        number = sum(stop) - sum(start)
        between = repeated(
            np.array([CORE, ONLY_X, ONLY_Y], dtype=np.uint8), np.subtract(stop, start)
        )
        labels[end - number : end] = between
