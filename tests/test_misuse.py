"""Calls that would make noise too small, or an answer for another question: what stops each.

Every row is refused, warned of, or right: it says which, and the words that tell the caller. It is
a table, so that a new way to misuse the library is a new row.
"""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import pandas as pd
import pytest
import scipy.stats

import sensitivity_lab as sl
from sensitivity_lab import noise
from sensitivity_lab import pipelines as pl
from sensitivity_lab.errors import (
    DatasetUniverseWarning,
    InputError,
    PrivateSizeWarning,
    SensitivityLabError,
)
from sensitivity_lab.releases import Person, plan

DAYS = sl.Universe.from_domain(range(61))
LISTED = sl.Universe.from_dataset([50, 50, 50, 60])
WARDS = sl.TableUniverse.from_domain(pd.DataFrame({"ward": list("abc"), "days": [0, 30, 60]}))
BY_WARD = sl.Histogram("ward", categories=["a", "b", "c"])
ONE, JOIN = sl.Bounded(1), sl.Unbounded(1)

PERSONS = pl.start(pl.AddRowsWithID("id"))
ROWS = pl.start(pl.AddMaxRows(5))
NINE = (
    PERSONS
    >> pl.max_groups_per_id(9, "ward")
    >> pl.max_rows_per_group_per_id(1, "ward")
    >> pl.group_by("ward", list("abcdefghi"), pl.L2Distance())
    >> pl.count()
)
STAYS = PERSONS >> pl.max_rows_per_id(5)


def of(query, universe=DAYS, size=10, neighbors=ONE, **options):
    return sl.global_sensitivity(universe, query, size=size, neighbors=neighbors, **options)


def scale(sensitivity, **options):
    return noise.laplace_scale(sensitivity, epsilon=1, **options)


def table(results, **options):
    return noise.noise_table(results, **{"epsilon": 1, **options})


def local():
    return sl.local_sensitivity(DAYS, "median", dataset=[1, 2, 3], neighbors=ONE)


def smooth(**options):
    asked = {"dataset": [1, 2, 3], "beta": Fraction(1, 6), "neighbors": "bounded", **options}
    return sl.smooth_sensitivity(DAYS, "median", **asked)


EXAMPLE = (
    '. A call that works: sl.global_sensitivity(universe, "mean", size=6, '
    "neighbors=sl.Unbounded(2))"
)

REFUSED = {
    "an epsilon that no float holds": (
        lambda: plan(person=Person("id", max_rows=1), epsilon=10**400, agg={"n": "count"}),
        "epsilon must be a number from 1e-9 to 1e6",
    ),
    "bins that are more than the values": (
        lambda: plan(
            person=Person("id", max_rows=1),
            epsilon=1,
            bounds={"v": range(10)},
            bins={"v": range(10**8)},
            agg={"m": ("v", "median")},
        ),
        "10 of them at most, got 100,000,000",
    ),
    "a list as a column": (
        lambda: plan(person=Person("id", max_rows=1), epsilon=1, agg={"m": (["v"], "mean")}),
        "agg['m'] must be 'count' or a pair (column, statistic)",
    ),
    "several numbers by accident": (
        lambda: of(lambda x: scipy.stats.mode(x), size=3),
        "its fields are 'mode', 'count': return the one that is released",
    ),
    "a function of the order": (lambda: scale(of(lambda x: int(x[0]), size=3)), "order='sorted'"),
    # A number that lost its norm, its unit or its relation.
    "a chain in L2": (lambda: scale(NINE), "the result is in the norm L2, and Laplace noise needs"),
    "a chain without a distance": (lambda: scale(NINE.map()), "take sensitivity(), which keeps"),
    "a chain that returns rows": (lambda: scale(STAYS), "a sensitivity is for a number"),
    "a chain that names no unit": (
        lambda: scale((pl.Numbers(), pl.SymmetricDistance()) >> pl.clamp(0, 1) >> pl.sum_(0, 1)),
        "names no protected unit",
    ),
    "rows and persons in one epsilon": (
        lambda: table({"a": ROWS >> pl.count(), "b": STAYS >> pl.count()}),
        "privacy losses add up only for one relation",
    ),
    "five rows and one row in one epsilon": (
        lambda: table({"a": ROWS >> pl.count(), "b": pl.start(pl.AddMaxRows(1)) >> pl.count()}),
        "privacy losses add up only for one relation",
    ),
    "a chain and a search in one epsilon": (
        lambda: table({"a": ROWS >> pl.count(), "b": of("sum", neighbors=sl.Unbounded(5))}),
        "privacy losses add up only for one relation",
    ),
    "a number that counts rows or units": (
        lambda: (ROWS >> pl.count()).sensitivity(2),
        "could count rows or units",
    ),
    "a mean of a public size after truncation": (
        lambda: STAYS >> pl.select("days") >> pl.clamp(0, 60) >> pl.mean(0, 60, 1000),
        "mean",
    ),
    "two relations in one epsilon": (
        lambda: table([of("mean"), of("sum", neighbors=JOIN)]),
        "privacy losses add up only for one relation",
    ),
    "two sizes in one epsilon": (
        lambda: table([of("mean"), of("sum", size=9)]),
        "one dataset has one size",
    ),
    "curves over distances": (
        lambda: table(
            sl.sensitivity_curves(DAYS, "mean", size=9, distances=[1, 2], neighbors="bounded")
        ),
        "but noise is for one",
    ),
    "L2 for Laplace noise": (
        lambda: scale(of(BY_WARD, WARDS, norm="L2")),
        "the result is in the norm L2, and Laplace noise needs L1",
    ),
    "Linf for Gaussian noise": (
        lambda: noise.gaussian_scale(of(BY_WARD, WARDS, norm="Linf"), rho=1),
        "the result is in the norm Linf, and Gaussian noise needs L2",
    ),
    # A number that is about something else.
    "a local sensitivity": (lambda: scale(local()), "the size of the noise would reveal them"),
    "a smooth sensitivity": (lambda: scale(smooth()), "noise of its own"),
    "a smooth sensitivity of some sizes": (
        lambda: noise.smooth_cauchy_scale(
            sl.smooth_sensitivity(
                sl.Universe.from_domain([0, 60], copies=4),
                "sum",
                dataset=[0, 60, 60],
                beta=Fraction(1, 6),
                neighbors="unbounded",
                sizes=(2, 4),
            ),
            1,
        ),
        "neighbors of other sizes are left out",
    ),
    "a smooth sensitivity of too large a beta": (
        lambda: noise.smooth_cauchy_scale(smooth(beta=1), 1),
        "is above the largest one for this privacy loss",
    ),
    "the reach of the data": (
        lambda: scale(
            sl.reach(DAYS, "median", dataset=[1, 2, 3], neighbors="bounded", distances=2)
        ),
        "the reach of one dataset",
    ),
    "exactly k": (
        lambda: scale(of("mean", neighbors=sl.Bounded(2, exactly=True))),
        "nearer ones can have answers that are farther apart",
    ),
    "a function whose rounding is not known": (
        lambda: scale(of(lambda x: float(sum(x)), universe=sl.Universe.from_domain([0, 1]))),
        "the result has no upper bound",
    ),
    "a lower bound alone": (
        lambda: scale(
            sl.bounds.sensitivity_bounds(
                sl.IntervalUniverse(-1, 1), lambda x: 1 / x.mean(), size=2, neighbors=ONE
            )
        ),
        "only a lower bound",
    ),
    "nan": (lambda: scale(math.nan), "must be a finite number of at least 0"),
    "an infinite epsilon": (
        lambda: noise.laplace_scale(1, epsilon=math.inf),
        "epsilon must be a finite number above 0",
    ),
    "an epsilon of 0": (lambda: noise.laplace_scale(1, epsilon=0), "above 0"),
    "a delta of 0": (lambda: table({"a": 1}, delta=0), "a number from 1e-100 to 0.5"),
    "a measured stability": (
        lambda: scale(pl.measured_stability(ROWS >> pl.count(), [{"a": 1}])),
        "must be a finite number of at least 0 or a result",
    ),
    # A question that was not asked.
    "a mean of nobody": (lambda: of("mean", size=range(5)), "empty=, which is then public"),
    "a time limit per dataset of no function": (
        lambda: of("mean", run=sl.Run(timeout=1)),
        "use Run(time_limit=1)",
    ),
    "a local search from too few records": (
        lambda: sl.local_sensitivity(DAYS, sl.Std(ddof=1, empty=0), dataset=[1], neighbors=JOIN),
        "ask for the global sensitivity",
    ),
    "groups that come from the data": (
        lambda: sl.GroupBy("ward", sl.Count()),
        "which groups there are must not depend on the data",
    ),
}

WARNED = {
    "private records": (lambda: scale(of("median", LISTED, 2)), DatasetUniverseWarning),
    "a sensitivity of 0 that private records have": (
        lambda: scale(of("median", sl.Universe.from_dataset([50, 50, 50]), 2)),
        DatasetUniverseWarning,
    ),
    "a domain with few copies": (
        lambda: scale(of("median", sl.Universe.from_domain([0, 60], copies=2), 3)),
        DatasetUniverseWarning,
    ),
    "one private size": (lambda: scale(of("mean", size=1000, neighbors=JOIN)), PrivateSizeWarning),
    "two private sizes": (
        lambda: scale(of("mean", size=[999, 1000], neighbors=JOIN)),
        PrivateSizeWarning,
    ),
    "sizes with a gap": (
        lambda: scale(of("mean", size=[1, 1000], neighbors=JOIN)),
        PrivateSizeWarning,
    ),
    "sizes without nobody": (
        lambda: scale(of(sl.Mean(empty=0), size=range(1, 9), neighbors=JOIN)),
        PrivateSizeWarning,
    ),
    "private sizes of groups": (
        lambda: scale(
            of(
                sl.GroupBy("ward", sl.MeanOf("days"), groups=["a", "b"], group_sizes=[4, 5]),
                WARDS,
                9,
            )
        ),
        PrivateSizeWarning,
    ),
    "private sizes of groups in a stack": (
        lambda: scale(
            of(
                sl.Stack(
                    sl.GroupBy("ward", sl.MeanOf("days"), groups=["a"], group_sizes=[4]),
                ),
                WARDS,
                4,
            )
        ),
        PrivateSizeWarning,
    ),
}

RIGHT = {
    "nobody has a largest record": (
        lambda: of(sl.Max(empty=0), sl.Universe.from_domain([50, 60]), range(6), JOIN).exact,
        60,
    ),
    "nobody in a function": (
        lambda: (
            of(
                lambda x: int(max(x, default=0)), sl.Universe.from_domain([50, 60]), range(6), JOIN
            ).exact
        ),
        60,
    ),
    "nine counts of a person in L1": (
        lambda: scale(
            PERSONS
            >> pl.max_groups_per_id(9, "ward")
            >> pl.max_rows_per_group_per_id(1, "ward")
            >> pl.group_by("ward", list("abcdefghi"))
            >> pl.count()
        ),
        9,
    ),
    "nine counts of a person in L2": (lambda: noise.gaussian_scale(NINE, rho=0.5), 3),
    "a truncated count": (lambda: scale(STAYS >> pl.count()), 5),
    "a truncated sum": (
        lambda: scale(STAYS >> pl.select("days") >> pl.clamp(0, 60) >> pl.sum_(0, 60)),
        300,
    ),
    "a number beside a result": (
        lambda: [
            (row.neighbors, row.k, row.size) for row in table({"mean": of("mean"), "mine": 7})
        ],
        [("bounded, at most 1", 1, "size 10 (public)"), ("given", None, None)],
    ),
    "no line speaks of a number": (lambda: table({"mean": of("mean"), "mine": 7}).neighbors, None),
    "every size of a mean": (lambda: scale(of("mean", size=range(1, 1001), neighbors=JOIN)), 30),
    "a count under replacement needs no noise": (lambda: scale(of("count")), 0),
}


CELLS = pd.DataFrame({"id": ["Zoe", "Quist"], "v": [777_123, 888_123]})
PLAN = {"person": Person("id", max_rows=1), "epsilon": 1}
TABLES = {"connection": {"t": CELLS}, "person": "t.id"}

WRITTEN = {
    "by position": (
        lambda: sl.global_sensitivity(DAYS, "mean", 6, "bounded"),
        "global_sensitivity() takes only universe and query by position; write the others by "
        "name: size=, neighbors=, norm=, method=, n_jobs=, progress=, run=; it needs size and "
        f"neighbors{EXAMPLE}",
    ),
    **{
        f"{name}=": (
            lambda name=name: of("mean", **{name: 2}),
            f"global_sensitivity() has no argument {name!r}: the distance is part of neighbors, as "
            f"in neighbors=sl.Bounded(2){EXAMPLE}",
        )
        for name in ("hamming_distance", "distance", "k")
    },
    "q=": (
        lambda: of("percentile", q=90),
        "global_sensitivity() has no argument 'q': it is part of the query: \"percentile_90\", "
        f"Percentile(90){EXAMPLE}",
    ),
    "a misspelled argument": (
        lambda: of("mean", nrom="L1"),
        "global_sensitivity() has no argument 'nrom': did you mean 'norm'?" + EXAMPLE,
    ),
    "no neighbors": (
        lambda: sl.global_sensitivity(DAYS, "mean", size=6),
        f"global_sensitivity() needs neighbors{EXAMPLE}",
    ),
    "noise without epsilon": (lambda: noise.laplace_scale(1), "laplace_scale() needs epsilon. A"),
    "sl.bounded_neighbors": (
        lambda: sl.bounded_neighbors,
        "neighbors are listed by sl.neighboring_datasets(universe, x, sl.Bounded(1))",
    ),
    "errors without a table": (
        lambda: plan(**PLAN, agg={"n": "count"}).errors(),
        "errors() needs made_up",
    ),
}
"""First calls as people write them, and the sentence that leads on."""

WITH_CELLS = {
    "a column in agg": lambda: plan(**PLAN, bounds={"v": (0, 9)}, agg={"n": ("v", CELLS.v)}),
    "a column as the name in agg": lambda: plan(**PLAN, agg={"n": (CELLS.v, "mean")}),
    "a table as agg": lambda: plan(**PLAN, agg=CELLS),
    "a column as groups": lambda: plan(**PLAN, groupby={"v": CELLS.v}, agg={"n": "count"}),
    "a column as bounds": lambda: plan(**PLAN, bounds={"v": CELLS.v}, agg={"m": ("v", "mean")}),
    "a table as a relation": lambda: of("mean", neighbors=CELLS),
    "a column as a query": lambda: of(CELLS.v),
    "columns as sizes": lambda: of("mean", size=[CELLS.v]),
    "a table as a norm": lambda: of("mean", norm={"L1": CELLS}),
    "a column as epsilon": lambda: noise.laplace_scale(1, epsilon=CELLS.v),
    "an array of many as epsilon": lambda: noise.laplace_scale(1, epsilon=CELLS.v.repeat(20).array),
    "a table as a percentile": lambda: sl.Percentile([CELLS]),
}
"""Data in the place of another argument."""


@pytest.mark.parametrize("name", WRITTEN)
def test_first_calls_lead_on(name):
    call, told = WRITTEN[name]
    with pytest.raises((TypeError, AttributeError)) as caught:
        call()
    assert told in str(caught.value)


@pytest.mark.parametrize("name", WITH_CELLS)
def test_no_message_prints_cells(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((InputError, TypeError)) as caught:
            WITH_CELLS[name]()
    told = str(caught.value)
    assert not any(cell in told for cell in ("777", "888", "Zoe", "Quist")), told


@pytest.mark.sql
@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"foreign_keys": [CELLS]}, "got [<DataFrame of shape (2, 2)>]"),
        ({"person": {"t.v": CELLS.v}}, "got 't.v': <Series of shape (2,)>"),
    ],
)
def test_no_message_of_a_query_prints_cells(given, told):
    sql = pytest.importorskip("sensitivity_lab.sql")
    pytest.importorskip("duckdb")
    with pytest.raises(InputError) as caught:
        sql.Query("SELECT v, COUNT(*) AS n FROM t GROUP BY v", **{**TABLES, **given})
    text = str(caught.value)
    assert told in text
    assert not any(cell in text for cell in ("777", "888", "Zoe", "Quist"))


@pytest.mark.sql
def test_a_query_without_a_person_and_a_plan_with_max_groups_lead_on():
    sql = pytest.importorskip("sensitivity_lab.sql")
    pytest.importorskip("duckdb")
    text = "SELECT COUNT(*) AS n FROM t"
    with pytest.raises(TypeError, match=r"Query\(\) needs person. A call that works: sql.Query\("):
        sql.Query(text, connection={"t": CELLS})
    with pytest.raises(TypeError, match="the limit of a person is max_rows"):
        sql.Query(text, **TABLES).plan(max_groups=2)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, told = REFUSED[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(SensitivityLabError) as caught:
            call()
    assert told in str(caught.value)


@pytest.mark.parametrize("name", WARNED)
def test_warned_of(name):
    call, category = WARNED[name]
    with pytest.warns(category):
        call()


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    call, expected = RIGHT[name]
    assert call() == expected


def test_there_are_many():
    assert sum(map(len, (REFUSED, WARNED, RIGHT, WRITTEN, WITH_CELLS))) >= 75
