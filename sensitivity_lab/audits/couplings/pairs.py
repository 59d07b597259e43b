"""The neighbors whose outputs cannot be coupled closely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sensitivity_lab import running
from sensitivity_lab.audits.question import Question
from sensitivity_lab.errors import QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics.cells import key_of
from sensitivity_lab.results.literals import short_literal
from sensitivity_lab.search.farthest import Farthest

from .distance import exact_distance, sampled_distance
from .outputs import Distribution, Outputs, Source


@dataclass(frozen=True)
class Coupled:
    """The places of two datasets, and the distance of their outputs under the best coupling."""

    x: int
    y: int
    truth: Any


def farthest(question: Question, outputs: Outputs, enumerated: bool) -> dict[Number, Coupled]:
    """Return, by limit, the pair of datasets at most so far apart whose outputs are farthest.

    Raises
    ------
    InputError
        If no two different datasets are within a limit above 0, so that nothing is compared.
    """
    measure = exact_distance if enumerated else sampled_distance
    known: dict[tuple[Distribution, Distribution], tuple[int, int]] = {}

    def gap(x: int, y: int, least: int) -> int:
        """Return how far apart two datasets' outputs are, or a bound that is at most `least`."""
        pair = outputs.distributions[x], outputs.distributions[y]
        found, above = known.get(pair, (-1, -1))
        if found < 0 or (found <= above and least < above):
            # What is found is exact if it is above `least`, and else a bound.
            found = measure(*pair, outputs.matrix, least)
            known[pair] = found, least
        return found

    best = {limit: Farthest() for limit in question.limits}
    for x, y, limits in question.neighbors(question.progress):
        for limit in limits:
            best[limit].see(np.array([gap(x, y, best[limit].gap or 0)]), [x], [y])
    return {
        limit: Coupled(one.x, one.y, outputs.distances.truth(one.gap or 0))
        for limit, one in best.items()
    }


def check_backward(
    source: Source, datasets: Sequence[Any], made: Sequence[Sequence[Any]], progress: bool | None
) -> None:
    """Call the function again with the same choices, on the datasets and choices in reverse order.

    If a function keeps state between calls, that state then comes from other calls.

    Raises
    ------
    QueryError
        If the same choice leads to another output.
    """
    if source.choices is None:
        return
    places = range(len(datasets) - 1, -1, -1)
    for place in running.tracked(places, unit="datasets backward", progress=progress):
        _check_same_outputs(
            datasets[place], made[place], source.outputs(datasets[place], backward=True)
        )


def _check_same_outputs(x: Any, before: Sequence[Any], now: Sequence[Any]) -> None:
    if key_of(now) != key_of(before):
        raise QueryError(
            f"two calls on {short_literal(x)} with the same choices differ; the choices must cover "
            "all randomness, and the function must keep no state between calls"
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
        The distance of newly drawn outputs, if a sample violates a claim; None if no new draws are
        needed.

    Raises
    ------
    QueryError
        If the same choice leads to another output.
    """
    if source.choices is not None:
        for place in {pair.x, pair.y}:
            _check_same_outputs(datasets[place], made[place], source.outputs(datasets[place]))
        return None
    if verdict != "violated":
        return None
    drawn = gather([source.outputs(datasets[place]) for place in (pair.x, pair.y)])
    x, y = drawn.distributions
    found = sampled_distance(x, y, drawn.matrix, 0)
    return drawn.distances.truth(found)
