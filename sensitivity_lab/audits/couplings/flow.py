"""Whether two distributions have a coupling that keeps every pair of outputs close.

The proof is under the heading "Couplings" of docs/proofs.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def uncoupled(
    supply: Sequence[int], demand: Sequence[int], close: NDArray[np.bool_]
) -> tuple[int, list[int]]:
    """Return how much of a supply no coupling brings to a close demand, and where it gets stuck.

    Parameters
    ----------
    supply, demand : sequence of int
        How often each output of x and each output of y occurs, over one common total.
    close : ndarray of bool, shape (len(supply), len(demand))
        Which outputs may be coupled.

    Returns
    -------
    left : int
        The total less the maximum flow: 0 if a coupling keeps all pairs close.
    stuck : list of int
        Outputs A of x with ``supply(A) - demand(those close to A) == left``, the largest such
        difference of all sets: a minimum cut.

    Notes
    -----
    The flow grows along shortest paths, each found by a breadth-first search of the m by n pairs:
    at most ``m n`` searches, and in practice about m + n. Every capacity is an integer.

    Examples
    --------
    >>> uncoupled([2, 1], [1, 2], np.array([[True, False], [True, True]]))
    (1, [0])
    """
    left, room = list(supply), list(demand)
    partners = [np.flatnonzero(line).tolist() for line in close]
    flow: list[dict[int, int]] = [{} for _ in demand]  # by output of y: what each output of x sends
    while True:
        # back[j] is the output of x from which the search came to the output j of y.
        back: dict[int, int] = {}
        into: dict[int, int | None] = {i: None for i, more in enumerate(left) if more}
        queue = deque(into)
        end = None
        while queue and end is None:
            i = queue.popleft()
            for j in partners[i]:
                if j in back:
                    continue
                back[j] = i
                if room[j]:
                    end = j
                    break
                for other in flow[j]:
                    if other not in into:
                        into[other] = j
                        queue.append(other)
        if end is None:
            return sum(left), sorted(into)
        _push(end, back, into, left, room, flow)


def _push(
    end: int,
    back: dict[int, int],
    into: dict[int, int | None],
    left: list[int],
    room: list[int],
    flow: list[dict[int, int]],
) -> None:
    """Send as much as fits along the path that a search has found."""
    path: list[tuple[int, int]] = []  # (i, j): i sends more to j; what i sent to the next j is less
    at: int | None = end
    amount = room[end]
    while at is not None:
        sender = back[at]
        path.append((sender, at))
        at = into[sender]
        amount = min(amount, left[sender] if at is None else flow[at][sender])
    for sender, j in path:
        flow[j][sender] = flow[j].get(sender, 0) + amount
        before = into[sender]
        if before is None:
            left[sender] -= amount
            continue
        flow[before][sender] -= amount
        if not flow[before][sender]:
            del flow[before][sender]
    room[end] -= amount


def smallest(candidates: Sequence[Any], enough: Any) -> Any:
    """Return the first of ascending candidates that is enough; the last one counts as enough.

    Examples
    --------
    >>> smallest([1, 2, 5, 7], lambda candidate: candidate > 3)
    5
    """
    low, high = 0, len(candidates) - 1
    while low < high:
        middle = (low + high) // 2
        if enough(candidates[middle]):
            high = middle
        else:
            low = middle + 1
    return candidates[low]
