"""Measuring how stable a transformation is: all neighboring inputs of a small universe."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sensitivity_lab._parallel import run
from sensitivity_lab.checks import check_running, check_whole, shown
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.numpy_state import with_numpy_defaults

from .changes import distance_of
from .drawing import Drawn, Indices
from .exact import Distance
from .metrics import Metric, PairDistance
from .stability import MeasuredStability, StabilityWitness
from .transformation import Transformation
from .universes import drawn_from

_CHUNK = 256
"""So many inputs are one piece of work."""

_BLOCK = 1 << 20
"""So many pairs are looked at together."""


@with_numpy_defaults
def measured_stability(
    transformation: Transformation,
    universe: Any,
    d_in: Any,
    *,
    sizes: Any = None,
    limit: int = 100_000,
    pair_limit: int = 10_000_000,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> MeasuredStability:
    """Measure how far outputs can be apart when inputs are at most `d_in` apart.

    The exact maximum of the output distance over all pairs of neighboring inputs, where an input is
    any sub-multiset of a universe of rows, the empty one included.

    Parameters
    ----------
    transformation : Transformation
        What to measure, from tables or lists to anything that has a distance.
    universe : DataFrame, list, TableUniverse or Universe, or a tuple of two
        The rows that inputs are drawn from, each as often as it can occur: a DataFrame, a list of
        dicts or a `TableUniverse` for a table, a list of values or a `Universe` for values. One per
        table.
    d_in : int or protected change, or a tuple of two
        The largest distance of neighbors, at least 1; `AddMaxRows(m)` stands for m rows,
        `AddRowsWithID` for one id with all its rows. One per table: both tables change together.
    sizes : int or iterable of int, or a tuple of two such, optional
        Which numbers of rows inputs may have; by default all, or what the domain says. One per
        table; None for all.
    limit : int, default 100,000
        The largest number of inputs to evaluate.
    pair_limit : int, default 10 million
        The largest number of pairs to compare.
    n_jobs : int, optional
        Worker processes, as in joblib; by default 1, or what `joblib.parallel_config` says.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal and past a second.

    Returns
    -------
    MeasuredStability
        The maximum, what the map says, and a pair of inputs that attains the maximum.

    Raises
    ------
    InputError
        If an argument is not acceptable; if a join's universe has fewer than two keys, with which
        no search could show how much it changes; if no two inputs are neighbors.
    TooLargeError
        If there are too many inputs or pairs; says how many, and what to do.
    QueryError
        If the transformation gives different outputs for one and the same input.

    Notes
    -----
    Evaluates each distinct input once, and the two of the witness once more: the measured value is
    taken from them. With all sizes there are as many inputs as the product of (copies + 1) over the
    distinct rows of all tables.

    What it measures is a lower bound of the stability over all data: a larger universe may show
    more. Where it equals the map, the map is tight. For floats, rows come in one order only, so the
    rounding that another order of the same rows brings is not seen.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> t = pl.Start(pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(0, 5) >> pl.sum_(0, 5)
    >>> measured_stability(t, [-1, 2, 5, 7], d_in=2)
    Measured stability of clamp(0, 5) >> sum_(0, 5): 10 (tight)
      map        10
      neighbors  at most 2 rows added or removed
      witness x  []  to 0
      witness y  [5, 7]  to 10
      searched   16 inputs, 80 pairs; universe of 4 rows
    """
    if not isinstance(transformation, Transformation):
        raise InputError(
            f"transformation must be a Transformation, got {shown(transformation)}; chain steps "
            "after a start, such as start(AddMaxRows(1)) >> count()"
        )
    check_running(n_jobs, progress)
    limit = check_whole("limit", limit, "a number of inputs, at least 1")
    pair_limit = check_whole("pair_limit", pair_limit, "a number of pairs, at least 1")
    metric = transformation.input_metric
    distances = _distances(d_in, metric)
    _check_output(transformation)
    drawn = drawn_from(transformation, universe, sizes)
    _check_size(drawn, limit)
    relations = [
        one.pairs(distance, pair_limit) for one, distance in zip(drawn, distances, strict=True)
    ]
    inputs = math.prod(len(one.codes) for one in drawn)
    # Relations hold each pair both ways round, and each input with itself.
    pairs = (math.prod(len(before) for before, _ in relations) - inputs) // 2
    _check_pairs(pairs, pair_limit, d_in, transformation)
    forms = _evaluate(transformation, drawn, n_jobs, progress)
    search = _Search(transformation.output_metric, *_numbered(forms))
    largest, found = search.farthest(drawn, relations)
    makers = [one.dataset for one in drawn]
    x, y = (_input(makers, len(drawn[-1].codes), index) for index in found)
    output_x, output_y = transformation(x), transformation(y)
    measured = transformation.output_metric.distance(output_x, output_y)
    if measured != largest:
        raise QueryError(
            f"{transformation.name} gave another output when the same input came again; a "
            "transformation must be a function of its input alone"
        )
    given = distances if len(distances) == 2 else distances[0]
    return MeasuredStability(
        transformation=transformation,
        d_in=given,
        measured=measured,
        bound=transformation.stability_map(given),
        witness=StabilityWitness(x, y, output_x, output_y),
        inputs=inputs,
        pairs=pairs,
        rows=tuple(len(one.data) for one in drawn),
    )


@dataclass
class _Search:
    """The largest distance of outputs, over pairs of inputs given by number.

    Inputs with the same output have the same number in `output_of`; a pair of outputs is measured
    once, however many pairs of inputs have them.
    """

    metric: Metric
    outputs: list[Hashable]
    output_of: Indices

    def farthest(
        self, drawn: list[Drawn], relations: list[tuple[Indices, Indices]]
    ) -> tuple[Distance, tuple[int, int]]:
        """Return the largest distance, and a pair of inputs that attains it, one with few rows."""
        largest, best = self._largest(drawn, relations)
        sizes = drawn[0].dataset_sizes
        if len(drawn) == 2:
            sizes = np.add.outer(sizes, drawn[1].dataset_sizes).ravel()
        found: list[tuple[int, int, int]] = []
        for before, after, keys in self._keyed(drawn, relations):
            attains = np.flatnonzero(np.isin(keys, best))
            if attains.size:
                total = sizes[before[attains]] + sizes[after[attains]]
                at = attains[int(np.argmin(total))]
                found.append((int(total.min()), int(before[at]), int(after[at])))
        _, x, y = min(found)
        return largest, (x, y)

    def _largest(
        self, drawn: list[Drawn], relations: list[tuple[Indices, Indices]]
    ) -> tuple[Distance, list[int]]:
        """Return the largest distance, and the pairs of outputs that attain it."""
        largest: Distance = -1
        best: list[int] = []
        measured = np.empty(0, dtype=np.int64)
        for _, _, keys in self._keyed(drawn, relations):
            fresh = np.setdiff1d(keys, measured)
            for key in fresh.tolist():
                first, second = divmod(key, len(self.outputs))
                distance = self.metric.between(self.outputs[first], self.outputs[second])
                if distance > largest:
                    largest, best = distance, [key]
                elif distance == largest:
                    best.append(key)
            measured = np.union1d(measured, fresh)
        return largest, best

    def _keyed(
        self, drawn: list[Drawn], relations: list[tuple[Indices, Indices]]
    ) -> Iterator[tuple[Indices, Indices, Indices]]:
        """Yield pairs of different inputs, and a number for the pair of their outputs."""
        for before, after in _blocks(drawn, relations):
            first, second = self.output_of[before], self.output_of[after]
            low, high = np.minimum(first, second), np.maximum(first, second)
            yield before, after, low * len(self.outputs) + high


def _blocks(
    drawn: list[Drawn], relations: list[tuple[Indices, Indices]]
) -> Iterator[tuple[Indices, Indices]]:
    """Yield the pairs of neighboring inputs, each once, many at a time."""
    before, after = relations[0]
    others = (np.zeros(1, dtype=np.int64),) * 2 if len(drawn) == 1 else relations[1]
    width = 1 if len(drawn) == 1 else len(drawn[1].codes)
    step = max(1, _BLOCK // max(len(others[0]), 1))
    for first in range(0, len(before), step):
        part = slice(first, first + step)
        x = (before[part, None] * width + others[0]).ravel()
        y = (after[part, None] * width + others[1]).ravel()
        yield x[x < y], y[x < y]


def _evaluate(
    transformation: Transformation, drawn: list[Drawn], n_jobs: int | None, progress: bool | None
) -> list[Hashable]:
    """Return the form of the output of every input, in order."""
    inputs = math.prod(len(one.codes) for one in drawn)
    width = len(drawn[-1].codes)
    recipes = [(first, min(first + _CHUNK, inputs)) for first in range(0, inputs, _CHUNK)]

    def forms(recipe: tuple[int, int]) -> list[Hashable]:
        # With two tables, one and the same dataset of the second is asked for many times.
        makers = [lru_cache(maxsize=_CHUNK)(one.dataset) for one in drawn]
        return [
            transformation.output_metric.form(transformation(_input(makers, width, index)))
            for index in range(*recipe)
        ]

    lengths = [last - first for first, last in recipes]
    chunks = run(forms, recipes, lengths, n_jobs=n_jobs, progress=progress)
    return [form for chunk in chunks for form in chunk]


def _numbered(forms: list[Hashable]) -> tuple[list[Hashable], Indices]:
    """Return the distinct forms, and for each form its number among them."""
    numbers: dict[Hashable, int] = {}
    output_of = np.array([numbers.setdefault(form, len(numbers)) for form in forms], dtype=np.int64)
    return list(numbers), output_of


def _input(makers: Sequence[Callable[[int], Any]], width: int, index: int) -> Any:
    """Return an input by its number: a dataset, or a tuple of two.

    `makers` return a dataset of each table by its number, `width` is the last one's number of them.
    """
    if len(makers) == 1:
        return makers[0](index)
    first, second = divmod(index, width)
    return makers[0](first), makers[1](second)


def _check_size(drawn: list[Drawn], limit: int) -> None:
    """Raise TooLargeError if there are more inputs than the limit."""
    counts = [one.count() for one in drawn]
    inputs = math.prod(counts)
    if inputs > limit:
        of_tables = f" ({' x '.join(f'{count:,}' for count in counts)})" if len(drawn) == 2 else ""
        raise TooLargeError(
            f"there are {inputs:,} inputs{of_tables} to evaluate, the limit is {limit:,}; take "
            "fewer rows, fewer copies of a row, fewer sizes, or raise limit"
        )


def _check_pairs(pairs: int, limit: int, d_in: Any, transformation: Transformation) -> None:
    """Raise TooLargeError if there are more pairs than the limit, InputError if there are none."""
    if pairs > limit:
        raise TooLargeError(
            f"there are {pairs:,} pairs of neighboring inputs, the limit is {limit:,}; take "
            "fewer rows, fewer copies of a row, a smaller d_in, or raise pair_limit"
        )
    if pairs < 1:
        raise InputError(
            f"no two different inputs are at most {d_in!r} apart "
            f"({transformation.input_metric}); take more rows, other sizes, or a larger d_in"
        )


def _check_output(transformation: Transformation) -> None:
    """Raise InputError where there is no one distance to maximize."""
    if isinstance(transformation.output_metric, PairDistance):
        raise InputError(
            f"{transformation.name} puts out a pair, and a pair has two distances; measure one "
            "part at a time: ... >> part(0), ... >> part(1)"
        )


def _distances(d_in: Any, metric: Metric) -> tuple[int, ...]:
    """Return the input distance of each table, or raise InputError."""
    distances = distance_of(d_in, metric)
    return distances if isinstance(metric, PairDistance) else (distances,)
