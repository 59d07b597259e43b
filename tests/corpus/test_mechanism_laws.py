"""What the corpus of mechanisms states of their laws, held against the forking oracle."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from functools import cache

import pytest
from forking import delta, law
from mechanisms import MECHANISMS, UNSURE

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


def worst(mechanism):
    """The largest lower and upper bounds on delta over all neighbors, in both directions."""
    function, tail = mechanism.function, mechanism.tail
    laws = [(x, law_of(function, tuple(x), tail)) for x in datasets(mechanism)]
    bounds = [
        delta(P, Q, mechanism.epsilon)
        for (x, P), (y, Q) in itertools.permutations(laws, 2)
        if are_neighbors(mechanism.neighbors, x, y)
    ]
    return max(low for low, _ in bounds), max(high for _, high in bounds)


CASES = [
    pytest.param(m, id=m.name, marks=[pytest.mark.exhaustive] if m.name in HEAVY else [])
    for m in MECHANISMS
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
def test_the_closed_form_agrees_with_the_claim(mechanism):
    if mechanism.known_delta is not None:
        assert mechanism.right == (mechanism.known_delta <= mechanism.delta + CLOSE)
    assert ("violated" in mechanism.verdicts) <= (not mechanism.right)
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
