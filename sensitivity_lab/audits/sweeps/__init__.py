"""Sweeps: every constructor of a library in many settings, each audited, with a table at the end."""
