"""The finite multiset of records that datasets are drawn from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import as_pandas, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Integers, Number, common_integers, integers_of_floats

from . import records as reading
from .interval import IntervalUniverse
from .multiset import FiniteUniverse


class Universe(FiniteUniverse):
    """The finite multiset of records that datasets are drawn from.

    Parameters
    ----------
    values : sequence of int, float, Fraction or Decimal, shape (m,)
        The distinct values, in any order: finite, with at most 4,000 digits. Ints stay ints.
    counts : sequence of int, shape (m,), optional
        How often each value occurs, at least once each. By default, once each.

    Attributes
    ----------
    values : tuple of numbers, shape (m,)
        The distinct values, ascending.
    counts : tuple of int, shape (m,), or None
        Their multiplicities; None if there are as many copies as a dataset can hold.
    size : int or math.inf
        The number of records N, also ``len(universe)``.
    array : ndarray, shape (m,)
        The values as int64 or float64 if that is lossless, else as Python objects.

    Raises
    ------
    InputError
        If a value is not a finite number, is too long or occurs twice, or a count is not a
        positive integer.

    See Also
    --------
    Universe.from_dataset : Scenario (a), each listed record occurs once.
    Universe.from_domain : Scenario (b), each value can occur repeatedly.
    Universe.from_interval : All real numbers between two bounds.

    Examples
    --------
    >>> universe = Universe([10, 1, 2], [1, 1, 3])
    >>> universe
    Universe of 5 records: 1, 2 (x3), 10; public, results hold only among datasets drawn from it
    >>> print(universe)
    Universe of 5 records: 1, 2 (x3), 10
    >>> list(universe)
    [1, 2, 2, 2, 10]
    """

    numeric: ClassVar[bool] = True
    noun: ClassVar[str] = "values"

    array: NDArray[Any]

    def __init__(self, values: Iterable[Number], counts: Iterable[int] | None = None) -> None:
        given = reading.as_numbers(values)
        advice = "give counts, or use Universe.from_dataset, which counts repeated records"
        reading.check_once(given, "universe", advice)
        listed, _ = reading.distinct(given)
        count_of = dict(
            zip(given, reading.check_counts(counts, len(given), self.noun), strict=True)
        )
        self._set(listed, tuple(count_of[value] for value in listed))

    def _set(self, values: Sequence[Number], counts: tuple[int, ...] | None) -> None:
        super()._set(values, counts)
        self.array = reading.as_array(self.values)

    # Tuples of a million numbers take longer than to sort them: `from_dataset` leaves them out.
    @cached_property
    def values(self) -> tuple[Any, ...]:  # type: ignore[override]
        """The distinct values, ascending."""
        return tuple(self.array.tolist())

    @cached_property
    def counts(self) -> tuple[int, ...] | None:  # type: ignore[override]
        """Their multiplicities; None if there are as many copies as a dataset can hold."""
        return tuple(self._counts.tolist())

    @classmethod
    def from_dataset(cls, records: Iterable[Number]) -> Universe:
        """Make the universe of scenario (a): a dataset whose records each occur once.

        The records become public: a result holds only among datasets drawn from these records, and
        its value and witness reveal them. To release private data, scale noise to a result over a
        domain that you know without the data; see `from_domain`.

        Parameters
        ----------
        records : iterable of numbers, shape (N,)
            The records, in any order; equal values are different records. An array or a column
            (pandas, Polars, Arrow) works, too; False and True in it are 0 and 1.

        Returns
        -------
        Universe

        Raises
        ------
        InputError
            If there is no record, or one is not a finite number.

        Examples
        --------
        >>> Universe.from_dataset([5, 1, 5, 2])
        Universe of 4 records: 1, 2, 5 (x2); public, results hold only among datasets drawn from it
        """
        made = cls.__new__(cls)
        records = as_pandas(records)
        array = reading.array_of_numbers(records)
        if array is None or array.dtype == object or not len(array):
            made._set(*reading.distinct(reading.as_numbers(records)))
            return made
        made.array, made._counts = reading.distinct_of_array(array)
        made.size = len(array)
        return made

    @classmethod
    def from_domain(cls, values: Iterable[Number], copies: int | None = None) -> Universe:
        """Make the universe of scenario (b): a domain of values that can occur repeatedly.

        Use it for releases. Choose the values, and the copies, without looking at the private data.

        Parameters
        ----------
        values : iterable of numbers, shape (m,)
            The distinct values, such as ``range(21)``. A tuple of two numbers means these two
            values, not a range; a warning says so if there are whole numbers between them.
        copies : int, optional
            How often each value can occur, at least 1. By default as often as a dataset can hold.

        Returns
        -------
        Universe

        Raises
        ------
        InputError
            If there is no value, one is not a finite number or occurs twice, or `copies` is not a
            positive integer.

        Examples
        --------
        >>> Universe.from_domain([1, 2, 3])
        Universe of the values 1, 2, 3, each as often as a dataset can hold
        >>> Universe.from_domain([1, 2], copies=4)
        Universe of 8 records: 1 (x4), 2 (x4); public, results hold only among datasets drawn from
        it
        """
        given = reading.as_numbers(values)
        advice = "list every value that a record can have once, as range(21) does"
        reading.check_once(given, "domain", advice)
        made = cls(given)._declare(copies)
        reading.warn_of_pair(values, "this domain", real=True)
        reading.warn_of_data(values, "from_domain", "Universe.from_domain(range(121))")
        return made

    @staticmethod
    def from_interval(lower: Number, upper: Number) -> IntervalUniverse:
        """Make the universe of every real number between two bounds, each any number of times.

        Parameters
        ----------
        lower, upper : int, float, Fraction or Decimal
            The bounds, in the unit of the records, both included; `lower` is below `upper`.

        Returns
        -------
        IntervalUniverse
            It is not a `Universe`, because it has no list of values. Functions that list datasets
            refuse it; pass them a grid, ``Universe.from_domain(values)``.

        Raises
        ------
        InputError
            If a bound is not a finite number, or `lower` is not below `upper`.

        Examples
        --------
        >>> import sensitivity_lab as sl
        >>> ages = Universe.from_interval(0, 120)
        >>> sl.global_sensitivity(ages, "mean", size=10, neighbors="bounded").exact
        Fraction(12, 1)
        """
        made = IntervalUniverse(lower, upper)
        way = "Universe.from_interval(0, 120)"
        reading.warn_of_data((lower, upper), "from_interval", way)
        return made

    def clipped(self, lower: Number | None = None, upper: Number | None = None) -> Universe:
        """Return the universe of the clipped records: none below `lower`, none above `upper`.

        Records that are clipped to the same value stay different records: their counts add up.

        Parameters
        ----------
        lower, upper : int, float, Fraction or Decimal, optional
            The clipping bounds, finite, in the unit of the records. By default no bound.

        Returns
        -------
        Universe
            Its values are those of the universe and the bounds themselves, exactly.

        Raises
        ------
        InputError
            If a bound is not a finite number, or `lower` is above `upper`.

        Notes
        -----
        O(m) for m distinct values.

        Examples
        --------
        >>> Universe.from_dataset([1, 2, 2, 3, 10]).clipped(2, 5)
        Universe of 5 records: 2 (x3), 3, 5; public, results hold only among datasets drawn from it
        """
        low, high = (
            reading.check_record.or_none(name, bound)
            for name, bound in (("lower", lower), ("upper", upper))
        )
        if low is not None and high is not None and Fraction(low) > Fraction(high):
            raise InputError(f"lower must be at most upper, got {shown(low)} and {shown(high)}")
        counter = reading.clipped(self.values, self.counts or (1,) * len(self.values), low, high)
        made = type(self).__new__(type(self))
        made._set(tuple(counter), None if self.counts is None else tuple(counter.values()))
        made.declared = self.declared
        return made

    @cached_property
    def integers(self) -> tuple[Integers, int]:
        """The values as (integers, denominator): ``values[i] == integers[i] / denominator``."""
        if self.array.dtype == np.float64:
            return integers_of_floats(self.array)
        if self.array.dtype == np.int64:
            return self.array.astype(object), 1
        return common_integers(self.values)

    def given(self, places: NDArray[np.intp]) -> Any:
        """Return the records at some positions, as a caller's function gets them."""
        return self._at(self.array.__getitem__, places, 2)

    def __hash__(self) -> int:
        # As of every finite universe, but of an array the values are not listed for it.
        listed = self.values if "values" in vars(self) else self.array
        return hash((len(listed), tuple(listed[:8]), tuple(listed[-8:]), self.size))


def of_numbers(universe: FiniteUniverse) -> Universe:
    """Return a universe of numbers, or raise InputError if its records are rows."""
    if isinstance(universe, Universe):
        return universe
    raise InputError(f"{universe} has rows, not numbers; take one column with column(name)")
