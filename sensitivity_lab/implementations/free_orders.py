"""Which accumulators a fold can end with on the orders of every dataset, without listing orders.

Let reach(C) be the accumulators that some order of the multiset C leads to. Whatever the order, one
record v comes last: reach(D) is all step(a, v) with v a record of D and a in reach(D - v). See
docs/proofs.md, "Free orders".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.search.lattice import Indices, Lattice

from .automaton import COPIES, LOW, STATE_BITS, Automaton


class Reachable:
    """The accumulators of all multisets of up to `largest_size` records.

    Parameters
    ----------
    automaton : Automaton
    lattice : Lattice
        The multisets, by level and rank.
    largest_size : int
        The largest number of records.

    Notes
    -----
    Time and memory grow with the number of different accumulators per multiset, summed over all
    multisets: at most the number of orders, and at most the number of values of a narrow type.
    """

    def __init__(self, automaton: Automaton, lattice: Lattice, largest_size: int) -> None:
        self.automaton = automaton
        self.lattice = lattice
        # By size: the codes of all reachable (multiset, state), ascending, each once. The empty
        # multiset, of rank 0, has the start.
        self._levels = [np.array([automaton.start], dtype=np.int64)]
        for size in range(largest_size):
            self._levels.append(self._level_above(size))

    def level(self, size: int) -> tuple[Indices, Indices]:
        """Return the (multiset, state) pairs of a size, multisets ascending."""
        codes = self._levels[size]
        return codes >> STATE_BITS, codes & LOW

    def order(self, size: int, rank: int, state: int) -> tuple[int, ...]:
        """Return letters, in an order that leads from the start to a state of a multiset."""
        # Always: `state` is reachable on the multiset `counts`, and `letters`, the last one first,
        # lead on from there.
        letters = []
        counts = self._multiplicities(size, rank, rank + 1)[0]
        for level in range(size - 1, -1, -1):
            letter, state = self._last_step(level, counts, state)
            counts[letter] -= 1
            letters.append(letter)
        return tuple(reversed(letters))

    def _last_step(self, level: int, counts: NDArray[np.int64], state: int) -> tuple[int, int]:
        """Return a last letter, and the state before it, that lead to a state of a multiset."""
        for letter in np.flatnonzero(counts).tolist():
            before = counts.copy()
            before[letter] -= 1
            # The states of one multiset are a range of the codes.
            rank = int(self.lattice.rank(before[None, :])[0])
            first, last = self._levels[level].searchsorted(
                [rank << STATE_BITS, (rank + 1) << STATE_BITS]
            )
            states = self._levels[level][first:last] & LOW
            found = np.flatnonzero(self.automaton.advance(states, letter) == state)
            if len(found):
                return letter, int(states[found[0]])
        raise AssertionError(f"no step leads to state {state}")

    def _level_above(self, size: int) -> NDArray[np.int64]:
        """Return the codes of the multisets with one record more."""
        values = len(self.lattice.counts)
        multisets = self.lattice.number(size)
        self.automaton.check_memory(16 * multisets * values, "multisets")
        counts = self._multiplicities(size, 0, multisets)
        ranks, states = self.level(size)
        kept = sum(map(len, self._levels))
        # By letter: the codes to which it leads, from all multisets that have a copy of it left.
        arrived = []
        for letter, limit in enumerate(self.lattice.counts):
            grown = counts.copy()
            grown[:, letter] += 1
            room = counts[:, letter] < limit
            # Axis: the multiset, by rank; the rank of the one with that letter more.
            leads_to = np.full(multisets, -1, dtype=np.int64)
            leads_to[room] = self.lattice.rank(grown[room])
            # Axis: the (multiset, state) of this level.
            moving = room[ranks]
            to = leads_to[ranks[moving]] << STATE_BITS
            arrived.append(np.unique(to | self.automaton.advance(states[moving], letter)))
            self.automaton.check_memory(
                8 * (kept + COPIES * sum(map(len, arrived))), "reachable accumulators"
            )
        return np.unique(np.concatenate(arrived))

    def _multiplicities(self, size: int, first: int, last: int) -> NDArray[np.int64]:
        rows = self.lattice.rows(size, first, last)
        counts = np.zeros((len(rows), len(self.lattice.counts)), dtype=np.int64)
        np.add.at(counts, (np.arange(len(rows))[:, None], rows), 1)
        return counts
