"""The patterns of steps in which a person takes part, the one that moves a release most first.

In arrays, the axis t is the step and the axis q the number of participations that are left. The
longest of several loops goes over the steps from the last to the first: what can still come after a
step is then known. See docs/proofs.md, "Participation in a stream".
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.running import counter

Numbers = NDArray[Any]
"""Floats, or Python ints, with which nothing is rounded."""


_DIVES = 50
"""After so many patterns the best one is followed to its end, in search of a higher floor."""


class Rule(NamedTuple):
    """Which patterns there are: at most `k` of `steps` steps, `separation` apart.

    `fixed` means that a person comes back after exactly `separation` steps, as in epochs whose
    order never changes; else after as many or more.
    """

    steps: int
    k: int
    separation: int
    fixed: bool

    @property
    def gap(self) -> int:
        """The separation, as far as it matters."""
        return min(self.separation, self.steps)

    @property
    def most(self) -> int:
        """The most participations that there is room for."""
        return min(self.k, -(-self.steps // self.gap))

    def next_after(self, step: int | None) -> range:
        """Return the steps that can follow a step; all of them if it is None."""
        if step is None:
            return range(self.steps)
        first = step + self.gap
        return range(first, min(first + 1, self.steps) if self.fixed else self.steps)

    def patterns(self, pattern: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
        """Yield all patterns of at least one step, but for one that is given."""
        if len(pattern) < self.k:
            for step in self.next_after(pattern[-1] if pattern else None):
                yield (*pattern, step)
                yield from self.patterns((*pattern, step))

    @property
    def number(self) -> int:
        """How many patterns there are, without listing them."""
        # By the step at which they begin: alone, or followed by one with fewer participations.
        begin = [0] * (self.steps + self.gap)
        for _ in range(self.most):
            after = begin if self.fixed else np.cumsum(begin[::-1], dtype=object)[::-1].tolist()
            begin = [1 + after[t + self.gap] for t in range(self.steps)]
            begin += [0] * self.gap
        return int(sum(begin))


def best_sum(
    weights: Sequence[Any], rule: Rule, *, empty: bool = True
) -> tuple[Any, tuple[int, ...]]:
    """Return the largest sum of weights over a pattern, and that pattern.

    This is "Banded" in docs/proofs.md. Weights are Python ints or Fractions: nothing is rounded.
    Without `empty` the pattern has at least one step, however small its weight.

    Examples
    --------
    >>> best_sum([5, 6, 5, 1], Rule(4, k=2, separation=2, fixed=False))
    (10, (0, 2))
    """
    # reach[t] is the best sum and pattern that begin at step t; `later` what begins at t or after.
    nothing: tuple[Any, tuple[int, ...]] = (0, ())
    later = [nothing] * (rule.steps + rule.gap)
    for left in range(rule.most):
        reach = list(later)
        for t in reversed(range(rule.steps)):
            rest = later[t + rule.gap]
            here = (weights[t] + rest[0], (t, *rest[1]))
            last = left == rule.most - 1
            others = nothing if rule.fixed and not last else reach[t + 1]
            # Where a pattern must not be empty, the first step to be looked at is taken.
            must = last and not empty and others is nothing
            reach[t] = here if must or here[0] > others[0] else others
        later = reach
    return later[0]


def best_after(
    values: Numbers, own: Numbers | None, begins: NDArray[np.intp], most: int, rule: Rule
) -> Numbers:
    """Return the largest sums over the patterns that begin at a step or later, of several tables.

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

    Returns
    -------
    ndarray, shape (most + 1, c)
        By the most participations. Nothing is less than 0, the sum of the empty pattern.
    """
    steps, columns = values.shape
    gap = rule.gap
    found = np.zeros((most + 1, columns), dtype=values.dtype)
    # A ring of the last `gap` steps: row t % gap holds those that begin at t + gap until t is done.
    ring = np.zeros((gap, most + 1, columns), dtype=values.dtype)
    best = np.zeros((most + 1, columns), dtype=values.dtype)
    # Columns whose patterns begin after t are done: those before `after[t]` are not.
    after = np.searchsorted(begins, np.arange(steps), side="right").tolist()
    for t in range(steps - 1, -1, -1):
        live = after[t]
        if not live:
            break
        here = ring[t % gap, :-1, :live] + values[t, :live]
        if own is not None:
            here += own[:most, t, None]
        best[1:, :live] = np.maximum(here, 0 if rule.fixed else best[1:, :live])
        ring[t % gap, :, :live] = best[:, :live]
        first = after[t - 1] if t else 0
        found[:, first:live] = best[:, first:live]
    return found


class Node(NamedTuple):
    """A pattern that can be continued: its steps, the sign of each, and its value."""

    steps: tuple[int, ...]
    signs: tuple[int, ...]
    value: Any


ROOT = Node((), (), 0)


class Growth(NamedTuple):
    """The ways to continue a pattern by one step, in arrays of one length."""

    steps: NDArray[np.intp]
    signs: NDArray[np.intp]
    values: Numbers
    rest: Numbers
    """At most how much more the steps after that one add."""


class Objective(Protocol):
    """What a pattern is worth, and a bound of what its continuations add."""

    rule: Rule

    def grow(self, node: Node, floor: Any) -> Growth:
        """Return the ways to continue a pattern, perhaps without those that stay below a floor."""
        ...

    def improved(self, node: Node) -> Node:
        """Return a pattern that is as good or better, found by moving single steps."""
        ...


class Squares:
    """The square of the L2 norm: the sum of s_i s_j X_ij over a pattern with signs s.

    Parameters
    ----------
    gram : ndarray, shape (T, T)
        X, symmetric.
    rule : Rule
    signed : bool
        Whether signs are free; else all are 1.
    """

    def __init__(self, gram: Numbers, rule: Rule, signed: bool) -> None:
        self.gram, self.rule, self.signed = gram, rule, signed
        steps, most = rule.steps, rule.most
        self._twice = 2 * gram
        # own[q, t]: X_tt and the most that q later steps have in common with step t, each pair
        # counted at its earlier step. See "Branch and bound" in docs/proofs.md.
        shared = np.abs(self._twice) if signed else self._twice
        begins = np.arange(steps) + rule.gap
        self._own = np.diagonal(gram) + best_after(shared, None, begins, most - 1, rule)

    def grow(self, node: Node, floor: Any) -> Growth:
        """Return the ways to continue a pattern."""
        rule, left = self.rule, self.rule.most - len(node.steps) - 1
        after = rule.next_after(node.steps[-1] if node.steps else None)
        common = self._common(node.steps, node.signs)
        # What can come after each step, if it had nothing in common with the later ones.
        alone = self._alone(common, left) if left and node.steps and not rule.fixed else None
        # The first sign is 1: a pattern and its opposite are worth the same.
        signs = (1, -1) if self.signed and node.steps else (1,)
        grown = []
        for sign in signs:
            steps = np.arange(after.start, after.stop)
            values = node.value + self.gram[steps, steps] + sign * common[steps]
            if alone is not None:
                shared = self._own[left, steps] - self.gram[steps, steps]
                far = values + shared + alone[steps + rule.gap] >= floor
                steps, values = steps[far], values[far]
            rest = np.zeros_like(values)
            if left and len(steps):
                # A column per continuation: what later steps have in common with it.
                table = sign * self._twice[:, steps] + common[:, None]
                table = np.abs(table) if self.signed else table
                rest = best_after(table, self._own, steps + rule.gap, left, rule)[left]
            grown.append((steps, np.full(len(steps), sign), values, rest))
        return Growth(*map(np.concatenate, zip(*grown, strict=True)))

    def _common(self, steps: Sequence[int], signs: Sequence[int]) -> Numbers:
        """Return what each step has in common with a pattern: the sum of 2 s_i X_it."""
        common = np.zeros(self.rule.steps, dtype=self.gram.dtype)
        for step, sign in zip(steps, signs, strict=True):
            common = common + sign * self._twice[step]
        return common

    def _alone(self, common: Numbers, most: int) -> Numbers:
        """Return the most that patterns add that begin at a step or later, by that step."""
        steps, gap = self.rule.steps, self.rule.gap
        worth = (np.abs(common) if self.signed else common) + self._own[:most]
        best = np.zeros((steps + gap + 1, most + 1), dtype=self.gram.dtype)
        for t in range(steps - 1, -1, -1):
            best[t, 1:] = np.maximum(best[t + 1, 1:], worth[:, t] + best[t + gap, :-1])
        return best[:, most]

    def improved(self, node: Node) -> Node:
        """Return a pattern that is as good or better, found by moving single steps."""
        steps, signs, value = list(node.steps), list(node.signs), node.value
        moved = not self.rule.fixed
        while moved:
            moved = False
            for i in range(len(steps)):
                others = self._common(steps[:i] + steps[i + 1 :], signs[:i] + signs[i + 1 :])
                first = steps[i - 1] + self.rule.gap if i else 0
                last = steps[i + 1] - self.rule.gap if i + 1 < len(steps) else len(others) - 1
                alone = np.diagonal(self.gram)[first : last + 1]
                shared = others[first : last + 1]
                worth = alone + (np.abs(shared) if self.signed else shared)
                here = steps[i] - first
                place = int(np.argmax(worth))
                more = worth[place] - alone[here] - signs[i] * shared[here]
                if more > 1e-9 * value:
                    steps[i], moved = first + place, True
                    signs[i] = -1 if self.signed and shared[place] < 0 else 1
                    value = value + more
        return Node(tuple(steps), tuple(signs), value)


class Sums:
    """The L1 norm: the sum of the absolute entries of the sum of s_i c_i over a pattern.

    Parameters
    ----------
    factor : ndarray, shape (m, T)
        The columns c.
    rule : Rule
    signed : bool
        As for `Squares`.
    """

    def __init__(self, factor: Numbers, rule: Rule, signed: bool) -> None:
        self.factor, self.rule, self.signed = factor, rule, signed
        # A norm of a sum is at most the sum of the norms.
        norms = np.abs(factor).sum(axis=0)
        begins = np.arange(rule.steps) + rule.gap
        table = np.repeat(norms[:, None], rule.steps, axis=1)
        self._after = best_after(table, None, begins, rule.most - 1, rule)

    def improved(self, node: Node) -> Node:
        """Return the pattern itself."""
        return node

    def grow(self, node: Node, floor: Any) -> Growth:
        """Return the ways to continue a pattern."""
        after = self.rule.next_after(node.steps[-1] if node.steps else None)
        steps = np.arange(after.start, after.stop)
        held = (self.factor[:, node.steps] * np.array(node.signs, dtype=int)).sum(axis=1)
        rest = self._after[self.rule.most - len(node.steps) - 1, steps]
        signs = (1, -1) if self.signed and node.steps else (1,)
        grown = [
            (
                steps,
                np.full(len(steps), sign),
                np.abs(held[:, None] + sign * self.factor[:, steps]).sum(axis=0),
                rest,
            )
            for sign in signs
        ]
        return Growth(*map(np.concatenate, zip(*grown, strict=True)))


class _Grown:
    """The continuations of a pattern, the best one first.

    Continuation i of n stands twice: at i the pattern ends with it, at n + i it goes on.
    """

    def __init__(self, node: Node, growth: Growth, floor: Any) -> None:
        self.node, self.growth = node, growth
        bounds = np.concatenate([growth.values, growth.values + growth.rest])
        # Where nothing comes after a step, the pattern ends there.
        matters = np.concatenate([np.full(len(growth.rest), True), growth.rest > 0])
        places = np.flatnonzero(matters & (bounds >= floor))
        self.places = places[np.argsort(-bounds[places], kind="stable")]
        self.bounds = bounds[self.places]

    def pattern(self, one: int) -> Node:
        """Return the pattern with one of the continuations."""
        grown, node = self.growth, self.node
        steps, signs = (*node.steps, int(grown.steps[one])), (*node.signs, int(grown.signs[one]))
        return Node(steps, signs, grown.values[one])

    def at(self, rank: int) -> tuple[Node, bool]:
        """Return the pattern of a rank, and whether it ends."""
        continues, one = divmod(int(self.places[rank]), len(self.growth.values))
        return self.pattern(one), not continues


class Descending:
    """The patterns of an objective, from the one that is worth most downwards, as far as asked for.

    Parameters
    ----------
    objective : Objective
    slack : number, optional
        Patterns that are worth less than the best one by more than that are left out. If it is
        None, only those below `floor` are.

    Attributes
    ----------
    floor : number
        Patterns that are worth less are left out; whoever reads the patterns may raise it.
    bound : number
        No pattern that is still to come is worth more.
    best : Node
        The best pattern that was met on the way.
    nodes : int
        How many patterns were continued.
    """

    def __init__(self, objective: Objective, slack: Any = None) -> None:
        self.objective, self.slack = objective, slack
        self.floor: Any = 0
        self.bound: Any = None
        self.best, self.nodes = ROOT, 0
        # An entry stands for the rest of a sorted list of continuations, from a rank on: so there
        # are no more entries than patterns that were continued. Of equal bounds the longer first.
        self._heap: list[tuple[Any, int, int, _Grown, int]] = []
        self._serial = count().__next__

    def __iter__(self) -> Iterator[Node]:
        """Yield patterns in descending order; raise TooLargeError when the time is up."""
        with counter("patterns", None) as tell:
            self._dive(self._grown(ROOT))
            while self._heap:
                self.bound = -self._heap[0][0]
                if self.bound < self.floor:
                    return
                tell(1)
                *_, grown, rank = heapq.heappop(self._heap)
                self._push(grown, rank + 1)
                node, ends = grown.at(rank)
                if ends:
                    yield node
                elif self.nodes % _DIVES:
                    self._push(self._grown(node), 0)
                else:
                    self._dive(self._grown(node))

    def _dive(self, grown: _Grown) -> None:
        """Follow the best continuations down to a whole pattern, which raises the floor."""
        while grown.bounds.size and not grown.at(0)[1]:
            self._push(grown, 1)
            grown = self._grown(grown.at(0)[0])
        self._push(grown, 0)
        self._see(self.objective.improved(self.best))

    def _grown(self, node: Node) -> _Grown:
        self.nodes += 1
        grown = _Grown(node, self.objective.grow(node, self.floor), self.floor)
        if len(grown.growth.values):
            self._see(grown.pattern(int(np.argmax(grown.growth.values))))
        return grown

    def _see(self, node: Node) -> None:
        if node.value > self.best.value:
            self.best = node
            if self.slack is not None:
                self.floor = max(self.floor, node.value - self.slack)

    def _push(self, grown: _Grown, rank: int) -> None:
        if rank < len(grown.bounds):
            bound, depth = grown.bounds[rank], len(grown.node.steps)
            heapq.heappush(self._heap, (-bound, -depth, self._serial(), grown, rank))
