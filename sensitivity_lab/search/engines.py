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
from .intervals import Intervals, LocalIntervals
from .monotone.global_max import Monotone
from .monotone.local_max import LocalMonotone
from .monotone.smooth_max import SmoothMonotone
from .multiplicities import LocalMultiplicities, MultiplicitiesEngine
from .one_column import LocalOneColumn, OneColumn
from .ranks.global_max import Ranks
from .ranks.local_max import LocalRanks
from .row_sums import LocalRowSums, RowSums
from .sizes import OfAnySize
from .stacks import Stacks
from .variance.global_max import Variance
from .variance.local_max import LocalVariance
from .workloads import Workloads

_LOCAL: tuple[AnyEngine, ...] = (LocalMonotone(), LocalVariance(), LocalRanks())

_LOCAL_ON_INTERVALS: tuple[AnyEngine, ...] = (LocalIntervals(_LOCAL),)


def _any(engine: AnyEngine) -> AnyEngine:
    """Return an engine that also takes many sizes, and sizes where `empty` is the answer."""
    return OfAnySize(engine, _LOCAL)


_MONOTONE, _VARIANCE, _RANKS = _any(Monotone()), _any(Variance()), _any(Ranks())

CONTINUOUS: tuple[AnyEngine, ...] = (
    OfAnySize(Intervals((Monotone(), Ranks())), _LOCAL_ON_INTERVALS),
    OfAnySize(_LOCAL_ON_INTERVALS[0], _LOCAL_ON_INTERVALS),
)
"""The engines for intervals; the others are for finite universes."""

_ON_TABLES: tuple[AnyEngine, ...] = (
    OneColumn((_MONOTONE, _VARIANCE, _RANKS)),
    Groups((Monotone(), Variance())),
)

_LOCAL_ON_NUMBERS = tuple(map(_any, _LOCAL))

ENGINES: tuple[AnyEngine, ...] = (
    _MONOTONE,
    _LOCAL_ON_NUMBERS[0],
    SmoothMonotone(),
    _VARIANCE,
    _LOCAL_ON_NUMBERS[1],
    _RANKS,
    _LOCAL_ON_NUMBERS[2],
    _any(MultiplicitiesEngine()),
    LocalMultiplicities(),
    _any(Workloads()),
    _any(RowSums()),
    LocalRowSums(),
    *map(_any, _ON_TABLES),
    LocalOneColumn(_LOCAL_ON_NUMBERS),
    LocalGroups(_LOCAL),
    _any(Stacks((RowSums(), *_ON_TABLES))),
    *CONTINUOUS,
    _any(Enumeration()),
    _any(LocalEnumeration()),
    SmoothEnumeration(),
)
"""Every engine: a theory, and a kind of problem. The first that has a plan solves the problem."""
