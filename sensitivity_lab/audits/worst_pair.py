"""The worst pair of an audit: datasets that are close, with answers that are far apart."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab import _parallel
from sensitivity_lab.errors import QueryError, TooLargeError
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.exact.keys import key_of, multiset
from sensitivity_lab.results.literals import short_literal

from .metrics import NUMERIC, ORDER_IGNORED, Distances, distances, entries, exact
from .report import Evidence

PAIR_LIMIT = 200_000_000
"""At most so many pairs of datasets are compared, which takes about a minute."""


@dataclass(frozen=True)
class Answered:
    """A dataset, what the audited code answered, and the group of the answer's claim."""

    dataset: Any
    answer: Any
    group: int = 0


@dataclass(frozen=True)
class WorstPair:
    """How far apart answers are at most, and the pair that shows it, with the groups of both."""

    truth: Difference
    evidence: Evidence
    groups: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class WorstPairs:
    """What a search among datasets close to each other finds.

    Attributes
    ----------
    farthest : dict
        By (limit, group) the pair with the answers farthest apart, where a pair belongs to the
        smaller group of its two.
    divided : dict
        By (limit, group) the pair whose other group is the largest, where that is larger.
    """

    farthest: dict[tuple[int, int], WorstPair]
    divided: dict[tuple[int, int], WorstPair]


def worst_pairs(
    answered: Sequence[Answered],
    inputs: str,
    outputs: str,
    limits: Sequence[int],
    progress: bool | None = False,
) -> WorstPairs:
    """Find, among datasets close to each other, those whose answers are farthest apart.

    Parameters
    ----------
    answered : sequence of Answered
        Every dataset once, in the order in which ties are decided.
    inputs, outputs : str
        The names of the metrics on datasets and on answers, from `distances.METRICS`.
    limits : sequence of int
        Pairs at an input distance of at most each of these are searched.
    progress : bool, optional
        Whether to show a progress bar; see `_parallel.run`.

    Returns
    -------
    WorstPairs
        Only groups that have a pair within the limit are there. If none has, the first dataset is
        paired with itself.

    Raises
    ------
    TooLargeError
        If there are more than `PAIR_LIMIT` pairs; says the numbers.
    QueryError
        If two answers have no distance.

    Notes
    -----
    Where the input metric ignores order, datasets with the same records and the same answer are
    taken once, and of those with the same records and different numbers only the two extremes. All
    pairs of what is left are measured, exactly, a row of the matrix at a time. Datasets are sorted
    by group, so that a row's pairs all belong to the group of its dataset.
    """
    if outputs in NUMERIC:
        _check_numbers(answered)
    kept = sorted(_representatives(answered, inputs, outputs), key=lambda one: one.group)
    check_pairs(len(kept))
    places = {id(one): place for place, one in enumerate(answered)}
    groups = np.array([one.group for one in kept], dtype=np.int64)
    near = distances(inputs, [one.dataset for one in kept])
    far = distances(outputs, [one.answer for one in kept])
    best, divided = _search(near, far, limits, groups, progress)
    for limit in set(limits) - {limit for limit, _ in best}:
        best[limit, kept[0].group] = 0, 0, 0

    def pair(entry: int, x: int, y: int) -> WorstPair:
        one, two = sorted((kept[x], kept[y]), key=lambda dataset: places[id(dataset)])
        evidence = Evidence(one.dataset, two.dataset, one.answer, two.answer)
        return WorstPair(far.difference(entry), evidence, (one.group, two.group))

    return WorstPairs(
        {key: pair(*found) for key, found in best.items()},
        {key: pair(*found) for key, found in divided.items()},
    )


def check_pairs(number: int) -> None:
    """Raise TooLargeError if so many datasets make more pairs than are compared."""
    pairs = number * (number - 1) // 2
    if pairs > PAIR_LIMIT:
        raise TooLargeError(
            f"{number:,} datasets with answers of their own make {pairs:,} pairs, more than the "
            f"{PAIR_LIMIT:,} that are compared; take fewer values or smaller sizes"
        )


def _check_numbers(answered: Sequence[Answered]) -> None:
    """Raise QueryError if an answer is not made of finite numbers; names the dataset."""
    for one in answered:
        try:
            for entry in entries(one.answer):
                exact(entry)
        except QueryError as error:
            raise QueryError(f"on the dataset {short_literal(one.dataset)}, {error}") from None


def _representatives(answered: Sequence[Answered], inputs: str, outputs: str) -> Sequence[Answered]:
    """Leave out what cannot make a worse pair than what is kept."""
    if inputs not in ORDER_IGNORED:
        return answered
    alike: dict[Hashable, dict[Hashable, Answered]] = {}
    for one in answered:
        records = frozenset(multiset(one.dataset).items())
        alike.setdefault((records, one.group), {}).setdefault(key_of(one.answer), one)
    if outputs != "absolute":
        return [one for same in alike.values() for one in same.values()]
    kept = []
    for same in alike.values():
        ordered = sorted(same.values(), key=lambda one: exact(one.answer))
        kept += [ordered[0], ordered[-1]] if len(ordered) > 1 else ordered
    return kept


_Found = dict[tuple[int, int], tuple[int, int, int]]
"""By (limit, group): a row entry of the answers' distance, place of x, place of y."""


def _search(
    near: Distances,
    far: Distances,
    limits: Sequence[int],
    groups: NDArray[np.int64],
    progress: bool | None,
) -> tuple[_Found, _Found]:
    """Return the pairs farthest apart, and those with the largest second group; groups ascend."""
    best: _Found = {}
    divided: _Found = {}
    bounds = [(limit, near.limit(limit)) for limit in limits]
    for x in _parallel.tracked(range(len(groups) - 1), unit="datasets", progress=progress):
        inputs, outputs = near.row(x), far.row(x)
        group = int(groups[x])
        for limit, bound in bounds:
            within = np.flatnonzero(inputs <= bound)
            if not len(within):
                continue
            key = limit, group
            at = int(within[np.argmax(outputs[within])])
            if key not in best or outputs[at] > best[key][0]:
                best[key] = int(outputs[at]), x, x + 1 + at
            at = int(within[-1])
            other = int(groups[x + 1 + at])
            if other > group and (key not in divided or other > groups[divided[key][2]]):
                divided[key] = int(outputs[at]), x, x + 1 + at
    return best, divided
