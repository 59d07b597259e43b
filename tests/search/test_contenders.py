"""Which numbers can be the largest, known by floats with an error: none is left out that is."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sensitivity_lab.search.contenders import Contenders, contenders

LIMITS = st.sampled_from([Fraction(-1), Fraction(1), Fraction(0), Fraction(-7, 8), Fraction(7, 8)])
"""By how much of the error a float is off: by all of it, most often."""

NEAR_TIES = st.integers(-4, 4).map(lambda steps: 1.0 + steps * 2.0**-52)
ANY = st.floats(-1e9, 1e9, allow_nan=False)
BLOCKS = st.lists(st.lists(st.tuples(NEAR_TIES | ANY, LIMITS), min_size=1), min_size=1, max_size=5)
ERRORS = st.sampled_from([2.0**-52, 2.0**-53, 1e-16, 3e-16, 0.1, 1e8, 5e-324])


def numbers_of(blocks, error):
    """The numbers behind the floats, each off by a share of the error."""
    return [
        Fraction(value) - share * Fraction(error) for value, share in chain.from_iterable(blocks)
    ]


@given(blocks=BLOCKS, error=ERRORS)
@example(blocks=[[(1.0, Fraction(-1)), (1.0 + 2.0**-52, Fraction(1))]], error=2.0**-53)
@example(blocks=[[(0.1, Fraction(-1))], [(0.1 + 2e-17, Fraction(1))]], error=1e-17)
def test_the_largest_number_is_a_contender_whatever_the_floats_round(blocks, error):
    numbers = numbers_of(blocks, error)
    near = Contenders(error)
    for block in blocks:
        near.see(np.array([value for value, _ in block]))
    places = near.places.tolist()
    assert places == sorted(set(places))
    assert max(places, key=numbers.__getitem__) == numbers.index(max(numbers))
    together = np.array([value for value, _ in chain.from_iterable(blocks)])
    assert contenders(together, error).tolist() == places
    # No more than are needed: the number behind each can be as large as that of the largest.
    most = Fraction(near.reached)
    slack = 2 * Fraction(error) + Fraction(math.ulp(near.reached))
    assert all(Fraction(value) >= most - slack for value in together[near.places].tolist())


@given(blocks=BLOCKS, error=ERRORS)
def test_a_search_by_bounds_may_end_where_the_next_one_cannot_win(blocks, error):
    """The values are bounds, too, in falling order, of numbers that are off as far as they may."""
    falling = sorted(chain.from_iterable(blocks), key=lambda pair: -pair[0])
    numbers = numbers_of([falling], error)
    near = Contenders(error)
    seen = 0
    for value, _ in falling:
        if not near.can_win(value):
            break
        near = Contenders(error, near.reached)
        near.see(np.array([value]))
        seen += 1
    assert max(numbers[:seen]) == max(numbers)
    assert all(number < max(numbers) for number in numbers[seen:])


def test_a_number_at_the_limit_of_the_error_is_kept_and_the_next_one_below_is_not():
    error, most = 2.0**-40, 3.0
    limit = most - 2 * error
    values = np.array([most, limit, math.nextafter(limit, 0), math.nextafter(limit, 4)])
    assert contenders(values, error).tolist() == [0, 1, 3]
    near = Contenders(error)
    near.see(values)
    assert near.places.tolist() == [0, 1, 3]
    assert (near.can_win(limit), near.can_win(math.nextafter(limit, 0))) == (True, False)


@given(blocks=st.lists(st.lists(st.integers(0, 3), min_size=1), min_size=1))
def test_without_error_the_first_of_the_largest_is_the_only_contender(blocks):
    flat = [*chain.from_iterable(blocks)]
    near = Contenders(0)
    for block in blocks:
        near.see(np.array(block, dtype=float))
    assert near.places.tolist() == contenders(np.array(flat), 0).tolist() == [flat.index(max(flat))]
    assert (near.can_win(max(flat)), near.can_win(max(flat) + 0.5)) == (False, True)
    # What something else reached before, a tie does not beat.
    for reached, number in ((max(flat), 0), (max(flat) - 1, 1)):
        later = Contenders(0, reached)
        later.see(np.array(flat))
        assert len(later.places) == number


def test_python_ints_are_compared_as_such():
    """Those of 2**200 differ by less than floats of their size."""
    values = np.array([2**200 + 3, 2**200 + 5, 2**200 + 2, 2**200], dtype=object)
    assert contenders(values, 1).tolist() == [0, 1]
    assert contenders(values, 0).tolist() == [1]
    near = Contenders(1)
    near.see(values[:1])
    near.see(values[1:])
    assert (near.places.tolist(), near.least) == ([0, 1], 2**200 + 3)


@pytest.mark.parametrize("error", [0, 0.25])
def test_minus_infinity_is_no_number(error):
    near = Contenders(error)
    near.see(np.full((2, 2), -np.inf))
    assert (near.places.tolist(), near.reached, near.can_win(-1e300)) == ([], -math.inf, True)
    near.see(np.array([-np.inf, -5.0]))
    assert (near.places.tolist(), next(iter(near.by_block()))[0]) == ([5], 1)


def test_contenders_of_blocks_that_are_beaten_later_are_none():
    near = Contenders(0.5)
    for block in ([1.0, 2.0], [2.5, 1.5], [0.0, 0.0], [3.5]):
        near.see(np.array(block))
    assert [(block, places.tolist()) for block, places in near.by_block()] == [(1, [0]), (3, [0])]
    assert near.places.tolist() == [2, 6]
