"""Queries on datasets, and the answers on many datasets as whole numbers.

A query is a function of one dataset, a caller's or one that the space has a name for. Its answers
are kept as integers over one denominator, so comparing them rounds nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.checks import Norm, shown
from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.difference import Difference, common_integers, root_difference
from sensitivity_lab.metrics.vectors import distance
from sensitivity_lab.queries.returned import Answers, NoNumbersError, are_exact, numbers_of
from sensitivity_lab.results.literals import brief
from sensitivity_lab.running import tracked
from sensitivity_lab.search.again import check_calls

from .near import Number, Places
from .space import Space, name_of, own

Answer = Number | tuple[Number, ...]
"""What a query answers on one dataset."""

_INT64 = 2**62
"""Sums of squares below it are computed in int64; larger ones in Python's integers."""


@dataclass(frozen=True)
class Table:
    """The answers on some datasets, as integers over one denominator.

    Attributes
    ----------
    counts : ndarray, shape (datasets of the space, d)
        The answers times the denominator; 0 where the query was not evaluated.
    denominator : int
        Common to all answers.
    arithmetic : {"exact", "float"}
        "float" where a function returned floats.
    vector : bool
        Whether an answer is a vector; if not, d is 1.
    """

    counts: NDArray[Any]
    denominator: int
    arithmetic: Literal["exact", "float"]
    vector: bool

    def answer(self, place: int) -> Answer:
        """Return the answer on one dataset as it was given: a number, or a tuple of them."""
        exact = [Fraction(int(one), self.denominator) for one in self.counts[place]]
        given: list[Number] = [one.numerator if one.denominator == 1 else one for one in exact]
        if self.arithmetic == "float":
            given = [float(one) for one in exact]
        return tuple(given) if self.vector else given[0]


def difference_of(query_x: Answer, query_y: Answer, norm: Norm) -> Difference:
    """Return how far two answers are apart, exactly.

    Examples
    --------
    >>> difference_of((4, 0), (2, 2), "L1").nearest(), difference_of(3, 1, "L2").nearest()
    (4.0, 2.0)
    """
    first, second = (
        [Fraction(one) for one in (answer if isinstance(answer, tuple) else (answer,))]
        for answer in (query_x, query_y)
    )
    used: Norm = norm if isinstance(query_x, tuple) else "L1"  # of numbers, all norms are one
    apart = distance(first, second, used)
    return root_difference(apart.first) if apart.root else apart


def evaluate(
    query: str | Callable[[Any], Any], space: Space, places: Places, progress: bool | None = False
) -> Table:
    """Return the answers on some datasets, each evaluated once.

    Parameters
    ----------
    query : str or callable
        The name of a query of the space, or a function of a dataset.
    space : Space
        That of the datasets.
    places : ndarray of int
        Which datasets.
    progress : bool, optional
        Whether to show how many calls of a function are done.

    Raises
    ------
    QueryError
        If a function raises, or does not return finite numbers of one shape.
    """
    function = space._queries[query] if isinstance(query, str) else query
    name = f"the function {name_of(function)}"

    def where(at: int) -> str:
        return f"{name} on {brief(space.datasets[places[at]])}"

    def call(at: int) -> Answers:
        return _answer_of_call(function, own(space.datasets[places[at]]), where, at)

    answers = [call(at) for at in tracked(range(len(places)), unit="datasets", progress=progress)]
    check_calls(answers, call, where)
    shape, width = answers[0].shape, answers[0].size
    if any(answer.shape != shape for answer in answers):
        raise QueryError(
            f"{name} returned answers of different shapes; it returns a number, or an array of one "
            "fixed length"
        )
    flat = [one for answer in answers for one in answer.ravel().tolist()]
    integers, denominator = common_integers(flat)
    largest = max(map(abs, integers), default=0)
    small = width * (2 * largest) ** 2 < _INT64
    counts = np.zeros((len(space), width), dtype=np.int64 if small else object)
    counts[places] = integers.reshape(len(answers), width)
    exact = all(map(are_exact, answers))
    return Table(counts, denominator, "exact" if exact else "float", bool(shape))


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
