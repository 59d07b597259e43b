"""Hypothesis strategies for tables, their queries and whole problems, with the oracle's spelling.

Tables have the columns "g" (categories), "v" and "w" (numbers), or one of them. The records that
the oracle sees are the rows that were drawn, not what the package made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import oracle_records
import pandas as pd
from hypothesis import strategies as st
from strategies import KINDS, OfSizes, draw_relation, feasible_sizes

import sensitivity_lab as sl

MOST_ROWS = 6
MOST_ROWS_IN_X = 4
MOST_CHANGES = 3

CATEGORIES = ("a", "b", "c")
NUMBERS = ("ties", "clusters", "tenths", "offset", "float offset", "negatives")
"""Those kinds of numbers that a column of int64 or float64 holds without loss."""

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """A universe of rows as it was drawn, and the same made of sl.

    Attributes
    ----------
    columns : tuple of str
    rows : tuple of Row
        Each row as often as it is there; with unlimited copies, once.
    universe : sl.TableUniverse
    unlimited : bool
    missing : bool
        Whether missing values are allowed.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    universe: Any
    unlimited: bool
    missing: bool

    @property
    def size(self) -> float:
        return float("inf") if self.unlimited else len(self.rows)

    def records(self, most: int) -> list[Row]:
        """The rows, as the oracle lists them; `most` fit into a dataset."""
        return list(self.rows) * (most if self.unlimited else 1)

    def at(self, column: str) -> int:
        return self.columns.index(column)


def frame(columns: Iterable[str], rows: Iterable[Row]) -> pd.DataFrame:
    """Rows as a DataFrame, with the column types that pandas infers."""
    columns = list(columns)
    data = {name: [row[i] for row in rows] for i, name in enumerate(columns)}
    return pd.DataFrame(data, columns=columns)


def _values(column: str, missing: bool):
    """Strategies of a column's values, of one kind."""
    kinds = [st.sampled_from(CATEGORIES)] if column == "g" else [KINDS[name] for name in NUMBERS]
    one_kind = st.sampled_from(kinds)
    if not missing:
        return one_kind
    return one_kind.map(lambda values: st.one_of(st.none(), values, values))


@st.composite
def tables(draw, columns: tuple[str, ...], missing: bool | None = None) -> Table:
    """Universes of 2 to `MOST_ROWS` rows, or of up to 4 distinct rows with unlimited copies."""
    allowed = draw(st.booleans()) if missing is None else missing
    values = [draw(_values(column, allowed)) for column in columns]
    # A column of nothing but missing values has no type of its own.
    make = {"allow_missing": True} if allowed else {}
    kind = draw(st.sampled_from(["dataset", "dataset", "domain", "rows"]))
    if kind == "domain":
        most = 3 if len(columns) == 1 else 2
        domain = {
            name: draw(st.lists(values[i], min_size=1, max_size=most, unique=True))
            for i, name in enumerate(columns)
        }
        rows = tuple(product(*domain.values()))
        copies = draw(st.sampled_from([None, 1, 2]))
        universe = sl.TableUniverse.from_domain(domain, copies=copies, **make)
        return Table(columns, rows * (copies or 1), universe, copies is None, allowed)
    rows = draw(
        st.lists(
            st.tuples(*values),
            min_size=2,
            max_size=4 if kind == "rows" else MOST_ROWS,
            unique=kind == "rows",
        ).filter(lambda rows: all(_has_a_type(column) for column in zip(*rows, strict=True)))
    )
    if kind == "rows":
        universe = sl.TableUniverse.from_domain(frame(columns, rows), **make)
    else:
        universe = sl.TableUniverse.from_dataset(frame(columns, rows), **make)
    return Table(columns, tuple(rows), universe, kind == "rows", allowed)


def _has_a_type(values: Iterable[Any]) -> bool:
    return any(value is not None for value in values)


@dataclass(frozen=True)
class Asked(OfSizes):
    """A table, a feasible relation and one or several sizes of x."""

    table: Table
    relation: Any
    size: int | list[int]

    @property
    def records(self) -> list[Row]:
        """The universe, as the oracle lists it."""
        return self.table.records(max(self.sizes) + self.relation.k)

    def neighbors(self, x: Iterable[Row]) -> set[tuple[Row, ...]]:
        """The neighbors of x, by the oracle's definition."""
        return set(oracle_records.neighbors(self.records, x, **self.oracle_relation))

    def sensitivity(self, query: oracle_records.Query) -> dict[str, Any]:
        """The largest change in each norm, by the oracle; ValueError where it is undefined."""
        of_each = [
            oracle_records.global_sensitivity(self.records, size, query, **self.oracle_relation)
            for size in set(self.sizes)
        ]
        return {norm: max(one[norm][0] for one in of_each) for norm in oracle_records.NORMS}


@st.composite
def problems(draw, family: str, exactly: bool, drawn: Any) -> Asked:
    """Feasible problems of one family of neighbor relations, on tables of a strategy."""

    def sizes_of(table: Table) -> list[int]:
        largest = int(min(MOST_ROWS_IN_X, table.size))
        return feasible_sizes(family, table.size, exactly, largest)

    table = draw(drawn.filter(sizes_of))
    # Unlimited copies, two of each row added and removed, make many pairs.
    most = 2 if table.unlimited else MOST_CHANGES
    return Asked(table, *draw_relation(draw, family, exactly, sizes_of(table), table.size, most))


# Queries: our object and the oracle's, drawn for a table

Drawn = tuple[Any, oracle_records.Query]


def _number(table: Table, column: str):
    """Numbers between, at and beyond the values of a column."""
    present = sorted({row[table.at(column)] for row in table.rows} - {None})
    return st.sampled_from([*present, *(value + 1 for value in present), 0])


def _count_if(draw, table: Table) -> Drawn:
    if "v" not in table.columns:
        wanted = draw(st.sampled_from(CATEGORIES))
        at = table.at("g")
        ours = draw(st.sampled_from([lambda rows: rows["g"] == wanted, f"g == {wanted!r}"]))
        return sl.CountIf(ours), oracle_records.count_if(lambda row: row[at] == wanted)
    bound, at = draw(_number(table, "v")), table.at("v")
    ours = draw(st.sampled_from([lambda rows: rows["v"] > bound, f"v > {bound!r}"]))
    return (
        sl.CountIf(ours, "many"),
        oracle_records.count_if(lambda row: row[at] is not None and row[at] > bound),
    )


def _count(draw, _table: Table) -> Drawn:
    return draw(st.sampled_from(["count", sl.Count()])), oracle_records.count


def _of_multiplicities(draw, table: Table) -> Drawn:
    column = draw(st.sampled_from([None, *table.columns]))
    at = None if column is None else table.at(column)
    return sl.CountDistinct(column), oracle_records.count_distinct(at)


def _sum(_draw, table: Table) -> Drawn:
    return sl.SumOf("v"), oracle_records.total(table.at("v"))


def _clipped_sum(draw, table: Table) -> Drawn:
    clip = tuple(sorted([draw(_number(table, "v")), draw(_number(table, "v"))]))
    return sl.SumOf("v", clip=clip), oracle_records.total(table.at("v"), clip)


def _mean(_draw, table: Table) -> Drawn:
    return sl.MeanOf("v"), oracle_records.mean(table.at("v"))


def _mean_or(draw, table: Table) -> Drawn:
    empty = draw(_number(table, "v"))
    return sl.MeanOf("v", empty=empty), oracle_records.mean(table.at("v"), empty)


def _categories(draw, table: Table) -> Drawn:
    column = draw(st.sampled_from(table.columns))
    at = table.at(column)
    there = sorted({row[at] for row in table.rows} - {None})
    choices = [*there, "other" if column == "g" else -1, None]
    chosen = draw(st.lists(st.sampled_from(choices), min_size=1, max_size=4, unique=True))
    return (
        sl.Histogram(column, categories=chosen),
        oracle_records.histogram_of_categories(at, chosen),
    )


def _bins(draw, table: Table) -> Drawn:
    edges = sorted(draw(st.sets(_number(table, "v"), min_size=1, max_size=3)))
    edges.append(edges[-1] + draw(st.sampled_from([1, 0.5, 100])))
    return (
        sl.Histogram("v", bins=edges),
        oracle_records.histogram_of_bins(table.at("v"), edges),
    )


def _groups(draw) -> list[Any]:
    choices = st.sampled_from([*CATEGORIES, "other"])
    return draw(st.lists(choices, min_size=1, max_size=3, unique=True))


def _grouped(inner: Callable[..., Drawn]) -> Callable[..., Drawn]:
    def query(draw, table: Table) -> Drawn:
        (ours, theirs), groups = inner(draw, table), _groups(draw)
        return (
            sl.GroupBy("g", ours, groups=groups),
            oracle_records.group_by(table.at("g"), theirs, groups),
        )

    return query


def _covariance(ddof: int) -> Callable[..., Drawn]:
    def query(_draw, table: Table) -> Drawn:
        options = {"ddof": ddof} if ddof else {}
        theirs = oracle_records.covariance(table.at("v"), table.at("w"), ddof)
        return sl.Covariance("v", "w", **options), theirs

    return query


def _stacked(*inner: Callable[..., Drawn]) -> Callable[..., Drawn]:
    def query(draw, table: Table) -> Drawn:
        ours, theirs = zip(*(one(draw, table) for one in inner), strict=True)
        return sl.Stack(*ours), oracle_records.stack(*theirs)

    return query


@dataclass(frozen=True)
class Case:
    """A kind of query: the columns that it needs, and how to draw it for a table."""

    columns: tuple[tuple[str, ...], ...]
    draw: Callable[..., Drawn]
    vector: bool = False

    def on(self, family: str, exactly: bool):
        """Strategy of (problem, our query, the oracle's)."""
        return _asked(self, family, exactly)


@st.composite
def _asked(draw, case: Case, family: str, exactly: bool) -> tuple[Asked, Any, Any]:
    columns = draw(st.sampled_from(case.columns))
    asked = draw(problems(family, exactly, tables(columns)))
    return asked, *case.draw(draw, asked.table)


_ANY = (("v",), ("g",), ("g", "v"), ("w", "v"))
_NUMBER = (("v",), ("g", "v"), ("v", "w"))
_GROUPED = (("g", "v"), ("v", "g"))

CASES = {
    "count": Case(_ANY, _count),
    "count if": Case(_ANY, _count_if),
    "multiplicities": Case((*_ANY, *_GROUPED), _of_multiplicities),
    "sum": Case(_NUMBER, _sum),
    "clipped sum": Case(_NUMBER, _clipped_sum),
    "mean": Case(_NUMBER, _mean),
    "mean or": Case(_NUMBER, _mean_or),
    "covariance": Case((("v", "w"), ("w", "v")), _covariance(0)),
    "covariance ddof 1": Case((("v", "w"),), _covariance(1)),
    "histogram of categories": Case(_ANY, _categories, vector=True),
    "histogram of bins": Case(_NUMBER, _bins, vector=True),
    "counts by group": Case(_GROUPED, _grouped(_count), vector=True),
    "sums by group": Case(_GROUPED, _grouped(_clipped_sum), vector=True),
    "means by group": Case(_GROUPED, _grouped(_mean_or), vector=True),
    "histograms by group": Case(_GROUPED, _grouped(_bins), vector=True),
    "additive stack": Case(_NUMBER, _stacked(_count, _sum, _bins), vector=True),
    "stack": Case(_NUMBER, _stacked(_mean_or, _count_if), vector=True),
    "stack of groups": Case(
        _GROUPED, _stacked(_grouped(_stacked(_count, _sum)), _count_if), vector=True
    ),
}
"""By name: kinds of queries on tables."""
