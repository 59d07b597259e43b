"""Hypothesis strategies for universes, queries and whole problems, and their oracle's spelling.

The oracle sees every record as the Fraction that it stands for.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import oracle
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab.universes.relations import Relation

MOST_RECORDS = 8
MOST_CHANGES = 3

KINDS = {
    "ties": st.integers(0, 2),
    "clusters": st.sampled_from([-50, -49, 0, 1, 2, 70, 71]),
    "heavy tails": st.integers(0, 7).map(lambda power: (-7) ** power),
    "negatives": st.integers(-20, 20),
    "tenths": st.integers(-9, 9).map(lambda tenths: tenths / 10),
    "floats": st.floats(-1e6, 1e6, allow_nan=False),
    "fractions": st.fractions(-3, 3, max_denominator=7),
    "decimals": st.integers(-30, 30).map(lambda tenths: Decimal(tenths) / 10),
    "offset": st.integers(0, 8).map(lambda above: 10**9 + above),
    "float offset": st.integers(0, 8).map(lambda above: 1e9 + above / 4),
    "beyond 2**53": st.integers(-3, 3).map(lambda above: 2**60 + above),
}
"""Records by what is difficult about them."""

NUMPY_KINDS = ("ties", "clusters", "heavy tails", "negatives", "tenths", "floats", "offset")
"""Those that an array of int64 or float64 holds without loss."""


def records(least: int = 2, most: int = MOST_RECORDS, kinds: Iterable[str] = tuple(KINDS)):
    """Lists of records of one kind."""
    return st.sampled_from(list(kinds)).flatmap(
        lambda kind: st.lists(KINDS[kind], min_size=least, max_size=most)
    )


def domains(most_values: int = 3, kinds: Iterable[str] = tuple(KINDS)):
    """Universes in which every value has unlimited copies."""
    return (
        st.sampled_from(list(kinds))
        .flatmap(lambda kind: st.lists(KINDS[kind], min_size=1, max_size=most_values, unique=True))
        .map(sl.Universe.from_domain)
    )


def universes(kinds: Iterable[str] = tuple(KINDS)):
    """Universes of 2 to `MOST_RECORDS` records, or of up to 3 values with unlimited copies."""
    datasets = records(kinds=kinds).map(sl.Universe.from_dataset)
    return st.one_of(datasets, datasets, domains(kinds=kinds))


def as_records(universe: sl.Universe, most: int) -> list[Fraction]:
    """The records of a universe, as the oracle lists them; `most` fit into a dataset."""
    return oracle.universe_of(map(Fraction, universe.values), universe.multiplicities(most))


def as_fractions(dataset: Iterable[Any]) -> tuple[Fraction, ...]:
    """A dataset as the oracle writes it."""
    return tuple(map(Fraction, dataset))


NAMES = (
    "mean, count, sum, std, var, median, min, max, range, midrange, iqr, gini_mean_difference, "
    "trimmed_mean_10, winsorized_mean_10, count_distinct"
)
"""The choices that an error lists, in the order in which the package declares them."""

QUERIES = {
    "mean": (sl.Mean(), ("mean",)),
    "median": (sl.Median(), ("median",)),
    "sum": (sl.Sum(), ("sum",)),
    "count": (sl.Count(), ("count",)),
    "min": (sl.Min(), ("min",)),
    "max": (sl.Max(), ("max",)),
    "var": (sl.Var(), ("var", 0)),
    "var_ddof_1": (sl.Var(ddof=1), ("var", 1)),
    "std": (sl.Std(), ("std", 0)),
    "std_ddof_1": (sl.Std(ddof=1), ("std", 1)),
    "count_distinct": (sl.CountDistinct(), ("count_distinct",)),
}
"""By name: our query, and the oracle's."""

CHOSEN = {
    "mean": "monotone",
    "sum": "monotone",
    "count": "monotone",
    "median": "monotone",
    "min": "monotone",
    "max": "monotone",
    "var": "variance",
    "var_ddof_1": "variance",
    "std": "variance",
    "std_ddof_1": "variance",
    "count_distinct": "multiplicities",
}
"""By name: the engine that "auto" chooses for one dataset."""

HAVE_INTERVALS = [name for name, engine in CHOSEN.items() if engine in ("monotone", "variance")]
"""Those that an engine covers on an interval, too."""

NUMPY = {
    "mean": np.mean,
    "median": np.median,
    "sum": np.sum,
    "count": np.size,
    "min": np.min,
    "max": np.max,
    "var": np.var,
    "std": np.std,
    "var_ddof_1": lambda x: np.var(x, ddof=1),
    "std_ddof_1": lambda x: np.std(x, ddof=1),
    "count_distinct": lambda x: np.size(np.unique(x)),
}
"""By name: the function of numpy."""

IN_PLAIN_PYTHON = {
    "mean": statistics.mean,
    "median": statistics.median,
    "sum": sum,
    "count": len,
    "min": min,
    "max": max,
    "var": statistics.pvariance,
    "var_ddof_1": statistics.variance,
    "std": statistics.pstdev,
    "std_ddof_1": statistics.stdev,
    "count_distinct": lambda records: len(set(records)),
}
"""By name: what a person would write without any library but Python's own."""


def percentiles():
    """Pairs of a percentile and its oracle's spelling, over all methods and all q."""
    q = st.one_of(
        st.sampled_from([0, 10, 25, 50, 75, 90, 100]),
        st.integers(0, 100),
        st.fractions(0, 100, max_denominator=12),
        st.floats(0.01, 99.99),
        st.decimals(0, 100, places=1),
    )
    return st.builds(
        lambda q, method: (sl.Percentile(q, method), ("percentile", q, method)),
        q,
        st.sampled_from(oracle.METHODS),
    )


RELATIONS = {
    "bounded": (sl.Bounded, {}),
    "unbounded": (sl.Unbounded, {}),
    "unbounded (add)": (sl.Unbounded, {"direction": "add"}),
    "unbounded (remove)": (sl.Unbounded, {"direction": "remove"}),
    "symmetric difference": (sl.SymmetricDifference, {}),
    "edit": (sl.Edit, {}),
}
"""By family: the class of a relation and its parameters besides the distance."""


BY_NAME = {relation.name.replace(" ", "_"): relation for relation, _ in RELATIONS.values()}
"""The classes, by the names that arguments and the oracle take."""

RELATION_CHOICES = f"choose one of {', '.join(map(repr, BY_NAME))}, or " + ", ".join(
    f"{relation.__name__}(k)" for relation in BY_NAME.values()
)
"""What an error lists where a relation is not known."""


def most_feasible(family: str, size: int, total: float, exactly: bool) -> float:
    """The largest feasible distance for datasets of a size in a universe of `total` records."""
    outside = total - size
    return {
        "bounded": min(size, outside),
        "unbounded": (min if exactly else max)(size - 1, outside),
        "unbounded (add)": outside,
        "unbounded (remove)": size - 1,
        "symmetric difference": total if outside >= 1 else size - 1,
        "edit": max(size, outside) if outside >= 1 else size - 1,
    }[family]


class OfSizes:
    """What is asked of one or several sizes of x, under a feasible relation."""

    relation: Relation
    size: int | list[int]

    @property
    def sizes(self) -> list[int]:
        return [self.size] if isinstance(self.size, int) else self.size

    @property
    def oracle_relation(self) -> dict[str, Any]:
        """The relation, as arguments of the oracle."""
        return {
            "relation": self.relation.name.replace(" ", "_"),
            "k": self.relation.k,
            "exactly": self.relation.exactly,
            "direction": getattr(self.relation, "direction", "both"),
        }


@dataclass(frozen=True)
class Asked(OfSizes):
    """A universe, a feasible relation and one or several sizes of x."""

    universe: sl.Universe
    relation: Relation
    size: int | list[int]

    @property
    def records(self) -> list[Fraction]:
        """The universe, as the oracle lists it."""
        return as_records(self.universe, max(self.sizes) + self.relation.k)

    def neighbors(self, x: Iterable[Any]) -> set[tuple[Fraction, ...]]:
        """The neighbors of x, by the oracle's definition."""
        return set(oracle.neighbors(self.records, as_fractions(x), **self.oracle_relation))

    def sensitivity(self, query: Any) -> Any:
        """The largest change of a query, by the oracle; ValueError where it is undefined."""
        return max(
            oracle.global_sensitivity(self.records, size, query, **self.oracle_relation)[0]
            for size in set(self.sizes)
        )


def feasible_sizes(family: str, total: float, exactly: bool, largest: int) -> list[int]:
    """The sizes of x of which some dataset has a neighbor."""
    sizes = range(1, largest + 1)
    return [size for size in sizes if most_feasible(family, size, total, exactly) >= 1]


def draw_relation(
    draw: Any, family: str, exactly: bool, feasible: list[int], total: float, most_changes: int
) -> tuple[Relation, int | list[int]]:
    """A relation of a family, and one or several sizes for which it is feasible."""
    some = st.sampled_from(feasible)
    size = draw(st.one_of(some, st.lists(some, min_size=1, max_size=2)))
    sizes = [size] if isinstance(size, int) else size
    most = min(most_feasible(family, one, total, exactly) for one in sizes)
    relation, parameters = RELATIONS[family]
    return relation(draw(st.integers(1, int(min(most, most_changes)))), exactly, **parameters), size


@st.composite
def problems(draw, family: str, exactly: bool, kinds: Iterable[str] = tuple(KINDS)) -> Asked:
    """Feasible problems of one family of neighbor relations."""
    universe = draw(universes(kinds))
    total = universe.size
    feasible = feasible_sizes(family, total, exactly, 4 if total == float("inf") else int(total))
    if not feasible:
        universe, total, feasible = sl.Universe.from_dataset([1, 2, 2]), 3, [2]
    return Asked(universe, *draw_relation(draw, family, exactly, feasible, total, MOST_CHANGES))
