"""The definition of the sensitivity of code on ordered datasets, in plain Python.

It lists all pairs of neighboring ordered datasets, runs the code on each and keeps the largest
change. It imports nothing that it judges, nor the numpy that the folds compute with: narrow floats
are rounded by `struct`.

"free": x and y are multisets, each in all its orders. At most k includes the same multiset.
"aligned": x and y are sequences. "bounded" counts the positions that are replaced; the other
relations delete records of x and insert records, wherever they stand.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product

import oracle

Ordered = tuple[float, ...]
Code = Callable[[Ordered], float]

INFINITE = math.inf


def rounded(number: float, kind: str) -> float:
    """The nearest float16 ("e"), float32 ("f") or float64 ("d").

    >>> rounded(0.1, "e"), rounded(65520.0, "e")
    (0.0999755859375, inf)
    """
    try:
        return struct.unpack(kind, struct.pack(kind, number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def float_sum(kind: str) -> Code:
    """Left to right; the sum of two narrow floats as a float64 has the digits to be rounded once.

    >>> float_sum("d")((2.0**53, 1.0)) == 2**53
    True
    """

    def total(records: Ordered) -> float:
        result = 0.0
        for record in records:
            result = rounded(result + rounded(record, kind), kind)
        return result

    return total


def wrapping_sum(bits: int) -> Code:
    """Left to right in integers of some bits.

    >>> wrapping_sum(8)((100, 27, 1))
    -128
    """
    half = 2 ** (bits - 1)
    return lambda records: (sum(records) + half) % (2 * half) - half


def change(first: float, second: float) -> Fraction | float:
    """How far two answers are apart: exactly, or infinitely if one is inf or NaN and not the other.

    >>> change(0.5, 2), change(math.nan, math.nan), change(math.inf, math.nan)
    (Fraction(3, 2), Fraction(0, 1), inf)
    """
    if math.isfinite(first) and math.isfinite(second):
        return abs(Fraction(first) - Fraction(second))
    return Fraction(0) if str(float(first)) == str(float(second)) else INFINITE


def sensitivity(
    code: Code,
    universe: Sequence[float],
    n: int,
    relation: str,
    k: int,
    exactly: bool = False,
    direction: str = "both",
    order: str = "free",
) -> Fraction | float:
    """Largest change of the code between neighboring ordered datasets; the universe is a multiset.

    >>> sensitivity(float_sum("d"), [1, 2.0**53, 2.0**53], 2, "bounded", 1)
    Fraction(9007199254740992, 1)
    """
    shapes = [
        (removed, added)
        for removed, added in oracle.shapes(relation, k, exactly, direction)
        if removed <= n and n - removed + added > 0
    ]
    pairs = _free if order == "free" else _aligned_by[relation]
    if order == "free" and not exactly:
        shapes.insert(0, (0, 0))
    answers: dict[Ordered, float] = {}
    largest: Fraction | float = Fraction(-1)
    for pair in pairs(sorted(universe), n, shapes):
        for dataset in pair:
            if dataset not in answers:
                answers[dataset] = code(dataset)
        largest = max(largest, change(*(answers[dataset] for dataset in pair)))
    if largest < 0:
        raise ValueError("there is no pair of neighboring datasets")
    return largest


def _free(
    universe: list[float], n: int, shapes: list[tuple[int, int]]
) -> Iterator[tuple[Ordered, Ordered]]:
    """Multisets of labeled records: x = core + A, y = core + B; each in every order."""
    labels = range(len(universe))
    related: set[tuple[Ordered, Ordered]] = set()
    for x in combinations(labels, n):
        outside = [label for label in labels if label not in x]
        for removed, added in shapes:
            for core in combinations(x, n - removed):
                for addition in combinations(outside, added):
                    of_y = sorted([*core, *addition])
                    related.add(
                        (tuple(universe[i] for i in x), tuple(sorted(universe[i] for i in of_y)))
                    )
    for x, y in related:
        yield from product(set(permutations(x)), set(permutations(y)))


def _sequences(universe: list[float], n: int) -> set[Ordered]:
    return set(permutations(universe, n))


def _is_dataset(universe: list[float], y: Ordered) -> bool:
    return not Counter(y) - Counter(universe)


def _replaced(
    universe: list[float], n: int, shapes: list[tuple[int, int]]
) -> Iterator[tuple[Ordered, Ordered]]:
    """Sequences whose Hamming distance is at most k; exactly k, with equals, where all are many."""
    most = max(removed for removed, _ in shapes)
    for x, y in product(_sequences(universe, n), repeat=2):
        if sum(a != b for a, b in zip(x, y, strict=True)) <= most:
            yield x, y


def _edited(
    universe: list[float], n: int, shapes: list[tuple[int, int]]
) -> Iterator[tuple[Ordered, Ordered]]:
    """Sequences with records of x deleted anywhere, and then records inserted anywhere."""
    for x in _sequences(universe, n):
        for removed, added in shapes:
            found = {tuple(x[i] for i in kept) for kept in combinations(range(n), n - removed)}
            for _ in range(added):
                found = {
                    (*y[:place], value, *y[place:])
                    for y in found
                    for place in range(len(y) + 1)
                    for value in set(universe)
                }
            for y in found:
                if _is_dataset(universe, y):
                    yield x, y


_aligned_by = {
    "bounded": _replaced,
    "unbounded": _edited,
    "symmetric_difference": _edited,
}
