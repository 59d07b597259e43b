"""Check the arguments of bounds: how long to search, and what is declared about the query."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import as_python, check_flag, number_kind, whole_kind

from .upper import as_range

_check_seconds = replace(
    number_kind(
        "a positive number of seconds, at most 10,000,000, or math.inf with evaluations",
        lambda given: 0 < given <= 10**7,
    ),
    advice=lambda _: "",
)

_check_evaluations = whole_kind("a number of datasets, at least 1")

_check_constant = number_kind(
    "how much one changed record can change the answer, a number of at least 0",
    lambda given: given >= 0,
)

_check_seed = whole_kind("at least 0", least=0, most=math.inf)


def check_seconds(time_limit: Any) -> float:
    """Return a number of seconds, or raise InputError."""
    return float(_check_seconds("time_limit", time_limit))


@dataclass(frozen=True)
class Settings:
    """The arguments of `sensitivity_bounds` that do not define the problem.

    Attributes
    ----------
    seconds, answers : float
        The limits of the search; math.inf for none.
    seed : int or None
    value_range : tuple of two floats, or None
    per_record : Fraction or None
    monotone : bool
    """

    seconds: float
    answers: float
    seed: int | None
    value_range: tuple[float, float] | None
    per_record: Fraction | None
    monotone: bool

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
    ) -> Settings:
        """Return the checked arguments, or raise InputError with the name of one."""
        seconds, answers = _limits(time_limit, evaluations)
        declared = as_range(value_range)
        constant = _check_constant.or_none("per_record", per_record)
        seed = _check_seed.or_none("seed", seed)
        rising = check_flag("monotone", monotone)
        return cls(seconds, answers, seed, declared, constant, rising)


def _limits(time_limit: Any, evaluations: Any) -> tuple[float, float]:
    """Return the limits of seconds and of evaluations, or raise InputError."""
    seconds = as_python(time_limit)
    most = _check_evaluations.or_none("evaluations", evaluations)
    if isinstance(seconds, float) and seconds == math.inf and most is not None:
        limit = math.inf
    else:
        limit = check_seconds(time_limit)
    return limit, math.inf if most is None else float(most)
