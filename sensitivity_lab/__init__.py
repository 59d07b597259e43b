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

A *claim* is a number, or a function of k (and of the size n), that somebody says bounds a
sensitivity. An *audit* compares it with the truth: `audit` for a query; `audit_map`,
`audit_opendp`, `audit_opendp_measurement`, `audit_randomized`, `audit_recorded`, `audit_sampled`,
`audit_selection` and `audit_stability` for what others wrote. `implemented_sensitivity` is that of
code, with its rounding and overflow, on ordered datasets; a *fold* is code that reads one record
after the other.

`graphs` and `sequences` have other data than records: graphs, whose neighbors differ in an edge or
in a node, and trajectories or time series, whose neighbors differ in an entry.

`pipelines` has the steps that change data before a query (clamp, map, join, truncate, count), each
a *transformation* with a *stability map*: how far apart outputs are when inputs are `d_in` apart.
`noise` has the scales that a sensitivity needs.

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
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from .calls.curves import sensitivity_curves
from .calls.global_sensitivity import global_sensitivity
from .calls.local_sensitivity import local_curves, local_sensitivity
from .calls.neighbor_table import neighbor_table
from .calls.smooth_sensitivity import smooth_sensitivity
from .calls.sweep import sweep
from .errors import (
    CheckpointError,
    DatasetUniverseWarning,
    InputError,
    MissingExtraError,
    NoEngineError,
    PrivateSizeWarning,
    QueryError,
    SensitivityLabError,
    SensitivityViolation,
    TooLargeError,
    VerificationError,
    WorkerError,
)
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
from .results.curves import SensitivityCurves
from .results.neighbor_table import NeighborRow, NeighborTable
from .results.sensitivity import Sensitivity, Witness
from .results.smooth import SmoothSensitivity
from .results.sweep import Sweep
from .universes.datasets import count_datasets, count_neighbors, datasets, neighboring_datasets
from .universes.interval import IntervalUniverse
from .universes.multiset import FiniteUniverse
from .universes.relations import Bounded, Edit, SymmetricDifference, Unbounded
from .universes.table import TableUniverse
from .universes.universe import Universe

if TYPE_CHECKING:
    from . import graphs, noise, pipelines, sequences
    from .audits.call import assert_sensitivity, audit
    from .audits.couplings import audit_randomized
    from .audits.maps.call import audit_map
    from .audits.maps.selections import audit_selection
    from .audits.opendp import audit_opendp, audit_opendp_measurement
    from .audits.recorded import audit_recorded
    from .audits.recording import recording
    from .audits.report import AuditReport, AuditRow, Evidence
    from .audits.samplers.call import audit_sampled
    from .audits.stability import audit_stability
    from .bounds import BoundedCurves, SensitivityBounds, bounded_curves, sensitivity_bounds
    from .explorer import explore
    from .implementations.call import implemented_sensitivity
    from .implementations.folds import Fold, float_mean, float_sum, integer_sum, welford_variance
    from .implementations.result import ImplementedSensitivity, OrderedWitness

_PRODUCTS = {
    "graphs": "graphs",
    "noise": "noise",
    "pipelines": "pipelines",
    "sequences": "sequences",
    "assert_sensitivity": "audits.call",
    "audit": "audits.call",
    "audit_randomized": "audits.couplings",
    "audit_map": "audits.maps.call",
    "audit_selection": "audits.maps.selections",
    "audit_opendp": "audits.opendp",
    "audit_opendp_measurement": "audits.opendp",
    "audit_recorded": "audits.recorded",
    "recording": "audits.recording",
    "AuditReport": "audits.report",
    "AuditRow": "audits.report",
    "Evidence": "audits.report",
    "audit_sampled": "audits.samplers.call",
    "audit_stability": "audits.stability",
    "BoundedCurves": "bounds",
    "SensitivityBounds": "bounds",
    "bounded_curves": "bounds",
    "sensitivity_bounds": "bounds",
    "explore": "explorer",
    "implemented_sensitivity": "implementations.call",
    "Fold": "implementations.folds",
    "float_mean": "implementations.folds",
    "float_sum": "implementations.folds",
    "integer_sum": "implementations.folds",
    "welford_variance": "implementations.folds",
    "ImplementedSensitivity": "implementations.result",
    "OrderedWitness": "implementations.result",
}
"""Where the names stand that are no part of the calculator; they are loaded when they are used."""

__version__ = version("sensitivity_lab")

__all__ = [
    "AuditReport",
    "AuditRow",
    "Bounded",
    "BoundedCurves",
    "CheckpointError",
    "ColumnQuery",
    "Count",
    "CountDistinct",
    "CountIf",
    "Covariance",
    "DatasetUniverseWarning",
    "Edit",
    "Evidence",
    "FiniteUniverse",
    "Fold",
    "GiniMeanDifference",
    "GroupBy",
    "Histogram",
    "ImplementedSensitivity",
    "InputError",
    "InterquartileRange",
    "IntervalUniverse",
    "LStatistic",
    "Max",
    "Mean",
    "MeanOf",
    "Median",
    "Midrange",
    "Min",
    "MissingExtraError",
    "ModeCount",
    "NeighborRow",
    "NeighborTable",
    "NoEngineError",
    "OrderedWitness",
    "Percentile",
    "PrivateSizeWarning",
    "QueryError",
    "Range",
    "Sensitivity",
    "SensitivityBounds",
    "SensitivityCurves",
    "SensitivityLabError",
    "SensitivityViolation",
    "SmoothSensitivity",
    "Stack",
    "Std",
    "Sum",
    "SumOf",
    "Sweep",
    "SymmetricDifference",
    "TableUniverse",
    "TooLargeError",
    "TrimmedMean",
    "Unbounded",
    "Universe",
    "Var",
    "VectorSum",
    "VerificationError",
    "WinsorizedMean",
    "Witness",
    "WorkerError",
    "assert_sensitivity",
    "audit",
    "audit_map",
    "audit_opendp",
    "audit_opendp_measurement",
    "audit_randomized",
    "audit_recorded",
    "audit_sampled",
    "audit_selection",
    "audit_stability",
    "bounded_curves",
    "count_datasets",
    "count_neighbors",
    "datasets",
    "explore",
    "float_mean",
    "float_sum",
    "from_function",
    "global_sensitivity",
    "graphs",
    "implemented_sensitivity",
    "integer_sum",
    "local_curves",
    "local_sensitivity",
    "neighbor_table",
    "neighboring_datasets",
    "noise",
    "pipelines",
    "recording",
    "sensitivity_bounds",
    "sensitivity_curves",
    "sequences",
    "smooth_sensitivity",
    "sweep",
    "welford_variance",
]


def __getattr__(name: str) -> Any:
    """Load a product, or what is named of one, when it is first used."""
    if name not in _PRODUCTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_PRODUCTS[name]}")
    found = module if _PRODUCTS[name] == name else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List all public names, those that are not loaded yet included."""
    return sorted({*globals(), *_PRODUCTS})
