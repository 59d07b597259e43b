"""Noisy numbers as releases: code that converts them is compared after equal values of them.

Code that rounds, prints or compares a sum of an exact answer and noise leaves the affine laws. Then
the sum itself counts as released, by the law of its affine form, and the code runs on with a value
of it: the same one on all datasets. If it returns the same on neighbors, it does no more than
process what was released. The proof is under the heading "Handed on" of docs/proofs.md.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from sensitivity_lab.audits.replay import drawn_around
from sensitivity_lab.audits.returned import ENTRIES, Parts, bare, parts
from sensitivity_lab.errors import QueryError

from .draws import Law
from .generator import Fed
from .losses import Shift, ShiftLoss
from .runs import RAISED, Run, called, inside
from .stops import OutsideError, Stopwatch, budget, stopped
from .symbols import GAUSSIAN, LAPLACE, Bound, Draw, Symbol

_RUNS, LEAST, MOST, SECONDS = 20_000, 64, 1_000, 10.0
"""About so many runs, the fewest and the most vectors of values, and the CPU time after which no
more than the fewest are tried."""

_NUMBERS, _FIRST = 1_000, 4
"""The most noisy numbers of a run, and how many are of one kind in the first vectors."""

_NUMBER = re.compile(r"\d+\.?\d*(?:[eE][-+]?\d+)?")

_AGAIN, _NEAR = 3, 1e-9
"""After so many vectors, runs are made again with numbers; these differ by rounding alone."""

_KINDS = ("below", "above", "zero", *["near"] * 5)
"""Where the values of the first numbers are, by vector; those of others are drawn from these."""


class _Values:
    """The values of noisy numbers, by their order: the first run that needs one draws it."""

    def __init__(self, number: int) -> None:
        self._random = random.Random(number)
        self._number, self._drawn = number, list[Fraction]()

    def at(self, place: int, center: Fraction, scale: Fraction) -> Fraction:
        """Return the value of a number: near to its center, near to 0, or in one of its tails."""
        if place == len(self._drawn):
            source, kind = self._random, self._number
            # In the first vectors, the first numbers are of one kind: so all of them are in a tail
            # at once.
            if kind >= len(_KINDS) or place >= _FIRST:
                kind = source.randrange(len(_KINDS))
            value = drawn_around(float(center), float(scale), _KINDS[kind], source)
            self._drawn.append(Fraction(value))
        return self._drawn[place]


@dataclass(frozen=True)
class _Number:
    """A noisy number: the kind of its noise, its center given those before, and its scale."""

    kind: str
    center: Fraction
    scale: Fraction


class _Handed(Run):
    """A run in which every noisy number that code needs has a given value.

    Attributes
    ----------
    drawn : dict of Draw to Fraction
        The draws that the values of numbers tell.
    numbers : list of _Number
        The numbers that were needed, in order.
    """

    def __init__(self, values: _Values) -> None:
        super().__init__()
        self._values = values
        self.drawn: dict[Draw, Fraction] = {}
        self.numbers: list[_Number] = []

    def discrete(self, law: Law) -> Symbol:
        """Refused: what is returned would depend on this draw, too."""
        raise OutsideError("draws whole or uniform numbers, too")

    def uniform(self) -> Symbol:
        """Refused, as a discrete draw."""
        return self.discrete(Law("integers", (0, 1)))

    def noise(self, kind: str) -> Symbol:
        """Return a new draw of standard Laplace or Gaussian noise."""
        if kind not in (LAPLACE, GAUSSIAN):
            raise OutsideError(f"draws {kind} noise")
        return super().noise(kind)

    def before(self, one: Symbol, other: Symbol) -> None:
        """Give both a value: a difference of two draws of noise has a law of its own."""
        for symbol in (one, other):
            self.value(symbol)

    def within(self, symbol: Symbol, low: Bound, high: Bound) -> bool:
        """Decide whether a symbol is within bounds, by its value."""
        return inside(self.value(symbol), low, high)

    def value(self, symbol: Symbol) -> Fraction:
        """Return the value of a symbol: given if it has a draw of its own, else it follows."""
        if stopped():
            return super().value(symbol)
        # Given the numbers before, their draws are known: they are constants from now on.
        center = symbol.constant + sum(
            (a * self.drawn[draw] for draw, a in symbol.terms.items() if draw in self.drawn),
            Fraction(0),
        )
        own = [draw for draw in symbol.terms if draw not in self.drawn]
        if not own:
            return center
        if len(own) > 1:
            raise OutsideError("converts a sum of several draws of noise")
        if len(self.numbers) == _NUMBERS:
            raise OutsideError(f"converts more than {_NUMBERS} numbers with noise")
        [draw] = own
        factor = symbol.terms[draw]
        value = self._values.at(len(self.numbers), center, abs(factor))
        # Solved for the draw: later numbers with it get the value that fits.
        self.drawn[draw] = (value - center) / factor
        self.numbers.append(_Number(draw.kind, center, abs(factor)))
        return value


@dataclass
class Handed:
    """What noisy numbers cost that two datasets release.

    Attributes
    ----------
    epsilon : Fraction or infinity
        The largest sum of shifts over scales after a vector of values.
    shifts : list of (str, Fraction)
        By number, the kind of its noise, and the largest shift over its scale.
    """

    epsilon: Fraction | float = Fraction(0)
    shifts: list[tuple[str, Fraction]] = field(default_factory=list)

    def see(self, x: Sequence[_Number], y: Sequence[_Number]) -> bool:
        """Take in the numbers after a vector of values; tell whether only shifts differ."""
        # With other scales the ratio of densities is not that of a shift.
        if [(one.kind, one.scale) for one in x] != [(one.kind, one.scale) for one in y]:
            return False
        found = [
            (one.kind, abs(one.center - two.center) / one.scale)
            for one, two in zip(x, y, strict=True)
        ]
        # After one vector, the shifts of Laplace numbers add up; the worst vector counts.
        pure = all(kind == LAPLACE or not shift for kind, shift in found)
        whole = sum((shift for _, shift in found), Fraction(0)) if pure else math.inf
        self.epsilon = max(self.epsilon, whole)
        # For a delta it is each number's own worst shift that counts, see `loss`.
        before = self.shifts
        for place, (kind, shift) in enumerate(found):
            if place == len(before):
                before.append((kind, shift))
            elif before[place][0] != kind:
                return False
            else:
                before[place] = kind, max(shift, before[place][1])
        return True

    @property
    def loss(self) -> ShiftLoss:
        """The loss where each number is shifted as far as it ever is.

        Numbers that depend on earlier ones lose no more: each is dominated by its largest shift.
        """
        moved = [(kind, shift) for kind, shift in self.shifts if shift]
        laplace = (Shift((), shift, Fraction(0)) for kind, shift in moved if kind == LAPLACE)
        # The squares of the shifts of normal numbers add up to that of mu.
        squares = (shift**2 for kind, shift in moved if kind == GAUSSIAN)
        return ShiftLoss(tuple(laplace), (), mu_squared=sum(squares, Fraction(0)))


def handed_on(
    function: Callable[..., Any],
    datasets: Sequence[Any],
    pairs: Sequence[tuple[int, int]],
    by_numbers: bool = False,
) -> tuple[int, dict[tuple[int, int], Handed]] | None:
    """Compare what a function returns after equal values of its noisy numbers.

    Parameters
    ----------
    function : callable
        Takes a dataset and a generator.
    datasets : sequence
        All that are tried.
    pairs : sequence of (int, int)
        Neighbors, by their places.
    by_numbers : bool, default False
        Whether to compare what runs with numbers for the draws return, as code does where it makes
        something else of symbols: pandas rounds no column of objects.

    Returns
    -------
    (int, dict) or None
        After how many vectors of values all neighbors returned the same, and what the numbers of
        each pair cost; None where neighbors returned something else, or other numbers.

    Raises
    ------
    OutsideError
        If the function does something else with its draws.
    """
    watch = Stopwatch()
    found = {pair: Handed() for pair in pairs}
    number = min(max(_RUNS // max(len(datasets), len(pairs) // 4), LEAST), MOST)
    for round_ in range(number):
        if round_ >= LEAST and watch.over(SECONDS):
            return round_, found
        budget().check()
        values = _Values(round_)
        made: dict[int, tuple[Parts, list[_Number]]] = {}
        # Another dataset is the first one every time: values are drawn around its own numbers.
        for place in range(len(datasets)):
            at = (place + round_) % len(datasets)
            run = _Handed(values)
            told = _with_values(called(function, datasets[at], run))
            # An error may be one of symbols alone, such as where NumPy wants floats.
            raised = (RAISED, 0) in told
            # Code may do something else with symbols than with numbers; a few runs with numbers
            # show whether it does.
            if by_numbers or raised or round_ < _AGAIN:
                shown = _with_numbers(function, datasets[at], run, raised)
                if by_numbers and not raised:
                    told = shown
                # Then runs with numbers are compared instead. Nothing is known of code that fails
                # with symbols alone.
                elif not _is_rounding(told, shown):
                    return None if raised else handed_on(function, datasets, pairs, True)
            made[at] = told, run.numbers
        for x, y in pairs:
            if made[x][0] != made[y][0] or not found[x, y].see(made[x][1], made[y][1]):
                return None
    return number, found


def _with_values(returned: Parts) -> Parts:
    """Return what a run releases, with a value for each number with noise."""
    return {
        path: parts(part.decided(), typed=True)[()] if isinstance(part, Symbol) else part
        for path, part in sorted(returned.items(), key=lambda one: repr(one[0]))
    }


def _with_numbers(function: Callable[..., Any], dataset: Any, run: _Handed, raised: bool) -> Parts:
    """Return what a run with numbers for its draws releases; nothing where it draws more."""
    # Draws that no number needed have no value yet: any will do.
    draws = {Draw(kind, place): Fraction(1) for place, kind in enumerate(run.noises)} | run.drawn
    try:
        return called(function, dataset, Fed(draws, run.made))
    except QueryError:
        if raised:  # with symbols it did not get as far
            return {}
        raise


def _is_rounding(told: Parts, shown: Parts) -> bool:
    """Tell whether two runs released the same, but for rounding."""
    return shown.keys() == told.keys() and all(
        # The dtype of an array of symbols is another one.
        path[-1:] == (ENTRIES,) or _are_close(bare(part), bare(shown[path]))
        for path, part in told.items()
    )


def _are_close(one: Any, other: Any) -> bool:
    """Tell whether two numbers differ by rounding, or two texts in such numbers alone."""
    if one == other:
        return True
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=_NEAR, abs_tol=_NEAR)
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    numbers = [_NUMBER.findall(text) for text in (one, other)]
    alike = _NUMBER.sub("#", one) == _NUMBER.sub("#", other)
    return alike and all(_are_close(*map(float, both)) for both in zip(*numbers, strict=True))
