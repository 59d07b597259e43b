"""Bounds of sensitivities that no engine can compute exactly."""

from .call import sensitivity_bounds
from .result import SensitivityBounds

__all__ = ["SensitivityBounds", "sensitivity_bounds"]

__dir__ = __all__.copy  # for tab completion
