"""A plan of a release: what is measured, how private it is, and the only way to publish it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import (
    check_kind,
    check_path,
    check_text,
    check_text_column,
    check_whole,
    listed,
    names_of,
    number_kind,
    rounded_up,
    shown,
)
from sensitivity_lab.errors import InputError
from sensitivity_lab.files import read_file, written_whole
from sensitivity_lab.noise.analytic import check_gaussian_epsilon
from sensitivity_lab.noise.mechanism import check_delta
from sensitivity_lab.noise.table import shares_of
from sensitivity_lab.results.reprs import Tabled, fact_lines, facts_html

from .grid import Grid, as_text, grid_of, is_of_data
from .measurements import Bins, Measured, Numbers
from .opendp_noise import Noise, measurement, noise_of
from .person import Person
from .published import Errors, Released, errors_of, file_name, new_folder
from .rows import text_of_cell
from .statistics import Statistic, Sums, measured_for, statistic_of
from .table import Source, Table

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
        By column, the values that count: ``range(25)`` says whole numbers from 0 to 24, ``(0, 24)``
        real ones. Others count as the nearest of these.
    groupby : mapping of str to list of str or numbers, optional
        By column, the groups to publish, whether they occur or not. Rows of other groups are
        dropped. Of several columns all combinations are groups. By default the whole table is one.
    delta : int, float, Fraction or Decimal, optional
        The chance of a larger loss, from 1e-100 to 0.5. With it the noise is Gaussian, and one
        mechanism for all numbers; by default it is Laplace noise.
    split : iterable of numbers, or mapping of name to number, optional
        The weights of the measured numbers' shares, above 0; equal by default. Their names are in
        the printed plan.
    step : mapping of str to number, optional
        By column, the distance of the values that a number is rounded to. By default 1 for a range,
        and the 65,536th part of the bounds for real numbers.
    bins : mapping of str to list of numbers, optional
        By column, where the bins of its histogram begin. By default each value has its own; of more
        than 100 values about a hundred bins of equal width.

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
    A row with a missing cell in a column that the plan uses is dropped. People with more rows than
    the limit keep those with the least hashes of what is in them. Bounds, groups and the plan must
    be chosen without looking at the data: nobody can check that, and if they were not, they can
    reveal people whatever the noise.

    A column of up to 100 values is measured as one histogram if a percentile, a variance or a
    standard deviation is asked for: all of its statistics follow from it and agree. Otherwise sums
    are measured, centred at mid-range.

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
                         numbers  sensitivity  norm  epsilon  scale  expected_error
    histogram of visits      125            5    L1        1      5               5
      loss       epsilon 1 for everything that is published, once
      person     a person (column id) joins or leaves, with at most 5 rows; the number of rows is
                 private
    ...
    """
    owner = check_kind("person", person, Person, "a Person: sl.releases.Person('id', max_rows=5)")
    owner.warn_of(())
    loss = privacy_loss(epsilon, delta)
    grids = _grids(*({} if one is None else one for one in (bounds, step, bins)))
    keys = _keys({} if groupby is None else groupby)
    asked = _asked(agg, grids)
    _check_columns(owner, grids, keys, asked)
    measured = measured_for(list(asked.values()), grids)
    shares = shares_of(split, [one.name for one in measured])
    return Plan(
        source=Table(owner, grids, keys, asked),
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
    _done: list[str] = field(default_factory=list)
    """Empty until the plan is published; copies share it."""

    @property
    def published(self) -> bool:
        """Whether the plan was published: it cannot be published again."""
        return bool(self._done)

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
    def publish(self, table: Any = None, folder: Any = None) -> Released:
        """Measure a table, add noise, and return what may be published; once.

        Parameters
        ----------
        table : DataFrame or path
            A table of pandas or Polars, or the path of a CSV or (with the extra ``sql``) a Parquet
            file. Frames and files are read by one set of rules. The plan of a query reads its own
            database, and takes no table.
        folder : str or path, optional
            A new folder, which is made first, and into which all of it is written: see
            `Released.save`.

        Returns
        -------
        Released

        Raises
        ------
        InputError
            If the plan was published before: a second publication of the same people has its own
            privacy loss, and both add up. Also if the table cannot be read or lacks a column.
        MissingExtraError
            If OpenDP is not installed, which draws the noise.
        """
        if self.published:
            raise InputError(
                "this plan was published before. To publish it again would cost its epsilon again, "
                f"{as_text(2 * self.epsilon)} in all: if that is what you want, make a new plan"
            )
        for noise in self.noise.values():
            measurement(noise)  # so that nothing fails once the noise is drawn
        exact = self._exact(table)
        where = None if folder is None else new_folder(folder)
        self._done.append("published")
        noisy = {one: noise.drawn(exact[one]) for one, noise in self.noise.items()}
        released = self._released("published", noisy)
        if where is not None:
            released.save(where)
        return released

    @public_call
    def without_noise(self, table: Any = None) -> Released:
        """Return the exact numbers, which are private: for tests, never to be published.

        Parameters
        ----------
        table : DataFrame or path
            As for `publish`.

        Returns
        -------
        Released
        """
        return self._released("exact", self._exact(table))

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
        rng, exact = np.random.default_rng(_check_seed(seed)), self._made_up(made_up)
        noisy = {one: of.rehearsed(exact[one], rng) for one, of in self.noise.items()}
        return self._released("rehearsal", noisy)

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
            By group and statistic the exact number of all rows, the mean absolute error, with what
            the limit of each person drops, and how often the noise hides it.
        """
        times = check_whole("times", times, "a number of rehearsals, at least 1")
        rng, exact = np.random.default_rng(_check_seed(seed)), self._made_up(made_up)
        whole = self.source.exact(self.measured, made_up, limited=False)
        truth = self._released("exact", whole).to_frame()
        drafts = []
        for _ in range(times):
            noisy = {one: of.rehearsed(exact[one], rng) for one, of in self.noise.items()}
            draft = self._released("rehearsal", noisy).to_frame()
            drafts.append(draft.reindex(truth.index).to_numpy(dtype=float, na_value=np.nan))
        return errors_of(truth, np.array(drafts))

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
            unit = float(one.unit)
            budget = (
                {"epsilon": float(noise.share)} if self.delta is None else {"share": float(share)}
            )
            rows.append(
                {
                    "name": one.name,
                    "numbers": one.numbers * len(self.index),
                    "sensitivity": float(noise.sensitivity) * unit,
                    "norm": "L1" if self.delta is None else "L2",
                    **budget,
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
            ("noise", "counts and sums can be negative; a number that the noise hides is empty"),
            (
                "not told",
                "bounds, groups or a plan that were chosen from the data; other releases about the "
                "same people, whose losses add up",
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

    def _exact(self, table: Any) -> Mapping[Measured, Numbers]:
        """Return the exact numbers of a table, or of the database that the source has."""
        if table is not None and not self.source.takes_table:
            raise InputError("this plan reads the tables of its query; leave out the table")
        return self.source.exact(self.measured, table)

    def _made_up(self, table: Any) -> Mapping[Measured, Numbers]:
        """Return the exact numbers of made-up rows; a rehearsal never takes a query's own."""
        if table is None:
            raise InputError("a rehearsal is of made-up rows: give them")
        return self.source.exact(self.measured, table)

    def _released(self, kind: str, numbers: Mapping[Measured, Any]) -> Released:
        """Return what follows from numbers of each measured kind."""
        scale = {one: of.scale if kind != "exact" else 0.0 for one, of in self.noise.items()}
        sums = Sums(numbers, scale)
        statistics, histograms = self.source.computed(sums)
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
        values = numbers.astype(np.int64 if one.unit == 1 else np.float64)
        return pd.DataFrame(
            values if one.unit == 1 else values * float(one.unit), self.index, labels
        )

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
            if name in ("epsilon", "share"):
                table[name] = [float(f"{number:.6g}") for number in table[name]]
            else:
                table[name] = [float(rounded_up(number, digits=6)) for number in table[name]]
        return table

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *fact_lines(self.facts(), 100)])

    def _repr_html_(self) -> str:
        return f"{super()._repr_html_()}{facts_html(self.facts(), 'Privacy')}"


def load(path: Any) -> Plan:
    """Read a plan that `Plan.save` wrote; one that was published refuses to be published again.

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
        exact = {
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
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{name} is no plan of a release: {error}") from error
    if texts["published"] is not False:
        found._done.append("published")
    return found


def _read_numbers(written: Any) -> Any:
    """Return numbers that are written as texts, one or several."""
    return Fraction(written) if isinstance(written, str) else tuple(map(Fraction, written))


# Arguments.


_check_loss = number_kind(
    "a number from 1e-9 to 1e6", lambda given: Fraction(1, 10**9) <= given <= 10**6
)


def privacy_loss(epsilon: Any, delta: Any) -> Fraction:
    """Return the privacy loss, or raise InputError; without noise there is another method."""
    if isinstance(epsilon, float) and epsilon == float("inf"):
        raise InputError(
            "epsilon must be a finite number: for exact numbers, which are private, make a plan "
            "and take its without_noise"
        )
    if delta is None:
        return _check_loss("epsilon", epsilon)
    return check_gaussian_epsilon("epsilon", epsilon)


def _grids(
    bounds: Mapping[str, Any], step: Mapping[str, Any], bins: Mapping[str, Any]
) -> dict[str, Grid]:
    _check_mapping("bounds", bounds, "{'age': (0, 100)}")
    for name, given in (("step", step), ("bins", bins)):
        _check_mapping(name, given, f"{{'age': {'1' if name == 'step' else '[0, 20, 60]'}}}")
        unknown = [column for column in given if column not in bounds]
        if unknown:
            raise InputError(f"{name} names {names_of(unknown)}, which bounds does not")
    return {
        check_text_column("bounds", column): grid_of(
            column, of_column, step.get(column), bins.get(column)
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
        if names is None or isinstance(names, str):
            raise InputError(f"{wrong}, got {shown(names)}")
        texts = [text_of_cell(one) for one in listed(names, wrong)]
        if not texts or None in texts or len(set(texts)) < len(texts):
            raise InputError(f"{wrong}, each once and none empty, got {shown(names)}")
        found[check_text_column("groupby", column)] = tuple(texts)
    return found  # type: ignore[return-value]


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
    taken = {"statistics", "plan", "privacy"}
    for name, one in found.items():
        if one.kind == "histogram":
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
    groups = 1
    for names in keys.values():
        groups *= len(names)
    most = groups * max([1, *(len(grid.starts) for grid in grids.values())])
    if most > MOST_NUMBERS:
        raise InputError(
            f"the plan would publish {most:,} numbers, more than {MOST_NUMBERS:,}; use fewer "
            "groups or bins"
        )


def _check_mapping(name: str, given: Any, example: str) -> None:
    check_kind(name, given, Mapping, f"a mapping by column, such as {example}")


def _check_seed(seed: Any) -> int:
    return check_whole("seed", seed, "the seed of made-up noise, at least 0", least=0)
