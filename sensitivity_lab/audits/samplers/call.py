"""The audit of code that adds noise from a sampler: its scale beside the exact sensitivity."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from sensitivity_lab.audits.recorded import audit_recorded
from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.checks import (
    check_callable,
    check_choice,
    check_rational,
    check_text,
    shown,
    unboxed,
)
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.exact.norms import Norm

from .quiet import NUMPY, Draw, places_of, quiet


def audit_sampled(
    function: Callable[[list[Any]], Any],
    values: Iterable[Any],
    sizes: int | Iterable[int],
    *samplers: Any,
    neighbors: Any,
    epsilon: Any,
    value: str = "returns",
    location: str = "loc",
    scale: str = "scale",
    norm: Norm = "L1",
    every_order: bool = True,
    subject: str | None = None,
    progress: bool | None = None,
) -> AuditReport:
    """Compare the scale of the noise that code draws with the exact sensitivity of its answer.

    Noise of scale b is enough for epsilon if the sensitivity is at most ``b * epsilon``, which is
    the claim. The samplers return their location instead of noise.

    Parameters
    ----------
    function : callable
        Takes a list of records, adds Laplace noise to an answer, and returns it.
    values, sizes, neighbors, norm, every_order, subject, progress
        As for `audit_recorded`.
    *samplers : str, function or generator
        What draws the noise: functions, generators of NumPy, or dotted names of these. By default
        ``np.random.laplace``, ``np.random.normal`` and generators from ``np.random.default_rng``.
        Of a generator that a module or the notebook holds, give the generator itself.
    epsilon : int, float, Fraction or Decimal
        The privacy loss that the code promises, above 0.
    value : {"returns", "location"}, default "returns"
        Where the answer before noise is: in what the function returns, as in
        ``return total + laplace(0, scale)``, or at the location that the sampler gets, as in
        ``laplace(total, scale)`` with further steps after the noise.
    location, scale : str, default "loc" and "scale"
        The parameters of a sampler that is a function of your own.

    Returns
    -------
    AuditReport
        See `audit_recorded`. If the truth is 0 and the claim is not, the setting says that perhaps
        the wrong thing was recorded.

    Raises
    ------
    InputError
        If an argument is not acceptable.
    QueryError
        If the function fails, or draws no noise or noise of several scales on a dataset.
    TooLargeError
        See `audit_recorded`.

    Notes
    -----
    As for `recording`, the samplers are quiet in the whole process while the audit runs: do not
    release anything from it.

    Examples
    --------
    >>> import numpy as np
    >>> def noisy_sum(x):
    ...     return sum(x) + np.random.default_rng().laplace(scale=5 / 0.5)
    >>> audit_sampled(noisy_sum, [0, 5], [1, 2], neighbors="unbounded", epsilon=0.5)
    Audit of noisy_sum: tight
      setting  unbounded, at most 1; norm L1; values (0, 5), sizes (1, 2) in every order;
      implementation
      k  claimed  truth  verdict
      1  5        5      tight
      x  (0,)  ->  0.0
      y  (0, 5)  ->  5.0
    """
    check_callable("function", function, "a function of a list")
    check_choice("value", value, ("returns", "location"))
    check_text("location", location, "the name of a parameter")
    check_text("scale", scale, "the name of a parameter")
    loss = check_rational("epsilon", epsilon, "a finite number above 0")
    if loss <= 0:
        raise InputError(f"epsilon must be a finite number above 0, got {shown(epsilon)}")

    places = places_of(samplers or NUMPY)
    with quiet(places, location, scale):
        pass  # raises what is wrong with a sampler

    def release(x: list[Any]) -> Any:
        with quiet(places, location, scale) as draws:
            returned = function(x)
        return handed(_answer(value, returned, draws), _claim(draws, loss))

    return audit_recorded(
        release,
        values,
        sizes,
        handed,
        neighbors=neighbors,
        norm=norm,
        every_order=every_order,
        subject=getattr(function, "__name__", "function") if subject is None else subject,
        progress=progress,
    )


def handed(value: Any, sensitivity: Number) -> Any:
    """Return a value: the mechanism that `audit_recorded` records."""
    return value if sensitivity is not None else None


def _answer(value: str, returned: Any, draws: list[Draw]) -> Any:
    """Return the answer before noise."""
    if value == "returns":
        return returned
    return unboxed(draws[0].location) if len(draws) == 1 else [draw.location for draw in draws]


def _claim(draws: list[Draw], loss: Fraction) -> Number:
    """Return the sensitivity for which noise of this scale is enough, or raise QueryError."""
    scales = {unboxed(draw.scale) for draw in draws}
    if len(scales) != 1:
        drew = f"drew noise of {len(scales)} scales" if scales else "drew no noise from a sampler"
        raise QueryError(f"the function {drew}; name the samplers whose scale is the claim")
    number = check_rational("the scale of noise", scales.pop(), "a finite number")
    return float(number * loss)
