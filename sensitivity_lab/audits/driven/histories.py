"""Adaptive code with continuous noise, replayed: runs on all datasets that release the same.

What code does after a noisy number may depend on that number: a scale, a clipping bound, a
gradient. Then no affine law holds for all runs, but one holds for each *history* of released
numbers. See docs/proofs.md, "Replay": *Histories of continuous noise*.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from sensitivity_lab.audits.returned import Parts, Path, bare
from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.matrices import (
    Matrix,
    determinant,
    dot,
    inverse,
    product,
    reduced,
)

from .draws import Law
from .laws import Divergence, ReleaseLaw, compared, log_bounds, noisy_paths
from .runs import Explored, Leaf, Run, again, called, inside, leaf_of, state_of
from .stops import LeavesError, stopped
from .symbols import GAUSSIAN, LAPLACE, Bound, Draw, Symbol

DRAWS = 12
"""Code with more draws of noise is not replayed: solving for all of them takes long."""

HISTORIES = 81
"""The most histories: with four draws, each is near, far above and far below in some of them."""

LEAST_HISTORIES = 9
"""At least so many histories are tried, however many pairs of neighbors there are."""

COMPARED = 1_500
"""About so many pairs of laws are compared."""

_ROUNDS = 32
"""A run settles its draws one decision after the other; code with more is not replayed."""

_REPEATS = 16
"""So many times both runs of a violation are repeated."""

_LARGE = Fraction(700)
"""An epsilon that only events of probability 0 on one side exceed."""

_UNPUBLISHED = (
    "decides by a noisy number that it does not release, or releases it otherwise than it is: "
    "return every noisy number as it is"
)


class ReplayedRun(Run):
    """A run with given values of its noise, which decide its comparisons; releases stay symbols.

    Parameters
    ----------
    values : mapping of int to Fraction
        The values of draws, by their numbers; other draws get values of their own.
    """

    def __init__(self, values: Mapping[int, Fraction]) -> None:
        super().__init__()
        self.values = dict(values)

    def noise(self, kind: str) -> Symbol:
        """Return a new draw of standard continuous noise."""
        number = len(self.noises)
        self.values.setdefault(number, _near(random.Random(number)))
        return super().noise(kind)

    def discrete(self, law: Law) -> Symbol:
        """Refused: a replayed run takes one way only."""
        raise LeavesError("decides by continuous noise, and draws whole or uniform numbers, too")

    def uniform(self) -> Symbol:
        """Refused, as a discrete draw."""
        return self.discrete(Law("integers", (0, 1)))

    def within(self, symbol: Symbol, low: Bound, high: Bound) -> bool:
        """Decide whether a symbol is within bounds."""
        if stopped() or not symbol.terms:
            return super().within(symbol, low, high)
        self.decided.append((symbol, False))
        return inside(self.of(symbol), low, high)

    def value(self, symbol: Symbol) -> Fraction:
        """Decide the value of a symbol: as the float that stands for it."""
        if stopped() or not symbol.terms:
            return super().value(symbol)
        self.decided.append((symbol, True))
        return Fraction(float(self.of(symbol)))

    def once_more(self) -> Run:
        """Refused: what a run with these values releases was seen."""
        raise LeavesError("computes with noise otherwise than with a number")

    def of(self, symbol: Symbol) -> Fraction:
        """Return the value of a symbol."""
        return symbol.at(self.example())

    def example(self) -> dict[Draw, Fraction]:
        """Return the values of all draws."""
        return {Draw(kind, number): self.values[number] for number, kind in enumerate(self.noises)}


def _near(source: random.Random) -> Fraction:
    """Return noise of the size that is usual."""
    return Fraction(source.getrandbits(40) | 1, 2**39) * source.choice((-1, 1))


def _far(source: random.Random) -> Fraction:
    return Fraction(10) ** source.randint(1, 3) * (1 + abs(_near(source)))


@dataclass(frozen=True)
class Replayed:
    """A run whose release is known, and the law that it would have with the same decisions."""

    leaf: Leaf
    law: ReleaseLaw

    @cached_property
    def key(self) -> Hashable:
        """What runs share that have the same law."""
        noisy = {path: self.leaf.symbols[path] for path in noisy_paths(self.leaf)}
        rest = frozenset(
            (path, part) for path, part in self.leaf.parts.items() if path not in noisy
        )
        laws = ((path, one.constant, frozenset(one.terms.items())) for path, one in noisy.items())
        return rest, tuple(laws)

    @property
    def noise(self) -> dict[Draw, Fraction]:
        """The values of the draws, in scales."""
        return self.leaf.run.example()

    @property
    def release(self) -> dict[Path, Fraction]:
        """The noisy numbers that it releases, by where they stand."""
        return {path: self.leaf.symbols[path].at(self.noise) for path in noisy_paths(self.leaf)}


def _replay(function: Callable[..., Any], dataset: Any, values: Mapping[int, Fraction]) -> Leaf:
    """Run a function with given noise."""
    run = ReplayedRun(values)
    leaf = leaf_of(run, called(function, dataset, run))
    return replace(leaf, symbols=leaf.symbols | _released_values(run, leaf.parts, leaf.symbols))


def _checked(function: Callable[..., Any], dataset: Any, leaf: Leaf) -> Leaf:
    """Return a run with the types of numbers; raise LeavesError if it decides by what it keeps."""
    numbers = again(function, dataset, leaf).parts
    # Floats that follow from decided values are those of this run: they are the same on two
    # datasets that release the same, where the sum of an answer and its noise is rounded.
    floats = {path: part for path, part in leaf.parts.items() if isinstance(bare(part), float)}
    _check_decided(leaf)
    return replace(leaf, parts=numbers | floats)


def _released_values(
    run: ReplayedRun, parts: Parts, symbols: Mapping[Path, Symbol]
) -> dict[Path, Symbol]:
    """Return the parts that are values of symbols, such as float(noisy): noisy numbers as well."""
    values = {float(run.of(symbol)): symbol for symbol, whole in run.decided[::-1] if whole}
    numbers = {path: bare(part) for path, part in parts.items() if path not in symbols}
    return {
        path: values[number]
        for path, number in numbers.items()
        if isinstance(number, float) and number in values
    }


def _check_decided(leaf: Leaf) -> None:
    """Raise LeavesError unless what was released before tells everything that a run decided by."""
    for clock, (symbol, _) in enumerate(leaf.run.decided):
        before = [path for path, one in leaf.symbols.items() if one.born <= clock]
        if any(leaf.symbols[path].terms == symbol.terms for path in before):
            continue  # the number itself was released
        rows = _coefficients(leaf, before)
        own = [symbol.terms.get(draw, Fraction(0)) for draw in leaf.run.example()]
        if reduced([*rows, own])[1] > reduced(rows)[1]:
            raise LeavesError(_UNPUBLISHED)


def _matched(function: Callable[..., Any], dataset: Any, release: Mapping[Path, Fraction]) -> Leaf:
    """Run a function on a dataset so that it releases given numbers, as far as it can.

    Each round solves for the noise under the decisions of the last one. The first released number
    is right after one round, and what is decided by it after the next.
    """
    values: dict[int, Fraction] = {}
    for _ in range(_ROUNDS):
        leaf = _replay(function, dataset, values)
        found = _noise_for(leaf, release)
        if all(leaf.run.example()[draw] == value for draw, value in found.items()):
            return _checked(function, dataset, leaf)
        values = {draw.number: value for draw, value in found.items()}
    raise LeavesError("does not settle when its releases are replayed")


def _noise_for(leaf: Leaf, release: Mapping[Path, Fraction]) -> dict[Draw, Fraction]:
    """Return the least noise with which the affine law of a run releases given numbers."""
    draws = list(leaf.run.example())
    released = [(leaf.symbols[path], release[path]) for path in release if path in leaf.symbols]
    rows = _coefficients(leaf, [path for path in release if path in leaf.symbols])
    if not any(map(any, rows)):
        return {}
    change, rank = reduced(rows)
    rows = product(change[:rank], rows)
    wanted = [number - one.constant for one, number in released]
    wanted = [dot(combination, wanted) for combination in change[:rank]]
    gram = [[dot(one, other) for other in rows] for one in rows]
    factors = [dot(row, wanted) for row in inverse(gram)]
    return {
        draw: sum(
            (factor * row[place] for factor, row in zip(factors, rows, strict=True)), Fraction(0)
        )
        for place, draw in enumerate(draws)
        if any(row[place] for row in rows)
    }


def histories(
    function: Callable[..., Any], datasets: Sequence[Any], number: int
) -> Callable[[int], list[Replayed]]:
    """Return what replays a history by its number: runs on all datasets with one release.

    Raises
    ------
    LeavesError
        When it is called: if what the function decides by is not what it releases.
    """
    draws = len(_replay(function, datasets[0], {}).run.noises)
    if draws > DRAWS:
        raise LeavesError("draws too often to be replayed")
    patterns = list(itertools.islice(itertools.product((1, 0, -1), repeat=draws), HISTORIES + 1))
    source = random.Random(0)

    def replayed(place: int) -> list[Replayed]:
        few = len(patterns) <= number
        signs = patterns[place % len(patterns)] if few else source.choices((1, 0, -1), k=draws)
        values = {
            at: sign * _far(source) if sign else _near(source) for at, sign in enumerate(signs)
        }
        start = datasets[place % len(datasets)]
        release = _law(_checked(function, start, _replay(function, start, values)), start).release
        return [_law(_matched(function, x, release), x) for x in datasets]

    return replayed


def _law(leaf: Leaf, dataset: Any) -> Replayed:
    """Return a run with the law of what it releases: each part given all that came before."""
    noise, symbols = leaf.run.example(), dict(leaf.symbols)
    known: set[Draw] = set()  # draws that were told before
    for born in sorted({one.born for one in leaf.symbols.values()}):
        now = [path for path, one in symbols.items() if one.born == born]
        for path in now:
            symbols[path] = _given(symbols[path], {draw: noise[draw] for draw in known})
        drawn = {draw for path in now for draw in symbols[path].terms}
        told = replace(leaf, symbols={path: symbols[path] for path in now})
        if reduced(_coefficients(told, now))[1] == len(drawn):
            known |= drawn
    told = replace(leaf, symbols=symbols)
    return Replayed(told, ReleaseLaw(Explored(dataset, [told], Fraction(0))))


def _given(symbol: Symbol, known: Mapping[Draw, Fraction]) -> Symbol:
    """Return a symbol in which some draws have their values."""
    told = {draw: a for draw, a in symbol.terms.items() if draw in known}
    constant = symbol.constant + sum((a * known[draw] for draw, a in told.items()), Fraction(0))
    left = {draw: a for draw, a in symbol.terms.items() if draw not in known}
    found = Symbol(symbol.run, left, constant, symbol.whole)
    found.born = symbol.born
    return found


def loss(x: Replayed, y: Replayed, divergence: Divergence, rho: bool) -> Fraction | float | None:
    """Return what telling two datasets apart takes at least, since both can release the same.

    Parameters
    ----------
    x, y : Replayed
        Runs with equal releases, as far as that is possible.
    divergence : Divergence
        Their laws, compared.
    rho : bool
        Whether a rho is asked for, rather than an epsilon.

    Returns
    -------
    Fraction, infinity or None
        A lower bound for code that treats nearby releases as it treats this one; None if nothing
        is known.
    """
    if divergence.delta(_LARGE)[0] == 1:  # something differs that no noise hides
        return math.inf
    return _least_rho(x, y, divergence) if rho else _log_ratio(x.leaf, y.leaf)


def _log_ratio(x: Leaf, y: Leaf) -> Fraction | None:
    """Return how far the logarithms of two densities at a common release are apart.

    With a release M Z + c and a square M, the density is that of the noise Z over the determinant.
    """
    paths = noisy_paths(x)
    found = []
    change, rank = reduced(_coefficients(x, paths))
    for one in (x, y):
        rows = [row for row in zip(*_coefficients(one, paths), strict=True) if any(row)]
        square = product(change[:rank], list(zip(*rows, strict=True))) if rows else []
        if len(rows) != rank or not (size := abs(determinant(square))):
            return None
        values = one.run.example()
        drawn = [draw for draw in values if any(draw in one.symbols[path].terms for path in paths)]
        laplace = [abs(values[draw]) for draw in drawn if draw.kind == LAPLACE]
        normal = [values[draw] ** 2 / 2 for draw in drawn if draw.kind == GAUSSIAN]
        found.append((sum(laplace + normal, Fraction(0)), size, len(laplace)))
    (of_x, size_x, kinds_x), (of_y, size_y, kinds_y) = found
    return abs(of_y - of_x + log_bounds(size_y / size_x)[0]) if kinds_x == kinds_y else None


def _coefficients(leaf: Leaf, paths: Sequence[Path]) -> Matrix:
    draws = leaf.run.example()
    return [[leaf.symbols[path].terms.get(draw, Fraction(0)) for draw in draws] for path in paths]


def _least_rho(x: Replayed, y: Replayed, divergence: Divergence) -> Fraction | None:
    """Return the rho of what is released after the last decision, where all noise is normal.

    Given what was released before, it has a law of its own: of normal noise, rho is that of all
    less that of what came before.
    """
    whole = divergence.rho
    before = compared(_before(x), _before(y)).rho
    if whole is None or before is None or whole[0] != whole[1] or before[0] != before[1]:
        return None
    return Fraction(whole[0]) - Fraction(before[0])


def _before(one: Replayed) -> ReleaseLaw:
    """Return the law of what was released before the last decision."""
    leaf, last = one.leaf, one.leaf.run.clock
    symbols = {path: symbol for path, symbol in leaf.symbols.items() if symbol.born < last}
    parts = {path: part for path, part in leaf.parts.items() if path in symbols}
    return _law(replace(leaf, parts=parts, symbols=symbols), one.law.dataset).law


def check_repeats(function: Callable[..., Any], *both: Replayed) -> None:
    """Raise QueryError unless runs with the same noise release the same again."""
    for one in both:
        x, values = one.law.dataset, {draw.number: value for draw, value in one.noise.items()}
        for _ in range(_REPEATS):
            if _checked(function, x, _replay(function, x, values)).parts != one.leaf.parts:
                raise QueryError(state_of(x))
