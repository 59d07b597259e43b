"""How long to search for bounds and what is declared of the query: arguments, checked."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import as_python, check_flag, finite_number, shown
from sensitivity_lab.errors import InputError

from .upper import as_constant, as_range


@dataclass(frozen=True)
class Settings:
    """The arguments of `sensitivity_bounds` that do not say what problem it is.

    Attributes
    ----------
    seconds, answers : float
        The limits of the search; math.inf for none.
    seed : int or None
    value_range : tuple of two floats, or None
    per_record : Fraction or None
    monotone : bool
    gamma, rho : float
    samples : int
    """

    seconds: float
    answers: float
    seed: int | None
    value_range: tuple[float, float] | None
    per_record: Fraction | None
    monotone: bool
    gamma: float
    rho: float
    samples: int

    @classmethod
    def of(
        cls,
        *,
        time_limit: Any = 1.0,
        evaluations: Any = None,
        seed: Any = None,
        value_range: Any = None,
        per_record: Any = None,
        monotone: Any = False,
        gamma: Any = 0.05,
        rho: Any = 0.05,
        samples: Any = 1000,
    ) -> Settings:
        """Return the checked arguments, or raise InputError with the name of one."""
        seconds, answers = _limits(time_limit, evaluations)
        number = _samples(samples)
        gamma, rho = _probability("gamma", gamma), _probability("rho", rho)
        declared, constant = as_range(value_range), as_constant(per_record)
        seed = _seed(seed)
        rising = check_flag("monotone", monotone)
        return cls(seconds, answers, seed, declared, constant, rising, gamma, rho, number)


def check_settings(bounds: Any) -> dict[str, Any]:
    """Return the argument `bounds` of `bounded_curves` as a dict, or raise InputError."""
    if bounds is None:
        return {}
    if not isinstance(bounds, Mapping):
        raise InputError(
            "bounds must be None or a mapping of arguments of sensitivity_bounds, such as "
            f"{{'time_limit': 5}}, got {shown(bounds)}"
        )
    accepted = list(inspect.signature(Settings.of).parameters)
    for name in bounds:
        if name not in accepted:
            raise InputError(f"bounds may hold {', '.join(accepted)}; got {shown(name)}")
    try:
        Settings.of(**bounds)
    except InputError as error:
        raise InputError(f"bounds: {error}") from error
    return dict(bounds)


def _limits(time_limit: Any, evaluations: Any) -> tuple[float, float]:
    """Return the limits of seconds and of evaluations, or raise InputError."""
    seconds = as_python(time_limit)
    if isinstance(seconds, float) and seconds == math.inf and evaluations is not None:
        limit = math.inf
    else:
        number = finite_number(time_limit)
        if number is None or not 0 < number <= 10**7:
            raise InputError(
                "time_limit must be a positive number of seconds, at most 10,000,000, or math.inf "
                f"beside evaluations; got {shown(time_limit)}"
            )
        limit = float(number)
    if evaluations is None:
        return limit, math.inf
    most = as_python(evaluations)
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise InputError(
            "evaluations must be None or a number of datasets, at least 1, "
            f"got {shown(evaluations)}"
        )
    return limit, float(most)


def _samples(samples: Any) -> int:
    number = as_python(samples)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= 1_000_000:
        raise InputError(
            f"samples must be a number of pairs from 0 to 1,000,000, got {shown(samples)}"
        )
    return number


def _probability(name: str, given: Any) -> float:
    number = finite_number(given)
    if number is None or not 0 < number < 1:
        raise InputError(f"{name} must be above 0 and below 1, got {shown(given)}")
    return float(number)


def _seed(seed: Any) -> int | None:
    number = as_python(seed)
    if number is not None and (
        not isinstance(number, int) or isinstance(number, bool) or number < 0
    ):
        raise InputError(f"seed must be None or a whole number of at least 0, got {shown(seed)}")
    return number
