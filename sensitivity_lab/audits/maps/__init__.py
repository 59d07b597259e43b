"""Audits of a function beside its map, between two metrics, for any library."""
