"""Which results noise scales take, and which they refuse."""

from __future__ import annotations

import dataclasses
import warnings
from fractions import Fraction
from types import SimpleNamespace

import pytest
from scales import is_smallest_float_from

import sensitivity_lab as sl
from sensitivity_lab.noise.scales import (
    gaussian_rho,
    gaussian_scale,
    laplace_epsilon,
    laplace_scale,
)


def result_of(query):
    universe = sl.Universe.from_domain([1, 2, 3, 11])
    sizes = range(0 if callable(query) else 1, 5)
    return sl.global_sensitivity(universe, query, size=sizes, neighbors=sl.Unbounded(1))


def test_of_a_result_the_upper_bound_is_taken_and_not_the_value():
    universe = sl.Universe.from_domain([1, 2, 3, 11])
    third = sl.global_sensitivity(universe, "mean", size=3, neighbors=sl.Bounded(1))
    assert third.exact == Fraction(10, 3)
    assert Fraction(third.value) != third.exact
    for query in ("mean", "std", "sum"):
        result = result_of(query)
        assert laplace_scale(result, 1) == result.upper
        assert gaussian_scale(result, 0.5) == result.upper
        assert laplace_epsilon(result, 1) == result.upper
        assert is_smallest_float_from(gaussian_rho(result, 1), Fraction(result.upper) ** 2 / 2)
    below = dataclasses.replace(third, value=0.0, upper=5.0)
    assert laplace_scale(below, 1) == 5


def each_call(result):
    """What scales and maps say of a result: the name of the argument, and the message."""
    for function, name in (
        (laplace_scale, "sensitivity"),
        (gaussian_scale, "sensitivity"),
        (laplace_epsilon, "d_in"),
        (gaussian_rho, "d_in"),
    ):
        with pytest.raises(sl.errors.InputError) as caught:
            function(result, 1)
        yield name, str(caught.value)


TEN = sl.Universe.from_domain([1, 2, 3, 4, 5, 6, 7, 8, 15, 20], copies=1)


@pytest.mark.parametrize("norm", ["L1", "L2"])
def test_a_smooth_sensitivity_is_refused_in_every_norm(norm):
    universe = sl.TableUniverse.from_domain({"sex": ["f", "m"]})
    histogram = sl.Histogram("sex", categories=["f", "m"])
    vector = sl.smooth_sensitivity(
        universe, histogram, dataset=[("f",), ("f",)], beta=1, norm=norm, neighbors="bounded"
    )
    number = sl.smooth_sensitivity(
        TEN, "median", dataset=[1, 2, 3], beta=1, norm=norm, neighbors="bounded"
    )
    for result in (vector, number):
        for name, message in each_call(result):
            assert message == (
                f"{name}: the result is a smooth sensitivity, which needs a beta made from the "
                "privacy loss and noise of its own; use smooth_cauchy_scale (epsilon) or "
                "smooth_laplace_scale (epsilon and delta)"
            )


def scale_among_these(result):
    """The scale where records and sizes are said to be public."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sl.errors.PrivateSizeWarning)
        return laplace_scale(result, 1, public_universe=True)


@pytest.mark.exhaustive
def test_what_is_no_single_result_is_refused_without_printing_it():
    curves = sl.sensitivity_curves(TEN, "mean", size=3, distances=[1, 2], neighbors="bounded")
    table = sl.neighbor_table(TEN, "mean", size=3, neighbors="bounded")
    shaped = SimpleNamespace(value=1.0, upper=1.0)
    for result, shown in (
        (curves, "an object of the type SensitivityCurves"),
        (curves.to_frame(), "an object of the type DataFrame"),
        (curves.to_frame().iloc[0], "an object of the type Series"),
        (table, "an object of the type NeighborTable"),
        (-(10**5000), "about -1e5000 (numbers have at most 4,000 digits)"),
        (shaped, "namespace(value=1.0, upper=1.0)"),
    ):
        for name, message in each_call(result):
            assert message == (
                f"{name} must be a finite number of at least 0 or a result of "
                f"sl.global_sensitivity, got {shown}"
            )
    point = curves.result("mean", distance=2)
    assert scale_among_these(point) == point.upper


def result_in(norm, query=None):
    universe = sl.TableUniverse.from_domain({"sex": ["f", "m"]})
    query = query or sl.Histogram("sex", categories=["f", "m"])
    return sl.global_sensitivity(universe, query, size=3, neighbors=sl.Bounded(1), norm=norm)


def test_of_a_number_all_norms_are_one():
    for norm in ("L1", "L2", "Linf"):
        result = result_in(norm, sl.CountIf("sex == 'f'"))
        assert laplace_scale(result, 1) == gaussian_scale(result, 0.5) == 1
