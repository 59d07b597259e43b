"""The search over all pairs of neighbors, many at a time: one for every space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Literal

import numpy as np

from sensitivity_lab.exact.difference import Difference, root_difference
from sensitivity_lab.metrics.norms import POWERS, Norm, powered
from sensitivity_lab.running import counter
from sensitivity_lab.search.pairs import Farthest

from .answers import Counts, SpaceQuery, Table, evaluate
from .space import Answer, Block, Code, Codes, FiniteSpace, Group, Pairs, SpaceRelation

_MANY = 2**20
"""Fewer pairs take milliseconds, and no progress bar."""

_BLOCK = 2**16
"""So many numbers of answers at a time, to keep what is compared in the processor's cache."""


@dataclass(frozen=True)
class Found:
    """The neighbors whose answers are furthest apart.

    Attributes
    ----------
    x, y : Code
    query_x, query_y : number or tuple of numbers
    difference : Difference
        How far apart these are, exactly.
    arithmetic : {"exact", "float"}
    datasets, pairs : int
        The number of datasets that the query was evaluated on, and of pairs compared.
    """

    x: Code
    y: Code
    query_x: Answer
    query_y: Answer
    difference: Difference
    arithmetic: Literal["exact", "float"]
    datasets: int
    pairs: int


def furthest(
    space: FiniteSpace,
    query: SpaceQuery,
    relations: Sequence[SpaceRelation],
    norm: Norm,
    x: Code | None = None,
    progress: bool | None = False,
) -> list[Found]:
    """Return, for each relation, the neighbors whose answers are furthest apart.

    Parameters
    ----------
    space : FiniteSpace
        The datasets.
    query : NamedQuery or FunctionQuery
        The query on them.
    relations : sequence of SpaceRelation
        The neighbor relations; each has its own search.
    norm : {"L1", "L2", "Linf"}
        The norm of the difference of vector answers.
    x : Code, optional
        One dataset, for its neighbors only; by default all.
    progress : bool, optional
        Whether to show how many pairs are done.

    Returns
    -------
    list of Found
        One per relation. It has the first of tied pairs; if x has no other neighbor, x twice.

    Raises
    ------
    InputError
        If no two datasets are neighbors, or the query is not possible here.
    TooLargeError
        If there are too many pairs or a function would be called too often.
    QueryError
        If a function fails.

    Notes
    -----
    The query is evaluated once on each dataset that occurs in a pair of any of the relations. Then
    all pairs are compared, in integers, which rounds nothing.
    """
    for relation in relations:
        relation._check(space)
    several = [relation._pairs(space, x) for relation in relations]
    datasets = _union([pairs.datasets for pairs in several])
    if x is not None:  # it may have no neighbors
        datasets = _union([datasets, {x[0]: np.array([x[1]])}])
    table = evaluate(query, space, datasets, progress)
    return [_furthest(pairs, table, norm, x, progress) for pairs in several]


def _quiet(_: int) -> None:
    """Show no progress."""


def _furthest(
    pairs: Pairs, table: Table, norm: Norm, x: Code | None, progress: bool | None
) -> Found:
    used: Norm = norm if table.vector else "L1"  # of numbers, all norms are one
    farthest = Farthest()
    # One dataset may have no neighbors; a whole space that was checked has some.
    of_x = of_y = x or ((), 0)
    shows = progress or pairs.number > _MANY
    with counter("pairs", progress, pairs.number) if shows else nullcontext(_quiet) as done:
        for block in pairs.blocks(max(1, _BLOCK // max(table.width, 1))):
            gaps = _gaps(block, table, used)
            if farthest.see(gaps, block.x, block.y):
                of_x, of_y = (block.of_x, farthest.x), (block.of_y, farthest.y)
            done(len(gaps))
    square = Fraction(farthest.gap or 0, table.denominator ** POWERS[used])
    return Found(
        x=of_x,
        y=of_y,
        query_x=table.answer(of_x),
        query_y=table.answer(of_y),
        difference=_distance_of(square, used),
        arithmetic=table.arithmetic,
        datasets=table.number,
        pairs=farthest.pairs,
    )


def difference_of(query_x: Answer, query_y: Answer, norm: Norm) -> Difference:
    """Return how far two answers are apart, exactly.

    Examples
    --------
    >>> difference_of((4, 0), (2, 2), "L1").nearest(), difference_of(3, 1, "L2").nearest()
    (4.0, 2.0)
    """
    first, second = (
        [Fraction(one) for one in (answer if isinstance(answer, tuple) else (answer,))]
        for answer in (query_x, query_y)
    )
    apart = np.array([one - other for one, other in zip(first, second, strict=True)], dtype=object)
    used: Norm = norm if isinstance(query_x, tuple) else "L1"
    return _distance_of(Fraction(powered(apart, used).item()), used)


def _distance_of(power: Fraction, norm: Norm) -> Difference:
    """Return a norm from what `powered` gives: for L2, the root of it."""
    return root_difference(power) if POWERS[norm] == 2 else Difference(power, Fraction(0))


def _gaps(block: Block, table: Table, norm: Norm) -> Counts:
    """How far the answers of each pair are apart, squared for L2; shape (pairs,)."""
    # One x for all pairs has one row of answers, which is taken with every row of y.
    apart = table.on(block.of_x, block.x) - table.on(block.of_y, block.y)
    return powered(apart, norm) if table.vector else np.abs(apart[:, 0])


def _union(several: Iterable[dict[Group, Codes]]) -> dict[Group, Codes]:
    """Return all datasets, each once, ascending in their groups."""

    def joined(known: dict[Group, Codes], more: dict[Group, Codes]) -> dict[Group, Codes]:
        union = {
            group: np.union1d(known[group], codes) if group in known else codes
            for group, codes in more.items()
        }
        return {**known, **union}

    return reduce(joined, several)
