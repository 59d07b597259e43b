"""An object or two of every public class that has methods, for the fuzz of methods."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import garbage
import numpy as np
import pandas as pd
from audit_arguments import honest_or_not
from garbage import DOMAIN, MEASURED, REACH, RECORDS, ROWS, SMOOTH, TABLE, TOTAL, UNIVERSE
from space_arguments import DAYS, FOUR_BASKETS, FOUR_NODES
from sql_arguments import HAS_SQL, made_queries

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl
from sensitivity_lab import spaces
from sensitivity_lab.queries import Query
from sensitivity_lab.universes.relations import RELATIONS, Relation

_ASKED: dict[str, Any] = {"size": 2, "neighbors": sl.Bounded(1)}
_NEW = ("__getitem__", "__contains__", "__call__", "__rshift__", "__rrshift__")
"""The special methods that are called with something of the caller's."""


def _made() -> Iterator[Any]:
    """Results, and what is made of arguments."""
    yield from (UNIVERSE, DOMAIN, ROWS, sl.Universe.from_interval(0, 5))
    yield sl.TableUniverse.from_domain({"sex": ["f", "m"], "age": [1, 2]})
    yield from (one.at(2) for relation in RELATIONS.values() for one in relation.variants())
    yield from (MEASURED, SMOOTH, MEASURED.witness)
    yield sl.local_sensitivity(DOMAIN, "mean", dataset=[1, 2, 3], neighbors="bounded")
    yield sl.reach(DOMAIN, "mean", dataset=[1, 2, 3], neighbors="bounded", distances=2)
    histogram = sl.Histogram("sex", categories=["f", "m"])
    yield from (histogram, sl.GroupBy("sex", sl.Count(), groups=["f", "m"]))
    yield sl.VectorSum(["age"], clip_norm=3)
    yield sl.Workload([[1, 2], [0, 1]], ["f", "m"], "sex")
    yield sl.global_sensitivity(ROWS, histogram, **_ASKED)
    yield sl.sensitivity_curves(TABLE[["age"]], ["mean", "sum"], distances=[1, 2], **_ASKED)
    yield sl.bounds.sensitivity_bounds(sl.Universe.from_interval(0, 1), np.mean, **_ASKED)
    yield sl.neighbor_table(UNIVERSE, "mean", **_ASKED)
    report = sl.audit(UNIVERSE, "mean", 1, distances=[1, 2], **_ASKED)
    yield from (report, report.rows[0])
    yield sl.audits.audit_mechanism(honest_or_not, [0], [1, 2], epsilon=1, neighbors="unbounded")
    yield sl.noise.noise_table({"a": MEASURED}, epsilon=1, public_universe=True)
    yield sl.noise.inverse_sensitivity(REACH, epsilon=1, grid=[1, 2, 3])
    measured = pl.measured_stability(TOTAL, [1, 2], sizes=[1, 2], d_in=1)
    yield from (measured, measured.witness)
    yield TOTAL.sensitivity(d_in=1)
    planned = sl.releases.plan(sl.releases.Person("id", max_rows=1), epsilon=1, agg={"n": "count"})
    yield sl.releases.Person("id", max_rows=1)
    yield from (planned, planned.without_noise(pd.DataFrame({"id": [1, 2]})))
    yield planned.errors(pd.DataFrame({"id": [1, 2]}), times=2)
    yield planned.check(pd.DataFrame({"id": [1, 2]}))
    yield sl.releases.ledger(".")
    yield sl.noise.clipping_sweep(RECORDS, bounds=[1, 5], neighbors="bounded", epsilon=1)
    yield from (TOTAL, pl.clamp(0, 5), pl.Start(pl.Numbers(), pl.SymmetricDistance()))
    yield TOTAL >> pl.laplace(1)
    yield from (pl.AbsoluteDistance(), pl.ChangeOneDistance(), pl.SymmetricDistance())
    yield from (pl.L1Distance(), pl.L2Distance(), pl.GroupsDistance(pl.L1Distance()))
    yield from (pl.IdDistance("id"), pl.SharedIdDistance("id"))
    yield pl.PairDistance(pl.SymmetricDistance(), pl.SymmetricDistance())
    yield from (
        pl.Scalar(),
        pl.Numbers(),
        pl.Numbers(size=3, bounds=(0, 5)),
        pl.Values(2),
        pl.Table(),
    )
    yield from (pl.Vector(2), pl.Groups("sex", ("f", "m")), pl.Pair(pl.Numbers(), pl.Scalar()))
    yield from (pl.DropExcess(2), pl.DropNonUnique(), pl.AddMaxRows(1), pl.AddRowsWithID("id"))
    yield from (FOUR_NODES, DAYS)
    yield from (FOUR_BASKETS, spaces.Within(2))
    yield spaces.global_sensitivity(FOUR_BASKETS, len, neighbors=spaces.Within(1))
    yield spaces.global_sensitivity(FOUR_NODES, "triangles", neighbors=spaces.Within(1))
    yield spaces.global_sensitivity(DAYS, "changes", neighbors=spaces.Within(1))
    yield from spaces.sensitivity_curve(FOUR_BASKETS, len, distances=[1, 2])
    yield sl.streams.participation_sensitivity([1, -1, 2], k=2, contribution=2)
    for asked in made_queries() if HAS_SQL else ():
        yield from (asked, asked.contributions())
    for name in dir(sl):
        made = getattr(sl, name)
        if inspect.isclass(made) and issubclass(made, Query):
            needed = inspect.signature(made).parameters.values()
            given = [
                garbage.valid(name, one)[0]
                for one in needed
                if one.default is one.empty and one.kind is not one.VAR_KEYWORD
            ]
            with contextlib.suppress(sl.errors.SensitivityLabError):
                yield made(*given)


@cache
def instances() -> dict[str, list[Any]]:
    """What there is of every public class, by its name."""
    found: dict[str, list[Any]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.errors.DatasetUniverseWarning)
        for one in _made():
            found.setdefault(type(one).__name__, []).append(one)
    return found


_BETWEEN = {
    # What relations, metrics, domains and rules declare to engines and to each other.
    *((Relation, name) for name in dir(Relation) if not name.startswith("_") and name != "at"),
    *((pl.Metric, name) for name in ("form", "form_by", "between", "norm")),
    *((pl.Metric, name) for name in ("among", "measure", "apart", "extended")),
    *((pl.Domain, name) for name in ("read_values", "within", "limit", "only_rows_per_id")),
    *((kind, "kept") for kind in (pl.DropExcess, pl.DropNonUnique)),
    (pl.ChainSensitivity, "of"),
}


def _of_callers(one: Any, method: str) -> bool:
    """Whether callers call a method; the rest engines call, on what was checked before."""
    if isinstance(one, Query):
        return method == "__call__"
    return not any(isinstance(one, kind) and method == name for kind, name in _BETWEEN)


def methods() -> dict[str, list[Callable[..., Any]]]:
    """Every public method of what there is, bound, by the names of class and method."""
    found: dict[str, list[Callable[..., Any]]] = {}
    for name, objects in instances().items():
        for one in objects:
            for method in dir(type(one)):
                public = not method.startswith("_") or method in _NEW
                if not public or not _of_callers(one, method):
                    continue
                bound = inspect.getattr_static(type(one), method)
                if callable(bound) or isinstance(bound, classmethod | staticmethod):
                    found.setdefault(f"{name}.{method}", []).append(getattr(one, method))
    return found
