"""The lattice of all sub-multisets of a universe, one level per dataset size.

Counting, ordering, listing and one-level maxima; no search logic. A level is ordered by how often
the largest value occurs, then recursively by the other values. So a level is a sequence of
*blocks*, one per multiplicity of the largest value. Adding one record of the largest value maps a
block of level ``s`` onto the next block of level ``s + 1``, position by position.

A block (values, size) is the datasets of `size` records over the first `values` values. It begins
with the block (values - 1, size), and a level is the block of all values.

A pass down the lattice is a task for every block of the lower level: datasets with the same
multiplicities of the largest values. It reads the block of the upper level with the same
multiplicities, and for each of the largest values the one with a copy more, position by position.
See docs/proofs.md, "Lattice: a pass in blocks".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.running.machine import IN_TURN, Machine, Reads
from sensitivity_lab.universes.counting import Numbers
from sensitivity_lab.universes.listing import WIDTH, Rows, listed_block, most_values, parts_of

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


Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

TABLE = 1 << 17
"""A block whose listing has at most this many numbers has a table of successors in every lattice.
"""

_LARGER = 4
"""How many times larger blocks with tables are in large lattices."""

_SHARE = 1024
"""In these, such a block has at most one in so many datasets of the largest level."""

_TABLES = 32
"""How many tables of successors are kept at most; each takes a few MiB at most."""

_PARTS = 64
"""How many parts of tables, one for each number of values, are kept at most."""

_TAKEN = 1 << 18
"""About how many numbers are looked up in a block at a time.

More would leave the processor's cache. But for fewer, threads would get in each other's way: after
every call of numpy a thread waits for Python's lock, and being woken takes as long as such a call.
"""

_BATCH = 1 << 20
"""About how many numbers are handled at a time where datasets are ranked."""


class Lattice:
    """All multisets of some numbers of records of a universe of distinct values.

    Parameters
    ----------
    counts : sequence of int, shape (m,)
        How often each distinct value may occur, in ascending order of the values.
    largest_size : int
        The largest size of a dataset that is asked for.
    smallest_size : int, default 0
        The smallest size of a dataset that is asked for.

    Notes
    -----
    A dataset is written as a row: the positions of its records' values, ascending. Take the record
    at place p of a row, and count the datasets with the same records at the places after p and only
    smaller values up to p. Over all p, these counts add up to the row's position in its level.

    Examples
    --------
    >>> lattice = Lattice([1, 2, 1], largest_size=2)
    >>> lattice.number(2)
    4
    >>> lattice.rows(2, 0, 4).tolist()
    [[0, 1], [1, 1], [0, 2], [1, 2]]
    """

    def __init__(self, counts: Sequence[int], largest_size: int, smallest_size: int = 0) -> None:
        self.counts = tuple(min(count, largest_size) for count in counts)
        self.largest_size = largest_size
        self.smallest_size = smallest_size
        self.numbers = Numbers(self.counts, smallest_size, largest_size)
        self._in_table = cache(self._find_in_table)
        self._successors_table = lru_cache(_TABLES)(self._make_successors_table)
        self._successors = lru_cache(_PARTS)(self._make_successors)
        self.listing = Rows(self.numbers, self.counts, largest_size)
        """Lists datasets as rows."""

    def number(self, size: int) -> int:
        """Return the number of datasets of this size."""
        return self.numbers.of(len(self.counts), size)

    def rows(self, size: int, first: int, last: int) -> Indices:
        """List the datasets at positions `first` to `last` - 1 of a level.

        Returns
        -------
        ndarray of intp, shape (last - first, size)
            A dataset per row: positions of its records' values, ascending.
        """
        return self.listing.rows(size, first, last)

    def _find_in_table(self, size: int) -> int:
        """Return the largest number of values whose block of a level fits into a table."""
        return most_values(self.numbers, len(self.counts), size, self._cells)

    @cached_property
    def _cells(self) -> int:
        """How many numbers a listing has at most that is made a table of successors.

        Large tables take few calls of numpy, but should be small beside the levels.
        """
        sizes = range(self.smallest_size, self.largest_size + 1)
        share = max(map(self.number, sizes)) * WIDTH // _SHARE
        return min(max(share, TABLE), _LARGER * TABLE)

    def rank(self, multiplicities: NDArray[np.int64]) -> Indices:
        """Return the positions of datasets in their level.

        Parameters
        ----------
        multiplicities : ndarray of int, shape (datasets, m)
            How often each value occurs; all datasets have the same size.
        """
        position = np.empty(len(multiplicities), dtype=np.intp)
        values = np.arange(len(self.counts))
        rows = max(1, _BATCH // max(1, len(values)))
        # Axes: datasets, values. `size` is how many records of a dataset are of a value or smaller
        # ones. Before it, of those that agree above value v, come the datasets with fewer copies of
        # v: of size - some + 1 to size records of smaller values.
        for start in range(0, len(multiplicities), rows):
            some = multiplicities[start : start + rows]
            size = np.cumsum(some, axis=1)
            position[start : start + rows] = self.numbers.before(values, size, size - some).sum(
                axis=1
            )
        return position

    def rank_rows(self, rows: Indices) -> Indices:
        """Return the positions of datasets given as rows, shape (datasets, size)."""
        # For the record at place p: the datasets with p + 1 records there that are all of smaller
        # values.
        size = np.arange(1, rows.shape[1] + 1)
        position: Indices = self.numbers.before(rows, size, size - 1).sum(axis=1)
        return position

    def multiplicities(self, size: int, position: int) -> NDArray[np.int64]:
        """Return the dataset at a position of a level, by multiplicities, shape (m,)."""
        row = self.rows(size, position, position + 1)[0]
        return np.bincount(row, minlength=len(self.counts)).astype(np.int64)

    def maximum_below(
        self, upper: Floats, size: int, machine: Machine = IN_TURN, room: Floats | None = None
    ) -> Floats:
        """Bring maxima down one level.

        Parameters
        ----------
        upper : ndarray, shape (number(size + 1), columns)
            A row of values for every dataset of size `size` + 1.
        size : int
            The level to come down to.
        machine : Machine
            What runs the tasks, one per block, and has room for the result.
        room : ndarray, optional
            An array that is no longer needed, whose first rows become the result.

        Returns
        -------
        ndarray, shape (number(size), columns)
            For every dataset C of size `size`, the largest of the rows of C plus one record; -inf
            where no record can be added.

        Notes
        -----
        Costs one comparison per dataset of the level, addable value and column. Applied level by
        level this is the recursion of docs/proofs.md, "Lattice: the downward recursion".
        """
        most = max(1, machine.cells // upper.shape[1])
        reads, raised = partial(self._reads, size), partial(self.raise_block, size)
        blocks = self.blocks([size], most)
        return machine.derive(upper, self.number(size), blocks, reads, raised, room)

    def _reads(self, size: int, block: Block) -> Reads:
        """Return where a block of level `size` is, and which parts of the upper level it needs."""
        span = span_of(self.numbers, self.counts, block, size)
        return span.rows, [span.own, *span.others]

    def blocks(self, sizes: Sequence[int], rows: int) -> list[Block]:
        """Cut levels into blocks of about so many rows at most; see `blocks_of`."""
        return blocks_of(self.numbers, self.counts, sizes, rows)

    def raise_block(self, level: int, block: Block, lower: Floats, upper: list[Floats]) -> None:
        """Set `lower`, block (values, size), to the maxima over the datasets with a record more.

        It is a block of a level, and `upper` is what `_reads` says. First comes the block (values,
        size + 1) with the same larger values; the `others` are the blocks (values, size) with one
        larger value more. Those have the same datasets of smaller values in the same order, so
        their maxima are taken position by position. See "Lattice: a pass in blocks" in
        docs/proofs.md.
        """
        own, *others = upper
        lower[...] = others[0] if others else -np.inf
        for other in others[1:]:
            np.maximum(lower, other, out=lower)
        # Depth first: the parts of a block are finished while they are in the cache. Always: every
        # pair of a dataset and one more record that is not yet counted is in an open block.
        size = level - int(block.copies.sum())
        open_blocks = [self._descend(lower, own, block.values, size)]
        while open_blocks:
            part = next(open_blocks[-1], None)
            if part is None:
                open_blocks.pop()
            else:
                open_blocks.append(self._descend(*part))

    def _descend(
        self, lower: Floats, upper: Floats, values: int, size: int
    ) -> Iterator[tuple[Floats, Floats, int, int]]:
        """Raise `lower`, block (values, size), to the maxima of `upper`, block (values, size + 1).

        A dataset with c copies of the largest value leads to the same position of the part of
        `upper` with c + 1 copies, by adding the largest value, and into the part with c copies, by
        adding another one. The latter are pairs of blocks over fewer values; they are yielded, to
        be descended before this goes on.
        """
        table, parts = self._in_table(size), partial(parts_of, self.numbers, self.counts)
        # Always: what is left to do is to raise `lower` by records of the first `values` values.
        while values > table and len(lower) > 1:
            above = {copies: part for copies, *part in parts(values, size + 1)}
            for copies, start, stop in parts(values, size):
                block = lower[start:stop]
                if copies and copies in above:
                    yield block, upper[slice(*above[copies])], values - 1, size - copies
                if copies + 1 in above:
                    np.maximum(block, upper[slice(*above[copies + 1])], out=block)
            # The parts with 0 copies are the beginnings of both blocks: go on with these.
            values -= 1
            lower = lower[: self.numbers.of(values, size)]
            upper = upper[: self.numbers.of(values, size + 1)]
        if len(lower) == 1 and len(upper):
            # All datasets above contain the only one below.
            np.maximum(lower[0], upper.max(axis=0), out=lower[0])
        elif len(lower) > 1:
            self._descend_by_table(lower, upper, values, size)

    def _descend_by_table(self, lower: Floats, upper: Floats, values: int, size: int) -> None:
        """Raise a block that fits into a table to the maxima of the block above it."""
        # Few calls of numpy, each of many rows: threads wait for each other between calls only.
        successors = self._successors(values, size)
        step = max(1, _TAKEN // max(1, lower.size))
        for first in range(0, len(successors), step):
            taken = upper.take(successors[first : first + step], axis=0)
            np.maximum(lower, taken.max(axis=0), out=lower)

    def _make_successors(self, values: int, size: int) -> Indices:
        """Return where the rows of a block lead to by another record, shape (most, rows).

        A row that leads to fewer than `most` rows of block (values, size + 1) repeats the first,
        which does not change a maximum.
        """
        # The block begins that of the table, and so do the blocks above them: a position from the
        # end of the upper block on is a record of a larger value. Those by smaller values come
        # first. So the first one is inside, unless the row has all records of its values: then it
        # is the only row of its block, and no table is asked for.
        rows = self._successors_table(size)[:, : self.numbers.of(values, size)]
        inside = rows < self.numbers.of(values, size + 1)
        some = np.count_nonzero(inside.any(axis=1))
        return np.where(inside[:some], rows[:some], rows[:1])

    def _make_successors_table(self, size: int) -> Indices:
        """Return the successors in the largest block of a level that fits into a table.

        Those by smaller values come first. The shape is (most, rows), as of `_make_successors`.
        """
        values = self._in_table(size)
        listed = listed_block(self.numbers, self.counts, values, size)
        upto = np.cumsum(listed, axis=1)
        leads_to = successors(self.numbers, np.arange(values), upto, upto - listed)
        # A value of which all copies are there cannot be added: these columns go to the end, and
        # then repeat the first one.
        full = listed >= np.array(self.counts[:values])
        ways = np.count_nonzero(~full, axis=1)
        leads_to = np.take_along_axis(leads_to, np.argsort(full, axis=1, kind="stable"), axis=1)
        leads_to = leads_to[:, : ways.max(initial=0)]
        places = np.arange(leads_to.shape[1])
        return np.ascontiguousarray(np.where(places < ways[:, None], leads_to, leads_to[:, :1]).T)
