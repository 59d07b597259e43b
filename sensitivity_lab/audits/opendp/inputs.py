"""The inputs that a transformation of OpenDP is called on."""

from __future__ import annotations

import warnings
from typing import Any

from sensitivity_lab.audits.inputs import check_several, check_values, vectors
from sensitivity_lab.errors import InputError
from sensitivity_lab.results.literals import brief
from sensitivity_lab.universes.relations import show


def inputs_of(
    transformation: Any, given: Any, sizes: Any, every_order: bool
) -> tuple[list[Any], str]:
    """Return the inputs to try and what they are, in words; or raise InputError."""
    domain = transformation.input_domain
    entry = getattr(domain, "element_domain", None)
    if entry is None and not str(domain).startswith("AtomDomain"):
        raise InputError(f"the input domain {domain} is not covered; vectors and atoms are")
    values = check_values(given)
    accepted = tuple(value for value in values if _member(entry or domain, value))
    if not accepted:
        raise InputError(f"{entry or domain} accepts none of the values {brief(values)}")
    left = len(values) - len(accepted)
    among = f"values {brief(accepted)}" + (f", {left} outside the domain left out" if left else "")
    if entry is None:
        if sizes is not None:
            raise InputError(f"sizes must be left out: {domain} holds single values")
        return list(accepted), among
    wanted = _sizes(sizes, domain)
    order = "in every order" if every_order else "in one order"
    text = f"{among}, sizes {show(wanted)} {order}"
    return vectors(accepted, wanted, every_order), text


def _sizes(sizes: Any, domain: Any) -> tuple[int, ...]:
    """Return the sizes that were asked for and that a domain of vectors accepts."""
    if sizes is None and domain.size is None:
        raise InputError(f"sizes must be given: {domain} has vectors of every size")
    wanted = check_several("sizes", domain.size if sizes is None else sizes, "a size, at least 0")
    if domain.size is None:
        return wanted
    if domain.size not in wanted:
        raise InputError(f"{domain} accepts none of the sizes {show(wanted)}")
    return (domain.size,)


def _member(domain: Any, value: Any) -> bool:
    """Tell whether a domain accepts a value."""
    with warnings.catch_warnings():
        # A value of another type is no member, about which OpenDP also warns.
        warnings.simplefilter("ignore")
        try:
            return bool(domain.member(value))
        except Exception:  # noqa: BLE001 - OpenDP cannot convert it: no member either
            return False
