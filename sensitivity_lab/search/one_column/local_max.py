"""Exact local search for a query of one column: the search on the numbers of that column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sensitivity_lab.problem import LocalProblem
from sensitivity_lab.search.engine import Finding, Options, Refusal
from sensitivity_lab.search.lattice import Indices
from sensitivity_lab.search.local_engine import LocalEngine
from sensitivity_lab.universes.relations import Multiplicities
from sensitivity_lab.universes.table import TableUniverse

from .global_max import before_in_line, first_of, swaps_of


class LocalProjection:
    """The engine: exact for queries of one column that a local engine on numbers covers.

    Parameters
    ----------
    engines : sequence of LocalEngine
        The local engines on numbers, in order of preference.
    """

    name = "projection"

    def __init__(self, engines: Sequence[LocalEngine]) -> None:
        self._engines = tuple(engines)

    def refusal(self, problem: LocalProblem, options: Options) -> Refusal | None:
        """Refuse queries that are none of one column, or that no engine on numbers takes."""
        found = _projected(problem)
        if found is None:
            return Refusal(
                "projection covers the mean of a column without missing values, not "
                f"{problem.query.name} here"
            )
        refusals = [engine.refusal(found[0], options) for engine in self._engines]
        if None not in refusals:
            return Refusal("; ".join(one.reason for one in refusals if one is not None))
        return None

    def solve(self, problem: LocalProblem, options: Options) -> Finding:
        """Return x and the neighbor whose answer is furthest from that of x."""
        found = _projected(problem)
        if found is None:
            raise AssertionError(f"{problem.query.name} is not of one column")
        numbers, places = found
        engine = next(one for one in self._engines if one.refusal(numbers, options) is None)
        finding = engine.solve(numbers, options)
        swaps = swaps_of(finding, problem.neighbors, numbers.universe)
        y = _lifted(problem, finding, places, swaps)
        return Finding(problem.x, y, None, finding.datasets_evaluated)


def _projected(problem: LocalProblem) -> tuple[LocalProblem, Indices] | None:
    """Return the problem on the numbers of a column, and where each row's number is."""
    universe, found = problem.universe, problem.query.projection(problem.universe)
    if found is None or not isinstance(universe, TableUniverse):
        return None
    column, query = found
    numbers = universe.column(column)
    places = np.array([numbers.index(value) for value in universe.listed(column)])
    x = np.bincount(places, weights=problem.x).astype(np.int64)
    return LocalProblem(numbers, query, problem.neighbors, x, problem.norm), places


def _lifted(problem: LocalProblem, finding: Finding, places: Indices, swaps: int) -> Multiplicities:
    """Return a table that is the dataset found, seen in the column, and a neighbor of x."""
    net = finding.y - finding.x
    inside, outside = problem.x, problem.outside
    held, free = (
        np.bincount(places, weights=rows, minlength=len(net)).astype(np.int64)
        for rows in (inside, outside)
    )
    # Rows change places with others of the same number, as far as there are any.
    removed, added = np.maximum(-net, 0), np.maximum(net, 0)
    more = first_of(np.minimum(held - removed, free - added), swaps)
    gone = np.clip((removed + more)[places] - before_in_line(inside, places), 0, inside)
    new = np.clip((added + more)[places] - before_in_line(outside, places), 0, outside)
    y: Multiplicities = inside - gone + new
    return y
