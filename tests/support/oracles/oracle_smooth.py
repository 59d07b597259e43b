"""The definition of smooth sensitivity, in plain Python, beside the one of `oracle`.

Every dataset z of the sizes considered, its distance from x, and the largest change of the query
from z to a neighbor of one of those sizes. It imports nothing that it judges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import oracle

DIGITS = 50  # significant digits of exp and of what it is multiplied with


def distance(x: Iterable[Any], z: Iterable[Any], relation: str) -> int:
    """Records replaced to get from x to z, or added and removed, or any of these.

    >>> distance([1, 2, 2], [2, 3, 3], "bounded"), distance([1, 2, 2], [2, 3, 3], "unbounded")
    (2, 4)
    """
    gone, new = Counter(x) - Counter(z), Counter(z) - Counter(x)
    if relation == "edit":
        return max(gone.total(), new.total())
    return gone.total() if relation == "bounded" else gone.total() + new.total()


def local_at_distance(
    universe: Iterable[Any], x: Iterable[Any], query: Any, relation: str, sizes: Sequence[int]
) -> list[Any]:
    """Entry t: the largest local sensitivity of the datasets within distance t of x.

    >>> local_at_distance([1, 2, 3, 10], [1, 2, 3], ("median",), "bounded", [3])
    [Fraction(1, 1), Fraction(1, 1)]
    """
    records = sorted(universe)
    of_distance: dict[int, Any] = {}
    for size in sizes:
        for z in oracle.datasets(records, size):
            pairs = [(z, y) for y in oracle.neighbors(records, z, relation, 1) if len(y) in sizes]
            largest, _ = oracle.largest_change(query, pairs)
            apart = distance(x, z, relation)
            of_distance[apart] = max(largest, of_distance.get(apart, largest))
    return [
        max(gap for apart, gap in of_distance.items() if apart <= t)
        for t in range(max(of_distance) + 1)
    ]


def smooth_sensitivity(largest: Sequence[Any], beta: Fraction) -> Decimal:
    """The maximum of ``largest[t] * exp(-beta t)``, correct to about `DIGITS` digits.

    >>> round(smooth_sensitivity([Fraction(1), Fraction(3)], Fraction(1)), 6)
    Decimal('1.103638')
    """
    with localcontext() as context:
        context.prec = DIGITS
        rate = Decimal(beta.numerator) / beta.denominator
        gaps = [
            gap if isinstance(gap, Decimal) else Decimal(gap.numerator) / gap.denominator
            for gap in (Fraction(one) if isinstance(one, float) else one for one in largest)
        ]
        return max(gap * (-rate * t).exp() for t, gap in enumerate(gaps))
