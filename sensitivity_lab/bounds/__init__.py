"""Bounds of sensitivities that no engine can compute exactly."""

from .boxes.result import CertifiedBounds
from .call import sensitivity_bounds
from .result import SensitivityBounds

__all__ = ["CertifiedBounds", "SensitivityBounds", "sensitivity_bounds"]

__dir__ = __all__.copy  # for tab completion
