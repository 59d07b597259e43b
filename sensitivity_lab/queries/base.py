"""The base class of queries, and what a query declares to the engines.

Queries on records declare sums over the records, in whole numbers.
"""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from numbers import Integral
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import as_python, check_number, shown
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.exact.difference import (
    Difference,
    Integers,
    Number,
    beyond_floats,
    common_integers,
    nearest,
)
from sensitivity_lab.universes.reading import as_numbers
from sensitivity_lab.universes.relations import Groups, repeated
from sensitivity_lab.universes.universe import FiniteUniverse, of_numbers

Answer = float | tuple[float, ...]
"""The answer of a query: a number, or several that are released together."""

Answered = float | Fraction | tuple[float | Fraction, ...]
"""An answer as it is: floats where a function returned floats, Fractions where it did not."""

Listed = Callable[[], Sequence[NDArray[np.int64]]]
"""Returns datasets by multiplicities, which take memory of their own."""

Weights = tuple[tuple[int, Fraction], ...]
"""The ranks that a weighted sum counts, from 0, each once, with their weights."""


def denominator_of(weights: Weights) -> int:
    """Return the common denominator of the weights of some ranks."""
    return math.lcm(*(weight.denominator for _, weight in weights))


@dataclass(frozen=True, eq=False)
class Runs:
    """The weights of records by rank, for datasets of many sizes: *runs* of ranks with one weight.

    The answer on a dataset, with its records in ascending order, is ``constant + total / unit``,
    where the total is ``weight * records[start:stop].sum()`` over the runs. A rank in several runs
    has the sum of their weights, and then none of these is negative.

    Attributes
    ----------
    starts, stops : ndarray of int64, shape (r, s)
        The first rank of every run, from 0, and the one after its last, for every size. Empty runs
        may be among them.
    weights : ndarray of int64 or of Python ints, shape (r, s)
        The weight of each record of the run, times the unit.
    units : ndarray of int64 or of Python ints, shape (s,)
    constants : ndarray of int64, shape (s,)
    """

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    weights: NDArray[Any]
    units: NDArray[Any]
    constants: NDArray[np.int64]

    @classmethod
    def of_all(cls, sizes: NDArray[np.int64], units: NDArray[np.int64]) -> Runs:
        """Return one run of all records."""
        nothing = np.zeros((1, len(sizes)), dtype=np.int64)
        return cls(nothing, sizes[None], nothing + 1, units, nothing[0])

    @classmethod
    def listed(cls, weights: Callable[[int], Weights], sizes: NDArray[np.int64]) -> Runs:
        """Return the runs of weights that are listed by rank for a size, of one after the other."""
        distinct, places = np.unique(sizes, return_inverse=True)
        of_sizes = [weights(size) for size in distinct.tolist()]
        units = list(map(denominator_of, of_sizes))
        found = [_runs_of(some, unit) for some, unit in zip(of_sizes, units, strict=True)]
        columns = np.zeros((3, max(map(len, found)), len(found)), dtype=object)
        for place, runs in enumerate(found):
            if runs:
                columns[:, : len(runs), place] = np.array(runs, dtype=object).T
        starts, stops = columns[:2].astype(np.int64)
        none = np.zeros(len(found), dtype=np.int64)
        return cls(starts, stops, columns[2], np.array(units, dtype=object), none).at(places)

    def at(self, places: NDArray[np.intp] | slice) -> Runs:
        """Return the runs for the sizes at some places."""
        starts, stops, weights = (of[:, places] for of in (self.starts, self.stops, self.weights))
        return Runs(starts, stops, weights, self.units[places], self.constants[places])


OneSize = tuple[tuple[tuple[int, int, int], ...], int, int]
"""The runs (start, stop, weight) for datasets of one size, the unit and the constant."""


def _runs_of(weights: Weights, unit: int) -> list[tuple[int, int, int]]:
    """Return the runs (start, stop, weight times unit) of weights by rank."""
    runs: list[tuple[int, int, int]] = []
    for rank, weight in weights:
        scaled = weight.numerator * (unit // weight.denominator)
        if runs and runs[-1][1:] == (rank, scaled):
            runs[-1] = (runs[-1][0], rank + 1, scaled)
        else:
            runs.append((rank, rank + 1, scaled))
    return runs


class Query(ABC):
    """A function of a dataset.

    Attributes
    ----------
    name : str
        The name in tables and legends.
    arithmetic : {"exact", "float"}
        "exact": the answer is a rational number, or the root of one, and `rational` computes it.
        "float": the answer is what the caller's function returns, often floats.
    root : bool
        Whether the answer is the square root of what `rational` returns.
    moment : {"count", "sum", "mean", "variance"} or None
        Which of these the answer is, before any root; None if power sums do not give it.
    ddof : int, float or Fraction
        The delta degrees of freedom of a variance; 0 for other queries.
    centred : bool
        Whether adding a constant to all records changes the answer equally at every size.
    vectorized : bool
        Whether `evaluate` is fast on many rows at once.
    on_numbers, on_records : bool
        Whether the query takes datasets of numbers, and of rows of a table.
    vector : bool
        Whether the answer is several numbers that are released together.
    crosses_once : bool
        Whether the weights of `runs` are nonnegative, and net weights cross once for every change;
        `search/crossing.py` relies on it.
    of_multiplicities : bool
        Whether the answer is the number of groups that have a record; `grouped` returns the groups.
    empty : number or None
        The answer on fewer records than `defined_from`, such as on none; None if there is none.
    """

    arithmetic: ClassVar[Literal["exact", "float"]] = "exact"
    root: ClassVar[bool] = False
    moment: ClassVar[str | None] = None
    ddof: int | float | Fraction = 0
    centred: ClassVar[bool] = False
    vectorized: bool = True
    on_numbers: ClassVar[bool] = True
    on_records: ClassVar[bool] = False
    vector: ClassVar[bool] = False
    crosses_once: ClassVar[bool] = False
    of_multiplicities: ClassVar[bool] = False
    empty: Number | None = None

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the query in tables and legends."""

    @property
    def defined_from(self) -> int:
        """The fewest records for which the query has an answer of its own."""
        return 1

    @property
    def least_size(self) -> int:
        """The smallest size of a dataset: 0 if `empty` is the answer on too few records."""
        return self.defined_from if self.empty is None else 0

    @property
    def takes_empty(self) -> bool:
        """Whether the answer on too few records can be given."""
        return any(
            one.name == "empty" for one in getattr(self, "__dataclass_fields__", {}).values()
        )

    @property
    def public_sizes(self) -> str:
        """The sizes of groups that are given, and so must be public, in words; "" if none are."""
        return ""

    @property
    def borrowed(self) -> str:
        """Which other library's statistic this is, in words; "" if it is none."""
        return ""

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The names of the answers, one by one; None if unknown."""
        return None if self.arithmetic == "float" else (self.name,)

    def weights(self, size: int) -> Weights | None:
        """Return ranks and weights for datasets of a size; None if the query has none."""
        return None

    def runs(self, sizes: NDArray[np.int64]) -> Runs | None:
        """Return the weights by rank for datasets of many sizes; None if the query has none."""
        return None

    def runs_of(self, size: int) -> OneSize:
        """Return the runs (start, stop, weight) for one size, the unit and the constant."""
        runs = self.runs(np.array([size], dtype=np.int64))
        if runs is None:
            raise InputError(f"{self.name} is no weighted sum by rank")
        columns = (of[:, 0].tolist() for of in (runs.starts, runs.stops, runs.weights))
        return tuple(zip(*columns, strict=True)), int(runs.units[0]), int(runs.constants[0])

    def most_runs(self, size: int) -> int:
        """Return a bound of the number of `runs` for datasets of up to a size."""
        return 1

    def rational(self, integers: Integers, unit: int) -> Fraction | None:
        """Return the exact answer on one dataset (its square, if `root`); None if "float"."""
        return None

    def sums(self, universe: FiniteUniverse) -> Sums | None:
        """Return the query on a universe of records as sums over them; None if it is not one."""
        return None

    def by_place(self, universe: Any) -> bool:
        """Tell whether `on_rows` answers it, given places of records, not `evaluate` their numbers.

        Queries on rows are answered so, through their `sums`.
        """
        return not universe.numeric

    def adds_up(self, universe: Any) -> bool:
        """Tell whether the answer is a sum, or several, to which each record contributes by itself.

        How much it changes when records are added or removed then depends on these records alone,
        and not on the size of the dataset.
        """
        if not self.by_place(universe):
            return self.moment in ("count", "sum")
        sums = self.sums(universe)
        return sums is not None and bool(sums.adds_up)

    def grouped(self, universe: FiniteUniverse) -> Groups:
        """Return the group of each distinct value of a universe; see `of_multiplicities`."""
        raise InputError(f"{self.name} is not a query of multiplicities")

    def check_on(self, universe: Any) -> None:
        """Raise InputError where the query's own parameters do not fit a universe."""
        return

    def absent_from(self, universe: Any) -> str:
        """Return which categories and groups no record of a universe is in, as text, or ""."""
        return ""

    def projection(self, universe: FiniteUniverse) -> tuple[Hashable, Query] | None:
        """Return a column and a query on its numbers that answers the same; None if none does."""
        return None

    def by_group(self, universe: FiniteUniverse) -> tuple[int, bool] | None:
        """Return how many groups with rows the answers are of, and whether some rows are in none.

        None where the answers are not those of groups, or the sizes of groups are given.
        """
        return None

    def exactly(
        self, universe: FiniteUniverse, data: NDArray[np.int64]
    ) -> Fraction | tuple[Fraction, ...] | None:
        """Return the exact answer on a dataset given by multiplicities; None if "float".

        A number (its square, if `root`), or a tuple where the answer is a vector.
        """
        if not self.by_place(universe):
            integers, unit = of_numbers(universe).integers
            return self.rational(repeated(integers, data), unit)
        sums = self.sums(universe)
        if sums is None:
            return None
        ((above,), (below,)) = sums.of_one(data)
        if not all(below):
            raise self.undefined(universe.dataset(data))
        answers = tuple(map(Fraction, above.tolist(), below.tolist()))
        return answers if self.vector else answers[0]

    def on(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> Answer:
        """Return the answer on a dataset given by multiplicities, in floats."""
        exact = self.exactly(universe, data)
        return self(universe.dataset(data)) if exact is None else as_floats(exact, self.root)

    def answered(self, universe: FiniteUniverse, data: NDArray[np.int64]) -> Answered:
        """Return the answer on a dataset given by multiplicities, as it is."""
        return self.on(universe, data)

    def check_answer(  # noqa: B027 - for all but functions of many rows there is nothing to check
        self, universe: FiniteUniverse, data: NDArray[np.int64], answer: Answered
    ) -> None:
        """Raise QueryError if a dataset gets one answer alone and another among others."""

    def depends_on_order(self, universe: FiniteUniverse, pair: Listed, evaluated: int) -> bool:
        """Tell whether the order of the records moves an answer; of a multiset it does not."""
        return False

    def on_rows(self, universe: FiniteUniverse, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return the answers on datasets given as rows of positions, shape (datasets, n).

        Returns
        -------
        ndarray of float, shape (datasets,) or (datasets, d)
            On universes of records, off by at most three units in the last place.
        """
        sums = self.sums(universe)
        if sums is None:
            return self.evaluate(universe.given(rows))
        above, below = sums.of(rows)
        bad = (below == 0).any(axis=1)
        if bad.any():
            raise self.undefined([universe.values[place] for place in rows[int(np.argmax(bad))]])
        try:
            answers: NDArray[Any] = (above / below).astype(np.float64)
        except OverflowError:
            pairs = zip(above.ravel(), below.ravel(), strict=True)
            largest = max(abs(Fraction(*pair)) for pair in pairs)
            raise InputError(f"{self.name}: {beyond_floats(largest)}") from None
        return answers

    def undefined(self, records: Sequence[Any]) -> QueryError:
        """Return the error for a dataset on which the query has no answer."""
        return QueryError(
            f"query {shown(self.name)} has no answer on the dataset {tuple(records)}: a mean of no "
            "values, or a covariance of too few; choose other sizes, or give the answer for no "
            "values as empty"
        )

    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return an answer per row of `rows`, shape (datasets, n); see the subclasses."""
        raise InputError(f"{self.name} is a query on records, not on numbers")

    @abstractmethod
    def __call__(self, x: Any) -> Answer:
        """Return the answer on one dataset, shape (n,)."""


def float_of(answer: Fraction, root: bool) -> float:
    """Return the float nearest to an answer, or to its root."""
    return Difference(answer, Fraction(0), root=True).nearest() if root else nearest(answer)


def as_floats(answer: Fraction | tuple[Fraction, ...], root: bool) -> Answer:
    """Return an exact answer, a number or several, as the nearest floats."""
    if isinstance(answer, tuple):
        return tuple(float_of(one, root) for one in answer)
    return float_of(answer, root)


def query_of_class(given: Any) -> Any:
    """Return the query of a class that needs no arguments; anything but a class as it is.

    InputError says what a class needs.
    """
    if not isinstance(given, type) or not issubclass(given, Query) or inspect.isabstract(given):
        return given
    needed = [
        name
        for name, one in inspect.signature(given).parameters.items()
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]
    if needed:
        arguments = ", ".join(f"{name}=..." for name in needed)
        raise InputError(
            f"the query {given.__name__} needs {' and '.join(needed)}; write "
            f"{given.__name__}({arguments})"
        )
    return given()


class ExactQuery(Query):
    """A homogeneous polynomial of the records over a number that depends on n.

    It gets the records as whole numbers in any unit: ``evaluate(c * rows)`` must be
    ``c**degree * evaluate(rows)``, so it cannot compare records with constants.

    Attributes
    ----------
    degree : int
        The degree of the polynomial: the answer scales with the records to this power.
    """

    degree: ClassVar[int] = 1

    @abstractmethod
    def evaluate(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Return the polynomial on every row.

        Parameters
        ----------
        rows : ndarray, shape (datasets, n)
            A dataset per row, ascending: integers, as floats or as Python objects.

        Returns
        -------
        ndarray, shape (datasets,)
            Integers, in the type of `rows`.
        """

    @abstractmethod
    def denominator(self, size: int) -> Fraction:
        """Return what to divide `evaluate` by for datasets of this size."""

    def magnitude(self, size: int, largest: int) -> int:
        """Bound `evaluate` and its intermediate results when no record exceeds `largest`.

        Exactness depends on it: override it where more than n records are added up.
        """
        return size * largest

    def rational(self, integers: Integers, unit: int) -> Fraction:
        """Return the exact answer on one dataset (its square, if `root`).

        Parameters
        ----------
        integers : ndarray of Python ints, shape (n,)
            The records times `unit`, ascending.
        unit : int
            The common denominator of the records.
        """
        if len(integers) < self.defined_from:
            if self.empty is None:
                raise InputError(
                    f"{self.name} needs at least {self.defined_from} records, got {len(integers)}"
                )
            return Fraction(self.empty) ** (2 if self.root else 1)
        numerator = self.evaluate(integers[None, :])[0]
        if not isinstance(numerator, Integral):
            raise self._no_polynomial(f"{shown(numerator)} for whole numbers")
        numerator, below = int(numerator), self.denominator(len(integers))
        return Fraction(numerator * below.denominator, unit**self.degree * below.numerator)

    def check_on(self, universe: Any) -> None:
        """Raise QueryError where a caller's class is seen not to keep its promises."""
        if type(self).__module__.partition(".")[0] != __name__.partition(".")[0]:
            self.check_promises()

    def check_promises(self) -> None:
        """Try on a few datasets what exactness rests on: whole, homogeneous, within `magnitude`.

        Raises
        ------
        QueryError
            If `evaluate` breaks a promise; the message shows how.
        """
        random = np.random.default_rng(0)
        for size in range(self.defined_from, self.defined_from + 4):
            rows = np.sort(random.integers(-1000, 1000, (8, size)), axis=1).astype(object)
            answers, scaled = (list(self.evaluate(some)) for some in (rows, 3 * rows))
            bound = self.magnitude(size, 1000)
            for row, answer, other in zip(rows.tolist(), answers, scaled, strict=True):
                if not isinstance(answer, Integral):
                    raise self._no_polynomial(f"{shown(answer)} for the whole numbers {row}")
                if other != 3**self.degree * answer:
                    raise self._no_polynomial(
                        f"{shown(answer)} for {row} and {shown(other)} for three times these "
                        f"records, not 3**{self.degree} times as much"
                    )
                weights = self.weights(size)
                exactly = Fraction(int(answer)) / self.denominator(size)
                if weights is not None and exactly != sum(w * row[rank] for rank, w in weights):
                    raise QueryError(
                        f"query {shown(self.name)} is {shown(exactly)} on {row}, which is not what "
                        "its `weights` give; mend them, or declare none"
                    )
                if abs(int(answer)) > bound:
                    raise QueryError(
                        f"query {shown(self.name)} returned {shown(answer)} for {row}, more than "
                        f"its magnitude({size}, 1000) of {shown(bound)}; override `magnitude`"
                    )

    def _no_polynomial(self, told: str) -> QueryError:
        return QueryError(
            f"query {shown(self.name)} is not a homogeneous polynomial of degree {self.degree}: "
            f"`evaluate` returned {told}; declare another `degree`, or pass a function instead of "
            "an ExactQuery (sl.from_function)"
        )

    def __call__(self, x: Sequence[Number]) -> float:
        """Return the float nearest to the exact answer on one dataset, shape (n,)."""
        integers, unit = common_integers(as_numbers(x))
        return float_of(self.rational(np.sort(integers), unit), self.root)


@dataclass(frozen=True)
class WithEmpty(ExactQuery):
    """A query that has no answer of its own on too few records, such as on none.

    Parameters
    ----------
    empty : int, float, Fraction or Decimal, optional
        The answer on fewer records than `defined_from`. It must be public, chosen without looking
        at the data. By default there is none, and no dataset is so small.

    Raises
    ------
    InputError
        If `empty` is not a finite number, or is negative where answers are roots.
    """

    empty: Number | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        """Check the answer on too few records."""
        object.__setattr__(self, "empty", answer_on_few(self, self.empty))


def answer_on_few(query: Query, empty: Any) -> Number | None:
    """Return the answer on too few records for a query, or raise InputError."""
    check_number.or_none("empty", empty)
    number: Number | None = as_python(empty)
    if number is not None and query.root and number < 0:
        raise InputError(f"empty must be at least 0 for a {query.name}, got {shown(number)}")
    return number


_MOST_CELLS = 100_000_000
"""The most numbers that are kept for all distinct records of a universe together."""

Whole = NDArray[Any]
"""An array of integers: int64 where that is safe, else Python ints."""

Ratios = tuple[Whole, Whole]
"""Numerators and denominators, shape (datasets, d) each; a denominator 0 says "undefined"."""


class LinearAnswer(NamedTuple):
    """An answer that is a column's sum over a unit, or over that and the number of records."""

    column: int
    unit: int
    mean: bool = False


@dataclass(frozen=True, eq=False)
class Sums:
    """A query on records, written as sums over the records of a dataset.

    Attributes
    ----------
    terms : ndarray of Python ints, shape (m, p)
        What each distinct record of a universe adds to each of p sums.
    finish : callable
        Makes the answers of the sums, shape (datasets, p): numerators and denominators, shape
        (datasets, d). It adds up at most two products of two sums and a constant.
    constant : int, default 1
        The largest constant in `finish`.
    linear : tuple of LinearAnswer, shape (d,), or None
        For a query each of whose answers is one sum over a constant, or such a mean.
    """

    terms: Whole
    finish: Callable[[Whole], Ratios]
    constant: int = 1
    linear: tuple[LinearAnswer, ...] | None = None

    @property
    def adds_up(self) -> bool:
        """Whether every answer is a sum over the records, whatever their number."""
        return self.linear is not None and not any(one.mean for one in self.linear)

    def units_at(self, size: int | None) -> tuple[int, ...] | None:
        """Return what each answer divides its sum by; None if it is no constant.

        Parameters
        ----------
        size : int or None
            The number of records; None if it varies.
        """
        if self.linear is None or (size is None and not self.adds_up):
            return None
        return tuple(one.unit * (size or 1) if one.mean else one.unit for one in self.linear)

    @classmethod
    def additive(cls, terms: Whole, unit: int = 1) -> Sums:
        """Make the sums of a query whose answers are sums over the records, in a unit."""
        linear = tuple(LinearAnswer(column, unit) for column in range(terms.shape[1]))
        return cls(terms, lambda sums: (sums, np.full_like(sums, unit)), unit, linear)

    def of_group(self, inside: NDArray[np.bool_]) -> Sums:
        """Return the query on the records of a group, of which a dataset has any number."""
        linear = self.linear if self.adds_up else None
        return replace(self, terms=self.terms * inside[:, None], linear=linear)

    def of(self, rows: NDArray[np.intp]) -> Ratios:
        """Return the answers on datasets given as rows of positions, shape (datasets, n)."""
        size = rows.shape[1]
        largest = int(abs(self.terms).max(initial=1)) * max(size, 1)
        narrow = 2 * largest * largest * self.constant < 2**63
        terms = self.terms.astype(np.int64) if narrow else self.terms
        total = np.zeros((len(rows), terms.shape[1]), dtype=terms.dtype)
        for place in range(size):
            total += terms[rows[:, place]]
        return self.finish(total)

    def of_one(self, data: NDArray[np.int64]) -> Ratios:
        """Return the answers on one dataset, given by multiplicities, shape (m,)."""
        held = np.flatnonzero(data)
        total = (self.terms[held] * data[held, None].astype(object)).sum(axis=0)
        return self.finish(np.asarray(total, dtype=object)[None, :])


def as_terms(columns: Any) -> Whole:
    """Return flags or integers, shape (m,) or (m, p), as terms."""
    terms = np.asarray(columns)
    if terms.dtype == np.bool_:
        terms = terms.astype(np.int64)
    return terms.astype(object).reshape(len(terms), -1)


def check_cells(name: str, rows: int, numbers: int) -> None:
    """Raise TooLargeError if a query adds too many numbers per record for a universe."""
    if rows * numbers > _MOST_CELLS:
        raise TooLargeError(
            f"{name} would keep {numbers:,} numbers for each of {rows:,} distinct records, more "
            f"than {_MOST_CELLS:,} together; choose fewer categories or groups, or a coarser "
            "universe with fewer distinct records"
        )


def side_by_side(parts: Sequence[Sums]) -> Sums:
    """Return sums whose answers are those of the parts, one after the other."""
    ends = np.cumsum([part.terms.shape[1] for part in parts]).tolist()
    pieces: list[tuple[Callable[[Whole], Ratios], slice]] = [
        (part.finish, slice(end - part.terms.shape[1], end))
        for part, end in zip(parts, ends, strict=True)
    ]

    def finish(sums: Whole) -> Ratios:
        done = [finish(sums[:, columns]) for finish, columns in pieces]
        return np.hstack([above for above, _ in done]), np.hstack([below for _, below in done])

    linear: tuple[LinearAnswer, ...] | None = ()
    for part, (_, columns) in zip(parts, pieces, strict=True):
        own = part.linear
        if linear is None or own is None:
            linear = None
        else:
            linear += tuple(one._replace(column=one.column + columns.start) for one in own)
    terms = np.hstack([part.terms for part in parts])
    return Sums(terms, finish, max(part.constant for part in parts), linear)


def flags_of(places: Sequence[int | None], width: int, name: str) -> Whole:
    """Return a term per record and answer: 1 at a record's place, if it has one."""
    check_cells(name, len(places), width)
    flags = np.zeros((len(places), width), dtype=np.int64)
    inside = [row for row, place in enumerate(places) if place is not None]
    flags[inside, [place for place in places if place is not None]] = 1
    return as_terms(flags)
