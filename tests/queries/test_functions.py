"""Functions of callers: what they return is not rounded, wherever they run."""

from __future__ import annotations

import sys
import threading
from decimal import Decimal
from fractions import Fraction

import joblib
import numpy as np
import oracle
import oracle_records
import pytest
from checks import check_value, refused
from function_cases import by_rows, solve
from hypothesis import given
from hypothesis import strategies as st
from oracle_records import NORMS
from strategies import RELATIONS, problems

import sensitivity_lab as sl

NEEDS_PROCESSES = pytest.mark.skipif(sys.platform == "wasi", reason="WebAssembly has no processes")

FAR = [1_700_000_000_000_000_000 + 100 * i for i in range(6)]


# Answers are not rounded.


def whole(x) -> int:
    """A few units apart, far above the whole numbers that floats hold."""
    return 2**80 + sum(map(int, x)) ** 2


def wide(x) -> int:
    """Of so many bits that no unit lets floats hold the answers; many nearly tie."""
    return sum(map(int, x)) ** 9 - max(map(int, x), default=-5)


def fraction(x) -> Fraction:
    return Fraction(1, 3) + sum(Fraction(1, 2**70 + int(one)) for one in x)


def decimal(x) -> Decimal:
    return Decimal(10) ** 20 + Decimal(sum(map(int, x))) / 8


def everything(asked):
    """All pairs of neighbors, by the oracle."""
    for size in set(asked.sizes):
        yield from oracle.pairs(asked.records, size, **asked.oracle_relation)


def furthest(function, pairs) -> Fraction:
    return max(abs(Fraction(function(x)) - Fraction(function(y))) for x, y in pairs)


WHOLE = ("ties", "clusters", "negatives", "offset", "beyond 2**53")
EXACT = {"whole": whole, "wide": wide, "fraction": fraction, "decimal": decimal}


@pytest.mark.representative("name", "rows")
@pytest.mark.parametrize("exactly", [False, True])
@pytest.mark.parametrize("family", RELATIONS)
@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("name", EXACT)
@given(data=st.data())
def test_exact_answers_agree_with_the_definition(name, rows, family, exactly, data):
    asked = data.draw(problems(family, exactly, WHOLE))
    function = EXACT[name]
    expected = furthest(function, everything(asked))
    result = solve(
        by_rows(function) if rows else function, asked.universe, asked.size, asked.relation
    )
    check_value(result, expected)
    x, y = result.witness.x, result.witness.y
    assert Fraction(abs(function(x) - function(y))) == expected
    assert tuple(map(Fraction, y)) in asked.neighbors(x)
    assert (result.arithmetic, result.method) == ("exact", "enumeration")
    result.verify()


@pytest.mark.parametrize("exactly", [False, True])
@pytest.mark.parametrize("name", EXACT)
@given(data=st.data())
def test_exact_answers_of_one_dataset_agree_with_the_definition(name, exactly, data):
    asked = data.draw(problems("bounded", exactly, WHOLE))
    size, function = asked.sizes[0], EXACT[name]
    x = data.draw(st.sampled_from(sorted(oracle.datasets(asked.records, size))))
    expected = furthest(function, ((x, y) for y in asked.neighbors(x)))
    result = sl.local_sensitivity(asked.universe, function, dataset=x, neighbors=asked.relation)
    check_value(result, expected)
    assert result.arithmetic == "exact"
    result.verify()


def vector(x) -> tuple[int, int, Fraction]:
    return whole(x), -(2**70) * len(x), Fraction(sum(map(int, x)), 3) + 2**60


@pytest.mark.representative("norm")
@pytest.mark.parametrize("exactly", [False, True])
@pytest.mark.parametrize("family", RELATIONS)
@pytest.mark.parametrize("norm", NORMS)
@given(data=st.data())
def test_exact_vectors_agree_with_the_definition(norm, family, exactly, data):
    asked = data.draw(problems(family, exactly, WHOLE))
    expected = max(
        oracle_records.global_sensitivity(
            asked.records, size, lambda x: tuple(map(Fraction, vector(x))), **asked.oracle_relation
        )[norm][0]
        for size in set(asked.sizes)
    )
    result = solve(vector, asked.universe, asked.size, asked.relation, norm=norm)
    root = norm == "L2"
    check_value(result, oracle.root_difference(expected, Fraction(0)) if root else expected)
    assert result.arithmetic == "exact"
    result.verify()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "function", [lambda x: int(x.sum()), lambda x: x.sum(), lambda x: Decimal(int(x.sum()))]
)
def test_whole_numbers_beyond_those_that_floats_hold(function, n_jobs):
    result = solve(function, sl.Universe.from_dataset(FAR), 5, n_jobs=n_jobs)
    told = (result.value, result.exact, result.upper, result.arithmetic)
    assert told == (500.0, 500, 500.0, "exact")
    assert repr(result).startswith("Sensitivity of function: 500 (exact)\n")
    assert "enumeration, exact arithmetic, 6 datasets evaluated" in repr(result)
    result.verify()


def test_all_that_search_by_exact_answers_agree():
    """Tables of neighbors, curves, audits and smooth sensitivity too, to the last unit."""
    universe, x = sl.Universe.from_dataset(FAR), FAR[:5]

    def total(data):
        return int(data.sum())

    table = sl.neighbor_table(universe, total, size=5, neighbors="bounded")
    assert table.value == 500.0
    curves = sl.sensitivity_curves(
        {"c": universe}, [total], size=5, distances=1, neighbors="bounded"
    )
    assert curves.to_frame()["sensitivity"].tolist() == [500.0]
    assert (
        sl.audit(universe, total, 500, size=5, neighbors="bounded", distances=1).verdict == "tight"
    )
    report = sl.audit(universe, total, 499, size=5, neighbors="bounded", distances=1)
    assert report.verdict == "violated"
    assert "8500000000000001000" in str(report)
    smooth = sl.smooth_sensitivity(universe, total, dataset=x, neighbors="bounded", beta=1)
    assert smooth.value == 500.0
    smooth.verify()


def test_one_float_makes_the_arithmetic_that_of_floats():
    """Yet whole numbers beside it are not rounded where floats cannot hold them."""
    universe = sl.Universe.from_dataset([1, 2, 3])

    def answer(x):
        return 2**60 + int(x[0]) if x[0] < 3 else 2.0**60

    result = solve(answer, universe, 1)
    assert (result.value, result.arithmetic) == (2.0, "float")
    assert (result.exact, result.upper) == (None, None)
    result.verify()
    small = solve(lambda x: 0 if x[0] < 3 else 0.5, universe, 1)
    assert (small.value, small.exact, small.upper, small.arithmetic) == (0.5, None, None, "float")
    small.verify()


def test_functions_see_the_records_that_were_given():
    seen = []

    def first(x):
        seen.append(x.tolist())
        return int(x[0])

    for records in ([2**60 + 1, 0.5], [2**53 + 1, 1], [2**63, -1], [2**70, Fraction(1, 3)]):
        query = sl.from_function(first)
        query(records)
        assert seen.pop() == records
        solve(first, sl.Universe.from_dataset(records), 1)
        # Once each, and once more for the sample, for the witness and for verify().
        assert len(seen) % 2 == 0
        assert sorted(seen) == sorted(len(seen) // 2 * [[record] for record in records])
        seen.clear()


@pytest.mark.parametrize("beside", [0.5, None, 1])
def test_functions_of_tables_see_the_records_that_were_given(beside):
    universe = sl.TableUniverse.from_domain({"v": [2**60 + 1, beside]}, allow_missing=True)
    seen = []

    def first(rows):
        seen.append(rows["v"].tolist()[0])
        return seen[-1] or 0

    result = solve(first, universe, 1)
    assert 2**60 + 1 in seen
    assert set(universe.values) == {(2**60 + 1,), (beside,)}
    assert result.value == 2**60
    result.verify()


def test_a_long_double_is_not_rounded():
    if np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("long doubles are doubles here")
    big = np.longdouble(2) ** 60
    result = solve(lambda x: big + np.longdouble(int(x[0])))
    assert (result.value, result.arithmetic) == (4.0, "float")
    result.verify()


# Names and workers


def test_no_function_is_called_as_a_query_that_engines_know():
    universe = sl.Universe.from_dataset(range(12))
    refused(
        lambda: solve(np.median, universe, 6, method="monotone"),
        "no engine accepts median (function) here: monotone covers sum, mean, count, median, "
        "percentile, min, max and other weighted sums by rank that never fall, not median "
        "(function)",
        sl.errors.NoEngineError,
    )
    assert sl.from_function(np.median, name="median").name == "median"
    assert sl.from_function(np.ptp).name == "ptp"


@pytest.mark.exhaustive
@NEEDS_PROCESSES
def test_what_cannot_be_sent_to_workers_says_so():
    lock = threading.Lock()

    def locked(x):
        threading.Event().wait(0.001)  # long enough for workers to be worth it
        with lock:
            return float(x[0])

    universe = sl.Universe.from_dataset(range(12))
    with joblib.parallel_config(backend="loky"), pytest.raises(sl.errors.InputError) as caught:
        solve(locked, universe, 4, n_jobs=2)
    assert str(caught.value) == (
        "the query cannot be sent to worker processes, because pickling it raised TypeError: "
        "cannot pickle '_thread.lock' object; use n_jobs=1, or threads: "
        "with joblib.parallel_config(backend='threading', n_jobs=2)"
    )
    with joblib.parallel_config(backend="threading", n_jobs=2):
        assert solve(locked, universe, 4).value == 8.0


@NEEDS_PROCESSES
def test_a_backend_without_a_stream_of_answers_says_so():
    def slow(x):
        threading.Event().wait(0.001)
        return float(x[0])

    with (
        joblib.parallel_config(backend="multiprocessing", n_jobs=2),
        pytest.raises(sl.errors.InputError) as caught,
    ):
        solve(slow, sl.Universe.from_dataset(range(12)), 4)
    assert str(caught.value).startswith("joblib refuses to work as parallel_config says: Backend ")
    assert str(caught.value).endswith("; choose the backend 'loky', 'threading' or 'dask'")
