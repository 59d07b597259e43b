"""The results of searches: measured from their witnesses, shown as text, HTML and tables."""

from .curves_result import SensitivityCurves
from .neighbor_table_result import NeighborRow, NeighborTable
from .reach_result import Reach
from .sensitivity_result import Sensitivity, Witness
from .smooth_result import SmoothSensitivity

__all__ = [
    "NeighborRow",
    "NeighborTable",
    "Reach",
    "Sensitivity",
    "SensitivityCurves",
    "SmoothSensitivity",
    "Witness",
]

__dir__ = __all__.copy  # for tab completion
