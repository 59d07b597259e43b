"""The two neighboring datasets of a witness: their records, and their answers.

The sorted universe is a strip that shows the records that the worst case uses; answers are drawn
coordinate by coordinate.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from sensitivity_lab.checks import named, rounded_up
from sensitivity_lab.errors import InputError

from ._options import with_checked_options
from ._picture import (
    BLUE,
    PLAIN,
    RED,
    Picture,
    Theme,
    is_arranged,
    lower,
    name_places,
    narrow,
    query_unit,
    set_ticks,
    with_unit,
)

Looks = dict[str, dict[str, Any]]
"""The marks, and their names in legends, for records in both neighbors, only in x, only in y."""

_DIGIT = 6.0  # points of a digit of the number over a mark
_LEFT = 0.82  # of an Axes, once a layout engine has made room for its labels and for f
_MOST_DOTS = 120  # in a row of a witness
_BESIDE, _WIDTH = 1.07, 0.05  # where the axis of f begins and how wide it is, in widths of the Axes
_FIGURE_LEFT = 0.72  # of what no layout engine arranges, for the records
_PLACES = (
    *("mean", "median", "min", "max", "midrange"),
    *("percentile", "trimmed_mean", "winsorized_mean"),
)
"""Beginnings of the names of queries whose answers lie among the records."""


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
    records they share, triangles for those only in x, diamonds for those only in y. To their right,
    on a separate axis that need not begin at 0, an arrow leads from f(x) to f(y). An answer that
    lies among the records, such as a median, is also a dashed line in its row. A stack too high for
    its row becomes one mark with a number, and too many distinct records become a histogram.

    Parameters
    ----------
    witness : Witness
        Anything with the attributes x, y, query_x, query_y, shared, only_x and only_y.
    query : str
        The query's name, for the labels.
    neighbors : str
        The neighbor relation in words, for the title.
    gap : str
        The difference of the answers, as the label shows it; by default that of the two floats,
        rounded up.
    unit : str
        The unit of the records.
    ax : Axes, optional
        Where to draw, an Axes of about 6 by 3 inches or more; the default is one of a new figure.
        Without a layout engine it shrinks to make room for the axis of f at the right.

    Returns
    -------
    Axes
        The Axes of the records, `ax` if it was given; the axis of f is its only child Axes. A new
        figure belongs to pyplot, as in `plot_curves`. Save it with ``.figure.savefig(path)``.

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
    picture = Picture.on(ax, (8, 3.8))
    if not is_arranged(picture.ax):  # room for the answers
        narrow([picture.ax], _FIGURE_LEFT)
    ax = picture.ax
    records = np.array([float(record) for record in (*witness.x, *witness.y)])
    low, high = records.min(), records.max()
    span = (high - low) or abs(low) or 1.0
    ax.set_xlim(low - 0.06 * span, high + 0.06 * span)
    if (records == np.rint(records)).all():
        set_ticks(ax.xaxis, 10)
    ax.set_ylim(0, 2)  # a row for x above a row for y
    parts = (witness.shared, witness.only_x, witness.only_y)
    _draw_rows(picture, *(list(map(float, part)) for part in parts))
    values = float(witness.query_x), float(witness.query_y)
    if query.startswith(_PLACES) and low <= min(values) <= max(values) <= high:
        _mark_answers(picture, values)
    _draw_answers(picture, values, gap, query_unit(query, unit))
    _name_rows(ax, witness)
    picture.name_axes(with_unit("record", unit))
    f_is = "f" if query == "f" else f"f = {named(query)}"
    picture.title(f"{f_is}, {neighbors}" if neighbors else f_is, 60, pad=24)
    _explain(ax)
    return ax


def _mark_answers(picture: Picture, values: tuple[float, float]) -> None:
    """Draw f(x) in the row of x, and f(y) in that of y, as dashed lines behind the records."""
    look: dict[str, Any] = {"color": picture.colors.ink, "linewidth": 1, "linestyle": "--"}
    for name, value, base in zip("xy", values, (1, 0), strict=True):
        picture.ax.vlines(value, base, base + 0.84, zorder=0.9, **look)
        picture.write(value, base + 0.86, f"f({name})", ha="center", fontsize="small")


def _name_rows(ax: Axes, witness: Any) -> None:
    """Label the rows of x and y at the left."""
    rows = [
        f"{name}: {len(z):,}\nrecord{'s' * (len(z) != 1)}"
        for name, z in (("x", witness.x), ("y", witness.y))
    ]
    ax.set_yticks([1.5, 0.5], rows)
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "right", "top"]].set_visible(False)


def _draw_rows(
    picture: Picture, shared: list[float], only_x: list[float], only_y: list[float]
) -> None:
    """Dots in both rows, of the largest size that fits; if none does, histograms and thin ticks."""
    ax, gray, looks = picture.ax, picture.colors.gray, _looks_of_records(picture.colors)
    only = {1.06: {"only in x": only_x}, 0.06: {"only in y": only_y}}
    for base in only:
        ax.axhline(base - 0.06, color=gray(0.8), linewidth=0.8)
    if _draw_dots(picture, {base: {"in both": shared, **own} for base, own in only.items()}, looks):
        return
    counts, edges = np.histogram(shared, bins=60)
    heights = 0.75 * counts / max(counts.max(), 1)
    for base in only:
        bars = (edges[:-1], heights, np.diff(edges), base)
        ax.bar(*bars, align="edge", label="in both", color=gray(0.75))
    if not _draw_dots(picture, only, looks):
        for base, own in only.items():
            for kind, at in own.items():
                color = looks[kind]["color"]
                ax.vlines(at, base, base + 0.25, color=color, linewidth=0.6, label=kind)


def _draw_dots(
    picture: Picture, rows: Mapping[float, Mapping[str, list[float]]], looks: Looks
) -> bool:
    """Draw every record as a dot, stacked where they would overlap; False if there is no room."""
    ax = picture.ax
    figure, box = ax.figure, ax.get_position()
    points = 72 / figure.dpi * (_LEFT if is_arranged(ax) else 1)
    wide = points * figure.bbox.width * box.width
    high = points * figure.bbox.height * box.height / 2
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
            ax.plot(at, y, linestyle="", markersize=size, **looks[kind])
            if n > 1:
                clear = {"facecolor": picture.colors.paper, "edgecolor": "none", "pad": 0.2}
                above = (0, size / 2 + 1)
                picture.note(f"×{n}", (at, y), above, ha="center", bbox=clear, zorder=1)
    return True


def _marks(groups: Mapping[str, list[float]], counted: bool) -> list[tuple[float, int, str]]:
    """The marks of a row as (place, how many equal records it stands for, kind)."""
    return [
        (at, times, kind)
        for kind, records in groups.items()
        for at, n in sorted(Counter(records).items())
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


def _looks_of_records(colors: Theme) -> Looks:
    """Return the marks of records on a background, and those of the answers."""
    marks = {
        "in both": {"marker": "o", "color": colors.gray(0.65)},
        "only in x": {"marker": "^", "color": colors.color(BLUE)},
        "only in y": {"marker": "D", "color": colors.color(RED), "markerfacecolor": colors.paper},
    }
    return {kind: {"label": kind, **mark} for kind, mark in marks.items()}


def _explain(ax: Axes) -> None:
    """Add a legend of the marks that were drawn, above the Axes."""
    drawn = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    kinds = [kind for kind in ("in both", "only in x", "only in y") if kind in drawn]
    if kinds:
        ax.legend(
            [drawn[kind] for kind in kinds],
            kinds,
            loc="lower center",
            bbox_to_anchor=(0.5, 1),
            ncols=3,
            frameon=False,
            borderaxespad=0.2,
        )


def _draw_answers(picture: Picture, values: tuple[float, float], gap: str, unit: str = "") -> None:
    """Draw f(x), f(y) and an arrow between them to the right of an Axes, the difference above.

    Parameters
    ----------
    picture : Picture
        That of the neighbors.
    values : tuple of float
        f(x) and f(y).
    gap : str
        Their difference as text; by default that of the two floats, rounded up.
    unit : str
        Their unit.
    """
    side = picture.ax.inset_axes((_BESIDE, 0, _WIDTH, 0.86))
    low, high = min(values), max(values)
    span = (high - low) or abs(low) or 1.0
    side.set_ylim(low - 0.12 * span, high + 0.12 * span)
    side.set_xlim(0, 1)
    side.set_xticks([])
    side.set_facecolor("none")
    side.spines[["left", "top", "bottom"]].set_visible(False)
    side.yaxis.tick_right()
    apart, largest = high - low, max(map(abs, values))
    # Enough digits to show that f(x) and f(y) differ.
    digits = 6 if apart == 0 else min(15, max(6, 4 + math.ceil(math.log10(largest / apart))))
    if apart == 0:
        side.set_yticks([low], [f"f(x) = f(y)\n= {low:.{digits}g}"])
    else:
        texts = [
            f"f({name}) = {value:.{digits}g}" for name, value in zip("xy", values, strict=True)
        ]
        side.set_yticks(values, texts)
        arrow = {"arrowstyle": "<->", "color": picture.colors.ink}
        side.annotate("", (0.5, values[1]), (0.5, values[0]), arrowprops=arrow)
    looks = _looks_of_records(picture.colors)
    for name, value in zip("xy", values, strict=True):
        side.plot(0.5, value, markersize=7, clip_on=False, **looks[f"only in {name}"])
    text = gap or rounded_up(apart, digits=6)
    up = "\n(rounded up)" if not math.isclose(float(text), apart) else ""
    label = f"|f(x) − f(y)|\n= {text} {unit}".rstrip() + up
    side.set_title(label, fontsize="medium", loc="left", **PLAIN)


_PARTS = {
    "C": ("in both (C)", ""),
    "A": ("only in x (A)", "///"),
    "B": ("only in y (B)", "xxx"),
    "O": ("outside both (O)", ""),
}  # label and hatch
_LEAST_SHARE = 0.055  # of the strip, for a block to be seen and to hold its number
_MOST_NUMBERED = 16  # blocks with their numbers written in; of more, those only in x or y have them


@with_checked_options
def plot_strip(
    blocks: Sequence[tuple[str, float, Any, Any]],
    *,
    title: str = "",
    unit: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the sorted universe as a strip of blocks: kept, only in x, only in y, outside.

    The width of a block is proportional to its number of records, with a minimum. If the minimum
    makes one wider, the label says that widths are not to scale. Each block shows its number of
    records, and below it its smallest and largest record.

    Parameters
    ----------
    blocks : sequence of (str, int, number, number)
        In ascending order of the records: "A", "B", "C" or "O", the number of records, the first
        and the last one. An infinite number is drawn like the largest finite one.
    title : str
        The title.
    unit : str
        The unit of the records.
    ax : Axes, optional
        Where to draw, an Axes of about 7 by 2 inches or more; the default is one of a new figure.

    Returns
    -------
    Axes
        As for `plot_witness`.

    Raises
    ------
    InputError
        If `ax` is not an Axes.

    Examples
    --------
    >>> ax = plot_strip([("B", 1, 1, 1), ("C", 5, 2, 7), ("A", 1, 20, 20)], title="mean")
    >>> ax.get_xlabel()
    'records of the universe, ascending'
    """
    picture = Picture.on(ax, (8, 2.5))
    ax = picture.ax
    styles = {part: _style(part, picture.colors) for part in _PARTS}
    start = 0.0
    widths, to_scale = _widths(blocks)
    named = len(blocks) <= _MOST_NUMBERED
    changed = sum(part in "AB" for part, *_ in blocks)
    for (part, count, first, last), width in zip(blocks, widths, strict=True):
        ax.bar(start, 1, width, align="edge", **styles[part])
        if named or (part in "AB" and changed <= _MOST_NUMBERED):
            _name(picture, start + width / 2, part, count, first, last)
        start += width
    ax.set_xlim(0, start)
    ax.set_ylim(0, 1)
    ax.set_xticks([])
    ax.set_yticks([])
    picture.title(title)
    label = with_unit("records of the universe, ascending", unit)
    label += "" if to_scale else "; widths not to scale"
    picture.name_axes(label, labelpad=24 if named else 4)
    used = {part for part, *_ in blocks}
    handles = [Patch(label=_PARTS[part][0], **styles[part]) for part in _PARTS if part in used]
    picture.legend_beside(handles=handles)
    return ax


def _style(part: str, colors: Theme) -> dict[str, Any]:
    """Return the style of a block on a background."""
    faces = {"C": colors.gray(0.72), "A": BLUE, "B": RED, "O": colors.paper}
    edge = {"edgecolor": colors.gray(0.25), "linewidth": 0.8}
    return {"facecolor": faces[part], "hatch": _PARTS[part][1], **edge}


def _widths(blocks: Sequence[tuple[str, float, Any, Any]]) -> tuple[list[float], bool]:
    """Return shares of the strip, in proportion to the records except for a minimum.

    Also return whether all are in proportion: none is infinite, and none was widened.
    """
    numbers = np.array([float(count) for _, count, *_ in blocks])
    finite = np.isfinite(numbers)
    numbers = np.minimum(numbers, numbers[finite].max(initial=1))
    least = min(_LEAST_SHARE, 1 / len(blocks)) * numbers.sum()
    return np.maximum(numbers, least).tolist(), bool((finite & (numbers >= least)).all())


def _name(picture: Picture, middle: float, part: str, count: float, first: Any, last: Any) -> None:
    """Write the part and its number into a block, and its records below."""
    number = "any" if count == float("inf") else _short(count)
    box = {"facecolor": picture.colors.paper, "edgecolor": "none", "pad": 1.0}
    inside = {"ha": "center", "va": "center", "fontsize": "small", "bbox": box}
    picture.write(middle, 0.5, f"{part}\n{number}", **inside)
    span = _record(first) if first == last else f"{_record(first)}\nto {_record(last)}"
    picture.note(span, (middle, 0), (0, -4), ha="center", va="top", fontsize="x-small")


def _record(value: Any) -> str:
    """Return a record as text: whole numbers in full, others to four digits or to their point."""
    size = abs(value)
    whole = value == int(value) and size < 10**7
    return f"{value:,.0f}" if whole or 10**4 <= size < 10**7 else f"{float(value):.4g}"


def _short(count: float) -> str:
    for least, unit, letter in ((10**6, 10**6, "M"), (10**4, 10**3, "k")):
        if count >= least:
            return f"{count / unit:.4g}{letter}"
    return f"{int(count)}"


_BARS: tuple[dict[str, Any], ...] = (
    {"label": "f(x)", "facecolor": BLUE, "hatch": ""},
    {"label": "f(y)", "facecolor": "#FBE3D6", "hatch": "////"},
)
_DARK_Y = "#7A4B20"  # on which light hatches are seen
_WIDTH_OF_ANSWERS = 0.4  # of a bar, where coordinates are 1 apart
_MOST_COORDINATES = 24  # coordinates with a tick each
_MOST_WRITTEN = 40  # differences with their number written
_MOST_BARS = 60  # coordinates whose bars can be told apart
_SEEN = 0.03  # of the axis of answers, for a difference to be seen
_BARS_SHARE = 0.66  # of what no layout engine arranges, below the differences


@with_checked_options
def plot_answers(
    witness: Any,
    labels: Sequence[Any] | None = None,
    *,
    title: str = "",
    unit: str = "",
    gap: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw f(x) and f(y) side by side, a pair of bars per coordinate, with their differences.

    Bars of f(x) are dark and plain, those of f(y) light and hatched. The number above a pair that
    differs is f(y) - f(x) with its sign. Differences too small to see get bars of their own above.
    Of more than 60 coordinates only those that differ are drawn; if none differ, or more than 60
    do, all are drawn.

    Parameters
    ----------
    witness : Witness
        Anything with the attributes query_x and query_y: numbers, or tuples of one length.
    labels : sequence, optional
        The names of the coordinates, such as the categories of a histogram; by default the
        coordinates are numbered from 0.
    title : str
        The title.
    unit : str
        The unit of the answers.
    gap : str
        As for `plot_witness`, for answers that are numbers.
    ax : Axes, optional
        Where to draw, an Axes of about 6 by 3 inches or more; the default is one of a new figure.

    Returns
    -------
    Axes
        As for `plot_witness`.

    Raises
    ------
    InputError
        If the number of labels is not that of the coordinates, or `ax` is not an Axes.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> witness = SimpleNamespace(query_x=(2.0, 0.0, 1.0), query_y=(1.0, 1.0, 1.0))
    >>> ax = plot_answers(witness, ["red", "green", "blue"], unit="records")
    >>> [text.get_text() for text in ax.texts], ax.get_ylabel()
    (['−1', '+1'], 'answer (records)')
    """
    first, second = (
        np.atleast_1d(np.asarray(answer, dtype=np.float64))
        for answer in (witness.query_x, witness.query_y)
    )
    names = list(map(named, range(len(first)) if labels is None else labels))
    if len(names) != len(first):
        raise InputError(
            f"labels: got {len(names)} for answers of {len(first)} coordinates; give {len(first)}"
        )
    kept, said = _kept(first, second)
    first, second, size = first[kept], second[kept], len(kept)
    picture = Picture.on(ax, (min(12, max(5.5, 0.55 * size + 2.5)), 3.6))
    ax, colors = picture.ax, picture.colors
    places, edge = np.arange(size), colors.gray(0.15)
    for side, heights, look in zip((-0.5, 0.5), (first, second), _BARS, strict=True):
        style = {**look, "linewidth": 0.8 * (size <= _MOST_BARS), "edgecolor": edge, "zorder": 2}
        if colors.dark and heights is second:
            style["facecolor"] = _DARK_Y
        ax.bar(places + side * _WIDTH_OF_ANSWERS, heights, _WIDTH_OF_ANSWERS, **style)
    ax.axhline(0, color=edge, linewidth=0.8)
    if _are_whole(first, second):
        set_ticks(ax.yaxis, 10)
    ax.set_xlim(-0.6, size - 0.4)
    _mark(picture, first, second, gap)
    # The number of letters of a name that fit between those of its neighbors.
    room = 5 if size > 4 else 10
    name_places(ax, [names[place] for place in kept], _MOST_COORDINATES, room=room)
    picture.name_axes(
        said or ("coordinate of f" if labels is None else ""), with_unit("answer", unit)
    )
    picture.title(title, 40)
    picture.grid(axis="y")
    picture.legend_beside(title="above: f(y) − f(x)" if ax.texts else None)
    return ax


def _kept(first: Any, second: Any) -> tuple[Any, str]:
    """Return the coordinates to draw, and a note for the axis if some are left out."""
    changed = np.flatnonzero(first != second)
    if len(first) <= _MOST_BARS or not 0 < len(changed) <= _MOST_BARS:
        return np.arange(len(first)), ""
    return changed, f"the {len(changed):,} of {len(first):,} coordinates that differ"


def _are_whole(*heights: Any) -> bool:
    """Tell whether all numbers are whole."""
    return all((one == np.rint(one)).all() for one in heights)


def _ends(*heights: Any) -> tuple[float, float]:
    """Return the least and the greatest of some numbers and 0."""
    every = np.concatenate([[0.0], *heights])
    return every.min(), every.max()


def _mark(picture: Picture, first: Any, second: Any, gap: str) -> None:
    """Write f(y) - f(x) over the pairs that differ; draw small differences above them."""
    ax, gaps = picture.ax, second - first
    changed = np.flatnonzero(gaps)
    low, high = _ends(first, second)
    span = (high - low) or 1.0
    ax.set_ylim(low - 0.05 * span * (low < 0), high + 0.16 * span)
    tops = np.maximum(first, second)
    if 0 < np.abs(gaps).max() < _SEEN * span:
        ax.set_ylim(top=high + 0.05 * span)
        ax, tops = _differences(picture, gaps), gaps
    look: dict[str, Any] = {"ha": "center", "va": "bottom", "fontweight": "bold"}
    look["fontsize"] = "small" if len(first) <= _MOST_COORDINATES else "x-small"
    for place in changed if len(changed) <= _MOST_WRITTEN else ():
        text = _difference(first[place], second[place], gap if len(first) == 1 else "")
        Picture(ax).note(text, (place, max(0, tops[place])), (0, 3), **look)


def _differences(picture: Picture, gaps: Any) -> Axes:
    """Draw f(y) - f(x) on an Axes of its own above the bars, and return it."""
    if not is_arranged(picture.ax):
        lower(picture.ax, _BARS_SHARE)
    above = picture.ax.inset_axes((0, 1.08, 1, 0.42))
    colors = picture.colors
    above.bar(np.arange(len(gaps)), gaps, _WIDTH_OF_ANSWERS, color=colors.color(RED), zorder=2)
    above.axhline(0, color=colors.gray(0.15), linewidth=0.8)
    above.set_xlim(picture.ax.get_xlim())
    above.set_xticks([])
    low, high = _ends(gaps)
    above.set_ylim(low - 0.1 * (high - low) * (low < 0), high + 0.35 * (high - low))
    set_ticks(above.yaxis, 3, whole=_are_whole(gaps))
    Picture(above).name_axes("", "f(y) − f(x)")
    return above


def _difference(first: float, second: float, gap: str) -> str:
    """Return f(y) - f(x) with its sign, to 6 digits, or as many as the answers' rounding leaves.

    Rounded away from 0, like a sensitivity, but not because of the answers' rounding alone.
    """
    away, noise = abs(second - first), math.ulp(max(abs(first), abs(second)))
    digits = max(1, 1 + math.floor(math.log10(away / noise)))
    text = rounded_up(away - noise, digits=6) if digits >= 6 else f"{away:.{digits}g}"
    return f"{'+' if second > first else '−'}{gap or text}"
