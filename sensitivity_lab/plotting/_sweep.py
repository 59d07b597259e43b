"""Sensitivity against the values of one argument."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes

from sensitivity_lab.checks import named
from sensitivity_lab.errors import InputError

from ._options import axes_of, check_frame, with_checked_options
from ._picture import PLAIN, name_places
from .curves.draw import plot_curves

if TYPE_CHECKING:
    import pandas as pd

_XLABELS = {"size": "size n of x (records)", "k": "Hamming distance k"}
_COLUMNS_OF_SWEEP = ("argument", "argument_value", "relation", "kind")
_MOST_NAMED = 12  # values that are not numbers, with a tick each
_VALUE_LETTERS = 32  # below a panel, side by side


@with_checked_options
def plot_sweep(
    frame: pd.DataFrame,
    *,
    xlabel: str | None = None,
    logx: bool | None = None,
    logy: bool = False,
    ax: Axes | Iterable[Any] | None = None,
    units: str | Mapping[str, str] | None = None,
    title: str | None = None,
    figsize: tuple[float, float] | None = None,
    legend: str | None = None,
    queries: str | Sequence[str] | None = None,
    columns: int | str | Sequence[str] | None = None,
    sharey: bool = False,
    subplots: bool | None = None,
) -> Any:
    r"""Draw sensitivities against the values of one argument.

    Panels, lines and legend are as in `plot_curves`.

    Parameters
    ----------
    frame : pandas.DataFrame
        A row per point, as `Sweep.to_frame` returns it, with a column `relation`: the neighbor
        relation in words, for the title of a panel.
    xlabel : str, optional
        The label of the argument's axis, with its unit; by default the argument's name.
    logx : bool, optional
        Whether the argument's axis is logarithmic; by default if the values are spaced so, such as
        1, 10, 100 or 1, 2, 5, 10. Values that are not numbers are drawn side by side.
    ax, units, title, logy, figsize, legend, queries, columns, sharey, subplots
        See `plot_curves`.

    Returns
    -------
    Figure or Axes or sequence of Axes
        As for `plot_curves`.

    Raises
    ------
    InputError
        As `plot_curves`; also for a logarithmic axis of values that are not above 0.

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
    check_frame(frame, _COLUMNS_OF_SWEEP, "call Sweep.plot()")
    values = list(dict.fromkeys(frame["argument_value"]))
    numeric = all(map(_is_number, values))
    if logx and not (numeric and min(values) > 0):
        raise InputError(
            "logx: a logarithmic axis needs numbers above 0, "
            f"got {next(v for v in values if not _is_number(v) or v <= 0)!r}; use logx=False"
        )
    places = [float(value) if numeric else values.index(value) for value in frame["argument_value"]]
    drawn = plot_curves(
        frame.assign(distance=places, neighbors=frame["relation"], meaning=""),
        ax=ax,
        units=units,
        title=title,
        logx=logx if numeric else False,
        logy=logy,
        figsize=figsize,
        legend=legend,
        queries=queries,
        columns=columns,
        sharey=sharey,
        subplots=subplots,
    )
    argument = named(frame["argument"].iloc[0])
    label = _XLABELS.get(argument, argument.replace("_", " ")) if xlabel is None else xlabel
    for panel in drawn.axes if ax is None else axes_of(ax):
        panel.set_xlabel(label, **PLAIN)
        if not numeric:
            # Nothing else is along this axis, of some three inches.
            room = _VALUE_LETTERS / min(len(values), _MOST_NAMED) - 1
            name_places(panel, list(map(named, values)), _MOST_NAMED, room)
    return drawn


def _is_number(value: Any) -> bool:
    return isinstance(value, (numbers.Real, Decimal)) and not isinstance(value, bool)
