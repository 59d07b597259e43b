"""Watching a library hand its answers to mechanisms that add noise.

A library computes an answer and hands it to a mechanism together with the sensitivity that it
claims. `recording` replaces the mechanism by a recorder of both, which adds no noise.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sensitivity_lab.checks import check_text, shown
from sensitivity_lab.errors import InputError


@dataclass(frozen=True)
class Call:
    """What a mechanism was handed.

    Attributes
    ----------
    target : str
        The mechanism's name.
    sensitivity : Any
        The sensitivity that the library claims.
    value : Any
        The answer before any noise, which the recorder also returned in place of a noisy one.
    """

    target: str
    sensitivity: Any
    value: Any


@contextmanager
def recording(
    *targets: Any,
    method: str = "randomise",
    sensitivity: str | Callable[[Any], Any] = "sensitivity",
    value: str | None = None,
) -> Iterator[list[Call]]:
    """Replace mechanisms by recorders of the claimed sensitivity and the true value.

    Parameters
    ----------
    *targets : str, class or function
        The mechanisms: a dotted name such as "library.mechanisms.Laplace", or what it names. Of a
        class, the method is replaced on the class itself, so that every name it was imported under
        sees the recorder. A function is replaced in every loaded module that holds it.
    method : str, default "randomise"
        The method of a class that takes the true value and returns a noisy one.
    sensitivity : str or callable, default "sensitivity"
        Where the claim is: for a class the name of an attribute of the instance, for a function the
        name of a parameter; or a function of the instance, or of the dict of arguments.
    value : str, optional
        The parameter that takes the true value; by default the first one (of a method: after
        ``self``).

    Yields
    ------
    list of Call
        The calls made so far, in order.

    Raises
    ------
    InputError
        If a target cannot be found, or is neither a class with the method nor a function.

    Notes
    -----
    On leaving, also by an error, everything is put back. The recorder is in place for the whole
    process: calls that other threads make meanwhile are recorded too and lose their noise, so do
    not serve anybody with that process. Calls in other processes are not seen.

    Examples
    --------
    >>> class Mechanism:
    ...     def __init__(self, sensitivity):
    ...         self.sensitivity = sensitivity
    ...
    ...     def randomise(self, value):
    ...         raise NotImplementedError("no noise in an example")
    >>> with recording(Mechanism) as calls:
    ...     Mechanism(0.5).randomise(7)
    7
    >>> [(call.sensitivity, call.value) for call in calls]
    [(0.5, 7)]
    """
    found = [_resolve(target) for target in targets]
    if not found:
        raise InputError("targets must name at least one mechanism, got none")
    check_text("method", method, "the name of a method")
    if not callable(sensitivity):
        check_text("sensitivity", sensitivity, "a name, or a function")
    if value is not None:
        check_text("value", value, "the name of a parameter")
    calls: list[Call] = []
    with ExitStack() as undo:
        for target in found:
            if inspect.isclass(target):
                _record_class(target, method, sensitivity, value, calls, undo)
            else:
                _record_function(target, sensitivity, value, calls, undo)
        yield calls


def _resolve(target: Any) -> Any:
    """Return what a dotted name names, or raise InputError."""
    if not isinstance(target, str):
        if inspect.isclass(target) or inspect.isfunction(target):
            return target
        raise InputError(
            f"a target must be a class, a function or the dotted name of one, got {shown(target)}"
        )
    parts = target.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            found: Any = import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for name in parts[length:]:
            found = getattr(found, name, None)
        if inspect.isclass(found) or inspect.isfunction(found):
            return found
        break
    raise InputError(
        f"target {target!r} names no class and no function; write it as package.module.Name, with "
        "the package installed"
    )


def _record_class(
    target: type, method: str, claim: Any, value: str | None, calls: list[Call], undo: ExitStack
) -> None:
    """Put a recorder in the place of a class's method until `undo`."""
    original = getattr(target, method, None)
    if original is None:
        raise InputError(f"{target.__qualname__} has no method {method!r}; name it by method=")

    @functools.wraps(original)
    def record(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = _arguments(original, (self, *args), kwargs)
        taken = list(given.values())[1] if value is None else given[value]
        claimed = claim(self) if callable(claim) else getattr(self, claim)
        calls.append(Call(target.__qualname__, claimed, taken))
        return taken

    if method in vars(target):
        undo.callback(setattr, target, method, vars(target)[method])
    else:
        undo.callback(delattr, target, method)
    setattr(target, method, record)


def _record_function(
    target: Any, claim: Any, value: str | None, calls: list[Call], undo: ExitStack
) -> None:
    """Put a recorder in the place of a function, in every loaded module, until `undo`."""

    @functools.wraps(target)
    def record(*args: Any, **kwargs: Any) -> Any:
        given = _arguments(target, args, kwargs)
        taken = next(iter(given.values())) if value is None else given[value]
        calls.append(
            Call(target.__qualname__, claim(given) if callable(claim) else given[claim], taken)
        )
        return taken

    for module in list(sys.modules.values()):
        for name, held in list(getattr(module, "__dict__", {}).items()):
            if held is target:
                setattr(module, name, record)
                undo.callback(setattr, module, name, target)


def _arguments(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by the names of the parameters, defaults included."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments
