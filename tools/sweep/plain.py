"""Distances by their definitions; this file is copied into the scripts that reproduce findings.

So it imports nothing but the standard library, and searches nothing.
"""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import inf, isfinite
from typing import Any


def records(data: Any) -> list[str]:
    """Return the records of a dataset as texts: NaN equals NaN, and 0.0 is not -0.0."""
    return list(map(repr, data.splitlines() if isinstance(data, str) else data))


def symmetric(x: Any, y: Any) -> float:
    """Return how many records are added or removed."""
    one, two = Counter(records(x)), Counter(records(y))
    return (one - two).total() + (two - one).total()


def insert_delete(x: Any, y: Any) -> float:
    """Return the same where the order counts: what is beyond the longest common subsequence."""
    one, two = records(x), records(y)
    common = {(i, j): 0 for i in range(len(one) + 1) for j in range(len(two) + 1)}
    for i, j in product(range(1, len(one) + 1), range(1, len(two) + 1)):
        longest = max(common[i - 1, j], common[i, j - 1])
        common[i, j] = common[i - 1, j - 1] + 1 if one[i - 1] == two[j - 1] else longest
    return len(one) + len(two) - 2 * common[len(one), len(two)]


def change_one(x: Any, y: Any) -> float:
    """Return how many records are replaced."""
    return symmetric(x, y) / 2 if len(records(x)) == len(records(y)) else inf


def hamming(x: Any, y: Any) -> float:
    """Return in how many places the records differ."""
    one, two = records(x), records(y)
    return sum(map(str.__ne__, one, two)) if len(one) == len(two) else inf


def add_or_remove(x: Any, y: Any) -> float:
    """Return how many records are only added, or only removed."""
    return symmetric(x, y) if symmetric(x, y) == abs(len(records(x)) - len(records(y))) else inf


def discrete(x: Any, y: Any) -> float:
    """Return 0 or 1."""
    return int(repr(x) != repr(y))


def gap(one: Any, two: Any) -> Any:
    """Return the difference of two numbers, exactly; infinite where one of them is no number."""
    if isfinite(one) and isfinite(two):
        return abs(Fraction(one) - Fraction(two))
    return 0 if repr(one) == repr(two) else inf


def gaps(x: Any, y: Any) -> list[Any]:
    """Return the differences of all entries."""
    if isinstance(x, dict):
        return [gap(x.get(key, 0), y.get(key, 0)) for key in {**x, **y}]
    one, two = (data if isinstance(data, list | tuple) else [data] for data in (x, y))
    return list(map(gap, one, two)) if len(one) == len(two) else [inf]


def farther(metric: str, x: Any, y: Any, claim: Any) -> bool:
    """Tell whether two datasets or answers are farther apart than some number, exactly."""
    if metric in DISTANCES:
        return bool(DISTANCES[metric](x, y) > claim)
    found = [one for one in gaps(x, y) if one]
    if inf in found or metric == "L0":
        return bool((inf if metric != "L0" else len(found)) > claim)
    if metric == "L2":
        return bool(sum(one * one for one in found) > Fraction(claim) ** 2)
    return bool((max(found, default=0) if metric == "Linf" else sum(found)) > claim)


DISTANCES = {
    "symmetric": symmetric,
    "insert_delete": insert_delete,
    "change_one": change_one,
    "hamming": hamming,
    "add_or_remove": add_or_remove,
    "discrete": discrete,
}
