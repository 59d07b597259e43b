"""The largest distance of outputs over many pairs of inputs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from sensitivity_lab.exact.roots import Distance
from sensitivity_lab.metrics import Metric
from sensitivity_lab.running import tracked

from .inputs import Drawn, Indices

_BLOCK = 1 << 20
"""The number of pairs that are compared at a time."""


@dataclass
class Farthest:
    """Finds the largest distance of outputs over pairs of inputs, which are given by number.

    `output_of` has the number of each input's output; equal outputs have the same number. A pair of
    outputs is measured once, no matter how many pairs of inputs have these outputs.
    """

    metric: Metric
    outputs: list[Hashable]
    output_of: Indices
    progress: bool | None

    def among(
        self, drawn: list[Drawn], relations: list[tuple[Indices, Indices]]
    ) -> tuple[Distance, tuple[int, int]]:
        """Return the largest distance, and a pair of inputs with few rows that attains it."""
        largest, best = self._largest(drawn, relations)
        sizes = drawn[0].dataset_sizes
        if len(drawn) == 2:
            sizes = np.add.outer(sizes, drawn[1].dataset_sizes).ravel()
        found: list[tuple[int, int, int]] = []
        for before, after, keys in self._keyed(drawn, relations):
            attains = np.flatnonzero(np.isin(keys, best))
            if attains.size:
                total = sizes[before[attains]] + sizes[after[attains]]
                at = attains[int(np.argmin(total))]
                found.append((int(total.min()), int(before[at]), int(after[at])))
        _, x, y = min(found)
        return largest, (x, y)

    def _largest(
        self, drawn: list[Drawn], relations: list[tuple[Indices, Indices]]
    ) -> tuple[Distance, list[int]]:
        """Return the largest distance, and the pairs of outputs that attain it."""
        largest: Distance = -1
        best: list[int] = []
        measured = np.empty(0, dtype=np.int64)
        for _, _, keys in self._keyed(drawn, relations):
            fresh = np.setdiff1d(keys, measured)
            for key in tracked(fresh.tolist(), unit="distances", progress=self.progress):
                first, second = divmod(key, len(self.outputs))
                distance = self.metric.between(self.outputs[first], self.outputs[second])
                if distance > largest:
                    largest, best = distance, [key]
                elif distance == largest:
                    best.append(key)
            measured = np.union1d(measured, fresh)
        return largest, best

    def _keyed(
        self, drawn: list[Drawn], relations: list[tuple[Indices, Indices]]
    ) -> Iterator[tuple[Indices, Indices, Indices]]:
        """Yield blocks of pairs of different inputs, and a number for each pair of outputs."""
        for before, after in _blocks(drawn, relations):
            first, second = self.output_of[before], self.output_of[after]
            low, high = np.minimum(first, second), np.maximum(first, second)
            yield before, after, low * len(self.outputs) + high


def _blocks(
    drawn: list[Drawn], relations: list[tuple[Indices, Indices]]
) -> Iterator[tuple[Indices, Indices]]:
    """Yield blocks of pairs of neighboring inputs, where each pair occurs once."""
    before, after = relations[0]
    others = (np.zeros(1, dtype=np.int64),) * 2 if len(drawn) == 1 else relations[1]
    width = 1 if len(drawn) == 1 else len(drawn[1].codes)
    step = max(1, _BLOCK // max(len(others[0]), 1))
    for first in range(0, len(before), step):
        part = slice(first, first + step)
        x = (before[part, None] * width + others[0]).ravel()
        y = (after[part, None] * width + others[1]).ravel()
        yield x[x < y], y[x < y]
