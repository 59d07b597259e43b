"""Metrics for all that code returns: NaN and infinities, vectors of any length, own distances.

An answer may be infinite or missing. An entry that is NaN, or one of the two infinities, is at
distance 0 from the same entry and infinitely far from any other one; so are vectors of different
lengths. In L0, which counts, such an entry counts as one.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.audits.metrics import (
    METRICS,
    NUMERIC,
    ORDER_IGNORED,
    Distances,
    Row,
    entries,
    exact,
)
from sensitivity_lab.checks import finite_number, shown, unboxed
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Difference, Number
from sensitivity_lab.exact.keys import key_of
from sensitivity_lab.exact.record_distances import INFINITE
from sensitivity_lab.results.literals import short_literal
from sensitivity_lab.universes.relations import RELATIONS

from .records import numbers_of, record_keys, single_key

Metric = str | Callable[[Any, Any], Any]
"""A name in `metrics.METRICS`, or a function of two datasets or answers."""

_ABSENT = ("absent",)


def check_metric(name: str, metric: Any) -> Any:
    """Return a metric, or raise InputError."""
    if metric in METRICS if isinstance(metric, str) else callable(metric):
        return metric
    known = ", ".join(map(repr, METRICS))
    # The name of a relation means the metric whose pairs at most 1 apart are its neighbors.
    relation = RELATIONS.get(metric) if isinstance(metric, str) else None
    meant = relation and relation.metric
    raise InputError(
        f"{name} must be one of {known}, or a function of two items that returns their distance, "
        f"got {shown(metric)}" + (f"; did you mean {shown(meant)}?" if meant else "")
    )


class Extended(Distances):
    """A metric on a list of items that can be infinitely far apart."""

    @abstractmethod
    def truth(self, entry: Any) -> Difference | float:
        """Return the real number that a row entry stands for, or math.inf."""


def measured(metric: Metric, items: Sequence[Any]) -> Extended:
    """Return the distances of some items.

    Examples
    --------
    >>> metric = measured("L1", [(1.0, math.inf), (3.0, math.inf), (1.0, math.nan)])
    >>> [metric.truth(entry) for entry in metric.row(0)]
    [Difference(first=Fraction(2, 1), second=Fraction(0, 1), root=False), inf]
    """
    if not isinstance(metric, str):
        return _Own(items, metric)
    if metric in NUMERIC:
        return _numeric(metric, [numbers_of(item) for item in items])
    if metric == "discrete":
        return _Known(METRICS[metric]([single_key(item) for item in items]))
    return _Known(METRICS[metric](list(map(record_keys, items))), INFINITE)


def order_ignored(metric: Metric) -> bool:
    """Tell whether a metric ignores the order of records."""
    return metric in ORDER_IGNORED


@dataclass(frozen=True)
class _Known(Extended):
    """A metric of the lab; row entries from `infinite` on stand for an infinite distance."""

    metric: Distances
    infinite: int | None = None

    def row(self, k: int) -> Row:
        return self.metric.row(k)

    def limit(self, distance: Number) -> int:
        limit = self.metric.limit(distance)
        return limit if self.infinite is None else min(limit, self.infinite - 1)

    def truth(self, entry: Any) -> Difference | float:
        if self.infinite is not None and entry >= self.infinite:
            return math.inf
        return self.metric.difference(entry)


@dataclass(frozen=True)
class _Partly(_Known):
    """A numeric metric: `metric` is about the finite entries, `codes` about all others."""

    codes: NDArray[np.int64] = field(kw_only=True)  # shape (items, coordinates); 0 if finite

    def row(self, k: int) -> Row:
        row = np.asarray(self.metric.row(k)).astype(object)
        row[(self.codes[k + 1 :] != self.codes[k]).any(axis=1)] = self.infinite
        return row


@dataclass(frozen=True)
class _Own(Extended):
    """The distance that a function of the caller returns, called once on each pair."""

    items: Sequence[Any]
    function: Callable[[Any, Any], Any]

    def row(self, k: int) -> Row:
        here, later = self.items[k], self.items[k + 1 :]
        row = np.empty(len(later), dtype=object)
        row[:] = [self._between(here, other) for other in later]
        return row

    def limit(self, distance: Number) -> Any:
        return Fraction(distance)

    def truth(self, entry: Any) -> Difference | float:
        return math.inf if entry == math.inf else Difference(Fraction(entry), Fraction(0))

    def _between(self, x: Any, y: Any) -> Fraction | float:
        pair = f"{short_literal(x)} and {short_literal(y)}"
        try:
            given = unboxed(self.function(x, y))
        except Exception as error:
            raise QueryError(
                f"the distance of {pair} raised {type(error).__name__}: {error}"
            ) from error
        if isinstance(given, bool):
            return Fraction(1) if given else math.inf
        if isinstance(given, float) and given == math.inf:
            return math.inf
        number = finite_number(given)
        if number is None or number < 0:
            raise QueryError(
                f"the distance of {pair} must be a number of at least 0, math.inf, or True or "
                f"False for neighbors, got {shown(given)}"
            )
        return Fraction(number)


def _numeric(name: str, items: Sequence[Any]) -> Extended:
    """Return a metric on numbers; the plain one where all of them are finite."""
    try:
        return _Known(METRICS[name](items))
    except QueryError:
        rows = _rows(items)
    if name == "L0":
        return _Known(METRICS["hamming"](rows), INFINITE)
    shape = len(rows), max(map(len, rows), default=0)
    known: dict[Hashable, int] = {}
    codes, finite = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=object)
    for place, row in enumerate(rows):
        for at, entry in enumerate([*row, *[_ABSENT] * (shape[1] - len(row))]):
            if _is_finite(entry):
                finite[place, at] = entry
            else:
                codes[place, at] = known.setdefault(key_of(entry), 1 + len(known))
    metric = METRICS[name](finite.tolist())
    # Two answers are at most the sum of all entries apart, in each of these metrics.
    total = sum((abs(Fraction(entry)) for entry in finite.ravel().tolist()), Fraction(0))
    return _Partly(metric, 1 + metric.limit(total), codes=codes)


def _rows(items: Sequence[Any]) -> list[list[Any]]:
    """Return the numbers of answers, a coordinate each; absent names count as 0."""
    mappings = [item for item in items if isinstance(item, Mapping)]
    names = list(dict.fromkeys(name for item in mappings for name in item))
    rows = [
        [item.get(name, 0) for name in names] if isinstance(item, Mapping) else entries(item)
        for item in items
    ]
    return [list(map(_number, row)) for row in rows]


def _number(entry: Any) -> Any:
    """Return a number of Python, or raise QueryError; NaN and the infinities are numbers."""
    number = unboxed(entry)
    return exact(number) if not isinstance(number, float) or _is_finite(number) else number


def _is_finite(entry: Any) -> bool:
    """Tell whether an entry is a number that is neither NaN nor infinite."""
    return entry is not _ABSENT and not (isinstance(entry, float) and not math.isfinite(entry))
