"""The sensitivities over one argument: the size of a dataset, a clipping bound, a distance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import pandas as pd

from sensitivity_lab.checks import named

from .literals import shortened
from .reprs import Tabled, in_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@runtime_checkable
class Result(Protocol):
    """A `Sensitivity`, or a result with the same facts."""

    def to_dict(self) -> dict[str, Any]:
        """Return the facts; query, neighbors, meaning, distance, size, kind, norm, sensitivity."""


@dataclass(frozen=True, repr=False)
class Sweep(Tabled):
    """Sensitivities over the values of one argument.

    Attributes
    ----------
    argument : str
        The name of the argument.
    points : tuple of (value, str, Result)
        The argument's value, the column ("records" if there is none) and the result: a
        `Sensitivity` or a `SmoothSensitivity`.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 2, 3, 10])
    >>> sl.sweep(
    ...     lambda bound: sl.global_sensitivity(
    ...         universe.clipped(0, bound), "sum", size=3, neighbors=sl.Bounded(1)
    ...     ),
    ...     "bound",
    ...     [2, 5, 10],
    ... )
    Global sensitivity by bound
    column               records
    neighbors bounded, at most 1
    query                    sum
    2                          1
    5                          4
    10                         9
    """

    argument: str
    points: tuple[tuple[Any, str, Result], ...]

    def __iter__(self) -> Iterator[tuple[Any, str, Result]]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def results(self) -> tuple[Result, ...]:
        """The result of every point."""
        return tuple(result for _, _, result in self.points)

    def to_frame(self, *, witness: Literal["short", "full"] = "short") -> pd.DataFrame:
        """Return a tidy DataFrame, one row per point.

        Parameters
        ----------
        witness : {"short", "full"}, default "short"
            As for `SensitivityCurves.to_frame`.

        Returns
        -------
        pandas.DataFrame
            Columns: argument (its name), argument_value, column, and the facts of
            `Sensitivity.to_dict`: query, neighbors, meaning ("at most" or "exactly"), distance,
            size, kind, norm, sensitivity (in its unit), exact (as a fraction, or an empty string),
            upper (the smallest float that is not below it, to scale noise by), status, method,
            arithmetic, datasets_evaluated, x, y, query_x, query_y (the witness).
        """
        rows = [
            {
                "argument": self.argument,
                "argument_value": value,
                "column": column,
                **result.to_dict(),
            }
            for value, column, result in self.points
        ]
        table = pd.DataFrame({**row, "exact": row.get("exact") or ""} for row in rows)
        return shortened(table, ("x", "y", "query_x", "query_y"), witness)

    def plot(self, **options: Any) -> Figure:
        """Draw the sensitivities against the argument; see `sensitivity_lab.plotting.plot_sweep`.

        Parameters
        ----------
        **options
            `xlabel`, `logx`, `logy`, `ax`, `units`, `title`, `figsize`, `legend`, `queries`,
            `columns`, `sharey`, `subplots` of `plot_sweep`.

        Returns
        -------
        matplotlib.figure.Figure, or the Axes given as `ax`
            Save it with ``.savefig(path)``. A new figure is pyplot's, as those of pandas are: a
            notebook shows it, and elsewhere ``plt.show()``.
        """
        from sensitivity_lab.plotting import plot_sweep

        # The labels tell the norm, where there are several.
        frame = self.to_frame().drop(columns="norm")
        named = frame.assign(relation=self._relations(), query=self._labels("norm"))
        figure: Figure = plot_sweep(named, **options)
        return figure

    @cached_property
    def _facts(self) -> list[dict[str, Any]]:
        """The facts that every result has."""
        return [result.to_dict() for result in self.results]

    def _relations(self) -> list[str]:
        """Return every point's relation, with its distance unless that is what varies."""
        facts = self._facts
        columns = [column for _, column, _ in self.points]
        lines = [line_of(column, fact) for column, fact in zip(columns, facts, strict=True)]
        values = [id(value) for value, _, _ in self.points]
        distances: dict[Any, set[int]] = {}
        for line, fact in zip(lines, facts, strict=True):
            distances.setdefault(line, set()).add(fact["distance"])
        alone = len(set(zip(values, lines, strict=True))) == len(self.points)
        varies = alone and max(map(len, distances.values())) > 1
        return [
            f"{fact['neighbors']}, {fact['meaning']} {'k' if varies else fact['distance']}"
            for fact in facts
        ]

    def _labels(self, *names: str) -> list[str]:
        """Return the name of every point's query, with those of some facts that differ."""
        several = [name for name in names if len({fact[name] for fact in self._facts}) > 1]
        queries = [fact["query"] for fact in self._facts]
        alone = len({id(value) for value, _, _ in self.points}) == len(queries)
        if self.argument != "query" and alone and 1 < len(queries) == len(set(queries)):
            # The argument changes the query, as a clipping bound does: all are one line.
            words = zip(*map(str.split, queries), strict=False)
            alike = [at[0] for at in takewhile(lambda at: len(set(at)) == 1, words)]
            queries = [" ".join([*alike, "..."])] * len(queries)
        return [
            query + (f" ({', '.join(fact[name] for name in several)})" if several else "")
            for query, fact in zip(queries, self._facts, strict=True)
        ]

    @property
    def _title(self) -> str:
        kinds = dict.fromkeys(fact["kind"] for fact in self._facts)
        return f"{' and '.join(kinds)} sensitivity".capitalize() + f" by {self.argument}"

    def _table(self) -> pd.DataFrame:
        """Return the sensitivities with a row per value and a column per line of the plot."""
        levels = {
            "column": [column for _, column, _ in self.points],
            "neighbors": self._relations(),
            "query": self._labels("kind", "norm"),
        }
        rows = {id(value): named(value) for value, _, _ in self.points}
        table: dict[Any, dict[int, float]] = {}
        lines = zip(*levels.values(), strict=True)
        for (value, _, _), line, fact in zip(self.points, lines, self._facts, strict=True):
            table.setdefault(line, {})[id(value)] = _shown_value(fact)
        frame = pd.DataFrame(table, index=list(rows)).rename_axis(columns=list(levels))
        return frame.set_axis(list(rows.values()), axis=0)


def _shown_value(fact: Mapping[str, Any]) -> float:
    """Return what the table shows of a result."""
    exact = fact.get("exact")
    return in_table(fact["sensitivity"], fact.get("upper"), Fraction(exact) if exact else None)


def line_of(column: str, fact: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the points of one line share, except the distance."""
    return (column, *(fact[name] for name in ("query", "neighbors", "meaning", "kind", "norm")))
