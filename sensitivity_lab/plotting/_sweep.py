"""Sensitivity against any one argument."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator

from sensitivity_lab.checks import named, shown
from sensitivity_lab.errors import InputError

from ._figures import PLAIN, check_frame
from ._options import with_checked_options
from .curves.draw import plot_curves

if TYPE_CHECKING:
    import pandas as pd

_XLABELS = {"size": "size n of x (records)", "k": "Hamming distance k"}
_NEEDED = ("argument", "argument_value", "relation", "kind")
_MOST_NAMED = 12  # values that are not numbers, with a tick each


@with_checked_options
def plot_sweep(
    frame: pd.DataFrame,
    *,
    xlabel: str | None = None,
    xscale: str = "linear",
    yscale: str = "linear",
    ax: Axes | Iterable[Any] | None = None,
    units: Mapping[str, str] | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    legend: str | None = None,
    queries: str | Sequence[str] | None = None,
    columns: int | str | Sequence[str] | None = None,
    sharey: bool = False,
) -> Any:
    r"""Draw sensitivities against the values of one argument.

    Panels, lines and legend are those of `plot_curves`.

    Parameters
    ----------
    frame : pandas.DataFrame
        A row per point, as `Sweep.to_frame` gives it, and a column `relation`: the neighbor
        relation in words, as it appears above a panel.
    xlabel : str, optional
        The label of the argument's axis, with its unit; by default the argument's name.
    xscale, yscale : {"linear", "log"}
        The axes. Values of the argument that are not numbers are drawn side by side.
    ax, units, title, figsize, legend, queries, columns, sharey
        See `plot_curves`.

    Returns
    -------
    Figure or Axes or sequence of Axes
        The new Figure, or `ax` itself if it was given. Save it with ``.savefig(path)``.

    Raises
    ------
    InputError
        As `plot_curves`; if `xscale` is unknown, or "log" with values that are not above 0.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame(
    ...     {
    ...         "argument": "size",
    ...         "argument_value": [3, 4],
    ...         "column": "age",
    ...         "query": "mean",
    ...         "relation": "bounded, at most 1",
    ...         "size": [3, 4],
    ...         "kind": "global",
    ...         "sensitivity": [1.0, 0.75],
    ...     }
    ... )
    >>> figure = plot_sweep(frame, units={"age": "years"})
    >>> figure.axes[0].get_xlabel(), figure.axes[0].get_title()
    ('size n of x (records)', 'age\nbounded, at most 1, n = 3 to 4')
    """
    check_frame(frame, _NEEDED, "call Sweep.plot()")
    values = list(dict.fromkeys(frame["argument_value"]))
    numeric = all(map(_is_number, values))
    if not isinstance(xscale, str) or xscale not in ("linear", "log"):
        raise InputError(f"xscale: got {shown(xscale)}; use 'linear' or 'log'")
    if xscale == "log" and not (numeric and min(values) > 0):
        raise InputError(
            "xscale: 'log' needs numbers above 0, "
            f"got {next(v for v in values if not _is_number(v) or v <= 0)!r}; use 'linear'"
        )
    places = [float(value) if numeric else values.index(value) for value in frame["argument_value"]]
    drawn = plot_curves(
        frame.assign(distance=places, neighbors=frame["relation"], meaning=""),
        ax=ax,
        units=units,
        title=title,
        yscale=yscale,
        figsize=figsize,
        legend=legend,
        queries=queries,
        columns=columns,
        sharey=sharey,
    )
    axes = drawn.axes if ax is None else np.ravel(np.asarray(ax, dtype=object))
    argument = named(frame["argument"].iloc[0])
    label = _XLABELS.get(argument, argument.replace("_", " ")) if xlabel is None else xlabel
    for panel in axes:
        panel.set_xlabel(label, **PLAIN)
        _set_axis(panel, places, xscale)
        if not numeric:
            _name_values(panel, list(map(named, values)))
    return drawn


def _is_number(value: Any) -> bool:
    return isinstance(value, (numbers.Real, Decimal)) and not isinstance(value, bool)


def _set_axis(ax: Axes, places: list[float], xscale: str) -> None:
    """Set limits a little beyond the values, and whole ticks where all values are whole."""
    low, high = min(places), max(places)
    if xscale == "log":
        ax.set_xscale("log")
        ax.set_xlim(low / (high / low) ** 0.04 / 1.05, high * (high / low) ** 0.04 * 1.05)
        return
    whole = all(place == int(place) for place in places)
    margin = max(0.04 * (high - low), 0.4 if whole else 0.01 * abs(high)) or 0.4
    ax.set_xlim(low - margin, high + margin)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=whole, min_n_ticks=1))


def _name_values(ax: Axes, names: list[str]) -> None:
    """Write the values that are not numbers at their places, or some of them."""
    step = -(-len(names) // _MOST_NAMED)
    shown = range(0, len(names), step)
    ax.xaxis.set_major_locator(FixedLocator(list(shown)))
    ax.set_xticklabels([names[place] for place in shown], rotation=30, ha="right", **PLAIN)
