"""What a function keeps between its calls, as far as it is in plain sight."""

from __future__ import annotations

import copy
import copyreg
import pickle
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

import numpy as np

from sensitivity_lab.audits.report import AuditReport
from sensitivity_lab.errors import SensitivityLabError

_CODE = (ModuleType, FunctionType, BuiltinFunctionType, MethodType, type)

_GENERATORS = (random.Random, np.random.Generator, np.random.RandomState)

_Held = tuple[str, Any, Callable[[Any], None] | None]
"""A value by its name, and what puts another one there; None where a function's copy has it."""


def kept(function: Callable[..., Any]) -> dict[str, bytes | None]:
    """Return the values that a function can change for its later calls, by their names.

    They are the attributes and slots of its object and the attributes of the object's class, the
    variables around it, its default arguments and those of a partial and of functions that it
    names, and the global variables that it names, with the attributes of their classes. Each is
    shown by its bytes, so that a later call tells what has changed; None is what cannot be written
    as bytes. State that is kept elsewhere, such as inside of other functions, is not seen.

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
    found: dict[str, list[Any]] = {}
    for name, value, _ in _held(function):
        found.setdefault(name, []).append(value)
    return {name: _bytes(values) for name, values in found.items()}


def changed(before: dict[str, bytes | None], after: dict[str, bytes | None]) -> list[str]:
    """Return the names whose values are not those of before; see `kept`."""
    names = dict.fromkeys([*before, *after])
    return [name for name in names if not _same(before.get(name, b""), after.get(name, b""))]


def _same(before: bytes | None, after: bytes | None) -> bool:
    """Tell whether values are the same: an object that equals itself may keep what it computed."""
    # None, what cannot be written, and b"", what is not there, equal only themselves.
    if not before or not after or before == after:
        return before == after
    try:
        return (pickle.loads(before) == pickle.loads(after)) is True
    except Exception:  # noqa: BLE001 - whatever an object of the caller raises
        return False


def first_calls(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function each of whose calls finds what it keeps as it is now; see `kept`.

    What cannot be copied stays, and so do default arguments, and generators: their draws would be
    the same in all calls, as if they were data.

    Examples
    --------
    >>> from itertools import count
    >>> numbers = count()
    >>> def release(data):
    ...     return next(numbers)
    >>> first = first_calls(release)
    >>> first([1]), first([1]), first([1])
    (0, 0, 0)
    """
    held = _puts(function)
    before = _copies([function, *(value for _, value in held)])

    def call(*arguments: Any) -> Any:
        # A copy of the copies for each call, so that no call changes what the next one finds.
        own, *values = _copies(before)
        _put_back((put, value) for (put, _), value in zip(held, values, strict=True))
        return own(*arguments)

    return call


def judged_by_first_calls(
    function: Callable[..., Any], judge: Callable[[Callable[..., Any]], AuditReport]
) -> AuditReport:
    """Return the report on a function; where its first calls are judged otherwise, it is open.

    What a function keeps may be a list of its calls, which changes no answer.
    """
    before, first = kept(function), first_calls(function)
    report = judge(function)
    left = changed(before, kept(function))
    held = _puts(function)
    try:
        if not left or _verdicts(judge(first)) == _verdicts(report):
            return report
    except SensitivityLabError:
        pass  # first calls are no function
    finally:
        _put_back(held)
    state = (
        f"the function keeps {', '.join(left)} from one call to the next; make what is kept anew "
        "in every call"
    )
    return replace(report, notes=(*report.notes, state), unjudged=(*report.unjudged, state))


def _puts(function: Callable[..., Any]) -> list[tuple[Callable[[Any], None], Any]]:
    """Return what puts a value back, and the value, of all that is kept outside of a function."""
    return [(put, value) for _, value, put in _held(function) if put]


def _put_back(held: Iterable[tuple[Callable[[Any], None], Any]]) -> None:
    for put, value in held:
        with suppress(AttributeError, TypeError):  # a class in C lets nothing be put
            put(value)


def _verdicts(report: AuditReport) -> list[Any]:
    return [(row.verdict, row.truth) for row in report.rows]


def _copies(values: Iterable[Any]) -> list[Any]:
    """Return copies that share what the values share; generators are not copied."""
    # One memo for all: what two values share, their copies share, too.
    memo: dict[int, Any] = {}
    table = copyreg.dispatch_table
    others = table.copy()
    table.update(dict.fromkeys(_GENERATORS, lambda _: "as it is"))  # a name stands for the same
    try:
        return [_copied(value, memo) for value in values]
    finally:
        table.clear()
        table.update(others)


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    try:
        return copy.deepcopy(value, memo)
    except Exception:  # noqa: BLE001 - whatever an object of the caller raises
        return value


def _held(function: Any) -> Iterator[_Held]:
    """Yield what `kept` lists; of a class, its attributes."""
    if isinstance(function, partial):
        for name, value in [*enumerate(function.args), *function.keywords.items()]:
            yield f"argument {name}", value, None
        yield from _held(function.func)
    elif isinstance(function, MethodType):
        owner = function.__self__
        yield from _of_class(owner) if isinstance(owner, type) else _of_object(owner)
        yield from _held(function.__func__)
    elif isinstance(function, FunctionType):
        for held in _within_reach(function):
            yield from _below(*held)
    elif not isinstance(function, _CODE):
        yield from _of_object(function)
        yield from _held(type(function).__call__)


def _below(name: str, value: Any, put: Callable[[Any], None] | None) -> Iterator[_Held]:
    """Yield what is kept in a variable that a function can name."""
    if isinstance(value, type):
        yield from _of_class(value)
    elif isinstance(value, FunctionType):
        # What another function keeps is not in plain sight, but for the one that a decorator wraps.
        yield from _held(value) if name == "__wrapped__" else _defaults(value)
    elif not isinstance(value, _CODE):
        yield name, value, put
        yield from _of_class(type(value))


def variables_around(function: FunctionType | type) -> dict[str, Any]:
    """Return the variables that a function or class can name without a dot."""
    if isinstance(function, type):
        return dict(vars(sys.modules[function.__module__]))
    found = dict(function.__globals__)
    for name, cell in _cells(function):
        with suppress(ValueError):  # it has no value yet
            found[name] = cell.cell_contents
    return found


def _cells(function: FunctionType) -> Iterator[tuple[str, CellType]]:
    return zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)


def _within_reach(function: FunctionType) -> Iterator[_Held]:
    """Yield the variables around a function that it names, its attributes and its defaults."""
    there, cells = variables_around(function), dict(_cells(function))
    for name in dict.fromkeys([*_names(function.__code__), *cells]):
        if name in there:
            # A name in a cell hides a global one.
            put = partial(function.__globals__.__setitem__, name)
            if name in cells:
                put = partial(setattr, cells[name], "cell_contents")
            yield name, there[name], put
    for name, value in vars(function).items():
        yield name, value, partial(setattr, function, name)
    yield from _defaults(function)


def _defaults(function: FunctionType) -> Iterator[_Held]:
    """Yield the default arguments of a function itself, not of one that it wraps."""
    code, given = function.__code__, function.__defaults__ or ()
    # Defaults belong to the last positional arguments.
    names = code.co_varnames[code.co_argcount - len(given) : code.co_argcount]
    for name, value in [
        *zip(names, given, strict=True),
        *(function.__kwdefaults__ or {}).items(),
    ]:
        yield name, value, None


def _of_object(owner: Any) -> Iterator[_Held]:
    """Yield the slots and attributes of an object, and the attributes of its class."""
    for one in type(owner).__mro__:
        for name, slot in vars(one).items():
            # A slot without a value raises AttributeError.
            if isinstance(slot, MemberDescriptorType) and hasattr(owner, name):
                yield name, getattr(owner, name), None
    for name, value in getattr(owner, "__dict__", {}).items():
        yield name, value, None
    yield from _of_class(type(owner))


def _of_class(owner: type) -> Iterator[_Held]:
    """Yield what a class and its bases hold that is not Python's own: of methods the defaults."""
    # The last one is `object`.
    for one in owner.__mro__[:-1]:
        for name, value in vars(one).items():
            code = isinstance(value, _CODE) or callable(value) or hasattr(value, "__get__")
            if isinstance(value, FunctionType):
                yield from _defaults(value)
            elif not code and not name.startswith("__"):
                yield f"{one.__name__}.{name}", value, partial(setattr, one, name)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that a code and the codes in it look up."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)


def _bytes(values: list[Any]) -> bytes | None:
    try:
        return pickle.dumps(values)
    except Exception:  # noqa: BLE001 - whatever an object of the caller raises
        return None
