"""Bounds of sensitivities that no engine can compute exactly."""

from .call import sensitivity_bounds
from .curves import BoundedCurves, bounded_curves
from .result import SensitivityBounds

__all__ = ["BoundedCurves", "SensitivityBounds", "bounded_curves", "sensitivity_bounds"]

__dir__ = __all__.copy  # for tab completion
