"""The panels: their places in the figure, their curves, and the styles of these.

Curves differ in color, dashes and marker; they are wider beneath others.
"""

from __future__ import annotations

import itertools
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from sensitivity_lab.checks import named
from sensitivity_lab.plotting._picture import MARKERS, PALETTE, Theme, query_unit, with_unit

_WRAP = 3  # relations side by side
_SIZES = ((6, (3.6, 3.3)), (12, (3.2, 2.9)))  # inches of a panel, up to so many panels
_SMALL = (2.8, 2.5)
_ACROSS = 3  # panels in a row, up to six panels
_MOST_ACROSS = 4  # more would be too small to read where a page shrinks the figure to its width


@dataclass(frozen=True)
class Panel:
    """The content of one Axes: a row per distance and a column per curve in `table`.

    Curves with the same `scale` have comparable sensitivities. `cell` is the row and the column in
    the grid.
    """

    column: str
    scale: str
    queries: list[str]
    title: str
    xlabel: str
    table: pd.DataFrame
    cell: tuple[int, int]


def scale_of(query: str) -> str:
    """Return the scale of a query; queries of one scale share an axis.

    Examples
    --------
    >>> [scale_of(query) for query in ("mean", "median", "std", "sum", "var", "count")]
    ['', '', '', 'sum', 'units²', 'records']
    """
    return "sum" if query.startswith("sum") else query_unit(query, "")


def each(query: str) -> str:
    """Return the scale of a query that has a panel of its own: its name."""
    return query


def panels_of(
    frame: pd.DataFrame, scale: Callable[[str], str] | None, across: int | None
) -> list[Panel]:
    """Return the panels: by data column, within it by scale, within that by relation.

    Parameters
    ----------
    frame : DataFrame
        With the additional column curve.
    scale : callable, optional
        `scale_of` or `each`: queries with the same scale share a panel. By default all queries do.
    across : int, optional
        The number of panels side by side.
    """
    frame = frame.assign(scale=_scales(frame, scale) if scale else "")
    relations = list(dict.fromkeys(zip(frame["neighbors"], frame["meaning"], strict=True)))
    columns, kinds = list(frame["column"].unique()), list(frame["scale"].unique())
    cell = _cells(len(columns), len(kinds), len(relations), across)
    parts = dict(iter(frame.groupby(["column", "scale", "neighbors", "meaning"], sort=False)))
    panels = []
    for place, (column, kind) in enumerate(itertools.product(columns, kinds)):
        heading = f"{named(column)}: {named(kind)}" if scale is each else named(column)
        for side, relation in enumerate(relations):
            part = parts.get((column, kind, *relation))
            if part is not None:
                panels.append(_panel(part, heading, cell(place, side)))
    return panels


def _scales(frame: pd.DataFrame, scale: Callable[[str], str]) -> pd.Series[str]:
    """Return the scale of every row; a query whose sensitivity is always 0 fits any panel."""
    scales: pd.Series[str] = frame["query"].map(scale)
    if scale is each:
        return scales
    largest = frame.groupby("query")["sensitivity"].transform("max")
    some = scales[largest != 0]
    return scales.where(largest != 0, "" if "" in set(some) or some.empty else some.iloc[0])


def _panel(part: pd.DataFrame, heading: str, cell: tuple[int, int]) -> Panel:
    table = part.pivot(index="distance", columns="curve", values="sensitivity")
    first = part.iloc[0]
    return Panel(
        column=first["column"],
        scale=first["scale"],
        title=f"{textwrap.fill(heading, 34)}\n{first['neighbors']}, {_size_text(part['size'])}",
        xlabel=f"Hamming distance k ({first['meaning']})",
        queries=list(part["query"].unique()),
        table=table[part["curve"].unique()],
        cell=cell,
    )


def _cells(
    columns: int, scales: int, relations: int, across: int | None
) -> Callable[[int, int], tuple[int, int]]:
    """Return where panels are: one column and scale form a block, its relations side by side.

    Blocks fill rows. If there are several columns and scales, every column begins a new row, or has
    the same part of a row as every other one.
    """
    width = min(relations, across or _WRAP, _WRAP)
    height = -(-relations // width)
    if across is None:
        across = _ACROSS if columns * scales * relations <= 6 else _MOST_ACROSS
        across = 2 if columns == relations == 1 and scales == 4 else across
    blocks, together = max(1, across // width), columns * scales  # of a row, and laid out together
    if columns > 1 and scales > 1 and blocks >= scales:
        blocks = blocks // scales * scales
    elif columns > 1 and scales > 1:
        together = scales
        blocks = -(-scales // -(-scales // blocks))  # rows of about one length

    def cell(block: int, side: int) -> tuple[int, int]:
        """Return the row and the column of a relation in a block."""
        before, block = divmod(block, together)
        row, place = divmod(block, blocks)
        row += before * -(-together // blocks)
        down, right = divmod(side, width)
        return row * height + down, place * width + right

    return cell


def size_of_panel(number: int) -> tuple[float, float]:
    """Return width and height of a panel with its labels, in inches."""
    return next((size for most, size in _SIZES if number <= most), _SMALL)


def ylabel(what: str, queries: Iterable[str], unit: str) -> str:
    """The most common unit in the first line, queries with another unit in the second."""
    of = {query: query_unit(query, unit) for query in queries}
    usual = unit if unit in of.values() else Counter(of.values()).most_common(1)[0][0]
    others = ", ".join(f"{query}: {its}" for query, its in of.items() if its != usual)
    return "\n".join(
        line for text in (with_unit(what, usual), others) for line in textwrap.wrap(text, 34)
    )


def shared_with(panel: Panel, panels: Sequence[Panel]) -> list[pd.DataFrame]:
    """Return the values that the sensitivity axis of a panel must show, and of similar panels."""
    scale = panel.column, panel.scale
    return [other.table for other in panels if (other.column, other.scale) == scale]


def axis_limits(tables: Iterable[pd.DataFrame], *, log: bool) -> tuple[float, float]:
    """Return the ends of the sensitivity axis that all tables share."""
    values = np.concatenate([table.to_numpy(float).ravel() for table in tables])
    values = values[np.isfinite(values) & (values > 0)]
    if log:
        return (values.min() / 1.5, values.max() * 1.5) if len(values) else (0.1, 10)
    top = values.max(initial=0) or 1.0
    return -0.03 * top, 1.06 * top  # a curve at 0 stays clear of the frame


def _size_text(sizes: Iterable[Any]) -> str:
    every = sorted({n for size in sizes for n in (size if isinstance(size, tuple) else (size,))})
    return f"n = {every[0]}" if len(every) == 1 else f"n = {every[0]} to {every[-1]}"


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
