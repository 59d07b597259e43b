"""A plan of a release: what is measured, how private it is, and the only way to publish it."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sensitivity_lab.boundary import public_call, warn_caller
from sensitivity_lab.checks import (
    check_choice,
    check_kind,
    check_path,
    check_text,
    check_text_column,
    check_whole,
    choice_kind,
    is_of_data,
    listed,
    names_of,
    number_kind,
    rounded_up,
    shown,
    whole_kind,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.files import read_file, written_whole
from sensitivity_lab.noise.mechanisms import check_delta
from sensitivity_lab.noise.scales import check_gaussian_epsilon
from sensitivity_lab.noise.table_of_noise import shares_of
from sensitivity_lab.results.reprs import Tabled, fact_lines, facts_html

from .grid import WHOLE, Grid, as_text, grid_of
from .layout import layout_of
from .measurements import Bins, Measured, Numbers
from .opendp_noise import Noise, measurement, noise_of
from .person import Person
from .published import Checked, Errors, Released, errors_of, file_name, make_folder, write_release
from .publishing import PROCESS, Record, digest_of, ledger_folder
from .rows import Tally, text_of_cell
from .statistics import Statistic, Sums, statistic_of
from .table import HIGH, LOW, Exact, Source, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NUMBERS = 10_000_000
"""A plan has at most so many numbers with noise."""


@public_call
def plan(
    person: Person,
    *,
    epsilon: Any,
    agg: Mapping[str, Any],
    bounds: Mapping[str, Any] | None = None,
    groupby: Mapping[str, Sequence[Any]] | None = None,
    delta: Any = None,
    split: Any = None,
    step: Mapping[str, Any] | None = None,
    bins: Mapping[str, Any] | None = None,
    rows: int | None = None,
    decimal: str | None = None,
) -> Plan:
    """Plan which numbers of a table to publish, and how much noise they get; no data are seen.

    Parameters
    ----------
    person : Person
        Who joins or leaves the table, and with how many rows at most.
    epsilon : int, float, Fraction or Decimal
        The privacy loss of everything that is published, above 0; with a `delta` from 1e-9 to 100.
    agg : mapping of str to "count" or (column, statistic)
        The numbers to publish, by the name of their column, as in pandas' named aggregation.
        "count" is the number of rows. A statistic is "count", "sum", "mean", "var", "std" (with
        n - 1, as in pandas), "median", a percentile such as "percentile_90" or
        ``sl.Percentile(90)``, or "histogram".
    bounds : mapping of str to range or (number, number)
        By column, the values that count: ``range(25)`` means whole numbers from 0 to 24,
        ``(0, 24)`` real numbers. Other values count as the nearest of these.
    groupby : mapping of str to list of str or numbers, optional
        By column, the groups to publish, whether they occur or not. Rows of other groups are
        dropped. With several columns, all combinations are groups. By default the whole table is
        one group.
    delta : int, float, Fraction or Decimal, optional
        The probability of a larger loss, from 1e-100 to 0.5. With a delta the noise is Gaussian,
        from one mechanism for all numbers; by default it is Laplace noise.
    split : iterable of numbers, or mapping of name to number, optional
        The weights of the measured numbers' shares of the loss, above 0. By default the plan
        chooses them. The printed plan has the names.
    step : mapping of str to number, optional
        By column, the step to which numbers are rounded. By default 1 for a range, and 1 / 65,536
        of the width of the bounds for real numbers.
    bins : mapping of str to list of numbers, optional
        By column, where the bins of its histogram begin. By default each value has its own bin;
        more than 100 values get about a hundred bins of equal width, or as many as suit `rows`.
    rows : int, optional
        About how many rows the table has, if that is public. Bins are then so wide that their width
        and the noise add about equal errors.
    decimal : {".", ","}, optional
        The decimal mark in texts. By default a point; in a file with semicolons or tabs a comma as
        well, and there a number such as 1.000 or 1,000 counts as unreadable.

    Returns
    -------
    Plan
        Prints what is measured, its noise, and what everybody may know. `Plan.publish` publishes.

    Raises
    ------
    InputError
        If an argument is not acceptable, or bounds or groups come from an array or a table.

    Notes
    -----
    A row with a missing cell in a column that the plan uses is dropped. For people with more rows
    than the limit, the rows with the least hashes of their contents are kept. Choose bounds, groups
    and the plan without looking at the data: otherwise they can reveal people whatever the noise.
    Nothing can check this.

    For each column the plan measures a histogram, sums about the middle of the bounds, or both. It
    chooses these and the shares of the loss so that the errors of all statistics are, on average,
    the least multiple of what each would be alone. The choice depends on the bounds, not on the
    data.

    Each published number, except those of histograms, has an interval from ``NAME_low`` to
    ``NAME_high``. It is computed from published numbers alone, and contains the value for the rows
    that count in 90 of 100 releases. If the interval is as wide as the bounds, the number is empty.

    References
    ----------
    Wilson, Zhang, Lam, Desfontaines, Simmons-Marengo, Gipson, "Differentially Private SQL with
    Bounded User Contribution" (PoPETs 2020).

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> visits = sl.releases.plan(
    ...     sl.releases.Person("id", max_rows=5),
    ...     epsilon=1,
    ...     bounds={"visits": range(25)},
    ...     groupby={"plan": ["0", "25", "50", "95", "100"]},
    ...     agg={"n": "count", "mean": ("visits", "mean"), "middle": ("visits", "median")},
    ... )
    >>> visits
    Plan of a release: epsilon 1, Laplace noise, not published
                         numbers  sensitivity norm  epsilon   scale  expected_error
    count                      5            5   L1 0.388611 12.8664         12.8664
    histogram of visits      125            5   L1 0.371628 13.4544         13.4544
    sum of visits              5           60   L1  0.23976  250.25          250.25
      loss       epsilon 1 for everything that is published, once
      person     a person (column id) joins or leaves, with at most 5 rows; the number of rows is
                 private
    ...
    """
    owner = check_kind("person", person, Person, "a Person: sl.releases.Person('id', max_rows=5)")
    owner.warn_of(())
    loss = privacy_loss(epsilon, delta)
    number = whole_kind("a number of rows, at least 1").or_none("rows", rows)
    few = _bins_for(number, owner, loss, delta)
    grids = _grids(bounds or {}, step or {}, bins or {}, few)
    keys = _keys({} if groupby is None else groupby)
    asked = _asked(agg, grids)
    _check_columns(owner, grids, keys, asked)
    measured, shares = layout_of(list(asked.values()), grids, 2 if delta is None else 1)
    if split is not None:
        shares = shares_of(split, [one.name for one in measured])
    mark = choice_kind((".", ",")).or_none("decimal", decimal)
    return Plan(
        source=Table(owner, grids, keys, asked, mark),
        epsilon=loss,
        delta=check_delta.or_none("delta", delta),
        measured=tuple(measured),
        shares=tuple(shares),
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Plan(Tabled):
    """What to publish of a table, with how much noise. Make it with `plan`, or `load` it.

    Attributes
    ----------
    source : Source
        What is measured: a table, or a query of a database.
    epsilon : Fraction
        The privacy loss of everything that is published.
    delta : Fraction or None
        The chance of a larger loss; None for Laplace noise.
    measured : tuple of Measured
        What gets noise.
    shares : tuple of Fraction
        Their shares of the privacy loss, which add up to 1.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> made = sl.releases.plan(
    ...     sl.releases.Person(max_rows=1),
    ...     epsilon=1,
    ...     agg={"n": "count"},
    ...     groupby={"ward": "a b".split()},
    ... )
    >>> table = pd.DataFrame({"ward": ["a", "b", "a"]})
    >>> made.without_noise(table).to_frame()["n"].tolist()
    [2, 1]
    """

    source: Source
    epsilon: Fraction
    delta: Fraction | None
    measured: tuple[Measured, ...]
    shares: tuple[Fraction, ...]
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    """Copies of a plan, pickled ones too, share it."""
    process: str = field(default_factory=lambda: PROCESS[0].token)
    """The process that made the plan: without a ledger no other one publishes it."""
    was_published: bool = False
    """Whether it was published before it was loaded."""

    @property
    def published(self) -> bool:
        """Whether the plan was published: it cannot be published again."""
        return self.was_published or self.id in PROCESS[0].ids

    @property
    def index(self) -> pd.Index[Any]:
        """The groups, in the order of what is measured."""
        return self.source.index

    @cached_property
    def noise(self) -> dict[Measured, Noise]:
        """The noise of each measured kind of number."""
        found = noise_of(
            *(self.measured, self.shares, self.source.person, len(self.index)),
            *(self.epsilon, self.delta),
        )
        return dict(zip(self.measured, found, strict=True))

    @public_call
    def publish(
        self,
        table: Any = None,
        folder: Any = None,
        *,
        ledger: Any = None,
        name: str = "",
        unreadable: str = "refuse",
    ) -> Released:
        """Measure a table, add noise, and return what may be published; once.

        Parameters
        ----------
        table : DataFrame or path
            A table of pandas or Polars, or the path of a CSV or (with the extra ``sql``) a Parquet
            file. Frames and files are read by one set of rules. The plan of a query reads its own
            database, and takes no table.
        folder : str or path, optional
            A new folder, to which everything is written: see `Released.save`.
        ledger : str or path, optional
            A folder that all publications about these people share, whatever process makes them. A
            plan that is in it is not published again: you get its numbers back, and the table is
            not read. `sensitivity_lab.releases.ledger` adds up what was spent.
        name : str, default ""
            A name that distinguishes releases of one plan in the ledger, such as "2026-11".
        unreadable : {"refuse", "drop"}, default "refuse"
            Whether to refuse a table if a tenth of a column, or more, cannot be read. Whoever sees
            that nothing is published learns something about the data. If others can see it, pass
            "drop" from the start.

        Returns
        -------
        Released

        Raises
        ------
        InputError
            If the plan was published before: a second publication about the same people has its own
            privacy loss, and both add up. Also if the table cannot be read or lacks a column, or if
            the disk fails; the message says whether epsilon was spent.
        MissingExtraError
            If OpenDP is not installed, which draws the noise.
        """
        check_text("name", name, "a text")
        drops = check_choice("unreadable", unreadable, ("refuse", "drop")) == "drop"
        content = digest_of(self.to_dict(), name)
        # Without a ledger this process is the only memory of what was published; with one the
        # folder is.
        shared = None if ledger is None else Record.of(ledger_folder(ledger), content)
        if shared is None:
            PROCESS[0].check(self.process, self.id, self.epsilon, known=self.was_published)
        elif before := shared.published(self._by_name):
            return self._given_back(*before, folder)
        for noise in self.noise.values():
            measurement(noise)  # so that nothing fails once the noise is drawn
        # All that can fail because of the table comes before `begin`: nothing is spent by then.
        exact = self._exact(table)
        if exact.tally is not None and not drops:
            _check_readable(exact.tally)
        where = None if folder is None else check_path("folder", folder)
        if where is not None:
            make_folder(where)
        try:
            if shared is None:
                PROCESS[0].begin(self.process, self.id, content, self.epsilon)
            record = shared or (None if where is None else Record.of(where, "publication"))
            noisy, date = self._drawn(record, name, exact.numbers)
        finally:
            if where is not None:
                with suppress(OSError):
                    where.rmdir()  # which only an empty folder allows
        if date:  # another process began in the meantime
            return self._given_back(noisy, date, folder)
        released = self._released("published", noisy)
        if where is not None:
            where.mkdir(exist_ok=True)
            write_release(released, where)
        return released

    @property
    def _by_name(self) -> dict[str, Measured]:
        return {one.name: one for one in self.measured}

    def _drawn(
        self, record: Record | None, name: str, exact: Mapping[Measured, Numbers]
    ) -> tuple[dict[Measured, Numbers], str]:
        """Draw the noise, and keep the numbers; what others published has its date."""

        def draw() -> dict[Measured, Numbers]:
            return {one: noise.drawn(exact[one]) for one, noise in self.noise.items()}

        if record is None:
            return draw(), ""
        told = {
            "name": name,
            "about": self.source.about,
            "epsilon": str(self.epsilon),
            "delta": None if self.delta is None else str(self.delta),
            "plan": self.to_dict(),
        }
        cells = sum(one.numbers for one in self.measured) * len(self.index)
        noisy = record.publish(told, cells, draw)
        if noisy is not None:
            PROCESS[0].ids.add(self.id)
            return noisy, ""
        before = record.published(self._by_name)
        if before is None:
            raise InputError("the ledger was changed while the plan was published; try again")
        return before

    def _given_back(self, noisy: dict[Measured, Numbers], date: str, folder: Any) -> Released:
        """Return what was published before."""
        PROCESS[0].ids.add(self.id)
        released = replace(self._released("published", noisy), date=date)
        if folder is not None:
            released.save(folder)
        return released

    @public_call
    def check(self, table: Any) -> Checked:
        """Tell the owner of a table which of its rows count, and why others do not; private.

        Parameters
        ----------
        table : DataFrame or path
            As for `publish`.

        Returns
        -------
        Checked
            How many rows are used, which cells cannot be read, groups without rows, and columns
            that repeat, which may be the people.
        """
        return self.source.check(table)

    @public_call
    def without_noise(self, table: Any = None) -> Released:
        """Return the exact numbers, which are private: for tests, never to be published.

        They are the statistics of the rows that count, as pandas computes them: without bounds,
        bins and rounding. Of a query they are what follows from the results within the limit.

        Parameters
        ----------
        table : DataFrame or path
            As for `publish`.

        Returns
        -------
        Released
        """
        return self._unchanged(self._exact(table))

    @public_call
    def rehearse(self, made_up: Any, *, seed: int = 0) -> Released:
        """Return what a publication of made-up rows could look like: a draft.

        Parameters
        ----------
        made_up : DataFrame or path
            A table as for `publish`, of rows that you made up: a rehearsal with real ones
            reveals them, since its noise can be drawn again.
        seed : int, default 0
            Of the noise, at least 0.

        Returns
        -------
        Released
        """
        rng = np.random.default_rng(_check_seed(seed))
        return self._draft(self._made_up(made_up), rng)

    @public_call
    def errors(self, made_up: Any, *, seed: int = 0, times: int = 200) -> Errors:
        """Return how far off published numbers would be on made-up rows, on average.

        Parameters
        ----------
        made_up : DataFrame or path
            As for `rehearse`: with as many rows as you expect, and values of a plausible shape.
        seed : int, default 0
            Of the noise, at least 0.
        times : int, default 200
            How many publications are rehearsed.

        Returns
        -------
        Errors
            The mean absolute error against what pandas computes from all readable rows, without
            limits and bounds; how often the number is empty; and the errors that dropped rows,
            bounds, bins and noise add, each by itself.
        """
        times = check_whole("times", times, "a number of rehearsals, at least 1")
        rng, kept = np.random.default_rng(_check_seed(seed)), self._made_up(made_up)
        # Four stages at most: all rows, those within limits, numbers on their grids, what is
        # measured.
        whole = self.source.exact(self.measured, made_up, limited=False)
        stages = [self._unchanged(one).statistics for one in (whole, kept)]
        if kept.statistics is not None:
            stages.append(self.source.within_bounds(made_up))
        follows, truth = self._released("exact", kept.numbers), stages[0]
        stages.append(follows.statistics)
        drafts = [self._draft(kept, rng).statistics for _ in range(times)]
        # A query's answer may have other rows and another order with noise: HAVING, ORDER BY.
        try:
            if not truth.index.is_unique:
                raise ValueError("rows of one key")
            same = [one.reindex(truth.index)[truth.columns] for one in (*stages, *drafts)]
            return errors_of(same[: len(stages)], same[len(stages) :], follows.histograms)
        except (TypeError, ValueError) as error:
            raise InputError(
                "errors are of numbers, by the keys of their rows, and this answer has texts or "
                "dates among its numbers, or several rows of one key; select every key and numbers "
                "alone, or look at rehearse"
            ) from error

    def _unchanged(self, exact: Exact) -> Released:
        """Return exact numbers, with the statistics of the rows where these are known."""
        released = self._released("exact", exact.numbers)
        if exact.statistics is None:
            return released
        return replace(released, statistics=exact.statistics)

    def _draft(self, exact: Exact, rng: np.random.Generator) -> Released:
        """Return a rehearsal of some rows."""
        noisy = {one: of.rehearsed(exact.numbers[one], rng) for one, of in self.noise.items()}
        return self._released("rehearsal", noisy)

    def plot(self, made_up: Any, *, seed: int = 0, times: int = 200, **options: Any) -> Figure:
        """Draw the expected error of each number beside its size, on made-up rows.

        Parameters
        ----------
        made_up, seed, times
            As for `errors`.
        **options
            As for `Errors.plot`.

        Returns
        -------
        matplotlib.figure.Figure
        """
        return self.errors(made_up, seed=seed, times=times).plot(**options)

    def to_frame(self) -> pd.DataFrame:
        """Return a row per measured kind of number: its sensitivity, share and noise.

        Returns
        -------
        pandas.DataFrame
            Columns: name, numbers (how many), sensitivity, norm, epsilon or with a delta the share
            of the noise's budget, noise, scale, expected_error. Sensitivity, scale and error are in
            the unit of the answer, rounded up.
        """
        rows = []
        for (one, noise), share in zip(self.noise.items(), self.shares, strict=True):
            unit, pure = float(one.unit), self.delta is None
            rows.append(
                {
                    "name": one.name,
                    "numbers": one.numbers * len(self.index),
                    "sensitivity": float(noise.sensitivity) * unit,
                    "norm": "L1" if pure else "L2",
                    "epsilon" if pure else "share": float(noise.share if pure else share),
                    "noise": noise.kind,
                    "scale": noise.scale * unit,
                    "expected_error": noise.expected_error * unit,
                }
            )
        return pd.DataFrame(rows)

    @property
    def statement(self) -> str:
        """What to say of the privacy of what is published."""
        return repr(self)

    def facts(self) -> list[tuple[str, str]]:
        """Return what everybody may know, and what the promise does not cover."""
        loss = f"epsilon {as_text(self.epsilon)}"
        loss += "" if self.delta is None else f" and delta {as_text(self.delta)}"
        return [
            ("loss", f"{loss} for everything that is published, once"),
            *self.source.facts(self.noise),
            *self.source.said,
            (
                "assumed",
                "bounds, groups and the plan were chosen without the data; other releases about "
                "these people have losses of their own, which add up",
            ),
        ]

    def save(self, path: Any) -> None:
        """Write the plan to a file as JSON, with whether it was published.

        Parameters
        ----------
        path : str or path
            The file; an old one of this name is replaced.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        check_path("path", path)
        try:
            with written_whole(path) as part:
                part.write_text(self.to_json(), encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"cannot write {shown(str(path))}: {error.strerror or error}"
            ) from error

    def to_json(self) -> str:
        """Return the plan as JSON: what `save` writes."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return the plan in plain Python objects, numbers as texts: what `save` writes."""
        return {
            "epsilon": str(self.epsilon),
            "delta": None if self.delta is None else str(self.delta),
            "split": [str(share) for share in self.shares],
            "published": self.published,
            **self.source.to_dict(),
        }

    def _exact(self, table: Any) -> Exact:
        """Return the exact numbers of a table, or of the database that the source has."""
        if table is not None and not self.source.takes_table:
            raise InputError("this plan reads the tables of its query; leave out the table")
        return self.source.exact(self.measured, table)

    def _made_up(self, table: Any) -> Exact:
        """Return the exact numbers of made-up rows; a rehearsal never takes a query's own."""
        if table is None:
            raise InputError("a rehearsal is of made-up rows: give them")
        return self.source.exact(self.measured, table)

    def _released(self, kind: str, numbers: Mapping[Measured, Any]) -> Released:
        """Return what follows from numbers of each measured kind."""
        noisy = kind != "exact"
        # Without noise each deviation is 0, and intervals have no width.
        sums = Sums(numbers, {one: of.deviation * noisy for one, of in self.noise.items()})
        statistics, histograms = self.source.computed(sums)
        if not noisy:
            statistics = statistics.drop(columns=self.source.intervals)
        return Released(
            kind=kind,
            statistics=statistics,
            histograms={
                name: self._by_group(numbers[bins], bins) for name, bins in histograms.items()
            },
            measured={one.name: self._by_group(of, one) for one, of in numbers.items()},
            plan=self,
        )

    def _by_group(self, numbers: Any, one: Measured) -> pd.DataFrame:
        """Return measured numbers in the unit of the answer: whole ones, if this is 1."""
        labels = one.labels if isinstance(one, Bins) else [one.name]
        whole = one.unit == 1
        values = numbers.astype(np.int64 if whole else np.float64)
        return pd.DataFrame(values if whole else values * float(one.unit), self.index, labels)

    @property
    def _title(self) -> str:
        loss = f"epsilon {as_text(self.epsilon)}"
        loss += (
            f", Gaussian noise, delta {as_text(self.delta)}" if self.delta else ", Laplace noise"
        )
        return f"Plan of a release: {loss}, {'published' if self.published else 'not published'}"

    def _table(self) -> pd.DataFrame:
        table = self.to_frame().drop(columns="noise").set_index("name").rename_axis(None)
        for name in table.columns.drop(["numbers", "norm"]):
            share = name in ("epsilon", "share")
            table[name] = [
                float(f"{one:.6g}" if share else rounded_up(one, digits=6)) for one in table[name]
            ]
        return table

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *fact_lines(self.facts(), 100)])

    def _repr_html_(self) -> str:
        return f"{super()._repr_html_()}{facts_html(self.facts(), 'Privacy')}"


def load(path: Any) -> Plan:
    """Read a plan that `Plan.save` wrote; one that was published refuses to be published again.

    A file that is loaded twice is two plans: give `Plan.publish` a ledger where that can happen.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        If there is no such file, or it is no plan.

    Examples
    --------
    >>> import tempfile
    >>> import sensitivity_lab as sl
    >>> made = sl.releases.plan(sl.releases.Person("id", max_rows=2), epsilon=1, agg={"n": "count"})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made.save(f"{folder}/plan.json")
    ...     sl.releases.load(f"{folder}/plan.json").published
    False
    """
    name = shown(str(check_path("path", path)))
    try:
        told = json.loads(read_file(path))
        if "sql" in told:
            raise ValueError("it is that of a query; make it again with Query.plan")
        texts = {key: told.pop(key) for key in ("person", "published", "epsilon", "delta", "split")}
        exact: dict[str, Any] = {
            key: {name: _read_numbers(one) for name, one in told.pop(key).items()}
            for key in ("bounds", "step", "bins")
        }
        delta = None if texts["delta"] is None else Fraction(texts["delta"])
        found = plan(
            Person(**texts["person"]),
            epsilon=Fraction(texts["epsilon"]),
            delta=delta,
            split=[Fraction(share) for share in texts["split"]],
            **exact,
            **told,
        )
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror or error}") from error
    except (ValueError, TypeError, KeyError, AttributeError, ZeroDivisionError) as error:
        raise InputError(f"{name} is no plan of a release: {error}") from error
    return replace(found, was_published=texts["published"] is not False)


def _read_numbers(written: Any) -> Any:
    """Return numbers that are written as texts, one or several."""
    return Fraction(written) if isinstance(written, str) else tuple(map(Fraction, written))


# Arguments.


_check_loss = number_kind(
    "a number from 1e-9 to 1e6", lambda given: Fraction(1, 10**9) <= given <= 10**6
)


def privacy_loss(epsilon: Any, delta: Any) -> Fraction:
    """Return the privacy loss, or raise InputError; warn of one that hides nobody."""
    if isinstance(epsilon, float) and epsilon == float("inf"):
        raise InputError(
            "epsilon must be a finite number: for exact numbers, which are private, make a plan "
            "and take its without_noise"
        )
    found = (_check_loss if delta is None else check_gaussian_epsilon)("epsilon", epsilon)
    if found > _LARGE:
        warn_caller(
            f"epsilon {as_text(found)} is large: above {_LARGE} the noise hides hardly anybody. "
            "Most releases take 0.1 to 3"
        )
    likely = check_delta.or_none("delta", delta)
    if likely is not None and likely > Fraction(1, 1000):
        warn_caller(
            f"delta {as_text(likely)} is large: with that chance everything "
            "about a person may be seen. Take less than one over the number of people"
        )
    return found


_LARGE = 10
"""A larger epsilon is warned of."""


def _bins_for(rows: int | None, person: Person, epsilon: Fraction, delta: Any) -> int:
    """Return about how many bins cost as much by their width as by their noise.

    Of B bins over a range R with n rows spread evenly, a percentile is off by about R / 4 B for the
    width, and by R s sqrt(B) / 1.75 n for noise of the scale s in each bin.
    """
    if rows is None:
        return WHOLE
    # Both errors are equal where B**(3/2) = 1.75 n / (4 s), about n / (2.3 s). A Gaussian scale is
    # taken as three times that of Laplace noise.
    scale = person.l1(1) / float(epsilon) * (1 if delta is None else 3)
    return int(np.clip((rows / (2.3 * scale)) ** (2 / 3), 10, 10 * WHOLE))


def _check_readable(tally: Tally) -> None:
    """Raise InputError for a table of which much cannot be read."""
    share = tally.share_unreadable
    if share >= _UNREADABLE:
        column = max(tally.unreadable, key=lambda one: tally.unreadable[one])
        mark = (
            f". In {shown(tally.ambiguous)} numbers such as 1.000 can be a thousand or one: make "
            "the plan with decimal='.' or decimal=','"
            if tally.ambiguous
            else ""
        )
        raise InputError(
            f"a tenth or more of the column {shown(column)} cannot be read; plan.check(table) says "
            f"how much{mark}. That depends on the data, and is for nobody outside: where others "
            "see it, mend the table or decide beforehand for publish(..., unreadable='drop')"
        )


_UNREADABLE = 0.1
"""From this share of unreadable cells on a table is refused."""


def _grids(
    bounds: Mapping[str, Any], step: Mapping[str, Any], bins: Mapping[str, Any], number: int
) -> dict[str, Grid]:
    _check_mapping("bounds", bounds, "{'age': (0, 100)}")
    for name, given in (("step", step), ("bins", bins)):
        _check_mapping(name, given, f"{{'age': {'1' if name == 'step' else '[0, 20, 60]'}}}")
        unknown = [column for column in given if column not in bounds]
        if unknown:
            raise InputError(f"{name} names {names_of(unknown)}, which bounds does not")
    return {
        check_text_column("bounds", column): grid_of(
            column, of_column, step.get(column), bins.get(column), number
        )
        for column, of_column in bounds.items()
    }


def _keys(groupby: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the public groups of each column as texts, or raise InputError."""
    _check_mapping("groupby", groupby, "{'ward': ['a', 'b']}")
    found = {}
    for column, names in groupby.items():
        label = f"groupby[{shown(column)}]"
        wrong = f"{label} must list the groups to publish, whether they occur or not"
        if is_of_data(names):
            raise InputError(
                f"{label} comes from an array or a table; which groups occur there is private: "
                "list the groups that can occur, chosen without looking at the data"
            )
        # A set has another order in each process, and a ledger would not know the plan again.
        if names is None or isinstance(names, str | set | frozenset):
            raise InputError(f"{wrong}, got {shown(names)}")
        texts = [text_of_cell(one) for one in listed(names, wrong)]
        if not texts or len({one for one in texts if isinstance(one, str)}) < len(texts):
            raise InputError(f"{wrong}, each once and none empty, got {shown(names)}")
        found[check_text_column("groupby", column)] = tuple(texts)
    return found


_LONGEST_NAME = 255
"""Of a file, in bytes."""


def _asked(agg: Any, grids: Mapping[str, Grid]) -> dict[str, Statistic]:
    """Return what is asked for by name, or raise InputError."""
    _check_mapping("agg", agg, "{'n': 'count', 'mean': ('age', 'mean')}")
    if not agg:
        raise InputError("agg is empty; name what to publish, such as {'n': 'count'}")
    meaning = "the name of a published number, such as 'n'"
    found = {
        check_text("a name in agg", name, meaning): statistic_of(name, asked, grids)
        for name, asked in agg.items()
    }
    taken = {"statistics", "plan", "privacy", "publication", "publication.numbers"}
    ends = [f"{name}{end}" for name in found for end in (LOW, HIGH)]
    if both := [name for name in found if name in ends]:
        raise InputError(
            f"agg names {names_of(both)}, which is an end of the interval of another number; give "
            "it another name"
        )
    for name, one in found.items():
        if one.kind == "histogram":
            if len(f"{file_name(name)}.csv".encode()) > _LONGEST_NAME:
                raise InputError(
                    f"agg[{shown(name)}]: a histogram is written to a file of its name, and no "
                    f"file can have one so long; give it at most {_LONGEST_NAME - 4} letters"
                )
            if (file := file_name(name).lower()) in taken:
                raise InputError(
                    f"agg[{shown(name)}]: a histogram is written to a file of its name, and "
                    f"{shown(file)} is another one's; give it another name"
                )
            taken.add(file)
    return found


def _check_columns(
    person: Person,
    grids: Mapping[str, Grid],
    keys: Mapping[str, Sequence[str]],
    asked: Mapping[str, Statistic],
) -> None:
    """Raise InputError for columns with two roles or none, and for too many numbers."""
    roles = [*([person.column] if person.column else []), *keys, *grids]
    twice = next((column for column in roles if roles.count(column) > 1), None)
    if twice is not None:
        raise InputError(
            f"the column {shown(twice)} has two roles; a column is the person's, or has groups, or "
            "has bounds"
        )
    unused = [column for column in grids if column not in {one.column for one in asked.values()}]
    if unused:
        raise InputError(f"bounds names {names_of(unused)}, of which agg asks for nothing")
    most = math.prod(map(len, keys.values()))
    most *= max([1, *(len(grid.starts) for grid in grids.values())])
    if most > MOST_NUMBERS:
        raise InputError(
            f"the plan would publish {most:,} numbers, more than {MOST_NUMBERS:,}; use fewer "
            "groups or bins"
        )


def _check_mapping(name: str, given: Any, example: str) -> None:
    check_kind(name, given, Mapping, f"a mapping by column, such as {example}")


def _check_seed(seed: Any) -> int:
    return check_whole("seed", seed, "the seed of made-up noise, at least 0", least=0)
