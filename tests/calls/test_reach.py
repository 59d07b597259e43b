"""Reach against a breadth-first search, and what follows from reach."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction
from functools import partial
from random import Random
from unittest import mock

import oracle
import oracle_reach
import oracle_records
import oracle_smooth
import pandas as pd
import pytest
from checks import refused
from doses import STRESS
from strategies import as_fractions

import sensitivity_lab as sl
from sensitivity_lab.errors import InputError, QueryError, TooLargeError, VerificationError
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.search.variance import local_max

FEW = 5
"""So many problems of each query and relation are compared."""

MANY = STRESS // 2
"""So many are, in all, by `make stress`: 10,000 by default."""

QUERIES = {
    "mean": ("mean",),
    "median": ("median",),
    "sum": ("sum",),
    "count": ("count",),
    "min": ("min",),
    "percentile_90": ("percentile", 90, "linear"),
    "var": ("var", 0),
    "std": ("var", 0),
    "count_distinct": ("count_distinct",),
    "iqr": ("iqr",),
    "range": ("range",),
    "trimmed_mean_10": ("trimmed", Fraction(1, 10)),
    "winsorized_mean_10": ("winsorized", Fraction(1, 10)),
    "gini_mean_difference": ("gini",),
}
"""By name: the oracle's query; of a root, the square."""

RELATIONS = {
    "bounded": sl.Bounded,
    "unbounded": sl.Unbounded,
    "symmetric_difference": sl.SymmetricDifference,
    "edit": sl.Edit,
}

RECORDS = {
    "ties": lambda rng: rng.randint(0, 2),
    "clusters": lambda rng: rng.choice((-60, 0, 70)) + rng.randint(0, 2),
    "heavy tails": lambda rng: rng.choice((-1, 1)) * 7 ** rng.randint(0, 7),
    "halves": lambda rng: rng.randint(-9, 9) / 2,
    "offset": lambda rng: 10**9 + rng.randint(0, 8),
    "float offset": lambda rng: 1e9 + rng.randint(0, 9) / 8,
}


def drawn(rng, relation):
    """A universe, its records as the oracle lists them, and a dataset; the sizes that are allowed.

    Small ones, among them the whole universe, one or two records, and domains.
    """
    make = RECORDS[rng.choice(list(RECORDS))]
    if rng.random() < 0.3:
        values = list({make(rng) for _ in range(rng.randint(1, 3))})
        size = rng.randint(0, 3)
        universe, sizes = sl.Universe.from_domain(values), (0, size + 1)
        records = sorted(map(Fraction, values)) * sizes[1]
    else:
        listed = [make(rng) for _ in range(rng.randint(1, 6))]
        universe, records = sl.Universe.from_dataset(listed), list(map(Fraction, listed))
        size = rng.choice((0, 1, 2, len(records), rng.randint(1, len(records))))
        size = min(size, len(records))
        sizes = (0, len(records))
    x = tuple(sorted(rng.sample(records, size)))
    return universe, records, x, (size, size) if relation == "bounded" else sizes


def check(rng, name, relation, method="auto"):
    """Compare reach with a breadth-first search on one problem; tell whether it is one."""
    universe, records, x, (lowest, highest) = drawn(rng, relation)
    least, answer = oracle.least(QUERIES[name]), partial(oracle.evaluate, QUERIES[name])
    if len(x) < least or (lowest < least and least >= highest):
        return False
    lowest = lowest if relation == "bounded" else max(lowest, least)
    given = (lowest, highest) if relation != "bounded" and lowest < highest else None
    if given is None and relation != "bounded" and universe.size == float("inf"):
        return False
    balls = oracle_reach.balls(records, x, relation, (lowest, highest))
    expected = oracle_reach.reach(balls, answer)
    last = rng.choice((1, len(balls) - 1, len(balls) + 2)) or 1
    found = sl.reach(
        universe,
        name,
        dataset=x,
        neighbors=relation,
        distances=last,
        sizes=given,
        method=method,
    )
    number = Root if name == "std" else Fraction
    assert found.answer == number(expected[0][0])
    for k in range(last + 1):
        low, high = expected[min(k, len(expected) - 1)]
        assert (found.lower[k], found.upper[k]) == (number(low), number(high)), k
        assert type(found.lower[k]) is type(found.upper[k]) is number
        for end, stated in (("lower", low), ("upper", high)):
            y = as_fractions(found.witness(k, end).y)
            assert y in balls[min(k, len(balls) - 1)]
            assert answer(y) == stated
    # Equal records count as different ones, so the ball may have every dataset earlier.
    if found.saturated_at is not None:
        assert len(balls) - 1 <= found.saturated_at <= last
    else:
        assert last < len(x) + sum(1 for _ in records)
    if relation in ("bounded", "symmetric_difference"):
        check_local(found, given)
    found.verify()
    return True


def check_local(found, given):
    """The larger move from f(x) is the local sensitivity at each feasible k."""
    if given is not None:
        return
    for k in found.distances[1:]:
        try:
            local = sl.local_sensitivity(
                found.universe, found.query, dataset=found.x, neighbors=found.neighbors.at(k)
            )
        except InputError:  # not feasible, or a neighbor is too small for the query
            return
        ends = found.lower[k], found.upper[k]
        if found.query.root:
            floats = [abs(float(end) - float(found.answer)) for end in ends]
            assert local.value == pytest.approx(
                max(floats), rel=1e-12, abs=1e-12 * max(map(float, ends))
            )
        else:
            assert local.exact == max(abs(end - found.answer) for end in ends)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.representative("name")
def test_reach_is_what_a_breadth_first_search_finds(name, relation):
    rng, compared = Random(f"{name} {relation}"), 0
    while compared < FEW:
        compared += check(rng, name, relation)


@pytest.mark.stress
def test_many_small_problems():
    rng, compared = Random(0), 0
    while compared < MANY:
        name, relation = rng.choice(list(QUERIES)), rng.choice(list(RELATIONS))
        compared += check(rng, name, relation)


def of_group(query, empty):
    """A query on the numbers of the rows of group "a"."""

    def answer(rows):
        values = sorted(v for g, v in rows if g == "a")
        return query(values) if values else empty

    return answer


def mean(values):
    return sum(map(Fraction, values), Fraction(0)) / len(values)


def median(values):
    return oracle.evaluate(("median",), values)


def undefined():
    raise ValueError("a mean of nobody is undefined")


def one_group(query, **more):
    return sl.GroupBy("g", query, groups=["a"], **more)


TABLES = {
    "mean of a column": (sl.MeanOf("v"), lambda rows: mean([v for _, v in rows] or undefined())),
    "sum of a column": (sl.SumOf("v"), lambda rows: Fraction(sum(v for _, v in rows))),
    "median of a column": (
        sl.ColumnQuery("v", "median"),
        lambda rows: median(sorted(v for _, v in rows)),
    ),
    "count": (sl.CountIf("v > 1"), lambda rows: Fraction(sum(v > 1 for _, v in rows))),
    "mean of a group": (one_group(sl.MeanOf("v", empty=0)), of_group(mean, Fraction(0))),
    "median of a group": (
        one_group(sl.ColumnQuery("v", "median", empty=7)),
        of_group(median, Fraction(7)),
    ),
    "count of a group": (one_group(sl.Count()), of_group(lambda some: Fraction(len(some)), 0)),
    "a function": (
        lambda table: len(set(table["g"])),
        lambda rows: Fraction(len({g for g, _ in rows})),
    ),
}
"""Queries on rows (g, v), and their definitions."""


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.representative("name", quick=())
def test_reach_on_tables(name, relation):
    ours, theirs = TABLES[name]
    rng = Random(f"{name} {relation}")
    for _ in range(FEW):
        kinds = rng.choice(("aab", "ab", "aa", "abc"))
        rows = [(rng.choice(kinds), rng.randint(-1, 3)) for _ in range(rng.randint(2, 6))]
        size = rng.randint(1, len(rows))
        x = tuple(sorted(rng.sample(rows, size)))
        table = pd.DataFrame(rows, columns=["g", "v"])
        least = 0 if oracle_records.has_answer(theirs, ()) else 1
        sizes = (size, size) if relation == "bounded" else (least, 9)
        balls = oracle_reach.balls(rows, x, relation, sizes)
        expected = oracle_reach.reach(balls, theirs)
        last = rng.randint(1, len(balls) + 1)
        found = sl.reach(
            sl.TableUniverse.from_dataset(table),
            ours,
            dataset=pd.DataFrame(x, columns=["g", "v"]),
            neighbors=relation,
            distances=last,
        )
        for k in range(last + 1):
            low, high = expected[min(k, len(expected) - 1)]
            assert (found.lower[k], found.upper[k]) == (low, high)
            for end, stated in (("lower", low), ("upper", high)):
                y = tuple(sorted(found.witness(k, end).y))
                assert y in balls[min(k, len(balls) - 1)]
                assert theirs(y) == stated
        found.verify()


@pytest.mark.parametrize("relation", RELATIONS)
def test_equal_records_and_a_constant_query_do_not_move(relation):
    universe = sl.Universe.from_dataset([1, 1, 1])
    found = sl.reach(universe, "median", dataset=[1, 1], neighbors=relation, distances=3)
    assert set(found.lower) == set(found.upper) == {1}
    assert found.witness(3, "lower").y == found.x == (1, 1)
    constant = sl.reach([1, 2, 5], lambda _: 7, dataset=[1, 2], neighbors=relation, distances=1)
    assert constant.lower == constant.upper == (7, 7)
    assert (constant.arithmetic, constant.method) == ("exact", "enumeration")


@pytest.mark.parametrize("query", ["median", lambda x: x.max(initial=0)])
def test_within_no_steps_there_is_x_alone(query):
    found = sl.reach([1, 2, 5, 9], query, dataset=[1, 5, 9], neighbors="bounded", distances=0)
    more = sl.reach([1, 2, 5, 9], query, dataset=[1, 5, 9], neighbors="bounded", distances=[0, 1])
    assert (found.distances, found.lower, found.upper) == ((0,), more.lower[:1], more.upper[:1])
    assert (found.saturated_at, more.saturated_at) == (None, 1)
    assert found.witness(0, "upper").y == found.x
    assert repr(found).startswith(f"Reach of {found.query.name}: 5 to 5 within 0 (exact)\n") or (
        repr(found).startswith(f"Reach of {found.query.name}: 9 to 9 within 0 (exact)\n")
    )
    assert len(found.to_frame()) == 1


def test_a_ball_saturates_where_there_is_nothing_more_to_change():
    universe = sl.Universe.from_dataset([1, 2, 3, 10, 12])
    asked = {"dataset": [1, 2, 3], "neighbors": "bounded"}
    found = sl.reach(universe, "sum", **asked, distances=9)
    assert found.upper == (6, 17, 25, *[25] * 7)
    assert found.saturated_at == 2
    assert sl.reach(universe, "sum", **asked, distances=2).saturated_at == 2
    assert sl.reach(universe, "sum", **asked, distances=1).saturated_at is None
    whole = sl.reach(universe, "sum", dataset=universe, neighbors="bounded", distances=2)
    assert (whole.saturated_at, whole.method, whole.upper) == (0, "none", (28, 28, 28))
    assert (
        sl.reach(universe, "sum", dataset=universe, neighbors="edit", distances=9).saturated_at == 5
    )
    domain = sl.Universe.from_domain([1, 5])
    assert sl.reach(domain, "sum", dataset=[1], neighbors="edit", distances=3).saturated_at is None


@pytest.mark.parametrize("relation", ["bounded", "symmetric_difference", "edit"])
def test_a_ball_saturates_at_the_furthest_dataset_and_no_step_later(relation):
    for seed in range(12):
        rng = Random(seed)
        records = rng.sample(range(100), rng.randint(2, 6))
        x, universe = records[: rng.randint(1, 3)], sl.Universe.from_dataset(records)
        sizes = (len(x),) * 2 if relation == "bounded" else (1, len(records))
        furthest = len(oracle_reach.balls(records, x, relation, sizes)) - 1
        for last in {max(furthest - 1, 1), max(furthest, 1), furthest + 1, 300}:
            found = sl.reach(universe, "var", dataset=x, neighbors=relation, distances=last)
            saturated = furthest if last >= furthest else None
            assert found.saturated_at == saturated
            told = None if saturated is None else f"from distance {furthest} on: all datasets"
            assert dict(found.facts()).get("saturated") == told
            # From there on nothing is made again: the end is one object.
            for ends in (found.lower, found.upper):
                assert len(ends) == last + 1
                assert all(end is ends[-1] for end in ends[furthest:])


@pytest.mark.parametrize("end", ["lower", "upper"])
def test_an_end_moves_at_the_distance_of_its_dataset_and_no_step_later_or_earlier(end):
    universe = sl.Universe.from_domain(range(0, 40, 3))
    asked = {"dataset": [0, 9, 12, 30], "neighbors": "edit", "distances": 4}
    found = sl.reach(universe, "var", **asked)
    ends = getattr(found, end)
    for k in range(1, 5):
        if ends[k] == ends[k - 1]:
            continue
        y = found.witness(k, end).y
        assert oracle_distance(found.x, y, "edit") == k
        # A dataset at distance k stated for k - 1, or the end of k - 1 stated for k.
        early, late = list(ends), list(ends)
        early[k - 1], late[k] = ends[k], ends[k - 1]
        moves = found.farthest.moves[end]
        nearer = tuple((one - (one == k), made) for one, made in moves)
        farthest = replace(found.farthest, moves={**found.farthest.moves, end: nearer})
        wrong = replace(found, **{end: tuple(early)}, farthest=farthest)
        with pytest.raises(VerificationError) as caught:
            wrong.witness(k - 1, end)
        assert f"at distance {k} from x answers" in str(caught.value)
        with pytest.raises(VerificationError):
            replace(found, **{end: tuple(late)}).witness(k, end)
        if k > 1:
            with pytest.raises(VerificationError):
                wrong.again()


def test_sizes_limit_the_datasets_that_can_be_reached():
    domain = sl.Universe.from_domain([1, 5])
    asked = {"dataset": [1, 1], "neighbors": "unbounded", "distances": 4}
    found = sl.reach(domain, "sum", **asked, sizes=(2, 3))
    assert found.upper == (2, 7, 7, 11, 11)
    assert (found.sizes, found.saturated_at, found.noise_context().left_out) == (
        (2, 3),
        None,
        (2, 3),
    )
    assert sl.reach(domain, "sum", **asked).noise_context().left_out is None


@pytest.mark.parametrize("query", ["mean", "median", "var", "std", "percentile_90"])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.representative("query", quick=())
def test_reach_in_an_interval(query, relation):
    """It holds that of every grid with the bounds, and datasets of the interval attain it."""
    rng = Random(f"{query} {relation}")
    for _ in range(FEW):
        x = sorted(rng.randint(0, 8) for _ in range(rng.randint(1, 4)))
        interval, grid = sl.Universe.from_interval(0, 8), sl.Universe.from_domain(range(9))
        size = len(x)
        asked = {"dataset": x, "neighbors": relation, "distances": 3}
        if relation != "bounded":
            asked["sizes"] = (1, size + 1)
        found = sl.reach(interval, query, **asked)
        of_grid = sl.reach(grid, query, **asked)
        for k in found.distances:
            assert found.lower[k] <= of_grid.lower[k]
            assert found.upper[k] >= of_grid.upper[k]
            for end in ("lower", "upper"):
                y = found.witness(k, end).y
                assert all(0 <= record <= 8 for record in y)
                assert oracle_distance(x, y, relation) <= k
        # The greatest spread, and both ends of weighted sums by rank, need no values of their own.
        assert found.upper == of_grid.upper
        assert query in ("var", "std") or found.lower == of_grid.lower
        found.verify()


def oracle_distance(x, y, relation):
    return oracle_smooth.distance(as_fractions(x), as_fractions(y), relation)


def test_a_result_travels_without_what_found_it():
    found = sl.reach(range(40), "median", dataset=range(20), neighbors="bounded", distances=6)
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.witness(6, "upper") == found.witness(6, "upper")
    again.verify()


def test_a_frame_rounds_outward():
    found = sl.reach([0, 1, 3], "std", dataset=[0, 1], neighbors="bounded", distances=1)
    frame = found.to_frame("age")
    assert list(frame.columns) == [
        *("column", "query", "neighbors", "distance", "size", "answer", "lower", "upper")
    ]
    assert frame["distance"].tolist() == [0, 1]
    for low, high, end in zip(frame["lower"], frame["upper"], found.upper, strict=True):
        assert Fraction(low) <= found.answer
        assert Fraction(high) >= end
    third = sl.reach([0, 0, 1, 1], "mean", dataset=[0, 0, 1], neighbors="bounded", distances=1)
    low, high = third.to_frame()[["lower", "upper"]].iloc[0]
    assert Fraction(low) < Fraction(1, 3) < Fraction(high)


SMALL = sl.Universe.from_dataset([1, 2, 3, 10])
ASKED = {"dataset": [1, 2, 3], "neighbors": "bounded", "distances": 2}
ROWS = sl.TableUniverse.from_domain({"g": ["a", "b"], "v": [1, 2]})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"neighbors": sl.Bounded(2, exactly=True)},
            "reach is about datasets at a distance of at most k, got bounded, exactly 2; use "
            "exactly=False",
        ),
        (
            {"neighbors": sl.Unbounded(1, direction="add")},
            "reach needs a distance between all datasets, which counts records that are replaced, "
            "or added and removed; unbounded (add), at most 1 declares no such distance; use "
            "Bounded(1), Unbounded(1), SymmetricDifference(1) or Edit(1)",
        ),
        (
            {"neighbors": sl.Bounded(3)},
            "neighbors is bounded, at most 3, but distances=2 leaves out k = 3; pass all "
            "distances, or name the relation without a k",
        ),
        (
            {"sizes": (1, 4)},
            "sizes is for relations that add and remove, not bounded, at most 1",
        ),
        (
            {"neighbors": "edit", "sizes": (3, 3)},
            "sizes must be two sizes from 1 to 4 with the size of x, 3, between them, got (3, 3)",
        ),
        (
            {"dataset": [7]},
            "the record 7 is not in the universe: Universe of 4 records: 1, 2, 3, 10",
        ),
    ],
)
def test_what_reach_refuses(changed, message):
    refused(lambda: sl.reach(SMALL, "median", **{**ASKED, **changed}), message)


def test_answers_of_several_numbers_are_refused():
    histogram = sl.Histogram("g", categories=["a", "b"])
    asked = {"dataset": [("a", 1)], "neighbors": "bounded", "distances": 1}
    refused(
        lambda: sl.reach(ROWS, histogram, **asked),
        "reach is for answers that are one number, and histogram of g has several; take them one "
        "at a time, such as CountIf for a category, or GroupBy(column, query, groups=[group]) for "
        "a group",
    )
    refused(
        lambda: sl.reach(SMALL, lambda x: (x[0], x[-1]), **ASKED),
        "the least and the greatest answer are of one number, and function returned 2; take them "
        "one at a time",
        QueryError,
    )


@pytest.mark.exhaustive
def test_too_many_changes_and_distances_are_refused():
    domain = sl.Universe.from_domain([0, 1])
    refused(
        lambda: sl.reach(
            domain, "mean", dataset=[0, 1] * 1000, neighbors="unbounded", distances=2000
        ),
        "reach within distance 2,000 would look at more than 1,000,000 changes (numbers of records "
        "removed and added) under symmetric difference; choose a smaller distance",
        TooLargeError,
    )
    with pytest.raises(TooLargeError) as caught:
        sl.reach(domain, "mean", dataset=[0, 1], neighbors="bounded", distances=10**9)
    assert str(caught.value).startswith("reach at 1,000,000,000 distances needs 476.8 GiB, more")


def test_a_variance_that_would_take_hours_is_refused():
    """For every change the splits of what it adds, times a bisection over the windows of x."""
    universe, asked = sl.Universe.from_domain(range(10)), {"neighbors": "unbounded"}
    steps = 4 * sum(added + 1 for k in (1, 2, 3) for added in range(k + 1))
    with mock.patch.object(local_max, "MAX_STEPS", steps):
        sl.reach(universe, "var", dataset=range(10), **asked, distances=3)
    with (
        mock.patch.object(local_max, "MAX_STEPS", steps - 1),
        pytest.raises(TooLargeError) as caught,
    ):
        sl.reach(universe, "var", dataset=range(10), **asked, distances=3, method="variance")
    assert str(caught.value) == (
        f"no engine accepts var here: variance would take {steps} steps, more than {steps - 1}; "
        "choose a smaller distance"
    )


def test_the_engines_are_those_of_local_sensitivity():
    asked = {"dataset": [("a", 1), ("b", 2)], "neighbors": "bounded", "distances": 1}
    engines = {
        "row_sums": sl.SumOf("v"),
        "one_column": sl.ColumnQuery("v", "median"),
        "groups": one_group(sl.MeanOf("v", empty=0)),
        "enumeration": sl.MeanOf("v"),
    }
    for name, query in engines.items():
        method = "enumeration" if name == "enumeration" else "auto"
        assert sl.reach(ROWS, query, **asked, method=method).method == name
    assert sl.reach(SMALL, "iqr", **ASKED).method == "ranks"
    assert sl.reach(SMALL, "count_distinct", **ASKED).method == "multiplicities"
    assert sl.reach(sl.IntervalUniverse(0, 9), "mean", **ASKED).method == "intervals"


def test_a_wrong_distance_or_end_of_a_witness():
    found = sl.reach(SMALL, "median", **ASKED)
    refused(
        lambda: found.witness(3, "lower"),
        "k must be a whole number (a distance from 0 to 2), got 3",
    )
    with pytest.raises(InputError) as caught:
        found.witness(1, "low")
    assert str(caught.value).startswith("end must be one of 'lower', 'upper', got 'low'")
    with pytest.raises(InputError) as caught:
        sl.noise.laplace_scale(found, 1)
    assert "the result is the reach of one dataset, which depends on its records" in str(
        caught.value
    )
