"""Queries on datasets, and the answers on many datasets as whole numbers.

A named query counts on many datasets at once, in arrays. A caller's function is called on one after
the other. The answers of both are kept as integers over one denominator, so comparing them rounds
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import QueryError, TooLargeError
from sensitivity_lab.exact.difference import common_integers
from sensitivity_lab.queries.returned import Answers, NoNumbersError, are_exact, numbers_of
from sensitivity_lab.running import tracked
from sensitivity_lab.search.again import check_calls

from .space import Answer, Code, Codes, FiniteSpace, Group, Number

MOST_CALLS = 50_000
"""A caller's function is called on at most so many datasets: all graphs on 6 nodes, and more."""

INT64 = 2**62
"""Sums of squares below it are computed in int64; larger ones in Python's integers."""

Counts = NDArray[Any]
"""Whole numbers, shape (datasets, d): answers, or answers times a common denominator."""


@dataclass(frozen=True)
class NamedQuery:
    """A query with a name.

    Attributes
    ----------
    name : str
    count : callable
        From a space, a group and codes in it to the answers times the denominator.
    vector : bool
        Whether the answer is a vector; if not, d is 1.
    denominator : callable
        Returns that of all answers in a space. It raises InputError or TooLargeError if the query
        is not possible there.
    """

    name: str
    count: Callable[[Any, Any, Codes], Counts]
    vector: bool = False
    denominator: Callable[[Any], int] = lambda _: 1


@dataclass(frozen=True)
class FunctionQuery:
    """A caller's function of one dataset, and the queries with names that its space has."""

    function: Callable[[Any], Any]
    named: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name in results."""
        name = getattr(self.function, "__name__", "function")
        return name if isinstance(name, str) and name.isidentifier() else "function"


SpaceQuery = NamedQuery | FunctionQuery


@dataclass(frozen=True)
class Table:
    """The answers on some datasets, as integers over one denominator.

    Attributes
    ----------
    datasets : mapping of group to codes
        Ascending.
    counts : mapping of group to ndarray, shape (datasets, d)
        The answers on these times the denominator.
    denominator : int
        Common to all answers.
    arithmetic : {"exact", "float"}
        "float" where a function returned floats.
    vector : bool
        Whether an answer is a vector; if not, d is 1.
    """

    datasets: Mapping[Group, Codes]
    counts: Mapping[Group, Counts]
    denominator: int
    arithmetic: Literal["exact", "float"]
    vector: bool

    @property
    def number(self) -> int:
        """On how many datasets the query was evaluated."""
        return sum(map(len, self.datasets.values()))

    @property
    def width(self) -> int:
        """How many numbers an answer is."""
        return int(next(iter(self.counts.values())).shape[1])

    def on(self, group: Group, codes: Codes) -> Counts:
        """Return the answers on datasets of a group, shape (len(codes), d)."""
        known, counts = self.datasets[group], self.counts[group]
        if known[-1] == len(known) - 1:  # ascending and all different, so these are 0, 1, 2, ...
            return counts[codes]
        return counts[np.searchsorted(known, codes)]

    def answer(self, code: Code) -> Answer:
        """Return the answer on one dataset as it was given: a number, or a tuple of them."""
        group, number = code
        [row] = self.on(group, np.array([number]))
        exact = [Fraction(int(one), self.denominator) for one in row]
        given: list[Number] = [one.numerator if one.denominator == 1 else one for one in exact]
        if self.arithmetic == "float":
            given = [float(one) for one in exact]
        return tuple(given) if self.vector else given[0]


def evaluate(
    query: SpaceQuery,
    space: FiniteSpace,
    datasets: Mapping[Group, Codes],
    progress: bool | None = False,
) -> Table:
    """Return the answers on some datasets, each evaluated once.

    Parameters
    ----------
    query : NamedQuery or FunctionQuery
        The query.
    space : FiniteSpace
        That of the datasets.
    datasets : mapping of group to codes
        Ascending.
    progress : bool, optional
        Whether to show how many calls of a function are done.

    Raises
    ------
    InputError
        If the query is not possible in this space.
    QueryError
        If a function raises, or does not return finite numbers of one shape.
    TooLargeError
        If a function would be called too often.
    """
    if isinstance(query, NamedQuery):
        denominator = query.denominator(space)
        counts = {group: query.count(space, group, codes) for group, codes in datasets.items()}
        return Table(datasets, counts, denominator, "exact", query.vector)
    number = sum(map(len, datasets.values()))
    if number > MOST_CALLS:
        others = f", or one of {', '.join(map(repr, query.named))}" if query.named else ""
        raise TooLargeError(
            f"the function {query.name} would be called on {number:,} {space._noun}s, the limit is "
            f"{MOST_CALLS:,}; use {space._few}{others}"
        )
    every = [(group, code) for group, codes in datasets.items() for code in codes.tolist()]

    def where(place: int) -> str:
        return f"the function {query.name} on {space._told(every[place])}"

    def call(place: int) -> Answers:
        return _answer_of_call(query.function, space._argument(every[place]), where, place)

    places = tracked(range(len(every)), unit=f"{space._noun}s", progress=progress)
    answers = [call(place) for place in places]
    check_calls(answers, call, where)
    return _table(query.name, answers, datasets)


def _table(name: str, answers: Sequence[Answers], datasets: Mapping[Group, Codes]) -> Table:
    """Return what a function answered on all datasets, one group after the other."""
    shape = answers[0].shape
    if any(answer.shape != shape for answer in answers):
        raise QueryError(
            f"the function {name} returned answers of different shapes; it returns a number, "
            "or an array of one fixed length"
        )
    flat = [one for answer in answers for one in answer.ravel().tolist()]
    integers, denominator = common_integers(flat)
    width = answers[0].size
    largest = max(map(abs, integers), default=0)
    small = width * (2 * largest) ** 2 < INT64
    table = integers.reshape(len(answers), width).astype(np.int64 if small else object)
    ends = np.cumsum([len(codes) for codes in datasets.values()])
    counts = dict(zip(datasets, np.split(table, ends[:-1]), strict=True))
    exact = all(map(are_exact, answers))
    return Table(datasets, counts, denominator, "exact" if exact else "float", bool(shape))


def _answer_of_call(
    function: Callable[[Any], Any], dataset: Any, where: Callable[[int], str], place: int
) -> Answers:
    """Return a caller's function of one dataset as an array of no or one dimension.

    Raises
    ------
    QueryError
        If it raises, or does not return a finite number or a vector of them; `where` begins the
        message.
    """
    try:
        returned = function(dataset)
    except Exception as error:
        raise QueryError(
            f"{where(place)} raised {type(error).__name__}: {shown(str(error))}"
        ) from error
    try:
        numbers = numbers_of(returned)
    except NoNumbersError as error:
        reason = f" ({error})" if str(error) else ""
        raise QueryError(
            f"{where(place)} returned {shown(returned)}{reason}; it returns a finite number, or an "
            "array of them of one fixed length"
        ) from None
    if numbers.ndim > 1:
        raise QueryError(
            f"{where(place)} returned an array of shape {numbers.shape}; it returns a number, or "
            "an array of one fixed length, such as .ravel() gives"
        )
    return numbers
