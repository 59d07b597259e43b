"""Sensitivities known only by bounds: bars, never a line that looks exact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from sensitivity_lab.plotting._theme import Theme, theme

_APART = 0.09
"""The distance between the bars of two queries, in units of k."""


@dataclass(frozen=True)
class Ranges:
    """Lower and upper bounds, a row per distance and a column per curve; NaN for exact points.

    Attributes
    ----------
    lower, upper : DataFrame
        An upper bound of math.inf is unknown.
    """

    lower: pd.DataFrame
    upper: pd.DataFrame

    @classmethod
    def of(cls, part: pd.DataFrame) -> Ranges:
        """Return the bounds of a panel's points, without those of exact points."""
        if "lower" not in part.columns or "status" not in part.columns:
            part = part.assign(lower=np.nan, status="exact")
        rows = part[part["status"] == "bounds"]
        lower, upper = (
            rows.pivot(index="distance", columns="curve", values=name)
            if len(rows)
            else pd.DataFrame()
            for name in ("lower", "upper")
        )
        return cls(lower, upper)

    @property
    def tables(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The values that the sensitivity axis must show."""
        return self.lower, self.upper

    def broken(self, name: str, curve: pd.Series[float]) -> pd.Series[float]:
        """Return an exact curve with gaps at points with bounds only, so no line crosses them."""
        if name not in self.lower:
            return curve.dropna()
        bounded = self.lower[name].dropna().index
        return curve[curve.notna() | curve.index.isin(bounded)]

    def draw(self, ax: Axes, name: str, line: Line2D) -> None:
        """Draw a bar from the lower to the upper bound; an arrow if there is no upper bound."""
        if name not in self.lower:
            return
        lower = self.lower[name].dropna()
        upper = self.upper[name].reindex(lower.index)
        # Bars of several queries stand side by side.
        names = list(self.lower)
        shift = _APART * (names.index(name) - (len(names) - 1) / 2)
        lower.index, upper.index = lower.index + shift, upper.index + shift
        known = np.isfinite(upper.to_numpy(float))
        bars, open_ends = lower[known], lower[~known]
        paper = theme(ax).paper
        style: dict[str, Any] = {
            "color": line.get_color(),
            "linestyle": "none",
            "markeredgewidth": 1.6,
        }
        ax.vlines(bars.index, bars, upper[known], color=line.get_color(), linewidth=3.5, alpha=0.45)
        for ends in (bars, upper[known]):
            ax.plot(ends.index, ends, marker="_", markersize=9, **style)
        ax.plot(
            open_ends.index, open_ends, marker="^", markersize=7, markerfacecolor=paper, **style
        )


def legend_of_ranges(panels: Iterable[Ranges], colors: Theme) -> dict[str, Line2D]:
    """Return the legend entries for bars and arrows, if there are any."""
    uppers = [ranges.upper.to_numpy(float).ravel() for ranges in panels if not ranges.upper.empty]
    upper = np.concatenate([np.empty(0), *uppers])
    entries = {}
    if np.isfinite(upper).any():
        entries["bounds"] = Line2D(
            [], [], color=colors.gray(0.3), linewidth=3.5, alpha=0.45, marker="_"
        )
    if np.isinf(upper).any():
        entries["lower bound only"] = Line2D(
            [],
            [],
            color=colors.gray(0.3),
            linestyle="none",
            marker="^",
            markerfacecolor=colors.paper,
        )
    return entries


def axis_limits(tables: Iterable[pd.DataFrame], *, log: bool) -> tuple[float, float]:
    """Return the ends of the sensitivity axis that all tables share."""
    values = np.concatenate([table.to_numpy(float).ravel() for table in tables])
    values = values[np.isfinite(values) & (values > 0)]
    if log:
        return (values.min() / 1.5, values.max() * 1.5) if len(values) else (0.1, 10)
    top = values.max(initial=0) or 1.0
    return -0.03 * top, 1.06 * top  # a curve at 0 stays clear of the frame
