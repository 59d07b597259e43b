"""The measured stability of a transformation, over all neighboring inputs of a small universe.

The result has the maximum, and the inputs that prove it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pandas as pd

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import (
    check_kind,
    check_running,
    check_whole,
    listed,
    named,
    rounded_up,
    shown,
)
from sensitivity_lab.errors import InputError, QueryError, TooLargeError
from sensitivity_lab.exact.roots import Distance, Root, upper_of
from sensitivity_lab.metrics import AbsoluteDistance, Metric, PairDistance
from sensitivity_lab.results.reprs import Facts
from sensitivity_lab.running import Block, run, tracked
from sensitivity_lab.search.farthest import Farthest

from .changes import distance_of, neighbors_text
from .neighboring_inputs import Drawn, Indices, drawn_from
from .transformation import Transformation

_SHOWN = 8
"""The largest number of rows of a table in a repr; of values, there are three times as many."""


@dataclass(frozen=True, eq=False)
class StabilityWitness:
    """A pair of neighboring inputs whose outputs are farthest apart.

    Attributes
    ----------
    x, y : list or DataFrame, or a tuple of two
        The inputs, with their rows in the order of the universe.
    output_x, output_y : object
        The outputs of the transformation.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> clamped = (pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(0, 5) >> pl.sum_(0, 5)
    >>> witness = pl.measured_stability(clamped, [1, 8, -3], d_in=1).witness
    >>> witness.x, witness.y, witness.output_x, witness.output_y
    ([], [8], 0, 5)
    >>> witness.changed_rows()
        table only in row
    0   input       y   8
    1  output       x   0
    2  output       y   5
    """

    x: Any
    y: Any
    output_x: Any
    output_y: Any

    def changed_rows(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the rows that only one of the two inputs has, and those of the outputs.

        Parameters
        ----------
        names : sequence of str, optional
            The names of the input tables and of the output, such as ("Users", "Purchases", "join").

        Returns
        -------
        DataFrame
            A row for each: the table, "x" or "y", and the row as text. Of an answer that is no
            table, what differs: the number, or the entries of the vector.
        """
        pair = isinstance(self.x, tuple)
        inputs = zip(self.x, self.y, strict=True) if pair else [(self.x, self.y)]
        tables = [*inputs, (self.output_x, self.output_y)]
        if names is None:
            names = [*(["first table", "second table"] if pair else ["input"]), "output"]
        names = listed(names, "names must be a list of names")
        if len(names) != len(tables):
            raise InputError(f"names: got {len(names)} for {len(tables)} tables; give one each")
        found = []
        for name, both in zip(names, tables, strict=True):
            x, y = map(_rows_of, both)
            found += [(name, "x", row) for row in (x - y).elements()]
            found += [(name, "y", row) for row in (y - x).elements()]
        return pd.DataFrame(found, columns=["table", "only in", "row"])


def _rows_of(data: Any) -> Counter[str]:
    """Return the rows of a table, or what an answer consists of, as texts."""
    if isinstance(data, pd.DataFrame):
        return Counter(map(_row, data.itertuples(index=False, name=None)))
    if isinstance(data, Mapping | np.ndarray):
        return Counter(map(_row, data.items() if isinstance(data, Mapping) else enumerate(data)))
    return Counter(map(named, data if isinstance(data, list) else [data]))


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredStability(Facts):
    """The largest distance of outputs over all neighboring inputs of a universe.

    Attributes
    ----------
    transformation : Transformation
    d_in : int or tuple of two
        The largest distance of the inputs of each table.
    measured : int, Fraction, Root or inf
        The exact maximum, in the output metric; ``float(result)`` returns it as a float.
    bound : int, Fraction, Root or inf
        The value of the stability map.
    witness : StabilityWitness
        Inputs that attain the maximum.
    inputs, pairs : int
        The number of inputs that were evaluated, and of pairs of neighbors among them.
    rows : tuple of int
        The number of rows of each universe.

    Examples
    --------
    >>> from sensitivity_lab import pipelines as pl
    >>> clamped = (pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(0, 5) >> pl.sum_(0, 5)
    >>> result = pl.measured_stability(clamped, [1, 8, -3], d_in=1)
    >>> result.measured, result.bound, result.verdict
    (5, 5, 'tight')
    """

    transformation: Transformation
    d_in: Any
    measured: Distance
    bound: Distance
    witness: StabilityWitness
    inputs: int
    pairs: int
    rows: tuple[int, ...]

    @property
    def verdict(self) -> Literal["tight", "loose", "exceeds the map"]:
        """The comparison of the maximum with the map, for this universe.

        "tight": they are equal. "loose": the map is larger, perhaps only because the universe is
        small. "exceeds the map": the map is wrong, and the witness proves it.
        """
        if self.measured == self.bound:
            return "tight"
        return "loose" if self.measured < self.bound else "exceeds the map"

    @property
    def tight(self) -> bool:
        """Whether the measured stability equals the value of the map."""
        return self.measured == self.bound

    def __float__(self) -> float:
        return float(self.measured)

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain Python objects; tables become lists of rows."""
        return {
            "transformation": self.transformation.name,
            "input_metric": self.transformation.input_metric.name,
            "output_metric": self.transformation.output_metric.name,
            "d_in": self.d_in,
            "measured": str(self.measured),
            "map": str(self.bound),
            "verdict": self.verdict,
            "inputs": self.inputs,
            "pairs": self.pairs,
            "x": _plain(self.witness.x),
            "y": _plain(self.witness.y),
            "output_x": _plain(self.witness.output_x),
            "output_y": _plain(self.witness.output_y),
        }

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        rows = " and ".join(map(str, self.rows))
        single = isinstance(self.transformation.input_metric, AbsoluteDistance)
        of = f"{rows} {'numbers' if single else 'rows'}"
        searched = f"{self.inputs:,} inputs, {self.pairs:,} pairs; universe of {of}"
        witness = self.witness
        return [
            ("map", show_distance(self.bound)),
            ("neighbors", neighbors_text(self.transformation.input_metric, self.d_in)),
            ("witness x", f"{_show(witness.x)}  to {_show(witness.output_x)}"),
            ("witness y", f"{_show(witness.y)}  to {_show(witness.output_y)}"),
            ("searched", searched),
        ]

    @property
    def _title(self) -> str:
        measured = show_distance(self.measured)
        return f"Measured stability of {self.transformation.name}: {measured} ({self.verdict})"


def show_distance(distance: Distance) -> str:
    """Return a distance as text, with decimals if it is not a whole number."""
    if isinstance(distance, int) or distance == float("inf"):
        return str(distance)
    if not isinstance(distance, Root) and len(str(distance)) > 24:
        return f"about {float(distance)!r}"
    exact = None if isinstance(distance, Root) else Fraction(distance)
    return f"{distance} (about {rounded_up(upper_of(distance), exact, digits=6)})"


def _show(data: Any) -> str:
    """Return data as text on one line; a table becomes its rows, without column names."""
    if isinstance(data, pd.DataFrame):
        rows = [_row(row) for row in data.itertuples(index=False, name=None)]
        return _listed("[", rows, "rows", "]", _SHOWN)
    if isinstance(data, Mapping):
        return _listed(
            "{", [f"{named(key)}: {_show(value)}" for key, value in data.items()], "keys", "}"
        )
    if isinstance(data, tuple):
        return " and ".join(map(_show, data))
    if hasattr(data, "tolist"):
        data = data.tolist()
    if isinstance(data, list):
        return _listed("[", [named(value) for value in data], "values", "]")
    return named(data)


def _listed(begin: str, shown: list[str], unit: str, end: str, most: int = 3 * _SHOWN) -> str:
    """Return a list of texts as one text; of many, the first ones and their number."""
    more = [f"... {len(shown):,} {unit}"] if len(shown) > most else []
    return f"{begin}{', '.join(shown[:most] + more)}{end}"


def _row(row: tuple[Any, ...]) -> str:
    return named(f"({', '.join(map(str, row))})")


def _plain(data: Any) -> Any:
    """Return data without tables and arrays."""
    if isinstance(data, pd.DataFrame):
        return data.to_dict("records")
    if isinstance(data, Mapping):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, tuple):
        return tuple(map(_plain, data))
    return data.tolist() if hasattr(data, "tolist") else data


_CHUNK = 1024
"""The number of inputs of one piece of work."""

_BLOCK = 1 << 20
"""The number of pairs that are compared at a time."""


@public_call
def measured_stability(
    transformation: Transformation,
    universe: Any,
    d_in: Any = None,
    *,
    sizes: Any = None,
    limit: int = 100_000,
    pair_limit: int = 10_000_000,
    n_jobs: int | None = None,
    progress: bool | None = None,
) -> MeasuredStability:
    """Measure how far apart outputs can be if inputs are at most `d_in` apart.

    This is the exact maximum of the output distance over all pairs of neighboring inputs. An input
    is any sub-multiset of a universe of rows, including the empty one; or, for a transformation of
    a single number, any number of a universe.

    Parameters
    ----------
    transformation : Transformation
        The transformation to measure. It takes tables, lists or a number (see
        `sensitivity_lab.pipelines.number`); its outputs must have a distance.
    universe : DataFrame, list, TableUniverse or Universe, or a tuple of two
        The rows that inputs are drawn from, each as often as it can occur. For a table it is a
        DataFrame, a list of dicts or a `TableUniverse`; for values, a list of values or a
        `Universe`; for a single number, the numbers that it can be. Two tables need a tuple of two.
    d_in : int or protected change, or a tuple of two, optional
        The largest distance of neighbors, at least 1, by default one protected unit, as the start
        of the chain names it (see `Transformation.map`). A number counts what the input metric
        counts: rows added or removed, rows replaced, or ids with all their rows. `AddMaxRows(m)`
        stands for m rows, `AddRowsWithID` for one id. Two tables need a tuple of two, and both
        change at the same time; for tables that share their ids it is one number of ids. For a
        single number it is any number above 0.
    sizes : int or iterable of int, or a tuple of two such, optional
        The numbers of rows that inputs may have; by default all that the domain accepts. Two tables
        need a tuple of two, where None stands for all.
    limit : int, default 100,000
        The largest number of inputs to evaluate. They may have 100 rows on average.
    pair_limit : int, default 10 million
        The largest number of pairs to compare.
    n_jobs : int, optional
        The number of worker processes, as in joblib; by default 1, or that of
        `joblib.parallel_config`. They start only if they save time, see `global_sensitivity`.
    progress : bool, optional
        Whether to show progress bars, first for the inputs and then for the distances of outputs;
        by default on a terminal, after one second.

    Returns
    -------
    MeasuredStability
        The maximum, the value of the map, and a pair of inputs that attains the maximum.

    Raises
    ------
    InputError
        If an argument is invalid, no two inputs are neighbors, or the universe of a join has
        fewer than two keys, so that no search could show how much the join can change.
    TooLargeError
        If there are too many inputs or pairs. The message says how many there are and what to do;
        the error comes before the search.
    QueryError
        If the transformation returns different outputs for the same input.

    Notes
    -----
    Each distinct input is evaluated once, and the two inputs of the witness are evaluated again to
    get the measured value. With all sizes, the number of inputs is the product of (copies + 1) over
    the distinct rows of all tables. Each table is made as a caller would make it: whole numbers are
    in a column of integers, unless another row of the table turns them into floats.

    The cost is a run of the transformation per input, about 0.3 ms for a join of two tables, and a
    few microseconds per pair of different outputs. Two tables of 8 rows make 65,536 inputs and 2.6
    million pairs, which take half a minute.

    The measured stability is a lower bound of the stability over all data: a larger universe may
    show more. If it equals the map, the map is tight. Rows come in one order only, so for floats
    it does not show the rounding of other orders of the same rows.

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
    >>> square = pl.number(0, 10) >> pl.formula(lambda x: x**2)
    >>> measured_stability(square, range(11), d_in=1).witness.y
    10
    """
    example = "; chain steps after a start, such as start(AddMaxRows(1)) >> count()"
    check_kind("transformation", transformation, Transformation, "a Transformation", example)
    check_running(n_jobs, progress)
    limit = check_whole("limit", limit, "a number of inputs, at least 1")
    pair_limit = check_whole("pair_limit", pair_limit, "a number of pairs, at least 1")
    metric = transformation.input_metric
    if d_in is None and transformation.unit is not None:
        d_in = transformation.unit
    distances = _distances(d_in, metric)
    if isinstance(transformation.output_metric, PairDistance):
        raise InputError(
            f"{transformation.name} returns a pair, and a pair has two distances; measure a chain "
            "that returns one of its parts"
        )
    drawn = drawn_from(transformation, universe, sizes, limit)
    _check_pairs(_pairs_ahead(drawn, distances), pair_limit, d_in, transformation)
    relations = [
        one.pairs(distance, pair_limit) for one, distance in zip(drawn, distances, strict=True)
    ]
    inputs = math.prod(len(one.codes) for one in drawn)
    pairs = _unordered(inputs, [len(before) for before, _ in relations])
    _check_pairs(pairs, pair_limit, d_in, transformation)
    forms = _evaluate(transformation, drawn, n_jobs, progress)
    largest, found = _farthest(transformation.output_metric, forms, drawn, relations, progress)
    measured, witness = _measured_witness(transformation, drawn, found, largest)
    given = distances if len(distances) == 2 else distances[0]
    return MeasuredStability(
        transformation=transformation,
        d_in=given,
        measured=measured,
        bound=transformation.stability_map(given),
        witness=witness,
        inputs=inputs,
        pairs=pairs,
        rows=tuple(rows for one in drawn for rows in one.rows),
    )


def _evaluate(
    transformation: Transformation, drawn: list[Drawn], n_jobs: int | None, progress: bool | None
) -> list[Hashable]:
    """Return the form of the output of every input, in order."""
    inputs = math.prod(len(one.codes) for one in drawn)
    width = len(drawn[-1].codes)
    recipes = [(first, min(first + _CHUNK, inputs)) for first in range(0, inputs, _CHUNK)]

    def forms(recipe: tuple[int, int]) -> list[Hashable]:
        # With two tables, the same dataset of the second table is needed many times.
        makers = [lru_cache(maxsize=_CHUNK)(one.dataset) for one in drawn]
        return [
            transformation.output_metric.form(transformation(_input(makers, width, index)))
            for index in range(*recipe)
        ]

    blocks = [
        Block(recipe, recipe[1] - recipe[0], f"the inputs from number {recipe[0]:,} on")
        for recipe in recipes
    ]
    chunks = run(forms, blocks, total=inputs, n_jobs=n_jobs, progress=progress)
    return [form for chunk in chunks for form in chunk]


def _farthest(
    metric: Metric,
    forms: list[Hashable],
    drawn: list[Drawn],
    relations: list[tuple[Indices, Indices]],
    progress: bool | None,
) -> tuple[Distance, tuple[int, int]]:
    """Return the largest distance of outputs, and a pair of inputs with few rows that attains it.

    `forms` are the outputs of all inputs, `relations` the pairs of neighbors of each table. A pair
    of outputs is measured once, no matter how many pairs of inputs have these outputs.
    """
    outputs, output_of = _numbered(forms)
    sizes = drawn[0].dataset_sizes
    if len(drawn) == 2:
        sizes = np.add.outer(sizes, drawn[1].dataset_sizes).ravel()
    largest: Distance = -1
    best: list[int] = []  # the pairs of outputs that attain it
    measured = np.empty(0, dtype=np.int64)
    fewest = Farthest()  # of these, the pair of inputs whose number of rows, negated, is largest
    for before, after in _blocks(drawn, relations):
        first, second = output_of[before], output_of[after]
        keys = np.minimum(first, second) * len(outputs) + np.maximum(first, second)
        fresh = np.setdiff1d(keys, measured)
        for key in tracked(fresh.tolist(), unit="distances", progress=progress):
            one, two = divmod(key, len(outputs))
            distance = metric.between(outputs[one], outputs[two])
            if distance > largest:
                # No block before this one has a pair of outputs that is so far apart.
                largest, best, fewest = distance, [key], Farthest()
            elif distance == largest:
                best.append(key)
        measured = np.union1d(measured, fresh)
        attains = np.flatnonzero(np.isin(keys, best))
        if attains.size:
            x, y = before[attains], after[attains]
            fewest.see(-(sizes[x] + sizes[y]), x, y)
    return largest, (fewest.x, fewest.y)


def _blocks(
    drawn: list[Drawn], relations: list[tuple[Indices, Indices]]
) -> Iterator[tuple[Indices, Indices]]:
    """Yield blocks of pairs of neighboring inputs, where each pair occurs once."""
    before, after = relations[0]
    others = (np.zeros(1, dtype=np.int64),) * 2 if len(drawn) == 1 else relations[1]
    width = 1 if len(drawn) == 1 else len(drawn[1].codes)
    step = max(1, _BLOCK // max(len(others[0]), 1))
    for first in range(0, len(before), step):
        part = slice(first, first + step)
        x = (before[part, None] * width + others[0]).ravel()
        y = (after[part, None] * width + others[1]).ravel()
        yield x[x < y], y[x < y]


def _measured_witness(
    transformation: Transformation, drawn: list[Drawn], pair: tuple[int, int], distance: Any
) -> tuple[Any, StabilityWitness]:
    """Return the distance of the outputs of two inputs, given by number, and the witness.

    Raises QueryError if the distance is not the same as before.
    """
    makers = [one.dataset for one in drawn]
    x, y = (_input(makers, len(drawn[-1].codes), index) for index in pair)
    output_x, output_y = transformation(x), transformation(y)
    measured = transformation.output_metric.distance(output_x, output_y)
    if measured != distance:
        raise QueryError(
            f"{transformation.name} gave another output when the same input came again; a "
            "transformation must be a function of its input alone"
        )
    return measured, StabilityWitness(x, y, output_x, output_y)


def _numbered(forms: list[Hashable]) -> tuple[list[Hashable], Indices]:
    """Return the distinct forms, and for each form its number among them."""
    numbers: dict[Hashable, int] = {}
    output_of = np.array([numbers.setdefault(form, len(numbers)) for form in forms], dtype=np.int64)
    return list(numbers), output_of


def _input(makers: Sequence[Callable[[int], Any]], width: int, index: int) -> Any:
    """Return an input by its number: a dataset, or a tuple of two.

    `makers` return a dataset of each table by its number; `width` is the number of datasets of the
    last table.
    """
    if len(makers) == 1:
        return makers[0](index)
    first, second = divmod(index, width)
    return makers[0](first), makers[1](second)


def _unordered(inputs: int, ordered: list[int]) -> int:
    """Return the number of pairs; relations hold each both ways round, and inputs with themselves.

    `ordered` has the number of pairs of datasets of each table.
    """
    return (math.prod(ordered) - inputs) // 2


def _pairs_ahead(drawn: list[Drawn], distances: tuple[int, ...]) -> int | None:
    """Return the number of pairs before they are listed; None where only listing them tells."""
    found = [one.pair_count(d) for one, d in zip(drawn, distances, strict=True)]
    ordered = [count for count in found if count is not None]
    if len(ordered) < len(found):
        return None
    return _unordered(math.prod(one.counts()[0] for one in drawn), ordered)


def _check_pairs(pairs: int | None, limit: int, d_in: Any, transformation: Transformation) -> None:
    """Raise TooLargeError if there are more pairs than the limit, InputError if there are none."""
    if pairs is None:
        return
    if pairs > limit:
        raise TooLargeError(
            f"there are {pairs:,} pairs of neighboring inputs, the limit is {limit:,}; take "
            "fewer rows, fewer copies of a row, a smaller d_in, or raise pair_limit"
        )
    if pairs < 1:
        raise InputError(
            f"no two different inputs are at most {shown(d_in)} apart "
            f"({transformation.input_metric}); take more rows, other sizes, or a larger d_in"
        )


def _distances(d_in: Any, metric: Metric) -> tuple[int, ...]:
    """Return the input distance of each table, or raise InputError."""
    distances = distance_of(d_in, metric)
    return distances if isinstance(metric, PairDistance) else (distances,)
