"""Sums of a function of a record: counts, sums, histograms."""
