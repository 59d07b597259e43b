"""Which curves stand in which panel, and where the panels stand."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from sensitivity_lab.checks import listed, named, names_of, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.plotting._figures import query_unit

from .ranges import Ranges

_WRAP = 3  # relations side by side
_SIZES = ((6, (3.6, 3.3)), (12, (3.2, 2.9)))  # inches of a panel, up to so many panels
_SMALL = (2.8, 2.5)
_ACROSS = ((6, 3), (12, 4), (20, 5))  # panels in a row, up to so many panels
_MOST_ACROSS = 8


@dataclass(frozen=True)
class Panel:
    """What one Axes shows: a row per distance and a column per curve in `table`.

    `bounds` has the linear bounds of the same curves; no column where they are not shown. `ranges`
    are the points of which only bounds are known. `scale` is what the curves have in common whose
    sensitivities compare; `cell` is the row and the column in the grid.
    """

    column: str
    scale: str
    queries: list[str]
    title: str
    xlabel: str
    table: pd.DataFrame
    bounds: pd.DataFrame
    ranges: Ranges
    cell: tuple[int, int]

    @property
    def names(self) -> list[str]:
        """What the curves are called."""
        return [str(name) for name in self.table]

    @property
    def tables(self) -> tuple[pd.DataFrame, ...]:
        """What the sensitivity axis has to hold."""
        return self.table, self.bounds, *self.ranges.tables


def scale_of(query: str) -> str:
    """Return what a query has in common with those that it is compared with on one axis.

    Examples
    --------
    >>> [scale_of(query) for query in ("mean", "median", "std", "sum", "var", "count")]
    ['', '', '', 'sum', 'units²', 'records']
    """
    return "sum" if query.startswith("sum") else query_unit(query, "")


def chosen(frame: pd.DataFrame, name: str, wanted: Any) -> pd.DataFrame:
    """Return the rows with some values of a column, in the order asked for, or raise InputError."""
    argument, also = ("queries", "") if name == "query" else ("columns", ", or a number")
    if not isinstance(wanted, Iterable):
        raise InputError(f"{argument}: got {shown(wanted)}; give names{also}")
    values = [wanted] if isinstance(wanted, str) else listed(wanted, f"{argument} must be names")
    known = list(frame[name].unique())
    for value in values:
        if not isinstance(value, str) or value not in known:
            raise InputError(
                f"{argument}: {shown(value)} is not in the frame; "
                f"choose among {names_of(known, named)}"
            )
    if not values:
        raise InputError(f"{argument}: got none; give names{also}")
    parts = [frame[frame[name] == value] for value in dict.fromkeys(values)]
    rows: pd.DataFrame = pd.concat(parts)
    return rows


def panels_of(frame: pd.DataFrame, by_scale: bool, across: int | None) -> list[Panel]:
    """Return the panels: by data column, within it by scale, within that by relation.

    Parameters
    ----------
    frame : DataFrame
        With the columns curve and linear_bound too.
    by_scale : bool
        Whether queries of another scale get panels of their own.
    across : int, optional
        How many panels stand side by side.
    """
    frame = frame.assign(scale=_scales(frame) if by_scale else "")
    relations = list(dict.fromkeys(zip(frame["neighbors"], frame["meaning"], strict=True)))
    columns, kinds = list(frame["column"].unique()), list(frame["scale"].unique())
    cells = _Cells(len(columns), len(kinds), len(relations), across)
    panels = []
    for place, (column, scale) in enumerate((c, s) for c in columns for s in kinds):
        of_block = frame[(frame["column"] == column) & (frame["scale"] == scale)]
        for side, (neighbors, meaning) in enumerate(relations):
            part = of_block[of_block["neighbors"] == neighbors]
            part = part[part["meaning"] == meaning]
            if not part.empty:
                panels.append(_panel(part, column, scale, cells.of(place, side)))
    return panels


def _scales(frame: pd.DataFrame) -> pd.Series[str]:
    """Return the scale of every row; a query whose sensitivity is always 0 fits into any panel."""
    scales = frame["query"].map(scale_of)
    largest = frame.groupby("query")["sensitivity"].transform("max")
    some = scales[largest != 0]
    return scales.where(largest != 0, "" if "" in set(some) or some.empty else some.iloc[0])


def _panel(part: pd.DataFrame, column: Any, scale: str, cell: tuple[int, int]) -> Panel:
    table, bounds = (
        part.pivot(index="distance", columns="curve", values=values)
        for values in ("sensitivity", "linear_bound")
    )
    neighbors, meaning = part["neighbors"].iloc[0], part["meaning"].iloc[0]
    return Panel(
        column=column,
        scale=scale,
        title=f"{textwrap.fill(named(column), 34)}\n{neighbors}, {_size_text(part['size'])}",
        xlabel=f"Hamming distance k ({meaning})",
        queries=list(part["query"].unique()),
        table=table[part["curve"].unique()],
        bounds=bounds.dropna(axis="columns", how="all"),
        ranges=Ranges.of(part),
        cell=cell,
    )


class _Cells:
    """Where panels stand: those of one column and scale are a block, its relations side by side.

    Blocks fill rows; a row begins with the first scale of a column where that leaves room.
    """

    def __init__(self, columns: int, scales: int, relations: int, across: int | None) -> None:
        number = columns * scales * relations
        self.width = min(relations, across or _WRAP, _WRAP)
        self.height = -(-relations // self.width)
        if across is None:
            across = next((wide for most, wide in _ACROSS if number <= most), _MOST_ACROSS)
            across = 2 if columns == relations == 1 and scales == 4 else across
        self.blocks = max(1, across // self.width)
        if columns > 1 and scales > 1:
            self.blocks = max(scales if relations == 1 else 1, self.blocks // scales * scales)

    def of(self, block: int, side: int) -> tuple[int, int]:
        """Return the row and the column of a relation in a block."""
        row, place = divmod(block, self.blocks)
        down, right = divmod(side, self.width)
        return row * self.height + down, place * self.width + right


def size_of_panel(number: int) -> tuple[float, float]:
    """Return width and height of a panel with its labels, in inches."""
    return next((size for most, size in _SIZES if number <= most), _SMALL)


def ylabel(what: str, queries: Iterable[str], unit: str) -> str:
    """The unit most queries have in the first line, those with another one in the second."""
    of = {query: query_unit(query, unit) for query in queries}
    usual = unit if unit in of.values() else Counter(of.values()).most_common(1)[0][0]
    label = f"{what} ({usual})" if usual else what
    others = ", ".join(f"{query}: {its}" for query, its in of.items() if its != usual)
    return "\n".join(line for text in (label, others) for line in textwrap.wrap(text, 34))


def shared_with(panel: Panel, panels: Sequence[Panel], sharey: bool) -> list[pd.DataFrame]:
    """Return what the sensitivity axis of a panel has to hold, that of panels like it included."""
    return [
        table
        for other in panels
        if sharey or (other.column, other.scale) == (panel.column, panel.scale)
        for table in other.tables
    ]


def _size_text(sizes: Iterable[Any]) -> str:
    every = sorted({n for size in sizes for n in (size if isinstance(size, tuple) else (size,))})
    return f"n = {every[0]}" if len(every) == 1 else f"n = {every[0]} to {every[-1]}"
