"""Upper bounds from declarations about a query, checked on every evaluation."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from sensitivity_lab.checks import check_bounds
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import nearest, round_up
from sensitivity_lab.problem import Problem
from sensitivity_lab.universes.multiplicities import Multiplicities, repeated
from sensitivity_lab.universes.relations import Relation, show

from .answers import Answers

_CHECKED = 64
"""On how many random pairs of datasets monotonicity is checked."""


class Upper(NamedTuple):
    """An upper bound of a sensitivity, and its basis."""

    bound: float
    reason: str


UNKNOWN = Upper(math.inf, "nothing is declared that would bound it")


def as_range(value_range: Any) -> tuple[float, float] | None:
    """Return the argument `value_range` as two floats, or raise InputError."""
    ends = check_bounds.or_none("value_range", value_range)
    return None if ends is None else (nearest(Fraction(ends[0])), nearest(Fraction(ends[1])))


def of_range(value_range: tuple[float, float], norm: str, width: int) -> Upper:
    """Return the bound from a declared range: the norm of a vector of that many differences."""
    gap = Fraction(value_range[1]) - Fraction(value_range[0])
    square = {"L1": gap**2 * width**2, "L2": gap**2 * width, "Linf": gap**2}[norm]
    # A float square root can be half a unit below the root.
    root = gap * width if norm == "L1" else gap
    bound = round_up(root) if norm != "L2" else math.nextafter(math.sqrt(square), math.inf)
    return Upper(bound, f"answers are declared to be from {value_range[0]:g} to {value_range[1]:g}")


def of_constant(per_record: Fraction, relation: Relation) -> Upper:
    """Return the bound from a declared change per record, k records apart."""
    return Upper(
        round_up(per_record * relation.k),
        f"one changed record is declared to change the answer by at most {float(per_record):g}",
    )


def of_monotonicity(
    problem: Problem, relation: Relation, answers: Answers, random: np.random.Generator
) -> Upper:
    """Return the bound of a query that never falls when a record rises; a few pairs check that.

    Among datasets of one size, the smallest records have the smallest answer, and the largest
    records the largest.

    Raises
    ------
    InputError
        If two of the datasets that are looked at show that the query is not monotone.
    """
    sizes = sorted(
        {one for size, (i, j) in problem.changes(relation) for one in (size, size - i + j)}
    )
    ends = {size: _ends(problem, size) for size in sizes}
    for size in sizes:
        _check_rising(problem, answers, size, random)
    bound = 0.0
    for size, (removed, added) in problem.changes(relation):
        other = size - removed + added
        for low, high in ((size, other), (other, size)):
            first, last = answers.on([ends[low][0], ends[high][1]])
            bound = max(bound, float(np.abs(last - first).max()))
    return Upper(
        math.nextafter(bound, math.inf),
        "the query is declared monotone, an assumption that was checked on "
        f"{_CHECKED} pairs of each size",
    )


def _ends(problem: Problem, size: int) -> tuple[Multiplicities, Multiplicities]:
    """Return the datasets of the smallest and of the largest records."""
    limits = problem.universe.multiplicities(size)
    before = np.cumsum(limits) - limits
    smallest = np.clip(size - before, 0, limits)
    after = np.cumsum(limits[::-1])[::-1] - limits
    largest = np.clip(size - after, 0, limits)
    return smallest.astype(np.int64), largest.astype(np.int64)


def _check_rising(
    problem: Problem, answers: Answers, size: int, random: np.random.Generator
) -> None:
    """Raise InputError where a dataset whose records are all as large has a smaller answer."""
    limits = problem.universe.multiplicities(size)
    records = repeated(np.arange(len(limits)), limits)
    for _ in range(_CHECKED):
        one, other = (np.sort(random.choice(records, size, replace=False)) for _ in range(2))
        pair = [
            np.bincount(places, minlength=len(limits)).astype(np.int64)
            for places in (np.minimum(one, other), np.maximum(one, other))
        ]
        if any((data > limits).any() for data in pair):
            continue
        below, above = answers.on(pair)
        if (above < below).any():
            x, y = (show(problem.universe.dataset(data)) for data in pair)
            raise InputError(
                f"monotone=True says that {answers.query.name} never falls when records rise, but "
                f"it is {below.tolist()} on {x} and {above.tolist()} on {y}"
            )
