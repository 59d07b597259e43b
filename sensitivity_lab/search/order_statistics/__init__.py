"""Median, percentiles, minimum and maximum."""
