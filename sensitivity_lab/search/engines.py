"""The table of all engines, in order of preference.

It imports every theory, so `choose` loads it when the first search needs it.
"""

from __future__ import annotations

from .engine import AnyEngine
from .enumeration.global_max import Enumeration
from .enumeration.local_max import LocalEnumeration
from .enumeration.smooth_max import SmoothEnumeration
from .groups.global_max import Groups
from .groups.local_max import LocalGroups
from .intervals.global_max import Intervals
from .intervals.local_max import LocalIntervals
from .linear.global_max import Linear
from .linear.local_max import LocalLinear
from .linear.smooth_max import SmoothLinear
from .multiplicities.global_max import MultiplicitiesEngine
from .multiplicities.local_max import LocalMultiplicities
from .one_column.global_max import OneColumn
from .one_column.local_max import LocalOneColumn
from .order_statistics.global_max import OrderStatistics
from .order_statistics.local_max import LocalOrderStatistics
from .order_statistics.smooth_max import SmoothOrderStatistics
from .ranks.global_max import Ranks
from .ranks.local_max import LocalRanks
from .row_sums.global_max import RowSums
from .row_sums.local_max import LocalRowSums
from .stacks.global_max import Stacks
from .variance.global_max import Variance
from .variance.local_max import LocalVariance
from .variance.smooth_max import SmoothVariance

CONTINUOUS: tuple[AnyEngine, ...] = (
    Intervals((OrderStatistics(), Linear(), Ranks())),
    LocalIntervals((LocalOrderStatistics(), LocalLinear(), LocalRanks(), LocalVariance())),
)
"""The engines for intervals; the others are for finite universes."""

_ON_TABLES: tuple[AnyEngine, ...] = (
    OneColumn((OrderStatistics(), Linear(), Variance(), Ranks())),
    Groups((OrderStatistics(), Linear(), Variance())),
)

ENGINES: tuple[AnyEngine, ...] = (
    OrderStatistics(),
    LocalOrderStatistics(),
    SmoothOrderStatistics(),
    Linear(),
    LocalLinear(),
    SmoothLinear(),
    Variance(),
    LocalVariance(),
    SmoothVariance(),
    Ranks(),
    LocalRanks(),
    MultiplicitiesEngine(),
    LocalMultiplicities(),
    RowSums(),
    LocalRowSums(),
    *_ON_TABLES,
    LocalOneColumn((LocalOrderStatistics(), LocalLinear(), LocalVariance(), LocalRanks())),
    LocalGroups((LocalOrderStatistics(), LocalLinear(), LocalVariance())),
    Stacks((RowSums(), *_ON_TABLES)),
    *CONTINUOUS,
    Enumeration(),
    LocalEnumeration(),
    SmoothEnumeration(),
)
"""Every engine: a theory, and a kind of problem. The first that has a plan solves the problem."""
