"""Affine laws of continuous noise: against closed forms, and densities integrated numerically."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sensitivity_lab.audits.driven import losses
from sensitivity_lab.audits.driven.affine import AffineLaw, Leak, NotJudged, compare
from sensitivity_lab.audits.driven.laws import Divergence, Noisy
from sensitivity_lab.audits.driven.losses import ScaleLoss, ShiftLoss

EPSILONS = [0, 0.25, 0.7, 1, 1.9, 4]
NODES = {
    count: list(zip(*np.polynomial.legendre.leggauss(count), strict=True)) for count in (12, 40)
}
"""Of Gauss and Legendre; 12 are enough for pieces of exponential functions."""


def law(center, matrix, kinds) -> AffineLaw:
    """A law of ints, floats or strings such as "1/3"; kinds are letters: L, or G."""
    names = {"L": "Laplace", "G": "Gaussian"}
    return AffineLaw(
        tuple(Fraction(c) for c in center),
        tuple(tuple(Fraction(entry) for entry in row) for row in matrix),
        tuple(names[kind] for kind in kinds),
    )


def shifted(center, matrix, kinds):
    """The comparison of a center with 0, under the same noise."""
    return compare(law(center, matrix, kinds), law([0] * len(center), matrix, kinds))


def diagonal(entries):
    return [[entry * (i == j) for j in range(len(entries))] for i, entry in enumerate(entries)]


def normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Balle and Wang (2018), Theorem 8; for any real epsilon."""
    above, below = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    return normal(above) - math.exp(epsilon) * normal(below)


def laplace_delta(t: float, epsilon: float) -> float:
    """Of one shift; for any real epsilon."""
    if epsilon <= -t:
        return 1 - math.exp(epsilon)
    return max(0.0, 1 - math.exp((epsilon - t) / 2))


def composed_delta(shifts: list[float], epsilon: float, mu: float = 0) -> float:
    """Integrate over the first draw, between the points where what is left has corners."""
    if not shifts:
        return gaussian_delta(mu, epsilon) if mu else max(0.0, 1 - math.exp(epsilon))
    t, rest = shifts[0], shifts[1:]

    def given_draw(z: float) -> float:
        return composed_delta(rest, epsilon - (t - 2 * z), mu)

    sums = [sum(s * r for s, r in zip(signs, rest, strict=True)) for signs in signs_of(rest)]
    corners = sorted({0.0, t, *(c for s in sums if 0 < (c := (s - epsilon + t) / 2) < t)})
    total = given_draw(0) / 2 + given_draw(t) * math.exp(-t) / 2
    for low, high in pairwise(corners):
        for node, weight in NODES[40 if mu else 12]:
            z = low + (high - low) * (node + 1) / 2
            total += (high - low) / 2 * weight * math.exp(-z) / 2 * given_draw(z)
    return total


def signs_of(items):
    return product((-1, 1), repeat=len(items))


def integrated_delta(p, q, epsilon: float, low: float, high: float) -> float:
    """Integrate max(0, p - exp(epsilon) q), densities of one number."""
    edges = np.linspace(low, high, 400_001)
    middle, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    return float(np.maximum(0, p(middle) - math.exp(epsilon) * q(middle)).sum() * width)


def laplace_density(center, scale):
    return lambda x: np.exp(-np.abs(x - center) / scale) / (2 * scale)


def normal_density(center, variance):
    return lambda x: np.exp(-((x - center) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


def in_order(loss, order):
    return loss if order == "PQ" else loss.swapped()


def epsilon_at(loss, delta, order="PQ"):
    """The least epsilon for a delta, as a report finds it."""
    noisy = Noisy(Fraction(1), Fraction(1), in_order(loss, order), None)
    return Divergence([], (Fraction(0), Fraction(0)), [noisy]).epsilon(Fraction(delta))


def check_curve(loss, expected, tolerance=1e-12, orders=("PQ", "QP"), epsilons=EPSILONS):
    for epsilon in epsilons:
        for order in orders:
            low, high = in_order(loss, order).delta(epsilon)
            assert low <= high <= low + 1e-14
            assert low == pytest.approx(expected(epsilon), abs=tolerance)


# Closed forms


@pytest.mark.parametrize("t", ["1/10", "1", "3/2", "7"])
def test_one_laplace_shift(t):
    loss = shifted([Fraction(t) * 3], [[3]], "L")
    assert loss.epsilon == Fraction(t)
    check_curve(loss, lambda epsilon: laplace_delta(float(Fraction(t)), epsilon))
    assert loss.delta(Fraction(t)) == (0, 0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("mu", ["1/100", "1/2", "1", "3"])
def test_one_normal_shift(mu):
    loss = shifted([Fraction(mu) * 2], [[2]], "G")
    assert loss.epsilon == math.inf
    assert loss.mu_squared == Fraction(mu) ** 2
    assert loss.rho == (Fraction(mu) ** 2 / 2,) * 2
    check_curve(loss, lambda epsilon: gaussian_delta(float(Fraction(mu)), epsilon))


@pytest.mark.exhaustive
def test_a_published_value_of_normal_noise():
    """Balle and Wang's own code, as diPLSlib documents it: sigma 3.7306... for (1, 1e-5)."""
    loss = shifted([1], [[3.730631634944469]], "G")
    assert loss.delta(1)[0] == pytest.approx(1e-5, rel=1e-10)
    low, high = epsilon_at(loss, 1e-5)
    assert low < 1 + 1e-10
    assert high > 1 - 1e-10


def test_many_equal_laplace_shifts_against_the_binomial_sum_of_their_atoms():
    """At epsilon just below the total only the atoms are left: 30 draws on the right side."""
    loss = shifted([1] * 30, diagonal([10] * 30), "L" * 30)
    assert loss.epsilon == 3
    step = 1e-6
    assert loss.delta(3 - step)[0] == pytest.approx(2.0**-30 * step, rel=1e-4)


# Composition


@pytest.mark.parametrize(("shifts", "mu"), [([1], 0.5), ([0.25], 3), ([0.5, 2], 1)])
def test_laplace_and_normal_shifts(shifts, mu):
    loss = shifted([*shifts, mu], diagonal([1] * (len(shifts) + 1)), "L" * len(shifts) + "G")
    assert loss.epsilon == math.inf
    check_curve(loss, lambda epsilon: composed_delta(shifts, epsilon, mu), epsilons=[0, 0.7, 4])


def renyi(shift, order):
    """The Renyi divergence of a Laplace shift, in closed form."""
    near = order * math.exp((order - 1) * shift) + (order - 1) * math.exp(-order * shift)
    return math.log(near / (2 * order - 1)) / (order - 1)


@pytest.mark.parametrize("shifts", [(0.5,), (3,), (0.5, 3), (0.1, 0.1, 9)])
@pytest.mark.parametrize("mu", [0, 2])
def test_rho_is_the_supremum_over_all_orders(shifts, mu):
    moved, kinds = [*shifts, mu], "L" * len(shifts) + "G"
    low, high = shifted(moved, diagonal([1] * len(moved)), kinds).rho
    orders = [1 + 10**exponent for exponent in (-4, -3, -2, -1, 0, 1)]
    of_orders = [
        sum(renyi(shift, order) for shift in shifts) / order + mu**2 / 2 for order in orders
    ]
    assert max(of_orders) <= high * (1 + 1e-9)
    assert high == pytest.approx(max(of_orders), rel=1e-3)
    assert high <= math.nextafter(low, math.inf)


# Structure


def test_a_tree_sum_of_seven_nodes():
    """Each of 7 nodes has its own noise; a record of one leaf is in three of them."""
    loss = shifted([1, 1, 0, 1, 0, 0, 0], diagonal([3] * 7), "L" * 7)
    assert loss.epsilon == 1
    check_curve(loss, lambda epsilon: composed_delta([1 / 3] * 3, epsilon), epsilons=[0, 0.7])
    # Differences of nodes and leaves are public functions of what has noise.
    rows = [*diagonal([3] * 7), [3, -3, -3, 0, 0, 0, 0], [0, 3, 0, -3, -3, 0, 0]]
    assert shifted([1, 1, 0, 1, 0, 0, 0, 0, 0], rows, "L" * 7).epsilon == 1


def test_one_draw_shared_by_two_answers():
    """They may move together; the difference of the two has no noise."""
    assert shifted([1, 1], [[2], [2]], "L").epsilon == Fraction(1, 2)
    leak = shifted([1, 2], [[2], [2]], "L")
    assert isinstance(leak, Leak)
    assert leak.epsilon == math.inf
    assert leak.delta(9) == (1, 1)
    assert abs(leak.p - leak.q) == abs(leak.weights[0] * 1 + leak.weights[1] * 2) > 0
    assert leak.weights[0] + leak.weights[1] == 0


def test_a_combination_of_three_answers_without_noise():
    rows = [[2, 0], [0, 1], [2, 1]]
    assert shifted([1, 1, 2], rows, "LL").epsilon == Fraction(3, 2)
    leak = shifted([1, 1, 1], rows, "LL")
    assert isinstance(leak, Leak)
    assert np.allclose(np.array(leak.weights, dtype=float) @ np.array(rows), 0)


@pytest.mark.parametrize("order", [1, -1])
def test_noise_in_one_law_only(order):
    leak = compare(*[law([0], [[2]], "L"), law([5], [[0]], "L")][::order])
    assert isinstance(leak, Leak)
    assert {leak.p, leak.q} == {"noise", 5 * leak.weights[0]}


@pytest.mark.parametrize("order", [1, -1])
def test_a_combination_with_noise_in_one_law_only(order):
    """Each answer has noise in both; one law has one draw for both of them."""
    laws = [law([0, 0], [[1, 0], [0, 1]], "LL"), law([0, 0], [[1, 0], [1, 0]], "LL")][::order]
    leak = compare(*laws)
    assert isinstance(leak, Leak)
    assert "noise" in (leak.p, leak.q)
    assert leak.weights[0] + leak.weights[1] == 0


def test_no_noise_at_all():
    assert compare(law([1, 2], [[], []], ""), law([1, 2], [[], []], "")).epsilon == 0
    leak = compare(law([1, 2], [[], []], ""), law([1, 3], [[], []], ""))
    assert (leak.weights, leak.p, leak.q) == ((0, 1), 2, 3)


def test_equal_laws_lose_nothing():
    """Columns in any order and of any sign; draws that are not used; merged normal draws."""
    p = law([1, 2], [[2, 1, 0, 3, 4], [0, 1, 0, 0, 0]], "LLLGG")
    q = law([1, 2], [[5, -1, 2], [0, -1, 0]], "GLL")
    loss = compare(p, q)
    assert loss.epsilon == 0
    assert loss.delta(0) == epsilon_at(loss, 0) == loss.rho == (0, 0)
    assert loss.event(0) is None


def test_proportional_normal_columns_merge_and_laplace_columns_do_not():
    assert shifted([5], [[3, 4]], "GG").mu_squared == 1
    assert isinstance(shifted([5], [[3, 4]], "LL"), NotJudged)


def test_a_normal_draw_that_another_answer_tells():
    """Laplace plus normal noise beside the same normal noise: the latter can be subtracted."""
    loss = shifted([1, 1], [[2, 1], [0, 1]], "LG")
    assert [one.size for one in loss.shifts] == []
    assert loss.mu_squared == 1
    loss = shifted([2, 1], [[2, 1], [0, 1]], "LG")
    assert [one.size for one in loss.shifts] == [Fraction(1, 2)]
    assert loss.mu_squared == 1


def test_what_only_normal_noise_hides_has_no_pure_epsilon():
    """Two Laplace draws are added in the first number, and the second has a normal one."""
    loss = shifted([1, 1], [[1, 2, 0], [0, 0, 1]], "LLG")
    assert isinstance(loss, NotJudged)
    assert loss.epsilon == math.inf


@pytest.mark.parametrize(
    ("gap", "rows", "kinds"),
    [
        ([1], [[1, 1]], "LG"),
        ([1, 1], [[1, 2, 1], [1, 2, 0]], "LLG"),
        ([1, 0], [[1, 2, 1, 0], [1, 2, 0, 1]], "LLGG"),
    ],
)
def test_laplace_draws_that_are_added_to_others_are_not_judged(gap, rows, kinds):
    loss = shifted(gap, rows, kinds)
    assert isinstance(loss, NotJudged)
    assert loss.reason == "Laplace draws are added to other draws in one released number"
    # Added draws of which nothing is shifted take nothing from the rest.
    beside = [[*row, 0] for row in rows] + [[0] * len(rows[0]) + [1]]
    assert shifted([0] * len(gap) + [1], beside, kinds + "L").epsilon == 1


# Scales that differ


@pytest.mark.further
@pytest.mark.representative("kind")
@pytest.mark.parametrize(
    ("kind", "density", "far"), [("L", laplace_density, 100), ("G", normal_density, 40)]
)
@pytest.mark.parametrize(("gap", "s_p", "s_q"), [(0, 2, 1), (1, 3, 2), (1, 2, 3), (5, 1, 2)])
def test_scales_that_differ(kind, density, far, gap, s_p, s_q):
    """Laplace draws of some scales, and as many normal draws on one number."""
    rows = {"L": lambda scale: [[scale]], "G": lambda variance: [[1] * variance]}[kind]
    (m_p,), (m_q,) = rows(s_p), rows(s_q)
    loss = compare(law([gap], [m_p], kind * len(m_p)), law([0], [m_q], kind * len(m_q)))
    assert isinstance(loss, ScaleLoss)
    assert loss.epsilon == math.inf
    assert kind == "L" or loss.rho == (math.inf, math.inf)
    p, q = density(gap, s_p), density(0, s_q)
    for epsilon in (0, 0.3, 1, 2):
        for order, (first, second) in {"PQ": (p, q), "QP": (q, p)}.items():
            expected = integrated_delta(first, second, epsilon, -far, far)
            assert in_order(loss, order).delta(epsilon)[0] == pytest.approx(expected, abs=1e-7)


def test_another_scale_of_one_of_two_draws():
    """The second answer has the same noise in both; the first less the second has another."""
    loss = compare(law([0, 0], [[1, 1], [0, 1]], "GG"), law([0, 0], [[2, 1], [0, 1]], "GG"))
    assert loss == ScaleLoss("Gaussian", (1, -1), (0, 1), (0, 4))


def test_what_is_not_judged_says_why():
    two = compare(law([0, 0], [[1, 0], [0, 1]], "GG"), law([0, 0], [[1, 1], [0, 1]], "GG"))
    assert two == NotJudged(
        "the covariances of normal noise on 2 released numbers differ; delta is known for one "
        "number only",
        math.inf,
    )
    kinds = compare(law([0], [[1]], "L"), law([0], [[1]], "G"))
    assert kinds == NotJudged(
        "the noise differs between the two datasets in more than the scale of one draw on one "
        "number"
    )
    beside = compare(law([0, 0], diagonal([1, 2]), "LG"), law([1, 0], diagonal([1, 3]), "LG"))
    assert beside == NotJudged(
        "a scale of the noise differs between the two datasets, and so does something else that "
        "they release",
        math.inf,
    )


# Events


EVENTS = [
    shifted([1], [[2]], "L"),
    shifted([-1], [[2]], "L"),
    shifted([1, 2], [[2, 1], [0, 3]], "LL"),
    shifted([1, 2, 1], [[1, 1, 1], [0, 2, 0], [1, 0, 0]], "GGG"),
    shifted([1, 1], [[2, 1], [0, 1]], "LG"),
    compare(law([1], [[2]], "L"), law([0], [[3]], "L")),
    compare(law([1], [[3]], "G"), law([0], [[2]], "G")),
]


@pytest.mark.parametrize("loss", EVENTS)
@pytest.mark.parametrize("order", ["PQ", "QP"])
@pytest.mark.parametrize("epsilon", [0, 0.25])
def test_an_event_attains_delta(loss, order, epsilon):
    event = in_order(loss, order).event(epsilon)
    first, second = event.probability_p[0], event.probability_q[0]
    assert first - math.exp(epsilon) * second == pytest.approx(
        in_order(loss, order).delta(epsilon)[0]
    )


def test_the_probability_of_a_half_space():
    """By the distribution functions, from its weights and its threshold."""
    event = shifted([1], [[2]], "L").event(0.25)
    ((threshold, end),) = event.intervals
    assert end == math.inf
    assert event.weights == (Fraction(1, 2),)
    assert threshold == (0.25 + 0.5) / 2  # of the number in scales, halfway from 1/2, and epsilon
    tail = math.exp(-float(threshold)) / 2
    assert event.probability_q == pytest.approx((tail, tail))
    event = shifted([3, 4], diagonal([5, 5]), "GG").event(0.5)  # mu is 1
    score = np.array(event.weights, dtype=float) * 5
    assert np.linalg.norm(score) == pytest.approx(1)
    assert event.intervals == ((1, math.inf),)
    assert event.probability_q[0] == pytest.approx(normal(-1))


def test_an_event_of_several_draws_tells_its_probabilities():
    event = shifted([1, 2, 1], diagonal([1, 2, 1]), "LLG").event(0.5)
    assert event.weights == ()
    assert event.probability_p[0] > event.probability_q[0]


@pytest.mark.exhaustive
@pytest.mark.parametrize("loss", EVENTS)
def test_epsilon_inverts_delta(loss):
    low, high = epsilon_at(loss, Fraction(1, 50))
    assert high - low <= 1e-11
    assert [loss.delta(e)[0] for e in (low, high)] == pytest.approx([0.02, 0.02], rel=1e-9)
    assert epsilon_at(loss, 1) == (0, 0)


# Small rational matrices

entries = st.fractions(-3, 3, max_denominator=4)


@given(st.data())
def test_random_laplace_noise_against_its_coordinates(data):
    """Epsilon is the L1 norm of M**-1 d, by numpy; and no linear map of the release changes it."""
    size = data.draw(st.integers(1, 3))
    square = st.lists(st.lists(entries, min_size=size, max_size=size), min_size=size, max_size=size)
    matrix, change = data.draw(square), data.draw(square)
    gap = data.draw(st.lists(entries, min_size=size, max_size=size))
    for one in (matrix, change):
        assume(abs(np.linalg.det(np.array(one, dtype=float))) > 1e-3)
    loss = shifted(gap, matrix, "L" * size)
    t = np.linalg.solve(np.array(matrix, dtype=float), np.array(gap, dtype=float))
    assert float(loss.epsilon) == pytest.approx(np.abs(t).sum())
    # Released in other coordinates, with the draws in another order and of other signs.
    mapped = [
        [sum(a * row[j] for a, row in zip(one, matrix, strict=True)) for j in range(size)]
        for one in change
    ]
    turned = [[-entry for entry in row[::-1]] for row in mapped]
    moved = [sum(a * d for a, d in zip(one, gap, strict=True)) for one in change]
    again = compare(law(moved, mapped, "L" * size), law([0] * size, turned, "L" * size))
    assert again.epsilon == loss.epsilon
    assert again.delta(0.5) == loss.delta(0.5)
    if np.abs(t).max() < 12:  # beyond it, the integral has too few nodes
        assert loss.delta(0) == pytest.approx((composed_delta(list(np.abs(t)), 0),) * 2, abs=1e-10)


@given(st.lists(st.lists(entries, min_size=3, max_size=3), min_size=2, max_size=4), st.data())
def test_random_normal_noise_against_the_pseudo_inverse(rows, data):
    gap = data.draw(st.lists(entries, min_size=len(rows), max_size=len(rows)))
    matrix, d = np.array(rows, dtype=float), np.array(gap, dtype=float)
    nonzero = np.linalg.svd(matrix, compute_uv=False)
    assume(not ((nonzero > 1e-9) & (nonzero < 1e-3)).any())
    inside = matrix @ np.linalg.pinv(matrix, rcond=1e-6) @ d
    compared = shifted(gap, rows, "GGG")
    assert isinstance(compared, Leak) == (not np.allclose(inside, d))
    if isinstance(compared, ShiftLoss):
        expected = np.linalg.norm(np.linalg.pinv(matrix, rcond=1e-6) @ d) ** 2
        assert float(compared.mu_squared) == pytest.approx(expected)


# Many shifts


@pytest.mark.exhaustive
@pytest.mark.parametrize("epsilon", [0, 0.2, 1])
@pytest.mark.parametrize("mu", [0, 1])
@pytest.mark.parametrize("shifts", [["1/3", "1/7"], ["1/2", "3/11", "2"], ["1/40", "2"]])
def test_the_bounds_of_rounded_shifts_hold(monkeypatch, shifts, mu, epsilon):
    monkeypatch.setattr(losses, "MOST_SUMS", 8)
    monkeypatch.setattr(losses, "MOST_SUMS_MIXED", 8)
    gaps, columns = ([*shifts, mu], "G") if mu else (shifts, "")
    loss = shifted(gaps, diagonal([1] * len(gaps)), "L" * len(shifts) + columns)
    rounded = [loss.rounded(up).delta(epsilon)[up] for up in (False, True)]
    exact = composed_delta([float(Fraction(t)) for t in shifts], epsilon, mu)
    assert rounded[0] - 1e-9 <= exact <= rounded[1] + 1e-9
    assert (rounded[0] < rounded[1]) == (epsilon < loss.epsilon)


@pytest.mark.exhaustive
def test_thirty_different_shifts():
    """More sums than can be told apart; the bounds hold those of fewer, and of larger, shifts."""
    shifts = [Fraction(1, 3 + i) for i in range(30)]
    loss = shifted(shifts, diagonal([1] * 30), "L" * 30)
    assert loss.epsilon == sum(shifts)
    low, high = loss.delta(0.5)
    assert low < high < low + 0.02
    assert shifted(shifts[:8], diagonal([1] * 8), "L" * 8).delta(0.5)[1] < high
    larger = [Fraction(1, 3), Fraction(1, 4), *[Fraction(1, 5)] * 6, *[Fraction(1, 11)] * 22]
    assert low < shifted(larger, diagonal([1] * 30), "L" * 30).delta(0.5)[0]
    assert loss.event(0.5).probability_p == (0, 1)
