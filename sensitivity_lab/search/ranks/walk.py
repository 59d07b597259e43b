"""What a search by rank is asked: the records, what they count by rank, and where to end.

`few_runs` and `all_ranks` search the walks; see docs/proofs.md, "Any L-statistic (`ranks`)".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.exact.difference import Integers
from sensitivity_lab.search.engine import Finding
from sensitivity_lab.search.layouts import Shape

Tell = Callable[[int], object]
"""Is told how many states were looked at, for a progress bar."""

Pair = Callable[[], Finding]
"""Returns the pair that a search found."""

Found = tuple[Shape, Fraction, Pair]
"""The largest f(x) - f(y) or f(y) - f(x) of a shape, and the pair that attains it."""

Labels = NDArray[np.uint8]
"""A label per record."""

OUTSIDE, CORE, ONLY_X, ONLY_Y = range(4)
"""The labels O, C, A and B."""

SAFE = 1 << 60
"""Sums below it are exact in int64, with room for states that cannot be reached."""


@dataclass(frozen=True, eq=False)
class Walk:
    """A walk along the sorted universe that labels every record.

    With c records labelled C so far, a labelled A and b labelled B, the next record u has the rank
    c + a in x and c + b in y, counted from 0. So it adds to f(x) - f(y)

        C: (of_x[c + a] - of_y[c + b]) u     A: of_x[c + a] u     B: -of_y[c + b] u     O: 0.

    Parameters
    ----------
    records : ndarray of Python ints, shape (N,)
        Ascending, equal ones side by side.
    of_x, of_y : ndarray of Python ints, shapes (n,) and (m,)
        The weights by rank in x and in y, over one denominator.
    targets : sequence of Shape
        How many records are to be labelled C, A and B; all of them with ``core + only_x == n``
        and ``core + only_y == m``.
    """

    records: Integers
    of_x: Integers
    of_y: Integers
    targets: Sequence[Shape]

    @cached_property
    def bound(self) -> int:
        """A bound of the absolute sums on the way, in units, and of every weight and record."""
        largest = max(1, int(abs(self.records).max()))
        return largest * max(1, int(abs(self.of_x).sum()) + int(abs(self.of_y).sum()))

    def negated(self) -> Walk:
        """Return the walk for f(y) - f(x)."""
        return Walk(self.records, -self.of_x, -self.of_y, self.targets)

    def value(self, labels: Labels) -> int:
        """Return f(x) - f(y) for some labels, exactly."""
        of_x = self.records[(labels == CORE) | (labels == ONLY_X)]
        of_y = self.records[(labels == CORE) | (labels == ONLY_Y)]
        return int((of_x * self.of_x).sum()) - int((of_y * self.of_y).sum())
