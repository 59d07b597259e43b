"""The result of measuring a stability: the maximum, and the inputs that prove it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pandas as pd

from sensitivity_lab.checks import listed, named, rounded_up
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.roots import Distance, Root, upper_of
from sensitivity_lab.metrics import (
    AbsoluteDistance,
)
from sensitivity_lab.pipelines.changes import neighbors_text
from sensitivity_lab.pipelines.transformation import Transformation
from sensitivity_lab.results.reprs import Facts

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
