"""What the tests of curves ask for."""

from __future__ import annotations


def spread(x) -> float:
    return x[-1] - x[0]


def never(_x) -> float:
    raise AssertionError("the search has started")
