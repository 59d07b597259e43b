"""A table of neighbors: its rows, a data frame, and how it is written as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, groupby

import pandas as pd

from sensitivity_lab.checks import Norm, html_text, number_text, rounded_up
from sensitivity_lab.errors import printable
from sensitivity_lab.queries import Answer, Query
from sensitivity_lab.universes.relations import Dataset, Relation, show
from sensitivity_lab.universes.universe import FiniteUniverse

from .reprs import show_sizes
from .witness import show_answer

CHANGES = ("removed", "added", "replaced")
"""The kinds of change, in the order in which the neighbors of a dataset are listed."""

_SHOWN = 200
"""About how many rows a repr shows."""

_SYMBOLS = {"removed": "-", "added": "+", "replaced": "~"}
# Of clearly different lightness, so that they can be told apart in grey.
_COLORS = {"removed": "#f4b183", "added": "#cfe8f7", "replaced": "#f7f3da"}
_LEFT = "text-align:left;padding:2px 8px"
_EDGE = "border-top:2px solid"
_HEADS = ("x", "f(x)", "change", "records", "y", "f(y)", "|f(x) - f(y)|", "marks")


@dataclass(frozen=True)
class NeighborRow:
    """A dataset x, one of its neighbors y, and the query's answers on both.

    Attributes
    ----------
    x, y : tuple of records
        The datasets, ascending.
    query_x, query_y : float or tuple of float
        The query's answers on them.
    change : {"removed", "added", "replaced"}
        How y differs from x: records are only removed, only added, or both ("replaced").
    removed, added : tuple of records
        The records that only x has, and those that only y has. Both are empty where records were
        replaced by equal ones.
    difference : float
        The norm of the difference of the two answers.
    exact : Fraction or None
        The difference as a rational; None if it is a root, and for callers' functions.
    local : bool
        Whether no other neighbor of x has a larger difference: it is the local sensitivity of x.
    attains_global : bool
        Whether no other row has a larger difference: it is the global sensitivity.
    upper : float or None
        The smallest float that is not below the difference. None for callers' functions.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 5])
    >>> row = sl.neighbor_table(universe, "sum", size=2, neighbors="bounded").rows[0]
    >>> row.x, row.y, row.removed, row.added, row.difference
    ((1, 2), (2, 5), (1,), (5,), 4.0)
    """

    x: Dataset
    query_x: Answer
    change: str
    removed: Dataset
    added: Dataset
    y: Dataset
    query_y: Answer
    difference: float
    exact: Fraction | None
    local: bool = False
    attains_global: bool = False
    upper: float | None = None

    @property
    def text(self) -> str:
        """The difference as both reprs show it, rounded up."""
        return rounded_up(self.difference if self.upper is None else self.upper, self.exact)


@dataclass(frozen=True)
class NeighborTable:
    """All datasets x of a size with all their neighbors y, and how far apart their answers are.

    Attributes
    ----------
    rows : tuple of NeighborRow
        Sorted by x, and the neighbors of one x by change: removed, added, replaced.
    query : Query
    neighbors : Relation
    size : int or tuple of int
        The size n of x, or the sizes.
    universe : FiniteUniverse
    norm : {"L1", "L2", "Linf"}
        How to measure the difference of two vector answers; for numbers, all three agree.

    Examples
    --------
    >>> import sensitivity_lab as sl
    >>> universe = sl.Universe.from_dataset([1, 2, 10])
    >>> sl.neighbor_table(universe, "median", size=2, neighbors=sl.Unbounded(1))
    Neighbors, f = median: global sensitivity 4.5 (exact)
      unbounded, at most 1; size 2; universe of 3 records; 3 datasets x, 9 rows
      local: the largest |f(x) - f(y)| of its x; global *: the largest of all
    <BLANKLINE>
    x = (1, 2), f(x) = 1.5
      - removed  1   y = (2,)        f(y) = 2    |f(x) - f(y)| = 0.5  local
      - removed  2   y = (1,)        f(y) = 1    |f(x) - f(y)| = 0.5  local
      + added    10  y = (1, 2, 10)  f(y) = 2    |f(x) - f(y)| = 0.5  local
    <BLANKLINE>
    x = (1, 10), f(x) = 5.5
      - removed  1   y = (10,)       f(y) = 10   |f(x) - f(y)| = 4.5  local, global *
      - removed  10  y = (1,)        f(y) = 1    |f(x) - f(y)| = 4.5  local, global *
      + added    2   y = (1, 2, 10)  f(y) = 2    |f(x) - f(y)| = 3.5
    <BLANKLINE>
    x = (2, 10), f(x) = 6
      - removed  2   y = (10,)       f(y) = 10   |f(x) - f(y)| = 4    local
      - removed  10  y = (2,)        f(y) = 2    |f(x) - f(y)| = 4    local
      + added    1   y = (1, 2, 10)  f(y) = 2    |f(x) - f(y)| = 4    local
    """

    rows: tuple[NeighborRow, ...]
    query: Query
    neighbors: Relation
    size: int | tuple[int, ...]
    universe: FiniteUniverse
    norm: Norm = "L1"

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[NeighborRow]:
        return iter(self.rows)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a tidy DataFrame.

        Returns
        -------
        pandas.DataFrame
            Columns: x, query_x, change ("removed", "added", "replaced"), removed, added, y,
            query_y, difference (the norm, nearest float), exact (the same as a fraction, or an
            empty string), local and global (whether the row attains the local sensitivity of its
            x, and the global one; all rows that tie are marked).
        """
        return pd.DataFrame(
            {
                "x": row.x,
                "query_x": row.query_x,
                "change": row.change,
                "removed": row.removed,
                "added": row.added,
                "y": row.y,
                "query_y": row.query_y,
                "difference": row.difference,
                "exact": "" if row.exact is None else number_text(row.exact),
                "local": row.local,
                "global": row.attains_global,
            }
            for row in self.rows
        )

    @property
    def value(self) -> float:
        """The global sensitivity, in the query's unit: the largest difference of all rows."""
        return self._largest.difference

    @property
    def upper(self) -> float | None:
        """The smallest float that is not below the global sensitivity; None for functions."""
        return self._largest.upper

    @property
    def exact(self) -> Fraction | None:
        """The global sensitivity as a rational; None where it is a root, and for functions."""
        return self._largest.exact

    @property
    def _largest(self) -> NeighborRow:
        return next(row for row in self.rows if row.attains_global)

    def __repr__(self) -> str:
        blocks, left_out = self._shown
        headings = self._headings()
        table = [[_written(row) for row in block] for block in blocks]
        columns = zip(*(cells for block in table for cells in block), strict=True)
        widths = [max(map(len, column)) for column in columns]
        lines = [printable(headings[0]), *(f"  {line}" for line in headings[1:])]
        for block, written in zip(blocks, table, strict=True):
            x = block[0]
            lines += ["", f"x = {show(x.x)}, f(x) = {show_answer(x.query_x)}"]
            for cells in written:
                padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
                lines.append("  " + "  ".join(padded).rstrip())
        return "\n".join([*lines, *(["", f"({left_out})"] if left_out else [])])

    def _repr_html_(self) -> str:
        blocks, left_out = self._shown
        headings = self._headings()
        caption = "<br>".join([f"<b>{html_text(headings[0])}</b>", *map(html_text, headings[1:])])
        heads = "".join(f"<th style='{_LEFT}'>{html_text(head)}</th>" for head in _HEADS)
        rows = "".join(map(_html_rows, blocks))
        note = f"<p>({html_text(left_out)})</p>" if left_out else ""
        return (
            f"<table style='border-collapse:collapse'><caption style='{_LEFT}'>{caption}</caption>"
            f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{note}"
        )

    @property
    def _blocks(self) -> list[list[NeighborRow]]:
        """The rows of each x."""
        return [list(block) for _, block in groupby(self.rows, key=lambda row: row.x)]

    @property
    def _shown(self) -> tuple[list[list[NeighborRow]], str]:
        """The blocks that a repr has room for, one with the maximum among them; and the others."""
        blocks = self._blocks
        reached = accumulate(map(len, blocks))
        fit = max(1, sum(1 for number in reached if number <= _SHOWN))
        shown = blocks[:fit]
        attaining = next(block for block in blocks if any(row.attains_global for row in block))
        if attaining not in shown:
            shown.append(attaining)
        left_out = len(self.rows) - sum(map(len, shown))
        return shown, f"{left_out:,} more rows; all are in .to_frame()" if left_out else ""

    def _headings(self) -> list[str]:
        vector = isinstance(self.rows[0].query_x, tuple)
        norm = f", {self.norm} norm" if vector else ""
        how = "exact" if self.query.arithmetic == "exact" else "float answers"
        blocks = len(self._blocks)
        bars = f"|f(x) - f(y)|{f' in {self.norm}' if vector else ''}"
        return [
            f"Neighbors, f = {self.query.name}{norm}: global sensitivity "
            f"{self._largest.text} ({how})",
            f"{self.neighbors}; size {show_sizes(self.size)}; {self.universe.extent}; "
            f"{blocks:,} dataset{'s' * (blocks != 1)} x, {len(self.rows):,} rows",
            f"local: the largest {bars} of its x; global *: the largest of all",
        ]


def _written(row: NeighborRow) -> tuple[str, ...]:
    return (
        f"{_SYMBOLS[row.change]} {row.change}",
        _records(row),
        f"y = {show(row.y)}",
        f"f(y) = {show_answer(row.query_y)}",
        f"|f(x) - f(y)| = {row.text}",
        _marks(row),
    )


def _html_rows(block: Sequence[NeighborRow]) -> str:
    """Return the rows of one x, which stands beside all of them."""
    span = f"rowspan='{len(block)}' style='{_LEFT};vertical-align:top;{_EDGE}'"
    x = (show(block[0].x), show_answer(block[0].query_x))
    beside = "".join(f"<td {span}>{html_text(text)}</td>" for text in x)
    lines = []
    for place, row in enumerate(block):
        edge = "" if place else f";{_EDGE}"
        style = f"{_LEFT};background:{_COLORS[row.change]};color:#000{edge}"
        strong = "<b>{}</b>" if row.local else "{}"
        change = f"{_SYMBOLS[row.change]} {row.change}"
        plain = (change, _records(row), show(row.y), show_answer(row.query_y))
        texts = (
            *map(html_text, plain),
            *(strong.format(html_text(text)) for text in (row.text, _marks(row))),
        )
        cells = "".join(f"<td style='{style}'>{text}</td>" for text in texts)
        lines.append(f"<tr>{beside if place == 0 else ''}{cells}</tr>")
    return "".join(lines)


def _records(row: NeighborRow) -> str:
    """Return the records that change, as text."""
    if not row.removed and not row.added:
        return "a record by an equal one"
    sides = [show(side)[1:-1].rstrip(",") for side in (row.removed, row.added) if side]
    return " by ".join(sides)


def _marks(row: NeighborRow) -> str:
    """Return what the row attains, in words."""
    holds = {"local": row.local, "global *": row.attains_global}
    return ", ".join(mark for mark, held in holds.items() if held)
