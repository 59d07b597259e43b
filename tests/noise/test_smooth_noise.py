"""Noise for a smooth sensitivity: the constants, the privacy of the release, what is refused."""

from __future__ import annotations

import dataclasses
import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import oracle
import pytest
from checks import refused, refused_with
from hypothesis import given
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab.noise import smooth_beta, smooth_cauchy_scale, smooth_laplace_scale
from sensitivity_lab.noise.smooth import laplace_step

DOMAIN = [0, 1, 2, 7, 30]
UNIVERSE = sl.Universe.from_domain(DOMAIN)


def smooth(x=(0, 1, 2), query="median", **options):
    asked = {"beta": Fraction(1, 6), "neighbors": "bounded", **options}
    return sl.smooth_sensitivity(UNIVERSE, query, dataset=x, **asked)


def lost_by_laplace(epsilon, scale_x, scale_y, shift):
    """The smallest delta of two Laplace distributions: P[T] - exp(epsilon) Q[T] at its largest T.

    T is where the density of x exceeds exp(epsilon) times that of y, in logarithms a function that
    is linear between 0 and the shift and beyond: pieces of lines, integrated by their ends.
    """

    def excess(z):
        """How far the logarithm of the densities' quotient is above epsilon."""
        return math.log(scale_y / scale_x) - abs(z) / scale_x + abs(z - shift) / scale_y - epsilon

    def mass(low, high, scale):
        """The probability of a draw between two numbers on one side of 0."""
        near, far = sorted((abs(low), abs(high)))
        return (math.exp(-near / scale) - math.exp(-far / scale)) / 2

    far = 800 * max(scale_x, scale_y)
    knots = {-far, 0.0, float(shift), far}
    for low, high in itertools.pairwise(sorted(knots)):
        at_low, at_high = excess(low), excess(high)
        if at_low * at_high < 0:
            knots = {*knots, low + (high - low) * at_low / (at_low - at_high)}
    return sum(
        mass(low, high, scale_x) - math.exp(epsilon) * mass(low - shift, high - shift, scale_y)
        for low, high in itertools.pairwise(sorted(knots))
        if excess((low + high) / 2) > 0
    )


def lost_by_power(gamma, scale_x, scale_y, shift):
    """The largest logarithm of the quotient of two densities 1 / (1 + |z|**gamma), on a grid."""
    z = np.concatenate([np.linspace(-9, 9, 4001), np.geomspace(9, 1e9, 2000)])
    z = np.concatenate([z, -z])
    near, far = (
        np.logaddexp(0, gamma * np.log(np.maximum(np.abs(at), 1e-300)))
        for at in (z, z * (scale_x / scale_y) - shift / scale_y)
    )
    return float(np.abs(far - near + math.log(scale_y / scale_x)).max())


def test_the_oracle_of_laplace_noise():
    """Equal scales: at an epsilon of half the loss, 1 - exp((epsilon - shift) / 2), a known sum."""
    for epsilon, shift in ((0.5, 1.0), (1.0, 2.5), (0.5, -1.0)):
        expected = 1 - math.exp((epsilon - abs(shift)) / 2)
        assert math.isclose(lost_by_laplace(epsilon, 1, 1, shift), expected)
    assert lost_by_laplace(1.0, 1, 1, 1.0) < 1e-15
    assert math.isclose(lost_by_laplace(1.0, 2, 1, 0), 1 / (4 * math.e))  # beyond 2 + 2 ln 2


def test_the_constants():
    """Nissim, Raskhodnikova, Smith: epsilon / 6 and 6 S / epsilon, 2 ln(2 / delta), 2 S / epsilon.

    Beside them: beta = epsilon / (2 (gamma + 1)).
    """
    assert smooth_beta(1) == smooth_beta(1, gamma=2) == 0.16666666666666666 < Fraction(1, 6)
    assert smooth_beta(2, gamma=Fraction(3, 2)) == math.nextafter(0.4, 0) < Fraction(2, 5)
    for delta in (1e-6, 0.25, Decimal("1e-9"), 0.5):
        assert math.isclose(
            smooth_beta(0.5, delta), 0.5 / (2 * math.log(2 / float(delta))), rel_tol=1e-14
        )
    result = smooth(beta=Fraction(1, 100))
    upper = Fraction(result.upper)
    assert Fraction(smooth_cauchy_scale(result, 1)) >= 6 * upper
    assert smooth_cauchy_scale(result, 1) == pytest.approx(6 * result.value, rel=1e-15)
    assert smooth_cauchy_scale(result, 2, gamma=4) == pytest.approx(5 * result.value, rel=1e-15)
    assert smooth_laplace_scale(result, 0.5, 1e-6) == pytest.approx(4 * result.value, rel=1e-15)
    assert 0 <= Fraction(1, 202) - Fraction(smooth_beta(1, gamma=100)) < Fraction(1, 10**17)
    refused_with(
        lambda: smooth_beta(1, gamma=math.nextafter(100, 101)),
        "a number above 1, at most 100, got 100",
    )


@given(st.floats(1e-6, 3), st.floats(1e-90, 0.5), st.floats(1.001, 100))
def test_beta_is_rounded_down(epsilon, delta, gamma):
    beta = smooth_beta(epsilon, gamma=gamma)
    allowed = Fraction(epsilon) / (2 * (Fraction(gamma) + 1))
    assert Fraction(beta) <= allowed < Fraction(math.nextafter(beta, 1e9))
    of_laplace = smooth_beta(epsilon, delta)
    # exp(epsilon / (2 beta)) >= 2 / delta, in the 60 digits of Python's decimals
    exponent = Decimal(epsilon) / (2 * Decimal(of_laplace))
    assert exponent >= (2 / Decimal(delta)).ln() * (1 - Decimal(10) ** -20)
    above = math.nextafter(of_laplace, 1e9)
    assert Decimal(epsilon) / (2 * Decimal(above)) < (2 / Decimal(delta)).ln()


@given(
    st.floats(1e-3, 3),
    st.floats(1e-12, 0.5),
    st.sampled_from([1.1, 1.5, 2, 3, 4, 10, 100]),
    st.sampled_from([-1, -0.5, 0, 0.5, 1]),
    st.sampled_from([-1, 1]),
)
def test_no_two_neighbors_lose_more(epsilon, delta, gamma, share, sign):
    """The worst neighbors that smoothness allows: S differs by exp(beta), answers by S(y)."""
    beta = smooth_beta(epsilon, gamma=gamma) * share
    factor = 2 * (gamma + 1) / epsilon
    lost = lost_by_power(gamma, factor * math.exp(beta), factor, sign)
    assert lost <= epsilon * (1 + 1e-12)
    beta = smooth_beta(epsilon, delta) * share
    factor = 2 / epsilon
    assert lost_by_laplace(epsilon, factor * math.exp(beta), factor, sign) <= delta


def test_the_constants_are_not_far_from_needed():
    """A beta ten times too large, or half the scale, is seen by the oracles of the tests above."""
    epsilon, delta = 1.0, 1e-3
    beta = 10 * smooth_beta(epsilon, delta)
    assert lost_by_laplace(epsilon, 2 * math.exp(beta), 2, 1) > delta
    assert lost_by_laplace(epsilon, 0.5, 0.5, 1) > delta
    assert lost_by_power(2, math.exp(10 * smooth_beta(1)), 1, 0) > epsilon


def scales_of(datasets, universe, query, relation, epsilon, delta):
    """The answer on each dataset, and the scales of Laplace and of Cauchy noise for it."""
    k, found = relation.k, {}
    for x in datasets:
        of_laplace, of_cauchy = (
            sl.smooth_sensitivity(universe, query, dataset=x, beta=beta, neighbors=relation)
            for beta in (smooth_beta(epsilon, delta, k=k), smooth_beta(epsilon, k=k))
        )
        found[x] = (
            float(oracle.evaluate((query,), x)),
            smooth_laplace_scale(of_laplace, epsilon, delta, public_universe=True),
            smooth_cauchy_scale(of_cauchy, epsilon, public_universe=True),
        )
    return found


def losses(one, other, epsilon):
    """What the two kinds of noise lose between two datasets: a delta, and an epsilon."""
    shift = one[0] - other[0]
    return (
        lost_by_laplace(epsilon, one[1], other[1], shift),
        lost_by_power(2, one[2], other[2], shift),
    )


EXHAUSTIVE = pytest.mark.exhaustive
REPLACED = (UNIVERSE, oracle.universe_of(DOMAIN, [3] * len(DOMAIN)), (3,))
JOINED = (sl.Universe.from_domain([0, 1, 7], copies=2), oracle.universe_of([0, 1, 7], [2] * 3))


@pytest.mark.further
@pytest.mark.representative("relation")
@pytest.mark.parametrize("query", ["median", "max", "mean", "sum"])
@pytest.mark.parametrize(
    ("relation", "universe", "records", "sizes"),
    [
        (sl.Bounded(1), *REPLACED),
        *(pytest.param(sl.Bounded(k), *REPLACED, marks=EXHAUSTIVE) for k in (2, 3)),
        *(
            pytest.param(relation, *JOINED, range(7), marks=EXHAUSTIVE)
            for relation in (sl.Unbounded(2), sl.SymmetricDifference(3))
        ),
    ],
    ids=str,
)
def test_a_person_with_k_rows(query, relation, universe, records, sizes):
    """By the definition: every two datasets up to k rows apart, their scales, their loss.

    The neighbors of k steps are the widest. Nobody has a sum, and no median.
    """
    epsilon, delta = 1.0, 1e-2
    sizes = [size for size in sizes if size or query == "sum"]
    datasets = {tuple(x) for size in sizes for x in oracle.datasets(records, size)}
    found = scales_of(datasets, universe, query, relation, epsilon, delta)
    name, pairs = relation.name.replace(" ", "_"), 0
    for x in datasets:
        for y in {tuple(y) for y in oracle.neighbors(records, x, name, relation.k)} & datasets:
            of_laplace, of_cauchy = losses(found[x], found[y], epsilon)
            assert of_laplace <= delta
            assert of_cauchy <= epsilon
            pairs += 1
    assert pairs > 100


@given(st.floats(1e-6, 3), st.floats(1e-60, 0.5), st.integers(1, 40))
def test_k_steps_lose_no_more_than_epsilon_and_delta(step, delta, k):
    """delta' (1 + exp(epsilon') + ... + exp((k - 1) epsilon')) is delta, from below."""
    epsilon = Fraction(step) * k
    smaller, part = laplace_step(epsilon, delta, k)
    assert smaller == Fraction(step)
    with localcontext() as context:
        context.prec = 80
        e = (Decimal(smaller.numerator) / smaller.denominator).exp()
        whole = sum(e**i for i in range(k)) * (Decimal(part.numerator) / part.denominator)
    assert Fraction(delta) * (1 - Fraction(1, 10**30)) <= Fraction(whole)
    assert Fraction(whole) <= Fraction(delta) * (1 + Fraction(1, 10**75))


def test_k_enters_beta_and_scale():
    beta = smooth_beta(1, k=5)
    assert beta == smooth_beta(Fraction(1, 5)) < smooth_beta(1) / 4.9
    assert smooth_beta(1, 1e-6, k=5) < smooth_beta(Fraction(1, 5), 1e-6)
    five = smooth(beta=beta, neighbors=sl.Bounded(5))
    one = smooth(beta=beta)
    assert (five.value, five.upper, five.local) == (one.value, one.upper, one.local)
    assert (five.neighbors, five.local.neighbors) == (sl.Bounded(5), sl.Bounded(1))
    assert smooth_cauchy_scale(five, 1) == smooth_cauchy_scale(one, Fraction(1, 5))
    assert "rows       5 per person: noise uses epsilon / 5" in repr(five)
    five.verify()
    wide = smooth(beta=smooth_beta(1), neighbors=sl.Bounded(5))
    refused(
        lambda: smooth_cauchy_scale(wide, 1),
        "result: its beta, 0.16666666666666666, is above the largest one for this privacy loss and "
        "k = 5 rows of a person, 0.03333333333333333; recompute it with "
        "beta=smooth_beta(epsilon, gamma=gamma, k=5)",
    )


def test_a_beta_of_the_caller_is_compared_exactly():
    """1/6 is allowed for epsilon 1; the float above it is not."""
    assert smooth_cauchy_scale(smooth(beta=Fraction(1, 6)), 1) > 0
    beyond = math.nextafter(1 / 6, 1)
    assert Fraction(beyond) > Fraction(1, 6)
    refused(
        lambda: smooth_cauchy_scale(smooth(beta=beyond), 1),
        "result: its beta, 0.16666666666666669, is above the largest one for this privacy loss, "
        "0.16666666666666666; recompute it with beta=smooth_beta(epsilon, gamma=gamma)",
    )
    for epsilon, delta in ((1, 1e-6), (0.3, 0.25), (3, 0.5)):
        beta = smooth_beta(epsilon, delta)
        assert smooth_laplace_scale(smooth(beta=beta), epsilon, delta) > 0
        with pytest.raises(sl.errors.InputError, match="recompute it with beta=smooth_beta"):
            smooth_laplace_scale(smooth(beta=math.nextafter(beta, 9)), epsilon, delta)


def test_a_scale_never_falls_where_floats_have_fewer_digits():
    """S of 1e-400 is the smallest float, up to twice too large: such scales would not be smooth."""
    tiny = dataclasses.replace(smooth(), upper=5e-324)
    least = 2.0**-1022
    assert smooth_cauchy_scale(tiny, 1) == 6 * least
    assert smooth_cauchy_scale(tiny, 10**9) == least
    nothing = sl.smooth_sensitivity(
        UNIVERSE, "count", dataset=[1, 1, 1], beta=Fraction(1, 6), neighbors="bounded"
    )
    assert nothing.value == 0
    assert smooth_cauchy_scale(nothing, 1) == 0


def test_a_result_of_all_sizes_is_accepted_and_one_of_some_is_refused():
    few = sl.Universe.from_domain([0, 5], copies=4)
    options = {"beta": Fraction(1, 6), "neighbors": "unbounded"}
    everything = sl.smooth_sensitivity(few, "sum", dataset=[0, 5, 5], **options)
    assert everything.sizes == (0, 8)
    assert smooth_cauchy_scale(everything, 1) == 30
    near = sl.smooth_sensitivity(few, "sum", dataset=[0, 5, 5], sizes=(2, 4), **options)
    refused(
        lambda: smooth_cauchy_scale(near, 1),
        "result: it is about datasets of size 2 to 4 only, so neighbors of other sizes are left "
        "out; recompute it without sizes, over a universe that has no unlimited copies, as "
        "Universe.from_domain(values, copies=...)",
    )


def stacked():
    pair = sl.Stack(sl.Count(), sl.SumOf("age", clip=(0, 9)))
    universe = sl.TableUniverse.from_domain({"age": [1, 9]})
    return sl.smooth_sensitivity(
        universe, pair, dataset=[(1,), (9,)], beta=Fraction(1, 6), norm="L2", neighbors="bounded"
    )


WHAT = "result must be a result of sl.smooth_sensitivity, got a "
ADVICE = "; for a global sensitivity use laplace_scale or gaussian_scale"


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (
            lambda: sl.global_sensitivity(UNIVERSE, "sum", size=3, neighbors=sl.Bounded(1)),
            f"{WHAT}global Sensitivity{ADVICE}",
        ),
        (
            lambda: sl.local_sensitivity(UNIVERSE, "sum", dataset=[1, 1], neighbors=sl.Bounded(1)),
            f"{WHAT}local Sensitivity{ADVICE}",
        ),
        (
            lambda: smooth(query=lambda x: float(x.max())),
            "result: the result has no upper bound (upper=None), because the rounding errors of "
            "its answers are not known; pass a number that is at least the sensitivity, or compute "
            "that of a built-in query or an ExactQuery",
        ),
        (
            stacked,
            "result: the answer of count + sum of age clipped to 0..9 is a vector, and these "
            "scales are for a number; use laplace_scale with the global sensitivity in L1",
        ),
    ],
)
def test_what_is_no_smooth_sensitivity_of_a_number_is_refused(result, message):
    given_result = result()
    for call in (
        lambda: smooth_cauchy_scale(given_result, 1),
        lambda: smooth_laplace_scale(given_result, 1, 0.5),
    ):
        refused(call, message)


LAPLACE = "epsilon must be a number from 1e-9 to 3 where a delta is given, got "
CAUCHY = "; for a larger one use Cauchy noise (smooth_cauchy_scale)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: smooth_beta(4, 0.1), f"{LAPLACE}4{CAUCHY}"),
        (lambda: smooth_laplace_scale(smooth(), 1e-10, 0.1), f"{LAPLACE}1e-10{CAUCHY}"),
        (
            lambda: smooth_beta(1e-9, k=5),
            "epsilon must be a finite number of at least 5e-9 for k = 5 rows of a person, got "
            "1e-09",
        ),
        (
            lambda: smooth_beta(16, 0.1, k=5),
            "epsilon must be a number from 5e-9 to 15 for k = 5 rows of a person where a delta is "
            f"given, got 16{CAUCHY}",
        ),
        (
            lambda: smooth_beta(300, 0.1, k=300),
            "delta: of it, each of k = 300 steps may lose less than 1e-100 at this epsilon, which "
            "noise is not computed for; choose a larger delta, a smaller epsilon or k, or Cauchy "
            "noise (smooth_cauchy_scale)",
        ),
        (
            lambda: smooth_beta(1, 0.1, gamma=3),
            "give delta (Laplace noise) or gamma (density 1 / (1 + abs(z)**gamma)), got delta=0.1 "
            "and gamma=3",
        ),
    ],
)
def test_what_is_refused(call, message):
    refused(call, message)
