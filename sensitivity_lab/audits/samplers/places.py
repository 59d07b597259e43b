"""Which noise moves a returned number: by itself, or in proportion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Rational
from typing import Any

import numpy as np

from sensitivity_lab.results.literals import short_literal

NEAR = 1e-6
"""Moves that differ by less, in proportion to the numbers, are equal: floats may be single."""


class NotAddedError(Exception):
    """What is returned is no answer plus noise: the message completes a sentence."""


class MovesOtherwiseError(NotAddedError):
    """A number moves with the noise, but not by it."""


@dataclass(frozen=True)
class Added:
    """Finds the noise that a returned number moves by, in a row of numbers of noise."""

    numbers: Any

    def __call__(self, first: Any, others: Sequence[Any]) -> tuple[int, float]:
        """Return its place and the factor 1, or raise NotAddedError."""
        up, down = _steps(first, others)
        place = int(np.argmin(np.abs(self.numbers - up)))
        noise = float(self.numbers[place])
        near = NEAR * max(map(abs, (float(first), *map(float, others), noise)))
        if abs(up - noise) > near or abs(down + noise) > near:
            raise MovesOtherwiseError(
                f"moves by {up:.6g} and {down:.6g} where the noise moves by {noise:.6g} and "
                f"{-noise:.6g}"
            )
        return place, 1.0


@dataclass(frozen=True)
class Multiplied:
    """Finds the noise that a returned number moves in proportion to, and the factor.

    Two rows of noise tell the place, since only there both moves have the same ratio to the noise.
    """

    numbers: Any
    others: Any
    power: float

    def __call__(self, first: Any, others: Sequence[Any]) -> tuple[int, float]:
        """Return its place and its factor, or raise NotAddedError."""
        up, down, other, *far = _steps(first, others)
        near = NEAR * max(map(abs, (float(first), *map(float, others[:3]))))
        gaps = np.abs(up / self.numbers * self.others - other)
        place = int(np.argmin(gaps))
        ratio = up / float(self.numbers[place])
        factor = far[0] / self.power if far else ratio
        rivals = np.count_nonzero(gaps <= near)
        if (
            rivals != 1
            or abs(up + down) > near
            or abs(factor - ratio) > NEAR * abs(ratio) + (near / abs(float(self.numbers[place])))
        ):
            raise MovesOtherwiseError("moves otherwise than in proportion to one noise")
        return place, factor


def _steps(first: Any, others: Sequence[Any]) -> list[float]:
    """Return by how much a number moves, or raise NotAddedError if it is none."""
    for one in (first, *others):
        if not is_number(one):
            raise NotAddedError(
                f"holds {short_literal(first)}, or with noise {short_literal(others[0])}"
            )
    return [float(other - first) for other in others]


def same(one: Any, two: Any) -> bool:
    """Tell whether a part did not move."""
    if not is_number(one) or not is_number(two):
        return bool(one == two)
    return bool(abs(one - two) <= NEAR * max(abs(one), abs(two)))


def is_number(part: Any) -> bool:
    """Tell whether a part is a finite number."""
    if not isinstance(part, Rational | float) or isinstance(part, bool):
        return False
    return bool(math.isfinite(part))
