"""Bounds of sensitivities that no engine can compute exactly."""

from .bounding import sensitivity_bounds
from .certified import CertifiedBounds

__all__ = ["CertifiedBounds", "sensitivity_bounds"]

__dir__ = __all__.copy  # for tab completion
