"""The settings of a sweep of diffprivlib: calls of its tools and models, as text."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from .setting import Setting

_BOUNDS = ((0, 1), (1, 2), (-1, 1), (-2, 1), (0, 10))
_SIZES = (1, 2, 3)
_SCORES = (("audit", "scores"),)


def settings() -> Iterator[Setting]:
    """Yield the settings, the same ones in the same order each time.

    Each is a call on a dataset `x`, a list of records. Where `spent` stands, an epsilon of 1 and an
    accountant of its own are passed.

    Examples
    --------
    >>> first = next(settings())
    >>> first.constructor, first.source
    ('mean', 'tools.mean(np.array(x, dtype=float), bounds=(0, 1), **spent)')
    """
    for name in ("mean", "var", "std", "sum"):
        for bounds in _BOUNDS:
            yield from _of_statistic(name, bounds)
            yield from _of_columns(name, bounds)
    yield from _of_counts()
    yield from _of_quantiles()
    yield from _of_models()
    yield from _of_trees()
    yield from _of_losses()
    yield from _of_components()


def _of_statistic(name: str, bounds: tuple[int, int]) -> Iterator[Setting]:
    """Yield the settings of a statistic of one column, with missing values and without."""
    low, high = bounds
    values = (low, (low + high) / 2, high)
    for kind in (name, f"nan{name}"):
        source = f"tools.{kind}(np.array(x, dtype=float), bounds={bounds}, **spent)"
        yield from _of_relations(kind, source, values)
        if kind != name:
            yield from _of_relations(kind, source, (*values, math.nan), (("values", "missing"),))
    if name == "sum":
        source = f"tools.sum(np.array(x), bounds={bounds}, dtype=int, **spent)"
        yield from _of_relations("sum", source, (low, high))


def _of_columns(name: str, bounds: tuple[int, int]) -> Iterator[Setting]:
    """Yield the settings of a statistic of two columns, whose budget is split over them."""
    records = tuple(itertools.product(bounds, repeat=2))
    for kind in (name, f"nan{name}"):
        source = f"tools.{kind}(np.array(x, dtype=float), axis=0, bounds={bounds}, **spent)"
        yield from _of_relations(kind, source, records, sizes=(2, 3))


def _of_counts() -> Iterator[Setting]:
    """Yield the settings of counts and of histograms."""
    source = "tools.count_nonzero(np.array(x), **spent)"
    yield from _of_relations("count_nonzero", source, (0, 1, 2))
    source = "tools.count_nonzero(np.array(x), axis=0, **spent)"
    pairs = tuple(itertools.product((0, 1), repeat=2))
    yield from _of_relations("count_nonzero", source, pairs, sizes=(2, 3))
    for bins, density in itertools.product((1, 2, 3), (False, True)):
        rest = f"bins={bins}, density={density}, **spent)"
        source = f"tools.histogram(np.array(x), range=(0, 3), {rest}"
        yield from _of_relations("histogram", source, (0.5, 1.5, 2.5))
        given = "np.array(x)[:, 0], weights=np.array(x)[:, 1], range=(0, 3)"
        weighted = ((0.5, 1), (1.5, 1), (2.5, 3))
        source = f"tools.histogram({given}, {rest}"
        yield from _of_relations("histogram", source, weighted, (("weights", "up to 3"),))
        points = ((0.5, 0.5), (0.5, 2.5), (2.5, 2.5))
        given = "np.array(x)[:, 0], np.array(x)[:, 1], range=[(0, 3), (0, 3)]"
        yield from _of_relations("histogram2d", f"tools.histogram2d({given}, {rest}", points)
        source = f"tools.histogramdd(np.array(x), range=[(0, 3), (0, 3)], {rest}"
        yield from _of_relations("histogramdd", source, points)


def _of_quantiles() -> Iterator[Setting]:
    """Yield the settings of what selects an interval by its score."""
    for low, high in _BOUNDS[1::2]:
        values = tuple(range(low, high + 1, max(1, (high - low) // 3)))
        calls = {f"quantile(np.array(x), {share}": "quantile" for share in (0, 0.25, 0.9)}
        calls |= {f"percentile(np.array(x), {share}": "percentile" for share in (10, 100)}
        calls["median(np.array(x)"] = "median"
        for call, name in calls.items():
            source = f"tools.{call}, bounds=({low}, {high}), **spent)"
            yield from _of_relations(name, source, values, _SCORES)


def _of_models() -> Iterator[Setting]:
    """Yield the settings of models, on records of one or two numbers, the last one a label."""
    for low, high in _BOUNDS:
        ends, one = (low, high), f"bounds=({low}, {high})"
        for std in (True, False):
            source = f"models.StandardScaler({one}, with_std={std}, **spent).fit(np.c_[x])"
            yield from _of_relations("StandardScaler", source, ends, sizes=(2, 3))
        labelled = tuple(itertools.product(ends, (0, 1)))
        source = f"models.GaussianNB({one}, **spent).fit(np.c_[x][:, :1], np.array(x)[:, 1])"
        both = (("where", "both labels"),)
        yield from _of_relations("GaussianNB", source, labelled, both, sizes=(2, 3))
        for intercept in (True, False):
            given = f"bounds_X=({low}, {high}), bounds_y=(0, 2), fit_intercept={intercept}"
            source = (
                f"models.LinearRegression({given}, **spent).fit(np.c_[x][:, :1], np.array(x)[:, 1])"
            )
            records = tuple(itertools.product(ends, (0, 2)))
            yield from _of_relations("LinearRegression", source, records, sizes=(2, 3))
        for clusters in (1, 2):
            source = f"models.KMeans({clusters}, {one}, **spent).fit(np.c_[x])"
            yield from _of_relations("KMeans", source, (low, (low + high) / 2, high), sizes=(2, 3))


def _of_trees() -> Iterator[Setting]:
    """Yield the settings of trees and forests on one column, whose last number is a label."""
    records = tuple(itertools.product((0.1, 0.9), (0, 1)))
    given = "bounds=(0, 1), classes=[0, 1], **spent"
    kind = (("audit", "leaves"),)
    for depth in (1, 2):
        source = f"models.DecisionTreeClassifier(max_depth={depth}, {given})"
        yield from _of_relations("DecisionTreeClassifier", source, records, kind, sizes=(2, 3))
        source = f"models.RandomForestClassifier(2, max_depth={depth}, {given})"
        yield from _of_relations("RandomForestClassifier", source, records, kind, sizes=(2, 3))


def _of_losses() -> Iterator[Setting]:
    """Yield the settings of a loss with a random linear term: its slope, and its curvature."""
    for norm in (0.5, 1, 2, 10):
        records = tuple(itertools.product((0, 0.9 * norm, norm), (0, 1)))
        for kind, intercept in (("gradient", False), ("gradient", True), ("curvature", False)):
            source = f"LogisticRegression(data_norm={norm}, fit_intercept={intercept})"
            for size in (2, 3):
                options = (("audit", kind), ("neighbors", "bounded"), ("size", size))
                yield Setting("LogisticRegression", source, records, (size,), options)


def _of_components() -> Iterator[Setting]:
    """Yield the settings of principal components: the steps that release numbers.

    The sampled directions are no numbers, so nothing is returned.
    """
    for (low, high), norm in zip(_BOUNDS, (1.5, 3, 1.4), strict=False):
        records = tuple(itertools.product((low, high), repeat=2))
        for given in ("centered=True", f"bounds=({low}, {high})"):
            source = (
                f"(models.PCA(data_norm={norm}, {given}, **spent).fit(np.array(x, float)), None)[1]"
            )
            yield from _of_relations("PCA", source, records, sizes=(2, 3))


def _of_relations(
    name: str,
    source: str,
    values: tuple[Any, ...],
    options: tuple[tuple[str, Any], ...] = (),
    sizes: tuple[int, ...] = _SIZES,
) -> Iterator[Setting]:
    """Yield a call under both neighbor relations: per size with replaced records, and without."""
    for size in sizes:
        at = (*options, ("neighbors", "bounded"), ("size", size))
        yield Setting(name, source, values, (size,), at)
    yield Setting(name, source, values, sizes, (*options, ("neighbors", "unbounded")))
