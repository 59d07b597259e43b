"""A mechanism of noise: which results it can be scaled to, and how large it has to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.metrics.norms import Norm
from sensitivity_lab.results.release import Release

from .arguments import not_negative
from .context import finite_bound, release_of


def _no_beta(*_: Fraction) -> Fraction:
    return Fraction(0)


@dataclass(frozen=True)
class Mechanism:
    """A row of the table `MECHANISMS`; to add a mechanism is to add a row.

    Attributes
    ----------
    name : str
        Its density.
    norm : {"L1", "L2"} or None
        In which answers may be far apart; None: it is for answers that are numbers.
    guarantee : str
        What a release promises.
    source : str
        The theorem.
    refuses : callable
        Says why noise cannot be scaled to a result with this release context, after the name of the
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
    refuses: Callable[[Release], str | None]
    scale: Callable[..., float]
    beta: Callable[..., Fraction] = _no_beta

    def bound(self, sensitivity: Any, name: str) -> Fraction:
        """Return a number, or the bound of a result that noise can be scaled to; or InputError."""
        if isinstance(sensitivity, Root):
            return Fraction(sensitivity.upper)
        release = release_of(sensitivity)
        if release is None:
            accepted = "a finite number of at least 0 or a result of sl.global_sensitivity"
            return not_negative(sensitivity, name, accepted)
        if reason := self.refuses(release):
            raise InputError(f"{name}: {reason}")
        return finite_bound(release, name)

    def square(self, sensitivity: Any, name: str) -> Fraction:
        """Return the square of `bound`; that of a root is exact."""
        if isinstance(sensitivity, Root):
            return sensitivity.square
        return self.bound(sensitivity, name) ** 2


def root_up(square: Fraction) -> float:
    """Return the smallest float that is not below a square root."""
    return Difference(square, Fraction(0), root=True).upper()
