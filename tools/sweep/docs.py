"""Write what sweeps found into docs/sweep.md, and tables of it beside that page.

python -m tools.sweep.docs FOLDER

FOLDER is that of ``python -m tools.sweep LIBRARY --output FOLDER``. In the page, what stands
between ``<!-- sweep of NAME -->`` and ``<!-- end -->`` is replaced.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from sensitivity_lab.audits.row import FAILING

from .page import summaries
from .setting import Line

DOCS = Path(__file__).parents[2] / "docs"

RELATIONS = {"neighbors bounded": "replaced", "neighbors unbounded": "added or removed"}
"""What settings say of their neighbors, and what the page calls it."""

HEADER = ("constructor", "settings", "verdicts", "claim / truth", "worst setting", "neighbors")

ISSUES = "https://github.com/opendp/opendp/issues/"

OUTSIDE = {
    "opendp": (
        "**Not tried**: selections, thresholds, randomized response, odometers, compositions, code "
        "of users, postprocessing, single Polars expressions, deprecated constructors, more than a "
        "few records. Outputs of randomized constructors are only sampled. Of a measurement, the "
        "sensitivity is judged, not the sampler or the delta. Known mistakes out of reach: the "
        f"delta of thresholds ([#2922]({ISSUES}2922)), the rounding of squared deviations of "
        f"hundreds of large floats ([#2923]({ISSUES}2923), reproduced in `tests/corpus`), and "
        + ", ".join(f"[#{number}]({ISSUES}{number})" for number in (2944, 2945, 2949, 2950))
        + "."
    ),
    "opendp.extras": (
        "**Not tried**: the sampler of eigenvectors, and so PCA as a whole; the medians and drawn "
        f"pairs of points of `LinearRegression` ([#2950]({ISSUES}2950)); the models of "
        "`opendp.extras.mbi`; `opendp.extras.ibis`, which makes no claim of its own; more than two "
        f"columns; missing values; clamping around a distant origin ([#2953]({ISSUES}2953)). "
        "OpenDP claims all of this for exact arithmetic (`idealized-numerics`), so rounding of a "
        "few units is no finding."
    ),
    "opendp.polars": (
        "**Not tried**: other steps and expressions (dates, texts, categories, cuts), thresholds "
        "on unknown keys and their delta, quantiles, columns redefined between two truncations "
        f"([#2949]({ISSUES}2949)), identifiers of several columns, the noise itself. An id whose "
        "rows change counts as one removed and one added. Unless a setting says `every order`, a "
        "table has its rows in one order."
    ),
    "pipeline_dp": (
        "**Not tried**: Beam and Spark, the noise itself, the tree inside `PERCENTILE` and its "
        "noise per level (what reaches it is judged), counts released with a threshold, Laplace "
        "noise under `PLDBudgetAccountant`, `add_dp_noise`, private contribution bounds, custom "
        "combiners, missing and infinite values, more than two people (for selections: 25)."
    ),
    "diffprivlib": (
        "**Not tried**: the samplers of the mechanisms and their deltas, forests that shuffle "
        "their records, more than two classes, the directions that `PCA` draws, more than a few "
        "records. Fitted models are not compared part by part, so a claim about their steps says "
        "nothing about the rest of their state."
    ),
}
"""By library, what its sweep leaves out: a claim that holds there was not tried."""


def read(table: Path) -> list[Line]:
    """Return the lines of a table, each with its neighbor relation in the name."""
    with table.open(encoding="utf-8", newline="") as file:
        rows = [Line(*row) for row in list(csv.reader(file))[1:]]
    return [Line(_named(line), *list(vars(line).values())[1:]) for line in rows]


def _named(line: Line) -> str:
    for text, relation in RELATIONS.items():
        if text in line.setting:
            return f"{line.constructor}, {relation}"
    return line.constructor


def by_constructor(lines: list[Line]) -> list[tuple[str, ...]]:
    """Return the rows of the table: by constructor, and the worst setting whose claim fails."""
    worst = findings(lines)
    return [(*one.cells[:4], *worst.get(one.constructor, ("", ""))) for one in summaries(lines)]


def findings(lines: list[Line]) -> dict[str, tuple[str, str]]:
    """Return the worst setting of each constructor with a claim that fails, and its neighbors."""
    failing = sorted((line for line in lines if line.verdict in FAILING), key=rank)
    return {line.constructor: (line.setting, line.remark) for line in reversed(failing)}


def rank(line: Line) -> tuple[bool, float]:
    """Order findings: violated ones first, then the smallest claim over truth."""
    slack = float(line.slack) if line.slack not in ("", "nan") else 1.0
    return line.verdict != "violated", slack


def section(name: str, lines: list[Line]) -> str:
    """Return what the page says of a sweep of a library, such as "opendp-0.16.0"."""
    found = sum(line.verdict in FAILING for line in lines)
    return (
        f"{len(lines):,} settings, {found:,} with a claim that fails: "
        f"[table](sweep/{name}.csv).\n\n{OUTSIDE[name.rpartition('-')[0]]}"
    )


def main() -> None:
    """Write the page and the tables."""
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    page = DOCS / "sweep.md"
    text = page.read_text("utf-8")
    for table in sorted(Path(sys.argv[1]).glob("*.csv")):
        lines = read(table)
        start = f"<!-- sweep of {table.stem} -->"
        before, found, rest = text.partition(start)
        if not found:
            raise SystemExit(f"{page.name} has no line {start!r}: the page is about other versions")
        end = "<!-- end -->"
        text = f"{before}{start}\n\n{section(table.stem, lines)}\n\n{end}{rest.partition(end)[2]}"
        with (DOCS / "sweep" / table.name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEADER, *by_constructor(lines)])
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
