"""Universes, which datasets are drawn from, neighbor relations, and datasets listed and counted."""

from .datasets import count_datasets, count_neighbors
from .universe import FiniteUniverse

__all__ = ["FiniteUniverse", "count_datasets", "count_neighbors"]

__dir__ = __all__.copy  # for tab completion
