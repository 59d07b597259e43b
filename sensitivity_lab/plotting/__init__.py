"""Pictures of sensitivities and of the pairs of datasets that prove them.

Only this package imports matplotlib. It draws from plain data, on the caller's Axes or on a new
figure of pyplot, and changes no rcParams. Every query has its own color, marker and dash pattern,
so color-blind readers can read a picture, also in print without color. `_picture.py` has the frame
that all pictures share, `_options.py` the checks of their options.
"""

from ._answers import plot_answers
from ._audit import plot_audit
from ._clipping import plot_clipping
from ._contributions import plot_contributions
from ._files import check_path, save
from ._noise_table import plot_noise_table
from ._picture import off_screen
from ._reach import plot_reach
from ._release_errors import plot_release_errors
from ._spaces import plot_datasets, plot_graphs, plot_sequences
from ._stability import plot_stability
from ._strip import plot_strip
from ._truncation import plot_truncation
from ._witness import plot_witness
from .curves.draw import plot_curves

__all__ = [
    "check_path",
    "off_screen",
    "plot_answers",
    "plot_audit",
    "plot_clipping",
    "plot_contributions",
    "plot_curves",
    "plot_datasets",
    "plot_graphs",
    "plot_noise_table",
    "plot_reach",
    "plot_release_errors",
    "plot_sequences",
    "plot_stability",
    "plot_strip",
    "plot_truncation",
    "plot_witness",
    "save",
]

__dir__ = __all__.copy  # for tab completion
