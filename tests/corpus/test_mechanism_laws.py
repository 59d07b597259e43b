"""What the corpus of mechanisms states of their laws, held against the forking oracle."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from forking import delta, law
from mechanisms import (
    LOOSE,
    MECHANISMS,
    TIGHT,
    UNSURE,
    answered_sparse_vector_delta,
    gaussian_curve,
    geometric_noise,
    laplace_curve,
    redrawn_laplace_delta,
    sparse_vector_1,
    sparse_vector_law,
    zeros_and_ones,
)

pytestmark = pytest.mark.exhaustive  # make audit runs it, with the rest of this folder

CLOSE = 1e-12
HEAVY = {
    "geometric noise redrawn",
    "geometric sum",
    "noisy max two sided",
    "rank deficient total",
    "sparse vector 1",
    "sparse vector 2",
    "threshold",
    "threshold claims pure",
    "threshold with delta of another threshold",
}
"""What takes the oracle more than a second or two."""


def datasets(mechanism):
    """Every order of the records of every dataset."""
    return [
        list(records)
        for size in mechanism.sizes
        for records in itertools.product(mechanism.values, repeat=size)
    ]


def are_neighbors(relation, x, y):
    """Whether at most one record is replaced, added or removed; the order does not count."""
    removed, added = Counter(x) - Counter(y), Counter(y) - Counter(x)
    moved = removed.total() + added.total()
    return moved in (0, 2) and len(x) == len(y) if relation == "bounded" else moved in (0, 1)


@cache
def law_of(function, records, tail):
    """Made once for all claims of a function."""
    return law(function, list(records), Fraction(tail))


def worst(mechanism, epsilon=None):
    """The largest lower and upper bounds on delta over all neighbors, in both directions."""
    epsilon = mechanism.epsilon if epsilon is None else epsilon
    function, tail = mechanism.function, mechanism.tail
    laws = [(x, law_of(function, tuple(x), tail)) for x in datasets(mechanism)]
    bounds = [
        delta(P, Q, epsilon)
        for (x, P), (y, Q) in itertools.permutations(laws, 2)
        if are_neighbors(mechanism.neighbors, x, y)
    ]
    return max(low for low, _ in bounds), max(high for _, high in bounds)


CASES = [
    pytest.param(m, id=m.name, marks=[pytest.mark.stress] if m.name in HEAVY or place % 2 else [])
    for place, m in enumerate(MECHANISMS)
]


@pytest.mark.parametrize("mechanism", [case for case in CASES if case.values[0].by_oracle])
def test_the_oracle_confirms_what_is_stated(mechanism):
    low, high = worst(mechanism)
    # A float has rounded what the closed form, or the mechanism's own probability, means.
    if mechanism.right:
        assert low <= mechanism.delta + CLOSE
        assert high <= mechanism.delta + 0.1
    else:
        assert low > mechanism.delta + 1e-6
    if mechanism.known_delta is not None:
        assert low - CLOSE <= mechanism.known_delta <= high + CLOSE


@pytest.mark.parametrize("mechanism", CASES)
def test_tight_and_loose_are_what_the_law_says(mechanism):
    """Where nothing is cut: tight if a slightly smaller epsilon breaks the claim."""
    if not (mechanism.by_oracle and mechanism.right) or mechanism.name in HEAVY:
        return
    low, high = worst(mechanism, mechanism.epsilon * (1 - 1e-6))
    if low == high:
        is_tight = low > mechanism.delta + CLOSE or abs(low - mechanism.delta) < CLOSE < low
        assert mechanism.verdicts == (TIGHT if is_tight else LOOSE)


GRID = np.arange(-60, 60, 1e-3) + 5e-4


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 1.4, 1.6])
@pytest.mark.parametrize(
    ("weight", "inside", "curve"),
    [
        (lambda z: np.exp(-abs(z)), np.inf, laplace_curve(1.0)),
        (lambda z: np.exp(-2 * abs(z)), np.inf, laplace_curve(2.0)),
        (lambda z: np.exp(-(z**2) / 2 / 4), np.inf, gaussian_curve(2.0)),
        (lambda z: np.exp(-abs(z)), 4, redrawn_laplace_delta),
    ],
    ids=["Laplace", "Laplace of half the scale", "Gaussian", "Laplace redrawn"],
)
def test_continuous_curves_are_integrals(epsilon, weight, inside, curve):
    at = GRID if inside == np.inf else GRID[abs(GRID - inside / 2) <= inside / 2]
    p, q = (weight(at - shift) / weight(at - shift).sum() for shift in (0, 1))
    excess = np.maximum(p - np.exp(epsilon) * q, 0).sum()
    assert curve(epsilon) == pytest.approx(excess, abs=1e-5)


@pytest.mark.parametrize("records", [[0], [1]])
def test_sparse_vector_sums_agree_with_the_oracle(records):
    """On two queries; the mechanisms that only the sums can judge have five or six."""
    found, unexplored = law(sparse_vector_1, records, 1e-3)
    sums = sparse_vector_law(zeros_and_ones(records), 2.0, 1.0, 1)
    assert sums.keys() == found.keys()
    for outcome, mass in sums.items():
        assert found[outcome] - CLOSE <= mass <= found[outcome] + unexplored + CLOSE


def test_answered_sparse_vector_sums_agree_with_the_oracle():
    def answered(data, rng):
        threshold = 1 + geometric_noise(rng, 3.0)
        for place, answer in enumerate(zeros_and_ones(data)):
            noisy = answer + geometric_noise(rng, 3.0)
            if noisy >= threshold:
                return place, noisy
        return None

    P, Q = (law(answered, records, 1e-5) for records in ([0], [1]))
    bounds = [delta(P, Q, 3.0), delta(Q, P, 3.0)]
    known = answered_sparse_vector_delta(2, 3.0, 3.0)(3.0)
    assert known > 0.3
    assert max(low for low, _ in bounds) <= known <= max(high for _, high in bounds)


@pytest.mark.parametrize("mechanism", CASES)
def test_the_closed_form_agrees_with_the_claim(mechanism):
    if mechanism.known_delta is not None:
        assert mechanism.right == (mechanism.known_delta <= mechanism.delta + CLOSE)
    if not mechanism.right:
        assert not mechanism.verdicts & {"tight", "tight up to rounding", "loose"}


def test_the_corpus_has_what_it_promises():
    names = [mechanism.name for mechanism in MECHANISMS]
    assert len(set(names)) == len(names) >= 80
    assert sum(not mechanism.right for mechanism in MECHANISMS) >= 40
    assert (
        sum(bool(mechanism.verdicts & UNSURE) for mechanism in MECHANISMS) <= 25 * len(names) / 80
    )
    assert all(mechanism.why for mechanism in MECHANISMS)
