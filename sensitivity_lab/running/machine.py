"""The arrays of a search on one machine, and how many threads work on them."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Callable, Container, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sensitivity_lab.boundary import with_numpy_defaults

Item = TypeVar("Item")
Result = TypeVar("Result")

Reads = tuple[slice, list[slice]]
"""The rows that a task writes, and the ranges of rows that it reads."""

_CELLS = 1 << 18
"""About how many numbers a task handles: two MiB, which fit into a processor's cache."""


_PAGES = 1 << 16
"""Arrays of at least so many bytes have pages of their own."""

_HUGE = 1 << 22
"""Arrays of at least so many bytes have large pages, as numpy's own."""

_OWN_PAGES = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}
)
"""Pages that no other process shares, which Python's are otherwise: only these can be large."""


@dataclass(frozen=True)
class Machine:
    """Threads that share arrays.

    Parameters
    ----------
    threads : int, default 1
        How many tasks run at a time.

    Examples
    --------
    >>> machine = Machine(threads=2)
    >>> squares = machine.map(np.square, np.arange(3.0))
    >>> squares.tolist(), machine.reduce(lambda part: float(np.max(part)), squares)
    ([0.0, 1.0, 4.0], {0: 4.0})
    """

    threads: int = 1

    @property
    def cells(self) -> int:
        """About how many numbers a task handles."""
        return _CELLS

    def run(self, task: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Apply a task to every item, some at a time; tasks write to different parts of arrays.

        Parameters
        ----------
        task : callable
            Takes an item.
        items : iterable
            What the tasks are about.

        Returns
        -------
        list
            What the tasks returned, in the order of the items.
        """
        one = with_numpy_defaults(task)  # which are those of a thread
        listed = list(items)
        if self.threads == 1 or len(listed) < 2:
            return [one(item) for item in listed]
        pool = ThreadPoolExecutor(self.threads)
        try:
            return list(pool.map(one, listed))
        finally:
            pool.shutdown(cancel_futures=True)

    def map(
        self,
        function: Callable[..., NDArray[Any]],
        *arrays: NDArray[Any],
        width: int | None = None,
        room: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """Return what a function makes of arrays, row by row.

        Parameters
        ----------
        function : callable
            Takes the same rows of every array; returns numbers for them, which become floats.
        *arrays : ndarray
            Of one length.
        width : int or None, default None
            How many numbers the function makes of a row; None: a single one.
        room : ndarray, optional
            An array of this width that is no longer needed: its first rows become the result.
        """
        shape = (len(arrays[0]),) if width is None else (len(arrays[0]), width)
        out = in_pages(shape) if room is None else room[: shape[0]]

        def one(rows: slice) -> None:
            out[rows] = function(*(array[rows] for array in arrays))

        self.run(one, batches(out))
        return out

    def reduce(
        self,
        function: Callable[..., Result],
        *arrays: NDArray[Any],
        rows: int | None = None,
        only: Container[int] | None = None,
    ) -> dict[int, Result]:
        """Return what a function says of batches of rows.

        Parameters
        ----------
        function : callable
            Takes the same rows of every array.
        *arrays : ndarray
            Of one length.
        rows : int or None, default None
            How many rows a batch has; None: two MiB of the first array.
        only : container of int or None, default None
            The first rows of the batches that are wanted; None: of all.

        Returns
        -------
        dict
            What the function returned, by the first row of the batch, ascending.
        """
        every = [of for of in batches(arrays[0], rows) if only is None or of.start in only]
        found = self.run(lambda of: function(*(array[of] for array in arrays)), every)
        return {of.start: one for of, one in zip(every, found, strict=True)}

    def derive(
        self,
        upper: NDArray[Any],
        number: int,
        items: Sequence[Item],
        reads: Callable[[Item], Reads],
        function: Callable[[Item, NDArray[Any], list[NDArray[Any]]], None],
        room: NDArray[Any] | None = None,
    ) -> NDArray[Any]:
        """Return an array of floats made from ranges of the rows of another one.

        Parameters
        ----------
        upper : ndarray, shape (rows, columns)
            What the tasks read.
        number : int
            How many rows the new array has.
        items : sequence
            What the tasks are about, in the order of the rows that they write.
        reads : callable
            Tells the rows that an item's task writes, and the ranges of `upper` that it reads.
        function : callable
            Takes an item, the rows to write, and the rows to read.
        room : ndarray, optional
            As of `map`.

        Returns
        -------
        ndarray, shape (number, columns)
        """
        lower = in_pages((number, upper.shape[1])) if room is None else room[:number]

        def one(item: Item) -> None:
            rows, ranges = reads(item)
            function(item, lower[rows], [upper[of] for of in ranges])

        self.run(one, items)
        return lower


def batches(array: NDArray[Any], rows: int | None = None) -> list[slice]:
    """Return slices of so many rows of an array, or of about two MiB; the same for all threads."""
    step = rows or max(1, _CELLS * len(array) // max(1, array.size))
    return [slice(at, min(at + step, len(array))) for at in range(0, len(array), step)]


def in_pages(shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return a new array in memory which goes back to the system as soon as it is free.

    The C library keeps part of what it gets back, so a search would hold more than it needs. In a
    browser nothing goes back: WebAssembly has no pages to map.
    """
    length = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if length < _PAGES or np.dtype(dtype).hasobject or sys.platform == "wasi":
        return np.empty(shape, dtype)
    pages = mmap.mmap(-1, length, **_OWN_PAGES)
    if hasattr(mmap, "MADV_HUGEPAGE") and length >= _HUGE:
        with suppress(OSError):  # a system without large pages has small ones
            pages.madvise(mmap.MADV_HUGEPAGE)
    return np.ndarray(shape, dtype, buffer=pages)


IN_TURN = Machine()
"""One task after the other."""
