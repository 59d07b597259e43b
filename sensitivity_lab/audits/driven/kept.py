"""What a function keeps between its calls, as far as it is in plain sight."""

from __future__ import annotations

import functools
import inspect
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

_CODE = (ModuleType, FunctionType, BuiltinFunctionType, MethodType, type)


def kept(function: Callable[..., Any]) -> dict[str, bytes | None]:
    """Return the values that a function can change for its later calls, by their names.

    They are the attributes of its object and of the object's class, the variables around it, its
    default arguments, and the global variables that it names, with the attributes of classes. Each
    is shown by its bytes, so that a later call tells what has changed; None is what cannot be
    written as bytes. State that is kept elsewhere, such as inside of other functions, is not seen.

    Examples
    --------
    >>> class Mechanism:
    ...     least = None
    ...
    ...     def release(self, data):
    ...         if self.least is None:
    ...             self.least = min(data)
    >>> one = Mechanism()
    >>> before = kept(one.release)
    >>> one.release([3])
    >>> changed(before, kept(one.release))
    ['least']
    """
    return {name: _bytes(value) for name, value in _own_values(function)}


def changed(before: dict[str, bytes | None], after: dict[str, bytes | None]) -> list[str]:
    """Return the names whose values are not those of before; see `kept`."""
    names = dict.fromkeys([*before, *after])
    return [name for name in names if not _same(before.get(name, b""), after.get(name, b""))]


def _same(before: bytes | None, after: bytes | None) -> bool:
    """Tell whether values are the same: an object that equals itself may keep what it computed."""
    if not before or not after or before == after:
        return before == after
    try:
        return (pickle.loads(before) == pickle.loads(after)) is True
    except Exception:  # noqa: BLE001 - whatever an object of the caller raises
        return False


def _own_values(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield what `kept` lists, by name; of a class, its attributes."""
    if isinstance(function, functools.partial):
        yield from _own_values(function.func)
    elif isinstance(function, MethodType):
        owner = function.__self__
        if not isinstance(owner, type):
            yield from getattr(owner, "__dict__", {}).items()
            owner = type(owner)
        yield from _of_class(owner)
        yield from _own_values(function.__func__)
    elif isinstance(function, FunctionType):
        for name, value in _within_reach(function).items():
            if isinstance(value, type):
                yield from _of_class(value)
            elif not isinstance(value, _CODE):
                yield name, value
    elif not isinstance(function, _CODE):
        yield from getattr(function, "__dict__", {}).items()
        yield from _of_class(type(function))
        yield from _own_values(type(function).__call__)


def variables_around(function: FunctionType | type) -> dict[str, Any]:
    """Return the variables that a function or class can name without a dot."""
    if isinstance(function, type):
        return dict(vars(sys.modules[function.__module__]))
    found = dict(function.__globals__)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    for name, cell in cells:
        with suppress(ValueError):  # it has no value yet
            found[name] = cell.cell_contents
    return found


def _within_reach(function: FunctionType) -> dict[str, Any]:
    """Return the variables around a function that it names, its attributes and its defaults."""
    there = variables_around(function)
    names = {*_names(function.__code__), *function.__code__.co_freevars}
    found = {name: there[name] for name in names & there.keys()}
    defaults = inspect.signature(function).parameters.values()
    given = {one.name: one.default for one in defaults if one.default is not one.empty}
    return found | vars(function) | given


def _of_class(owner: type) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of a class and of its bases that are neither code nor Python's own."""
    for one in owner.__mro__[:-1]:
        for name, value in vars(one).items():
            code = isinstance(value, _CODE) or callable(value) or hasattr(value, "__get__")
            if not code and not name.startswith("__"):
                yield f"{one.__name__}.{name}", value


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that a code and the codes in it look up."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)


def _bytes(value: Any) -> bytes | None:
    try:
        return pickle.dumps(value)
    except Exception:  # noqa: BLE001 - whatever an object of the caller raises
        return None
