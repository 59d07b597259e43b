"""What truncation cuts and what noise costs, against the threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._options import with_checked_options
from ._picture import Picture, with_unit
from .clipping import draw_errors

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


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

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"threshold": [1, 2], "cut": [5, 0], "scale": [1, 2], "error": [5, 2]})
    >>> plot_truncation(frame, unit="visits").get_ylabel()
    'error (visits)'
    """
    picture = Picture.on(ax, figsize)
    axes, frame = picture.ax, frame.astype(float)
    errors = {
        "expected error of the answer": frame["error"],
        "cut from the answer": frame["cut"],
        "scale of the noise": frame["scale"],
    }
    draw_errors(picture, frame["threshold"], errors)
    axes.set_xscale("log")
    axes.set_yscale("log")
    picture.name_axes("threshold: the most that one person adds", with_unit("error", unit))
    picture.grid()
    axes.legend(frameon=False, fontsize="small")
    if title:
        axes.set_title(title, fontsize="medium")
    return axes
