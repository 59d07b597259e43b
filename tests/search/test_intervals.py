"""Intervals: the definition on grids, witnesses in rationals, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import naive_intervals as naive
import oracle
import pytest
from checks import check_value
from doses import STRESS
from hypothesis import given
from hypothesis import strategies as st
from strategies import HAVE_INTERVALS, QUERIES, RELATIONS

import sensitivity_lab as sl
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.queries.l_statistics import LStatistic, Midrange, Range, TrimmedMean
from sensitivity_lab.search import engines_for
from sensitivity_lab.search.engines import CONTINUOUS
from sensitivity_lab.search.intervals import Family
from sensitivity_lab.universes.relations import Relation

ASKED = {
    # No finite set of values is proved to hold the worst case of what counts equal records.
    **{name: QUERIES[name] for name in HAVE_INTERVALS},
    "percentile_90": (sl.Percentile(90), ("percentile", 90, "linear")),
    "percentile_30_lower": (sl.Percentile(30, "lower"), ("percentile", 30, "lower")),
    "var_ddof_half": (sl.Var(ddof=Fraction(1, 2)), ("var", Fraction(1, 2))),
    "std_ddof_half": (sl.Std(ddof=0.5), ("std", Fraction(1, 2))),
    "range": (Range(), ("range",)),
    "midrange": (Midrange(), ("midrange",)),
    "trimmed": (TrimmedMean(Fraction(1, 4)), ("trimmed", Fraction(1, 4))),
    "alternating": (
        LStatistic(lambda n: [(-1) ** rank * (rank + 1) for rank in range(n)], name="alternating"),
        ("alternating",),
    ),
}
"""By name: our query, and the oracle's."""

INTERVAL = sl.Universe.from_interval(0, 120)


@dataclass(frozen=True)
class Case:
    """A problem on an interval, and values of it for a grid."""

    lower: Fraction
    upper: Fraction
    inside: tuple[Fraction, ...]
    size: int
    relation: Relation
    family: str

    @property
    def universe(self) -> sl.IntervalUniverse:
        return sl.Universe.from_interval(self.lower, self.upper)

    def changes(self, query: tuple[Any, ...]) -> list[tuple[int, int]]:
        """The changes between datasets on which a query of the oracle has an answer, if any."""
        least = oracle.least(query)
        found = naive.changes(self.family, self.relation.k, self.relation.exactly, self.size, least)
        return found if self.size >= least else []


def drawn(rng: Random, family: str, largest: int = 5) -> Case:
    lower = Fraction(rng.randint(-30, 30), rng.choice((1, 1, 3, 7)))
    upper = lower + Fraction(rng.randint(1, 40), rng.choice((1, 2, 5)))
    inside = tuple(
        lower + (upper - lower) * Fraction(rng.randint(0, 12), 12) for _ in range(rng.randint(0, 1))
    )
    needs_two = family in ("unbounded", "unbounded (remove)")
    size = rng.randint(1 + needs_two, largest)
    most = size - needs_two if family in ("bounded", "unbounded", "unbounded (remove)") else 3
    relation, parameters = RELATIONS[family]
    k = rng.randint(1, min(most, 3))
    chosen = relation(k, rng.random() < 0.5, **parameters)
    return Case(lower, upper, inside, size, chosen, family)


def cases(family: str):
    """Cases, and what draws more values for them."""
    rngs = st.integers(0, 10**9).map(Random)
    return rngs.map(lambda rng: (drawn(rng, family), rng))


def check(case: Case, name: str, rng: Random | None = None) -> None:
    """The sensitivity is that of a grid with the witness's values, and the witness attains it.

    With random numbers it is the local one, of a dataset that they choose.
    """
    ours, theirs = ASKED[name]
    if not (changes := case.changes(theirs)):
        return
    grid = {case.lower, case.upper, *case.inside}
    if rng is None:
        result = sl.global_sensitivity(
            case.universe, ours, size=case.size, neighbors=case.relation, method="intervals"
        )
    else:
        values = [case.lower + (case.upper - case.lower) * Fraction(n, 12) for n in range(13)]
        chosen = tuple(sorted(rng.choice(values) for _ in range(case.size)))
        result = sl.local_sensitivity(case.universe, ours, dataset=chosen, neighbors=case.relation)
        assert result.witness.x == chosen
        grid |= {*rng.choices(values, k=3)}
    x, y = (tuple(map(Fraction, data)) for data in (result.witness.x, result.witness.y))
    assert x == tuple(sorted(x))
    assert y == tuple(sorted(y))
    assert {case.lower <= record <= case.upper for record in x + y} == {True}
    assert naive.related(x, y, changes)
    answers = naive.Answers(theirs)
    check_value(result, answers.distance(answers(x), answers(y)))
    grid |= {*x, *y}
    if rng is None:
        check_value(result, naive.global_on_grid(theirs, grid, case.size, changes))
    else:
        check_value(result, naive.local_on_grid(theirs, grid, x, changes))
    assert result.universe == case.universe
    assert (result.kind, result.method) == ("local" if rng else "global", "intervals")
    assert (result.arithmetic, result.status) == ("exact", "exact")
    result.verify()


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("family", RELATIONS)
@given(data=st.data())
def test_agrees_with_the_definition_on_a_grid_that_has_the_witness(family, local, data):
    case, rng = data.draw(cases(family))
    check(case, data.draw(st.sampled_from(list(ASKED))), rng if local else None)


@pytest.mark.stress
@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("family", RELATIONS)
def test_many_intervals(family, name):
    rng = Random(f"{family} {name}")
    for _ in range(max(1, STRESS // (len(ASKED) * len(RELATIONS)))):
        check(drawn(rng, family, 6), name)
        check(drawn(rng, family, 6), name, rng)


@pytest.mark.exhaustive
@pytest.mark.representative("family")
@pytest.mark.parametrize("name", ["mean", "median", "range", "var", "var_ddof_1", "std"])
@pytest.mark.parametrize("family", ["bounded", "symmetric difference"])
def test_no_grid_of_2_to_9_values_exceeds_the_interval(family, name):
    ours, theirs = ASKED[name]
    # Two removed records leave enough.
    size = 2 + oracle.least(theirs)
    case = Case(Fraction(-1, 3), Fraction(5), (), size, RELATIONS[family][0](2), family)
    result = sl.global_sensitivity(case.universe, ours, size=size, neighbors=case.relation)
    found = [
        naive.global_on_grid(theirs, grid, size, case.changes(theirs))
        for grid in naive.grids(case.lower, case.upper)
    ]
    assert len(found) == 8
    # The two bounds are in every grid, and here they are enough.
    assert set(found) == {found[0]}
    check_value(result, max(found))


def test_the_worst_case_can_have_a_record_inside():
    """Two records at the ends of the interval, and eight more in the middle: the smaller wins."""
    changes = naive.changes("unbounded", 8, False, 10)

    def on_grid(values):
        least_spread = values[len(values) // 2]
        data = [(0, 1), (0, *[least_spread] * 8, 1)]
        answers = naive.Answers(("var", 1))
        return answers.distance(*(answers(map(Fraction, one)) for one in data))

    result = sl.global_sensitivity(
        sl.Universe.from_interval(0, 1), sl.Var(ddof=1), size=10, neighbors=sl.Unbounded(8)
    )
    half = Fraction(1, 2)
    assert (8, 0) in changes
    assert on_grid([0, half, 1]) == result.exact == Fraction(4, 9)
    assert result.witness.x == (0, *[half] * 8, 1)
    assert result.witness.y == (0, 1)
    at_the_ends = sl.global_sensitivity(
        sl.Universe.from_domain([0, 1]), sl.Var(ddof=1), size=10, neighbors=sl.Unbounded(8)
    )
    assert at_the_ends.exact == Fraction(2, 5)
    larger_more_spread = max(Fraction(p * (10 - p), 90) for p in range(9))
    assert larger_more_spread == Fraction(5, 18)


OPEN = sl.SymmetricDifference(11, exactly=True)


@pytest.mark.exhaustive
def test_a_standard_deviation_that_its_bound_leaves_open_is_that_of_a_grid():
    result = sl.global_sensitivity(INTERVAL, sl.Std(ddof=1), size=13, neighbors=OPEN)
    grid = [Fraction(0), Fraction(40), Fraction(120)]  # a third is the mean of 0, 0 and 1
    changes = naive.changes("symmetric difference", 11, True, 13)
    check_value(result, naive.global_on_grid(("std", 1), grid, 13, changes))


def test_a_standard_deviation_that_its_bound_leaves_open():
    """With ddof 1, and 13 records of which 10 are removed and 1 is added, the bound is no proof."""
    result = sl.global_sensitivity(INTERVAL, sl.Std(ddof=1), size=13, neighbors=OPEN)
    spread = naive.Answers(("std", 1))(map(Fraction, result.witness.x)) / 120**2
    open_family = Family(3, 1, 10, Fraction(1), root=True)
    assert open_family.exceeds(Difference(spread, Fraction(0), root=True))
    assert result.witness.query_y == 0


@pytest.mark.further
@pytest.mark.representative
@pytest.mark.parametrize("seed", range(60))
def test_every_split_of_the_core_is_looked_at(seed):
    """The pair with C at both ends, for the standard deviation, is the best of all in rationals."""
    rng = Random(seed)
    core, own = rng.randint(2, 30), rng.randint(1, 6)
    other, ddof = own + rng.randint(1, 500), Fraction(rng.randint(0, 4), 2)
    answers = naive.Answers(("std", ddof))
    mean_of = [Fraction(high, core) for high in range(core)]
    expected = max(
        answers.distance(answers(split + (1,) * own), answers((*split, *[mean_of[high]] * other)))
        for high in range(1, core)
        for split in [(*[Fraction(0)] * (core - high), *[Fraction(1)] * high)]
        if answers(split + (1,) * own) >= answers((*split, *[mean_of[high]] * other))
    )
    found = Family(core, own, other, ddof, root=True).furthest_in_deviation()
    assert abs(found.gap.close() - Fraction(expected)) < Fraction(1, 10**30)
    assert naive.related(
        *(tuple(data) for data in map(listed, (found.more, found.less))), [(own, other)]
    )


def listed(data):
    """A dataset by multiplicities, written out."""
    return [value for value, count in data.items() for _ in range(count)]


@pytest.mark.representative("size")
@pytest.mark.parametrize("size", range(1, 8))
@pytest.mark.parametrize("k", range(1, 8))
def test_replacement_changes_the_variance_as_the_formula_says(size, k):
    if k > size:
        return
    changed = min(k, size // 2)
    result = sl.global_sensitivity(INTERVAL, "var", size=size, neighbors=sl.Bounded(k))
    assert result.exact == Fraction(changed * (size - changed), size**2) * 120**2


def test_several_sizes_and_distances_in_one_call():
    curves = sl.sensitivity_curves(
        {"age": INTERVAL, "absence_days": sl.Universe.from_interval(0, 93)},
        ["mean", "median", "var"],
        size=[4, 5],
        distances=[1, 2],
        neighbors=["bounded", "unbounded"],
    )
    assert len(curves) == 24
    assert curves.result("mean", distance=2, column="age", neighbors="bounded").exact == 60
    exact = curves.result("mean", distance=1, column="absence_days", neighbors="unbounded").exact
    assert exact == Fraction(93, 4)
    for _, result in curves:
        result.verify()


def test_large_datasets_need_no_search():
    results = [
        sl.global_sensitivity(INTERVAL, query, size=10_000, neighbors=sl.Unbounded(3))
        for query in ("mean", "median", "var", "std", Range())
    ]
    assert {result.datasets_evaluated for result in results} == {0}
    mean, median, var, std, width = results
    assert (mean.exact, median.exact, width.exact) == (Fraction(360, 10_000), 120, 120)
    assert var.exact == Fraction(3 * 9_997, 10_000**2) * 120**2
    check_value(std, naive.Answers(("std", 0)).distance(var.exact, Fraction(0)))


def test_engines_for_intervals_are_kept_apart():
    assert {engine.name for engine in CONTINUOUS} == {"intervals"}
    for kind in ("global", "local"):
        (only,) = engines_for(kind, on_interval=True)
        assert only in CONTINUOUS
        assert only not in engines_for(kind)
    assert engines_for("smooth", on_interval=True) == ()
