"""Sensitivities against the Hamming distance: panels, lines, and what names them."""
