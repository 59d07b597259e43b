"""Universes, which datasets are drawn from, neighbor relations, and datasets listed and counted."""

from .datasets import count_datasets, count_neighbors

__all__ = ["count_datasets", "count_neighbors"]
