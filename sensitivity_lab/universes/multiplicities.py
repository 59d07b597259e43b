"""Datasets by multiplicities: how often each distinct value of a universe occurs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Multiplicities = NDArray[np.int64]
"""How often each distinct value of the universe occurs in a dataset, shape (m,)."""

Groups = NDArray[np.intp]
"""The number of the group that each distinct value is in, shape (m,)."""


def repeated(values: Any, counts: Any) -> NDArray[Any]:
    """Return values, or rows, each as often as its count says, as `numpy.repeat` does.

    numpy takes counts of the machine's own width alone, which has 32 bits in a browser.

    Examples
    --------
    >>> repeated([5, 7], np.array([2, 1])).tolist()
    [5, 5, 7]
    """
    found: NDArray[Any] = np.repeat(values, np.asarray(counts).astype(np.intp), axis=0)
    return found


def smallest(counts: NDArray[Any], number: int) -> Multiplicities:
    """Return the first `number` of some records in ascending order, all if there are fewer.

    Examples
    --------
    >>> smallest(np.array([2, 0, 3]), 4).tolist()
    [2, 0, 2]
    """
    before = np.cumsum(counts) - counts
    taken: Multiplicities = np.clip(number - before, 0, counts)
    return taken


def largest(counts: Multiplicities, number: int) -> Multiplicities:
    """Return the last `number` of some records in ascending order, all if there are fewer.

    Examples
    --------
    >>> largest(np.array([2, 0, 3]), 4).tolist()
    [1, 0, 3]
    """
    return smallest(counts[::-1], number)[::-1]


def filled(start: NDArray[Any], limits: Multiplicities, number: int) -> Multiplicities:
    """Return the records at the start, and more in ascending order up to a number, within limits.

    Examples
    --------
    >>> filled(np.array([0, 1, 0]), np.array([2, 2, 2]), 4).tolist()
    [2, 2, 0]
    """
    more: Multiplicities = start + smallest(limits - start, number - int(start.sum()))
    return more


def of_each(counts: Multiplicities, groups: Groups) -> Multiplicities:
    """Return how many records each group of values has, shape (g,).

    Examples
    --------
    >>> of_each(np.array([2, 5, 0, 3]), np.array([0, 1, 1, 0])).tolist()
    [5, 5]
    """
    totals = np.zeros(int(groups.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(totals, groups, counts)
    return totals


def smallest_of_each(
    counts: Multiplicities, groups: Groups, numbers: Multiplicities
) -> Multiplicities:
    """Return the first records of each group of values, all if there are fewer.

    Parameters
    ----------
    counts : ndarray of int64, shape (m,)
        How many records of each value there are.
    groups : ndarray of intp, shape (m,)
        The group of each value, from 0 to g - 1.
    numbers : ndarray of int64, shape (g,)
        How many records to take of each group.

    Examples
    --------
    >>> smallest_of_each(np.array([2, 5, 0, 3]), np.array([0, 1, 1, 0]), np.array([4, 1])).tolist()
    [2, 1, 0, 2]
    """
    # Group by group, so that the records before a value are those of its group, and of groups that
    # are passed over whole.
    order = np.argsort(groups, kind="stable")
    totals = of_each(counts, groups)
    passed = (np.cumsum(totals) - totals)[groups[order]]
    before = np.cumsum(counts[order]) - counts[order] - passed
    taken = np.empty_like(counts)
    taken[order] = np.clip(numbers[groups[order]] - before, 0, counts[order])
    return taken


def changed_by_group(
    x: Multiplicities,
    outside: Multiplicities,
    groups: Groups,
    net: Multiplicities,
    removed: int = 0,
) -> Multiplicities:
    """Return a neighbor of x whose groups of values have other numbers of records.

    Parameters
    ----------
    x, outside : ndarray of int64, shape (m,)
        The records of x, and those outside it.
    groups : ndarray of intp, shape (m,)
        The group of each value, from 0 to g - 1.
    net : ndarray of int64, shape (g,)
        How many more records the neighbor has of each group than x.
    removed : int, default 0
        How many records x loses. Beyond those that groups must lose, records change places with
        others of the same group, as far as there are any.

    Examples
    --------
    >>> x, outside, groups = np.array([2, 0, 1]), np.array([0, 3, 3]), np.array([0, 0, 1])
    >>> changed_by_group(x, outside, groups, np.array([-1, 1])).tolist()
    [1, 0, 2]
    >>> changed_by_group(x, outside, groups, np.array([-1, 1]), removed=2).tolist()
    [0, 1, 2]
    """
    lost, gained = np.maximum(-net, 0), np.maximum(net, 0)
    spare = np.minimum(of_each(x, groups) - lost, of_each(outside, groups) - gained)
    more = smallest(spare, removed - int(lost.sum()))
    left: Multiplicities = x - smallest_of_each(x, groups, lost + more)
    return left + smallest_of_each(outside, groups, gained + more)
