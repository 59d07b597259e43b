"""The noise of several answers: a row for each, and their total privacy loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Any, Literal

import pandas as pd

from sensitivity_lab.checks import rounded_up
from sensitivity_lab.exact.difference import round_up
from sensitivity_lab.results.reprs import Tabled


@dataclass(frozen=True)
class NoiseRow:
    """The noise of one answer. All numbers are rounded up.

    Attributes
    ----------
    name : str
        The name of the result.
    sensitivity : float
        In the answer's unit: L1 for Laplace noise, L2 for Gaussian noise.
    epsilon, delta : float
        The answer's share of the privacy loss; delta is 0 for Laplace noise.
    noise : {"Laplace", "Gaussian"}
    scale : float
        In the answer's unit: b of Laplace noise, the standard deviation of Gaussian noise.
    expected_error : float
        The expected absolute value of the noise on each number of the answer, in its unit.
    neighbors : str
        What the sensitivity is for: the relation with its distance, or the protected unit of a
        chain; "given" for a number, of which nothing is known.
    k : int or None
        The distance; None for a number.
    size : str or None
        The sizes of the datasets, and whether their number of records must be public.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> row = sl.noise.noise_table({"sum": 10, "count": 1}, epsilon=1).rows[0]
    >>> row.name, row.epsilon, row.scale
    ('sum', 0.5, 20.0)
    """

    name: str
    sensitivity: float
    epsilon: float
    delta: float
    noise: Literal["Laplace", "Gaussian"]
    scale: float
    expected_error: float
    neighbors: str = "given"
    k: int | None = None
    size: str | None = None


@dataclass(frozen=True, repr=False)
class NoiseTable(Tabled):
    """The noise of several answers released together.

    Attributes
    ----------
    rows : tuple of NoiseRow
        In the order of the results.
    epsilon, delta : float
        The privacy loss of all releases together; delta is 0 for Laplace noise.
    neighbors : str or None
        The relation of all rows, with its distance; None unless they share it.
    k : int or None
        The distance of all rows.
    size : str or None
        The sizes of all rows.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> sl.noise.noise_table({"sum": 10, "count": 1}, epsilon=1)
    Laplace noise of 2 answers, epsilon 1 in all
           sensitivity  epsilon  scale  expected_error
    sum             10      0.5     20              20
    count            1      0.5      2               2
      given      the sensitivities are your own: in L1, for your neighbors; nothing is checked
    """

    rows: tuple[NoiseRow, ...]
    epsilon: float
    delta: float

    @property
    def neighbors(self) -> str | None:
        """The relation of all rows, with its distance; None unless they share it."""
        shared = self._shared("neighbors")
        return None if shared == "given" else shared

    @property
    def k(self) -> int | None:
        """The distance of all rows; None unless they share it."""
        number: int | None = self._shared("k")
        return number

    @property
    def size(self) -> str | None:
        """The sizes of all rows; None unless they share them."""
        sizes: str | None = self._shared("size")
        return sizes

    def _shared(self, field: str) -> Any:
        """Return what all rows have in common; None if they differ."""
        found = {getattr(row, field) for row in self.rows}
        return found.pop() if len(found) == 1 else None

    def __iter__(self) -> Iterator[NoiseRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return super().__repr__() + "".join(f"\n  {word:9}  {text}" for word, text in self._basis)

    def _repr_html_(self) -> str:
        lines = "".join(f"<p>{word}: {escape(text)}</p>" for word, text in self._basis)
        return super()._repr_html_() + lines

    @property
    def _basis(self) -> list[tuple[str, str]]:
        """What the rows are for, below the table: one line if they share it."""
        lines = []
        if self.neighbors:
            lines.append(("neighbors", "; ".join(filter(None, [self.neighbors, self.size]))))
        given = [row.name for row in self.rows if row.neighbors == "given"]
        if given:
            norm = "L1" if self.rows[0].noise == "Laplace" else "L2"
            of = "" if len(given) == len(self.rows) else f" of {', '.join(given)}"
            lines.append(
                (
                    "given",
                    f"the sensitivities{of} are your own: in {norm}, for your neighbors; nothing "
                    "is checked",
                )
            )
        return lines

    def to_frame(self) -> pd.DataFrame:
        """Return a row per answer.

        Returns
        -------
        pandas.DataFrame
            name, sensitivity, epsilon, delta, noise, scale, expected_error, neighbors, k, size,
            as in `NoiseRow`.
        """
        return pd.DataFrame([vars(row) for row in self.rows])

    def _table(self) -> pd.DataFrame:
        frame = self.to_frame()
        shown = ["sensitivity", "epsilon", *(["delta"] if self.delta else [])]
        table = frame[[*shown, "scale", "expected_error"]].copy()
        for name in table.columns:
            told = _share if name in ("epsilon", "delta") else rounded_up
            table[name] = [float(told(number, digits=6)) for number in table[name]]
        if not self.neighbors and set(frame["neighbors"]) != {"given"}:
            basis = frame[["neighbors", "size"]].apply(
                lambda row: row.dropna().str.cat(sep="; "), axis=1
            )
            table["neighbors"] = basis
        table.index = pd.Index(list(frame["name"]))
        return table

    @property
    def _title(self) -> str:
        number = len(self.rows)
        of_delta = f", delta {_share(self.delta)}" if self.delta else ""
        return (
            f"{self.rows[0].noise} noise of {number} answer{'s' * (number != 1)}, epsilon "
            f"{_share(self.epsilon)}{of_delta} in all"
        )


def _share(number: float, digits: int = 10) -> str:
    """Return a share of the privacy loss, which is a rational rounded up, as text.

    No float is 1e-6, and the next float above it would read 1.000000001e-06: more than was asked
    for. So a decimal that the float stands for is told as it is.
    """
    # The float is a share rounded up: if the short decimal, rounded up, is this float, it may be
    # told.
    written = f"{number:.{digits}g}"
    return written if round_up(Fraction(written)) == number else rounded_up(number, digits=digits)
