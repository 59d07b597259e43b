"""Exact global sensitivity over finite universes, with the pair of datasets that proves it.

A *record* is one entry of a dataset. A *universe* is the finite multiset of records that *datasets*
are drawn from: a dataset, each of whose records occurs once (scenario (a),
`Universe.from_dataset`), or a domain of values that can occur repeatedly (scenario (b),
`Universe.from_domain`). A *neighbor relation* says which pairs of datasets are neighbors, and at
which Hamming distance k: `Bounded`, `Unbounded`, `SymmetricDifference`. A *query* is a function of
a dataset: `Mean`, `Median`, `Percentile`, `Var`, `Std`, `Sum`, `Count`, `Min`, `Max`, or any
function (`from_function`). Its *sensitivity* is the largest difference of its answers between
neighbors, and a *witness* is a pair that attains it. An *engine* is one way to find it.

Records can be rows of a table, the universe is then a `TableUniverse`, and answers can be vectors,
whose difference is measured by a *norm*: L1, L2 or Linf (`Histogram`, `GroupBy`, `Stack`).
The sensitivity over all datasets x is *global* (`global_sensitivity`), that of one x and its
neighbors is *local* (`local_sensitivity`), and the largest local one of all datasets, damped by
their distance from x, is *smooth* (`smooth_sensitivity`). `neighbor_table` lists every pair.

Every call takes the universe, the query, and the rest by name. `Run` limits memory and time, and
says where finished work is kept. `errors` has all errors, `results` the classes of the answers.

A *claim* is a number, or a function of k (and of the size n), that somebody says bounds a
sensitivity. An *audit* compares it with the truth: `audit` for a query, and `audits` for what
others wrote: maps, OpenDP, libraries that draw noise. `implementations` has the sensitivity of
code, with its rounding and overflow, on ordered datasets; a *fold* is code that reads one record
after the other. `bounds` is for what no search can reach.

`spaces` has other data than records: graphs, whose neighbors differ in an edge or in a node,
trajectories or time series, whose neighbors differ in an entry, and any datasets with a metric.

`pipelines` has the steps that change data before a query (clamp, map, join, truncate, count), each
a *transformation* with a *stability map*: how far apart outputs are when inputs are `d_in` apart.
`noise` has the scales that a sensitivity needs, and `empirical` the functions of the article.

Examples
--------
>>> import sensitivity_lab as sl
>>> universe = sl.Universe.from_dataset([1, 2, 3, 10])
>>> result = sl.global_sensitivity(universe, "mean", size=3, neighbors=sl.Bounded(1))
>>> result.value, result.witness.x, result.witness.y
(3.0, (2, 3, 10), (1, 2, 3))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import errors, results, universes
from .calls.curves import sensitivity_curves
from .calls.global_sensitivity import global_sensitivity
from .calls.local_sensitivity import local_curves, local_sensitivity
from .calls.neighbor_table import neighbor_table
from .calls.smooth_sensitivity import smooth_sensitivity
from .calls.sweep import sweep
from .queries import (
    ColumnQuery,
    Count,
    CountDistinct,
    CountIf,
    Covariance,
    GiniMeanDifference,
    GroupBy,
    Histogram,
    InterquartileRange,
    LStatistic,
    Max,
    Mean,
    MeanOf,
    Median,
    Midrange,
    Min,
    ModeCount,
    Percentile,
    Range,
    Stack,
    Std,
    Sum,
    SumOf,
    TrimmedMean,
    Var,
    VectorSum,
    WinsorizedMean,
    from_function,
)
from .search.run import Run
from .universes.datasets import datasets, neighboring_datasets
from .universes.interval import IntervalUniverse
from .universes.multiset import FiniteUniverse
from .universes.relations import Bounded, Edit, SymmetricDifference, Unbounded
from .universes.table import TableUniverse
from .universes.universe import Universe

if TYPE_CHECKING:
    from . import (
        audits,
        bounds,
        empirical,
        implementations,
        noise,
        pipelines,
        plotting,
        spaces,
    )
    from .audits.call import assert_sensitivity, audit
    from .explorer import explore

_LATER = {
    "audits": "audits",
    "bounds": "bounds",
    "empirical": "empirical",
    "spaces": "spaces",
    "implementations": "implementations",
    "noise": "noise",
    "pipelines": "pipelines",
    "plotting": "plotting",
    "assert_sensitivity": "audits.call",
    "audit": "audits.call",
    "explore": "explorer",
}
"""Where the names stand that are loaded when they are used: noise, and what the products have."""

__all__ = [
    "Bounded",
    "ColumnQuery",
    "Count",
    "CountDistinct",
    "CountIf",
    "Covariance",
    "Edit",
    "FiniteUniverse",
    "GiniMeanDifference",
    "GroupBy",
    "Histogram",
    "InterquartileRange",
    "IntervalUniverse",
    "LStatistic",
    "Max",
    "Mean",
    "MeanOf",
    "Median",
    "Midrange",
    "Min",
    "ModeCount",
    "Percentile",
    "Range",
    "Run",
    "Stack",
    "Std",
    "Sum",
    "SumOf",
    "SymmetricDifference",
    "TableUniverse",
    "TrimmedMean",
    "Unbounded",
    "Universe",
    "Var",
    "VectorSum",
    "WinsorizedMean",
    "assert_sensitivity",
    "audit",
    "audits",
    "bounds",
    "datasets",
    "empirical",
    "errors",
    "explore",
    "from_function",
    "global_sensitivity",
    "implementations",
    "local_curves",
    "local_sensitivity",
    "neighbor_table",
    "neighboring_datasets",
    "noise",
    "pipelines",
    "plotting",
    "results",
    "sensitivity_curves",
    "smooth_sensitivity",
    "spaces",
    "sweep",
    "universes",
]


def __getattr__(name: str) -> Any:
    """Load what is not loaded yet, when it is first used."""
    if name == "__version__":
        from importlib.metadata import version  # it loads the standard library's email

        return version("sensitivity_lab")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_LATER[name]}")
    found = module if _LATER[name] == name else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List all public names, those that are not loaded yet included."""
    return sorted({*globals(), *_LATER})
