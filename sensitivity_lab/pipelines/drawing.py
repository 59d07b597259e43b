"""All datasets drawn from a small universe, and which of them are neighbors.

A dataset is a sub-multiset of the universe: how many copies it takes of each distinct row. Written
as digits in a mixed radix these numbers make one integer, its code. Codes are in ascending order,
and a neighbor is found by adding the difference of two codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice, pairwise, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.errors import TooLargeError

from .encoding import encode, encode_keys, encode_rows
from .metrics import ChangeOneDistance, IdDistance, Metric
from .truncation import take

Indices = NDArray[np.int64]
Move = tuple[tuple[int, int], ...]
"""Changes of a code: coordinates, ascending, and by how much each changes, never by 0."""


@dataclass(frozen=True)
class Drawn:
    """The datasets of one universe, by their code.

    Parameters
    ----------
    data : DataFrame or list
        The universe: every copy of a row is listed.
    places : tuple of tuple of int
        The places of the copies, per distinct row.
    first_rows : tuple of int
        Where the coordinates begin among the distinct rows: every row is one, or, where neighbors
        differ by ids, every id.
    metric : Metric
        How datasets' distance is measured.
    sizes : tuple of int
        The numbers of rows that datasets may have, ascending.
    """

    data: Any
    places: tuple[tuple[int, ...], ...]
    first_rows: tuple[int, ...]
    metric: Metric
    sizes: tuple[int, ...]

    @cached_property
    def _strides(self) -> list[int]:
        """What one copy of a row adds to the code, and at the end the number of codes."""
        strides = [1]
        for copies in self.places:
            strides.append(strides[-1] * (len(copies) + 1))
        return strides

    @cached_property
    def _coordinates(self) -> list[tuple[int, int]]:
        """Stride and radix of each coordinate."""
        bounds = [*self.first_rows, len(self.places)]
        return [
            (self._strides[first], self._strides[after] // self._strides[first])
            for first, after in pairwise(bounds)
        ]

    def count(self) -> int:
        """Return the number of datasets, without listing them.

        Raises
        ------
        TooLargeError
            If the codes are not below 2**62, for which arrays of integers are made.
        """
        if self._strides[-1] >= 2**62:
            raise TooLargeError(
                f"a universe of {len(self.places):,} distinct rows is too large to draw from; "
                "take fewer rows, or fewer copies of a row"
            )
        of_size = [1]
        for copies in self.places:
            longer = [0] * (len(of_size) + len(copies))
            for taken in range(len(copies) + 1):
                for size, count in enumerate(of_size):
                    longer[size + taken] += count
            of_size = longer
        return sum(of_size[size] for size in self.sizes if size < len(of_size))

    @cached_property
    def codes(self) -> Indices:
        """The codes of all datasets, ascending."""
        return self._codes_and_sizes[0]

    @cached_property
    def dataset_sizes(self) -> Indices:
        """The number of rows of each dataset."""
        return self._codes_and_sizes[1]

    @cached_property
    def _codes_and_sizes(self) -> tuple[Indices, Indices]:
        codes, sizes = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        least, most = min(self.sizes, default=0), max(self.sizes, default=-1)
        left = sum(map(len, self.places))
        for stride, copies in zip(self._strides, self.places, strict=False):
            taken = np.arange(len(copies) + 1)
            codes = (codes[:, None] + stride * taken).ravel()
            sizes = (sizes[:, None] + taken).ravel()
            left -= len(copies)
            reaches = (sizes <= most) & (sizes + left >= least)
            codes, sizes = codes[reaches], sizes[reaches]
        wanted = np.isin(sizes, self.sizes)
        order = np.argsort(codes[wanted])
        return codes[wanted][order], sizes[wanted][order]

    def dataset(self, index: int) -> Any:
        """Return a dataset, its rows in the universe's order."""
        code = int(self.codes[index])
        chosen: list[int] = []
        for copies in self.places:
            code, taken = divmod(code, len(copies) + 1)
            chosen += copies[:taken]
        chosen.sort()
        if isinstance(self.data, pd.DataFrame):
            return take(self.data, chosen)
        return [self.data[place] for place in chosen]

    def pairs(self, d_in: int, limit: int) -> tuple[Indices, Indices]:
        """Return all pairs of datasets at most `d_in` apart, both ways round, and each with itself.

        Raises
        ------
        TooLargeError
            If there are more than `limit` pairs of different datasets, or ten times as many had to
            be looked at.
        """
        datasets = len(self.codes)
        if not datasets:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        moves = list(islice(self._moves(d_in), min(10 * limit // datasets + 1, 2**62)))
        found: list[tuple[Indices, Indices]] = []
        count = 0
        if len(moves) * datasets <= 10 * limit:
            for move in moves:
                found.append(self._moved(move, d_in))
                count += len(found[-1][0])
                if count > 2 * limit + datasets:
                    break
        if not found or count > 2 * limit + datasets:
            raise TooLargeError(
                f"{datasets:,} datasets make more than {limit:,} pairs of neighbors, or more "
                f"than {10 * limit:,} pairs to look at; take fewer rows, fewer copies of a row, a "
                "smaller d_in, or raise pair_limit"
            )
        before, after = zip(*found, strict=True)
        return np.concatenate(before), np.concatenate(after)

    def _moves(self, d_in: int) -> Iterator[Move]:
        """Yield every change that two datasets at most `d_in` apart can differ by."""
        radices = [radix for _, radix in self._coordinates]
        if isinstance(self.metric, IdDistance):
            for ids in range(d_in + 1):
                for changed in combinations(range(len(radices)), ids):
                    amounts = ([d for d in _around(radices[at] - 1) if d] for at in changed)
                    for deltas in product(*amounts):
                        yield tuple(zip(changed, deltas, strict=True))
        elif isinstance(self.metric, ChangeOneDistance):
            for move in _row_moves(radices, 2 * d_in):
                if sum(delta for _, delta in move) == 0:
                    yield move
        else:
            yield from _row_moves(radices, d_in)

    def _moved(self, move: Move, d_in: int) -> tuple[Indices, Indices]:
        """Return the datasets that a change applies to, and what it makes of them."""
        fits = np.ones(len(self.codes), dtype=bool)
        cost = np.zeros(len(self.codes), dtype=np.int64)
        shift = 0
        for at, delta in move:
            stride, radix = self._coordinates[at]
            digits = self.codes // stride % radix
            fits &= (digits + delta >= 0) & (digits + delta < radix)
            # An id comes or goes, or it goes and comes back with other rows.
            cost += np.where((digits == 0) | (digits + delta == 0), 1, 2)
            shift += stride * delta
        if isinstance(self.metric, IdDistance):
            fits &= cost <= d_in
        before = np.flatnonzero(fits)
        codes = self.codes[before] + shift
        after = np.minimum(np.searchsorted(self.codes, codes), max(len(self.codes) - 1, 0))
        there = self.codes[after] == codes
        return before[there], after[there]


def draw(data: Any, metric: Metric, sizes: Sequence[int] | None) -> Drawn:
    """Return the datasets of a universe: a DataFrame, or a list of records."""
    rows = encode_rows(data) if isinstance(data, pd.DataFrame) else list(map(encode, data))
    owners: Sequence[bytes | None] = rows
    if isinstance(metric, IdDistance):
        owners = encode_keys(data, [metric.column])
    # Rows of one id must be neighbors in this order, for its rows to be one coordinate.
    places: dict[bytes | None, dict[bytes, list[int]]] = {}
    for place, (owner, row) in enumerate(zip(owners, rows, strict=True)):
        places.setdefault(owner, {}).setdefault(row, []).append(place)
    first_rows = np.cumsum([0, *map(len, places.values())])[:-1].tolist()
    return Drawn(
        data,
        tuple(tuple(copies) for of_owner in places.values() for copies in of_owner.values()),
        tuple(first_rows),
        metric,
        tuple(range(len(rows) + 1)) if sizes is None else tuple(sorted(set(sizes))),
    )


def _around(most: int) -> range:
    """Return the whole numbers from -most to most."""
    return range(-most, most + 1)


def _row_moves(radices: list[int], budget: int, first: int = 0) -> Iterator[Move]:
    """Yield all changes of the coordinates from `first` on whose amounts add up to the budget."""
    yield ()
    for at in range(first, len(radices)):
        for delta in _around(min(budget, radices[at] - 1)):
            if delta:
                for others in _row_moves(radices, budget - abs(delta), at + 1):
                    yield ((at, delta), *others)
