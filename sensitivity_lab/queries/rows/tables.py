"""The base class of queries on universes of rows, and filtered counts.

Each query is written as sums over the records and a function of these sums (`Sums`), so all its
answers are computed in whole numbers, for one dataset or for many at once. The values of a column
are of one kind: numbers, texts or points of time.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, cast
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.boundary import with_numpy_defaults
from sensitivity_lab.checks import (
    as_pandas,
    check_text,
    check_whole,
    is_hashable,
    is_long,
    listed,
    named,
    names_of,
    shown,
)
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.metrics.cells import kind_of, table_key
from sensitivity_lab.queries.base import Answer, Query, Sums, as_terms
from sensitivity_lab.universes.reading import as_numbers
from sensitivity_lab.universes.universe import FiniteUniverse, TableUniverse, Universe

from .predicates import check_predicate, parsed

_MOST_NAMED = 5
"""The most values that an error names."""


def keys_of(name: str, values: Any) -> tuple[Any, ...]:
    """Return distinct values as a tuple, missing ones as None, or raise InputError."""
    keys = list(map(table_key, listed(values, f"{name} must be a list of values")))
    for key in keys:
        if not is_hashable(key) or is_long(key):
            raise InputError(f"{name} must be single values of the column, got {shown(key)}")
    if not keys:
        raise InputError(f"{name} must list at least one value, got none")
    ((key, count),) = Counter(keys).most_common(1)
    if count > 1:
        raise InputError(f"{name} must be distinct, got {shown(key)} more than once")
    return tuple(keys)


def places_of(values: Sequence[Any], keys: Sequence[Any]) -> list[int | None]:
    """Return which of the distinct keys each value is; None on both sides is a missing one."""
    place_of = {key: place for place, key in enumerate(keys)}
    return [place_of.get(value) for value in values]


def check_kinds(name: str, column: Any, keys: Iterable[Any], values: Iterable[Any]) -> None:
    """Raise InputError if values of a column can never be equal to some categories.

    Parameters
    ----------
    name : str
        The name of the categories, "categories" or "groups".
    column : hashable
        The column.
    keys : iterable
        The categories, None for a missing value.
    values : iterable
        The values of the column, None where one is missing.
    """
    present = {kind_of(value): value for value in values if value is not None}
    if not present or None in present:
        return
    never = [key for key in keys if key is not None and kind_of(key) not in (None, *present)]
    if never:
        raise InputError(
            f"{name} {_named(never)} cannot occur in a record: column "
            f"{shown(column)} has {' and '.join(map(str, present))}; give values such as "
            f"{shown(next(iter(present.values())))}"
        )


def absent_text(column: Any, keys: Iterable[Any], values: Iterable[Any]) -> str:
    """Return which categories no value of a column is equal to, as text; "" if there is none."""
    present = set(values)
    absent = [key for key in keys if key not in present]
    return f"no record of the universe has {column} {_named(absent)}" if absent else ""


def _named(keys: list[Any]) -> str:
    """Return some values as text."""
    more = f" and {len(keys) - _MOST_NAMED:,} others" if len(keys) > _MOST_NAMED else ""
    return f"{', '.join(map(shown, keys[:_MOST_NAMED]))}{more}"


def sizes_of_groups(groups: Sequence[Any], sizes: Any) -> tuple[int, ...]:
    """Return a size for each group, or raise InputError."""
    wrong = f"group_sizes must have a size for each of the groups {shown(tuple(groups))}"
    named = isinstance(sizes, Mapping)
    given = list(sizes) if named else listed(sizes, wrong)
    if len(given) != len(groups) or (named and set(given) != set(groups)):
        raise InputError(f"{wrong}, got {shown(sizes)}")
    if named:
        given = [sizes[group] for group in groups]
    return tuple(
        check_whole("group_sizes", size, "a number of rows, at least 0", least=0) for size in given
    )


_MADE = "_made"
"""The attribute that keeps a query's sums by universe."""

_CALLED_X = (
    "the records are numbers: x in a text, a 1-D array for a function; for columns make a "
    "TableUniverse"
)

_PROBED = 64
"""How many rows a predicate is tried on alone, to see that it does not look at others."""


@dataclass(frozen=True)
class RecordQuery(Query):
    """A function of a table, made of sums over its rows."""

    on_numbers: ClassVar[bool] = False
    on_records: ClassVar[bool] = True
    defined_from = 0  # a property of those that need more

    @abstractmethod
    def sums_on(self, universe: TableUniverse) -> Sums:
        """Return the query as sums over the records of a universe; InputError if it has none."""

    def sums(self, universe: FiniteUniverse) -> Sums:
        """Return the query as sums over the records of a universe; InputError if it has none.

        They are made once per query and universe. The names that a predicate refers to may change
        between calls, so `as_query` returns a copy, which has not made any yet.
        """
        if universe.numeric and not self.on_numbers:
            raise InputError(f"{self.name} is a query on records; make a TableUniverse of a table")
        made = self.__dict__.setdefault(_MADE, WeakKeyDictionary())
        if universe not in made:
            made[universe] = self.sums_on(cast(TableUniverse, universe))
        sums: Sums = made[universe]
        return sums

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy has: the parameters, not the sums."""
        return {name: value for name, value in self.__dict__.items() if name != _MADE}

    @with_numpy_defaults
    def __call__(self, x: pd.DataFrame) -> Answer:
        """Return the answer on a table, shape (n, columns); missing values are allowed."""
        return on_table(copy(self), x)


def on_table(query: Query, x: pd.DataFrame) -> Answer:
    """Return the answer of a query on a table, shape (n, columns); missing values are allowed."""
    universe = TableUniverse.from_dataset(x, allow_missing=True)
    return query.on(universe, universe.multiplicities(len(x)))


@dataclass(frozen=True)
class CountIf(RecordQuery):
    """The number of records, rows or numbers, for which a predicate holds.

    It is a sum of 1 over these records, so its sensitivity is exact without an enumeration. On
    intervals it is refused, because no function of ours knows where a predicate changes.

    Parameters
    ----------
    predicate : callable or str
        A function that takes a DataFrame, or a 1-D array of numbers, and returns a boolean per
        record, each from its own record alone; or a text such as "age >= 18", or of numbers, which
        it calls x, "x >= 18". A missing result counts as False.
    name : str, optional
        The name in tables and legends; by default made of the text or the function.

    Raises
    ------
    InputError
        If a text does not follow the grammar below.

    Notes
    -----
    A text is parsed, never run: it has no calls and no attributes. It compares columns (`of two
    words` in backticks), numbers, texts, True and False by ==, !=, <, <=, >, >= (also chained), in
    and not in a list, computes with + - * / // %, and joins comparisons by and, or, not, ``&``,
    ``|``, ``~`` and brackets; ``&`` and ``|`` bind like and and or. Points of time are written as
    texts. Whole numbers are computed with exactly.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [17, 18, 40], "lives in": ["a", "b", "c"]})
    >>> CountIf("age >= 18")(table), CountIf(lambda rows: rows["age"] < 18)(table)
    (2.0, 1.0)
    >>> CountIf("10 < age <= 18 and `lives in` not in ['b', 'c']")(table)
    1.0
    >>> CountIf("x >= 18")([17, 18, 40]), CountIf(lambda x: x < 18)([17, 18, 40])
    (2.0, 1.0)
    """

    predicate: Callable[[Any], Any] | str
    name: str = ""

    on_numbers: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_predicate("predicate", self.predicate)
        if isinstance(self.predicate, str):
            parsed(self.predicate)
        name = check_text("name", self.name, "a text") or self._made_name
        object.__setattr__(self, "name", named(name))

    @property
    def _made_name(self) -> str:
        return "count_if" if self.told == "<lambda>" else f"count of {self.told}"

    @property
    def told(self) -> str:
        """The expression, or the name of the function."""
        text = self.predicate
        return named(text if isinstance(text, str) else getattr(text, "__name__", "<lambda>"))

    def by_place(self, universe: Any) -> bool:
        """Return True, of numbers too."""
        return True

    def sums_on(self, universe: FiniteUniverse) -> Sums:
        """Return the sum of 1 over the records for which the predicate holds."""
        flags = self._holds(universe.given(np.arange(len(universe.values))))
        places = np.unique(np.linspace(0, len(flags) - 1, _PROBED).astype(np.intp))
        for place in places:
            if self._holds(universe.given(places=np.array([place])))[0] != flags[place]:
                raise QueryError(
                    f"the predicate of {shown(self.name)} decides differently on the record "
                    f"{universe.values[place]} alone than among others; it must look at one record "
                    "at a time"
                )
        return Sums.additive(as_terms(flags))

    @with_numpy_defaults
    def __call__(self, x: Any) -> Answer:
        """Return the number of rows of a table, or of the numbers, for which it holds."""
        if isinstance(as_pandas(x), pd.DataFrame):
            return super().__call__(x)
        numbers = as_numbers(x)
        if not numbers:
            return 0.0
        universe = Universe.from_dataset(numbers)
        return copy(self).on(universe, universe.multiplicities(len(numbers)))

    def _holds(self, records: Any) -> NDArray[np.bool_]:
        """Return for which records, rows or numbers, the predicate holds, or raise QueryError."""
        flags: Any
        rows = isinstance(records, pd.DataFrame)
        frame = records if rows else pd.DataFrame({"x": records})
        names = f"the columns are {names_of(frame.columns)}" if rows else _CALLED_X
        try:
            if isinstance(self.predicate, str):
                flags = parsed(self.predicate)(frame)
            else:
                flags = self.predicate(records.copy())
        except QueryError as error:
            raise QueryError(
                f"the predicate of {shown(self.name)} cannot be used: {error}; {names}"
            ) from None
        except Exception as error:
            raise QueryError(
                f"the predicate of {shown(self.name)} raised {type(error).__name__}: {error}; "
                f"{names}"
            ) from error
        try:
            shape = np.shape(flags)
            series = pd.Series(flags) if shape == (len(frame),) else pd.Series()
        except Exception:  # noqa: BLE001 - what cannot become a column has no shape of one
            shape, series = (), pd.Series()
        if shape != (len(frame),) or not pd.api.types.is_bool_dtype(series.dtype):
            came = f"{type(flags).__name__} of shape {shape}" if shape else shown(flags)
            raise QueryError(
                f"the predicate of {shown(self.name)} returned {came} for {len(frame)} records; "
                "it must return one boolean per record"
            )
        holds: NDArray[np.bool_] = series.fillna(False).to_numpy(dtype=bool)
        return holds
