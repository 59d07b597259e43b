"""Which way finds the sensitivity of a stream, and what it finds: two sets of contributions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.difference import Difference, integers_of_floats, round_up
from sensitivity_lab.metrics.norms import Norm, norm_of
from sensitivity_lab.running import poll

from .search import (
    Descending,
    Node,
    Numbers,
    Objective,
    Rule,
    Squares,
    Sums,
    best_after,
    best_sum,
)
from .stream import Stream
from .vectors import certificate, solved, square, upper_square, vectors

Contribution = Literal["number", "one"] | int

Contributions = Mapping[int, Any]
"""What a person contributes, by step: a number, or a vector in a tuple."""

_EPS = float(np.finfo(np.float64).eps)

_NEAR = 500
"""So many patterns that floats cannot tell apart are compared exactly."""

_SMALL = 4096
"""A matrix of so many entries is searched in whole numbers, where floats would round."""

_MOST_PATTERNS = 3000
"""Of so many patterns all pairs are compared."""

_MOST_ENTRIES = 200_000_000
"""Of the differences of all pairs, for L1."""


@dataclass(frozen=True)
class Question:
    """What is asked of a stream.

    Attributes
    ----------
    rule : Rule
        The patterns in which a person can take part.
    contribution : "number", "one" or int
        A number in [-1, 1], exactly 1, or a vector of so many numbers and norm at most 1.
    neighbors : {"zero-out", "replace"}
        Whether y lacks a person's contributions, or has others.
    norm : {"L1", "L2", "Linf"}
    """

    rule: Rule
    contribution: Contribution
    neighbors: Literal["zero-out", "replace"]
    norm: Norm

    @property
    def opposite(self) -> bool:
        """Whether y has the opposite contributions in the worst case: "Replaced" in the proofs."""
        return self.neighbors == "replace" and self.contribution != "one"


    def told(self, times: str) -> str:
        """Return which streams are neighbors, in words; `times` is how often a person comes."""
        rule = self.rule
        steps = f"{rule.separation} step{'s' * (rule.separation > 1)} apart"
        apart = f", {'exactly' if rule.fixed else 'at least'} {steps}" * (rule.most > 1)
        one = {"number": "a number in [-1, 1]", "one": "exactly 1"}.get(
            str(self.contribution), f"{self.contribution} numbers of L2 norm at most 1"
        )
        all_of_it = "becomes 0" if self.neighbors == "zero-out" else "is replaced"
        return f"a person takes part {times}{apart}, each time with {one}; all of it {all_of_it}"


class Answer(NamedTuple):
    """The contributions in x and in y that are furthest apart, and how far others can be.

    `upper` is None if no others are further apart. `certificate` has the l of each step.
    """

    x: Contributions
    y: Contributions
    method: str
    upper: Difference | None = None
    certificate: Mapping[int, float] | None = None


def measure(stream: Stream, x: Contributions, y: Contributions, norm: Norm) -> Difference:
    """Return how far two sets of contributions move the release, exactly."""
    if any(isinstance(one, tuple) for one in x.values()):
        # Of vectors y has none, or the opposite ones.
        total = square(stream.exact_gram(list(x)), list(x.values()))
        return Difference(max(total * (4 if y else 1), Fraction(0)), Fraction(0), root=True)
    moved = {step: Fraction(x.get(step, 0)) - Fraction(y.get(step, 0)) for step in {**x, **y}}
    if norm != "L2":
        return norm_of(stream.products(sorted(moved.items())), norm)
    rows = zip(stream.exact_gram(list(moved)), moved.values(), strict=True)
    total = sum(
        (by * entry * other for row, by in rows if by
         for entry, other in zip(row, moved.values(), strict=True)),
        Fraction(0),
    )
    return Difference(max(total, Fraction(0)), Fraction(0), root=True)


def solve(stream: Stream, asked: Question) -> Answer:
    """Find the contributions that are furthest apart, as far as the time allows."""
    if asked.norm == "Linf":
        found = _by_row(stream, asked)
    elif asked.neighbors == "replace" and not asked.opposite:
        return _of_pairs(stream, asked)
    else:
        found = _L2(stream, asked) if asked.norm == "L2" else _L1(stream, asked)
    if not asked.opposite:
        return found
    opposite = {step: _minus(one) for step, one in found.x.items()}
    upper = None if found.upper is None else _times(found.upper, 2)
    return found._replace(y=opposite, upper=upper)


def _minus(one: Any) -> Any:
    return tuple(-entry for entry in one) if isinstance(one, tuple) else -one


def _times(one: Difference, factor: int, root: bool = False) -> Difference:
    """Return a multiple of a norm; with `root` by the root of the factor."""
    power = factor if root or not one.root else factor**2
    return replace(one, first=one.first * power)


def _ones(steps: Iterator[int] | tuple[int, ...], asked: Question) -> dict[int, Any]:
    """Return contributions of 1: of vectors, in one direction."""
    size = asked.contribution
    one: Any = 1 if isinstance(size, str) else (1.0, *([0.0] * (size - 1)))
    return dict.fromkeys(steps, one)


def _L2(stream: Stream, asked: Question) -> Answer:
    rule = asked.rule
    if stream.falling is not None:
        steps = range(0, rule.most * rule.gap, rule.gap)
        return Answer(_ones(iter(steps), asked), {}, "the earliest pattern (falling Toeplitz)")
    if not stream.touches(rule):
        _, best = best_sum(stream.exact_norms(2), rule)
        return Answer(_ones(best, asked), {}, "dynamic programming (banded)")
    gram, unit, share = stream.gram
    # No entry of `gram` is off by more than `error`.
    largest = np.diagonal(gram).max()
    error = share * float(largest)
    far = gram[np.triu_indices(rule.steps, rule.gap)]
    positive = (not stream.is_gram and bool((stream.factor >= 0).all())) or (
        bool(far.min() >= 0) if not error else bool(far.min() > error)
    )
    rounded = gram.dtype != object and not _fits(gram, rule.most)
    # A value adds up k^2 entries; sums of floats are off by an eps of all that they add up.
    spare = (error + (8 * rule.most + 16) * _EPS * float(largest) * rounded) * rule.most**2
    size = asked.contribution
    if isinstance(size, int) and not positive:
        return _vectors(stream, asked, gram, unit, spare, size)
    objective = Squares(gram, rule, signed=size != "one" and not positive)
    return _searched(stream, asked, objective, spare, lambda one: Difference(
        Fraction(one) / unit, Fraction(0), root=True
    ))


def _fits(gram: Numbers, most: int) -> bool:
    """Tell whether floats are whole numbers whose sums over patterns are exact."""
    return bool((gram == np.rint(gram)).all()) and 4 * most**2 * np.abs(gram).max() < 2**53


def _L1(stream: Stream, asked: Question) -> Answer:
    rule, factor = asked.rule, stream.factor
    if (factor >= 0).all():
        _, best = best_sum(stream.exact_norms(1), rule)
        return Answer(_ones(best, asked), {}, "dynamic programming (nothing negative)")
    error = 0.0
    table: Numbers
    if stream.grid is not None:
        table, unit = stream.grid
    elif factor.size <= _SMALL:
        table, unit = integers_of_floats(factor)
    else:
        table, unit = factor, 1
        norms = np.abs(factor).sum(axis=0)
        error = (len(factor) + rule.most + 8) * _EPS * rule.most * float(norms.max())
    objective = Sums(table, rule, signed=asked.contribution != "one")
    return _searched(stream, asked, objective, error, lambda one: Difference(
        Fraction(one) / unit, Fraction(0)
    ))


def _searched(
    stream: Stream, asked: Question, objective: Objective, error: float, exactly: Any
) -> Answer:
    """Return the best pattern by branch and bound: exact arithmetic decides near ties.

    No value of the search is off by more than `error`.
    """
    # A whole 0 keeps whole numbers whole.
    slack = 4 * error if error else 0
    search = Descending(objective, slack)
    near: list[Node] = []
    method = "branch and bound"
    upper = None
    try:
        for node in search:
            near.append(node)
            search.floor = max(search.floor, near[0].value - slack)
            if not error:
                break
            if len(near) > _NEAR:
                method = f"{method}; floats do not tell the best patterns apart"
                upper = near[0].value
                break
    except TooLargeError:
        method = f"{method} until the time was over"
        upper = search.bound
        near.append(search.best)
    method = f"{method}, {search.nodes:,} patterns continued"
    candidates: list[Contributions] = [
        dict(zip(node.steps, node.signs, strict=True)) for node in near
    ] or [{}]
    if isinstance(asked.contribution, int):
        candidates = [_ones(node.steps, asked) for node in near] or [{}]
    best = max(candidates, key=lambda x: measure(stream, x, {}, asked.norm))
    if upper is None:
        return Answer(best, {}, method)
    return Answer(best, {}, method, exactly(round_up(Fraction(upper) + Fraction(error))))


def _vectors(
    stream: Stream, asked: Question, gram: Numbers, unit: Fraction, error: float, size: int
) -> Answer:
    """Return vectors on the pattern where they can do most: bounds, see "Vectors" in the proofs."""
    # No vectors do more than the sum of |X_ij| over their pattern.
    search = Descending(Squares(np.abs(gram), asked.rule, signed=False))
    tried, cut, whole = 0, "", Fraction(error) / unit
    best, lower, upper = Answer({}, {}, ""), Fraction(0), Fraction(0)

    def see(steps: tuple[int, ...]) -> Fraction:
        """Solve the program of a pattern, and return the bound of its certificate."""
        nonlocal best, lower
        exact = stream.exact_gram(steps)
        z, y = solved(np.array(exact, dtype=np.float64))
        l = certificate(exact, y)
        x = dict(zip(steps, vectors(exact, z, size), strict=True))
        found = square(exact, list(x.values()))
        if found >= lower:
            lower = found
            best = Answer(x, {}, "", None, dict(zip(steps, l.tolist(), strict=True)))
        return Fraction(upper_square(l))

    try:
        for node in search:
            signs = None if tried else _balanced(stream.exact_gram(node.steps))
            if signs and not error:
                # The sum of |X_ij| is attained along one direction, and no other pattern has more.
                x = {
                    t: (float(sign), *([0.0] * (size - 1)))
                    for t, sign in zip(node.steps, signs, strict=True)
                }
                return Answer(x, {}, "branch and bound, and signs that agree")
            tried += 1
            upper = max(upper, see(node.steps))
            search.floor = float(lower * unit) * (1 - 1e-12) - error
    except TooLargeError:
        tried, cut = tried + 1, " until the time was over"
        see(search.best.steps)
        upper = max(upper, Fraction(search.bound) / unit + whole)
    # Patterns below the floor are left out: their sums of |X_ij| are not above it.
    upper = max(upper, Fraction(search.floor) / unit + whole)
    method = f"semidefinite programs on {tried:,} patterns{cut}"
    return best._replace(method=method, upper=Difference(upper, Fraction(0), root=True))


def _balanced(exact: list[list[Fraction]]) -> list[int] | None:
    """Return signs s with s_i s_j X_ij not negative for all i and j; None if there are none."""
    signs = [0] * len(exact)
    for first in range(len(exact)):
        if signs[first]:
            continue
        signs[first], todo = 1, [first]
        while todo:
            i = todo.pop()
            for j, entry in enumerate(exact[i]):
                if entry and not signs[j]:
                    signs[j] = signs[i] if entry > 0 else -signs[i]
                    todo.append(j)
    right = all(
        entry * one * other >= 0
        for row, one in zip(exact, signs, strict=True)
        for entry, other in zip(row, signs, strict=True)
    )
    return signs if right else None


def _by_row(stream: Stream, asked: Question) -> Answer:
    """Return the contributions that move one entry of the release most: a sum, row by row."""
    rule, factor = asked.rule, stream.factor
    free = asked.contribution != "one"
    pairs = asked.neighbors == "replace" and not free
    tables = [np.abs(factor)] if free else [factor, -factor]
    most = [_most(table, rule) for table in tables]
    values = most[0] + most[1] if pairs else np.maximum.reduce(most)
    error = 4 * (rule.most + 2) * _EPS * rule.most * float(np.abs(factor).max())
    best: tuple[Difference, Contributions, Contributions] | None = None
    upper, seen = None, set()
    # The row that floats put first comes first; the others as far as they can be better. That a
    # pattern is not empty makes a row's sum less than its float at most.
    for row in np.argsort(-values, kind="stable"):
        if best is not None and values[row] + error < best[0].nearest() * (1 - 4 * _EPS):
            break
        try:
            poll()
        except TooLargeError:
            upper = Difference(Fraction(float(values[row]) + error), Fraction(0))
            break
        # Equal rows, such as those of prefix sums, are searched once.
        key = factor[row].tobytes()
        if key not in seen:
            seen.add(key)
            for x, y in _of_row(factor[row], rule, free, pairs):
                far = measure(stream, x, y, "Linf")
                if best is None or far > best[0]:
                    best = far, x, y
    _, x, y = best or (None, {}, {})
    return Answer(x, y, "dynamic programming, row by row", upper)


def _most(table: Numbers, rule: Rule) -> Numbers:
    """Return the largest sum over a pattern, or 0, of each row."""
    if not rule.fixed:
        begins = np.zeros(len(table), dtype=np.intp)
        return np.asarray(best_after(table.T, None, begins, rule.most, rule)[-1])
    best = held = np.zeros(table.shape)
    for _ in range(rule.most):
        # What begins at a step: its entry, and what begins `separation` steps later.
        after = np.zeros_like(table)
        after[:, : -rule.gap] = held[:, rule.gap :]
        held = table + after
        best = np.maximum(best, held)
    return np.asarray(best.max(axis=1))


def _of_row(
    row: Numbers, rule: Rule, free: bool, pairs: bool
) -> Iterator[tuple[Contributions, Contributions]]:
    """Yield the contributions that can move one entry most."""
    entries = [Fraction(one) for one in row.tolist()]
    if free:
        _, steps = best_sum([abs(one) for one in entries], rule)
        yield {t: 1 if entries[t] >= 0 else -1 for t in steps}, {}
        return
    sides = [
        dict.fromkeys(best_sum([sign * one for one in entries], rule, empty=not pairs)[1], 1)
        for sign in (1, -1)
    ]
    if pairs:
        yield sides[0], sides[1]
    else:
        yield from ((one, {}) for one in sides)


def _of_pairs(stream: Stream, asked: Question) -> Answer:
    """Return two patterns of contributions of 1, in x and in y, that are furthest apart."""
    rule, norm = asked.rule, asked.norm
    many = rule.number
    cells = many**2 * (1 if norm == "L2" else len(stream.factor))
    if many > _MOST_PATTERNS or cells > _MOST_ENTRIES:
        return _far_pair(stream, asked, many)
    patterns = list(rule.patterns())
    held = np.zeros((many, rule.steps))
    for row, pattern in zip(held, patterns, strict=True):
        row[list(pattern)] = 1
    if norm == "L2":
        gram, unit, share = stream.gram
        floats = gram.astype(np.float64)
        products = held @ floats @ held.T
        own = np.diagonal(products)
        far = own[:, None] + own - 2 * products
        scale, terms = float(np.abs(floats).max()), 4 * rule.most**2
        exact = not share and _fits(floats, 2 * rule.most) and bool((floats == gram).all())
    else:
        table, one = stream.grid or (stream.factor, 1)
        unit, share, exact = Fraction(one), 0.0, stream.grid is not None
        moved = held @ table.T
        far = np.array([np.abs(moved - one).sum(axis=1) for one in moved])
        scale, terms = float(np.abs(table).sum(axis=0).max()), 2 * rule.most
    error = 0.0 if exact else (share + (4 * rule.steps + len(held.T) + 8) * _EPS) * scale * terms
    near = np.flatnonzero(far.ravel() >= far.max() - 2 * error)
    near = near[:1] if exact else near
    pairs = [
        ({t: 1 for t in patterns[i]}, {t: 1 for t in patterns[j]})
        for i, j in (divmod(int(place), many) for place in near[:_NEAR])
    ]
    x, y = max(pairs, key=lambda pair: measure(stream, *pair, norm))
    method = f"all pairs of {many:,} patterns"
    if len(near) <= _NEAR:
        return Answer(x, y, method)
    top = Fraction(far.max() + error) / unit
    return Answer(x, y, method, Difference(top, Fraction(0), root=norm == "L2"))


def _far_pair(stream: Stream, asked: Question, many: int) -> Answer:
    """Return two patterns that are far apart where there are too many, and an upper bound."""
    rule = asked.rule
    alone = solve(stream, replace(asked, neighbors="zero-out"))
    latest = [rule.steps - 1 - i * rule.gap for i in range(rule.most)]
    others = [dict.fromkeys(latest[:r], 1) for r in range(1, rule.most + 1)]
    others += [dict.fromkeys([t], 1) for t in range(0, rule.steps, rule.gap)]
    x = alone.x or others[0]
    y = max(others, key=lambda other: measure(stream, x, other, asked.norm))
    top = alone.upper or measure(stream, alone.x, {}, asked.norm)
    # The triangle inequality; where columns have no negative products, that of Pythagoras.
    square = asked.norm == "L2" and not stream.is_gram and bool((stream.factor >= 0).all())
    return Answer(x, y, f"a bound, as {many:,} patterns have too many pairs", _times(top, 2, square))
