"""The page in a notebook."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from sensitivity_lab.checks import check_whole, html_text

from .server import serving
from .universes import Given, given_of

PUBLIC = "https://sensitivity-lab.github.io/sensitivity_lab/calculator/"
"""The page on the site."""


class Explorer:
    """A page that is served until it is closed; a notebook shows it in a frame.

    Attributes
    ----------
    url : str
        Its address, with the token that opens it.
    """

    def __init__(self, given: Given, height: int) -> None:
        self._open, self._height = ExitStack(), height
        self.url = self._open.enter_context(serving(given))

    def close(self) -> None:
        """End the page."""
        self._open.close()

    def __repr__(self) -> str:
        return f"Explorer at {self.url}"

    def _repr_html_(self) -> str:
        address = html_text(self.url)
        return (
            f'<iframe src="{address}" title="sensitivity_lab: the calculator" width="100%" '
            f'height="{self._height}" style="border: 1px solid #8888"></iframe>'
            "<p>The frame stays empty if your browser cannot reach the machine that runs this "
            f'notebook (JupyterHub, Colab). Then use <a href="{PUBLIC}">the public page</a>, whose '
            "data stay in your browser.</p>"
        )


def explore(universes: Any = None, *, height: int = 900) -> Explorer:
    """Show the calculator in a notebook: controls, with pictures that follow them.

    Choose a universe, a query, a relation, the size n, the distance k and epsilon. The page shows
    the sensitivity, its witness, the curve over k, Laplace noise, and the code that computes all of
    it; of a dataset also the local and the smooth sensitivity and the reach. Another process
    computes, so that a search can be stopped.

    Parameters
    ----------
    universes : Universe or IntervalUniverse, mapping of str to these, or DataFrame, optional
        What can be chosen beside typed domains: universes, or the numeric columns of a table. A
        table may be private, so the page opens on the domain 0 to 60, and offers its columns as
        datasets.
    height : int, default 900
        The height of the frame in pixels.

    Returns
    -------
    Explorer
        With a `url`, and a method `close`; a notebook displays it as the result of a cell.

    Raises
    ------
    InputError
        If there is no universe of numbers.

    Notes
    -----
    The page is served on the loopback address and opens with a token. ``sensitivity-lab explore
    data.csv`` shows the same page.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> page = sl.explore(sl.Universe.from_dataset([1, 2, 3, 10]))
    >>> page.url.startswith("http://127.0.0.1:")
    True
    >>> page.close()
    """
    pixels = check_whole("height", height, "a number of pixels, at least 1")
    return Explorer(Given() if universes is None else given_of(universes), pixels)
