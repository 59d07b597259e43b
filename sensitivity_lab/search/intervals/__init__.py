"""Datasets of any real numbers of an interval: finite domains that hold a worst case."""
