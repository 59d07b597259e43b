"""The privacy promise of code, and the sensitivity that its noise is enough for."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.checks import as_python, check_rational, shown
from sensitivity_lab.errors import InputError, QueryError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.metrics.norms import Norm
from sensitivity_lab.noise.analytic import analytic_gaussian_scale

from .draws import GAUSSIAN, LAPLACE, UNKNOWN, Draw


@dataclass(frozen=True)
class Promise:
    """An epsilon, and for Gaussian noise its scale for a sensitivity of 1.

    Attributes
    ----------
    epsilon : Fraction
    stated : number
        The same as the caller wrote it.
    ratio : float or None
        The standard deviation that is enough for an L2 sensitivity of 1; None for Laplace noise.

    Examples
    --------
    >>> check_promise(0.5, None).claim(Draw(0.0, 20.0))
    10.0
    >>> round(check_promise(1, 1e-5).claim(Draw(0.0, 3.7307, kind=GAUSSIAN)), 3)
    1.0
    """

    epsilon: Fraction
    stated: Number
    ratio: float | None

    def check_kind(self, draw: Draw) -> None:
        """Raise QueryError if the promise does not fit this kind of noise."""
        if draw.kind not in (self._kind, UNKNOWN):
            raise QueryError(
                f"the function draws {draw.kind} noise ({draw.name}), {_WHY_NOT[draw.kind]}"
            )

    def claim(self, draw: Draw) -> float:
        """Return the largest sensitivity that the noise is enough for, or raise QueryError."""
        scales = {
            check_rational("the scale of noise", one, "a finite number") for one in _all(draw)
        }
        if len(scales) != 1:
            raise QueryError(
                f"one call of {draw.name} draws noise of {len(scales)} scales, so it has no "
                "single sensitivity; draw each number in a call of its own"
            )
        (scale,) = scales
        return float(scale * self.epsilon if self.ratio is None else scale / Fraction(self.ratio))

    def check_norm(self, norm: Any) -> Norm:
        """Return the norm for the noise, or raise InputError if the caller passed another one."""
        right: Norm = "L1" if self.ratio is None else "L2"
        if norm is not None and (not isinstance(norm, str) or norm != right):
            raise InputError(
                f"norm must be {right!r} for {self._kind} noise, which is its default, got "
                f"{shown(norm)}"
            )
        return right

    @property
    def refusal(self) -> str:
        """Why runs with noise of several scales, or after releases, cannot be judged."""
        if self.ratio is None:
            return ""
        return (
            "the function draws Gaussian noise of several scales, or whose answer or scale depends "
            "on what was released before; its losses cannot be added here: audit the draws one by "
            "one, each with its own epsilon and delta"
        )

    @property
    def _kind(self) -> str:
        return LAPLACE if self.ratio is None else GAUSSIAN


_WHY_NOT = {
    GAUSSIAN: (
        "which gives no pure epsilon, however large it is: pass delta=, the chance of a larger "
        "loss that the code promises, and the L2 sensitivity is compared with what the noise is "
        "enough for"
    ),
    LAPLACE: (
        "which epsilon alone describes: leave out delta=; where Gaussian noise is drawn as well, "
        "audit the two parts one by one"
    ),
}


def check_promise(epsilon: Any, delta: Any) -> Promise:
    """Return what is promised, or raise InputError."""
    loss = check_rational("epsilon", epsilon, "a finite number above 0")
    if loss <= 0:
        raise InputError(f"epsilon must be a finite number above 0, got {shown(epsilon)}")
    return Promise(
        loss,
        as_python(epsilon),
        None if delta is None else analytic_gaussian_scale(1, epsilon, delta),
    )


def _all(draw: Draw) -> list[Any]:
    return np.ravel(draw.scale).tolist() if np.ndim(draw.scale) else [draw.scale]
