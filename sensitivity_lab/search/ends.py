"""The neighbors of a dataset with the largest and the smallest answers of a monotone query.

For queries that never fall when a record rises: order statistics with weights that are not
negative, sum, mean and count. Among the neighbors of x with a given number of records removed and
added, the answer is largest where the smallest records of x are removed and the largest ones
outside x are added, and smallest the other way around (docs/proofs.md, "Local sensitivity: order
statistics, sum, mean and count").
"""

from __future__ import annotations

from collections.abc import Iterator

from sensitivity_lab.problem import LocalProblem
from sensitivity_lab.universes.multiplicities import Multiplicities, largest, smallest


def extreme_neighbors(problem: LocalProblem) -> Iterator[Multiplicities]:
    """Yield the neighbors of x with the largest and the smallest answer of every change."""
    x, outside = problem.x, problem.outside
    for removed, added in problem.changes:
        yield x - smallest(x, removed) + largest(outside, added)
        yield x - largest(x, removed) + smallest(outside, added)
