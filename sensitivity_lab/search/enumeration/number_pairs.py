"""From the extremes over each core to the pair of datasets that is furthest apart.

A pair of a *family* is a larger dataset and a smaller one that both contain a core. With hi and lo
the largest and the smallest answer over all datasets of a size that contain the core C, the largest
distance over C is ``max(hi_larger - lo_smaller, hi_smaller - lo_larger)``, the *gap* of C. Where a
size is that of the core, hi and lo both are the answer on C. See docs/proofs.md, "Lattice: the
downward recursion".

Extremes came down the lattice as floats, in columns ``[hi, -lo]``, so that one maximum serves both.
They choose contenders (see `contenders.py`), and exact arithmetic chooses among these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from sensitivity_lab.checks import shown
from sensitivity_lab.exact.difference import Difference, rational_of
from sensitivity_lab.queries import Answered, ExactQuery, Query
from sensitivity_lab.running.machine import IN_TURN, Machine
from sensitivity_lab.search.contenders import Contenders, contenders, first_of_each
from sensitivity_lab.search.lattice import Floats, Indices, Lattice
from sensitivity_lab.universes.multiplicities import repeated
from sensitivity_lab.universes.universe import of_numbers

from .cores import above, containing
from .evaluate import Evaluator
from .pairs import Family, FoundPair, best_pair, by_bound, contending, highs_and_lows
from .searched import Searched

_CORES_AT_ONCE = 1 << 16
"""For how many cores gaps are computed at a time: a batch that stays in the cache."""


class GapFinder:
    """Finds the pair that is furthest apart over the cores of a level.

    Parameters
    ----------
    evaluator : Evaluator
    lattice : Lattice
    answers : dict of ndarray, shape (datasets of the size, queries) or (datasets of the size,)
        By size, the floats of all that was searched.
    searched : sequence of Searched
        By query, its answers.
    machine : Machine
    """

    def __init__(
        self,
        evaluator: Evaluator,
        lattice: Lattice,
        answers: dict[int, Floats],
        searched: Sequence[Searched],
        machine: Machine = IN_TURN,
    ) -> None:
        self.evaluator = evaluator
        self.lattice = lattice
        self.answers = answers
        self.searched = searched
        self.machine = machine

    def find(self, family: Family, big: Floats, small: Floats) -> list[FoundPair]:
        """Return for every query the pair of a family that is furthest apart.

        Parameters
        ----------
        family : Family
            Which pairs.
        big : ndarray, shape (cores, 2 * queries)
            Over every core the extremes of the larger datasets, as columns [hi, -lo].
        small : ndarray, shape (cores, 2 * queries), (cores, queries) or (cores,)
            The same for the smaller datasets; where they are the cores, the answers on them.
        """
        measures = [
            _Measure.of(query, family, self.evaluator, searched.error)
            for query, searched in zip(self.evaluator.queries, self.searched, strict=True)
        ]
        if family.disjoint:
            # Bounds ignore that A and B are disjoint.
            return [
                self._best_disjoint(_Cores(self, family, measure, column), big, small)
                for column, measure in enumerate(measures)
            ]
        widest = self.machine.reduce(
            partial(_widest_gaps, measures), big, small, rows=_CORES_AT_ONCE
        )
        pairs = []
        for column, measure in enumerate(measures):
            # `widest` is by the first core of a batch. Only batches whose largest gap can be
            # that of all cores are looked at again.
            near = Contenders(measure.error)
            near.see(np.array([most[column] for most in widest.values()]))
            batches = {[*widest][place] for place in near.places}
            above_it = partial(_cores_above, near.least, measure, column)
            found = self.machine.reduce(above_it, big, small, rows=_CORES_AT_ONCE, only=batches)
            cores = np.concatenate([start + places for start, (places, _) in found.items()])
            extremes = np.concatenate([some for _, some in found.values()])
            over = _Cores(self, family, measure, column)
            pairs.append(over.best(_representatives(cores, extremes, measure)))
        return pairs

    def _best_disjoint(self, over: _Cores, big: Floats, small: Floats) -> FoundPair:
        """Return the pair without common records in A and B that is furthest apart."""
        gaps_of = partial(_gaps_of, over.measure, over.column)
        cores = by_bound(self.machine, gaps_of, (big, small), _CORES_AT_ONCE)
        return best_pair(contending(cores, over.disjoint_pairs, over.measure.error))


def _widest_gaps(measures: Sequence[_Measure], big: Floats, small: Floats) -> list[float]:
    """Return the largest gap of every query over a batch of cores."""
    widest: list[float] = _gaps_of_cores(measures, big, small).max(axis=0).tolist()
    return widest


def _gaps_of(measure: _Measure, column: int, big: Floats, small: Floats) -> Floats:
    """Return the gaps of one query over a batch of cores, shape (cores,)."""
    extremes = _extremes_of(column, big, small)
    return _gaps_of_cores([measure], extremes[:, :2], extremes[:, 2:])[:, 0]


def _extremes_of(column: int, big: Floats, small: Floats) -> Floats:
    """Return the extremes of one query over a batch of cores, shape (cores, 4).

    The columns are hi and -lo of the larger datasets, then of the smaller ones.
    """
    every = (*highs_and_lows(big, big), *highs_and_lows(big, small))
    return np.stack([one[:, column] for one in every], axis=1)


def _cores_above(
    threshold: float, measure: _Measure, column: int, big: Floats, small: Floats
) -> tuple[Indices, Floats]:
    """Return which cores of a batch have a gap that reaches a threshold, and their extremes."""
    extremes = _extremes_of(column, big, small)
    cores = np.flatnonzero(
        _gaps_of_cores([measure], extremes[:, :2], extremes[:, 2:])[:, 0] >= threshold
    )
    return cores, extremes[cores]


def _representatives(cores: Indices, extremes: Floats, measure: _Measure) -> Indices:
    """Return the cores whose exact gaps may differ; of those known to be equal, the first."""
    if measure.error == 0.0:
        return cores[:1]
    if measure.evaluated_exactly:
        # Equal extremes are equal answers; only their roots are rounded.
        return cores[first_of_each(*extremes.T)]
    return cores


@dataclass(frozen=True)
class _Measure:
    """How the gaps of a query are computed from its answers on larger and smaller datasets.

    An answer counts as ``answer * factor``, or as ``sqrt(answer / divisor)`` for roots; `error`
    bounds the error of a gap. Answers of exact queries are numerators over a denominator that
    depends on the size, d1 and d2 say. With ``d2 / d1 = p / q`` in lowest terms, the difference
    ``one / d1 - other / d2`` is ``p one - q other`` over a number that all pairs share: so the
    factors are the integers p and q, and gaps are exact where floats hold these products.
    """

    query: Query
    factors: tuple[float, float]
    divisors: tuple[float, float] | None
    error: float
    evaluated_exactly: bool

    @classmethod
    def of(cls, query: Query, family: Family, evaluator: Evaluator, error: float) -> _Measure:
        if not isinstance(query, ExactQuery):
            return cls(query, (1.0, 1.0), None, error, False)
        scale = evaluator.scales[query.centred]
        sizes = (family.larger, family.smaller)
        one, other = (query.denominator(size) for size in sizes)
        if not query.root:
            ratio = other / one
            factors = (ratio.numerator, ratio.denominator)
            error = sum(scale.error(query, s, f) for s, f in zip(sizes, factors, strict=True))
            return cls(query, (float(factors[0]), float(factors[1])), None, error, error == 0)
        # As |sqrt(a) - sqrt(b)| <= sqrt(|a - b|), a root is off by the root of the error at most;
        # `rounding` is for the divisions and roots of floats themselves.
        errors = [
            scale.error(query, size, 1) / float(divisor)
            for size, divisor in zip(sizes, (one, other), strict=True)
        ]
        largest = query.magnitude(family.larger, scale.largest) / (1 << 2 * scale.shift)
        rounding = (
            4 * float(np.finfo(np.float64).eps) * float(np.sqrt(largest / float(min(one, other))))
        )
        error = float(np.sqrt(errors).sum()) + rounding
        return cls(query, (1.0, 1.0), (float(one), float(other)), error, sum(errors) == 0)

    def side(self, answers: Floats, which: int) -> Floats:
        """Return answers on larger (0) or smaller (1) datasets in the unit of gaps."""
        if self.divisors is None:
            return answers * self.factors[which]
        return np.sqrt(np.maximum(answers / self.divisors[which], 0.0))


def _gaps_of_cores(measures: Sequence[_Measure], big: Floats, small: Floats) -> Floats:
    """Return the gap over every core, shape (cores, queries).

    As lows come as -lo, a gap is a sum, ``hi + (-lo)``. Roots do not keep a sum, so the columns of
    such queries are computed from the extremes themselves.
    """
    factors = np.array([measure.factors for measure in measures]).T
    sides = [highs_and_lows(big, big), highs_and_lows(big, small)]
    (high, low), (other_high, other_low) = (
        side if np.all(factor == 1.0) else (side[0] * factor, side[1] * factor)
        for side, factor in zip(sides, factors, strict=True)
    )
    gaps: Floats = high + other_low
    np.maximum(gaps, other_high + low, out=gaps)
    for column, measure in enumerate(measures):
        if measure.divisors is not None:
            (high, low), (other_high, other_low) = (
                (measure.side(most[:, column], which), measure.side(-least[:, column], which))
                for which, (most, least) in enumerate(sides)
            )
            gaps[:, column] = np.maximum(high - other_low, other_high - low)
    return gaps


def _as_rational(answer: Answered) -> Fraction:
    """Return a number as the rational that it is."""
    if isinstance(answer, tuple):
        raise TypeError(f"{shown(answer)} is not a number")
    return rational_of(answer)


@dataclass(frozen=True)
class _OfSize:
    """The datasets of one size over a core, a row each.

    `ranks` are their positions in the level, and `values` their `answers` in the unit of gaps.
    """

    size: int
    ranks: Indices
    answers: Floats
    values: Floats


@dataclass(frozen=True)
class _Cores:
    """Recovers pairs of one family and one query from their cores, without new evaluations."""

    finder: GapFinder
    family: Family
    measure: _Measure
    column: int

    def best(self, cores: Indices) -> FoundPair:
        """Return the pair that is furthest apart over some cores."""
        return best_pair(self._extreme_pairs(cores))

    def _extreme_pairs(self, cores: Indices) -> Iterator[FoundPair]:
        """Yield the largest answer over every core with the smallest, either way round."""
        for core in cores:
            big, small = self._sides(int(core))
            for sign in (1, -1):
                big_row, small_row = self._extreme(big, sign), self._extreme(small, -sign)
                yield self.pair_of(big, big_row, small, small_row)

    def disjoint_pairs(self, core: int, near: Contenders) -> Iterator[FoundPair]:
        """Yield the pairs over a core without common records in A and B that can win."""
        big, small = self._sides(core)
        universe = self.finder.evaluator.universe
        both = self.family.of_x + self.family.of_y
        shared = self.finder.lattice.multiplicities(self.family.core, core)
        # C + A + B is in the universe exactly if x + y has no more than the universe and C once
        # more: the records of A and B are then different ones.
        limits = universe.multiplicities(both) + shared
        lattice = self.finder.lattice
        of_big, of_small = (containing(lattice, shared, side.size) for side in (big, small))
        rows: list[int] = []
        for sign in (1, -1):
            # A's come with falling largest gaps: from the first one that cannot win, none can.
            for row in np.argsort(-sign * big.values, kind="stable"):
                gaps = sign * (big.values[row] - small.values)
                if not near.can_win(gaps.max()):
                    break
                fits = (of_small + of_big[row] <= limits).all(axis=1)
                near.see(np.where(fits, gaps, -np.inf))
                rows.append(int(row))
        for block, places in near.by_block():
            for other in places.tolist():
                yield self.pair_of(big, rows[block], small, other)

    def _sides(self, core: int) -> tuple[_OfSize, _OfSize]:
        """Return the larger and the smaller datasets over a core."""
        return self._over(core, self.family.larger, 0), self._over(core, self.family.smaller, 1)

    def _over(self, core: int, size: int, which: int) -> _OfSize:
        lattice = self.finder.lattice
        ranks = above(lattice, lattice.multiplicities(self.family.core, core), size)
        answers = self.finder.answers[size][ranks].reshape(len(ranks), -1)[:, self.column]
        return _OfSize(size, ranks, answers, self.measure.side(answers, which))

    def _extreme(self, side: _OfSize, sign: int) -> int:
        """Return the row with the largest (sign 1) or smallest (sign -1) answer, exactly."""
        answers = sign * side.answers
        query = self.measure.query
        if self.measure.evaluated_exactly or not self.measure.error:
            return int(np.argmax(answers))
        if not isinstance(query, ExactQuery):
            near = contenders(answers, self.measure.error)
            return int(max(near, key=lambda row: sign * self._rational(side, int(row))))
        scale = self.finder.evaluator.scales[query.centred]
        near = contenders(answers, scale.error(query, side.size, 1))
        integers, _ = of_numbers(self.finder.evaluator.universe).integers
        lattice = self.finder.lattice
        rows = np.array(
            [repeated(integers, lattice.multiplicities(side.size, side.ranks[row])) for row in near]
        )
        exact = query.evaluate(rows)
        return int(near[max(range(len(near)), key=lambda place: sign * exact[place])])

    def _rational(self, side: _OfSize, row: int) -> Fraction:
        """Return a function's answer as the rational that it is."""
        return _as_rational(self._answered(side, row))

    def _answered(self, side: _OfSize, row: int) -> Answered:
        return self.finder.searched[self.column].answer(side.size, int(side.ranks[row]))

    def pair_of(self, big: _OfSize, row: int, small: _OfSize, other: int) -> FoundPair:
        universe, query = self.finder.evaluator.universe, self.measure.query
        lattice = self.finder.lattice
        x, y = (
            lattice.multiplicities(side.size, int(side.ranks[place]))
            for side, place in ((big, row), (small, other))
        )
        if query.arithmetic == "exact":
            first, second = query.exactly(universe, x), query.exactly(universe, y)
            if not isinstance(first, Fraction) or not isinstance(second, Fraction):
                raise TypeError(f"{query.name} answers with {shown(first)} and {shown(second)}")
            if self.family.of_x < self.family.of_y:
                x, y = y, x
            return FoundPair(x, y, Difference(first, second, query.root), None)
        answers = self._answered(big, row), self._answered(small, other)
        difference = Difference(_as_rational(answers[0]), _as_rational(answers[1]))
        if self.family.of_x < self.family.of_y:
            x, y, answers = y, x, answers[::-1]
        return FoundPair(x, y, difference, answers)
