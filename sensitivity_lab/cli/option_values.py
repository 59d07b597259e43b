"""Read the values of options: numbers, domains, tables and groups, exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm
from pathlib import Path
from typing import Any

from sensitivity_lab.checks import cut, shown
from sensitivity_lab.csv_files import exact_number, written_number, written_values
from sensitivity_lab.errors import InputError
from sensitivity_lab.releases.grid import as_text


def by_name(
    option: str, written: list[str] | None, read: Callable[[str], tuple[str, Any]]
) -> dict[str, Any]:
    """Return what an option gives for each name; raise InputError for a name given twice."""
    found: dict[str, Any] = {}
    for name, value in [read(one) for one in written or ()]:
        if name in found:
            raise InputError(f"{option}: {shown(name)} is given twice; give each name once")
        found[name] = value
    return found


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


def grid_of(column: str, domain: list[Any]) -> tuple[tuple[Fraction, Fraction], Fraction]:
    """Return the ends of a domain, and the largest step that all distances are multiples of."""
    values = sorted(map(Fraction, domain))
    if len(values) < 2:
        raise InputError(
            f"the domain of {shown(column)} has one value, so there is nothing to measure; give "
            f"its ends: --domain {column}=SMALLEST:LARGEST"
        )
    if len(values) == 2 and values[1] - values[0] != 1:
        low, high = map(as_text, values)
        raise InputError(
            f"the domain of {shown(column)} lists two values, {low} and {high}; for all whole "
            f"numbers between them write --domain {column}={low}:{high}"
        )
    below = lcm(*(value.denominator for value in values))
    apart = gcd(*(int((value - values[0]) * below) for value in values))
    return (values[0], values[-1]), Fraction(apart, below)


def _split(text: str, written: str) -> tuple[str, str]:
    """Return the two parts of a text, or raise InputError that says how it is written."""
    first, sign, second = text.partition("=")
    if not (first and sign and second):
        raise InputError(f"{written}, got {shown(text)}")
    return first, second


def read_exact(text: str, what: str) -> int | Decimal | Fraction:
    """Parse 2, 0.5 or 1/3; an error names what the number is.

    Examples
    --------
    >>> read_exact("1/3", "--epsilon")
    Fraction(1, 3)
    """
    above, slash, below = text.partition("/")
    try:
        if not slash:
            return written_number(above)
        return Fraction(written_number(above)) / Fraction(written_number(below))
    except (InputError, ZeroDivisionError):
        raise InputError(f"{what} is written 2, 0.5 or 1/3, got {shown(text)}") from None


def read_source(text: str) -> tuple[str, Path]:
    """Parse NAME=FILE, a table of a query.

    Examples
    --------
    >>> read_source("orders=data/orders.csv")[0]
    'orders'
    """
    name, file = _split(text, "a table is written NAME=FILE, such as orders=orders.csv")
    return name, Path(file)


def read_persons(written: list[str]) -> str | dict[str, str]:
    """Parse TABLE.COLUMN; of several, return the columns by table."""
    if len(written) == 1:
        return written[0]
    found: dict[str, str] = {}
    for one in written:
        table, point, column = one.rpartition(".")
        if not (table and point and column) or table in found:
            raise InputError(
                f"--person is written TABLE.COLUMN, once per table, got {cut(', '.join(written))}"
            )
        found[table] = column
    return found


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
        raise InputError(f"name each group: --group-by {cut(column)}=0,25,50, got {shown(written)}")
    numbers = [exact_number(name) for name in groups]
    distinct = len(set(groups if None in numbers else numbers))
    if not (column and all(groups)) or distinct < len(groups):
        raise InputError(
            "the names of the groups in the data are private, so give a list that does not depend "
            f"on them, each name once: --group-by {cut(column) or 'COLUMN'}=a,b,c, got "
            f"{shown(written)}"
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
