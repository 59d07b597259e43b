"""Exact search for a query of one column: the search on the numbers of that column.

The column of a pair of neighboring tables is a pair of neighboring datasets of numbers, and every
such pair comes from tables: equal numbers of different rows are different records. See
docs/proofs.md, "A query of one column (`one_column`)".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from sensitivity_lab.metrics.multisets import moved
from sensitivity_lab.problem import Kind, LocalProblem, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.universes.relations import (
    Multiplicities,
    Relation,
    changed_by_group,
    of_each,
    smallest_of_each,
)
from sensitivity_lab.universes.universe import FiniteUniverse, TableUniverse

from .engine import (
    BothEnds,
    Cost,
    End,
    Finding,
    Findings,
    OnParts,
    Options,
    Plan,
    Refusal,
    ends_of,
    first_plan,
    local_plan,
)
from .lattice import Indices
from .layouts import WORD, bytes_of_pairs

COVERS = "the mean of a column without missing values"


class OneColumn(OnParts[Problem, Findings]):
    """The engine: exact for queries of one column that an engine on numbers covers.

    Notes
    -----
    The cost of the engine on numbers, and one pass over the rows.
    """

    name = "one_column"
    kind: Kind = "global"
    covers = COVERS
    reach = "as the engine on the column"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse what no engine accepts on the numbers of one column."""
        searches, memory = [], 0
        for query in problem.queries:
            column = Column.of(problem.universe, query)
            if column is None:
                return Refusal.of_query(self.name, self.covers, f"{query.name} here")
            projected = Problem(column.numbers, (column.query,), problem.neighbors, problem.sizes)
            plan = first_plan(self._engines, projected, options)
            if isinstance(plan, Refusal):
                return plan
            searches.append(partial(_solve_column, problem, column, plan))
            memory += plan.cost.bytes
        memory += column_bytes(problem)
        return Plan(lambda: [search() for search in searches], Cost(memory))


def column_bytes(problem: Problem | LocalProblem) -> int:
    """Return what the column takes, what makes tables of its numbers, and these."""
    return 28 * WORD * problem.universe.number + bytes_of_pairs(problem)


def _solve_column(problem: Problem, column: Column, plan: Plan[Findings]) -> list[Finding]:
    """Return a finding for every relation: tables that are the datasets found in the column."""
    (found,) = plan.solve()
    return [
        _lifted(finding, column, relation)
        for relation, finding in zip(problem.neighbors, found, strict=True)
    ]


@dataclass(frozen=True)
class Column:
    """A query on tables as a query on the numbers of one column.

    Attributes
    ----------
    rows : TableUniverse
    numbers : Universe
        The column's numbers, each as often as rows have it.
    query : Query
        The query on the numbers.
    places : ndarray of intp, shape (rows,)
        Where each distinct row's number is among the numbers.
    """

    rows: TableUniverse
    numbers: FiniteUniverse
    query: Query
    places: Indices

    @classmethod
    def of(cls, universe: FiniteUniverse, query: Query) -> Column | None:
        """Return the column of a query; None if it has none."""
        found = query.projection(universe)
        if found is None or not isinstance(universe, TableUniverse):
            return None
        name, on_numbers = found
        numbers = universe.column(name)
        places = np.array([numbers.index(value) for value in universe.listed(name)])
        return cls(universe, numbers, on_numbers, places)


def removed_by(
    x: Multiplicities, y: Multiplicities, relation: Relation, numbers: FiniteUniverse
) -> int:
    """Return the fewest records that x loses; some of them may be replaced by equal ones."""
    removed, added = moved(x, y)
    changes = relation.changes(int(x.sum()), numbers)
    return min(i for i, j in changes if i - removed == j - added >= 0)


def _lifted(finding: Finding, column: Column, relation: Relation) -> Finding:
    """Return tables whose columns are the datasets of a finding; x has the first rows it can."""
    of_x, of_y = finding.x, finding.y
    have = column.rows.multiplicities(int(of_x.sum() + of_y.sum()))
    x = smallest_of_each(have, column.places, of_x)
    removed = removed_by(of_x, of_y, relation, column.numbers)
    y = changed_by_group(x, have - x, column.places, of_y - of_x, removed)
    return Finding(x, y, None, finding.datasets_evaluated)


class LocalOneColumn(OnParts[LocalProblem, Finding]):
    """The engine: exact for queries of one column that a local engine on numbers covers.

    Notes
    -----
    The cost of the local engine on numbers, and one pass over the rows.
    """

    name = "one_column"
    kind: Kind = "local"
    covers = COVERS
    reach = "as the engine on the column"

    def plan(self, problem: LocalProblem, options: Options) -> Plan[Finding] | Refusal:
        """Plan the search; refuse what no engine accepts on the numbers of one column."""
        column = Column.of(problem.universe, problem.query)
        if column is None:
            return Refusal.of_query(self.name, self.covers, f"{problem.query.name} here")
        x = of_each(problem.x, column.places)
        numbers = LocalProblem(column.numbers, column.query, problem.neighbors, x, problem.norm)
        plan = first_plan(self._engines, numbers, options)
        if isinstance(plan, Refusal):
            return plan
        cost = Cost(plan.cost.bytes + column_bytes(problem))
        return local_plan(problem, partial(_lifted_ends, problem, column, ends_of(plan)), cost)


def _lifted_ends(problem: LocalProblem, column: Column, ends: Callable[[], BothEnds]) -> BothEnds:
    """Return the ends that are found in the column, with tables."""
    both = ends()
    x = of_each(problem.x, column.places)

    def lifted(end: End) -> End:
        def y() -> Multiplicities:
            of_y = end.y()
            removed = removed_by(x, of_y, problem.neighbors, column.numbers)
            return changed_by_group(problem.x, problem.outside, column.places, of_y - x, removed)

        return End(end.answer, y)

    of_changes = (
        one._replace(lower=lifted(one.lower), upper=lifted(one.upper)) for one in both.of_changes
    )
    return BothEnds(both.of_x, of_changes)
