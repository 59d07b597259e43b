"""The pair search of all audits: datasets that are close, with answers that are far apart."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab import running
from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.metrics import Distances, Metric
from sensitivity_lab.metrics.cells import signed_key
from sensitivity_lab.results.literals import short_literal
from sensitivity_lab.search.farthest import Farthest

from .records import any_distances, plain, records_of
from .row import Evidence

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
    if not all(isinstance(x, list | tuple) for x in datasets):
        told, sizes = "no two of the datasets", []
    else:
        sizes = sorted({len(x) for x in datasets})
        several = (
            f"the sizes {', '.join(map(str, sizes))}" if len(sizes) > 1 else f"size {sizes[0]}"
        )
        told = f"no two datasets of {several}"
    least = None
    if not (sizes and metric.resizes is False):
        least = _closest(any_distances(metric, datasets), len(datasets))
    way = "give datasets that are closer, or a larger distance"
    if sizes and metric.resizes:
        largest = max(sizes[-1], 1)
        way = f"give size=[{largest - 1}, {largest}]"
        way += (
            f", or a distance of {least} if the size is fixed" if least and len(sizes) == 1 else ""
        )
    elif sizes and metric.resizes is False:
        way = "give at least two values" if sizes[-1] else "give a size of at least 1"
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
