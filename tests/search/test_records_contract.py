"""Tables, vector answers and norms: agree with the definition in every engine, and prove it."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import oracle
import oracle_records
import pandas as pd
import pytest
from checks import check_value
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle_records import NORMS
from strategies import NUMPY_KINDS, RELATIONS
from strategies import problems as number_problems
from strategies_records import CASES, Asked, frame, problems, tables

import sensitivity_lab as sl
from sensitivity_lab.errors import NoEngineError

ADDITIVE = (
    *("count", "count if", "sum", "clipped sum", "histogram of categories", "histogram of bins"),
    *("counts by group", "sums by group", "histograms by group", "additive stack"),
    "stack of groups",
)
TAKES = {"row_sums": ADDITIVE, "one_column": ("mean", "mean or"), "enumeration": tuple(CASES)}
"""By engine, what it takes at least."""

each_relation = pytest.mark.parametrize(
    ("family", "exactly"),
    [
        pytest.param(family, exactly, id=f"{family} {'exactly' if exactly else 'at most'}")
        for family, exactly in product(RELATIONS, (False, True))
    ],
)
each_norm = pytest.mark.parametrize("norm", NORMS)


def solve(asked: Asked, query, norm: str, method: str = "auto") -> sl.Sensitivity:
    """The engine's result; where it refuses the problem, the example is left out."""
    options = {"size": asked.size, "neighbors": asked.relation, "norm": norm, "method": method}
    try:
        return sl.global_sensitivity(asked.table.universe, query, **options)
    except NoEngineError:
        assume(False)
        raise


def expected_of(changes: dict[str, Fraction], norm: str, vector: bool):
    """The oracle's sensitivity as `check_value` reads it: roots as Decimals."""
    if norm == "L2" and vector:
        return oracle.root_difference(changes["L2"], Fraction(0))
    return changes["Linf" if norm == "L2" else norm]


def is_plain(value) -> bool:
    return type(value) in (int, float, str, type(None))


def check_witness(result: sl.Sensitivity, asked: Asked, theirs) -> None:
    """The pair is one of neighbors by the oracle's definition, told in the universe's order."""
    x, y = result.witness.x, result.witness.y
    position = {record: i for i, record in enumerate(result.universe.values)}
    for dataset in (x, y):
        assert not Counter(dataset) - Counter(asked.records)
        assert list(dataset) == sorted(dataset, key=position.__getitem__)
        assert all(is_plain(value) for record in dataset for value in record)
    assert len(x) in asked.sizes
    listed = {tuple(sorted(one, key=position.__getitem__)) for one in asked.neighbors(x)}
    assert y in listed
    assert Counter(result.witness.shared + result.witness.only_x) == Counter(x)
    assert Counter(result.witness.shared + result.witness.only_y) == Counter(y)
    for dataset, answer in ((x, result.witness.query_x), (y, result.witness.query_y)):
        by_oracle = theirs(dataset)
        assert isinstance(answer, tuple) == isinstance(by_oracle, tuple)
        floats = tuple(one.numerator / one.denominator for one in oracle_records.vector(by_oracle))
        assert (answer if isinstance(answer, tuple) else (answer,)) == floats


def check(asked: Asked, ours, theirs, vector: bool, method: str, norms=NORMS) -> None:
    """Everything that holds for a query that is computed exactly."""
    try:
        changes = asked.sensitivity(theirs)
    except ValueError:  # undefined on one of the datasets
        with pytest.raises((sl.InputError, sl.QueryError)):
            solve(asked, ours, norms[0], method)
        return
    for norm in norms:
        result = solve(asked, ours, norm, method)
        check_value(result, expected_of(changes, norm, vector))
        check_witness(result, asked, theirs)
        of_witness = (theirs(result.witness.x), theirs(result.witness.y))
        assert oracle_records.distances(*of_witness)[norm] == changes[norm]
        assert (result.status, result.arithmetic, result.norm) == ("exact", "exact", norm)
        assert method in ("auto", result.method)
        assert (result.neighbors, result.kind) == (asked.relation, "global")
        result.verify()


@pytest.mark.representative("method", "case")
@pytest.mark.parametrize(
    ("method", "case"),
    [(method, case) for method, cases in TAKES.items() for case in cases],
)
@pytest.mark.parametrize("family", RELATIONS)
@given(data=st.data(), exactly=st.booleans())
def test_agrees_with_the_definition(method, case, family, data, exactly):
    kind = CASES[case]
    norm = data.draw(st.sampled_from(NORMS))
    check(*data.draw(kind.on(family, exactly)), kind.vector, method, (norm,))


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CASES)
@given(data=st.data(), family=st.sampled_from(list(RELATIONS)), exactly=st.booleans())
def test_the_engine_that_is_chosen_agrees_with_the_definition(case, data, family, exactly):
    kind = CASES[case]
    check(*data.draw(kind.on(family, exactly)), kind.vector, "auto")


def changes_of_one(universe, ours, relation, norm, size=2) -> sl.Sensitivity:
    return sl.global_sensitivity(universe, ours, size=size, neighbors=relation, norm=norm)


ROWS = [("a", 1), ("b", 2), ("b", 4), ("c", 8)]
TABLE = frame(("g", "v"), ROWS)
FIXED = {
    "count": sl.Count(),
    "count if": sl.CountIf("v > 2"),
    "sum": sl.SumOf("v"),
    "clipped sum": sl.SumOf("v", clip=(2, 4)),
    "mean": sl.MeanOf("v"),
    "histogram of categories": sl.Histogram("g", categories=["a", "b"]),
    "histogram of bins": sl.Histogram("v", bins=[0, 2, 8]),
    "counts by group": sl.GroupBy("g", "count", groups=["a", "b"]),
    "sums by group": sl.GroupBy("g", sl.SumOf("v"), groups=["a", "b"]),
    "additive stack": sl.Stack(sl.Count(), sl.SumOf("v")),
}


@pytest.mark.representative("method", "case")
@each_relation
@each_norm
@pytest.mark.parametrize(
    ("method", "case"),
    [(method, case) for method, cases in TAKES.items() for case in cases if case in FIXED],
)
def test_each_engine_takes_its_queries(method, case, family, exactly, norm):
    """Without this, an engine that refuses everything would agree with everything."""
    relation, parameters = RELATIONS[family]
    result = sl.global_sensitivity(
        sl.TableUniverse.from_dataset(TABLE),
        FIXED[case],
        size=2,
        neighbors=relation(1, exactly, **parameters),
        norm=norm,
        method=method,
    )
    assert result.method == method


@pytest.mark.representative("case")
@pytest.mark.parametrize("case", [case for case in FIXED if case in ADDITIVE])
@pytest.mark.parametrize("k", [1, 2])
def test_additive_queries_need_no_enumeration(case, k):
    """5,000 records are far too many for any engine that lists datasets."""
    rows = [(ROWS[i % 4][0], i % 7) for i in range(5000)]
    universe = sl.TableUniverse.from_dataset(frame(("g", "v"), rows))
    for relation in (sl.Bounded(k), sl.Unbounded(k)):
        for norm in NORMS:
            result = changes_of_one(universe, FIXED[case], relation, norm, size=1000)
            assert result.method == "row_sums"
            result.verify()


# Universes of tables


@given(data=st.data())
def test_the_universe_holds_the_records_that_were_given(data):
    table = data.draw(tables(data.draw(st.sampled_from([("v",), ("g",), ("g", "v")]))))
    universe = table.universe
    given_rows = Counter(table.rows)
    assert set(universe.values) == set(given_rows)
    assert len(universe.values) == len(given_rows)
    assert all(is_plain(value) for record in universe.values for value in record)
    assert universe.size == table.size
    copies = [int(number) for number in universe.multiplicities(3)]
    for record, number in zip(universe.values, copies, strict=True):
        assert number == (3 if table.unlimited else min(3, given_rows[record]))


@given(data=st.data())
def test_a_dataset_becomes_the_frame_that_functions_see(data):
    columns = data.draw(st.sampled_from([("v",), ("g",), ("g", "v")]))
    asked = data.draw(problems("bounded", False, tables(columns)))
    seen = []

    def query(rows: pd.DataFrame) -> float:
        seen.append(rows)
        return 0.0

    result = sl.global_sensitivity(
        asked.table.universe, query, size=asked.size, neighbors=asked.relation
    )
    again = asked.table.universe.to_frame(result.witness.x)
    types = frame(columns, asked.table.rows).dtypes
    assert seen
    for rows in (*seen, again):
        assert list(rows.columns) == list(columns)
        pd.testing.assert_index_equal(rows.index, pd.RangeIndex(len(rows)), exact=True)
        if not asked.table.missing:
            assert rows.dtypes.equals(types)
        told = [
            tuple(None if pd.isna(value) else value for value in row)
            for row in rows.itertuples(index=False)
        ]
        assert not Counter(told) - Counter(asked.records)
    assert len(again) == len(result.witness.x)


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, np.nan])
@pytest.mark.parametrize("dtype", [object, "float", "Int64"])
def test_a_missing_value_is_none_however_it_is_spelt(missing, dtype):
    if dtype == "float":
        missing = math.nan
    column = pd.Series([1, missing, missing, 3], dtype=dtype)
    universe = sl.TableUniverse.from_dataset(pd.DataFrame({"v": column}), allow_missing=True)
    assert Counter(universe.values) == Counter([(1,), (None,), (3,)])
    assert universe.size == 4
    assert sorted(map(int, universe.multiplicities(4))) == [1, 1, 2]


@pytest.mark.parametrize("dtype", [object, "str", "category"])
def test_a_missing_category_is_none(dtype):
    column = pd.Series(["a", None, "b"], dtype=dtype)
    universe = sl.TableUniverse.from_dataset(pd.DataFrame({"g": column}), allow_missing=True)
    assert set(universe.values) == {("a",), (None,), ("b",)}
    found = changes_of_one(
        universe, sl.Histogram("g", categories=["a", None]), sl.Bounded(1), "L1", size=1
    )
    assert found.exact == 2


def test_a_domain_of_lists_may_hold_a_missing_value():
    universe = sl.TableUniverse.from_domain({"g": ["a", None], "v": [1, 2]}, allow_missing=True)
    assert set(universe.values) == set(product(["a", None], [1, 2]))


@pytest.mark.parametrize("method", ["auto", "enumeration"])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (sl.SumOf("a"), 1),
        (sl.MeanOf("a"), Fraction(1, 2)),
        (sl.Covariance("a", "a"), Fraction(1, 4)),
        (sl.Histogram("a", categories=[True, False]), 2),
    ],
)
def test_true_and_false_count_as_1_and_0(method, query, expected):
    universe = sl.TableUniverse.from_dataset(pd.DataFrame({"a": [True, False, True]}))
    result = sl.global_sensitivity(universe, query, size=2, neighbors=sl.Bounded(1), method=method)
    assert result.exact == expected
    result.verify()


# Missing values


MISSING = sl.TableUniverse.from_dataset(
    pd.DataFrame({"g": ["a", None, "a", None], "v": [4.0, 6.0, None, None]}), allow_missing=True
)


@pytest.mark.parametrize(
    ("query", "bounded", "removed"),
    [
        (sl.Count(), 0, 1),
        (sl.SumOf("v"), 6, 6),
        (sl.SumOf("v", clip=(1, 5)), 5, 5),
        (sl.Histogram("g", categories=["a", "b"]), 1, 1),
        (sl.Histogram("g", categories=["a", None]), 2, 1),
        (sl.Histogram("v", bins=[0, 5, 10]), 2, 1),
        (sl.GroupBy("g", "count", groups=["a"]), 1, 1),
        (sl.GroupBy("g", sl.SumOf("v"), groups=["a", None]), 10, 6),
        (sl.MeanOf("v", empty=0), 6, 6),
    ],
)
def test_missing_values_by_hand(query, bounded, removed):
    """Of the rows (a, 4), (-, 6), (a, -), (-, -), datasets of two, L1."""
    for relation, expected in (
        (sl.Bounded(1), bounded),
        (sl.Unbounded(1, direction="remove"), removed),
    ):
        result = changes_of_one(MISSING, query, relation, "L1")
        assert result.exact == expected
        result.verify()


def test_a_mean_of_no_value_at_all_is_an_error_unless_it_has_an_answer():
    with pytest.raises((sl.InputError, sl.QueryError), match="mean"):
        changes_of_one(MISSING, sl.MeanOf("v"), sl.Bounded(1), "L1")
    assert changes_of_one(MISSING, sl.MeanOf("v", empty=50), sl.Bounded(1), "L1").exact == 46


def test_a_mean_that_always_has_a_value_takes_missing_ones():
    """Three of four rows: at least one of the two numbers is there, removing none of them."""
    result = changes_of_one(MISSING, sl.MeanOf("v"), sl.Bounded(1), "L1", size=3)
    assert result.exact == 2


def test_a_covariance_leaves_out_records_with_a_missing_value():
    table = pd.DataFrame({"v": [0.0, 2.0, None, 2.0], "w": [0.0, 3.0, 9.0, None]})
    universe = sl.TableUniverse.from_dataset(table, allow_missing=True)
    add = sl.Unbounded(1, direction="add")
    result = changes_of_one(universe, sl.Covariance("v", "w"), add, "L1", size=3)
    assert result.exact == Fraction(3, 2)


# Functions


def spread(rows: pd.DataFrame) -> float:
    return float(rows["v"].max() - rows["v"].min())


def spread_and_kinds(rows: pd.DataFrame) -> np.ndarray:
    return np.array([spread(rows), rows["g"].nunique()])


def theirs_spread(rows) -> Fraction:
    values = oracle_records.present(rows, 1)
    return max(values) - min(values)


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
    return np.array([math.fsum((floats - 1) ** 3), floats.max(), len(data)])


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


# Curves and local sensitivity


@each_norm
@pytest.mark.parametrize("family", ["bounded", "unbounded", "symmetric_difference"])
def test_curves_are_global_sensitivities(norm, family):
    universe = sl.TableUniverse.from_dataset(TABLE)
    relation = {
        "bounded": sl.Bounded,
        "unbounded": sl.Unbounded,
        "symmetric_difference": sl.SymmetricDifference,
    }[family]
    curves = sl.sensitivity_curves(
        {"table": universe},
        list(FIXED.values()),
        size=2,
        distances=1,
        neighbors=family,
        norm=norm,
    )
    rows = curves.to_frame()
    assert len(rows) == len(FIXED)
    for query, told in zip(FIXED.values(), rows["sensitivity"], strict=True):
        assert told == changes_of_one(universe, query, relation(1), norm).value


@pytest.mark.representative("family")
@each_relation
@given(data=st.data(), case=st.sampled_from(list(CASES)))
def test_local_sensitivity_agrees_with_the_definition(family, exactly, data, case):
    kind = CASES[case]
    asked, ours, theirs = data.draw(kind.on(family, exactly))
    records = asked.records
    x = data.draw(
        st.sampled_from(sorted(oracle_records.datasets(records, asked.sizes[0]), key=str))
    )
    arguments = (x, asked.table.universe, ours)
    try:
        found = oracle_records.local_sensitivity(records, x, theirs, **asked.oracle_relation)
    except ValueError:
        with pytest.raises((sl.InputError, sl.QueryError)):
            sl.local_sensitivity(*arguments, neighbors=asked.relation)
        return
    changes = {norm: value for norm, (value, _) in found.items()}
    for norm in NORMS:
        result = sl.local_sensitivity(*arguments, neighbors=asked.relation, norm=norm)
        check_value(result, expected_of(changes, norm, kind.vector))
        check_witness(result, asked, theirs)
        assert Counter(result.witness.x) == Counter(x)
        assert (result.norm, result.kind) == (norm, "local")
        result.verify()


def test_every_call_looks_at_a_predicate_anew():
    """In a notebook, what a predicate refers to changes while the function stays the same."""
    limits = {"age": 18}
    query = sl.GroupBy("g", sl.CountIf(lambda rows: rows["v"] >= limits["age"]), groups=["a"])
    table = pd.DataFrame({"g": ["a", "a", "b"], "v": [17, 30, 40]})
    universe = sl.TableUniverse.from_dataset(table)

    def answers() -> list[float]:
        x = table.iloc[:2]
        here = sl.local_sensitivity(x, universe, query, neighbors=sl.Bounded(1))
        listed = [
            sl.global_sensitivity(
                universe, query, size=1, neighbors=sl.Bounded(1), method=method
            ).value
            for method in ("row_sums", "enumeration")
        ]
        return [query(x)[0], here.witness.query_x[0], *listed]

    assert answers() == [1.0, 1.0, 1.0, 1.0]
    limits["age"] = 10
    assert answers() == [2.0, 2.0, 1.0, 1.0]
    limits["age"] = 100
    assert answers() == [0.0, 0.0, 0.0, 0.0]
