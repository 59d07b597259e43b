"""The outputs of randomised code: all of them, or a sample, as distributions over one list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.audits.question import naming
from sensitivity_lab.audits.records import distances
from sensitivity_lab.checks import listed
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.metrics import Distances, Metric
from sensitivity_lab.metrics.cells import key_of
from sensitivity_lab.results.literals import short_literal

OUTPUT_LIMIT = 2_000
"""The largest number of different outputs; all pairs are measured."""


@dataclass(frozen=True)
class Source:
    """Where the outputs on a dataset come from.

    Attributes
    ----------
    function : callable
        Takes a dataset, and a choice where `choices` is given.
    choices : callable or None
        Returns the random choices on a dataset.
    draws : int
        The number of calls on a dataset, if there are no choices.
    """

    function: Callable[..., Any]
    choices: Callable[[list[Any]], Iterable[Any]] | None
    draws: int

    @property
    def enumerated(self) -> bool:
        """Whether all outputs are known, each with its probability."""
        return self.choices is not None

    def outputs(self, x: Any, *, backward: bool = False) -> list[Any]:
        """Return the outputs on a dataset, one per choice or draw, in their order.

        Where there are choices, `backward` says whether to call the function in reverse order.
        """
        if self.choices is None:
            return [self._call(x) for _ in range(self.draws)]
        with naming("choices, on {}, raised", x):
            given = self.choices(_copy(x))
        choices = listed(given, f"choices, on {short_literal(x)}, must be several")
        if not choices:
            raise InputError(f"choices, on {short_literal(x)}, must be at least one, got none")
        if backward:
            return [self._call(x, choice) for choice in reversed(choices)][::-1]
        return [self._call(x, choice) for choice in choices]

    def _call(self, x: Any, *choice: Any) -> Any:
        with naming("{} with the choice {} raised" if choice else "{} raised", x, *choice):
            return self.function(_copy(x), *choice)


def _copy(x: Any) -> Any:
    return list(x) if isinstance(x, list) else x


@dataclass(frozen=True)
class Distribution:
    """How often each output occurs on a dataset.

    Attributes
    ----------
    places : tuple of int
        The places of the outputs in the common list, ascending.
    counts : tuple of int
        How often each occurs among the outputs on this dataset.
    """

    places: tuple[int, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        """How many outputs there are, with repetitions."""
        return sum(self.counts)


@dataclass(frozen=True)
class Outputs:
    """All outputs on all datasets, without those at distance 0 from an earlier one.

    Attributes
    ----------
    items : list
        The outputs.
    distances : Distances
        How far apart they are.
    matrix : ndarray, shape (outputs, outputs)
        The same for all pairs, in a unit of its own.
    distributions : list of Distribution
        One per dataset.
    """

    items: list[Any]
    distances: Distances
    matrix: NDArray[Any]
    distributions: list[Distribution]

    def shown(self, place: int, enumerated: bool) -> tuple[tuple[Any, Any], ...]:
        """Return the outputs on a dataset with their probabilities, or how often they came."""
        found = self.distributions[place]
        return tuple(
            (self.items[at], Fraction(count, found.total) if enumerated else count)
            for at, count in zip(found.places, found.counts, strict=True)
        )


def gathered(made: Sequence[Sequence[Any]], metric: Metric) -> Outputs:
    """Return the outputs on all datasets as distributions over one list of outputs."""
    seen: dict[Hashable, int] = {}
    items: list[Any] = []
    places = []
    for outputs in made:
        line = []
        for output in outputs:
            key = key_of(output)
            if key not in seen:
                seen[key] = len(items)
                items.append(_frozen(output))
                if len(items) > OUTPUT_LIMIT:
                    raise TooLargeError(
                        f"there are more than {OUTPUT_LIMIT:,} different outputs, and all pairs "
                        "are measured; use fewer values, smaller sizes or fewer draws; for "
                        "code that adds noise, use audit_mechanism"
                    )
            line.append(seen[key])
        places.append(line)
    measured = distances(metric, items, key_of)
    matrix = _matrix(measured, len(items))
    # Each output stands for all at distance 0 from it, such as other orders of a multiset.
    stands = [int(np.flatnonzero(line == 0)[0]) for line in matrix]
    counted = (sorted(Counter(stands[place] for place in line).items()) for line in places)
    distributions = [Distribution(*zip(*ordered, strict=True)) for ordered in counted]
    return Outputs(items, measured, matrix, distributions)


def _matrix(measured: Distances, number: int) -> NDArray[Any]:
    """Return all distances; entry [i, j] is that of outputs i and j."""
    rows = [measured.row(i) for i in range(number)]
    whole = any(row.dtype == object for row in rows)
    matrix = np.zeros((number, number), dtype=object if whole else np.int64)
    for i, row in enumerate(rows):
        matrix[i, i + 1 :] = row
        matrix[i + 1 :, i] = row
    return matrix


def _frozen(output: Any) -> Any:
    """Return an output that does not change: lists and arrays as tuples."""
    if isinstance(output, np.ndarray):
        output = output.tolist()
    return tuple(map(_frozen, output)) if isinstance(output, list | tuple) else output
