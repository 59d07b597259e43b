"""Refusals of tables and of queries on them."""

from __future__ import annotations

import pandas as pd
import pytest

import sensitivity_lab as sl

TABLE = pd.DataFrame({"sex": ["f", "m", "f"], "age": [20, 30, 50], "smokes": [0, 1, 1]})
UNIVERSE = sl.TableUniverse.from_dataset(TABLE)
ERRORS = (sl.errors.InputError, sl.errors.QueryError)


def ask(query, universe=UNIVERSE, **options):
    return sl.global_sensitivity(
        universe, query, **{"size": 2, "neighbors": sl.Bounded(1), **options}
    )


def refused(call, *parts: str) -> str:
    """The message, if the call is refused and the message names all parts."""
    with pytest.raises(ERRORS) as caught:
        call()
    message = str(caught.value)
    missing = [part for part in parts if part not in message]
    assert not missing, f"{missing} not in: {message}"
    return message
