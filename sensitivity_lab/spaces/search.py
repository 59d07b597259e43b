"""The search over all pairs of neighbors, many at a time: one for every space."""

from __future__ import annotations

import numpy as np

from sensitivity_lab.metrics.norms import Norm, powered
from sensitivity_lab.running import counter
from sensitivity_lab.search.pairs import Farthest

from .answers import Table
from .near import Places, in_parts
from .space import Space, Within

_BLOCK = 2**16
"""So many numbers of answers at a time, to keep what is compared in the processor's cache."""


def farthest_neighbors(
    space: Space,
    table: Table,
    places: Places,
    relation: Within,
    norm: Norm,
    progress: bool | None,
) -> Farthest:
    """Return the neighbors whose answers are farthest apart, by their numbers in the space.

    All pairs are compared, in integers, which rounds nothing.

    Parameters
    ----------
    space : Space
        The datasets.
    table : Table
        The answers on these.
    places : ndarray of int
        All datasets, or one, for its neighbors only.
    relation : Within
        Which are neighbors.
    norm : {"L1", "L2", "Linf"}
        The norm of the difference of vector answers.
    progress : bool, optional
        Whether to show how many datasets are done.

    Returns
    -------
    Farthest
        The first of tied pairs; if one dataset has no neighbors, it twice.
    """
    farthest = Farthest(x=int(places[0]), y=int(places[0]))
    size = max(1, _BLOCK // max(table.counts.shape[1], 1))
    with counter("datasets", progress, len(places)) as done:
        for number, xs, ys in space._near.around(places, relation.k):
            # Over all datasets, each pair comes both ways.
            once = np.flatnonzero(xs < ys) if len(places) > 1 else np.arange(len(xs))
            for part in in_parts(once, size):
                of_x, of_y = xs[part], ys[part]
                apart = table.counts[of_x] - table.counts[of_y]
                gaps = powered(apart, norm) if table.vector else np.abs(apart[:, 0])
                farthest.see(gaps, of_x, of_y)
            done(number)
    return farthest
