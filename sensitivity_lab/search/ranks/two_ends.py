"""The best pair where the smallest and the largest value have copies enough: no others are needed.

Then some pair whose records all are the smallest value L or the largest one U is furthest apart,
whatever the weights: move all records of one value in between together, until they meet the next
value on either side. Nothing passes anything else, so f(x) - f(y) is linear on the way, and no
smaller at one of the two. There the pair has a value less; in the end it has L and U alone.

A dataset of L's and U's is its number P of U's, so a search goes through numbers, not records. For
n records, W_n the sum of all weights and T_n(P) that of the P last ones,

    f = L W_n + (U - L) T_n(P).

With s U's in the core, of n - i records, x can have any s to s + i of them, and y, of m records,
any s to s + j. So the largest f(x) - f(y) is, with s from 0 to n - i,

    L (W_n - W_m) + (U - L) max over s of (max of T_n on [s, s + i] - min of T_m on [s, s + j]).

See docs/proofs.md, "Two ends".
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.base import denominator_of
from sensitivity_lab.search.engine import Finding
from sensitivity_lab.search.lattice import Indices
from sensitivity_lab.search.layouts import Shape
from sensitivity_lab.universes.universe import FiniteUniverse, of_numbers

from .all_ranks import SAFE, Found, Tell


def enough_copies(universe: FiniteUniverse, most: int) -> int:
    """Return the largest number of records that the two ends can be all of, up to `most`.

    A pair of that many records, in the core, only in x and only in y, can have each of them at
    either end; only the numbers of copies of these two values matter.
    """
    copies = universe.multiplicities(most)
    return int(min(copies[0], copies[-1]))


@dataclass(frozen=True, eq=False)
class EndsSearch:
    """The search for shapes with the same sizes of x and y, over the two ends.

    Parameters
    ----------
    query : Query
    shapes : sequence of Shape
        All of the same sizes of x and y.
    problem : Problem
        Whose smallest and largest value have a copy for every record of any of the shapes.

    Attributes
    ----------
    covered : bool
        Always: sums beyond int64 are Python's integers.

    Notes
    -----
    For w ranks with a weight in x and in y, and i removed and j added records: at most min(n - i,
    4 w) + 1 sums per shape, and log(i) + log(j) passes over the w ranks, which the shapes share.
    """

    query: Query
    shapes: Sequence[Shape]
    problem: Problem

    covered: ClassVar[bool] = True

    @property
    def steps(self) -> int:
        """How many sums are looked at, in both directions."""
        number = 2 * (sum(self._weights) + 2)
        return sum(2 * min(shape.core + 1, number) for shape in self.shapes)

    @property
    def bytes(self) -> int:
        """How much memory the search takes: about a Fraction and some integers for each weight."""
        of_x, of_y = self._weights
        number = of_x if self.shapes[0].of_x == self.shapes[0].of_y else of_x + of_y
        widest = max(max(shape.only_x, shape.only_y) for shape in self.shapes)
        return 16 * number * (32 + min(number, widest + 1).bit_length())

    @cached_property
    def _weights(self) -> tuple[int, int]:
        """How many ranks have a weight in x and in y; a query keeps the weights of few sizes."""
        of_x, of_y = (
            len(self.query.weights(size) or ())
            for size in (self.shapes[0].of_x, self.shapes[0].of_y)
        )
        return of_x, of_y

    def solve(self, tell: Tell) -> Iterator[Found]:
        """Yield the largest difference of every shape, and what returns its pair, either way."""
        integers, unit = of_numbers(self.problem.universe).integers
        lower, width = int(integers[0]), int(integers[-1]) - int(integers[0])
        sums_x, below_x = _sums_at_the_top(self.query, self.shapes[0].of_x)
        sums_y, below_y = _sums_at_the_top(self.query, self.shapes[0].of_y)
        below = math.lcm(below_x, below_y)
        of_x, of_y = sums_x.times(below // below_x), sums_y.times(below // below_y)
        # Where all records are at L: the answers differ by L times the weights' sums.
        both = lower * (of_x.last - of_y.last)
        for shape in self.shapes:
            at = _core_counts(of_x.starts, of_y.starts, shape)
            for sign in (1, -1):
                gap, place = _furthest_cores(of_x, of_y, at, shape, sign)
                # L (W_n - W_m) with the sign, and (U - L) times the difference of sums at the top.
                value = Fraction(sign * both + width * gap, below * unit)
                # Only the numbers of U's are kept: a curve has very many changes.
                highs = (
                    of_x.extreme_at(place, place + shape.only_x, sign > 0),
                    of_y.extreme_at(place, place + shape.only_y, sign < 0),
                )
                yield shape, value, partial(self._pair, shape, highs)
            tell(2 * len(at))

    def _pair(self, shape: Shape, highs: tuple[int, int]) -> Finding:
        """Return the pair with so many U's in x and in y."""
        x, y = (
            np.zeros(len(self.problem.universe.multiplicities(1)), dtype=np.int64) for _ in highs
        )
        for data, size, high in zip((x, y), (shape.of_x, shape.of_y), highs, strict=True):
            data[0] += size - high  # one value is both ends
            data[-1] += high
        return Finding(x, y, None, 0)


def _core_counts(starts_x: Indices, starts_y: Indices, shape: Shape) -> Indices:
    """Return the numbers s of U's in the core that are enough to look at.

    As s grows, the stretches of equal answers that [s, s + i] meets change only where one comes in
    at the top, at s + i, or where the next one is first, at s; likewise [s, s + j]. In between, the
    largest and smallest answers stay. Every first stretch begins at 0, so s = 0 is among them.
    """
    if 2 * (len(starts_x) + len(starts_y)) > shape.core:
        return np.arange(shape.core + 1)
    at = np.concatenate([starts_x, starts_x - shape.only_x, starts_y, starts_y - shape.only_y])
    return np.unique(at[(at >= 0) & (at <= shape.core)])


def _furthest_cores(
    of_x: Steps, of_y: Steps, at: Indices, shape: Shape, sign: int
) -> tuple[int, int]:
    """Return the largest sign * (f(x) - f(y)) in units, and the number of U's in its core."""
    top_x = of_x.extremes(at, at + shape.only_x, sign > 0)
    top_y = of_y.extremes(at, at + shape.only_y, sign < 0)
    gaps = sign * (top_x - top_y)
    best = int(np.argmax(gaps))
    return int(gaps[best]), int(at[best])


@lru_cache(maxsize=4)
def _sums_at_the_top(query: Query, size: int) -> tuple[Steps, int]:
    """Return the sum of the weights of the P largest records for every P, and what it is over.

    That is T(P) of the module. It rises or falls at P = size - r for every rank r with a weight,
    which is at the top from there on. Kept, because the sizes of a curve under adding and removing
    share that of x.
    """
    weights = query.weights(size) or ()
    below = denominator_of(weights)
    downwards = weights[::-1]
    starts = np.array([0, *(size - rank for rank, _ in downwards)], dtype=np.intp)
    scaled = (weight.numerator * (below // weight.denominator) for _, weight in downwards)
    return Steps(starts, np.array([0, *accumulate(scaled)], dtype=object)), below


class Steps:
    """A function of whole numbers 0, 1, ... that is constant on stretches.

    Parameters
    ----------
    starts : ndarray of int, shape (m,)
        Where the stretches start, from 0, ascending.
    values : ndarray of int64 or Python ints, shape (m,)

    Examples
    --------
    >>> steps = Steps(np.array([0, 2, 5]), np.array([4, 9, 1]))  # 4, 4, 9, 9, 9, 1, 1, ...
    >>> steps.extremes(np.array([0, 0, 4]), np.array([1, 2, 5]), largest=True).tolist()
    [4, 9, 9]
    >>> steps.extreme_at(0, 7, largest=False)
    5
    """

    def __init__(self, starts: Indices, values: NDArray[Any]) -> None:
        self.starts, self.values = starts, values
        self._over = cache(self._make_over)

    @property
    def last(self) -> int:
        """The value of the last stretch."""
        return int(self.values[-1])

    def times(self, factor: int) -> Steps:
        """Return the function times a factor, as int64 where two values differ by less than it."""
        values = self.values * factor
        fits = 2 * int(abs(values).max()) < SAFE
        return Steps(self.starts, values.astype(np.int64) if fits else values)

    def extremes(self, low: Indices, high: Indices, largest: bool) -> NDArray[Any]:
        """Return the largest or smallest values at ``low, ..., high``, both of shape (r,)."""
        first, last = (np.searchsorted(self.starts, one, side="right") - 1 for one in (low, high))
        # A range is covered by two of the largest power of two of stretches that it holds; where
        # they overlap, an extreme is counted twice, which does not matter.
        powers = np.frexp(last - first + 1)[1] - 1
        found = np.empty(len(low), dtype=self.values.dtype)
        pick = np.maximum if largest else np.minimum
        for power in np.unique(powers).tolist():
            here = powers == power
            over = self._over(power, largest)
            found[here] = pick(over[first[here]], over[last[here] - (1 << power) + 1])
        return found

    def _make_over(self, power: int, largest: bool) -> NDArray[Any]:
        """Return the largest or smallest of each stretch and the next ones, 2**power in all."""
        if not power:
            return self.values
        # Entry s: of stretches s to s + 2**power - 1, from two of half the length.
        shorter, half = self._over(power - 1, largest), 1 << (power - 1)
        pick = np.maximum if largest else np.minimum
        over: NDArray[Any] = pick(shorter[:-half], shorter[half:])
        return over

    def extreme_at(self, low: int, high: int, largest: bool) -> int:
        """Return the first place from low to high with the largest or smallest value."""
        first, last = (int(np.searchsorted(self.starts, one, "right")) - 1 for one in (low, high))
        values = self.values[first : last + 1]
        place = int(np.argmax(values) if largest else np.argmin(values))
        return max(low, int(self.starts[first + place]))
