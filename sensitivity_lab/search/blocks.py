"""A level of the lattice in blocks: datasets with the same multiplicities of the largest values.

A pass down the lattice is a task for every block of the lower level. It reads the block of the
upper level with the same multiplicities, and for each of the largest values the one with a copy
more, position by position. See docs/proofs.md, "Lattice: a pass in blocks".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.universes.counting import Numbers

_LEAST_FILLED = 64
"""A block is cut if its parts have on average at least this share of what a block may have."""


Counts = NDArray[np.int64]


class Block(NamedTuple):
    """Datasets with the same multiplicities of the largest values.

    Attributes
    ----------
    values : int
        How many smaller values there are; the datasets differ in these only.
    copies : ndarray of int64, shape (m - values,)
        How often each of the largest values occurs, in ascending order of the values.
    """

    values: int
    copies: NDArray[np.int64]


class Span(NamedTuple):
    """Where a block is in a level, and which parts of the level above its tasks read.

    Attributes
    ----------
    rows : slice
        Of the block in its level.
    size : int
        How many records of the smaller values its datasets have.
    own : slice
        The datasets of the level above with the same multiplicities of the largest values.
    others : list of slice
        For each of the largest values that can be added, the datasets that this leads to.
    """

    rows: slice
    size: int
    own: slice
    others: list[slice]


def blocks_of(
    numbers: Numbers, counts: Sequence[int], sizes: Sequence[int], rows: int
) -> list[Block]:
    """Cut levels into blocks, the same for all of them, in the order of their positions.

    Parameters
    ----------
    numbers : Numbers
        Of the lattice that the levels belong to.
    counts : sequence of int, shape (m,)
        How often each value may occur.
    sizes : sequence of int
        The sizes of the levels' datasets.
    rows : int
        How many datasets of a level a block has at most. Where a block would fall apart into many
        tiny ones, as with few values of many copies, it is not cut and may have more.
    """
    found = []
    # Always: the blocks found, and then those to be cut from the last to the first, are the levels.
    uncut: list[tuple[int, int, tuple[int, ...]]] = [(len(counts), 0, ())]
    while uncut:
        values, used, copies = uncut.pop()
        largest = max(numbers.of(values, size - used) for size in sizes if size >= used)
        if largest > rows and largest >= rows // _LEAST_FILLED * (counts[values - 1] + 1):
            most = min(counts[values - 1], max(sizes) - used)
            # The block with no copy of the largest value comes first in a level, so it is on top.
            uncut += [(values - 1, used + more, (more, *copies)) for more in range(most, -1, -1)]
        elif largest:
            found.append(Block(values, np.array(copies, dtype=np.int64)))
    return found


def span_of(numbers: Numbers, counts: Sequence[int], block: Block, size: int) -> Span:
    """Return where a block of the level `size` is, and what it needs of the level above."""
    left = size - int(block.copies.sum())
    length = numbers.of(block.values, left) if left >= 0 else 0
    if not length:
        return Span(slice(0, 0), 0, slice(0, 0), [])
    # The position of a dataset is a sum over its values; see `successors`.
    # By larger value: `beyond` counts the records of all smaller values, `upto` those of its own,
    # too.
    value = np.arange(block.values, len(counts))
    upto = left + np.cumsum(block.copies)
    beyond = upto - block.copies
    first, own = (int(numbers.before(value, upto + more, beyond + more).sum()) for more in (0, 1))
    starts = successors(numbers, value, upto, beyond)
    addable = block.copies < np.array(counts)[block.values :]
    return Span(
        slice(first, first + length),
        left,
        slice(own, own + numbers.of(block.values, left + 1)),
        [slice(start, start + length) for start in starts[addable].tolist()],
    )


def successors(
    numbers: Numbers, values: NDArray[np.intp], upto: Counts, beyond: Counts
) -> NDArray[np.intp]:
    """Return the positions in the next level that datasets lead to by a record of each value.

    Parameters
    ----------
    numbers : Numbers
        Of the lattice.
    values : ndarray of int, shape (v,)
        The values that differ between the datasets, and can be added.
    upto, beyond : ndarray of int64, shape (..., v)
        How many records a dataset has of these values and all smaller ones, and of smaller ones
        alone.
    """
    # A position is a sum over the values, of how many datasets come before. If a value is added,
    # the terms of smaller values stay (before). In its own term the size up to it grows (with_it),
    # and in the terms of larger values the sizes on both sides grow (behind).
    before, with_it, behind = (
        numbers.before(values, upto + more, beyond + less)
        for more, less in ((0, 0), (1, 0), (1, 1))
    )
    found: NDArray[np.intp] = np.cumsum(before, axis=-1) - before + with_it
    found += behind.sum(axis=-1, keepdims=True) - np.cumsum(behind, axis=-1)
    return found
