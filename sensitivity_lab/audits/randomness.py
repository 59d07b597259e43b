"""Whether code is a function: repeated calls on the same inputs, the same calls in every audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics import Metric
from sensitivity_lab.metrics.cells import key_of, multiset
from sensitivity_lab.results.literals import literal, short_literal

from .row import Evidence

RANDOM = (
    'sl.audit(values, function, claim, size=[2, 3], neighbors="symmetric", outputs="symmetric", '
    "choices=400)"
)
"""A whole call for a function that chooses at random."""

PROBES = 2048
"""The largest number of repeated calls, spread over inputs of all sizes."""

REPEATS = 32
"""The largest number of them on one input."""

WITNESS = 256
"""The number of calls on each dataset of the evidence."""

_SPREAD = 2_654_435_761
"""A prime larger than any number of inputs: its multiples visit all inputs, without a pattern."""


class RandomisedError(InputError):
    """Two calls on one dataset returned different answers."""


def try_inputs_again(
    call: Callable[[Any], Any],
    inputs: Sequence[Any],
    answers: Sequence[Any],
    progress: bool | None,
    metric: Metric,
) -> None:
    """Raise InputError if a second call on one of many inputs returns another answer.

    Answers that the `metric` does not tell apart are the same: two orders of a multiset.
    """
    places = list(probes(inputs))
    for place in running.tracked(places, unit="probes", progress=progress):
        _check_same(inputs[place], answers[place], call(inputs[place]), metric)


def try_evidence_again(
    call: Callable[[Any], Any],
    shown: Sequence[Evidence],
    progress: bool | None,
    metric: Metric,
) -> None:
    """Raise InputError if one of many calls on the evidence's datasets returns another answer."""
    datasets = {
        literal(x): (x, answer)
        for seen in shown
        for x, answer in ((seen.x, seen.answer_x), (seen.y, seen.answer_y))
    }
    calls = [*datasets.values()] * WITNESS
    for x, answer in running.tracked(calls, unit="calls on witnesses", progress=progress):
        _check_same(x, answer, call(x), metric)


def probes(inputs: Sequence[Any], most: int | None = None) -> Iterator[int]:
    """Yield the places of the inputs to try again, which are the same in every audit.

    The first pass goes backward, against the order in which the inputs were called. Each size gets
    an equal share of the calls, since code may be random for a few sizes only. Where a size has
    more inputs than calls, the calls are spread over all its inputs.

    Parameters
    ----------
    inputs : sequence
        Lists, by size, or single values.
    most : int, optional
        The largest number of calls; by default `PROBES`.

    Examples
    --------
    >>> Counter(probes([[], [0], [1]])) == {0: 32, 1: 32, 2: 32}
    True
    """
    sizes = [len(x) if isinstance(x, list) else 0 for x in inputs]
    share = (PROBES if most is None else most) // len(set(sizes))
    spread: list[int] = []
    for size, number in sorted(Counter(sizes).items()):
        first = sizes.index(size)
        calls = range(min(share, number * REPEATS))
        # Multiples of a prime modulo the number of inputs: each once before any comes again.
        spread += [first + call * _SPREAD % number for call in calls]
    # Backward first: what code keeps from one call to the next comes from other inputs then.
    backward = sorted(set(spread), reverse=True)
    yield from backward
    left = Counter(spread) - Counter(backward)
    for place in spread:
        if left[place]:
            left[place] -= 1
            yield place


def _check_same(x: Any, before: Any, now: Any, metric: Metric) -> None:
    if key_of(before) == key_of(now):
        return
    if metric.unordered and multiset(before) == multiset(now):
        return
    raise RandomisedError(
        "what is audited must be a function, but it is randomised, or keeps state between calls: "
        f"two calls on {short_literal(x)} returned {short_literal(before)} and "
        f"{short_literal(now)}; an audit needs the part that adds no randomness and keeps nothing, "
        f"or choices=, as in {RANDOM}"
    )
