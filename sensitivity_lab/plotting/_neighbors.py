"""Parts that all pictures of two neighbors share: the marks of changes, and the two answers.

Answers that are numbers have an axis of their own, to the right of the neighbors.
"""

from __future__ import annotations

import math
import textwrap
from typing import Any

from matplotlib.axes import Axes

from sensitivity_lab.checks import named, rounded_up

from ._picture import PLAIN, Picture, is_arranged, narrow
from ._theme import BLUE, RED, Theme

Looks = dict[str, dict[str, Any]]
"""The marks, and their names in legends, for records in both neighbors, only in x, only in y."""

_BESIDE, _WIDTH = 1.07, 0.05  # where the axis of f begins and how wide it is, in widths of the Axes
_FIGURE_LEFT = 0.72  # of what no layout engine arranges, for the records


def looks_of_records(colors: Theme) -> Looks:
    """Return the marks of records on a background, and those of the answers."""
    return _looks(
        colors,
        {"marker": "o"},
        {"marker": "^"},
        {"marker": "D", "markerfacecolor": colors.paper},
    )


def looks_of_lines(colors: Theme) -> Looks:
    """Return the styles of lines on a background: edges of graphs, boxes of entries."""
    return _looks(
        colors,
        {"linewidth": 1.2},
        {"linewidth": 2.8},
        {"linewidth": 2.8, "linestyle": (0, (4, 1.4))},
    )


def _looks(colors: Theme, both: Any, only_x: Any, only_y: Any) -> Looks:
    return {
        "in both": {"label": "in both", "color": colors.gray(0.65), **both},
        "only in x": {"label": "only in x", "color": colors.color(BLUE), **only_x},
        "only in y": {"label": "only in y", "color": colors.color(RED), **only_y},
    }


def explain(ax: Axes, side: Any, height: float, noun: str = "", **look: Any) -> None:
    """Add a legend of the marks that were drawn, at so many heights of the Axes."""
    drawn = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    kinds = [kind for kind in ("in both", "only in x", "only in y") if kind in drawn]
    if kinds:
        ax.legend(
            [drawn[kind] for kind in kinds],
            [f"{noun} {kind}".lstrip() for kind in kinds],
            loc=side,
            bbox_to_anchor=(0.5, height),
            ncols=3,
            frameon=False,
            **look,
        )


def f_is(query: str) -> str:
    """Return the name of the query for a title."""
    return "f" if query == "f" else f"f = {named(query)}"


def has_vectors(witness: Any) -> bool:
    """Return whether the answers are vectors, which no axis can show."""
    return isinstance(witness.query_x, tuple)


def vector_text(witness: Any, name: str) -> str:
    """Return the vector answer on x or on y, shortened."""
    answer = ", ".join(f"{one:g}" for one in map(float, getattr(witness, f"query_{name}")))
    return textwrap.shorten(f"f({name}) = ({answer})", 40, placeholder=" ...")


def make_room(picture: Picture) -> None:
    """Shrink an Axes that no layout engine arranges, to make room for the answers."""
    if not is_arranged(picture.ax):
        narrow([picture.ax], _FIGURE_LEFT)


def draw_answers(picture: Picture, values: tuple[float, float], gap: str, unit: str = "") -> None:
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
    looks = looks_of_records(picture.colors)
    for name, value in zip("xy", values, strict=True):
        side.plot(0.5, value, markersize=7, clip_on=False, **looks[f"only in {name}"])
    text = gap or rounded_up(apart, digits=6)
    up = "\n(rounded up)" if not math.isclose(float(text), apart) else ""
    label = f"|f(x) − f(y)|\n= {text} {unit}".rstrip() + up
    side.set_title(label, fontsize="medium", loc="left", **PLAIN)
