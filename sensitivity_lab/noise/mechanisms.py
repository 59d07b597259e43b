"""A noise mechanism: which results it can be scaled to, and how large it must be.

It is safe to scale noise to some results of searches, but not to all. The facts of a result
(`NoiseContext`) decide: one check for results of every kind. Safe results are accepted. Others are
refused, with a message that says what to use instead, or get a warning if they are safe only when
something is public.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from sensitivity_lab.boundary import warn_caller
from sensitivity_lab.checks import Kind, Norm, check_flag, check_not_negative, number_kind
from sensitivity_lab.errors import DatasetUniverseWarning, InputError, PrivateSizeWarning
from sensitivity_lab.exact.difference import Difference
from sensitivity_lab.exact.roots import Root
from sensitivity_lab.queries.order import ORDER
from sensitivity_lab.results.noise_context import NoiseContext, NoiseSource


def noise_context_of(result: Any) -> NoiseContext | None:
    """Return the facts for noise of a result or a chain; None for a number or anything else."""
    return result.noise_context() if isinstance(result, NoiseSource) else None


def not_for_all(norm: Norm, noise: str, context: NoiseContext) -> str | None:
    """Return why a result does not bound the answers of all neighbors in a norm, if so."""
    if context.kind == "smooth":
        return (
            "the result is a smooth sensitivity, which needs a beta made from the privacy "
            "loss and noise of its own; use smooth_cauchy_scale (epsilon) or smooth_laplace_scale "
            "(epsilon and delta)"
        )
    if context.kind == "reach":
        return (
            "the result is the reach of one dataset, which depends on its records, so the size of "
            "the noise would reveal them; use the result of sl.global_sensitivity"
        )
    if context.kind == "local":
        things = context.things
        records = things.parts == things.data
        smooth = (
            ", or of sl.smooth_sensitivity with smooth_cauchy_scale or smooth_laplace_scale"
            if records
            else ""
        )
        instead = things.instead or f"use the result of {things.room}.global_sensitivity{smooth}"
        return (
            f"the result is a local sensitivity, which depends on the {things.data}, so "
            f"the size of the noise would reveal {'them' if records else 'it'}; {instead}"
        )
    if context.exactly:
        return (
            f"the result is for neighbors at a distance of exactly {context.neighbors.k}, "
            "and nearer ones can have answers that are farther apart; compute the sensitivity with "
            "exactly=False"
        )
    if context.norm not in (None, norm):
        return (
            f"the result is in the norm {context.norm}, and {noise} noise needs "
            f"{norm}; compute the sensitivity in {norm}"
        )
    return None


def finite_bound(context: NoiseContext, name: str) -> Fraction:
    """Return the bound of a result, or raise InputError if it has no finite one."""
    if context.upper is None:
        raise InputError(
            f"{name}: the result has no upper bound (upper=None), because the rounding errors of "
            "its answers are not known; pass a number that is at least the sensitivity, or compute "
            "that of a built-in query or an ExactQuery"
        )
    if math.isinf(context.upper):
        raise InputError(
            f"{name}: the result has only a lower bound, and the sensitivity can be larger; give "
            "sl.bounds.sensitivity_bounds more time, or a function whose answers are bounded"
            if context.has_lower_bound_only
            else f"{name}: the result is infinite, and no noise is enough for it; its witness "
            "shows where the answer overflows or is not defined: clamp the records, or change the "
            "query"
        )
    return Fraction(context.upper)


def check_together(contexts: Mapping[str, NoiseContext | None]) -> None:
    """Raise InputError unless results can be released together.

    Privacy losses add up only for one relation at one distance, and one dataset has one size. A
    chain is for every size.
    """
    told = [(name, context) for name, context in contexts.items() if context is not None]
    # Equality carries over, so neighbors in the list are enough.
    for (first, one), (second, other) in pairwise(told):
        if one.neighbors != other.neighbors:
            raise InputError(
                f"results: {first!r} is for neighbors {one.neighbors}, {second!r} for "
                f"{other.neighbors}, and privacy losses add up only for one relation; compute all "
                "sensitivities with the same neighbors"
            )
    sized = [(name, context) for name, context in told if context.sizes]
    for (first, one), (second, other) in pairwise(sized):
        if one.sizes != other.sizes:
            raise InputError(
                f"results: {first!r} is for {one.size}, {second!r} for {other.size}, and one "
                "dataset has one size; compute all sensitivities with the same size"
            )


def check_public(given: Mapping[str, Any], public_universe: Any) -> None:
    """Warn the caller of what must be public, and may not be.

    Parameters
    ----------
    given : mapping of str to object
        The values that noise is scaled to, or their facts, by name in the warning; numbers are not
        checked.
    public_universe : bool
        Whether the caller says that the universe is public.
    """
    public = check_flag("public_universe", public_universe)
    told = {
        name: result if isinstance(result, NoiseContext) else noise_context_of(result)
        for name, result in given.items()
    }
    contexts = {name: context for name, context in told.items() if context is not None}
    # Each worry with whether public_universe=True settles it, and with what is said.
    for of_universe, worries, text in (
        (True, lambda context: context.listed, _listed),
        (True, lambda context: context.copies is not None, _few_copies),
        (False, lambda context: context.private_size, _one_size),
        (False, lambda context: context.group_sizes, _given_groups),
    ):
        worrying = {name: context for name, context in contexts.items() if worries(context)}
        if worrying and not (of_universe and public):
            category = DatasetUniverseWarning if of_universe else PrivateSizeWarning
            warn_caller(f"{', '.join(worrying)}: {text(worrying)}", category)


def _listed(contexts: Mapping[str, NoiseContext]) -> str:
    """Return what to say of universes that list records."""
    several = list(contexts.values())
    zero = next((context.query for context in several if context.upper == 0), None)
    of_zero = f" The sensitivity of {zero} is 0 there, which means no noise at all." * bool(zero)
    things = several[0].things
    return (
        f"{things.listed}; if your {things.public} are private, noise scaled this way does not "
        f"protect them.{of_zero} "
        f"For private data, compute the sensitivity over what {things.domain}; if the "
        f"{things.public} are public, pass public_universe=True"
    )


def _few_copies(contexts: Mapping[str, NoiseContext]) -> str:
    """Return what to say of domains with fewer copies than a dataset can hold."""
    copies, largest = min((one.copies or 0, one.largest) for one in contexts.values())
    return (
        f"the universe has at most {copies} cop{'y' if copies == 1 else 'ies'} of a record, and a "
        f"dataset of up to {largest} records can hold more, so the sensitivity holds only among "
        "datasets that do not: noise scaled to it protects nobody unless that limit is public and "
        f"true of all data. For private data leave out copies, or set copies={largest}; if the "
        "limit is public, pass public_universe=True"
    )


def _one_size(contexts: Mapping[str, NoiseContext]) -> str:
    """Return what to say of a result for one size, where neighbors have others."""
    context = next(iter(contexts.values()))
    things = context.things
    return (
        f"neighbors ({context.neighbors}) have different numbers of {things.parts}, so that number "
        f"is private, but the result is for {context.size} only: the noise would reveal that "
        f"number, and be too small for the others. {things.every_size}"
    )


def _given_groups(contexts: Mapping[str, NoiseContext]) -> str:
    """Return what to say of results for given sizes of groups."""
    context = next(iter(contexts.values()))
    return (
        f"the result holds only for {context.public[-1]}: noise scaled to it protects nobody "
        "unless these numbers are public. For private ones leave out group_sizes, and give the "
        "answer for an empty group, empty=, to the query"
    )


DELTAS = Fraction(1, 10**100), Fraction(1, 2)
"""The accepted values of delta."""

check_delta = number_kind(
    "a number from 1e-100 to 0.5", lambda given: DELTAS[0] <= given <= DELTAS[1]
)


def for_rows(k: int) -> str:
    """Return the end of a phrase about k rows of a person; "" for one."""
    return f" for k = {k} rows of a person" if k > 1 else ""


def epsilon_for(k: int) -> Kind[Fraction]:
    """Return the kind of a privacy loss of which each of k steps gets its part."""
    return number_kind(
        f"a number from {k}e-9 to {100 * k}{for_rows(k)}",
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

    def checked(self, sensitivity: Any, name: str, public_universe: Any) -> Fraction:
        """Return the `square`, and warn the caller of what must be public, and may not be."""
        square = self.square(sensitivity, name)
        check_public({name: sensitivity}, public_universe)
        return square


def root_up(square: Fraction) -> float:
    """Return the smallest float that is not below a square root."""
    # The comparison with the float below is exact, so no scale is a float too large.
    return Difference(square, Fraction(0), root=True).upper()
