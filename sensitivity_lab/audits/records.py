"""Datasets and answers of an audit as metrics see them, and how far apart they are.

A dataset has records: those of a list, an array, a table, or a text of lines. An answer may have
numbers. A function may distinguish 0.0 from -0.0, so they differ as records and as whole answers
(see `metrics.cells`). As numbers they are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.checks import shown, unboxed
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.metrics import Distances, Metric
from sensitivity_lab.metrics.cells import Cells, signed_key
from sensitivity_lab.metrics.vectors import coordinate, rational
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
    """Raise InputError if an item cannot be compared and hashed, or holds itself."""
    try:
        hash(signed_key(item))
    except Exception as error:
        raise InputError(
            f"{name} must be what can be compared and hashed, got {shown(item)}, which raised "
            f"{type(error).__name__}"
        ) from error


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

    The key of a number is the texts of its row and the name of its column; two numbers with one key
    raise ValueError.

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


def distances(metric: Metric, items: Sequence[Any], cells: Cells = signed_key) -> Distances:
    """Return the distances of items, whose numbers are finite and equally many.

    Parameters
    ----------
    metric : Metric
        One of `metrics.METRICS`.
    items : sequence
        For the metrics on numbers: numbers, vectors of numbers, or mappings to numbers. For the
        metrics on records: sequences. For others: what can be hashed, or holds it.
    cells : callable, default signed_key
        When two records, or two items as a whole, are equal.

    Raises
    ------
    QueryError
        If items have no distance: numbers that are not finite, or vectors of unequal length.

    Examples
    --------
    >>> from sensitivity_lab.metrics import METRICS
    >>> distances(METRICS["insert_delete"], [(0, 1, 2), (1, 2, 3), (2, 1)]).row(0).tolist()
    [2, 3]
    >>> found = distances(METRICS["L2"], [(0.0, 0.0), (1.0, 0.5)])
    >>> found.truth(found.row(0)[0]).nearest()
    1.118033988749895
    """
    if metric.sees != "numbers":
        return metric.among([metric.form_by(cells, item) for item in items])
    rows = _coordinates(items, rational)
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1:
        raise QueryError(
            f"answers with {lengths[0]} and with {lengths[-1]} entries have no distance"
        )
    return metric.among(rows)


def any_distances(metric: Metric, items: Sequence[Any]) -> Distances:
    """Return the distances of items with records or numbers; numbers can be infinite or missing.

    Examples
    --------
    >>> from sensitivity_lab.metrics import METRICS
    >>> found = any_distances(METRICS["L1"], [(1.0, np.inf), (3.0, np.inf), (1.0, np.nan)])
    >>> [found.truth(entry) for entry in found.row(0)]
    [Difference(first=Fraction(2, 1), second=Fraction(0, 1), root=False), inf]
    """
    if metric.sees == "records":
        items = list(map(records_of, items))
    if metric.sees != "numbers":
        return distances(metric, items)
    return metric.extended().among(_coordinates(items, coordinate))


def _coordinates(
    items: Sequence[Any], coordinate_of: Callable[[Any], Any]
) -> list[tuple[Any, ...]]:
    """Return the coordinates of numbers, vectors or mappings; absent names count as 0."""
    mappings = [item for item in items if isinstance(item, Mapping)]
    names = list(dict.fromkeys(name for item in mappings for name in item))
    rows = (
        [item.get(name, 0) for name in names] if isinstance(item, Mapping) else entries(item)
        for item in items
    )
    return [tuple(map(coordinate_of, row)) for row in rows]


def entries(answer: Any) -> list[Any]:
    """Return the numbers of a vector, an array, a mapping or a table, or of a number itself.

    Examples
    --------
    >>> entries(np.array([[1, 2], [3, 4]])), entries(pd.DataFrame({"a": [0.5], "b": [2]}))
    ([1, 2, 3, 4], [0.5, 2])
    >>> entries(7)
    [7]
    """
    if isinstance(answer, Mapping):
        return list(answer.values())
    if isinstance(answer, list | tuple):
        return list(answer)
    if isinstance(answer, pd.Series | np.ndarray):
        return list(np.asarray(answer).ravel().tolist())
    if isinstance(answer, pd.DataFrame) or hasattr(answer, "collect") or hasattr(answer, "rows"):
        return [entry for row in records_of(answer) for entry in row]
    return [answer]
