"""The code of an answer: Python that computes the same numbers elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from sensitivity_lab.results.literals import literal
from sensitivity_lab.universes.relations import Relation

_PRIVATE = (
    "# The universe is these very records. For private data, take what a record can be:",
    "# sl.Universe.from_domain(values).",
)


def code_of(
    made: str,
    query: str,
    size: int,
    relation: Relation,
    distances: range,
    epsilon: Any,
    x: str,
    parts: Sequence[str],
    *,
    records: bool = False,
) -> str:
    """Return the code that computes parts of an answer.

    It never declares listed records public, so running it warns.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> made = "sl.Universe.from_domain(range(0, 11))"
    >>> print(code_of(made, "mean", 3, sl.Bounded(1), range(1, 3), 1, "", ["sensitivity", "curve"]))
    import sensitivity_lab as sl
    <BLANKLINE>
    universe = sl.Universe.from_domain(range(0, 11))
    result = sl.global_sensitivity(universe, "mean", size=3, neighbors=sl.Bounded(1))
    print(result)
    scale = sl.noise.laplace_scale(result, epsilon=1)
    print(f"Laplace noise of scale {scale}")
    curves = sl.sensitivity_curves(
        universe, "mean", size=3, distances=range(1, 3), neighbors=sl.Bounded(1)
    )
    print(curves)
    """
    neighbors, loss = _relation(relation), literal(epsilon)
    asked = f'universe, "{query}"'
    of_part = {
        "sensitivity": (
            f"result = sl.global_sensitivity({asked}, size={size}, neighbors={neighbors})",
            "print(result)",
            f"scale = sl.noise.laplace_scale(result, epsilon={loss})",
            'print(f"Laplace noise of scale {scale}")',
        ),
        "curve": (
            "curves = sl.sensitivity_curves(",
            f"    {asked}, size={size}, distances={distances!r}, neighbors={neighbors}",
            ")",
            "print(curves)",
        ),
        "local": (
            f"local = sl.local_sensitivity({asked}, dataset=x, neighbors={neighbors})",
            "print(local)",
        ),
        "smooth": (
            f"beta = sl.noise.smooth_beta({loss}, k={relation.k})",
            "smooth = sl.smooth_sensitivity(",
            f"    {asked}, dataset=x, beta=beta, neighbors={neighbors}",
            ")",
            "print(smooth)",
            f"cauchy = sl.noise.smooth_cauchy_scale(smooth, {loss})",
            'print(f"Cauchy noise of scale {cauchy}")',
        ),
        "reach": (
            "reach = sl.reach(",
            f"    {asked}, dataset=x, distances={distances!r}, neighbors={neighbors}",
            ")",
            "print(reach)",
        ),
    }
    lines = [*(_PRIVATE if records else ())]
    # A universe that is not spelled out is the caller's own variable of that name.
    lines += [] if made == "universe" else [f"universe = {made}"]
    lines += [f"x = {x}"] if x else []
    lines += [line for part, written in of_part.items() if part in parts for line in written]
    return "\n".join([*_imports("\n".join(lines)), "", *lines])


def _relation(relation: Relation) -> str:
    given = "".join(
        f', {field.name}="{value}"' if isinstance(value, str) else f", {field.name}={value}"
        for field in fields(relation)[1:]
        if (value := getattr(relation, field.name)) != field.default
    )
    return f"sl.{type(relation).__name__}({relation.k}{given})"


def _imports(code: str) -> list[str]:
    """Return the imports that the code needs."""
    found = [
        f"from {module} import {name}"
        for module, name in (("decimal", "Decimal"), ("fractions", "Fraction"))
        if name in code
    ]
    found += [""] * bool(found) + ["import pandas as pd", ""] * ("pd." in code)
    return [*found, "import sensitivity_lab as sl"]
