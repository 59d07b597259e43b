"""The truth beside a claim in an audit: of a query as mathematics, or of code that is run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sensitivity_lab.calls.curves import sensitivity_curves
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.implementations.call import implemented_sensitivity
from sensitivity_lab.implementations.result import ImplementedSensitivity
from sensitivity_lab.queries import Query
from sensitivity_lab.results.measure import difference_of, exact_answer, rationals_of
from sensitivity_lab.results.sensitivity import Sensitivity
from sensitivity_lab.universes.finite import AnyUniverse, check_universe, finite
from sensitivity_lab.universes.relations import Relation, multiplicities_of
from sensitivity_lab.universes.table import TableUniverse

from .claims import holds_float
from .report import Evidence


@dataclass(frozen=True)
class Measured:
    """The true sensitivity at one distance, over datasets x of some sizes."""

    name: str
    sizes: tuple[int, ...]
    distance: int
    truth: Difference | float
    evidence: Evidence
    rounded: bool

    @property
    def sizes_of_pair(self) -> tuple[int, int]:
        """The sizes of the two datasets."""
        return len(self.evidence.x), len(self.evidence.y)


def of_mathematics(
    query: Query,
    universe: AnyUniverse,
    sizes: tuple[int, ...],
    relations: Sequence[Relation],
    options: dict[str, Any],
) -> list[Measured]:
    """Return the truths of a query as mathematics; one search finds all of them."""
    points = sensitivity_curves(
        universe,
        query,
        size=sizes,
        distances=[relation.k for relation in relations],
        neighbors=relations[0],
        **options,
    )
    return [_mathematical(sizes, point) for _, point in points]


def _mathematical(sizes: tuple[int, ...], point: Sensitivity) -> Measured:
    """Return the truth of a search, measured again on its witness."""
    query, seen = point.query, point.witness
    universe = finite(point.universe, (*seen.x, *seen.y))
    answers: tuple[Any, Any] = (seen.query_x, seen.query_y)
    first, second = floats = tuple(map(rationals_of, answers))
    told = query.arithmetic == "float"
    if told and point.arithmetic == "exact":
        exact = difference_of(first, second, point.norm).exact
        told = exact is not None and exact == point.exact
    if not told:  # the answers of the witness may be rounded
        first, second = (
            exact_answer(query, universe, multiplicities_of(data, universe))
            for data in (seen.x, seen.y)
        )
        differ = query.arithmetic == "exact" or floats != (first, second)
        answers = (first, second) if differ and not query.root else answers
    rounded = point.arithmetic == "float" and holds_float(answers)
    truth = difference_of(first, second, point.norm, query.root)
    columns = tuple(universe.columns) if isinstance(universe, TableUniverse) else None
    evidence = Evidence(seen.x, seen.y, *answers, columns)
    return Measured(query.name, sizes, point.neighbors.k, truth, evidence, rounded)


def of_code(
    code: Any,
    universe: AnyUniverse,
    sizes: tuple[int, ...],
    relations: Sequence[Relation],
    options: dict[str, Any],
) -> list[Measured]:
    """Return the truths of code on ordered datasets, with a search per distance."""
    listed = check_universe(universe)
    found = [
        implemented_sensitivity(listed, code, size=sizes, neighbors=relation, **options)
        for relation in relations
    ]
    return [_implemented(sizes, *one) for one in zip(relations, found, strict=True)]


def _implemented(
    sizes: tuple[int, ...], relation: Relation, found: ImplementedSensitivity
) -> Measured:
    seen = found.witness
    evidence = Evidence(seen.x, seen.y, seen.query_x, seen.query_y)
    truth = math.inf if found.exact is None else Difference(found.exact, Fraction(0))
    rounded = holds_float((seen.query_x, seen.query_y))
    return Measured(found.query.name, sizes, relation.k, truth, evidence, rounded)
