"""All inputs drawn from a small universe, and which of them are neighbors.

A dataset is a sub-multiset of the universe: a number of copies of each distinct row. These numbers,
as digits in a mixed radix, make one integer: the code of the dataset. Neighbors are listed digit by
digit. Single numbers are inputs of their own; pairs of tables that share their privacy ids are
datasets of the rows of both.

The inputs of a transformation are drawn from a universe that fits its domain.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import as_python, listed, shown, whole_kind
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.exact.roots import as_fraction
from sensitivity_lab.metrics import (
    ChangeOneDistance,
    IdDistance,
    Metric,
    PairDistance,
    SharedIdDistance,
)
from sensitivity_lab.metrics.cells import encode, encode_keys, encode_rows, plain
from sensitivity_lab.universes.counting import Numbers
from sensitivity_lab.universes.listing import listed_block
from sensitivity_lab.universes.relations import repeated
from sensitivity_lab.universes.universe import FiniteUniverse, TableUniverse

from .domains import Counted, Domain, Pair, Scalar, Values
from .steps.truncation import take
from .table_domains import Table, any_column_of
from .transformation import Transformation

Indices = NDArray[np.int64]
Ways = dict[tuple[int, int], int]
"""The number of ways in which datasets can differ, by (difference of their sizes, distance).

For ids only the distance counts, and the difference of the sizes is always 0.
"""

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

    def counts(self) -> tuple[int, int]:
        """Return the number of datasets, and of all their rows, without listing them.

        Raises
        ------
        TooLargeError
            If codes are 2**62 or larger, which is too large for arrays of integers.
        """
        if math.prod(len(copies) + 1 for copies in self.places) >= 2**62:
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
        """Return the number of pairs that `pairs` finds; None if they have to be listed."""
        if len(self.sizes) <= sum(map(len, self.places)):
            return None
        return count_pairs([radix for _, radix in self._coordinates], self.metric, d_in)

    @cached_property
    def codes(self) -> Indices:
        """The codes of all datasets, in ascending order."""
        return self._codes_and_sizes[0]

    @cached_property
    def dataset_sizes(self) -> Indices:
        """The number of rows of each dataset."""
        return self._codes_and_sizes[1]

    @cached_property
    def _codes_and_sizes(self) -> tuple[Indices, Indices]:
        strides = np.array(self._strides[:-1], dtype=np.int64)
        of_size = [
            listed_block(self._numbers, self._copies, len(self.places), size) @ strides
            for size in self._feasible
        ]
        codes = np.concatenate([np.empty(0, dtype=np.int64), *of_size])
        sizes = np.repeat(np.array(self._feasible, dtype=np.int64), list(map(len, of_size)))
        order = np.argsort(codes)
        return codes[order], sizes[order]

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

    def pairs(self, d_in: int, limit: int) -> tuple[Indices, Indices]:
        """Return all ordered pairs of datasets at most `d_in` apart, also of each with itself.

        Raises
        ------
        TooLargeError
            If listing them takes `_STEPS` times as many steps as there may be pairs.
        """
        budget = min(_budget_of(self.metric, d_in), 2 * sum(self._copies))  # no pair costs more
        replaced = isinstance(self.metric, ChangeOneDistance)
        # The beginnings of two datasets, what they cost, and how many rows more the second one has.
        pairs = np.zeros((4, min(1, len(self.codes))), dtype=np.int64)
        for stride, radix in self._coordinates:
            begun = np.unique(self.codes % (stride * radix))
            states = np.unique(begun // stride)
            of_costs = [pairs[:, pairs[2] == spent] for spent in np.unique(pairs[2])]
            changes = [self._steps(states, budget - int(one[2, 0]), limit) for one in of_costs]
            every = list(zip(of_costs, changes, strict=True))
            _check_steps(sum(one.shape[1] * steps.shape[1] for one, steps in every), limit)
            grown = [np.empty((4, 0), dtype=np.int64)]
            for of_cost, steps in every:
                more = np.array([[stride], [stride], [1], [1]]) * steps
                longer = (of_cost[:, :, None] + more[:, None]).reshape(4, -1)
                if len(begun) < stride * radix:
                    begins = np.isin(longer[0], begun) & np.isin(longer[1], begun)
                    longer = longer[:, begins]
                if replaced:  # the other coordinates have to make up for the difference
                    longer = longer[:, abs(longer[3]) <= budget - longer[2]]
                grown.append(longer)
            pairs = np.concatenate(grown, axis=1)
        first, second = pairs[:2, pairs[3] == 0] if replaced else pairs[:2]
        if len(self.codes) < self._strides[-1]:
            first, second = (np.searchsorted(self.codes, one) for one in (first, second))
        # In their order, so that the first of equals is always the same pair.
        number = max(1, len(self.codes))
        return np.divmod(np.sort(first * number + second), number)

    def _steps(self, states: Indices, budget: int, limit: int) -> Indices:
        """Return all changes of a coordinate that cost at most so much.

        As rows: its state before and after, the cost, and how much larger the state is.
        """
        if isinstance(self.metric, IdDistance):
            _check_steps(len(states) ** 2, limit)
            first, last = np.zeros_like(states), np.full_like(states, len(states))
        else:
            first = np.searchsorted(states, states - budget)
            last = np.searchsorted(states, states + budget, side="right")
        before, after = (states[places] for places in _spans(first, last))
        cost = abs(after - before)
        if isinstance(self.metric, IdDistance):
            # An id is added or removed, or it gets other rows, which counts twice.
            cost = np.where((before > 0) & (after > 0), 2, 1) * (before != after)
        return np.stack([before, after, cost, after - before])[:, cost <= budget]


class _Numbers(Drawn):
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
        first = np.array([bisect_left(exact, number - d_in) for number in exact], dtype=np.int64)
        last = np.array([bisect_right(exact, number + d_in) for number in exact], dtype=np.int64)
        different = int((last - first - 1).sum()) // 2
        if different > limit:
            raise TooLargeError(
                f"{len(exact):,} numbers make {different:,} pairs of neighbors, the limit is "
                f"{limit:,}; take fewer numbers, a smaller d_in, or raise pair_limit"
            )
        return _spans(first, last)


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


def _spans(first: Indices, last: Indices) -> tuple[Indices, Indices]:
    """Return each place with all places from its first to the one before its last."""
    lengths = last - first
    places = np.repeat(np.arange(len(first)), lengths)
    return places, np.arange(len(places)) + (first - np.cumsum(lengths) + lengths)[places]


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
    if isinstance(metric, IdDistance):
        # An id does not change (0), is added or removed (1), or gets other rows (2).
        of_ids = ({(0, 0): r, (0, 1): 2 * (r - 1), (0, 2): (r - 1) * (r - 2)} for r in radices)
        return sum(_product(of_ids, d_in).values())
    budget = _budget_of(metric, d_in)
    of_rows = (
        {(change, abs(change)): radix - abs(change) for change in _changes(radix, budget)}
        for radix in radices
    )
    found = _product(of_rows, budget)
    replaced = isinstance(metric, ChangeOneDistance)
    return sum(ways for (longer, _), ways in found.items() if longer == 0 or not replaced)


def _budget_of(metric: Metric, d_in: int) -> int:
    """Return the largest number of rows added or removed; replacing one removes and adds one."""
    return 2 * d_in if isinstance(metric, ChangeOneDistance) else d_in


def _changes(radix: int, budget: int) -> range:
    """Return the possible changes of the number of copies of one row."""
    most = min(budget, radix - 1)
    return range(-most, most + 1)


def _product(terms: Iterable[Mapping[tuple[int, int], int]], budget: int) -> Ways:
    """Return the ways of all coordinates together, with a total distance of at most the budget."""
    found: Ways = {(0, 0): 1}
    for of_one in terms:
        longer: Counter[tuple[int, int]] = Counter()
        for (change, cost), ways in found.items():
            for (other, more), others in of_one.items():
                if cost + more <= budget:
                    longer[change + other, cost + more] += ways * others
        found = longer
    return found


_ROWS = 100
"""The average number of rows that inputs may have if there are `limit` inputs."""


def drawn_from(
    transformation: Transformation, universe: Any, sizes: Any, limit: int
) -> list[Drawn]:
    """Return the datasets of each universe.

    Raises InputError, and TooLargeError if there are more inputs than the limit, or more than
    `_ROWS` rows per input.
    """
    domain, metric = transformation.input_domain, transformation.input_metric
    domains: tuple[Domain, ...] = (domain,)
    metrics: tuple[Metric, ...] = (metric,)
    shared = isinstance(metric, SharedIdDistance)
    if isinstance(domain, Pair) and isinstance(metric, PairDistance | SharedIdDistance):
        domains = (domain.first, domain.second)
        if isinstance(metric, PairDistance):
            metrics = (metric.first, metric.second)
        if not isinstance(universe, tuple) or len(universe) != 2:
            raise InputError(
                f"{transformation.name} takes two tables, so universe must be a tuple of two, "
                f"got {type(universe).__name__}"
            )
        if sizes is not None and (not isinstance(sizes, tuple) or len(sizes) != 2):
            raise InputError(f"sizes must be a tuple of two, one per table, got {shown(sizes)}")
        sizes = (None, None) if sizes is None else sizes
    else:
        universe, sizes = (universe,), (sizes,)
    for given in universe:
        _check_rows(given, limit)
    if isinstance(domain, Scalar) and sizes != (None,):
        raise InputError(f"{transformation.name} takes single numbers, which have no sizes")
    if shared and sizes != (None, None):
        raise InputError(
            f"{transformation.name} takes tables that share their ids, of any sizes; leave out "
            "sizes"
        )
    rows = [_read(domain, given) for domain, given in zip(domains, universe, strict=True)]
    drawn: list[Drawn]
    if isinstance(metric, SharedIdDistance):
        drawn = [draw_tables((rows[0], rows[1]), metric)]
    else:
        drawn = [
            _Numbers(data, (), (), metric, ())
            if isinstance(domain, Scalar)
            else draw(data, metric, _sizes(domain, wanted, len(data)))
            for data, domain, metric, wanted in zip(rows, domains, metrics, sizes, strict=True)
        ]
    _check_inputs(drawn, limit)
    _check_universe(transformation, tuple(rows) if len(rows) == 2 else rows[0])
    return drawn


def _length(given: Any) -> int | float:
    """Return the length of a list or a table; 0 of what has none, which is refused later."""
    try:
        return len(given) if isinstance(given, Sized) else 0
    except OverflowError:  # a range of more items than a length can say
        return sys.maxsize
    except Exception:  # noqa: BLE001 - the caller's class; whatever it raises, it has no length
        return 0


def _check_rows(universe: Any, limit: int) -> None:
    """Raise TooLargeError for a universe with more rows than the limit of inputs."""
    rows = universe.size if isinstance(universe, FiniteUniverse) else _length(universe)
    if limit < rows < math.inf:
        raise TooLargeError(
            f"the universe has {rows:,} rows, more than the limit of {limit:,} inputs; take fewer "
            "rows, fewer copies of a row, or raise limit"
        )


def _check_inputs(drawn: list[Drawn], limit: int) -> None:
    """Raise TooLargeError if there are more inputs than the limit, or too many rows in them."""
    counts = [one.counts() for one in drawn]
    inputs = math.prod(many for many, _ in counts)
    of_tables = f" ({' x '.join(f'{many:,}' for many, _ in counts)})" if len(drawn) == 2 else ""
    advice = "take fewer rows, fewer copies of a row, fewer sizes, or raise limit"
    if inputs > limit:
        raise TooLargeError(
            f"there are {inputs:,} inputs{of_tables} to evaluate, the limit is {limit:,}; {advice}"
        )
    rows = sum(all_rows * inputs // many for many, all_rows in counts if many)
    if rows > _ROWS * limit:
        raise TooLargeError(
            f"there are {inputs:,} inputs{of_tables} of {rows:,} rows in all to evaluate, the "
            f"limit is {_ROWS * limit:,} rows, {_ROWS} times limit; {advice}"
        )


def _read(domain: Domain, universe: Any) -> Any:
    """Return the rows of a universe, or raise InputError."""
    if isinstance(domain, Scalar):
        return _numbers_of(domain, universe)
    if isinstance(domain, Values):
        if isinstance(universe, FiniteUniverse):
            universe = list(_counted(universe))
        data = domain._unsized().read(universe)
        return data.tolist() if hasattr(data, "tolist") else data
    if isinstance(domain, Table) and not domain.limits:
        if isinstance(universe, TableUniverse):
            counts = _counted(universe).counts
            universe = universe.given(repeated(np.arange(len(universe.values)), counts or ()))
        return domain._unsized().read(universe)
    raise InputError(
        f"only what takes {Table()}, {Values()} or {Scalar()} can be measured, got {domain}; "
        "measure the whole chain from its start"
    )


def _numbers_of(domain: Scalar, universe: Iterable[Any]) -> list[Any]:
    """Return the distinct numbers of a universe in ascending order, or raise InputError."""
    given = map(as_python, listed(universe, "a universe of numbers is a list of numbers"))
    exact = {as_fraction(domain.read(number), "a number"): number for number in given}
    return [exact[value] for value in sorted(exact)]


def _counted(universe: FiniteUniverse) -> FiniteUniverse:
    """Return a universe with finitely many records, or raise InputError."""
    if universe.counts is None:
        raise InputError(
            "the universe has as many copies of a value as a dataset can hold; say how "
            f"many with {type(universe).__name__}.from_domain(values, copies=...)"
        )
    return universe


def _check_universe(transformation: Transformation, universe: Any) -> None:
    """Call the check of each step on the output of the steps before it for the universe."""
    steps = transformation.each_step
    checking = [place for place, step in enumerate(steps) if step.check_universe is not None]
    for step in steps[: max(checking, default=-1) + 1]:
        if step.check_universe is not None:
            step.check_universe(universe)
        universe = step.function(universe)


def _sizes(domain: Domain, wanted: Any, rows: int) -> list[int]:
    """Return the sizes that datasets may have, or raise InputError."""
    within = whole_kind(f"from 0 to {rows}, the rows of the universe", least=0, most=rows)
    sizes = list(range(rows + 1)) if wanted is None else within.several("sizes", wanted)
    if isinstance(domain, Counted) and domain.size is not None:
        return [size for size in sizes if size == domain.size]
    if isinstance(domain, Counted) and domain.max_size is not None:
        return [size for size in sizes if size <= domain.max_size]
    return sizes
