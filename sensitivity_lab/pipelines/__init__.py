"""Steps that change data before a query, and their effect on its sensitivity.

A *transformation* is a function of data with a promise, its *stability map*: inputs at most `d_in`
apart have outputs at most ``t.map(d_in)`` apart. Both distances have a *metric*: rows added or
removed, rows replaced, privacy ids added or removed with all their rows, the absolute difference of
numbers, or the L1 or L2 distance of vectors. A *domain* describes the data that a transformation
takes. ``>>`` chains steps together with their maps. `measured_stability` finds the exact maximum
over all neighboring inputs of a small universe, and the inputs that attain it. It shows whether a
map is right, and whether it is tight.

`sensitivity_lab.noise` computes how much noise a stability needs, and what a `clamp` bound costs.
`laplace` ends a chain with noise.

Examples
--------
>>> from sensitivity_lab import pipelines as pl
>>> total = (pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(0, 5) >> pl.sum_(0, 5)
>>> total
clamp(0, 5) >> sum_(0, 5)
  input   numbers; rows added or removed
  output  a number; absolute difference
>>> total([1, 8, -3]), total.map(2)
(6, 10)
>>> pl.measured_stability(total, [1, 8, -3, 7], d_in=2).verdict
'tight'
>>> (total >> pl.laplace(5)).map(2)
2.0
"""

from sensitivity_lab.exact.roots import Root, upper_of
from sensitivity_lab.metrics import (
    AbsoluteDistance,
    ChangeOneDistance,
    GroupsDistance,
    IdDistance,
    L1Distance,
    L2Distance,
    Metric,
    PairDistance,
    SharedIdDistance,
    SymmetricDistance,
)

from .changes import AddMaxRows, AddOneRow, AddRowsWithID, AddRowsWithSharedID
from .domains import Domain, Numbers, Pair, Scalar, Values, Vector
from .ends import Measurement, laplace, number, start
from .measuring import MeasuredStability, StabilityWitness, measured_stability
from .steps.filter_count import count, filter_, select
from .steps.formulas import formula
from .steps.grouping import group_by
from .steps.joins import join_private, join_public
from .steps.numbers import clamp, histogram, mean, rounding_error, sum_, summation_error
from .steps.row_maps import flat_map, map_
from .steps.truncation import (
    DropExcess,
    DropNonUnique,
    max_groups_per_id,
    max_rows_per_group_per_id,
    max_rows_per_id,
)
from .table_domains import Groups, Table
from .transformation import ChainSensitivity, Start, Step, Transformation

__all__ = [
    "AbsoluteDistance",
    "AddMaxRows",
    "AddOneRow",
    "AddRowsWithID",
    "AddRowsWithSharedID",
    "ChainSensitivity",
    "ChangeOneDistance",
    "Domain",
    "DropExcess",
    "DropNonUnique",
    "Groups",
    "GroupsDistance",
    "IdDistance",
    "L1Distance",
    "L2Distance",
    "MeasuredStability",
    "Measurement",
    "Metric",
    "Numbers",
    "Pair",
    "PairDistance",
    "Root",
    "Scalar",
    "SharedIdDistance",
    "StabilityWitness",
    "Start",
    "Step",
    "SymmetricDistance",
    "Table",
    "Transformation",
    "Values",
    "Vector",
    "clamp",
    "count",
    "filter_",
    "flat_map",
    "formula",
    "group_by",
    "histogram",
    "join_private",
    "join_public",
    "laplace",
    "map_",
    "max_groups_per_id",
    "max_rows_per_group_per_id",
    "max_rows_per_id",
    "mean",
    "measured_stability",
    "number",
    "rounding_error",
    "select",
    "start",
    "sum_",
    "summation_error",
    "upper_of",
]

__dir__ = __all__.copy  # for tab completion
