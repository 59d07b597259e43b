"""How a table of neighbors is written: as text, and as HTML in color."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sensitivity_lab.checks import html_text
from sensitivity_lab.errors import printable

_SYMBOLS = {"removed": "-", "added": "+", "replaced": "~"}
# Of clearly different lightness, so that they can be told apart in grey.
_COLORS = {"removed": "#f4b183", "added": "#cfe8f7", "replaced": "#f7f3da"}
_LEFT = "text-align:left;padding:2px 8px"
_EDGE = "border-top:2px solid"
_HEADS = ("x", "f(x)", "change", "records", "y", "f(y)", "|f(x) - f(y)|", "marks")


@dataclass(frozen=True)
class Cells:
    """A row of the table, ready to be written."""

    x: str
    query_x: str
    change: str
    records: str
    y: str
    query_y: str
    difference: str
    local: bool
    attains_global: bool

    @property
    def marks(self) -> str:
        """What the row attains, in words."""
        return ", ".join(
            mark
            for mark, holds in (("local", self.local), ("global *", self.attains_global))
            if holds
        )


def as_text(headings: Sequence[str], blocks: Sequence[Sequence[Cells]], left_out: str = "") -> str:
    """Return aligned columns, a block per x; last, what is left out."""
    table = [[_written(row) for row in block] for block in blocks]
    columns = zip(*(cells for block in table for cells in block), strict=True)
    widths = [max(map(len, column)) for column in columns]
    lines = [printable(headings[0]), *(f"  {line}" for line in headings[1:])]
    for block, written in zip(blocks, table, strict=True):
        lines += ["", f"x = {block[0].x}, f(x) = {block[0].query_x}"]
        for cells in written:
            padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
            lines.append("  " + "  ".join(padded).rstrip())
    return "\n".join([*lines, *(["", f"({left_out})"] if left_out else [])])


def _written(row: Cells) -> tuple[str, ...]:
    return (
        f"{_SYMBOLS[row.change]} {row.change}",
        row.records,
        f"y = {row.y}",
        f"f(y) = {row.query_y}",
        f"|f(x) - f(y)| = {row.difference}",
        row.marks,
    )


def as_html(headings: Sequence[str], blocks: Sequence[Sequence[Cells]], left_out: str = "") -> str:
    """Return a table whose background tells the change, as do a symbol and a word."""
    caption = "<br>".join([f"<b>{html_text(headings[0])}</b>", *map(html_text, headings[1:])])
    heads = "".join(f"<th style='{_LEFT}'>{html_text(head)}</th>" for head in _HEADS)
    rows = "".join(map(_html_rows, blocks))
    note = f"<p>({html_text(left_out)})</p>" if left_out else ""
    return (
        f"<table style='border-collapse:collapse'><caption style='{_LEFT}'>{caption}</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{note}"
    )


def _html_rows(block: Sequence[Cells]) -> str:
    """Return the rows of one x, which stands beside all of them."""
    span = f"rowspan='{len(block)}' style='{_LEFT};vertical-align:top;{_EDGE}'"
    beside = "".join(
        f"<td {span}>{html_text(text)}</td>" for text in (block[0].x, block[0].query_x)
    )
    lines = []
    for place, row in enumerate(block):
        edge = "" if place else f";{_EDGE}"
        style = f"{_LEFT};background:{_COLORS[row.change]};color:#000{edge}"
        strong = "<b>{}</b>" if row.local else "{}"
        texts = (
            *map(
                html_text, (f"{_SYMBOLS[row.change]} {row.change}", row.records, row.y, row.query_y)
            ),
            strong.format(html_text(row.difference)),
            strong.format(html_text(row.marks)),
        )
        cells = "".join(f"<td style='{style}'>{text}</td>" for text in texts)
        lines.append(f"<tr>{beside if place == 0 else ''}{cells}</tr>")
    return "".join(lines)
