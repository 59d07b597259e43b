"""What truncation cuts and what noise costs, against the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._options import check_frame, with_checked_options
from ._picture import Picture, with_unit
from ._theme import BLUE, RED

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_ERROR_LINES: dict[str, dict[str, Any]] = {
    # The expected error is wide and beneath the others: it follows the larger of them.
    "error": {
        "label": "expected error of the answer",
        "color": "#777777",
        "alpha": 0.6,
        "linewidth": 4,
    },
    "cut": {"label": "cut from the answer", "color": BLUE, "linestyle": "--"},
    "scale": {"label": "scale of the noise", "color": RED, "linestyle": "-."},
}


@with_checked_options
def plot_truncation(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    unit: str = "",
    title: str | None = "Private: do not choose a threshold by these errors",
    figsize: tuple[float, float] = (6.4, 4.2),
) -> Axes:
    """Draw what each threshold cuts, the scale of the noise, and the expected error of both.

    Parameters
    ----------
    frame : pandas.DataFrame
        A row per threshold, as `sql.Query.truncation` returns it in ``to_frame()``.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    unit : str, optional
        The unit of the answer, such as "visits".
    title : str, optional
        Above the picture.
    figsize : tuple of float, default (6.4, 4.2)
        Width and height in inches of a new figure.

    Returns
    -------
    Axes
        Both axes are logarithmic and omit numbers that are not positive.

    Raises
    ------
    InputError
        If `frame` lacks columns or rows.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"threshold": [1, 2], "cut": [5, 0], "scale": [1, 2], "error": [5, 2]})
    >>> plot_truncation(frame, unit="visits").get_ylabel()
    'error (visits)'
    """
    check_frame(
        frame, ("threshold", *_ERROR_LINES), "pass the result of TruncationStudy.to_frame()"
    )
    picture = Picture.on(ax, figsize)
    axes = picture.ax
    for name, style in _ERROR_LINES.items():
        heights = frame[name].to_numpy(float)
        shown = heights > 0
        look = {**style, "color": picture.colors.color(style["color"])}
        axes.plot(frame["threshold"].to_numpy(float)[shown], heights[shown], marker=".", **look)
    axes.set_xscale("log")
    axes.set_yscale("log")
    picture.name_axes("threshold: the most that one person adds", with_unit("error", unit))
    picture.grid()
    axes.legend(frameon=False, fontsize="small")
    if title:
        axes.set_title(title, fontsize="medium")
    return axes
