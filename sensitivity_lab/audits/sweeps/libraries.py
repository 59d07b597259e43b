"""The libraries that can be swept."""

from __future__ import annotations

from sensitivity_lab.audits.opendp.sweep import OPENDP

from .diffprivlib import DIFFPRIVLIB

LIBRARIES = {library.name: library for library in (OPENDP, DIFFPRIVLIB)}
"""By name; a library is imported when it is swept."""
