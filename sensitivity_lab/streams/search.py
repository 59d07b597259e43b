"""The patterns of steps in which a person takes part, the one that moves a release most first.

In arrays, the axis t is the step and the axis q the number of participations that are left. Loops
go over the steps from the last to the first: what can come after a step is then known. See
docs/proofs.md, "Participation in a stream".
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.running import counter

Floats = NDArray[np.float64]


class Rule(NamedTuple):
    """Which patterns there are: at most `most` of `steps` steps, `gap` apart.

    `fixed` means that a person comes back after exactly `gap` steps, as in epochs whose order never
    changes; else after as many or more.
    """

    steps: int
    most: int
    gap: int
    fixed: bool

    def after(self, pattern: Sequence[int]) -> range:
        """Return the steps that can follow a pattern."""
        if not pattern:
            return range(self.steps)
        first = pattern[-1] + self.gap
        return range(first, min(first + 1, self.steps) if self.fixed else self.steps)

    def patterns(self, pattern: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
        """Yield the patterns that continue one, each of at least one step."""
        for step in self.after(pattern) if len(pattern) < self.most else ():
            yield (*pattern, step)
            yield from self.patterns((*pattern, step))


def best_sum(weights: Sequence[Any], rule: Rule) -> tuple[Any, tuple[int, ...]]:
    """Return the largest sum of weights over a pattern, or 0, and that pattern.

    This is "Banded" in docs/proofs.md. Weights are Python ints or Fractions: nothing is rounded.

    Examples
    --------
    >>> best_sum([5, 6, 5, 1], Rule(4, most=2, gap=2, fixed=False))
    (10, (0, 2))
    """
    nothing: tuple[Any, tuple[int, ...]] = (0, ())
    # reach[t]: the best that begins at step t (if fixed) or later, with one participation more than
    # the list before it.
    reach = [nothing] * (rule.steps + rule.gap)
    for _ in range(rule.most):
        before, reach = reach, list(reach)
        for t in reversed(range(rule.steps)):
            rest, steps = before[t + rule.gap]
            others = nothing if rule.fixed else reach[t + 1]
            reach[t] = max(others, (weights[t] + rest, (t, *steps)))
    return max(reach)


def best_after(
    values: Floats, own: Floats | None, begins: NDArray[np.intp], most: int, rule: Rule
) -> Floats:
    """Return the largest sums over the patterns that begin at a step or later, column by column.

    Parameters
    ----------
    values : ndarray, shape (t, c)
        What a participation adds, by its step and by column.
    own : ndarray, shape (q, t), or None
        What it adds in every column, by the participations that are left with it: 1 for q = 0.
    begins : ndarray of intp, shape (c,)
        The first step of each column's patterns, ascending; with a fixed rule, the only one.
    most : int
        The most participations.
    rule : Rule
        Which patterns there are.

    Returns
    -------
    ndarray, shape (most + 1, c)
        By the most participations. Nothing is less than 0, the sum of the empty pattern.
    """
    gap, columns = rule.gap, values.shape[1]
    found, best = np.zeros((2, most + 1, columns))
    # A ring of the last `gap` steps: until step t is done, row t % gap is that of step t + gap.
    ring = np.zeros((gap, most + 1, columns))
    # Columns whose patterns begin after step t are done: those from live[t] on.
    live = np.searchsorted(begins, np.arange(-1, rule.steps), side="right").tolist()
    for t in range(rule.steps - 1, -1, -1):
        some = slice(live[t + 1])
        here = ring[t % gap, :-1, some] + values[t, some]
        if own is not None:
            here += own[:most, t, None]
        best[1:, some] = np.maximum(here, 0 if rule.fixed else best[1:, some])
        ring[t % gap, :, some] = best[:, some]
        # The columns whose patterns begin here.
        found[:, live[t] : live[t + 1]] = best[:, live[t] : live[t + 1]]
    return found


class Node(NamedTuple):
    """A pattern: its steps, the sign of each, and its value."""

    steps: tuple[int, ...]
    signs: tuple[int, ...]
    value: float


class Descending:
    """The patterns from the one that is worth most downwards, as far as asked for.

    A pattern with signs s is worth the sum of s_i s_j X_ij over it, the square of an L2 norm.

    Parameters
    ----------
    gram : ndarray of float64, shape (T, T)
        X, symmetric.
    rule : Rule
        Which patterns there are.
    signed : bool
        Whether signs are free; else all are 1.
    slack : float
        Patterns that are worth less than the best one by more than that are left out.

    Attributes
    ----------
    floor : float
        Patterns that are worth less are left out; whoever reads the patterns may raise it.
    bound : float
        No pattern that is still to come is worth more.
    best : Node
        The best pattern that was met on the way.
    """

    def __init__(self, gram: Floats, rule: Rule, signed: bool, slack: float) -> None:
        self.gram, self.rule, self.slack = gram, rule, slack
        self.floor = 0.0
        # No entry of X is larger than the largest one of its diagonal.
        self.bound = rule.most**2 * np.diagonal(gram).max()
        self.best = Node((), (), 0.0)
        self._signs: tuple[int, ...] = (1, -1) if signed else (1,)
        self._size: Any = np.abs if signed else np.asarray
        # own[q, t]: X_tt and the most that q later steps have in common with step t; each pair is
        # counted at its earlier step. See "Branch and bound" in docs/proofs.md.
        begins = np.arange(rule.steps) + rule.gap
        shared = self._size(2 * gram)
        own = np.diagonal(gram)
        self._own = own + best_after(shared, None, begins, rule.most - 1, rule)
        if np.isfinite(slack):  # what floats show as no gain can be one
            self._own += slack * (own > 0)
        self._heap: list[tuple[float, int, int, Node, bool]] = []
        self._serial = count().__next__

    def __iter__(self) -> Iterator[Node]:
        """Yield patterns in descending order; raise TooLargeError when the time is up."""
        with counter("patterns", None) as tell:
            # At first the best continuations are followed to their end, for a high floor.
            node: Node | None = self.best
            while node is not None:
                node = self._grow(node, follow=True)
                tell(1)
            while self._heap and -self._heap[0][0] >= self.floor:
                tell(1)
                minus, _, _, node, ends = heapq.heappop(self._heap)
                self.bound = -minus
                if ends:
                    yield node
                else:
                    self._grow(node)

    def _grow(self, node: Node, follow: bool = False) -> Node | None:
        """Put the continuations of a pattern on the heap, each as a whole pattern and to grow.

        The one to `follow` is returned instead of grown later.
        """
        after, left = self.rule.after(node.steps), self.rule.most - len(node.steps) - 1
        steps = np.arange(after.start, after.stop)
        # What each step has in common with the pattern: the sum of 2 s_i X_it.
        common = 2 * (np.array(node.signs, dtype=float) @ self.gram[list(node.steps)])
        entries = []
        # The first sign is 1: a pattern and its opposite are worth the same.
        for sign in self._signs if node.steps else (1,):
            values = node.value + self.gram[steps, steps] + sign * common[steps]
            # A column per continuation: what later steps have in common with it.
            table = self._size(2 * sign * self.gram[:, steps] + common[:, None])
            rest = best_after(table, self._own, steps + self.rule.gap, left, self.rule)[left]
            for step, value, more in zip(after, values.tolist(), rest.tolist(), strict=True):
                grown = Node((*node.steps, step), (*node.signs, sign), value)
                if value > self.best.value:
                    self.best, self.floor = grown, max(self.floor, value - self.slack)
                # Of equal bounds the longer pattern comes first. What a sum of floats swallows can
                # still be more.
                entries += [
                    (-bound, -left, self._serial(), grown, ends)
                    for bound, ends in [(value + more, False)] * (more > 0) + [(value, True)]
                ]
        first = min(entries, default=None) if follow else None
        for entry in entries:
            if -entry[0] >= self.floor and (entry is not first or entry[-1]):
                heapq.heappush(self._heap, entry)
        return None if first is None or first[-1] else first[-2]
