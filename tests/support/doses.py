"""How many random problems tests look at, and which of them run where.

``STRESS`` says how many universes, ``NEAR_TIES`` how many near ties and ``BOUNDS`` how many bounds.
Without them, it is as many as before a release.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

OF_A_RELEASE = 20_000
STRESS = int(os.environ.get("STRESS", OF_A_RELEASE))
NEAR_TIES = int(os.environ.get("NEAR_TIES", "1000000"))
BOUNDS = int(os.environ.get("BOUNDS", "1000"))


places = {"stress": True}
"""Whether the cases of `make stress` can run; thousands take seconds to make."""


def dose(of_a_release: int) -> int:
    """Return how many of the problems of a release to look at: at least a fifth of them.

    For tests whose problems are quicker than a universe that every engine solves.
    """
    return max(of_a_release * STRESS // OF_A_RELEASE, of_a_release // 5)


def shares(everyday: int, check: int, stress: int) -> list[Any]:
    """The seeds below `stress` as parameters of a test, each marked by where it runs.

    `make test` runs those below `everyday`, `make check` also the others below `check`, and
    `make stress` the rest.
    """
    return [
        *range(everyday),
        *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(everyday, check)),
        *(
            pytest.param(seed, marks=pytest.mark.stress)
            for seed in (range(check, stress) if places["stress"] else ())
        ),
    ]


def spans(everyday: int, check: int, stress: int = 0) -> list[Any]:
    """The seeds of `shares` as one parameter for each place where tests run."""
    spans = [range(everyday), pytest.param(range(everyday, check), marks=pytest.mark.exhaustive)]
    if stress:
        spans.append(pytest.param(range(check, stress), marks=pytest.mark.stress))
    return spans


def for_long(test: Callable[..., None], number: int, *drawn: Any, **named: Any) -> Any:
    """A test of Hypothesis with so many examples, for `make stress`, of all its parameters."""
    again = settings(max_examples=number)(given(*drawn, **named)(test.hypothesis.inner_test))
    again.pytestmark = [
        mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"
    ]
    return pytest.mark.stress(again)
