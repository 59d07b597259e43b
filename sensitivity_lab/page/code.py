"""The code of an answer: Python that computes the same numbers elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

from sensitivity_lab.results.literals import literal
from sensitivity_lab.universes.relations import Relation

_BOTH = ", direction='both'"

_OF_PART = {
    "sensitivity": """\
result = sl.global_sensitivity({asked}, size={size}, neighbors={neighbors})
print(result)""",
    "noise": """\
scale = sl.noise.laplace_scale(result, epsilon={epsilon})
print(f"Laplace noise of scale {{scale}}")""",
    "curve": """\
curves = sl.sensitivity_curves(
    {asked}, size={size}, distances={distances}, neighbors={neighbors}
)
print(curves)""",
    "local": """\
local = sl.local_sensitivity({asked}, dataset=x, neighbors={neighbors})
print(local)""",
    "smooth": """\
beta = sl.noise.smooth_beta({epsilon}, k={k})
smooth = sl.smooth_sensitivity(
    {asked}, dataset=x, beta=beta, neighbors={neighbors}
)
print(smooth)
cauchy = sl.noise.smooth_cauchy_scale(smooth, {epsilon})
print(f"Cauchy noise of scale {{cauchy}}")""",
    "reach": """\
reach = sl.reach(
    {asked}, dataset=x, distances={distances}, neighbors={neighbors}
)
print(reach)""",
}
"""The Python of each part."""


def code_of(
    made: str,
    query: str,
    size: int,
    relation: Relation,
    distances: range,
    epsilon: Any,
    x: str,
    parts: Sequence[str],
    remarks: Sequence[str] = (),
) -> str:
    """Return the code that computes parts of an answer, one of which is `noise`, after remarks.

    It never declares listed records public, so running it warns.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> made = "sl.Universe.from_domain(range(0, 11))"
    >>> print(code_of(made, "mean", 3, sl.Bounded(1), range(1, 3), 1, "", ["sensitivity", "curve"]))
    import sensitivity_lab as sl
    <BLANKLINE>
    universe = sl.Universe.from_domain(range(0, 11))
    result = sl.global_sensitivity(universe, "mean", size=3, neighbors=sl.Bounded(k=1))
    print(result)
    curves = sl.sensitivity_curves(
        universe, "mean", size=3, distances=range(1, 3), neighbors=sl.Bounded(k=1)
    )
    print(curves)
    """
    words = {
        "asked": f'universe, "{query}"',
        "size": size,
        "neighbors": f"sl.{relation!r}".replace(", exactly=False", "").replace(_BOTH, ""),
        "k": relation.k,
        "distances": distances,
        "epsilon": literal(epsilon),
    }
    # A universe that is not spelled out is the caller's own variable of that name.
    lines = [fill(one, 96, initial_indent="# ", subsequent_indent="# ") for one in remarks]
    lines += [f"universe = {made}"] * (made != "universe")
    lines += [f"x = {x}"] * bool(x)
    lines += [text.format_map(words) for part, text in _OF_PART.items() if part in parts]
    written = "\n".join(lines)
    return "\n".join([*_imports(written), "", written])


def _imports(code: str) -> list[str]:
    """Return the imports that the code needs."""
    found = [
        f"from {module} import {name}"
        for module, name in (("decimal", "Decimal"), ("fractions", "Fraction"))
        if name in code
    ]
    found += [""] * bool(found) + ["import pandas as pd", ""] * ("pd." in code)
    return [*found, "import sensitivity_lab as sl"]
