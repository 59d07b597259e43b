"""What a function can keep from one call to the next, before and after an audit.

State of the very first call is in all runs alike: no second run shows it. So what a function can
keep is compared: its defaults, attributes and closure, the globals that its code names, the object
that it is a method of, and what these hold. What is installed counts as fixed.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sensitivity_lab.running.fingerprint import NoFingerprintError, fingerprint
from sensitivity_lab.running.reach import is_installed, reached_by

_CACHE = type(functools.cache(len))

_FIXED = (
    *(types.BuiltinFunctionType, types.CodeType, types.ModuleType, property),
    *(types.MemberDescriptorType, types.GetSetDescriptorType, functools.cached_property),
)


@dataclass
class Kept:
    """What a function can keep: by where it stands, what it is; the sizes of caches apart.""""""
    values: dict[str, str] = field(default_factory=dict)
    caches: dict[str, str] = field(default_factory=dict)
    _met: dict[int, tuple[str, Any]] = field(default_factory=dict, repr=False)

    @classmethod
    def by(cls, function: Callable[..., Any]) -> Kept:
        """Return what a function can keep, as it is now."""
        kept = cls()
        waiting = [(getattr(function, "__name__", "the function"), function)]
        while waiting:
            name, value = waiting.pop()
            if id(value) not in kept._met:
                kept._met[id(value)] = name, value  # held, so that no id comes twice
                waiting += kept._add(name, value)
            else:
                kept.values[name] = f"the same as {kept._met[id(value)][0]}"
        return kept

    def unlike(self, earlier: Kept) -> list[str]:
        """Return where something else is kept than earlier."""
        return _unlike(self.values, earlier.values)

    def unlike_caches(self, earlier: Kept) -> list[str]:
        """Return which caches hold other answers than earlier."""
        return _unlike(self.caches, earlier.caches)

    def _add(self, name: str, value: Any) -> list[tuple[str, Any]]:
        """Add a value, and return the values in it that stand for themselves."""
        if isinstance(value, _CACHE):
            self.caches[name] = str(value.cache_info().misses)
            return [(name, value.__wrapped__)]
        if isinstance(value, _FIXED):
            return []
        for kinds, inside in _PROGRAMS:
            if isinstance(value, kinds):
                return list(inside(name, value))
        self.values[name] = type(value).__qualname__
        if type(value) in (list, tuple, dict):
            self.values[name] += f" of {len(value)}"
            entries = value.items() if isinstance(value, dict) else enumerate(value)
            return [(f"{name}[{_shown(key)}]", one) for key, one in entries]
        if not is_installed(type(value).__module__):
            return self._object(name, value)
        with suppress(NoFingerprintError, RecursionError, TypeError):
            self.values[name] = fingerprint(value)
        return []

    def _object(self, name: str, value: Any) -> list[tuple[str, Any]]:
        """Add an object of a class that is not installed."""
        kind = type(value)
        slots = [one for base in kind.__mro__ for one in _slots(base)]
        state = {key: getattr(value, key) for key in slots if hasattr(value, key)}
        state |= getattr(value, "__dict__", {})
        cached = {key for key in state if _is_cached(kind, key)}
        self.caches |= {f"{name}.{key}": "computed" for key in cached}
        held = {key: one for key, one in state.items() if key not in cached}
        self.values[name] += f" with {sorted(held)}"
        with suppress(NoFingerprintError, RecursionError, TypeError):
            if not cached and isinstance(value, dict | list | set):
                self.values[name] = fingerprint(value)
        return [(name, kind), *((f"{name}.{key}", one) for key, one in held.items())]


def _in_class(name: str, kind: type) -> Iterator[tuple[str, Any]]:
    if is_installed(kind.__module__):
        return
    for key, one in vars(kind).items():
        if not _is_special(key) or callable(one):
            yield f"{name}.{key}", getattr(one, "__func__", one)


def _in_function(name: str, function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    if is_installed(function.__module__):
        return
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    held = dict(zip(names, defaults, strict=True))
    held |= {**(function.__kwdefaults__ or {}), **vars(function)}
    yield from ((f"{name}.{key}", one) for key, one in held.items())
    for key, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # an empty cell
            yield key, cell.cell_contents
    reached = reached_by(code)
    for key in sorted(reached.globals & function.__globals__.keys()):
        one = function.__globals__[key]
        if not isinstance(one, types.ModuleType):
            yield key, one
        elif not is_installed(one.__name__):  # what the code names of it
            for part in sorted(reached.attributes & vars(one).keys()):
                yield f"{key}.{part}", vars(one)[part]


def _in_method(name: str, method: types.MethodType) -> Iterator[tuple[str, Any]]:
    yield name, method.__func__
    yield f"{name}.__self__", method.__self__


def _in_partial(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    for key in ("func", "args", "keywords"):
        yield f"{name}.{key}", getattr(value, key)


_PROGRAMS: list[tuple[Any, Callable[[str, Any], Iterator[tuple[str, Any]]]]] = [
    (type, _in_class),
    (types.FunctionType, _in_function),
    (types.MethodType, _in_method),
    (functools.partial, _in_partial),
]
"""What is code, and how to find what it holds."""


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _slots(kind: type) -> tuple[str, ...]:
    """Return the slots of a class, without those of its bases."""
    held = vars(kind).get("__slots__", ())
    return (held,) if isinstance(held, str) else tuple(held)


def _is_cached(kind: type, name: str) -> bool:
    return isinstance(getattr(kind, name, None), functools.cached_property)


def _shown(key: Any) -> str:
    """Return a key of a dict in words that are the same as long as it is."""
    return repr(key) if isinstance(key, str | int | float | tuple) else f"key {id(key)}"


def _unlike(now: dict[str, str], earlier: dict[str, str]) -> list[str]:
    places = {**earlier, **now}
    return [one for one in places if now.get(one) != earlier.get(one)]
