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
from .monotone.global_max import Monotone
from .monotone.local_max import LocalMonotone
from .monotone.smooth_max import SmoothMonotone
from .multiplicities.global_max import MultiplicitiesEngine
from .multiplicities.local_max import LocalMultiplicities
from .one_column.global_max import OneColumn
from .one_column.local_max import LocalOneColumn
from .ranks.global_max import Ranks
from .ranks.local_max import LocalRanks
from .row_sums.global_max import RowSums
from .row_sums.local_max import LocalRowSums
from .stacks.global_max import Stacks
from .variance.global_max import Variance
from .variance.local_max import LocalVariance
from .variance.smooth_max import SmoothVariance

CONTINUOUS: tuple[AnyEngine, ...] = (
    Intervals((Monotone(), Ranks())),
    LocalIntervals((LocalMonotone(), LocalRanks(), LocalVariance())),
)
"""The engines for intervals; the others are for finite universes."""

_ON_TABLES: tuple[AnyEngine, ...] = (
    OneColumn((Monotone(), Variance(), Ranks())),
    Groups((Monotone(), Variance())),
)

ENGINES: tuple[AnyEngine, ...] = (
    Monotone(),
    LocalMonotone(),
    SmoothMonotone(),
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
    LocalOneColumn((LocalMonotone(), LocalVariance(), LocalRanks())),
    LocalGroups((LocalMonotone(), LocalVariance())),
    Stacks((RowSums(), *_ON_TABLES)),
    *CONTINUOUS,
    Enumeration(),
    LocalEnumeration(),
    SmoothEnumeration(),
)
"""Every engine: a theory, and a kind of problem. The first that has a plan solves the problem."""
