"""Probes: code whose noise leaves the algebra of symbols runs with numbers for its draws.

Probes prove nothing. They show what a person would look at first: outcomes that only one of two
neighbors has, whatever the noise.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from sensitivity_lab import running
from sensitivity_lab.audits.returned import Parts, Path, bare

from .draws import Law
from .generator import elsewhere
from .kept import first_calls
from .runs import called
from .stops import OutsideError, stopped

NUMBER = 256
"""How many probes are run on a dataset: the same draws on every dataset."""

_SCALES = (0, 0.5, 1, 3, 10, 1e3, 1e6)
"""How large the noise of probes is, in its scales."""


_FAR, _ENDLESS = 100, 10_000
"""So many draws of a probe are far; after so many the probe ends."""


class Probed:
    """The draws of a probe: a random number for each, the same for all datasets.

    Parameters
    ----------
    number : int
        Of the probe.
    """

    def __init__(self, number: int) -> None:
        self._random = random.Random(number)
        self._scale = _SCALES[number % len(_SCALES)]
        self._draws = 0

    def discrete(self, law: Law) -> int:
        """Return a value of a law."""
        places = range(len(law.weights))
        weights = [float(Fraction(weight, law.denominator)) for weight in law.weights]
        return law.low + self._random.choices(places, weights)[0]

    def uniform(self) -> float:
        """Return a number from 0 to 1."""
        return self._random.random()

    def noise(self, _: str) -> float:
        """Return noise of the probe's scale; later draws are small, so that loops may end."""
        self._draws += 1
        if self._draws > _ENDLESS and not stopped():
            raise OutsideError(f"draws more than {_ENDLESS:,} times in a run")
        scale = self._scale if self._draws <= _FAR else 1
        return scale * self._random.choice((-1, 1)) * (0.5 + self._random.random())


def probes(function: Callable[..., Any], dataset: Any) -> Iterator[Parts]:
    """Yield what a function releases on a dataset, probe by probe."""
    for number in range(NUMBER):
        yield called(function, dataset, Probed(number))


def probe_in_fresh_process(function: Callable[..., Any], dataset: Any) -> list[Parts]:
    """Return the same from a process of its own, where each call is a first one."""
    found: list[Parts] = running.in_fresh_process(_probe_there, function, dataset)
    return found


def _probe_there(function: Callable[..., Any], dataset: Any) -> list[Parts]:
    with elsewhere():
        return list(probes(first_calls(function), dataset))


def ends(released: list[Parts]) -> dict[Path, tuple[Any, Any]]:
    """Return, by where a number stands, the least and the greatest if far noise repeats them.

    A number that two probes of far noise return alike does not carry that noise: it was clipped or
    replaced.
    """
    found = {}
    paths = set.intersection(*(set(one) for one in released))
    for path in paths:
        numbers: list[Any] = [bare(one[path]) for one in released]
        if all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers):
            least, most = min(numbers), max(numbers)
            if least < most and min(numbers.count(least), numbers.count(most)) > 1:
                found[path] = least, most
    return found
