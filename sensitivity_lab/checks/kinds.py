"""Kinds of arguments: what is accepted, in words, how it is read, and the one message of each kind.

What a caller passes can be anything: arrays that have no truth value, numbers of a million digits,
objects that fail when they are compared or printed. Nothing here compares, prints or converts a
value before its type says that this is safe and quick, and nothing raises anything but InputError.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from sensitivity_lab.errors import InputError

from .sequences import listed, one_or_several
from .text import did_you_mean, has_dots, names_of, shown
from .values import Number, as_python, finite_number, is_long, whole_number

T = TypeVar("T")

_WHOLE_BELOW = 2**62
"""Whole numbers and their sums are int64 in arrays."""

_MOST_JOBS = 10_000


@dataclass(frozen=True)
class Kind(Generic[T]):
    """What an argument of a kind can be; calling it checks one.

    Every message is ``<name> must be <accepted>, got <value><advice>``.

    Parameters
    ----------
    accepted : str
        What is accepted, such as "True or False".
    read : callable
        Returns what an accepted value stands for, and None for everything else. It gets anything,
        and must not raise.
    advice : callable
        Returns the end of the message about a value: what is wrong with it, and what to do.

    Examples
    --------
    >>> even = Kind("an even number", lambda value: value if value in (0, 2, 4) else None)
    >>> even("size", 2), even.or_none("size", None)
    (2, None)
    >>> even.or_none("size", 3)
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: size must be None or an even number, got 3
    """

    accepted: str
    read: Callable[[Any], T | None]
    advice: Callable[[Any], str] = lambda _: ""

    def __call__(self, name: str, value: Any) -> T:
        """Return what an argument stands for, or raise InputError."""
        found = self.read(value)
        if found is None:
            raise self._refusal(name, value, self.accepted)
        return found

    def or_none(self, name: str, value: Any) -> T | None:
        """Return what an argument stands for that can also be None, or raise InputError."""
        if value is None:
            return None
        found = self.read(value)
        if found is None:
            # None, True or False; but: None or a whole number (1 or 2)
            joint = "," if " or " in self.accepted.partition("(")[0] else " or"
            raise self._refusal(name, value, f"None{joint} {self.accepted}")
        return found

    def several(self, name: str, values: Any) -> list[T]:
        """Return what one value stands for, or each of several, at least one; or raise InputError.

        Examples
        --------
        >>> check_distance.several("distances", range(1, 4)), check_distance.several("k", 2)
        ([1, 2, 3], [2])
        """
        wrong = f"{name} must be {self.accepted}"
        items = one_or_several(values, wrong)
        if not items:
            raise InputError(f"{wrong}, got none; give one or several")
        return [self(name, item) for item in items]

    def _refusal(self, name: str, value: Any, accepted: str) -> InputError:
        kind = f"an object of the type {type(value).__name__}"
        got = kind if _has_lines(value) else shown(value)
        return InputError(f"{name} must be {accepted}, got {got}{self.advice(value)}")


def _has_lines(value: Any) -> bool:
    """Tell whether a value, such as a table or a result, is printed on several lines."""
    try:
        return "\n" in repr(value)
    except Exception:  # noqa: BLE001 - the caller's class, or a number of very many digits
        return False


def in_brackets(value: Any) -> str:
    """Return the type of a value that is none of those accepted, for the end of a message.

    It is empty where the value is not shown, and for dots, about which `shown` says what to do.

    Examples
    --------
    >>> in_brackets("3"), in_brackets(...)
    (' (str)', '')
    """
    told = _has_lines(value) or has_dots(value)
    return "" if told else f" ({type(as_python(value)).__name__})"


def whole_kind(meaning: str, *, least: int = 1, most: float | None = None) -> Kind[int]:
    """Return a kind of whole numbers, in words; truth values and floats are none.

    Parameters
    ----------
    meaning : str
        What the number is and its range, such as "a number of records, at least 1".
    least, most : int
        The ends of the range; without `most`, numbers are below 2**62; math.inf for no end.

    Examples
    --------
    >>> size = whole_kind("a number of records, at least 1")
    >>> size("size", np.int8(3))
    3
    >>> size("size", 3.0)
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: size must be a whole number (a number of records, at least \
1), got 3.0 (float)
    """
    largest = _WHOLE_BELOW - 1 if most is None else most

    def read(value: Any) -> int | None:
        number = whole_number(value)
        return None if number is None or not least <= number <= largest else number

    def advice(value: Any) -> str:
        number = whole_number(value)
        if number is None:
            return in_brackets(value)
        if number < least:
            return f", below {least}"
        return "; give one below 2**62" if most is None and number > largest else ""

    return Kind(f"a whole number ({meaning})", read, advice)


def number_kind(
    accepted: str = "a finite number", inside: Callable[[Fraction], bool] | None = None
) -> Kind[Fraction]:
    """Return a kind of finite numbers, in words and as a test; truth values are none.

    It is read as the rational that it stands for: all of these compare, and none is rounded.

    Examples
    --------
    >>> positive = number_kind("a finite number above 0", lambda given: given > 0)
    >>> positive("epsilon", 0.5)
    Fraction(1, 2)
    >>> positive("epsilon", "x")
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: epsilon must be a finite number above 0, got 'x' (str); \
give an int, float, Fraction or Decimal
    """

    def read(value: Any) -> Fraction | None:
        given = finite_number(value)
        if given is None:
            return None
        exact = Fraction(given)
        return exact if inside is None or inside(exact) else None

    return Kind(accepted, read, _no_number)


def _no_number(value: Any) -> str:
    """Return what to add about a value that is not of a class of numbers."""
    given = as_python(value)
    if isinstance(given, Number) and not isinstance(given, bool):
        return ""
    return f"{in_brackets(value)}; give an int, float, Fraction or Decimal"


def choice_kind(choices: Collection[str]) -> Kind[str]:
    """Return the kind of a few texts to choose from.

    Examples
    --------
    >>> choice_kind(("L1", "L2"))("norm", "l1")
    Traceback (most recent call last):
    sensitivity_lab.errors.InputError: norm must be one of 'L1', 'L2', got 'l1'
    """
    return _choice(tuple(choices))


@lru_cache(maxsize=256)
def _choice(choices: tuple[str, ...]) -> Kind[str]:
    """Make the kind of some choices once: every call checks a few, and the names take a while."""

    def read(value: Any) -> str | None:
        return str(value) if isinstance(value, str) and value in choices else None

    return Kind(f"one of {names_of(choices)}", read, lambda value: did_you_mean(value, choices))


def _bounds(value: Any) -> tuple[Number, Number] | None:
    try:
        low, high = map(finite_number, listed(value, "bounds"))
    except (InputError, ValueError):  # not a sequence, or not of two
        return None
    if low is None or high is None:
        return None
    return (low, high) if Fraction(low) <= Fraction(high) else None


def _flag(value: Any) -> bool | None:
    return bool(value) if isinstance(value, bool | np.bool_) else None


def _jobs(value: Any) -> int | None:
    jobs = whole_number(value)
    return jobs if jobs and abs(jobs) <= _MOST_JOBS else None


def _many_jobs(value: Any) -> str:
    jobs = whole_number(value)
    return f"; give at most {_MOST_JOBS:,}" if jobs and abs(jobs) > _MOST_JOBS else ""


def _path(value: Any) -> Path | None:
    try:
        path = Path(value)
        os.fsencode(path)  # fails for halves of surrogate pairs that stand for no byte
        return path if str(value) != "" and "\0" not in str(path) else None
    except Exception:  # noqa: BLE001 - the caller's class; whatever it raises, it is no path
        return None


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str) and _has_text(value) else None


def _column(value: Any) -> tuple[Any] | None:
    """Return the name of a column, which can be None or anything else that has a hash."""
    usable = is_hashable(value) and not is_long(value) and _has_text(value)
    return (value,) if usable else None


def _has_text(value: Any) -> bool:
    """Tell whether a value can be printed."""
    try:
        # Tables cannot hold halves of surrogate pairs.
        return bool((str(value) or repr(value)).encode())
    except Exception:  # noqa: BLE001 - the caller's class; whatever it raises, it has no text
        return False


def is_hashable(value: Any) -> bool:
    """Tell whether a value can be hashed; a tuple cannot if one of its items cannot."""
    if not isinstance(value, Hashable):
        return False
    try:
        hash(value)
    except Exception:  # noqa: BLE001 - the caller's class; whatever it raises, it has no hash
        return False
    return True


check_flag = Kind("True or False", _flag)

check_path = Kind("the path of a file or a folder", _path)
"""Whether there is such a file, only the system can say."""

check_column = Kind("the name of one column, such as 'age'", _column)

check_text_column = Kind(check_column.accepted, _text)
"""The columns of tables in pipelines are called by texts."""

check_number = number_kind()

check_positive = number_kind("a finite number above 0", lambda given: given > 0)

check_not_negative = number_kind("a finite number of at least 0", lambda given: given >= 0)

check_seconds = number_kind(
    "a positive number of seconds, at most 1,000,000", lambda given: 0 < given <= 10**6
)

check_bounds = Kind("two finite numbers (lower, upper), in order", _bounds)

check_distance = whole_kind("a Hamming distance, at least 1")

check_records = whole_kind("a number of records, at least 1")

_check_jobs = Kind("a whole number other than 0 (-1 for all processors)", _jobs, _many_jobs)


def check_running(n_jobs: Any, progress: Any) -> None:
    """Raise InputError unless `n_jobs` and `progress` are values that `running` takes."""
    _check_jobs.or_none("n_jobs", n_jobs)
    check_flag.or_none("progress", progress)


def check_whole(name: str, value: Any, meaning: str, least: int = 1) -> int:
    """Return a whole number of at least `least`, or raise InputError (see `whole_kind`)."""
    return whole_kind(meaning, least=least)(name, value)


def check_rational(name: str, value: Any, accepted: str) -> Fraction:
    """Return the rational that a number stands for, or raise InputError (see `number_kind`)."""
    return number_kind(accepted)(name, value)


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Return one of a few texts, or raise InputError that lists them (see `choice_kind`)."""
    return choice_kind(choices)(name, value)


def check_text(name: str, value: Any, meaning: str) -> str:
    """Return a text, or raise InputError that says what the text is."""
    return Kind(meaning, _text)(name, value)


def check_kind(name: str, value: Any, classes: Any, accepted: str, way_out: str = "") -> Any:
    """Return an instance of one of some classes, or raise InputError that ends with a way out."""
    kind = Kind(accepted, lambda given: given if isinstance(given, classes) else None)
    return replace(kind, advice=lambda _: way_out)(name, value)


def check_callable(name: str, value: Any, accepted: str) -> None:
    """Raise InputError unless a value can be called."""
    Kind(accepted, lambda given: callable(given) or None)(name, value)
