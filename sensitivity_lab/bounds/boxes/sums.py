"""Functions of a few sums over their records: as many variables for any number of records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sensitivity_lab.errors import QueryError

from .carried import CONTINUOUS, records
from .forms import Curve, Form, form_of, on_interval, range_of
from .intervals import Floats, Interval
from .reading import N, NotOfSumsError, Poly, read
from .search import Root, difference


Counted = list[tuple[float, int]]
"""Records, each with how often it occurs."""


@dataclass(frozen=True)
class FromSums:
    """The answer on a dataset of two groups, common and own records, from their variables.

    Its argument has the sizes of both groups, the number 1, and the variables of each group.

    Attributes
    ----------
    answer : Poly
    divisors : tuple of Poly
        What may not be 0, also where it cancels in the answer.
    form : Form
    """

    answer: Poly
    divisors: tuple[Poly, ...]
    form: Form

    def __call__(self, z: Any) -> Any:
        """Return the answer."""
        many = len(self.form.ends)
        parts = [z[at] for at in range(3 + 2 * many)]
        known = self.form.known(parts[:2], parts[3 : 3 + many], parts[3 + many :], parts[2])
        return self._of(known, parts[2])

    def _of(self, known: dict[str, Any], one: Any) -> Any:
        found = self.answer.value(known, one)
        for by in self.divisors:  # 0 times the reciprocal: nothing, but where that is not defined
            found = found + 0 * (one / by.value(known, one))
        return found

    def on(self, at: Floats, times: Floats) -> dict[str, Interval]:
        """Return the sums of records, or the moments, rounded outward."""
        values = [on_interval(base, at, at).value for base in self.form.bases]
        counts = Interval.of(times)
        return self.form.statistics(values, counts, counts.sum(0))

    def hints(self, point: Floats, ends: tuple[float, float]) -> list[float]:
        """Return records whose values are the first variables of the groups of a point."""
        grid, many = np.linspace(*ends, _GRID), len(self.form.ends)
        first = point[4::many]
        if isinstance(self.form, Curve):
            return [float(one) for one in first]
        values = on_interval(self.form.bases[0], grid, grid).value.lo
        return [float(grid[np.argmin(np.abs(values - one))]) for one in first]


_GRID = 4097
"""Records are looked up among so many."""


@dataclass(frozen=True)
class OnSums:
    """The answer as a function of the sums of a dataset, or of its moments, themselves."""

    of: FromSums
    keys: tuple[str, ...]

    def __call__(self, z: Any) -> Any:
        """Return the answer; the last variable is the number 1."""
        known = {key: z[at] for at, key in enumerate(self.keys)}
        return self.of._of(known, z[len(self.keys)])


def of_sums(
    function: Callable[[Any], Any],
    shapes: Sequence[tuple[int, int, int]],
    ends: tuple[float, float],
) -> FromSums:
    """Read a caller's function as one of sums.

    Raises
    ------
    NotOfSumsError
        With what else the function does.
    """
    found = read(function)
    if len(shapes) > _MOST_SHAPES:
        raise NotOfSumsError(f"is asked for {len(shapes):,} changes of sizes, not {_MOST_SHAPES:,}")
    if any(not common + min(own) for common, *own in shapes):
        raise NotOfSumsError("is asked for the dataset of nobody")
    if any(atom.name in ("max", "min") for atom in found.poly.atoms().values()):
        raise NotOfSumsError("asks for the largest or smallest record")
    for poly in found.divisors:
        if poly.each and _has(poly, "sum"):
            raise NotOfSumsError("divides by what mixes a record with an answer")
        if poly.each and range_of(poly, *ends)[2] < CONTINUOUS:
            raise NotOfSumsError(
                "divides by, or takes a root or logarithm of, what can be 0 or less"
            )
    single = max(max(own) for _, *own in shapes) <= 1
    form, answer = form_of(found.poly, *ends, single)
    cancelled = _cancelled(found.divisors, answer, form)
    if cancelled and any(_has(answer, name) for name in _PASS_NAN):
        raise NotOfSumsError("compares what it divides by something that cancels")
    return FromSums(answer, cancelled, form)


_MOST_SHAPES = 200
"""No more changes of sizes have their boxes."""

_PASS_NAN = ("where", "greater", "greater_equal", "less", "less_equal")
"""What answers a number where it gets NaN."""


def _has(poly: Poly, name: str) -> bool:
    return any(atom.name == name for atom in poly.atoms().values())


def _cancelled(divisors: Sequence[Poly], answer: Poly, form: Form) -> tuple[Poly, ...]:
    """Return what the function divides by, and the answer no longer does.

    A product is 0 where a factor is; n is not, nor is exp.
    """
    found: dict[str, Poly] = {}
    for poly in divisors:
        told = Poly(()) if poly.each else form.rewritten(poly)
        factors = [told]
        if len(told.terms) == 1:
            factors = [Poly.atom(atom) for atom, _ in told.terms[0][0]]
        for one in factors:
            if set(one.atoms()) - {N.key} and not one.key.startswith("1*exp("):
                found[one.key] = one
    for monomial, _ in answer.terms:
        for atom, power in monomial:
            inner = atom.of[0] if atom.name == "itself" else Poly.atom(atom)
            if power < 0:
                found.pop(inner.key, None)
    return tuple(found.values())


def roots_of_sums(of: FromSums, shapes: Iterable[tuple[int, int, int]]) -> list[Root]:
    """Return the roots of all pairs with so many common records, and own ones of x and of y.

    The variables are the three counts, the number 1, those of the common group, and those of both
    own groups. A group of no records has weight 0 and variables that do not matter, so that
    differences are carried to x and y of different sizes, too.
    """
    ends, roots = of.form.ends, []
    many = len(ends)
    fixed = 4  # common, own of x, own of y, one
    groups = [list(range(fixed + many * at, fixed + many * (at + 1))) for at in range(3)]
    for shape in shapes:
        box = [(float(count), float(count)) for count in shape] + [(1.0, 1.0)]
        for count in shape:
            free = len(ends) if count > 1 else min(count, 1)
            box += [*ends[:free], *[(end[0], end[0]) for end in ends[free:]]]
        lower, upper = (np.array(end) for end in zip(*box, strict=True))
        # Of a group of none the variables are those of the other side: they do not differ.
        own = [groups[1] if shape[1] else groups[2], groups[2] if shape[2] else groups[1]]
        on_x, on_y = (
            (0, place, 3, *groups[0], *these) for place, these in zip((1, 2), own, strict=True)
        )
        signs = (1,) if shape[1] == shape[2] else (1, -1)
        roots += [Root(lower, upper, on_x, on_y, (), sign, lists=True) for sign in signs]
    return roots


def certified_gap(of: FromSums, pair: tuple[Counted, Counted]) -> float:
    """Return how far answers on two datasets are apart at least, by interval arithmetic."""
    told = [of.on(*np.array(data, dtype=np.float64).T) for data in pair]
    keys = tuple(told[0])
    ends = [[float(end) for one in told for end in (getattr(one[key], side) for key in keys)]
            for side in ("lo", "hi")]  # fmt: skip
    lo, hi = (np.array([*one, 1.0]) for one in ends)
    many = len(keys)
    last = 2 * many
    on = (*range(many), last), (*range(many, last), last)
    root = Root(lo, hi, *on, (), 1, lists=True)
    value, _ = difference(OnSums(of, keys), root, lo[:, None], hi[:, None], slopes=False)
    lo, hi = np.nan_to_num([value.lo[0], -value.hi[0]], nan=0.0)
    return max(float(lo), float(hi), 0.0)


def check_real(of: FromSums, query: Any, sizes: Iterable[int], ends: tuple[float, float]) -> None:
    """Raise QueryError unless the function answers on numbers as its sums do."""
    random = np.random.default_rng(0)
    for size in sizes:
        for number in (1, 2, 5, 20):
            distinct = np.sort(ends[0] + random.random(number) * (ends[1] - ends[0]))
            times = random.multinomial(size, np.full(number, 1 / number))
            came = float(query.evaluate(np.repeat(distinct, times)[None])[0])
            told = of.on(distinct, times.astype(np.float64))
            lo, hi = (
                np.array([*(float(getattr(one, side)) for one in told.values()), 1.0])[:, None]
                for side in ("lo", "hi")
            )
            places = tuple(range(len(lo)))
            z = records((lo, hi), (lo, hi), places, places, 0, ordered=True)
            z.records = False
            with np.errstate(all="ignore"):
                found = (0 * z[0] + OnSums(of, tuple(told))(z)).x.value
            near = _NEAR * (1 + abs(came)) * np.sqrt(size)
            if not found.lo.item() - near <= came <= found.hi.item() + near:
                raise QueryError(
                    f"{query.name} is {came!r} on {size:,} records, but its sums give "
                    f"{found.lo.item()!r} to {found.hi.item()!r}: it is random, or asks what kind "
                    "of array it got"
                )


_NEAR = 1e-9


# Pairs of datasets of few distinct records: the lower bound.


@dataclass(frozen=True)
class Few:
    """Pairs of datasets of at most three distinct common records, and two own ones of each side.

    Attributes
    ----------
    records : ndarray, shape (7, pairs)
        Three common ones, two of x, two of y.
    times : ndarray, shape (7, pairs)
        How often each occurs.
    """

    records: Floats
    times: Floats

    def __getitem__(self, at: Any) -> Few:
        return Few(self.records[:, at], self.times[:, at])

    def pair(self, at: int) -> tuple[Counted, Counted]:
        """Return one of them."""
        found: list[Counted] = []
        for places in (_ON_X, _ON_Y):
            merged: dict[float, int] = {}
            for place in places:
                record, count = float(self.records[place, at]), int(self.times[place, at])
                if count:
                    merged[record] = merged.get(record, 0) + count
            found.append(sorted(merged.items()))
        return found[0], found[1]


_ON_X, _ON_Y = (0, 1, 2, 3, 4), (0, 1, 2, 5, 6)
_GROUPS = ((0, 1, 2), (3, 4), (5, 6))
_ALL = range(7)
_CLIMBERS, _OF_SUMS_KEPT, _SMALLEST = 128, 16, 1e-4


@np.errstate(all="ignore")
def _apart(of: FromSums, pairs: Few) -> Floats:
    """Return how far apart the answers are, in floats; minus infinity where one is none."""
    answers = []
    for places in (_ON_X, _ON_Y):
        at, times = pairs.records[list(places)], Interval.of(pairs.times[list(places)])
        values = []
        for base in of.form.bases:
            flat = on_interval(base, at.ravel(), at.ravel()).value
            values.append(Interval(flat.lo.reshape(at.shape), flat.hi.reshape(at.shape)))
        sums = of.form.statistics(values, times, times.sum(0))
        known = {key: one.lo + np.zeros(at.shape[1]) for key, one in sums.items()}
        answers.append(of._of(known, np.ones(at.shape[1])))
    far = np.abs(answers[0] - answers[1])
    return np.where(np.isfinite(far), far, -np.inf)


def furthest(
    of: FromSums,
    shapes: Sequence[tuple[int, int, int]],
    ends: tuple[float, float],
    steps: int = 24,
    hints: Sequence[float] = (),
) -> tuple[float, tuple[Counted, Counted]]:
    """Return the pair that is furthest apart among those that a climb finds, and how far it is.

    Hints are records to begin with, beside those at the ends and random ones.
    """
    found = [_climbed(of, shape, ends, steps, hints) for shape in shapes]
    gaps = [certified_gap(of, pair) for pair in found]
    best = int(np.argmax(gaps))
    return gaps[best], found[best]


def _climbed(
    of: FromSums,
    shape: tuple[int, int, int],
    ends: tuple[float, float],
    steps: int,
    hints: Sequence[float],
) -> tuple[Counted, Counted]:
    random = np.random.default_rng(0)
    wide = (len(_ALL), 4 * _CLIMBERS)
    drawn = ends[0] + random.random(wide) * (ends[1] - ends[0])
    special = random.choice([*ends, *np.clip(hints, *ends)], wide)
    drawn = np.where(random.random(wide) < random.choice([0.0, 0.5, 1.0], wide[1]), special, drawn)
    times = np.zeros(wide)
    for count, places in zip(shape, _GROUPS, strict=True):
        left = np.full(wide[1], float(count))
        for place in places[:-1]:
            share = random.random(wide[1])
            share = np.where(random.random(wide[1]) < 0.5, np.round(share), share)
            times[place] = np.round(left * share)
            left -= times[place]
        times[places[-1]] = left
    pairs = Few(drawn, times)
    for step in range(steps):
        kept = np.argsort(-_apart(of, pairs), kind="stable")[:_OF_SUMS_KEPT]
        pairs = pairs[kept]
        more = _moved(
            pairs[np.repeat(np.arange(len(kept)), _CLIMBERS // _OF_SUMS_KEPT)],
            ends,
            _SMALLEST ** (step / steps),
            random,
        )
        pairs = Few(np.hstack([pairs.records, more.records]), np.hstack([pairs.times, more.times]))
    return pairs.pair(int(np.argmax(_apart(of, pairs))))


def _moved(pairs: Few, ends: tuple[float, float], step: float, random: Any) -> Few:
    """Return pairs with some records moved, and some of them counted elsewhere in their group."""
    shape = pairs.records.shape
    moved = pairs.records + random.normal(size=shape) * step * (ends[1] - ends[0])
    moved = np.where(random.random(shape) < 0.3, np.where(random.random(shape) < 0.5, *ends), moved)
    drawn = np.clip(np.where(random.random(shape) < 0.25, moved, pairs.records), *ends)
    times = pairs.times.copy()
    for places in _GROUPS:
        start, to = random.choice(places, 2, replace=False)
        most = np.maximum(1, np.round(times[start] * step * random.random(shape[1])))
        taken = np.where(random.random(shape[1]) < 0.4, np.minimum(most, times[start]), 0)
        times[start] -= taken
        times[to] += taken
    return Few(drawn, times)
