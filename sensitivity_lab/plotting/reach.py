"""Reach: a fan around the answer, and how far sensitivities are from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from sensitivity_lab.checks import named

from ._options import with_checked_options
from ._picture import PLAIN, Picture, query_unit, with_unit
from ._theme import BLUE, RED

if TYPE_CHECKING:
    import pandas as pd

_MOST_STEPS_MARKED = 30  # more distances are a line without markers
_BESIDE_THE_FAN = 0.14  # how far apart the sensitivities are, as a share of the distances
_LETTERS = 60  # of a line of the title


@with_checked_options
def plot_reach(
    frame: pd.DataFrame,
    *,
    sensitivities: Mapping[str, float] | None = None,
    ax: Axes | None = None,
    unit: str = "",
    title: str | None = None,
    figsize: tuple[float, float] = (6.6, 4.2),
) -> Axes:
    """Draw the least and the greatest answer against the distance from x, as a fan around f(x).

    Parameters
    ----------
    frame : pandas.DataFrame
        A row per distance, as `Reach.to_frame` returns it.
    sensitivities : mapping of str to float, optional
        Sensitivities by name, such as ``{"global": 100, "smooth": 12.5}``. Each is drawn beside the
        fan as a bar from f(x) less the sensitivity to f(x) plus it.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    unit : str, optional
        The unit of the records, such as "years".
    title : str, optional
        By default the column, the query, the relation and the size.
    figsize : tuple of float, default (6.6, 4.2)
        Width and height in inches of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If an option is of the wrong type.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(11))
    >>> reach = sl.reach(
    ...     scores, "median", dataset=[2, 4, 5, 5, 6, 7, 9], neighbors="bounded", distances=4
    ... )
    >>> ax = plot_reach(reach.to_frame("score"), sensitivities={"global": 10}, unit="points")
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Hamming distance k from x', 'median (points)')
    """
    first = frame.iloc[0]
    picture = Picture.on(ax, figsize)
    _draw_fan(picture, frame)
    last = int(frame["distance"].max())
    apart = max(1.0, _BESIDE_THE_FAN * last)
    names = _draw_beside(picture, float(first["answer"]), last, apart, sensitivities or {})
    _lay_along(picture.ax, last, apart, names)
    query = str(first["query"])
    picture.name_axes("Hamming distance k from x", with_unit(query, query_unit(query, unit)))
    picture.grid()
    described = (
        f"{named(first['column'])}: reach of {query}\n"
        f"{first['neighbors']}, at most k; n = {int(first['size']):,}"
    )
    picture.title(described if title is None else title, _LETTERS)
    picture.ax.legend(loc="best", frameon=False, fontsize="small")
    return picture.ax


def _draw_fan(picture: Picture, frame: pd.DataFrame) -> None:
    ax, color = picture.ax, picture.colors.color
    k, lower, upper = (frame[name].to_numpy(float) for name in ("distance", "lower", "upper"))
    blue, marker = color(BLUE), "." if len(k) <= _MOST_STEPS_MARKED else ""
    ax.fill_between(k, lower, upper, color=blue, alpha=0.2, linewidth=0)
    ax.plot(k, upper, color=blue, marker=marker, label="greatest answer within k")
    ax.plot(k, lower, color=blue, marker=marker, linestyle="--", label="least answer within k")
    ax.axhline(frame["answer"].iloc[0], color=picture.colors.ink, linewidth=1, label="f(x)")


def _draw_beside(
    picture: Picture, answer: float, last: int, apart: float, sensitivities: Mapping[str, float]
) -> dict[float, str]:
    """Draw sensitivities to the right of the fan; return their places and names."""
    ax, red = picture.ax, picture.colors.color(RED)
    names = {last + apart * (1 + place): name for place, name in enumerate(sensitivities)}
    for place, sensitivity in zip(names, sensitivities.values(), strict=True):
        ends = answer - sensitivity, answer + sensitivity
        ax.plot((place, place), ends, color=red, marker="_", markersize=14, linewidth=2)
    if names:
        ax.axvline(last + apart / 2, color=picture.colors.gray(0.6), linewidth=0.8, linestyle=":")
    return names


def _lay_along(ax: Axes, last: int, apart: float, names: dict[float, str]) -> None:
    """Put ticks at whole distances and at the names of what is beside them."""
    ticks = MaxNLocator(nbins=6, integer=True).tick_values(0, last)
    distances = [place for place in ticks if 0 <= place <= last]
    labels = [f"{int(place):,}" for place in distances]
    labels += [f"f(x) ±\n{name}" for name in names.values()]
    ax.set_xticks([*distances, *names], labels, **PLAIN)
    margin = max(0.3, 0.03 * last)
    ax.set_xlim(-margin, max([last + margin, *(place + apart / 2 for place in names)]))
