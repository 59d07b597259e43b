"""The best labels of all records, for any weights: a walk along the sorted universe.

The state (c, a, b), how many records are labelled C, A and B so far, is all that the rest of a walk
needs to know: the next record has the rank c + a in x and c + b in y, so what each label adds to
f(x) - f(y) depends on the label and the state alone (see `Walk`). So f(x) - f(y) is the length of a
path of states, from (0, 0, 0) to the numbers of each label, and the longest path to every state is
found record by record. That holds for weights of any signs. See docs/proofs.md, "Any L-statistic".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.search.engine import Finding
from sensitivity_lab.search.layouts import Shape

Tell = Callable[[int], object]
"""Is told how many states were looked at, for a progress bar."""

Pair = Callable[[], Finding]
"""Returns the pair that a search found."""

Found = tuple[Shape, Fraction, Pair]
"""The largest f(x) - f(y) or f(y) - f(x) of a shape, and the pair that attains it."""

Labels = NDArray[np.uint8]
"""A label per record."""

OUTSIDE, CORE, ONLY_X, ONLY_Y = range(4)
"""The labels O, C, A and B."""

SAFE = 1 << 60
"""Sums below it are exact in int64, with room for states that cannot be reached."""


@dataclass(frozen=True, eq=False)
class Walk:
    """A walk along the sorted universe that labels every record.

    With c records labelled C so far, a labelled A and b labelled B, the next record u has the rank
    c + a in x and c + b in y, counted from 0. So it adds to f(x) - f(y)

        C: (of_x[c + a] - of_y[c + b]) u     A: of_x[c + a] u     B: -of_y[c + b] u     O: 0.

    Parameters
    ----------
    records : ndarray of Python ints, shape (N,)
        Ascending, equal ones side by side.
    of_x, of_y : ndarray of Python ints, shapes (n,) and (m,)
        The weights by rank in x and in y, over one denominator.
    targets : sequence of Shape
        How many records are to be labelled C, A and B; all of them with ``core + only_x == n``
        and ``core + only_y == m``.
    """

    records: Integers
    of_x: Integers
    of_y: Integers
    targets: Sequence[Shape]

    @cached_property
    def bound(self) -> int:
        """A bound of the absolute sums on the way, in units, and of every weight and record."""
        largest = max(1, int(abs(self.records).max()))
        return largest * max(1, int(abs(self.of_x).sum()) + int(abs(self.of_y).sum()))

    def negated(self) -> Walk:
        """Return the walk for f(y) - f(x)."""
        return Walk(self.records, -self.of_x, -self.of_y, self.targets)

    def value(self, labels: Labels) -> int:
        """Return f(x) - f(y) for some labels, exactly."""
        of_x = self.records[(labels == CORE) | (labels == ONLY_X)]
        of_y = self.records[(labels == CORE) | (labels == ONLY_Y)]
        return int((of_x * self.of_x).sum()) - int((of_y * self.of_y).sum())


_NEVER = -(1 << 62)
"""The sum of a state that cannot be reached."""

_TABLE = 1 << 28
"""About how many states' labels are kept at a time; a longer walk is repeated in blocks."""


_AT_A_TIME = 1 << 16
"""About how many states are taken at a time."""


def widths(walk: Walk) -> tuple[int, int, int]:
    """Return how many different c, a and b occur."""
    every = [(of.core + 1, of.only_x + 1, of.only_y + 1) for of in walk.targets]
    c, a, b = map(max, zip(*every, strict=True))
    return c, a, b


def steps(walk: Walk) -> int:
    """Return how many states are looked at, over all records."""
    c, a, b = widths(walk)
    return len(walk.records) * c * a * b


def bytes_of(walk: Walk) -> int:
    """Return about how much memory the search takes: labels and states."""
    c, a, b = widths(walk)
    number = len(walk.records)
    blocks = -(-number // max(1, min(number, _TABLE // (a * b * c))))
    return min(steps(walk), _TABLE) + 16 * a * b * c * (blocks + 6)


def covered(walk: Walk) -> bool:
    """Tell whether there are numbers in which the sums can be compared exactly.

    These are int64 below 2**60, where states that cannot be reached, at -2**62 plus a sum, stay
    below all others; or else floats with residues, see `_Both`.
    """
    return walk.bound < SAFE or _wide_enough(walk) is not None


def _wide_enough(walk: Walk) -> type[np.floating[Any]] | None:
    """Return a floating type that rounds the sums by far less than 2**62 units, if there is one."""
    for kind in (np.float64, np.longdouble):
        # Twice the error of `_Both`: what two sums may differ by that floats do not tell apart.
        if 4 * _roundings(walk) * walk.bound < 2**62 * int(1 / _roundoff(kind)):
            return kind
    return None


def _roundoff(kind: type[np.floating[Any]]) -> float:
    return float(np.finfo(kind).eps) / 2


def _roundings(walk: Walk) -> int:
    """Return a bound of the error of a sum in floats, in units of the roundoff and the bound."""
    # Two factors and a product round once each, and a sum once per record of x or y.
    return len(walk.of_x) + len(walk.of_y) + 16


def best_labels(walk: Walk, tell: Tell) -> list[tuple[int, Labels]]:
    """Return, for every target, the largest f(x) - f(y) in units, and labels that attain it.

    Parameters
    ----------
    walk : Walk
        One that is `covered`.
    tell : callable
        Is told how many states were looked at, as `steps` counts them.

    Notes
    -----
    Time: `steps`, about ten array operations each; twice that where the labels do not fit into the
    table. Memory: a byte per step, at most 256 MiB, and a state array per block.
    """
    kind = None if walk.bound < SAFE else _wide_enough(walk)
    numbers = _Integers(walk) if kind is None else _Both(walk, kind)
    return _StateSums(walk, numbers, tell).solve()


class _Integers:
    """Sums as int64: they are exact, and too small to overflow."""

    def __init__(self, walk: Walk) -> None:
        self.records = walk.records.astype(np.int64)

    def start(self, shape: tuple[int, ...]) -> tuple[NDArray[Any], ...]:
        """Return the sums before the first record: 0 where nothing is labelled."""
        # -2**62 plus a sum below 2**60 stays below every sum that is reached.
        sums = np.full(shape, _NEVER, dtype=np.int64)
        sums.flat[0] = 0
        return (sums,)

    def weights(self, weights: Integers) -> tuple[NDArray[Any], ...]:
        """Return weights in the form of `added`."""
        return (weights.astype(np.int64),)

    def added(
        self, sums: Sequence[NDArray[Any]], weights: Sequence[NDArray[Any]], place: int
    ) -> tuple[NDArray[Any], ...]:
        """Return the sums with the record at a place, by its weights."""
        return (sums[0] + weights[0] * self.records[place],)

    def larger(
        self, one: Sequence[NDArray[Any]], other: Sequence[NDArray[Any]]
    ) -> NDArray[np.bool_]:
        """Tell where the sums of `one` are larger."""
        found: NDArray[np.bool_] = one[0] > other[0]
        return found


class _Both:
    """Sums as floats, and as integers that wrap around at 2**64.

    A float is off by at most E, and `error` is 2 E: two sums whose floats differ by more are told
    apart by them. Two others differ by at most 4 E, which is below 2**62 units (`covered`). So the
    difference of their residues modulo 2**64, read as a signed number, is their true difference.
    """

    def __init__(self, walk: Walk, kind: type[np.floating[Any]]) -> None:
        self.kind = kind
        self.floats = walk.records.astype(kind)
        self.residues = (walk.records % (1 << 64)).astype(np.uint64)
        self.error = 2 * _roundings(walk) * _roundoff(kind) * float(walk.bound)

    def start(self, shape: tuple[int, ...]) -> tuple[NDArray[Any], ...]:
        """Return the sums before the first record: 0 where nothing is labelled."""
        sums = np.full(shape, -np.inf, dtype=self.kind)
        sums.flat[0] = 0.0
        return sums, np.zeros(shape, dtype=np.uint64)

    def weights(self, weights: Integers) -> tuple[NDArray[Any], ...]:
        """Return weights in the form of `added`."""
        return weights.astype(self.kind), (weights % (1 << 64)).astype(np.uint64)

    def added(
        self, sums: Sequence[NDArray[Any]], weights: Sequence[NDArray[Any]], place: int
    ) -> tuple[NDArray[Any], ...]:
        """Return the sums with the record at a place, by its weights."""
        return (
            sums[0] + weights[0] * self.floats[place],
            sums[1] + weights[1] * self.residues[place],
        )

    def larger(
        self, one: Sequence[NDArray[Any]], other: Sequence[NDArray[Any]]
    ) -> NDArray[np.bool_]:
        """Tell where the sums of `one` are larger."""
        with np.errstate(invalid="ignore"):  # inf - inf: neither sum is reached
            gap = one[0] - other[0]
        found: NDArray[np.bool_] = gap > self.error
        close = np.abs(gap) <= self.error
        if close.any():
            found |= close & ((one[1] - other[1]).view(np.int64) > 0)
        return found


class _StateSums:
    """The sums to every state, record by record.

    The axes of a state array are a, b and c. One pass finds the sums at the targets, and at the
    first record of every block; then each block is walked again, from the last to the first, with
    its labels kept, and the paths to the targets are followed back through it.
    """

    def __init__(self, walk: Walk, numbers: _Integers | _Both, tell: Tell) -> None:
        self.walk, self.numbers, self.tell = walk, numbers, tell
        c, a, b = widths(walk)
        self.shape = (a, b, c)
        self.least = min(target.core for target in walk.targets)
        # Beyond the last rank weights are 0: no path to a target takes a record there.
        padded_x = np.append(walk.of_x, [0] * (c + a))
        padded_y = np.append(walk.of_y, [0] * (c + b))
        # By state: what the record that follows it counts as C, A or B. The weight of A does not
        # depend on b, nor that of B on a: these axes have one entry. The largest c takes no
        # other C, so that axis of `as_core` is shorter by one.
        as_core = [
            numbers.weights(padded_x[i : i + c - 1] - padded_y[j : j + c - 1])
            for i in range(a)
            for j in range(b)
        ]
        self.as_core = [np.array(form).reshape(a, b, c - 1) for form in zip(*as_core, strict=True)]
        every = np.arange(c)
        self.as_x = numbers.weights(padded_x[np.arange(a)[:, None, None] + every])
        self.as_y = numbers.weights(-padded_y[np.arange(b)[None, :, None] + every])

    def solve(self) -> list[tuple[int, Labels]]:
        """Return, for every target, the largest sum and labels that attain it."""
        size, states = len(self.walk.records), int(np.prod(self.shape))
        # So many records' labels fit into the table: a block.
        length = max(1, min(size, _TABLE // states))
        starts = range(0, size, length)
        # Where there are several blocks, nearly every record is taken twice.
        told = states if len(starts) == 1 else states // 2
        sums = self.numbers.start(self.shape)
        before = {}
        # Always: `sums` are those after all records before `start`; `before` keeps a copy of them.
        for start in starts[:-1]:
            before[start] = tuple(array.copy() for array in sums)
            for place in range(start, start + length):
                self._step(sums, place, None)
                self.tell(told)
        before[starts[-1]] = sums
        labels = [np.zeros(size, dtype=np.uint8) for _ in self.walk.targets]
        states_at = [[of.core, of.only_x, of.only_y] for of in self.walk.targets]
        # Always: the records from the last block's end on are labelled, and `states_at` are reached
        # by the best paths before them.
        for start in reversed(starts):
            stop = min(size, start + length)
            kept = np.zeros((stop - start, *self.shape), dtype=np.uint8)
            for place in range(start, stop):
                self._step(before[start], place, kept[place - start])
                self.tell(told)
            for state, of_target in zip(states_at, labels, strict=True):
                _follow(state, kept, of_target[start:stop])
        return [(self.walk.value(of_target), of_target) for of_target in labels]

    def _step(self, sums: Sequence[NDArray[Any]], place: int, kept: Labels | None) -> None:
        """Take a record into the sums, and keep the label by which each state was reached.

        Only those c are looked at that can occur: no more than records so far, and enough for the
        target with the records that follow. Some a are taken at a time, with every b: as many as
        fit into the processor's cache, and more than one only because each call of numpy costs as
        much as some thousand states. They come from the largest a down, and all offers are made
        before any is taken, so that a state with one record less still holds its sum before this
        record.
        """
        width_a, width_b, width_c = self.shape
        low = max(0, self.least - (len(self.walk.records) - place))
        high = min(place, width_c - 1)  # the largest c before this record
        every, before = slice(low, high + 1), slice(low, min(high, width_c - 2) + 1)
        after = slice(low + 1, before.stop + 1)
        all_b, less_b, more_b = slice(None), slice(None, -1), slice(1, None)
        rows = max(1, _AT_A_TIME // (width_b * (high + 1 - low)))
        for stop in range(width_a, 0, -rows):
            start = max(0, stop - rows)
            here, raised = slice(start, stop), slice(max(1, start), stop)
            less = slice(raised.start - 1, stop - 1)
            # From which states, by which weights, and to which states a label leads.
            moves = (
                (CORE, (here, all_b, before), self.as_core, (here, all_b, after)),
                (ONLY_X, (less, all_b, every), self.as_x, (raised, all_b, every)),
                (ONLY_Y, (here, less_b, every), self.as_y, (here, more_b, every)),
            )
            offers = [
                (label, to, self._added(sums, origin, weights, place))
                for label, origin, weights, to in moves
            ]
            # A state keeps what it holds where no offer is larger: its record is then labelled O.
            for label, to, offered in offers:
                held = [array[to] for array in sums]
                larger = self.numbers.larger(offered, held)
                for array, better in zip(held, offered, strict=True):
                    np.copyto(array, better, where=larger)
                if kept is not None:
                    np.copyto(kept[to], np.uint8(label), where=larger)

    def _added(
        self,
        sums: Sequence[NDArray[Any]],
        origin: tuple[slice, slice, slice],
        weights: Sequence[NDArray[Any]],
        place: int,
    ) -> tuple[NDArray[Any], ...]:
        """Return the sums of some states with a record added, by its weights at their ranks."""
        here = [array[origin] for array in sums]
        # Weights that do not depend on a or on b have one entry on that axis.
        some = tuple(
            slice(None) if width == 1 else part
            for width, part in zip(weights[0].shape, origin, strict=True)
        )
        return self.numbers.added(here, [array[some] for array in weights], place)


def _follow(state: list[int], kept: Labels, labels: Labels) -> None:
    """Follow the path to a state (c, a, b) back through a block; the state moves to its start."""
    axis = {CORE: 0, ONLY_X: 1, ONLY_Y: 2}
    for place in reversed(range(len(kept))):
        c, a, b = state
        labels[place] = label = int(kept[place, a, b, c])
        if label != OUTSIDE:
            state[axis[label]] -= 1
