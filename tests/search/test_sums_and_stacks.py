"""Filtered sums, sums of clipped rows, and queries released together, against the definition."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import sqrt
from typing import Any

import oracle
import oracle_records as records
import pandas as pd
import pytest
from checks import check_value, refused, refused_with
from doses import STRESS, for_long
from hypothesis import given
from hypothesis import strategies as st

import sensitivity_lab as sl

F = Fraction


rows_of = st.lists(
    st.tuples(st.integers(-3, 3), st.sampled_from([0, 1, 5, 0.25])), min_size=3, max_size=6
)


def table(rows: list[Any]) -> sl.TableUniverse:
    return sl.TableUniverse.from_dataset(pd.DataFrame(rows, columns=["a", "b"]))


@pytest.mark.parametrize("relation", [sl.Bounded(2), sl.Unbounded(1)])
@given(rows=rows_of, least=st.integers(-2, 3))
def test_a_filtered_sum_is_that_of_the_definition(relation, rows, least):
    def of(dataset):
        return sum((min(max(F(b), F(0)), F(2)) for a, b in dataset if a >= least), F(0))

    (expected, _) = records.global_sensitivity(rows, 2, of, relation.name, relation.k)["L1"]
    for where in (f"a >= {least}", lambda frame: frame["a"] >= least):
        query = sl.SumOf("b", clip=(0, 2), where=where)
        result = sl.global_sensitivity(table(rows), query, size=2, neighbors=relation)
        assert result.method == "row_sums"
        check_value(result, expected)


def test_a_filtered_sum_has_a_name():
    assert sl.SumOf("b", where="a > 1").name == "sum of b where a > 1"
    assert sl.SumOf("b").name == "sum of b"


@pytest.mark.parametrize("norm", records.NORMS)
@given(rows=rows_of)
def test_rows_are_clipped_in_their_norm(norm, rows):
    query = sl.VectorSum(["a", "b"], clip_norm=2, norm=norm)
    for row in rows:
        frame = pd.DataFrame([row], columns=["a", "b"])
        universe = sl.TableUniverse.from_dataset(frame)
        clipped = query.exactly(universe, universe.multiplicities(1))
        size = records.distances(clipped, (0, 0))[norm]
        before = records.distances(row, (0, 0))[norm]
        bound = 4 if norm == "L2" else 2
        assert size <= bound
        assert size == pytest.approx(min(before, bound), rel=1e-15)
        # The direction stays.
        assert clipped[0] * F(row[1]) == clipped[1] * F(row[0])


@pytest.mark.parametrize("norm", records.NORMS)
def test_replacing_costs_twice_what_adding_costs(norm):
    """The mistake of google/differential-privacy issue 378: C for both."""
    universe = table([(30, 40), (-30, -40), (0, 0), (1, 0)])
    query = sl.VectorSum(["a", "b"], clip_norm=F(5, 2), norm=norm)
    options = {"size": 2, "norm": norm}
    added = sl.global_sensitivity(universe, query, neighbors=sl.Unbounded(1), **options)
    replaced = sl.global_sensitivity(universe, query, neighbors=sl.Bounded(1), **options)
    assert (added.value, replaced.value) == (2.5, 5.0)


def test_a_vector_sum_checks_what_it_gets():
    for given_columns, bound, message in (
        ([], 1, "columns must be at least one column, each once, got []"),
        (["a", "a"], 1, "columns must be at least one column, each once, got ['a', 'a']"),
    ):
        refused(partial(sl.VectorSum, given_columns, clip_norm=bound), message)
    refused_with(
        lambda: sl.VectorSum(["a"], clip_norm=1, norm="L3"),
        "norm must be one of 'L1', 'L2', 'Linf', got 'L3'",
    )


STACK = sl.Stack(sl.ColumnQuery("b", "median"), sl.MeanOf("b"), sl.ColumnQuery("a", "max"))


def stacked(dataset: Any) -> tuple[Fraction, ...]:
    first, second = ([row[place] for row in dataset] for place in (0, 1))
    return (
        oracle.evaluate(("median",), second),
        oracle.evaluate(("mean",), second),
        oracle.evaluate(("max",), first),
    )


def check_solved_or_refused(relation, rows):
    name = relation.name.replace(" ", "_")
    expected = records.global_sensitivity(rows, 2, stacked, name, relation.k)
    for norm in records.NORMS:
        options = {"size": 2, "neighbors": relation, "norm": norm}
        value = float(expected[norm][0])
        value = sqrt(value) if norm == "L2" else value
        try:
            found = sl.global_sensitivity(table(rows), STACK, method="stacks", **options)
        except sl.errors.NoEngineError as error:
            told = str(error)
        else:
            check_stack(found, expected[norm][0], norm)
            continue
        assert norm != "Linf"
        assert "release each query with its share of epsilon" in told
        low, high = map(float, told.split("from ")[1].split(";")[0].split(" to "))
        assert low * (1 - 1e-5) <= value <= high * (1 + 1e-5)


RELATIONS = [sl.Bounded(1), sl.Unbounded(1), sl.SymmetricDifference(2), sl.Edit(1)]


@pytest.mark.parametrize("relation", RELATIONS)
@given(rows=rows_of)
def test_stacks_are_those_of_the_definition_or_refused(relation, rows):
    check_solved_or_refused(relation, rows)


test_stacks_for_long = for_long(
    test_stacks_are_those_of_the_definition_or_refused, STRESS // len(RELATIONS), rows=rows_of
)


def check_stack(found: sl.results.Sensitivity, expected: Fraction, norm: str) -> None:
    if norm == "L2":
        assert found.value == pytest.approx(sqrt(expected), rel=1e-15)
    else:
        check_value(found, expected)


@pytest.mark.exhaustive
def test_a_stack_that_one_pair_is_enough_for_is_solved_at_any_size():
    universe = sl.TableUniverse.from_dataset(pd.DataFrame({"b": range(2000)}))
    query = sl.Stack(sl.ColumnQuery("b", "median"), sl.MeanOf("b"))
    result = sl.global_sensitivity(universe, query, size=501, neighbors=sl.Bounded(1))
    assert (result.method, result.exact) == ("stacks", 1500 - 1 + F(1999, 501))
    apart = sl.global_sensitivity(universe, query, size=501, neighbors=sl.Bounded(1), norm="L2")
    assert apart.method == "stacks"
    assert apart.value == pytest.approx(sqrt(1499**2 + (1999 / 501) ** 2), rel=1e-15)


def test_a_refused_stack_tells_what_is_known():
    rows = [(0, 0), (1, 0), (0, 1)]
    query = sl.Stack(sl.ColumnQuery("a", "max"), sl.ColumnQuery("b", "min"))
    refused(
        lambda: sl.global_sensitivity(
            table([*rows, (2, 5)]), query, size=2, neighbors=sl.Unbounded(1), method="stacks"
        ),
        "no engine accepts max of a + min of b here: stacks does not cover max of a + min of b, "
        "unbounded, at most 1, L1: no pair that it found is furthest for all the queries, so the "
        "sensitivity is only known to be from 5 to 7; release each query with its share of "
        "epsilon and the noise for its own sensitivity, or choose the norm 'Linf'",
        sl.errors.NoEngineError,
    )
