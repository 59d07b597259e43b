"""What an audit of OpenDP refuses, maps that fail, and claims at one distance that fail alone."""

from __future__ import annotations

import pytest
from checks import refused, refused_with
from opendp_cases import clamped_sum, dp, integers, of_function

import sensitivity_lab as sl
from sensitivity_lab.audits import audit_opendp

pytestmark = [pytest.mark.opendp, pytest.mark.usefixtures("opendp_features", "few_calls")]


REFUSED = {
    "no measurement": (
        lambda: audit_opendp(3, [0], 1),
        "made must be a Transformation, a Measurement, or a function of a scale that returns one, "
        "got 3",
    ),
    "noise without a twin": (
        lambda: audit_opendp(
            dp.m.make_gaussian(dp.atom_domain(T=int), dp.absolute_distance(T=int), 1.0), [0]
        ),
        "no twin of make_gaussian on whole numbers is known; to compare sensitivities, give a "
        "function of a scale that returns the measurement",
    ),
    "a scale of a transformation": (
        lambda: audit_opendp(clamped_sum(), [0], 1, scale=2.0),
        "scale applies only to a function of a scale that returns a measurement; leave it out, got "
        "2.0",
    ),
    "a component of a measurement": (
        lambda: audit_opendp(dp.m.make_randomized_response_bool(0.75), [True], component="L1"),
        "component applies only to a transformation; leave it out, got 'L1'",
    ),
    "no component": (
        lambda: audit_opendp(dp.t.make_count_by(integers(), dp.symmetric_distance()), [0], 1),
        "L01InfDistance(AbsoluteDistance(i32)) measures three numbers; component must be one of "
        "'L0', 'L1', 'Linf', got None",
    ),
    "a component too many": (
        lambda: audit_opendp(clamped_sum(), [0], 1, component="L1"),
        "component is for metrics of three numbers, not for AbsoluteDistance(i32)",
    ),
    "a metric that is not covered": (
        lambda: audit_opendp(
            of_function(list, outputs=dp.user_distance("own"), answers=integers()), [0], 1
        ),
        "the output metric own is not covered; those that are: "
        "SymmetricDistance, InsertDeleteDistance, ChangeOneDistance, HammingDistance, "
        "DiscreteDistance, AbsoluteDistance, L1Distance, L2Distance, LInfDistance, "
        "L01InfDistance, L02InfDistance",
    ),
    "no value in the domain": (
        lambda: audit_opendp(clamped_sum(), [0.5, "a"], 1),
        "AtomDomain(T=i32) accepts none of the values (0.5, 'a'); for datasets of your own, write "
        "datasets=",
    ),
    "no values": (
        lambda: audit_opendp(clamped_sum(), "abc", 1),
        "universe must be the entries that datasets are made of, at least one, got 'abc'; pass a "
        "list of values, such as ['a', 'b']",
    ),
    "no size": (
        lambda: audit_opendp(clamped_sum(), [0]),
        "size must be given: VectorDomain(AtomDomain(T=i32)) has vectors of every size",
    ),
    "no size in the domain": (
        lambda: audit_opendp(dp.t.make_count(integers(3), dp.symmetric_distance()), [0], [2, 4]),
        "VectorDomain(AtomDomain(T=i32), size=3) accepts none of the sizes (2, 4)",
    ),
    "sizes of a value": (
        lambda: audit_opendp(
            dp.t.make_identity(dp.atom_domain(T=int), dp.absolute_distance(T=int)), [0], 3
        ),
        "size must be left out: AtomDomain(T=i32) holds single values",
    ),
    "a negative distance": (
        lambda: audit_opendp(clamped_sum(), [0], 1, distances=[-1]),
        "distances must be a whole number (a distance of datasets, at least 0), got -1, below 0",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    call, message = REFUSED[case]
    refused(call, message)


def test_failures_name_the_input():
    def fragile(x):
        if list(x) == [1, 0]:
            raise ArithmeticError("no answer here")
        return 0

    refused_with(
        lambda: audit_opendp(of_function(fragile), [0, 1], 2),
        r"(?s)the transformation fails on \[1, 0\]: .*no answer",
        sl.errors.QueryError,
    )


def test_a_map_of_opendp_that_overflows_claims_nothing():
    total = dp.t.make_sum(integers(bounds=(0, 2**30), T=None), dp.symmetric_distance())
    rows = audit_opendp(total, [0, 2**30], range(2), distances=[1, 2]).rows
    assert [(row.claimed, row.verdict) for row in rows] == [(2**30, "tight"), (None, "no claim")]
    assert rows[1].reason == (
        'Overflow("2 * 1073741824 overflows. Consider tightening your parameters.")'
    )


def test_the_tolerance_is_for_floats_alone():
    """A float sum of three tenths is an ulp above the claim; whole numbers have no tolerance."""
    total = dp.t.make_user_transformation(
        dp.vector_domain(dp.atom_domain(T=float, nan=False), size=3),
        dp.change_one_distance(),
        dp.atom_domain(T=float),
        dp.absolute_distance(T=float),
        sum,
        lambda _: 0.3,
    )
    assert audit_opendp(total, [0.0, 0.1], distances=3).verdict == "tight up to rounding"
    assert audit_opendp(total, [0.0, 0.1], distances=3, tolerance_ulps=0).verdict == "violated"
    whole = of_function(lambda x: (2**30 + 1) * len(x), claim=2**30)
    assert audit_opendp(whole, [0], [0, 1], distances=1).verdict == "violated"
