"""Queries on one column of a table, searched on the column's numbers."""
