"""Queries on the rows of a table: counts, sums, histograms, groups and stacks of these."""
