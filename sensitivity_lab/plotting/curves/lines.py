"""The curves and their styles: color, dashes, marker; wider beneath others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from sensitivity_lab.checks import named
from sensitivity_lab.plotting._picture import MARKERS, PALETTE, Theme, query_unit

from .panels import Panel

_DASHES: tuple[Any, ...] = (
    "-",
    (0, (4, 1.5)),
    (0, (1, 1)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
)
_MOST_JOINED = 9  # names of coinciding curves in one label
_MOST_WIDENED = 3  # curves that lie on each other and are told apart by their widths


def with_curves(frame: pd.DataFrame) -> tuple[pd.DataFrame, str, str]:
    """Return the frame with each curve's name for legends, their title, and the y axis' name."""
    kind = _kinds(frame)
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


def _kinds(frame: pd.DataFrame) -> pd.Series[str]:
    """Return the kind of sensitivity of every row; global if it is not given."""
    given = frame["kind"] if "kind" in frame.columns else pd.Series("global", frame.index)
    return given.fillna("global").astype(str)


def numbered(frame: pd.DataFrame) -> dict[str, tuple[int, int]]:
    """Return the curves in order of appearance, with the numbers of their colors and dashes."""
    queries, kinds = (list(frame[name].unique()) for name in ("query", "kind"))
    curves = frame.drop_duplicates("curve")
    return {
        curve: (queries.index(query), kinds.index(kind) if len(kinds) > 1 else queries.index(query))
        for curve, query, kind in zip(curves["curve"], curves["query"], curves["kind"], strict=True)
    }


def joint_names(panels: Sequence[Panel]) -> dict[str, str]:
    """Return the curves to draw, with their names joined to those of coinciding curves.

    Curves of one unit with the same points in each of the panels become one line; the first one
    stands for all of them, as in ``{"median": "median = percentile_50"}``.
    """
    same: dict[str, list[str]] = {}
    for name in dict.fromkeys(str(name) for panel in panels for name in panel.table):
        alike = (first for first in same if all(_is_same(first, name, panel) for panel in panels))
        same.setdefault(next(alike, name), []).append(name)
    return {first: " = ".join(_few(names)) for first, names in same.items()}


def _few(names: Sequence[str]) -> list[str]:
    """Return some names, or of many the first ones and how many others there are."""
    more = len(names) - _MOST_JOINED
    return [*names] if more <= 1 else [*names[:_MOST_JOINED], f"{more} others"]


def _is_same(first: str, second: str, panel: Panel) -> bool:
    """Return whether two curves have the same unit, and the same points in a panel or none."""
    units = {query_unit(name.partition(",")[0].partition(" ")[0], "") for name in (first, second)}
    if len(units) > 1:
        return False
    table = panel.table
    if first not in table or second not in table:
        return first not in table and second not in table
    # Float answers of one query in two ways differ by their rounding.
    return np.allclose(table[first], table[second], rtol=1e-9, atol=0, equal_nan=True)


def styled_lines(
    numbers: Mapping[str, tuple[int, int]],
    panels: Sequence[Panel],
    joints: Sequence[Mapping[str, str]],
    colors: Theme,
) -> dict[str, Line2D]:
    """A line per curve as every panel and the legend show it, in order of appearance.

    `joints` are the curves that each panel draws, from `joint_names`.
    """
    tables = [
        panel.table[[name for name in panel.table if name in joint]]
        for panel, joint in zip(panels, joints, strict=True)
    ]
    curves = list(numbers)
    covers = dict.fromkeys(curves, 0)  # how many later curves lie on top of a curve
    for i, curve in reversed(list(enumerate(curves))):
        on_top = [covers[q] + 1 for q in curves[i + 1 :] if _coincide(curve, q, tables)]
        covers[curve] = max(on_top, default=0)
    one_kind = all(number == dash for number, dash in numbers.values())
    lines = {}
    for i, (curve, (number, dash)) in enumerate(numbers.items()):
        color = colors.color(PALETTE[number % len(PALETTE)])
        # Dashes over other dashes are a braid; where they tell kinds apart, they stay.
        solid = covers[curve] and one_kind
        lines[curve] = Line2D(
            [],
            [],
            color=color,
            linestyle="-" if solid else _DASHES[dash % len(_DASHES)],
            alpha=0.5 if solid else None,
            marker=MARKERS[i % len(MARKERS)],
            linewidth=1.5 + 1.6 * min(covers[curve], _MOST_WIDENED),
            markersize=4.5 + 2.5 * min(covers[curve], _MOST_WIDENED),
            markerfacecolor=colors.paper if covers[curve] else color,
        )
    return lines


def _coincide(first: str, second: str, tables: Sequence[pd.DataFrame]) -> bool:
    """Whether two curves share a segment, to the eye (1 %), or the only point, of some panel."""
    for table in tables:
        if first in table and second in table:
            close = np.isclose(table[first], table[second], rtol=0.01, atol=0)
            if (close if len(close) == 1 else close[1:] & close[:-1]).any():
                return True
    return False
