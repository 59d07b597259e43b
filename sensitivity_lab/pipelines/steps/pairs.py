"""Steps on pairs: transform two tables side by side, select one of two answers."""

from __future__ import annotations

from sensitivity_lab.checks import shown, whole_number
from sensitivity_lab.errors import InputError
from sensitivity_lab.pipelines.domains import Domain, Pair
from sensitivity_lab.pipelines.metrics import Metric, PairDistance
from sensitivity_lab.pipelines.transformation import MismatchError, Step, Transformation


def both(first: Transformation, second: Transformation) -> Transformation:
    """Apply one transformation to the first of two tables, and another to the second.

    Stability: the pair of the stabilities of both.

    Parameters
    ----------
    first, second : Transformation
        The transformations of both tables.

    Returns
    -------
    Transformation
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
    """
    for name, given in (("first", first), ("second", second)):
        if not isinstance(given, Transformation):
            raise InputError(
                f"both: {name} must be a transformation, such as start(AddMaxRows(1)) >> step, "
                f"got {shown(given)}"
            )
    return Transformation(
        f"both({first.name}; {second.name})",
        lambda pair: (first.function(pair[0]), second.function(pair[1])),
        Pair(first.input_domain, second.input_domain),
        PairDistance(first.input_metric, second.input_metric),
        output_domain=Pair(first.output_domain, second.output_domain),
        output_metric=PairDistance(first.output_metric, second.output_metric),
        stability_map=lambda d_in: (first.stability_map(d_in[0]), second.stability_map(d_in[1])),
    )


def part(index: int) -> Step:
    """Select one part of a pair, such as the sum (0) or the count (1) of `average`.

    Stability: that of the part.

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
    place = whole_number(index)
    if place not in (0, 1):
        raise InputError(f"part: index must be 0 or 1, got {shown(index)}")
    name = f"part({place})"

    def build(domain: Domain, metric: Metric) -> Transformation:
        if not isinstance(domain, Pair) or not isinstance(metric, PairDistance):
            raise MismatchError("pairs")
        return Transformation(
            name,
            lambda pair: pair[place],
            domain,
            metric,
            output_domain=(domain.first, domain.second)[place],
            output_metric=(metric.first, metric.second)[place],
            stability_map=lambda d_in: d_in[place],
        )

    return Step(name, build)
