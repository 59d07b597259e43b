"""A caller's function is asked again, to see that it gives one answer to one dataset.

A search rests on that. What is random, or keeps state between calls, shows when a sample of the
datasets is evaluated a second time, in another order, and with it the pair that the search found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import QueryError
from sensitivity_lab.queries import Query
from sensitivity_lab.queries.given import TWO_ANSWERS, slack_of
from sensitivity_lab.running.time_limits import TimeUpError, in_time
from sensitivity_lab.universes.relations import Multiplicities, show
from sensitivity_lab.universes.universe import FiniteUniverse

SAMPLE = 32
"""So many datasets are evaluated again, and so many of those of the pairs that were found."""


def spread(number: int) -> list[int]:
    """Return at most `SAMPLE` of the numbers 0 to `number` - 1, ascending, both ends among them.

    Examples
    --------
    >>> spread(3), len(spread(10**12)), spread(10**12)[-1]
    ([0, 1, 2], 32, 999999999999)
    """
    if number <= SAMPLE:
        return list(range(number))
    random = np.random.default_rng(0)
    found = {0, number - 1}
    while len(found) < SAMPLE:
        found.add(int(random.integers(number)))
    return sorted(found)


def agree(query: Query, first: Any, again: Any, others: float = 0.0, records: float = 0.0) -> bool:
    """Tell whether two answers on one dataset are the same.

    Parameters
    ----------
    query : Query
        Answers of one that is not vectorized are equal, those of a vectorized one so close that
        the order of additions explains the difference, which depends on what is beside a dataset.
    first : number, or tuple or array of them
        One answer.
    again : number, or tuple or array of them
        The other.
    others, records : float
        The largest absolute value of an answer, and of a record.
    """
    one, other = _numbers(first), _numbers(again)
    if _same(one, other):
        return True
    if not query.vectorized or len(one) != len(other):
        return False
    slack = slack_of(max([others, *map(_size, one), *map(_size, other)]), records)
    return all(abs(float(a) - float(b)) <= slack for a, b in zip(one, other, strict=True))


def largest_of(universe: FiniteUniverse) -> float:
    """Return the largest absolute value of a record; 0 where records are no numbers."""
    if not universe.numeric:
        return 0.0
    return max(_size(universe.values[0]), _size(universe.values[-1]))


def no_function(query: Query, dataset: Sequence[Any], first: Any, again: Any) -> QueryError:
    """Return the error for a query that answers a dataset in two ways."""
    if all(isinstance(one, float) for one in _numbers(again)):
        first = tuple(map(float, _numbers(first)))  # fractions that stand for floats
    return QueryError(
        f"query {shown(query.name)} on the dataset {show(tuple(dataset))} returned {told(first)}, "
        f"and {told(again)} when it was called again: {TWO_ANSWERS}"
    )


def check_again(
    query: Query,
    universe: FiniteUniverse,
    known: Sequence[tuple[Multiplicities, Any]],
    timeout: float | None = None,
) -> None:
    """Ask a caller's function again on datasets whose answers are known, last to first.

    Raises
    ------
    QueryError
        If an answer is another one, or takes too long.
    """
    if query.arithmetic == "exact":
        return
    others = max((_size(one) for _, first in known for one in _numbers(first)), default=0.0)
    for data, first in reversed(known):
        again = answered_in_time(query, universe, data, timeout)
        if not agree(query, first, again, others, largest_of(universe)):
            raise no_function(query, universe.dataset(data), first, again)


def check_calls(
    answers: Sequence[Any], call: Callable[[int], Any], where: Callable[[int], str]
) -> None:
    """Ask a function again that answered so many datasets, by number, last to first.

    Raises
    ------
    QueryError
        If an answer is another one; `where` names the function and the dataset.
    """
    for place in reversed(spread(len(answers))):
        again = call(place)
        if not _same(_numbers(answers[place]), _numbers(again)):
            raise QueryError(
                f"{where(place)} returned {told(answers[place])}, and {told(again)} when it was "
                f"called again: {TWO_ANSWERS}"
            )


def answered_in_time(
    query: Query, universe: FiniteUniverse, data: Multiplicities, timeout: float | None
) -> Any:
    """Return the answer on a dataset as it is, or raise QueryError if it takes too long."""
    try:
        return in_time(timeout, query.answered, universe, data)
    except TimeUpError:
        raise QueryError(
            f"query {shown(query.name)} on the dataset {show(universe.dataset(data))} "
            f"took longer than {timeout} seconds, the limit of run=Run(timeout={timeout})"
        ) from None


def told(answer: Any) -> str:
    """Return an answer as errors show it."""
    numbers = [str(one) if isinstance(one, Fraction) else repr(one) for one in _numbers(answer)]
    if len(numbers) == 1:
        return numbers[0]
    return f"({', '.join(numbers)})"


def _same(one: list[Any], other: list[Any]) -> bool:
    """Tell whether two answers are equal; one NaN is as good as another."""
    return len(one) == len(other) and all(
        a == b or (a != a and b != b) for a, b in zip(one, other, strict=True)
    )


def _numbers(answer: Any) -> list[Any]:
    if isinstance(answer, np.ndarray):
        return list(answer.ravel().tolist())
    return list(answer) if isinstance(answer, tuple) else [answer]


def _size(number: Any) -> float:
    try:
        return abs(float(number))
    except OverflowError:
        return float("inf")
