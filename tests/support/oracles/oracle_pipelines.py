"""The definition of measured stability, in plain Python.

It lists all inputs drawn from small universes, evaluates a function on each, and keeps the largest
distance of outputs between neighbors. It imports nothing that it judges.

A universe is a list of records: any hashable values, or rows as tuples. An input takes any of them:
a sorted tuple of records, of several universes a tuple of inputs. Equal records are different ones,
but inputs are told apart only by their records. Distances take two collections of records:

    symmetric_difference, change_one, ids(place)    of inputs, or of outputs that are rows
    absolute, l1, l2_squared                        of outputs that are numbers or vectors
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import inf, nan
from typing import Any


def inputs_of(universe: Sequence[Any], sizes: Iterable[int] | None = None) -> list[tuple[Any, ...]]:
    """List every distinct input, the empty one included.

    >>> inputs_of([1, 1, 2])
    [(), (1,), (2,), (1, 1), (1, 2), (1, 1, 2)]
    """
    records = sorted(universe, key=repr)
    found: dict[tuple[Any, ...], None] = {}
    for size in range(len(records) + 1) if sizes is None else sizes:
        found.update(dict.fromkeys(combinations(records, size)))
    return list(found)


def symmetric_difference(a: Iterable[Any], b: Iterable[Any]) -> int:
    """Count the records that are in one input only.

    >>> symmetric_difference([1, 1, 2], [1, 3])
    3
    """
    mine, yours = Counter(a), Counter(b)
    return ((mine - yours) + (yours - mine)).total()


def change_one(a: Sequence[Any], b: Sequence[Any]) -> float:
    """Count the records to replace; infinite if there are not equally many."""
    return symmetric_difference(a, b) / 2 if len(a) == len(b) else inf


def ids(place: int) -> Callable[[Iterable[Any], Iterable[Any]], int]:
    """Count the ids, at a place of each row, that go or come with all their rows."""

    def distance(a: Iterable[Any], b: Iterable[Any]) -> int:
        owned: tuple[dict[Any, Counter[Any]], ...] = ({}, {})
        for rows, of_owner in zip((a, b), owned, strict=True):
            for row in rows:
                of_owner.setdefault(row[place], Counter())[row] += 1
        changes = 0
        for owner in {**owned[0], **owned[1]}:
            before, after = (of_owner.get(owner) for of_owner in owned)
            if before != after:
                changes += (before is not None) + (after is not None)
        return changes

    return distance


def absolute(a: Any, b: Any) -> Fraction:
    """Return the absolute difference of two numbers."""
    return abs(Fraction(a) - Fraction(b))


def l1(a: Sequence[Any], b: Sequence[Any]) -> Fraction:
    """Return the sum of absolute differences."""
    return sum((absolute(x, y) for x, y in zip(a, b, strict=True)), Fraction(0))


def l2_squared(a: Sequence[Any], b: Sequence[Any]) -> Fraction:
    """Return the sum of squared differences."""
    return sum((absolute(x, y) ** 2 for x, y in zip(a, b, strict=True)), Fraction(0))


def measure(
    universes: Sequence[Sequence[Any]],
    metrics: Sequence[Callable[[Any, Any], Any]],
    d_in: Sequence[int],
    function: Callable[..., Any],
    distance: Callable[[Any, Any], Any],
    sizes: Sequence[Iterable[int] | None] | None = None,
) -> tuple[Any, int, int]:
    """Return the largest distance of outputs, how many inputs there are, and how many pairs.

    >>> measure([[1, 5, 7]], [symmetric_difference], [1], sum, absolute)
    (Fraction(7, 1), 8, 12)
    """
    wanted = [None] * len(universes) if sizes is None else sizes
    inputs = list(product(*map(inputs_of, universes, wanted)))
    outputs = [function(*given) for given in inputs]
    distances = []
    for first, second in combinations(range(len(inputs)), 2):
        apart = zip(metrics, inputs[first], inputs[second], d_in, strict=True)
        if all(metric(x, y) <= most for metric, x, y, most in apart):
            distances.append(distance(outputs[first], outputs[second]))
    return max(distances), len(inputs), len(distances)


def seen(cell: Any) -> Any:
    """Return the value that a function gets of a cell: a matter of the cell alone.

    Text is text, what is missing is nan, and a number is an int, else a float, else a Fraction, the
    first of them that is the number.

    >>> [seen(cell) for cell in (1.0, True, 0.5, -0.0, None, "1", Fraction(1, 3))]
    [1, 1, 0.5, 0, nan, '1', Fraction(1, 3)]
    """
    if isinstance(cell, str):
        return cell
    if cell is None or str(cell).lower() in ("nan", "-nan", "snan", "-snan"):
        return nan
    if cell in (inf, -inf):
        return float(cell)
    number = Fraction(cell)
    if number.denominator == 1:
        return int(number)
    # Every float above 2**53 is whole.
    exact = abs(number) < 2**53 and Fraction(float(number)) == number
    return float(number) if exact else number


def images(function: Callable[[Any], Iterable[Any]], cells: Iterable[Any]) -> list[Any]:
    """Return what a function makes of every cell, one after the other."""
    return [image for cell in cells for image in function(seen(cell))]
