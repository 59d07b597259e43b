"""Queries: against the oracle in rational arithmetic, and against numpy."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import NUMPY, QUERIES, percentiles, records

import sensitivity_lab as sl
from sensitivity_lab.exact.difference import common_integers
from sensitivity_lab.queries import DEFAULT_QUERIES, NAMED, PERCENTILE_METHODS, as_query


def exactly(query, x) -> Fraction:
    """The exact answer on records in any order; the square of a standard deviation."""
    integers, unit = common_integers(list(x))
    return query.rational(np.sort(integers), unit)


@pytest.mark.parametrize("name", QUERIES)
@given(x=records())
def test_exact_answers_are_the_oracles(name, x):
    ours, theirs = QUERIES[name]
    squared = ("var", *theirs[1:]) if theirs[0] == "std" else theirs
    expected = oracle.evaluate(squared, x)
    assert exactly(ours, x) == expected
    answer = oracle.root_difference(expected, Fraction(0)) if ours.root else expected
    assert abs(Fraction(ours(x)) - Fraction(answer)) <= Fraction(math.ulp(ours(x))) / 2
    assert ours(x[::-1]) == ours(x)
    assert ours.name == name


@given(records(least=1), percentiles())
def test_exact_percentiles_are_the_oracles(x, query):
    ours, theirs = query
    assert exactly(ours, x) == oracle.evaluate(theirs, x)


@pytest.mark.parametrize("name", QUERIES)
@given(x=st.lists(st.integers(-1000, 1000), min_size=2, max_size=12))
def test_answers_are_numpys(name, x):
    ours = QUERIES[name][0]
    assert ours(x) == pytest.approx(float(NUMPY[name](x)), rel=1e-12, abs=1e-9)
    assert ours(np.array(x)) == ours(x)


@pytest.mark.parametrize(
    "sizes",
    [
        (2,),
        *(pytest.param(sizes, marks=pytest.mark.exhaustive) for sizes in ((1, 3), (4, 5, 8, 11))),
    ],
    ids=["one", "few", "more"],
)
@pytest.mark.parametrize("method", PERCENTILE_METHODS)
def test_percentiles_are_numpys(method, sizes):
    """At every whole q and some others; within the rounding of q/100 of a jump, on either side.

    numpy rounds q/100 and the position to floats, and so may land on the other side of a jump.
    """
    rng = np.random.default_rng(7)
    for n in sizes:
        x = rng.choice(1000, size=n, replace=False).tolist()
        for q in [*range(101), 0.5, 12.5, 33.3, 99.9]:
            expected = float(np.percentile(x, q, method=method))
            near = [
                sl.Percentile(min(max(Fraction(q) + step, 0), 100), method)(x)
                for step in (0, Fraction(-1, 10**12), Fraction(1, 10**12))
            ]
            assert any(math.isclose(expected, answer, abs_tol=1e-8) for answer in near), (n, q)
            if max(near) - min(near) < 1e-6:
                assert math.isclose(expected, near[0], abs_tol=1e-8)


@pytest.mark.parametrize("method", PERCENTILE_METHODS)
def test_percentiles_at_jumps_are_numpys_where_floats_are_exact(method):
    """q/100 and n q/100 are dyadic, so that numpy does not round: both stand on the same side."""
    if method == "closest_observation" and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("before 2.0 NumPy took a half to the odd rank, not to the even one")
    for n in range(1, 17):
        x = [record**2 for record in range(n)]
        for q in (0, 12.5, 25, 37.5, 50, 62.5, 75, 87.5, 100):
            assert sl.Percentile(q, method)(x) == pytest.approx(
                float(np.percentile(x, q, method=method)), rel=1e-12
            )


def test_numpys_methods_are_all_there():
    assert set(PERCENTILE_METHODS) == set(oracle.METHODS)


@given(records(least=1), percentiles())
def test_declared_weights_are_the_percentile(x, query):
    """What engines read is what the query computes."""
    weights = query[0].weights(len(x))
    ordered = sorted(map(Fraction, x))
    assert sum(weight for _, weight in weights) == 1
    assert sum(weight * ordered[rank] for rank, weight in weights) == exactly(query[0], x)


@pytest.mark.parametrize("name", QUERIES)
@given(x=records())
def test_evaluation_on_rows_is_the_exact_answer_over_its_denominator(name, x):
    query = QUERIES[name][0]
    integers = sorted(round(Fraction(record)) for record in x)
    rows = np.array([integers, integers], dtype=object)
    answer = Fraction(int(query.evaluate(rows)[1])) / query.denominator(len(x))
    assert answer == exactly(query, integers)
    largest = max(map(abs, integers))
    assert abs(query.evaluate(rows)[0]) <= query.magnitude(len(x), largest)


@pytest.mark.parametrize("name", NAMED)
def test_names_lead_to_queries_of_that_name(name):
    assert as_query(name).name == name


def test_default_queries_are_called_as_they_are_asked_for():
    assert len(set(DEFAULT_QUERIES)) == len(DEFAULT_QUERIES)
    assert [as_query(name).name for name in DEFAULT_QUERIES] == list(DEFAULT_QUERIES)


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("percentile_25", sl.Percentile(25)),
        ("percentile_0", sl.Percentile(0)),
        ("percentile_100", sl.Percentile(100)),
        ("percentile_99.9", sl.Percentile(Decimal("99.9"))),
    ],
)
def test_percentiles_by_name(name, query):
    assert as_query(name) == query
    assert query.name == name


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("trimmed_mean_20", sl.TrimmedMean(Fraction(1, 5))),
        ("trimmed_mean_10", sl.TrimmedMean(Fraction(1, 10))),
        ("trimmed_mean_12.5", sl.TrimmedMean(Fraction(1, 8))),
        ("winsorized_mean_20", sl.WinsorizedMean(Fraction(1, 5))),
        ("winsorized_mean_0", sl.WinsorizedMean(0)),
    ],
)
def test_trimmed_and_winsorized_means_by_name(name, query):
    assert (as_query(name), as_query(name).name) == (query, name)


def test_a_class_that_needs_no_arguments_is_its_query():
    assert (as_query(sl.Mean), as_query(sl.Var)) == (sl.Mean(), sl.Var())
    assert sl.Stack(sl.Count, sl.SumOf("age")) == sl.Stack(sl.Count(), sl.SumOf("age"))
    assert sl.ColumnQuery("age", sl.Median) == sl.ColumnQuery("age", sl.Median())
    asked = {"size": 2, "neighbors": sl.Bounded}
    assert sl.global_sensitivity([1, 2, 9], sl.Mean, **asked).value == 4


def test_min_median_and_max_are_percentiles():
    x = [3, 1, 4, 1, 5, 9]
    for query, q in ((sl.Min(), 0), (sl.Median(), 50), (sl.Max(), 100)):
        assert query(x) == sl.Percentile(q)(x)
        assert query.weights(6) == sl.Percentile(q).weights(6)


def test_names_tell_parameters_apart():
    queries = [sl.Var(), sl.Var(ddof=1), sl.Std(), sl.Std(ddof=2), sl.Percentile(50), sl.Median()]
    queries += [sl.Percentile(50, "lower"), sl.Percentile(50.5)]
    assert len({query.name for query in queries}) == len(queries)


def test_q_is_taken_exactly():
    """Decimal 0.1 % of 1001 records is rank 1; the float 0.1 is a little more."""
    x = range(1001)
    assert exactly(sl.Percentile(Decimal("0.1")), x) == 1
    assert exactly(sl.Percentile(0.1), x) == Fraction(0.1) * 10
    assert sl.Percentile(Decimal("0.1"), "higher")(x) == 1
    assert sl.Percentile(0.1, "higher")(x) == 2


def test_functions_see_the_records_as_an_array():
    seen = []
    query = sl.from_function(lambda x: seen.append(x) or x.max())
    assert query([1, 3]) == 3.0
    assert isinstance(seen[0], np.ndarray)
    assert seen[0].ndim == 1


def test_functions_are_named_after_themselves():
    def spread(x):
        return np.ptp(x)

    assert sl.from_function(spread).name == "spread"
    assert sl.from_function(spread, name="range").name == "range"
    assert sl.from_function(lambda x: x[0]).name == "function"
    assert as_query(spread) == sl.from_function(spread)


@pytest.mark.parametrize("q", [np.int64(25), np.uint8(25), np.float32(25), np.float64(25)])
def test_a_percentage_may_be_a_numpy_scalar(q):
    assert sl.Percentile(q) == sl.Percentile(25)
    assert type(sl.Percentile(q).q) in (int, float)


def test_the_magnitude_of_a_count_is_the_count():
    """Not n times the largest record, which may be 0."""
    assert sl.Count().magnitude(5, 0) == sl.Count().magnitude(5, 100) == 5
