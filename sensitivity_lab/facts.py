"""How a result tells its facts: the same ones as text and as HTML; and tables in files."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import InputError
from .files import written_whole

if TYPE_CHECKING:
    import pandas as pd

_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")
"""A spreadsheet takes a text that begins so for a formula."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""Control characters: what a terminal obeys instead of showing it."""


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
        """Return the numbers that both reprs show."""

    def __repr__(self) -> str:
        table = self._table().to_string(float_format=lambda value: f"{value:.6g}")
        return f"{self._title}\n" + "\n".join(line.rstrip() for line in table.split("\n"))

    def _repr_html_(self) -> str:
        html = self._table().to_html(float_format=lambda value: f"{value:.6g}")
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
