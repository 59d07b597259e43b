"""How a result tells its facts: the same ones as text and as HTML; and tables in files."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sensitivity_lab.errors import InputError
from sensitivity_lab.files import written_whole
from sensitivity_lab.universes.relations import show

if TYPE_CHECKING:
    import pandas as pd

_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A spreadsheet takes a text that begins so for a formula."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""Control characters: what a terminal obeys instead of showing it."""


def rounded_up(upper: float, exact: Fraction | None = None, digits: int = 10) -> str:
    """Return a sensitivity as text of so many digits, rounded up.

    Parameters
    ----------
    upper : float
        Its upper bound, or a float answer. The text, read as a float, is not below it.
    exact : Fraction, optional
        The sensitivity where it is rational: then it is enough that the text is not below it.
    digits : int, default 10
        How many significant digits, at most 15.

    Examples
    --------
    >>> rounded_up(1.0888355431377), rounded_up(0.1), rounded_up(3.0), rounded_up(2 / 3, digits=3)
    ('1.088835544', '0.1', '3', '0.667')

    No float is 7.1, and the nearest one is below it:

    >>> rounded_up(7.100000000000001, Fraction(71, 10))
    '7.1'
    """
    number = float(upper)
    text = f"{number:.{digits}g}"
    if not math.isfinite(number) or float(text) >= number:
        return text
    if exact is not None and Fraction(text) >= exact:
        return text
    above = Context(digits, ROUND_CEILING).create_decimal(repr(number))
    # Close to the largest float, what is rounded up is none.
    return f"{float(above):.{digits}g}" if math.isfinite(float(above)) else f"{above:e}"


def show_sizes(sizes: int | Sequence[int]) -> str:
    """Return one size of datasets as text, or that any of several will do.

    Examples
    --------
    >>> show_sizes(3), show_sizes((2, 3)), show_sizes([3])
    ('3', 'any of (2, 3)', '3')
    """
    some = (sizes,) if isinstance(sizes, int) else sizes
    return str(some[0]) if len(some) == 1 else f"any of {show(some)}"


def in_table(value: float, upper: float | None, exact: Fraction | None) -> float:
    """Return a result's sensitivity for a table of six digits, rounded up to them."""
    return float(rounded_up(value if upper is None else upper, exact, digits=6))


class Facts(ABC):
    """A result with a title and facts; what is printed of it and what a notebook shows."""

    @property
    @abstractmethod
    def _title(self) -> str:
        """What was found, on one line."""

    @abstractmethod
    def _facts(self) -> list[tuple[str, str]]:
        """Return what both reprs tell, in order: names and texts."""

    def __repr__(self) -> str:
        lines = [f"  {fact:<9}  {text}" for fact, text in self._facts()]
        return "\n".join([self._title, *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(fact)}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for fact, text in self._facts()
        )
        return f"<table><caption>{escape(self._title)}</caption><tbody>{rows}</tbody></table>"


class Tabled(ABC):
    """A result with a title and a table; what is printed of it and what a notebook shows."""

    @property
    @abstractmethod
    def _title(self) -> str:
        """What was found, on one line."""

    @abstractmethod
    def _table(self) -> pd.DataFrame:
        """Return the numbers that both reprs show, rounded up to six digits."""

    def __repr__(self) -> str:
        table = self._table().to_string(float_format="{:.6g}".format)
        return f"{self._title}\n" + "\n".join(line.rstrip() for line in table.split("\n"))

    def _repr_html_(self) -> str:
        html = self._table().to_html(float_format="{:.6g}".format)
        return f"<p>{escape(self._title)}</p>{html}"


def write_csv(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table to a CSV file, whole or not at all; raise InputError if that is not possible.

    A text that a spreadsheet would run as a formula gets an apostrophe before it; control
    characters are written as in Python, a new line as backslash and n.
    """
    safe = table.map(_safe_cell)
    try:
        with written_whole(path) as part:
            safe.to_csv(part, index=False, errors="backslashreplace")
    except OSError as error:
        raise InputError(
            f"cannot write the table to {str(path)!r}: {error.strerror or error}; "
            "choose a file in an existing folder that you may write to"
        ) from error


def _safe_cell(cell: Any) -> Any:
    """Return a cell of a CSV file such that no text is a formula or splits a line."""
    if not isinstance(cell, str):
        return cell
    return printable(f"'{cell}" if cell.startswith(_FORMULAS) else cell)


def printable(text: str) -> str:
    r"""Return a text with its control characters written as in Python.

    Examples
    --------
    >>> print(printable("red: \x1b[31m"))
    red: \x1b[31m
    """
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def told(result: Any) -> dict[str, Any]:
    """Return what a result on a pair of datasets is about, in plain Python objects."""
    return {
        "query": result.query.name,
        "neighbors": result.neighbors.family,
        "meaning": result.neighbors.meaning,
        "distance": result.neighbors.k,
        "size": result.size,
        "kind": result.kind,
        "norm": result.norm,
    }
