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

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from sensitivity_lab.queries import ExactQuery
from sensitivity_lab.search.contenders import Contenders, contenders
from sensitivity_lab.search.lattice import Floats, Indices
from sensitivity_lab.universes.relations import repeated
from sensitivity_lab.universes.universe import of_numbers

from .core_pairs import Family, FoundPair, PairFinder, highs_and_lows
from .evaluate import Evaluator


@dataclass(frozen=True)
class NumberFinder(PairFinder):
    """Finds the pair that is furthest apart over the cores of a level, for one of several queries.

    Parameters
    ----------
    evaluator : Evaluator
        Tells how far its floats are off.
    column : int
        Which of the columns of extremes is that of the query.
    """

    evaluator: Evaluator
    column: int

    def find(self, family: Family, big: Floats, small: Floats) -> FoundPair:
        """Return the pair of a family that is furthest apart; see `PairFinder.find`."""
        queries = big.shape[1] // 2
        own = [of.reshape(len(of), -1)[:, self.column :: queries] for of in (big, small)]
        measure = _Measure.of(self, family)
        pairs = (
            partial(self._disjoint_pairs, measure)  # bounds ignore that A and B are disjoint
            if family.disjoint
            else partial(self._extreme_pairs, measure, own, set())
        )
        return self.furthest(partial(_gaps_of, measure), own, pairs, measure.error)

    def _extreme_pairs(
        self,
        measure: _Measure,
        own: list[Floats],
        seen: set[tuple[float, ...]],
        core: int,
        near: Contenders,
    ) -> Iterator[FoundPair]:
        """Yield the largest answer over a core with the smallest, either way round."""
        extremes = [of[core : core + 1] for of in own]
        near.see(_gaps_of(measure, *extremes))
        known = tuple(np.hstack(extremes)[0].tolist())
        if measure.evaluated_exactly and known in seen:
            return  # equal extremes are equal answers; only their roots are rounded
        seen.add(known)
        of_x, of_y = self._sides(measure, core)
        for sign in (1, -1):
            x, y = self._extreme(measure, of_x, sign), self._extreme(measure, of_y, -sign)
            yield self.pair_of(measure.family, x, y)

    def _disjoint_pairs(
        self, measure: _Measure, core: int, near: Contenders
    ) -> Iterator[FoundPair]:
        """Yield the pairs over a core without common records in A and B that can win."""
        of_x, of_y = self._sides(measure, core)
        fits = self.disjoint(measure.family, core)
        rows: list[int] = []
        for sign in (1, -1):
            # A's come with falling largest gaps: from the first one that cannot win, none can.
            for row in np.argsort(-sign * of_x.values, kind="stable").tolist():
                gaps = sign * (of_x.values[row] - of_y.values)
                if not near.can_win(gaps.max()):
                    break
                near.see(np.where(fits(row), gaps, -np.inf))
                rows.append(row)
        for block, places in near.by_block():
            for other in places.tolist():
                x, y = of_x.ranks[rows[block]], of_y.ranks[other]
                yield self.pair_of(measure.family, int(x), int(y))

    def _sides(self, measure: _Measure, core: int) -> list[_OfSize]:
        """Return the datasets over a core: those of the size of x, and those of y."""
        family, sides = measure.family, []
        for size, ranks in zip((family.of_x, family.of_y), self.over(family, core), strict=True):
            answers = self.searched.floats[size][ranks]
            sides.append(_OfSize(size, ranks, answers, measure.side(answers, size)))
        return sides

    def _extreme(self, measure: _Measure, side: _OfSize, sign: int) -> int:
        """Return the rank with the largest (sign 1) or smallest (sign -1) answer, exactly."""
        answers, query = sign * side.answers, self.query
        # Where floats hold the answers, the first of the largest is the one; else exact answers
        # choose among those that are near.
        if measure.evaluated_exactly or not measure.error:
            return int(side.ranks[np.argmax(answers)])
        if isinstance(query, ExactQuery):
            error = self.evaluator.scales[query.centred].error(query, side.size, 1)
            near = side.ranks[contenders(answers, error)]
            integers, _ = of_numbers(self.problem.universe).integers
            datasets = [self.lattice.multiplicities(side.size, rank) for rank in near]
            exact = query.evaluate(np.array([repeated(integers, data) for data in datasets]))
        else:
            near = side.ranks[contenders(answers, measure.error)]
            exact = self.searched.given[side.size][near].astype(object)
        return int(near[np.argmax(sign * exact)])


@dataclass(frozen=True)
class _Measure:
    """How the gaps of a query are computed from its answers on larger and smaller datasets.

    An answer on a dataset of a size counts as ``answer * units[size]``, or as
    ``sqrt(answer / units[size])`` for roots; `error` bounds the error of a gap. Answers of exact
    queries are numerators over a denominator that depends on the size, d1 and d2 say. With ``d2 /
    d1 = p / q`` in lowest terms, the difference ``one / d1 - other / d2`` is ``p one - q other``
    over a number that all pairs share: so the units are the integers p and q, and gaps are exact
    where floats hold these products.
    """

    family: Family
    units: dict[int, float]
    root: bool
    error: float
    evaluated_exactly: bool

    @classmethod
    def of(cls, finder: NumberFinder, family: Family) -> _Measure:
        query, sizes = finder.query, (family.larger, family.smaller)
        if not isinstance(query, ExactQuery):
            return cls(family, dict.fromkeys(sizes, 1.0), False, finder.searched.error, False)
        scale = finder.evaluator.scales[query.centred]
        one, other = (query.denominator(size) for size in sizes)
        if not query.root:
            factors = dict(zip(sizes, (other / one).as_integer_ratio(), strict=True))
            error = sum(scale.error(query, size, factors[size]) for size in sizes)
            units = {size: float(factor) for size, factor in factors.items()}
            return cls(family, units, False, error, error == 0)
        # As |sqrt(a) - sqrt(b)| <= sqrt(|a - b|), a root is off by the root of the error at most;
        # `rounding` is for the divisions and roots of floats themselves.
        units = {family.larger: float(one), family.smaller: float(other)}
        errors = [scale.error(query, size, 1) / units[size] for size in sizes]
        largest = query.magnitude(family.larger, scale.largest) / (1 << 2 * scale.shift)
        eps = float(np.finfo(np.float64).eps)
        rounding = 4 * eps * float(np.sqrt(largest / min(units.values())))
        error = float(np.sqrt(errors).sum()) + rounding
        return cls(family, units, True, error, sum(errors) == 0)

    def side(self, answers: Floats, size: int) -> Floats:
        """Return answers on datasets of a size in the unit of gaps."""
        unit = self.units[size]
        if self.root:
            return np.sqrt(np.maximum(answers / unit, 0.0))
        return answers if unit == 1.0 else answers * unit


def _gaps_of(measure: _Measure, big: Floats, small: Floats) -> Floats:
    """Return the gaps of one query over a batch of cores, shape (cores,).

    Lows come as -lo. Roots do not keep a sum, so gaps are computed from the extremes themselves.
    """
    family = measure.family
    (high, low), (other_high, other_low) = (
        (measure.side(most[:, 0], size), measure.side(-least[:, 0], size))
        for size, (most, least) in (
            (family.larger, highs_and_lows(big, big)),
            (family.smaller, highs_and_lows(big, small)),
        )
    )
    # Either may be x: hi of the larger size less lo of the smaller one, or the other way round.
    return np.maximum(high - other_low, other_high - low)


class _OfSize(NamedTuple):
    """The datasets of one size over a core, a row each.

    `ranks` are their positions in the level, and `values` their `answers` in the unit of gaps.
    """

    size: int
    ranks: Indices
    answers: Floats
    values: Floats
