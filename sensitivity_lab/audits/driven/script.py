"""The violation of a claim as a script that needs NumPy, the function, and nothing else."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from sensitivity_lab.results.literals import literal

from .laws import Atom, Outcome
from .runs import example_of

_LISTED = 200
"""The largest number of outcomes of an event that a script lists: those that count most."""

_LEAST_RUNS, _MOST_RUNS = 10_000, 1_000_000

_SCRIPT = '''\
"""{title}

On x the event has probability {p}, on y {q}.
The claim allows at most e**{epsilon} * {q} + {delta} on x.
"""
from __future__ import annotations

import math

import numpy as np

{function}

{parts}

x = {x}
y = {y}
# Each outcome of the event: the parts that tell, and the values that they can have.
event = [
{event}
]


def inside(released):
    found = {{path: repr(part) for path, part in parts(released)}}
    return any(
        all(found.get(path) in values for path, values in outcome.items()) for outcome in event
    )


def share(data, runs={runs}):
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(runs):
        try:
            released = {call}(data.copy(), rng)
        except Exception as error:
            released = {{"raises": (type(error).__name__, str(error))}}
        hits += inside(released)
    return hits / runs


p, q = share(x), share(y)
allowed = math.exp({epsilon}) * q + {delta}
print(f"event on x: {{p:.4g}}, on y: {{q:.4g}}, allowed on x: {{allowed:.4g}}")
'''


def parts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the parts of a release by where they stand, with the types of numbers."""
    if isinstance(value, np.ndarray):
        yield (*path, "size"), ("array", value.shape)
        value = value.ravel().tolist()
    elif isinstance(value, list | tuple | dict):
        size = list(value) if isinstance(value, dict) else len(value)
        yield (*path, "size"), (type(value).__name__, size)
    else:
        yield path, value.item() if isinstance(value, np.generic) else value
        return
    for name, entry in value.items() if isinstance(value, dict) else enumerate(value):
        yield from parts(entry, (*path, name))


def script_of(
    function: Callable[..., Any],
    call: str,
    x: Any,
    y: Any,
    epsilon: float,
    delta: float,
    event: Iterable[Atom],
) -> str:
    """Return a script that runs a function on two datasets, and counts an event.

    Parameters
    ----------
    function : callable
        The audited function.
    call : str
        Its name in the script.
    x, y : Any
        The datasets.
    epsilon, delta : float
        The claim.
    event : iterable of Atom
        The event, the outcomes that count most first.
    """
    listed = list(event)[:_LISTED]
    p = sum((atom.p for atom in listed), Fraction(0))
    q = sum((atom.q for atom in listed), Fraction(0))
    rows = []
    for atom in listed:
        if atom.outcome is None:
            continue
        rows.append(f"    {_told(function, atom.outcome)},")
    runs = int(min(max(_LEAST_RUNS, 1000 / max(float(p), 1e-9)), _MOST_RUNS))
    return _SCRIPT.format(
        title=f"{call} is not ({epsilon:.6g}, {delta:.6g})-differentially private.",
        p=f"{float(p):.6g}",
        q=f"{float(q):.6g}",
        epsilon=repr(epsilon),
        delta=repr(delta),
        function=_source(function, call),
        parts=inspect.getsource(parts),
        x=literal(x),
        y=literal(y),
        event="\n".join(rows),
        runs=runs,
        call=call,
    )


def _told(function: Callable[..., Any], outcome: Outcome) -> str:
    """Return the parts of an outcome that tell, as a literal."""
    released = example_of(function, outcome.dataset, outcome.leaf, outcome.values)
    free = outcome.leaf.symbols.keys() - outcome.values.keys()
    return repr({path: (repr(part),) for path, part in parts(released) if path not in free})


def _source(function: Callable[..., Any], call: str) -> str:
    """Return the code of a function, or where to get it."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        return f"# Put the function here, or import it.\n# from ... import {call}"
    if not source.lstrip().startswith("def "):
        module = getattr(function, "__module__", "...")
        return f"# Put the function here, or import it.\n# from {module} import {call}"
    return source.rstrip()
