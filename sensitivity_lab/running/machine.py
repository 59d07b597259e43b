"""Where the arrays of a search live on one machine, and how many threads work on them."""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import TooLargeError
from sensitivity_lab.numpy_state import with_numpy_defaults

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
    """Threads that share arrays, in memory or in files of a folder.

    Parameters
    ----------
    threads : int, default 1
        How many tasks run at a time.
    folder : str or None, default None
        Where the files of large arrays are; None keeps all arrays in memory.

    Notes
    -----
    A file has no name: it vanishes with its array, or with the process. After every task the pages
    of the arrays that it names are given back, so a process holds about what its tasks under way
    need.

    Examples
    --------
    >>> machine = Machine(threads=2)
    >>> squares = machine.map(np.square, np.arange(3.0))
    >>> squares.tolist(), machine.reduce(lambda part: float(np.max(part)), squares)
    ([0.0, 1.0, 4.0], {0: 4.0})
    """

    threads: int = 1
    folder: str | None = None

    @property
    def cells(self) -> int:
        """About how many numbers a task handles."""
        return _CELLS

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """Return a new array, in memory or in a file.

        Raises
        ------
        TooLargeError
            If the folder has not enough room.
        """
        length = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if self.folder is None or not length or np.dtype(dtype).hasobject:
            return in_pages(shape, dtype)
        with no_room(self.folder, length), tempfile.TemporaryFile(dir=self.folder) as file:
            # Room on the disk is taken here: a page that has none would end the process.
            _reserve(file, length)
            return np.ndarray(shape, dtype, buffer=_File(file.fileno(), length))

    def run(
        self,
        task: Callable[[Item], Result],
        items: Iterable[Item],
        arrays: Sequence[NDArray[Any]] = (),
    ) -> list[Result]:
        """Apply a task to every item, some at a time; tasks write to different parts of arrays.

        Parameters
        ----------
        task : callable
            Takes an item.
        items : iterable
            What the tasks are about.
        arrays : sequence of ndarray
            What the tasks read or write, of which nothing need stay in memory.

        Returns
        -------
        list
            What the tasks returned, in the order of the items.
        """

        @with_numpy_defaults  # which are those of a thread
        def one(item: Item) -> Result:
            result = task(item)
            for array in arrays:
                give_back(array)
            return result

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
        out = self.empty(shape) if room is None else room[: shape[0]]

        def one(rows: slice) -> None:
            out[rows] = function(*(array[rows] for array in arrays))

        self.run(one, batches(out), (out, *arrays))
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
        found = self.run(lambda of: function(*(array[of] for array in arrays)), every, arrays)
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
        lower = self.empty((number, upper.shape[1])) if room is None else room[:number]

        def one(item: Item) -> None:
            rows, ranges = reads(item)
            function(item, lower[rows], [upper[of] for of in ranges])

        self.run(one, items, (lower, upper))
        return lower


def batches(array: NDArray[Any], rows: int | None = None) -> list[slice]:
    """Return slices of so many rows of an array, or of about two MiB; the same for all threads."""
    step = rows or max(1, _CELLS * len(array) // max(1, array.size))
    return [slice(at, min(at + step, len(array))) for at in range(0, len(array), step)]


class _File(mmap.mmap):
    """Pages of a file: when they leave memory, the file still has them."""


def in_pages(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
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


def give_back(array: NDArray[Any]) -> None:
    """Let the system take the pages of an array that lives in a file; its content stays there."""
    base: Any = array.base
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, _File) and hasattr(base, "madvise"):
        base.madvise(mmap.MADV_DONTNEED)


@contextmanager
def no_room(folder: str, length: int) -> Iterator[None]:
    """Raise TooLargeError where a folder cannot take so many bytes."""
    try:
        yield
    except OSError as error:
        raise TooLargeError(
            f"the scratch folder {shown(folder)} cannot take {length:,} bytes more: "
            f"{error.strerror or type(error).__name__}; choose a folder on a disk with more room, "
            "or a smaller size or distance"
        ) from None


def _reserve(file: Any, length: int) -> None:
    """Make a file as long as it will be, with room on the disk for all of it."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, length)
        return
    part = bytes(min(length, 1 << 20))
    for start in range(0, length, len(part)):
        file.write(part[: length - start])
    file.flush()


IN_TURN = Machine()
"""One task after the other, in memory."""
