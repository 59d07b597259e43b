"""Noise scales, and the search for a clipping bound."""
