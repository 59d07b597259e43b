"""Pairs from which a local search starts: at the ends, in clusters, at random, and worst cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.errors import SensitivityLabError
from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import as_query
from sensitivity_lab.search import choose
from sensitivity_lab.search.engine import Options
from sensitivity_lab.search.run import Run
from sensitivity_lab.universes.multiplicities import Multiplicities, repeated
from sensitivity_lab.universes.relations import Relation

from .pairs import Pair, Shape

_QUICK = ("mean", "sum", "median", "min", "max", "trimmed_mean_10", "count_distinct")

_FEW = 250

WORST_CASES = {
    **dict.fromkeys(_QUICK, 10**7),
    **dict.fromkeys([f"percentile_{q}" for q in (10, 25, 75, 90)], 10**7),
    **dict.fromkeys(("var", "std"), 10**6),
    **dict.fromkeys(("range", "midrange", "iqr", "winsorized_mean_10"), _FEW),
    "gini_mean_difference": _FEW,
}
"""Queries whose worst pairs are starts, and for how many records of the universe at most.

An engine finds each without listing datasets, in less than a few tenths of a second.
"""

Places = NDArray[np.intp]

_ENGINES = ("monotone", "variance", "ranks", "multiplicities")


def worst_cases(problem: Problem, relation: Relation) -> Iterator[tuple[Shape, Pair]]:
    """Yield the worst pairs of built-in queries; for numbers only."""
    if not problem.universe.numeric:
        return
    records = int(problem.universe.multiplicities(problem.largest).sum())
    for name, most in WORST_CASES.items():
        if records > most:
            continue
        try:
            asked = problem.only([as_query(name)], [relation]).checked()
            # Of few records, less memory also means less time.
            limit = 2**26 if most <= _FEW else 2**30
            chosen = choose(asked, "auto", Options(run=Run(memory_limit=limit)))
            if chosen.engine.name not in _ENGINES:
                continue
            ((found,),) = chosen.solve()
        except SensitivityLabError:
            continue
        if min(found.x.sum(), found.y.sum()) < problem.least:
            continue  # that query has an answer for fewer records than the one that is asked
        core = np.minimum(found.x, found.y)
        pair = Pair(core, found.x - core, found.y - core)
        yield _shape_of(pair, relation), pair


def _shape_of(pair: Pair, relation: Relation) -> Shape:
    core, only_x, only_y = (int(part.sum()) for part in (pair.core, pair.only_x, pair.only_y))
    return Shape(core, only_x, only_y, relation.exactly and only_x > 0 and only_y > 0)


def starts(limits: Multiplicities, shape: Shape, random: np.random.Generator) -> Iterator[Pair]:
    """Yield pairs of a shape without end: first those at the ends, then random patterns and pairs.

    Every value stands in the sorted records as often as a pair can use it.
    """
    records = repeated(np.arange(len(limits)), np.minimum(limits, _most(shape)))
    parts = (shape.core, shape.only_x, shape.only_y)
    ends = ((1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (0, 1, 2), (2, 1, 0))
    for order in ends:
        yield from _laid_out(records, parts, order, len(limits))
    while True:
        if random.random() < 0.75:
            places = _pattern(len(records), parts, random)
        else:
            places = random.permutation(len(records))[: sum(parts)]
        given = np.split(records[places], np.cumsum(parts[:-1]))
        yield Pair(*(np.bincount(of, minlength=len(limits)).astype(np.int64) for of in given))


def _pattern(number: int, parts: Sequence[int], random: np.random.Generator) -> Places:
    """Return places of C, A and B, one part after the other, of a random pattern.

    Along the sorted records every part is one to three blocks, and so are the records outside; the
    worst pairs of the engines without a list are of such patterns.
    """
    lengths = [*parts, number - sum(parts)]
    blocks = [
        (part, length)
        for part, total in enumerate(lengths)
        for length in _blocks(total, int(random.integers(1, 4)), random)
    ]
    taken: list[list[Places]] = [[], [], [], []]
    first = 0
    for at in random.permutation(len(blocks)):
        part, length = blocks[at]
        taken[part].append(np.arange(first, first + length))
        first += length
    return np.concatenate([one for of_part in taken[:3] for one in of_part]).astype(np.intp)


def _blocks(total: int, number: int, random: np.random.Generator) -> list[int]:
    """Return so many lengths that add up to a total."""
    cuts = np.sort(random.integers(0, total + 1, number - 1))
    return [int(length) for length in np.diff([0, *cuts, total])]


def _most(shape: Shape) -> int:
    return shape.core + shape.only_x + shape.only_y


def _laid_out(
    records: Places,
    parts: Sequence[int],
    order: Sequence[int],
    values: int,
) -> Iterator[Pair]:
    """Yield the pair whose parts are stretches in an order, the last of them at the end."""
    if len(records) < sum(parts):
        return
    given: dict[int, Multiplicities] = {}
    first = 0
    for at, part in enumerate(order):
        stretch = records[first : first + parts[part]]
        if at == 2:
            stretch = records[len(records) - parts[part] :]
        given[part] = np.bincount(stretch, minlength=values).astype(np.int64)
        first += parts[part]
    yield Pair(given[0], given[1], given[2])
