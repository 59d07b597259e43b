"""Is code a function? Calls on the same inputs again, the same calls in every audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sensitivity_lab import _parallel
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.keys import key_of
from sensitivity_lab.results.literals import literal, short_literal

from .report import Evidence

PROBES = 2048
"""At most so many calls are spread over inputs of all sizes."""

REPEATS = 32
"""At most so many of them are on one input."""

WITNESS = 256
"""So many calls are on each dataset of the evidence."""

_SPREAD = 2_654_435_761
"""A prime larger than any number of inputs: its multiples visit all of them, in no pattern."""


def try_inputs_again(
    call: Callable[[Any], Any],
    inputs: Sequence[Any],
    answers: Sequence[Any],
    progress: bool | None,
) -> None:
    """Raise InputError if another call on one of many inputs has another answer."""
    places = list(probes(inputs))
    for place in _parallel.tracked(places, unit="probes", progress=progress):
        _check_same(inputs[place], answers[place], call(inputs[place]))


def try_evidence_again(
    call: Callable[[Any], Any], shown: Sequence[Evidence], progress: bool | None
) -> None:
    """Raise InputError if one of many calls on a dataset of the evidence has another answer."""
    datasets = {
        literal(x): (x, answer)
        for seen in shown
        for x, answer in ((seen.x, seen.answer_x), (seen.y, seen.answer_y))
    }
    calls = [*datasets.values()] * WITNESS
    for x, answer in _parallel.tracked(calls, unit="calls on witnesses", progress=progress):
        _check_same(x, answer, call(x))


def probes(inputs: Sequence[Any]) -> Iterator[int]:
    """Yield the places of the inputs to try again, the same ones whenever it is asked.

    Each size has an equal share of the calls, since what is random may be so for few sizes only.
    Where a size has more inputs than calls, they are taken from all over.

    Parameters
    ----------
    inputs : sequence
        Lists, by size, or single values.

    Examples
    --------
    >>> Counter(probes([[], [0], [1]])) == {0: 32, 1: 32, 2: 32}
    True
    """
    sizes = [len(x) if isinstance(x, list) else 0 for x in inputs]
    share = PROBES // len(set(sizes))
    for size, number in sorted(Counter(sizes).items()):
        first = sizes.index(size)
        for call in range(min(share, number * REPEATS)):
            yield first + call * _SPREAD % number


def _check_same(x: Any, before: Any, now: Any) -> None:
    if key_of(before) != key_of(now):
        raise InputError(
            "transformation must be a function, but it is randomised: two calls on "
            f"{short_literal(x)} returned {short_literal(before)} and {short_literal(now)}; an "
            "audit needs the part that adds no randomness"
        )
