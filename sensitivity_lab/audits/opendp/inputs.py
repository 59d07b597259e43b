"""The inputs that an OpenDP transformation is called on."""

from __future__ import annotations

import warnings
from typing import Any

from sensitivity_lab.audits.claims import check_tolerance, claims_of
from sensitivity_lab.audits.question import (
    Question,
    check_datasets,
    check_distances,
    check_one_source,
    check_several,
    check_values,
    sizes_in_words,
    vectors,
)
from sensitivity_lab.audits.records import text_of
from sensitivity_lab.checks import check_flag, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics import METRICS, as_metric
from sensitivity_lab.results.literals import brief
from sensitivity_lab.universes.relations import show

from .subject import OUR_NAMES, Subject


def question_of(
    subject: Subject,
    transformation: Any,
    universe: Any,
    size: Any,
    datasets: Any,
    distances: Any,
    every_order: Any,
    tolerance_ulps: Any,
    progress: bool | None,
) -> Question:
    """Return the question of an audit about a subject, or raise InputError.

    The subject has the claims and the metrics, the transformation decides which inputs it accepts.
    """
    check_one_source(universe, size, datasets)
    every_order = check_flag("every_order", every_order)
    inputs, among = (
        _inputs_of(transformation, universe, size, every_order)
        if datasets is None
        else _accepted_of(transformation, datasets)
    )
    limits = check_distances(distances, subject.real)
    return Question(
        subject=subject.name,
        datasets=inputs,
        among=among,
        inputs=as_metric("inputs", subject.inputs),
        outputs=as_metric("outputs", subject.outputs),
        metrics=subject.metrics,
        limits=limits,
        claims=claims_of(subject.claim, limits),
        tolerance=check_tolerance(tolerance_ulps),
        progress=progress,
        one_size=datasets is None
        and getattr(transformation.input_domain, "size", None) is not None,
    )


def _inputs_of(
    transformation: Any, given: Any, size: Any, every_order: bool
) -> tuple[list[Any], str]:
    """Return the inputs to try and their description, or raise InputError."""
    domain = transformation.input_domain
    lines = _takes_lines(transformation)
    entry = domain if lines else getattr(domain, "element_domain", None)
    if entry is None and not str(domain).startswith("AtomDomain"):
        raise InputError(
            f"the input domain {domain} is not covered; vectors and atoms are, and so is any other "
            "domain with datasets="
        )
    values = check_values(given)
    accepted = tuple(value for value in values if _member(entry or domain, value))
    if not accepted:
        raise InputError(f"{entry or domain} accepts none of the values {brief(values)}")
    left = len(values) - len(accepted)
    among = f"values {brief(accepted)}" + (f", {left} outside the domain left out" if left else "")
    if entry is None:
        if size is not None:
            raise InputError(f"size must be left out: {domain} holds single values")
        return list(accepted), among
    wanted = _lines(size, accepted) if lines else _sizes(size, domain)
    text = f"{among}, {sizes_in_words(wanted, every_order)}"
    made = vectors(accepted, wanted, every_order)
    return ([text_of(x) for x in made], f"texts of lines with {text}") if lines else (made, text)


def _accepted_of(transformation: Any, datasets: Any) -> tuple[list[Any], str]:
    """Return the datasets that the input domain accepts and their description, or raise InputError.

    OpenDP refuses every table of Polars if its domain knows the number of rows, so those are taken
    as they are.
    """
    given = check_datasets(datasets)
    domain = transformation.input_domain
    accepted = [x for x in given if hasattr(x, "lazy") or _member(domain, x)]
    if not accepted:
        raise InputError(f"{domain} accepts none of the {len(given):,} datasets")
    left = len(given) - len(accepted)
    return accepted, f"{len(accepted):,} datasets" + (
        f", {left:,} outside the domain left out" if left else ""
    )


def _takes_lines(transformation: Any) -> bool:
    """Tell whether the input is a text whose lines are the records."""
    if str(transformation.input_domain) != "AtomDomain(T=String)":
        return False
    name = OUR_NAMES.get(str(transformation.input_metric).partition("(")[0])
    return name is not None and METRICS[name].sees == "records"


def _lines(size: Any, lines: tuple[str, ...]) -> tuple[int, ...]:
    """Return the given numbers of lines; raise InputError if a line has an end."""
    broken = [line for line in lines if "\n" in line]
    if broken:
        raise InputError(
            f"universe has the lines of texts, so none has a line break: {shown(broken[0])}"
        )
    if size is None:
        raise InputError("size must be given: the numbers of lines of the texts")
    return check_several("size", size, "a number of records, at least 0")


def _sizes(size: Any, domain: Any) -> tuple[int, ...]:
    """Return the given sizes that the domain of vectors accepts."""
    if size is None and domain.size is None:
        raise InputError(f"size must be given: {domain} has vectors of every size")
    wanted = check_several(
        "size", domain.size if size is None else size, "a number of records, at least 0"
    )
    if domain.size is None:
        return wanted
    if domain.size not in wanted:
        raise InputError(f"{domain} accepts none of the sizes {show(wanted)}")
    return (domain.size,)


def _member(domain: Any, value: Any) -> bool:
    """Tell whether a domain accepts a value."""
    with warnings.catch_warnings():
        # OpenDP also warns about a value of another type, which is not a member.
        warnings.simplefilter("ignore")
        try:
            return bool(domain.member(value))
        except Exception:  # noqa: BLE001 - OpenDP cannot convert it, so it is not a member
            return False
