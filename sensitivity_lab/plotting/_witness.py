"""The two neighboring datasets of a witness."""

from __future__ import annotations

import itertools
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from sensitivity_lab.checks import named

from ._difference import KINDS, Kinds, draw_answers, kinds_of, make_room
from ._figures import PLAIN, ShownAxes, given_axes, new_figure, query_unit
from ._options import with_checked_options
from ._theme import theme

_DIGIT = 6.0  # points of a digit of the number over a mark
_LEFT = 0.82  # of an Axes, once a layout engine has made room for its labels and for f
_MOST_DOTS = 120  # in a row of a witness
_PLACES = (
    *("mean", "median", "min", "max", "midrange"),
    *("percentile", "trimmed_mean", "winsorized_mean"),
)
"""How the names of queries begin whose answers are places among the records."""


@with_checked_options
def plot_witness(
    witness: Any,
    *,
    query: str = "f",
    neighbors: str = "",
    gap: str = "",
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the two neighboring datasets of a witness and the query's answers on them.

    The records of x are in a row above those of y, over one number line: gray circles for the
    records they share, triangles for those only in x, diamonds for those only in y. Beside them, on
    an axis of its own, an arrow leads from f(x) to f(y): it need not begin at 0. If the answer is a
    place among the records, as a median is, it is a dashed line in its row, too. Stacks too high
    for their row become one mark with a number, and too many distinct records a histogram.

    Parameters
    ----------
    witness : Witness
        Anything with the attributes x, y, query_x, query_y, shared, only_x and only_y.
    query : str
        The query's name, for the labels.
    neighbors : str
        The neighbor relation in words, for the title.
    gap : str
        How far the answers are apart, as the label shows it; by default the difference of the two
        floats. `Witness.plot` rounds it up.
    unit : str
        The unit of the records.
    ax : Axes, optional
        Where to draw, an Axes of about 6 by 3 inches or more; the default is one of a new figure.
        Without a layout engine it shrinks to make room for the axis of f at its right.

    Returns
    -------
    Axes
        The Axes of the records, `ax` if it was given; that of f is its only child Axes. A new one
        displays itself as the result of a notebook cell. Save it with ``.figure.savefig(path)``:
        pyplot knows it only if `ax` is one of pyplot's.

    Raises
    ------
    InputError
        If `ax` is not an Axes.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> witness = SimpleNamespace(
    ...     x=(1, 2, 9), y=(1, 2), query_x=4, query_y=1.5, shared=(1, 2), only_x=(9,), only_y=()
    ... )
    >>> plot_witness(witness, query="mean", neighbors="unbounded, at most 1").get_title()
    'f = mean, unbounded, at most 1'
    """
    if ax is None:
        figure = new_figure((8, 3.8))
        ax = figure.add_subplot(axes_class=ShownAxes)
    [ax] = given_axes(ax, 1)
    make_room(ax)
    colors = theme(ax)
    records = np.array([float(record) for record in (*witness.x, *witness.y)])
    low, high = records.min(), records.max()
    span = (high - low) or abs(low) or 1.0
    ax.set_xlim(low - 0.06 * span, high + 0.06 * span)
    if (records == np.rint(records)).all():
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(0, 2)  # a row for x above a row for y
    only = {"only in x": witness.only_x, "only in y": witness.only_y}
    _draw_rows(ax, witness.shared, only, kinds_of(colors))
    values = float(witness.query_x), float(witness.query_y)
    if query.startswith(_PLACES) and low <= min(values) <= max(values) <= high:
        _mark_answers(ax, values)
    apart = gap or f"{abs(values[0] - values[1]):.6g}"
    label = f"|f(x) − f(y)|\n= {apart} {query_unit(query, unit)}".rstrip()
    draw_answers(ax, values, label, colors)
    _name_rows(ax, witness)
    ax.set_xlabel(f"record ({unit})" if unit else "record", **PLAIN)
    name = "f" if query == "f" else f"f = {named(query)}"
    title = f"{name}, {neighbors}" if neighbors else name
    ax.set_title(textwrap.fill(title, 60), **PLAIN, fontsize="medium", pad=24)
    _add_legend(ax)
    return ax


def _mark_answers(ax: Axes, values: tuple[float, float]) -> None:
    """Draw f(x) in the row of x, and f(y) in that of y, as dashed lines behind the records."""
    ink = theme(ax).ink
    for name, value, base in zip("xy", values, (1, 0), strict=True):
        ax.vlines(value, base, base + 0.84, color=ink, linewidth=1, linestyle="--", zorder=0.9)
        ax.text(value, base + 0.86, f"f({name})", ha="center", fontsize="small", color=ink)


def _name_rows(ax: Axes, witness: Any) -> None:
    """Name the rows of x and of y at the left."""
    rows = [
        f"{name}: {len(z):,}\nrecord{'s' * (len(z) != 1)}"
        for name, z in (("x", witness.x), ("y", witness.y))
    ]
    ax.set_yticks([1.5, 0.5], rows)
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "right", "top"]].set_visible(False)


def _add_legend(ax: Axes) -> None:
    """Explain the markers that were drawn, above the Axes."""
    handles = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    labels = [kind for kind in KINDS if kind in handles]
    ax.legend(
        [handles[kind] for kind in labels],
        labels,
        loc="lower center",
        bbox_to_anchor=(0.5, 1),
        ncols=3,
        frameon=False,
        borderaxespad=0.2,
    )


def _draw_rows(
    ax: Axes, shared: Sequence[Any], only: Mapping[str, Sequence[Any]], kinds: Kinds
) -> None:
    """Dots in both rows, of the largest size that fits; if none does, histograms and thin ticks."""
    rows = dict(zip((1.06, 0.06), only, strict=True))
    for base in rows:
        ax.axhline(base - 0.06, color=theme(ax).gray(0.8), linewidth=0.8)
    everything = {base: {"in both": shared, kind: only[kind]} for base, kind in rows.items()}
    if _draw_dots(ax, everything, kinds):
        return
    counts, edges = np.histogram([float(record) for record in shared], bins=60)
    heights = 0.75 * counts / max(counts.max(), 1)
    for base in rows:
        ax.bar(
            edges[:-1],
            heights,
            np.diff(edges),
            base,
            align="edge",
            label="in both",
            color=theme(ax).gray(0.75),
        )
    if not _draw_dots(ax, {base: {kind: only[kind]} for base, kind in rows.items()}, kinds):
        for base, kind in rows.items():
            at, color = [float(record) for record in only[kind]], kinds[kind]["color"]
            ax.vlines(at, base, base + 0.25, color=color, linewidth=0.6, label=kind)


def _draw_dots(ax: Axes, rows: Mapping[float, Mapping[str, Sequence[Any]]], kinds: Kinds) -> bool:
    """Draw every record as a dot, stacked where they would overlap; False if there is no room."""
    figure, box = ax.figure, ax.get_position()
    share = 1 if figure.get_layout_engine() is None else _LEFT
    wide = share * 72 * figure.bbox.width / figure.dpi * box.width  # points
    high = share * 72 * figure.bbox.height / figure.dpi * box.height / 2
    left, right = ax.get_xlim()
    for size, counted in ((10, False), (7, False), (5, False), (9, True)):
        marks = [_marks(groups, counted) for groups in rows.values()]
        if max(map(len, marks)) > _MOST_DOTS:
            continue
        levels = [_stack(row, size + 1, (right - left) / wide) for row in marks]
        if max(itertools.chain(*levels), default=0) * (size + 1) <= 0.85 * high:
            break
    else:
        return False
    for base, row, heights in zip(rows, marks, levels, strict=True):
        for (at, n, kind), level in zip(row, heights, strict=True):
            y = base + (level - 0.5) * (size + 1) / high
            ax.plot(at, y, linestyle="", markersize=size, label=kind, **kinds[kind])
            if n > 1:
                offset: Any = {"textcoords": "offset points", "ha": "center", "fontsize": "small"}
                clear = {"facecolor": theme(ax).paper, "edgecolor": "none", "pad": 0.2}
                ax.annotate(f"×{n}", (at, y), (0, size / 2 + 1), bbox=clear, zorder=1, **offset)
    return True


def _marks(groups: Mapping[str, Sequence[Any]], counted: bool) -> list[tuple[float, int, str]]:
    """The marks of a row as (place, how many equal records it stands for, kind)."""
    return [
        (at, times, kind)
        for kind, records in groups.items()
        for at, n in sorted(Counter(map(float, records)).items())
        for times in ([n] if counted else [1] * n)
    ]


def _stack(marks: Sequence[tuple[float, int, str]], size: float, point: float) -> list[int]:
    """The lowest free level of each mark, from 1; a mark with its number takes two levels.

    Parameters
    ----------
    marks : sequence of (float, int, str)
        Place, number of records and kind.
    size : float
        The diameter of a mark, in points.
    point : float
        A point, in units of the records.
    """
    taken: list[tuple[float, int, float]] = []
    levels = []
    for at, n, _ in marks:
        text = _DIGIT * (1 + len(str(n))) if n > 1 else 0.0
        heights = {0: size, 1: text} if n > 1 else {0: size}  # widths of the levels above
        near = {
            level - i
            for place, level, wide in taken
            for i, mine in heights.items()
            if abs(place - at) < point * (wide + mine) / 2
        }
        level = next(i for i in itertools.count(1) if i not in near)
        taken += [(at, level + i, wide) for i, wide in heights.items()]
        levels.append(level)
    return levels
