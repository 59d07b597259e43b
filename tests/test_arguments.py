"""Every argument of every public call, and its kind: what is refused, and the one message of it.

A kind of argument says the same wherever it is asked for: `<name> must be <accepted>, got <value>`
and what to do. The table below says which argument is of which kind. Messages about more than one
argument (bounds out of order, no feasible neighbors, ...) are tested where the calls are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pytest
from public_calls import CALLABLES, NAMES, arguments, parameters_of
from sql_arguments import HAS_SQL
from strategies import NAMES as QUERY_NAMES

import sensitivity_lab as sl
from sensitivity_lab.search.engines import ENGINES


class Thing:
    """Nothing that any call takes."""

    def __repr__(self) -> str:
        return "<thing>"


THING, FRAME, NONE = Thing(), pd.DataFrame({"a": [1]}), list[int]()
TABLE = "an object of the type DataFrame"

Wrong = tuple[tuple[Any, str], ...]
"""Values, each with what a message says that came."""

NO_NUMBERS: Wrong = (
    *((None, "None (NoneType)"), ("1", "'1' (str)"), (True, "True (bool)"), ([], "[] (list)")),
    *((1j, "1j (complex)"), (THING, "<thing> (Thing)"), (FRAME, TABLE)),
    (..., "Ellipsis (replace the dots)"),
)
LONG = "about 1e5000 (numbers have at most 4,000 digits)"
NOT_FINITE: Wrong = (
    *((math.nan, "nan"), (math.inf, "inf"), (10**5000, LONG)),
    (Decimal("sNaN"), "Decimal('sNaN')"),
    (Decimal("1e99999999"), LONG.replace("1e5000", "1e99999999")),
)
OBJECTS: Wrong = ((None, "None"), (THING, "<thing>"), (0.5, "0.5"))


@dataclass(frozen=True)
class Kind:
    """What is accepted, what is not, and what is said of it.

    `message` has places for the name of the argument and for what came. `name` is what the message
    calls an argument, where that is more than its name.
    """

    message: str
    wrong: Wrong
    name: str = ""

    def or_none(self) -> Kind:
        """The same kind, where the argument can be left out."""
        joint = "None," if " or " in self.message.partition("(")[0] else "None or"
        return replace(
            self,
            message=self.message.replace("must be", f"must be {joint}", 1),
            wrong=self.but(None).wrong,
        )

    def but(self, *accepted: Any) -> Kind:
        """The same kind, where some of these values are accepted."""
        others = (one for one in self.wrong if not any(one[0] is this for this in accepted))
        return replace(self, wrong=tuple(others))

    def several(self) -> Kind:
        """The same kind, where one value or several are taken, but not none."""
        others = (one for one in self.wrong if not isinstance(one[0], list | pd.DataFrame))
        return replace(self, wrong=(*others, (NONE, "none; give one or several")))

    def called(self, name: str) -> Kind:
        """The same kind, where messages call the argument by another name."""
        return replace(self, name=name)


def kind(accepted: str, wrong: Iterable[tuple[Any, str]], way_out: str = "") -> Kind:
    return Kind(f"{{name}} must be {accepted}, got {{got}}{way_out}", tuple(wrong))


def whole(meaning: str, least: int = 1, most: int | None = None) -> Kind:
    beyond = (
        (2**62, f"{2**62}; give one below 2**62") if most is None else (most + 1, f"{most + 1}")
    )
    floats = ((1.0, "1.0 (float)"), (np.float64(2), "2.0 (float)"))
    outside: Wrong = ((least - 1, f"{least - 1}, below {least}"), *floats, beyond)
    return kind(f"a whole number ({meaning})", NO_NUMBERS + outside)


def number(accepted: str, *outside: Any) -> Kind:
    way_out = "; give an int, float, Fraction or Decimal"
    none = tuple((value, came + way_out) for value, came in NO_NUMBERS)
    return kind(accepted, (*none, *NOT_FINITE, *((one, repr(one)) for one in outside)))


def choice(*choices: str) -> Kind:
    near = f"{choices[0]}x" if len(choices[0]) > 3 else "nothing"
    meant = f"; did you mean {choices[0]!r}?" if near != "nothing" else ""
    listed = ", ".join(map(repr, choices))
    arrays = ((np.array(choices[:1]), repr(np.array(choices[:1]))), (pd.NA, "<NA>"))
    return kind(f"one of {listed}", (*OBJECTS, *arrays, (near, f"{near!r}{meant}")))


def function(accepted: str) -> Kind:
    return kind(accepted, (*OBJECTS, ("sum", "'sum'")))


def thing(accepted: str, way_out: str = "") -> Kind:
    return kind(accepted, OBJECTS, way_out)


def said(message: str, *wrong: Any) -> Kind:
    """A kind with a message of its own, which shows what came as it is."""
    return Kind(message, tuple((one, repr(one)) for one in wrong or (THING, 0.5)))


ANYTHING = Kind("", ())
"""What any object can be given for, or what is tested where the call is."""

FLAG = kind("True or False", (*OBJECTS, (1, "1"), ("yes", "'yes'"), (np.array([1]), "array([1])")))
PROGRESS = FLAG.or_none()
JOBS = kind(
    "None or a whole number other than 0 (-1 for all processors)",
    ((0, "0"), (1.5, "1.5"), ("1", "'1'"), (True, "True"), (10_001, "10001; give at most 10,000")),
)
NAME = kind("a text", ((THING, "<thing>"), (5, "5")))
COLUMN = kind(
    "the name of one column, such as 'age'",
    (([], "[]"), ({}, "{}"), (10**5000, LONG), ("\ud800", r"'\ud800'")),
)
TEXT_COLUMN = kind("the name of one column, such as 'age'", (*OBJECTS, (5, "5")))
BOUNDS = kind(
    "two finite numbers (lower, upper), in order",
    (
        *(*OBJECTS, (5, "5"), ("ab", "'ab'"), ((1,), "(1,)"), ((0, 1, 2), "(0, 1, 2)")),
        *(((2, 1), "(2, 1)"), ((0, math.inf), "(0, inf)"), ((None, 1), "(None, 1)")),
    ),
)

FINITE = number("a finite number")
POSITIVE = number("a finite number above 0", 0, -1, -0.5)
LOSS = number("a number from 1e-9 to 1e6", 0, -1, 10**7)
CLAIM = number("a number above 0, at most 700", 0, -1, 701)
NOT_NEGATIVE = number("a finite number of at least 0", -1, -0.5)
PERCENT = number("a number from 0 to 100", -1, 100.5).called("a percentile")
GAMMA = number("a number above 1, at most 100", 1, 101)
DELTA = number("a number from 1e-100 to 0.5", 0, 0.6, 1)
GAUSSIAN_EPSILON = number("a number from 1e-9 to 100 where a delta is given", 0, 101)
FRACTION = kind(
    "a number from 0 to below 1/2",
    (*OBJECTS[:2], (0.5, "0.5"), (-0.1, "-0.1"), (math.nan, "nan"), ("1", "'1'")),
    "; for ten percent at each end write Fraction(1, 10)",
)
SENSITIVITY = kind(
    "a finite number of at least 0 or a result of sl.global_sensitivity",
    (*OBJECTS[:2], (-1, "-1"), ("1", "'1'"), (FRAME, TABLE), *NOT_FINITE),
)

DISTANCE = whole("a Hamming distance, at least 1")
RECORDS = whole("a number of records, at least 1")
SIZE = whole("a number of records, at least 0", 0)
ROWS = whole("a number of rows, at least 1")
OFTEN = whole("how often a record occurs, at least 1")
SIZE_OF_DOMAIN = whole("a number of values or rows, at least 0", 0).or_none()

LISTED = kind("a list of values", ((THING, "<thing>"), (0.5, "0.5")))
NORM = choice("L1", "L2", "Linf")
PERCENTILE_METHODS = (
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation"),
    *("interpolated_inverted_cdf", "hazen", "weibull", "linear", "median_unbiased"),
    *("normal_unbiased", "lower", "higher", "midpoint", "nearest"),
)
NAMED = tuple(QUERY_NAMES.split(", "))
GLOBAL, LOCAL = (
    ("auto", *(engine.name for engine in ENGINES if engine.kind == kind))
    for kind in ("global", "local")
)
QUERY = said(
    f"unknown query {{got}}; choose one of {', '.join(NAMED)}, percentile_25 (any number from 0 to "
    "100), a query such as Percentile(25), or a function of a 1-D array",
    THING,
    5,
)
PART = said(
    "a part of a Stack or GroupBy must be a query on records, such as Count(), SumOf('age') or "
    "MeanOf('age'), got {got}; write several answers of your own as one function",
    THING,
    5,
)
NEIGHBORS = said(
    "unknown neighbor relation {got}; choose one of 'bounded', 'unbounded', "
    "'symmetric_difference', 'edit', or Bounded(k), Unbounded(k), SymmetricDifference(k), Edit(k)",
    THING,
    5,
    "far",
)
UNIVERSE = Kind(
    "universe must be a Universe, or a list, a column or a table of its records, got {got}; make "
    "one with Universe.from_dataset(records) or Universe.from_domain(values)",
    ((THING, "test_arguments.Thing"), (5, "int"), (None, "NoneType")),
)
UNIVERSES = Kind(
    "universes must be a Universe, a mapping of column names to universes, or a table or a column "
    "of records, got {got}",
    ((THING, "test_arguments.Thing"), (5, "int"), (None, "NoneType")),
)
NO_TABLE = Kind(
    "a universe of records is made of a table, such as a pandas.DataFrame, got {got}; for one list "
    "of numbers use Universe",
    ((THING, "test_arguments.Thing"), (5, "int")),
)
SEQUENCE_OF_NUMBERS = kind(
    "a sequence of numbers, such as [0, 1, 2], range(21) or a column of a table",
    ((THING, "<thing>"), (5, "5"), ("abc", "'abc'")),
).called("records")
DATASET = thing("a sequence of records").called("a dataset")
DOMAIN = thing("a domain, such as Numbers()")
METRIC = thing("a metric, such as SymmetricDistance()")
L1_OR_L2 = thing("L1Distance() or L2Distance()")
RUN = thing("a Run, such as Run(memory_limit=2**30)")
PREDICATE = kind(
    "a function of a DataFrame, or a text such as 'age >= 18'", ((THING, "<thing>"), (5, "5"))
)
GRAPH_QUERIES = ("edges", "triangles", "max_degree", "degree_histogram")
OF_AUDITS = Kind("", ())
"""What `tests/audits` tests: claims, datasets and code of other libraries."""

SECONDS = number("a positive number of seconds, at most 1,000,000", 0, 10**7)

STREAMS = {
    "matrix": kind(
        "a matrix of finite floats or whole numbers with a column for each of at most 2,000 steps "
        "(rows, an array or a sparse matrix), or the first column of a lower triangular Toeplitz "
        "matrix, no entry above 1e100",
        (*OBJECTS, ([], "[]"), ([math.nan], "[nan]"), ([1e200], "[1e+200]"), ("ab", "'ab'")),
    ),
    "k": whole("the most participations of a person, at least 1"),
    "separation": whole("steps from one participation to the next, at least 1"),
    "pattern": choice("at least", "fixed"),
    "contribution": kind(
        "'number' (in [-1, 1]), 'one' (exactly 1), or a whole number d (vectors of d numbers, at "
        "most 1,000,000)",
        (*OBJECTS, ("two", "'two'"), (0, "0"), (True, "True")),
    ),
    "neighbors": choice("zero-out", "replace"),
    "gram": FLAG,
    "time_limit": SECONDS.or_none(),
}
"""What the calls of `streams` take."""

ARGUMENTS: dict[str, Kind] = {
    "Run.memory_limit": whole("a number of bytes, at least 1"),
    "Run.timeout": SECONDS.or_none(),
    "Run.time_limit": SECONDS.or_none(),
    # Of queries.
    "clip": BOUNDS.or_none(),
    "clip_norm": POSITIVE.but(None),
    "ddof": number("a number of at least 0 and below 2**62", -1, 2**62),
    "Covariance.ddof": whole("delta degrees of freedom, at least 0", 0),
    "empty": FINITE.or_none(),
    "fraction": FRACTION,
    "q": PERCENT,
    "Percentile.method": choice(*PERCENTILE_METHODS),
    "InterquartileRange.method": choice(*PERCENTILE_METHODS),
    "a": COLUMN.called("column"),
    "b": COLUMN.called("column"),
    "column": COLUMN,
    "TableUniverse.column.column": said(
        "unknown column {got}; the columns are 'id', 'sex', 'age'", THING, 5
    ),
    "VectorSum.columns": replace(LISTED, message=LISTED.message.replace("values", "columns")),
    "columns": kind("a list of columns", ((THING, "<thing>"), ("age", "the text 'age'"))),
    "categories": LISTED,
    "matrix": kind(
        "a matrix of finite floats or whole numbers below 2**53: rows, an array, one of "
        "scipy.sparse, or a function that returns the column of a category",
        ((THING, "<thing>"), ([1, 2], "[1, 2]"), ("ab", "'ab'")),
    ),
    "groups": LISTED,
    "bins": kind("a list of numbers or dates", ((THING, "<thing>"), (0.5, "0.5"))),
    "group_sizes": said(
        "group_sizes must have a size for each of the groups ('f', 'm'), got {got}", THING, [1]
    ),
    "predicate": PREDICATE,
    "where": PREDICATE.or_none(),
    "name": NAME,
    "from_function.function": function("a function of a dataset"),
    "vectorized": FLAG,
    "order": choice("sorted").or_none(),
    "weight_function": function(
        "a function that takes the number of records and returns a weight for each"
    ),
    "query": QUERY,
    "queries": QUERY,
    "GroupBy.query": PART,
    "Stack.queries": PART,
    "ColumnQuery.query": Kind(
        "query must be a query on numbers, such as "
        f"{', '.join(map(repr, NAMED[:-1]))}, 'percentile_90' or Var(ddof=1), got {{got}}; write "
        "one of your own as a function of a DataFrame",
        ((THING, "<thing>"), (5, "5")),
    ),
    # Of universes and relations.
    "allow_missing": FLAG,
    "copies": OFTEN.or_none(),
    "counts": kind("a sequence of whole numbers, one per record", ((THING, "<thing>"), (5, "5"))),
    "records": SEQUENCE_OF_NUMBERS,
    "Universe.values": SEQUENCE_OF_NUMBERS,
    "Universe.from_domain.values": SEQUENCE_OF_NUMBERS,
    "TableUniverse.rows": NO_TABLE,
    "TableUniverse.from_dataset.records": NO_TABLE,
    "TableUniverse.from_domain.values": NO_TABLE,
    "IntervalUniverse.dataset.records": DATASET,
    "lower": FINITE,
    "upper": FINITE,
    "Universe.clipped.lower": FINITE.or_none(),
    "Universe.clipped.upper": FINITE.or_none(),
    "Universe.__contains__.x": ANYTHING,
    "IntervalUniverse.__contains__.x": ANYTHING,
    "Universe.index.x": said(
        "the record {got} is not in the universe: Universe of 4 records: 1, 2, 3, 10",
        THING,
        5,
    ),
    "k": DISTANCE,
    "exactly": FLAG,
    "direction": choice("both", "add", "remove"),
    "neighbors": NEIGHBORS,
    # Of calls.
    "universe": UNIVERSE,
    "universes": UNIVERSES,
    "explore.universes": UNIVERSES,
    "dataset": DATASET,
    "size": SIZE.several(),
    "count_datasets.size": SIZE,
    "datasets.size": SIZE,
    "sensitivity_curves.size": SIZE.several().called("column 'records': size"),
    "least_size": SIZE,
    "distances": DISTANCE.several(),
    "reach.distances": whole("a Hamming distance, at least 0", 0).several(),
    "audit.distances": DISTANCE.several().but(None),
    "assert_sensitivity.distances": DISTANCE.several().but(None),
    "norm": NORM,
    "method": choice(*GLOBAL),
    "global_sensitivity.method": choice(*GLOBAL, "boxes"),
    "local_sensitivity.method": choice(*LOCAL, "boxes"),
    "local_curves.method": choice(*LOCAL),
    "reach.method": choice(*LOCAL),
    "smooth_sensitivity.method": choice("auto", "monotone", "enumeration"),
    "n_jobs": JOBS,
    "progress": PROGRESS,
    "run": RUN,
    "local_curves.column": NAME,
    "row_limit": ROWS,
    "beta": number("a number above 0, at most 1e6", 0, -1, 10**7),
    "farthest": whole("a distance, at least 0", 0),
    **dict.fromkeys(
        ("smooth_sensitivity.sizes", "reach.sizes"),
        kind("a pair of whole numbers", ((THING, "<thing>"), ([1], "[1]"), (5, "5"))),
    ),
    # Of noise.
    "epsilon": POSITIVE,
    "analytic_gaussian_scale.epsilon": GAUSSIAN_EPSILON,
    "smooth_beta.epsilon": number("a finite number of at least 1e-9", 0, 1e-10),
    "smooth_cauchy_scale.epsilon": number("a finite number of at least 1e-9", 0, 1e-10),
    "smooth_laplace_scale.epsilon": kind(
        "a number from 1e-9 to 3 where a delta is given",
        (*OBJECTS[:2], (0, "0"), (4, "4"), ("1", "'1'"), *NOT_FINITE),
        "; for a larger one use Cauchy noise (smooth_cauchy_scale)",
    ),
    "clipping_sweep.epsilon": POSITIVE.or_none(),
    "inverse_sensitivity.epsilon": number("a number from 1e-9 to 100", 0, 101),
    "reach": thing("a result of sl.reach"),
    "grid": kind("numbers in ascending order, such as range(61)", ((THING, "<thing>"), (5, "5"))),
    "weights": kind("a number above 0 for each point of the grid", ((THING, "<thing>"), (5, "5"))),
    "width": NOT_NEGATIVE,
    "inverse_sensitivity.k": whole("the most rows of one person, at least 1"),
    "delta": DELTA,
    "audit_mechanism.epsilon": CLAIM,
    "audit_mechanism.rho": CLAIM.but(None),
    "audit_mechanism.delta": number("a number from 0 to 1", -1, 2),
    "noise_table.delta": DELTA.or_none(),
    "smooth_beta.delta": DELTA.but(None),
    "smooth_beta.gamma": GAMMA.or_none(),
    "smooth_cauchy_scale.gamma": GAMMA,
    "smooth_beta.k": whole("the most rows of one person, at least 1"),
    "rho": POSITIVE,
    "sensitivity": SENSITIVITY,
    "gaussian_rho.d_in": SENSITIVITY,
    "laplace_epsilon.d_in": SENSITIVITY,
    "gaussian_rho.scale": NOT_NEGATIVE,
    "laplace_epsilon.scale": NOT_NEGATIVE,
    "public_universe": FLAG,
    "result": Kind(
        "result must be a result of sl.smooth_sensitivity, got a {got}; for a global sensitivity "
        "use laplace_scale or gaussian_scale",
        ((THING, "Thing"), (5, "int")),
    ),
    "results": thing(
        "a result of sl.global_sensitivity or a chain, several of them, or a mapping of names to "
        "these",
        "; a number needs a name",
    ),
    "split": kind(
        "a number above 0 for each result, or a mapping of their names to such numbers",
        ((THING, "<thing>"), (5, "5")),
    ),
    "clipping_sweep.bounds": kind("a sequence of numbers", ((THING, "<thing>"), (5, "5"))),
    "clipping_sweep.values": SEQUENCE_OF_NUMBERS.called("values: records"),
    "release": function("a function").or_none(),
    # Of bounds.
    "time_limit": SECONDS,
    "rtol": number(
        "how close the bounds are to be, relative to the lower one: a number above 0, at most 1",
        *(0, 1.5),
    ),
    # Of the article's functions.
    "hamming_distance": DISTANCE,
    "universe_subset_cardinality": RECORDS,
    "query_type": choice(*NAMED, "percentile"),
    "percentile": PERCENT,
    # Of pipelines.
    "AddRowsWithID.column": TEXT_COLUMN,
    "AddRowsWithSharedID.column": TEXT_COLUMN,
    "Groups.column": TEXT_COLUMN,
    "IdDistance.column": TEXT_COLUMN,
    "SharedIdDistance.column": TEXT_COLUMN,
    **{
        f"{step}.column": TEXT_COLUMN.called(f"{step}: column")
        for step in ("group_by", "max_groups_per_id", "max_rows_per_group_per_id", "select")
    },
    "AddMaxRows.max_rows": ROWS.called("AddMaxRows: max_rows"),
    "DropExcess.max_rows": ROWS.called("DropExcess: max_rows"),
    "flat_map.max_rows": ROWS.called("flat_map: max_rows"),
    "max_rows_per_id.k": ROWS.called("max_rows_per_id: k"),
    "r": ROWS.called("max_rows_per_group_per_id: r"),
    "g": whole("a number of groups, at least 1").called("max_groups_per_id: g"),
    "keep_ids": FLAG.called("max_rows_per_id: keep_ids"),
    "keep_first": FLAG.called("flat_map: keep_first"),
    "floats": FLAG,
    "Numbers.size": SIZE_OF_DOMAIN,
    "Table.size": SIZE_OF_DOMAIN,
    "Values.size": SIZE_OF_DOMAIN,
    "max_size": SIZE_OF_DOMAIN,
    "bounds": kind("two numbers (lower, upper)", ((THING, "<thing>"), ([1], "[1]"), (5, "5"))),
    "length": whole("a number of coordinates, at least 0", 0),
    "limits": kind(
        "a tuple of limits, which truncations make", ((THING, "<thing>"), (5, "5"), ([5], "5"))
    ),
    "Groups.keys": LISTED,
    "group_by.keys": LISTED.called("group_by: keys"),
    "histogram.categories": LISTED.called("histogram: categories"),
    "Groups.data": thing("a domain, such as Table() or Numbers()"),
    "domain": DOMAIN,
    "Pair.first": DOMAIN,
    "Pair.second": DOMAIN,
    "select.domain": thing("Values() or Numbers()").but(None).called("select: domain"),
    "metric": METRIC,
    "PairDistance.first": METRIC,
    "PairDistance.second": METRIC,
    "GroupsDistance.norm": L1_OR_L2,
    "group_by.metric": L1_OR_L2.but(None).called("group_by: metric"),
    "histogram.metric": L1_OR_L2.but(None).called("histogram: metric"),
    "before": thing("a transformation or a start"),
    "build": function("a function of a domain and a metric"),
    "changes": said(
        "start takes one or two protected changes, AddMaxRows(m) or AddRowsWithID(column), one per "
        "table, or AddRowsWithSharedID(column) alone; got {got}",
        THING,
        5,
    ),
    "unit": said(
        "unit must be a protected change, AddMaxRows(m), AddRowsWithID(column) or "
        "AddRowsWithSharedID(column), two of them for two tables, or None, got {got}",
        THING,
        5,
    ),
    "d_in": whole("at least 0: rows added or removed", 0).but(None),
    "Transformation.data": Kind(
        "a dataset is a list or an array of values, got {got}", ((THING, "Thing"), (5, "int"))
    ),
    **{
        f"{step}.{end}": FINITE.but(True).called(f"the {end} bound")
        for step in ("clamp", "mean", "sum_")
        for end in ("lower", "upper")
    },
    "number.lower": FINITE.but(None, True).called("the lower bound"),
    "number.upper": FINITE.but(None, True).called("the upper bound"),
    "mean.size": RECORDS.called("mean: size"),
    "filter_.predicate": function("a function of one record or row").called("filter_: predicate"),
    "map_.function": function("a function of one record or row").called("map_: function"),
    "flat_map.function": function("a function of one record or row").called("flat_map: function"),
    "formula.function": function("a function of x, such as lambda x: x + x").called(
        "formula: function"
    ),
    **{
        f"{step}.columns": kind("a column or several", ((THING, "<thing>"), (5, "5"), ([], "[]")))
        .but(None)
        .called(f"{step}: columns")
        for step in ("map_", "flat_map")
    },
    **{
        f"{join}.on": kind(
            "a column or several", ((THING, "<thing>"), (5, "5"), ([], "[]"))
        ).called(f"{join}: on")
        for join in ("join_private", "join_public")
    },
    "join_private.left": ANYTHING,  # what is no truncation, the tables of the chain refuse
    "join_private.right": ANYTHING,
    "table": Kind(
        "a table is a pandas.DataFrame or a list of rows, each a mapping of columns to values, got "
        "{got}",
        ((THING, "test_arguments.Thing"), (5, "int")),
    ),
    "distance": FINITE.but(True, math.nan, math.inf),
    "square": NOT_NEGATIVE.but(True),
    "magnitude": FINITE.but(True),
    "scale": POSITIVE.called("laplace: scale"),
    "summation_error.size": whole("a number of records, at least 0", 0),
    "limit": whole("a number of inputs, at least 1"),
    "pair_limit": whole("a number of pairs, at least 1"),
    "measured_stability.sizes": whole("from 0 to 4, the rows of the universe", 0, 4)
    .but(None)
    .several(),
    "measured_stability.transformation": thing(
        "a Transformation", "; chain steps after a start, such as start(AddMaxRows(1)) >> count()"
    ),
    # Of spaces.
    "spaces.Within.k": POSITIVE,
    "nodes": whole("the number of nodes, at least 2", 2),
    "spaces.graphs.neighbors": choice("edge", "node"),
    "spaces.sequences.values": thing("a sequence of at least two numbers or texts"),
    "spaces.sequences.length": whole("the number of entries, at least 1"),
    "spaces.sequences.metric": choice("hamming", "insert_delete"),
    "spaces.Space.datasets": thing("a sequence of at least two datasets, such as [(1, 2), (2, 1)]"),
    "spaces.Space.metric": function("a function metric(a, b) of two datasets").but(None),
    "spaces.Space.neighbors": function("a function neighbors(a) of a dataset").but(None),
    "space": thing("a space: Space(...), graphs(...) or sequences(...)"),
    "spaces.global_sensitivity.neighbors": thing("Within(...)"),
    "spaces.local_sensitivity.neighbors": thing("Within(...)"),
    **{
        f"spaces.{call}.query": thing(
            f"one of {', '.join(map(repr, GRAPH_QUERIES))}, or a function of the edges of a graph"
        )
        for call in ("global_sensitivity", "local_sensitivity", "sensitivity_curve")
    },
    "spaces.sensitivity_curve.distances": POSITIVE.several().but(NONE).called("k"),
    "spaces.sensitivity_curve.dataset": thing("a sequence of edges, such as [(0, 1), (1, 2)]").but(
        None
    ),
    "spaces.local_sensitivity.dataset": thing("a sequence of edges, such as [(0, 1), (1, 2)]"),
    # Of streams.
    **{
        f"streams.{call}.{name}": asked
        for call in ("participation_sensitivity", "audit")
        for name, asked in STREAMS.items()
    },
    "streams.audit.k": STREAMS["k"].several(),
    # Of databases.
    "sql.Query.sql": kind("a SELECT statement, as a text", ((THING, "<thing>"), (5, "5"))),
    "connection": thing(
        "a connection of DuckDB or SQLite, the path of a database file of one of them, or a "
        "mapping of table names to DataFrames, Arrow tables, and paths of Parquet or CSV files"
    ),
    "person": kind(
        "a text such as 'customer.custkey', or a mapping of tables to columns such as "
        "{{'customer': 'custkey', 'orders': 'custkey'}}",
        (
            *((None, "an object of the type NoneType"), (5, "an object of the type int")),
            *(("orders", "'orders'"), ({"orders": 5}, "'orders': 5")),
        ),
    ),
    "sql.Query.bounds": kind(
        "a mapping of columns to two numbers, such as {{'lineitem.quantity': (1, 50)}}",
        OBJECTS[1:],
    ),
    "sql.Query.groups": kind("a list of public keys for 'region'", (*OBJECTS[1:], (NONE, "none"))),
    "null_person": choice("refuse", "public"),
    "foreign_keys": kind("a mapping such as {{'orders.custkey': 'customer.custkey'}}", OBJECTS[1:]),
    "public": kind("a list of tables, such as ['nation', 'region']", OBJECTS[1:]),
    "show_person": function("None or a function of a person, such as str").but(None),
    # Of releases.
    "releases.Person.column": TEXT_COLUMN.but(None),
    **dict.fromkeys(
        ("releases.Person.max_rows", "max_rows_per_group"),
        whole("a number of rows, from 1 to 2**20", most=2**20).or_none(),
    ),
    "max_groups": whole("a number of groups, from 1 to 2**20", most=2**20).or_none(),
    "releases.load.path": kind("the path of a file or a folder", OBJECTS),
    "releases.plan.epsilon": LOSS.but(math.inf),
    "releases.plan.rows": whole("a number of rows, at least 1").or_none(),
    "releases.plan.decimal": choice(".", ",").or_none(),
    "releases.ledger.path": kind("the path of a file or a folder", OBJECTS),
    "releases.plan.person": kind("a Person: sl.releases.Person('id', max_rows=5)", OBJECTS),
    "agg": kind("a mapping by column, such as {{'n': 'count', 'mean': ('age', 'mean')}}", OBJECTS),
    **{
        f"releases.plan.{name}": kind(f"a mapping by column, such as {example}", OBJECTS[1:])
        for name, example in (
            ("bounds", "{{'age': (0, 100)}}"),
            ("groupby", "{{'ward': ['a', 'b']}}"),
            ("step", "{{'age': 1}}"),
            ("bins", "{{'age': [0, 20, 60]}}"),
        )
    },
    "releases.plan.delta": DELTA.or_none(),
    # Of audits.
    "branches": whole("a number of runs, at least 1"),
    "every_order": FLAG,
    "fresh": FLAG,
    "audit_mechanism.time_limit": SECONDS.or_none(),
    "sampled": FLAG,
    "generator": choice("Generator", "Random", "RandomState").or_none(),
    "subject": NAME,
    "extremes": FLAG,
    "reveal": FLAG,
    "tight": FLAG,
    **dict.fromkeys(
        (
            *("answer", "budget", "choices", "claim", "component", "datasets"),
            *("function", "histories", "outputs", "scores"),
            *("targets", "tolerance_ulps", "value"),
            "audit_recorded.where",
            *("audit_opendp.scale", "made"),
            *(
                f"recording.{one}"
                for one in ("candidates", "epsilon", "method", "monotonic", "sensitivity")
            ),
            *("audit_opendp.neighbors", "audit_mechanism.neighbors", "measured_stability.universe"),
            *(
                f"audit_{one}.{name}"
                for one in ("mechanism", "opendp", "recorded")
                for name in ("universe", "size", "distances")
                if (one, name) != ("recorded", "distances")
            ),
        ),
        OF_AUDITS,
    ),
    **{
        f"{side}_empirical_global_L1_sensitivity.universe": Kind(
            "universe must be a pandas.DataFrame or a mapping of columns to lists, got {got}",
            ((THING, "test_arguments.Thing"), (5, "int")),
        )
        for side in ("bounded", "unbounded")
    },
}
"""The kind of every argument: under `call.argument`, else under the argument's name."""

OF_SQL = {"connection", "person", "null_person", "foreign_keys", "public", "show_person"}
"""What only `sql` has under these names; left out where its libraries are not installed."""

BESIDE: dict[str, dict[str, Any]] = {
    "Histogram.bins": {"categories": None},
    "number.lower": {"upper": 5},
    "number.upper": {"lower": 0},
    "smooth_sensitivity.sizes": {"neighbors": "unbounded"},
    "reach.sizes": {"neighbors": "unbounded"},
    **{
        f"{side}_empirical_global_L1_sensitivity.percentile": {"query_type": "percentile"}
        for side in ("bounded", "unbounded")
    },
}
"""Other arguments without which one is not looked at."""


def key_of(call: str, argument: str) -> str:
    """Where the table has an argument."""
    key = f"{call}.{argument}"
    return key if key in ARGUMENTS else argument


def test_the_table_has_every_argument_and_no_other_one():
    asked = {key_of(call, one.name) for call in NAMES for one in parameters_of(call)}
    of_sql = {key for key in ARGUMENTS if key.startswith("sql.") or key in OF_SQL}
    assert asked == set(ARGUMENTS) - (set() if HAS_SQL else of_sql)


@pytest.mark.parametrize("call", NAMES)
def test_a_wrong_argument_is_refused_in_the_words_of_its_kind(call):
    if call.startswith("audit_opendp") and find_spec("opendp") is None:
        pytest.skip("needs OpenDP")
    for one in parameters_of(call):
        asked = ARGUMENTS[key_of(call, one.name)]
        for value, came in asked.wrong:
            given = {**BESIDE.get(f"{call}.{one.name}", {}), one.name: value}
            positional, named = arguments(call, given)
            with pytest.raises(sl.errors.InputError) as caught:
                CALLABLES[call](*positional, **named)
            name = (asked.name or one.name).replace("{got}", came)
            assert str(caught.value) == asked.message.format(name=name, got=came)
