"""Show the facts of a result, the same as text and as HTML; write tables to files."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from textwrap import wrap
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from sensitivity_lab.checks import check_path, html_text, named, rounded_up, shown
from sensitivity_lab.errors import InputError, printable
from sensitivity_lab.files import written_whole
from sensitivity_lab.queries.order import ORDER
from sensitivity_lab.universes.relations import show

_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A spreadsheet takes a text that begins so for a formula."""

_DIGITS = 400
"""The digits of a quotient that is formatted: more than those of a float before its point."""

_WIDTH = 100
"""The most characters in a line of a table, as far as there are columns to leave out."""

_LEAST, _COLUMNS, _ROWS = 4, 20, 60
"""The fewest columns and the most columns and rows that a repr shows of a table."""


def _as_written(number: float) -> str:
    """Return a number of a table with six digits; a large one whole, with commas, as money is."""
    return f"{number:,.0f}" if 999_999.5 <= abs(number) < 1e16 else f"{number:.6g}"


def format_up(upper: float, exact: Fraction | None, spec: str) -> str:
    """Return a sensitivity as a format specification says, rounded up.

    Parameters
    ----------
    upper : float
        Its upper bound, or a float answer.
    exact : Fraction, optional
        The sensitivity where it is rational.
    spec : str
        As for a float: width, precision, ``f``, ``e``, ``g``, ``%``.

    Raises
    ------
    ValueError
        If there is no such format for numbers.

    Examples
    --------
    >>> format_up(1.0888355431377, None, ".2f"), format_up(2 / 3, Fraction(2, 3), "8.1%")
    ('1.09', '   66.7%')
    >>> format_up(7.100000000000001, Fraction(71, 10), ".1f")
    '7.1'
    """
    if not math.isfinite(upper):
        return format(float(upper), spec)
    if "." not in spec:  # as for floats: six digits, or without a type all that a float has
        if spec[-1] not in "eEfFgG%":
            return format(float(upper), spec)
        spec = f"{spec[:-1]}.6{spec[-1]}"
    # Rounded up twice, to many digits and then to few, is rounded up once.
    with localcontext(Context(prec=_DIGITS, rounding=ROUND_CEILING)):
        number = Decimal(repr(float(upper)))
        if exact is not None:
            number = Decimal(exact.numerator) / Decimal(exact.denominator)
        return format(number, spec)


def certainty(text: str, arithmetic: str, exact: Fraction | None) -> str:
    """Return what a title says about its number: how it was found, and whether it is rounded up.

    Examples
    --------
    >>> certainty("0.5", "exact", Fraction(1, 2)), certainty("0.34", "exact", Fraction(1, 3))
    ('exact', 'exact, rounded up')
    """
    if arithmetic != "exact":
        return "exact search over float answers"
    if exact is None or math.isinf(float(text)):
        return "exact, rounded up"
    # The float 0.1 is not a tenth, and is printed as 0.1.
    return "exact" if exact in (Fraction(text), Fraction(float(text))) else "exact, rounded up"


def rounded_down(lower: float, digits: int = 10, exact: Fraction | None = None) -> str:
    """Return a lower bound as text with a number of digits, rounded down.

    If the bound is rational (`exact`), only the text must not be above it; see `rounded_up`.

    Examples
    --------
    >>> rounded_down(0.09999999999999999, exact=Fraction(1, 10))
    '0.1'
    >>> rounded_down(2 / 3), rounded_down(3.0)
    ('0.6666666666', '3')
    """
    number = float(lower)
    text = f"{number:.{digits}g}"
    if not math.isfinite(number) or float(text) <= number:
        return text
    if exact is not None and Fraction(text) <= exact:
        return text
    return f"{float(Context(digits, ROUND_FLOOR).create_decimal(repr(number))):.{digits}g}"


def show_sizes(sizes: int | Sequence[int]) -> str:
    """Return one size of datasets as text, or that any of several will do.

    Examples
    --------
    >>> show_sizes(3), show_sizes((2, 3)), show_sizes(range(2, 1001))
    ('3', 'any of (2, 3)', 'any of 2 to 1000')
    """
    some = (sizes,) if isinstance(sizes, int) else sizes
    if len(some) == 1:
        return str(some[0])
    whole = len(some) > 3 and some[-1] - some[0] == len(some) - 1
    return f"any of {some[0]} to {some[-1]}" if whole else f"any of {show(some, 'sizes')}"


def in_table(value: float, upper: float | None, exact: Fraction | None) -> float:
    """Return a result's sensitivity for a table of six digits, rounded up to them."""
    return float(rounded_up(value if upper is None else upper, exact, digits=6))


class Facts(ABC):
    """A result with a title and facts, as it is printed and as a notebook shows it."""

    @property
    @abstractmethod
    def _title(self) -> str:
        """What was found, on one line."""

    @abstractmethod
    def facts(self) -> list[tuple[str, str]]:
        """Return the facts of both reprs, in order: names and texts."""

    def __repr__(self) -> str:
        return "\n".join([printable(self._title), *fact_lines(self.facts())])

    def _repr_html_(self) -> str:
        return facts_html(self.facts(), self._title)


def fact_lines(facts: Sequence[tuple[str, str]], width: int = 0) -> list[str]:
    """Return a line for each fact, or several lines of a width at most."""
    written = (printable(f"  {fact:<9}  {text}") for fact, text in facts)
    if not width:
        return list(written)
    return [part for line in written for part in wrap(line, width, subsequent_indent=" " * 13)]


def facts_html(facts: Sequence[tuple[str, str]], title: str) -> str:
    """Return facts as a table of HTML."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html_text(fact)}</th>"
        f"<td style='text-align:left'>{html_text(text)}</td></tr>"
        for fact, text in facts
    )
    return f"<table><caption>{html_text(title)}</caption><tbody>{rows}</tbody></table>"


class Tabled(ABC):
    """A result with a title and a table, as it is printed and as a notebook shows it."""

    @property
    @abstractmethod
    def _title(self) -> str:
        """What was found, on one line."""

    @abstractmethod
    def _table(self) -> pd.DataFrame:
        """Return the numbers that both reprs show, rounded up to six digits."""

    def __repr__(self) -> str:
        table = _with_names(self._table())
        columns = min(table.shape[1], _COLUMNS)
        text = _as_text(table, columns)
        while columns > _LEAST and _width(text) > _WIDTH:
            columns -= 1
            text = _as_text(table, columns)
        note = self._left_out(table, columns)
        return "\n".join([printable(self._title), text, *([f"({note})"] if note else [])])

    def _repr_html_(self) -> str:
        table = _with_names(self._table())
        html = table.to_html(float_format=_as_written, max_cols=_COLUMNS, max_rows=_ROWS)
        note = self._left_out(table, _COLUMNS)
        return (
            f"<p>{html_text(self._title)}</p><div style='overflow-x:auto'>{html}</div>"
            f"{f'<p>({html_text(note)})</p>' if note else ''}"
        )

    def _left_out(self, table: pd.DataFrame, columns: int) -> str:
        """Return what a repr says of the rows and columns that it leaves out."""
        rows, wide = table.shape
        sizes = [
            *([f"{rows:,} rows"] if rows > _ROWS else []),
            *([f"{wide:,} columns"] if wide > columns else []),
        ]
        return f"{' and '.join(sizes)}; all are in .to_frame()" if sizes else ""


def _with_names(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose cells, rows and columns show the names that they hold."""
    shown = table.map(_shown)
    for axis in (0, 1):
        shown = shown.set_axis(_names_shown(table.axes[axis]), axis=axis)
    return shown


def _names_shown(axis: pd.Index) -> pd.Index:
    """Return the names of rows or columns as they are shown."""
    if isinstance(axis, pd.MultiIndex):
        places = [tuple(map(_shown, place)) for place in axis]
        return pd.MultiIndex.from_tuples(places, names=axis.names)
    return axis if is_numeric_dtype(axis) else axis.map(_shown)


def _shown(cell: Any) -> Any:
    """Return a name as it is shown; everything else as it is."""
    return named(cell) if isinstance(cell, str) else cell


def _as_text(table: pd.DataFrame, columns: int) -> str:
    """Return a table as aligned text, with so many columns at most."""
    text = table.to_string(float_format=_as_written, max_cols=columns, max_rows=_ROWS)
    return "\n".join(line.rstrip() for line in text.split("\n"))


def _width(text: str) -> int:
    """Return the length of the longest line."""
    return max(map(len, text.split("\n")))


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table to a CSV file, whole or not at all; raise InputError if that is not possible.

    A text that a spreadsheet would run as a formula gets a leading apostrophe. Control characters
    are escaped as in Python, so a new line becomes a backslash and n.
    """
    check_path("path", path)
    safe = table.map(_safe_cell)
    try:
        with written_whole(path) as part:
            safe.to_csv(part, index=False, errors="backslashreplace")
    except OSError as error:
        raise InputError(
            f"cannot write the table to {shown(str(path))}: {error.strerror or error}; "
            "choose a file in an existing folder that you may write to"
        ) from error


def _safe_cell(cell: Any) -> Any:
    """Return a cell of a CSV file such that no text is a formula or splits a line."""
    if not isinstance(cell, str):
        return cell
    return printable(f"'{cell}" if cell.startswith(_FORMULAS) else cell)


def how_searched(result: Any) -> tuple[str, str]:
    """Return the fact of a result that says how it was found."""
    evaluated = "no evaluation needed"
    if result.datasets_evaluated:
        evaluated = f"{result.datasets_evaluated:,} datasets evaluated"
    return "method", f"{result.method}, {result.arithmetic} arithmetic, {evaluated}"


def of_function(result: Any) -> list[tuple[str, str]]:
    """Return the facts about a caller's function: its library, and that the order counts."""
    facts = [
        ("library", result.query.borrowed),
        ("order", ORDER if result.depends_on_order else ""),
    ]
    return [(name, text) for name, text in facts if text]


def between_sizes(sizes: tuple[int, int | None], of: str) -> str:
    """Return which sizes a search covers, after a semicolon; "" for the one size of x."""
    lowest, highest = sizes
    if highest is None:
        return f"; {of} {lowest} or more"
    return f"; {of} {lowest} to {highest}" if lowest < highest else ""


def told(result: Any) -> dict[str, Any]:
    """Return the setting of a result on a pair of datasets, in plain Python objects."""
    return {
        "query": result.query.name,
        "neighbors": result.neighbors.family,
        "meaning": result.neighbors.meaning,
        "distance": result.neighbors.k,
        "size": result.size,
        "kind": result.kind,
        "norm": result.norm,
    }
