"""Histories: the releases that are fed to a run."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from sensitivity_lab.audits.returned import whole_key
from sensitivity_lab.checks import check_whole, listed, shown
from sensitivity_lab.errors import InputError

from .runs import Run, Step

SEED = 20_261_122
"""The seed of drawn histories: they are the same in every audit."""

CHOICES = 64
"""So many combinations of what the selections of a run can choose are all fed."""

_RUNS, LEAST, MOST, SECONDS = 4_000, 16, 1_000, 10.0
"""About so many runs are fed drawn histories, the fewest and the most of these, and the CPU time
after which no more than the fewest are fed."""

_FIRST = ("between", "zero", "above", "below")
_LATER = ("near", "near", "near", "between", "zero", "above", "below")
"""What a drawn release is: by the number of its history, and drawn from then on."""

_FAR, _NEAR_0 = (0.5, 2.0), 0.01
"""How far out the tails are, as powers of 10, and how near 0 a release is; in scales."""


def drawn_around(center: float, width: float, kind: str, source: random.Random) -> float:
    """Return a number as noise around another one gives it: near, near 0, or far out.

    Parameters
    ----------
    center, width : float
        The other number, and the scale of the noise.
    kind : {"near", "zero", "above", "below"}
        Where to draw it.
    source : random.Random
        Where randomness comes from.
    """
    if kind == "zero":  # no release of continuous noise is 0 itself
        return width * source.uniform(-_NEAR_0, _NEAR_0)
    if kind == "near":
        return center + width * source.choice((-1, 1)) * source.expovariate(1)
    sign = {"above": 1, "below": -1}[kind]
    return center + sign * width * 10 ** source.uniform(*_FAR)


Histories = int | list[tuple[Any, ...]] | None
"""A number of histories to draw, or histories that were given; or None."""


def check_histories(given: Any) -> Histories:
    """Return the number of histories to draw, or the histories given, or raise InputError."""
    if given is None:
        return None
    if isinstance(given, int):
        return check_whole("histories", given, "a number of histories to draw, at least 0", 0)
    wrong = "histories must be a number of histories to draw, or lists of releases"
    found = listed(given, wrong)
    if not all(isinstance(one, list | tuple) for one in found):
        raise InputError(f"{wrong}, got {shown(given)}")
    return [tuple(one) for one in found]


def number_of(wanted: Histories, runs: Sequence[Run]) -> int | None:
    """Return how many histories to draw: as many as wanted, or as few datasets allow."""
    if wanted is None:
        # Runs of several steps are made twice, and compared step by step.
        cost = len(runs) * (4 if max(len(run.sites) for run in runs) > 1 else 1)
        return min(max(_RUNS // cost, LEAST), MOST)
    return wanted if isinstance(wanted, int) else None


def histories_of(wanted: Histories, runs: Sequence[Run]) -> list[tuple[Any, ...]]:
    """Return the histories to feed: a number of drawn ones, or those given."""
    number = number_of(wanted, runs)
    if not isinstance(number, int):
        return list(wanted or ())  # type: ignore[arg-type]
    source = random.Random(SEED)
    made = [drawn(runs, source, place) for place in range(number)]
    if not number:
        return made
    start = drawn(runs, source, 0)
    return made + [
        tuple(chosen.get(at, one) for at, one in enumerate(start))
        for chosen in all_choices(runs) or ()
        if chosen
    ]


def all_choices(runs: Sequence[Run]) -> list[dict[int, Any]] | None:
    """Return every combination of what selections can choose, by step; None if these are many.

    What is returned after a choice that no dataset makes by itself would not be seen otherwise.
    """
    steps = max((len(run.choices) for run in runs), default=0)
    options = {
        place: {
            whole_key(one): one
            for run in runs
            if place < len(run.choices)
            for one in run.choices[place] or ()
        }
        for place in range(steps)
    }
    options = {place: option for place, option in options.items() if option}
    if math.prod(map(len, options.values())) > CHOICES:
        return None
    return [
        dict(zip(options, chosen, strict=True))
        for chosen in itertools.product(*(option.values() for option in options.values()))
    ]


def drawn(runs: Sequence[Run], source: random.Random, number: int) -> tuple[Any, ...]:
    """Return a history drawn at random, for the steps that all runs make in the same place.

    Parameters
    ----------
    runs : sequence of Run
        The runs on all datasets, each with its true values as releases.
    source : random.Random
        Where randomness comes from.
    number : int
        The number of the history: the first one lies between the true values of each step, the
        second one is 0, and the next two are far out to either side.

    Returns
    -------
    tuple
        By step, a number as the noise could give it: around the true value on one of the datasets,
        or in its tails. Where values are not all finite numbers, or arrays of one shape, it is one
        of them. A selection releases what it can choose in any run.
    """
    releases: list[Any] = []
    for step in range(max((len(run.releases) for run in runs), default=0)):
        reached = [run for run in runs if step < len(run.releases)]
        # From here on runs make other calls, which are no steps to compare.
        if len({run.sites[step] for run in reached}) > 1:
            break
        choices = [one for run in reached for one in run.choices[step] or ()]
        if choices:
            releases.append(source.choice(choices))
            continue
        values = [run.releases[step] for run in reached]
        one = source.choice(reached)
        releases.append(_drawn(values, one.steps[step], _width(one, step), source, number))
    return tuple(releases)


def _width(run: Run, step: int) -> float:
    """Return the scale of noise at a step: its claim over its epsilon, if both are known."""
    try:
        epsilon = run.steps[step].epsilon or run.seen[step] or 1
        width = float(run.steps[step].claim) / float(epsilon)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        return 1.0
    return width if 0 < width < math.inf else 1.0


def _drawn(values: list[Any], step: Step, width: float, source: random.Random, number: int) -> Any:
    """Return a value as noise around one of some values gives it, of the type of the first one."""
    try:
        arrays = [np.asarray(value) for value in values]
        shape = arrays[0].shape
        plain = all(
            array.shape == shape and array.dtype.kind in "iuf" and np.isfinite(array).all()
            for array in arrays
        )
    except (TypeError, ValueError):
        plain = False
    if not plain:
        return source.choice(values)
    rows = np.array([array.ravel() for array in arrays])
    center = rows[source.randrange(len(rows))].astype(float)
    kind = _FIRST[number] if number < len(_FIRST) else source.choice(_LATER)
    if kind == "between":
        entries = [
            source.uniform(low, high) for low, high in zip(rows.min(0), rows.max(0), strict=True)
        ]
    else:
        entries = [drawn_around(one, width, kind, source) for one in center]
    low, high = (end if isinstance(end, int | float) else None for end in step.ends)
    dtype = np.result_type(*arrays)
    # Whole numbers may have whole noise, or noise that is no whole number.
    whole = dtype.kind in "iu" and (number % 2 == 0 if step.whole is None else step.whole)
    if whole:
        limits = np.iinfo(dtype)
        low = limits.min if low is None else math.ceil(max(limits.min, low))
        high = limits.max if high is None else math.floor(min(limits.max, high))
        made = np.clip(np.rint(entries), low, high).astype(dtype).reshape(shape)
    else:
        entries = [_off_the_ends(one, low, high, width, source) for one in entries]
        made = np.array(entries, dtype if dtype.kind == "f" else float).reshape(shape)
    first = values[0]
    if isinstance(first, np.ndarray):
        return made
    return made[()] if isinstance(first, np.generic) else made.tolist()


def _off_the_ends(number: float, low: Any, high: Any, width: float, source: random.Random) -> float:
    """Return a number between two ends, where there are any: another one for one beyond."""
    if low is not None and number <= low:
        number = low + width * source.expovariate(1)
    elif high is not None and number >= high:
        number = high - width * source.expovariate(1)
    inside = (low is None or low < number) and (high is None or number < high)
    return number if inside else source.uniform(low, high)
