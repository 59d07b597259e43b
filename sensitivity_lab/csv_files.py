"""Numbers and CSV files, read exactly: ints, and Decimals for all others."""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass
from decimal import Decimal, Inexact, localcontext
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd

from sensitivity_lab.checks import names_of, shown, steps_to
from sensitivity_lab.errors import InputError

LARGEST_EXPONENT = 400
"""The largest and, negated, the smallest exponent of ten, somewhat beyond floats."""

_LONGEST_LINE, _MOST_BYTES = 2**24, 2**30
"""So many bytes of a line, and of a table, are read: a device such as /dev/zero has no end."""

_MOST_COLUMNS = 10_000

MOST_VALUES = 1_000_000
"""The most values that a range may have."""

_FROM_TO = re.compile(r"\s*(-?[0-9.]+)\s*-\s*(-?[0-9.]+)\s*")
"""A range as people write it: 0-77 for 0:77."""

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,18})?")
"""A decimal number; not 1_000, which Python reads as 1000, nor digits of other scripts."""

_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]{1,18})?")
"""A number with a decimal comma."""

MISSING = ["", "nan", "-nan", "na", "n/a", "#n/a", "#na", "<na>", "null", "none"]
"""How a table writes a missing number, in lower case."""

_WORDS = {
    "true": True,
    "false": False,
    **{sign + word: float(sign + word) for sign in ("", "+", "-") for word in ("inf", "infinity")},
    **dict.fromkeys(MISSING, math.nan),
}
"""The values of words in a table, in lower case; nan stands for a missing number."""


def exact_number(text: str) -> int | Decimal | None:
    """Return the number that a text spells, whole numbers as int; None if it spells none.

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


def written_number(text: str) -> int | Decimal:
    """Return the number that a user wrote; raise InputError for anything else."""
    number = exact_number(text)
    if number is None:
        raise InputError(f"a number is written 20, 0.5 or 1e-3, got {shown(text)}")
    if not in_range(number):
        raise InputError(f"numbers have exponents up to {LARGEST_EXPONENT}, got {shown(text)}")
    return number


def written_values(written: str, text: str) -> list[int | Decimal]:
    """Return the numbers of 1,2,3, 0-77 or first:last:step; an error shows the whole text."""
    ends = _FROM_TO.fullmatch(written)
    if ends:
        written = f"{ends[1]}:{ends[2]}"
    if ":" not in written:
        return [written_number(value) for value in written.split(",")]
    parts = [written_number(value) for value in written.split(":")]
    first, last, step = (*parts, 1)[:3] if len(parts) < 3 else parts[:3]
    if len(parts) > 3 or step <= 0 or last < first:
        raise InputError(
            f"a range is written first:last:step with a positive step, got {shown(text)}"
        )
    if Fraction(last) - Fraction(first) >= MOST_VALUES * Fraction(step):
        raise InputError(
            f"the domain {shown(text)} has more than {MOST_VALUES:,} values; take a larger step"
        )
    with localcontext() as context:
        # The digits are enough for every value. Rounding one would raise an error.
        context.prec = 2 * LARGEST_EXPONENT + len(text)
        context.traps[Inexact] = True
        count = steps_to(last, first, step, shown(text)) + 1
        return [first + place * step for place in range(count)]


def decimal_number(text: str, commas: bool = False) -> float:
    """Return the float nearest to the number that a text spells, nan if it spells none.

    Examples
    --------
    >>> decimal_number(" 2.5"), decimal_number("2,5", commas=True), decimal_number("NA")
    (2.5, 2.5, nan)
    """
    word = _word(text, commas)
    return float(_WORDS[word] if word in _WORDS else word if _NUMBER.fullmatch(word) else "nan")


def is_missing(cell: Any) -> bool:
    """Tell whether a cell has nothing in it: None, NaN, or a word for that."""
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    return pd.api.types.is_scalar(cell) and bool(pd.isna(cell))


def columns_of_file(path: Path, columns: list[str] | None) -> tuple[str, pd.DataFrame]:
    """Return the separator of a CSV file, and some of its columns as texts; None stands for all.

    Arrow reads quickly what pandas would read alike; what it refuses is left to pandas. The names
    of all columns are ``frame.attrs["names"]``.
    """
    content = _read_bytes(path)
    name = shown(str(path))
    header = content.partition(b"\n")[0].decode("utf-8-sig", "replace")
    try:
        from pyarrow import csv, lib, py_buffer, string
    except ImportError:
        cells = cells_of(content, name)
        return cells.separator, _framed(cells, columns)
    separator = _separator(header)
    options = csv.ParseOptions(delimiter=separator, newlines_in_values=True)
    try:
        _decoded(content[: 2**16].rpartition(b"\n")[0] or content)
        first = csv.read_csv(py_buffer(content.partition(b"\n")[0] + b"\n"), parse_options=options)
        names = _column_names(name, first.column_names)
        wanted = names if columns is None else [one for one in columns if one in names]
        read = csv.read_csv(
            py_buffer(content),
            read_options=csv.ReadOptions(column_names=names, skip_rows=1),
            parse_options=options,
            convert_options=csv.ConvertOptions(
                include_columns=wanted or names[:1],
                column_types=dict.fromkeys(names, string()),
                strings_can_be_null=False,
            ),
        )
    except (lib.ArrowInvalid, ValueError):
        cells = cells_of(content, name)
        return cells.separator, _framed(cells, columns)
    frame = pd.DataFrame(
        {one: read[one].to_pandas() for one in wanted}, index=pd.RangeIndex(read.num_rows)
    )
    frame.attrs["names"] = names
    return separator, frame


def _framed(cells: Cells, columns: list[str] | None) -> pd.DataFrame:
    known = {name: of for name, of in cells.columns.items() if columns is None or name in columns}
    number = len(next(iter(cells.columns.values())))
    frame = pd.DataFrame(known, index=pd.RangeIndex(number), dtype=object)
    frame.attrs["names"] = list(cells.columns)
    return frame


def _word(text: str, commas: bool) -> str:
    """Return a cell in lower case, with a decimal point where a comma may stand for it."""
    word = text.strip().lower()
    return with_point(word) if commas else word


def with_point(text: str) -> str:
    """Return a number with a decimal comma with a point; everything else as it is."""
    return text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text.strip()) else text


def in_range(number: float | Decimal) -> bool:
    """Return whether the exponent of a number is within the limit."""
    return not isinstance(number, Decimal) or abs(number.adjusted()) <= LARGEST_EXPONENT


@dataclass(frozen=True)
class Cells:
    """A CSV file as it is written.

    Attributes
    ----------
    separator : str
        A comma; or a semicolon or a tab if the first line has no comma.
    columns : dict of str to list of str
        The texts of each column. Short rows end in entries that are not texts.
    """

    separator: str
    columns: dict[str, list[Any]]

    def entries(self, name: str) -> list[Any]:
        """Return a column's entries: exact numbers, True, False, nan if missing, else texts."""
        texts = self.columns[name]
        known = {text: self._entry(text) for text in dict.fromkeys(texts)}
        if not any(isinstance(entry, str) for entry in known.values()):
            for text, entry in known.items():
                if not in_range(entry):
                    raise InputError(
                        f"column {shown(name)}: numbers have exponents up to {LARGEST_EXPONENT}, "
                        f"got {shown(text)} at position {texts.index(text)}"
                    )
        return [known[text] for text in texts]

    def _entry(self, text: Any) -> Any:
        # Rows shorter than the header end in missing entries, which are not texts.
        word = _word(text, self.separator != ",") if isinstance(text, str) else ""
        if word in _WORDS:
            return _WORDS[word]
        number = exact_number(word)
        return text if number is None else number


def read_cells(path: Path) -> Cells:
    """Return the cells of a CSV file whose first line names the columns."""
    return cells_of(_read_bytes(path), shown(str(path)))


def _read_bytes(path: Path) -> bytes:
    """Return the content of a CSV file, or raise InputError."""
    name = shown(str(path))
    if path.suffix.lower() == ".json":
        raise InputError(
            f"{name} is not a CSV file; write the values of a domain as "
            "--domain NAME=VALUES, such as --domain mood=1,2"
        )
    try:
        with path.open("rb") as stream:
            return _read(stream)
    except OSError as error:
        why = error.strerror or shown(error)
        raise InputError(f"cannot read {name} as a CSV file: {why}") from error
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot read {name} as a CSV file: {error}") from error


def cells_of(content: bytes, name: str) -> Cells:
    """Return the cells of a CSV file, which messages call by a name."""
    try:
        # Decode here, so a file that is not text always gives the same message.
        text = _decoded(content)
    except ValueError as error:
        raise InputError(f"cannot read {name} as a CSV file: {error}") from error
    header = text.partition("\n")[0]
    separator = _separator(header)
    try:
        if header.count(separator) >= _MOST_COLUMNS:
            raise ValueError(
                f"it has {header.count(separator) + 1:,} columns, more than {_MOST_COLUMNS:,}; "
                "write the columns that you need to another file"
            )
        with warnings.catch_warnings():
            # Rows that are longer than the header are an error, not a column of labels.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # The header is read as an ordinary line: pandas would rename repeated columns.
            cells = pd.read_csv(
                StringIO(text, newline=""),
                sep=separator,
                header=None,
                index_col=False,
                dtype=str,
                keep_default_na=False,
            )
    except (ValueError, pd.errors.ParserWarning) as error:  # ValueErrors are pandas's own
        # Of some versions, with a line break at its end.
        raise InputError(f"cannot read {name} as a CSV file: {str(error).strip()}") from error
    names = _column_names(name, cells.iloc[0].tolist())
    return Cells(separator, {one: cells[at].tolist()[1:] for at, one in enumerate(names)})


def _separator(header: str) -> str:
    """Return the character between the columns, judging by the first line."""
    return next((mark for mark in ",;\t" if mark in header), ",")


def _read(stream: BinaryIO) -> bytes:
    """Return what a stream has; ValueError if its first line or all of it is too long."""
    start = stream.read(_LONGEST_LINE)
    if len(start) == _LONGEST_LINE and b"\n" not in start:
        raise ValueError(
            f"its first {_LONGEST_LINE:,} bytes have no end of a line, so it has no columns"
        )
    content = start + stream.read(_MOST_BYTES - len(start))
    if len(content) == _MOST_BYTES:
        raise ValueError(
            f"it has {_MOST_BYTES:,} bytes or more; give fewer rows, or only the columns you need"
        )
    return content


def _decoded(content: bytes) -> str:
    """Return a text in UTF-8; ValueError with what to do for one in another encoding."""
    marked = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if b"\0" in content and not marked:
            raise ValueError("it is no text") from error
        guess = "UTF-16" if marked else "LATIN1"
        raise ValueError(
            f"it is not encoded in UTF-8, but perhaps in {guess}; save it as UTF-8, or convert "
            f"it: iconv -f {guess} -t UTF-8"
        ) from error


def _column_names(file: str, header: list[str]) -> list[str]:
    """Return the names of the columns; a column without a name is named by its position."""
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
