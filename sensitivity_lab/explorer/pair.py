"""The witness and the universe for a page: counts, texts and places, not all records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.results.literals import SHOWN, plain
from sensitivity_lab.results.roles import Block, blocks_of
from sensitivity_lab.results.sensitivity import Sensitivity
from sensitivity_lab.results.witness import Unlisted, Witness
from sensitivity_lab.universes.finite import AnyUniverse, finite
from sensitivity_lab.universes.interval import IntervalUniverse
from sensitivity_lab.universes.multiplicities import Multiplicities
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.relations import multiplicities_of

MOST_BLOCKS = 60
"""The most blocks of a strip that is drawn."""

_TICKS = 200
"""The most records marked on an axis."""


@dataclass(frozen=True)
class Pair:
    """The witness in short.

    Attributes
    ----------
    x, y : tuple of str
        The records, ascending; if there are many, the first and the last with "…" between.
    only_x, only_y : tuple of str
        The records that only one of them has.
    size_x, size_y, shared : int
        The number of records in x, in y, and in both.
    answer_x, answer_y : float
        The query's answers.
    """

    x: tuple[str, ...]
    y: tuple[str, ...]
    only_x: tuple[str, ...]
    only_y: tuple[str, ...]
    size_x: int
    size_y: int
    shared: int
    answer_x: float
    answer_y: float


@dataclass(frozen=True)
class Rug:
    """The records of a universe on an axis: the ends, and the places of some records."""

    lowest: float
    highest: float
    places: tuple[float, ...] = ()


def pair_of(result: Sensitivity) -> tuple[Pair, tuple[Block, ...]]:
    """Return the witness of a result in short, and the strip's blocks."""
    held = vars(result)["witness"]
    if isinstance(held, Unlisted):
        # By multiplicities: this takes milliseconds, listing and sorting takes seconds.
        x, y, universe = held.pair.x, held.pair.y, held.universe
    else:
        records = (*result.witness.x, *result.witness.y)
        universe = finite(result.universe, records)
        x, y = (multiplicities_of(d, universe) for d in (result.witness.x, result.witness.y))
    blocks = _blocks(x, y, universe)
    return _shortened(x, y, universe, result.witness), blocks


def _blocks(x: Multiplicities, y: Multiplicities, universe: FiniteUniverse) -> tuple[Block, ...]:
    """Return the blocks, or nothing if there are too many to draw."""
    blocks = blocks_of(x, y, universe)
    return tuple(blocks) if len(blocks) <= MOST_BLOCKS else ()


def _shortened(
    x: Multiplicities, y: Multiplicities, universe: FiniteUniverse, witness: Witness
) -> Pair:
    def records(of: Multiplicities) -> tuple[str, ...]:
        return tuple(plain(universe.values[place]) for place in np.repeat(np.arange(len(of)), of))

    return Pair(
        _ends(witness.x),
        _ends(witness.y),
        records(np.maximum(x - y, 0)),
        records(np.maximum(y - x, 0)),
        int(x.sum()),
        int(y.sum()),
        int(np.minimum(x, y).sum()),
        cast(float, witness.query_x),  # queries on numbers answer with one
        cast(float, witness.query_y),
    )


def _ends(data: tuple[Any, ...]) -> tuple[str, ...]:
    if len(data) <= SHOWN:
        return tuple(map(plain, data))
    half = SHOWN // 2
    return (*map(plain, data[:half]), "…", *map(plain, data[-half:]))


def rug_of(universe: AnyUniverse) -> Rug | None:
    """Return the places of the records; None if they are beyond the floats."""
    try:
        if isinstance(universe, IntervalUniverse):
            return Rug(float(universe.lower), float(universe.upper))
        values = universe.values
        chosen: NDArray[Any] = np.unique(np.linspace(0, len(values) - 1, _TICKS).astype(int))
        places = tuple(float(values[place]) for place in chosen)
    except OverflowError:
        return None
    return Rug(places[0], places[-1], places)
