"""Checks of arguments that many calls share; none of them raises anything but InputError.

What a caller passes can be anything: arrays that have no truth value, numbers of a million digits,
objects that fail when they are compared or printed. Nothing here compares, prints or converts a
value before its type says that this is safe and quick.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from .errors import InputError

MOST_DIGITS = 4_000
"""A number may have so many decimal digits, and so many in its denominator."""

_MOST_BITS = (10**MOST_DIGITS).bit_length()
"""A number of one digit more can pass; Python writes 4,300."""

_MOST_ITEMS = 2**31
"""Sequences that say they are longer are not read."""

_SHOWN = 200
"""At most so many characters of a value are shown in a message."""


def shown(value: Any) -> str:
    """Return a value as it stands in an error message: its repr, on one line and not too long.

    Examples
    --------
    >>> shown("a"), shown(10**5000)
    ("'a'", 'about 1e5000 (numbers have at most 4,000 digits)')
    >>> shown(np.eye(2))
    'array([[1., 0.], [0., 1.]])'
    """
    value = as_python(value)
    if is_long(value):
        return f"about {magnitude(value)} (numbers have at most {MOST_DIGITS:,} digits)"
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 - the caller's class; the message is about something else
        return f"<{type(value).__name__}>"
    if "\n" in text:
        text = " ".join(text.split())
    if len(text) > _SHOWN:
        text = f"{text[: _SHOWN // 2]} ... {text[-_SHOWN // 4 :]}"
    return text


def text_of(value: Any) -> str:
    """Return a value as `str` writes it, or as `shown` does where that fails."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - the caller's class, or a number of very many digits
        return shown(value)


def magnitude(value: int | Fraction | Decimal) -> str:
    """Return about how large a number is, as a power of ten, without writing all its digits.

    Examples
    --------
    >>> magnitude(10**5000), magnitude(-(10**5000)), magnitude(Fraction(1, 10**5000))
    ('1e5000', '-1e5000', '1e-5000')
    """
    sign = "-" if value < 0 else ""
    if isinstance(value, Decimal):
        return f"{sign}1e{value.adjusted()}"
    above, below = abs(value.numerator), value.denominator
    if above == 0:
        return "0"
    return f"{sign}1e{_floor_log10(above, below)}"


def _floor_log10(above: int, below: int) -> int:
    """Return the largest p with ``10**p <= above / below``."""
    power = math.floor((above.bit_length() - below.bit_length() - 1) * math.log10(2))
    while above * 10 ** max(-power - 1, 0) >= below * 10 ** max(power + 1, 0):
        power += 1
    return power


def number_text(value: int | Fraction) -> str:
    """Return a rational as text, however many digits it has: `str` writes at most 4,300.

    Examples
    --------
    >>> number_text(Fraction(-7, 2)), len(number_text(10**9000))
    ('-7/2', 9001)
    """
    below = "" if value.denominator == 1 else f"/{_digits(value.denominator)}"
    return f"{'-' if value < 0 else ''}{_digits(abs(value.numerator))}{below}"


def _digits(number: int) -> str:
    """Return the digits of a number that is not negative."""
    parts = []
    while number >= 10**MOST_DIGITS:
        number, last = divmod(number, 10**MOST_DIGITS)
        parts.append(str(last).zfill(MOST_DIGITS))
    return str(number) + "".join(reversed(parts))


def is_long(value: Any) -> bool:
    """Tell whether a number has more than `MOST_DIGITS` digits; False for what is no number."""
    if isinstance(value, int | Fraction):
        return any(part.bit_length() > _MOST_BITS for part in (value.numerator, value.denominator))
    if isinstance(value, Decimal) and value.is_finite():
        _, digits, exponent = value.as_tuple()
        return len(digits) + max(int(exponent), 0) > MOST_DIGITS or -int(exponent) > MOST_DIGITS
    return False


def unboxed(value: Any) -> Any:
    """Return a scalar of numpy's, or an array of a single one, as Python's; the rest as it is.

    Of every kind: texts and points of time too. Long doubles stay, as Python has none; see
    `as_python`.

    Examples
    --------
    >>> unboxed(np.float32(0.5)), unboxed(np.str_("a")), unboxed([np.int8(3)])
    (0.5, 'a', [np.int8(3)])
    """
    single = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)
    return value.item() if single else value


def as_python(value: Any) -> Any:
    """Return a number of numpy's, or an array of a single one, as Python's; the rest as it is.

    A long double becomes a float where that is lossless, else a Fraction.

    Examples
    --------
    >>> as_python(np.int8(3)), as_python(np.longdouble(0.5)), as_python("3")
    (3, 0.5, '3')
    """
    if type(value) is np.ndarray and value.ndim == 0:
        value = value[()]
    if not isinstance(value, np.generic) or value.dtype.kind not in "biuf":
        return value
    if isinstance(value, np.longdouble) and np.isfinite(value):
        exact = Fraction(*value.as_integer_ratio())
        close = float(value)
        return close if math.isfinite(close) and Fraction(close) == exact else exact
    return float(value) if isinstance(value, np.longdouble) else value.item()


def finite_number(value: Any) -> int | float | Fraction | Decimal | None:
    """Return a finite number that is not too long as Python's; None for anything else.

    Examples
    --------
    >>> finite_number(np.float32(0.5)), finite_number(True), finite_number(float("inf"))
    (0.5, None, None)
    >>> finite_number(Decimal("1e99999999")) is None
    True
    """
    kind = type(value)
    if kind is float:  # the usual types first: millions of records pass here
        return value if math.isfinite(value) else None
    if kind is int:
        return None if value.bit_length() > _MOST_BITS else value
    number = value if kind in (Fraction, Decimal) else as_python(value)
    if isinstance(number, bool) or not isinstance(number, int | float | Fraction | Decimal):
        return None
    if isinstance(number, float):
        return number if math.isfinite(number) else None
    if isinstance(number, Decimal) and not number.is_finite():
        return None
    return None if is_long(number) else number


def check_flag(name: str, value: Any) -> bool:
    """Return True or False, or raise InputError."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Return one of the texts to choose from, or raise InputError that lists them."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(
            f"{name} must be one of {', '.join(map(repr, choices))}, got {shown(value)}"
        )
    return value


def check_kind(name: str, value: Any, kinds: Any, accepted: str) -> None:
    """Raise InputError unless a value is of one of some classes."""
    if not isinstance(value, kinds):
        raise InputError(f"{name} must be {accepted}, got {shown(value)}")


def check_callable(name: str, value: Any, accepted: str) -> None:
    """Raise InputError unless a value can be called."""
    if not callable(value):
        raise InputError(f"{name} must be {accepted}, got {shown(value)}")


def check_running(n_jobs: Any, progress: Any) -> None:
    """Raise InputError unless work can be run with so many workers, and shown or not."""
    jobs = as_python(n_jobs)
    if jobs is not None and (not isinstance(jobs, int) or isinstance(jobs, bool) or jobs == 0):
        raise InputError(
            "n_jobs must be None or a whole number other than 0 (-1 for all processors), "
            f"got {shown(n_jobs)}"
        )
    if jobs is not None and abs(jobs) > 10_000:
        raise InputError(f"n_jobs must be at most 10,000, got {shown(n_jobs)}")
    if progress is not None and not isinstance(progress, bool | np.bool_):
        raise InputError(f"progress must be None, True or False, got {shown(progress)}")


def check_text(name: str, value: Any, meaning: str) -> str:
    """Return a text, or raise InputError."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be {meaning}, got {shown(value)}")
    return str(value)


def check_whole(name: str, value: Any, meaning: str, least: int = 1) -> int:
    """Return a whole number of at least `least`, or raise InputError."""
    number = as_python(value)
    if not isinstance(number, int) or isinstance(number, bool):
        raise InputError(
            f"{name} must be a whole number ({meaning}), got {shown(number)} "
            f"({type(number).__name__})"
        )
    if number < least:
        raise InputError(f"{name} must be {meaning}, got {shown(number)}")
    if number >= 2**62:
        raise InputError(f"{name} must be below 2**62, got {shown(number)}")
    return int(number)


def check_column(name: str, value: Any) -> None:
    """Raise InputError unless something can be the name of a column."""
    if not is_hashable(value) or is_long(value) or not _has_text(value):
        raise InputError(
            f"{name} must be the name of one column, such as 'age', got {shown(value)}"
        )


def _has_text(value: Any) -> bool:
    """Tell whether a value can be printed."""
    try:
        return bool(str(value) or repr(value))
    except Exception:  # noqa: BLE001 - the caller's class; whatever it raises, it has no text
        return False


def is_hashable(value: Any) -> bool:
    """Tell whether a value has a hash: a tuple can have none because of what it holds."""
    if not isinstance(value, Hashable):
        return False
    try:
        hash(value)
    except Exception:  # noqa: BLE001 - the caller's class; whatever it raises, it has no hash
        return False
    return True


def listed(values: Any, wrong: str, *, text: bool = False) -> list[Any]:
    """Return the items of a sequence or an iterable as a list.

    Parameters
    ----------
    values : object
        What came; texts and single values are no sequences.
    wrong : str
        The message for them, such as "bins must be a sequence"; what came is added.
    text : bool, default False
        Whether a text is the list of its characters.

    Raises
    ------
    InputError
        If it is no iterable, says that it is too long, or fails when it is read.
    """
    is_text = isinstance(values, str | bytes) and not text
    if is_text or not isinstance(values, Iterable):
        raise InputError(f"{wrong}, got {shown(values)}")
    try:
        if isinstance(values, range) and len(values) > _MOST_ITEMS:
            raise OverflowError
        return list(values)
    except (OverflowError, MemoryError):
        raise InputError(f"{wrong}, and not of so many, got {shown(values)}") from None
    except Exception as error:
        raise InputError(
            f"{wrong}, got {shown(values)}, which raised {type(error).__name__}: {error}"
        ) from error
