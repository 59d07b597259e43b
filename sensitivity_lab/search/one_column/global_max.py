"""Exact search for a query of one column: the search on the universe of that column.

Every pair of neighboring tables is, seen in the column, a pair of neighboring datasets of numbers,
and every such pair comes from tables: equal numbers of different rows are different records.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sensitivity_lab.problem import Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.search.engine import Engine, Finding, Options, Refusal
from sensitivity_lab.search.lattice import Indices
from sensitivity_lab.universes.relations import Multiplicities, Relation
from sensitivity_lab.universes.table import TableUniverse
from sensitivity_lab.universes.universe import Universe


class Projection:
    """The engine: exact for queries of one column that an engine on numbers covers.

    Parameters
    ----------
    engines : sequence of Engine
        The engines on numbers, in order of preference.

    Notes
    -----
    The cost is that of the engine on numbers, and a pass over the rows.
    """

    name = "projection"

    def __init__(self, engines: Sequence[Engine]) -> None:
        self._engines = tuple(engines)

    def refusal(self, problem: Problem, options: Options) -> Refusal | None:
        """Refuse queries that are none of one column, or that no engine on numbers takes."""
        for query in problem.queries:
            projected = _projected(problem, query)
            if projected is None:
                return Refusal(
                    "projection covers the mean of a column without missing values, not "
                    f"{query.name} here"
                )
            refusals = [engine.refusal(projected, options) for engine in self._engines]
            if None not in refusals:
                return Refusal(
                    "; ".join(refusal.reason for refusal in refusals if refusal is not None)
                )
        return None

    def solve(self, problem: Problem, options: Options) -> list[list[Finding]]:
        """Return a finding for every query (outer list) and every relation (inner list)."""
        return [self._solve(problem, query, options) for query in problem.queries]

    def _solve(self, problem: Problem, query: Query, options: Options) -> list[Finding]:
        universe, projected = problem.universe, _projected(problem, query)
        column = query.projection(universe)
        if projected is None or column is None or not isinstance(universe, TableUniverse):
            raise AssertionError(f"{query.name} is not of one column")
        engine = next(one for one in self._engines if one.refusal(projected, options) is None)
        (found,) = engine.solve(projected, options)
        numbers = projected.universe
        places = np.array([numbers.index(value) for value in universe.listed(column[0])])
        return [
            _lifted(finding, universe, places, swaps_of(finding, relation, numbers))
            for relation, finding in zip(problem.neighbors, found, strict=True)
        ]


def _projected(problem: Problem, query: Query) -> Problem | None:
    """Return the problem on the universe of a query's column; None if it has none."""
    found = query.projection(problem.universe)
    if found is None or not isinstance(problem.universe, TableUniverse):
        return None
    column, on_numbers = found
    universe = problem.universe.column(column)
    return Problem(universe, (on_numbers,), problem.neighbors, problem.sizes)


def swaps_of(finding: Finding, relation: Relation, numbers: Universe) -> int:
    """Return how many records are replaced by equal ones, at the least."""
    removed, added = (
        int(np.maximum(one - other, 0).sum())
        for one, other in ((finding.x, finding.y), (finding.y, finding.x))
    )
    changes = relation.changes(int(finding.x.sum()), numbers)
    return min(i - removed for i, j in changes if i - removed == j - added >= 0)


def _lifted(finding: Finding, universe: TableUniverse, places: Indices, swaps: int) -> Finding:
    """Return tables that are the datasets of a finding, seen in the column.

    The copies of the rows with one value stand in a line. x has the first ones, and y as many as it
    needs from some place on: that of the fewest differences, or further on by records to swap.
    """
    have = universe.multiplicities(int(finding.x.sum() + finding.y.sum()))
    before = before_in_line(have, places)
    of_x, of_y = finding.x, finding.y
    total = np.bincount(places, weights=have, minlength=len(of_x)).astype(np.int64)
    spare = np.minimum(total - np.maximum(of_x, of_y), np.minimum(of_x, of_y))
    start = np.maximum(of_x - of_y, 0) + first_of(spare, swaps)
    x = np.clip(of_x[places] - before, 0, have)
    y_starts, y_stops = start[places] - before, (start + of_y)[places] - before
    y = np.clip(y_stops, 0, have) - np.clip(y_starts, 0, have)
    return Finding(x, y, None, finding.datasets_evaluated)


def before_in_line(have: Multiplicities, places: Indices) -> Multiplicities:
    """Return how many copies of a row's number stand before it, with the rows in a line."""
    order = np.argsort(places, kind="stable")
    counts = have[order]
    before = np.cumsum(counts) - counts
    starts = np.flatnonzero(np.diff(places[order], prepend=-1))
    lengths = np.diff([*starts, len(order)])
    out = np.empty_like(have)
    out[order] = before - np.repeat(before[starts], lengths)
    return out


def first_of(counts: Multiplicities, number: int) -> Multiplicities:
    """Return the first so many of some records."""
    taken: Multiplicities = np.clip(number - (np.cumsum(counts) - counts), 0, counts)
    return taken
