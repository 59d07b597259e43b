"""Pictures of sensitivities and of the pairs of datasets that prove them.

Only this package imports matplotlib. It draws from plain data, on the caller's Axes or on a new
figure of pyplot, and changes no rcParams. Every query has its own color, marker and dash pattern,
so color-blind readers can read a picture, also in print without color. `_picture.py` has the frame
that all pictures share, `_options.py` the checks of their options.
"""

from ._picture import check_path, off_screen, save
from .curves.draw import plot_curves

__all__ = [
    "check_path",
    "off_screen",
    "plot_curves",
    "save",
]

__dir__ = __all__.copy  # for tab completion
