"""The inputs that an OpenDP transformation is called on."""

from __future__ import annotations

import ast
import itertools
import math
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from sensitivity_lab.audits.claims import check_tolerance, claims_of
from sensitivity_lab.audits.question import (
    Question,
    check_datasets,
    check_distances,
    check_left_out,
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
from sensitivity_lab.metrics.cells import signed_key
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
    extremes: Any,
) -> Question:
    """Return the question of an audit about a subject, or raise InputError.

    The subject has the claims and the metrics, the transformation decides which inputs it accepts.
    """
    every_order = check_flag("every_order", every_order)
    if check_flag("extremes", extremes):
        given = {"universe": universe, "size": size, "datasets": datasets}
        check_left_out(given, "is not for extremes=True, which has inputs of its own; leave it out")
        inputs, among = extremes_of(transformation)
    else:
        check_one_source(universe, size, datasets)
        inputs, among = (
            _inputs_of(transformation, universe, size, every_order)
            if datasets is None
            else _accepted_of(transformation, datasets)
        )
    if distances is None:
        distances = EXTREME_DISTANCES if extremes else (1, 2)
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
        one_size=datasets is None and _own_size(transformation.input_domain) is not None,
    )


def _own_size(domain: Any) -> Any:
    """Return the size that all datasets of a domain have; None where they have several."""
    arrays = str(domain).startswith(_ARRAYS)
    return getattr(domain.descriptor if arrays else domain, "size", None)


_EXTREME_LENGTH = 1024
"""The length of long vectors: sums of so many floats of other signs and sizes lose digits."""

EXTREME_DISTANCES = (0, 1, 2, _EXTREME_LENGTH, 2**20)
"""Distances at which maps go wrong: none, some, that of a long vector, and a very large one."""

_EXTREME_ENTRIES: dict[str, tuple[Any, ...]] = {
    "f64": (1.0, 0.0, -0.0, 2.0**50, -(2.0**50), 5e-324, math.inf, -math.inf, math.nan),
    "f32": (1.0, 0.0, -0.0, 2.0**50, -(2.0**50), 2.0**-149, math.inf, -math.inf, math.nan),
    "bool": (False, True),
    "String": ("", "a"),
}
"""Entries by OpenDP's name of their type; the smallest numbers above 0 are subnormal.

Whole numbers of any other type are 0, 1 and the ends of the type.
"""

_ARRAYS = "NPArray2Domain"

_FLOATS = {"f64": "f8", "f32": "f4"}


def extremes_of(transformation: Any) -> tuple[list[Any], str]:
    """Return extreme inputs that the domain accepts and their description, or raise InputError.

    Vectors have up to two entries, in every order, or `_EXTREME_LENGTH` and one fewer, of which all
    are equal, or the first or the last one differs. A domain with a size has vectors of that size.
    """
    domain = transformation.input_domain
    entry = getattr(domain, "element_domain", None)
    atom = domain if entry is None else entry
    kind = re.fullmatch(r"AtomDomain\(.*T=(\w+)\)", str(atom))
    if kind is None or _takes_lines(transformation):
        raise InputError(
            f"extremes=True is for vectors and single values, and the input domain is {domain}; "
            "give datasets="
        )
    bounds = re.search(r"bounds=\[(\S+), (\S+)\]", str(atom))
    ends = [*map(ast.literal_eval, bounds.groups())] if bounds else []
    if ends and kind[1] in _FLOATS:  # the least steps: a mean rounds them
        near, far = np.array(ends, _FLOATS[kind[1]])
        ends += [float(np.nextafter(near, far)), float(np.nextafter(far, near))]
    known = _EXTREME_ENTRIES.get(kind[1]) or _ends_of(kind[1])
    entries = {signed_key(one): one for one in (*known, *ends) if _member(atom, one)}
    accepted = tuple(entries.values())
    among = f"extreme values {accepted}".replace("nan", "NaN")
    if entry is None:
        return list(accepted), among
    sizes: tuple[int, ...] = (0, 1, 2, _EXTREME_LENGTH - 1, _EXTREME_LENGTH)
    if domain.size is not None:
        sizes = (domain.size,)
    made = [
        vector
        for size in sizes
        for vector in (vectors(accepted, (size,)) if size <= 2 else _long(accepted, size))
    ]
    return made, f"{among}, sizes {show(sizes)}"


def _ends_of(kind: str) -> tuple[int, ...]:
    """Return 0, 1 and the ends of a type of whole numbers, such as u8."""
    bits = int(kind[1:].replace("size", "64"))
    low, high = (0, 2**bits) if kind.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    return (0, 1, low, low + 1, high - 1)


def _long(entries: tuple[Any, ...], size: int) -> list[list[Any]]:
    """Return vectors of many entries, of which at most the first or the last one differs."""
    alike = [[one] * size for one in entries]
    pairs = list(itertools.permutations(entries, 2))
    first = [[one] + [other] * (size - 1) for one, other in pairs]
    return alike + first + [[other] * (size - 1) + [one] for one, other in pairs]


def _inputs_of(
    transformation: Any, given: Any, size: Any, every_order: bool
) -> tuple[list[Any], str]:
    """Return the inputs to try and their description, or raise InputError."""
    domain = transformation.input_domain
    if str(domain).startswith(_ARRAYS):
        return _arrays_of(domain, given, size, every_order)
    lines = _takes_lines(transformation)
    entry = domain if lines else getattr(domain, "element_domain", None)
    if entry is None and not str(domain).startswith("AtomDomain"):
        raise InputError(
            f"the input domain {domain} is not covered; vectors, atoms and arrays of rows are, and "
            "so is any other domain with datasets="
        )
    values = check_values(given)
    none = f"none of the values {brief(values)}; for datasets of your own, write datasets="
    members, left = _in_domain(entry or domain, values, none)
    accepted = tuple(members)
    among = f"values {brief(accepted)}{left}"
    if entry is None:
        if size is not None:
            raise InputError(f"size must be left out: {domain} holds single values")
        return members, among
    wanted = _lines(size, accepted) if lines else _sizes(size, domain, _own_size(domain))
    text = f"{among}, {sizes_in_words(wanted, every_order)}"
    made = vectors(accepted, wanted, every_order)
    return ([text_of(x) for x in made], f"texts of lines with {text}") if lines else (made, text)


def _arrays_of(domain: Any, given: Any, size: Any, every_order: bool) -> tuple[list[Any], str]:
    """Return arrays of given rows that a domain of OpenDP's extras accepts, or raise InputError."""
    rows = check_values(given)
    width = domain.descriptor.num_columns
    sizes = _sizes(size, domain, _own_size(domain))
    try:
        made = [
            np.array(x, dtype=_FLOATS.get(domain.descriptor.T)).reshape(len(x), len(rows[0]))
            for x in vectors(rows, sizes, every_order)
        ]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"universe must have the rows of arrays, with {width or 'equally many'} numbers each, "
            f"got {brief(rows)}"
        ) from error
    accepted, left = _in_domain(domain, made, f"no array of the rows {brief(rows)}")
    text = f"arrays of rows {brief(rows)}, {sizes_in_words(sizes, every_order)}"
    return accepted, f"{text}{left}"


def _accepted_of(transformation: Any, datasets: Any) -> tuple[list[Any], str]:
    """Return the datasets that the input domain accepts and their description, or raise InputError.

    OpenDP refuses every table of Polars if its domain knows the number of rows, so those are taken
    as they are.
    """
    given = check_datasets(datasets)
    none = f"none of the {len(given):,} datasets"
    accepted, left = _in_domain(transformation.input_domain, given, none)
    return accepted, f"{len(accepted):,} datasets{left}"


def _in_domain(domain: Any, given: Sequence[Any], none: str) -> tuple[list[Any], str]:
    """Return what a domain accepts, and how many it does not in words, or raise InputError."""
    accepted = [x for x in given if hasattr(x, "lazy") or _member(domain, x)]
    if not accepted:
        raise InputError(f"{domain} accepts {none}")
    left = len(given) - len(accepted)
    return accepted, f", {left:,} outside the domain left out" if left else ""


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


def _sizes(size: Any, domain: Any, own: int | None) -> tuple[int, ...]:
    """Return the given sizes that a domain accepts, which may have a size of its own."""
    if size is None and own is None:
        raise InputError(f"size must be given: {domain} has vectors of every size")
    wanted = check_several("size", own if size is None else size, "a number of records, at least 0")
    if own is None:
        return wanted
    if own not in wanted:
        raise InputError(f"{domain} accepts none of the sizes {show(wanted)}")
    return (own,)


def _member(domain: Any, value: Any) -> bool:
    """Tell whether a domain accepts a value."""
    with warnings.catch_warnings():
        # OpenDP also warns about a value of another type, which is not a member.
        warnings.simplefilter("ignore")
        try:
            return bool(domain.member(value))
        except Exception:  # noqa: BLE001 - OpenDP cannot convert it, so it is not a member
            return False
