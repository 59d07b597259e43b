"""The entry point of the explorer."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sensitivity_lab.errors import MissingExtraError

from .source import Source, as_source


def explore(universes: Any) -> Any:
    """Show the explorer in a notebook: controls, with pictures that follow them at once.

    Choose a column, a query, a relation, the size n, the distance k and epsilon. The panel shows
    the sensitivity, its curve over k, the sorted universe as a strip, the witness pair, Laplace
    noise on the records' axis, and the code that computes all of it. Type a dataset to
    compare its local and its smooth sensitivity with the global one, and to see its reach.
    Type a public domain to explore it in place of the records.

    A table may be private, so its explorer opens on the domain 0 to 100. Type the possible values.
    Empty the field to use the rows themselves as the universe; for a release do so only if they are
    public.

    Parameters
    ----------
    universes : Universe or IntervalUniverse, mapping of str to these, or DataFrame
        One universe, one per column, or a table whose numeric columns are datasets (scenario (a)).

    Returns
    -------
    ipywidgets.Widget
        The panel, which a notebook displays as the result of a cell.

    Raises
    ------
    InputError
        If there is no universe of numbers.
    MissingExtraError
        If the extra `explore` is not installed.

    Notes
    -----
    A separate process searches, so the page stays responsive, and you can stop a search.
    ``sensitivity-lab explore data.csv`` shows the same panel in a browser.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> panel = sl.explore(sl.Universe.from_dataset([1, 2, 3, 10]))
    >>> panel.close()
    """
    return show(as_source(universes))


def show(source: Source) -> Any:
    """Return the panel of a source; raise MissingExtraError without the extra."""
    try:
        panel = import_module(".panel", __package__)
    except ImportError as error:
        if isinstance(error, MissingExtraError) or (error.name or "").startswith("sensitivity_lab"):
            raise
        raise MissingExtraError(
            "explore needs ipywidgets and Voila, which are not installed; "
            "install the extra: pip install '.[explore]' in a checkout"
        ) from error
    return panel.Panel(source)
