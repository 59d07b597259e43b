"""Steps on pairs: transform two tables side by side, select one of two answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, overload

from sensitivity_lab.checks import shown, whole_kind
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics import IdDistance, Metric, PairDistance, SharedIdDistance
from sensitivity_lab.pipelines.changes import Unit
from sensitivity_lab.pipelines.domains import Domain, Pair
from sensitivity_lab.pipelines.transformation import MismatchError, Start, Step, Transformation


@overload
def both(first: Transformation, second: Transformation) -> Transformation: ...


@overload
def both(first: Step, second: Step) -> Step: ...


def both(first: Any, second: Any) -> Any:
    """Apply one transformation to the first of two tables, and another to the second.

    Stability: the pair of the stabilities of both. For tables that share their ids, d_in: each id
    that changes in an output is one that changes in the inputs, and counts once.

    Parameters
    ----------
    first, second : Transformation or Step
        The transformations of both tables; or two steps, which get their metrics from the chain
        before them. Tables that share their ids need steps that keep the ids and compute the rows
        of an id from its own rows alone: `filter_`, `map_`, `flat_map`, `join_public` and the
        limits per id.

    Returns
    -------
    Transformation or Step
        Takes two tables and returns two tables, for example for `join_private`.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> start = pl.start(pl.AddMaxRows(1))
    >>> sides = both(
    ...     start >> pl.flat_map(lambda row: [row, row], 2),
    ...     start >> pl.filter_(lambda row: row["price"] > 0),
    ... )
    >>> sides.map(1, 1)
    (2, 1)
    >>> bought = pl.start(pl.AddRowsWithSharedID("user_id")) >> both(
    ...     pl.max_rows_per_id(1, keep_ids=True),
    ...     pl.filter_(lambda row: row["price"] > 0) >> pl.max_rows_per_id(3, keep_ids=True),
    ... )
    >>> (bought >> pl.join_private("user_id") >> pl.count()).map(1)
    3
    """
    if isinstance(first, Step) and isinstance(second, Step):
        return _both_steps(first, second)
    for name, given in (("first", first), ("second", second)):
        if not isinstance(given, Transformation):
            raise InputError(
                f"both: {name} must be a transformation, such as start(AddMaxRows(1)) >> step, "
                f"or both must be steps; got {shown(given)}"
            )
    return Transformation(
        f"both({first.name}; {second.name})",
        lambda pair: (first.function(pair[0]), second.function(pair[1])),
        Pair(first.input_domain, second.input_domain),
        PairDistance(first.input_metric, second.input_metric),
        output_domain=Pair(first.output_domain, second.output_domain),
        output_metric=PairDistance(first.output_metric, second.output_metric),
        stability_map=lambda d_in: (first.stability_map(d_in[0]), second.stability_map(d_in[1])),
        unit=_both_units(first.unit, second.unit),
    )


def _both_units(first: Unit, second: Unit) -> Unit:
    """Return the protected changes of two tables; None unless both have one."""
    if first is None or second is None or isinstance(first, tuple) or isinstance(second, tuple):
        return None
    return first, second


def _both_steps(first: Step, second: Step) -> Step:
    """Return the step that applies a step to each of two tables."""
    name = f"both({first.name}; {second.name})"

    def build(domain: Domain, metric: Metric) -> Transformation:
        if not isinstance(domain, Pair) or not isinstance(metric, PairDistance | SharedIdDistance):
            raise MismatchError("two tables")
        if isinstance(metric, PairDistance):
            return both(
                Start(domain.first, metric.first) >> first,
                Start(domain.second, metric.second) >> second,
            )
        ids = IdDistance(metric.column)
        left, right = Start(domain.first, ids) >> first, Start(domain.second, ids) >> second
        for side in (left, right):
            if not side.by_id or side.output_metric != ids:
                raise MismatchError(
                    "tables with ids of their own, start(AddRowsWithID(column), "
                    f"AddRowsWithID(column)), because {side.name} does not keep the rows of each "
                    "id apart; for shared ids, take steps that do, such as filter_ and "
                    "max_rows_per_id(k, keep_ids=True)"
                )
        return replace(
            both(left, right),
            name=name,
            input_metric=metric,
            output_metric=metric,
            stability_map=lambda d_in: d_in,
        )

    return Step(name, build)


def part(index: int) -> Step:
    """Select one part of a pair, such as the sum (0) or the count (1) of `average`.

    Stability: the stability of the part; for tables that share their ids, d_in ids.

    Parameters
    ----------
    index : {0, 1}
        The place of the part.

    Returns
    -------
    Step

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> start = pl.Start(pl.Numbers(bounds=(0, 5)), pl.SymmetricDistance())
    >>> (start >> pl.average(0, 5) >> part(1)).map(2)
    2
    """
    place = whole_kind("0 or 1", least=0, most=1)("part: index", index)
    name = f"part({place})"

    def build(domain: Domain, metric: Metric) -> Transformation:
        shared = isinstance(metric, SharedIdDistance)
        if not isinstance(domain, Pair) or not isinstance(metric, PairDistance | SharedIdDistance):
            raise MismatchError("pairs")
        metrics = (
            (IdDistance(metric.column),) * 2
            if isinstance(metric, SharedIdDistance)
            else (metric.first, metric.second)
        )
        return Transformation(
            name,
            lambda pair: pair[place],
            domain,
            metric,
            output_domain=(domain.first, domain.second)[place],
            output_metric=metrics[place],
            stability_map=lambda d_in: d_in if shared else d_in[place],
        )

    return Step(name, build)
