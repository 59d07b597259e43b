"""Many sizes at once: which of them can have the largest difference, before any is searched.

Three theories say so (docs/proofs.md, "Many sizes (`sizes`)"). Others search every size.

- A query that adds up over the records differs between x and y by what A and B add to it, whatever
  the size: one size for each change is enough.
- Over a domain without a limit of copies, or an interval, a weighted sum by rank that never falls
  differs most where all records are at the two ends. Then it is the share of the weight above the
  lower ones, which is known for all sizes at once.
- There a variance differs by at most a bound, and by at least what two kinds of records give; sizes
  whose bound is below the best of these are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.problem import IntervalProblem, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.base import Runs
from sensitivity_lab.universes.relations import Relation, RemovedAdded
from sensitivity_lab.universes.universe import FiniteUniverse

from .engine import AnyEngine, Finding, Findings, Options, Plan, Refusal, one_by_one
from .lattice import Indices

MANY = 16
"""So many sizes are searched sooner than told apart."""

_MOST_CHANGES = 1_000
"""Of relations with more changes every size is searched."""

_TIED = 1e-9
"""Shares of the range that differ by less are compared exactly, or searched."""

_APART = 1 << 25
"""Two fractions with smaller denominators are two floats, too."""

AnyProblem = Problem | IntervalProblem
Floats = NDArray[np.float64]
Sizes = NDArray[np.int64]

Allowed = dict[RemovedAdded, NDArray[np.bool_]]
"""By change: at which sizes of x it leads to a neighbor."""


def plan_for_sizes(
    engine: AnyEngine, problem: AnyProblem, options: Options
) -> Plan[Findings] | Refusal:
    """Return an engine's plan for the sizes of a problem that can have the largest difference.

    Of many sizes these are told for each query and relation by itself.
    """
    if len(problem.sizes) > MANY:
        return one_by_one(problem, partial(_plan_deciding, engine, options=options))
    plan: Plan[Findings] | Refusal = engine.plan(problem, options)
    return plan


def _plan_deciding(
    engine: AnyEngine, part: AnyProblem, options: Options
) -> Plan[Findings] | Refusal:
    (query,), (relation,) = part.queries, part.neighbors
    allowed = _allowed_changes(part, relation)
    sizes = part.sizes if allowed is None else deciding(part, query, allowed)
    plan: Plan[Findings] | Refusal = engine.plan(part.at(sizes), options)
    return plan


def _allowed_changes(problem: AnyProblem, relation: Relation) -> Allowed | None:
    """Return at which sizes each change leads to a neighbor; None of too many changes."""
    changes = list(islice(relation.every_change, _MOST_CHANGES + 1))
    if len(changes) > _MOST_CHANGES:
        return None
    sizes = np.array(problem.sizes, dtype=np.int64)
    masks = ((change, _allowed(problem, sizes, change)) for change in changes)
    return {change: allow for change, allow in masks if allow.any()}


def deciding(problem: AnyProblem, query: Query, allowed: Allowed) -> tuple[int, ...]:
    """Return sizes of which one has the largest difference, for one query and relation."""
    sizes = np.array(problem.sizes, dtype=np.int64)
    if query.adds_up(problem.universe):
        first = {int(np.argmax(allow)) for allow in allowed.values()}
        return tuple(sizes[sorted(first)].tolist())
    universe = problem.universe
    if isinstance(universe, FiniteUniverse) and not universe.numeric:
        return _of_rows(universe, query, sizes, allowed)
    return _of_numbers(query, sizes, allowed) if _at_two_ends(problem) else problem.sizes


def _of_numbers(query: Query, sizes: Sizes, allowed: Allowed) -> tuple[int, ...]:
    """Return the deciding sizes of a query on numbers whose two ends occur any number of times."""
    if query.moment == "variance":
        return _of_variance(_spreads(query, sizes, allowed))
    if query.crosses_once and query.centred and query.moment != "count":
        return _of_ranks(query, sizes, allowed)
    return tuple(sizes.tolist())


def _of_rows(
    universe: FiniteUniverse, query: Query, sizes: Sizes, allowed: Allowed
) -> tuple[int, ...]:
    """Return the deciding sizes of a query of one column, alone or by group."""
    every = tuple(sizes.tolist())
    if universe.counts is not None:
        return every
    if column := query.projection(universe):
        numbers, few = column[1], column[1].defined_from
        some = sizes[sizes >= few]
        own = {
            change: allow[sizes >= few] & (some - change[0] + change[1] >= few)
            for change, allow in allowed.items()
        }
        own = {change: allow for change, allow in own.items() if allow.any()}
        found = _of_numbers(numbers, some, own) if own else ()
        # Datasets with too few values are told apart from the others where these are searched.
        # From so many records on no change leads below `few`.
        small = few + max(map(max, allowed)) if numbers.empty is not None else 0
        return tuple(sorted({*found, *sizes[sizes < small].tolist()})) or every
    grouped = query.by_group(universe)
    if grouped is None:
        return every
    groups, some_in_none = grouped
    # The rows that a larger dataset has on top stand in no group, or in one that does not change.
    stays = some_in_none or groups > max(map(sum, allowed))
    return every[-1:] if stays else every


def settled(problem: Problem) -> Findings | None:
    """Return pairs of two kinds of records that no variance or deviation exceeds, without a search.

    None if a bound is above one of them, for some query and relation.
    """
    if not _at_two_ends(problem) or len(problem.neighbors) > MANY:
        return None
    sizes, values = np.array(problem.sizes, dtype=np.int64), len(problem.universe.values)
    found: list[list[Finding]] = []
    for query in problem.queries:
        found.append([])
        for relation in problem.neighbors:
            allowed = _allowed_changes(problem, relation)
            pair = _settled_pair(_spreads(query, sizes, allowed), values) if allowed else None
            if pair is None:
                return None
            found[-1].append(pair)
    return found


def _allowed(problem: AnyProblem, sizes: Sizes, change: RemovedAdded) -> NDArray[np.bool_]:
    """Return at which sizes of x a change leads to a neighbor."""
    removed, added = change
    after = sizes - removed + added
    there: NDArray[np.bool_] = (sizes >= removed) & (after >= problem.least)
    return there & (sizes + added <= problem.universe.size)


def _at_two_ends(problem: AnyProblem) -> bool:
    """Tell whether every record can occur any number of times, and not all are equal."""
    universe = problem.universe
    if not isinstance(universe, FiniteUniverse):
        return bool(universe.lower < universe.upper)
    return universe.numeric and universe.counts is None and len(universe.values) > 1


@dataclass(frozen=True)
class _Spreads:
    """How far variances can be apart on [0, 1] for one change, at some sizes.

    One of x and y, the *more* spread one, has n records, of which `own` are not in the other one.

    Attributes
    ----------
    sizes : ndarray of int64, shape (s,)
        The sizes of x.
    change : tuple of two int
    is_x : bool
        Whether the more spread one is x.
    ddof : Fraction
    """

    sizes: Sizes
    change: RemovedAdded
    is_x: bool
    ddof: Fraction

    @property
    def own(self) -> int:
        """How many records of the more spread one are not in the other one."""
        return self.change[0 if self.is_x else 1]

    def of_both(self) -> tuple[Sizes, Sizes]:
        """Return the sizes of the more spread one and of the other."""
        after = self.sizes - self.change[0] + self.change[1]
        return (self.sizes, after) if self.is_x else (after, self.sizes)

    def floats(self) -> tuple[Floats, Floats]:
        """Return what two kinds of records attain, and a bound, at every size."""
        return self._within(*self.of_both(), float(self.ddof))

    def exactly(self, place: int) -> tuple[Fraction, Fraction]:
        """Return the same at one size, without rounding."""
        more, less = (of[place : place + 1].astype(object) for of in self.of_both())
        (attained,), (most,) = self._within(more, less, self.ddof)
        return attained, most

    def _within(self, more: Any, less: Any, ddof: Any) -> tuple[Any, Any]:
        """Return the same at some sizes: of Python ints and a Fraction, as Fractions."""
        upper, core = np.minimum(self.own, more // 2), more - self.own
        # With a of n records at one end and n - a at the other, the variance is
        # a (n - a) / (n (n - d)).
        attained = upper * (more - upper) / (more * (more - ddof))
        # A core that is spread adds to the difference if its divisor is the smaller one.
        added = core**2 // 4 * (1 / (more - ddof) - 1 / (less - ddof)) / np.maximum(core, 1)
        return attained, attained + np.maximum(added, 0)

    def pair(self, place: int, values: int) -> Finding:
        """Return the pair of two kinds of records at one size, by multiplicities."""
        more, less = (int(of[place]) for of in self.of_both())
        upper = min(self.own, more // 2)
        data = np.zeros((2, values), dtype=np.int64)
        data[:, 0], data[0, -1] = (more - upper, less), upper
        x, y = data if self.is_x else data[::-1]
        return Finding(x, y, None, 0)


def _spreads(query: Query, sizes: Sizes, allowed: Allowed) -> list[_Spreads]:
    """Return what is known of every change, in both orders of x and y."""
    ddof = Fraction(query.ddof)
    return [
        _Spreads(sizes[allow], change, is_x, ddof)
        for change, allow in allowed.items()
        for is_x in (True, False)
    ]


def _of_variance(spreads: list[_Spreads]) -> tuple[int, ...]:
    """Return the sizes at which a bound of the difference is not below what is attained."""
    near = [one.sizes[places] for one, places in _near(spreads)]
    return tuple(np.unique(np.concatenate(near)).tolist())


def _near(spreads: list[_Spreads]) -> list[tuple[_Spreads, Indices]]:
    """Return where a bound reaches what any size attains; 1e-9 is far more than rounding."""
    both = [one.floats() for one in spreads]
    best = max(float(attained.max()) for attained, _ in both)
    return [
        (one, np.flatnonzero(most >= best * (1 - _TIED)))
        for one, (_, most) in zip(spreads, both, strict=True)
    ]


def _settled_pair(spreads: list[_Spreads], values: int) -> Finding | None:
    """Return a pair of two kinds of records that attains every bound; None if none does."""
    near = [
        (one, place)
        for one, places in _near(spreads)
        for place in places[: _MOST_CHANGES + 1].tolist()
    ]
    if len(near) > _MOST_CHANGES:
        return None
    # Floats leave the sizes that are near; fractions say whether one attains all bounds of these.
    found = [(*one.exactly(place), one, place) for one, place in near]
    attained, _, one, place = max(found, key=itemgetter(0))
    return one.pair(place, values) if attained >= max(most for _, most, _, _ in found) else None


class _Shares(NamedTuple):
    """Largest differences for some sizes, as fractions of the range."""

    above: NDArray[Any]
    below: NDArray[Any]
    sizes: Sizes


def _of_ranks(query: Query, sizes: Sizes, allowed: Allowed) -> tuple[int, ...]:
    """Return a size with the largest share of the range; of equal ones the first."""
    shares: list[_Shares] = []
    for (removed, added), allow in allowed.items():
        own = sizes[allow]
        of_x, of_y = query.runs(own), query.runs(own - removed + added)
        if of_x is None or of_y is None:
            return tuple(sizes.tolist())
        core = own - removed
        shares.append(_largest_share(of_x, of_y, added, core, own))
        shares.append(_largest_share(of_y, of_x, removed, core, own))
    ratios = [share.above.astype(np.float64) / share.below.astype(np.float64) for share in shares]
    best = max(float(ratio.max(initial=0.0)) for ratio in ratios)
    found: dict[Fraction, int] = {}
    for share, ratio in zip(shares, ratios, strict=True):
        near = np.flatnonzero(ratio >= best - _TIED)
        # Equal fractions are one float here, and different ones two: one size for each float is
        # enough.
        if len(near) and share.below.max() < _APART:
            near = near[np.unique(ratio[near], return_index=True)[1]]
        columns = (of[near].tolist() for of in share)
        for above, below, size in zip(*columns, strict=True):
            equal = found.setdefault(Fraction(above, below), size)
            found[Fraction(above, below)] = min(equal, size)
    return (found[max(found)],)


def _largest_share(one: Runs, other: Runs, lower: int, core: Sizes, sizes: Sizes) -> _Shares:
    """Return the largest weight of the upper records in one dataset less that in the other.

    All records are at one of the two ends. Of the core t are at the lower one; so are the `lower`
    records that only the other dataset has. The difference is linear in t between the ranks where
    runs begin or end, so that it is largest at one of these, or where t is 0 or the whole core.
    """
    ranks = [*one.starts, *one.stops, *(other.starts - lower), *(other.stops - lower)]
    best: NDArray[Any] | None = None
    below = one.units * other.units
    for rank in (*ranks, np.zeros_like(core), core):
        t = np.clip(rank, 0, core)
        # Both are over one.units * other.units, so they are compared as whole numbers.
        above = _upper(one, t) * other.units - _upper(other, t + lower) * one.units
        best = above if best is None else np.maximum(best, above)
    return _Shares(np.asarray(best), below, sizes)


def _upper(runs: Runs, lower: Sizes) -> NDArray[Any]:
    """Return the weight, times the unit, of all records but the first `lower` ones."""
    left = np.maximum(runs.stops - np.maximum(runs.starts, lower), 0)
    total: NDArray[Any] = (left * runs.weights).sum(axis=0)
    return total
