"""Steps on tables by group: a step on one table is applied to the table of each key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sensitivity_lab.exact.roots import Distance, Root, whole
from sensitivity_lab.metrics import GroupsDistance, Metric, SymmetricDistance
from sensitivity_lab.pipelines.domains import Counted, Domain, Numbers, Scalar, Vector
from sensitivity_lab.pipelines.table_domains import Groups
from sensitivity_lab.pipelines.transformation import MismatchError, Transformation

Build = Callable[[Domain, Metric], Transformation]


def on_groups(build: Build) -> Build:
    """Return how to build a step that also takes groups: it is applied to each of them.

    A step for rows added or removed whose map is ``c d_in`` changes the answer of a group by at
    most c times the rows of that group that change. So in every norm the answers of all groups
    change by at most c times the distance of the groups (docs/proofs.md, "Pipelines: groups of
    rows").
    """

    def built(domain: Domain, metric: Metric) -> Transformation:
        if not isinstance(domain, Groups) or not isinstance(metric, GroupsDistance):
            return build(domain, metric)
        return _lifted(build(_rows_of_any_number(domain.data), SymmetricDistance()), domain, metric)

    return built


def _lifted(one: Transformation, domain: Groups, metric: GroupsDistance) -> Transformation:
    """Return the transformation that applies a transformation to each group."""
    length, rate = len(domain.keys), one.stability_map(1)
    single = isinstance(one.output_domain, Scalar)

    def function(groups: Any) -> Any:
        answers = {key: one.function(group) for key, group in groups.items()}
        return list(answers.values()) if single else answers

    return Transformation(
        one.name,
        function,
        domain,
        metric,
        output_domain=Vector(length) if single else replace(domain, data=one.output_domain),
        output_metric=metric.norm if single else metric,
        stability_map=lambda d_in: _times(rate, d_in),
    )


def _rows_of_any_number(data: Domain) -> Domain:
    """Return the domain of a group, or raise MismatchError if its map would not be linear."""
    sized = isinstance(data, Counted) and data.most is not None
    if sized or (isinstance(data, Numbers) and data.floats):
        raise MismatchError(
            "groups of exact values whose number is not public: select(column, Numbers()), "
            "without floats, of groups without a size"
        )
    return data


def _times(rate: Distance, d_in: Distance) -> Distance:
    """Return the product of a rate and a distance, as an int if it is whole."""
    product = d_in * rate if isinstance(d_in, Root) else rate * d_in
    return whole(product) if not isinstance(product, int | float | Root) else product
