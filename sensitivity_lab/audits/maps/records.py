"""The records of a dataset: of a list, an array, a table, or a text of lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.checks import shown, unboxed
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.metrics.cells import signed_key
from sensitivity_lab.results.literals import short_literal


def records_of(dataset: Any) -> Sequence[Any]:
    """Return the records of a dataset, or raise QueryError if it has none that are known.

    The records of a text are its lines, those of an array are its entries or rows, and those of a
    table (of pandas or Polars, a LazyFrame included) are its rows.

    Examples
    --------
    >>> records_of("one two" + chr(10) + "three" + chr(10))
    ['one two', 'three']
    >>> records_of(np.array([[1, 2], [3, 4]]))
    [[1, 2], [3, 4]]
    >>> records_of(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}))
    [(1, 'x'), (2, 'y')]
    """
    if isinstance(dataset, list | tuple):
        return dataset
    if isinstance(dataset, str):
        lines = dataset.split("\n")
        return lines if lines[-1] else lines[:-1]
    if isinstance(dataset, np.ndarray) and dataset.ndim:
        return list(dataset.tolist())
    if isinstance(dataset, pd.Series):
        return list(dataset.tolist())
    if isinstance(dataset, pd.DataFrame):
        return list(dataset.itertuples(index=False, name=None))
    frame = dataset.collect() if hasattr(dataset, "collect") else dataset
    if not hasattr(frame, "rows"):
        raise QueryError(
            f"{short_literal(dataset)} ({type(dataset).__name__}) has no records; those of lists, "
            "tuples, arrays, tables and texts are known, so give a function of two datasets "
            "instead of the metric"
        )
    return list(frame.rows())


def text_of(lines: Sequence[str]) -> str:
    """Return the text of some lines, each with its end.

    Examples
    --------
    >>> text_of(["a", "b"]) == "a" + chr(10) + "b" + chr(10)
    True
    """
    return "".join(f"{line}\n" for line in lines)


def check_comparable(name: str, item: Any) -> None:
    """Raise InputError if what is no table cannot be compared and hashed, or holds itself."""
    if isinstance(item, pd.DataFrame | pd.Series) or hasattr(item, "lazy"):
        return
    try:
        hash(signed_key(item))
    except Exception as error:
        raise InputError(
            f"{name} must be what can be compared and hashed, got {shown(item)}, which raised "
            f"{type(error).__name__}"
        ) from error


def numbers_of(answer: Any) -> Any:
    """Return what the metrics on numbers take: a mapping, a list of numbers, or a number.

    Examples
    --------
    >>> numbers_of(np.array([[1, 2], [3, 4]])), numbers_of(pd.DataFrame({"a": [0.5], "b": [2]}))
    ([1, 2, 3, 4], [0.5, 2])
    """
    if isinstance(answer, pd.Series | np.ndarray):
        return np.asarray(answer).ravel().tolist()
    if isinstance(answer, Mapping | list | tuple) or not (
        isinstance(answer, pd.DataFrame) or hasattr(answer, "collect") or hasattr(answer, "rows")
    ):
        return answer
    return [entry for row in records_of(answer) for entry in row]


def plain(answer: Any) -> Any:
    """Return an answer without the types of arrays and tables; rows stay rows.

    Examples
    --------
    >>> plain(np.array([[1], [2]])), plain(pd.DataFrame({"a": [1, 2]})), plain({"a": 1})
    ([[1], [2]], [(1,), (2,)], {'a': 1})
    """
    if isinstance(answer, np.ndarray):
        return answer.tolist()
    if isinstance(answer, pd.Series | pd.DataFrame) or hasattr(answer, "rows"):
        return list(records_of(answer))
    return unboxed(answer)


def table_numbers(answer: Any) -> Any:
    """Return a table of counts or sums as a mapping to its numbers, and any other answer as it is.

    The key of a number is what its row says that is no number, and the name of its column; two
    numbers with one key raise ValueError.

    Examples
    --------
    >>> table_numbers(pd.DataFrame({"city": ["Ulm", "Bonn"], "people": [2, 5]}))
    {('Ulm', 'people'): 2, ('Bonn', 'people'): 5}
    """
    if not isinstance(answer, pd.DataFrame) and not hasattr(answer, "rows"):
        return answer
    numbers = {}
    for row in records_of(answer):
        named = list(zip(answer.columns, map(unboxed, row), strict=True))
        words = tuple(entry for _, entry in named if not isinstance(entry, Real))
        for column, entry in named:
            if isinstance(entry, Real):
                if (*words, column) in numbers:
                    raise ValueError(f"two rows have the key {(*words, column)}; give answer=")
                numbers[*words, column] = entry
    return numbers
