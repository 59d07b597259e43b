"""The number of pairs of neighbors, and of changes between them, without listing them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sensitivity_lab.metrics import ChangeOneDistance, IdDistance, Metric

Ways = dict[tuple[int, int], int]
"""The number of ways in which datasets can differ, by (difference of their sizes, distance).

For ids only the distance counts, and the difference of the sizes is always 0.
"""


def count_pairs(radices: Sequence[int], metric: Metric, d_in: int) -> int:
    """Return the number of ordered pairs of datasets, of any sizes, that are at most `d_in` apart.

    This includes the pairs of each dataset with itself.

    Parameters
    ----------
    radices : sequence of int
        The number of states of each distinct row, or of each id.
    metric : Metric
        The metric of rows added or removed, of rows replaced, or of ids.
    d_in : int
        The largest distance.

    Examples
    --------
    >>> from sensitivity_lab.pipelines import SymmetricDistance
    >>> count_pairs([2, 2, 2], SymmetricDistance(), 1)
    32
    """
    if isinstance(metric, IdDistance):
        # An id does not change (0), is added or removed (1), or gets other rows (2).
        of_ids = ({(0, 0): r, (0, 1): 2 * (r - 1), (0, 2): (r - 1) * (r - 2)} for r in radices)
        return sum(_product(of_ids, d_in).values())
    budget = budget_of(metric, d_in)
    of_rows = (
        {(change, abs(change)): radix - abs(change) for change in changes(radix, budget)}
        for radix in radices
    )
    found = _product(of_rows, budget)
    replaced = isinstance(metric, ChangeOneDistance)
    return sum(ways for (longer, _), ways in found.items() if longer == 0 or not replaced)


def count_moves(radices: Sequence[int], metric: Metric, d_in: int) -> int:
    """Return the number of changes to try on a dataset to find all its neighbors.

    Examples
    --------
    >>> from sensitivity_lab.pipelines import SymmetricDistance
    >>> count_moves([2, 2, 2], SymmetricDistance(), 1)
    7
    """
    if isinstance(metric, IdDistance):
        return sum(_product(({(0, 0): 1, (0, 1): 2 * (r - 1)} for r in radices), d_in).values())
    budget = budget_of(metric, d_in)
    of_rows = (Counter((0, abs(change)) for change in changes(r, budget)) for r in radices)
    return sum(_product(of_rows, budget).values())


def budget_of(metric: Metric, d_in: int) -> int:
    """Return the largest number of rows added or removed; replacing one removes and adds one."""
    return 2 * d_in if isinstance(metric, ChangeOneDistance) else d_in


def changes(radix: int, budget: int) -> range:
    """Return the possible changes of the number of copies of one row."""
    most = min(budget, radix - 1)
    return range(-most, most + 1)


def _product(terms: Iterable[Mapping[tuple[int, int], int]], budget: int) -> Ways:
    """Return the ways of all coordinates together, with a total distance of at most the budget."""
    found: Ways = {(0, 0): 1}
    for of_one in terms:
        longer: Counter[tuple[int, int]] = Counter()
        for (change, cost), ways in found.items():
            for (other, more), others in of_one.items():
                if cost + more <= budget:
                    longer[change + other, cost + more] += ways * others
        found = longer
    return found
