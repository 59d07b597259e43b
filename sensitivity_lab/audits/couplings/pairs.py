"""The neighbors whose outputs cannot be coupled closely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sensitivity_lab import running
from sensitivity_lab.audits.inputs import no_neighbors
from sensitivity_lab.audits.metrics import distances
from sensitivity_lab.errors import QueryError
from sensitivity_lab.metrics import Metric
from sensitivity_lab.metrics.cells import key_of
from sensitivity_lab.results.literals import short_literal

from .distance import exact_distance, sampled_distance
from .outputs import Distribution, Outputs, Source


@dataclass(frozen=True)
class Coupled:
    """The places of two datasets, and the distance of their outputs under the best coupling."""

    x: int
    y: int
    truth: Any


def farthest(
    datasets: Sequence[Any],
    outputs: Outputs,
    metric: Metric,
    limits: Sequence[int],
    enumerated: bool,
    progress: bool | None,
) -> dict[int, Coupled]:
    """Return, by limit, the pair of datasets at most so far apart whose outputs are farthest.

    Raises
    ------
    InputError
        If no two different datasets are within a limit above 0, so that nothing is compared.
    """
    near = distances(metric, datasets)
    bounds = [(limit, near.limit(limit)) for limit in limits]
    measure = exact_distance if enumerated else sampled_distance
    known: dict[tuple[Distribution, Distribution], tuple[int, int]] = {}
    # By limit: the largest distance so far, and its pair; no pair is closer than equal outputs.
    best = dict.fromkeys(limits, (0, 0, 0))
    alone = {limit for limit in limits if limit > 0}
    for x in running.tracked(range(len(datasets) - 1), unit="datasets", progress=progress):
        row = near.row(x)
        for at in np.flatnonzero(row <= bounds[-1][1]).tolist():
            within = [limit for limit, bound in bounds if row[at] <= bound]
            y = x + 1 + at
            if row[at] > 0:
                alone.difference_update(within)
            pair = outputs.distributions[x], outputs.distributions[y]
            least = best[within[0]][0]
            found, above = known.get(pair, (-1, -1))
            if found < 0 or (found <= above and least < above):
                # What is found is exact if it is above `least`, and else a bound.
                found = measure(*pair, outputs.matrix, least)
                known[pair] = found, least
            for limit in within:
                if found > best[limit][0] or best[limit] == (0, 0, 0):
                    best[limit] = found, x, y
    if alone:
        raise no_neighbors(datasets, metric, min(alone))
    return {
        limit: Coupled(x, y, outputs.distances.truth(found))
        for limit, (found, x, y) in best.items()
    }


def check_backward(
    source: Source, datasets: Sequence[Any], made: Sequence[Sequence[Any]], progress: bool | None
) -> None:
    """Call the function again with the same choices, on the datasets and choices in reverse order.

    What a function keeps from one call to the next comes from other calls then.

    Raises
    ------
    QueryError
        If the same choice leads to another output.
    """
    if source.choices is None:
        return
    places = range(len(datasets) - 1, -1, -1)
    for place in running.tracked(places, unit="datasets backward", progress=progress):
        _check_same(datasets[place], made[place], source.outputs(datasets[place], backward=True))


def _check_same(x: Any, before: Sequence[Any], now: Sequence[Any]) -> None:
    if key_of(now) != key_of(before):
        raise QueryError(
            f"two calls on {short_literal(x)} with the same choices differ; the choices must be "
            "all that is random, and nothing may be kept from one call to the next"
        )


def check_again(
    source: Source,
    pair: Coupled,
    datasets: Sequence[Any],
    made: Sequence[Sequence[Any]],
    gather: Callable[[Sequence[Sequence[Any]]], Outputs],
    verdict: str,
) -> Any:
    """Call the function on a pair again.

    Returns
    -------
    Difference, math.inf or None
        The distance of the outputs that are drawn anew, where a sample violates a claim; None where
        nothing has to be drawn anew.

    Raises
    ------
    QueryError
        If the same choice leads to another output.
    """
    if source.choices is not None:
        for place in {pair.x, pair.y}:
            _check_same(datasets[place], made[place], source.outputs(datasets[place]))
        return None
    if verdict != "violated":
        return None
    drawn = gather([source.outputs(datasets[place]) for place in (pair.x, pair.y)])
    x, y = drawn.distributions
    found = sampled_distance(x, y, drawn.matrix, 0)
    return drawn.distances.truth(found)
