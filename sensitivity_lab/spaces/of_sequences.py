"""The sequences over some values as a space, whose neighbors differ in an entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain, groupby, pairwise, product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sensitivity_lab.boundary import public_call
from sensitivity_lab.checks import check_choice, check_whole, finite_number, listed, shown, unboxed
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.exact.difference import Number, rational_of

from .nearness import Places, Steps
from .space import MOST_DATASETS, Space, Within

Value = int | float | Fraction | Decimal | str
"""An entry of a sequence."""

Entries = tuple[Value, ...]
"""A dataset."""

_VALUES = "a sequence of at least two numbers or texts"

_CHANGES = {"hamming": "replaced", "insert_delete": "inserted or deleted"}
"""What the metrics count of the entries."""


@public_call
def sequences(
    values: Iterable[Value], length: int, metric: Literal["hamming", "insert_delete"]
) -> Space:
    """Return the space of the sequences over some values, such as trajectories or time series.

    A dataset is a tuple of values, in any order, each any number of times.

    Parameters
    ----------
    values : sequence of number or str
        The possible entries, such as places or readings, each once; v of them, at least two.
    length : int
        The number of entries L, at least 1; at most that many where neighbors have different
        lengths.
    metric : {"hamming", "insert_delete"}
        What counts as one step:

        - "hamming": an entry is replaced in its place. All sequences have L entries, which is
          public: one reading of a time series. Within(L) hides the whole series.
        - "insert_delete": an entry comes or goes anywhere, and the others keep their order; to
          replace one takes two steps. Sequences have 0 to L entries: one visit to a place, or one
          event (event-level privacy). If a person has at most m of the entries, Within(m) hides
          all of them (user-level privacy).

    Returns
    -------
    Space
        Its queries are named in `global_sensitivity`.

    Raises
    ------
    InputError
        If an argument is invalid.
    TooLargeError
        If there are more than 65,536 sequences.

    References
    ----------
    Dwork, Naor, Pitassi, Rothblum: Differential Privacy under Continual Observation. STOC 2010
    (event-level and user-level privacy). OpenDP: ``InsertDeleteDistance`` and ``HammingDistance``.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> trips = spaces.sequences(["home", "work"], 3, "insert_delete")
    >>> print(trips)
    all 15 sequences of 0 to 3 of 2 values
    """
    read = [_value(one) for one in listed(values, f"values must be {_VALUES}", text=True)]
    if len(read) < 2:
        raise InputError(f"values must be {_VALUES}, got {len(read)}")
    seen: set[Value] = set()
    for value in read:
        if value in seen:
            raise InputError(f"values has {shown(value)} twice; name each value once")
        seen.add(value)
    most = check_whole("length", length, "the number of entries, at least 1")
    check_choice("metric", metric, tuple(_CHANGES))
    sizes = range(most if metric == "hamming" else 0, most + 1)
    too_long = most >= MOST_DATASETS.bit_length()  # there are at least two values
    if too_long or sum(len(read) ** size for size in sizes) > MOST_DATASETS:
        raise TooLargeError(
            f"{len(read)} values give more than {MOST_DATASETS:,} sequences of "
            f"{_lengths(sizes)} entries, which is the limit; use fewer values or a smaller length"
        )
    return _Sequences(tuple(read), sizes, metric)


def _distinct(sequence: Entries) -> int:
    return len(set(sequence))


def _changes(sequence: Entries) -> int:
    return sum(one != other for one, other in pairwise(sequence))


def _longest_run(sequence: Entries) -> int:
    return max((len(list(equal)) for _, equal in groupby(sequence)), default=0)


def _sum(sequence: Sequence[Number]) -> Fraction:
    return sum(map(rational_of, sequence), Fraction(0))


def _path_length(sequence: Sequence[Number]) -> Fraction:
    steps = (rational_of(other) - rational_of(one) for one, other in pairwise(sequence))
    return sum(map(abs, steps), Fraction(0))


class _Sequences(Space):
    """Sequences as a space: the short ones first, and those of a length in the values' order."""

    _noun = "sequence"
    _takes = "a tuple of values"

    def __init__(self, values: Entries, sizes: range, metric: str) -> None:
        self._values, self._kind, self._sizes = values, metric, tuple(sizes)
        every = (product(values, repeat=size) for size in sizes)
        self.datasets = tuple(chain.from_iterable(every))
        x, y = (np.concatenate(places) for places in zip(*self._edits(), strict=True))
        self._near = Steps.of(len(self.datasets), x, y)
        self._queries = {
            "length": len,
            "sum": _sum,
            "distinct": _distinct,
            "counts": self._counts,
            "changes": _changes,
            "path_length": _path_length,
            "longest_run": _longest_run,
        }
        self._family = self._known_by = metric

    def _edits(self) -> Iterator[tuple[Places, Places]]:
        """Yield sequences, and what one replaced or deleted entry makes of them."""
        v, first = len(self._values), 0
        for size in self._sizes:
            # A sequence of a length is a number whose digits in base v are its entries.
            places = np.arange(v**size)
            for weight in (v**at for at in range(size)):
                rest, after = np.divmod(places, weight)
                before, entry = np.divmod(rest, v)
                if self._kind == "insert_delete":
                    yield first + places, first - v ** (size - 1) + before * weight + after
                else:
                    for value in range(v):
                        yield places, places + (value - entry) * weight
            first += len(places)

    def _counts(self, sequence: Entries) -> NDArray[np.int64]:
        return np.array([sequence.count(value) for value in self._values])

    def _check_named(self, query: str) -> None:
        texts = [one for one in self._values if isinstance(one, str)]
        if texts and query in ("sum", "path_length"):
            raise InputError(
                f"{shown(query)} needs values that are numbers, got {shown(texts[0])}; use "
                "numbers, or a function of a tuple of values"
            )

    def __repr__(self) -> str:
        return f"sequences({list(self._values)!r}, {self._sizes[-1]}, {self._kind!r})"

    def __str__(self) -> str:
        lengths = _lengths(self._sizes)
        return f"all {len(self):,} sequences of {lengths} of {len(self._values)} values"

    @property
    def _size(self) -> str:
        sizes = _lengths(self._sizes)
        return f"{sizes} {'entry' if sizes == '1' else 'entries'}"

    def _place(self, dataset: Any, name: str) -> int:
        wrong = f"{name} must be a sequence of values of the space"
        given = listed(dataset, wrong, text=True)
        if len(given) not in self._sizes:
            raise InputError(f"{name} has {len(given)} entries; the space is {self}")
        read = tuple(map(_value_or_none, given))
        for one, value in zip(given, read, strict=True):
            if value not in self._values:
                raise InputError(f"{wrong}, got the entry {shown(one)}; the space is {self!r}")
        return self.datasets.index(read)

    def _told(self, relation: Within) -> str:
        entries = f"entr{'y' if relation.k == 1 else 'ies'}"
        return f"at most {relation.k} {entries} {_CHANGES[self._kind]}"


def _lengths(sizes: Sequence[int]) -> str:
    """Return how many entries sequences have, in words."""
    return f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0])


def _value_or_none(given: Any) -> Value | None:
    value = unboxed(given)
    return value if isinstance(value, str) else finite_number(value)


def _value(given: Any) -> Value:
    value = _value_or_none(given)
    if value is None:
        raise InputError(f"values must be {_VALUES}; no value is {shown(given)}")
    return value
