"""Shared by steps on numbers: bounds, exact sums, and how many records a distance replaces."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from sensitivity_lab.exact.difference import common_integers
from sensitivity_lab.exact.roots import show_number, whole
from sensitivity_lab.metrics import ChangeOneDistance, Metric, SymmetricDistance
from sensitivity_lab.pipelines.domains import Domain, Numbers, Values, show_bounds
from sensitivity_lab.pipelines.transformation import MismatchError

Bounds = tuple[Fraction, Fraction]


def replacements(domain: Domain, metric: Metric) -> Callable[[int], int] | None:
    """Return how many records a distance replaces; None if records are added or removed."""
    size = domain.size if isinstance(domain, Values) else None
    if isinstance(metric, ChangeOneDistance):
        return lambda d_in: d_in if size is None else min(d_in, size)
    if isinstance(metric, SymmetricDistance):
        # With a public size, as many records are added as are removed.
        return None if size is None else lambda d_in: min(d_in // 2, size)
    raise MismatchError("values whose records are added, removed or replaced")


def numbers_in(domain: Domain, metric: Metric, bounds: Bounds | None) -> Numbers:
    """Return a domain of numbers that are within bounds, or raise MismatchError."""
    within = "" if bounds is None else f" in {show_bounds(bounds)}"
    clamped = "" if bounds is None else f", for example after {named('clamp', bounds)}"
    if (
        isinstance(domain, Numbers)
        and isinstance(metric, ChangeOneDistance | SymmetricDistance)
        and (bounds is None or Numbers(bounds=bounds).within(domain.bounds))
    ):
        return domain
    raise MismatchError(
        f"numbers{within} ({SymmetricDistance()}, or {ChangeOneDistance()}){clamped}"
    )


def magnitude_of(bounds: Bounds) -> Fraction:
    """Return the largest absolute value within bounds."""
    return max(abs(bounds[0]), abs(bounds[1]))


def exact_sum(data: list[Any]) -> int | Fraction:
    """Return the exact sum of numbers."""
    integers, unit = common_integers(data)
    return whole(Fraction(int(sum(integers)), unit))


def named(step: str, bounds: Bounds, *others: int) -> str:
    """Return the name of a step as it would be written in code."""
    return f"{step}({', '.join([*map(show_number, bounds), *map(str, others)])})"
