"""Sweeps: all constructors of an installed library in many settings, with a table at the end.

``python -m tools.sweep LIBRARY --output FOLDER`` makes a sweep, and ``python -m tools.sweep.docs
FOLDER`` writes what it found into the documentation.
"""
