"""Sweeps: all constructors of a library in many settings, with a table at the end."""
