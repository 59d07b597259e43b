"""The reach of a dataset for a page: the answers within each distance, as floats and as texts."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sensitivity_lab.checks import rounded_up
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.results.reach import Bound, Reach, float_above, float_below
from sensitivity_lab.results.reprs import rounded_down


@dataclass(frozen=True)
class Fan:
    """The answers near a dataset x.

    Attributes
    ----------
    lower, upper : tuple of float
        The least and the greatest answer within each distance from 0 on.
    least, greatest : str
        Both at k, rounded outward.
    down, up : str
        How far they are from f(x), rounded up.
    steps : str
        The family of the relation whose distance counts.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]
    least: str
    greatest: str
    down: str
    up: str
    steps: str


def fan_of(reach: Reach, k: int) -> Fan:
    """Return a reach as a fan, with texts about distance k."""
    least, greatest = reach.lower[k], reach.upper[k]
    return Fan(
        tuple(map(float_below, reach.lower)),
        tuple(map(float_above, reach.upper)),
        rounded_down(float_below(least), exact=_rational(least)),
        rounded_up(float_above(greatest), _rational(greatest)),
        _move(reach.answer, least),
        _move(reach.answer, greatest),
        reach.neighbors.family,
    )


def _rational(bound: Bound) -> Fraction | None:
    return None if isinstance(bound, Root) else bound


def _move(one: Bound, other: Bound) -> str:
    """Return the distance of two answers of one query as text."""
    first, second = (end.square if isinstance(end, Root) else end for end in (one, other))
    apart = Difference(first, second, root=isinstance(one, Root))
    return rounded_up(apart.upper(), apart.exact, 6)
