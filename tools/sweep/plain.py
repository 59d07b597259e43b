"""Distances by their definitions; this file is copied into the scripts that reproduce findings.

So it imports nothing but the standard library, and searches nothing.
"""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import erfc, exp, inf, isfinite, log, sqrt
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


def same_keys(x: Any, y: Any) -> float:
    """Return how many rows are added or removed, if both tables have the same keys."""
    return symmetric(x, y) if {row[1] for row in x} == {row[1] for row in y} else inf


def same_lengths(x: Any, y: Any) -> float:
    """Return how many rows are added or removed, if both tables have as many rows of each key."""
    one, two = (Counter(row[1] for row in rows) for rows in (x, y))
    return symmetric(x, y) if one == two else inf


def apart(x: Any, y: Any, column: int) -> dict[str, float]:
    """Return how many rows are added or removed, by their entry in a column."""
    parts = {repr(row[column]) for row in [*x, *y]}
    one, two = ({at: [r for r in z if repr(r[column]) == at] for at in parts} for z in (x, y))
    return {at: symmetric(one[at], two[at]) for at in parts}


def ids(x: Any, y: Any) -> float:
    """Return how many ids are added or removed with their rows; other rows count as both."""
    both = {repr(row[0]) for row in x} & {repr(row[0]) for row in y}
    return sum(2 if at in both else 1 for at, rows in apart(x, y, 0).items() if rows)


def in_a_group(x: Any, y: Any) -> float:
    """Return how many rows are added or removed in the group where these are most."""
    return max(apart(x, y, 1).values(), default=0)


def rows_apart(x: Any, y: Any) -> float:
    """Return how many rows are added or removed, if no two of them are alike."""
    one, two = Counter(records(x)), Counter(records(y))
    changed = (one - two) + (two - one)
    return changed.total() if max(changed.values(), default=0) <= 1 else inf


def groups(x: Any, y: Any) -> float:
    """Return how many groups have rows that are added or removed."""
    return sum(rows > 0 for rows in apart(x, y, 1).values())


def loss(x: Any, y: Any) -> float:
    """Return the largest sum of differences of logarithms of chances, by place; half if missing."""
    even = (log(0.5), log(0.5))
    pairs = [(x.get(at, even), y.get(at, even)) for at in {**x, **y}]
    one = sum(max(map(float.__sub__, p, q)) for p, q in pairs)
    two = sum(max(map(float.__sub__, q, p)) for p, q in pairs)
    return max(one, two)


def delta(x: Any, y: Any) -> float:
    """Return the smallest delta of two laws at their epsilon, in both directions.

    A law is an epsilon, the chances of outcomes, and by outcome the means of Gaussian noise whose
    deviation is 1.
    """
    return max(beyond(x, y), beyond(y, x))


def beyond(x: Any, y: Any) -> float:
    """Return what the chances of one law exceed e**epsilon times those of another by, in all."""
    (epsilon, chances, means), (_, others, moved) = x, y
    total = 0.0
    for outcome, p in chances.items():
        q = others.get(outcome, 0)
        moves = map(float.__sub__, means[outcome], moved[outcome]) if q else []
        ratio = sqrt(sum(one * one for one in moves))
        if not ratio:  # no noise, or no such outcome
            total += max(0.0, p - exp(epsilon) * q)
            continue
        # Two Gaussians with weights p and q: Balle and Wang (2018), theorem 5, at another epsilon.
        shift = (epsilon - log(p / q)) / ratio
        total += p * below(ratio / 2 - shift) - exp(epsilon) * q * below(-ratio / 2 - shift)
    return total


def below(t: float) -> float:
    """Return the chance that a standard Gaussian number is at most t."""
    return erfc(-t / sqrt(2)) / 2


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
    "same keys": same_keys,
    "same lengths": same_lengths,
    "ids": ids,
    "rows in a group": in_a_group,
    "groups": groups,
    "rows apart": rows_apart,
    "loss": loss,
    "delta": delta,
}


def numbers(answer: Any) -> Any:
    """Return an array as lists, with rows as tuples."""
    made = answer.tolist() if hasattr(answer, "tolist") else answer
    if not isinstance(made, list):
        return made
    return [tuple(row) if isinstance(row, list) else row for row in made]


def rows_of(table: Any) -> Any:
    """Return the rows of a table of Polars, in any order."""
    return sorted(table.collect().rows(), key=repr)


def cells_of(release: Any) -> Any:
    """Return the numbers of a release: of a table by column and by what its row is about."""
    if not hasattr(release, "collect"):
        return numbers(release)
    table = release.collect()
    numeric = [name for name, kind in table.schema.items() if kind.is_numeric()]
    keys = [name for name in table.columns if name not in numeric]
    return {
        (name, *(row[key] for key in keys)): row[name]
        for row in table.rows(named=True)
        for name in numeric
    }


def bound(bounds: Any, by: list[str], part: str) -> Any:
    """Return a part of the bound of OpenDP over the groups of some columns."""
    given = [one for one in bounds if [key.meta.output_name() for key in one.by] == by]
    return min(inf if getattr(one, part) is None else getattr(one, part) for one in given)
