"""Standard deviations by group: roots beside each other, against the definition in 60 digits."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import oracle
import oracle_records as records
import pandas as pd
import pytest
from checks import check_value, refused_with
from doses import STRESS, for_long
from group_cases import Row, grouped, table
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import BY_NAME as RELATIONS

import sensitivity_lab as sl
from sensitivity_lab.search.groups import any_sizes

POOLS = ((0, 1, 2, 3), (0, 1, 5, 9, 40), (0.1, 0.2, 0.7), (10**17, 10**17 + 1, 3))


def deviations(dataset: tuple[Row, ...], groups: str, empty: int) -> list[Decimal]:
    """The standard deviation of each group, to 60 digits."""
    found = []
    for group in groups:
        values = [value for at, value in dataset if at == group]
        square = oracle.evaluate(("var", 0), values) if values else Fraction(empty) ** 2
        found.append((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())
    return found


def furthest(pairs, groups: str, empty: int, norm: str) -> Decimal:
    """The largest norm of the differences over all pairs of datasets."""
    with localcontext() as context:
        context.prec = 80
        found = Decimal(-1)
        for pair in pairs:
            of_x, of_y = (deviations(data, groups, empty) for data in pair)
            gaps = [abs(one - other) for one, other in zip(of_x, of_y, strict=True)]
            sizes = {
                "L1": sum(gaps),
                "L2": sum(gap * gap for gap in gaps).sqrt(),
                "Linf": max(gaps),
            }
            found = max(found, sizes[norm])
    return found


def check(result: sl.results.Sensitivity, expected: Decimal) -> None:
    """Roots that cancel leave less than the digits of the oracle, where there is nothing."""
    if expected < Decimal(10) ** -40:
        assert (result.value, result.upper) == (0, 0)
    else:
        check_value(result, expected)
    result.verify()


@st.composite
def problems(draw, most: int):
    """Rows, a relation of distance `most` at most, a size, and the pairs of neighbors."""
    name, pool = draw(st.sampled_from(sorted(RELATIONS))), draw(st.sampled_from(POOLS))
    row = st.tuples(st.sampled_from("abz"), st.sampled_from(pool))
    rows = draw(st.lists(row, min_size=2, max_size=6))
    k, exactly = draw(st.integers(1, most)), draw(st.booleans())
    size = draw(st.integers(1, len(rows)))
    relation = RELATIONS[name](k, exactly)
    try:
        relation.changes(size, table(rows))
        pairs = list(records.pairs(rows, size, name, k, exactly=exactly))
    except (sl.errors.InputError, ValueError):
        assume(False)
    return rows, relation, size, pairs


def check_any_sizes(problem, empty, norm, method):
    rows, relation, size, pairs = problem
    assume(pairs)
    result = sl.global_sensitivity(
        table(rows),
        grouped("std", empty, "ab"),
        size=size,
        neighbors=relation,
        norm=norm,
        method=method,
    )
    check(result, furthest(pairs, "ab", empty, norm))


asked = {"empty": st.sampled_from([0, 2]), "norm": st.sampled_from(records.NORMS)}


@pytest.mark.parametrize("method", ["groups", "enumeration"])
@given(problem=problems(1), **asked)
def test_deviations_at_distance_1_are_those_of_the_definition(method, problem, empty, norm):
    check_any_sizes(problem, empty, norm, method)


@given(problem=problems(3), **asked)
def test_listed_deviations_are_those_of_the_definition(problem, empty, norm):
    check_any_sizes(problem, empty, norm, "enumeration")


@pytest.mark.stress
@settings(max_examples=STRESS)
@given(problem=problems(1), **asked)
def test_deviations_at_distance_1_for_long(problem, empty, norm):
    check_any_sizes(problem, empty, norm, "groups")


def check_public(problem, norm, sizes):
    rows, relation, size, pairs = problem
    assume(sum(sizes.values()) <= size)
    pairs = [
        pair
        for pair in pairs
        if all(sum(g == at for g, _ in of) == n for of in pair for at, n in sizes.items())
    ]
    query = grouped("std", 0, "ab", group_sizes=sizes)
    options = {"size": size, "neighbors": relation, "norm": norm, "method": "groups"}
    if not pairs:
        refused_with(
            lambda: sl.global_sensitivity(table(rows), query, **options),
            "group_sizes",
            sl.errors.NoEngineError,
        )
        return
    expected = furthest(pairs, "ab", 0, norm)
    check(sl.global_sensitivity(table(rows), query, **options), expected)


public = {
    "norm": st.sampled_from(records.NORMS),
    "sizes": st.fixed_dictionaries({"a": st.integers(0, 3), "b": st.integers(0, 2)}),
}


@given(problem=problems(3), **public)
def test_public_sizes_allow_any_distance(problem, norm, sizes):
    check_public(problem, norm, sizes)


test_public_sizes_allow_any_distance_for_long = for_long(
    test_public_sizes_allow_any_distance, STRESS, problem=problems(3), **public
)


@pytest.mark.parametrize("norm", records.NORMS)
def test_a_local_deviation_is_that_of_the_definition(norm):
    rows = [(g, d) for g in "ab" for d in (0, 1, 5, 9)]
    x = tuple(rows[:3] + rows[4:7])
    pairs = [
        pair
        for pair in records.pairs(rows, 6, "bounded", 2, exactly=False)
        if sorted(pair[0]) == sorted(x)
    ]
    assert len(pairs) > 5
    result = sl.local_sensitivity(
        table(rows), grouped("std", 0, "ab"), dataset=list(x), neighbors=sl.Bounded(2), norm=norm
    )
    assert result.method == "groups"
    check(result, furthest(pairs, "ab", 0, norm))


def test_answers_are_floats_of_the_groups():
    frame = pd.DataFrame({"g": list("aabz"), "d": [1, 4, 3, 9]})
    query = grouped("std", 7, "abc")
    assert (query.name, query(frame)) == ("std of d by g", (1.5, 0.0, 7.0))


@pytest.mark.exhaustive
def test_deviations_of_thousands_of_rows_take_few_searches(monkeypatch):
    monkeypatch.setattr(any_sizes, "MOST_SEARCHES", 20)
    rng = np.random.default_rng(0)
    days = np.minimum(rng.geometric(0.08, 20_000) - 1, 80).tolist()
    universe = table(list(zip(rng.choice(list("abcde"), 20_000), days, strict=True)))
    result = sl.global_sensitivity(
        universe, grouped("std", 0, "abcde"), size=5000, neighbors=sl.Bounded(1)
    )
    # A row at one end of 0 to 80 gets one at the other end beside it; another group's loses it.
    assert (result.method, result.value) == ("groups", 2 * 40)


def test_a_sum_of_roots_is_rounded_up():
    """Groups 0, 1 and 0, 0, 1 lose their 1: half a unit, and the root of 2 over 3."""
    rows = [("a", 0), ("a", 1), ("b", 0), ("b", 0), ("b", 1)]
    result = sl.global_sensitivity(
        table(rows),
        grouped("std", 0, "ab"),
        size=5,
        neighbors=sl.Unbounded(2, exactly=True, direction="remove"),
    )
    assert result.value == pytest.approx(0.5 + math.sqrt(2) / 3, rel=1e-15)
    # The upper end less 1/2 is at least the root of 2/9, and not so one float lower.
    upper, lower = Fraction(result.upper), Fraction(math.nextafter(result.upper, 0))
    assert (upper - Fraction(1, 2)) ** 2 >= Fraction(2, 9) > (lower - Fraction(1, 2)) ** 2
