"""Arrays in the memory of a Dask cluster's workers, and element-wise work on them there.

Every operation is one call of the client's ``map``: Dask schedules the tasks, moves what they read,
spills what does not fit, and computes again what a dead worker held. The process that searches
gets numbers per part, never the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sensitivity_lab.numpy_state import with_numpy_defaults

from .cluster import fetch, settle
from .machine import Machine, Reads

Item = TypeVar("Item")
Result = TypeVar("Result")
Array = NDArray[Any]

_PART = 1 << 19
"""About how many numbers a part has at least, where there are many: 4 MiB."""

_PARTS = 512
"""In about how many parts large arrays are, unless these would be too large for a worker."""

_SHARE = 64
"""A part takes at most this share of a worker's memory: a task reads about ten of them."""

_IN_A_TASK = 1 << 20
"""So many bytes may be part of a task, which the scheduler keeps."""

_PASS = "a pass down the lattice"


@dataclass(frozen=True, eq=False)
class Spread:
    """An array whose rows are with the workers of a cluster, some with each.

    Parameters
    ----------
    client : distributed.Client
    starts : ndarray of int, shape (parts + 1,)
        The first row of every part, and the number of rows.
    parts : list of distributed.Future
    width : int or None
        How many columns there are; None: the array has one dimension.
    dtype : dtype
    """

    client: Any = field(repr=False)
    starts: NDArray[np.int64]
    parts: Sequence[Any] = field(repr=False)
    width: int | None
    dtype: DTypeLike

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape, as of any array."""
        return (len(self),) if self.width is None else (len(self), self.width)

    @property
    def ndim(self) -> int:
        """The number of dimensions, as of any array."""
        return len(self.shape)

    def pieces(self, rows: slice) -> list[tuple[int, slice]]:
        """Return what rows consist of: parts by their number, and which rows of them."""
        if rows.stop <= rows.start:
            return []
        first = int(np.searchsorted(self.starts, rows.start, side="right")) - 1
        last = int(np.searchsorted(self.starts, rows.stop, side="left"))
        found = []
        for place in range(first, last):
            start, stop = int(self.starts[place]), int(self.starts[place + 1])
            found.append(
                (place, slice(max(rows.start, start) - start, min(rows.stop, stop) - start))
            )
        return found

    def __getitem__(self, wanted: Any) -> Any:
        """Return the rows at some positions, or at one, as an array of this process."""
        rows = np.atleast_1d(np.asarray(wanted, dtype=np.int64))
        place = np.searchsorted(self.starts, rows, side="right") - 1
        inside = [np.flatnonzero(place == one) for one in np.unique(place)]
        futures = self.client.map(
            _taken,
            [self.parts[place[of[0]]] for of in inside],
            [rows[of] - self.starts[place[of[0]]] for of in inside],
            pure=False,
        )
        found = np.empty((len(rows), *self.shape[1:]), self.dtype)
        for of, values in zip(inside, fetch(futures, self.client, "a lookup"), strict=True):
            found[of] = values
        return found if np.ndim(wanted) else found[0]


@dataclass(frozen=True)
class Cluster:
    """The workers of a Dask cluster, with the methods of a `Machine` for arrays that they hold.

    Parameters
    ----------
    client : distributed.Client
    cells : int
        About how many numbers a part has at most.
    """

    client: Any
    cells: int

    @classmethod
    def of(cls, client: Any, numbers: int) -> Cluster:
        """Return the cluster of a client, for arrays of about so many numbers."""
        least = min(memory_of_workers(client), default=0)
        most = least // 8 // _SHARE if least else numbers
        return cls(client, max(1, min(max(_PART, numbers // _PARTS), most)))

    def send(self, arrays: list[Array]) -> Any:
        """Send arrays to a worker; return the future of their list.

        Small ones are part of a task, so that Dask can make them again if the worker dies.
        """
        if sum(array.nbytes for array in arrays) <= _IN_A_TASK:
            return self.client.map(_same, [_Arrays(arrays)], pure=False)[0]
        return self.client.scatter([arrays])[0]

    def rooms(self, rows: int, columns: int) -> list[Any]:
        """Return nothing twice: every task's result is its worker's new array."""
        return [None, None]

    def map(
        self,
        function: Callable[..., Array],
        *arrays: Any,
        width: int | None = None,
        room: None = None,
    ) -> Any:
        """Return a `Spread` of what a function makes of arrays, row by row; see `Machine.map`."""
        starts, futures = self._on_each(partial(_as_floats, function), arrays)
        return Spread(self.client, starts, futures, width, np.float64)

    def reduce(
        self,
        function: Callable[..., Result],
        *arrays: Any,
        rows: int | None = None,
        only: Container[int] | None = None,
    ) -> dict[int, Result]:
        """Return what a function says of every part; see `Machine.reduce`."""
        starts, futures = self._on_each(function, arrays, only)
        wanted = [at for at in starts[:-1].tolist() if only is None or at in only]
        return dict(zip(wanted, fetch(futures, self.client, _PASS), strict=True))

    def _on_each(
        self,
        function: Callable[..., Any],
        arrays: Sequence[Any],
        only: Container[int] | None = None,
    ) -> tuple[NDArray[np.int64], list[Any]]:
        """Apply a function to the same rows of arrays, cut wherever one of them is."""
        starts = np.unique(np.concatenate([array.starts for array in arrays]))
        rows = [
            slice(int(at), int(to))
            for at, to in pairwise(starts)
            if only is None or int(at) in only
        ]
        # Nothing is cut finer than it is, so a range is in one part of every array.
        pieces = [[array.pieces(of)[0] for of in rows] for array in arrays]
        parts = [
            [array.parts[place] for place, _ in found]
            for array, found in zip(arrays, pieces, strict=True)
        ]
        slices = [_Rows(of) for of in zip(*([of for _, of in one] for one in pieces), strict=True)]
        task = partial(_applied, function)
        return starts, self.client.map(task, slices, *parts, pure=False) if rows else []

    def derive(
        self,
        upper: Any,
        number: int,
        items: Sequence[Item],
        reads: Callable[[Item], Reads],
        function: Callable[[Item, Array, list[Array]], None],
        room: None = None,
    ) -> Any:
        """Return a `Spread` made from ranges of the rows of another one; see `Machine.derive`."""
        tasks, read, starts = [], [], [0]
        for item in items:
            rows, ranges = reads(item)
            if rows.stop == rows.start:
                continue
            pieces = [upper.pieces(of) for of in ranges]
            taken = [[of for _, of in found] for found in pieces]
            tasks.append(_Spread(item, (rows.stop - rows.start, upper.shape[1]), taken))
            # Dask moves a part once, however often a task reads it.
            read.append([[upper.parts[place] for place, _ in found] for found in pieces])
            starts.append(rows.stop)
        if starts[-1] != number:
            raise AssertionError(f"the tasks write {starts[-1]} of {number} rows")
        futures = self.client.map(partial(_derived, function), tasks, read, pure=False)
        settle(futures, self.client, _PASS)
        return Spread(self.client, np.array(starts), futures, upper.width, np.float64)


AnyMachine = Machine | Cluster
"""What holds arrays, and works on them."""


def memory_of_workers(client: Any) -> list[int]:
    """Return how many bytes every worker of a cluster may take, of those with a limit."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    return [int(one["memory_limit"]) for one in workers.values() if one["memory_limit"]]


@dataclass(frozen=True)
class _Arrays:
    """Arrays that travel in a task; opaque to Dask, which looks into lists."""

    arrays: list[Array]


@dataclass(frozen=True)
class _Rows:
    """Which rows of every part a task takes; opaque to Dask, which looks into tuples."""

    of: tuple[slice, ...]


@dataclass(frozen=True)
class _Spread:
    """What a task is about, the shape that it writes, and which rows it takes of what it reads."""

    item: Any
    shape: tuple[int, ...]
    taken: list[list[slice]]


@with_numpy_defaults
def _applied(function: Callable[..., Any], rows: _Rows, *parts: Array) -> Any:
    return function(*(part[of] for part, of in zip(parts, rows.of, strict=True)))


def _as_floats(function: Callable[..., Array], *parts: Array) -> Array:
    return function(*parts).astype(np.float64, copy=False)


@with_numpy_defaults
def _derived(function: Callable[..., None], task: _Spread, parts: list[list[Array]]) -> Array:
    out = np.empty(task.shape)
    ranges = zip(parts, task.taken, strict=True)
    function(task.item, out, [_joined(some, taken, out) for some, taken in ranges])
    return out


def _joined(parts: list[Array], taken: list[slice], out: Array) -> Array:
    """Return rows from the parts that hold them; without a copy where one part does."""
    found = [part[of] for part, of in zip(parts, taken, strict=True)]
    if len(found) == 1:
        return found[0]
    return np.concatenate(found) if found else out[:0]


def _same(sent: _Arrays) -> list[Array]:
    return sent.arrays


def _taken(part: Array, rows: NDArray[np.int64]) -> Array:
    return part[rows]
