"""A sorted universe, pairs of datasets laid out along it, and the memory that both take.

Sort the universe: u_0 <= u_1 <= ... <= u_(N-1), with exact sums of its powers by position. Arrays
of int64 or float64 give exact integers where a search asks for them, no others. A *layout* says
which positions are in the core C, only in x (A) and only in y (B), as ranges; the other positions
are outside both. Engines that need no enumeration propose layouts, and the best of a few is found
by exact comparison.

All numbers of bytes are what a search needs at its peak beyond its universe and, where it is local,
beyond its dataset; `benchmarks/memory.py` compares them with what is measured.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Difference, Integers, mantissas_of_floats
from sensitivity_lab.problem import LocalProblem, Problem, SmoothProblem
from sensitivity_lab.queries import Query
from sensitivity_lab.universes.relations import Multiplicities
from sensitivity_lab.universes.universe import FiniteUniverse, Universe, of_numbers

from .engine import Finding

Positions = NDArray[np.int64]

Ranges = tuple[tuple[int, int], ...]
"""Positions of sorted records, as ranges (start, stop); empty ones may be among them."""


class SortedMultiset:
    """Records by positions 0 to size - 1 in ascending order, equal ones side by side.

    Parameters
    ----------
    values : ndarray of Python ints, shape (m,)
        Distinct values, ascending: the records times `unit`.
    counts : ndarray of int64, shape (m,)
        How many records of each value there are; may be 0.
    unit : int, default 1
        What the records were multiplied by to become whole numbers.

    Notes
    -----
    All sums are of Python ints: no rounding, and no largest number. Memory and set-up grow with the
    number of distinct values, whatever their counts; sums of a power are made when first asked for.
    Where a search asks for millions of sums, `SortedRecords` of the variance's kernels adds limbs.

    Examples
    --------
    >>> records = SortedMultiset(np.array([-1, 0, 5], dtype=object), np.array([2, 0, 3]))
    >>> records.size, records.record(2), records.total(4), records.total(4, power=2)
    (5, 5, 8, 52)
    >>> records.record(np.arange(5)).tolist(), records.total(np.arange(6)).tolist()
    ([-1, -1, 5, 5, 5], [0, -1, -2, 3, 8, 13])
    >>> records.multiplicities(((0, 1), (3, 5))).tolist()
    [1, 0, 2]
    """

    def __init__(self, values: Integers, counts: Multiplicities, unit: int = 1) -> None:
        self._values = values
        self.unit = unit
        self._place(counts)

    def _place(self, counts: Multiplicities) -> None:
        self.counts = counts
        # Where the records of each value start; last, where all records end.
        self._bounds = np.concatenate([[0], np.cumsum(counts)])
        self.size = int(self._bounds[-1])
        self._sums: dict[int, Integers] = {}

    @cached_property
    def values(self) -> Integers:
        """The distinct values, ascending, times `unit`."""
        return self._values

    def some_values(self, some: slice) -> Integers:
        """Return some of the distinct values, times `unit`."""
        return self.values[some]

    @overload
    def place(self, positions: int) -> int: ...
    @overload
    def place(self, positions: Positions) -> NDArray[np.intp]: ...
    def place(self, positions: Any) -> Any:
        """Return the place among `values` of the record at a position; m where records end."""
        return self._bounds[1:].searchsorted(positions, side="right")

    @overload
    def record(self, positions: int) -> int: ...
    @overload
    def record(self, positions: Positions) -> Integers: ...
    def record(self, positions: Any) -> Any:
        """Return the record at a position, times `unit`; the largest value where records end."""
        return self.values_at(self.place(positions))

    def values_at(self, places: Any) -> Any:
        """Return the values at some places, times `unit`; the largest one behind them."""
        return self.values.take(places, mode="clip")

    @overload
    def total(self, positions: int, power: int = 1) -> int: ...
    @overload
    def total(self, positions: Positions, power: int = 1) -> Integers: ...
    def total(self, positions: Any, power: int = 1) -> Any:
        """Return the sum of the records, or of their powers, before a position from 0 to size.

        Records are taken times `unit`, so this is the sum times ``unit**power``.
        """
        places = self.place(positions)
        inside = positions - self._bounds[places]
        if not np.ndim(inside):
            rest = int(inside) * self.values_at(places) ** power if inside else 0
            return self.before(places, power) + rest
        return self.before(places, power) + inside.astype(object) * self.values_at(places) ** power

    def before(self, places: Any, power: int = 1) -> Any:
        """Return the sums of the records, or of their powers, of all values before some."""
        if power not in self._sums:
            terms = self.values if power == 1 else self.values**power
            if (self.counts != 1).any():
                terms = terms * self.counts.astype(object)
            self._sums[power] = np.concatenate([np.array([0], dtype=object), np.cumsum(terms)])
        return self._sums[power][places]

    def multiplicities(self, *parts: Ranges) -> Multiplicities:
        """Return how often each distinct value occurs at some positions."""
        starts, stops = self._bounds[:-1], self._bounds[1:]
        found = np.zeros(len(self.counts), dtype=np.int64)
        for ranges in parts:
            for start, stop in ranges:
                if start < stop:
                    found += np.maximum(np.minimum(stops, stop) - np.maximum(starts, start), 0)
        return found


def first_of(
    low: Positions, high: Positions, test: Callable[[Positions], NDArray[Any]]
) -> Positions:
    """For each row the first index in [low, high) that passes a monotone test, else high."""
    low, high = low.copy(), high.copy()
    # Always: every index before low fails, and high passes or is the end of the range.
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = (low + high) // 2
        passed = test(middle) | (low >= high)
        high = np.where(passed, np.minimum(middle, high), high)
        low = np.where(passed, low, middle + 1)
    return low


_LIMB = 26
"""How many bits of a mantissa the lower limb has."""

_MOST_RECORDS = 2**25
"""Sums of so many limbs fit into 63 bits: the upper limb of 64 bits has 38, with its sign."""


def sorted_records_of(
    universe: Universe, counts: Multiplicities, copies: int = 0
) -> SortedMultiset:
    """Return some records of a universe of numbers by positions.

    Parameters
    ----------
    universe : Universe
        What datasets are drawn from.
    counts : ndarray of int64, shape (m,)
        How many records of each distinct value there are.
    copies : int, default 0
        The largest count of other records whose sums are to be in the same unit.
    """
    if takes_arrays(universe, max(copies, int(counts.max()))):
        return SortedArray(universe.array, counts)
    integers, unit = universe.integers
    return SortedMultiset(integers, counts, unit)


def takes_arrays(universe: Universe, copies: int) -> bool:
    """Tell whether sums of limbs of so many copies of each value surely fit into int64."""
    return universe.array.dtype != object and copies <= _MOST_RECORDS // len(universe.array)


class SortedArray(SortedMultiset):
    """Records by positions, as `SortedMultiset`, of values in an array of int64 or float64.

    Parameters
    ----------
    array : ndarray of int64 or float64, shape (m,)
        Distinct values, ascending.
    counts : ndarray of int64, shape (m,)
        How many records of each value there are; may be 0. At most 2**25 in all.

    Notes
    -----
    A value is a *mantissa*, an int64, shifted by some bits. Values of one shift stand side by side,
    in a *run*: their size grows from 0 to both ends. Within a run sums of mantissas are kept in two
    limbs of int64, so prefix sums of all records make a Python int for every run only.

    Examples
    --------
    >>> records = SortedArray(np.array([-1, 0.5, 5]), np.array([2, 0, 3]))
    >>> records.size, records.record(2) / records.unit, records.total(4) / records.unit
    (5, 5.0, 8.0)
    """

    def __init__(self, array: NDArray[Any], counts: Multiplicities) -> None:
        self._array = array
        self._lowest = 0
        if array.dtype == np.float64:
            # The value closest to 0 has the smallest exponent, which makes the unit that of all.
            below, above = array.searchsorted(0, "left"), array.searchsorted(0, "right")
            closest = array[max(below - 1, 0) : above + 1]
            self._lowest = int(mantissas_of_floats(closest[closest != 0])[1].min(initial=0))
        self.unit = 1 << -self._lowest
        self._sums = {}
        self._place(counts)

    @cached_property
    def values(self) -> Integers:
        """The distinct values, ascending, times `unit`."""
        return self.some_values(slice(None))

    def some_values(self, some: slice) -> Integers:
        """Return some of the distinct values, times `unit`; no others become Python ints."""
        mantissas, shifts = self._mantissas(self._array[some])
        integers: Integers = mantissas.astype(object) << shifts.astype(object)
        return integers

    def record(self, positions: Any) -> Any:
        """Return the record at a position, times `unit`; the largest value where records end."""
        return self.values_at(self.place(positions))

    def values_at(self, places: Any) -> Any:
        """Return the values at some places, times `unit`; the largest one behind them."""
        values = self._array.take(places, mode="clip")
        if not np.ndim(places):  # the same, quicker
            above, below = values.item().as_integer_ratio()
            return above * (self.unit // below)
        mantissas, shifts = self._mantissas(values)
        return mantissas.astype(object) << shifts.astype(object)

    def before(self, places: Any, power: int = 1) -> Any:
        """Return the sums of the records, or of their powers, of all values before some."""
        if power != 1:
            return super().before(places, power)
        starts, shifts, before, upper, lower = self._runs
        # The runs before, and of the own run the difference of two limb sums: "Whole curves: every
        # distance at once", *Prefix sums of floats*.
        run = starts.searchsorted(places, side="right") - 1
        first = starts[run]
        of_upper, of_lower = upper[places] - upper[first], lower[places] - lower[first]
        if not np.ndim(places):  # the same, quicker
            return before[run] + (((int(of_upper) << _LIMB) + int(of_lower)) << shifts[run])
        limbs = (of_upper.astype(object) << _LIMB) + of_lower.astype(object)
        return before[run] + (limbs << shifts[run])

    @cached_property
    def _runs(self) -> tuple[NDArray[np.intp], Integers, Integers, Multiplicities, Multiplicities]:
        """The places where runs start, their shifts, the sums before them, and sums of limbs."""
        mantissas, shifts = self._mantissas(self._array)
        starts = np.concatenate([[0], np.flatnonzero(shifts[1:] != shifts[:-1]) + 1])
        # m = 2**26 h + l with 0 <= l < 2**26, also where m is negative: >> rounds down.
        upper, lower = (
            np.concatenate([[0], np.cumsum(limb * self.counts)])
            for limb in (mantissas >> _LIMB, mantissas & ((1 << _LIMB) - 1))
        )
        stops = np.concatenate([starts[1:], [len(mantissas)]])
        of_runs = shifts[starts].astype(object)
        of_upper, of_lower = (limb[stops] - limb[starts] for limb in (upper, lower))
        # From here on Python ints, one per run: a shifted sum may leave int64.
        totals = (of_upper.astype(object) << _LIMB) + of_lower
        before = np.concatenate([np.array([0], dtype=object), np.cumsum(totals << of_runs)[:-1]])
        return starts, of_runs, before, upper, lower

    def _mantissas(self, some: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return values as whole numbers of at most 64 bits and how far to shift them."""
        if some.dtype == np.int64:
            return some, np.zeros_like(some)
        mantissas, exponents = mantissas_of_floats(some)
        # A zero has no exponent of its own; its shift must only not be negative.
        return mantissas, np.maximum(exponents - self._lowest, 0)


@dataclass(frozen=True)
class Layout:
    """A pair of datasets along a sorted universe: core, records only in x, records only in y."""

    core: Ranges
    only_x: Ranges
    only_y: Ranges


@dataclass(frozen=True)
class Shape:
    """How many records are in the core, only in x and only in y, and in all the universe."""

    core: int
    only_x: int
    only_y: int
    total: int

    @property
    def of_x(self) -> int:
        """The size of x."""
        return self.core + self.only_x

    @property
    def of_y(self) -> int:
        """The size of y."""
        return self.core + self.only_y

    @property
    def turned(self) -> Shape:
        """The shape with x and y exchanged."""
        return Shape(self.core, self.only_y, self.only_x, self.total)


@lru_cache(maxsize=4)
def sorted_universe(universe: FiniteUniverse, limit: int) -> SortedMultiset:
    """Return the records of a universe by positions; made once for all queries and distances.

    Parameters
    ----------
    universe : FiniteUniverse
        What datasets are drawn from.
    limit : int
        The largest number of copies of a value that a pair can use; unlimited copies become that.

    Examples
    --------
    >>> from sensitivity_lab.universes.universe import Universe
    >>> records = sorted_universe(Universe.from_domain([10, 20]), limit=3)
    >>> records.size, records.record(2), records.record(3), records.total(4)
    (6, 10, 20, 50)
    """
    return sorted_records_of(of_numbers(universe), universe.multiplicities(limit))


def most_copies(problem: Problem) -> int:
    """Return the largest number of copies of a value that a pair can use."""
    return int(problem.universe.multiplicities(problem.together).max())


@dataclass(frozen=True, eq=False)
class Shapes:
    """Some shapes of pairs, by columns.

    Attributes
    ----------
    core, only_x, only_y : ndarray of int64, shape (s,)
        How many records are in both datasets, only in x and only in y.
    total : int
        How many the universe has.

    Examples
    --------
    >>> shapes = Shapes(np.array([3, 2]), np.array([1, 2]), np.array([0, 0]), 9)
    >>> shapes[1], shapes.of_x.tolist(), shapes.of_y.tolist()
    (Shape(core=2, only_x=2, only_y=0, total=9), [4, 4], [3, 2])
    """

    core: Positions
    only_x: Positions
    only_y: Positions
    total: int

    @property
    def of_x(self) -> Positions:
        """The sizes of x."""
        return self.core + self.only_x

    @property
    def of_y(self) -> Positions:
        """The sizes of y."""
        return self.core + self.only_y

    def __len__(self) -> int:
        return len(self.core)

    def __iter__(self) -> Iterator[Shape]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, place: int) -> Shape:
        core, only_x, only_y = (
            int(column[place]) for column in (self.core, self.only_x, self.only_y)
        )
        return Shape(core, only_x, only_y, self.total)


class LaidOut(Finding):
    """A pair of which the search says where its records lie; it is listed when asked for.

    Parameters
    ----------
    records : SortedMultiset
        The sorted universe.
    layout : Layout
        Where the records of the pair lie.
    gap : Difference
        How far the answers are apart.
    """

    def __init__(self, records: SortedMultiset, layout: Layout, gap: Difference) -> None:
        vars(self).update(
            records=records, layout=layout, gap=gap, answers=None, datasets_evaluated=0
        )

    records: SortedMultiset
    layout: Layout
    gap: Difference

    @cached_property
    def x(self) -> Multiplicities:
        """How often each distinct value of the universe occurs in x."""
        return self.records.multiplicities(self.layout.core, self.layout.only_x)

    @cached_property
    def y(self) -> Multiplicities:
        """How often each distinct value of the universe occurs in y."""
        return self.records.multiplicities(self.layout.core, self.layout.only_y)

    def ends(self, most: int) -> tuple[tuple[list[int], int], tuple[list[int], int]]:
        """Return so many records of x and of y, the first half of them and the last; or all.

        Each as places among the distinct values, with the number of records of the dataset.
        """
        core, own = self.layout.core, (self.layout.only_x, self.layout.only_y)
        of_x, of_y = (self._ends(sorted((*core, *part)), most) for part in own)
        return of_x, of_y

    def _ends(self, ranges: Sequence[tuple[int, int]], most: int) -> tuple[list[int], int]:
        size = sum(stop - start for start, stop in ranges)
        first = list(islice(chain.from_iterable(map(range, *zip(*ranges, strict=True))), most))
        # The last records are taken from the end backwards: no dataset is listed in full.
        if size > most:
            downwards = (range(stop - 1, start - 1, -1) for start, stop in reversed(ranges))
            last = list(islice(chain.from_iterable(downwards), most - most // 2))
            first[most // 2 :] = reversed(last)
        return self.records.place(np.array(first)).tolist(), size


Gap = TypeVar("Gap", bound=Any)
Found = TypeVar("Found")


class LayoutSearch:
    """The shapes that a problem asks a sorted universe for.

    Relations share shapes (at most 2 records replaced has those of at most 1), so each is asked
    for once.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    records : SortedMultiset
    shapes_by_steps : list of list of Shapes
        For every family of relations and every size of x, by ascending distance.
    shapes : list of Shape
        Each once, in the order of families, sizes and distances.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        # One more copy than there is of any value is no difference: made once for all distances.
        self.records = sorted_universe(problem.universe, most_copies(problem))
        self.shapes_by_steps = [
            [
                Shapes(steps.size - steps.removed, steps.removed, steps.added, self.records.size)
                for steps in family.steps
            ]
            for family in problem.families
        ]

    @property
    def every_shape(self) -> Shapes:
        """The shapes of all families and sizes, one after the other, by columns."""
        every = [shapes for by_size in self.shapes_by_steps for shapes in by_size]
        columns = zip(*((one.core, one.only_x, one.only_y) for one in every), strict=True)
        core, only_x, only_y = map(np.concatenate, columns)
        return Shapes(core, only_x, only_y, self.records.size)

    @cached_property
    def shapes(self) -> list[Shape]:
        """Each shape once, in the order of families, sizes and distances."""
        by_steps = chain.from_iterable(self.shapes_by_steps)
        return list(dict.fromkeys(shape for shapes in by_steps for shape in shapes))

    def by_relation(
        self, best: Mapping[tuple[Query, Shape], tuple[Gap, Found]]
    ) -> list[list[tuple[Gap, Found]]]:
        """Return the best of what every relation allows, for every query and every relation.

        Parameters
        ----------
        best : mapping of (difference, anything)
            What is furthest apart for each query and shape; differences compare with each other.
        """
        return [
            self._of_relations({shape: best[query, shape] for shape in self.shapes})
            for query in self.problem.queries
        ]

    def _of_relations(self, best: Mapping[Shape, tuple[Gap, Found]]) -> list[tuple[Gap, Found]]:
        found: dict[int, tuple[Gap, Found]] = {}
        for family, by_size in zip(self.problem.families, self.shapes_by_steps, strict=True):
            for steps, shapes in zip(family.steps, by_size, strict=True):
                here = [best[shape] for shape in shapes]
                gaps = [gap for gap, _ in here]
                places = largest_of_slices(gaps, steps.starts, steps.stops)
                for relation, place in zip(family.places, places, strict=True):
                    if relation not in found or gaps[place] > found[relation][0]:
                        found[relation] = here[place]
        return [found[place] for place in range(len(found))]


def largest_of_slices(items: Sequence[Any], starts: Positions, stops: Positions) -> list[int]:
    """Return where the largest of some items is, the first of equals, in each of some slices.

    Parameters
    ----------
    items : sequence of s items
        That compare with each other.
    starts, stops : ndarray of int64, shape (r,)
        The slices. For those that start at 0 this takes s comparisons in all.

    Examples
    --------
    >>> largest_of_slices([1, 3, 3, 2], np.array([0, 0, 2]), np.array([1, 4, 4]))
    [0, 1, 2]
    """
    rises: list[int] = []
    if (starts == 0).any():
        for place in range(int(stops[starts == 0].max())):
            if not rises or items[place] > items[rises[-1]]:
                rises.append(place)
    return [
        rises[bisect_left(rises, stop) - 1]
        if start == 0
        else max(range(start, stop), key=items.__getitem__)
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)
    ]


WORD = 8
"""An int64, a float64, or where a Python object is."""

REAL = np.dtype(np.longdouble).itemsize

CALL = 1 << 16
"""What any search makes besides: names, closures, a few small arrays."""

_RELATION = 256
"""A relation of a curve, with what is found for it."""

_CHANGE = 160
"""A change of a local problem, as two numbers."""

_ENDS = 2048
"""The two ends within some distance, and what makes the datasets that attain them."""

_SIZE = 3072
"""The few objects of a size of x."""


def bytes_of_int(bits: float) -> int:
    """Return what a Python int of some bits takes, with the place that says where it is.

    Examples
    --------
    >>> bytes_of_int(10), bytes_of_int(70), bytes_of_int(1000)
    (40, 56, 168)
    """
    # A digit has 30 bits; objects are multiples of 16 bytes.
    return WORD + -(-(24 + 4 * max(1, math.ceil(bits / 30))) // 16) * 16


class IntegerBytes(NamedTuple):
    """The values of a universe as Python ints over a common denominator.

    Attributes
    ----------
    bits : int
        Of the largest one.
    spread : int
        Of the largest minus the smallest one: no centered value has more.
    below : int
        Bits of the denominator.
    kept, peak : int
        Bytes of a value, once they are made and while they are.
    """

    bits: int
    spread: int
    below: int
    kept: int
    peak: int

    @classmethod
    def of(cls, universe: FiniteUniverse) -> IntegerBytes:
        """Tell what the values of a universe of numbers take, without making them of an array."""
        numbers = of_numbers(universe)
        array = numbers.array
        if array.dtype == np.int64:
            first, last = map(int, array[[0, -1]])
            bits = max(abs(first), abs(last)).bit_length()
            return cls(bits, (last - first).bit_length(), 1, bytes_of_int(bits), bytes_of_int(bits))
        if array.dtype == np.float64:
            return cls._of_floats(numbers)
        integers, unit = numbers.integers
        bits = max(abs(integers[0]), abs(integers[-1])).bit_length()
        spread, kept = int(integers[-1] - integers[0]).bit_length(), bytes_of_int(bits)
        # Of every value a quotient of two ints; a Decimal's are new ones.
        new = 2 * kept if any(isinstance(value, Decimal) for value in numbers.values) else 0
        return cls(bits, spread, unit.bit_length(), kept, kept + 11 * WORD + new)

    @classmethod
    def _of_floats(cls, universe: Universe) -> IntegerBytes:
        values = universe.array
        place = int(values.searchsorted(0.0))
        near = values[max(0, place - 1) : place + 2]
        near = near[near != 0]
        largest = max(abs(float(values[0])), abs(float(values[-1])))
        # A float is a whole number of 53 bits times a power of two.
        lowest = min(0, min((math.frexp(value)[1] for value in near.tolist()), default=0) - 53)
        bits = max(1, math.frexp(largest)[1] - lowest)
        # Halves have a difference even where floats end; it is rounded, perhaps to the next power.
        spread = math.frexp(float(values[-1]) / 2 - float(values[0]) / 2)[1] + 2 - lowest
        shift = WORD + (32 if bits > 256 else 0)
        peak = 3 * WORD + bytes_of_int(53) + shift + bytes_of_int(bits)
        return cls(bits, max(1, spread), 1 - lowest, bytes_of_int(bits), peak)


def bytes_of_records(problem: Problem, *, sums: bool) -> int:
    """Return what the sorted universe takes, perhaps with the sums of its records."""
    numbers, limit = of_numbers(problem.universe), most_copies(problem)
    values = len(numbers.array)
    # Multiplicities and places; a third one while they are made; and what is given back late.
    arrays = CALL + 4 * WORD * values
    if takes_arrays(numbers, limit):
        # Sums in two limbs, and while they are made mantissas, shifts and products.
        return arrays + (7 * WORD * values if sums else 0)
    own = IntegerBytes.of(numbers)
    each = own.kept
    if sums:
        # Sums, and while they are made what is added up, if values are counted or squared.
        each += bytes_of_int(own.bits + problem.largest.bit_length()) + WORD
        each += 0 if limit == 1 else bytes_of_int(own.bits) + 2 * WORD
    return arrays - WORD * values + values * max(own.peak, each)


def bytes_of_shapes(problem: Problem) -> int:
    """Return what the shapes of a problem take, by columns, and its relations."""
    shapes = [len(steps.removed) for steps in problem.steps]
    several = len(shapes) * _SIZE + len(problem.neighbors) * _RELATION
    return sum(shapes) * 6 * WORD + several * len(problem.queries)


def bytes_of_pairs(problem: Problem | LocalProblem | SmoothProblem) -> int:
    """Return what results with pairs take, one for each query and relation; local ones have one.

    The distinct records as Python objects, and by result the two datasets, by multiplicities and
    listed.
    """
    number, largest, more = 1, 0, 0
    if isinstance(problem, Problem):
        number, largest = len(problem.queries) * len(problem.neighbors), problem.largest
    else:
        largest = problem.size + 1
    records, values = problem.universe, problem.universe.number
    if isinstance(problem, LocalProblem):
        more = _CHANGE * len(problem.changes) + _ENDS * problem.neighbors.nested
        if problem.neighbors.nested:  # no pair is listed before it is asked for
            return CALL + 4 * WORD * values + more
    listed = 6 * WORD * values
    if isinstance(records, Universe) and records.array.dtype != object:
        listed += 3 * WORD * values  # an array's values become Python objects
    pairs = number * (2 * WORD * (values + largest) + 1024)
    return CALL + listed + pairs + WORD * largest + more


def bytes_of_neighbors(problem: LocalProblem | SmoothProblem) -> int:
    """Return what a search for extreme neighbors of x needs: integers, and a few datasets."""
    integers, values = IntegerBytes.of(problem.universe), problem.universe.number
    searched = values * (integers.kept + 3 * WORD) + bytes_of_pairs(problem)
    return max(values * (integers.peak + 3 * WORD), searched)
