"""A noise mechanism: which results it can be scaled to, and how large it must be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sensitivity_lab.checks import Kind, Norm, check_not_negative, number_kind
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.queries.order import ORDER
from sensitivity_lab.results.noise_context import NoiseContext

from .context import finite_bound, noise_context_of

DELTAS = Fraction(1, 10**100), Fraction(1, 2)
"""The accepted values of delta."""

check_delta = number_kind(
    "a number from 1e-100 to 0.5", lambda given: DELTAS[0] <= given <= DELTAS[1]
)


def epsilon_for(k: int) -> Kind[Fraction]:
    """Return the kind of a privacy loss of which each of k steps gets its part."""
    rows = f" for k = {k} rows of a person" if k > 1 else ""
    return number_kind(
        f"a number from {k}e-9 to {100 * k}{rows}",
        lambda given: Fraction(k, 10**9) <= given <= 100 * k,
    )


_check_sensitivity = replace(
    check_not_negative,
    accepted="a finite number of at least 0 or a result of sl.global_sensitivity",
    advice=lambda _: "",
)


def _no_beta(*_: Fraction) -> Fraction:
    return Fraction(0)


@dataclass(frozen=True)
class Mechanism:
    """A row of the table `MECHANISMS`; to add a mechanism, add a row.

    Attributes
    ----------
    name : str
        The name of its density.
    norm : {"L1", "L2"} or None
        The norm of the sensitivity; None if answers must be numbers.
    guarantee : str
        The privacy guarantee of a release.
    source : str
        The theorem.
    refuses : callable
        Says why noise cannot be scaled to a result with this noise context, after the name of the
        argument; None if it can.
    scale : callable
        The scale, rounded up, of the square of the bound, which is rational even for a root, and of
        the privacy losses.
    beta : callable
        The largest beta of a smooth bound that the losses allow; 0 by default.
    """

    name: str
    norm: Norm | None
    guarantee: str
    source: str
    refuses: Callable[[NoiseContext], str | None]
    scale: Callable[..., float]
    beta: Callable[..., Fraction] = _no_beta

    def why_not(self, context: NoiseContext) -> str | None:
        """Return why noise cannot be scaled to a result, of this mechanism or of any; or None."""
        if context.depends_on_order:
            return (
                f"{context.query}: {ORDER}. If the release sorts the records, too, say so with "
                "sl.from_function(f, order='sorted'); if it does not, the sensitivity is that of "
                "sl.spaces.sequences"
            )
        return self.refuses(context)

    def bound(self, sensitivity: Any, name: str) -> Fraction:
        """Return a number, or the bound of a result that noise can be scaled to, or raise."""
        if isinstance(sensitivity, Root):
            return Fraction(sensitivity.upper)
        # A number is taken as it is; a result may be of a kind that noise must not be scaled to.
        context = noise_context_of(sensitivity)
        if context is None:
            return _check_sensitivity(name, sensitivity)
        if reason := self.why_not(context):
            raise InputError(f"{name}: {reason}")
        return finite_bound(context, name)

    def square(self, sensitivity: Any, name: str) -> Fraction:
        """Return the square of `bound`; that of a root is exact."""
        if isinstance(sensitivity, Root):
            return sensitivity.square
        return self.bound(sensitivity, name) ** 2


def root_up(square: Fraction) -> float:
    """Return the smallest float that is not below a square root."""
    # The comparison with the float below is exact, so no scale is a float too large.
    return Difference(square, Fraction(0), root=True).upper()
