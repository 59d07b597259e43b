"""Sensitivities against the Hamming distance: panels, lines, and their labels."""
