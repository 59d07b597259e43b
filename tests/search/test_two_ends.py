"""Weighted sums by rank where the smallest and the largest value have copies enough.

Against the definition on all datasets, and against the walks, which know nothing of ends.
"""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import oracle
import pytest
from checks import calls_of
from doses import dose, for_long
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import KINDS, RELATIONS, Asked, as_fractions, most_feasible

import sensitivity_lab as sl
from sensitivity_lab.search.ranks import global_max
from sensitivity_lab.search.ranks.two_ends import EndsSearch

QUERIES = {
    "range": sl.Range(),
    "midrange": sl.Midrange(),
    "iqr": sl.InterquartileRange(),
    "iqr of observations": sl.InterquartileRange("closest_observation"),
    "gini": sl.GiniMeanDifference(),
    "trimmed": sl.TrimmedMean(Fraction(1, 4)),
    "winsorized": sl.WinsorizedMean(Fraction(1, 3)),
    "median": sl.Median(),
    "percentile": sl.Percentile(70),
}

each_relation = pytest.mark.parametrize("family", RELATIONS)
each_meaning = pytest.mark.parametrize("exactly", [False, True])


def of_weights(weights):
    """A query with the given weights by size."""
    return sl.LStatistic(lambda size: weights[size])


@st.composite
def weighings(draw, largest: int):
    """Weights for every size, of any signs, many or few of them not 0."""
    numbers = draw(
        st.sampled_from(
            [
                st.integers(-4, 4),
                st.sampled_from([0, 0, 0, 1, -2]),
                st.fractions(-2, 2, max_denominator=9),
            ]
        )
    )
    if draw(st.booleans()):
        # The weights of neighboring sizes are alike, as those of named queries are.
        numbers = draw(st.lists(numbers, min_size=largest, max_size=largest))
        return of_weights({size: numbers[:size] for size in range(largest + 1)})
    return of_weights(
        {size: draw(st.lists(numbers, min_size=size, max_size=size)) for size in range(largest + 1)}
    )


def queries(largest: int):
    return st.one_of(weighings(largest), st.sampled_from(list(QUERIES.values())))


@st.composite
def domains(draw, largest: int, most_values: int, kinds):
    """Domains with copies enough for a pair of so many records, or for fewer, and unlimited."""
    values = draw(
        st.sampled_from(list(kinds)).flatmap(
            lambda kind: st.lists(KINDS[kind], min_size=1, max_size=most_values, unique=True)
        )
    )
    copies = draw(st.sampled_from([None, None, "each", "by value"]))
    if copies is None:
        return sl.Universe.from_domain(values)
    counts = st.integers(1, largest + 1)
    if copies == "each":
        return sl.Universe.from_domain(values, copies=draw(counts))
    return sl.Universe(values, [draw(counts) for _ in values])


@st.composite
def problems(
    draw, family: str, exactly: bool, size: int, most: int, most_values: int = 4, kinds=KINDS
):
    """A feasible problem with datasets of up to a size and changes of up to `most` records."""
    universe = draw(domains(size + most, most_values, kinds))
    sizes = [
        one
        for one in range(1, size + 1)
        if one <= universe.size and most_feasible(family, one, universe.size, exactly) >= 1
    ]
    if not sizes:
        universe, sizes = sl.Universe.from_domain([0, 1]), [2]
    chosen = draw(st.sampled_from(sizes))
    k = draw(st.integers(1, int(min(most, most_feasible(family, chosen, universe.size, exactly)))))
    relation, parameters = RELATIONS[family]
    return Asked(universe, relation(k, exactly, **parameters), chosen)


def labelled(asked: Asked) -> list[int]:
    """How many records are in C, A and B, for every change: all of them different records."""
    return [asked.size + added for _, added in asked.relation.changes(asked.size, asked.universe)]


def solved(asked: Asked, query):
    """The result, and for which changes the two ends were taken to be enough."""
    with patch.object(EndsSearch, "solve", autospec=True, side_effect=EndsSearch.solve) as searched:
        result = sl.global_sensitivity(
            asked.universe, query, size=asked.size, neighbors=asked.relation, method="ranks"
        )
    shapes = [shape for call in searched.call_args_list for shape in call.args[0].shapes]
    return result, [shape.core + shape.only_x + shape.only_y for shape in shapes]


def weighted_sum(query, data) -> Fraction:
    weights = dict(query.weights(len(data)))
    return sum((weights.get(rank, 0) * one for rank, one in enumerate(sorted(data))), Fraction(0))


def sizes_of(asked: Asked) -> set[int]:
    changes = asked.relation.changes(asked.size, asked.universe)
    return {asked.size, *(asked.size - removed + added for removed, added in changes)}


def check_definition(asked: Asked, query) -> None:
    """The value and the witness, on all datasets; ends where, and only where, copies are enough."""
    if query.least_size > min(sizes_of(asked)):
        return
    try:
        result, at_ends = solved(asked, query)
    except sl.errors.NoEngineError as error:
        # Copies that are not enough leave walks, which add up numbers of like magnitudes only.
        if "span too many orders of magnitude" in str(error):
            return
        raise
    pairs = set(oracle.pairs(asked.records, asked.size, **asked.oracle_relation))
    answers = {one: weighted_sum(query, one) for one in {data for pair in pairs for data in pair}}
    x, y = as_fractions(result.witness.x), as_fractions(result.witness.y)
    assert result.exact == max(abs(answers[x] - answers[y]) for x, y in pairs)
    assert result.exact == abs(answers[x] - answers[y])
    assert (x, y) in pairs or (y, x) in pairs
    counts = asked.universe.counts
    copies = float("inf") if counts is None else min(counts[0], counts[-1])
    assert set(at_ends) == {number for number in labelled(asked) if number <= copies}


def check_walks(asked: Asked, query) -> None:
    """Datasets of some 20 records: the walks look at every value, and find no more."""
    if query.least_size > min(sizes_of(asked)):
        return
    result, _ = solved(asked, query)
    result.verify()
    with patch.object(global_max, "enough_copies", lambda *_: 0):
        assert solved(asked, query)[0].exact == result.exact


SMALL = {"size": 4, "most": 3}
# The walks refuse numbers that are too far apart.
LARGER = {
    "size": 20,
    "most": 6,
    "most_values": 5,
    "kinds": ("ties", "clusters", "negatives", "tenths"),
}


@each_relation
@each_meaning
@pytest.mark.representative("family")
@settings(max_examples=2 * settings.default.max_examples)
@given(st.data())
def test_definition(family, exactly, data):
    check_definition(data.draw(problems(family, exactly, **SMALL)), data.draw(queries(7)))


test_many_definition = for_long(test_definition, dose(1_000), st.data())


@pytest.mark.representative("family")
@each_relation
@each_meaning
@pytest.mark.exhaustive
@given(st.data())
def test_walks(family, exactly, data):
    check_walks(data.draw(problems(family, exactly, **LARGER)), data.draw(queries(26)))


test_many_walks = for_long(test_walks, dose(300), st.data())


@pytest.mark.representative("query", quick=())
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("relation", [sl.Bounded(3), sl.Unbounded(3), sl.SymmetricDifference(2)])
@given(st.integers(-50, 50), st.integers(1, 30), st.integers(5, 40))
@example(3, 10, 20)
@settings(max_examples=10)
def test_intervals(query, relation, lower, width, size):
    """An interval asks the domain of its bounds; values between them change nothing."""
    ask = {"size": size, "neighbors": relation}
    values = [lower, lower + Fraction(width, 3), lower + width]
    interval = sl.Universe.from_interval(lower, lower + width)
    found = sl.global_sensitivity(interval, query, **ask)
    assert (
        found.exact
        == sl.global_sensitivity(
            sl.Universe.from_domain(values), query, **ask, method="ranks"
        ).exact
    )


def test_values_in_between_matter_where_the_ends_run_out():
    """Weights 0, 1, 0 and one copy: the middle record moves among what the others leave."""
    values, query = [0, 1, 10, 11], of_weights({3: [0, 1, 0]})
    ask = {"query": query, "size": 3, "neighbors": sl.Bounded(1), "method": "ranks"}
    assert sl.global_sensitivity(sl.Universe(values), **ask).exact == 9
    assert sl.global_sensitivity(sl.Universe.from_domain(values, copies=3), **ask).exact == 11
    assert sl.global_sensitivity(sl.Universe.from_domain(values), **ask).exact == 11


@pytest.mark.parametrize(("copies", "used"), [(11, [11, 12]), (12, [11, 12]), (13, [11, 12])])
def test_copies_for_every_record(copies, used):
    """At size 10, replacing one and two records: C, A and B have 11 and 12 of them."""
    universe = sl.Universe([0, 5, 9], [copies, 1, 40])
    asked = Asked(universe, sl.Bounded(2), 10)
    assert solved(asked, sl.Range())[1] == [number for number in used if number <= copies]


@pytest.mark.parametrize("method", ["ranks", "auto"])
@pytest.mark.parametrize(
    ("query", "values", "size", "k", "value"),
    [
        ("iqr", 101, 500, 3, 100),
        ("gini_mean_difference", 251, 1_000, 1, Fraction(1, 2)),
        ("range", 1_001, 100_000, 5, 1_000),
    ],
)
def test_few_steps(query, values, size, k, value, method):
    """No step per record, of which the universe has unlimited copies, or per value."""
    universe, asked = sl.Universe.from_domain(range(values)), sl.Bounded(k)
    sl.global_sensitivity(universe, query, size=size, neighbors=asked)  # weights are kept
    calls = calls_of(
        lambda: sl.global_sensitivity(universe, query, size=size, neighbors=asked, method=method)
    )
    assert calls.result.exact == value
    assert calls.number < 20 * size + 20_000


def test_numbers_beyond_every_integer_type():
    """Weights and records of a hundred digits are added up in whole numbers."""
    large = 10**100
    universe = sl.Universe.from_domain([-large, 0, large + 1])
    query = sl.LStatistic(lambda n: [Fraction(rank - 1, large + n) for rank in range(n)])
    asked = Asked(universe, sl.SymmetricDifference(2), 3)
    result, used = solved(asked, query)
    pairs = oracle.pairs(asked.records, 3, **asked.oracle_relation)
    assert result.exact == max(
        abs(weighted_sum(query, x) - weighted_sum(query, y)) for x, y in pairs
    )
    assert used


@pytest.mark.parametrize(
    ("family", "distances"),
    [("bounded", range(1, 13)), ("unbounded", range(1, 12)), ("symmetric difference", [2, 5])],
)
def test_whole_curves(family, distances):
    """Each distance of a curve is that of its own search, and its witness has that difference."""
    universe, make = sl.Universe.from_domain([0, 3, 10]), RELATIONS[family][0]
    query = of_weights({size: [(-1) ** rank for rank in range(size)] for size in range(25)})
    neighbors = family.replace(" ", "_")
    curves = sl.sensitivity_curves(
        universe, query, size=12, distances=distances, neighbors=neighbors
    )
    for k, (_, result) in zip(distances, curves.points, strict=True):
        alone = sl.global_sensitivity(universe, query, size=12, neighbors=make(k))
        assert result.exact == alone.exact
        result.verify()
