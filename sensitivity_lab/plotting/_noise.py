"""Laplace compared with Gaussian noise, for people in several groups or answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from matplotlib.axes import Axes

from ._options import check_frame, with_checked_options
from ._picture import Picture, is_geometric, lay_along, set_log_ticks
from ._theme import BLUE, MARKERS, RED

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS_OF_GROUPS = ("rows", "groups", "laplace_scale", "gaussian_scale", "epsilon", "rho")
_VARIANCES = (
    *("sensitivity", "answers", "laplace_variance", "gaussian_variance", "epsilon", "delta"),
)
_COLORS = ("#000000", RED, BLUE, "#009E73", "#CC79A7", "#777777")  # of PALETTE
_MOST_POINTS = 25  # points of a line that get a marker each


@with_checked_options
def plot_noise_scales(
    frame: pd.DataFrame,
    *,
    logx: bool | None = None,
    logy: bool = False,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the scales of Laplace and Gaussian noise against the number of groups per person.

    Two lines per number r of rows: solid with full markers for Laplace, which grows as r g; dashed
    with hollow ones for Gaussian, which grows as r sqrt(g).

    Parameters
    ----------
    frame : pandas.DataFrame
        The return value of `sensitivity_lab.noise.scales.group_noise_scales`.
    logx : bool, optional
        Whether the axis of groups is logarithmic; by default if their numbers are spaced so.
    logy : bool, default False
        Whether the axis of scales is logarithmic.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    title : str, optional
        By default the privacy losses.

    Returns
    -------
    Axes
        As for `plot_witness`.

    Raises
    ------
    InputError
        If `frame` lacks columns or rows, or `ax` is not an Axes.

    Examples
    --------
    >>> from sensitivity_lab.noise.scales import group_noise_scales
    >>> plot_noise_scales(group_noise_scales(range(1, 21), rows=[1, 3])).get_title()
    'epsilon = 1, rho = 0.5'
    """
    check_frame(frame, _COLUMNS_OF_GROUPS, "pass the result of group_noise_scales")
    drawn = ("laplace_scale", "gaussian_scale")
    picture = _with_lines(frame, ax, "groups", "rows", drawn, "b σ r")
    first = frame.iloc[0]
    losses = f"epsilon = {first['epsilon']:.6g}, rho = {first['rho']:.6g}"
    picture.title(losses if title is None else title)
    picture.name_axes("groups per person g, with r rows each", "noise scale (rows)")
    _lay_out(picture, frame["groups"], logx, logy)
    return picture.ax


@with_checked_options
def plot_noise_variances(
    frame: pd.DataFrame,
    *,
    against: Literal["answers", "sensitivity"] = "answers",
    logx: bool | None = None,
    logy: bool = True,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the variances of Laplace and Gaussian noise, if a person moves several answers.

    Solid lines with full markers for Laplace, which grow as the square of the number of answers;
    dashed ones with hollow markers for Gaussian, which grow as the number. A dotted line marks the
    point of equal variances.

    Parameters
    ----------
    frame : pandas.DataFrame
        The return value of `sensitivity_lab.noise.variances.noise_variances`.
    against : {"answers", "sensitivity"}, default "answers"
        The horizontal axis: the number k of answers, with two lines per sensitivity D of an answer;
        or D, with two lines per k.
    logx : bool, optional
        Whether the horizontal axis is logarithmic; by default if its values are spaced so.
    logy : bool, default True
        Whether the axis of variances is logarithmic.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    title : str, optional
        By default the privacy losses.

    Returns
    -------
    Axes
        As for `plot_witness`.

    Raises
    ------
    InputError
        If `frame` lacks columns or rows, `against` is not a choice, or `ax` is not an Axes.

    Examples
    --------
    >>> from sensitivity_lab.noise.variances import noise_variances
    >>> ax = plot_noise_variances(noise_variances(range(1, 16)))
    >>> [text.get_text() for text in ax.texts]
    ['Gaussian is smaller beyond k = 6.96']
    """
    check_frame(frame, _VARIANCES, "pass the result of noise_variances")
    drawn = ("laplace_variance", "gaussian_variance")
    if against == "answers":
        picture = _with_lines(frame, ax, against, "sensitivity", drawn, "2b² σ² D")
        along = "number k of answers that a person moves, each by at most D"
        _mark_crossing(picture, frame)
    else:
        picture = _with_lines(frame, ax, against, "answers", drawn, "2b² σ² k")
        along = "distance D that a person moves each of k answers by (units)"
    _lay_out(picture, frame[against], logx, logy)
    picture.name_axes(along, "variance of the noise on an answer (units²)")
    first = frame.iloc[0]
    losses = f"epsilon = {first['epsilon']:.6g}; Gaussian: delta = {first['delta']:.6g}"
    picture.title(losses if title is None else title)
    return picture.ax


def _lay_out(picture: Picture, places: pd.Series[float], logx: bool | None, logy: bool) -> None:
    """Set both axes; a linear one of noise starts at 0."""
    lay_along(picture.ax, places, is_geometric(places) if logx is None else logx)
    if logy:
        picture.ax.set_yscale("log")
        set_log_ticks(picture.ax.yaxis)
    else:
        picture.ax.set_ylim(bottom=0)


def _mark_crossing(picture: Picture, frame: pd.DataFrame) -> None:
    """Mark the point of equal variances, if it is within the frame."""
    first, answers = frame.iloc[0], frame["answers"]
    # One grows as k**2, the other as k, so their quotient grows as k.
    equal = first["answers"] * first["gaussian_variance"] / first["laplace_variance"]
    if not answers.min() < equal < answers.max():
        return
    picture.ax.axvline(equal, color="0.5", linestyle=":", linewidth=1.5)
    said = f"Gaussian is smaller beyond k = {equal:.3g}"
    picture.note(said, (equal, 0.03), (5, 0), xycoords=("data", "axes fraction"))


def _with_lines(
    frame: pd.DataFrame,
    ax: Axes | None,
    x: str,
    by: str,
    drawn: tuple[str, str],
    symbols: str,
) -> Picture:
    """Draw two columns against another one, with a pair of lines per value of `by`.

    `symbols` are the symbols of Laplace, Gaussian and `by` in the legend, separated by blanks.
    """
    picture = Picture.on(ax, (6.4, 3.8))
    ax, colors = picture.ax, picture.colors
    of_laplace, of_gaussian, of_line = symbols.split()
    for i, (_, part) in enumerate(frame.groupby(by, sort=False)):
        line = part.sort_values(x)
        style: dict[str, Any] = {
            "color": colors.color(_COLORS[i % len(_COLORS)]),
            "marker": MARKERS[i % len(MARKERS)],
            "markersize": 5,
            "markevery": -(-len(line) // _MOST_POINTS),
        }
        name = f"{of_line} = {float(part[by].iloc[0]):.6g}"
        ax.plot(line[x], line[drawn[0]], "-", label=f"Laplace {of_laplace}, {name}", **style)
        ax.plot(
            *(line[x], line[drawn[1]], "--"),
            label=f"Gaussian {of_gaussian}, {name}",
            markerfacecolor=colors.paper,
            **style,
        )
    picture.grid()
    picture.legend_beside(handlelength=3.5)
    return picture
