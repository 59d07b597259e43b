"""What group privacy takes for each curve: k times the sensitivity at distance 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError


def with_bounds(frame: pd.DataFrame, linear_bound: Any) -> pd.DataFrame:
    """Return the frame with linear bounds only if they are shown; InputError if it has none."""
    if not isinstance(linear_bound, bool | np.bool_):
        raise InputError(f"linear_bound: got {shown(linear_bound)}; use True or False")
    if not linear_bound:
        return frame.assign(linear_bound=np.nan)
    if "linear_bound" not in frame.columns or frame["linear_bound"].isna().all():
        raise InputError(
            "frame: no curve has a linear_bound; compute the curves with distance 1 among the "
            "distances, and pass what SensitivityCurves.to_frame() returns"
        )
    return frame


def bound_line(color: Any) -> Line2D:
    """Return the line of a linear bound, in the color of its curve."""
    return Line2D([], [], color=color, linewidth=0.9, linestyle=(0, (1, 2)), alpha=0.8)
