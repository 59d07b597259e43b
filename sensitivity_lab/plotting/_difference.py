"""The answers of a witness, f(x) and f(y), on an axis beside that of the records."""

from __future__ import annotations

import math
import textwrap
from typing import Any

from matplotlib.axes import Axes

from sensitivity_lab.checks import named

from ._figures import PLAIN
from ._theme import Theme

KINDS = ("in both", "only in x", "only in y")
Kinds = dict[str, dict[str, Any]]
"""How the records of each kind are marked."""

_BESIDE, _WIDTH = 1.07, 0.05  # where the axis of f begins and how wide it is, in widths of the Axes
_SHARE = 0.72  # of what no layout engine arranges, for the records


def kinds_of(colors: Theme) -> Kinds:
    """Return how records are marked on a background."""
    blue, red = colors.color("#0072B2"), colors.color("#D55E00")
    return {
        "in both": {"marker": "o", "color": colors.gray(0.65)},
        "only in x": {"marker": "^", "color": blue},
        "only in y": {"marker": "D", "color": red, "markerfacecolor": colors.paper},
    }


def make_room(ax: Axes) -> None:
    """Shrink an Axes that no layout engine arranges, for what is drawn beside it."""
    if ax.figure.get_layout_engine() is None:
        box = ax.get_position()
        ax.set_position((box.x0, box.y0, _SHARE * box.width, box.height))


def draw_answers(ax: Axes, values: tuple[float, float], label: str, colors: Theme) -> None:
    """Draw f(x), f(y) and an arrow between them right of an Axes, with the difference above.

    Parameters
    ----------
    ax : Axes
        That of the records.
    values : tuple of float
        f(x) and f(y).
    label : str
        The difference, in words.
    colors : Theme
        Of the background.
    """
    side = ax.inset_axes((_BESIDE, 0, _WIDTH, 0.86))
    low, high = min(values), max(values)
    span = (high - low) or abs(low) or 1.0
    side.set_ylim(low - 0.12 * span, high + 0.12 * span)
    side.set_xlim(0, 1)
    side.set_xticks([])
    side.set_facecolor("none")
    side.spines[["left", "top", "bottom"]].set_visible(False)
    side.yaxis.tick_right()
    gap, largest = high - low, max(map(abs, values))
    digits = 6 if gap == 0 else min(15, max(6, 4 + math.ceil(math.log10(largest / gap))))
    styles = kinds_of(colors)
    if gap == 0:
        side.set_yticks([low], [f"f(x) = f(y)\n= {low:.{digits}g}"])
    else:
        texts = [
            f"f({name}) = {value:.{digits}g}" for name, value in zip("xy", values, strict=True)
        ]
        side.set_yticks(values, texts)
        side.annotate(
            "",
            (0.5, values[1]),
            (0.5, values[0]),
            arrowprops={"arrowstyle": "<->", "color": colors.ink},
        )
    for name, value in zip("xy", values, strict=True):
        side.plot(0.5, value, markersize=7, clip_on=False, **styles[f"only in {name}"])
    side.set_title(label, fontsize="medium", loc="left", **PLAIN)


def line_styles(colors: Theme) -> Kinds:
    """Return how the lines of what two neighbors have, each or both, are drawn and called."""
    blue, red = colors.color("#0072B2"), colors.color("#D55E00")
    styles: Kinds = {
        "in both": {"color": colors.gray(0.65), "linewidth": 1.2},
        "only in x": {"color": blue, "linewidth": 2.8},
        "only in y": {"color": red, "linewidth": 2.8, "linestyle": (0, (4, 1.4))},
    }
    return {kind: {**style, "label": kind} for kind, style in styles.items()}


def explain_lines(ax: Axes, handles: dict[str, Any], noun: str, height: float) -> None:
    """Explain below the neighbors what the kinds of lines that were drawn mean."""
    kinds = [kind for kind in KINDS if kind in handles]
    if kinds:
        ax.legend(
            [handles[kind] for kind in kinds],
            [f"{noun} {kind}" for kind in kinds],
            loc="upper center",
            bbox_to_anchor=(0.5, height),
            ncols=3,
            frameon=False,
        )


def vector_text(witness: Any, name: str) -> str:
    """Return the vector that is the answer on x or on y, shortened."""
    answer = ", ".join(f"{one:g}" for one in map(float, getattr(witness, f"query_{name}")))
    return textwrap.shorten(f"f({name}) = ({answer})", 40, placeholder=" ...")


def say_difference(
    ax: Axes, witness: Any, query: str, neighbors: str, gap: str, colors: Theme
) -> None:
    """Write the title, and draw the answers beside the neighbors; of vectors, name the gap."""
    said = f"f = {named(query)}" if query != "f" else "f"
    if not isinstance(witness.query_x, tuple):
        values = float(witness.query_x), float(witness.query_y)
        apart = gap or f"{abs(values[0] - values[1]):.6g}"
        draw_answers(ax, values, f"|f(x) − f(y)|\n= {apart}", colors)
    elif gap:
        said = f"{said}, |f(x) − f(y)| = {gap}"
    ax.set_title(f"{said}\n{neighbors}".rstrip(), **PLAIN, fontsize="medium", pad=14)
