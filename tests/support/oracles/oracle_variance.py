"""The definition of variances under mixed changes, in plain Python: all subsets of a few records.

Records are labelled, so equal ones are different records; a dataset is a bit mask. It imports
nothing that it judges.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction

DIGITS = 80


def variances(records: list[Fraction], ddof: Fraction) -> list[Fraction | None]:
    """Entry m: the variance of the records in mask m; None if it is undefined.

    >>> variances([Fraction(1), Fraction(3)], Fraction(0))
    [None, Fraction(0, 1), Fraction(0, 1), Fraction(1, 1)]
    """
    found: list[Fraction | None] = []
    for mask in range(1 << len(records)):
        some = [one for at, one in enumerate(records) if mask >> at & 1]
        if not some or len(some) <= ddof:
            found.append(None)
            continue
        mean = Fraction(sum(some), len(some))
        found.append(sum((one - mean) ** 2 for one in some) / (len(some) - ddof))
    return found


def distance(x: int, y: int, relation: str) -> int | None:
    """How many steps datasets are apart; None if steps of the relation do not lead there.

    >>> distance(0b0011, 0b0110, "edit"), distance(0b0011, 0b0110, "symmetric_difference")
    (1, 2)
    """
    removed, added = (x & ~y).bit_count(), (y & ~x).bit_count()
    if relation == "bounded":
        return removed if removed == added else None
    return max(removed, added) if relation == "edit" else removed + added


def neighbors(
    x: int, number: int, relation: str, k: int, *, exactly: bool = False
) -> Iterator[int]:
    """The datasets at most, or exactly, k steps from x."""
    for y in range(1, 1 << number):
        apart = distance(x, y, relation)
        if apart and (apart == k or (apart < k and not exactly)):
            yield y


def gap(one: Fraction, other: Fraction, root: bool) -> Decimal | Fraction:
    """How far two answers are apart, roots to 80 digits.

    >>> gap(Fraction(4), Fraction(1), root=False), gap(Fraction(4), Fraction(1), root=True) == 1
    (Fraction(3, 1), True)
    """
    if not root:
        return abs(one - other)
    with localcontext(prec=DIGITS):
        roots = [(Decimal(of.numerator) / Decimal(of.denominator)).sqrt() for of in (one, other)]
        return abs(roots[0] - roots[1])


def largest_gap(pairs: set[tuple[Fraction, Fraction]], root: bool) -> Decimal | Fraction:
    """The largest gap of some pairs of variances."""
    if root and pairs:
        # Floats leave out what is surely smaller.
        rough = {pair: abs(float(pair[0]) ** 0.5 - float(pair[1]) ** 0.5) for pair in pairs}
        most = max(rough.values())
        scale = max(float(max(pair)) for pair in pairs) ** 0.5
        pairs = {pair for pair, one in rough.items() if one >= most - 1e-9 * scale}
    return max(gap(*pair, root) for pair in pairs)
