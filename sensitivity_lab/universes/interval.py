"""The universe of all real numbers of an interval, each any number of times."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from sensitivity_lab.checks import html_text, listed, shown
from sensitivity_lab.errors import InputError
from sensitivity_lab.exact.difference import Number
from sensitivity_lab.exact.roots import as_fraction

from .records import check_record


class Space(Protocol):
    """The interface of all universes that neighbor relations and results use."""

    @property
    def numeric(self) -> bool:
        """Whether records are numbers."""

    @property
    def size(self) -> int | float:
        """The number of records; math.inf without limit."""

    @property
    def extent(self) -> str:
        """How large it is, in words."""


@dataclass(frozen=True, repr=False)
class IntervalUniverse:
    """Every real number from a lower to an upper bound, each any number of times.

    Use it where the bounds of a column are public and its values are not. It has no list of values,
    so functions that list datasets refuse it; `global_sensitivity`, `local_sensitivity`,
    `sensitivity_curves` and `audit` accept it.

    Parameters
    ----------
    lower, upper : int, float, Fraction or Decimal
        The bounds, in the unit of the records, both included; `lower` is below `upper`.

    Attributes
    ----------
    size : float
        math.inf: there is no largest dataset.
    extent : str
        The interval, in words.

    Raises
    ------
    InputError
        If a bound is not a finite number, or `lower` is not below `upper`.

    See Also
    --------
    Universe.from_interval : Make one.
    Universe.from_domain : A finite grid of values, each as often as a dataset can hold.

    Examples
    --------
    >>> interval = IntervalUniverse(0, 120)
    >>> interval
    Universe of every real number of the interval [0, 120], each any number of times
    >>> 33.3 in interval, 121 in interval
    (True, False)
    """

    lower: Number
    upper: Number

    numeric: ClassVar[bool] = True
    size: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        """Check the bounds."""
        for name in ("lower", "upper"):
            object.__setattr__(self, name, check_record(name, getattr(self, name)))
        if Fraction(self.lower) >= Fraction(self.upper):
            given = f"{shown(self.lower)} and {shown(self.upper)}"
            raise InputError(
                f"lower must be below upper, got {given}; for a single value use "
                "Universe.from_domain([value])"
            )

    @property
    def extent(self) -> str:
        """The interval, in words."""
        return f"interval [{self.lower}, {self.upper}], every real number"

    def dataset(self, records: Iterable[Any]) -> tuple[Number, ...]:
        """Return records in ascending order; raise InputError if one is not in the interval."""
        given = listed(records, "a dataset must be a sequence of records")
        numbers = [check_record("a record", record) for record in given]
        for record in numbers:
            if record not in self:
                raise InputError(
                    f"the record {shown(record)} is not in the universe: {shown(self)}"
                )
        return tuple(sorted(numbers, key=lambda record: Fraction(record)))

    def __contains__(self, record: object) -> bool:
        try:
            value = as_fraction(record, "a record")
        except InputError:
            return False
        return Fraction(self.lower) <= value <= Fraction(self.upper)

    def __repr__(self) -> str:
        return (
            f"Universe of every real number of the interval [{self.lower}, {self.upper}], "
            "each any number of times"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html_text(repr(self))}</p>"
