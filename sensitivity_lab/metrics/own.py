"""The distance that a caller's function returns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from sensitivity_lab.checks import finite_number, shown, unboxed
from sensitivity_lab.errors import QueryError

from .metric import Metric


@dataclass(frozen=True)
class OwnDistance(Metric):
    """The distance that a function returns, which is called once on each pair.

    Parameters
    ----------
    function : callable
        A symmetric function of two items that returns their distance, or whether they are
        neighbors: True is a distance of 1, False of infinity.

    Examples
    --------
    >>> OwnDistance(lambda x, y: abs(len(x) - len(y))).distance("ab", "abcd")
    Fraction(2, 1)
    """

    function: Callable[[Any, Any], Any]

    real: ClassVar[bool] = True

    name = "a distance of your own"

    def form(self, data: Any) -> Any:
        """Return the data, as the function sees them whole."""
        return data

    def between(self, a: Any, b: Any) -> Fraction | float:
        """Return what the function says of two items, or raise QueryError if it is no distance."""
        try:
            given = unboxed(self.function(a, b))
        except Exception as error:
            raise QueryError(
                f"the distance of {shown(a)} and {shown(b)} raised {type(error).__name__}: {error}"
            ) from error
        if isinstance(given, bool):
            return Fraction(1) if given else math.inf
        if isinstance(given, float) and given == math.inf:
            return math.inf
        number = finite_number(given)
        if number is None or number < 0:
            raise QueryError(
                f"the distance of {shown(a)} and {shown(b)} must be a number of at least 0, "
                f"math.inf, or True or False for neighbors, got {shown(given)}"
            )
        return Fraction(number)
