"""How far apart two datasets or two answers are, exactly.

A metric is an object: its name in words, the form of data that it sees (`form`), the distance of
two forms (`between`) and of many at once (`among`), and the distances that maps take (`check`).
`cells` defines when two cells are equal: pipelines compare values (`encoding`), audits distinguish
0.0 from -0.0. `METRICS` lists the metrics that have a name.
"""

from .ids import IdDistance, SharedIdDistance
from .lists import DiscreteDistance, HammingDistance, InsertDeleteDistance
from .metric import Distances, Metric, OwnDistance, Row
from .names import METRICS, OF_NEIGHBORS, Given, as_metric
from .parts import GroupsDistance, PairDistance
from .records import AddOrRemoveDistance, ChangeOneDistance, SymmetricDistance
from .vectors import (
    AbsoluteDistance,
    ExtendedDistance,
    L0Distance,
    L1Distance,
    L2Distance,
    LInfDistance,
    MonotonicDistance,
)

__all__ = [
    "METRICS",
    "OF_NEIGHBORS",
    "AbsoluteDistance",
    "AddOrRemoveDistance",
    "ChangeOneDistance",
    "DiscreteDistance",
    "Distances",
    "ExtendedDistance",
    "Given",
    "GroupsDistance",
    "HammingDistance",
    "IdDistance",
    "InsertDeleteDistance",
    "L0Distance",
    "L1Distance",
    "L2Distance",
    "LInfDistance",
    "Metric",
    "MonotonicDistance",
    "OwnDistance",
    "PairDistance",
    "Row",
    "SharedIdDistance",
    "SymmetricDistance",
    "as_metric",
]
