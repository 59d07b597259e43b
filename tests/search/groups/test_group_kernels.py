"""The floats of a group's differences: each within the stated error of the exact difference."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sensitivity_lab as sl
from sensitivity_lab.search.groups import kernels
from sensitivity_lab.search.groups.kernels import Kernel
from sensitivity_lab.search.groups.members import Grouped

NUMBERS = st.one_of(
    st.integers(-9, 9),
    st.sampled_from([10**17, 10**17 + 1, 10**17 + 7, 3, 2**90, -(2**90) + 1]),
    st.floats(-1e9, 1e9, allow_subnormal=False),
)
QUERIES = ("mean", "median", "percentile_90", "percentile_25", "min", "max", "sum", "count")


def kernel_of(name, values, empty):
    """The kernel for the rows of the groups a and b."""
    frame = pd.DataFrame({"g": ["ab"[place % 3 == 0] for place in range(len(values))]})
    frame["v"] = pd.Series(values, dtype=object)
    universe = sl.TableUniverse.from_dataset(frame)
    given_empty = {} if name in ("sum", "count") else {"empty": empty}
    inner = sl.Count() if name == "count" else sl.ColumnQuery("v", name, **given_empty)
    query = sl.GroupBy("g", inner, groups=["a", "b"])
    grouped = Grouped.of(universe, query, universe.multiplicities(len(values)))
    most = max(group.size for group in grouped.groups)
    return Kernel(grouped, grouped.query.runs(np.arange(1, most + 1)))


@pytest.mark.parametrize("name", QUERIES)
@given(
    values=st.lists(NUMBERS, min_size=3, max_size=9),
    empty=st.sampled_from([0, 0.1, 10**18]),
    pieces=st.sampled_from([1, 1 << 14]),
    change=st.sampled_from([(0, 1), (1, 0), (1, 1), (2, 0), (1, 2), (2, 2)]),
)
def test_floats_are_within_the_error_of_what_is_exact(name, values, empty, pieces, change):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "PIECES", pieces)
        kernel = kernel_of(name, values, empty)
        p, q = change
        for group, floats in enumerate(kernel.floats(len(values), p, q)):
            last = kernel.lines[group].size - p - q
            assert np.isfinite(floats).tolist() == [c <= last for c in range(len(values) + 1)]
            for c in range(last + 1):
                exact = kernel.exactly(group, c, p, q) * kernel.scale
                assert abs(Fraction(float(floats[c])) - exact) <= Fraction(kernel.error)
    assert kernel.covers(len(values) - max(change), p, q)


@pytest.mark.parametrize("name", QUERIES)
def test_small_whole_numbers_have_no_error_but_in_means(name):
    kernel = kernel_of(name, [3, 1, 4, 1, 5, 9, 2], 0)
    assert (kernel.error == 0) == (name != "mean" or kernel.scale.numerator > 1)
