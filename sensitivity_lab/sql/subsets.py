"""The most that up to k units change together: a search by branch and bound.

What is lost comes in *atoms*: the results of a group that refer to the same units, or one value of
COUNT(DISTINCT ...). An atom has a place, a weight, and *clauses*, each a set of units: it is lost
as soon as the units that are removed meet every clause. Results have one clause, their units; a
value has one for each kind of its results.

Let D(S) be what the units S lose, by place. Removing T on top of S changes D by atoms that T is in,
so |D(S + T)| <= |D(S)| + sum over T of b(t), where b(t), the *stake* of t, is the norm of the
absolute weights of all atoms that t is in. Units are tried in the order of their stakes, the
largest first, so that the next ones bound all later ones. The state with the largest bound goes
first: once that is no more than the best set found, the best set is a maximum. Where no atom has
two units and the weights of one place have one sign, the first dive attains its bound, and the
search is over.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any, Literal

from sensitivity_lab.exact.root_sums import RootSum

MOST_STATES = 30_000
"""The search ends with bounds after so many states."""

_NEAR = 1e-9
"""Floats decide where they differ by more than this share; what is closer is compared exactly."""

_EXACT_TERMS = 24
"""The most roots whose sum is compared exactly."""

_GREEDY_STEPS, _GREEDY_UNITS = 20, 200
"""How far the first guess looks."""

Loss = dict[int, int]
"""What is lost, by place; places without loss are left out."""

Measure = Literal["signed", "L1", "L2"]
"""What is maximal: the loss of one place with its sign, or a norm over all places."""


@dataclass(frozen=True)
class Atom:
    """What is lost as a whole.

    Attributes
    ----------
    place : int
        Its group.
    weight : int
        How much is lost.
    clauses : tuple of frozensets of int
        The atom is lost once the removed units meet each of them.
    """

    place: int
    weight: int
    clauses: tuple[frozenset[int], ...]

    @property
    def units(self) -> frozenset[int]:
        """All units that it is at stake with."""
        return frozenset().union(*self.clauses)


class Length:
    """A sum of square roots of whole numbers: a bound of an L2 norm.

    Parameters
    ----------
    close : float
        About the sum.
    squares : tuple of int
        The squares of the roots that are added up.
    """

    __slots__ = ("close", "squares")

    def __init__(self, close: float, squares: tuple[int, ...]) -> None:
        self.close, self.squares = close, squares

    @classmethod
    def of(cls, square: int) -> Length:
        """Return a single root."""
        return cls(math.sqrt(square), (square,) if square else ())

    def __add__(self, other: Length) -> Length:
        return Length(self.close + other.close, self.squares + other.squares)

    def may_exceed(self, square: int) -> bool:
        """Tell whether the sum is more than the root of a square, or may be, as far as is known."""
        root = math.sqrt(square)
        if abs(self.close - root) > _NEAR * max(self.close, root):
            return self.close > root
        if len(self.squares) > _EXACT_TERMS:
            return True
        total = RootSum.of((1, Fraction(one)) for one in self.squares)
        return bool(total > RootSum.of([(1, Fraction(square))]))


@dataclass(frozen=True)
class Found:
    """The end of a search.

    Attributes
    ----------
    chosen : tuple of int
        The units of the best set.
    value : int
        What they lose, measured; the square of the norm L2.
    upper : int or Length or None
        No set of k units loses more; None if the best set is a maximum.
    states : int
        How many states were looked at.
    """

    chosen: tuple[int, ...]
    value: int
    upper: int | Length | None
    states: int


class SubsetSearch:
    """Searches the set of up to k units that lose the most.

    Parameters
    ----------
    atoms : sequence of Atom
        All atoms that can be lost with the units.
    stakes : sequence of int
        The stake of each unit, the largest first; its square for L2. Units are called by their
        places here.
    measure : {"signed", "L1", "L2"}
        What is maximal.
    k : int
        How many units can be removed.
    rest : int
        The largest stake, or its square, of all units that are not listed here; 0 without such.
    """

    def __init__(
        self, atoms: Sequence[Atom], stakes: Sequence[int], measure: Measure, k: int, rest: int
    ) -> None:
        self.measure, self.k, self.rest = measure, k, rest
        self.stakes = list(stakes)
        self._atoms: list[list[Atom]] = [[] for _ in stakes]
        for atom in atoms:
            for unit in atom.units:
                self._atoms[unit].append(atom)
        # If every unit only adds to the loss, and the less the more are removed already, then what
        # a unit adds now bounds what it adds later: a better bound than its stake.
        self._shrinking = all(one.weight >= 0 and len(one.clauses) == 1 for one in atoms) and any(
            len(clause) > 1 for one in atoms for clause in one.clauses
        )

    def run(self) -> Found:
        """Return the best set, and a bound of all sets."""
        best, chosen = max((0, ()), self._first(), self._greedy())
        order = count()
        states = 0
        # Of a state: its bound, negated; how many units it has, negated, so that dives come first;
        # the order, which decides ties; the bound; the units, their loss, and the next unit to try.
        heap: list[Any] = []
        self._push(heap, best, next(order), (), {}, 0)
        while heap:
            *_, bound, units, loss, following = heapq.heappop(heap)
            if not self._exceeds(bound, best):
                break
            if following == len(self.stakes) or states == MOST_STATES:
                return Found(chosen, best, bound, states)
            states += 1
            more = self._with(loss, following, units)
            value = self.value(more)
            if value > best:
                best, chosen = value, (*units, following)
            self._push(heap, best, next(order), (*units, following), more, following + 1)
            self._push(heap, best, next(order), units, loss, following + 1)
        return Found(chosen, best, None, states)

    def value(self, loss: Loss) -> int:
        """Return a loss, measured; the square of the norm L2."""
        if self.measure == "signed":
            return sum(loss.values())
        if self.measure == "L1":
            return sum(map(abs, loss.values()))
        return sum(one * one for one in loss.values())

    def _push(
        self, heap: list[Any], best: int, order: int, units: tuple[int, ...], loss: Loss, at: int
    ) -> None:
        """Add a state to the heap, unless it cannot lead to a better set."""
        bound = self._bound(loss, at, units)
        if self._exceeds(bound, best):
            first = -(bound.close if isinstance(bound, Length) else bound)
            heapq.heappush(heap, (first, -len(units), order, bound, units, loss, at))

    @staticmethod
    def _exceeds(bound: int | Length, best: int) -> bool:
        return bound.may_exceed(best) if isinstance(bound, Length) else bound > best

    def _bound(self, loss: Loss, following: int, units: tuple[int, ...]) -> int | Length:
        """Return a bound for all sets that add later units to some."""
        left = self.k - len(units)
        if self._shrinking:
            steps = self._additions(following, units, left)
        else:
            steps = self.stakes[following : following + left]
        # Units that are not listed here can take the place of any later one.
        steps = [max(step, self.rest) for step in steps]
        if self.rest:
            steps += [self.rest] * (left - len(steps))
        value = self.value(loss)
        if self.measure != "L2":
            return value + sum(steps)
        total = Length.of(value)
        for step in steps:
            total += Length.of(step)
        return total

    def _additions(self, following: int, units: tuple[int, ...], left: int) -> list[int]:
        """Return the most that so many later units add now."""
        found: list[int] = []
        for unit in range(following, len(self.stakes)):
            if len(found) == left and (left == 0 or found[-1] >= self.stakes[unit]):
                break  # the later ones have no more at stake than these add
            found = sorted([*found, self.value(self._added(unit, units))], reverse=True)[:left]
        return found

    def _added(self, unit: int, units: tuple[int, ...]) -> Loss:
        """Return what a unit loses on top of others."""
        removed = frozenset(units)
        after = removed | {unit}
        loss: Loss = {}
        for atom in self._atoms[unit]:
            lost = all(clause & after for clause in atom.clauses)
            if lost and not all(clause & removed for clause in atom.clauses):
                loss[atom.place] = loss.get(atom.place, 0) + atom.weight
        return loss

    def _with(self, loss: Loss, unit: int, units: tuple[int, ...]) -> Loss:
        """Return what units lose together with one more."""
        after = dict(loss)
        for place, weight in self._added(unit, units).items():
            after[place] = after.get(place, 0) + weight
        return after

    def _first(self) -> tuple[int, tuple[int, ...]]:
        """Return the loss of the units with the largest stakes."""
        units: tuple[int, ...] = ()
        loss: Loss = {}
        for unit in range(min(self.k, len(self.stakes))):
            loss = self._with(loss, unit, units)
            units = (*units, unit)
        return self.value(loss), units

    def _greedy(self) -> tuple[int, tuple[int, ...]]:
        """Return the loss of units that are chosen one after the other, each the best then."""
        units: tuple[int, ...] = ()
        loss: Loss = {}
        value = 0
        for _ in range(min(self.k, _GREEDY_STEPS)):
            others = [u for u in range(min(len(self.stakes), _GREEDY_UNITS)) if u not in units]
            found = [(self.value(self._with(loss, unit, units)), unit) for unit in others]
            best, chosen = max(found, default=(0, -1))
            if best <= value:
                break
            loss, value = self._with(loss, chosen, units), best
            units = (*units, chosen)
        return value, units
