"""From the extremes over each core to the pair whose vector answers are furthest apart.

The extremes of a few linear functions of the answers over a core bound how far any two answers over
it are apart. Cores are visited in the order of their bounds, all pairs over a core are compared,
and the first core whose bound does not reach the best pair ends the search. For Linf, and for L1
with few coordinates, the bound is attained: Linf is the largest of the coordinates' distances, L1
the largest over the signs s of the distance of ``s @ f``. L2 is bounded by the box around it.
Distances and bounds are those of the answers times a power of two. See docs/proofs.md, "Vector
answers by enumeration".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product

import numpy as np

from sensitivity_lab.checks import Norm
from sensitivity_lab.metrics.vectors import powered
from sensitivity_lab.running import poll
from sensitivity_lab.search.contenders import Contenders
from sensitivity_lab.search.lattice import Floats

from .core_pairs import Family, FoundPair, PairFinder, highs_and_lows

_BOUNDED_BY_SIGNS = 6
"""With at most this many coordinates, L1 is bounded through all their signs."""

_TINIEST = math.ulp(0.0)
"""The smallest positive float."""

_PAIRS = 1 << 18
"""About how many numbers are compared at a time over one core."""


def width_of(numbers: int, norm: Norm) -> int:
    """Return how many linear functions are needed for answers of `numbers` numbers."""
    return 2 ** (numbers - 1) if _by_signs(numbers, norm) else numbers


def _by_signs(numbers: int, norm: Norm) -> bool:
    """Tell whether a norm is the largest of few signed sums."""
    return norm == "L1" and numbers <= _BOUNDED_BY_SIGNS


@dataclass(frozen=True)
class VectorFinder(PairFinder):
    """Finds the pair whose vector answers are furthest apart; answers have one length."""

    @property
    def answers(self) -> dict[int, Floats]:
        """By size, the floats that are searched by, shape (datasets, d)."""
        return self.searched.floats

    @cached_property
    def _functions(self) -> Floats:
        """The linear functions whose extremes are needed, shape (d, w)."""
        numbers = next(iter(self.answers.values())).shape[1]
        if _by_signs(numbers, self.problem.norm):
            # A function and its negative have the same gaps.
            signs = [(1.0, *rest) for rest in product((1.0, -1.0), repeat=numbers - 1)]
            return np.array(signs).T
        return np.eye(numbers)

    def columns(self) -> dict[int, Floats]:
        """Return the linear functions of the scaled answers, shape (datasets, w), by size."""
        columns_of = partial(_columns_of, self._exponent, self._functions)
        return {
            size: self.machine.map(columns_of, answers, width=self._functions.shape[1])
            for size, answers in self.answers.items()
        }

    def _each(self, of_batch: Callable[[Floats], float]) -> list[float]:
        """Return what a function returns on batches of all answers."""
        every = self.answers.values()
        return [one for part in every for one in self.machine.reduce(of_batch, part).values()]

    @cached_property
    def _largest(self) -> float:
        return max(self._each(_magnitude), default=0.0)

    @cached_property
    def _exponent(self) -> int:
        return math.frexp(max(self._largest, _TINIEST))[1]

    @cached_property
    def _error(self) -> float:
        """Bound the error of a distance (of its square for L2), of answers and of arithmetic."""
        numbers, eps = len(self._functions), float(np.finfo(np.float64).eps)
        exact = self.query.arithmetic == "float" and not self.searched.error
        if exact and self._largest < 2**53:
            widest = 2 * self._largest
            total = numbers * (widest**2 if self.problem.norm == "L2" else widest)
            whole = all(self._each(_are_whole))
            if whole and total < 2**53:
                return 0.0
        widest = 2 * math.ldexp(self._largest, -self._exponent)
        # The smallest floats are whole multiples of one, which their answers are rounded to.
        gap = 8 * (eps * widest + math.ldexp(_TINIEST, -self._exponent))
        if self.problem.norm == "L2":
            return numbers * (2 * widest * gap + gap**2 + numbers * eps * widest**2)
        return numbers * (gap + (numbers + 2) * eps * widest)

    def find(self, family: Family, big: Floats, small: Floats) -> FoundPair:
        """Return the pair of a family that is furthest apart; see `PairFinder.find`."""
        bounds = partial(_bounds, self.problem.norm, len(self._functions))
        return self.furthest(bounds, (big, small), partial(self._pairs, family), self._error)

    def _pairs(self, family: Family, core: int, near: Contenders) -> Iterator[FoundPair]:
        """Yield the pairs over a core that are furthest apart, up to the error."""
        ranks_x, ranks_y = self.over(family, core)
        answers_x = self.answers[family.of_x][ranks_x]
        answers_y = self.answers[family.of_y][ranks_y]
        fits = self.disjoint(family, core) if family.disjoint else None
        wide = max(answers_y.shape[1], len(self.lattice.counts) if fits else 1)
        rows = max(1, _PAIRS // max(1, len(answers_y) * wide))
        for start in range(0, len(ranks_x), rows):
            poll()
            batch = slice(start, start + rows)
            one, other = (_scaled(self._exponent, of) for of in (answers_x[batch], answers_y))
            far: Floats = powered(one[:, None] - other[None], self.problem.norm)
            if fits:
                far[~fits(batch)] = -np.inf
            near.see(far)
        for place in near.places:
            x, y = divmod(int(place), len(ranks_y))
            yield self.pair_of(family, int(ranks_x[x]), int(ranks_y[y]))


def _scaled(exponent: int, answers: Floats) -> Floats:
    """Return answers over a power of two: at most 1, so their squares stay in range."""
    scaled: Floats = np.ldexp(answers, -exponent)
    return scaled


def _columns_of(exponent: int, functions: Floats, answers: Floats) -> Floats:
    columns: Floats = _scaled(exponent, answers) @ functions
    return columns


def _magnitude(answers: Floats) -> float:
    return float(np.abs(answers).max(initial=0.0))


def _are_whole(answers: Floats) -> bool:
    return bool((answers == np.rint(answers)).all())


def _bounds(norm: Norm, numbers: int, big: Floats, small: Floats) -> Floats:
    """Bound the distance (for L2 its square) over every core of a batch, shape (cores,).

    `big` has the extremes over the datasets of the larger size that contain a core, `small` over
    those of the smaller size; see `highs_and_lows`. A column is a linear function of the answers.
    """
    # The largest answer of one size less the smallest of the other, either way round.
    (high, low), (other_high, other_low) = highs_and_lows(big, big), highs_and_lows(big, small)
    gaps = np.maximum(high + other_low, other_high + low)
    bounds: Floats
    if norm == "L2":
        bounds = (gaps * gaps).sum(axis=1)
    elif norm == "L1" and numbers > _BOUNDED_BY_SIGNS:
        bounds = gaps.sum(axis=1)
    else:
        bounds = gaps.max(axis=1)
    return bounds
