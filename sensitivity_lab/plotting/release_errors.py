"""The errors of several mechanisms against epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from matplotlib.axes import Axes

from ._options import with_checked_options
from ._picture import Picture, entitled, lay_along, set_log_ticks, with_unit
from ._theme import BLUE, MARKERS, RED

if TYPE_CHECKING:
    import pandas as pd

_MEASURES = {
    "expected_error": "expected error",
    "median_error": "median error",
    "error_90": "error that 9 of 10 releases do not exceed",
}

_MECHANISM_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": "#000000", "linestyle": "-"},
    {"color": "#777777", "linestyle": "-"},
    {"color": "#E69F00", "linestyle": "--"},
    {"color": "#CC79A7", "linestyle": ":"},
    {"color": "#009E73", "linestyle": "--"},
    {"color": BLUE, "linestyle": "-"},
    {"color": RED, "linestyle": "-."},
)
"""A color, a dash pattern and, by its place, a marker per mechanism: readable in gray, too."""


@with_checked_options
def plot_release_errors(
    frame: pd.DataFrame,
    *,
    error: Literal["expected_error", "median_error", "error_90"] = "expected_error",
    unit: str = "",
    ax: Axes | None = None,
    title: str | None = None,
    figsize: tuple[float, float] = (8.4, 4.4),
) -> Any:
    """Draw the errors of mechanisms against epsilon, a line per mechanism.

    Both axes are logarithmic; errors of 0 are left out. A hollow marker says that there is an
    answer with a probability below one half: its error is that of an answer, if there is one.

    Parameters
    ----------
    frame : pandas.DataFrame
        A row per epsilon and mechanism, as `ErrorComparison.to_frame` returns it.
    error : {"expected_error", "median_error", "error_90"}, default "expected_error"
        Which error to draw.
    unit : str, optional
        The unit of the answer, such as "days".
    ax : Axes, optional
        Where to draw; by default on a new figure.
    title : str, optional
        Above the figure or the given Axes.
    figsize : tuple of float, default (8.4, 4.4)
        Width and height in inches of a new figure.

    Returns
    -------
    Figure or Axes
        As for `plot_curves`.

    Raises
    ------
    InputError
        If an option has the wrong type.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(11))
    >>> found = sl.noise.compare(
    ...     scores,
    ...     "median",
    ...     dataset=[4, 5, 5, 6, 9],
    ...     epsilon=[0.5, 1, 2],
    ...     range=(0, 10),
    ...     step=1,
    ...     neighbors="bounded",
    ... )
    >>> figure = plot_release_errors(found.to_frame(), unit="points")
    >>> figure.axes[0].get_ylabel()
    'expected error (points)'
    """
    picture = Picture.on(ax, figsize)
    # The place in the frame, whether drawn or not, gives a mechanism its look.
    for place, (mechanism, rows) in enumerate(frame.groupby("mechanism", sort=False)):
        drawn = rows[rows[error] > 0].sort_values("epsilon")
        if not drawn.empty:
            _draw(picture, str(mechanism), drawn, error, place)
    epsilons = frame["epsilon"].to_numpy(float)
    lay_along(picture.ax, epsilons, len(set(epsilons)) > 1)
    picture.ax.set_yscale("log")
    set_log_ticks(picture.ax.yaxis)
    picture.name_axes("epsilon", with_unit(_MEASURES[error], unit))
    picture.grid()
    if picture.ax.get_legend_handles_labels()[0]:
        picture.legend_beside(fontsize="small")
    return entitled(ax, [picture.ax], title, beside=1.9)


def _draw(picture: Picture, mechanism: str, rows: pd.DataFrame, error: str, place: int) -> None:
    """Draw the line of a mechanism, its markers hollow where answers are unlikely."""
    look = _MECHANISM_LOOKS[place % len(_MECHANISM_LOOKS)]
    color, marker = picture.colors.color(look["color"]), MARKERS[place % len(MARKERS)]
    along, heights = rows["epsilon"].to_numpy(float), rows[error].to_numpy(float)
    style = {**look, "color": color}
    picture.ax.plot(along, heights, marker=marker, label=mechanism, **style)
    unlikely = rows["chance_of_answer"].to_numpy(float) < 0.5
    if unlikely.any():
        picture.ax.plot(
            *(along[unlikely], heights[unlikely]),
            marker=marker,
            linestyle="none",
            color=color,
            markerfacecolor=picture.colors.paper,
            label="an answer is unlikely",
        )
