"""The farthest answers of datasets that are close, in any two metrics."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sensitivity_lab.audits.inputs import no_neighbors
from sensitivity_lab.audits.metrics import any_distances
from sensitivity_lab.audits.report import Evidence
from sensitivity_lab.audits.worst_pair import Answered, check_pairs, search
from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.metrics import Distances, Metric
from sensitivity_lab.metrics.cells import signed_key
from sensitivity_lab.results.literals import short_literal

from .records import numbers_of, plain, records_of


@dataclass(frozen=True)
class Found:
    """The largest distance of answers, which can be infinite, and the pair that attains it."""

    truth: Difference | float
    evidence: Evidence


def farthest(
    answered: Sequence[Answered],
    inputs: Metric,
    outputs: Metric,
    limits: Sequence[Number],
    progress: bool | None,
    refuse_alone: bool,
) -> dict[Number, Found]:
    """Return, by limit, the pair of datasets at most that far apart with the farthest answers.

    If no two datasets are that close, the first one is paired with itself, at distance 0 or where
    the datasets are not the caller's choice (`refuse_alone` is False).

    Raises
    ------
    InputError
        If no two different datasets are within a limit above 0, so that nothing is compared.
    TooLargeError
        If there are too many pairs; the message says how many.
    QueryError
        If datasets or answers have no distance.

    Notes
    -----
    Where the input metric ignores order, datasets with the same records and the same answer make
    the same pairs, so one of them is kept. All pairs of the others are measured exactly.
    """
    kept = _distinct(answered, inputs) if inputs.unordered else list(answered)
    check_pairs(len(kept))
    near = _distances(inputs, [one.dataset for one in kept])
    far = _of_answers(outputs, kept)
    one_group = np.zeros(len(kept), dtype=np.int64)
    best, _, alone = search(near, far, limits, one_group, progress)
    if alone and refuse_alone:
        raise no_neighbors([one.dataset for one in kept], inputs, alone[0])

    def pair(limit: Number) -> Found:
        entry, x, y = best.get((limit, 0), (0, 0, 0))
        one, two = kept[x], kept[y]
        evidence = Evidence(one.dataset, two.dataset, one.answer, two.answer)
        return Found(far.truth(entry), evidence)

    return {limit: pair(limit) for limit in limits}


def _of_answers(outputs: Metric, kept: Sequence[Answered]) -> Distances:
    """Return the distances of answers, or raise QueryError, which names a dataset if it can."""
    try:
        return _distances(outputs, [one.answer for one in kept])
    except QueryError:
        for one in kept:
            try:
                _distances(outputs, [one.answer])
            except QueryError as error:
                raise QueryError(f"on the dataset {short_literal(one.dataset)}, {error}") from None
        raise


def _distances(metric: Metric, items: Sequence[Any]) -> Distances:
    """Return the distances of datasets or answers, whatever has records or numbers."""
    if metric.sees == "records":
        items = list(map(records_of, items))
    elif metric.sees == "numbers":
        items = list(map(numbers_of, items))
    return any_distances(metric, items)


def _distinct(answered: Sequence[Answered], inputs: Metric) -> list[Answered]:
    """Return one of the datasets that have the same records and the same answer."""
    kept: dict[Hashable, Answered] = {}
    for one in answered:
        records = inputs.form_by(signed_key, records_of(one.dataset))
        kept.setdefault((records, signed_key(plain(one.answer))), one)
    return list(kept.values())
