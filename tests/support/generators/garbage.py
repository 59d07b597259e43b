"""Arguments for the fuzz: what every public callable takes, and what none does.

`GARBAGE` makes what callers pass by mistake, `valid` good values; the fuzz tells what lacks one.
"""

from __future__ import annotations

import datetime
import inspect
import itertools
import math
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from audit_arguments import AUDIT_ARGUMENTS, noisy_count
from pipeline_arguments import PIPELINE_ARGUMENTS
from space_arguments import SPACE_ARGUMENTS
from sql_arguments import SQL_ARGUMENTS

import sensitivity_lab as sl
from sensitivity_lab import pipelines as pl

TABLE = pd.DataFrame({"id": [1, 1, 2], "sex": ["f", "m", "f"], "age": [20, 30, 40]})


def _longest_name() -> int:
    """A whole number that names a column; in older pandas it must be in the range of floats."""
    try:
        pd.DataFrame({10**5000: [1], "a": [1]})
    except OverflowError:
        return 10**300
    return 10**5000


LONGEST = _longest_name()


class CallersError(RuntimeError):
    """What a hostile object or function raises."""


def raising(*_: Any, **__: Any) -> Any:
    raise CallersError("a caller's own error")


def hostile(*methods: str) -> Callable[[], object]:
    """A class whose objects fail in some special methods."""
    return type("Hostile", (), dict.fromkeys(methods, raising))


def endless() -> Iterator[int]:
    """A generator without an end."""
    while True:
        yield 1


def recursive() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


NUMBERS: tuple[Any, ...] = (
    *(True, False, 0, -1, 1, 2, 3, 7, 10**9, 2**63, 2**64, 10**19, 10**400, 10**5000, -(10**5000)),
    *(0.5, -0.0, 1.5, math.nan, math.inf, -math.inf, 1e308, 5e-324, 1e-300),
    *(Fraction(1, 3), Fraction(10**400, 3), Fraction(1, 10**3000)),
    *map(Decimal, ("NaN", "sNaN", "Infinity", "1e5000", "1e99999999", "-1e-99999999", "0.5")),
    *(1j, np.longdouble("0.5"), np.longdouble("inf"), np.float64("nan"), np.float32("1e30")),
    *(np.int8(3), np.uint64(2**64 - 1), np.bool_(True), np.complex128(1), np.float64(5e-324)),
)

OTHERS: tuple[Callable[[], Any], ...] = (
    *(lambda: None, lambda: pd.NA, lambda: pd.NaT, lambda: ..., lambda: NotImplemented),
    *(lambda: np.datetime64("NaT", "D"), lambda: np.timedelta64(3, "s"), lambda: math),
    *(lambda: pd.Timestamp("2020-01-01"), lambda: datetime.date(2020, 1, 1)),
    *(lambda: datetime.timedelta(1), lambda: Path("nowhere")),
    *(lambda: np.array(3), lambda: np.array(math.nan), lambda: np.array([]), lambda: np.eye(2)),
    *(lambda: np.array([1, 2]), lambda: np.array([0.5, math.inf]), lambda: np.array([True, False])),
    *(lambda: np.array(["a", "b"]), lambda: np.array([1, None], dtype=object)),
    *(lambda: np.array([1, 2], dtype="m8[s]"), lambda: np.ma.masked_array([1, 2], [True, False])),
    *(lambda: np.array([1, 2], dtype=np.longdouble), lambda: np.zeros((0, 3))),
    *(lambda: np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), lambda: np.ma.masked),
    *(lambda: pd.Series([1, 2, 3]), lambda: pd.Series([], dtype=float), lambda: pd.Index([1])),
    *(lambda: pd.Series(["a", None]), lambda: pd.DataFrame({"a": [1, 2]}), lambda: pd.DataFrame()),
    *(lambda: pd.DataFrame([[1, 2]], columns=["a", "a"]), lambda: pd.array([1, None], "Int64")),
    *(lambda: pd.Categorical(["a", "b"]), lambda: pd.DataFrame({"a": [[1], {}]})),
    *(lambda: "", lambda: "a", lambda: "mean", lambda: "\0\x1b[31m\n", lambda: "x" * 10_000),
    *(lambda: "percentile_1e99999999", lambda: "percentile_nan", lambda: "percentile_0.1"),
    *(lambda: "age >= 18", lambda: "L1", lambda: "é\ud800", lambda: "1", lambda: "nan"),
    *(lambda: b"", lambda: b"abc", lambda: bytearray(b"\1"), lambda: memoryview(b"\1\2")),
    *(set, lambda: {1, 2}, frozenset, dict, lambda: {"a": 1}, lambda: {"a": [1, 2]}),
    *(list, tuple, lambda: [1], lambda: [[1], [2]], lambda: [1, [2]], lambda: [None], recursive),
    *(lambda: ["a"], lambda: (1, 2), lambda: (1, 2, 3), lambda: [math.nan], lambda: [10**5000]),
    *(lambda: [Decimal("1e99999999")], lambda: (None, None), lambda: ("a", "b"), lambda: [{}]),
    *(lambda: (one for one in (1, 2)), lambda: iter([1]), lambda: range(5)),
    *(itertools.count, lambda: itertools.repeat("a"), lambda: itertools.cycle([1, [2]]), endless),
    *(lambda: "\u202ea\u200b", lambda: Path("\ud800"), lambda: Path("x" * 300), lambda: [["a"]]),
    *(lambda: range(10**12), lambda: range(10**30), lambda: range(-3, 0)),
    *(lambda: lambda x: x, lambda: lambda *_, **__: math.nan, lambda: lambda *_: None),
    *(lambda: raising, lambda: lambda *_: "a", lambda: lambda *_: [1, [2]], lambda: len),
    *(object, lambda: object, lambda: int, lambda: sl.Mean, lambda: sl.Bounded, lambda: sl),
    *(
        lambda: ValueError("x"),
        hostile("__eq__"),
        hostile("__repr__", "__str__"),
        hostile("__len__"),
    ),
    *(
        hostile("__array__"),
        hostile("__eq__", "__hash__"),
        hostile("__iter__"),
        hostile("__bool__"),
    ),
    *(hostile("__float__", "__int__", "__index__"), hostile("__call__"), hostile("__hash__")),
    *(hostile("__lt__", "__le__", "__gt__", "__ge__"), hostile("__getitem__", "__len__")),
    *(lambda: sl.Universe([1, 2]), lambda: sl.Mean(), lambda: sl.Bounded(1), lambda: pl.Numbers()),
    *(lambda: sl.Count(), lambda: sl.SumOf("age"), lambda: pl.clamp(0, 1), lambda: pl.L1Distance()),
)

CELLS: tuple[Any, ...] = (
    *([1j, 2j], [None, None], ["a", 1], [10**5000, 1], [Decimal("NaN"), 1], [math.nan, math.inf]),
    *([pd.Timedelta(1), pd.NaT], [pd.Interval(0, 1), 1], [pd.Period("2020"), None], [b"a", "a"]),
    *([pd.Timestamp("2020", tz="UTC"), pd.Timestamp("2020")], [Decimal("1e99999999"), 1]),
    *([(1, 2), "a"], [frozenset(), ()], [True, 2**64], ["\0", "=1"], [np.longdouble(1), object()]),
    *([{}, set()], [[1], [2]], [hostile("__eq__", "__hash__")(), 1], [hostile("__repr__")(), 1]),
)
"""The columns of tables."""

TABLES: tuple[Callable[[], Any], ...] = (
    *(
        (lambda cells=cells: pd.DataFrame({"age": pd.Series(cells, dtype=object)}))
        for cells in CELLS
    ),
    lambda: pd.DataFrame({math.nan: [1, 2], None: [1, 2]}),
    lambda: pd.DataFrame({("a", "b"): [1], ("a", "c"): [2]}),
    lambda: pd.DataFrame({LONGEST: [1, 2], "\0\x1b[31m": [1, 2]}),
    lambda: pd.DataFrame({"age": pd.array([1, None], dtype="Int64")}, index=["x", "x"]),
    lambda: pd.DataFrame({"age": pd.Categorical(["a", None])}),
    lambda: TABLE.assign(age=[1, None, math.inf]),
)

RETURNING: tuple[Callable[[], Any], ...] = tuple(
    (lambda made=made: lambda *_, **__: made())
    for made in (*OTHERS, *((lambda number=number: number) for number in NUMBERS))
)
"""Functions that return such values."""

GARBAGE: tuple[Callable[[], Any], ...] = (
    *TABLES,
    *RETURNING,
    *((lambda number=number: number) for number in NUMBERS),
    *OTHERS,
)

RECORDS = [1, 2, 3, 10]
UNIVERSE = sl.Universe.from_dataset(RECORDS)
ROWS = sl.TableUniverse.from_dataset(TABLE)
TOTAL = (pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(0, 5) >> pl.sum_(0, 5)
DOMAIN = sl.Universe.from_domain(RECORDS, copies=3)
SMOOTH = sl.smooth_sensitivity(DOMAIN, "median", dataset=[1, 2, 3], beta=0.01, neighbors="bounded")
MEASURED = sl.global_sensitivity(DOMAIN, "sum", size=2, neighbors=sl.Bounded(1))
UNLIMITED = sl.Universe.from_domain(RECORDS)
REACH = sl.reach(UNLIMITED, "median", dataset=[1, 2, 3], neighbors="bounded", distances=2)
COUNTED = pl.start(pl.AddMaxRows(1)) >> pl.count()


class Mechanism:
    """What `audit_recorded` replaces."""

    def __init__(self, sensitivity: float) -> None:
        self.sensitivity = sensitivity

    def randomise(self, value: float) -> float:
        return value


def released_mean(x: list[float]) -> float:
    return Mechanism(1 / max(len(x), 1)).randomise(sum(x) / max(len(x), 1))


def opendp_sum() -> Any:
    """A transformation of OpenDP's, where it is installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return object()
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(bounds=(0, 5))), dp.symmetric_distance()
    return space >> dp.t.then_sum()


_SAVED = Path(tempfile.mkdtemp()) / "plan.json"
sl.releases.plan(sl.releases.Person("id", max_rows=2), epsilon=1, agg={"n": "count"}).save(_SAVED)

VALID: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("a", "b", "column", "on"), ("id", "sex", "age")),
    **dict.fromkeys(("k", "d_in", "distances", "hamming_distance", "length"), (1, 2)),
    **dict.fromkeys(("size", "universe_subset_cardinality"), (2, 3)),
    **dict.fromkeys(("max_size", "max_rows", "g", "r", "rows", "copies"), (2, 5)),
    **dict.fromkeys(("lower",), (0, 1)),
    **dict.fromkeys(("upper",), (5, 2.5)),
    **dict.fromkeys(("exactly", "allow_missing", "vectorized"), (False, True)),
    **dict.fromkeys(("tight", "reveal", "every_order", "floats"), (False, True)),
    **dict.fromkeys(("epsilon", "rho", "scale", "beta", "magnitude"), (1, 0.5)),
    **dict.fromkeys(("d_in", "sensitivity"), (1, 2)),
    **dict.fromkeys(("groups", "categories", "keys"), (["f", "m"], ["f"])),
    **dict.fromkeys(("values", "records"), (RECORDS, [1, 2, 3])),
    **dict.fromkeys(("x", "dataset"), ([1, 2, 3], [1, 2])),
    **dict.fromkeys(("left", "right"), (pl.DropExcess(2), pl.DropNonUnique())),
    **dict.fromkeys(("map_.columns", "flat_map.columns", "claim", "release", "select"), (None,)),
    **dict.fromkeys(("farthest", "ddof"), (0, 1)),
    **dict.fromkeys(("limit", "pair_limit", "row_limit"), (1000, 5000)),
    **dict.fromkeys(("input_domain", "output_domain"), (pl.Scalar(),)),
    **dict.fromkeys(("input_metric", "output_metric"), (pl.AbsoluteDistance(),)),
    "result": (SMOOTH,),
    "releases.load.path": (_SAVED,),
    "releases.ledger.path": (_SAVED.parent,),
    "releases.plan.rows": (None, 100),
    "releases.plan.decimal": (None, ","),
    "releases.plan.person": (sl.releases.Person("id", max_rows=2),),
    "releases.plan.bounds": ({"age": range(9)},),
    "releases.plan.agg": ({"n": "count", "mean": ("age", "mean")}, {"m": ("age", "median")}),
    **dict.fromkeys(("groupby", "releases.plan.step", "releases.plan.bins"), (None, {})),
    **dict.fromkeys(("max_groups", "max_rows_per_group"), (None,)),
    "reach": (REACH,),
    "grid": (range(4), [0.5, 2]),
    "weights": (None,),
    "width": (0, 1),
    "range": ((0, 10), (-1, 5)),
    "bound": (1, 2),
    "integer": (False, True),
    **dict.fromkeys(("test_epsilon", "noise_epsilon"), (1, 0.5)),
    "delta": (1e-6, Fraction(1, 10**5)),
    "gamma": (2, 3),
    "tolerance_ulps": (4, 0),
    "build": (lambda *_: TOTAL,),
    "stability_map": (lambda d_in: 2 * d_in,),
    "steps": ((), (TOTAL,)),
    "check_universe": (None, lambda _: None),
    "bins": ([0, 20, 50],),
    "bounds": ((0, 5), None),
    "change": (pl.AddMaxRows(1),),
    "changes": (pl.AddMaxRows(1), pl.AddRowsWithID("id")),
    "clip": ((0, 50), None),
    "columns": (["age"],),
    "component": (None, "L1"),
    "clip_norm": (10, 0.5),
    "group_sizes": (None, [1, 1]),
    "counts": ([1, 1, 2, 1], None),
    "data": (RECORDS, [1, 2]),
    "direction": ("both", "add"),
    "distance": (1, Fraction(1, 2)),
    "domain": (pl.Numbers(), pl.Values(size=3), pl.Table()),
    "empty": (0, None),
    "least_size": (0, 1),
    "end": ("lower", "upper"),
    "sensitivities": (None, {"global": MEASURED, "smooth": 2}),
    "factor": (None, 2),
    "evaluations": (50, 100),
    "time_limit": (0.05,),
    "rtol": (1e-3, 0.5),
    "seed": (1, None),
    "value_range": (None, (-1e9, 1e9)),
    "per_record": (None, 10**9),
    "monotone": (False,),
    "fraction": (Fraction(1, 10), 0.25),
    "function": (np.mean, sum),
    "memory_limit": (2**30,),
    "run": (sl.Run(), sl.Run(memory_limit=2**30)),
    "timeout": (None, 30),
    "method": ("auto", "enumeration"),
    "metric": (pl.L1Distance(), None),
    "n_jobs": (None, 1),
    "name": ("mine",),
    "neighbors": (sl.Bounded(1), "unbounded", sl.SymmetricDifference(1)),
    "norm": ("L1", "L2"),
    "percentile": (50, 12.5),
    "predicate": ("age >= 18", lambda row: row["age"] > 18),
    "progress": (None, False),
    "q": (25, 50.5),
    "queries": ("mean", ["mean", "median"]),
    "query": ("mean", sl.Var(), "percentile_25", max),
    "query_type": ("mean", "percentile"),
    "relation": (sl.Bounded(1), sl.Unbounded(1)),
    "sizes": (None, 2, [1, 2]),
    "square": (Fraction(2), Fraction(1, 4)),
    "step": (None, 1),
    "subject": (None, "mean"),
    "table": (TABLE,),
    "targets": (Mechanism,),
    **dict.fromkeys(("transformation", "before"), (TOTAL, COUNTED)),
    "unit": (None,),
    "universe": (
        *(UNIVERSE, sl.Universe.from_domain([0, 1, 5])),
        sl.Universe.from_interval(0, 5),
    ),
    "universes": (UNIVERSE, {"a": UNIVERSE}, TABLE, sl.Universe.from_interval(0, 5)),
    "split": (None, [1, 2], {"mean": 1, "sum": 2}),
    "weight_function": (range, lambda n: [Fraction(1, n)] * n),
    "where": (None, lambda x: len(x) > 0),
    # Where one name means different things:
    "CountIf.predicate": ("age >= 18", lambda rows: rows["age"] > 18),
    "ColumnQuery.column": ("age",),
    "ColumnQuery.query": ("mean", "median", sl.Var()),
    "GroupBy.column": ("sex",),
    "GroupBy.query": ("count", sl.SumOf("age")),
    "Histogram.column": ("sex",),
    "InterquartileRange.method": ("linear", "lower"),
    "Groups.keys": (("f", "m"),),
    "GroupsDistance.norm": (pl.L1Distance(), pl.L2Distance()),
    "Numbers.size": (None, 3),
    "Pair.first": (pl.Numbers(),),
    "Pair.second": (pl.Scalar(),),
    "PairDistance.first": (pl.AbsoluteDistance(),),
    "PairDistance.second": (pl.L1Distance(),),
    "Percentile.method": ("linear", "lower"),
    "Stack.queries": (sl.Count(), sl.MeanOf("age")),
    "Start.metric": (pl.SymmetricDistance(),),
    "Table.limits": ((),),
    "TableUniverse.rows": (TABLE.drop_duplicates(),),
    "TableUniverse.counts": ([1, 2, 3], None),
    "TableUniverse.column.column": ("age",),
    "TableUniverse.to_frame.dataset": ([(1, "f", 20)], TABLE),
    "Universe.index.x": (1, 2),
    "TableUniverse.from_domain.values": ({"sex": ["f", "m"], "age": [1, 2]}, TABLE),
    "TableUniverse.from_dataset.records": (TABLE, TABLE["age"]),
    "audit.claim": (1, 10, lambda k: 3 * k),
    "audit_opendp.made": (opendp_sum(), noisy_count),
    **AUDIT_ARGUMENTS,
    **(PIPELINE_ARGUMENTS | SPACE_ARGUMENTS | SQL_ARGUMENTS),
    "audit_recorded.function": (released_mean,),
    "audit_recorded.select": (list,),
    "audit_recorded.universe": ([0, 1],),
    "sensitivity_bounds.universe": (sl.Universe.from_interval(0, 5),),
    "sensitivity_bounds.query": (np.mean, np.var),
    "audit_recorded.size": (2, [1, 2]),
    "assert_sensitivity.claim": (10**6, 10),
    "audit_recorded.histories": (0, 1),
    "audit_recorded.budget": (None,),
    "audit_recorded.fresh": (False,),
    "audit_opendp.extremes": (False,),
    "recording.epsilon": (None,),
    "bounded_empirical_global_L1_sensitivity.universe": (TABLE, {"age": RECORDS}),
    "unbounded_empirical_global_L1_sensitivity.universe": (TABLE, {"age": RECORDS}),
    "clipping_sweep.bounds": ([1, 5], (2.5,)),
    "clipping_sweep.neighbors": ("unbounded", sl.Bounded(1)),
    "filter_.predicate": (lambda _: True, bool),
    "flat_map.function": (lambda row: [row, row], lambda _: []),
    "formula.function": (lambda x: x + x, lambda x: 5 * x),
    "map_.function": (lambda row: row, str),
    "mean.size": (3,),
    "measured_stability.universe": (RECORDS, [1, 2]),
    "recording.method": ("randomise",),
    "recording.sensitivity": ("sensitivity",),
    "recording.value": (None, "value"),
    "recording.scores": (None,),
    "recording.monotonic": ("monotonic",),
    "recording.candidates": ("candidates",),
    "select.domain": (None, pl.Numbers()),
    "noise_table.results": ({"mean": 1, "sum": MEASURED}, {"mean": MEASURED, "sum": 2}),
    "from_function.order": ("sorted", None),
    "matrix": ([[1, 2], [0, 1]], [[0.5, -1]]),
    "VectorSum.columns": (["age"], ["id", "age"]),
}


def valid(name: str, parameter: inspect.Parameter) -> tuple[Any, ...]:
    """Good values for a parameter of a callable."""
    for key in (f"{name}.{parameter.name}", parameter.name):
        if key in VALID:
            return VALID[key]
    raise AssertionError(
        f"tests/support/generators/garbage.py has no value for {parameter.name!r} of {name}"
    )
