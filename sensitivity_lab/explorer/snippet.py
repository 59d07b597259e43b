"""The code of a view: Python that reproduces its numbers elsewhere."""

from __future__ import annotations

from dataclasses import fields

from sensitivity_lab.results.literals import literal
from sensitivity_lab.universes.relations import Relation

from .source import Source
from .state import State
from .typed import dataset as typed_dataset

_PRIVATE = (
    "# The universe is these very records. For private data, take what a record can be:",
    "# sl.Universe.from_domain(values).",
)


def snippet(
    source: Source,
    state: State,
    distances: range,
    *,
    dataset: bool = False,
    local: bool = False,
    smooth: bool = False,
    reach: bool = False,
) -> str:
    """Return the code that computes the view of a state.

    It never declares listed records (`dataset`) public, so running it warns. It has the `local` and
    the `smooth` sensitivity of the typed x and its `reach` only if there is one, so not for a
    refused x.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> from sensitivity_lab.explorer.source import as_source
    >>> source = as_source(sl.Universe.from_dataset([1, 2, 3, 10]))
    >>> print(snippet(source, State("records", size=3), range(1, 2), dataset=True))
    import sensitivity_lab as sl
    <BLANKLINE>
    # The universe is these very records. For private data, take what a record can be:
    # sl.Universe.from_domain(values).
    universe = sl.Universe.from_dataset([1, 2, 3, 10])
    result = sl.global_sensitivity(universe, "mean", size=3, neighbors=sl.Bounded(1))
    curves = sl.sensitivity_curves(
        universe, "mean", size=3, distances=range(1, 2), neighbors=sl.Bounded(1)
    )
    scale = sl.noise.laplace_scale(result, epsilon=1)
    print(result)
    print(f"Laplace noise of scale {scale}")
    """
    made = source.expression(state.column, state.domain)
    neighbors = _relation(state.neighbors)
    asked = f'universe, "{state.query}", size={state.size}'
    lines = [
        *(_PRIVATE if dataset else ()),
        # A universe that is not spelled out is the caller's own variable of that name.
        *([] if made == "universe" else [f"universe = {made}"]),
        f"result = sl.global_sensitivity({asked}, neighbors={neighbors})",
        "curves = sl.sensitivity_curves(",
        f"    {asked}, distances={distances!r}, neighbors={neighbors}",
        ")",
        f"scale = sl.noise.laplace_scale(result, epsilon={state.epsilon})",
        "print(result)",
        'print(f"Laplace noise of scale {scale}")',
        *(_local_lines(state, neighbors) if local else ()),
        *(_smooth_lines(state, neighbors) if smooth else ()),
        *(_reach_lines(state, distances, neighbors) if reach else ()),
    ]
    return "\n".join([*_imports("\n".join(lines)), "", *lines])


def _local_lines(state: State, neighbors: str) -> list[str]:
    return [
        f"x = {literal(typed_dataset(state.dataset))}",
        f'local = sl.local_sensitivity(universe, "{state.query}", '
        f"dataset=x, neighbors={neighbors})",
        "print(local)",
    ]


def _smooth_lines(state: State, neighbors: str) -> list[str]:
    return [
        f"beta = sl.noise.smooth_beta({state.epsilon}, k={state.k})",
        "smooth = sl.smooth_sensitivity(",
        f'    universe, "{state.query}", dataset=x, beta=beta, neighbors={neighbors}',
        ")",
        "print(smooth)",
        f"cauchy = sl.noise.smooth_cauchy_scale(smooth, {state.epsilon})",
        'print(f"Cauchy noise of scale {cauchy}")',
    ]


def _reach_lines(state: State, distances: range, neighbors: str) -> list[str]:
    return [
        "reach = sl.reach(",
        f'    universe, "{state.query}", dataset=x, distances={distances!r}, neighbors={neighbors}',
        ")",
        "print(reach)",
    ]


def _relation(relation: Relation) -> str:
    given = "".join(
        f', {field.name}="{value}"' if isinstance(value, str) else f", {field.name}={value}"
        for field in fields(relation)[1:]
        if (value := getattr(relation, field.name)) != field.default
    )
    return f"sl.{type(relation).__name__}({relation.k}{given})"


def _imports(code: str) -> list[str]:
    """Return the imports that the code needs."""
    of_numbers = [
        f"from {module} import {name}"
        for module, name in (("decimal", "Decimal"), ("fractions", "Fraction"))
        if name in code
    ]
    tables = ["import pandas as pd"] if "pd." in code else []
    between = [""] if of_numbers else []
    return [
        *of_numbers,
        *between,
        *tables,
        *([""] if tables else []),
        "import sensitivity_lab as sl",
    ]
