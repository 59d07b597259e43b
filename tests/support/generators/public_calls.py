"""Every public callable by its name, and how a call of one is made of values by their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from garbage import ROWS, TOTAL, UNIVERSE, valid
from sql_arguments import HAS_SQL

import sensitivity_lab as sl
from sensitivity_lab import empirical, spaces
from sensitivity_lab import pipelines as pl
from sensitivity_lab.page.universes import given_of

MADE_BY_THE_LIBRARY = {
    *("AuditReport", "AuditRow", "ClippingPoint", "ClippingSweep", "Evidence"),
    *(
        "ChainSensitivity",
        "MeasuredStability",
        "MechanismReport",
        "NeighborRow",
        "NeighborTable",
    ),
    *(
        "NoiseRow",
        "NoiseTable",
        "Reach",
        "Sensitivity",
        "CertifiedBounds",
        "SensitivityCurves",
        "SmoothSensitivity",
    ),
    *("InverseSensitivity", "Ring"),
    *("StabilityWitness", "Witness"),
    *("spaces.SpaceSensitivity", "spaces.SpaceWitness"),
    *("streams.ParticipationSensitivity", "streams.ParticipationWitness"),
    "sql.Contributions",
    *("releases.Checked", "releases.Errors", "releases.Ledger"),
    *("releases.Plan", "releases.Released"),
}
"""Results: what they hold was checked before, by the call that returned them."""

ABSTRACT = {"Domain", "FiniteUniverse", "Metric"}

INTERVAL = sl.Universe.from_interval(0, 100)


METHODS: dict[str, Callable[..., Any]] = {
    "explore": lambda universes: given_of(universes),  # all but the page, which is served
    "Universe.from_dataset": sl.Universe.from_dataset,
    "Universe.from_domain": sl.Universe.from_domain,
    "Universe.from_interval": sl.Universe.from_interval,
    "IntervalUniverse.dataset": lambda records: INTERVAL.dataset(records),
    "IntervalUniverse.__contains__": lambda x: x in INTERVAL,
    "Universe.clipped": UNIVERSE.clipped,
    "TableUniverse.from_dataset": sl.TableUniverse.from_dataset,
    "TableUniverse.from_domain": sl.TableUniverse.from_domain,
    "TableUniverse.column": lambda column: ROWS.column(column),
    "TableUniverse.to_frame": lambda dataset: ROWS.to_frame(dataset),
    "Universe.index": lambda x: UNIVERSE.index(x),
    "Universe.__contains__": lambda x: x in UNIVERSE,
    "Transformation": lambda data: TOTAL(data),
    "Transformation.map": lambda d_in: TOTAL.map(d_in),
}


def named() -> Iterator[tuple[str, Any]]:
    """What is public, by its name; that of spaces, streams and `sql` with their module."""
    others: list[tuple[Any, str]] = [(spaces, "spaces."), (sl.releases, "releases.")]
    others.append((sl.streams, "streams."))
    if HAS_SQL:
        others.append((sl.sql, "sql."))
    rooms = (sl.audits, sl.bounds, sl.errors, sl.noise, sl.results)
    own = (sl, pl, empirical, *rooms, sl.universes)
    for module, prefix in (*((room, "") for room in own), *others):
        for name in module.__all__:
            yield f"{prefix}{name}", getattr(module, name)


def public() -> dict[str, Callable[..., Any]]:
    """Every public callable but errors, abstract classes and results, by its name."""
    found = dict(METHODS)
    for name, made in named():
        error = inspect.isclass(made) and issubclass(made, Exception)
        if callable(made) and not error and name not in MADE_BY_THE_LIBRARY | ABSTRACT:
            found.setdefault(name, made)
    return found


CALLABLES = public()
NAMES = sorted(CALLABLES)


POSITIONAL = inspect.Parameter.POSITIONAL_ONLY
SEVERAL = inspect.Parameter.VAR_POSITIONAL


def parameters_of(name: str) -> list[inspect.Parameter]:
    signature = inspect.signature(CALLABLES[name])
    return [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]


def arranged(
    parameters: list[inspect.Parameter], values: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Values by the name of their parameter as positional and named arguments of a call."""
    kinds = [one.kind for one in parameters]
    last = max(
        (place for place, kind in enumerate(kinds) if kind in (POSITIONAL, SEVERAL)), default=-1
    )
    positional = [values.pop(one.name) for one in parameters[: last + 1]]
    return positional, values


NEEDED = {
    "measured_stability": ("d_in",),  # a chain on numbers names no protected unit
    "Histogram": ("categories",),
    "GroupBy": ("groups",),
    "VectorSum": ("clip_norm",),
    "audit": ("claim", "size", "neighbors"),
    "assert_sensitivity": ("claim", "size", "neighbors"),
    "audit_mechanism": ("universe", "size", "epsilon"),
    "sql.Query": ("groups",),
    "releases.Person": ("max_rows",),
    "releases.plan": ("bounds", "agg"),
    "audit_opendp": ("universe", "size"),
    "spaces.Space": ("neighbors",),
}
"""Optional arguments without which a call is refused."""


def arguments(name: str, given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """What is given, and good values for whatever else a call needs."""
    parameters = parameters_of(name)
    needed = {*given, *NEEDED.get(name, ())}
    values = {
        one.name: given[one.name] if one.name in given else valid(name, one)[0]
        for one in parameters
        if one.name in needed or one.default is one.empty or one.kind is POSITIONAL
    }
    return arranged(parameters, values)
