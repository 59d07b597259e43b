"""A query on the rows of each group: the engine `groups` against the definition, and its limits."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import oracle_records as records
import pandas as pd
import pytest
from checks import check_value, refused, refused_with
from doses import STRESS, for_long, shares
from group_cases import Row, grouped, table
from hypothesis import assume, example, given
from hypothesis import strategies as st
from strategies import BY_NAME as RELATIONS
from strategies import most_feasible

import sensitivity_lab as sl
from sensitivity_lab.search.groups import any_sizes, combine

INNER = {
    "mean": ("mean",),
    "median": ("median",),
    "percentile_90": ("percentile", 90, "linear"),
    "percentile_25": ("percentile", 25, "linear"),
    "min": ("min",),
    "max": ("max",),
    "sum": ("sum",),
    "count": ("count",),
}
NOT_MONOTONE = {"range": ("range",), "iqr": ("iqr",), "midrange": ("midrange",)}
POOLS = (
    (0, 1, 2, 3),
    (0, 1, 5, 9, 40),
    (0.1, 0.2, 0.7, 3.0),
    (-3, 0, 4),
    (10**17, 10**17 + 1, 10**17 + 7, 3),
)
"""Small numbers, spread ones, floats with a large denominator, signs, and ones beyond 2**53."""


def answer(name: str, empty: Any) -> records.Query:
    """The query on the rows of a group, by the oracle."""

    def query(rows: tuple[Row, ...]) -> Fraction:
        if not rows:
            return Fraction(0 if name in ("sum", "count") else empty)
        spelled = (INNER | NOT_MONOTONE).get(name, ("var", 0))
        return oracle.evaluate(spelled, [value for _, value in rows])

    return query


def check(result: sl.results.Sensitivity, norm: str, expected: Fraction) -> None:
    """The value is the oracle's, which tells squares for L2."""
    if norm != "L2":
        check_value(result, expected)
        return
    with localcontext() as context:
        context.prec = 60
        root = (Decimal(expected.numerator) / Decimal(expected.denominator)).sqrt()
    check_value(result, root)


def large(seed: int = 0) -> sl.TableUniverse:
    rng = np.random.default_rng(seed)
    days = np.minimum(rng.geometric(0.08, 20_000) - 1, 80)
    return sl.TableUniverse.from_dataset(
        pd.DataFrame({"g": rng.choice(list("abcde"), 20_000), "d": days})
    )


LARGE = large()


@st.composite
def rows_of(draw, most: int = 7) -> list[Row]:
    cats, pool = draw(st.sampled_from(["ab", "abc", "abz", "az"])), draw(st.sampled_from(POOLS))
    row = st.tuples(st.sampled_from(cats), st.sampled_from(pool))
    return draw(st.lists(row, min_size=2, max_size=most))


asked = {
    "groups": st.sampled_from(["a", "ab", "abc", "ba"]),
    "empty": st.sampled_from([0, 2, -1, Fraction(1, 3)]),
    "k": st.integers(1, 4),
    "exactly": st.booleans(),
}


def relation_of(name: str, k: int, exactly: bool, size: int, universe: sl.TableUniverse) -> Any:
    """The relation, if it is feasible."""
    relation = RELATIONS[name](k, exactly)
    try:
        relation.changes(size, universe)
    except sl.errors.InputError:
        assume(False)
    return relation


def check_neighbors(kind, name, relation, rows, size, groups, empty, k, exactly):
    """The largest change over all pairs of neighbors, or from the first rows to theirs."""
    assume(size or kind == "local")
    universe, size = table(rows), min(size, len(rows))
    asked_for = relation_of(relation, k, exactly, size, universe)
    of = records.group_by(0, answer(name, empty), groups)
    call, start, definition, options = {
        "global": (sl.global_sensitivity, size, records.global_sensitivity, {"size": size}),
        "local": (
            *(sl.local_sensitivity, rows[:size], records.local_sensitivity),
            {"dataset": rows[:size]},
        ),
    }[kind]
    try:
        expected = definition(rows, start, of, relation, k, exactly=exactly)
    except ValueError:  # no pair
        assume(False)
    query = grouped(name, empty, groups)
    for norm in records.NORMS:
        result = call(universe, query, neighbors=asked_for, norm=norm, method="groups", **options)
        check(result, norm, expected[norm][0])


each_query = pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("global", name) for name in INNER),
        *(("local", name) for name in ("mean", "median", "percentile_90", "count", "var")),
        # Neither the largest nor the smallest rows are the ends of a group that fills.
        *(("local", name) for name in NOT_MONOTONE),
    ],
)


@pytest.mark.representative("kind", "name", quick=("kind",))
@pytest.mark.parametrize("relation", RELATIONS)
@each_query
@given(rows=rows_of(), size=st.integers(0, 6), **asked)
def test_groups_of_any_size_are_those_of_the_definition(
    kind, name, relation, rows, size, groups, empty, k, exactly
):
    check_neighbors(kind, name, relation, rows, size, groups, empty, k, exactly)


larger = {"rows": rows_of(8), "size": st.integers(1, 7), **asked}
test_groups_of_any_size_for_long = for_long(
    test_groups_of_any_size_are_those_of_the_definition, STRESS // 10, **larger
)


@pytest.mark.parametrize("relation", RELATIONS)
@given(rows=rows_of(), size=st.integers(1, 6), **(asked | {"k": st.just(1)}))
def test_variances_at_distance_1_are_those_of_the_definition(
    relation, rows, size, groups, empty, k, exactly
):
    check_neighbors("global", "var", relation, rows, size, groups, empty, k, exactly)


test_variances_at_distance_1_for_long = for_long(
    test_variances_at_distance_1_are_those_of_the_definition,
    STRESS // 3,
    **(larger | {"k": st.just(1)}),
)


@pytest.mark.exhaustive
def test_variances_of_thousands_of_rows_take_few_searches(monkeypatch):
    monkeypatch.setattr(any_sizes, "MOST_SEARCHES", 20)
    result = sl.global_sensitivity(
        LARGE, grouped("var", 0, "abcde"), size=5000, neighbors=sl.Bounded(1)
    )
    # One row stays at one end of 0 to 80, and one goes to it: in two groups.
    assert (result.method, result.exact) == ("groups", 2 * Fraction(80**2, 4))


@given(rows=rows_of(4), **(asked | {"k": st.integers(1, 2)}), size=st.integers(1, 3))
@pytest.mark.parametrize("name", ["mean", "median"])
def test_rows_without_limit_are_those_of_the_definition(
    name, rows, size, groups, empty, k, exactly
):
    rows = list(dict.fromkeys(rows))
    universe = sl.TableUniverse.from_domain(pd.DataFrame(rows, columns=["g", "d"]))
    of = records.group_by(0, answer(name, empty), groups)
    every = rows * (size + k)
    expected = records.global_sensitivity(every, size, of, "bounded", min(k, size), exactly=exactly)
    relation = sl.Bounded(min(k, size), exactly)
    query = grouped(name, empty, groups)
    for norm in records.NORMS:
        result = sl.global_sensitivity(
            universe, query, size=size, neighbors=relation, norm=norm, method="groups"
        )
        check(result, norm, expected[norm][0])


def check_public(name, relation, rows, size, sizes, k, exactly):
    """Only pairs count whose groups have the sizes; without any the engine refuses."""
    universe = table(rows)
    asked_for = relation_of(relation, k, exactly, size, universe)
    pairs = [
        pair
        for pair in records.pairs(rows, size, relation, k, exactly=exactly)
        if all(sum(1 for g, _ in of if g == at) == n for of in pair for at, n in sizes.items())
    ]
    of = records.group_by(0, answer(name, 0), "ab")
    query = grouped(name, 0, "ab", group_sizes=sizes)
    for norm in records.NORMS:
        options = {"size": size, "neighbors": asked_for, "norm": norm, "method": "groups"}
        if not pairs:
            with pytest.raises(sl.errors.NoEngineError, match="group_sizes"):
                sl.global_sensitivity(universe, query, **options)
            continue
        result = sl.global_sensitivity(universe, query, **options)
        check(result, norm, max(records.distances(of(x), of(y))[norm] for x, y in pairs))


public = {
    "sizes": st.fixed_dictionaries({"a": st.integers(0, 3), "b": st.integers(0, 2)}),
    "k": st.integers(1, 3),
    "exactly": st.booleans(),
    "more": st.integers(0, 1),
}


@pytest.mark.representative
@pytest.mark.parametrize("name", ["mean", "median", "sum", "var"])
@example(
    relation="bounded",
    rows=[(g, d) for g in "ab" for d in (0, 1, 5)],
    sizes={"a": 2, "b": 1},
    k=2,
    exactly=False,
    more=0,
)
@given(relation=st.sampled_from(["bounded", *RELATIONS]), rows=rows_of(), **public)
def test_public_sizes_are_those_of_the_definition(name, relation, rows, sizes, k, exactly, more):
    size = sum(sizes.values()) + more
    assume(1 <= size <= len(rows))
    check_public(name, relation, rows, size, sizes, k, exactly)


test_public_sizes_for_long = for_long(
    test_public_sizes_are_those_of_the_definition,
    STRESS // 3,
    relation=st.sampled_from(["bounded", *RELATIONS]),
    rows=rows_of(8),
    **public,
)


@given(
    rows=st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.integers(0, 2)),
        min_size=5,
        max_size=8,
    ),
    size=st.integers(2, 4),
    k=st.integers(1, 2),
    name=st.sampled_from(["mean", "median"]),
)
@example(
    rows=[
        ("a", 1, 2),
        ("a", 2, 0),
        ("a", 1, 1),
        ("a", 1, 3),
        ("a", 2, 0),
        ("b", 3, 0),
        ("b", 0, 4),
    ],
    size=2,
    k=2,
    name="median",
)
def test_rows_with_the_same_number_change_places_if_exactly_k_change(rows, size, k, name):
    """The numbers of a group may differ less than its rows, of which k have to."""
    assume(k <= min(size, len(rows) - size))
    query = answer(name, 0)
    of = records.group_by(0, lambda some: query(tuple(row[:2] for row in some)), ["a", "b"])
    frame = pd.DataFrame(rows, columns=["g", "v", "id"])
    expected = records.local_sensitivity(rows, rows[:size], of, "bounded", k, exactly=True)
    result = sl.local_sensitivity(
        sl.TableUniverse.from_dataset(frame),
        sl.GroupBy("g", sl.ColumnQuery("v", name, empty=0), groups=["a", "b"]),
        dataset=frame[:size],
        neighbors=sl.Bounded(k, exactly=True),
        method="groups",
    )
    check_value(result, expected["L1"][0])
    result.verify()


@pytest.mark.parametrize("seed", shares(12, 80, 600))
def test_random_rows_with_equal_numbers(seed):
    """Few numbers, many rows: a search of numbers returns rows, of which exactly k may change."""
    rng = random.Random(seed)
    number, far = rng.randint(5, 8), 10**17
    # Floats cannot tell some of the larger ones apart.
    values = rng.choice([(0, 1, 3), (0, 1, 3), (0, 1, far, far + 2, far + 3, 2 * far)])
    rows = [(rng.choice("abc"), rng.choice(values), rng.randint(0, 1)) for _ in range(number)]
    x = rng.sample(rows, rng.randint(2, number - 2))
    empty, exactly = rng.choice([0, 2]), rng.random() < 0.7
    name = rng.choice(["mean", "median", "var"])
    inner, query = answer(name, empty), sl.ColumnQuery("v", name, empty=empty)
    # Of rows the second entry is the number.
    of: records.Query = lambda some: inner(tuple(row[:2] for row in some))  # noqa: E731
    if rng.random() < 0.6:
        groups = rng.choice(["ab", "abc"])
        of, query = records.group_by(0, of, groups), sl.GroupBy("g", query, groups=list(groups))
    universe = sl.TableUniverse.from_dataset(pd.DataFrame(rows, columns=["g", "v", "id"]))
    relation = rng.choice([*RELATIONS, "bounded"])
    most = most_feasible(relation.replace("_", " "), len(x), number, exactly)
    k = rng.randint(1, min(4, most))
    neighbors = RELATIONS[relation](k, exactly)
    found = (
        sl.local_sensitivity(universe, query, dataset=x, neighbors=neighbors),
        sl.global_sensitivity(universe, query, size=len(x), neighbors=neighbors),
    )
    expected = (
        records.local_sensitivity(rows, x, of, relation, k, exactly=exactly),
        records.global_sensitivity(rows, len(x), of, relation, k, exactly=exactly),
    )
    for result, by_norm in zip(found, expected, strict=True):
        check_value(result, by_norm["L1"][0])
        result.verify()


@pytest.mark.parametrize("k", [1, 2])
def test_rows_with_the_same_number_change_places_in_groups_of_known_sizes(k):
    rows = [("a", 1, 0), ("a", 2, 0), ("a", 2, 6)]
    rows += [("b", 0, 0), ("b", 0, 3), ("b", 2, 0), ("b", 2, 4)]
    var = answer("var", None)

    def changes():
        for pair in records.pairs(rows, 5, "bounded", k, exactly=True):
            parts = [[[row[:2] for row in x if row[0] == group] for x in pair] for group in "ab"]
            if [list(map(len, of_group)) for of_group in parts] == [[2, 2], [3, 3]]:
                yield sum(abs(var(x) - var(y)) for x, y in parts)

    result = sl.global_sensitivity(
        sl.TableUniverse.from_dataset(pd.DataFrame(rows, columns=["g", "v", "id"])),
        sl.GroupBy("g", sl.ColumnQuery("v", "var"), groups=["a", "b"], group_sizes=[2, 3]),
        size=5,
        neighbors=sl.Bounded(k, exactly=True),
        method="groups",
    )
    check_value(result, max(changes()))
    result.verify()


def test_a_local_variance_is_that_of_the_definition():
    rows = [(g, d) for g in "ab" for d in (0, 1, 5, 9)]
    x, universe = rows[:3] + rows[4:7], table(rows)
    of = records.group_by(0, answer("var", 0), "ab")
    expected = records.local_sensitivity(rows, x, of, "bounded", 2)
    for norm in records.NORMS:
        result = sl.local_sensitivity(
            universe, grouped("var", 0, "ab"), dataset=x, neighbors=sl.Bounded(2), norm=norm
        )
        assert result.method == "groups"
        check(result, norm, expected[norm][0])


# Cost


@pytest.mark.exhaustive
@pytest.mark.representative("name")
@pytest.mark.parametrize("norm", records.NORMS)
@pytest.mark.parametrize("name", ["mean", "median"])
def test_thousands_of_rows_take_few_additions(monkeypatch, name, norm):
    """A hundredth of all the additions would already be some 10**8."""
    monkeypatch.setattr(combine, "MOST_WORK", 20_000_000)
    result = sl.global_sensitivity(
        LARGE, grouped(name, 0, "abcde"), size=5000, neighbors=sl.Unbounded(3), norm=norm
    )
    assert result.method == "groups"
    assert result.value >= {"L1": 3 * 40, "L2": 3**0.5 * 40, "Linf": 80}[norm]


def test_too_many_additions_are_refused_in_words(monkeypatch):
    monkeypatch.setattr(combine, "MOST_WORK", 10)
    refused(
        lambda: sl.global_sensitivity(
            LARGE, grouped("mean", 0, "abcde"), size=50, neighbors=sl.Bounded(2), method="groups"
        ),
        "groups would take 75,528 additions, more than 10; choose the norm 'Linf', a smaller "
        "size or distance, or public group_sizes",
        sl.errors.TooLargeError,
    )


def test_memory_is_bounded():
    options = {"size": 5000, "neighbors": sl.Bounded(5), "run": sl.Run(memory_limit=10**6)}
    refused(
        lambda: sl.global_sensitivity(
            LARGE, grouped("mean", 0, "abcde"), method="groups", **options
        ),
        "no engine accepts mean of d by g here: groups would need about 38.8 MiB, more than the "
        "memory limit of 976.6 KiB; choose a smaller size or distance, a coarser universe with "
        "fewer distinct values, or a larger run=Run(memory_limit=...)",
        sl.errors.TooLargeError,
    )


@pytest.mark.parametrize("query", ["mean", "median", "std"])
def test_a_local_sensitivity_at_public_sizes_is_that_of_one_replaced_row(query):
    """Two of four rows of each group; a neighbor with two again differs in one group."""
    values, answer = (0, 1, 5, 9), getattr(np, query)
    rows = [(g, d) for g in "ab" for d in values]
    x = {"a": [0, 1], "b": [0, 9]}
    changes = [
        abs(answer([kept, new]) - answer(of))
        for of in x.values()
        for kept in of
        for new in set(values) - set(of)
    ]
    result = sl.local_sensitivity(
        table(rows),
        grouped(query, 0, "ab", group_sizes={"a": 2, "b": 2}),
        dataset=pd.DataFrame([(g, d) for g in x for d in x[g]], columns=["g", "d"]),
        neighbors=sl.Bounded(1),
        method="groups",
    )
    assert result.value == pytest.approx(max(changes), rel=1e-12)


def test_a_midrange_by_group_is_no_quantile():
    """Its ranks are neighbors for two rows of a group, not for three."""
    rows = table([("a", d) for d in (0, 1, 5)])
    asked = {"size": 2, "neighbors": sl.Unbounded(1)}
    query = grouped("midrange", 0, "a")
    refused_with(
        lambda: sl.global_sensitivity(rows, query, **asked, method="groups"),
        "only if the groups' sizes are public",
        sl.errors.NoEngineError,
    )
    assert sl.global_sensitivity(rows, query, **asked).exact == Fraction(5, 2)


def test_a_record_that_one_group_loses_can_be_the_worst_in_the_norm_of_the_largest():
    """Of group a, 20 alone is lost: its mean becomes that of no records, 0."""
    rows = pd.DataFrame({"g": list("aabb"), "v": [8, 20, 7, 20]})
    found = sl.global_sensitivity(
        sl.TableUniverse.from_dataset(rows),
        sl.GroupBy("g", sl.MeanOf("v", empty=0), groups=["a", "b"]),
        size=3,
        neighbors="unbounded",
        norm="Linf",
    )
    assert found.exact == 20
