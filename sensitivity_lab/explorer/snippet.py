"""The code of a view: Python that a user can run elsewhere, for the same numbers."""

from __future__ import annotations

from sensitivity_lab.errors import InputError
from sensitivity_lab.results.literals import literal
from sensitivity_lab.universes.relations import Relation, Unbounded

from .source import Source
from .state import State
from .typed import number

_PRIVATE = (
    "# The universe is these very records. For private data, take what a record can be:",
    "# sl.Universe.from_domain(values).",
)


def snippet(source: Source, state: State, distances: range, *, dataset: bool = False) -> str:
    """Return the code that computes the view of a state.

    It never says that listed records (`dataset`) are public; whoever runs it is warned.

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
        # A universe that is not spelled out is the caller's own, by that name.
        *([] if made == "universe" else [f"universe = {made}"]),
        f"result = sl.global_sensitivity({asked}, neighbors={neighbors})",
        "curves = sl.sensitivity_curves(",
        f"    {asked}, distances={distances!r}, neighbors={neighbors}",
        ")",
        f"scale = sl.noise.laplace_scale(result, epsilon={state.epsilon})",
        "print(result)",
        'print(f"Laplace noise of scale {scale}")',
        *_local(state, neighbors),
    ]
    return "\n".join([*_imports("\n".join(lines)), "", *lines])


def _local(state: State, neighbors: str) -> list[str]:
    """Return the lines of the local sensitivity, if a number was typed."""
    try:
        value = number(state.value, "value")
    except InputError:
        return []
    return [
        "x = list(result.witness.x)",
        f"x[{state.record - 1}] = {literal(value)}",
        f'local = sl.local_sensitivity(universe, "{state.query}", dataset=x, neighbors={neighbors})',
        "print(local)",
    ]


def _relation(relation: Relation) -> str:
    direction = ""
    if isinstance(relation, Unbounded) and relation.direction != "both":
        direction = f', direction="{relation.direction}"'
    return f"sl.{type(relation).__name__}({relation.k}{direction})"


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
