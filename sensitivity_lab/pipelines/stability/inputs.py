"""All inputs drawn from a small universe, and which of them are neighbors.

A dataset is a sub-multiset of the universe: a number of copies of each distinct row. These numbers,
as digits in a mixed radix, make one integer: the code of the dataset. Neighbors are listed digit by
digit. Single numbers are inputs of their own; pairs of tables that share their privacy ids are
datasets of the rows of both, and other pairs of tables are a dataset of each.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from operator import mul
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.metrics import ChangeOneDistance, IdDistance, Metric, SharedIdDistance
from sensitivity_lab.metrics.encoding import encode, encode_keys, encode_rows, plain
from sensitivity_lab.pipelines.columns import any_column_of
from sensitivity_lab.pipelines.steps.truncation import take
from sensitivity_lab.universes.counting import Numbers
from sensitivity_lab.universes.listing import listed_block

Indices = NDArray[np.int64]

CHUNK = 1024
"""The number of inputs of one piece of work."""

_STEPS = 4
"""Pairs may take so many times as many steps as there may be pairs, and at least four million."""

_ADVICE = "take fewer rows, fewer copies of a row, a smaller d_in, or raise pair_limit"


@dataclass(frozen=True)
class Drawn:
    """The datasets of one universe, by code.

    Parameters
    ----------
    data : DataFrame or list
        The universe, with all copies of each row.
    places : tuple of tuple of int
        The places of the copies of each distinct row.
    first_rows : tuple of int
        The first distinct row of each coordinate. Every distinct row is a coordinate, or every id
        if neighbors differ by ids.
    metric : Metric
        The metric of datasets.
    sizes : tuple of int
        The numbers of rows that datasets may have, in ascending order.
    """

    data: Any
    places: tuple[tuple[int, ...], ...]
    first_rows: tuple[int, ...]
    metric: Metric
    sizes: tuple[int, ...]

    @property
    def rows(self) -> tuple[int, ...]:
        """The number of rows of the universe."""
        return (len(self.data),)

    @cached_property
    def _strides(self) -> list[int]:
        """What one copy of each row adds to the code; the last entry is the number of codes."""
        return list(accumulate((most + 1 for most in self._copies), mul, initial=1))

    @cached_property
    def _coordinates(self) -> list[tuple[int, int]]:
        """Stride and radix of each coordinate."""
        strides = [self._strides[first] for first in (*self.first_rows, len(self.places))]
        return [(stride, after // stride) for stride, after in pairwise(strides)]

    def counts(self) -> tuple[int, int]:
        """Return the number of datasets, and of all their rows, without listing them.

        Raises
        ------
        TooLargeError
            If codes are 2**62 or larger, which is too large for arrays of integers.
        """
        if math.prod(most + 1 for most in self._copies) >= 2**62:
            raise TooLargeError(
                f"a universe of {len(self.places):,} distinct rows is too large to draw from; "
                "take fewer rows, or fewer copies of a row"
            )
        found = [(size, self._numbers.of(len(self.places), size)) for size in self._feasible]
        return sum(many for _, many in found), sum(size * many for size, many in found)

    @cached_property
    def _copies(self) -> list[int]:
        """The number of copies of each distinct row."""
        return list(map(len, self.places))

    @cached_property
    def _feasible(self) -> list[int]:
        """The sizes that a dataset can have."""
        return [size for size in self.sizes if size <= sum(self._copies)]

    @cached_property
    def _numbers(self) -> Numbers:
        """The number of datasets of these sizes, at least one."""
        return Numbers(self._copies, self._feasible[0], self._feasible[-1])

    def pair_count(self, d_in: int) -> int | None:
        """Return the number of pairs in `ordered`; None if they have to be listed."""
        if len(self.sizes) <= sum(self._copies):
            return None
        return count_pairs([radix for _, radix in self._coordinates], self.metric, d_in)

    @cached_property
    def codes(self) -> Indices:
        """The codes of all datasets, in ascending order."""
        strides = np.array(self._strides[:-1], dtype=np.int64)
        of_sizes = (
            listed_block(self._numbers, self._copies, len(self.places), size) @ strides
            for size in self._feasible
        )
        return np.sort(np.concatenate([np.empty(0, dtype=np.int64), *of_sizes]))

    @cached_property
    def dataset_sizes(self) -> Indices:
        """The number of rows of each dataset."""
        sizes, rest = np.zeros_like(self.codes), self.codes
        for most in self._copies:
            rest, copies = np.divmod(rest, most + 1)
            sizes += copies
        return sizes

    def maker(self) -> Callable[[int], Any]:
        """Return what makes an input by its number."""
        return self.dataset

    def dataset(self, index: int) -> Any:
        """Return a dataset, with its rows in the order of the universe.

        A table is made as a caller would make it: its columns have the types of its own values.
        """
        chosen = self.chosen(index)
        if isinstance(self.data, pd.DataFrame):
            return self.table(chosen)
        return [self.data[place] for place in chosen]

    def chosen(self, index: int) -> list[int]:
        """Return the places of a dataset's rows, in ascending order."""
        code = int(self.codes[index])
        places: list[int] = []
        for copies in self.places:
            code, taken = divmod(code, len(copies) + 1)
            places += copies[:taken]
        return sorted(places)

    @cached_property
    def _loose(self) -> dict[str, list[Any]]:
        """The values of each column whose type depends on its values.

        Whole numbers can be in a column of floats because of other rows, and some of the values in
        a column of objects can have one type. Any other type is the caller's choice.
        """
        loose = {}
        for name, dtype in self.data.dtypes.items():
            values = self.data[name].tolist()
            if dtype.kind == "f" and isinstance(dtype, np.dtype):
                loose[name] = list(map(plain, values))
            elif dtype == np.dtype(object):
                loose[name] = values
        return loose

    def table(self, places: list[int]) -> pd.DataFrame:
        """Return a table of the rows at some places."""
        if not self._loose:
            return take(self.data, places)
        made = {
            name: any_column_of([self._loose[name][place] for place in places], None).array
            if name in self._loose
            else self.data[name].array.take(np.array(places, dtype=np.intp))
            for name in self.data.columns
        }
        return pd.DataFrame(made, index=pd.RangeIndex(len(places)), copy=False)

    def ordered(self, d_in: int, limit: int) -> tuple[Indices, Indices]:
        """Return all ordered pairs of datasets at most `d_in` apart, also of each with itself.

        Raises
        ------
        TooLargeError
            If listing them takes `_STEPS` times as many steps as there may be pairs.
        """
        ids, replaced = (isinstance(self.metric, one) for one in (IdDistance, ChangeOneDistance))
        number, total = len(self.codes), sum(self._copies)
        budget = min(_budget_of(self.metric, d_in), 2 * total)  # no pair costs more
        # How many rows a size, or a difference of sizes, is away from what it has to be.
        accepted = [0] if replaced else self._feasible
        away = abs(np.subtract.outer(np.arange(total + 1), accepted)).min(axis=1, initial=total)
        # The first dataset, the code of the second, their distance, and the size or the difference.
        pairs = np.stack([np.arange(number), self.codes, *np.zeros((2, number), dtype=np.int64)])
        pairs[3] += 0 if replaced else self.dataset_sizes
        for stride, radix in self._coordinates:
            state = pairs[1] // stride % radix
            reach = radix - 1 if ids else min(budget, radix - 1)
            _check_steps(2 * reach * len(state), limit)
            grown = [pairs]
            for change in (*range(-reach, 0), *range(1, reach + 1)):
                after = state + change
                fits = (after >= 0) & (after < radix)
                longer = pairs[:, fits] + np.array(
                    [[0], [change * stride], [abs(change)], [change]]
                )
                if ids:  # added or removed, or with other rows, which counts twice
                    longer[2:] = pairs[2:, fits]
                    longer[2] += 1 + (state * after > 0)[fits]
                grown.append(longer[:, longer[2] + away[abs(longer[3])] <= budget])
            pairs = np.concatenate(grown, axis=1)
        first, code = pairs[:2, np.isin(pairs[1], self.codes) & (away[pairs[3]] == 0)]
        # In their order, so that the first of equals is always the same pair.
        keys = np.sort(first * number + np.searchsorted(self.codes, code))
        return np.divmod(keys, max(1, number))


@dataclass(frozen=True)
class Singles:
    """The numbers of a universe in ascending order, each of which is an input."""

    data: list[Any]

    @property
    def rows(self) -> tuple[int, ...]:
        """The number of numbers."""
        return (len(self.data),)

    def counts(self) -> tuple[int, int]:
        """Return the number of inputs, and of their rows: a number counts as one."""
        return len(self.data), len(self.data)

    @property
    def dataset_sizes(self) -> Indices:
        """Ones: no number is smaller than another as a witness."""
        return np.ones(len(self.data), dtype=np.int64)

    def maker(self) -> Callable[[int], Any]:
        """Return what makes an input by its number."""
        return self.data.__getitem__

    def pair_count(self, d_in: Any) -> None:
        """Return None: pairs have to be listed."""

    def ordered(self, d_in: Any, limit: int) -> tuple[Indices, Indices]:
        """Return the pairs of different numbers at most `d_in` apart, the smaller one first."""
        exact = [Fraction(number) for number in self.data]
        places = np.arange(len(exact))
        last = np.array([bisect_right(exact, number + d_in) for number in exact], dtype=np.int64)
        larger = last - places - 1
        if larger.sum() > limit:
            raise TooLargeError(
                f"{len(exact):,} numbers make {larger.sum():,} pairs of neighbors, the limit is "
                f"{limit:,}; take fewer numbers, a smaller d_in, or raise pair_limit"
            )
        before = np.repeat(places, larger)
        return before, np.arange(len(before)) + np.repeat(last - np.cumsum(larger), larger)


@dataclass(frozen=True)
class _SharedTables(Drawn):
    """Pairs of tables, as datasets of the rows of both universes, where each id is a coordinate.

    Parameters
    ----------
    sides : tuple of Drawn
        The universe of each table, which makes tables of its rows.
    """

    sides: tuple[Drawn, Drawn]

    @property
    def rows(self) -> tuple[int, ...]:
        """The number of rows of each universe."""
        return tuple(len(side.data) for side in self.sides)

    def dataset(self, index: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return two tables."""
        first, second = self.sides
        chosen, split = self.chosen(index), len(first.data)
        return (
            first.table([place for place in chosen if place < split]),
            second.table([place - split for place in chosen if place >= split]),
        )


@dataclass(frozen=True)
class Both:
    """The pairs of a dataset of one universe and one of another, which change independently."""

    first: Drawn
    second: Drawn

    @property
    def rows(self) -> tuple[int, ...]:
        """The number of rows of each universe."""
        return (*self.first.rows, *self.second.rows)

    def counts(self) -> tuple[int, int]:
        """Return the number of pairs, and of all their rows, without listing them."""
        (many, rows), (others, more) = self.first.counts(), self.second.counts()
        return many * others, rows * others + many * more

    @cached_property
    def dataset_sizes(self) -> Indices:
        """The number of rows of each pair."""
        sizes = self.first.dataset_sizes, self.second.dataset_sizes
        return np.asarray(np.add.outer(*sizes).ravel())

    def maker(self) -> Callable[[int], Any]:
        """Return what makes a pair by its number; the same table is needed many times."""
        first, second = (lru_cache(CHUNK)(one.dataset) for one in (self.first, self.second))
        width = len(self.second.codes)
        return lambda index: (first(index // width), second(index % width))

    def pair_count(self, d_in: tuple[int, int]) -> int | None:
        """Return the number of pairs in `ordered`; None if they have to be listed."""
        one, other = self.first.pair_count(d_in[0]), self.second.pair_count(d_in[1])
        return None if one is None or other is None else one * other

    def ordered(self, d_in: tuple[int, int], limit: int) -> tuple[Indices, Indices]:
        """Return all ordered pairs of inputs at most so far apart, also of each with itself."""
        relations = self.first.ordered(d_in[0], limit), self.second.ordered(d_in[1], limit)
        _check_pairs(math.prod(len(one) for one, _ in relations), self, limit)
        width = len(self.second.codes)
        before, after = (
            np.add.outer(one * width, other).ravel() for one, other in zip(*relations, strict=True)
        )
        return before, after


Inputs = Drawn | Singles | Both


def pairs_of(drawn: Inputs, d_in: Any, limit: int) -> tuple[Indices, Indices]:
    """Return the pairs of different inputs at most `d_in` apart, each once and in order.

    Raises
    ------
    TooLargeError
        If there are more than the limit, where possible before they are listed.
    """
    ahead = drawn.pair_count(d_in)
    if ahead is not None:
        _check_pairs(ahead, drawn, limit)
    before, after = drawn.ordered(d_in, limit)
    _check_pairs(len(before), drawn, limit)
    once = before < after
    return before[once], after[once]


def _check_pairs(ordered: int, drawn: Inputs, limit: int) -> None:
    """Raise TooLargeError for too many pairs, given in both orders and of each with itself."""
    pairs = (ordered - drawn.counts()[0]) // 2
    if pairs > limit:
        raise TooLargeError(
            f"there are {pairs:,} pairs of neighboring inputs, the limit is {limit:,}; {_ADVICE}"
        )


def draw(data: Any, metric: Metric, sizes: Sequence[int] | None) -> Drawn:
    """Return the datasets of a universe: a DataFrame, or a list of records."""
    rows = encode_rows(data) if isinstance(data, pd.DataFrame) else list(map(encode, data))
    owners: Sequence[bytes | None] = rows
    if isinstance(metric, IdDistance):
        metric.form(data[:0])  # or raise InputError, without a column of ids
        owners = encode_keys(data, [metric.column])
    places, first_rows = _places_by_owner(owners, rows)
    accepted = tuple(range(len(rows) + 1)) if sizes is None else tuple(sorted(set(sizes)))
    return Drawn(data, places, first_rows, metric, accepted)


def draw_tables(data: tuple[pd.DataFrame, pd.DataFrame], metric: SharedIdDistance) -> Drawn:
    """Return the pairs of tables of two universes."""
    ids = IdDistance(metric.column)
    first, second = (draw(table, ids, None) for table in data)
    owners = [owner for table in data for owner in encode_keys(table, [metric.column])]
    # Equal rows of the two tables are different rows.
    rows = [(side, row) for side, table in enumerate(data) for row in encode_rows(table)]
    places, first_rows = _places_by_owner(owners, rows)
    sizes = tuple(range(len(rows) + 1))
    return _SharedTables(data, places, first_rows, ids, sizes, (first, second))


def _places_by_owner(
    owners: Iterable[Hashable], rows: Iterable[Hashable]
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Return the places of the copies of each distinct row, and the first row of each owner.

    The rows of one owner are consecutive, so that they form one coordinate.
    """
    places: dict[Hashable, dict[Hashable, list[int]]] = {}
    for place, (owner, row) in enumerate(zip(owners, rows, strict=True)):
        places.setdefault(owner, {}).setdefault(row, []).append(place)
    first_rows = np.cumsum([0, *map(len, places.values())])[:-1].tolist()
    copies = tuple(tuple(of_row) for of_owner in places.values() for of_row in of_owner.values())
    return copies, tuple(first_rows)


def _check_steps(steps: int, limit: int) -> None:
    """Raise TooLargeError if it takes too many steps to list the pairs."""
    most = _STEPS * max(limit, 10**6)
    if steps > most:
        raise TooLargeError(
            f"listing the pairs of neighbors takes {steps:,} steps or more, the limit is {most:,}; "
            f"{_ADVICE}"
        )


def count_pairs(radices: Sequence[int], metric: Metric, d_in: int) -> int:
    """Return the number of ordered pairs of datasets, of any sizes, that are at most `d_in` apart.

    This includes the pairs of each dataset with itself.

    Parameters
    ----------
    radices : sequence of int
        The number of states of each distinct row, or of each id.
    metric : Metric
        The metric of rows added or removed, of rows replaced, or of ids.
    d_in : int
        The largest distance.

    Examples
    --------
    >>> from sensitivity_lab.pipelines import SymmetricDistance
    >>> count_pairs([2, 2, 2], SymmetricDistance(), 1)
    32
    """
    budget = _budget_of(metric, d_in)
    found = {(0, 0): 1}  # by how many rows more the second has, and the distance
    for radix in radices:
        if isinstance(metric, IdDistance):
            # An id does not change (0), is added or removed (1), or gets other rows (2).
            ways = {(0, 0): radix, (0, 1): 2 * (radix - 1), (0, 2): (radix - 1) * (radix - 2)}
        else:
            most = min(budget, radix - 1)
            ways = {(change, abs(change)): radix - abs(change) for change in range(-most, most + 1)}
        longer: Counter[tuple[int, int]] = Counter()
        for (more, spent), number in found.items():
            for (change, cost), others in ways.items():
                if spent + cost <= budget:
                    longer[more + change, spent + cost] += number * others
        found = longer
    replaced = isinstance(metric, ChangeOneDistance)
    return sum(number for (more, _), number in found.items() if more == 0 or not replaced)


def _budget_of(metric: Metric, d_in: int) -> int:
    """Return the largest number of rows added or removed; replacing one removes and adds one."""
    return 2 * d_in if isinstance(metric, ChangeOneDistance) else d_in
