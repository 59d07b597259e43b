"""The sensitivity of code as implemented: folds, orders of the records, rounding."""

from .call import implemented_sensitivity
from .folds import Fold, float_mean, float_sum, integer_sum, welford_variance
from .result import ImplementedSensitivity, OrderedWitness

__all__ = [
    "Fold",
    "ImplementedSensitivity",
    "OrderedWitness",
    "float_mean",
    "float_sum",
    "implemented_sensitivity",
    "integer_sum",
    "welford_variance",
]

__dir__ = __all__.copy  # for tab completion
