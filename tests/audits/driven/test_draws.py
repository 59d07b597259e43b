"""Joint tables of draws, against a sum over all values of all draws."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from checks import refused
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sensitivity_lab.audits.driven.draws import Event, Law, joint, possible
from sensitivity_lab.audits.driven.stops import LimitError

COIN = Law("integers", (0, 1))

LAWS = st.one_of(
    st.builds(
        lambda low, more: Law("integers", (low, low + more)),
        st.integers(-3, 3),
        st.integers(0, 3),
    ),
    st.builds(
        lambda low, weights: Law("table", (low, *weights)),
        st.integers(-3, 3),
        st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any),
    ),
    st.builds(
        lambda n, p: Law("binomial", (n, p)),
        st.integers(0, 3),
        st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1)]),
    ),
)
BOUNDS = st.one_of(st.none(), st.integers(-6, 6))


@st.composite
def problems(draw):
    laws = tuple(draw(st.lists(LAWS, min_size=1, max_size=4)))
    form = st.tuples(*[st.integers(-2, 2) for _ in laws])
    event = st.builds(Event, form, BOUNDS, BOUNDS, st.booleans())
    return (
        laws,
        tuple(draw(st.lists(event, max_size=4))),
        tuple(draw(st.lists(form, max_size=2))),
    )


def held(event, values):
    total = sum(a * x for a, x in zip(event.form, values, strict=True))
    above = event.least is None or total >= event.least
    below = event.most is None or total <= event.most
    return (above and below) == event.holds


def weighted(laws):
    """All values of some draws, with their weights."""
    rows = [[(law.low + place, weight) for place, weight in enumerate(law.weights)] for law in laws]
    for entries in itertools.product(*rows):
        weight = 1
        for _, one in entries:
            weight *= one
        yield tuple(value for value, _ in entries), weight


def by_definition(laws, events, targets):
    found = {}
    for values, weight in weighted(laws):
        if weight and all(held(event, values) for event in events):
            key = tuple(sum(a * x for a, x in zip(form, values, strict=True)) for form in targets)
            found[key] = found.get(key, 0) + weight
    return found


@given(problems())
def test_joint_weights_are_the_sums_over_all_values(problem):
    laws, events, targets = problem
    assert joint(laws, events, targets) == by_definition(laws, events, targets)


@given(problems(), st.integers(0, 99))
def test_values_of_every_turn_are_possible(problem, turn):
    laws, events, _ = problem
    if not by_definition(laws, events, ()):
        return
    values = possible(laws, events, turn)
    assert all(held(event, values) for event in events)
    assert all(law.weights[x - law.low] > 0 for law, x in zip(laws, values, strict=True))


def test_the_answers_of_one_threshold_depend_on_each_other():
    """P(v1 = 1, v1 >= rho, v2 >= rho) is 3/8; products of marginals give 5/12."""
    events = (
        Event((0, 1, 0), 1, 1, True),
        Event((-1, 1, 0), 0, None, True),
        Event((-1, 0, 1), 0, None, True),
    )
    assert Fraction(joint((COIN,) * 3, events)[()], 8) == Fraction(3, 8)


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(0.3), Fraction(0.01), Fraction(1)])
def test_a_geometric_law_is_cut_with_a_known_mass(p):
    law = Law("geometric", (p,))
    shares = [Fraction(weight, law.denominator) for weight in law.weights[:40]]
    for place, share in enumerate(shares):
        true = p * (1 - p) ** place
        assert 0 <= true - share < Fraction(1, 2**300)
    lacking = 1 - Fraction(law.total, law.denominator)
    assert 0 <= lacking < Fraction(1, 2**59)
    assert sum(law.weights) == law.total


@pytest.mark.exhaustive
def test_a_large_binomial_law_is_rounded_down():
    law = Law("binomial", (400, Fraction(0.1)))
    assert 0 <= 1 - Fraction(law.total, law.denominator) < Fraction(1, 2**300)
    mean = sum(k * Fraction(w, law.denominator) for k, w in enumerate(law.weights))
    assert abs(mean - 400 * Fraction(0.1)) < Fraction(1, 10**60)


def test_tables_that_are_too_large_are_refused():
    wide = Law("integers", (0, 999))
    rows = ((1, 1, 0), (0, 1, 1), (1, 0, 1), (1, 2, 3))
    refused(
        lambda: joint((wide,) * 3, tuple(Event(row, 500, None, True) for row in rows)),
        "3 sums of draws that depend on each other have 1,000 x 1,000 x 1,000 values, more than "
        "2,000,000 together; draw from fewer values (a larger epsilon), release fewer numbers "
        "that depend on each other, or compare fewer",
        LimitError,
    )
    refused(
        lambda: joint((Law("integers", (0, 10**6)),), ()),
        "a draw has 1,000,001 values, more than the 100,000 that are listed; draw from fewer",
        LimitError,
    )


@pytest.mark.parametrize("mean", [Fraction(0), Fraction(1, 3), Fraction(7), Fraction(150)])
def test_poisson_weights_are_from_below(mean):
    law = Law("poisson", (mean,))
    assert 0 <= 1 - Fraction(law.total, law.denominator) < Fraction(1, 2**60)
    true = stats.poisson(float(mean)).pmf(range(len(law.weights)))
    found = [float(Fraction(weight, law.denominator)) for weight in law.weights]
    assert found == pytest.approx(true.tolist(), rel=1e-9, abs=1e-300)


def test_poisson_means_are_limited():
    with pytest.raises(LimitError, match="a mean of at most 2,000, got 2001"):
        _ = Law("poisson", (Fraction(2001),)).weights
