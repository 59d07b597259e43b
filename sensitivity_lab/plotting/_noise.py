"""Laplace against Gaussian noise, for people who are in several groups or answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError

from ._figures import PLAIN, ShownAxes, check_frame, given_axes, new_figure
from ._options import with_checked_options
from ._theme import theme

if TYPE_CHECKING:
    import pandas as pd

_NEEDED = ("rows", "groups", "laplace_scale", "gaussian_scale", "epsilon", "rho")
_VARIANCES = (
    *("sensitivity", "answers", "laplace_variance", "gaussian_variance", "epsilon", "delta"),
)
_COLORS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#777777")  # of PALETTE
_MARKERS = ("o", "s", "^", "D", "v", "P")
_MOST_MARKED = 25  # points of a line that get a marker each


@with_checked_options
def plot_noise_scales(
    frame: pd.DataFrame, *, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw the scales of Laplace and Gaussian noise against the number of groups per person.

    Two lines per number r of rows: solid with full markers for Laplace, which grows as r g; dashed
    with hollow ones for Gaussian, which grows as r sqrt(g).

    Parameters
    ----------
    frame : pandas.DataFrame
        What `sensitivity_lab.noise.scales.group_noise_scales` returns.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    title : str, optional
        By default the privacy losses.

    Returns
    -------
    Axes
        One of a new figure displays itself as the result of a notebook cell. Save it with
        ``.figure.savefig(path)``: pyplot knows it only if `ax` is one of pyplot's.

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
    check_frame(frame, _NEEDED, "pass what group_noise_scales returns")
    ax = _with_lines(frame, ax, "groups", "rows", ("laplace_scale", "gaussian_scale"), "b σ r")
    first = frame.iloc[0]
    losses = f"epsilon = {first['epsilon']:.6g}, rho = {first['rho']:.6g}"
    ax.set_title(losses if title is None else title, **PLAIN, fontsize="medium")
    ax.set_xlabel("groups per person g, with r rows each")
    ax.set_ylabel("noise scale (rows)")
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
    return ax


@with_checked_options
def plot_noise_variances(
    frame: pd.DataFrame,
    *,
    against: Literal["answers", "sensitivity"] = "answers",
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the variances of Laplace and Gaussian noise, where a person moves several answers.

    Solid lines with full markers for Laplace, which grow as the square of the number of answers;
    dashed ones with hollow markers for Gaussian, which grow as the number. A dotted line stands
    where both variances are equal. Variances are on a logarithmic scale.

    Parameters
    ----------
    frame : pandas.DataFrame
        What `sensitivity_lab.noise.variances.noise_variances` returns.
    against : {"answers", "sensitivity"}, default "answers"
        What is along the horizontal axis: the number k of answers, with two lines per sensitivity D
        of an answer; or D, with two lines per k.
    ax : Axes, optional
        Where to draw; by default on a new figure.
    title : str, optional
        By default the privacy losses.

    Returns
    -------
    Axes
        One of a new figure displays itself as the result of a notebook cell.

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
    check_frame(frame, _VARIANCES, "pass what noise_variances returns")
    if not isinstance(against, str) or against not in ("answers", "sensitivity"):
        raise InputError(f"against must be 'answers' or 'sensitivity', got {shown(against)}")
    drawn = ("laplace_variance", "gaussian_variance")
    if against == "answers":
        ax = _with_lines(frame, ax, against, "sensitivity", drawn, "2b² σ² D")
        ax.set_xlabel("number k of answers that a person moves, each by at most D")
        ax.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
        _mark_crossing(ax, frame)
    else:
        ax = _with_lines(frame, ax, against, "answers", drawn, "2b² σ² k")
        ax.set_xlabel("distance D that a person moves each of k answers by (units)")
        ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylabel("variance of the noise on an answer (units²)")
    first = frame.iloc[0]
    losses = f"epsilon = {first['epsilon']:.6g}; Gaussian: delta = {first['delta']:.6g}"
    ax.set_title(losses if title is None else title, **PLAIN, fontsize="medium")
    return ax


def _mark_crossing(ax: Axes, frame: pd.DataFrame) -> None:
    """Mark where the variances are equal, if that is within the frame."""
    first, answers = frame.iloc[0], frame["answers"]
    # One grows as k**2, the other as k, so their quotient grows as k.
    equal = first["answers"] * first["gaussian_variance"] / first["laplace_variance"]
    if not answers.min() < equal < answers.max():
        return
    ax.axvline(equal, color="0.5", linestyle=":", linewidth=1.5)
    ax.annotate(
        f"Gaussian is smaller beyond k = {equal:.3g}",
        xy=(equal, 0.03),
        xycoords=("data", "axes fraction"),
        xytext=(5, 0),
        textcoords="offset points",
        fontsize="small",
    )


def _with_lines(
    frame: pd.DataFrame,
    ax: Axes | None,
    x: str,
    by: str,
    drawn: tuple[str, str],
    symbols: str,
) -> Axes:
    """Draw two columns against another one, with a pair of lines per value of `by`.

    `symbols` are those of Laplace, of Gaussian and of `by` in the legend, separated by blanks.
    """
    if ax is None:
        ax = new_figure((6.4, 3.8)).add_subplot(axes_class=ShownAxes)
    [ax] = given_axes(ax, 1)
    colors = theme(ax)
    of_laplace, of_gaussian, of_line = symbols.split()
    for i, (_, part) in enumerate(frame.groupby(by, sort=False)):
        line = part.sort_values(x)
        style: dict[str, Any] = {
            "color": colors.color(_COLORS[i % len(_COLORS)]),
            "marker": _MARKERS[i % len(_MARKERS)],
            "markersize": 5,
            "markevery": -(-len(line) // _MOST_MARKED),
        }
        name = f"{of_line} = {float(part[by].iloc[0]):.6g}"
        ax.plot(line[x], line[drawn[0]], "-", label=f"Laplace {of_laplace}, {name}", **style)
        ax.plot(
            *(line[x], line[drawn[1]], "--"),
            label=f"Gaussian {of_gaussian}, {name}",
            markerfacecolor=colors.paper,
            **style,
        )
    ax.grid(color=colors.gray(0.9))
    ax.set_axisbelow(True)
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, handlelength=3.5)
    return ax
