"""Read numbers, domains and distances from the command line, exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from sensitivity_lab.checks import shown
from sensitivity_lab.csv_files import (
    MOST_VALUES,
    exact_number,
    written_number,
    written_values,
)
from sensitivity_lab.errors import InputError


def read_domain(text: str) -> tuple[str, list[int | Decimal]]:
    """Parse NAME=1,2,3, NAME=0-77 or NAME=first:last:step, exactly; an error names the domain.

    Examples
    --------
    >>> read_domain("mood=1:3"), read_domain("change=-1-1")
    (('mood', [1, 2, 3]), ('change', [-1, 0, 1]))
    """
    name, written = _split(text, "a domain is written NAME=1,2,3 or NAME=15:30:0.5")
    values = written_values(written, text)
    for value, times in Counter(values).items():
        if times > 1:
            raise InputError(f"the domain {shown(name)} lists {value} twice; list every value once")
    return name, values


def _split(text: str, written: str, at: str = "=") -> tuple[str, str]:
    """Return the two parts of a text, or raise InputError that says how it is written."""
    first, sign, second = text.partition(at)
    if not (first and sign and second):
        raise InputError(f"{written}, got {shown(text)}")
    return first, second


def read_distances(text: str) -> list[int]:
    """Parse 1-4 or 1,2,5."""
    return _several(text, "distances are written 1-4 or 1,2,5")


def read_size_list(text: str) -> list[int]:
    """Parse 100, 2-1000 or 2,5,9."""
    return _several(text, "--size is written 100, 2-1000 or 2,5,9")


def _several(text: str, written: str) -> list[int]:
    """Parse whole numbers and ranges of them; an error says how to write them."""
    try:
        found: list[int] = []
        for part in text.split(","):
            first, dash, last = part.partition("-")
            several = range(int(first), int(last if dash else first) + 1)
            if not 0 < len(several) <= MOST_VALUES:
                raise ValueError(part)
            found += several
    except (ValueError, OverflowError):
        raise InputError(f"{written}, from small to large, got {shown(text)}") from None
    return found


def exact(what: str) -> Callable[[str], int | Decimal | Fraction]:
    """Return a function that parses 2, 0.5 or 1/3; its error names the argument.

    Examples
    --------
    >>> exact("--epsilon")("1/3")
    Fraction(1, 3)
    """

    def read(text: str) -> int | Decimal | Fraction:
        above, slash, below = text.partition("/")
        try:
            if not slash:
                return written_number(above)
            return Fraction(written_number(above)) / Fraction(written_number(below))
        except (InputError, ZeroDivisionError):
            raise InputError(f"{what} is written 2, 0.5 or 1/3, got {shown(text)}") from None

    return read


def read_source(text: str) -> tuple[str, Path]:
    """Parse NAME=FILE, a table of a query.

    Examples
    --------
    >>> read_source("orders=data/orders.csv")[0]
    'orders'
    """
    name, file = _split(text, "a table is written NAME=FILE, such as orders=orders.csv")
    return name, Path(file)


def read_foreign_key(text: str) -> tuple[str, str]:
    """Parse TABLE.COLUMN=PARENT.COLUMN.

    Examples
    --------
    >>> read_foreign_key("orders.custkey=customer.custkey")
    ('orders.custkey', 'customer.custkey')
    """
    return _split(text, "a foreign key is written orders.custkey=customer.custkey")


def read_bounds(text: str) -> tuple[str, tuple[int | Decimal, int | Decimal]]:
    """Parse TABLE.COLUMN=LOWER:UPPER, exactly.

    Examples
    --------
    >>> read_bounds("lineitem.quantity=1:50")
    ('lineitem.quantity', (1, 50))
    """
    name, _, ends = text.partition("=")
    lower, colon, upper = ends.partition(":")
    if not (name and colon):
        raise InputError(
            f"bounds are written TABLE.COLUMN=LOWER:UPPER, such as orders.price=0:99, got "
            f"{shown(text)}"
        )
    return name, (written_number(lower), written_number(upper))


def read_groups(written: str) -> tuple[str, list[str]]:
    """Return the column of the groups, and their names."""
    column, _, names = written.partition("=")
    groups = names.split(",")
    if len(groups) == 1 and ":" in names:
        raise InputError(f"name each group: --group-by {column}=0,25,50, got {shown(written)}")
    numbers = [exact_number(name) for name in groups]
    distinct = len(set(groups if None in numbers else numbers))
    if not (column and all(groups)) or distinct < len(groups):
        raise InputError(
            "the names of the groups in the data are private, so give a list that does not depend "
            f"on them, each name once: --group-by {column or 'COLUMN'}=a,b,c, got {shown(written)}"
        )
    return column, groups


def read_keys(text: str) -> list[Any] | str:
    """Parse the keys of groups: numbers, or texts if one is no number, or "public tables".

    Keys of several columns are separated by semicolons.

    Examples
    --------
    >>> read_keys("1,2"), read_keys("north, 2"), read_keys("public tables")
    ([1, 2], ['north', '2'], 'public tables')
    >>> read_keys("north,1; NULL,2")
    [('north', 1), (None, 2)]
    """
    if text == "public tables":
        return text
    keys = [[part.strip() for part in key.split(",")] for key in text.split(";") if key.strip()]
    if ";" not in text:
        return _column(keys[0]) if keys else []
    if len(set(map(len, keys))) > 1:
        raise InputError(f"--groups: each key has as many values as the first, got {shown(text)}")
    return list(zip(*map(_column, zip(*keys, strict=True)), strict=True))


def _column(parts: Iterable[str]) -> list[Any]:
    """Return what one column of keys spells, NULL as None."""
    cells = [None if part == "NULL" else part for part in parts]
    numbers = [None if cell is None else exact_number(cell) for cell in cells]
    return cells if numbers.count(None) > cells.count(None) else numbers


def read_claim_per_k(text: str) -> Callable[[int], Fraction]:
    """Parse the growth of a claim per step of the distance k."""
    slope = Fraction(exact("a claim")(text))
    return lambda k: slope * k
