"""The datasets of a size that contain a core, a smaller dataset."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sensitivity_lab.search.lattice import Indices, Lattice
from sensitivity_lab.universes.relations import Multiplicities, repeated

BATCH = 1 << 20
"""About how many numbers are handled at a time."""


def above(lattice: Lattice, core: Multiplicities, size: int) -> Indices:
    """Return the positions in their level of the datasets of a size that contain a core.

    Notes
    -----
    Memory is 8 bytes per dataset, and what a batch needs.
    """
    shared = repeated(np.arange(len(core)), core)
    found = [np.empty(0, dtype=np.intp)]
    for more in _additions(lattice, core, size):
        # Few values: ranks from multiplicities, an entry per value. Few records: from rows, an
        # entry per record.
        if size > len(core):
            found.append(lattice.rank(core + _multiplicities(more, len(core))))
        else:
            rows = np.hstack([np.broadcast_to(shared, (len(more), len(shared))), more])
            found.append(lattice.rank_rows(np.sort(rows, axis=1)))
    return np.concatenate(found)


def containing(lattice: Lattice, core: Multiplicities, size: int) -> Multiplicities:
    """List the datasets of a size that contain a core, by multiplicities, in the order of `above`.

    Returns
    -------
    ndarray of int64, shape (datasets, m)
    """
    additions = _additions(lattice, core, size)
    listed = [core + _multiplicities(more, len(core)) for more in additions]
    return np.vstack([np.empty((0, len(core)), dtype=np.int64), *listed])


def _additions(lattice: Lattice, core: Multiplicities, size: int) -> Iterator[Indices]:
    """Yield, in batches, the rows of records that make datasets of a size of a core."""
    more = size - int(core.sum())
    left = [limit - have for limit, have in zip(lattice.counts, core.tolist(), strict=True)]
    free = Lattice(left, more, more)
    number, step = free.number(more), max(1, BATCH // max(size, len(core)))
    for first in range(0, number, step):
        yield free.rows(more, first, min(first + step, number))


def _multiplicities(rows: Indices, values: int) -> Multiplicities:
    """Return datasets given as rows by multiplicities, shape (datasets, values)."""
    cells = rows + values * np.arange(len(rows))[:, None]
    found = np.bincount(cells.ravel(), minlength=values * len(rows))
    return found.reshape(len(rows), values).astype(np.int64)
