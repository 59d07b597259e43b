"""The universe of sequences, with every sequence of a length as a whole number in base v."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np

from sensitivity_lab.checks import check_text, check_whole, finite_number, listed, shown, unboxed
from sensitivity_lab.errors import InputError, TooLargeError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.results.noise_context import Things
from sensitivity_lab.spaces.space import Answer, Code, Codes, FiniteSpace, SpaceWitness

from .distances import Places

Value = int | float | Fraction | Decimal | str
"""An entry of a sequence."""

Entries = tuple[Value, ...]
"""A dataset."""

MOST_SEQUENCES = 2**21
"""Of a universe; as many as there are graphs on 7 nodes."""

MOST_ENTRIES = 21
"""Of a sequence: two values give so many sequences of 21 entries."""


@dataclass(frozen=True)
class SequenceWitness(SpaceWitness):
    """Two neighboring sequences that attain a sensitivity.

    Attributes
    ----------
    x, y : tuple of number or str
        Their entries, in their order.
    query_x, query_y : int, float, Fraction or tuple of such
        The query's answers on them.
    deleted, inserted : tuple of int
        The places of x, from 0, whose entries y does not have, and the places of y whose entries x
        does not have; without them, the two are the same. Under `Hamming`, both are the places
        where the two differ.

    Examples
    --------
    >>> from sensitivity_lab import spaces
    >>> from sensitivity_lab.spaces import sequences
    >>> universe = sequences.SequenceUniverse([0, 5], longest=3)
    >>> found = spaces.global_sensitivity(
    ...     universe, "path_length", neighbors=sequences.InsertDelete()
    ... )
    >>> found.witness.x, found.witness.y, found.witness.deleted, found.witness.inserted
    ((0, 0), (0, 5, 0), (), (1,))
    """

    deleted: Places
    inserted: Places

    def _changed(self, neighbors: Any) -> str:
        texts = neighbors._edited(self)
        return f"y has {', '.join(texts)}" if texts else "nothing"


@dataclass(frozen=True, init=False, repr=False)
class SequenceUniverse(FiniteSpace):
    """All sequences over some values, of at least `shortest` and at most `longest` entries.

    A value may occur any number of times. Sequences in different orders are different datasets.

    Parameters
    ----------
    values : sequence of number or str
        The possible entries, such as places or readings, each once; v of them, at least one.
    longest : int
        The largest number of entries L, at least 1. A search covers at most ``2**21`` sequences of
        at most 21 entries; `known_sensitivity` has no such limit.
    shortest : int, default 0
        The smallest number of entries, from 0 to `longest`; the empty sequence has 0.

    Raises
    ------
    InputError
        If an argument is invalid.
    TooLargeError
        If there are more than ``2**21`` sequences; raised by `len` and by every search.

    Examples
    --------
    >>> from sensitivity_lab.spaces import sequences
    >>> universe = sequences.SequenceUniverse(["home", "work"], longest=3)
    >>> print(universe)
    all 15 sequences of 0 to 3 of 2 values
    >>> len(universe)
    15
    """

    values: Entries
    longest: int
    shortest: int

    _noun = "sequence"
    _takes = "a tuple of values"
    _fewer = "fewer values, shorter sequences"
    _few = "fewer values or shorter sequences"
    _picture = "plot_sequences"
    _things = Things(
        data="sequence",
        parts="entries",
        room="sl.spaces",
        listed="",  # no universe of sequences lists them
        domain="",
        public="",
        every_size="Use a universe of every length that the data can have, "
        "SequenceUniverse(values, longest, shortest)",
    )

    def __init__(self, values: Iterable[Value], longest: int, shortest: int = 0) -> None:
        read = tuple(_value(one) for one in listed(values, f"values must be {_VALUES}", text=True))
        if not read:
            raise InputError(f"values must be {_VALUES}; at least one")
        seen: set[Value] = set()
        for value in read:
            if value in seen:
                raise InputError(f"values has {shown(value)} twice; name each value once")
            seen.add(value)
        most = check_whole("longest", longest, "the largest number of entries, at least 1")
        least = check_whole(
            "shortest", shortest, "the smallest number of entries, at least 0", least=0
        )
        if least > most:
            raise InputError(f"shortest must be at most longest = {most}, got {least}")
        object.__setattr__(self, "values", read)
        object.__setattr__(self, "longest", most)
        object.__setattr__(self, "shortest", least)

    @property
    def sizes(self) -> range:
        """The numbers of entries that a sequence can have."""
        return range(self.shortest, self.longest + 1)

    @cached_property
    def _too_large(self) -> str | None:
        """Why the sequences are too many to be listed, if they are."""
        if self.longest > MOST_ENTRIES:
            return (
                f"longest must be at most {MOST_ENTRIES}, got {self.longest}: already 2 values "
                f"give 2**{self.longest} sequences of so many entries"
            )
        number = 0
        for size in self.sizes:
            number += len(self.values) ** size
            if number > MOST_SEQUENCES:
                return (
                    f"{len(self.values)} values give more than {MOST_SEQUENCES:,} sequences of "
                    f"{self.shortest} to {size} entries; the limit is {MOST_SEQUENCES:,}. Use "
                    "fewer values, or a smaller longest"
                )
        return None

    def _check_listed(self) -> None:
        """Raise TooLargeError if the sequences are too many to be listed."""
        if self._too_large is not None:
            raise TooLargeError(self._too_large)

    def __len__(self) -> int:
        """Return the number of sequences."""
        self._check_listed()
        return sum(len(self.values) ** size for size in self.sizes)

    def __repr__(self) -> str:
        least = f", shortest={self.shortest}" if self.shortest else ""
        return f"SequenceUniverse({list(self.values)!r}, longest={self.longest}{least})"

    def __str__(self) -> str:
        values = f"{len(self.values)} value{'s' * (len(self.values) != 1)}"
        lengths = f"{self.shortest} to {self.longest}"
        of = f"{self.longest}" if self.shortest == self.longest else lengths
        if self._too_large is not None:
            return f"all sequences of {of} of {values}"
        some = f"all {len(self):,} sequences" if len(self) > 1 else "the only sequence"
        return f"{some} of {of} of {values}"

    def code(self, sequence: Any, name: str = "x") -> tuple[int, int]:
        """Return a sequence of this universe as its size and its number among those of that size.

        Parameters
        ----------
        sequence : sequence of number or str
            Its entries, in their order.
        name : str, default "x"
            Its name in errors.

        Raises
        ------
        InputError
            If it is not a sequence of this universe.

        Examples
        --------
        >>> SequenceUniverse("abc", longest=3).code("ba")
        (2, 3)
        """
        check_text("name", name, "what errors call the sequence")
        self._check_listed()
        wrong = f"{name} must be a sequence of values of the universe"
        entries = listed(sequence, wrong, text=True)
        if len(entries) not in self.sizes:
            raise InputError(f"{name} has {len(entries)} entries; the universe is {self}")
        places = {value: place for place, value in enumerate(self.values)}
        number = 0
        for entry in entries:
            value = _value_or_none(entry)
            if value not in places:
                raise InputError(f"{wrong}, got the entry {shown(entry)}; the universe is {self!r}")
            number = number * len(self.values) + places[value]
        return len(entries), number

    def sequence(self, size: int, number: int) -> Entries:
        """Return the sequence of a size and a number.

        Parameters
        ----------
        size : int
            How many entries it has.
        number : int
            From 0 to ``v**size - 1``: the first entry is its highest digit in base v.

        Raises
        ------
        InputError
            If there is no such sequence.

        Examples
        --------
        >>> SequenceUniverse("abc", longest=3).sequence(2, 3)
        ('b', 'a')
        """
        self._check_listed()
        entries = check_whole("size", size, "the number of entries, at least 0", least=0)
        if entries not in self.sizes:
            raise InputError(f"size must be {self.shortest} to {self.longest}, got {entries}")
        code = check_whole("number", number, "the number of a sequence, at least 0", least=0)
        if code >= len(self.values) ** entries:
            most = len(self.values) ** entries
            raise InputError(f"number must be below {most}, the number of sequences, got {code}")
        digits = self._digits(entries, np.array([code]))[0]
        return tuple(self.values[digit] for digit in digits)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(self.sizes)

    @property
    def _size(self) -> str:
        several = f"{self.shortest} to {self.longest}"
        sizes = several if self.shortest < self.longest else str(self.longest)
        return f"{sizes} {'entry' if sizes == '1' else 'entries'}"

    def _code(self, dataset: Any, name: str) -> Code:
        return self.code(dataset, name)

    def _argument(self, code: Code) -> Entries:
        return self._sequence(code)

    def _told(self, code: Code) -> str:
        return str(self._sequence(code))

    def _witness(
        self, x: Code, y: Code, answers: tuple[Answer, Answer], neighbors: Any
    ) -> SequenceWitness:
        of_x, of_y = self._sequence(x), self._sequence(y)
        return SequenceWitness(of_x, of_y, *answers, *neighbors._differ(of_x, of_y))

    def _sequence(self, code: Code) -> Entries:
        return self.sequence(cast(int, code[0]), code[1])

    def _numbers(self, query: str) -> list[Number]:
        """Return the values, which are numbers, or raise InputError."""
        for one in self.values:
            if isinstance(one, str):
                raise InputError(
                    f"{shown(query)} needs values that are numbers, got {shown(one)}; use numbers, "
                    "or a function of a tuple of values"
                )
        return cast("list[Number]", list(self.values))

    def _all_codes(self, size: int) -> Codes:
        """All sequences of a size."""
        self._check_listed()
        return np.arange(len(self.values) ** size, dtype=np.int64)

    def _digits(self, size: int, codes: Codes) -> Codes:
        """Return the places of the values of each entry, shape (sequences, size)."""
        return codes[:, None] // self._powers(size) % len(self.values)

    def _powers(self, size: int) -> Codes:
        """Return what an entry counts in the number of a sequence, shape (size,)."""
        powers = [len(self.values) ** place for place in reversed(range(size))]
        return np.array(powers, dtype=np.int64)


_VALUES = "a sequence of numbers or texts"


def _value_or_none(given: Any) -> Value | None:
    value = unboxed(given)
    return value if isinstance(value, str) else finite_number(value)


def _value(given: Any) -> Value:
    value = _value_or_none(given)
    if value is None:
        raise InputError(f"values must be {_VALUES}; no value is {shown(given)}")
    return value
