"""Fingerprints of what a search is about, so that one search never takes another one's answers.

The fingerprint of a value is a hash of its type and content. That of a function is a hash of what
it does: its bytecode, its defaults, the variables that it closes over, and the global ones that it
uses. What comes with Python or is installed counts by its name and version.
"""

from __future__ import annotations

import builtins
import dataclasses
import datetime
import dis
import functools
import hashlib
import sys
import sysconfig
import types
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

_INSTALLED = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
"""Where modules are that count by their name and version."""


_PLAIN: Any = object.__reduce_ex__
"""Of classes whose objects are told by their attributes alone."""


class NoFingerprintError(ValueError):
    """Something has no fingerprint; the text says what."""


def fingerprint(value: Any) -> str:
    """Return the fingerprint of a value, 64 hexadecimal digits; the same in every process.

    Raises
    ------
    NoFingerprintError
        If it holds something whose content cannot be told, such as an open file.

    Examples
    --------
    >>> fingerprint([1, 2]) == fingerprint([1, 2]) != fingerprint([1, 2.0])
    True
    >>> fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 1) != fingerprint(lambda x: x + 2)
    True
    """
    return _Hasher().of(value)


class _Hasher:
    """Hashes one value and what it refers to."""

    def __init__(self) -> None:
        self.open: dict[int, int] = {}
        """What is being hashed, from the outside in: it may refer to itself."""

    def of(self, value: Any) -> str:
        """Return the hash of a value."""
        if id(value) in self.open:
            return f"the value {self.open[id(value)]} levels from the top"
        self.open[id(value)] = len(self.open)
        hashed = hashlib.sha256()
        try:
            for part in self._parts(value):
                hashed.update(b"%d:" % len(part))
                hashed.update(part)
        finally:
            del self.open[id(value)]
        return hashed.hexdigest()

    def _parts(self, value: Any) -> Iterator[bytes]:
        """Yield what tells a value from others."""
        kind = type(value)
        yield f"{kind.__module__}.{kind.__qualname__}".encode()
        for kinds, parts in self._ways():
            if isinstance(value, kinds):
                yield from parts(value)
                return
        yield from self._object(value)

    def _ways(self) -> Iterator[tuple[Any, Callable[[Any], Iterator[bytes]]]]:
        yield (bytes, bytearray), lambda value: iter([bytes(value)])
        yield Enum, lambda value: iter([value.name.encode()])
        yield (type(None), bool, int, float, complex, str, Fraction, Decimal), _written
        yield (range, slice, type(Ellipsis), np.dtype), _written
        yield (datetime.date, datetime.time, datetime.timedelta, pd.Timestamp), _written
        yield np.ndarray, self._array
        yield np.generic, lambda value: self._array(np.asarray(value))
        yield (pd.DataFrame, pd.Series, pd.Index), self._table
        yield (tuple, list), lambda value: (self.of(one).encode() for one in value)
        yield (set, frozenset), lambda value: iter(sorted(self.of(one).encode() for one in value))
        yield Mapping, lambda value: self._parts(list(value.items()))
        yield types.CodeType, self._code
        yield types.FunctionType, self._function
        yield types.MethodType, lambda value: self._parts((value.__func__, value.__self__))
        yield functools.partial, lambda v: self._parts((v.func, v.args, v.keywords))
        yield (types.BuiltinFunctionType, np.ufunc), self._builtin
        yield types.ModuleType, lambda value: iter([_versioned(value.__name__).encode()])
        yield type, self._class

    def _array(self, array: np.ndarray[Any, Any]) -> Iterator[bytes]:
        yield array.dtype.str.encode()
        yield repr(array.shape).encode()
        if array.dtype.hasobject:
            yield from self._parts(array.ravel().tolist())
        else:
            yield np.ascontiguousarray(array).tobytes()

    def _table(self, table: Any) -> Iterator[bytes]:
        if isinstance(table, pd.DataFrame):
            yield from self._parts([(name, table.iloc[:, at]) for at, name in enumerate(table)])
            yield self.of(table.index).encode()
        else:
            yield str(table.dtype).encode()
            yield self.of(table.name).encode()
            yield self.of(table.tolist()).encode()

    def _code(self, code: types.CodeType) -> Iterator[bytes]:
        yield code.co_code
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        yield repr((names, code.co_argcount, code.co_kwonlyargcount, code.co_flags)).encode()
        yield self.of(code.co_consts).encode()

    def _function(self, function: types.FunctionType) -> Iterator[bytes]:
        if _is_installed(function.__module__) and _is_found(function):
            yield _versioned(function.__module__, function.__qualname__).encode()
            return
        yield self.of(function.__code__).encode()
        yield self.of((function.__defaults__, function.__kwdefaults__)).encode()
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        for name, cell in cells:
            yield name.encode()
            try:
                yield self.of(cell.cell_contents).encode()
            except NoFingerprintError as error:
                raise NoFingerprintError(f"{name}, {error}") from None
        for name in sorted(set(_globals_of(function.__code__))):
            if name in function.__globals__:
                yield name.encode()
                try:
                    yield self.of(function.__globals__[name]).encode()
                except NoFingerprintError as error:
                    raise NoFingerprintError(f"{name}, {error}") from None

    def _builtin(self, function: Any) -> Iterator[bytes]:
        owner = getattr(function, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType):
            yield self.of(owner).encode()
        module = getattr(function, "__module__", None) or "numpy"
        yield _versioned(module, function.__name__).encode()

    def _class(self, kind: type) -> Iterator[bytes]:
        if _is_installed(kind.__module__):
            yield _versioned(kind.__module__, kind.__qualname__).encode()
            return
        yield kind.__qualname__.encode()
        yield from (self.of(base).encode() for base in kind.__bases__)
        for name, member in sorted(vars(kind).items()):
            if name not in ("__dict__", "__weakref__", "__module__", "__doc__", "__annotations__"):
                yield name.encode()
                if isinstance(member, (staticmethod, classmethod)):
                    member = member.__func__
                elif isinstance(member, property):
                    member = (member.fget, member.fset, member.fdel)
                yield self.of(member).encode()

    def _object(self, value: Any) -> Iterator[bytes]:
        """Yield what tells an object from others of its class: its attributes."""
        told = getattr(value, "fingerprinted", None)
        if callable(told) and not isinstance(value, type):
            yield from self._parts(told())
            return
        if dataclasses.is_dataclass(value):
            names = [field.name for field in dataclasses.fields(value)]
            attributes = {name: getattr(value, name) for name in names}
        elif hasattr(value, "__dict__") and getattr(type(value), "__reduce_ex__", None) is _PLAIN:
            attributes = vars(value)
        else:
            kind = type(value)
            raise NoFingerprintError(f"something of type {kind.__module__}.{kind.__qualname__}")
        yield self.of(type(value)).encode()
        yield from self._parts(attributes)


def _written(value: Any) -> Iterator[bytes]:
    yield repr(value).encode("utf-8", "surrogatepass")


def _globals_of(code: types.CodeType) -> Iterator[str]:
    """Yield the names of global variables that a function uses, and the functions inside it."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            name = str(instruction.argval)
            if not hasattr(builtins, name):
                yield name
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals_of(constant)


@functools.cache
def _is_installed(module: str | None) -> bool:
    """Tell whether a module comes with Python or is installed, so that its version tells it."""
    if module is None or module == "__main__":
        return False
    if module.partition(".")[0] in ("sensitivity_lab", *sys.builtin_module_names):
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and str(Path(file).resolve()).startswith(_INSTALLED)


def _is_found(function: types.FunctionType) -> bool:
    """Tell whether a function is what its module has under its name, and not made by another."""
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function


@functools.cache
def _versioned(module: str, name: str = "") -> str:
    """Return the name of something installed, with the version of the package that it is from."""
    package = module.partition(".")[0]
    version = getattr(sys.modules.get(package), "__version__", None)
    if version is None:
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            version = ".".join(map(str, sys.version_info[:3]))
    return f"{module} {name} {version}"
