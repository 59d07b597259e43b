"""Variances at every distance of a curve at once: bounds first, then what these leave."""
