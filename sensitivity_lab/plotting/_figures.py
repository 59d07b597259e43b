"""What the pictures share: figures that display themselves, units, files."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sensitivity_lab.checks import check_path as as_path
from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.files import written_whole

_FORMATS = (".pdf", ".png", ".svg")
PLAIN: dict[str, Any] = {"parse_math": False}  # a "$" in a name or a unit is a dollar


class _ShownOnce:
    """Displays itself as the result of a notebook cell, once: pyplot does not know it."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", bbox_inches="tight")  # type: ignore[attr-defined]
        return buffer.getvalue()


class ShownFigure(_ShownOnce, Figure):
    """A figure that a notebook displays."""


class ShownAxes(_ShownOnce, Axes):
    """An Axes that a notebook displays, with its figure."""


def new_figure(figsize: tuple[float, float]) -> Figure:
    figure = ShownFigure(figsize=figsize, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def query_unit(query: str, unit: str) -> str:
    if query == "count":
        return "records"
    if query.startswith("var"):
        return "units²" if not unit else f"{unit}²" if unit.isalpha() else f"({unit})²"
    return unit


def check_frame(frame: pd.DataFrame, needed: Iterable[str], advice: str) -> None:
    """Raise InputError unless a table has rows and the columns that a picture needs."""
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise InputError(f"frame: lacks {', '.join(missing)}; {advice}")
    if frame.empty:
        raise InputError("frame: has no rows, so there is nothing to draw")


def check_axes(name: str, given: Any) -> None:
    """Raise InputError unless something is an Axes, or a sequence or rows of them."""
    rows = _entries(given)
    wrong = [one for row in rows for one in _entries(row) if not isinstance(one, Axes)]
    if wrong:
        raise InputError(
            f"{name}: got {shown(wrong[0])}; pass a matplotlib Axes or a sequence of them"
        )


def _entries(given: Any) -> list[Any]:
    """Return the entries of a sequence or an array, or a single object as the only one."""
    if isinstance(given, np.ndarray):
        return list(given.ravel())
    return list(given) if isinstance(given, list | tuple) else [given]


def given_axes(ax: Any, panels: int) -> list[Axes]:
    check_axes("ax", ax)
    axes = [ax] if isinstance(ax, Axes) else list(np.ravel(np.asarray(ax, dtype=object)))
    if len(axes) != panels:
        raise InputError(f"ax: got {len(axes)} Axes for {panels} panels; pass {panels} Axes")
    return axes


def check_path(path: Path) -> None:
    """Raise InputError if a picture could not be saved under this name.

    Examples
    --------
    >>> from pathlib import Path
    >>> check_path(Path("curves.png"))
    >>> check_path(Path("curves"))
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: ...
    """
    if path.suffix.lower() not in _FORMATS:
        raise InputError(
            f"path: {shown(str(path))} ends in {shown(path.suffix)}; use .pdf, .png or .svg"
        )
    if not path.parent.is_dir():
        raise InputError(
            f"path: {shown(str(path))} is in a folder that does not exist; create it first"
        )


def save(figure: Figure | Axes, path: str | os.PathLike[str]) -> None:
    """Write a figure to a PNG, PDF or SVG file, by the extension of its name.

    Parameters
    ----------
    figure : Figure or Axes
        What `plot_curves` or `plot_witness` returned; of an Axes, its whole figure.
    path : str or path-like
        The file, in a folder that exists. A file of that name is replaced once the new one is
        whole.

    Raises
    ------
    InputError
        If the extension is another one, the folder does not exist, or the file cannot be written.

    Examples
    --------
    >>> save(Figure(), "curves.jpg")
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: path: 'curves.jpg' ends in '.jpg'; use .pdf, .png or .svg
    """
    if not hasattr(figure, "figure"):
        raise InputError(f"figure must be a Figure or an Axes, got {shown(figure)}")
    path = as_path("path", path)
    check_path(path)
    try:
        with written_whole(path) as part:
            figure.figure.canvas.figure.savefig(part, dpi=150, bbox_inches="tight")
    except OSError as error:
        raise InputError(
            f"path: {shown(str(path))} cannot be written ({error.strerror}); "
            "choose a file and a folder that you may write to"
        ) from error
