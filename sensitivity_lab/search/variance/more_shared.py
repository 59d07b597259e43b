"""Pairs that share more records than they must: two ends of the universe, and a window.

Where at most so many records differ, datasets of p and of q records share at least c. In a best
pair that shares more, any record of either may be exchanged for any other. So the more spread one
is both ends of the universe, and the other a window of it. Such a pair is found for all numbers of
shared records at once, and only the fewest are left to search. See "Whole curves: pairs that share
more than they must" in docs/proofs.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sensitivity_lab.search.layouts import Shape

from .branch import Rating
from .comparing import Spread
from .float_prefix_sums import UNIT, Positions, Reals, SortedRecords
from .line import Gaps, Line, Mask
from .patterns import CHUNK, PatternSearch, Placement

PATTERN = "AOCBCOA"
"""Two ends of the universe and a window: A and C are the ends, C and B the window."""


class Fewest(NamedTuple):
    """The shapes of two sizes, at one level, that share more records than they must.

    Attributes
    ----------
    place : int
        The shape that shares the fewest records.
    chain : tuple of int
        All shapes of the two sizes up to the level, by how many records they do not share:
        entry a has a records of the smaller set alone.
    """

    place: int
    chain: tuple[int, ...]


def fewest_of(shapes: Sequence[Shape], level: Positions) -> tuple[list[Fewest], Mask]:
    """Return the shapes that share the fewest records, and which others these stand for."""
    chains: dict[tuple[int, int], dict[int, int]] = {}
    for place, shape in enumerate(shapes):
        chains.setdefault((shape.of_x, shape.of_y), {}).setdefault(shape.only_y, place)
    found, covered = [], np.zeros(len(shapes), dtype=bool)
    for of_sizes in chains.values():
        chain = [of_sizes[a] for a in range(len(of_sizes)) if a in of_sizes]
        # The chain has every number a from 0 on, at levels that ascend; else a pair that shares
        # more may not be allowed.
        if len(chain) < len(of_sizes) or not (np.diff(level[chain]) >= 0).all():
            continue  # a pair that shares more is none of those that were asked for
        for a, place in enumerate(chain):
            # Of shapes at one level the last one stands for all: it shares the fewest records.
            if place != chain[-1] and level[chain[a + 1]] == level[place]:
                covered[place] = True
            elif a and covered[chain[a - 1]]:
                found.append(Fewest(place, tuple(chain[: a + 1])))
    return found, covered


class EndsAndWindow:
    """Two ends of p records, which are more spread than a window of q records, q > p.

    Parameters
    ----------
    records : SortedRecords
        The universe.
    line : Line
        Its sums as floats.
    spread : Spread
        What f is.
    rating : Rating
        Its values.
    """

    def __init__(self, records: SortedRecords, line: Line, spread: Spread, rating: Rating) -> None:
        self.records, self.line, self.spread, self.rating = records, line, spread, rating

    def best(self, place: int, shape: Shape, least: Reals) -> PatternSearch | None:
        """Return a search with the best such pair that shares the core of a shape or more.

        None if no such pair reaches `least`.
        """
        ends, window, total = shape.of_y, shape.of_x, self.records.size
        free = ends + window - total >= shape.core
        search: PatternSearch | None = None
        run = self.records.run
        if free:
            # All pairs share enough. Of equal records, one split and one window stand for all.
            split, begin = np.arange(ends + 1), np.arange(total - window + 1)
            entered, left = run(split - 1), run(split - 1 + total - ends)
            split = split[(split == 0) | (entered != left)]
            begin = begin[(begin == 0) | (run(begin - 1) != run(begin + window - 1))]
            parts = [(split, begin)]
        else:
            # They overlap on one side: from a window's begin to the end of the lower part.
            more = np.arange(ends - shape.core + 1)
            split, begin = (of.ravel() for of in np.meshgrid(shape.core + more, more))
            keep = begin <= split - shape.core
            split, begin = split[keep], begin[keep]
            # The second part is the mirror image: the window overlaps the upper part of the ends.
            parts = [(split, begin), (ends - split, total - window - begin)]
        for split, begin in parts:
            least_p, most_p = self._ends(place, split, ends)
            least_q, most_q = self._window(place, begin, window)
            if free:
                # The ends and the window are chosen apart: only the best of each can win.
                if most_p.max() - least_q.min() < least:
                    continue
                split, begin = split[most_p >= least_p.max()], begin[least_q <= most_q.min()]
                split, begin = (of.ravel() for of in np.meshgrid(split, begin))
            else:
                # A pair stays if its upper bound reaches `least` and the largest lower bound of any
                # pair.
                keep = most_p - least_q >= max(least, (least_p - most_q).max())
                split, begin = split[keep], begin[keep]
            for start in range(0, len(split), CHUNK):
                some = slice(start, start + CHUNK)
                bounds = self._bounds(split[some], begin[some], ends, window)
                if search is None:
                    first = placement(bounds[0])
                    search = PatternSearch(self.records, self.spread, first)
                search.offer(self.records, PATTERN, bounds)
        return search

    def _ends(self, place: int, split: Positions, size: int) -> tuple[Reals, Reals]:
        """Bounds of f of the first `split` and the last ``size - split`` records."""
        line, zero, take = self.line, np.zeros_like(split), np.full_like(split, size)
        sums = Gaps(line, zero, zero).ends(split, take)
        mean = sums.total / size
        return self._f(self.rating.free_y[place], sums.about(mean, take), line.off(mean, take))

    def _window(self, place: int, begin: Positions, size: int) -> tuple[Reals, Reals]:
        """Bounds of f of so many records from a position on."""
        line, take = self.line, np.full_like(begin, size)
        sums = line.window(begin, take)
        mean = sums.total / size
        off = line.off_window(begin, take, mean)
        return self._f(self.rating.free_x[place], sums.about(mean, take), off)

    def _f(self, free: Reals, deviations: Reals, off: Reals) -> tuple[Reals, Reals]:
        low, high = np.maximum(deviations - off, 0) / free, np.maximum(deviations + off, 0) / free
        if self.rating.root:
            low, high = np.sqrt(low), np.sqrt(high)
        return low * (1 - 16 * UNIT), high * (1 + 16 * UNIT)

    def _bounds(self, split: Positions, begin: Positions, ends: int, window: int) -> Positions:
        """Boundaries of the blocks of `PATTERN`."""
        end, upper = begin + window, self.records.size - ends + split
        columns = [
            np.zeros_like(split), np.minimum(split, begin), begin, np.maximum(split, begin),
            np.minimum(end, upper), end, np.maximum(end, upper),
            np.full_like(split, self.records.size),
        ]  # fmt: skip
        return np.stack(columns, axis=1)


def placement(bounds: Positions) -> Placement:
    """Return a placement of `PATTERN`."""
    return Placement(PATTERN, tuple(bounds.tolist()))
