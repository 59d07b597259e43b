"""What a search returns, how it is measured from its witness, and how it tells itself."""

from .curves import SensitivityCurves
from .neighbor_table import NeighborRow, NeighborTable
from .sensitivity import Sensitivity, Witness
from .smooth import SmoothSensitivity
from .sweep import Sweep

__all__ = [
    "NeighborRow",
    "NeighborTable",
    "Sensitivity",
    "SensitivityCurves",
    "SmoothSensitivity",
    "Sweep",
    "Witness",
]
