"""Bounds of sensitivities that no engine can compute exactly."""

from .boxes.result import CertifiedBounds
from .call import sensitivity_bounds

__all__ = ["CertifiedBounds", "sensitivity_bounds"]

__dir__ = __all__.copy  # for tab completion
