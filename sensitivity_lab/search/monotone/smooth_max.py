"""Exact smooth search for sums and quantiles: two theories, one for each kind of query."""

from __future__ import annotations

from dataclasses import replace

from sensitivity_lab.problem import Kind, SmoothProblem
from sensitivity_lab.search.engine import LocalMaxima, Options, Plan, Refusal
from sensitivity_lab.search.sizes import answers_few, without_empty

from . import smooth_quantiles, smooth_sums


class SmoothMonotone:
    """The engine: exact for sum, mean and count, and for single quantiles under replacement.

    Notes
    -----
    Sum, mean and count, for m distinct values: replacing takes O(m) time. Adding and removing needs
    twelve candidates per distance, up to the last distance that can matter, which is at most twice
    the size. Memory: O(m).

    A quantile takes O(t) integer operations at distance t, so O(T**2) up to distance T, which is at
    most the size n. Memory: O(n + m).
    """

    name = "monotone"
    kind: Kind = "smooth"
    covers = "sum, mean and count, and under the bounded relation median, percentile, min and max"
    reach = "sum, mean, count: relations that replace, or that add and remove; quantiles: bounded"

    def plan(self, problem: SmoothProblem, options: Options) -> Plan[LocalMaxima] | Refusal:
        """Plan the search by the theory of the query; refuse other queries."""
        query = problem.query
        if not problem.universe.numeric:
            return Refusal(f"{self.name} covers numbers, not rows", of_kind=True)
        if answers_few(query):
            least = query.defined_from
            if problem.limits[0] < least:
                return Refusal(
                    f"{self.name} covers datasets on which {query.name} has an answer of its own, "
                    f"of at least {least} records; pass sizes=({least}, ...), which is then public"
                )
            query = without_empty(query)
            problem = replace(problem, query=query)
        if query.moment in ("count", "sum", "mean"):
            return smooth_sums.plan(problem)
        weights = query.weights(problem.size)
        if weights is None:
            return Refusal.of_query(self.name, self.covers, query.name)
        if not problem.replace:
            return Refusal(f"{self.name} covers {query.name} under the bounded relation only")
        first, last = (weights[0][0], weights[-1][0]) if weights else (0, 2)
        if last - first > 1 or any(share <= 0 for _, share in weights):
            return Refusal(
                f"{self.name} does not cover {query.name}: it is not a mean of two neighboring "
                "ranks",
                of_kind=True,
            )
        return smooth_quantiles.plan(problem, weights, options.progress)
