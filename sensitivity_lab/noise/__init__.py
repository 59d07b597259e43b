"""How much noise a sensitivity needs: scales and privacy losses, rounded to the safe side.

This module adds no noise and does not track a privacy budget. A scale is computed from a number, or
from the result of a search over records, graphs or sequences. Each result declares whether noise
can be scaled to it; if not, the message says what to use instead.

`laplace_scale` (epsilon), `gaussian_scale` (zCDP) and `analytic_gaussian_scale` (epsilon and delta)
are for sensitivities over all datasets, `smooth_cauchy_scale` and `smooth_laplace_scale` for smooth
ones. `noise_table` splits a loss among several answers. `clipping_sweep` shows what a clipping
bound costs. Where the worst case needs too much noise, `inverse_sensitivity` has the law of a
mechanism that looks at the data.

Examples
--------
>>> import sensitivity_lab as sl
>>> ages = sl.Universe.from_domain([0, 125])
>>> total = sl.global_sensitivity(ages, "sum", size=10, neighbors="unbounded")
>>> sl.noise.laplace_scale(total, epsilon=0.5)
250.0
"""

from .clipping_bounds import ClippingPoint, ClippingSweep, clipping_sweep
from .inverse_mechanism import INVERSE_SENSITIVITY, InverseSensitivity, Ring, inverse_sensitivity
from .scales import (
    ANALYTIC_GAUSSIAN,
    GAUSSIAN,
    LAPLACE,
    analytic_gaussian_scale,
    gaussian_rho,
    gaussian_scale,
    laplace_epsilon,
    laplace_scale,
)
from .smooth import (
    SMOOTH_CAUCHY,
    SMOOTH_LAPLACE,
    smooth_beta,
    smooth_cauchy_scale,
    smooth_laplace_scale,
)
from .table_of_noise import NoiseRow, NoiseTable, noise_table

MECHANISMS = (
    *(LAPLACE, GAUSSIAN, ANALYTIC_GAUSSIAN, SMOOTH_LAPLACE, SMOOTH_CAUCHY),
    INVERSE_SENSITIVITY,
)
"""The mechanisms: which results each can be scaled to, its scale, guarantee and source."""

__all__ = [
    "ClippingPoint",
    "ClippingSweep",
    "InverseSensitivity",
    "NoiseRow",
    "NoiseTable",
    "Ring",
    "analytic_gaussian_scale",
    "clipping_sweep",
    "gaussian_rho",
    "gaussian_scale",
    "inverse_sensitivity",
    "laplace_epsilon",
    "laplace_scale",
    "noise_table",
    "smooth_beta",
    "smooth_cauchy_scale",
    "smooth_laplace_scale",
]

__dir__ = __all__.copy  # for tab completion
