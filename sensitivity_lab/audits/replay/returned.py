"""What a function returns, taken apart so that two returned values can be compared part by part."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd

from sensitivity_lab.checks import unboxed
from sensitivity_lab.exact.keys import key_of

Path = tuple[Hashable, ...]
"""Where a part stands in a returned value."""

NOTHING: dict[Path, Hashable] = {(): None}
"""The parts of None."""

_DEPTH = 20
"""What is nested deeper is one part, which is equal to nothing."""


class _Opaque:
    """A part that has no equality to rely on: it is equal to nothing but itself."""


def parts(value: Any) -> dict[Path, Hashable]:
    """Return the parts of a returned value by where they stand.

    Parameters
    ----------
    value : Any
        A number, text or array, a table of pandas or Polars, or such things in sequences, mappings
        and dataclasses. The order of a set says nothing; NaN equals NaN, and 0.0 equals -0.0.

    Returns
    -------
    dict
        Two values are equal if their parts are. An object of which Python knows only whether it is
        the same one is equal to nothing else.

    Examples
    --------
    >>> parts((1.5, {"sizes": [2]}))[1, "sizes", 0]
    2
    >>> parts({1, 2}) == parts({2, 1}), parts([float("nan")]) == parts([float("nan")])
    (True, True)
    >>> parts(object()) == parts(object())
    False
    """
    found: dict[Path, Hashable] = {}
    _collect(value, (), found)
    return found


def _collect(value: Any, path: Path, found: dict[Path, Hashable]) -> None:
    """Add the parts of a value that stands somewhere."""
    inner = _inner(value) if len(path) < _DEPTH else None
    if inner is None:
        found[path] = _single(value)
        return
    size, entries = inner
    found[*path, "number of entries"] = size
    for name, entry in entries:
        _collect(entry, (*path, name), found)


_Inner = tuple[Hashable, Iterator[tuple[Hashable, Any]]]


def _inner(value: Any) -> _Inner | None:
    """Return the size and the named entries of a value that has some, or None."""
    if isinstance(value, str | bytes | AbstractSet | np.generic):
        return None
    if isinstance(value, Mapping):
        return len(value), ((key_of(name), entry) for name, entry in value.items())
    if isinstance(value, list | tuple):
        return len(value), enumerate(value)
    if isinstance(value, pd.DataFrame):
        columns = [value.index, *(value.iloc[:, place] for place in range(value.shape[1]))]
        return tuple(map(key_of, value.columns)), enumerate(columns)
    if isinstance(value, pd.Series):
        return len(value), enumerate([*value.index, *value.tolist()])
    if type(value).__module__.startswith("polars.") and hasattr(value, "lazy"):
        table = value.lazy().collect()
        return table.shape, iter(table.to_dict(as_series=False).items())
    if is_dataclass(value) and not isinstance(value, type):
        compared = [field.name for field in fields(value) if field.compare]
        return len(compared), ((name, getattr(value, name)) for name in compared)
    if isinstance(value, np.ndarray) or hasattr(type(value), "__array__"):
        array = np.asarray(value)
        return array.shape, enumerate(array.ravel().tolist())
    return None


def _single(value: Any) -> Hashable:
    """Return what stands for a value without entries: something with an equality, or nothing's."""
    if isinstance(value, AbstractSet):
        return frozenset(map(_single, value))
    number = unboxed(value)
    try:
        hash(number)
        return key_of(number) if isinstance(number == number, bool) else _Opaque()
    except Exception:  # noqa: BLE001 - whatever an object's own equality raises
        return _Opaque()
