"""The caller's own code in a stack of frames, and how messages show a line of it."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from types import FrameType

_TOOLS = frozenset(sys.stdlib_module_names) | {"numpy", "pandas", "polars", "sensitivity_lab"}
"""Packages whose code a caller's code only calls."""


def is_callers(frame: FrameType) -> bool:
    """Tell whether a frame runs the caller's own code."""
    return frame.f_globals.get("__name__", "").partition(".")[0] not in _TOOLS


def shown_source(file: str, line: int) -> tuple[str, str]:
    """Return a file's name, or that it is a cell of a notebook, and a line's source if known."""
    name = "a cell" if "ipykernel_" in file else Path(file).name
    return name, linecache.getline(file, line).strip()
