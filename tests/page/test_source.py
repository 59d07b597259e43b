"""What the explorer explores."""

from __future__ import annotations

import pandas as pd

from sensitivity_lab.explorer.source import of_frame


def test_a_source_can_be_printed_whatever_its_numbers():
    """Pandas cannot write an integer of more than 4,300 digits."""
    source = of_frame(pd.DataFrame({"a": [10**5000, 1]}, dtype=object), "f({column})")
    assert repr(source).startswith("Source(columns={'a': ")
