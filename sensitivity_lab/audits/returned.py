"""Take return values apart, to compare them part by part."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sensitivity_lab.checks import unboxed
from sensitivity_lab.metrics.cells import key_of

Path = tuple[Hashable, ...]
"""Where a part stands in a returned value."""

Parts = dict[Path, Hashable]
"""The parts of a returned value by where they stand."""

AGAIN = 8
"""How often both datasets of a pair are run again, to tell data from chance."""

ENTRIES = "number of entries"
"""The name under which the size of a value stands among its parts."""

NOTHING: Parts = {(): None}
"""The parts of None."""

_DEPTH = 20
"""What is nested deeper is one part, which is equal to nothing."""

_OWN = __name__.rpartition("returned")[0]
"""Wrappers of the audits themselves keep some fields for reports only, with ``compare=False``."""


_ABSENT = object()


class Part:
    """A value that is one part whatever it holds, and is left as it is: a symbol for a draw."""

    def decided(self) -> Any:
        """Return the number that it stands for, once it was needed: as the name of an entry."""
        raise NotImplementedError


class _Opaque:
    """A part that has no equality to rely on: it is equal to nothing but itself."""


def parts(value: Any, typed: bool = False) -> Parts:
    """Return the parts of a returned value by where they stand.

    With each sequence, mapping, array and table stand its type, its size and the order of its
    names; with a table or column also names, attributes and categories.

    Parameters
    ----------
    value : Any
        A number, text or array, a table of pandas or Polars, or such things in sequences, mappings
        and dataclasses. The order of a set says nothing, that of a mapping does. NaN equals NaN.
    typed : bool, default False
        Whether the types of numbers count too: 1, 1.0, True and ``np.float32(1)`` differ then, and
        so do 0.0 and -0.0, and arrays or columns of different dtypes.

    Returns
    -------
    dict
        Two values are equal if their parts are. An object that Python compares only by identity
        equals nothing else.

    Examples
    --------
    >>> parts((1.5, {"sizes": [2]}))[1, "sizes", 0]
    2
    >>> parts({1, 2}) == parts({2, 1}), parts([float("nan")]) == parts([float("nan")])
    (True, True)
    >>> parts({"a": 1, "b": 2}) == parts({"b": 2, "a": 1})
    False
    >>> parts(1) == parts(1.0), parts(1, typed=True) == parts(1.0, typed=True)
    (True, False)
    >>> parts(object()) == parts(object())
    False
    """
    found: Parts = {}
    _collect(value, (), found, typed)
    return found


def whole_key(value: Any) -> Hashable:
    """Return what two values share that are equal part by part, with their types.

    Examples
    --------
    >>> whole_key([1, "a"]) == whole_key([1, "a"]), whole_key([1]) == whole_key([1.0])
    (True, False)
    """
    return frozenset(parts(value, typed=True).items())


def bare(part: Hashable) -> Hashable:
    """Return a number, or what else stands in a typed part, without its type."""
    return part.value if isinstance(part, _Typed) else part


def incomparable(part: Hashable) -> type | None:
    """Return the type of a typed part that equals nothing but itself; else None.

    Examples
    --------
    >>> [incomparable(parts(value, typed=True)[()]) for value in (object(), 1)]
    [<class 'object'>, None]
    """
    if isinstance(part, _Typed):
        by_identity = vars(object)["__eq__"]
        alone = isinstance(part.value, _Opaque) or part.kind.__eq__ is by_identity
        return part.kind if alone else None
    return None


def place_of(path: Path) -> str:
    """Return in words where a part of a release stands.

    Examples
    --------
    >>> place_of((1, "sizes"))
    "release[1]['sizes']"
    """
    return "release" + "".join(f"[{name!r}]" for name in path if name != ENTRIES)


@dataclass
class Chance:
    """The parts of returned values that differ between runs on one dataset, and are not compared.

    Attributes
    ----------
    paths : set of Path
        Where these parts stand.

    Examples
    --------
    >>> chance = Chance()
    >>> chance.learn(parts([1, 0.3]), parts([1, 0.8]))
    >>> chance.paths, chance.differing(parts([1, 0.3]), parts([2, 0.5]))
    ({(1,)}, {(0,)})
    """

    paths: set[Path] = field(default_factory=set)

    def learn(self, known: Parts, again: Parts) -> None:
        """Take in what another run on a dataset returned: what differs then is chance."""
        self.paths |= self.differing(known, again)

    def differing(self, one: Parts, two: Parts) -> set[Path]:
        """Return where two returned values differ, except by chance."""
        return {
            path
            for path in one.keys() | two.keys()
            if path not in self.paths and one.get(path, _ABSENT) != two.get(path, _ABSENT)
        }

    def note(self) -> tuple[str, ...]:
        """Return what a report says of it, if anything."""
        if not self.paths:
            return ()
        return (
            "some of what is returned differs between two runs with the same data and releases "
            "(chance, or an object without an equality), and is not compared",
        )


class _Typed(NamedTuple):
    """A part with its type, and whether it is -0.0."""

    kind: type
    negative: bool
    value: Hashable


def _collect(value: Any, path: Path, found: Parts, typed: bool) -> None:
    """Add the parts of a value that stands somewhere."""
    inner = _inner(value, typed) if len(path) < _DEPTH else None
    if inner is None:
        found[path] = _single(value, typed)
        return
    size, entries = inner
    found[*path, ENTRIES] = _kind(value), size
    for name, entry in entries:
        _collect(entry, (*path, name), found, typed)


_Inner = tuple[Hashable, Iterable[tuple[Hashable, Any]]]


def _inner(value: Any, typed: bool) -> _Inner | None:
    """Return the size or the names of a value that has entries, and the entries, or None."""
    if isinstance(value, str | bytes | AbstractSet | Part):
        return None
    if isinstance(value, Mapping):
        named = [
            (name.decided() if isinstance(name, Part) else name, entry)
            for name, entry in value.items()
        ]
        names = tuple(_single(name, typed) for name, _ in named)
        return names, ((key_of(name), entry) for name, entry in named)
    if isinstance(value, list | tuple):
        return getattr(value, "_fields", len(value)), enumerate(value)
    if isinstance(value, np.void) and value.dtype.names:
        return _dtype(value.dtype, typed), zip(value.dtype.names, value.tolist(), strict=True)
    if isinstance(value, pd.DataFrame | pd.Series | pd.Index | pd.Categorical):
        return _of_pandas(value, typed)
    if type(value).__module__.startswith("polars.") and hasattr(value, "lazy"):
        table = value.lazy().collect()
        kinds = tuple(map(str, table.dtypes)) if typed else ()
        names = tuple(table.columns)
        return (table.shape, names, kinds), iter(table.to_dict(as_series=False).items())
    if is_dataclass(value) and not isinstance(value, type):
        return _of_dataclass(value)
    if hasattr(type(value), "__array__") and not isinstance(value, np.generic):
        try:
            array = np.asarray(value)
        except Exception:  # noqa: BLE001 - the caller's class: it is no array after all
            return None
        masks = [("mask", np.ma.getmaskarray(value))] if np.ma.isMaskedArray(value) else []
        entries = [*enumerate(array.ravel().tolist()), *masks]
        return (array.shape, _dtype(array.dtype, typed)), entries
    return None


def _of_pandas(value: Any, typed: bool) -> _Inner:
    """Return the dtypes and names of a table, a column, an index or categories; and the entries."""
    attributes = [("attrs", value.attrs)] if getattr(value, "attrs", None) else []
    if isinstance(value, pd.DataFrame):
        columns: list[Any] = [value.columns, value.index]
        columns += [value.iloc[:, place] for place in range(value.shape[1])]
        return value.shape, [*enumerate(columns), *attributes]
    told: list[Hashable] = [len(value), _dtype(value.dtype, typed)]
    if isinstance(value, pd.Series):
        told.append(_single(value.name, typed))
        return tuple(told), [("index", value.index), *enumerate(value.tolist()), *attributes]
    if isinstance(value, pd.Index):
        told += [_single(name, typed) for name in value.names]
    if isinstance(value, pd.MultiIndex):
        return tuple(told), [("levels", list(value.levels)), *enumerate(value.tolist())]
    return tuple(told), enumerate(value.tolist())


def _dtype(dtype: Any, typed: bool) -> Hashable:
    """Return what is compared of a dtype: categories always, and the kind of numbers if `typed`."""
    if isinstance(dtype, pd.CategoricalDtype):
        listed = () if dtype.categories is None else dtype.categories.tolist()
        return tuple(_single(one, typed) for one in listed), dtype.ordered
    return str(dtype) if typed else str(getattr(dtype, "names", None) or "")


def _of_dataclass(value: Any) -> _Inner:
    """Return the names of the fields, and the fields, whether or not its equality heeds them."""
    own = type(value).__module__.startswith(_OWN)
    names = tuple(one.name for one in fields(value) if one.compare or not own)
    entries = [(name, getattr(value, name, None)) for name in names]
    if own:  # parts by where they stood: their order says nothing
        entries = [
            (name, dict(sorted(entry.items(), key=repr)) if isinstance(entry, dict) else entry)
            for name, entry in entries
        ]
    return names, entries


def _kind(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _single(value: Any, typed: bool) -> Hashable:
    """Return what stands for a value without entries: something with an equality, or nothing's."""
    if isinstance(value, Part):
        return value
    if isinstance(value, AbstractSet):
        return _kind(value), frozenset(_single(one, typed) for one in value)
    # What is missing in a column of pandas equals itself here, as NaN does.
    number = str(value) if value is pd.NA else unboxed(value)
    found: Hashable = _Opaque()
    with suppress(Exception):  # whatever an object's own equality raises
        hash(number)
        if isinstance(number == number, bool):
            found = key_of(number)
    if not typed or value is None:
        return found
    negative = isinstance(number, float) and number == 0 and math.copysign(1, number) < 0
    return _Typed(type(value), negative, found)
