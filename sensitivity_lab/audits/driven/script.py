"""The violation of a claim as a script that needs NumPy, the function, and nothing else."""

from __future__ import annotations

import ast
import inspect
import math
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from sensitivity_lab.errors import InputError
from sensitivity_lab.results.literals import literal

from .kept import variables_around
from .laws import Atom, NoisyEvent, Outcome, chances
from .runs import example_of

_LISTED = 200
"""The largest number of outcomes of an event that a script lists."""

_LEAST_RUNS, _MOST_RUNS = 10_000, 1_000_000

_SCRIPT = '''\
"""{title}

On x the event {has} {p}, on y {q}.
The claim allows at most e**{epsilon} * {q} + {delta} on x.
"""
from __future__ import annotations

import copy
import math
import re

import numpy as np
{imports}
{function}

{parts}

x = {x}
y = {y}
{inside}


def share(data, runs={runs}):
    rng = {generator}(1)
    hits = 0
    for _ in range(runs):
        try:
            released = {call}(copy.deepcopy(data), rng)
        except (ImportError, NameError):
            raise  # something that the function needs is missing above
        except Exception as error:
            released = {{"raises": (type(error).__name__, str(error))}}
        hits += inside(released)
    return hits / runs


p, q = share(x), share(y)
allowed = math.exp({epsilon}) * q + {delta}
print(f"event on x: {{p:.4g}}, on y: {{q:.4g}}, allowed on x: {{allowed:.4g}}")
'''


_MADE_BY = {
    "Generator": "np.random.default_rng",
    "Random": "random.Random",
    "RandomState": "np.random.RandomState",
}
"""How a script makes a generator of a class."""

_LISTED_EVENT = """\
# Each outcome of the event: the parts that tell, and the values that they can have.
event = [
{event}
]


def inside(release):
    found = {{path: repr(part) for path, part in parts(release)}}
    if any(all(found.get(path) in values for path, values in outcome.items()) for outcome in event):
        return True
    try:
        return {noisy}
    except (LookupError, TypeError):  # another kind of release
        return False
"""

_EXPRESSION = """\


{helpers}

def inside(release):
    found = dict(parts(release))
    return {event}
"""


def parts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield the parts of a release by where they stand; beside a text the numbers in it."""
    if isinstance(value, np.ndarray):
        yield (*path, "size"), ("array", value.shape)
        value = value.ravel().tolist()
    elif isinstance(value, list | tuple | dict):
        size = tuple(value) if isinstance(value, dict) else len(value)
        yield (*path, "size"), (type(value).__name__, size)
    else:
        value = value.item() if isinstance(value, np.generic) else value
        # Decimals and fractions are compared as floats.
        exact = hasattr(value, "as_integer_ratio") and not isinstance(value, (int, float))
        yield path, float(value) if exact else value
        written = value if isinstance(value, str) else ""
        for place, number in enumerate(re.findall(r"[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?", written)):
            yield (*path, f"number {place + 1} in the text"), float(number.replace(",", ""))
        return
    for name, entry in value.items() if isinstance(value, dict) else enumerate(value):
        yield from parts(entry, (*path, name))


_PARTS = inspect.getsource(parts).replace(
    "value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:",
    "value, path=()):",
)
"""The same for a script, which imports no types."""


Told = tuple[str, float, float, str]
"""How a script says that an event has two probabilities or shares, these, and what counts it."""


def told_of_outcomes(
    function: Callable[..., Any],
    claim: tuple[float, float],
    event: Sequence[Atom],
    noisy: Sequence[NoisyEvent],
) -> Told:
    """Return what a script says of an event, and counts.

    Parameters
    ----------
    function : callable
        The audited function.
    claim : (float, float)
        epsilon and delta.
    event : sequence of Atom
        The event, the outcomes that count most first.
    noisy : sequence of NoisyEvent
        The events of numbers with continuous noise, which are part of it.

    Raises
    ------
    InputError
        If the event cannot be written as a short program.
    """
    listed = _needed(event, *claim, noisy)
    if not (listed or noisy) or not all(one.code for one in noisy):
        raise InputError(
            "script cannot write this event as a short program; the evidence of the report has the "
            "pair and both probabilities"
        )
    inside = _LISTED_EVENT.format(
        event="\n".join(f"    {_told(function, atom.outcome)}," for atom in listed),
        noisy=" or ".join(one.code for one in noisy) or "False",
    )
    return "has probability", *chances(listed, noisy), inside


def told_of_sample(shares: tuple[float, float], event: str, helpers: str) -> Told:
    """Return what a script says of an event that was sampled, and counts.

    Parameters
    ----------
    shares : (float, float)
        Of the runs on x and on y that were in the event.
    event, helpers : str
        The event as an expression over the parts `found` of a release, and the functions in it.
    """
    return "was seen in a share of", *shares, _EXPRESSION.format(helpers=helpers, event=event)


def script_of(
    function: Callable[..., Any],
    call: str,
    x: Any,
    y: Any,
    claim: tuple[float, float],
    told: Told,
    generator: str | None,
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
    claim : (float, float)
        epsilon and delta.
    told : tuple
        The event, see `Told`.
    generator : str or None
        The class that the function's generator has, if the caller said which.
    """
    epsilon, delta = claim
    has, p, q, inside = told
    # About 1,000 runs on x are in the event.
    runs = int(min(max(_LEAST_RUNS, 1000 / max(p, 1e-9)), _MOST_RUNS))
    return _SCRIPT.format(
        title=f"{call} is not ({epsilon:.6g}, {delta:.6g})-differentially private.",
        has=has, p=f"{p:.6g}", q=f"{q:.6g}", epsilon=repr(epsilon), delta=repr(delta),
        function=_source(function, call), parts=_PARTS, x=literal(x), y=literal(y),
        inside=inside.rstrip(), runs=runs, call=call, generator=_MADE_BY[generator or "Generator"],
        imports="import random\n" if generator == "Random" else "",
    )  # fmt: skip


def _needed(
    event: Sequence[Atom], epsilon: float, delta: float, noisy: Sequence[NoisyEvent]
) -> Sequence[Atom]:
    """Return the first outcomes of an event: so many that they exceed delta half as far as all.

    The function runs once for each outcome, so a script lists no more than it needs.

    Raises
    ------
    InputError
        If a script cannot list enough outcomes to exceed delta.
    """
    factor = Fraction(math.exp(epsilon))
    gains = (Fraction(one.p) - factor * Fraction(one.q) for one in noisy)
    before = sum(gains, Fraction(0))
    # excess[i]: by how much the noisy events and the first i outcomes exceed e ** epsilon times q.
    excess = [before]
    for p, q, _ in event:
        excess.append(excess[-1] + p - factor * q)
    # Half of what the whole event exceeds delta by is far enough from the
    # claim to be seen in a count.
    enough = (Fraction(delta) + excess[-1]) / 2
    number = next((place for place, one in enumerate(excess) if one >= enough), len(event))
    number = min(number, _LISTED)
    if event and excess[number] <= delta:
        raise InputError(
            f"script lists at most {_LISTED} outcomes, which do not show this violation: it takes "
            f"more of the {len(event):,} of its event; audit a coarser release, or fewer numbers "
            "of it"
        )
    return event[:number]


def _told(function: Callable[..., Any], outcome: Outcome) -> str:
    """Return the parts of an outcome that tell, as a literal."""
    released = example_of(function, outcome.dataset, outcome.leaf, outcome.values)
    # Symbols with the same law on both datasets tell nothing, and may have any value.
    free = outcome.leaf.symbols.keys() - outcome.values.keys()
    return repr({path: (repr(part),) for path, part in parts(released) if path not in free})


def _source(function: Callable[..., Any], call: str) -> str:
    """Return the code of a function with what it uses of its module, or where to get it."""
    own = _code(function)
    if own is None:
        module = getattr(function, "__module__", "...")
        return f"# Put the function here, or import it.\n# from {module} import {call}"
    # The script imports these itself.
    used = list(_used(function, {call, "np", "math"}))
    imports = [one for one in used if one.startswith(("import ", "from "))]
    defined = [one for one in used if one not in imports]
    return "\n\n\n".join([*(["\n".join(imports)] if imports else []), *defined, own])


def _code(function: Any) -> str | None:
    """Return the source of a function or class that is defined by itself, or None."""
    if not isinstance(function, FunctionType | type) or _is_method(function):
        return None
    try:
        source = textwrap.dedent(inspect.getsource(function)).rstrip()
    except (OSError, TypeError):
        return None
    # A decorator makes another function of the source, and adds to a class.
    whole = ("class ", "@") if isinstance(function, type) else "def "
    return source if source.startswith(whole) else None


def _is_method(function: FunctionType | type) -> bool:
    """Tell whether a function was defined in a class, where its source takes self."""
    around = function.__qualname__.rpartition(".")[0]
    return bool(around) and not around.endswith("<locals>")


def _used(function: Any, told: set[str]) -> Iterator[str]:
    """Yield the definitions of what a function or class uses, each once, before it is used.

    These are modules, plain constants, functions and classes of its own, and whatever NumPy and the
    standard library export. Anything else is left to the reader, whom a NameError tells.
    """
    there = variables_around(function)
    for name in _named(function):
        if name not in there or name in told:
            continue
        told.add(name)
        value = there[name]
        if isinstance(value, ModuleType):
            yield f"import {value.__name__} as {name}"
        elif (module := _exports(value)) is not None:
            own = getattr(value, "__name__", name)
            yield f"from {module} import {own}" + ("" if own == name else f" as {name}")
        elif (source := _code(value)) is not None:
            # What a definition uses comes before it.
            yield from _used(value, told)
            yield source
        elif isinstance(value, bool | int | float | str | tuple | list | dict):
            with suppress(ValueError, SyntaxError, RecursionError):
                if ast.literal_eval(repr(value)) == value:
                    yield f"{name} = {value!r}"


def _named(function: Any) -> Iterator[str]:
    """Yield the names in the source of a function or class, in its annotations too."""
    for node in ast.walk(ast.parse(_code(function) or "")):
        if isinstance(node, ast.Name):
            yield node.id


def _exports(value: Any) -> str | None:
    """Return the module of NumPy or of the standard library that exports a value, or None."""
    module, name = getattr(value, "__module__", ""), getattr(value, "__name__", "")
    # What a script itself defines is in __main__, which exports nothing.
    if not isinstance(module, str) or module == "__main__":
        return None
    known = module.partition(".")[0] in {*sys.stdlib_module_names, "numpy"}
    return module if known and getattr(sys.modules.get(module), name, None) is value else None
