"""A small table, and what is said of questions about it that are refused."""

from __future__ import annotations

import pandas as pd
import pytest

import sensitivity_lab as sl


def message(call) -> str:
    with pytest.raises((sl.errors.InputError, sl.errors.TooLargeError)) as caught:
        call()
    return str(caught.value)


DAYS = pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"])
FRAME = pd.DataFrame({"day": DAYS, "age": [20, 30, 40], "sex": ["f", "m", "f"]})
UNIVERSE = sl.TableUniverse.from_dataset(FRAME)


def ask(query, universe=UNIVERSE, **options):
    return sl.global_sensitivity(
        universe, query, **{"size": 2, "neighbors": sl.Bounded(1), **options}
    )
