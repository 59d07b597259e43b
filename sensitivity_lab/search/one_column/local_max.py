"""Exact local search for a query of one column: the search on the numbers of that column."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sensitivity_lab.problem import Kind, LocalProblem
from sensitivity_lab.search.engine import (
    BothEnds,
    Cost,
    End,
    Finding,
    OnParts,
    Options,
    Plan,
    Refusal,
    ends_of,
    first_plan,
    local_plan,
)
from sensitivity_lab.universes.relations import Multiplicities, changed_by_group, of_each

from .global_max import COVERS, Column, column_bytes, removed_by


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
