"""Functions of tables and of vectors: agree with the definition."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import oracle
import oracle_records
import pandas as pd
import pytest
from checks import check_value
from hypothesis import given
from hypothesis import strategies as st
from oracle_records import NORMS
from record_checks import changes_of_one, check_witness, each_relation, expected_of, solve
from strategies import NUMPY_KINDS
from strategies import problems as number_problems
from strategies_records import frame, problems, tables

import sensitivity_lab as sl

each_norm = pytest.mark.parametrize("norm", NORMS)


ROWS = [("a", 1), ("b", 2), ("b", 4), ("c", 8)]
TABLE = frame(("g", "v"), ROWS)


def spread(rows: pd.DataFrame) -> float:
    return float(rows["v"].max() - rows["v"].min()) if len(rows) else -3.0


def spread_and_kinds(rows: pd.DataFrame) -> np.ndarray:
    return np.array([spread(rows), rows["g"].nunique()])


def theirs_spread(rows) -> Fraction:
    values = oracle_records.present(rows, 1)
    return max(values) - min(values) if values else Fraction(-3)


def theirs_both(rows) -> tuple[Fraction, Fraction]:
    return theirs_spread(rows), Fraction(len({row[0] for row in rows}))


INTEGERS = tables(("g", "v"), missing=False).filter(
    lambda table: all(isinstance(value, int) for _, value in table.rows)
)


@pytest.mark.representative("ours", "exactly")
@pytest.mark.parametrize(
    ("ours", "theirs"), [(spread, theirs_spread), (spread_and_kinds, theirs_both)]
)
@each_relation
@given(data=st.data())
def test_functions_of_a_table_agree_with_the_definition(ours, theirs, family, exactly, data):
    """The function's answers are whole numbers, so the value is the one nearest to the oracle's."""
    asked, norm = data.draw(problems(family, exactly, INTEGERS)), data.draw(st.sampled_from(NORMS))
    changes = asked.sensitivity(theirs)
    result = solve(asked, ours, norm)
    vector = isinstance(theirs(result.witness.x), tuple)
    expected = expected_of(changes, norm, vector)
    assert result.value == pytest.approx(float(expected), rel=1e-15, abs=0)
    assert (result.exact, result.upper, result.arithmetic) == (None, None, "float")
    of_witness = (theirs(result.witness.x), theirs(result.witness.y))
    assert oracle_records.distances(*of_witness)[norm] == changes[norm]
    check_witness(result, asked, theirs)
    result.verify()


@pytest.mark.parametrize("answer", [[3.0], (3.0,), np.array([3.0])], ids=["list", "tuple", "array"])
def test_a_function_may_return_a_vector_of_one(answer):
    universe = sl.TableUniverse.from_dataset(TABLE)
    result = changes_of_one(universe, lambda _: answer, sl.Bounded(1), "L2")
    assert (result.value, result.witness.query_x) == (0.0, (3.0,))


def moments(data: np.ndarray) -> np.ndarray:
    """Not monotone, not convex, and the same for every order of summation."""
    floats = data.astype(float)  # the cubes of whole numbers do not fit into int64
    return np.array([math.fsum((floats - 1) ** 3), max(floats, default=7.0), len(data)])


def moments_of(data) -> tuple[Fraction, ...]:
    return tuple(Fraction(float(one)) for one in moments(np.array([float(v) for v in data])))


@pytest.mark.representative("family")
@each_relation
@each_norm
@given(data=st.data())
def test_vector_functions_on_numbers_agree_with_the_definition(norm, family, exactly, data):
    asked = data.draw(number_problems(family, exactly, NUMPY_KINDS))
    changes = max(
        oracle_records.global_sensitivity(asked.records, size, moments_of, **asked.oracle_relation)[
            norm
        ][0]
        for size in set(asked.sizes)
    )
    result = sl.global_sensitivity(
        asked.universe, moments, size=asked.size, neighbors=asked.relation, norm=norm
    )
    expected = float(oracle.root_difference(changes, Fraction(0)) if norm == "L2" else changes)
    assert result.value == pytest.approx(expected, rel=1e-14)
    assert (result.exact, result.upper, result.arithmetic) == (None, None, "float")
    for told, dataset in (
        (result.witness.query_x, result.witness.x),
        (result.witness.query_y, result.witness.y),
    ):
        assert told == tuple(map(float, moments_of(dataset)))
    assert tuple(map(Fraction, result.witness.y)) in asked.neighbors(result.witness.x)
    result.verify()


@each_norm
@given(data=st.data())
def test_the_norm_of_a_number_is_its_absolute_value(norm, data):
    """On numbers, too, where the norm is one more argument and changes nothing."""
    asked = data.draw(number_problems("bounded", False))
    for query, theirs in (("median", ("median",)), ("mean", ("mean",))):
        result = sl.global_sensitivity(
            asked.universe, query, size=asked.size, neighbors=asked.relation, norm=norm
        )
        check_value(result, asked.sensitivity(theirs))
        assert result.norm == norm
