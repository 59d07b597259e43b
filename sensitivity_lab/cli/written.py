"""Numbers, domains and distances as they are written on the command line, read exactly."""

from __future__ import annotations

from decimal import Decimal, Inexact, localcontext
from fractions import Fraction

from sensitivity_lab.errors import InputError

from .tables import LARGEST_EXPONENT, exact_number, in_range

_MOST = 1_000_000
"""The most values that a range may have."""


def split_domain(text: str) -> tuple[str, str]:
    """Return the name and the values of a domain, which are written NAME=VALUES."""
    name, equals, values = text.partition("=")
    if not (name and equals and values):
        raise InputError(f"a domain is written NAME=1,2,3 or NAME=15:30:0.5, got {text!r}")
    return name, values


def values_of(written: str, text: str | None = None) -> list[int | Decimal]:
    """Parse 1,2,3 or first:last:step, exactly; an error shows the whole text."""
    text = written if text is None else text
    if ":" not in written:
        return [_number(value) for value in written.split(",")]
    parts = [_number(value) for value in written.split(":")]
    first, last, step = (*parts, 1)[:3] if len(parts) < 3 else parts[:3]
    if len(parts) > 3 or step <= 0 or last < first:
        raise InputError(f"a range is written first:last:step with a positive step, got {text!r}")
    count = (Fraction(last) - Fraction(first)) // Fraction(step) + 1
    if count > _MOST:
        raise InputError(f"the domain {text!r} has more than {_MOST:,} values; take a larger step")
    with localcontext() as context:
        # There are enough digits for every value. Rounding one would raise an error.
        context.prec = 2 * LARGEST_EXPONENT + len(text)
        context.traps[Inexact] = True
        return [first + place * step for place in range(count)]


def read_distances(text: str) -> list[int]:
    """Parse 1-4 or 1,2,5."""
    return _several(text, "distances are written 1-4 or 1,2,5")


def read_size_list(text: str) -> list[int]:
    """Parse 100, 2-1000 or 2,5,9."""
    return _several(text, "--size is written 100, 2-1000 or 2,5,9")


def _several(text: str, written: str) -> list[int]:
    """Parse whole numbers and ranges of them; an error says how they are written."""
    try:
        found: list[int] = []
        for part in text.split(","):
            first, dash, last = part.partition("-")
            several = range(int(first), int(last if dash else first) + 1)
            if not 0 < len(several) <= _MOST:
                raise ValueError(part)
            found += several
    except (ValueError, OverflowError):
        raise InputError(f"{written}, from small to large, got {text!r}") from None
    return found


def read_sizes(text: str) -> tuple[int, int]:
    """Parse 3-9."""
    smallest, dash, largest = text.partition("-")
    if not (dash and smallest.isdecimal() and largest.isdecimal()):
        raise InputError(f"--sizes are written 3-9, smallest and largest, got {text!r}")
    return int(smallest), int(largest)


def read_exact(text: str, what: str) -> int | Decimal | Fraction:
    """Parse 2, 0.5 or 1/3; an error says what it is."""
    above, slash, below = text.partition("/")
    try:
        if not slash:
            return _number(above)
        return Fraction(_number(above)) / Fraction(_number(below))
    except (InputError, ZeroDivisionError):
        raise InputError(f"{what} is written 2, 0.5 or 1/3, got {text!r}") from None


def _number(text: str) -> int | Decimal:
    number = exact_number(text)
    if number is None:
        raise InputError(f"a domain has numbers, got {text!r}")
    if not in_range(number):
        raise InputError(
            f"a domain has finite numbers with exponents up to {LARGEST_EXPONENT}, got {text!r}"
        )
    return number
