"""Exact search for a query on the rows of each group.

The changed rows split over the groups: i removed from a group and j added to it change its answer
by at most G(c; i, j), where c of its rows stay. The norm's maximum is a max-plus combination of the
groups' G, under the sums of i, of j and of c (docs/proofs.md). With public group sizes every c is
known, and the engines on numbers find each G.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from sensitivity_lab.problem import Kind, Problem
from sensitivity_lab.queries import Query
from sensitivity_lab.search.engine import (
    Cost,
    Findings,
    OnParts,
    Options,
    Plan,
    Refusal,
    beyond_limit,
    one_by_one,
)
from sensitivity_lab.search.layouts import CALL, bytes_of_pairs
from sensitivity_lab.universes.relations import RemovedAdded

from .any_sizes import Search, Spreads, is_variance
from .kernels import Kernel, covered
from .known_sizes import plan_fixed
from .members import ROW_BYTES, Grouped

COVERS = "a query of one column by group (GroupBy), the column without missing values"


class Groups(OnParts[Problem, Findings]):
    """The engine: exact for mean, sum, count, median, percentile, min and max by group.

    Notes
    -----
    For g groups, sizes up to n, i removed and j added records: (i + 1)(j + 1) values per group and
    size, O(1) each. Linf needs no more. L1 and L2 leave out the values that cannot be part of a
    split near the best one, and combine the others; if none is left out, that takes
    g ((i + 1)(j + 1) n)**2 / 8 additions. With `group_sizes` each group takes one search per number
    of replaced rows, by the engines on numbers, and any query that they cover is covered.
    """

    name = "groups"
    kind: Kind = "global"
    covers = COVERS
    reach = "every relation"

    def plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search; refuse other queries, and too much memory."""
        plan = one_by_one(problem, partial(self._plan, options=options))
        if isinstance(plan, Refusal):
            return plan
        listed = ROW_BYTES * problem.universe.number + bytes_of_pairs(problem)
        return Plan(plan.solve, Cost(plan.cost.bytes + listed))

    def _plan(self, problem: Problem, options: Options) -> Plan[Findings] | Refusal:
        """Plan the search for one query and one relation."""
        (query,), (relation,) = problem.queries, problem.neighbors
        changes = problem.changes(relation)
        limit = problem.together
        grouped = Grouped.of(problem.universe, query, problem.universe.multiplicities(limit))
        if isinstance(grouped, str):
            return Refusal.of_query(self.name, self.covers, grouped)
        if grouped.sizes is not None:
            return plan_fixed(grouped, problem, self._engines, options)
        sizes = {of for n, (i, j) in changes for of in (n, n - i + j)}
        undefined = _without_answer(grouped, query, min(sizes))
        if undefined is not None:
            return undefined
        states = {
            (i, j) for _, most in changes for i in range(most[0] + 1) for j in range(most[1] + 1)
        }
        top = max(n - removed for n, (removed, _) in changes)
        # Tables of differences and, but for Linf, the sums after each group and bounds by blocks.
        tables = (1 if problem.norm == "Linf" else 4) * (len(grouped.groups) + 2)
        memory = 8 * tables * len(states) * (top + 1)
        memory += 0 if problem.norm == "Linf" else CALL * len(grouped.groups)
        refused = beyond_limit(self.name, memory, options)
        if refused is not None:
            return refused
        targets = tuple((n - i, (i, j)) for n, (i, j) in changes)
        rest = (targets, frozenset(states), top, problem.norm)
        kernel = _kernel(grouped, limit, top, states)
        if kernel is not None:
            return Plan(Search(grouped, *rest, kernel).findings, Cost(memory))
        if is_variance(grouped) and max(map(max, states)) == 1:
            spreads = Spreads(grouped, *rest, self._engines, options)
            return Plan(spreads.findings, Cost(memory + ROW_BYTES * grouped.many))
        return Refusal(
            f"groups covers {grouped.query.name} by group only if the groups' sizes are public; "
            "pass group_sizes (a variance or standard deviation with ddof 0 also works if at most "
            "one row is removed and one added)"
        )


def _kernel(grouped: Grouped, limit: int, top: int, states: set[RemovedAdded]) -> Kernel | None:
    """Return the kernel for the query on a group; None if there is none."""
    most = max(1, min(limit, max(group.size for group in grouped.groups)))
    runs = (
        grouped.query.runs(np.arange(1, most + 1, dtype=np.int64))
        if covered(grouped.query, most)
        else None
    )
    if runs is None:
        return None
    kernel = Kernel(grouped, runs)
    crosses = all(
        kernel.covers(min(top, most - max(i, j)), p, q)
        for i, j in states
        for p, q in ((i, j), (j, i))
    )
    return kernel if crosses else None


def _without_answer(grouped: Grouped, query: Query, least: int) -> Refusal | None:
    """Refuse a query without an answer for an empty group, if a group can be empty."""
    sizes = [group.size for group in grouped.groups]
    elsewhere = grouped.others.size + sum(sizes) - min(sizes)
    if grouped.empty is not None or elsewhere < least:
        return None
    return Refusal(
        f"groups needs an answer for empty groups: {query.name} has none, and a group can be empty "
        f"in datasets of size {least}; give the query empty=..., or public group_sizes"
    )
