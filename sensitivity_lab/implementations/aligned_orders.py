"""Pairs of ordered datasets that agree except at some positions: a search over accumulator pairs.

Both datasets are read together, one *column* at a time: a record that both have, a record replaced
by another at the same position, or a record that only one of them has. A *node* is how many columns
of each kind were read. Equal pairs of accumulators behave alike from then on, so a node keeps only
the distinct pairs that are reachable there.

A pair of accumulators is a *code*: the state of x in the upper bits, the state of y in the lower.
States and letters are those of `Automaton`. See docs/proofs.md, "Aligned orders".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .answers import gap_between, ranked, scales
from .automaton import COPIES, LOW, STATE_BITS, Automaton

Codes = NDArray[np.int64]


class Column(NamedTuple):
    """What is read in one step: a letter of x and a letter of y; None where one has no record."""

    of_x: int | None
    of_y: int | None
    shared: bool


class Node(NamedTuple):
    """How many records were read: only in x, only in y, in both; by value, the limited ones.

    `used_x` and `used_y` count the copies, in x and in y, of each value whose copies can run out.
    """

    only_x: int
    only_y: int
    both: int
    used_x: tuple[int, ...]
    used_y: tuple[int, ...]

    def moved(self, column: Column, limited: Sequence[int], by: int) -> Node:
        """Return the node after a column (`by` = 1), or the node before it (`by` = -1)."""
        return Node(
            self.only_x + by * (not column.shared and column.of_x is not None),
            self.only_y + by * (not column.shared and column.of_y is not None),
            self.both + by * column.shared,
            tuple(
                used + by * (letter == column.of_x)
                for used, letter in zip(self.used_x, limited, strict=True)
            ),
            tuple(
                used + by * (letter == column.of_y)
                for used, letter in zip(self.used_y, limited, strict=True)
            ),
        )


class AlignedPair(NamedTuple):
    """Two ordered datasets, as letters, and how far their answers are apart.

    A `gap` of None is infinite. `answered` is how many accumulators had their answers compared.
    """

    gap: Fraction | None
    x: tuple[int, ...]
    y: tuple[int, ...]
    answered: int


@dataclass(frozen=True)
class Alignment:
    """Which pairs of ordered datasets are neighbors.

    Attributes
    ----------
    targets : tuple of (int, int, int)
        How many records are only in x, only in y, and in both.
    replacing : bool
        Whether records only in x and only in y stand at the same positions.
    equal : bool
        Whether a record may be replaced by an equal one.
    limits : tuple of int, shape (m,)
        How often each value may occur in a dataset.
    """

    targets: tuple[tuple[int, int, int], ...]
    replacing: bool
    equal: bool
    limits: tuple[int, ...]

    def columns(self) -> list[Column]:
        """Return every column that can be read."""
        letters = range(len(self.limits))
        shared = [Column(letter, letter, True) for letter in letters]
        if self.replacing:
            both = [(v, w) for v in letters for w in letters if v != w or self.equal]
            return [*shared, *(Column(v, w, False) for v, w in both)]
        only_x = [Column(letter, None, False) for letter in letters]
        only_y = [Column(None, letter, False) for letter in letters]
        return [*shared, *only_x, *only_y]

    def leads_on(self, node: Node) -> bool:
        """Return whether a target can be reached from a node."""
        return any(
            node.only_x <= only_x and node.only_y <= only_y and node.both <= both
            for only_x, only_y, both in self.targets
        )


class AlignedPairs:
    """The pairs of accumulators of all pairs of neighboring ordered datasets.

    Parameters
    ----------
    automaton : Automaton
    alignment : Alignment

    Notes
    -----
    Time and memory grow with the number of different pairs of accumulators per node. There are a
    few nodes per position unless copies are limited; then there is one per choice of the limited
    records.
    """

    def __init__(self, automaton: Automaton, alignment: Alignment) -> None:
        self.automaton = automaton
        self.alignment = alignment
        self._columns = alignment.columns()
        # Values with fewer copies than a dataset has records can run out: nodes count their copies.
        largest = max(both + max(i, j) for i, j, both in alignment.targets)
        self._limited = [v for v, limit in enumerate(alignment.limits) if limit < largest]
        none = (0,) * len(self._limited)
        start = automaton.start << STATE_BITS | automaton.start
        level = {Node(0, 0, 0, none, none): np.array([start], dtype=np.int64)}
        self._pairs: dict[Node, Codes] = {}
        # A level is the nodes after the same number of columns. Always: `_pairs` has every pair
        # that is reachable in fewer columns, and `level` those in exactly as many as were read.
        while level:
            self._pairs.update(level)
            level = self._next_level(level)

    @property
    def pairs(self) -> int:
        """How many distinct pairs of accumulators were kept."""
        return sum(map(len, self._pairs.values()))

    def furthest(self) -> AlignedPair:
        """Return the neighbors whose answers are furthest apart; the first of equals."""
        nodes = [node for node in self._pairs if node[:3] in self.alignment.targets]
        used = [part for node in nodes for part in _states(self._pairs[node])]
        states = np.unique(np.concatenate(used))
        answers = self.automaton.answers(states)
        best: tuple[int, Node, int] | None = None
        # Positions of the answers first by class (finite, inf, -inf, NaN), which are infinitely far
        # apart, then by value, which decides only if no pair differs in class.
        for positions in scales(answers):
            distinct, ranks = ranked(positions)
            best = None
            for node in nodes:
                of_x, of_y = (ranks[states.searchsorted(s)] for s in _states(self._pairs[node]))
                # Pairs of answers, each distinct one once: a key is (rank of x, rank of y).
                keys, first = np.unique(of_x * len(distinct) + of_y, return_index=True)
                gaps = np.abs(distinct[keys // len(distinct)] - distinct[keys % len(distinct)])
                widest = int(np.argmax(gaps))
                if best is None or gaps[widest] > best[0]:
                    best = gaps[widest], node, int(self._pairs[node][first[widest]])
            if best is not None and best[0]:
                break
        if best is None:
            raise AssertionError(f"no pair reaches any of {self.alignment.targets}")
        _, node, code = best
        first_answer, second_answer = (
            answers[int(states.searchsorted(state))] for state in (code >> STATE_BITS, code & LOW)
        )
        columns = self._history(node, code)
        return AlignedPair(
            gap_between(first_answer, second_answer),
            tuple(column.of_x for column in columns if column.of_x is not None),
            tuple(column.of_y for column in columns if column.of_y is not None),
            len(states),
        )

    def _next_level(self, level: dict[Node, Codes]) -> dict[Node, Codes]:
        """Return the nodes one column further, with their pairs."""
        arrived: dict[Node, list[Codes]] = {}
        number = 0
        for node, codes in level.items():
            for column, to in self._moves(node):
                arrived.setdefault(to, []).append(np.unique(self._advance(codes, column)))
                number += len(codes)
            self.automaton.check_memory(
                8 * (self.pairs + COPIES * number), "pairs of reachable accumulators"
            )
        return {node: np.unique(np.concatenate(parts)) for node, parts in arrived.items()}

    def _moves(self, node: Node) -> Iterator[tuple[Column, Node]]:
        """Yield the columns that can follow a node, and where they lead."""
        limits = [self.alignment.limits[letter] for letter in self._limited]
        for column in self._columns:
            to = node.moved(column, self._limited, 1)
            fits = all(
                max(used) <= limit
                for *used, limit in zip(to.used_x, to.used_y, limits, strict=True)
            )
            if fits and self.alignment.leads_on(to):
                yield column, to

    def _advance(self, codes: Codes, column: Column) -> Codes:
        x, y = _states(codes)
        if column.of_x is not None:
            x = self.automaton.advance(x, column.of_x)
        if column.of_y is not None:
            y = self.automaton.advance(y, column.of_y)
        return x << STATE_BITS | y

    def _history(self, node: Node, code: int) -> list[Column]:
        """Return columns that lead from the start to a pair of a node."""
        history: list[Column] = []  # from the last column back to the first
        while sum(node[:3]):
            column, node, code = self._last_move(node, code)
            history.append(column)
        return history[::-1]

    def _last_move(self, node: Node, code: int) -> tuple[Column, Node, int]:
        """Return a last column, and the node and pair before it, that lead to a pair."""
        for column in self._columns:
            before = node.moved(column, self._limited, -1)
            if before not in self._pairs:
                continue
            codes = self._pairs[before]
            found = np.flatnonzero(self._advance(codes, column) == code)
            if len(found):
                return column, before, int(codes[found[0]])
        raise AssertionError(f"no column leads to {node}")


def _states(codes: Codes) -> tuple[Codes, Codes]:
    """Return the states of x and the states of y."""
    return codes >> STATE_BITS, codes & LOW
