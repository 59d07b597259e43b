"""What a plan gives: published numbers, exact ones, drafts, and how far off they would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sensitivity_lab.checks import check_path, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.results.reprs import Tabled, write_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES = {
    "published": "Published, with noise",
    "exact": "Exact and private: never publish these numbers",
    "rehearsal": "A rehearsal with made-up rows: never publish these numbers",
}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Released(Tabled):
    """The numbers of a plan: published, exact, or rehearsed.

    Attributes
    ----------
    kind : {"published", "exact", "rehearsal"}
        Only what is published is private.
    statistics : DataFrame
        A row per group, a column per statistic; NaN where the noise hides it. Numbers of rows are
        whole, and with noise they can be negative.
    histograms : dict of str to DataFrame
        By name, a row per group and a column per bin. What follows from one is computed from the
        nearest histogram without negative numbers.
    measured : dict of str to DataFrame
        The numbers that got noise, by the names in the printed plan: a row per group. Sums and
        squares are about the middle of the bounds, as docs/proofs.md, "Releases", says.
    plan : Plan
        What was measured; its `statement` says how private it is.

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
    Exact and private: never publish these numbers
              n  mean      std
    all rows  2     6  2.82843
    """

    kind: str
    statistics: pd.DataFrame
    histograms: Mapping[str, pd.DataFrame]
    measured: Mapping[str, pd.DataFrame]
    plan: Any

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
        where = new_folder(folder)
        texts = {"plan.json": self.plan.to_json(), "privacy.txt": f"{self.plan.statement}\n"}
        tables = {"statistics": self.statistics} if self.statistics.shape[1] else {}
        written = []
        for name, table in {**tables, **self.histograms}.items():
            written.append(where / f"{file_name(name)}.csv")
            keyed = not isinstance(table.index, pd.RangeIndex)
            named = table.rename_axis(_index_names(table)).reset_index() if keyed else table
            write_csv(named, written[-1])
        for name, text in texts.items():
            written.append(where / name)
            written[-1].write_text(text, encoding="utf-8")
        return written

    @property
    def _title(self) -> str:
        return _TITLES[self.kind]

    def _table(self) -> pd.DataFrame:
        return self.statistics if self.statistics.shape[1] else next(iter(self.histograms.values()))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Errors(Tabled):
    """How far off the numbers of a plan are on made-up rows, on average.

    Attributes
    ----------
    exact : DataFrame
        The numbers without noise, by group and statistic.
    error : DataFrame
        The mean absolute error of those that the noise does not hide.
    hidden : DataFrame
        The share of rehearsals in which the noise hides the number, or there is none.

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
        from sensitivity_lab.plotting.release import plot_errors

        figure: Figure = plot_errors(self.exact, self.error, **options)
        return figure

    @property
    def _title(self) -> str:
        return "Mean absolute errors on made-up rows; on real ones all of this is private"

    def _table(self) -> pd.DataFrame:
        return self.to_frame()


def errors_of(exact: pd.DataFrame, drafts: NDArray[np.float64]) -> Errors:
    """Return the errors of drafts, shape (times, groups, statistics)."""
    off = np.abs(drafts - exact.to_numpy(dtype=float, na_value=np.nan))
    seen = ~np.isnan(off)
    with np.errstate(invalid="ignore"):
        error = np.where(seen, off, 0).sum(axis=0) / seen.sum(axis=0)
    return Errors(
        exact=exact,
        error=pd.DataFrame(error, exact.index, exact.columns),
        hidden=pd.DataFrame(1 - seen.mean(axis=0), exact.index, exact.columns),
    )


def _index_names(table: pd.DataFrame) -> list[str]:
    return [str(name) if name is not None else "group" for name in table.index.names]


def file_name(name: str) -> str:
    """Return the name of a histogram's file."""
    return "".join(one if one.isalnum() or one in "-_ " else "_" for one in name)


def new_folder(folder: Any) -> Path:
    """Make a folder, or take an empty one; raise InputError for one with something in it."""
    where = check_path("folder", folder)
    new = "name a new or an empty one, since nothing is overwritten"
    try:
        where.mkdir(exist_ok=True)
        empty = not any(where.iterdir())
    except OSError as error:
        raise InputError(
            f"cannot make the folder {shown(str(where))}: {error.strerror or error}; {new}"
        ) from error
    if not empty:
        raise InputError(f"the folder {shown(str(where))} is not empty; {new}")
    return where
