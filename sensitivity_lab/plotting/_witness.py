"""The two neighboring datasets of a witness."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ._figures import PLAIN, ShownAxes, given_axes, new_figure, query_unit

_KINDS: dict[str, dict[str, Any]] = {
    "in both": {"marker": "o", "color": "0.65"},
    "only in x": {"marker": "^", "color": "#0072B2"},
    "only in y": {"marker": "D", "color": "#D55E00", "markerfacecolor": "white"},
}
_MOST_DOTS = 120  # in a row of a witness


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
    records they share, triangles for those only in x, diamonds for those only in y. Beneath them
    an arrow leads from f(x) to f(y), on the records' own scale where it fits there
    and on its own scale otherwise (a count, a variance, a sum far away). Stacks too high
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
        Where to draw, an Axes of about 6 by 4 inches or more; the default is one of a new figure.

    Returns
    -------
    Axes
        The Axes of the records, `ax` if it was given; the strip of f is its child. A new one
        displays itself as the result of a notebook cell.

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
        figure = new_figure((7, 4.4))
        ax = figure.add_subplot(axes_class=ShownAxes)
    [ax] = given_axes(ax, 1)
    records = np.array([float(record) for record in (*witness.x, *witness.y)])
    values = float(witness.query_x), float(witness.query_y)
    low, high = records.min(), records.max()
    span = (high - low) or abs(low) or 1.0
    same_scale = _is_location(query, values, low, high, span)
    if same_scale:
        low, high = min(low, *values), max(high, *values)
    ax.set_xlim(low - 0.06 * span, high + 0.06 * span)
    if (records == np.rint(records)).all():
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(0, 3)  # from the top: a row for x, a row for y, the strip of f
    only = {"only in x": witness.only_x, "only in y": witness.only_y}
    _draw_rows(ax, witness.shared, only)
    apart = gap or f"{abs(values[0] - values[1]):.6g}"
    label = f"|f(x) − f(y)| = {apart} {query_unit(query, unit)}".rstrip()
    _draw_strip(ax, values, label, same_scale)
    _name_rows(ax, witness, same_scale)
    ax.set_xlabel(f"record ({unit})" if unit else "record", **PLAIN)
    name = "f" if query == "f" else f"f = {query}"
    title = f"{name}, {neighbors}" if neighbors else name
    ax.set_title(textwrap.fill(title, 60), **PLAIN, fontsize="medium", pad=24)
    _add_legend(ax)
    return ax


def _name_rows(ax: Axes, witness: Any, same_scale: bool) -> None:
    """Name the rows of x, of y and of f at the left."""
    rows = [
        f"{name}: {len(z)}\nrecord{'s' * (len(z) != 1)}"
        for name, z in (("x", witness.x), ("y", witness.y))
    ]
    ax.set_yticks([2.5, 1.5, 0.5], [*rows, "f" if same_scale else "f, own\nscale"])
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "right", "top"]].set_visible(False)


def _add_legend(ax: Axes) -> None:
    """Explain the markers that were drawn, above the Axes."""
    handles = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    labels = [kind for kind in _KINDS if kind in handles]
    ax.legend(
        [handles[kind] for kind in labels],
        labels,
        loc="lower center",
        bbox_to_anchor=(0.5, 1),
        ncols=3,
        frameon=False,
        borderaxespad=0.2,
    )


def _is_location(
    query: str, values: tuple[float, float], low: float, high: float, span: float
) -> bool:
    """Whether f(x) and f(y) read well as places among the records: near, and visibly apart."""
    near = all(low - 0.25 * span <= value <= high + 0.25 * span for value in values)
    apart = abs(values[0] - values[1]) >= 0.03 * span
    return near and apart and not query.startswith(("count", "std", "var"))


def _draw_rows(ax: Axes, shared: Sequence[Any], only: Mapping[str, Sequence[Any]]) -> None:
    """Dots in both rows, of the largest size that fits; if none does, histograms and thin ticks."""
    rows = dict(zip((2.06, 1.06), only, strict=True))
    for base in rows:
        ax.axhline(base - 0.06, color="0.8", linewidth=0.8)
    everything = {base: {"in both": shared, kind: only[kind]} for base, kind in rows.items()}
    if _draw_dots(ax, everything):
        return
    counts, edges = np.histogram([float(record) for record in shared], bins=60)
    heights = 0.75 * counts / max(counts.max(), 1)
    for base in rows:
        ax.bar(
            edges[:-1], heights, np.diff(edges), base, align="edge", label="in both", color="0.75"
        )
    if not _draw_dots(ax, {base: {kind: only[kind]} for base, kind in rows.items()}):
        for base, kind in rows.items():
            at, color = [float(record) for record in only[kind]], _KINDS[kind]["color"]
            ax.vlines(at, base, base + 0.25, color=color, linewidth=0.6, label=kind)


def _draw_dots(ax: Axes, rows: Mapping[float, Mapping[str, Sequence[Any]]]) -> bool:
    """Draw every record as a dot, stacked where they would overlap; False if there is no room."""
    figure, box = ax.figure, ax.get_position()
    wide = 72 * figure.bbox.width / figure.dpi * box.width  # points
    high = 72 * figure.bbox.height / figure.dpi * box.height / 3
    left, right = ax.get_xlim()
    for size, counted in ((10, False), (7, False), (5, False), (9, True)):
        marks = [_marks(groups, counted) for groups in rows.values()]
        if max(map(len, marks)) > _MOST_DOTS:
            continue
        levels = [_stack(row, (size + 1) * (right - left) / wide) for row in marks]
        if max(itertools.chain(*levels), default=0) * (size + 1) <= 0.85 * high:
            break
    else:
        return False
    for base, row, heights in zip(rows, marks, levels, strict=True):
        for (at, n, kind), level in zip(row, heights, strict=True):
            y = base + (level - 0.5) * (size + 1) / high
            ax.plot(at, y, linestyle="", markersize=size, label=kind, **_KINDS[kind])
            if n > 1:
                offset: Any = {"textcoords": "offset points", "ha": "center", "fontsize": "small"}
                ax.annotate(f"×{n}", (at, y), (0, size / 2 + 1), **offset)
    return True


def _marks(groups: Mapping[str, Sequence[Any]], counted: bool) -> list[tuple[float, int, str]]:
    """The marks of a row as (place, how many equal records it stands for, kind)."""
    return [
        (at, times, kind)
        for kind, records in groups.items()
        for at, n in sorted(Counter(map(float, records)).items())
        for times in ([n] if counted else [1] * n)
    ]


def _stack(marks: Sequence[tuple[float, int, str]], apart: float) -> list[int]:
    """The lowest free level of each mark, from 1; a mark with its number takes two levels."""
    taken: list[tuple[float, int]] = []
    levels = []
    for at, n, _ in marks:
        near = {level for place, level in taken if abs(place - at) < apart}
        height = 1 if n == 1 else 2
        level = next(i for i in itertools.count(1) if near.isdisjoint(range(i, i + height)))
        taken += [(at, level + i) for i in range(height)]
        levels.append(level)
    return levels


def _draw_strip(ax: Axes, values: tuple[float, float], label: str, same_scale: bool) -> None:
    """f(x), f(y) and an arrow between them: among the records, or apart in the middle."""
    left, right = ax.get_xlim()
    places = values
    if not same_scale:
        ax.axhspan(0, 1, color="0.95", zorder=0)
        side = 0.17 * (right - left) * float(np.sign(values[1] - values[0]))
        places = ((left + right) / 2 - side, (left + right) / 2 + side)
    rows = (
        ("x", "-", 0.84, 3),
        ("y", "--", 0.36, 2),
    )  # name, dash, height of its text, of its line
    gap, largest = abs(values[0] - values[1]), max(map(abs, values))
    digits = 6 if gap == 0 else min(15, max(6, 4 + math.ceil(math.log10(largest / gap))))
    for place, value, (name, dash, y, top) in zip(places, values, rows, strict=True):
        kind = _KINDS[f"only in {name}"]
        end = top if same_scale else y
        ax.vlines(place, 0.6, end, color=kind["color"], linestyle=dash, linewidth=1.2, zorder=1)
        ax.plot(place, 0.6, markersize=6, **kind)
        _text(ax, place, y, f"f({name}) = {value:.{digits}g}")
    ax.annotate("", (places[1], 0.6), (places[0], 0.6), arrowprops={"arrowstyle": "<->"})
    _text(ax, sum(places) / 2, 0.12, label)


def _text(ax: Axes, at: float, y: float, text: str) -> None:
    """Write next to `at`, toward the middle of the axis, so that nothing leaves it."""
    left, right = ax.get_xlim()
    place = (at - left) / (right - left)
    ha = "left" if place < 0.35 else "right" if place > 0.65 else "center"
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    ax.text(at, y, text, ha=ha, va="center", bbox=box, fontsize="medium", **PLAIN)
