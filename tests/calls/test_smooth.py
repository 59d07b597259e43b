"""Smooth sensitivity agrees with its definition over the lattice."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import oracle
import oracle_smooth
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import KINDS, NUMPY_KINDS, QUERIES, as_fractions, percentiles

import sensitivity_lab as sl

BETAS = st.sampled_from([Fraction(1, 100), Fraction(1, 3), 0.1, 0.5, 1, 3])
FARTHEST = st.sampled_from([{}, {"farthest": 12}])
"""As far as it is worth, or beyond the farthest dataset of every universe here."""
GRID = sl.Universe.from_domain([0, 0.25, 0.5, 0.75, 1])


@st.composite
def places(draw, kinds=tuple(KINDS), most=7):
    """A universe, finite or of unlimited copies, and a dataset of it with records left over."""
    kind = KINDS[draw(st.sampled_from(list(kinds)))]
    if draw(st.booleans()):
        universe = sl.Universe.from_dataset(draw(st.lists(kind, min_size=2, max_size=most)))
        records = list(universe)
        x = draw(st.permutations(records))[: draw(st.integers(1, len(records) - 1))]
    else:
        values = draw(st.lists(kind, min_size=1, max_size=3, unique=True))
        universe = sl.Universe.from_domain(values)
        x = draw(st.lists(st.sampled_from(universe.values), min_size=1, max_size=4))
    return universe, x


def records_of(universe, most):
    return oracle.universe_of(map(Fraction, universe.values), universe.multiplicities(most))


def check(result, largest, beta):
    """The result against the oracle's largest local sensitivities by distance."""
    expected = oracle_smooth.smooth_sensitivity(largest, Fraction(beta))
    true = Fraction(expected)
    assert (
        abs(Fraction(result.value) - true) <= Fraction(math.ulp(result.value)) / 2 + true / 10**40
    )
    if result.upper is not None:
        assert Fraction(result.upper) >= true * (1 - Fraction(1, 10**40))
        assert result.upper - result.value in (0.0, math.ulp(result.value))
    # Beyond the farthest dataset nothing is added; what is left out at large distances cannot
    # matter, as the value is the oracle's.
    more = [largest[-1]] * max(0, len(result.local_at_distance) - len(largest))
    for ours, theirs in zip(result.local_at_distance, [*largest, *more], strict=False):
        if isinstance(theirs, Decimal):
            assert ours == pytest.approx(float(theirs), rel=1e-15)
        else:
            assert ours == theirs
    assert result.local.kind == "local"
    result.verify()


@pytest.mark.representative("name")
@pytest.mark.parametrize("name", [*QUERIES, "percentile"])
@pytest.mark.parametrize("method", ["auto", "enumeration"])
@given(place=places(), beta=BETAS, farthest=FARTHEST, percentile=percentiles())
def test_bounded_agrees_with_the_definition(name, method, place, beta, farthest, percentile):
    universe, x = place
    ours, theirs = QUERIES.get(name, percentile)
    assume(len(x) >= ours.least_size)
    result = sl.smooth_sensitivity(
        universe,
        ours,
        dataset=x,
        beta=beta,
        method=method,
        neighbors="bounded",
        **farthest,
    )
    records = records_of(universe, len(x) + 1)
    largest = oracle_smooth.local_at_distance(records, as_fractions(x), theirs, "bounded", [len(x)])
    check(result, largest, beta)


@pytest.mark.representative("name")
@pytest.mark.parametrize("name", ["median", "mean", "sum", "count", "var", "std_ddof_1"])
@pytest.mark.parametrize("family", ["unbounded", "symmetric_difference", "edit"])
@given(place=places(most=6), beta=BETAS, farthest=FARTHEST)
def test_adding_and_removing_agrees_with_the_definition(name, family, place, beta, farthest):
    universe, x = place
    ours, theirs = QUERIES[name]
    assume(len(x) >= ours.least_size)
    most = min(universe.size, len(x) + 2)
    assume(most > ours.least_size)
    sizes = None if most == universe.size else (ours.least_size, most)
    result = sl.smooth_sensitivity(
        universe, ours, dataset=x, beta=beta, neighbors=family, sizes=sizes, **farthest
    )
    largest = oracle_smooth.local_at_distance(
        records_of(universe, most),
        as_fractions(x),
        theirs,
        "edit" if family == "edit" else "unbounded",
        range(ours.least_size, most + 1),
    )
    check(result, largest, beta)
    assert result.sizes == (ours.least_size, most)


@pytest.mark.parametrize("records", [[0, 0], [0, 0, 0]])
def test_no_record_of_a_whole_universe_can_be_replaced(records):
    """Its neighbors under `Edit` have one record less, also where all answers are equal."""
    result = sl.smooth_sensitivity(
        sl.Universe.from_dataset(records),
        "mean",
        dataset=records,
        beta=1,
        neighbors="edit",
    )
    assert (result.value, len(result.witness.y)) == (0, len(records) - 1)
    result.verify()


@given(place=places(kinds=NUMPY_KINDS), beta=BETAS)
def test_functions_agree_with_the_definition(place, beta):
    def third_moment(dataset):
        return math.fsum((float(record) - 1) ** 3 for record in dataset)

    universe, x = place
    result = sl.smooth_sensitivity(
        universe, third_moment, dataset=x, beta=beta, neighbors="bounded"
    )
    records = [float(record) for record in records_of(universe, len(x) + 1)]
    answers = {z: Fraction(third_moment(z)) for z in oracle.datasets(records, len(x))}
    largest = oracle_smooth.local_at_distance(
        records, [float(record) for record in x], answers.__getitem__, "bounded", [len(x)]
    )
    check(result, largest, beta)
    assert (result.upper, result.arithmetic) == (None, "float")
    assert result.datasets_evaluated == sl.universes.count_datasets(universe, len(x))


@pytest.mark.parametrize(
    ("x", "beta", "value"),
    [
        ((0, 0.25, 0.5, 0.75, 1), 0.1, 0.740818),
        ((0, 0.25, 0.5, 0.75, 1), 0.5, 0.303265),
        ((0, 0.25, 0.5, 0.75, 1), 1, 0.25),
        ((0.5,) * 5, 0.1, 0.606531),
        ((0.5,) * 5, 0.5, 0.183940),
        ((0.5,) * 5, 1, 0.067668),
    ],
)
@pytest.mark.parametrize("method", ["monotone", "enumeration"])
def test_published_values(x, beta, value, method):
    """Nissim, Raskhodnikova and Smith (2007), the median of five records."""
    result = sl.smooth_sensitivity(
        GRID, "median", dataset=x, beta=beta, method=method, neighbors="bounded"
    )
    assert result.value == pytest.approx(value, abs=5e-7)


@pytest.mark.representative("n")
@pytest.mark.parametrize("n", [60, 61])
@pytest.mark.parametrize(
    "query", [sl.Median(), sl.Percentile(30), sl.Percentile(95), "mean", "var"]
)
def test_many_records_give_what_few_distinct_values_give_by_enumeration(n, query):
    """Three distinct values: enumeration still lists all datasets."""
    universe = sl.Universe.from_domain([0, 1, 10])
    x = [0] * (n // 4) + [1] * (n // 3) + [10] * (n - n // 4 - n // 3)
    quick, listed = (
        sl.smooth_sensitivity(
            universe, query, dataset=x, beta=0.05, method=method, neighbors="bounded"
        )
        for method in ("auto", "enumeration")
    )
    assert quick.method != listed.method
    assert (quick.value, quick.upper, quick.distance) == (
        listed.value,
        listed.upper,
        listed.distance,
    )
    shared = len(quick.local_at_distance)
    assert quick.local_at_distance == listed.local_at_distance[:shared]


def test_a_small_beta_gives_the_global_sensitivity():
    universe = sl.Universe.from_dataset([1, 2, 3, 10, 11])
    everywhere = sl.global_sensitivity(universe, "median", size=3, neighbors=sl.Bounded(1))
    result = sl.smooth_sensitivity(
        universe, "median", dataset=[1, 2, 3], beta=1e-300, neighbors="bounded"
    )
    assert result.value == everywhere.value == 8
    assert result.upper == 8
    assert result.local_at_distance[result.distance] == 8


def test_no_distance_is_left_out_where_asked():
    x = [0.5] * 9
    short = sl.smooth_sensitivity(GRID, "median", dataset=x, beta=3, neighbors="bounded")
    long = sl.smooth_sensitivity(GRID, "median", dataset=x, beta=3, farthest=9, neighbors="bounded")
    assert len(short.local_at_distance) < len(long.local_at_distance) == 10
    assert short.value == long.value
    assert long.local_at_distance[: len(short.local_at_distance)] == short.local_at_distance


def test_a_vector_has_a_norm():
    universe = sl.Universe.from_dataset([0, 0, 3, 4])

    class Ends(sl.queries.Function):
        def exactly(self, universe, data):
            records = universe.dataset(data)
            return Fraction(records[0]), Fraction(records[-1])

    query = Ends(lambda records: records)
    assert isinstance(query.exactly(universe, np.array([1, 1, 0])), tuple)
    found = {
        norm: sl.smooth_sensitivity(
            universe, query, dataset=[0, 4], beta=1, norm=norm, neighbors=sl.Bounded(1)
        ).local.value
        for norm in ("L1", "L2", "Linf")
    }
    assert found == {"L1": 4.0, "L2": 4.0, "Linf": 4.0}


def test_ties_are_no_reason_to_be_their_own_neighbor():
    universe = sl.Universe.from_dataset([1, 2, 3])
    result = sl.smooth_sensitivity(
        universe, lambda records: 0.0 * len(records), dataset=[1, 2], beta=1, neighbors="bounded"
    )
    assert (result.value, result.distance) == (0.0, 0)
    assert result.y != result.z
    result.verify()


def test_repr_and_html_tell_the_same_facts():
    result = sl.smooth_sensitivity(
        GRID_OF_THE_PICTURE, "median", dataset=[1, 2, 3], beta=0.5, neighbors="bounded"
    )
    assert repr(result) == (
        "Smooth sensitivity of median: 4.852245278 (exact, rounded up)\n"
        "  value      8 * exp(-1/2 * 1)\n"
        "  neighbors  bounded, at most 1; size 3; universe of 5 records\n"
        "  dataset x  1, 2, 3\n"
        "  z          x without 3, with 10  f(z) = 2\n"
        "  y          z without 1, with 11  f(y) = 10\n"
        "  method     monotone, exact arithmetic, no evaluation needed"
    )
    html = result._repr_html_()
    for line in repr(result).split("\n")[1:]:
        assert line[13:] in html


GRID_OF_THE_PICTURE = sl.Universe.from_dataset([1, 2, 3, 10, 11])


def test_frame_has_two_curves():
    result = sl.smooth_sensitivity(
        GRID_OF_THE_PICTURE, "median", dataset=[1, 2, 3], beta=0.5, neighbors="bounded"
    )
    frame = result.to_frame("age")
    assert frame.columns.tolist() == [
        *("column", "query", "kind", "neighbors", "meaning", "distance", "size", "sensitivity")
    ]
    largest = frame[frame["kind"] == "local within k"]
    assert largest["sensitivity"].tolist() == list(map(float, result.local_at_distance))
    assert frame[frame["kind"] == "smooth"]["sensitivity"].max() == result.value
    assert set(frame["column"]) == {"age"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": 1.0}, "the value of median is stated as 1.0, but the witness gives "),
        ({"upper": 9.0}, "the upper bound of median is stated as 9.0, but the witness gives "),
        ({"distance": 2}, "is at distance 1 from x = (1, 2, 3), the stated distance is 2"),
    ],
)
def test_verify_recomputes(change, message):
    result = sl.smooth_sensitivity(
        GRID_OF_THE_PICTURE, "median", dataset=[1, 2, 3], beta=0.5, neighbors="bounded"
    )
    with pytest.raises(sl.errors.VerificationError) as caught:
        dataclasses.replace(result, **change).verify()
    assert message in str(caught.value)


def test_a_percentile_is_searched_while_its_larger_weight_can_win():
    # 75 % of 6 records has the weights 1/4 and 3/4. Here a single change moves it by 3/4 of 500;
    # one step away, where the largest record is 1000, by 3/4 of 1000.
    smooth = sl.smooth_sensitivity(
        sl.Universe.from_domain([0, 500, 1000]),
        "percentile_75",
        dataset=[0, 0, 0, 0, 0, 500],
        neighbors="bounded",
        beta=0.1,
    )
    assert smooth.distance == 1
    assert smooth.value == pytest.approx(750 * math.exp(-0.1), rel=1e-12)


@pytest.mark.exhaustive
def test_medians_beyond_floats_are_compared_exactly():
    """Floats, which are 2**18 apart here, select the layouts that may be the best."""
    far = 2**70
    x = [131_077, 131_081, far - 131_073, far - 131_073, far + 196_615]
    new = [-131_081, -131_064, -65_537, 196_601, 196_603, far - 131_071, far + 131_065]
    universe = sl.Universe.from_dataset([*x, *new, far + 196_599])
    result = sl.smooth_sensitivity(
        universe, "median", dataset=x, beta=0.3, method="monotone", farthest=5, neighbors="bounded"
    )
    largest = oracle_smooth.local_at_distance(
        records_of(universe, 6), as_fractions(x), ("median",), "bounded", [5]
    )
    assert [Fraction(gap) for gap in result.local_at_distance] == largest
