"""The kinds of values that a column can have: numbers, texts, points of time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sensitivity_lab.checks import check_whole, is_hashable, is_long, listed, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.metrics.cells import kind_of, table_key

_MOST_NAMED = 5
"""The most values that an error names."""


def keys_of(name: str, values: Any) -> tuple[Any, ...]:
    """Return distinct values as a tuple, missing ones as None, or raise InputError."""
    keys = list(map(table_key, listed(values, f"{name} must be a list of values")))
    for key in keys:
        if not is_hashable(key) or is_long(key):
            raise InputError(f"{name} must be single values of the column, got {shown(key)}")
    if not keys:
        raise InputError(f"{name} must list at least one value, got none")
    ((key, count),) = Counter(keys).most_common(1)
    if count > 1:
        raise InputError(f"{name} must be distinct, got {shown(key)} more than once")
    return tuple(keys)


def places_of(values: Sequence[Any], keys: Sequence[Any]) -> list[int | None]:
    """Return which of the distinct keys each value is; None on both sides is a missing one."""
    place_of = {key: place for place, key in enumerate(keys)}
    return [place_of.get(value) for value in values]


def check_kinds(name: str, column: Any, keys: Iterable[Any], values: Iterable[Any]) -> None:
    """Raise InputError if values of a column can never be equal to some categories.

    Parameters
    ----------
    name : str
        The name of the categories, "categories" or "groups".
    column : hashable
        The column.
    keys : iterable
        The categories, None for a missing value.
    values : iterable
        The values of the column, None where one is missing.
    """
    present = {kind_of(value): value for value in values if value is not None}
    if not present or None in present:
        return
    never = [key for key in keys if key is not None and kind_of(key) not in (None, *present)]
    if never:
        raise InputError(
            f"{name} {_named(never)} cannot occur in a record: column "
            f"{shown(column)} has {' and '.join(map(str, present))}; give values such as "
            f"{shown(next(iter(present.values())))}"
        )


def absent_text(column: Any, keys: Iterable[Any], values: Iterable[Any]) -> str:
    """Return which categories no value of a column is equal to, as text; "" if there is none."""
    present = set(values)
    absent = [key for key in keys if key not in present]
    return f"no record of the universe has {column} {_named(absent)}" if absent else ""


def _named(keys: list[Any]) -> str:
    """Return some values as text."""
    more = f" and {len(keys) - _MOST_NAMED:,} others" if len(keys) > _MOST_NAMED else ""
    return f"{', '.join(map(shown, keys[:_MOST_NAMED]))}{more}"


def sizes_of_groups(groups: Sequence[Any], sizes: Any) -> tuple[int, ...]:
    """Return a size for each group, or raise InputError."""
    wrong = f"group_sizes must have a size for each of the groups {shown(tuple(groups))}"
    named = isinstance(sizes, Mapping)
    given = list(sizes) if named else listed(sizes, wrong)
    if len(given) != len(groups) or (named and set(given) != set(groups)):
        raise InputError(f"{wrong}, got {shown(sizes)}")
    if named:
        given = [sizes[group] for group in groups]
    return tuple(
        check_whole("group_sizes", size, "a number of rows, at least 0", least=0) for size in given
    )
