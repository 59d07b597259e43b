"""The arguments of a noise scale: numbers, and results that bound the answers of neighbors.

It is safe to scale noise to some results of searches, but not to all. The safe ones are accepted;
everything else is refused with a message that says what to use instead.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sensitivity_lab.bounds.result import SensitivityBounds
from sensitivity_lab.checks import check_flag, check_rational
from sensitivity_lab.errors import DatasetUniverseWarning, InputError
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.implementations.result import ImplementedSensitivity
from sensitivity_lab.results.sensitivity import Sensitivity
from sensitivity_lab.results.smooth import SmoothSensitivity
from sensitivity_lab.universes.multiset import FiniteUniverse

DELTAS = Fraction(1, 10**100), Fraction(1, 2)
"""What a delta may be."""

_NOISE = {"L1": "Laplace", "L2": "Gaussian"}


def rational(value: Any, name: str, accepted: str = "a finite number") -> Fraction:
    """Return the rational that a number stands for, or raise InputError."""
    return check_rational(name, value, accepted, text=_shown)


def positive(value: Any, name: str) -> Fraction:
    """Return a number above 0 as a rational, or raise InputError."""
    accepted = "a finite number above 0"
    given = rational(value, name, accepted)
    if given <= 0:
        raise InputError(f"{name} must be {accepted}, got {_shown(value)}")
    return given


def not_negative(
    value: Any, name: str, accepted: str = "a finite number of at least 0"
) -> Fraction:
    """Return a number of at least 0 as a rational, or raise InputError."""
    given = rational(value, name, accepted)
    if given < 0:
        raise InputError(f"{name} must be {accepted}, got {_shown(value)}")
    return given


def small_delta(value: Any) -> Fraction:
    """Return the delta of (epsilon, delta)-differential privacy, or raise InputError."""
    accepted = "a number from 1e-100 to 0.5"
    given = rational(value, "delta", accepted)
    if not DELTAS[0] <= given <= DELTAS[1]:
        raise InputError(f"delta must be {accepted}, got {value!r}")
    return given


def square_of(sensitivity: Any, name: str, norm: str) -> Fraction:
    """Return the square of a sensitivity, rational even for a root; or raise InputError."""
    if isinstance(sensitivity, Root):
        return sensitivity.square
    return upper_bound(sensitivity, name, norm) ** 2


def upper_bound(sensitivity: Any, name: str, norm: str) -> Fraction:
    """Return a sensitivity, or the upper bound of a result, as a rational; or raise InputError."""
    if isinstance(sensitivity, Root):
        return Fraction(sensitivity.upper)
    if isinstance(sensitivity, SmoothSensitivity):
        raise InputError(
            f"{name}: the result is a smooth sensitivity, which needs a beta made from the privacy "
            "loss and noise of its own; use smooth_cauchy_scale (epsilon) or smooth_laplace_scale "
            "(epsilon and delta)"
        )
    if isinstance(sensitivity, ImplementedSensitivity):
        _check_implemented(sensitivity, name)
    elif isinstance(sensitivity, SensitivityBounds):
        _check_bounded(sensitivity, name)
        _check_global(sensitivity, name, norm)
    elif isinstance(sensitivity, Sensitivity):
        _check_global(sensitivity, name, norm)
    else:
        accepted = "a finite number of at least 0 or a result of sl.global_sensitivity"
        return not_negative(sensitivity, name, accepted)
    return finite_upper(sensitivity, name)


def finite_upper(
    result: Sensitivity | SensitivityBounds | SmoothSensitivity | ImplementedSensitivity, name: str
) -> Fraction:
    """Return the upper bound of a result, or raise InputError if it has no finite one."""
    if result.upper is None:
        raise InputError(
            f"{name}: the result has no upper bound (upper=None), because the rounding errors of "
            "its answers are not known; pass a number that is at least the sensitivity, or ask for "
            "that of a built-in query or of an ExactQuery"
        )
    if math.isinf(result.upper):
        raise InputError(
            f"{name}: the result is infinite, and no noise is enough for it; its witness shows "
            "where the answer overflows or is not defined: clamp the records, or change the query"
        )
    return Fraction(result.upper)


def check_public(given: Mapping[str, Any], public_universe: Any) -> None:
    """Warn the caller's caller of results over listed records, unless these are public.

    Parameters
    ----------
    given : mapping of str to object
        What noise is scaled to, by its name in the warning; numbers have no universe.
    public_universe : bool
        Whether the caller says that the records are public.
    """
    if check_flag("public_universe", public_universe):
        return
    universes = {name: getattr(result, "universe", None) for name, result in given.items()}
    listed = {
        name: universe
        for name, universe in universes.items()
        if isinstance(universe, FiniteUniverse) and universe.lists_records
    }
    if not listed:
        return
    zero = next((given[name].query.name for name in listed if given[name].upper == 0), None)
    of_zero = f" The sensitivity of {zero} is 0 there, which means no noise at all." * bool(zero)
    domain = (
        "Universe.from_domain(values) or Universe.from_interval(lower, upper)"
        if any(universe.numeric for universe in listed.values())
        else "TableUniverse.from_domain(values)"
    )
    warnings.warn(
        f"{', '.join(listed)}: the universe is a list of records (Universe.from_dataset, or a "
        "column), so the sensitivity holds only among datasets drawn from these records, and noise "
        f"scaled to it protects nobody unless they are public.{of_zero} For private data, ask for "
        f"the sensitivity over what a record can be, {domain}; if the records are public, pass "
        "public_universe=True",
        DatasetUniverseWarning,
        stacklevel=3,
    )


def _check_bounded(result: SensitivityBounds, name: str) -> None:
    """Raise InputError unless bounds have a finite upper one."""
    if math.isinf(result.upper):
        raise InputError(
            f"{name}: the result has a lower bound only, and the sensitivity can be larger; say "
            "what bounds it from above: value_range, per_record or monotone of "
            "sl.sensitivity_bounds"
        )


def _check_global(result: Sensitivity | SensitivityBounds, name: str, norm: str) -> None:
    """Raise InputError unless a result bounds the answers of all neighbors, in a norm."""
    if result.kind != "global":
        raise InputError(
            f"{name}: the result is a local sensitivity, which depends on the records, so that the "
            "size of the noise would tell of them; use the result of sl.global_sensitivity, or "
            "of sl.smooth_sensitivity with smooth_cauchy_scale or smooth_laplace_scale"
        )
    # At distance 1, "exactly" and "at most" are the same relation.
    if result.neighbors.exactly and result.neighbors.k > 1:
        raise InputError(_exactly(name, result.neighbors.k))
    if isinstance(result.witness.query_x, tuple) and result.norm != norm:
        raise InputError(
            f"{name}: the result is in the norm {result.norm}, and {_NOISE[norm]} noise needs "
            f"{norm}; ask for the sensitivity in {norm}"
        )


def _check_implemented(result: ImplementedSensitivity, name: str) -> None:
    """Raise InputError unless a result bounds the answers of all neighbors."""
    if result.neighbors is None:
        raise InputError(
            f"{name}: the result compares orders of the same records (neighbors=None), not "
            "neighbors; ask for the implemented sensitivity with a neighbor relation"
        )
    # "At most" includes other orders of the same records, so the two differ even at distance 1.
    if result.neighbors.exactly:
        raise InputError(_exactly(name, result.neighbors.k))


def _exactly(name: str, k: int) -> str:
    return (
        f"{name}: the result is for neighbors at a distance of exactly {k}, and nearer ones can "
        "have answers that are farther apart; ask for the sensitivity with exactly=False"
    )


def _shown(value: Any) -> str:
    """Return a value as text; only its type if it is long, such as a table of results."""
    long = isinstance(value, (int, Fraction)) and abs(value.numerator).bit_length() > 256
    try:
        text = "" if long else repr(value)
    except Exception:  # noqa: BLE001 - the caller's class; the message is about something else
        text = ""
    short = 0 < len(text) <= 80 and "\n" not in text
    return text if short else f"an object of the type {type(value).__name__}"
