"""The inputs and outputs of a stability witness, as tables with the changed rows marked."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from sensitivity_lab.checks import named
from sensitivity_lab.errors import InputError

from ._options import with_checked_options
from ._picture import Picture

_FILLS = {"": "white", "−": "#A9CCE8", "+": "#FBE3D6", "≠": "#FBE3D6"}
"""Rows of both, only of x, only of y, and answers that differ: from white to dark in gray."""
_MEANINGS = {"−": "only in x", "+": "only in y", "≠": "differs"}
_MOST_ROWS = 12  # of a table, those in both left out first
_MOST_LETTERS = 20  # of a cell
_LETTER, _LINE = 0.085, 0.24  # inches
_GAP = 3.2  # lines between two tables above each other: a caption and a heading
_ARROW = 30  # letters between inputs and output


@dataclass(frozen=True)
class _Block:
    """A table to draw: marked lines of texts, of which the first names the columns."""

    heading: str
    caption: str
    lines: list[tuple[str, tuple[str, ...]]]
    note: str
    """What is said below the lines."""

    @property
    def widths(self) -> list[int]:
        """The letters of each column."""
        columns = zip(*(texts for _, texts in self.lines), strict=True)
        return [2 + max(map(len, column)) for column in columns]

    @property
    def width(self) -> float:
        texts = (self.heading, self.caption)
        return max(3 + sum(self.widths), *(0.95 * len(text) for text in texts))

    @property
    def height(self) -> int:
        return len(self.lines) + bool(self.note)


@with_checked_options
def plot_stability(
    witness: Any,
    *,
    names: Sequence[str] | None = None,
    captions: Sequence[str] | None = None,
    step: str = "",
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw neighboring inputs on the left and their outputs on the right, as tables.

    Each table shows x and y at once: rows that only x has are marked − and dark, those that only y
    has are marked + and light, and those of both are white. Answers that are numbers or vectors are
    shown side by side. A long table omits rows of both first.

    Parameters
    ----------
    witness : StabilityWitness
        Anything with the attributes x, y, output_x and output_y.
    names : sequence of str, optional
        The names of the input tables and of the output, such as ("Users", "Purchases", "join").
    captions : sequence of str, optional
        Texts below each input table and below the output.
    step : str
        The text on the arrow from the inputs to the output.
    title : str
        The title.
    ax : Axes, optional
        Where to draw, an Axes of about 8 by 4 inches or more; the default is one of a new figure.

    Returns
    -------
    Axes
        `ax` if it was given. A new figure belongs to pyplot, as in `plot_curves`. Save it with
        ``.figure.savefig(path)``.

    Raises
    ------
    InputError
        If there is not one name or caption per table, or `ax` is not an Axes.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> witness = SimpleNamespace(x=[3], y=[3, 7], output_x=3, output_y=10)
    >>> ax = plot_stability(witness, names=["records", "sum"], title="sum")
    >>> [text.get_text() for text in ax.texts if text.get_text() in ("−", "+")]
    ['+']
    """
    pair = isinstance(witness.x, tuple)
    inputs = list(zip(witness.x, witness.y, strict=True)) if pair else [(witness.x, witness.y)]
    tables = [*inputs, (witness.output_x, witness.output_y)]
    if names is None:
        names = [*(["first table", "second table"] if pair else ["input"]), "output"]
    names, captions = list(names), [""] * len(tables) if captions is None else list(captions)
    for what, given in (("names", names), ("captions", captions)):
        if len(given) != len(tables):
            raise InputError(f"{what}: got {len(given)} for {len(tables)} tables; give one each")
    blocks = [_block(*three) for three in zip(tables, names, captions, strict=True)]
    left, right = blocks[:-1], blocks[-1]
    wide = max(block.width for block in left)
    high = max(sum(block.height + _GAP for block in left), right.height + _GAP) + 1.5
    span = wide + _ARROW + right.width + 1
    picture = Picture.on(ax, (span * _LETTER + 0.3, high * _LINE + 0.4))
    picture.ax.set_xlim(0, span)
    picture.ax.set_ylim(high, 0)  # downward, in lines
    picture.ax.set_axis_off()
    top = 1.4
    for block in left:
        _draw_table(picture, block, 0, top)
        top += block.height + _GAP
    middle = (high - 1.5) / 2
    _draw_table(picture, right, wide + _ARROW, max(1.4, middle - right.height / 2))
    _arrow(picture, wide, middle, step)
    used = {mark for block in blocks for mark, _ in block.lines}
    key = [f"{mark}  {meaning}" for mark, meaning in _MEANINGS.items() if mark in used]
    key.append("white: in both")
    picture.write(0, high, "      ".join(key), fontsize="small", va="bottom")
    picture.title(title, 90, loc="left")
    return picture.ax


def _block(data: tuple[Any, Any], heading: str, caption: str) -> _Block:
    """Return x and y of one table as one block of texts, shortened if it is too long."""
    columns, marked = _marked(*data)
    room = max(0, _MOST_ROWS - sum(bool(mark) for mark, _ in marked))
    lines = [("", tuple(map(named, columns)))]
    for mark, row in marked:
        if mark or room:
            room -= not mark
            lines.append((mark, tuple(map(_cell, row))))
    lines = lines[: 1 + _MOST_ROWS]
    left_out = 1 + len(marked) - len(lines)
    note = f"and {left_out:,} more rows" if left_out else "" if marked else "no rows"
    return _Block(heading, caption, lines, note)


def _marked(x: Any, y: Any) -> tuple[Sequence[Any], list[tuple[str, Any]]]:
    """Return the columns of two datasets or answers, and their rows with marks."""
    if isinstance(x, pd.DataFrame):
        rows = (list(part.itertuples(index=False, name=None)) for part in (x, y))
        return list(x.columns), _marked_rows(*rows)
    if isinstance(x, list):
        return ["value"], _marked_rows(*([(value,) for value in part] for part in (x, y)))
    columns = ["of x", "of y"]
    both: list[tuple[Any, ...]] = [(x, y)]
    if isinstance(x, Mapping | np.ndarray):
        x, y = (dict(part if isinstance(part, Mapping) else enumerate(part)) for part in (x, y))
        columns = ["", "x", "y"]
        both = [(key, x.get(key, ""), y.get(key, "")) for key in {**x, **y}]
    return columns, [("≠" if row[-2] != row[-1] else "", row) for row in both]


def _marked_rows(x: list[Any], y: list[Any]) -> list[tuple[str, Any]]:
    """Return the rows of two multisets with their marks, in the order of x and then of y."""
    gone, new = Counter(x) - Counter(y), Counter(y) - Counter(x)
    marked = []
    for row in x:
        marked.append(("−" if gone[row] > 0 else "", row))
        gone[row] -= 1
    return marked + [("+", row) for row in new.elements()]


def _cell(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else named(value)
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


def _draw_table(picture: Picture, block: _Block, left: float, top: float) -> None:
    """Draw one table with its top left corner at a place; the unit is a letter and a line."""
    picture.write(left, top - 0.25, block.heading, fontweight="bold", fontsize="medium")
    small: dict[str, Any] = {"va": "center", "fontsize": "small"}
    edges = np.cumsum([left + 3, *block.widths])
    for line, (mark, row) in enumerate(block.lines):
        fill = _FILLS[mark] if line else "0.9"
        box = (edges[0], top + line), edges[-1] - edges[0], 1
        picture.ax.add_patch(Rectangle(*box, facecolor=fill, edgecolor="0.6", linewidth=0.6))
        middle = top + line + 0.55
        picture.write(edges[0] - 1.5, middle, mark, ha="center", fontweight="bold", **small)
        for text, edge in zip(row, edges, strict=False):
            # The boxes are light in a dark theme, too.
            picture.write(edge + 0.8, middle, text, color="black", **small)
    below = top + len(block.lines) + 0.55
    picture.write(edges[0] + 0.8, below, block.note, color="0.35", **small)
    caption = {"va": "top", "fontsize": "small", "style": "italic"}
    picture.write(left + 3, top + block.height + 0.25, block.caption, **caption)


def _arrow(picture: Picture, start: float, middle: float, step: str) -> None:
    """Draw the arrow from the inputs to the output, with the step above it."""
    arrow = {"arrowstyle": "-|>", "color": "0.45", "linewidth": 1.2}
    tip, tail = (start + _ARROW - 2, middle), (start + 2, middle)
    picture.ax.annotate("", xy=tip, xytext=tail, arrowprops=arrow)
    place = (start + _ARROW / 2, middle - 0.35)
    text = textwrap.fill(step, _ARROW - 2)
    picture.write(*place, text, ha="center", va="bottom", fontsize="small")
