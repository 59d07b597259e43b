"""The forking oracle against closed forms, and against what NumPy's generator does."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from forking import ForkingError, delta, exp, law

pytestmark = pytest.mark.exhaustive  # it judges nothing that make test runs

F = Fraction
CLOSE = 1e-12


def two_sided(count, rng, epsilon):
    p = 1 - math.exp(-epsilon)
    return count + rng.geometric(p) - rng.geometric(p)


@pytest.mark.representative
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9, 1.0, 2.0])
def test_two_sided_geometric_noise_has_its_curve(epsilon):
    own = 1.0
    P, Q = (law(lambda x, rng: two_sided(x, rng, own), count, F(1, 10**12)) for count in (0, 1))
    low, high = delta(P, Q, epsilon)
    expected = max(0.0, 1 - math.exp(epsilon - own)) / (1 + math.exp(-own))
    assert low - CLOSE <= expected <= high + CLOSE
    assert high - low < 1e-9


@pytest.mark.parametrize("p", [0.5, 0.75, 0.9])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, math.log(3), 3.0])
def test_randomised_response_has_its_curve(p, epsilon):
    def respond(bit, rng):
        return bit if rng.random() < p else 1 - bit

    low, high = delta(law(respond, 0), law(respond, 1), epsilon)
    assert low == high == max(0, F(p) - exp(epsilon) * (1 - F(p)))


def test_two_comparisons_share_a_draw():
    """P(v1 = 1, v1 >= rho, v2 >= rho) is 3/8; the products of marginals would give 5/12."""

    def compare(_, rng):
        rho, v1, v2 = rng.integers(2), rng.integers(2), rng.integers(2)
        return bool(v1 == 1 and v1 >= rho and v2 >= rho)

    assert law(compare, None) == ({False: F(5, 8), True: F(3, 8)}, 0)


def test_a_uniform_draw_is_split_where_it_is_compared():
    def thirds(_, rng):
        u = rng.random()
        if 0.5 > u:  # noqa: SIM300 - both sides
            return "low" if u >= 0.25 else "lowest"
        return "never" if u < 0.5 else "high"

    assert law(thirds, None)[0] == {"low": F(1, 4), "lowest": F(1, 4), "high": F(1, 2)}
    assert law(lambda _, rng: rng.uniform(-1, 3) <= 0, None)[0] == {True: F(1, 4), False: F(3, 4)}
    bits = law(lambda _, rng: (rng.random(size=2) < np.array([0.5, 0.25])).sum(), None)[0]
    assert bits == {0: F(3, 8), 1: F(1, 2), 2: F(1, 8)}
    assert law(lambda _, rng: np.float64(0.25) > rng.random(), None)[0] == {
        True: F(1, 4),
        False: F(3, 4),
    }


def test_draws_of_finite_support():
    assert law(lambda _, rng: rng.integers(1, 3, endpoint=True), None)[0] == dict.fromkeys(
        (1, 2, 3), F(1, 3)
    )
    assert law(lambda _, rng: rng.binomial(2, 0.25), None)[0] == {
        0: F(9, 16),
        1: F(6, 16),
        2: F(1, 16),
    }
    assert law(lambda _, rng: rng.choice(["a", "b"], p=[0.25, 0.75]), None)[0] == {
        "a": F(1, 4),
        "b": F(3, 4),
    }
    orders = law(lambda _, rng: rng.permutation(3), None)[0]
    assert len(orders) == 6
    assert set(orders.values()) == {F(1, 6)}

    def shuffled(data, rng):
        rng.shuffle(data)
        return data

    assert law(shuffled, [1, 2, 2])[0] == dict.fromkeys([(1, 2, 2), (2, 1, 2), (2, 2, 1)], F(1, 3))


def test_a_sample_without_repetition_is_drawn_one_by_one():
    sample = law(lambda _, rng: rng.choice(3, 2, replace=False, p=[0.5, 0.25, 0.25]), None)[0]
    assert sample["array", (2,), (0, 1)] == F(1, 2) * F(1, 2)
    assert sample["array", (2,), (1, 0)] == F(1, 4) * F(2, 3)
    rng, runs = np.random.default_rng(1), 20_000
    seen = Counter(
        tuple(int(at) for at in rng.choice(3, 2, replace=False, p=[0.5, 0.25, 0.25]))
        for _ in range(runs)
    )
    assert all(
        abs(seen[key[2]] / runs - mass) < 5 * math.sqrt(mass / runs) for key, mass in sample.items()
    )


def test_probabilities_are_renormalised_only_where_they_do_not_sum_to_one():
    def chosen(p):
        return law(lambda _, rng: rng.choice(len(p), p=p), None)[0]

    assert chosen([0.25, 0.75]) == {0: F(1, 4), 1: F(3, 4)}
    p = [0.1, 0.2, 0.7]
    assert sum(map(F, p)) != 1
    assert sum(chosen(p).values()) == 1
    assert all(abs(mass - F(p[at])) < 1e-15 for at, mass in chosen(p).items())
    assert chosen([0.0, 1.0]) == {1: 1}
    assert chosen([0.5, 0.6]) == {("raises", "ValueError"): 1}


def test_what_is_not_explored_is_told():
    releases, unexplored = law(lambda _, rng: rng.geometric(0.5), None, F(1, 8))
    assert releases == {1: F(1, 2), 2: F(1, 4), 3: F(1, 8)}
    assert unexplored == F(1, 8)

    def redrawn(_, rng):
        while True:
            if (drawn := rng.integers(4)) < 3:
                return drawn

    releases, unexplored = law(redrawn, None, F(1, 4**10))
    assert unexplored == F(1, 4**10)
    assert set(releases.values()) == {(1 - unexplored) / 3}


def test_an_unexplored_mass_widens_the_bounds():
    P, Q = ({0: F(1, 2), 1: F(1, 4)}, F(1, 4)), ({0: F(1, 4), 1: F(5, 8)}, F(1, 8))
    assert delta(P, Q, F(0)) == (F(1, 8), F(1, 2))
    assert delta(Q, P, F(0)) == (F(1, 8), F(1, 2))
    assert delta(P, P, F(1))[0] == 0


def test_exceptions_nan_and_shapes_are_releases():
    def leaks(data, _):
        if data == 0:
            raise ZeroDivisionError
        return np.array([math.nan, 1.0]) if data == 1 else {"a": math.nan}

    assert law(leaks, 0)[0] == {("raises", "ZeroDivisionError"): 1}
    assert law(leaks, 1)[0] == {("array", (2,), ("nan", 1.0)): 1}
    assert law(leaks, 2)[0] == {("mapping", ("a", "nan")): 1}


def test_a_run_gets_its_own_copy_of_the_data():
    assert law(lambda data, rng: data.append(rng.integers(2)) or tuple(data), [7])[0] == {
        (7, 0): F(1, 2),
        (7, 1): F(1, 2),
    }


@pytest.mark.parametrize(
    "function",
    [
        lambda _, rng: rng.random(),
        lambda _, rng: rng.random() + 1 < 1.5,
        lambda _, rng: rng.random() < rng.random(),
        lambda _, rng: rng.laplace(),
        lambda _, rng: {rng.random(): 1},
    ],
    ids=["released", "added to", "two compared", "continuous", "as a key"],
)
def test_what_the_oracle_does_not_know_is_an_error(function):
    with pytest.raises(ForkingError):
        law(function, None)


def test_state_between_runs_is_an_error():
    calls = []

    def counts(_, rng):
        calls.append(1)
        return rng.integers(2, size=len(calls) % 3).sum()

    with pytest.raises(ForkingError, match="keeps state"):
        law(counts, None)
