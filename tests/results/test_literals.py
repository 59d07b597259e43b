"""Values as Python reads them back."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sensitivity_lab.results.literals import literal

TEXT = "aé\\'\"\n\t\x00\x1b\u2028\U0001f600"
"""Letters that are written as they are, and what must be escaped."""

numbers = (
    st.integers()
    | st.floats(allow_nan=False)
    | st.fractions()
    | st.decimals(allow_nan=False, allow_infinity=False)
    | st.none()
    | st.text(TEXT, max_size=3)
    | st.booleans()
)


@given(
    st.recursive(
        numbers,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.lists(inner, max_size=3).map(tuple)
            | st.dictionaries(st.text(TEXT, max_size=2), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
@example([math.inf, -math.inf, (1,), ()])
def test_python_reads_literals_back(value):
    names = {"Fraction": Fraction, "Decimal": Decimal}
    assert eval(literal(value), names) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float16(0.1), "0.0999755859375"),
        (np.int8(-3), "-3"),
        (
            np.array([0.5, np.inf], dtype="float16"),
            "np.array([0.5, float('inf')], dtype='float16')",
        ),
        (pd.Series([1, 2]), "pd.Series([1, 2])"),
        (
            pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
            "pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})",
        ),
        (math.nan, "float('nan')"),
    ],
)
def test_literals_of_numpy_and_pandas(value, text):
    assert literal(value) == text
