"""The worst pair of an audit: datasets that are close, with answers that are far apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab import running
from sensitivity_lab.checks import unboxed
from sensitivity_lab.errors import QueryError, TooLargeError
from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.metrics import METRICS, Distances, Metric
from sensitivity_lab.metrics.cells import signed_key
from sensitivity_lab.metrics.vectors import rational
from sensitivity_lab.results.literals import short_literal
from sensitivity_lab.search.pairs import Farthest

from .inputs import no_neighbors
from .metrics import distances, entries
from .report import Evidence

PAIR_LIMIT = 200_000_000
"""The largest number of pairs of datasets that are compared, which takes about a minute."""


@dataclass(frozen=True)
class Answered:
    """A dataset, the answer of the audited code, and the group of the claim on the dataset."""

    dataset: Any
    answer: Any
    group: int = 0


@dataclass(frozen=True)
class WorstPair:
    """The largest distance of answers, and the pair that attains it, with both groups."""

    truth: Difference
    evidence: Evidence
    groups: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class WorstPairs:
    """The result of a search among datasets that are close to each other.

    Attributes
    ----------
    farthest : dict
        By (limit, group), the pair with the answers farthest apart. A pair belongs to the smaller
        of its two groups.
    divided : dict
        By (limit, group), the pair whose other group is largest; only pairs with two groups count.
    """

    farthest: dict[tuple[int, int], WorstPair]
    divided: dict[tuple[int, int], WorstPair]


def worst_pairs(
    answered: Sequence[Answered],
    inputs: str | Metric,
    outputs: str,
    limits: Sequence[int],
    progress: bool | None = False,
) -> WorstPairs:
    """Find, among datasets close to each other, those whose answers are farthest apart.

    Parameters
    ----------
    answered : sequence of Answered
        Every dataset once; their order decides between equally bad pairs of a group.
    inputs, outputs : str
        The names of the metrics on datasets and on answers, from `metrics.METRICS`; `inputs` can be
        a metric.
    limits : sequence of int
        The largest distances of datasets; there is a search for each.
    progress : bool, optional
        Whether to show a progress bar; see `running.run`.

    Returns
    -------
    WorstPairs
        Only groups with a pair within the limit are included. At distance 0, if no group has one,
        the first dataset is paired with itself.

    Raises
    ------
    InputError
        If no two different datasets are within a limit above 0, so that nothing is compared.
    TooLargeError
        If there are more than `PAIR_LIMIT` pairs; the message says how many.
    QueryError
        If two answers have no distance.

    Notes
    -----
    Where the input metric ignores order, only one of the datasets with the same records and the
    same answer is kept; if answers are numbers, only the two datasets with the extreme answers are
    kept among those with the same records. All pairs of the remaining datasets are measured
    exactly, one row of the distance matrix at a time. Datasets are sorted by group, so all pairs of
    a row belong to the group of its dataset.
    """
    near_metric = METRICS[inputs] if isinstance(inputs, str) else inputs
    far_metric = METRICS[outputs]
    if far_metric.sees == "numbers":
        _check_numbers(answered)
    kept = sorted(_representatives(answered, near_metric, outputs), key=lambda one: one.group)
    check_pairs(len(kept))
    places = {id(one): place for place, one in enumerate(answered)}
    groups = np.array([one.group for one in kept], dtype=np.int64)
    near = distances(near_metric, [one.dataset for one in kept])
    far = distances(far_metric, [one.answer for one in kept])
    best, divided, alone = search(near, far, limits, groups, progress)
    if alone and outputs != "discrete":  # what is returned is compared among some of the datasets
        raise no_neighbors([one.dataset for one in kept], near_metric, alone[0])
    for limit in set(limits) - {limit for limit, _ in best}:
        best[limit, kept[0].group] = 0, 0, 0

    def pair(entry: int, x: int, y: int) -> WorstPair:
        one, two = sorted((kept[x], kept[y]), key=lambda dataset: places[id(dataset)])
        evidence = Evidence(one.dataset, two.dataset, one.answer, two.answer)
        truth = far.truth(entry)
        if isinstance(truth, float):
            raise QueryError("two answers have different sizes, and so no distance in this metric")
        return WorstPair(truth, evidence, (one.group, two.group))

    return WorstPairs(
        {key: pair(*found) for key, found in best.items()},
        {key: pair(*found) for key, found in divided.items()},
    )


def check_pairs(number: int) -> None:
    """Raise TooLargeError if this number of datasets makes too many pairs."""
    pairs = number * (number - 1) // 2
    if pairs > PAIR_LIMIT:
        raise TooLargeError(
            f"{number:,} datasets with answers of their own make {pairs:,} pairs, more than the "
            f"{PAIR_LIMIT:,} that are compared; take fewer values or smaller sizes"
        )


def _check_numbers(answered: Sequence[Answered]) -> None:
    """Raise QueryError, which names the dataset, unless all answers are finite numbers."""
    for one in answered:
        try:
            for entry in entries(one.answer):
                rational(entry)
        except QueryError as error:
            raise QueryError(f"on the dataset {short_literal(one.dataset)}, {error}") from None


def _representatives(
    answered: Sequence[Answered], inputs: Metric, outputs: str
) -> Sequence[Answered]:
    """Return the datasets without those that cannot make a worse pair than the others."""
    if not inputs.unordered:
        return answered
    alike: dict[Hashable, dict[Hashable, Answered]] = {}
    for one in answered:
        records = inputs.form_by(signed_key, one.dataset)
        alike.setdefault((records, one.group), {}).setdefault(signed_key(one.answer), one)
    if outputs != "absolute":
        return [one for same in alike.values() for one in same.values()]
    kept = []
    for same in alike.values():
        ordered = sorted(same.values(), key=lambda one: rational(one.answer))
        kept += [ordered[0], ordered[-1]] if len(ordered) > 1 else ordered
    return kept


_Found = dict[tuple[Any, int], tuple[Any, int, int]]
"""By (limit, group): the entry of the answers' distance, the place of x, the place of y."""


def search(
    near: Distances,
    far: Distances,
    limits: Sequence[Number],
    groups: NDArray[np.int64],
    progress: bool | None,
) -> tuple[_Found, _Found, list[Number]]:
    """Return the pairs farthest apart, those with the largest second group, and limits without any.

    A limit above 0 has no pair if the datasets within it are all at distance 0 from each other.

    `groups` ascend, so the last dataset within the limit has the largest group.
    """
    best: defaultdict[tuple[Any, int], Farthest] = defaultdict(Farthest)
    divided: _Found = {}
    bounds = [(limit, near.limit(limit)) for limit in limits]
    alone = [limit for limit in limits if limit > 0]
    for x in running.tracked(range(len(groups) - 1), unit="datasets", progress=progress):
        inputs, outputs = near.row(x), far.row(x)
        group = int(groups[x])
        for limit, bound in bounds:
            within = np.flatnonzero(inputs <= bound)
            if not len(within):
                continue
            if alone and limit in alone and (inputs[within] > 0).any():
                alone.remove(limit)
            key = limit, group
            best[key].see(outputs[within], [x], within + (x + 1))
            at = int(within[-1])
            other = int(groups[x + 1 + at])
            if other > group and (key not in divided or other > groups[divided[key][2]]):
                divided[key] = unboxed(outputs[at]), x, x + 1 + at
    return {key: (one.gap, one.x, one.y) for key, one in best.items()}, divided, alone
