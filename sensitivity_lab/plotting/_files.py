"""Pictures in files."""

from __future__ import annotations

import os
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sensitivity_lab.checks import check_path as as_path
from sensitivity_lab.checks import shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.files import written_whole

_FORMATS = (".pdf", ".png", ".svg")


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
        The return value of `plot_curves` or `plot_witness`; for an Axes, its whole figure.
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
