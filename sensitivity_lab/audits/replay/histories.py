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

from .runs import Run

SEED = 20_261_122
"""The seed of drawn histories: they are the same in every audit."""

CHOICES = 64
"""So many combinations of what the selections of a run can choose are all fed."""


def check_histories(given: Any) -> int | list[tuple[Any, ...]]:
    """Return the number of histories to draw, or the histories given, or raise InputError."""
    if isinstance(given, int):
        return check_whole("histories", given, "a number of histories to draw, at least 0", 0)
    wrong = "histories must be a number of histories to draw, or lists of releases"
    found = listed(given, wrong)
    if not all(isinstance(one, list | tuple) for one in found):
        raise InputError(f"{wrong}, got {shown(given)}")
    return [tuple(one) for one in found]


def histories_of(wanted: int | list[tuple[Any, ...]], runs: Sequence[Run]) -> list[tuple[Any, ...]]:
    """Return the histories to feed: a number of drawn ones, or those given."""
    if not isinstance(wanted, int):
        return wanted
    source = random.Random(SEED)
    made = [drawn(runs, source) for _ in range(wanted)]
    return made + _all_choices(runs, source) if wanted else made


def _all_choices(runs: Sequence[Run], source: random.Random) -> list[tuple[Any, ...]]:
    """Return histories with every combination of what selections can choose, if these are few.

    What is returned after a choice that no dataset makes by itself would not be seen otherwise.
    """
    start = drawn(runs, source)
    places = [
        place
        for place in range(len(start))
        if any(place < len(run.choices) and run.choices[place] for run in runs)
    ]
    options = [
        {
            whole_key(one): one
            for run in runs
            if place < len(run.choices)
            for one in run.choices[place] or ()
        }
        for place in places
    ]
    if not places or math.prod(map(len, options)) > CHOICES:
        return []
    return [
        tuple(dict(zip(places, chosen, strict=True)).get(at, one) for at, one in enumerate(start))
        for chosen in itertools.product(*(option.values() for option in options))
    ]


def drawn(runs: Sequence[Run], source: random.Random, beyond: int = 0) -> tuple[Any, ...]:
    """Return a history drawn at random, for the steps that all runs make in the same place.

    Parameters
    ----------
    runs : sequence of Run
        The runs on all datasets, each with its true values as releases.
    source : random.Random
        Where randomness comes from.
    beyond : int, default 0
        By how many times the range of the true values a release may leave that range.

    Returns
    -------
    tuple
        Each release lies between the smallest and the largest true value of its step in any run,
        which also a mechanism with truncated noise can release. Where values are not all finite
        numbers, or arrays of one shape, it is one of them. A selection releases what it can choose
        in any run.
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
        releases.append(_between([run.releases[step] for run in reached], source, beyond))
    return tuple(releases)


def _between(values: list[Any], source: random.Random, beyond: int) -> Any:
    """Return a value between the smallest and the largest, of the type of the first one."""
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
    rows = zip(*(array.ravel().tolist() for array in arrays), strict=True)
    entries = [_number_between(min(row), max(row), source, beyond) for row in rows]
    made = np.array(entries, dtype=np.result_type(*arrays)).reshape(shape)
    first = values[0]
    if isinstance(first, np.ndarray):
        return made
    return made[()] if isinstance(first, np.generic) else made.tolist()


def _number_between(low: Any, high: Any, source: random.Random, beyond: int) -> Any:
    """Return a number between two others: a whole one if both are."""
    wider = beyond * max(high - low, 1)
    low, high = low - wider, high + wider
    if isinstance(low, int) and isinstance(high, int):
        return source.randint(low, high)
    number = source.uniform(low, high)
    return number if math.isfinite(number) else high
