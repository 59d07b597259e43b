"""A small universe, and what is said of a question about it that is refused."""

from __future__ import annotations

import pytest

import sensitivity_lab as sl

UNIVERSE = sl.Universe.from_dataset([1, 2, 3, 10])


def ask(**changed) -> tuple[sl.errors.SensitivityLabError, list]:
    """Ask for a sensitivity; return the error, and the datasets that the query was called on."""
    calls = []
    arguments = {
        "universe": UNIVERSE,
        "query": lambda x: calls.append(x) or 0.0,
        "size": 2,
        "neighbors": "bounded",
    }
    with pytest.raises(sl.errors.SensitivityLabError) as caught:
        sl.global_sensitivity(**{**arguments, **changed})
    return caught.value, calls
