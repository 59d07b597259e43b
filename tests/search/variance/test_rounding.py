"""The bounds on rounding hold: sums of squares as floats, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sensitivity_lab.search.variance.float_prefix_sums import SortedRecords
from sensitivity_lab.search.variance.line import Line

NUMBERS = st.integers(0, 60).flatmap(lambda bits: st.integers(-(2**bits), 2**bits))


@given(st.data())
def test_sums_of_squares_are_off_by_no_more_than_their_bound(data):
    values = sorted(data.draw(st.sets(NUMBERS, min_size=1, max_size=8)))
    counts = [data.draw(st.integers(1, 4)) for _ in values]
    records = [value for value, count in zip(values, counts, strict=True) for _ in range(count)]
    line = Line(SortedRecords(np.array(values, dtype=object), counts))
    begin = data.draw(st.integers(0, len(records)))
    width = data.draw(st.integers(0, len(records) - begin))
    share = data.draw(st.integers(0, 2**20))
    center = line.values[0] + (line.values[-1] - line.values[0]) * share / 2**20
    found = line.window(np.array([begin]), np.array([width])).about(center, np.array([width]))
    about = Fraction(*center.as_integer_ratio())
    exact = sum((record - about) ** 2 for record in records[begin : begin + width])
    missed = abs(Fraction(*found[0].as_integer_ratio()) - exact)
    of_window = line.off_window(np.array([begin]), np.array([width]), center)[0]
    of_any = line.off(center, np.array([width]))[0]
    assert missed <= Fraction(*of_window.as_integer_ratio())
    assert missed <= Fraction(*of_any.as_integer_ratio())


def test_a_bound_on_rounding_grows_with_the_number_that_squares_are_about():
    """All records are 0: what is rounded is the size times the square of the number."""
    line = Line(SortedRecords(np.array([0], dtype=object), [5]))
    near, far = (line.off(np.longdouble(about), np.array([5]))[0] for about in (1, 1000))
    assert far == 10**6 * near > 0
