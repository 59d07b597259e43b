"""Inputs that are single numbers, and which of them are neighbors."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sensitivity_lab.checks import as_python, listed
from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.exact.roots import as_fraction
from sensitivity_lab.pipelines.domains import Scalar
from sensitivity_lab.pipelines.metrics import Metric

from .inputs import Drawn, Indices


class DrawnNumbers(Drawn):
    """Each number of a universe, which is an input of its own; `data` has them in order."""

    def counts(self) -> tuple[int, int]:
        """Return the number of inputs, and of their rows: a number counts as one."""
        return len(self.data), len(self.data)

    def pair_count(self, d_in: Any) -> None:
        """Return None: pairs have to be listed."""

    @cached_property
    def codes(self) -> Indices:
        """The places of the numbers."""
        return np.arange(len(self.data))

    @cached_property
    def dataset_sizes(self) -> Indices:
        """Ones: no number is smaller than another as a witness."""
        return np.ones(len(self.data), dtype=np.int64)

    def dataset(self, index: int) -> Any:
        """Return a number."""
        return self.data[index]

    def pairs(self, d_in: Any, limit: int) -> tuple[Indices, Indices]:
        """Return all ordered pairs of numbers at most `d_in` apart, also of each with itself."""
        exact = [Fraction(number) for number in self.data]
        after = 0
        spans = []
        for before, number in enumerate(exact):
            while after < len(exact) and exact[after] - number <= d_in:
                after += 1
            spans.append((before, after))
        above = sum(last - first - 1 for first, last in spans)
        if above > limit:
            raise TooLargeError(
                f"{len(exact):,} numbers make {above:,} pairs of neighbors, the limit is "
                f"{limit:,}; take fewer numbers, a smaller d_in, or raise pair_limit"
            )
        low = np.array([first for first, last in spans for _ in range(first, last)], dtype=np.int64)
        high = np.array([place for span in spans for place in range(*span)], dtype=np.int64)
        apart = low != high
        return np.concatenate([low, high[apart]]), np.concatenate([high, low[apart]])


def numbers_of(domain: Scalar, universe: Iterable[Any]) -> list[Any]:
    """Return the distinct numbers of a universe in ascending order, or raise InputError."""
    given = map(as_python, listed(universe, "a universe of numbers is a list of numbers"))
    exact = {as_fraction(domain.read(number), "a number"): number for number in given}
    return [exact[value] for value in sorted(exact)]


def draw_numbers(data: list[Any], metric: Metric) -> DrawnNumbers:
    """Return the inputs of a universe of numbers."""
    return DrawnNumbers(data, (), (), metric, ())
