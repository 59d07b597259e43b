"""Functions of the sums of records and of their squares: four variables, for any number of records.

Of c common records in [0, 1] only the sum S and the sum of squares Q are seen, and these are all
pairs with ``S**2 / c <= Q <= floor(S) + (S - floor(S))**2`` (docs/proofs.md, "Certified boxes").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np

from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import round_down

from .intervals import Floats
from .search import Root


@runtime_checkable
class OfSums(Protocol):
    """A function of sums of powers, such as `formulas.sums` makes."""

    @property
    def powers(self) -> int:
        """The largest power."""

    @property
    def name(self) -> str:
        """What it is called."""

    def of(self, powers: Sequence[Any], size: Any) -> Any:
        """Return the answer for sums of powers."""

    def on(self, records: Sequence[Any]) -> Fraction:
        """Return the answer on a dataset, exactly."""


@dataclass(frozen=True)
class FromSums:
    """The function of five variables: n, S and Q of common records, a weight, and a record.

    A record of weight 0 is not there, so that both sides have as many variables.
    """

    query: OfSums

    def __call__(self, z: Any) -> Any:
        """Return the answer."""
        size, total, squares, weight, record = (z[at] for at in range(5))
        powers = [size + weight, total + weight * record, squares + weight * record**2]
        return self.query.of(powers, powers[0])


def on_records(query: OfSums) -> Callable[[Any], Any]:
    """Return the same function of an array of records."""
    return lambda x: query.of([len(x), x.sum(), (x**2).sum()], len(x))


def roots_of_sums(
    query: OfSums, shapes: Iterable[tuple[int, int, int]], ends: tuple[Any, Any]
) -> list[Root]:
    """Return the roots of all pairs with so many common records, and at most one own one each.

    Raises
    ------
    InputError
        If records are not in [0, 1], powers are above 2, or more than one record changes.
    """
    if query.powers > 2 or ends != (0, 1):
        raise InputError(
            "boxes of a function of sums are for records in [0, 1] and powers up to 2, got "
            f"[{ends[0]}, {ends[1]}] and {query.powers}"
        )
    roots = []
    for common, own_x, own_y in shapes:
        if own_x > 1 or own_y > 1 or common < 1:
            raise InputError(
                "boxes of a function of sums are for one record that is replaced, added or removed "
                f"beside others, got {own_x} removed and {own_y} added beside {common}; choose k=1"
            )
        lower = np.array([common, 0, 0, 1, 0, 0, 0], dtype=np.float64)
        upper = np.array([common, common, common, 1, 0, 1, own_x * own_y], dtype=np.float64)
        on_x, on_y = ((0, 1, 2, 3 if own else 4, 5) for own in (own_x, own_y))
        if own_x and own_y:
            on_y = (0, 1, 2, 3, 6)
        signs = (1,) if own_x == own_y else (1, -1)
        roots += [Root(lower, upper, on_x, on_y, (), sign, common) for sign in signs]
    return roots


def records_of(total: float, squares: float, count: int) -> list[float]:
    """Return that many records of [0, 1] with a sum, and a sum of squares, but for rounding.

    They lie between the equal records, whose squares add up to the least, and ones and zeros with
    one record in between, whose squares add up to the most; both have the same sum.
    """
    if count == 0:
        return []
    total = min(max(total, 0.0), float(count))
    whole = min(int(total), count - 1)
    ends = np.zeros(count)
    ends[:whole] = 1.0
    ends[whole] = total - whole
    equal = np.full(count, total / count)
    most, least = float(np.sum(ends**2)), float(np.sum(equal**2))
    share = np.sqrt(np.clip((squares - least) / (most - least), 0, 1)) if most > least else 0.0
    found: list[float] = np.clip(equal + share * (ends - equal), 0, 1).tolist()
    return found


def exact_gap(query: OfSums, x: Iterable[float], y: Iterable[float]) -> float:
    """Return how far apart the answers on two datasets are, rounded down from the exact number."""
    return round_down(abs(query.on(list(x)) - query.on(list(y))))


def pair_of(root: Root, point: Floats) -> tuple[list[float], list[float]]:
    """Return x and y of a point of sums."""
    common = records_of(float(point[1]), float(point[2]), root.sums)
    x, y = (
        [*common, *([float(point[places[4]])] if point[places[3]] else [])]
        for places in (root.on_x, root.on_y)
    )
    return x, y
