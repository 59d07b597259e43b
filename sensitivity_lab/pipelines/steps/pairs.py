"""Steps on pairs: treat two tables side by side, take one of two answers."""

from __future__ import annotations

from sensitivity_lab.checks import as_python, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.pipelines.domains import Domain, Pair
from sensitivity_lab.pipelines.metrics import Metric, PairDistance
from sensitivity_lab.pipelines.transformation import MismatchError, Step, Transformation


def both(first: Transformation, second: Transformation) -> Transformation:
    """Do one thing to the first of two tables, and another to the second.

    Stability: that of each, for its own table.

    Parameters
    ----------
    first, second : Transformation
        What to do to each.

    Returns
    -------
    Transformation
        From two tables to two tables, ready for `join_private`.

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
        Pair(first.output_domain, second.output_domain),
        PairDistance(first.output_metric, second.output_metric),
        lambda d_in: (first.stability_map(d_in[0]), second.stability_map(d_in[1])),
    )


def part(index: int) -> Step:
    """Take one part of a pair, such as the sum (0) or the count (1) of `average`.

    Parameters
    ----------
    index : {0, 1}
        Which part.

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
    given, index = index, as_python(index)
    if not isinstance(index, int) or isinstance(index, bool) or index not in (0, 1):
        raise InputError(f"part: index must be 0 or 1, got {shown(given)}")
    name = f"part({index})"

    def build(domain: Domain, metric: Metric) -> Transformation:
        if not isinstance(domain, Pair) or not isinstance(metric, PairDistance):
            raise MismatchError("pairs")
        return Transformation(
            name,
            lambda pair: pair[index],
            domain,
            metric,
            (domain.first, domain.second)[index],
            (metric.first, metric.second)[index],
            lambda d_in: d_in[index],
        )

    return Step(name, build)
