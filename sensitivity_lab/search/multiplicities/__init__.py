"""The number of distinct values, and the largest multiplicity: counting copies."""
