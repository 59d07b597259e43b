"""Pictures of sensitivities and of the pairs of datasets that prove them.

The only importer of matplotlib. It draws from plain data, keeps out of pyplot (no window, no global
state) and changes no rcParams. Every query has a color, a marker and a dash pattern, so that a
picture can be read by the color-blind and in print without color.
"""

from ._answers import plot_answers
from ._audit import plot_audit
from ._clipping import plot_clipping
from ._figures import check_path, save
from ._noise import plot_noise_scales, plot_noise_variances
from ._spaces import plot_datasets, plot_graphs, plot_sequences
from ._stability import plot_stability
from ._strip import plot_strip
from ._sweep import plot_sweep
from ._witness import plot_witness
from .curves.draw import plot_curves

__all__ = [
    "check_path",
    "plot_answers",
    "plot_audit",
    "plot_clipping",
    "plot_curves",
    "plot_datasets",
    "plot_graphs",
    "plot_noise_scales",
    "plot_noise_variances",
    "plot_sequences",
    "plot_stability",
    "plot_strip",
    "plot_sweep",
    "plot_witness",
    "save",
]
