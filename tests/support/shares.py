"""Shares of a long random search: what `make test`, `make check` and `make stress` run of it."""

from __future__ import annotations

from typing import Any

import pytest


def shares(everyday: int, check: int, stress: int) -> list[Any]:
    """The seeds below `stress` as parameters of a test, each marked by where it runs.

    `make test` runs those below `everyday`, `make check` also the others below `check`, and
    `make stress` the rest.
    """
    return [
        *range(everyday),
        *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(everyday, check)),
        *(pytest.param(seed, marks=pytest.mark.stress) for seed in range(check, stress)),
    ]
