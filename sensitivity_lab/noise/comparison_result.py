"""The errors of several mechanisms on one dataset, as a table and as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from sensitivity_lab.checks import check_text, rounded_up
from sensitivity_lab.errors import printable
from sensitivity_lab.queries import Query
from sensitivity_lab.results.reach import Bound
from sensitivity_lab.results.reprs import Tabled
from sensitivity_lab.universes.relations import Relation

from .mechanism import check_chance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHOOSING = (
    "choosing a mechanism, a bound, a range or a width by private data is itself a release that no "
    "epsilon covers: compare on a public stand-in"
)


class Errors(Protocol):
    """The law of the distance between a release and the exact answer."""

    @property
    def expected_error(self) -> float:
        """The expected distance."""

    def error_quantile(self, q: Any) -> float:
        """Return the least distance that is not exceeded with probability q."""


@dataclass(frozen=True)
class MechanismError:
    """The error of one mechanism on one dataset. It reveals facts about the data.

    Attributes
    ----------
    mechanism : str
    epsilon : float
        The privacy loss of a release.
    guarantee : {"epsilon-DP", "(epsilon, delta)-DP"}
        What the mechanism promises; the former is the stronger one.
    public : str
        The arguments that must be public, besides the universe, the relation and the range.
    errors : Errors or None
        The law of the error; None if the mechanism is left out.
    chance_of_answer : float
        The probability that there is an answer at all; NaN if the mechanism is left out.
    reason : str
        Why the mechanism is left out; "" if it is not.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(11))
    >>> found = sl.noise.compare(
    ...     scores, "mean", dataset=[4, 5, 6], epsilon=1, range=(0, 10), step=1, neighbors="bounded"
    ... )
    >>> row = found.rows[0]
    >>> row.mechanism, round(row.median_error, 2), round(row.error_quantile(0.9), 2)
    ('global Laplace', 2.31, 5.0)
    """

    mechanism: str
    epsilon: float
    guarantee: str
    public: str
    errors: Errors | None
    chance_of_answer: float
    reason: str

    @property
    def expected_error(self) -> float:
        """The expected distance from the exact answer, in its unit; NaN if left out."""
        return float("nan") if self.errors is None else self.errors.expected_error

    @property
    def median_error(self) -> float:
        """The distance that half of all answers do not exceed; NaN if left out."""
        return self.error_quantile(0.5)

    def error_quantile(self, q: float) -> float:
        """Return the distance that answers do not exceed with probability q; NaN if left out.

        Parameters
        ----------
        q : float
            Above 0, at most 1.
        """
        chance = check_chance("q", q)
        return float("nan") if self.errors is None else self.errors.error_quantile(float(chance))


@dataclass(frozen=True, repr=False)
class ErrorComparison(Tabled):
    """The errors of several mechanisms on one dataset, for one guarantee and one range of outputs.

    Choosing a mechanism, a bound, a range or a width by private data is itself a release that no
    epsilon covers: compare on a public stand-in.

    Attributes
    ----------
    rows : tuple of MechanismError
        By epsilon, then by mechanism.
    query : Query
    answer : Fraction or Root
        The exact answer, which errors are measured from.
    neighbors : Relation
        At a distance of at most k, the most rows of one person.
    size : int
        The number of records of the dataset.
    range : tuple of two floats
        All releases are clipped to it.
    delta : float
        The chance of a larger privacy loss; 0 if none was given.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> scores = sl.Universe.from_domain(range(11))
    >>> found = sl.noise.compare(
    ...     scores, "mean", dataset=[4, 5, 6], epsilon=1, range=(0, 10), step=1, neighbors="bounded"
    ... )
    >>> found.to_frame()["mechanism"].tolist()[-2:]
    ['inverse sensitivity', 'propose-test-release']
    """

    rows: tuple[MechanismError, ...]
    query: Query
    answer: Bound
    neighbors: Relation
    size: int
    range: tuple[float, float]
    delta: float

    def __iter__(self) -> Iterator[MechanismError]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_frame(self) -> pd.DataFrame:
        """Return a row per epsilon and mechanism.

        Returns
        -------
        pandas.DataFrame
            Columns: epsilon, mechanism, guarantee, public, expected_error, median_error, error_90
            (nine of ten answers are nearer), chance_of_answer, reason. Errors are in the unit of
            the answer; those of a mechanism that is left out are NaN.
        """
        return pd.DataFrame(
            {
                "epsilon": row.epsilon,
                "mechanism": row.mechanism,
                "guarantee": row.guarantee,
                "public": row.public,
                "expected_error": row.expected_error,
                "median_error": row.median_error,
                "error_90": row.error_quantile(0.9),
                "chance_of_answer": row.chance_of_answer,
                "reason": row.reason,
            }
            for row in self.rows
        )

    def plot(self, unit: str = "", **options: Any) -> Figure:
        """Draw the expected error against epsilon, a line per mechanism.

        Parameters
        ----------
        unit : str, optional
            The unit of the answer, such as "days".
        **options
            `error`, which one to draw: "expected_error" (the default), "median_error" or
            "error_90"; `title`; `ax`, where to draw, by default on a new figure; `figsize`, in
            inches.

        Returns
        -------
        matplotlib.figure.Figure, or the Axes given as `ax`
            As for `SensitivityCurves.plot`.
        """
        from sensitivity_lab.plotting.release_errors import plot_release_errors

        check_text("unit", unit, "a text")
        given = {"title": f"{self._about}, {self._setting}", "unit": unit, **options}
        figure: Figure = plot_release_errors(self.to_frame(), **given)
        return figure

    def __repr__(self) -> str:
        return "\n".join(
            [super().__repr__(), *(f"  {name:<9}  {printable(text)}" for name, text in self._notes)]
        )

    def _repr_html_(self) -> str:
        notes = "<br>".join(f"{name}: {escape(printable(text))}" for name, text in self._notes)
        return f"{super()._repr_html_()}<p>{notes}</p>"

    def _table(self) -> pd.DataFrame:
        frame = self.to_frame()
        frame = frame[frame["reason"] == ""]
        several = frame["epsilon"].nunique() > 1
        shown = ["expected_error", "median_error", "error_90"]
        shown += ["chance_of_answer"] * bool((frame["chance_of_answer"] < 1).any())
        table = frame[shown].copy()
        for name in shown[:3]:
            table[name] = [float(rounded_up(number, digits=4)) for number in table[name]]
        names = [frame["epsilon"], frame["mechanism"]] if several else [frame["mechanism"]]
        table.index = (
            pd.MultiIndex.from_arrays(names) if several else pd.Index(list(frame["mechanism"]))
        )
        return table

    @property
    def _about(self) -> str:
        return f"Errors of {self.query.name}"

    @property
    def _setting(self) -> str:
        delta = f", delta {self.delta:.6g}" if self.delta else ""
        return f"{self.neighbors}{delta}"

    @property
    def _title(self) -> str:
        losses = sorted({row.epsilon for row in self.rows})
        told = ", ".join(f"{loss:.10g}" for loss in losses[:6]) + ", ..." * (len(losses) > 6)
        delta = f", delta {self.delta:.6g}" if self.delta else ""
        low, high = (f"{end:.10g}" for end in self.range)
        return (
            f"{self._about} = {float(self.answer):.10g} on {self.size:,} records, epsilon {told}"
            f"{delta}, clipped to {low} to {high}"
        )

    @property
    def _notes(self) -> list[tuple[str, str]]:
        """What the reprs say below the table."""
        public = {row.mechanism: row.public for row in self.rows if row.public and not row.reason}
        needed = [f"{what} ({name})" for name, what in public.items()]
        left_out: dict[str, list[str]] = {}
        for row in self.rows:
            if row.reason and row.mechanism not in left_out.get(row.reason, []):
                left_out.setdefault(row.reason, []).append(row.mechanism)
        return [
            ("neighbors", str(self.neighbors)),
            ("public", "; ".join(["universe, relation, range", *needed])),
            *(("left out", f"{', '.join(names)}: {why}") for why, names in left_out.items()),
            ("note", CHOOSING),
        ]
