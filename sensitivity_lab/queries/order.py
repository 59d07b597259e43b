"""Whether the answers of a caller's function depend on the order of the records.

A dataset is a multiset, and a search shows it to a function in ascending order. A function that
depends on the order, such as a drawdown, has another sensitivity over ordered datasets. So some
datasets are shown to it in other orders, too.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.errors import QueryError
from sensitivity_lab.universes.relations import repeated
from sensitivity_lab.universes.universe import FiniteUniverse

from .returned_numbers import Answers, are_exact

MOST = 64
"""At most so many datasets are shown in other orders."""

SHARE = 20
"""After `QUICK` seconds, at most one call for so many datasets that the search evaluated."""

QUICK = 0.2

_STILL = 1e-6
"""How far floats may move with the order, relative to how far they move at all."""

ORDER = (
    "the answer depends on the order of the records, or compares a rounded sum; this is the "
    "sensitivity if the records are sorted first"
)
"""What a result says of such a function."""


def depends_on_order(
    query: Any, universe: FiniteUniverse, pair: Sequence[NDArray[np.int64]], evaluated: int
) -> bool:
    """Tell whether a function answers some dataset in another order differently.

    Parameters
    ----------
    query : Function
        A caller's function.
    universe : FiniteUniverse
        Where other datasets are drawn from.
    pair : sequence of ndarray of int64, shape (m,)
        The datasets of a witness, by multiplicities, which come first.
    evaluated : int
        How many datasets the search evaluated.
    """
    largest = max(int(data.sum()) for data in pair)
    if largest < 2:
        return False
    random = np.random.default_rng(0)
    # Of different records: an order among equal ones is none.
    listed = [*pair, _spread_out(universe, largest, random)]
    start = time.monotonic()
    seen: list[Answers] = []
    while len(seen) < MOST:
        # Always: no exact answer in `seen` moved with its order. Of floats the end decides.
        place, calls = len(seen), 4 * len(seen)
        if place >= len(listed) and time.monotonic() - start > QUICK and calls * SHARE > evaluated:
            break
        data = listed[place] if place < len(listed) else _drawn(universe, largest, random)
        row = repeated(np.arange(len(data)), data)
        # Reversal alone leaves sums of neighbors' products as they are.
        rows = [row, row[::-1], *(random.permutation(row) for _ in range(2))]
        try:
            answers = query.on_rows(universe, np.stack(rows))
        except QueryError:
            return True  # it answers the sorted dataset, and fails on another order
        if are_exact(answers) and (answers[1:] != answers[0]).any():
            return True
        seen.append(answers)
    # Of floats, axis 0 is the dataset and axis 1 the order; the first order is the sorted one.
    floats = np.stack(seen).astype(np.float64)
    apart = np.abs(floats - floats[:, :1]).max()
    spread = np.ptp(floats.reshape(-1, *floats.shape[2:]), axis=0).max()
    rounding = 64 * np.finfo(np.float64).eps * largest * np.abs(floats).max()
    return bool(apart > _STILL * spread + rounding)


def _spread_out(
    universe: FiniteUniverse, size: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Return a dataset of records that are as far apart as they can be, by multiplicities."""
    most = universe.multiplicities(size)
    places = np.linspace(0, len(most) - 1, size).astype(np.intp)
    held = np.minimum(np.bincount(places, minlength=len(most)), most)
    return held if held.sum() == size else _drawn(universe, size, random)


def _drawn(universe: FiniteUniverse, size: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Return a dataset of a size, drawn at random, by multiplicities."""
    most = universe.multiplicities(size)
    # One of many records each time: a draw among copies of each would take too much memory.
    held = np.zeros_like(most)
    for place in random.integers(0, len(most), 2 * size):
        held[place] = min(held[place] + 1, most[place])
        if held.sum() == size:
            break
    return held
