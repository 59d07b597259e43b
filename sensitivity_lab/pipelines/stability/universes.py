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
from sensitivity_lab.metrics import PairDistance, SharedIdDistance
from sensitivity_lab.pipelines.domains import Counted, Domain, Pair, Scalar, Values
from sensitivity_lab.pipelines.table_domains import Table
from sensitivity_lab.pipelines.transformation import Transformation
from sensitivity_lab.universes.multiplicities import repeated
from sensitivity_lab.universes.multiset import FiniteUniverse
from sensitivity_lab.universes.table import TableUniverse

from .inputs import Both, Inputs, Singles, draw, draw_tables

_ROWS = 100
"""The average number of rows that inputs may have if there are `limit` inputs."""


def drawn_from(transformation: Transformation, universe: Any, sizes: Any, limit: int) -> Inputs:
    """Return the inputs that are drawn from a universe, or from two.

    Raises InputError, and TooLargeError if there are more inputs than the limit, or more than
    `_ROWS` rows per input.
    """
    domain, metric = transformation.input_domain, transformation.input_metric
    drawn: Inputs
    if isinstance(domain, Pair) and isinstance(metric, PairDistance | SharedIdDistance):
        _check_two(transformation, universe, sizes)
        parts = domain.first, domain.second
        first, second = (_read(*one, limit) for one in zip(parts, universe, strict=True))
        rows = first, second
        if isinstance(metric, SharedIdDistance):
            drawn = draw_tables(rows, metric)
        else:
            one, other = (None, None) if sizes is None else sizes
            drawn = Both(
                draw(first, metric.first, _sizes(domain.first, one, len(first))),
                draw(second, metric.second, _sizes(domain.second, other, len(second))),
            )
    else:
        rows = _read(domain, universe, limit)
        if not isinstance(domain, Scalar):
            drawn = draw(rows, metric, _sizes(domain, sizes, len(rows)))
        elif sizes is None:
            drawn = Singles(rows)
        else:
            raise InputError(f"{transformation.name} takes single numbers, which have no sizes")
    _check_inputs(drawn, limit)
    _check_universe(transformation, rows)
    return drawn


def _check_two(transformation: Transformation, universe: Any, sizes: Any) -> None:
    """Raise InputError unless there are two universes, and sizes of each if any."""
    if not isinstance(universe, tuple) or len(universe) != 2:
        raise InputError(
            f"{transformation.name} takes two tables, so universe must be a tuple of two, "
            f"got {type(universe).__name__}"
        )
    if sizes is not None and (not isinstance(sizes, tuple) or len(sizes) != 2):
        raise InputError(f"sizes must be a tuple of two, one per table, got {shown(sizes)}")
    shared = isinstance(transformation.input_metric, SharedIdDistance)
    if shared and sizes not in (None, (None, None)):
        raise InputError(
            f"{transformation.name} takes tables that share their ids, of any sizes; leave out "
            "sizes"
        )


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


def _check_inputs(drawn: Inputs, limit: int) -> None:
    """Raise TooLargeError if there are more inputs than the limit, or too many rows in them."""
    inputs, rows = drawn.counts()
    of_tables = ""
    if isinstance(drawn, Both):
        of_tables = f" ({drawn.first.counts()[0]:,} x {drawn.second.counts()[0]:,})"
    advice = "take fewer rows, fewer copies of a row, fewer sizes, or raise limit"
    if inputs > limit:
        raise TooLargeError(
            f"there are {inputs:,} inputs{of_tables} to evaluate, the limit is {limit:,}; {advice}"
        )
    if rows > _ROWS * limit:
        raise TooLargeError(
            f"there are {inputs:,} inputs{of_tables} of {rows:,} rows in all to evaluate, the "
            f"limit is {_ROWS * limit:,} rows, {_ROWS} times limit; {advice}"
        )


def _read(domain: Domain, universe: Any, limit: int) -> Any:
    """Return the rows of a universe, or raise InputError."""
    _check_rows(universe, limit)
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
