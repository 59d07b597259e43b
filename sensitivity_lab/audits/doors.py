"""The calls of audits: an argument that is missing, or of another call, leads to a whole one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

FUNCTION = 'sl.audit(values, function, claim, size=3, neighbors="bounded", outputs="L1")'
RANDOM = (
    'sl.audit(values, function, claim, size=[2, 3], neighbors="symmetric", outputs="symmetric", '
    "choices=400)"
)
QUERY = 'sl.audit(sl.Universe.from_domain(values), "sum", claim, size=3, neighbors="bounded")'
MECHANISM = 'sl.audits.audit_mechanism(function, values, 3, neighbors="bounded", epsilon=1)'
OPENDP = "sl.audits.audit_opendp(made, values, range(3))"
RECORDED = 'sl.audits.audit_recorded(function, values, 3, Mechanism, neighbors="bounded")'

_OF = {
    "audit": FUNCTION,
    "audit_mechanism": MECHANISM,
    "audit_opendp": OPENDP,
    "audit_recorded": RECORDED,
}
"""By the name of a call, a whole one."""

_OF_ARGUMENTS = {
    "budget": f"{RECORDED[:-1]}, budget=1)",
    "choices": RANDOM,
    "delta": f"{MECHANISM[:-1]}, delta=1e-6)",
    "epsilon": MECHANISM,
    "outputs": FUNCTION,
}
"""By an argument, a whole call that takes it."""


def with_datasets(call: str) -> str:
    """Return a whole call with datasets of the caller's own, instead of values and sizes.

    Examples
    --------
    >>> with_datasets(OPENDP)
    'sl.audits.audit_opendp(made, datasets=datasets)'
    """
    first, second = call.removesuffix(")").split("values, ")
    if call == FUNCTION:
        return f"{first}None, {second.replace('size=3', 'datasets=datasets')})"
    rest = second.partition(", ")[2]
    return f"{first}datasets=datasets{', ' * bool(rest)}{rest})"


def led(also: Iterable[str] = ()) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let an audit refuse arguments that are missing or unknown with a whole call that works.

    Parameters
    ----------
    also : iterable of str
        Names of arguments that it takes besides those of its signature.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        needed = inspect.signature(function)
        known = {*needed.parameters, *also}

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            name = function.__name__
            unknown = next((one for one in kwargs if one not in known), None)
            if unknown is not None:
                raise TypeError(
                    f"{name}() got an unexpected keyword argument {unknown!r}; write "
                    f"{_way(name, unknown)}"
                )
            given = needed.bind_partial(*args, **kwargs).arguments
            missing = [
                one
                for one, of in needed.parameters.items()
                if one not in given and of.default is of.empty and of.kind not in _SEVERAL
            ]
            if missing:
                raise TypeError(f"{name}() needs {' and '.join(missing)}; write {_OF[name]}")
            return function(*args, **kwargs)

        return call

    return decorated


_SEVERAL = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _way(name: str, unknown: str) -> str:
    """Return a whole call for an argument that is not known to the call of a name."""
    if unknown == "where" and name != "audit_recorded":
        return f"{with_datasets(_OF[name])}, with the datasets where the function is defined"
    if unknown in ("epsilon", "delta", "rho") and name == "audit_opendp":
        return (
            f"{OPENDP}: the claim is made.map, and {unknown} is kept if made.map(1) is at most it, "
            "or made.map(2) where the size is fixed"
        )
    if unknown == "budget" and name == "audit_mechanism":
        return f"{MECHANISM}: epsilon is the budget of the whole run"
    return _OF_ARGUMENTS.get(unknown, _OF[name])
