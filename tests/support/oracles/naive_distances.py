"""Distances and worst pairs by their definitions, in plain Python; imports nothing of ours."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction


def symmetric(a, b):
    return ((Counter(a) - Counter(b)) + (Counter(b) - Counter(a))).total()


def change_one(a, b):
    return symmetric(a, b) // 2 if len(a) == len(b) else math.inf


def add_or_remove(a, b):
    one_way = not (Counter(a) - Counter(b)) or not (Counter(b) - Counter(a))
    return abs(len(a) - len(b)) if one_way else math.inf


def edit(a, b):
    return max((Counter(a) - Counter(b)).total(), (Counter(b) - Counter(a)).total())


def hamming(a, b):
    return sum(p != q for p, q in zip(a, b, strict=True)) if len(a) == len(b) else math.inf


def insert_delete(a, b):
    """By the largest set of positions in a whose entries can be found in b in that order."""
    for kept in range(min(len(a), len(b)), -1, -1):
        those = {tuple(a[i] for i in at) for at in itertools.combinations(range(len(a)), kept)}
        if those & {tuple(b[i] for i in at) for at in itertools.combinations(range(len(b)), kept)}:
            return len(a) + len(b) - 2 * kept
    raise AssertionError("the empty sequence is common to all")


def discrete(a, b):
    return int(a != b)


def signed_gaps(a, b):
    if isinstance(a, dict):
        return [Fraction(a.get(n, 0)) - Fraction(b.get(n, 0)) for n in {*a, *b}]
    both = zip(a, b, strict=True) if isinstance(a, list | tuple) else [(a, b)]
    return [Fraction(p) - Fraction(q) for p, q in both]


def gaps(a, b):
    return list(map(abs, signed_gaps(a, b)))


def l0(a, b):
    return sum(gap != 0 for gap in gaps(a, b))


def l1(a, b):
    return sum(gaps(a, b))


def l2_squared(a, b):
    return sum(gap * gap for gap in gaps(a, b))


def linf(a, b):
    return max(gaps(a, b), default=0)


def linf_monotonic(a, b):
    """The largest increase and the largest decrease; Linf if all entries go one way."""
    steps = signed_gaps(a, b)
    return max([0, *steps]) + max([0, *(-step for step in steps)])


DISTANCE = {
    "symmetric": symmetric,
    "change_one": change_one,
    "add_or_remove": add_or_remove,
    "hamming": hamming,
    "insert_delete": insert_delete,
    "discrete": discrete,
    "absolute": l1,
    "L0": l0,
    "L1": l1,
    "Linf": linf,
    "Linf_monotonic": linf_monotonic,
}
"""By the names of our metrics, but for L2, of which the square is compared."""


def within(inputs, a, b, distance):
    if inputs == "L2":
        return l2_squared(a, b) <= distance**2
    measure = DISTANCE[inputs] if isinstance(inputs, str) else inputs
    return measure(a, b) <= distance


def farthest(datasets, answers, inputs, outputs, distance):
    """The largest output distance (L2: its square) at an input distance of at most `distance`."""
    measure = l2_squared if outputs == "L2" else DISTANCE[outputs]
    return max(
        measure(p, q)
        for (a, p), (b, q) in itertools.product(zip(datasets, answers, strict=True), repeat=2)
        if within(inputs, a, b, distance)
    )


def farther(outputs, a, b, distance):
    """Whether a and b are farther apart than a distance, exactly."""
    if outputs == "L2":
        return l2_squared(a, b) > Fraction(distance) ** 2
    return DISTANCE[outputs](a, b) > Fraction(distance)
