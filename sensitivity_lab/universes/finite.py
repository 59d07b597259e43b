"""Finite universes and intervals side by side: what takes both starts here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sensitivity_lab.exact.difference import Number

from .interval import IntervalUniverse
from .multiset import FiniteUniverse
from .universe import Universe, check_universe

AnyUniverse = FiniteUniverse | IntervalUniverse
"""What datasets can be drawn from."""


def check_any_universe(universe: Any) -> AnyUniverse:
    """Return a universe or an interval, or raise InputError that says how to make one."""
    return universe if isinstance(universe, IntervalUniverse) else check_universe(universe)


def finite(universe: AnyUniverse, records: Iterable[Number] = ()) -> FiniteUniverse:
    """Return a finite universe that has the given records of a universe.

    Parameters
    ----------
    universe : Universe or IntervalUniverse
        What datasets are drawn from.
    records : iterable of numbers
        Records of an interval, in any order.

    Returns
    -------
    Universe
        A finite universe itself; of an interval the domain of its bounds and the records, each as
        often as a dataset can hold.

    Raises
    ------
    InputError
        If a record is not in the interval.

    Examples
    --------
    >>> finite(Universe.from_interval(0, 9), [4, 4])
    Universe of the values 0, 4, 9, each as often as a dataset can hold
    """
    if isinstance(universe, FiniteUniverse):
        return universe
    ends = (universe.lower, universe.upper)
    return Universe.from_domain(dict.fromkeys((*ends, *universe.dataset(records))))
