"""Answers of a query on datasets, each computed once, and how far apart they are."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics.norms import Norm, powered
from sensitivity_lab.queries import Query
from sensitivity_lab.search.again import SAMPLE, agree, largest_of, no_function, spread
from sensitivity_lab.universes.multiplicities import Multiplicities, repeated
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.relations import show

Datasets = Sequence[Multiplicities] | NDArray[np.int64]
"""Datasets by multiplicities, shape (datasets, m)."""

_SHARE = 8
"""One in so many answers is recomputed, if there are few."""

_REMEMBERED = 200_000
"""Answers are remembered up to so many numbers."""


class Answers:
    """Answers in floats: they steer a search, and do not state its result.

    Parameters
    ----------
    query : Query
    universe : Universe
    norm : {"L1", "L2", "Linf"}
    value_range : tuple of two floats, or None
        The range of all answers that the caller has declared.

    Attributes
    ----------
    evaluations : int
        The number of datasets that the query was evaluated on.
    asked : int
        The number of answers requested, including remembered ones.
    """

    def __init__(
        self,
        query: Query,
        universe: FiniteUniverse,
        norm: Norm,
        value_range: tuple[float, float] | None = None,
    ) -> None:
        self.query = query
        self.universe = universe
        self.norm = norm
        self.value_range = value_range
        self.evaluations = 0
        self.asked = 0
        self._taken = 0.0
        self._remembered: dict[bytes, NDArray[np.float64]] = {}

    @property
    def seconds(self) -> float:
        """About how long the answers on a pair take, from those so far; without any, forever."""
        return max(2 * self._taken / self.evaluations, 1e-9) if self.evaluations else math.inf

    def on(self, datasets: Datasets) -> list[NDArray[np.float64]]:
        """Return the answers on datasets of one or several sizes, each shape (d,)."""
        keys = [data.tobytes() for data in datasets]
        self.asked += len(keys)
        missing = {
            key: data
            for key, data in zip(keys, datasets, strict=True)
            if key not in self._remembered
        }
        if len(self._remembered) > _REMEMBERED:
            self._remembered.clear()
            missing = dict(zip(keys, datasets, strict=True))
        if missing:
            started = time.monotonic()
            self._ask(missing)
            self._taken += time.monotonic() - started
        return [self._remembered[key] for key in keys]

    def gaps(self, x: Datasets, y: Datasets) -> NDArray[np.float64]:
        """Return how far the answers on pairs are apart, in the norm; shape (pairs,)."""
        found = np.array(self.on([*x, *y]))
        apart = powered(found[: len(x)] - found[len(x) :], self.norm)
        return np.sqrt(apart) if self.norm == "L2" else apart

    def check_again(self, pair: Datasets) -> None:
        """Recompute some remembered answers, and those on a pair.

        Raises
        ------
        QueryError
            If the query answers a dataset in two ways.
        """
        if self.query.arithmetic == "exact":
            return
        known = list(self._remembered.items())
        some = spread(len(known))[:: max(1, -(-SAMPLE * _SHARE // max(1, len(known))))]
        sample = [(np.frombuffer(known[at][0], dtype=np.int64), known[at][1]) for at in some]
        sample += zip(pair, self.on(pair), strict=True)
        largest = max(float(np.abs(first).max()) for _, first in sample)
        records = largest_of(self.universe)
        for data, first in reversed(sample):
            again = np.atleast_1d(np.asarray(self.query.on(self.universe, data), dtype=np.float64))
            if not agree(self.query, first, again, largest, records):
                raise no_function(self.query, self.universe.dataset(data), first, again)

    def _ask(self, datasets: dict[bytes, Multiplicities]) -> None:
        """Evaluate the query on datasets, those of one size together, and remember the answers."""
        self.evaluations += len(datasets)
        by_size: dict[int, list[bytes]] = {}
        for key, data in datasets.items():
            by_size.setdefault(int(data.sum()), []).append(key)
        for keys in by_size.values():
            if self.query.arithmetic == "exact":
                answers = [self.query.on(self.universe, datasets[key]) for key in keys]
            else:
                together = np.array([datasets[key] for key in keys])
                values = np.tile(np.arange(together.shape[1]), len(keys))
                rows = repeated(values, together.ravel()).reshape(len(keys), -1)
                answers = list(self.query.on_rows(self.universe, rows))
            for key, answer in zip(keys, answers, strict=True):
                numbers = np.atleast_1d(np.asarray(answer, dtype=np.float64))
                self._check(numbers, datasets[key])
                self._remembered[key] = numbers

    def _check(self, answer: NDArray[np.float64], data: Multiplicities) -> None:
        """Raise InputError if an answer is not in the range that the caller has declared."""
        if self.value_range is None:
            return
        lowest, highest = self.value_range
        if answer.min() < lowest or answer.max() > highest:
            came = answer.tolist() if len(answer) > 1 else answer.item()
            raise InputError(
                f"value_range says that answers are from {lowest:g} to {highest:g}, but "
                f"{self.query.name} is {came} on {show(self.universe.dataset(data))}; widen the "
                "range, or clip the query's answers to it"
            )
