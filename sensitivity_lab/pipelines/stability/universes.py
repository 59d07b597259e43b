"""The universes that the inputs of a transformation are drawn from."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sized
from typing import Any

import numpy as np

from sensitivity_lab.checks import as_python, listed, shown, whole_kind
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.exact.roots import as_fraction
from sensitivity_lab.metrics import Metric, PairDistance, SharedIdDistance
from sensitivity_lab.pipelines.domains import Counted, Domain, Pair, Scalar, Values
from sensitivity_lab.pipelines.table_domains import Table
from sensitivity_lab.pipelines.transformation import Transformation
from sensitivity_lab.universes.relations import repeated
from sensitivity_lab.universes.universe import FiniteUniverse, TableUniverse

from .inputs import Drawn, draw, draw_numbers, draw_tables

_ROWS = 100
"""The average number of rows that inputs may have if there are `limit` inputs."""


def drawn_from(
    transformation: Transformation, universe: Any, sizes: Any, limit: int
) -> list[Drawn]:
    """Return the datasets of each universe.

    Raises InputError, and TooLargeError if there are more inputs than the limit, or more than
    `_ROWS` rows per input.
    """
    domain, metric = transformation.input_domain, transformation.input_metric
    domains: tuple[Domain, ...] = (domain,)
    metrics: tuple[Metric, ...] = (metric,)
    shared = isinstance(metric, SharedIdDistance)
    if isinstance(domain, Pair) and isinstance(metric, PairDistance | SharedIdDistance):
        domains = (domain.first, domain.second)
        if isinstance(metric, PairDistance):
            metrics = (metric.first, metric.second)
        if not isinstance(universe, tuple) or len(universe) != 2:
            raise InputError(
                f"{transformation.name} takes two tables, so universe must be a tuple of two, "
                f"got {type(universe).__name__}"
            )
        if sizes is not None and (not isinstance(sizes, tuple) or len(sizes) != 2):
            raise InputError(f"sizes must be a tuple of two, one per table, got {shown(sizes)}")
        sizes = (None, None) if sizes is None else sizes
    else:
        universe, sizes = (universe,), (sizes,)
    for given in universe:
        _check_rows(given, limit)
    if isinstance(domain, Scalar) and sizes != (None,):
        raise InputError(f"{transformation.name} takes single numbers, which have no sizes")
    if shared and sizes != (None, None):
        raise InputError(
            f"{transformation.name} takes tables that share their ids, of any sizes; leave out "
            "sizes"
        )
    rows = [_read(domain, given) for domain, given in zip(domains, universe, strict=True)]
    drawn: list[Drawn]
    if isinstance(metric, SharedIdDistance):
        drawn = [draw_tables((rows[0], rows[1]), metric)]
    else:
        drawn = [
            draw_numbers(data, metric)
            if isinstance(domain, Scalar)
            else draw(data, metric, _sizes(domain, wanted, len(data)))
            for data, domain, metric, wanted in zip(rows, domains, metrics, sizes, strict=True)
        ]
    _check_inputs(drawn, limit)
    _check_universe(transformation, tuple(rows) if len(rows) == 2 else rows[0])
    return drawn


def _length(given: Any) -> int | float:
    """Return the length of a list or a table; 0 of what has none, which is refused later."""
    try:
        return len(given) if isinstance(given, Sized) else 0
    except OverflowError:  # a range of more items than a length can say
        return sys.maxsize
    except Exception:  # noqa: BLE001 - the caller's class; whatever it raises, it has no length
        return 0


def _check_rows(universe: Any, limit: int) -> None:
    """Raise TooLargeError for a universe with more rows than the limit of inputs."""
    rows = universe.size if isinstance(universe, FiniteUniverse) else _length(universe)
    if limit < rows < math.inf:
        raise TooLargeError(
            f"the universe has {rows:,} rows, more than the limit of {limit:,} inputs; take fewer "
            "rows, fewer copies of a row, or raise limit"
        )


def _check_inputs(drawn: list[Drawn], limit: int) -> None:
    """Raise TooLargeError if there are more inputs than the limit, or too many rows in them."""
    counts = [one.counts() for one in drawn]
    inputs = math.prod(many for many, _ in counts)
    of_tables = f" ({' x '.join(f'{many:,}' for many, _ in counts)})" if len(drawn) == 2 else ""
    advice = "take fewer rows, fewer copies of a row, fewer sizes, or raise limit"
    if inputs > limit:
        raise TooLargeError(
            f"there are {inputs:,} inputs{of_tables} to evaluate, the limit is {limit:,}; {advice}"
        )
    rows = sum(all_rows * inputs // many for many, all_rows in counts if many)
    if rows > _ROWS * limit:
        raise TooLargeError(
            f"there are {inputs:,} inputs{of_tables} of {rows:,} rows in all to evaluate, the "
            f"limit is {_ROWS * limit:,} rows, {_ROWS} times limit; {advice}"
        )


def _read(domain: Domain, universe: Any) -> Any:
    """Return the rows of a universe, or raise InputError."""
    if isinstance(domain, Scalar):
        return _numbers_of(domain, universe)
    if isinstance(domain, Values):
        if isinstance(universe, FiniteUniverse):
            universe = list(_counted(universe))
        data = domain._unsized().read(universe)
        return data.tolist() if hasattr(data, "tolist") else data
    if isinstance(domain, Table) and not domain.limits:
        if isinstance(universe, TableUniverse):
            counts = _counted(universe).counts
            universe = universe.given(repeated(np.arange(len(universe.values)), counts or ()))
        return domain._unsized().read(universe)
    raise InputError(
        f"only what takes {Table()}, {Values()} or {Scalar()} can be measured, got {domain}; "
        "measure the whole chain from its start"
    )


def _numbers_of(domain: Scalar, universe: Iterable[Any]) -> list[Any]:
    """Return the distinct numbers of a universe in ascending order, or raise InputError."""
    given = map(as_python, listed(universe, "a universe of numbers is a list of numbers"))
    exact = {as_fraction(domain.read(number), "a number"): number for number in given}
    return [exact[value] for value in sorted(exact)]


def _counted(universe: FiniteUniverse) -> FiniteUniverse:
    """Return a universe with finitely many records, or raise InputError."""
    if universe.counts is None:
        raise InputError(
            "the universe has as many copies of a value as a dataset can hold; say how "
            f"many with {type(universe).__name__}.from_domain(values, copies=...)"
        )
    return universe


def _check_universe(transformation: Transformation, universe: Any) -> None:
    """Call the check of each step on the output of the steps before it for the universe."""
    steps = transformation.each_step
    checking = [place for place, step in enumerate(steps) if step.check_universe is not None]
    for step in steps[: max(checking, default=-1) + 1]:
        if step.check_universe is not None:
            step.check_universe(universe)
        universe = step.function(universe)


def _sizes(domain: Domain, wanted: Any, rows: int) -> list[int]:
    """Return the sizes that datasets may have, or raise InputError."""
    within = whole_kind(f"from 0 to {rows}, the rows of the universe", least=0, most=rows)
    sizes = list(range(rows + 1)) if wanted is None else within.several("sizes", wanted)
    if isinstance(domain, Counted) and domain.size is not None:
        return [size for size in sizes if size == domain.size]
    if isinstance(domain, Counted) and domain.max_size is not None:
        return [size for size in sizes if size <= domain.max_size]
    return sizes
