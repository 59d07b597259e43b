"""The number of distinct values: counting copies."""
