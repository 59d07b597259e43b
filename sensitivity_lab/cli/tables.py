"""The command line's numbers and CSV files, read exactly: ints, and Decimals for all others."""

from __future__ import annotations

import math
import re
import sys
import warnings
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from sensitivity_lab.checks import names_of, shown
from sensitivity_lab.errors import InputError

STANDARD_INPUT = Path("-")
"""The name of a file that stands for what is piped in."""

LARGEST_EXPONENT = 400
"""Numbers may be as large or as small as this power of ten, somewhat beyond floats."""

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,18})?")
"""A decimal number. Not 1_000, which Python reads as 1000, and not the digits of other scripts."""

_WORDS = {
    "true": True,
    "false": False,
    **{sign + word: float(sign + word) for sign in ("", "+", "-") for word in ("inf", "infinity")},
    **dict.fromkeys(
        ("", "nan", "-nan", "na", "n/a", "#n/a", "#na", "<na>", "null", "none"), math.nan
    ),
}
"""What words in a table mean, in lower case; nan stands for a missing number."""


def exact_number(text: str) -> int | Decimal | None:
    """Return the number that a text spells, whole ones as int; None if it spells none.

    Examples
    --------
    >>> exact_number("9007199254740993"), exact_number("0.1"), exact_number("1_000")
    (9007199254740993, Decimal('0.1'), None)
    """
    if not _NUMBER.fullmatch(text.strip()):
        return None
    number = Decimal(text.strip())
    if not number:
        return 0
    # A number with a huge exponent stays a Decimal: as an int it would fill the memory.
    whole = in_range(number) and number == number.to_integral_value()
    return int(number) if whole else number


def in_range(number: float | Decimal) -> bool:
    """Tell whether a number is within the exponents that are read."""
    return not isinstance(number, Decimal) or abs(number.adjusted()) <= LARGEST_EXPONENT


def read_table(path: Path) -> pd.DataFrame:
    """Return the table of a CSV file whose first line names the columns, its numbers exactly.

    The file ``-`` is standard input.
    """
    name = "standard input" if path == STANDARD_INPUT else shown(str(path))
    if path.suffix.lower() == ".json":
        raise InputError(
            f"{name} is not a CSV file; write the values of a domain as "
            "--domain NAME=VALUES, such as --domain mood=1,2"
        )
    try:
        with warnings.catch_warnings():
            # Rows that are longer than the header are an error, not a column of labels.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # Decoded here, so that the message for a file without text is always the same.
            text = StringIO(bytes_of(path).decode("utf-8-sig"), newline="")
            # The header is read as an ordinary line: pandas would rename repeated columns.
            cells = pd.read_csv(
                text, header=None, index_col=False, dtype=str, keep_default_na=False
            )
    except OSError as error:
        why = error.strerror or shown(error)
        raise InputError(f"cannot read {name} as a CSV file: {why}") from error
    except (ValueError, pd.errors.ParserWarning) as error:  # ValueErrors are pandas's own
        raise InputError(f"cannot read {name} as a CSV file: {error}") from error
    names = _column_names(name, cells.iloc[0].tolist())
    return pd.DataFrame(
        {name: _column(name, cells[place].tolist()[1:]) for place, name in enumerate(names)}
    )


def bytes_of(path: Path) -> bytes:
    """Return what a file, or standard input, has."""
    if path != STANDARD_INPUT:
        return path.read_bytes()
    if sys.stdin is None:
        raise ValueError("it is closed")
    return sys.stdin.buffer.read()


def _column_names(file: str, header: list[str]) -> list[str]:
    """Return the names of the columns; a column without a name is called by its position."""
    names = [name or f"Unnamed: {place}" for place, name in enumerate(header)]
    for name in names:
        if exact_number(name) is not None or name.strip().lower() in ("nan", "inf", "-inf"):
            raise InputError(f"the first line of {file} must name the columns, got {shown(name)}")
    twice = sorted(name for name in set(names) if names.count(name) > 1)
    if twice:
        raise InputError(
            f"the first line of {file} names {names_of(twice)} more than once; "
            "give every column its own name"
        )
    return names


def _column(name: str, texts: list[Any]) -> pd.Series[Any]:
    """Return the entries of a column; raise InputError for a column of numbers too large."""
    entries = list(map(_entry, texts))
    if not any(isinstance(entry, str) for entry in entries):
        for line, entry in enumerate(entries):
            if not in_range(entry):
                raise InputError(
                    f"column {shown(name)}: numbers have exponents up to {LARGEST_EXPONENT}, got "
                    f"{shown(texts[line])} at position {line}"
                )
    return pd.Series(entries, dtype=object)


def _entry(text: Any) -> Any:
    """Return a table's entry: a number, True or False, nan if it is missing, else the text."""
    # Rows that are shorter than the header end in missing entries, which are not texts.
    word = text.strip().lower() if isinstance(text, str) else ""
    if word in _WORDS:
        return _WORDS[word]
    number = exact_number(word)
    return text if number is None else number
