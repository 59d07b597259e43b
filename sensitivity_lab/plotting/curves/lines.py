"""How each curve looks: color, dashes, marker; wider where others lie on top of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from sensitivity_lab.checks import named
from sensitivity_lab.plotting._theme import PALETTE, Theme

from .panels import Panel

# With ten colors, the first 110 queries all differ, the first ten in color and in marker.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p")
_DASHES: tuple[Any, ...] = (
    "-",
    (0, (4, 1.5)),
    (0, (1, 1)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
)


def with_curves(frame: pd.DataFrame) -> tuple[pd.DataFrame, str, str]:
    """Return the frame with what legends call each curve, their title, and the y axis' name."""
    given = frame["kind"] if "kind" in frame.columns else pd.Series("global", frame.index)
    kind = given.fillna("global").astype(str)
    frame = frame.assign(kind=kind, curve=frame["query"].map(named))
    if "norm" in frame.columns:
        norm = frame["norm"].fillna("").astype(str)
        frame["curve"] += norm.map(lambda name: f" ({name})" if name else "")
    if kind.nunique() == 1:
        one = kind.iloc[0]
        return frame, "query", f"{one} sensitivity" if one in ("global", "local", "smooth") else one
    if frame["query"].nunique() == 1:
        return frame.assign(curve=kind), "kind", "sensitivity"
    return frame.assign(curve=frame["curve"] + ", " + kind), "query, kind", "sensitivity"


def numbered(frame: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Return the curves in order of appearance, with the numbers of their colors and dashes."""
    queries, kinds = (list(frame[name].unique()) for name in ("query", "kind"))
    curves = frame.drop_duplicates("curve")
    return {
        curve: (queries.index(query), kinds.index(kind) if len(kinds) > 1 else queries.index(query))
        for curve, query, kind in zip(curves["curve"], curves["query"], curves["kind"], strict=True)
    }


def styled_lines(
    numbers: Mapping[str, tuple[int, int]], panels: Sequence[Panel], colors: Theme
) -> dict[str, Line2D]:
    """A line per curve as every panel and the legend show it, in order of appearance."""
    curves = list(numbers)
    covers = dict.fromkeys(curves, 0)  # how many later curves lie on top of a curve
    for i, curve in reversed(list(enumerate(curves))):
        on_top = [covers[q] + 1 for q in curves[i + 1 :] if _coincide(curve, q, panels)]
        covers[curve] = max(on_top, default=0)
    lines = {}
    for i, (curve, (number, dash)) in enumerate(numbers.items()):
        color = colors.color(PALETTE[number % len(PALETTE)])
        lines[curve] = Line2D(
            [],
            [],
            color=color,
            linestyle=_DASHES[dash % len(_DASHES)],
            marker=_MARKERS[i % len(_MARKERS)],
            linewidth=1.5 + 1.6 * covers[curve],
            markersize=4.5 + 2.5 * covers[curve],
            markerfacecolor=colors.paper if covers[curve] else color,
        )
    return lines


def _coincide(first: str, second: str, panels: Sequence[Panel]) -> bool:
    """Whether two curves share a segment, to the eye (1 %), or the only point, of some panel."""
    for table in (panel.table for panel in panels):
        if first in table and second in table:
            close = np.isclose(table[first], table[second], rtol=0.01, atol=0)
            if (close if len(close) == 1 else close[1:] & close[:-1]).any():
                return True
    return False
