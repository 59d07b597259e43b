"""The results of searches: measured from their witnesses, shown as text, HTML and tables."""

from .curves import SensitivityCurves
from .neighbor_table import NeighborRow, NeighborTable
from .reach import Reach
from .sensitivity import Sensitivity, Witness
from .smooth import SmoothSensitivity

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
