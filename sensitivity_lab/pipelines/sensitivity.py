"""The sensitivity of a chain: the value of its stability map for one protected unit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from sensitivity_lab.checks import Norm, rounded_up
from sensitivity_lab.exact.roots import Distance, Root, upper_of
from sensitivity_lab.metrics import ChangeOneDistance, Metric, SymmetricDistance
from sensitivity_lab.results.noise_context import ROWS, NoiseContext, NoiseSource
from sensitivity_lab.results.reprs import Facts, format_up
from sensitivity_lab.universes.relations import Bounded, SymmetricDifference

from .changes import neighbors_text


class UnitNeighbors(NamedTuple):
    """Neighbors that differ in protected units which are no records, such as ids.

    Attributes
    ----------
    text : str
        What they differ in.
    k : int or tuple of two int
        In how many units, of each table.
    """

    text: str
    k: Any

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class ChainSensitivity(NoiseSource, Facts):
    """How much one protected unit can change the numbers that a chain returns, at most.

    Noise can be scaled to it: it has the norm, the unit and the relation that a bare number lacks.

    Attributes
    ----------
    value : float
        The smallest float that is not below the value of the stability map, in the answer's unit.
    exact : Fraction or None
        The value as a rational; None if it is a root, or infinite.
    upper : float
        The same as `value`, by the name that all results share.
    status : {"bounds"}
        "bounds": no pair of neighbors differs more, and perhaps none differs as much; see
        `measured_stability`.
    norm : {"L1", "L2"} or None
        The norm of the difference of two answers; None for a number, for which all norms agree.
    unit : str
        What neighbors differ in.
    neighbors : SymmetricDifference, Bounded or UnitNeighbors
        The relation, with its distance k in rows or units.
    query : str
        The chain's name.
    output : str
        What the chain returns, and the metric of the bound.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> ids = pl.start(pl.AddRowsWithID("id")) >> pl.max_rows_per_id(3)
    >>> (ids >> pl.count()).sensitivity()
    Sensitivity of max_rows_per_id(3) >> count(): at most 3
      unit       at most 1 id in 'id' added or removed with all its rows
      norm       a number; absolute difference
      status     an upper bound for every dataset, from the stability map
    """

    value: float
    exact: Fraction | None
    upper: float
    norm: Norm | None
    unit: str
    neighbors: SymmetricDifference | Bounded | UnitNeighbors
    query: str
    output: str
    status: Literal["bounds"] = "bounds"
    kind: Literal["global"] = "global"

    @classmethod
    def of(
        cls,
        query: str,
        metric: Metric,
        distance: Any,
        bound: Distance,
        norm: Norm | None,
        output: str,
    ) -> ChainSensitivity:
        """Return the sensitivity of a chain, given its name and the distance of its inputs."""
        exact = None if isinstance(bound, Root | float) else Fraction(bound)
        upper = upper_of(bound)
        unit, neighbors = neighbors_text(metric, distance), _relation(metric, distance)
        return cls(upper, exact, upper, norm, unit, neighbors, query, output)

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format_up(self.upper, self.exact, spec) if spec else str(self)

    def noise_context(self) -> NoiseContext:
        """Return the facts that noise needs."""
        return NoiseContext(
            query=self.query,
            kind=self.kind,
            norm=self.norm,
            neighbors=self.neighbors,
            exactly=False,
            sizes=(),
            size="any size",
            upper=self.upper,
            things=ROWS,
            has_lower_bound_only=False,
        )

    @property
    def _title(self) -> str:
        text = "infinite" if math.isinf(self.upper) else rounded_up(self.upper, self.exact)
        return f"Sensitivity of {self.query}: at most {text}"

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        return [
            ("unit", self.unit),
            ("norm", self.output),
            ("status", "an upper bound for every dataset, from the stability map"),
        ]


def _relation(metric: Metric, distance: Any) -> SymmetricDifference | Bounded | UnitNeighbors:
    """Return the relation of inputs at some distance, if records have one."""
    if distance and isinstance(metric, SymmetricDistance):
        return SymmetricDifference(distance)
    if distance and isinstance(metric, ChangeOneDistance):
        return Bounded(distance)
    return UnitNeighbors(neighbors_text(metric, distance), distance)
