"""How many neighbors a dataset has, counted over the values; a count can stop past a limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate

from .neighbors import Change

_CHEAP = 200_000
"""So many steps are taken in any case, before a limit ends the counting."""

State = tuple[int, int, int]
"""How many records are removed, added, and how many can change places with equal ones."""


def number_of_neighbors(
    inside: Sequence[int], outside: Sequence[int], changes: Sequence[Change], most: float = math.inf
) -> tuple[int, bool]:
    """Return the number of distinct neighbors that changes lead to, and whether it is all of them.

    Parameters
    ----------
    inside, outside : sequence of int, shape (m,)
        Per value the records in x, and those outside x.
    changes : sequence of two int
        The numbers of records removed and added.
    most : int, optional
        Beyond so many, the counting stops as soon as it has taken some steps.

    Notes
    -----
    A coefficient of the product over the values of ``sum a**removed b**added c**swaps``, one term
    per net change of that value. Where every smaller change leads to a neighbor too, all net
    changes of the first values that later ones can complete are counted towards `most`.
    """
    removed, added = (max(change[side] for change in changes) for side in (0, 1))
    swaps = min(removed, added)
    values = [
        (have, more)
        for have, more in zip(inside, outside, strict=True)
        if min(have, removed) or min(more, added)
    ]
    if removed <= 1 and added <= 1:
        return _number_of_single_changes(values, changes), True
    completes = _completes(values, changes)
    ways: dict[State, int] = {(0, 0, 0): 1}
    steps = 0
    for place, (have, more) in enumerate(values):
        terms = [
            (max(-net, 0), max(net, 0), min(have - max(-net, 0), more - max(net, 0)))
            for net in range(-min(have, removed), min(more, added) + 1)
        ]
        grown: dict[State, int] = {}
        found = 0
        for (gone, new, same), number in ways.items():
            steps += len(terms)
            for more_gone, more_new, more_same in terms:
                key = (gone + more_gone, new + more_new, min(same + more_same, swaps))
                if key[0] <= removed and key[1] <= added:
                    grown[key] = grown.get(key, 0) + number
                    found += number if completes(key[0], key[1], place) else 0
            if steps > _CHEAP and found > most:
                return found, False
        ways = grown
        if steps > _CHEAP and most < math.inf and (found := _complete(ways, changes)) > most:
            return found, False
    return _complete(ways, changes), True


def _number_of_single_changes(values: Sequence[Change], changes: Sequence[Change]) -> int:
    """Return the number of neighbors with at most one record removed and one added."""
    held = sum(1 for have, _ in values if have)
    free = sum(1 for _, more in values if more)
    both = sum(1 for have, more in values if have and more)
    # Replaced by an equal record, x is a neighbor of itself, once.
    numbers = {(1, 0): held, (0, 1): free, (1, 1): held * free - both + min(both, 1)}
    return sum(numbers[change] for change in set(changes))


def _complete(ways: dict[State, int], changes: Sequence[Change]) -> int:
    """Return how many ways are a change, with records that change places with equal ones."""
    return sum(
        number
        for (removed, added, swaps), number in ways.items()
        if any(0 <= i - removed == j - added <= swaps for i, j in changes)
    )


def _completes(
    values: Sequence[Change], changes: Sequence[Change]
) -> Callable[[int, int, int], bool]:
    """Return what tells whether the values behind a place can complete a net change.

    Never, where a smaller change leads to no neighbor.
    """
    known = set(changes)
    smaller = {(i - 1, j - 1) for i, j in known if min(i, j) > 0} - {(0, 0)}
    if not smaller <= known:
        return lambda *_: False
    largest: dict[int, int] = {}
    for i, j in changes:
        largest[i - j] = max(largest.get(i - j, 0), i)
    held, free = (
        list(accumulate((value[side] for value in reversed(values)), initial=0))[::-1]
        for side in (0, 1)
    )
    verdicts: dict[tuple[int, int, int], bool] = {}

    def completes(removed: int, added: int, place: int) -> bool:
        key = (removed, added, place)
        if key not in verdicts:
            verdicts[key] = (removed or added) > 0 and any(
                max(removed, added + surplus) <= most
                and added + surplus - removed <= held[place + 1]
                and removed - surplus - added <= free[place + 1]
                for surplus, most in largest.items()
            )
        return verdicts[key]

    return completes
