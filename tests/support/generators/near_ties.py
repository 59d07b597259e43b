"""Universes of records that are all but equal, and the definition for var and std on them, quickly.

Nothing here is the package's. Records are written as integers over one denominator; every dataset
is a tuple of positions, and is rated once for all relations. Standard deviations are integers, too:
roots rounded down, so finely that only equal ones are not told apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import isqrt, lcm
from random import Random
from typing import Any

import numpy as np
import oracle

FINE = 700
"""Bits below the unit of a root; rationals of these sizes that differ have roots further apart."""


def _tenths(rng: Random) -> list[Any]:
    """Decimals that floats spell in two ways, and the floats next to them."""
    base = [0.3, 0.1 + 0.2, 3.3, 1.1 + 2.2, 1e-05, 0.7, 0.1 * 7, 0.0, -0.3, -(0.1 + 0.2)]
    near = [math.nextafter(value, rng.choice((-math.inf, math.inf))) for value in base]
    return base + near


def _clusters(rng: Random) -> list[Any]:
    """Clusters around multiples of a large power of two."""
    power = rng.choice((62, 70, 90, 130))
    return [
        center * 2**power + rng.choice((1, 2**20)) * offset
        for center in rng.sample((-2, -1, 0, 1, 2), 2)
        for offset in range(-2, 3)
    ]


def _spacings(rng: Random) -> list[Any]:
    """Spacings that span far more than 53 bits."""
    powers = rng.sample((0, 1, 20, 31, 32, 33, 53, 54, 63, 64, 65, 100, 107), 5)
    return [sign * (2**power + rng.choice((-1, 0, 1))) for power in powers for sign in (-1, 1)]


POOLS = {
    "tenths": _tenths,
    "ends of uint64": lambda _: [0, 1, 2, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**64 + 1],
    "beyond 2**70": lambda _: [2**70, 2**70 + 1, 2**70 + 2, 0, 1, -(2**70), 1 - 2**70, 2**71],
    "fractions": lambda rng: [
        Fraction(rng.choice((0, 1, 2)), 3) + Fraction(near, 10**30) for near in range(-3, 4)
    ],
    "clusters": _clusters,
    "long doubles": lambda rng: [
        np.longdouble(center) * (1 + near * np.finfo(np.longdouble).eps)
        for center in rng.sample((-1.0, 0.1, 1.0, 3.0), 2)
        for near in range(3)
    ],
    "spacings": _spacings,
    "outliers": lambda rng: [
        *(1 + rng.randrange(-9, 10) / 2**52 for _ in range(5)),
        *(sign * 10.0 ** rng.choice((15, 80, 150)) for sign in (-1, 1)),
    ],
}
"""By name: a function from a random number generator to values, most of them all but equal."""

DDOFS = (0, 1, 1.5, 2, Fraction(4, 3), Fraction(1670835461754453985, 995295517648879616))


def draw_records(rng: Random, most: int = 7) -> list[Any]:
    """Draw a pool, and 4 to `most` of its records with repetitions; ascending."""
    values = POOLS[rng.choice(sorted(POOLS))](rng)
    some = rng.sample(values, min(len(values), rng.randint(2, 5)))
    drawn = [rng.choice(some) for _ in range(rng.choice(range(4, most + 1)))]
    return sorted(drawn, key=exactly)


def exactly(record: Any) -> Fraction:
    """The rational that a record stands for."""
    return Fraction(*record.as_integer_ratio())


@cache
def subsets(total: int) -> list[tuple[int, ...]]:
    """Every dataset of `total` different records, by their positions."""
    return [x for size in range(1, total + 1) for x in combinations(range(total), size)]


@dataclass(frozen=True)
class Pairs:
    """All pairs of neighbors (x, y) as places in `subsets`, and the size of the smallest set."""

    x: np.ndarray
    y: np.ndarray
    smallest: int


@cache
def pairs(total: int, size: int, name: str, k: int, exact: bool, direction: str) -> Pairs:
    """List the pairs of neighbors at a feasible distance; nobody has no variance."""
    place = {x: at for at, x in enumerate(subsets(total))}
    listed = oracle.pairs(range(total), size, name, k, exactly=exact, direction=direction)
    table = np.array([(place[x], place[y]) for x, y in listed if x and y], dtype=np.int16)
    return Pairs(*table.T, min(len(subsets(total)[at]) for at in np.unique(table)))


class Rated:
    """A universe with the squared deviations of each of its datasets, exactly."""

    def __init__(self, records: list[Any]) -> None:
        self.records = records
        fractions = [exactly(record) for record in records]
        self.unit = lcm(*(record.denominator for record in fractions))
        numbers = [int(record * self.unit) for record in fractions]
        found = []
        for x in subsets(len(records)):
            chosen = [numbers[at] for at in x]
            found.append(len(x) * sum(one * one for one in chosen) - sum(chosen) ** 2)
        self.sizes = np.array([len(x) for x in subsets(len(records))])
        self.deviations = np.array(found, dtype=object)
        self._answers: dict[tuple[bool, Any], tuple[np.ndarray, int]] = {}

    def answers(self, root: bool, ddof: Any) -> tuple[np.ndarray, int]:
        """The answers on all datasets as integers, and the unit they are in.

        Where a dataset is too small for ddof, its answer is 0 and not asked for.
        """
        if (root, ddof) not in self._answers:
            self._answers[root, ddof] = self._answer(root, Fraction(ddof))
        return self._answers[root, ddof]

    def _answer(self, root: bool, ddof: Fraction) -> tuple[np.ndarray, int]:
        frees = [size * (size - ddof) for size in range(len(self.records) + 1)]
        whole = lcm(*(free.numerator for free in frees if free > 0))
        factors = [int(whole / free) if free > 0 else 0 for free in frees]
        scaled = self.deviations * np.array(factors, dtype=object)[self.sizes]
        unit = whole * self.unit**2
        if not root:
            return scaled, unit
        roots = np.array([isqrt((one << 2 * FINE) // unit) for one in scaled], dtype=object)
        return roots, 1 << FINE

    def largest(self, root: bool, ddof: Any, listed: Pairs) -> Fraction:
        """The largest change; of a root, at most 2**-FINE off."""
        answers, unit = self.answers(root, ddof)
        return Fraction(int(np.abs(answers[listed.x] - answers[listed.y]).max()), unit)
