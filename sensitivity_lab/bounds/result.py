"""Bounds of a sensitivity that is not known exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from sensitivity_lab.checks import rounded_up
from sensitivity_lab.errors import VerificationError
from sensitivity_lab.metrics.norms import Norm
from sensitivity_lab.queries import Query
from sensitivity_lab.results.measure import measure
from sensitivity_lab.results.noise_context import NoiseContext, of_datasets, setting
from sensitivity_lab.results.pairs import pair_facts
from sensitivity_lab.results.reprs import of_order, rounded_down, told
from sensitivity_lab.results.result import Paired
from sensitivity_lab.results.sensitivity import Witness
from sensitivity_lab.results.verification import Stated, neighbors_of
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.relations import Relation


class Bounds(Paired):
    """A lower and an upper bound of a sensitivity; the lower one is that of the witness."""

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs."""
        mine: Any = self  # whose kind and sizes are fields of its class
        context = of_datasets(mine, mine.kind, self._norm, mine.size)
        return replace(context, has_lower_bound_only=True)


@dataclass(frozen=True, repr=False)
class SensitivityBounds(Bounds):
    """Bounds of a sensitivity, with a proof of the lower one; never the sensitivity itself.

    Attributes
    ----------
    lower : float
        How far apart the answers on the witness are, in the query's unit; the sensitivity is at
        least that.
    upper : float
        The upper bound of the sensitivity, in the query's unit; math.inf if unknown.
    reason : str
        The basis of `upper`, in words.
    witness : Witness
        The neighbors furthest apart among those tried.
    starts : int
        The number of pairs that the local search started from.
    datasets_evaluated : int
        The number of datasets that the query was evaluated on.
    query : Query
    neighbors : Relation
    size : int or tuple of int
        The size n of x; if there are several, the bounds are for the maximum over all of them.
    universe : Universe
    norm : {"L1", "L2", "Linf"}
        How to measure the difference of two vector answers; for numbers, all three agree.
    status : {"bounds"}
        Never "exact".
    kind : {"global"}
    depends_on_order : bool
        As of `Sensitivity`.

    See Also
    --------
    sensitivity_bounds : Compute them.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_domain([0, 1, 5])
    >>> bounds = sl.bounds.sensitivity_bounds(
    ...     universe, max, size=9, neighbors="bounded", value_range=(0, 5), evaluations=500, seed=1
    ... )
    >>> bounds.lower, bounds.upper, bounds.status
    (5.0, 5.0, 'bounds')
    """

    lower: float
    upper: float
    reason: str
    witness: Witness
    starts: int
    datasets_evaluated: int
    query: Query
    neighbors: Relation
    size: int | tuple[int, ...]
    universe: FiniteUniverse
    norm: Norm = "L1"
    status: Literal["bounds"] = "bounds"
    kind: Literal["global"] = "global"
    depends_on_order: bool = False

    def again(self) -> list[Stated]:
        """Measure x and y again, which prove the lower bound."""
        x, y = neighbors_of(self, self.universe)
        again = measure(self.query, self.universe, x, y, self.norm)
        if self.lower > self.upper:
            raise VerificationError(
                f"the lower bound {self.lower} of {self.query.name} is above the upper bound "
                f"{self.upper}"
            )
        return [
            ("answer on x", self.witness.query_x, again.query_x),
            ("answer on y", self.witness.query_y, again.query_y),
            ("lower bound", self.lower, again.value),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain Python objects, ready for JSON except for exotic records."""
        return {
            **told(self),
            "status": self.status,
            "lower": self.lower,
            "upper": self.upper,
            "reason": self.reason,
            "starts": self.starts,
            "datasets_evaluated": self.datasets_evaluated,
            **self.witness.to_dict(),
        }

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        above = "unknown" if math.isinf(self.upper) else rounded_up(self.upper)
        return [
            ("upper", f"{above}: {self.reason}"),
            ("neighbors", setting(self)),
            *pair_facts(self.witness),
            (
                "method",
                f"local search from {self.starts:,} starts, "
                f"{self.datasets_evaluated:,} datasets evaluated",
            ),
            *of_order(self),
        ]

    @property
    def _title(self) -> str:
        lower = rounded_down(self.lower)
        return f"Sensitivity of {self.query.name}{self._in_norm}: at least {lower} (bounds)"
