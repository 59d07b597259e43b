"""Who holds an object: modules, instances, classes, closures, defaults, dicts and lists.

A generator that an instance or a closure holds is drawn from under no name of a module, so its
holders are found as the garbage collector finds them, and each gets a stand-in for a while.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from types import CellType, FunctionType, MemberDescriptorType
from typing import Any


class Kept:
    """Holds an object that no stand-in replaces here: the stand-in itself needs it."""

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held


@dataclass(frozen=True)
class Holder:
    """A place that holds an object: how to read it, and how to put another object there."""

    read: Callable[[], Any]
    put: Callable[[Any], None]


@contextmanager
def replaced(stand_ins: Mapping[int, tuple[Any, Any]]) -> Iterator[None]:
    """Replace objects by their stand-ins wherever they are held, and put them back at the end.

    What the code itself replaces in between is left as it is.

    Parameters
    ----------
    stand_ins : mapping
        For the id of each object, the object and its stand-in.

    Examples
    --------
    >>> word, other = ["old"], ["new"]
    >>> held = {"here": word}
    >>> with replaced({id(word): (word, other)}):
    ...     held["here"]
    ['new']
    >>> held["here"]
    ['old']
    """
    with _thawed():
        found = _found(stand_ins)
    with ExitStack() as undo:
        for holder, original, stand_in in found:
            with suppress(AttributeError, TypeError):  # what cannot be changed stays as it is
                holder.put(stand_in)
            undo.callback(_put_back, holder, original, stand_in)
        yield


@contextmanager
def _thawed() -> Iterator[None]:
    """Let the garbage collector see what was frozen, which it neither searches nor finds."""
    frozen = gc.get_freeze_count() > 0
    if frozen:
        gc.unfreeze()
    try:
        yield
    finally:
        if frozen:
            gc.freeze()


def _found(stand_ins: Mapping[int, tuple[Any, Any]]) -> list[tuple[Holder, Any, Any]]:
    """Return the holders of some objects, each with the object and its stand-in."""
    originals = [original for original, _ in stand_ins.values()]
    ours = {id(one) for one in (originals, *stand_ins.values())}
    referrers = [one for one in gc.get_referrers(*originals) if id(one) not in ours]
    return [
        (holder, *stand_ins[id(held)])
        for holder, held in _holders(referrers)
        if id(held) in stand_ins
    ]


def _put_back(holder: Holder, original: Any, stand_in: Any) -> None:
    if holder.read() is stand_in:
        holder.put(original)


def _holders(referrers: list[Any]) -> Iterator[tuple[Holder, Any]]:
    """Yield all places of some referrers, with what they hold.

    The dict of a class is changed through the class, since Python remembers what it looked up
    there; and the tuple of a function's defaults through the function.
    """
    modules = {id(getattr(module, "__dict__", None)) for module in list(sys.modules.values())}
    owned = [one for one in referrers if type(one) in (dict, tuple) and id(one) not in modules]
    owners = gc.get_referrers(*owned) if owned else []
    classes = {
        id(one): owner
        for owner in owners
        if isinstance(owner, type)
        for one in gc.get_referents(owner)
        if type(one) is dict
    }
    for one in referrers:
        if id(one) in classes:
            for name, held in list(one.items()):
                yield _attribute(classes[id(one)], name), held
        else:
            yield from _places(one)
    for function in owners:
        if isinstance(function, FunctionType):
            for place, held in enumerate(function.__defaults__ or ()):
                yield _default(function, place), held


def _places(one: Any) -> Iterator[tuple[Holder, Any]]:
    """Yield the places of a referrer that is no class."""
    if isinstance(one, dict | list):
        for key, held in list(one.items() if isinstance(one, dict) else enumerate(one)):
            yield _item(one, key), held
    elif isinstance(one, CellType):
        yield _attribute(one, "cell_contents"), one.cell_contents
    elif not isinstance(one, tuple | type | Kept):
        yield from _of_instance(one)


def _of_instance(one: Any) -> Iterator[tuple[Holder, Any]]:
    """Yield what an instance holds in its dict and its slots."""
    attributes = getattr(one, "__dict__", None)
    if isinstance(attributes, dict):
        for name, held in list(attributes.items()):
            yield _item(attributes, name), held
    for base in type(one).__mro__:
        for slot in vars(base).values():
            if "__slots__" in vars(base) and isinstance(slot, MemberDescriptorType):
                held = _in_slot(slot, one)
                yield _slot(slot, one), held


def _in_slot(slot: MemberDescriptorType, one: Any) -> Any:
    try:
        return slot.__get__(one)
    except (AttributeError, ValueError):
        return None


def _slot(slot: MemberDescriptorType, one: Any) -> Holder:
    return Holder(lambda: _in_slot(slot, one), lambda new: slot.__set__(one, new))


def _attribute(one: Any, name: str) -> Holder:
    return Holder(
        lambda: vars(one)[name] if isinstance(one, type) else getattr(one, name),
        lambda new: setattr(one, name, new),
    )


def _item(one: Any, key: Any) -> Holder:
    def read() -> Any:
        try:
            return one[key]
        except LookupError:
            return None

    def put(new: Any) -> None:
        one[key] = new

    return Holder(read, put)


def _default(function: FunctionType, place: int) -> Holder:
    def put(new: Any) -> None:
        defaults = function.__defaults__ or ()
        function.__defaults__ = (*defaults[:place], new, *defaults[place + 1 :])

    return Holder(lambda: (function.__defaults__ or ())[place], put)
