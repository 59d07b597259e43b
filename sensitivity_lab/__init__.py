"""Compute global sensitivity for differential privacy, and prove it.

The package computes the global sensitivity of a query for differential privacy, exactly, with the
two neighboring datasets that prove it.

A *record* is one entry of a dataset. A *universe* is the finite multiset of records that *datasets*
are drawn from: either a dataset whose records each occur once (scenario (a),
`Universe.from_dataset`), or a domain whose values can occur repeatedly (scenario (b),
`Universe.from_domain`). A *neighbor relation* says which pairs of datasets are neighbors, and at
which Hamming distance k: `Bounded`, `Unbounded`, `SymmetricDifference`. A *query* is a function of
a dataset: `Mean`, `Median`, `Percentile`, `Var`, `Std`, `Sum`, `Count`, `Min`, `Max`, or any
function (`from_function`). Its *sensitivity* is the largest difference between its answers on two
neighbors, and a *witness* is a pair that attains it. An *engine* is one way to find it.

Records can be rows of a table; the universe is then a `TableUniverse`. Answers can be vectors
(`Histogram`, `GroupBy`, `Stack`); a *norm* measures their difference: L1, L2 or Linf.
The *global* sensitivity is the maximum over all datasets x (`global_sensitivity`). The *local*
sensitivity is for one x and its neighbors (`local_sensitivity`). The *smooth* sensitivity is the
largest local sensitivity of any dataset, damped by its distance from x (`smooth_sensitivity`).
`neighbor_table` lists every pair.

Pass the universe and the query first, and everything else by name. `Run` limits memory and time.
`errors` has all errors, `results` the classes of results.

A *claim* is a number, or a function of k (and of the size n), that is said to bound a sensitivity.
An *audit* compares it with the truth: `audit` for a query, `audits` for code that others wrote
(maps, OpenDP, libraries that draw noise). `bounds` gives bounds where a search cannot finish.

`spaces` covers data other than records: any datasets with a metric or a function of neighbors,
graphs, whose neighbors differ in an edge or in a node, and sequences, whose neighbors differ in an
entry.

`sql` reads queries of databases: what one person changes in a count over joined tables.

`streams` has the sensitivity of what is released step after step, where a person takes part several
times: running sums, trees, correlated noise in training.

`pipelines` has the steps that change data before a query (clamp, map, join, truncate, count), each
a *transformation* with a *stability map*: how far apart outputs are when inputs are `d_in` apart.
`noise` turns a sensitivity into a scale of noise. `releases` goes from a table to numbers that may
be published, and `empirical` has the functions of the article.

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

from . import errors, universes
from .checks import did_you_mean
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
    Workload,
    from_function,
)
from .universes.datasets import datasets, neighboring_datasets
from .universes.relations import Bounded, Edit, SymmetricDifference, Unbounded
from .universes.universe import IntervalUniverse, TableUniverse, Universe

if TYPE_CHECKING:
    from sensitivity_lab.page.server import explore

    from . import (
        audits,
        bounds,
        empirical,
        formulas,
        noise,
        pipelines,
        plotting,
        releases,
        results,
        spaces,
        sql,
        streams,
    )
    from .audits.call import assert_sensitivity, audit
    from .calls.curves import local_curves, sensitivity_curves
    from .calls.neighbor_table import neighbor_table
    from .calls.reach import reach
    from .calls.sensitivity import global_sensitivity, local_sensitivity
    from .calls.smooth_sensitivity import smooth_sensitivity
    from .search.engine import Run

_LATER = {
    "audits": "audits",
    "bounds": "bounds",
    "empirical": "empirical",
    "formulas": "formulas",
    "spaces": "spaces",
    "sql": "sql",
    "streams": "streams",
    "noise": "noise",
    "pipelines": "pipelines",
    "plotting": "plotting",
    "releases": "releases",
    "results": "results",
    "global_sensitivity": "calls.sensitivity",
    "local_sensitivity": "calls.sensitivity",
    "local_curves": "calls.curves",
    "smooth_sensitivity": "calls.smooth_sensitivity",
    "sensitivity_curves": "calls.curves",
    "neighbor_table": "calls.neighbor_table",
    "reach": "calls.reach",
    "Run": "search.engine",
    "assert_sensitivity": "audits.call",
    "audit": "audits.call",
    "explore": "page.server",
}
"""Where to find the names that are loaded on first use: the calls, noise and the products."""

__all__ = [
    "Bounded",
    "ColumnQuery",
    "Count",
    "CountDistinct",
    "CountIf",
    "Covariance",
    "Edit",
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
    "Workload",
    "assert_sensitivity",
    "audit",
    "audits",
    "bounds",
    "datasets",
    "empirical",
    "errors",
    "explore",
    "formulas",
    "from_function",
    "global_sensitivity",
    "local_curves",
    "local_sensitivity",
    "neighbor_table",
    "neighboring_datasets",
    "noise",
    "pipelines",
    "plotting",
    "reach",
    "releases",
    "results",
    "sensitivity_curves",
    "smooth_sensitivity",
    "spaces",
    "sql",
    "streams",
    "universes",
]

__dir__ = __all__.copy  # for tab completion


def __getattr__(name: str) -> Any:
    """Load a name on first use."""
    if name == "__version__":
        from importlib.metadata import version  # it loads the standard library's email

        return version("sensitivity_lab")
    if name not in _LATER:
        way = (
            "; neighbors are listed by sl.neighboring_datasets(universe, x, sl.Bounded(1))"
            if "neighbors" in name
            else did_you_mean(name, __all__)
        )
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{way}")
    module = importlib.import_module(f"{__name__}.{_LATER[name]}")
    found = module if _LATER[name] == name else getattr(module, name)
    globals()[name] = found
    return found
