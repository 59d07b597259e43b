"""Fingerprints of what a search is about, so that one search never takes another one's answers.

The fingerprint of a value is a hash of its type and content. That of a function is a hash of what
it does: its bytecode, its defaults and attributes, the variables that it closes over, and what it
reaches by name. What comes with Python or is installed counts by its name and version; other
modules count by their source and their data. What cannot be hashed whole has no fingerprint.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import functools
import hashlib
import importlib
import random
import re
import sys
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .reach import Reached, found_as, is_installed, reached_by, refused, source_of, versioned

_SHOWN = 4
"""So many reasons are listed why something has no fingerprint."""

_TOLD_BY_REPR: Any = (
    *(type(None), bool, int, float, complex, str, Fraction, Decimal, range),
    *(type(Ellipsis), type(NotImplemented), datetime.date, datetime.timedelta),
    *(pd.Timedelta, type(pd.NaT), type(pd.NA)),
)
"""Types whose objects are told by their `repr`; not their subclasses, which can hold more."""

_CONTENT: dict[type, Callable[[Any], Any]] = {
    int: int.__index__,
    float: float.__pos__,
    complex: complex.__pos__,
    str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    bytearray: lambda value: bytes(bytearray.__getitem__(value, slice(None))),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    list: lambda value: tuple(list.__iter__(value)),
    set: lambda value: frozenset(set.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
    dict: lambda value: (
        tuple(dict.items(value)),
        value.default_factory if hasattr(value, "default_factory") else None,
    ),
}
"""Built-in types that hold values, and what these are, also in objects of a subclass."""

_RANDOM: Any = (
    *(random.Random, np.random.Generator, np.random.RandomState, np.random.BitGenerator),
    np.random.SeedSequence,
)

_PYTHON = 1 << 9
"""The flag of classes that are made as the program runs, as all classes in Python are."""

_NOT_TOLD = {
    *("__dict__", "__weakref__", "__annotations__", "__annotate__", "__annotate_func__"),
    *("__annotations_cache__", "__firstlineno__", "_abc_impl", "__orig_bases__", "__parameters__"),
    *("__static_attributes__", "__qualname__", "__module__", "__abstractmethods__"),
}
"""Attributes of a class that do not change what its objects do, or follow from others."""

_OF_ENUMS = {
    *("_value2member_map_", "_member_map_", "_unhashable_values_", "_unhashable_values_map_"),
    *("_hashable_values_", "_member_names_", "_inverted_", "__objclass__", "_sort_order_"),
}
"""Tables of an Enum, some of which grow with its use; its members are told one by one."""


class NoFingerprintError(ValueError):
    """Something has no fingerprint; the text says what."""


def fingerprint(value: Any) -> str:
    """Return the fingerprint of a value, 64 hexadecimal digits; the same in every process.

    Raises
    ------
    NoFingerprintError
        If it holds something whose content cannot be told, such as an open file, or reaches names
        as it runs.

    Examples
    --------
    >>> fingerprint([1, 2]) == fingerprint([1, 2]) != fingerprint([1, 2.0])
    True
    >>> fingerprint(lambda x: x + 1) == fingerprint(lambda x: x + 1) != fingerprint(lambda x: x + 2)
    True
    >>> try:
    ...     fingerprint(lambda x: eval("x + 1"))
    ... except NoFingerprintError as error:
    ...     print(error)
    eval, which answers by more than its arguments
    """
    return _Hasher().of(value)


class _Hasher:
    """Hashes one value and all that it refers to, each object once.

    Objects get numbers in the order in which they are met, and are described in that order; where
    one is met again, its number stands for it. So values may refer to themselves.
    """

    def __init__(self, data_only: bool = False) -> None:
        self._hash = hashlib.sha256()
        self._met: dict[int, tuple[int, Any]] = {}  # holds the objects, so that no id comes twice
        self._waiting: deque[tuple[Any, str]] = deque()
        self._attributes: set[str] = set()
        self._modules: list[tuple[types.ModuleType, str, set[str]]] = []
        self._untold: dict[str, None] = {}
        self._path = ""
        self._data_only = data_only

    def of(self, value: Any) -> str:
        """Return the hash of a value."""
        try:
            self._refer(value)
            while self._waiting or self._look_into_modules():
                if self._waiting:
                    one, self._path = self._waiting.popleft()
                    self._try_to_describe(one)
        except RecursionError:
            self._refuse("values that are nested too deeply")
        if self._untold:
            reasons = list(self._untold)
            more = len(reasons) - _SHOWN
            told = "; ".join(reasons[:_SHOWN])
            raise NoFingerprintError(told + (f"; and {more:,} more" if more > 0 else ""))
        return self._hash.hexdigest()

    def _try_to_describe(self, value: Any) -> None:
        try:
            self._describe(value)
        except (RecursionError, NoFingerprintError):
            raise
        except Exception as error:  # noqa: BLE001 - any class's own errors
            self._refuse(f"something of type {type(value)!r}, which raised {error!r}")

    def _tell(self, *parts: str | bytes) -> None:
        """Add texts to the hash, each with its length, so that no two rows of texts are alike."""
        for part in parts:
            data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            self._hash.update(b"%d:" % len(data))
            self._hash.update(data)

    def _refuse(self, what: str) -> None:
        self._untold[f"{self._path}, {what}" if self._path else what] = None

    def _refer(self, value: Any, name: str = "") -> None:
        """Tell a value: at once if it is plain, else by a number, and what it is later."""
        if self._is_told(value, name):
            return
        if id(value) in self._met:
            self._tell("met", str(self._met[id(value)][0]))
        else:
            self._tell("new")
            self._met[id(value)] = len(self._met), value
            path = ", ".join(filter(None, (self._path, name)))
            self._waiting.append((value, path))

    def _is_told(self, value: Any, name: str) -> bool:
        """Tell a value that cannot change, by its content; return whether it is one."""
        kind = type(value)
        if kind in _TOLD_BY_REPR:
            self._tell(kind.__name__, repr(value))
        elif kind is bytes:
            self._tell("bytes", value)
        elif kind is tuple:
            self._tell("tuple", str(len(value)))
            for one in value:
                self._refer(one, name)
        elif kind is slice:
            self._refer((value.start, value.stop, value.step), name)
        elif kind in (set, frozenset):
            self._set(value)
        elif kind in (datetime.datetime, datetime.time, pd.Timestamp):
            self._tell(kind.__name__, repr(value))
            self._refer(value.tzinfo)
        elif isinstance(value, np.dtype):
            self._tell("dtype", repr(value))
            self._refer(tuple((value.metadata or {}).items()))
        elif isinstance(value, np.generic) and kind.__module__ == "numpy":
            self._tell("scalar", repr(value.dtype))
            self._values(np.asarray(value))
        else:
            return False
        return True

    def _set(self, value: Any) -> None:
        """Tell a set, in the order of its elements' own hashes."""
        hashes = []
        for one in value:
            try:
                hashes.append(_Hasher(self._data_only).of(one))
            except NoFingerprintError as error:
                self._refuse(str(error))
        self._tell(type(value).__name__, *sorted(hashes), "end")

    def _describe(self, value: Any) -> None:
        """Tell what an object is."""
        kind = type(value)
        self._tell("is", kind.__module__, kind.__qualname__)
        if isinstance(value, Enum):
            self._refer(kind)
            self._named({**vars(value), "name": value._name_}, _OF_ENUMS)
        elif isinstance(value, np.ndarray):
            self._refer(kind)
            self._array(value)
        elif isinstance(value, (pd.DataFrame, pd.Series, pd.Index)):
            self._refer(kind)
            self._table(value)
        elif kind is pd.Categorical:
            self._column(value)
        elif kind in (list, dict, bytearray):
            self._refer(_CONTENT[kind](value))
        elif self._data_only:
            self._refuse(f"something of type {kind.__module__}.{kind.__qualname__}")
        else:
            self._program(value)

    def _program(self, value: Any) -> None:
        """Tell what an object is that is not data alone."""
        kind = type(value)
        for kinds, describe in _WAYS:
            # Objects of a subclass can hold more; but classes of a metaclass are classes.
            if isinstance(value, kinds) and (kinds is type or not _is_own(kind)):
                describe(self, value)
                return
        if is_installed(kind.__module__):
            found = found_as(value)
            if found:
                self._installed(*found)
                return
        self._object(value)

    def _named(self, members: Any, without: Iterable[str] = ()) -> None:
        """Tell values by name, in the order of the names."""
        for name in sorted(set(members) - set(without)):
            self._tell("name", name)
            self._refer(members[name], name)

    def _installed(self, module: str, name: str) -> None:
        """Tell something installed by its version."""
        why = refused(module, name)
        if why:
            self._path = self._path.rpartition(", ")[0]  # the reason names it already
            self._refuse(why)
        self._tell("installed", versioned(module, name))

    # Data: arrays, tables.

    def _array(self, array: np.ndarray[Any, Any]) -> None:
        if isinstance(array, np.memmap):
            self._refuse("a memmap, whose file can change")
            return
        plain = np.asarray(array)
        self._refer(plain.dtype)
        self._tell(repr((plain.shape, plain.strides, plain.flags.writeable)))
        self._values(plain)
        if isinstance(array, np.ma.MaskedArray):
            self._refer((np.ma.getmaskarray(array), array.fill_value, bool(array.hardmask)))
        elif type(array) is not np.ndarray and hasattr(array, "__dict__"):
            self._named(vars(array))
        if _is_own(type(array)):
            self._slots(array)

    def _values(self, plain: np.ndarray[Any, Any]) -> None:
        if plain.dtype.hasobject:
            self._refer(tuple(plain.ravel().tolist()))
        else:
            self._tell(np.ascontiguousarray(plain).tobytes())

    def _table(self, table: Any) -> None:
        if _is_own(type(table)):
            self._refuse(f"something of type {type(table).__module__}.{type(table).__qualname__}")
        elif isinstance(table, pd.DataFrame):
            self._refer((table.columns, table.index, dict(table.attrs)))
            self._tell(str(table.flags.allows_duplicate_labels))
            for at in range(table.shape[1]):
                self._column(table.iloc[:, at])
        elif isinstance(table, pd.Series):
            self._refer((table.name, table.index, dict(table.attrs)))
            self._tell(str(table.flags.allows_duplicate_labels))
            self._column(table)
        elif isinstance(table, pd.MultiIndex):
            self._refer(tuple(table.names))
            for level, codes in zip(table.levels, table.codes, strict=True):
                self._refer((level, np.asarray(codes)))
        else:
            self._refer(table.name)
            self._tell(repr(getattr(table, "freq", None)))
            self._column(table)

    def _column(self, column: Any) -> None:
        """Tell the values of a column or of an index."""
        kind = column.dtype
        self._tell(repr(kind))
        if isinstance(kind, pd.CategoricalDtype):
            codes = column.cat.codes if isinstance(column, pd.Series) else column.codes
            self._refer((np.asarray(codes), kind.categories, bool(kind.ordered)))
        elif isinstance(kind, np.dtype) and not kind.hasobject:
            self._refer(column.to_numpy())
        else:
            self._refer(tuple(column.tolist()))

    # Programs: functions, classes, modules.

    def _code(self, code: types.CodeType) -> None:
        self._tell(code.co_code, getattr(code, "co_exceptiontable", b""), code.co_name)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        self._tell(repr((names, counts)))
        self._refer(code.co_consts)

    def _function(self, function: types.FunctionType) -> None:
        found = found_as(function)
        if found:
            self._installed(*found)
            return
        context = decimal.getcontext()
        self._tell(repr((context.prec, context.rounding, context.Emin, context.Emax)))
        self._tell(function.__name__, function.__qualname__, repr(function.__doc__))
        code = function.__code__
        self._refer((code, function.__defaults__, function.__kwdefaults__, vars(function)))
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            self._tell("cell", name)
            try:
                self._refer(cell.cell_contents, name)
            except ValueError:
                self._tell("empty")
        module = function.__globals__.get("__name__")
        if isinstance(module, str) and _is_of_installed(module, function):
            # Made by installed code: what that reaches counts by its version, too.
            self._tell(versioned(module))
        else:
            self._reach(function, reached_by(code))

    def _reach(self, function: types.FunctionType, reached: Reached) -> None:
        """Tell what a function reaches by name."""
        for what in sorted(reached.untold):
            self._refuse(what)
        builtin: Any = getattr(function, "__builtins__", {})
        for name in sorted(reached.globals):
            # As Python does: among the globals first, then among the builtins.
            for place in (function.__globals__, builtin):
                if name in place:
                    self._tell("global", name)
                    self._refer(place[name], name)
                    break
            else:
                self._tell("undefined", name)
        for name, taken, level in sorted(reached.imports):
            self._tell("import", name, repr((taken, level)))
            self._import(function, name, taken, level)
        self._attributes |= reached.attributes

    def _import(
        self, function: types.FunctionType, name: str, taken: tuple[str, ...], level: int
    ) -> None:
        """Tell the modules that a function imports as it runs."""
        try:
            package = function.__globals__.get("__package__") or ""
            full = importlib.util.resolve_name("." * level + name, package)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                __import__(full, fromlist=taken)
        except Exception:  # noqa: BLE001 - what the module raises; the function may expect it
            self._tell("cannot be imported")
            return
        # The parents too: `import a.b` binds a.
        parts = full.split(".")
        for end in range(len(parts)):
            self._refer(sys.modules.get(".".join(parts[: end + 1])), name)

    def _module(self, module: types.ModuleType) -> None:
        """Tell a module: by its version, or by its source and its data.

        What else the function reaches of it is told when all names are known.
        """
        if is_installed(module.__name__):
            self._tell(versioned(module.__name__))
        else:
            source = source_of(module)
            if source is None:
                self._refuse(f"the module {module.__name__}, which has no source file")
                return
            self._tell(source)
            for name, value in sorted(vars(module).items()):
                if isinstance(value, types.ModuleType):
                    if not is_installed(value.__name__):
                        self._tell("module", name)
                        self._refer(value, name)
                elif not (name.startswith("__") and name.endswith("__")):
                    with suppress(NoFingerprintError):  # it counts if the function reaches it
                        self._tell("data", name, _Hasher(data_only=True).of(value))
            if "__getattr__" in vars(module):
                self._refer(vars(module)["__getattr__"], "__getattr__")
        self._modules.append((module, self._path, set()))

    def _look_into_modules(self) -> bool:
        """Tell what attributes that code names are in modules; return whether any is new."""
        for place, (module, path, done) in enumerate(self._modules):
            self._path = path
            for name in sorted(self._attributes - done):
                done.add(name)
                value = _attribute(module, name)
                if value is _MISSING:
                    continue
                if is_installed(module.__name__):
                    why = refused(module.__name__, name)
                    if why:
                        self._refuse(why)
                        continue
                self._tell("of module", str(place), name)
                self._refer(value, name)
        return bool(self._waiting)

    def _builtin(self, function: Any) -> None:
        found = found_as(function)
        if found:
            self._installed(*found)
            return
        owner = getattr(function, "__self__", None)
        if owner is None or isinstance(owner, types.ModuleType):
            self._refuse(f"{function.__name__}, compiled code that is not installed")
            return
        self._tell(function.__name__)
        self._refer(owner)

    def _ufunc(self, function: Any) -> None:
        found = found_as(function)
        if not found:
            self._refuse(f"the ufunc {function.__name__}, which can be of any function")
            return
        self._installed(*found)

    def _member(self, member: Any) -> None:
        """Tell a method or an attribute that a class in C has, or a slot."""
        self._tell(member.__name__)
        self._refer(member.__objclass__)

    def _cached(self, function: Any) -> None:
        if function.cache_info().currsize:
            self._refuse("a cache that holds answers already; empty it with .cache_clear()")
        self._refer((function.__wrapped__, function.cache_parameters(), vars(function)))

    def _class(self, kind: type) -> None:
        found = found_as(kind)
        if found or (is_installed(kind.__module__) and not kind.__flags__ & _PYTHON):
            self._installed(*(found or (kind.__module__, kind.__qualname__)))
            return
        self._tell(kind.__qualname__)
        self._refer((type(kind), kind.__mro__[1:]))
        members = dict(vars(kind))
        without = _NOT_TOLD
        if issubclass(kind, Enum):
            without = without | _OF_ENUMS | set(kind.__members__)
            for name, member in kind.__members__.items():
                self._tell("member", name)
                self._refer(member, name)
        if "_abc_impl" in members:
            self._refer(_registered(kind))
        self._named(members, without)

    def _object(self, value: Any) -> None:
        """Tell an object by its class and its state."""
        kind = type(value)
        if isinstance(value, _RANDOM):
            self._refuse("a random generator")
        elif isinstance(value, Path):
            self._refuse("a path, where files can change")
        elif hasattr(kind, "__next__"):
            self._refuse(f"an iterator of type {kind.__qualname__}, which calls use up")
        elif kind.__module__.partition(".")[0] == "sensitivity_lab":
            self._own_object(value)
        elif _is_own(kind):
            self._refer(kind)
            self._state(value)
        else:
            self._refer(kind)
            self._reduced(value)

    def _own_object(self, value: Any) -> None:
        """Tell an object of this library."""
        told = getattr(value, "fingerprinted", None)
        if told is not None:
            self._refer(told())
        elif dataclasses.is_dataclass(value):
            self._named({one.name: getattr(value, one.name) for one in dataclasses.fields(value)})
        else:
            self._named(vars(value))

    def _state(self, value: Any) -> None:
        """Tell the state of an object of a class that is not installed."""
        kind = type(value)
        content = next((base for base in _CONTENT if isinstance(value, base)), None)
        if content is not None:
            self._refer(_CONTENT[content](value))
        elif _hides_state(kind):
            self._refuse(f"something of type {kind.__module__}.{kind.__qualname__}")
            return
        if hasattr(value, "__dict__"):
            self._named(vars(value))
        self._slots(value)

    def _slots(self, value: Any) -> None:
        for base in type(value).__mro__:
            if "__slots__" not in vars(base):
                continue
            for name, member in sorted(vars(base).items()):
                if isinstance(member, types.MemberDescriptorType):
                    self._tell("slot", name)
                    try:
                        self._refer(member.__get__(value), name)
                    except AttributeError:
                        self._tell("unset")

    def _reduced(self, value: Any) -> None:
        """Tell an object of an installed class by what would be pickled of it."""
        kind = type(value)
        try:
            told = value.__reduce_ex__(4)
        except Exception:  # noqa: BLE001 - any class's own errors
            told = None
        why = refused(kind.__module__, kind.__qualname__)
        if why or not isinstance(told, tuple):
            self._refuse(why or f"something of type {kind.__module__}.{kind.__qualname__}")
            return
        for at, part in enumerate(told):
            # The fourth and fifth are iterators over what a list or a mapping holds.
            self._refer(tuple(part) if at in (3, 4) and part is not None else part)


_MISSING = object()

_WAYS: list[tuple[Any, Callable[[_Hasher, Any], None]]] = [
    (type, _Hasher._class),
    (types.ModuleType, _Hasher._module),
    (types.CodeType, _Hasher._code),
    (types.FunctionType, _Hasher._function),
    (types.MethodType, lambda self, v: self._refer((v.__func__, v.__self__))),
    (functools.partial, lambda self, v: self._refer((v.func, v.args, v.keywords, vars(v)))),
    (functools.partialmethod, lambda self, v: self._refer((v.func, v.args, v.keywords))),
    ((types.BuiltinFunctionType, types.MethodWrapperType), _Hasher._builtin),
    (np.ufunc, _Hasher._ufunc),
    (
        np.vectorize,
        lambda self, v: self._refer((v.pyfunc, v.otypes, v.signature, v.excluded, v.cache)),
    ),
    (
        (
            *(types.MethodDescriptorType, types.WrapperDescriptorType),
            *(types.ClassMethodDescriptorType, types.GetSetDescriptorType),
            types.MemberDescriptorType,
        ),
        _Hasher._member,
    ),
    (property, lambda self, v: self._refer((v.fget, v.fset, v.fdel, v.__doc__))),
    ((staticmethod, classmethod), lambda self, v: self._refer((v.__func__, vars(v)))),
    (functools.cached_property, lambda self, v: self._refer((v.func, v.attrname))),
    (type(functools.cache(len)), _Hasher._cached),
    (types.MappingProxyType, lambda self, v: self._refer(dict(v))),
    (re.Pattern, lambda self, v: self._refer((v.pattern, v.flags))),
]
"""What an object that is no data is, and how it is told."""


def _is_own(kind: type) -> bool:
    """Tell whether a class is neither installed nor built in."""
    return not is_installed(kind.__module__) or (
        bool(kind.__flags__ & _PYTHON) and found_as(kind) is None
    )


def _is_of_installed(module: str, function: types.FunctionType) -> bool:
    """Tell whether a function is one of the code of an installed module, such as a wrapper."""
    return is_installed(module) and vars(sys.modules[module]) is function.__globals__


def _attribute(module: types.ModuleType, name: str) -> Any:
    """Return what a module has under a name; `_MISSING` if nothing."""
    if name in vars(module):
        return vars(module)[name]
    if not is_installed(module.__name__):
        return _MISSING  # its own `__getattr__` is told as a function
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(module, name, _MISSING)  # which may import it
    except Exception:  # noqa: BLE001 - a module's own errors
        return _MISSING


def _hides_state(kind: type) -> bool:
    """Tell whether objects of a class hold more than attributes and slots, as pickle asks it."""
    slots = sum(
        isinstance(member, types.MemberDescriptorType)
        for base in kind.__mro__
        if "__slots__" in vars(base)
        for member in vars(base).values()
    )
    pointers = slots + bool(kind.__dictoffset__) + bool(kind.__weakrefoffset__)
    room = object.__basicsize__ + tuple.__itemsize__ * pointers
    return kind.__basicsize__ > room or kind.__itemsize__ > 0


def _registered(kind: Any) -> tuple[str, ...]:
    """Return the names of the classes that count as subclasses of an abstract one."""
    from _abc import _get_dump  # type: ignore[import-not-found]

    every = [one() for one in _get_dump(kind)[0]]
    return tuple(sorted(f"{one.__module__}.{one.__qualname__}" for one in every if one))
