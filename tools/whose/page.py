"""The page `docs/reference/whose.md`, from what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Cell = Mapping[str, Any]

COLUMNS = (
    *("NumPy", "pandas", "Polars", "Arrow", "DuckDB", "SQLite", "Dask", "SciPy", "statsmodels"),
    *("scikit-learn", "astropy"),
)
"""The columns of the overview; sketches have libraries of their own."""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return the lines of a table."""
    head = list(head)
    return [
        "| " + " | ".join(one) + " |"
        for one in (head, ["---"] * len(head), *(list(row) for row in rows))
    ]


def code(text: str) -> str:
    """Return code in a cell of a table."""
    return f"`{text}`".replace("|", "\\|")


def brief(cell: Cell) -> str:
    """Return a cell of the overview: a query of ours, or the sensitivity of four records."""
    if "absent" in cell:
        return "none"
    if cell["equals"]:
        return code(cell["equals"].replace("sl.", "").replace("Fraction(1, 4)", "1/4"))
    return f"own: {changes(cell, '4')}"


def changes(cell: Cell, size: str) -> str:
    """Return the sensitivity for a size, of ordered datasets where the order counts."""
    if "ordered" in cell:
        if size != "4":
            return "-"
        several = [f"{value} (chunks of {n})" for n, value in cell["ordered"].items()]
        return ", ".join(several) if len(several) > 1 else cell["ordered"]["4"]
    note = f" ({cell['missing'][size]} without)" if size in cell["missing"] else ""
    return cell["sensitivity"][size] + note


def overview(cells: list[Cell]) -> list[str]:
    """Return the table statistic x library; of several calls the first, which is the plainest."""
    rows = []
    for name in dict.fromkeys(cell["statistic"] for cell in cells):
        first: dict[str, str] = {}
        for cell in cells:
            if cell["statistic"] == name and cell["library"] in COLUMNS:
                first.setdefault(cell["library"], brief(cell))
        rows.append([f"[{name}](#{anchor(name)})", *(first.get(one, "") for one in COLUMNS)])
    return table(["statistic", *COLUMNS], rows)


def anchor(name: str) -> str:
    """Return the anchor of a heading."""
    return "".join(one for one in name.lower().replace(" ", "-") if one.isalnum() or one == "-")


HEAD = (
    *("library", "call", "is", "n = 4", "n = 8", "ours, n = 4", "ours, n = 8"),
    *("order", "none; one; equal"),
)


def row(cell: Cell) -> list[str]:
    """Return the row of a call."""
    edges = "; ".join(cell[name] for name in ("none", "one", "equal"))
    if "absent" in cell:
        return [cell["library"], code(cell["call"]), f"fails: {cell['absent']}", *"-----", edges]
    what = code(cell["equals"]) if cell["equals"] else "its own"
    if cell["equals"] and cell["chunks"]:
        what += ", in one chunk"
    if not cell["equals"] and cell["beside"]:
        what += f", beside {code(cell['beside'])}"
    ours = [cell["ours"][n] if cell["ours"] else "-" for n in ("4", "8")]
    depends = [name for name in ("order", "chunks") if cell[name]]
    return [
        *(cell["library"], code(cell["call"]), what, changes(cell, "4"), changes(cell, "8")),
        *(*ours, " and ".join(depends) or "no", edges),
    ]


def statistics_part(cells: list[Cell]) -> list[str]:
    """Return the sections of the statistics."""
    lines: list[str] = []
    for name in dict.fromkeys(cell["statistic"] for cell in cells):
        lines += ["", f"### {name}", ""]
        lines += table(HEAD, (row(cell) for cell in cells if cell["statistic"] == name))
    return lines


def whole(statistics: Mapping[str, Any], privacy: Mapping[str, Any], head: str, tail: str) -> str:
    """Return the page."""
    cells = statistics["cells"]
    versions = ", ".join(f"{name} {one}" for name, one in statistics["versions"].items())
    lines = [head.format(cells=len(cells), versions=versions), *overview(cells)]
    lines += ["", "## Every call", "", *CALLS, *statistics_part(cells)]
    lines += ["", "## Privacy libraries", "", *privacy_part(privacy), tail.rstrip()]
    return "\n".join(lines) + "\n"


CALLS = (
    "*is* names the query of ours that gives the same answer on 230 datasets, with and",
    "without ties; a number before it is a factor. *n = 4* and *n = 8* are the call's own",
    "sensitivities by brute force. Where the order or the chunks count, they are those of",
    "ordered datasets of four records. *ours* is the sensitivity of the query of ours in the",
    "same row. *none; one; equal* are the answers to no record, to the record 1/2, and to",
    "four records 1/2; a name such as ValueError is what the call raises. *(5 without)* says",
    "that so many datasets have no answer, such as NaN; they are left out of the sensitivity,",
    "and no noise makes up for them.",
)


def privacy_part(privacy: Mapping[str, Any]) -> list[str]:
    """Return the sections of the privacy libraries."""
    lines: list[str] = []
    for name, library in privacy.items():
        lines += [f"### {name} {library['version']}", "", library["says"], ""]
        head = ("call", "relation", "norm", "constant", "ours", "looser by", "noise", "public")
        rows = [
            [
                code(cell["call"]),
                *(cell[key] for key in ("relation", "norm", "constant")),
                f"{cell['ours']} {code(cell['ours_call'])}" if cell["ours_call"] else "-",
                *(cell[key] for key in ("looser", "noise", "public")),
            ]
            for cell in library["cells"]
        ]
        lines += [*table(head, rows), ""]
    return lines
