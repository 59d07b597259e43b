"""The pair search of all audits: datasets that are close, with answers that are far apart.

A dataset has records: those of a list, an array, a table, or a text of lines. An answer may have
numbers. A function may distinguish 0.0 from -0.0, so they differ as records and as whole answers
(see `metrics.cells`). As numbers they are equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab import running
from sensitivity_lab.checks import shown, unboxed
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.metrics import Distances, Metric
from sensitivity_lab.metrics.cells import Cells, signed_key
from sensitivity_lab.metrics.vectors import coordinate, rational
from sensitivity_lab.results.literals import short_literal
from sensitivity_lab.search.farthest import Farthest

from .row import Evidence


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
    if isinstance(dataset, pd.Series | np.ndarray) and dataset.ndim:
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
    if metric.sees == "records":
        items = list(map(records_of, items))
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
    if metric.sees != "numbers":
        return distances(metric, items)
    return metric.extended().among(_coordinates(items, coordinate))


def _coordinates(
    items: Sequence[Any], coordinate_of: Callable[[Any], Any]
) -> list[tuple[Any, ...]]:
    """Return the coordinates of numbers, vectors or mappings; absent names count as 0."""
    mappings = [item for item in items if isinstance(item, Mapping)]
    names = list(dict.fromkeys(name for item in mappings for name in item))
    items, labels = zip(*map(_by_label, items), strict=True)
    if len(several := list(dict.fromkeys(one for one in labels if one is not None))) > 1:
        raise QueryError(
            f"tables with the labels {shown(several[0])} and {shown(several[1])} have no distance; "
            "return a dict, in which absent names count as 0"
        )
    rows = (
        [item.get(name, 0) for name in names] if isinstance(item, Mapping) else entries(item)
        for item in items
    )
    return [tuple(map(coordinate_of, row)) for row in rows]


def _by_label(item: Any) -> tuple[Any, str | None]:
    """Return a table of pandas in the order of its labels, and these; other items have none."""
    if not isinstance(item, pd.Series | pd.DataFrame):
        return item, None
    numbered = set(item.index) == set(range(len(item)))  # as if it had none
    item = item.sort_index(key=None if numbered else lambda labels: labels.map(repr), kind="stable")
    names = *(() if numbered else item.index), *getattr(item, "columns", ())
    return item, ", ".join(map(repr, names))


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


PAIR_LIMIT = 200_000_000
"""The largest number of pairs of datasets that are compared, which takes about a minute."""


@dataclass(frozen=True)
class Answered:
    """A dataset, and the answer of the audited code."""

    dataset: Any
    answer: Any


@dataclass
class Close:
    """The pairs of datasets that are close to each other, row by row.

    Attributes
    ----------
    near : Distances
        How far apart the datasets are.
    number : int
        How many datasets there are.
    limits : sequence of number
        The largest distances of datasets.
    alone : list of number
        The limits above 0 within which no two datasets at a distance above 0 have been seen. If
        there are any in the end, nothing is compared at these.
    """

    near: Distances
    number: int
    limits: Sequence[Number]
    alone: list[Number] = field(init=False)

    def __post_init__(self) -> None:
        self.alone = [limit for limit in self.limits if limit > 0]

    def rows(
        self, progress: bool | None = False
    ) -> Iterator[tuple[int, list[tuple[Number, NDArray[np.intp]]]]]:
        """Yield each dataset with others, and by limit the later datasets at most so far from it.

        They are numbered as in `near`. Each pair comes once, a limit without pairs is left out.
        """
        bounds = [(limit, self.near.limit(limit)) for limit in self.limits]
        for x in running.tracked(range(self.number - 1), unit="datasets", progress=progress):
            row = self.near.row(x)
            within = []
            for limit, bound in bounds:
                at = np.flatnonzero(row <= bound)  # row[k] belongs to the dataset x + 1 + k
                if not len(at):
                    continue
                if self.alone and limit in self.alone and (row[at] > 0).any():
                    self.alone.remove(limit)
                within.append((limit, at + (x + 1)))
            if within:
                yield x, within


def neighbors(
    metric: Metric,
    datasets: Sequence[Any],
    limits: Sequence[Number],
    progress: bool | None = False,
) -> Iterator[tuple[int, int, list[Number]]]:
    """Yield the places of two neighbors, and the limits that they are within; each pair once.

    Raises
    ------
    InputError
        At the end, if no two datasets are within a limit, so that nothing is compared.
    """
    close = Close(any_distances(metric, datasets), len(datasets), limits)
    for x, within in close.rows(progress):
        found: dict[int, list[Number]] = {}
        for limit, later in within:
            for y in later.tolist():
                found.setdefault(y, []).append(limit)
        for y in sorted(found):
            yield x, y, found[y]
    check_compared(close.alone, datasets, metric)


@dataclass(frozen=True)
class WorstPair:
    """The largest distance of answers, and the pair that attains it."""

    truth: Difference | float
    evidence: Evidence


@dataclass(frozen=True)
class WorstPairs:
    """The result of a search among datasets that are close to each other.

    Attributes
    ----------
    farthest : dict
        By limit, the pair with the answers farthest apart.
    alone : list of number
        The limits above 0 at which nothing is compared, see `Close`.
    """

    farthest: dict[Number, WorstPair]
    alone: list[Number]


def worst_pairs(
    answered: Sequence[Answered],
    inputs: Metric,
    outputs: Metric,
    limits: Sequence[Number],
    progress: bool | None = False,
) -> WorstPairs:
    """Find, among datasets close to each other, those whose answers are farthest apart.

    Parameters
    ----------
    answered : sequence of Answered
        Every dataset once; their order decides between equally bad pairs.
    inputs, outputs : Metric
        The metrics on datasets and on answers.
    limits : sequence of number
        The largest distances of datasets; there is a search for each.
    progress : bool, optional
        Whether to show a progress bar; see `running.run`.

    Returns
    -------
    WorstPairs
        Where no pair is within a limit, the first dataset is paired with itself.

    Raises
    ------
    TooLargeError
        If there are more than `PAIR_LIMIT` pairs; the message says how many.
    QueryError
        If datasets or answers have no distance.

    Notes
    -----
    Where the input metric ignores order, only one of the datasets with the same records and the
    same answer is kept, as the others make the same pairs. All pairs of the remaining datasets are
    measured exactly, one row of the distance matrix at a time.
    """
    kept = _distinct(answered, inputs)
    check_pairs(len(kept))
    close = Close(any_distances(inputs, [one.dataset for one in kept]), len(kept), limits)
    far = _of_answers(outputs, kept)
    best = {limit: Farthest() for limit in limits}
    for x, within in close.rows(progress):
        gaps = far.row(x)
        for limit, later in within:
            best[limit].see(gaps[later - (x + 1)], [x], later)

    def pair(found: Farthest) -> WorstPair:
        one, two = kept[found.x], kept[found.y]
        evidence = Evidence(one.dataset, two.dataset, one.answer, two.answer)
        return WorstPair(far.truth(found.gap or 0), evidence)

    return WorstPairs({limit: pair(one) for limit, one in best.items()}, close.alone)


def check_pairs(number: int) -> None:
    """Raise TooLargeError if this number of datasets makes too many pairs."""
    pairs = number * (number - 1) // 2
    if pairs > PAIR_LIMIT:
        raise TooLargeError(
            f"{number:,} datasets with answers of their own make {pairs:,} pairs, more than the "
            f"{PAIR_LIMIT:,} that are compared; take fewer values or smaller sizes"
        )


def check_compared(alone: Sequence[Number], datasets: Sequence[Any], metric: Metric) -> None:
    """Raise InputError if nothing is compared at a limit; the message says what to do.

    Parameters
    ----------
    alone : sequence of number
        The limits at which nothing is compared, see `Close`.
    datasets : sequence
        The datasets that are tried.
    metric : Metric
        Their metric.

    Examples
    --------
    >>> from sensitivity_lab.metrics import METRICS
    >>> check_compared([1], [[0, 0], [0, 1]], METRICS["symmetric"])
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: no two datasets of size 2 are neighbors at distance 1: ...
    """
    if not alone:
        return
    told, sizes = "no two of the datasets", list[int]()
    if all(isinstance(x, list | tuple) for x in datasets):
        sizes = sorted({len(x) for x in datasets})
        several = f"the sizes {', '.join(map(str, sizes))}" if sizes[1:] else f"size {sizes[0]}"
        told = f"no two datasets of {several}"
    if sizes and metric.resizes is False:
        way = "give at least two values" if sizes[-1] else "give a size of at least 1"
    else:
        least = _closest(any_distances(metric, datasets), len(datasets))
        way = "give datasets that are closer, or a larger distance"
        if sizes and metric.resizes:
            largest = max(sizes[-1], 1)
            way = f"give size=[{largest - 1}, {largest}]"
            if least and len(sizes) == 1:
                way += f", or a distance of {least} if the size is fixed"
        elif least is not None:
            way = f"the closest are {least} apart, so write distances={least}"
    raise InputError(f"{told} are neighbors at distance {shown(alone[0])}: {way}")


def _closest(near: Distances, number: int) -> int | None:
    """Return the least distance above 0 of some datasets, or None if it is no whole number."""
    apart = [entry for x in range(number - 1) for entry in near.row(x).tolist() if entry > 0]
    least = near.truth(min(apart)) if apart else math.inf
    if not isinstance(least, Difference) or least.root or least.close().denominator > 1:
        return None
    return int(least.close())


def _of_answers(outputs: Metric, kept: Sequence[Answered]) -> Distances:
    """Return the distances of answers, or raise QueryError, which names a dataset if it can."""
    try:
        return any_distances(outputs, [one.answer for one in kept])
    except QueryError:
        for one in kept:
            try:
                any_distances(outputs, [one.answer])
            except QueryError as error:
                told = f"on the dataset {short_literal(one.dataset)}, {error}"
                raise QueryError(told) from None
        raise


def _distinct(answered: Sequence[Answered], inputs: Metric) -> list[Answered]:
    """Return one of the datasets that have the same records and answer, if order is none."""
    if not inputs.unordered:
        return list(answered)
    kept: dict[Hashable, Answered] = {}
    for one in answered:
        records = inputs.form_by(signed_key, records_of(one.dataset))
        kept.setdefault((records, signed_key(plain(one.answer))), one)
    return list(kept.values())
