"""What a plan gives: published numbers, exact ones, drafts, and how far off they would be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import check_path, names_of, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.results.reprs import Facts, Tabled, write_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES = {
    "published": "Published, with noise",
    "exact": "Exact and private, of the rows that count: never publish these numbers",
    "rehearsal": "A rehearsal with made-up rows: never publish these numbers",
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Released(Tabled):
    """The numbers of a plan: published, exact, or rehearsed.

    Attributes
    ----------
    kind : {"published", "exact", "rehearsal"}
        Only published numbers are differentially private.
    statistics : DataFrame
        A row per group, a column per statistic; NaN if its interval is as wide as its bounds.
        Numbers of rows are whole, and with noise they can be negative.
    histograms : dict of str to DataFrame
        By name, a row per group and a column per bin. Statistics are computed from the nearest
        histogram without negative numbers.
    measured : dict of str to DataFrame
        The numbers that got noise, by the names in the printed plan: a row per group. Sums and
        squares are about the middle of the bounds, as docs/proofs.md, "Releases", says.
    plan : Plan
        What was measured; its `statement` says how private it is.
    date : str
        The date of the publication, if a ledger gave it back and the table was not read.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> made = sl.releases.plan(
    ...     sl.releases.Person("id", max_rows=1),
    ...     epsilon=1,
    ...     bounds={"days": range(31)},
    ...     agg={"n": "count", "mean": ("days", "mean"), "std": ("days", "std")},
    ... )
    >>> stays = pd.DataFrame({"id": [1, 1, 2, 3], "days": [4, 4, 8, None]})
    >>> made.without_noise(stays)
    Exact and private, of the rows that count: never publish these numbers
              n  mean      std
    all rows  2     6  2.82843
    """

    kind: str
    statistics: pd.DataFrame
    histograms: Mapping[str, pd.DataFrame]
    measured: Mapping[str, pd.DataFrame]
    plan: Any
    date: str = ""

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the statistics.

        Returns
        -------
        pandas.DataFrame
        """
        return self.statistics.copy()

    def save(self, folder: Any) -> list[Path]:
        """Write what was published into a new folder: tables, the plan, the privacy statement.

        Parameters
        ----------
        folder : str or path
            A new or an empty folder: nothing is overwritten.

        Returns
        -------
        list of Path
            ``statistics.csv``, ``NAME.csv`` for each histogram, ``plan.json``, ``privacy.txt``.

        Raises
        ------
        InputError
            If these numbers were not published, or the folder exists or cannot be made.
        """
        if self.kind != "published":
            raise InputError(
                "only what was published can be saved as a release; for other tables use "
                "to_frame().to_csv(...)"
            )
        where = check_path("folder", folder)
        make_folder(where, empty=True)
        return write_release(self, where)

    @property
    def _title(self) -> str:
        if self.date:
            return f"Published on {self.date}, with noise; your table was not read"
        return _TITLES[self.kind]

    def _table(self) -> pd.DataFrame:
        return self.statistics if self.statistics.shape[1] else next(iter(self.histograms.values()))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Errors(Tabled):
    """How far off the numbers of a plan are on made-up rows, on average.

    Attributes
    ----------
    exact : DataFrame
        What pandas computes of all rows that can be read, by group and statistic.
    error : DataFrame
        The mean absolute error of those that the noise does not hide.
    hidden : DataFrame
        The share of rehearsals in which the noise hides the number, or there is none.
    parts : dict of str to DataFrame
        By how much each step moves the numbers: "dropped", the rows beyond a limit; of a table
        "bounds", what counts as the nearest value; "bins", what a histogram or a sum of whole steps
        makes of it; "noise", on average. They can cancel.
    least : DataFrame
        The smallest number of all rehearsals: bars of a picture end there.
    histograms : tuple of str
        Histograms that are published, too; they have no error here.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> made = sl.releases.plan(sl.releases.Person(max_rows=1), epsilon=1, agg={"n": "count"})
    >>> made.errors(pd.DataFrame(index=range(100)))
    Mean absolute errors on made-up rows; on real ones all of this is private
              n  n error
    all rows  100  ...
    """

    exact: pd.DataFrame
    error: pd.DataFrame
    hidden: pd.DataFrame
    parts: Mapping[str, pd.DataFrame]
    least: pd.DataFrame
    histograms: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers and their errors side by side.

        Returns
        -------
        pandas.DataFrame
            For each statistic its exact number and ``NAME error``.
        """
        columns = {}
        for name in self.exact.columns:
            columns[name] = self.exact[name]
            columns[f"{name} error"] = self.error[name]
        return pd.DataFrame(columns)

    def plot(self, **options: Any) -> Figure:
        """Draw each number with its expected error, a panel per statistic.

        Parameters
        ----------
        **options
            `title`; `figsize`, in inches.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from sensitivity_lab.plotting.noise_errors import plot_errors

        figure: Figure = plot_errors(
            self.exact, self.error, self.least, left_out=self.histograms, **options
        )
        return figure

    @property
    def _title(self) -> str:
        return "Mean absolute errors on made-up rows; on real ones all of this is private"

    def _table(self) -> pd.DataFrame:
        return self.to_frame()


def errors_of(
    stages: list[pd.DataFrame], drafts: list[pd.DataFrame], histograms: Iterable[str]
) -> Errors:
    """Return the errors of drafts.

    Parameters
    ----------
    stages : list of DataFrame
        The numbers of all rows, of those that count, of a table with their bounds, and what follows
        from what is measured without noise: all of the same groups and statistics.
    drafts : list of DataFrame
        What follows with noise.
    histograms : iterable of str
        Names of those that are published.
    """
    exact = stages[0]
    # Axes: the rehearsal, the group, the statistic.
    noisy = np.array([one.to_numpy(dtype=float, na_value=np.nan) for one in drafts])
    numbers = [one.to_numpy(dtype=float, na_value=np.nan) for one in stages]
    names = ["dropped", *(["bounds"] if len(stages) == 4 else []), "bins"]
    # What a step moves is the difference of the stages before and after it, on the same groups.
    moved = {
        name: np.abs(after - before)
        for name, before, after in zip(names, numbers, numbers[1:], strict=False)
    }
    moved["noise"] = _mean_of_known(np.abs(noisy - numbers[-1]))
    off = np.abs(noisy - numbers[0])

    def table(cells: Any) -> pd.DataFrame:
        return pd.DataFrame(cells, exact.index, exact.columns)

    return Errors(
        exact=exact,
        error=table(_mean_of_known(off)),
        hidden=table(1 - (~np.isnan(off)).mean(axis=0)),
        parts={name: table(cells) for name, cells in moved.items()},
        least=table(np.fmin.reduce(noisy, axis=0)),
        histograms=tuple(histograms),
    )


def _mean_of_known(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over the first axis of what is not NaN; NaN if nothing is."""
    known = ~np.isnan(cells)
    with np.errstate(invalid="ignore"):
        # 0 / 0 is NaN, which is what a number has that is hidden in every rehearsal.
        found: NDArray[np.float64] = np.where(known, cells, 0).sum(axis=0) / known.sum(axis=0)
    return found


@dataclass(frozen=True, repr=False, eq=False)
class Checked(Facts):
    """Which rows of a table count for a plan, and why others do not. It is for the owner alone.

    Attributes
    ----------
    tally : Tally
        How many rows are read, used, missing a cell, unreadable, of other groups, over the limit.
    groups : Series
        The rows that count in each group.
    person : Person
        As in the plan.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> made = sl.releases.plan(sl.releases.Person("id", max_rows=1), epsilon=1, agg={"n": "count"})
    >>> made.check(pd.DataFrame({"id": [1, 1, 2, None], "age": [30, 31, 50, 51]}))
    2 of 4 rows count (private: for the owner of the table)
      missing    1 row has an empty cell
      limit      1 row is beyond the limit of its person
    """

    tally: Any
    groups: pd.Series[Any]
    person: Any

    @property
    def _title(self) -> str:
        used, number = self.tally.used, self.tally.number
        return f"{used:,} of {number:,} rows count (private: for the owner of the table)"

    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order."""
        tally = self.tally
        found = [
            ("unreadable", f"{_rows(number)} of {shown(column)} cannot be read")
            for column, number in tally.unreadable.items()
        ]
        if tally.ambiguous:
            text = (
                f"numbers of {shown(tally.ambiguous)} such as 1.000 can be a thousand or one; make "
                "the plan with decimal='.' or decimal=','"
            )
            found.append(("decimals", text))
        for name, number, one, several in (
            ("missing", tally.missing, "has an empty cell", "have an empty cell"),
            ("outside", tally.outside, "is in none of the groups", "are in none of the groups"),
            (
                *("limit", tally.over),
                *("is beyond the limit of its person", "are beyond the limit of their person"),
            ),
        ):
            if number:
                found.append((name, f"{_rows(number)} {one if number == 1 else several}"))
        empty = [str(one) for one, number in self.groups.items() if not number]
        if empty and len(self.groups) > 1:
            found.append(("no rows", f"in {names_of(empty, str)}"))
        for column, (different, rows) in tally.repeats.items():
            if 1 < different < rows and rows / different <= _MOST_EACH and different > _FEW:
                text = f"column {shown(column)}: {different:,} values in {_rows(rows)}"
                found.append(("repeats", f"{text}: are these the people?"))
        return found


_MOST_EACH, _FEW = 1000, 20
"""A column whose values repeat, up to so often each, and that has more values than a few, can name
people."""


def _rows(number: int) -> str:
    return f"{number:,} row{'s' * (number != 1)}"


def file_name(name: str) -> str:
    """Return the name of a histogram's file."""
    return "".join(one if one.isalnum() or one in "-_ " else "_" for one in name)


def make_folder(where: Path, *, empty: bool = False) -> None:
    """Make a folder, or with `empty` take an empty one; InputError if there is another."""
    new = f"name a new {'or an empty ' * empty}one, since nothing is overwritten"
    try:
        where.mkdir(exist_ok=empty)
        taken = any(where.iterdir())
    except OSError as error:
        raise InputError(
            f"cannot make the folder {shown(str(where))}: {error.strerror or error}; {new}"
        ) from error
    if taken:
        raise InputError(f"the folder {shown(str(where))} is not empty; {new}")


def write_release(released: Released, where: Path) -> list[Path]:
    """Write tables, the plan and the privacy statement into a folder."""
    texts = {"plan.json": released.plan.to_json(), "privacy.txt": f"{released.plan.statement}\n"}
    tables = {"statistics": released.statistics} if released.statistics.shape[1] else {}
    written = []
    for name, table in {**tables, **released.histograms}.items():
        written.append(where / f"{file_name(name)}.csv")
        keyed = not isinstance(table.index, pd.RangeIndex)
        named = (
            table.rename_axis(
                ["group" if one is None else str(one) for one in table.index.names]
            ).reset_index(allow_duplicates=True)
            if keyed
            else table
        )
        write_csv(named, written[-1])
    for name, text in texts.items():
        written.append(where / name)
        written[-1].write_text(text, encoding="utf-8")
    return written
