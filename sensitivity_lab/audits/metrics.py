"""What metrics see of the datasets and answers of an audit, and how far apart they are.

A function may tell 0.0 from -0.0, so they differ as records and as answers as a whole (see
`metrics.cells`). As numbers they are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sensitivity_lab.errors import QueryError
from sensitivity_lab.metrics import Distances, Metric
from sensitivity_lab.metrics.cells import Cells, signed_key
from sensitivity_lab.metrics.vectors import coordinate, rational


def distances(metric: Metric, items: Sequence[Any], cells: Cells = signed_key) -> Distances:
    """Return the distances of items, whose numbers are finite and equally many.

    Parameters
    ----------
    metric : Metric
        One of `metrics.METRICS`.
    items : sequence
        For the metrics on numbers: numbers, vectors of numbers, or mappings to numbers. For the
        metrics on records: sequences. For others: what can be hashed, or holds it.
    cells : callable, default signed_key
        When two records, or two items as a whole, are equal.

    Raises
    ------
    QueryError
        If items have no distance: numbers that are not finite, or vectors of unequal length.

    Examples
    --------
    >>> from sensitivity_lab.metrics import METRICS
    >>> distances(METRICS["insert_delete"], [(0, 1, 2), (1, 2, 3), (2, 1)]).row(0).tolist()
    [2, 3]
    >>> found = distances(METRICS["L2"], [(0.0, 0.0), (1.0, 0.5)])
    >>> found.truth(found.row(0)[0]).nearest()
    1.118033988749895
    """
    if metric.sees != "numbers":
        return metric.among([metric.form_by(cells, item) for item in items])
    rows = _coordinates(items, rational)
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1:
        raise QueryError(
            f"answers with {lengths[0]} and with {lengths[-1]} entries have no distance"
        )
    return metric.among(rows)


def any_distances(metric: Metric, items: Sequence[Any]) -> Distances:
    """Return the distances of items as `distances` does; their numbers can be infinite or missing.

    Examples
    --------
    >>> from sensitivity_lab.metrics import METRICS
    >>> found = any_distances(METRICS["L1"], [(1.0, np.inf), (3.0, np.inf), (1.0, np.nan)])
    >>> [found.truth(entry) for entry in found.row(0)]
    [Difference(first=Fraction(2, 1), second=Fraction(0, 1), root=False), inf]
    """
    if metric.sees != "numbers":
        return distances(metric, items)
    return metric.extended().among(_coordinates(items, coordinate))


def _coordinates(
    items: Sequence[Any], coordinate_of: Callable[[Any], Any]
) -> list[tuple[Any, ...]]:
    """Return the coordinates of numbers, vectors or mappings; absent names count as 0."""
    mappings = [item for item in items if isinstance(item, Mapping)]
    names = list(dict.fromkeys(name for item in mappings for name in item))
    rows = (
        [item.get(name, 0) for name in names] if isinstance(item, Mapping) else entries(item)
        for item in items
    )
    return [tuple(map(coordinate_of, row)) for row in rows]


def entries(item: Any) -> Sequence[Any]:
    """Return the numbers of a vector or a mapping, or of a number itself."""
    if isinstance(item, Mapping):
        return list(item.values())
    return list(item) if isinstance(item, list | tuple | np.ndarray) else [item]
