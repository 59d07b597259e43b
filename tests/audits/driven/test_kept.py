"""State that a function keeps from its very first call on, which no second run shows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from sensitivity_lab.audits import audit_mechanism

FIRST: dict[str, float] = {}


def default(x, rng, memo={}):  # noqa: B006
    bound = memo.setdefault("b", max(x))
    return min(x[0], bound) + rng.laplace(scale=bound)


def of_global(x, rng):
    bound = FIRST.setdefault("b", max(x))
    return min(x[0], bound) + rng.laplace(scale=bound)


class Mechanism:
    """Keeps the bound of its first call."""

    bound = None

    def release(self, x, rng):
        if self.bound is None:
            self.bound = max(x)
        return min(x[0], self.bound) + rng.laplace(scale=self.bound)


def closure():
    bounds = np.full(1, np.nan)

    def release(x, rng):
        if np.isnan(bounds[0]):
            bounds[0] = max(x)
        return min(x[0], bounds[0]) + rng.laplace(scale=bounds[0])

    return release


@pytest.mark.parametrize("function", [default, of_global, Mechanism().release, closure()])
def test_state_of_the_first_call_is_told(function):
    report = audit_mechanism(function, [1, 10], [1], neighbors="bounded", epsilon=1)
    assert not report.sound
    assert any("keeps state between calls, in " in note for note in report.unjudged)


@lru_cache
def scale(epsilon):
    return 1 / epsilon


def test_a_cache_is_not_accused_and_not_called_sound():
    def release(x, rng):
        return x[0] + rng.laplace(scale=scale(1.0))

    scale.cache_clear()
    report = audit_mechanism(release, [0, 1], [1], neighbors="bounded", epsilon=1)
    assert report.rows[0].verdict.startswith("tight")
    assert not report.sound
    assert "cache, scale" in report.unjudged[0]
    # The second audit finds all answers in the cache: nothing changes.
    assert audit_mechanism(release, [0, 1], [1], neighbors="bounded", epsilon=1).sound
